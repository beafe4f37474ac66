/** Drop a file: its report in the browser, from which nothing is sent. */

import { type ComponentChildren, render } from "preact";

import { type Payload, RATES, pointAt } from "../counts";
import { TEXTS } from "../enhance";
import { count, cut, number } from "../format";
import { type Mounted, mount } from "../mount";
import { DecisionCurve, Density, PrecisionRecall, Reliability, Roc } from "./figures";
import { type Roles, column, guess, labelColumns, positiveOf, rowsOf, scoreColumns, values } from "./roles";
import { BadFile, type Table, readTable } from "./table";
import { type Judged, judge, startOf } from "./tally";

const TITLES: Record<string, string> = {
  sensitivity: "Sensitivity (recall)", specificity: "Specificity", precision: "Precision (PPV)", npv: "NPV", f1: "F1",
  accuracy: "Accuracy", alert_rate: "Alert rate",
};
const Name = ({ of }: { of: string }) => <bdi class="sw-name">{of}</bdi>;

interface Chosen {
  table: Table;
  roles: Roles;
  file: string;
}

function payloadOf(models: Judged[], threshold: number, roles: Roles): Payload {
  const [{ positives, negatives }] = models as [Judged];
  const prevalence = positives / (positives + negatives);
  const base = { version: 1, level: 0.95, z: 1.959963984540054, groups: [] };
  return { ...base, threshold, prevalence, positive: roles.positive, models };
}

function Figure({ kind, title, children }: { kind: string; title: ComponentChildren; children: ComponentChildren }) {
  return (
    <figure data-kind={kind}>
      {children}
      <figcaption>{title}</figcaption>
    </figure>
  );
}

function Numbers({ models }: { models: Judged[] }) {
  const rows: [string, (m: Judged) => number | null][] = [
    ["AUROC", (m) => m.auroc],
    ["Average precision", (m) => m.averagePrecision],
    ["Brier score", (m) => m.brier],
  ];
  return (
    <div class="sw-scroll" role="group" aria-label="Summary" tabIndex={0}>
      <table data-sortable>
        <thead>
          <tr>
            <th scope="col">Measure</th>
            {models.map((m) => (
              <th scope="col" class="n"><Name of={m.name} /></th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([title, value]) => (
            <tr>
              <th scope="row">{title}</th>
              {models.map((m) => (
                <td class="n" data-value={value(m) ?? ""}>{number(value(m) ?? NaN)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** Counts and rates, which the bar moves. */
function Decisions({ payload }: { payload: Payload }) {
  const { models, threshold, prevalence } = payload;
  const upper = (name: string) => name.toUpperCase();
  const rows = [
    ...["tp", "fp", "fn", "tn"].map((name) => ({ title: upper(name), hook: "data-cell", name })),
    ...RATES.map((name) => ({ title: TITLES[name]!, hook: "data-rate", name })),
    ...["ppv", "npv"].map((name) => ({ title: `${upper(name)} at the prevalence`, hook: "data-at-prevalence", name })),
  ];
  return (
    <div class="sw-scroll" role="group" aria-label="Decisions" tabIndex={0}>
      <table>
        <caption>At the threshold <span data-threshold-value>{threshold}</span>, with 95 % Wilson intervals</caption>
        <thead>
          <tr>
            <td />
            {models.map((m) => (
              <th scope="col" class="n"><Name of={m.name} /></th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ title, hook, name }) => (
            <tr>
              <th scope="row">{title}</th>
              {models.map((m, i) => (
                <td class="n" data-model={i} {...{ [hook]: name }}>{TEXTS[hook]!(name, m, pointAt(m, threshold), payload, prevalence)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** How the whole report is made of the same file. */
function command({ roles, file }: Chosen): string {
  const quoted = (word: string) => (/^[\w.-]+$/.test(word) ? word : `'${word.replace(/'/g, `'\\''`)}'`);
  const scores = roles.scores.map((name) => `--score ${quoted(name)}`).join(" ");
  return `scorewise report ${quoted(file)} --label ${quoted(roles.label)} ${scores} --positive ${quoted(roles.positive)}`;
}

function Report(chosen: Chosen & { models: Judged[]; payload: Payload; dropped: number }) {
  const { models, payload, dropped, roles } = chosen;
  const probabilities = models.every((m) => m.brier !== null);
  const [{ positives, negatives }] = models as [Judged];
  return (
    <>
      <section id="data">
        <h2>Data</h2>
        <p>
          {count(positives + negatives)} rows of <Name of={chosen.file} />, {count(positives)} of them <Name of={roles.positive} />
          {dropped ? `; ${count(dropped)} rows without label or score are left out` : ""}.
        </p>
        <p>All measures with their intervals, comparisons, drift and recalibration: <code>{command(chosen)}</code></p>
      </section>
      <section id="summary"><h2>Summary</h2><Numbers models={models} /></section>
      <section id="ranking">
        <h2>Ranking</h2>
        <div class="sw-figures">
          <Figure kind="roc" title="ROC curve: sensitivity against false positive rate."><Roc models={models} /></Figure>
          <Figure kind="precision_recall" title="Precision against recall."><PrecisionRecall models={models} /></Figure>
        </div>
      </section>
      {probabilities && (
        <section id="probabilities">
          <h2>Probabilities</h2>
          <div class="sw-figures">
            <Figure kind="reliability" title="Share of positives over the predicted probability, by isotonic regression."><Reliability models={models} /></Figure>
            <Figure kind="decision_curve" title="Net benefit over the threshold."><DecisionCurve models={models} /></Figure>
          </div>
        </section>
      )}
      <section id="threshold"><h2>Threshold</h2><Decisions payload={payload} /></section>
      <section id="scores">
        <h2>Scores</h2>
        <div class="sw-figures">
          {models.map((m, i) => (
            <Figure kind="density" title={<>Scores of <Name of={m.name} />; solid: <Name of={roles.positive} />, dashed: the others.</>}>
              <Density model={m} at={i} />
            </Figure>
          ))}
        </div>
      </section>
    </>
  );
}

type Change = (roles: Partial<Roles>) => void;
type Select = { currentTarget: HTMLSelectElement };

function Picker({ label, value, options, pick }: { label: string; value: string; options: string[]; pick: (x: string) => void }) {
  return (
    <label>
      {label}{" "}
      <select value={value} onChange={(e: Select) => pick(e.currentTarget.value)}>
        {options.map((option) => (
          <option key={option} value={option}>{cut(option)}</option>
        ))}
      </select>
    </label>
  );
}

function Columns({ table, roles, change }: Chosen & { change: Change }) {
  const flip = (name: string) => {
    const scores = roles.scores.includes(name) ? roles.scores.filter((s) => s !== name) : [...roles.scores, name];
    change({ scores: scores.length ? scores : roles.scores });
  };
  return (
    <>
      <Picker label="Label" value={roles.label} options={labelColumns(table)} pick={(label) => change({ label })} />
      <Picker label="Positive" value={roles.positive} options={values(column(table, roles.label))} pick={(positive) => change({ positive })} />
      <fieldset>
        <legend>Scores</legend>
        {scoreColumns(table, roles.label).slice(0, 40).map((name) => (
          <label key={name}>
            <input type="checkbox" checked={roles.scores.includes(name)} onChange={() => flip(name)} /> <Name of={name} />
          </label>
        ))}
      </fieldset>
    </>
  );
}

const place = (id: string) => document.getElementById(id)!;
let mounted: Mounted | null = null;

/** A sentence for the reader, in place of a report. */
function say(text: string): void {
  place("said").textContent = text;
}

function clear(): HTMLElement {
  mounted?.destroy();
  mounted = null;
  const main = document.createElement("div");
  main.id = "scorewise";
  place("scorewise").replaceWith(main);
  return main;
}

function show(chosen: Chosen): void {
  const change: Change = (part) => {
    const roles = { ...chosen.roles, ...part };
    if (part.label !== undefined) {
      roles.positive = positiveOf(column(chosen.table, part.label));
      const left = roles.scores.filter((name) => name !== part.label);
      roles.scores = left.length ? left : scoreColumns(chosen.table, part.label).slice(0, 1);
    }
    show({ ...chosen, roles });
  };
  render(<Columns {...chosen} change={change} />, place("columns"));
  const main = clear();
  const { positive, scores, dropped } = rowsOf(chosen.table, chosen.roles);
  const found = positive.filter(Boolean).length;
  if (!found || found === positive.length) return say("Both classes need rows: choose another label or scores.");
  const probability = scores.every((column) => column.every((s) => s >= 0 && s <= 1));
  const threshold = startOf(scores, probability);
  const models = chosen.roles.scores.map((name, i) => judge(name, positive, scores[i]!, threshold, probability));
  const payload = payloadOf(models, threshold, chosen.roles);
  render(<Report {...chosen} models={models} payload={payload} dropped={dropped} />, main);
  mounted = mount(main, payload, { hash: false });
  say("");
}

async function take(file: File | undefined): Promise<void> {
  if (!file) return;
  try {
    say("Reading…");
    const table = await readTable(file);
    show({ table, roles: guess(table), file: file.name });
  } catch (error) {
    clear();
    render(null, place("columns"));
    say(error instanceof BadFile ? `${file.name}: ${error.message}.` : `${file.name} cannot be read here; try csv.`);
  }
}

const input = place("file") as HTMLInputElement;
input.addEventListener("change", () => take(input.files?.[0]));
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => {
  event.preventDefault();
  take(event.dataTransfer?.files[0]);
});
