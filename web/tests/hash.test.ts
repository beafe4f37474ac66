import { expect, it, vi } from "vitest";

import { initial, isChoice, read, replace, write } from "../src/hash";
import { payload } from "./page";

it("a choice survives its link", () => {
  const p = payload();
  const choice = { threshold: 0.3, prevalence: 0.02, off: [1], group: "north", axis: "logit" as const };
  expect(write(choice, p)).toBe("#t=0.3&off=1&q=0.02&g=north&axis=logit");
  expect(read(write(choice, p), p)).toEqual(choice);
  expect(read(write({ ...choice, threshold: null }, p), p).threshold).toBe(null);
  const odd = { ...p, groups: ["a&b=c#é 😀"] };
  expect(read(write({ ...choice, group: "a&b=c#é 😀" }, odd), odd).group).toBe("a&b=c#é 😀");
});

it("what the page was written with needs no link", () => {
  expect(write(initial(payload()), payload())).toBe("");
});

it("what makes no sense is passed over", () => {
  const p = payload();
  for (const hash of ["#t=abc&q=7&g=west&off=9&axis=x", "#ranking", "#", "", "#t=&q=&off=,", "#off=0,1", "#%E0%A4%A"]) {
    expect(read(hash, p)).toEqual(initial(p));
  }
});

it("tells a choice from the anchor of a section", () => {
  expect(["#t=0.3", "#g=north", "#ranking", ""].map(isChoice)).toEqual([true, true, false, false]);
});

it("a history that throws is no error", () => {
  const spy = vi.spyOn(history, "replaceState").mockImplementation(() => {
    throw new DOMException("sandboxed", "SecurityError");
  });
  expect(() => replace("#t=0.3")).not.toThrow();
  expect(spy).toHaveBeenCalled();
  spy.mockRestore();
});
