/** Figures drawn in the browser, with the hooks that Python's have, so that the same script moves them. */

import type { ComponentChildren } from "preact";

import { confusion, netBenefit } from "../counts";
import { placeOn } from "../enhance";
import { type Kind, type Scale, position, tickTexts, ticks } from "../scale";
import type { Judged } from "./tally";

export const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#7A6A00"];
export const DASHES = ["", "7 3", "2 2.4", "9 3 2 3", "14 4"];
const [WIDE, HIGH, LEFT, RIGHT, TOP, FOOT] = [440, 420, 60, 420, 20, 380];

const text = (scale: Scale) => [scale.kind, ...scale.domain, ...scale.range].join(",");
const axis = (kind: Kind, low: number, high: number, from: number, to: number): Scale => ({ kind, domain: [low, high], range: [from, to] });

interface Frame {
  figure: string;
  title: string;
  about: string;
  x: Scale;
  y: Scale;
  titles: [string, string];
  axisKind?: Kind;
  children: ComponentChildren;
}

/** A panel with grid, ticks, titles, and what is drawn on it. */
function Panel({ figure, title, about, x, y, titles, axisKind, children }: Frame) {
  const [xs, ys] = [x, y].map((scale) => ticks(...scale.domain, 5, scale.kind)) as [number[], number[]];
  const grid = xs.map((t) => `M${position(x, t).toFixed(1)} ${TOP}V${FOOT}`).join("") + ys.map((t) => `M${LEFT} ${position(y, t).toFixed(1)}H${RIGHT}`).join("");
  const more = axisKind ? { "data-axis": axisKind, ...(axisKind === "logit" ? { display: "none" } : {}) } : {};
  return (
    <svg data-figure={figure} width={WIDE} height={HIGH} viewBox={`0 0 ${WIDE} ${HIGH}`} role="img" aria-label={`${title}. ${about}`} data-x={text(x)} data-y={text(y)} {...more}>
      <g class="sw-ink" fill="#222222" font-size="13" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif">
        <path class="sw-faint" d={grid} stroke="#E4E4E4" />
        {xs.map((t, i) => (
          <text x={position(x, t).toFixed(1)} y={FOOT + 17} text-anchor="middle">
            {tickTexts(xs, x.kind)[i]}
          </text>
        ))}
        {ys.map((t, i) => (
          <text x={LEFT - 8} y={(position(y, t) + 4.5).toFixed(1)} text-anchor="end">
            {tickTexts(ys, y.kind)[i]}
          </text>
        ))}
        <text x={(LEFT + RIGHT) / 2} y={FOOT + 36} text-anchor="middle">
          {titles[0]}
        </text>
        <text x="16" y={(TOP + FOOT) / 2} text-anchor="middle" transform={`rotate(-90 16 ${(TOP + FOOT) / 2})`}>
          {titles[1]}
        </text>
        {children}
      </g>
    </svg>
  );
}

const path = (x: Scale, y: Scale, points: [number, number][]) =>
  points.map(([a, b], i) => `${i ? "L" : "M"}${position(x, a).toFixed(1)} ${position(y, b).toFixed(1)}`).join("");

function Line({ x, y, points, model, width = 2 }: { x: Scale; y: Scale; points: [number, number][]; model: number; width?: number }) {
  const look = { stroke: COLOURS[model % 5], "stroke-dasharray": DASHES[model % 5] };
  return <path d={path(x, y, points)} fill="none" stroke-linejoin="round" stroke-width={width} {...look} />;
}

const Grey = ({ d }: { d: string }) => <path d={d} fill="none" stroke="#7A7A7A" stroke-width="1.5" stroke-dasharray="2 2.4" />;
const Threshold = ({ y }: { y: Scale }) => (
  <line data-threshold="" class="sw-line" x1={LEFT} x2={LEFT} y1={y.range[0]} y2={y.range[1]} stroke="#222222" stroke-width="1.5" stroke-dasharray="5 3" />
);

const square = (kind: Kind = "linear"): [Scale, Scale] => {
  const [low, high] = kind === "logit" ? [0.001, 0.999] : [0, 1];
  return [axis(kind, low!, high!, LEFT, RIGHT), axis(kind, low!, high!, FOOT, TOP)];
};

interface Shown {
  models: Judged[];
}

function Curve({ models, kind, title, about, titles, chance }: Shown & { kind: string; title: string; about: string; titles: [string, string]; chance: [number, number][] }) {
  const [x, y] = square();
  return (
    <Panel figure={kind} title={title} about={about} x={x} y={y} titles={titles}>
      <Grey d={path(x, y, chance)} />
      {models.map((model, i) => {
        const points = model.threshold.map((_, at) => placeOn(kind, model, at)).filter((p): p is [number, number] => p !== null);
        return (
          <g data-model={i}>
            <Line x={x} y={y} points={points} model={i} />
            <circle data-mark={i} cx={LEFT} cy={FOOT} r="5" fill={COLOURS[i % 5]} stroke="#FFFFFF" class="sw-own" />
          </g>
        );
      })}
    </Panel>
  );
}

export const Roc = ({ models }: Shown) => (
  <Curve
    models={models} kind="roc" title="ROC curve" titles={["False positive rate", "Sensitivity"]}
    about="Sensitivity against false positive rate over all thresholds; the dotted line is chance."
    chance={[[0, 0], [1, 1]]}
  />
);

export const PrecisionRecall = ({ models }: Shown) => {
  const prevalence = models[0]!.positives / (models[0]!.positives + models[0]!.negatives);
  return (
    <Curve
      models={models} kind="precision_recall" title="Precision-recall curve" titles={["Recall", "Precision"]}
      about="Precision against recall over all thresholds; the dotted line is the prevalence."
      chance={[[0, prevalence], [1, prevalence]]}
    />
  );
};

/** The scores of each class of one model: as steps, each with the area 1. */
export function Density({ model, at }: { model: Judged; at: number }) {
  const { low, high, positive, negative } = model.histogram;
  const wide = (high - low || 1) / positive.length;
  const heights = (counts: number[], all: number) => counts.map((n) => n / (all || 1) / wide);
  const [up, down] = [heights(positive, model.positives), heights(negative, model.negatives)];
  const x = axis("linear", low, high, LEFT, RIGHT);
  const y = axis("linear", 0, Math.max(...up, ...down) * 1.05 || 1, FOOT, TOP);
  const steps = (h: number[]): [number, number][] => h.flatMap((v, i) => [[low + i * wide, v], [low + (i + 1) * wide, v]] as [number, number][]);
  return (
    <Panel figure="density" title={`Scores of each class, ${model.name}`} about="Shares of scores in 40 bins; solid: positives, dashed: negatives." x={x} y={y} titles={["Score", "Density"]}>
      <g data-model={at}>
        <path d={path(x, y, steps(down))} fill="none" stroke="#595959" class="sw-line" stroke-width="1.5" stroke-dasharray="4 2" />
        <path d={path(x, y, steps(up))} fill="none" stroke={COLOURS[at % 5]} stroke-width="2" />
      </g>
      <Threshold y={y} />
    </Panel>
  );
}

/** Both kinds of axes, of which one is shown. */
export function Reliability({ models }: Shown) {
  const drawn = (kind: Kind) => {
    const [x, y] = square(kind);
    return (
      <Panel
        figure="reliability" title="Reliability" axisKind={kind} x={x} y={y} titles={["Predicted probability", "Share of positives"]}
        about="The share of positives over the predicted probability, by isotonic regression; calibrated scores follow the dotted line."
      >
        <Grey d={path(x, y, [[x.domain[0], x.domain[0]], [x.domain[1], x.domain[1]]])} />
        {models.map((m, i) => (
          <g data-model={i}>
            <Line x={x} y={y} points={m.reliability.map((p): [number, number] => [p.x, p.y])} model={i} />
          </g>
        ))}
        <Threshold y={y} />
      </Panel>
    );
  };
  return (
    <>
      {drawn("linear")}
      {drawn("logit")}
    </>
  );
}

export function DecisionCurve({ models }: Shown) {
  const prevalence = models[0]!.positives / (models[0]!.positives + models[0]!.negatives);
  const x = axis("linear", 0, 1, LEFT, RIGHT);
  const y = axis("linear", -0.1 * prevalence, prevalence * 1.05, FOOT, TOP);
  const within = (points: [number, number][]) => points.filter(([, v]) => isFinite(v) && v >= y.domain[0] && v <= y.domain[1]);
  const treatAll = Array.from({ length: 100 }, (_, i): [number, number] => [i / 100, prevalence - ((1 - prevalence) * i) / (100 - i)]);
  return (
    <Panel figure="decision_curve" title="Decision curve" about="Net benefit over the threshold; dotted: to alert on everybody, and on nobody." x={x} y={y} titles={["Threshold", "Net benefit"]}>
      <Grey d={path(x, y, within(treatAll))} />
      <Grey d={path(x, y, [[0, 0], [1, 0]])} />
      {models.map((m, i) => (
        <g data-model={i}>
          <Line x={x} y={y} model={i} points={within(m.threshold.map((t, at): [number, number] => [t ?? NaN, netBenefit(confusion(m, at), t)]).reverse())} />
        </g>
      ))}
      <Threshold y={y} />
    </Panel>
  );
}
