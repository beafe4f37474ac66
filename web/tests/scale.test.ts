// @vitest-environment node
import { describe, expect, it } from "vitest";

import { parse, position, step, tickTexts, ticks, value, within } from "../src/scale";
import vectors from "../vectors/scales.json";

describe("as in Python", () => {
  it.each(vectors.position)("$scale draws $x at $at", ({ scale, x, at }) => {
    expect(position(parse(scale)!, x)).toBeCloseTo(at, 6);
  });

  it.each(vectors.step)("the step above $wish is $step", ({ wish, step: by }) => {
    expect(step(wish)).toBe(by);
  });

  it.each(vectors.ticks)("$kind ticks from $low to $high", ({ kind, low, high, n, ticks: at, texts }) => {
    const made = ticks(low, high, n, kind as "linear" | "logit");
    expect(made).toEqual(at);
    expect(tickTexts(made, kind as "linear" | "logit")).toEqual(texts);
  });
});

it("a place leads back to its value", () => {
  for (const text of ["linear,0,1,60,420", "linear,-2,8,380,20", "logit,0.001,0.999,60,420"]) {
    const scale = parse(text)!;
    for (const x of [0.01, 0.3, 0.97]) expect(value(scale, position(scale, x))).toBeCloseTo(x, 9);
  }
});

it("only a logit axis pins what is beyond its ends", () => {
  expect(within(parse("logit,0.001,0.999,0,1")!, 0)).toBe(true);
  expect(within(parse("linear,0.2,0.8,0,1")!, 0)).toBe(false);
});

it("what is no scale is none", () => {
  for (const text of [null, "", "linear,0,1,2", "log,1,2,3,4", "linear,a,1,2,3"]) expect(parse(text)).toBe(null);
});
