// @vitest-environment node
import { describe, expect, it } from "vitest";

import { RATES, atPrevalence, confusion, netBenefit, pointAt, rate, rateText, stopAt, stops, wilson } from "../src/counts";
import { payload } from "./page";

const [risk, other] = payload().models as [any, any];

describe("counts at a threshold", () => {
  it("are those of the last kept point at or above it", () => {
    const at = (t: number | null) => confusion(risk, pointAt(risk, t));
    expect(at(0.5)).toEqual({ tp: 3, fp: 2, fn: 1, tn: 4 });
    expect(at(0.41)).toEqual(at(0.5));
    expect(at(0.4)).toEqual({ tp: 3, fp: 3, fn: 1, tn: 3 });
    expect(at(null)).toEqual({ tp: 0, fp: 0, fn: 4, tn: 6 });
    expect(at(2)).toEqual(at(null));
    expect(at(-1)).toEqual({ tp: 4, fp: 6, fn: 0, tn: 0 });
  });

  it("leave no crumb of rounded weights", () => {
    const weighted = { ...risk, positives: 0.1 + 0.2, tp: [0.3] };
    expect(confusion(weighted, 0).fn).toBe(0);
  });
});

describe("rates", () => {
  it("are what Python prints", () => {
    const c = { tp: 30, fp: 15, fn: 91, tn: 864 };
    const said = Object.fromEntries(RATES.map((name) => [name, rateText(rate(c, name, 1.959963984540054))]));
    // sw.measures of Confusion.counts(tp=30, fp=15, fn=91, tn=864)
    expect(said).toEqual({
      sensitivity: "0.248 [0.180, 0.332]",
      specificity: "0.983 [0.972, 0.990]",
      precision: "0.667 [0.521, 0.786]",
      npv: "0.905 [0.884, 0.922]",
      f1: "0.361 [0.275, 0.458]",
      accuracy: "0.894 [0.873, 0.912]",
      alert_rate: "0.045 [0.034, 0.060]",
    });
  });

  it("are undefined, not zero, without rows to count", () => {
    expect(rateText(rate({ tp: 0, fp: 0, fn: 4, tn: 6 }, "precision", 1.96))).toBe("—");
    expect(rateText(rate({ tp: 0, fp: 0, fn: 4, tn: 6 }, "sensitivity", null))).toBe("0.000");
  });

  it("have intervals that reach the ends only at the ends", () => {
    expect(wilson(9, 1, 1.959963984540054).low).toBeCloseTo(0.5958, 4);
    expect(wilson(0, 5, 1.96).low).toBe(0);
    expect(wilson(5, 0, 1.96).high).toBe(1);
  });

  it("at another prevalence follow from Bayes", () => {
    const c = { tp: 80, fp: 10, fn: 20, tn: 90 };
    expect(atPrevalence(c, 0.5).ppv).toBeCloseTo(80 / 90, 12);
    expect(atPrevalence(c, 0.02).ppv).toBeCloseTo((0.02 * 0.8) / (0.02 * 0.8 + 0.98 * 0.1), 12);
    expect(atPrevalence(c, 0.02).npv).toBeCloseTo((0.98 * 0.9) / (0.98 * 0.9 + 0.02 * 0.2), 12);
  });

  it("give the net benefit", () => {
    expect(netBenefit({ tp: 30, fp: 15, fn: 91, tn: 864 }, 0.2)).toBeCloseTo((30 - 15 * 0.25) / 1000, 12);
    expect(netBenefit({ tp: 1, fp: 1, fn: 1, tn: 1 }, 1)).toBeNaN();
  });
});

it("stops are the kept thresholds of all models, rising", () => {
  const all = stops([risk, other]);
  expect(all.slice(0, 2)).toEqual([0.05, 0.1]);
  expect(all.slice(-2)).toEqual([0.95, null]);
  expect(all[stopAt(all, 0.41)]).toBe(0.45);
  expect(all[stopAt(all, 7)]).toBe(null);
});
