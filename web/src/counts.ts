/** From the kept points of a curve to the confusion table, its rates and their intervals. */

import { decimals, number, threshold as thresholdText } from "./format";

/** What the page carries for one model: exact counts at each kept threshold, which falls. */
export interface Model {
  name: string;
  kind: string;
  positives: number;
  negatives: number;
  intervals: boolean;
  threshold: (number | null)[];
  tp: number[];
  fp: number[];
  smroc_x: number[];
  smroc_y: number[];
  /** The largest distance that thinning leaves between drawn and whole curve; 0 where no point was left out. */
  error?: number;
}

export interface Payload {
  version: number;
  level: number;
  z: number;
  /** Null where the scores have none of their own. */
  threshold: number | null;
  prevalence: number | null;
  positive: string;
  models: Model[];
  groups: string[];
}

export interface Confusion {
  tp: number;
  fp: number;
  fn: number;
  tn: number;
}

export interface Share {
  value: number;
  low: number;
  high: number;
}

export const RATES = ["sensitivity", "specificity", "precision", "npv", "f1", "accuracy", "alert_rate"] as const;
export type Rate = (typeof RATES)[number];

const above = (t: number | null | undefined) => (t === null || t === undefined ? Infinity : t);

/** The last kept point whose threshold is at least t, which decides as t does. */
export function pointAt(model: Model, t: number | null): number {
  const wanted = above(t);
  let low = 0;
  let high = model.threshold.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (above(model.threshold[middle]) >= wanted) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The threshold that a model's counts belong to: where points were left out, that of its own next one. */
export function ownThreshold(model: Model, point: number, t: number | null): string {
  return thresholdText(model.error === 0 ? t : (model.threshold[point] ?? null));
}

/** Counts, or sums of weights, at a kept point. */
export function confusion(model: Model, point: number): Confusion {
  const tp = model.tp[point] ?? 0;
  const fp = model.fp[point] ?? 0;
  return { tp, fp, fn: rest(model.positives, tp), tn: rest(model.negatives, fp) };
}

/** What is left of a sum of weights; rounding may lead a little below nothing. */
const rest = (all: number, part: number) => (all - part > 1e-9 * all ? all - part : 0);

/** A share with its Wilson interval; the same formula as wilson_limits in scorewise/inference/shares.py. */
export function wilson(hit: number, miss: number, z: number): Share {
  const n = hit + miss;
  const p = hit / n;
  const others = miss / n;
  const q = (z * z) / n;
  const centre = (p + q / 2) / (1 + q);
  const half = Math.sqrt(q * (p * others + q / 4)) / (1 + q);
  const low = p === 0 ? 0 : Math.max(Math.min(centre - half, p), 0);
  return { value: p, low, high: others === 0 ? 1 : Math.min(Math.max(centre + half, p), 1) };
}

/** What a rate counts, and what it leaves; of F1, those of the Jaccard share j, as F1 is 2 j / (1 + j). */
function parts(c: Confusion, rate: Rate): [number, number] {
  switch (rate) {
    case "sensitivity":
      return [c.tp, c.fn];
    case "specificity":
      return [c.tn, c.fp];
    case "precision":
      return [c.tp, c.fp];
    case "npv":
      return [c.tn, c.fn];
    case "f1":
      return [c.tp, c.fp + c.fn];
    case "accuracy":
      return [c.tp + c.tn, c.fp + c.fn];
    case "alert_rate":
      return [c.tp + c.fp, c.fn + c.tn];
  }
}

/** A rate, with an interval where it is a share of equally weighted rows; NaN where it is undefined. */
export function rate(c: Confusion, name: Rate, z: number | null): Share {
  const [hit, miss] = parts(c, name);
  const plain = hit + miss > 0 ? hit / (hit + miss) : NaN;
  const share = z === null || isNaN(plain) ? { value: plain, low: NaN, high: NaN } : wilson(hit, miss, z);
  if (name !== "f1") return share;
  const f = (j: number) => (2 * j) / (1 + j);
  return { value: f(share.value), low: f(share.low), high: f(share.high) };
}

/** "0.248 [0.180, 0.332]", or the value alone. */
export function rateText(share: Share): string {
  if (isNaN(share.low)) return number(share.value);
  const digits = decimals(share.low, share.high);
  const [value, low, high] = [share.value, share.low, share.high].map((x) => number(x, digits));
  return `${value} [${low}, ${high}]`;
}

/** The chance that an alert, or its absence, would be right where a share q is positive (Bayes). */
export function atPrevalence(c: Confusion, q: number): { ppv: number; npv: number } {
  const sensitivity = rate(c, "sensitivity", null).value;
  const specificity = rate(c, "specificity", null).value;
  const share = (right: number, wrong: number) => (right + wrong > 0 ? right / (right + wrong) : NaN);
  return {
    ppv: share(q * sensitivity, (1 - q) * (1 - specificity)),
    npv: share((1 - q) * specificity, q * (1 - sensitivity)),
  };
}

/** Net benefit for each row: true positives less false ones, which weigh the odds of the threshold. */
export function netBenefit(c: Confusion, t: number | null): number {
  if (t === null || t < 0 || t >= 1) return NaN;
  return (c.tp - (c.fp * t) / (1 - t)) / (c.tp + c.fp + c.fn + c.tn);
}

/** Every kept threshold of any model, rising; the last is null: nobody is called positive. */
export function stops(models: Model[]): (number | null)[] {
  const all = new Set(models.flatMap((m) => m.threshold.map(above)));
  return Array.from(all)
    .sort((a, b) => a - b)
    .map((t) => (t === Infinity ? null : t));
}

/** The stop that decides as t does: the lowest one at or above it. */
export function stopAt(all: (number | null)[], t: number | null): number {
  const found = all.findIndex((stop) => above(stop) >= above(t));
  return found < 0 ? all.length - 1 : found;
}
