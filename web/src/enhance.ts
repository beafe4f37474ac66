/** Moves what Python drew: markers, threshold lines, cells, rates and visibility. Nothing is drawn anew. */

import { type Confusion, RATES, type Model, type Payload, type Rate, atPrevalence, confusion, pointAt, rate, rateText } from "./counts";
import { count, fixed, number, threshold as thresholdText } from "./format";
import type { Choice } from "./hash";
import { type Scale, parse, position, within } from "./scale";

/** Where a model stands on a curve, at one of its kept points; null where the curve has no such point. */
export function placeOn(kind: string, model: Model, point: number): [number, number] | null {
  const c = confusion(model, point);
  const sensitivity = rate(c, "sensitivity", null).value;
  const place: [number, number] | null =
    kind === "roc"
      ? [1 - rate(c, "specificity", null).value, sensitivity]
      : kind === "precision_recall"
        ? [sensitivity, rate(c, "precision", null).value]
        : kind === "smroc"
          ? [model.smroc_x[point] ?? NaN, model.smroc_y[point] ?? NaN]
          : null;
  return place && place.every(isFinite) ? place : null;
}

/** A figure with its axes, which may change when the page switches them. */
export interface Figure {
  svg: SVGSVGElement;
  kind: string;
  x: Scale | null;
  y: Scale | null;
}

export function figures(root: ParentNode): Figure[] {
  return Array.from(root.querySelectorAll<SVGSVGElement>("svg[data-figure]"), (svg) => ({
    svg,
    kind: svg.getAttribute("data-figure") ?? "",
    x: parse(svg.getAttribute("data-x")),
    y: parse(svg.getAttribute("data-y")),
  }));
}

/** Presentation attributes hide what is drawn also where style sheets are forbidden. */
export function visible(el: Element, shown: boolean): void {
  if (shown) el.removeAttribute("display");
  else el.setAttribute("display", "none");
}

function moveMarks({ svg, kind, x, y }: Figure, models: Model[], points: number[]): void {
  if (!x || !y) return;
  for (const mark of Array.from(svg.querySelectorAll("[data-mark]"))) {
    const i = Number(mark.getAttribute("data-mark"));
    const model = models[i];
    const place = model ? placeOn(kind, model, points[i] ?? 0) : null;
    visible(mark, place !== null);
    if (!place) continue;
    mark.setAttribute("cx", position(x, place[0]).toFixed(2));
    mark.setAttribute("cy", position(y, place[1]).toFixed(2));
  }
}

/** Shade the cells of a drawn confusion table by their share, as Python does. */
function shade(svg: Element, models: Model[], points: number[]): void {
  for (const text of Array.from(svg.querySelectorAll("[data-cell][data-model]"))) {
    const i = Number(text.getAttribute("data-model"));
    const model = models[i];
    const box = text.previousElementSibling;
    if (!model || !box?.hasAttribute("fill-opacity")) continue;
    const share = shareOf(text.getAttribute("data-cell") as Cell, confusion(model, points[i] ?? 0));
    box.setAttribute("fill-opacity", (0.06 + 0.34 * (share || 0)).toFixed(2));
  }
}

function moveLines({ svg, x }: Figure, t: number | null): void {
  if (!x) return;
  for (const line of Array.from(svg.querySelectorAll("[data-threshold]"))) {
    const shown = t !== null && within(x, t);
    visible(line, shown);
    if (!shown) continue;
    const at = position(x, t).toFixed(2);
    line.setAttribute("x1", at);
    line.setAttribute("x2", at);
  }
}

/** An element whose text follows the choice; where the choice is the page's own, it is what Python wrote. */
interface Text {
  el: Element;
  written: Node[];
  now: (choice: Choice, points: number[]) => string | null;
}

const writtenIn = (el: Element) => Array.from(el.childNodes, (node) => node.cloneNode(true));

/** Put a text in place, its interval apart from the value as Python sets it. */
function put(el: Element, text: string): void {
  const [value, interval] = text.split(/ (?=\[)/) as [string, string?];
  if (interval === undefined) return el.replaceChildren(value);
  const apart = document.createElement("span");
  apart.className = "ci";
  apart.textContent = interval;
  el.replaceChildren(`${value} `, apart);
}

type Cell = keyof Confusion;

/** The share of the rows of a label that a cell holds. */
const shareOf = (cell: Cell, { tp, fp, fn, tn }: Confusion) =>
  cell === "tp" || cell === "fn" ? (cell === "tp" ? tp : fn) / (tp + fn) : (cell === "fp" ? fp : tn) / (fp + tn);

/** What a cell says of a model at one of its kept points, by the attribute that names its number. */
export const TEXTS: Record<string, (name: string, model: Model, point: number, payload: Payload, q: number | null) => string> = {
  "data-cell": (name, model, point) => count(confusion(model, point)[name as Cell]),
  "data-share": (name, model, point) => {
    const share = shareOf(name as Cell, confusion(model, point));
    return isNaN(share) ? "" : `${fixed(100 * share, 0)}%`;
  },
  "data-rate": (name, model, point, { z }) =>
    RATES.includes(name as Rate) ? rateText(rate(confusion(model, point), name as Rate, model.intervals ? z : null)) : "",
  "data-at-prevalence": (name, model, point, _, q) =>
    number(atPrevalence(confusion(model, point), q ?? NaN)[name as "ppv" | "npv"]),
};

function allTexts(root: ParentNode, payload: Payload, first: number[]): Text[] {
  const cells = Object.entries(TEXTS).flatMap(([attribute, text]) =>
    Array.from(root.querySelectorAll(`[${attribute}][data-model]`), (el): Text => {
      const name = el.getAttribute(attribute) ?? "";
      const i = Number(el.getAttribute("data-model"));
      const model = payload.models[i];
      const now: Text["now"] = ({ prevalence }, points) => {
        const point = points[i] ?? 0;
        const same = point === first[i] && (attribute !== "data-at-prevalence" || prevalence === payload.prevalence);
        return !model || same ? null : text(name, model, point, payload, prevalence);
      };
      return { el, written: writtenIn(el), now };
    }),
  );
  const single = (attribute: string, now: Text["now"]): Text[] =>
    Array.from(root.querySelectorAll(`[${attribute}]`), (el) => ({ el, written: writtenIn(el), now }));
  return [
    ...cells,
    ...single("data-threshold-value", (c) => (c.threshold === payload.threshold ? null : thresholdText(c.threshold))),
    ...single("data-prevalence-value", (c) => (c.prevalence === payload.prevalence ? null : number(c.prevalence ?? NaN))),
  ];
}

/** Finds all that can move, once, and gives the function that moves it to a choice. */
export function enhancer(root: HTMLElement, payload: Payload): (choice: Choice) => void {
  const { models } = payload;
  const first = models.map((model) => pointAt(model, payload.threshold));
  const moving = allTexts(root, payload, first);
  const drawn = Array.from(root.querySelectorAll("svg [data-model]"));
  const grouped = Array.from(root.querySelectorAll("svg [data-group]"));
  const rows = Array.from(root.querySelectorAll("tr[data-group]"));
  return (choice) => {
    const points = models.map((model) => pointAt(model, choice.threshold));
    for (const figure of figures(root)) {
      moveMarks(figure, models, points);
      moveLines(figure, choice.threshold);
      shade(figure.svg, models, points);
    }
    for (const { el, written, now } of moving) {
      const text = now(choice, points);
      if (text === null) el.replaceChildren(...written.map((node) => node.cloneNode(true)));
      else put(el, text);
    }
    for (const el of drawn) visible(el, !choice.off.includes(Number(el.getAttribute("data-model"))));
    for (const el of grouped) {
      if (!choice.group || el.getAttribute("data-group") === choice.group) el.removeAttribute("opacity");
      else el.setAttribute("opacity", "0.25");
    }
    for (const el of rows) el.classList.toggle("sw-chosen", el.getAttribute("data-group") === choice.group);
  };
}
