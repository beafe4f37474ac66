/** Values under the pointer: the kept point nearest to it, in a line below the figure; a click goes there. */

import { type Confusion, type Model, type Payload, type Rate, confusion, netBenefit, ownThreshold, pointAt, rate, stops } from "./counts";
import { type Figure, figures, placeOn, visible } from "./enhance";
import { cut, number } from "./format";
import type { Choice } from "./hash";
import { position, value } from "./scale";

const share = (c: Confusion, name: Rate) => number(rate(c, name, null).value);
const falsePositiveRate = (c: Confusion) => number(1 - rate(c, "specificity", null).value);

/** What the coordinates of a figure mean, for one model at one of its kept points. */
const VALUES: Record<string, (c: Confusion, model: Model, point: number, payload: Payload) => string> = {
  roc: (c) => `sensitivity ${share(c, "sensitivity")}, false positive rate ${falsePositiveRate(c)}`,
  precision_recall: (c) => `recall ${share(c, "sensitivity")}, precision ${share(c, "precision")}`,
  smroc: (_, m, i) => `share of runs ${number(m.smroc_x[i] ?? NaN)}, of climbs ${number(m.smroc_y[i] ?? NaN)}`,
  density: (c, _, __, { positive }) =>
    `${share(c, "sensitivity")} of ${cut(positive) || "positives"} and ${falsePositiveRate(c)} of the others at or above`,
  threshold_curves: (c) =>
    `sensitivity ${share(c, "sensitivity")}, specificity ${share(c, "specificity")}, precision ${share(c, "precision")}`,
  decision_curve: (c, m, i) => `net benefit ${number(netBenefit(c, m.threshold[i] ?? null))}`,
};

interface Spot {
  threshold: number | null;
  distance: number;
  at: [number, number];
}

/** The kept point that is drawn nearest to a place, of the models that are shown. */
function nearest({ kind, x, y }: Figure, payload: Payload, off: readonly number[], px: number, py: number): Spot | null {
  let found: Spot | null = null;
  if (!x || !y) return found;
  payload.models.forEach((model, m) => {
    if (off.includes(m)) return;
    model.threshold.forEach((t, i) => {
      const place = placeOn(kind, model, i);
      if (!place) return;
      const at: [number, number] = [position(x, place[0]), position(y, place[1])];
      const distance = Math.hypot(at[0] - px, at[1] - py);
      if (!found || distance < found.distance) found = { threshold: t, distance, at };
    });
  });
  return found;
}

/** The kept threshold nearest to a place on an axis of scores. */
function nearestStop(all: (number | null)[], t: number): number | null {
  return all.reduce((best, stop) => {
    if (stop === null) return best;
    return best === null || Math.abs(stop - t) < Math.abs(best - t) ? stop : best;
  }, null);
}

function element(name: string, text: string, className = ""): HTMLElement {
  const el = document.createElement(name);
  el.textContent = text;
  if (className) el.className = className;
  return el;
}

/** One line for each model: its name, its threshold and its values. */
function lines(figure: Figure, payload: Payload, choice: Choice, t: number | null): Node[] {
  const values = VALUES[figure.kind]!;
  const drawn = (i: number) => figure.svg.querySelector(`[data-model="${i}"]`) ?? !figure.svg.querySelector("[data-model]");
  const made: Node[] = [];
  payload.models.forEach((model, i) => {
    if (choice.off.includes(i) || !drawn(i)) return;
    if (figure.kind === "smroc" && !model.smroc_x.length) return;
    const point = pointAt(model, t);
    const told = values(confusion(model, point), model, point, payload);
    const line = element("span", "", "sw-value");
    line.append(element("bdi", model.name, "sw-name"), ` at ${ownThreshold(model, point, t)}: ${told}`);
    made.push(line);
  });
  return made;
}

/** Where a pointer is, in the coordinates of the drawing. */
function within(svg: SVGSVGElement, event: MouseEvent): [number, number] | null {
  const matrix = svg.getScreenCTM();
  if (!matrix) return null;
  const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
  return [x, y];
}

function ring(svg: SVGSVGElement): SVGCircleElement {
  const made = document.createElementNS("http://www.w3.org/2000/svg", "circle");
  const look = { r: "7", fill: "none", stroke: "#444", "stroke-width": "1.5", class: "sw-line", "pointer-events": "none" };
  for (const [name, x] of Object.entries(look)) made.setAttribute(name, x);
  visible(made, false);
  svg.append(made);
  return made;
}

/** Gives every curve its line of values; returns what shows those of a choice, and what takes all away. */
export function readouts(root: HTMLElement, payload: Payload, choose: (t: number | null) => void) {
  const all = stops(payload.models);
  const cleanups: (() => void)[] = [];
  const shows: ((choice: Choice) => void)[] = [];
  const known = figures(root).filter(({ kind, x, svg }) => kind in VALUES && x && svg.closest("figure"));
  for (const figure of payload.models.length ? known : []) {
    const { svg, x } = figure;
    const line = element("p", "", "sw-readout");
    const mark = ring(svg);
    let choice: Choice | null = null;
    const rest = () => {
      visible(mark, false);
      if (choice) line.replaceChildren(...lines(figure, payload, choice, choice.threshold));
    };
    const under = (event: MouseEvent): { t: number | null; spot: Spot | null } | null => {
      const place = within(svg, event);
      if (!place || !choice || !x) return null;
      if (svg.querySelector("[data-threshold]")) {
        const [a, b] = x.range;
        const inside = place[0] >= Math.min(a, b) && place[0] <= Math.max(a, b);
        return inside ? { t: nearestStop(all, value(x, place[0])), spot: null } : null;
      }
      const spot = nearest(figure, payload, choice.off, ...place);
      return spot && spot.distance < 60 ? { t: spot.threshold, spot } : null;
    };
    const move = (event: MouseEvent) => {
      const found = under(event);
      if (!found || !choice) return rest();
      visible(mark, found.spot !== null);
      if (found.spot) {
        mark.setAttribute("cx", found.spot.at[0].toFixed(2));
        mark.setAttribute("cy", found.spot.at[1].toFixed(2));
      }
      line.replaceChildren(...lines(figure, payload, choice, found.t));
    };
    const click = (event: MouseEvent) => {
      const found = under(event);
      if (found) choose(found.t);
    };
    svg.after(line);
    svg.classList.add("sw-live");
    svg.addEventListener("pointermove", move);
    svg.addEventListener("pointerleave", rest);
    svg.addEventListener("click", click);
    shows.push((now) => {
      choice = now;
      rest();
    });
    cleanups.push(() => {
      svg.removeEventListener("pointermove", move);
      svg.removeEventListener("pointerleave", rest);
      svg.removeEventListener("click", click);
      svg.classList.remove("sw-live");
      line.remove();
      mark.remove();
    });
  }
  return {
    show: (choice: Choice) => shows.forEach((show) => show(choice)),
    destroy: () => cleanups.forEach((clean) => clean()),
  };
}
