/** From labels and scores to what a report carries: counts over thresholds, areas, reliability. */

import type { Model } from "../counts";

/** Points of a curve that are kept of a file with very many scores. */
const MOST = 400;

export interface Judged extends Model {
  auroc: number;
  averagePrecision: number;
  /** Null where the scores are no probabilities. */
  brier: number | null;
  /** Isotonic regression (CORP): the share of positives over the score, as steps. */
  reliability: { x: number; y: number }[];
  histogram: { low: number; high: number; positive: number[]; negative: number[] };
}

/** Scores of positives and of negatives, each falling. */
function split(positive: boolean[], scores: Float64Array): [Float64Array, Float64Array] {
  const part = (wanted: boolean) => scores.filter((_, i) => positive[i] === wanted).sort().reverse();
  return [part(true), part(false)];
}

/** Every threshold with the counts at or above it, falling. */
function cuts(up: Float64Array, down: Float64Array, more: number): { t: number[]; tp: number[]; fp: number[] } {
  const made = { t: [] as number[], tp: [] as number[], fp: [] as number[] };
  let [i, j] = [0, 0];
  let asked = false;
  const add = (t: number) => {
    while (i < up.length && up[i]! >= t) i += 1;
    while (j < down.length && down[j]! >= t) j += 1;
    made.t.push(t);
    made.tp.push(i);
    made.fp.push(j);
  };
  while (i < up.length || j < down.length) {
    const next = Math.max(up[i] ?? -Infinity, down[j] ?? -Infinity);
    if (!asked && more >= next) {
      asked = true;
      if (more > next) add(more);
    }
    add(next);
  }
  if (!asked) add(more);
  return made;
}

/** Places to keep: the first ones, where precision changes most, the one asked for, and equal steps of both rates. */
function kept(tp: number[], fp: number[], asked: number): number[] {
  const n = tp.length;
  if (n <= MOST) return tp.map((_, i) => i);
  const [up, down] = [tp[n - 1] || 1, fp[n - 1] || 1];
  const found = new Set<number>([asked, n - 1]);
  for (let i = 0; i < 60; i += 1) found.add(i);
  const steps = MOST - 62;
  let reached = -1;
  tp.forEach((t, i) => {
    const step = Math.floor(((t / up + fp[i]! / down) / 2) * steps);
    if (step > reached) found.add(i);
    reached = step;
  });
  return Array.from(found).sort((a, b) => a - b);
}

/** Isotonic regression of labels on scores, by pooling neighbours that are in the wrong order. */
function isotonic(t: number[], tp: number[], fp: number[]): { x: number; y: number }[] {
  type Pool = { low: number; high: number; hits: number; rows: number };
  const pools: Pool[] = [];
  for (let i = t.length - 1; i >= 0; i -= 1) {
    const hits = tp[i]! - (tp[i - 1] ?? 0);
    const rows = hits + fp[i]! - (fp[i - 1] ?? 0);
    if (!rows) continue;
    let pool: Pool = { low: t[i]!, high: t[i]!, hits, rows };
    for (let last = pools[pools.length - 1]; last && last.hits * pool.rows >= pool.hits * last.rows; last = pools[pools.length - 1]) {
      pool = { low: last.low, high: pool.high, hits: last.hits + pool.hits, rows: last.rows + pool.rows };
      pools.pop();
    }
    pools.push(pool);
  }
  return pools.flatMap(({ low, high, hits, rows }) => [
    { x: low, y: hits / rows },
    { x: high, y: hits / rows },
  ]);
}

function histogram(up: Float64Array, down: Float64Array, low: number, high: number, bins = 40): Judged["histogram"] {
  const counts = (scores: Float64Array) => {
    const made = new Array<number>(bins).fill(0);
    scores.forEach((s) => (made[Math.min(Math.floor(((s - low) / (high - low || 1)) * bins), bins - 1)]! += 1));
    return made;
  };
  return { low, high, positive: counts(up), negative: counts(down) };
}

/** All that the page shows of one model, at the cuts that it keeps. */
export function judge(name: string, positive: boolean[], scores: Float64Array, threshold: number, probability: boolean): Judged {
  const [up, down] = split(positive, scores);
  const all = cuts(up, down, threshold);
  let [auroc, precision] = [0, 0];
  all.tp.forEach((tp, i) => {
    const [was, before] = [all.tp[i - 1] ?? 0, all.fp[i - 1] ?? 0];
    auroc += ((all.fp[i]! - before) * (tp + was)) / 2;
    precision += tp + all.fp[i]! ? (tp - was) * (tp / (tp + all.fp[i]!)) : 0;
  });
  const at = kept(all.tp, all.fp, all.t.indexOf(threshold));
  const pick = (values: number[]) => at.map((i) => values[i]!);
  const [low, high] = probability ? [0, 1] : [all.t[all.t.length - 1]!, all.t[0]!];
  const squares = (part: Float64Array, wish: number) => part.reduce((sum, s) => sum + (s - wish) ** 2, 0);
  return {
    name,
    kind: probability ? "probability" : "score",
    positives: up.length,
    negatives: down.length,
    intervals: true,
    error: at.length < all.t.length ? 2 / MOST : 0,
    threshold: [null, ...pick(all.t)],
    tp: [0, ...pick(all.tp)],
    fp: [0, ...pick(all.fp)],
    smroc_x: [],
    smroc_y: [],
    auroc: auroc / (up.length * down.length),
    averagePrecision: precision / up.length,
    brier: probability ? (squares(up, 1) + squares(down, 0)) / scores.length : null,
    reliability: probability ? isotonic(all.t, all.tp, all.fp) : [],
    histogram: histogram(up, down, low, high),
  };
}

/** Where a report starts: 0.5, or the median of scores that are no probabilities. */
export function startOf(scores: Float64Array[], probability: boolean): number {
  if (probability) return 0.5;
  const sorted = scores[0]!.slice().sort();
  return sorted[sorted.length >> 1]!;
}
