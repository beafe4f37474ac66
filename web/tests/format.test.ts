// @vitest-environment node
import { expect, it } from "vitest";

import { count, cut, decimals, fixed, number, significant, threshold } from "../src/format";

it("numbers are those of Python", () => {
  const given = [0.5, 0.00012345, 0, 12345.678, Infinity, NaN, 1234567890, -0, 0.00001];
  expect(given.map((x) => number(x))).toEqual(["0.500", "0.000123", "0.000", "12346", "inf", "—", "1.23e+09", "0.000", "1e-05"]);
  expect([0.0625, 0.1875, 0.3125, -0.0625, 2.5].map((x) => fixed(x, 3))).toEqual(["0.062", "0.188", "0.312", "-0.062", "2.500"]);
  expect([0.5, 1.5, 2.5].map((x) => fixed(x, 0))).toEqual(["0", "2", "2"]);
  expect([0.31234, 1e-7, 12345.6, 100, 0].map((x) => significant(x, 4))).toEqual(["0.3123", "1e-07", "1.235e+04", "100", "0"]);
});

it("decimals grow as an interval narrows", () => {
  expect([decimals(0.749, 0.899), decimals(0.80181, 0.80235), decimals(NaN, 1)]).toEqual([3, 5, 3]);
});

it("counts have commas, sums of weights decimals", () => {
  expect([count(1234567), count(118.25), count(0)]).toEqual(["1,234,567", "118.250", "0"]);
});

it("thresholds have four digits, and there is one above all", () => {
  expect([threshold(0.312345), threshold(null)]).toEqual(["0.3123", "above all"]);
});

it("long names are cut between letters", () => {
  expect(cut("a".repeat(100), 10)).toBe("aaaaa…aaaaa");
  expect(Array.from(cut("😀".repeat(50), 10))).toHaveLength(11);
});
