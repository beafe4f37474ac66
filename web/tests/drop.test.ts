// @vitest-environment node
import { describe, expect, it } from "vitest";

import { guess, positiveOf, rowsOf } from "../src/drop/roles";
import { parseCsv } from "../src/drop/table";
import { judge, startOf } from "../src/drop/tally";

describe("csv", () => {
  it("of any usual dialect is read", () => {
    const { names, columns } = parseCsv('\ufeffy;"a;b"\r\n1;"x ""q"""\r\n\r\n0;"two\nlines"\r\n1\r\n');
    expect(names).toEqual(["y", "a;b"]);
    expect(columns).toEqual([["1", "0", "1"], ['x "q"', "two\nlines", ""]]);
    expect(parseCsv("a\tb\n1\t2").columns).toEqual([["1"], ["2"]]);
  });

  it("that has no rows, or more cells than names, is refused", () => {
    expect(() => parseCsv("y,p\n")).toThrow("no rows");
    expect(() => parseCsv("y,p\n1,2,3")).toThrow("line 2 has more cells");
    expect(() => parseCsv("")).toThrow("no rows");
  });
});

describe("roles", () => {
  const table = parseCsv("id,site,outcome,p,q\n1,a,no,0.2,3\n2,b,yes,0.7,4.5\n3,a,no,,1\n4,b,no,0.1,2\n");

  it("are guessed from names and values", () => {
    expect(guess(table)).toEqual({ label: "outcome", positive: "yes", scores: ["p"] });
    expect(positiveOf(["f", "m", "m", ""])).toBe("f");
    expect(() => guess(parseCsv("a,b\n1,2\n3,4\n5,6"))).toThrow("no column has two values");
    expect(() => guess(parseCsv("a,y\nu,0\nv,1\nw,1"))).toThrow("no column of numbers");
  });

  it("leave out rows that lack something", () => {
    const found = rowsOf(table, { label: "outcome", positive: "yes", scores: ["p"] });
    expect(found.dropped).toBe(1);
    expect(found.positive).toEqual([false, true, false]);
    expect(Array.from(found.scores[0]!)).toEqual([0.2, 0.7, 0.1]);
  });
});

describe("tally", () => {
  const labels = [true, false, true, false, true];
  const scores = Float64Array.from([0.9, 0.8, 0.8, 0.2, 0.4]);

  it("counts at every score and at the threshold", () => {
    const m = judge("p", labels, scores, 0.5, true);
    expect(m.threshold).toEqual([null, 0.9, 0.8, 0.5, 0.4, 0.2]);
    expect(m.tp).toEqual([0, 1, 2, 2, 3, 3]);
    expect(m.fp).toEqual([0, 0, 1, 1, 1, 2]);
    expect(m.auroc).toBeCloseTo(4.5 / 6, 12); // pairs in order, a tie counting half
    expect(m.brier).toBeCloseTo((0.01 + 0.64 + 0.04 + 0.04 + 0.36) / 5, 12);
    expect(m.reliability[0]).toEqual({ x: 0.2, y: 0 });
    expect(m.reliability[m.reliability.length - 1]).toEqual({ x: 0.9, y: 1 });
  });

  it("keeps a threshold beyond all scores", () => {
    expect(judge("p", labels, scores, 0.95, true).threshold[1]).toBe(0.95);
    expect(judge("p", labels, scores, 0.1, true).threshold.slice(-1)).toEqual([0.1]);
    expect(startOf([Float64Array.from([3, 1, 2])], false)).toBe(2);
  });

  it("keeps few points of very many", () => {
    const n = 20000;
    const many = Float64Array.from({ length: n }, (_, i) => (i + 0.5) / n);
    const m = judge("p", Array.from(many, (s, i) => ((i * 7919) % 1000) / 1000 < s), many, 0.5, true);
    expect(m.threshold.length).toBeLessThanOrEqual(402);
    expect(m.threshold).toContain(0.5);
    expect(m.error).toBeGreaterThan(0);
    const gaps = m.tp.slice(1).map((tp, i) => (tp - m.tp[i]!) / m.positives + (m.fp[i + 1]! - m.fp[i]!) / m.negatives);
    expect(Math.max(...gaps)).toBeLessThan(4 / 400 + 0.002);
  });
});
