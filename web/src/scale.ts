/** Scales and ticks, the same as scorewise/figures/scale.py; vectors/scales.json holds the two together. */

import { grouped, significant } from "./format";

export type Kind = "linear" | "logit";

export interface Scale {
  readonly kind: Kind;
  readonly domain: readonly [number, number];
  readonly range: readonly [number, number];
}

/** A logit axis ends here: 0 and 1 are pinned to its ends. */
const LOGIT_ENDS = [0.001, 0.999] as const;
const LOGIT_TICKS = [0.001, 0.01, 0.1, 0.5, 0.9, 0.99, 0.999];

const clamp = (x: number, low: number, high: number) => Math.min(Math.max(x, low), high);
const logit = (p: number) => Math.log(p / (1 - p));

/** The scale of an axis, from its attribute: "linear,0,1,60,420". */
export function parse(text: string | null | undefined): Scale | null {
  const [kind, ...rest] = (text ?? "").split(",");
  const [a, b, from, to] = rest.map(Number);
  if ((kind !== "linear" && kind !== "logit") || rest.length !== 4 || !rest.every((x) => isFinite(+x))) return null;
  return { kind, domain: [a!, b!], range: [from!, to!] };
}

function bent(scale: Scale, x: number): number {
  return scale.kind === "linear" ? x : logit(clamp(x, ...LOGIT_ENDS));
}

/** Where a value is drawn. */
export function position(scale: Scale, x: number): number {
  const [a, b] = scale.domain.map((end) => bent(scale, end)) as [number, number];
  const [from, to] = scale.range;
  return from + ((bent(scale, x) - a) / (b - a)) * (to - from);
}

/** The value that is drawn there. */
export function value(scale: Scale, px: number): number {
  const [a, b] = scale.domain.map((end) => bent(scale, end)) as [number, number];
  const [from, to] = scale.range;
  const u = a + ((px - from) / (to - from)) * (b - a);
  return scale.kind === "linear" ? u : 1 / (1 + Math.exp(-u));
}

/** Whether a value is within the axis, or pinned to one of its ends. */
export function within(scale: Scale, x: number): boolean {
  const [a, b] = scale.domain;
  return scale.kind === "logit" ? x >= 0 && x <= 1 : x >= Math.min(a, b) && x <= Math.max(a, b);
}

/** The 1-2-5 step next above a wish. */
export function step(wish: number): number {
  const power = 10 ** Math.floor(Math.log10(wish));
  // a hair, so that 0.2 of 1 / 5 is 0.2 whatever its last digit
  return round12([1, 2, 5, 10].find((m) => m * power >= wish * (1 - 1e-9))! * power);
}

const round12 = (x: number) => Number(x.toPrecision(12));

/** Round values within the domain, about n of them. */
export function ticks(low: number, high: number, n = 5, kind: Kind = "linear"): number[] {
  if (kind === "logit") return LOGIT_TICKS.filter((t) => t >= low && t <= high);
  if (!(high > low)) return [low];
  const by = step((high - low) / n);
  const first = Math.ceil(low / by - 1e-9);
  const last = Math.floor(high / by + 1e-9);
  return Array.from({ length: last - first + 1 }, (_, i) => round12((first + i) * by) + 0);
}

/** The text of a tick: as many decimals as the step needs, thousands with a comma. */
export function tickText(x: number, by: number): string {
  const decimals = Math.max(0, -Math.floor(Math.log10(by) + 1e-9));
  return grouped((x + 0).toFixed(decimals));
}

/** The ticks of an axis in digits; those of a logit axis each with its own. */
export function tickTexts(values: readonly number[], kind: Kind = "linear"): string[] {
  if (kind === "logit" || values.length < 2) return values.map((x) => significant(x, 6));
  return values.map((x) => tickText(x, values[1]! - values[0]!));
}
