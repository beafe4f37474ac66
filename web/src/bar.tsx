/** The bar at the top of a report: threshold, prevalence, models, groups, axis. */

import { type Payload, confusion, ownThreshold, pointAt, rate, stopAt } from "./counts";
import { cut, number, significant, threshold as thresholdText } from "./format";
import type { Choice } from "./hash";

/** How a model is drawn: the attributes of its line in the figures. */
export interface Look {
  stroke: string;
  dash: string;
}

export interface BarProps {
  payload: Payload;
  choice: Choice;
  /** Every kept threshold, rising. */
  stops: (number | null)[];
  stop: number;
  looks: Look[];
  /** Whether there is a figure whose axis can be switched. */
  axes: boolean;
  /** On a narrow screen, whether all controls are shown. */
  open: boolean;
  changed: boolean;
  /** What was said of the last action. */
  status: string;
  set: (change: Partial<Choice>) => void;
  toggle: () => void;
  reset: () => void;
  link: (() => void) | null;
}

type Input = { currentTarget: HTMLInputElement };

/** A field for a number that a reader may type; what is no number leaves all as it was. */
function NumberField(p: { label: string; value: string; hidden?: boolean; take: (x: number) => boolean }) {
  const commit = ({ currentTarget: field }: Input) => {
    const text = field.value.trim().replace(",", ".");
    const good = text !== "" && isFinite(Number(text)) && p.take(Number(text));
    field.setAttribute("aria-invalid", String(!good));
    if (!good) field.value = p.value;
  };
  const name = p.hidden ? { "aria-label": p.label } : {};
  return (
    <input class="sw-field" type="text" inputMode="decimal" autocomplete="off" {...name} value={p.value} onChange={commit} />
  );
}

function Threshold({ payload, choice, stops, stop, set }: BarProps) {
  const told = payload.models
    .filter((_, i) => !choice.off.includes(i))
    .map((m) => `${cut(m.name)} sensitivity ${number(rate(confusion(m, pointAt(m, choice.threshold)), "sensitivity", null).value)}`);
  const take = (t: number) => {
    const exact = t === payload.threshold || payload.models.every((m) => m.error === 0);
    // where points were left out, only a kept threshold has exact counts
    set({ threshold: exact ? t : (stops[stopAt(stops, t)] ?? null) });
    return true;
  };
  return (
    <>
      <label class="sw-slide">
        <span>Threshold</span>
        <input
          type="range"
          min="0"
          max={stops.length - 1}
          step="1"
          value={stop}
          aria-valuetext={[thresholdText(choice.threshold), ...told].join(", ")}
          onInput={({ currentTarget }: Input) => set({ threshold: stops[Number(currentTarget.value)] ?? null })}
        />
      </label>
      <NumberField hidden label="Threshold, as a number" value={thresholdText(choice.threshold)} take={take} />
    </>
  );
}

function Models({ payload, choice, looks, set }: BarProps) {
  const { models } = payload;
  const switched = (i: number) => {
    const off = choice.off.includes(i) ? choice.off.filter((j) => j !== i) : [...choice.off, i].sort((a, b) => a - b);
    if (off.length < models.length) set({ off });
    else set({ off: choice.off.slice() }); // one model is always shown
  };
  return (
    <fieldset class="sw-models">
      <legend>{models.length > 1 ? "Models" : "Model"}</legend>
      {models.map((model, i) => {
        const point = pointAt(model, choice.threshold);
        const c = confusion(model, point);
        const own = ownThreshold(model, point, choice.threshold);
        const look = looks[i];
        return (
          <label key={i} class="sw-model" title={cut(model.name, 200)}>
            {models.length > 1 && (
              <input type="checkbox" checked={!choice.off.includes(i)} onChange={() => switched(i)} />
            )}
            {look && (
              <svg width="24" height="8" viewBox="0 0 24 8" aria-hidden="true">
                <line x1="0" x2="24" y1="4" y2="4" stroke-width="2.5" stroke={look.stroke} stroke-dasharray={look.dash} />
              </svg>
            )}
            <bdi class="sw-name">{model.name}</bdi>
            <span class="sw-now">
              {own === thresholdText(choice.threshold) ? "" : `at ${own} `}
              sensitivity {number(rate(c, "sensitivity", null).value)}, precision {number(rate(c, "precision", null).value)}
            </span>
          </label>
        );
      })}
    </fieldset>
  );
}

function Prevalence({ choice, set }: BarProps) {
  const take = (q: number) => {
    const good = q >= 0 && q <= 1;
    if (good) set({ prevalence: q });
    return good;
  };
  return (
    <label class="sw-item">
      <span>Prevalence</span>
      <NumberField label="Prevalence" value={significant(choice.prevalence ?? NaN, 4)} take={take} />
    </label>
  );
}

function Groups({ payload, choice, set }: BarProps) {
  return (
    <label class="sw-item">
      <span>Group</span>
      <select value={choice.group} onChange={(e: { currentTarget: HTMLSelectElement }) => set({ group: e.currentTarget.value })}>
        <option value="">all</option>
        {payload.groups.map((group) => (
          <option key={group} value={group}>
            {cut(group)}
          </option>
        ))}
      </select>
    </label>
  );
}

function Axis({ choice, set }: BarProps) {
  return (
    <label class="sw-item">
      <input
        type="checkbox"
        checked={choice.axis === "logit"}
        onChange={({ currentTarget }: Input) => set({ axis: currentTarget.checked ? "logit" : "linear" })}
      />
      <span>Logit axes</span>
    </label>
  );
}

export function Bar(props: BarProps) {
  const { payload, choice, open, changed, status, toggle, reset, link, axes } = props;
  const some = payload.models.length > 0;
  return (
    <div class={open ? "sw-bar sw-open" : "sw-bar"} role="region" aria-label="Controls">
      <div class="sw-row">
        {some && <Threshold {...props} />}
        <span class="sw-actions">
          <button type="button" disabled={!changed} onClick={reset}>
            Reset
          </button>
          {link && (
            <button type="button" onClick={link}>
              Copy link
            </button>
          )}
        </span>
        <span role="status">{status}</span>
        <button type="button" class="sw-more" aria-expanded={open} onClick={toggle}>
          {open ? "Less" : "More"}
        </button>
      </div>
      <div class="sw-rest">
        {some && <Models {...props} />}
        {some && choice.prevalence !== null && <Prevalence {...props} />}
        {payload.groups.length > 0 && <Groups {...props} />}
        {axes && <Axis {...props} />}
      </div>
    </div>
  );
}
