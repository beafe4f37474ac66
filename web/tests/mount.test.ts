import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { type Mounted, mount } from "../src/mount";
import widget from "../src/widget";
import { page, payload } from "./page";

let root: HTMLElement;
let mounted: Mounted;
const thresholds: (number | null)[] = [];
const all = (selector: string) => Array.from(root.querySelectorAll(selector));
const text = (selector: string) => all(selector).map((el) => el.textContent);
const at = (selector: string, ...names: string[]) => all(selector).map((el) => names.map((n) => el.getAttribute(n)).join(" "));
const slider = () => root.querySelector<HTMLInputElement>("input[type=range]")!;
const field = (i: number) => all<any>(".sw-field" as any)[i] as unknown as HTMLInputElement;

function start(hash = "") {
  history.replaceState(null, "", hash || "/");
  root = page();
  mounted = mount(root, payload(), { hash: true, onThreshold: (t) => thresholds.push(t) });
}

function type(input: HTMLInputElement, value: string, event = "change") {
  input.value = value;
  input.dispatchEvent(new Event(event, { bubbles: true }));
}

beforeEach(() => {
  thresholds.length = 0;
  start();
});
afterEach(() => mounted.destroy());

it("leaves what Python wrote until something moves", () => {
  expect(text("[data-rate]")).toEqual(Array(4).fill("as written"));
  expect(all("[data-rate] .ci")).toHaveLength(4);
  expect(text("[data-threshold-value]")).toEqual(["0.5"]);
});

it("moves counts, rates, marks and lines, and comes back", async () => {
  mounted.setThreshold(0.3);
  expect(text("td[data-cell][data-model='0']")).toEqual(["4", "3", "0", "3"]);
  expect(text("td[data-cell][data-model='1']")).toEqual(["3", "2", "1", "4"]);
  expect(text("[data-rate=sensitivity]")).toEqual(["1.000 [0.510, 1.000]", "0.750"]);
  expect(text("[data-rate=f1]")).toEqual(["0.727 [0.401, 0.914]", "0.667"]);
  expect(at("[data-figure=roc] [data-mark='0']", "cx", "cy")).toEqual(["240.00 20.00"]);
  expect(at("[data-figure=precision_recall] [data-mark='0']", "cx", "cy")).toEqual(["420.00 174.29"]);
  expect(at("[data-figure=smroc] [data-mark]", "cx", "display")).toEqual(["240.00 ", "1 none"]);
  expect(at("[data-figure=density] line", "x1", "x2")).toEqual(["168.00 168.00"]);
  expect(text("[data-figure=confusion] text")).toEqual(["0", "0%"]);
  expect(at("[data-figure=confusion] rect", "fill-opacity")).toEqual(["0.06"]);
  expect(text("[data-threshold-value]")).toEqual(["0.3"]);
  expect(thresholds).toEqual([0.3]);
  await vi.waitFor(() => expect(location.hash).toBe("#t=0.3"));
  mounted.setThreshold(0.5);
  expect(text("[data-rate]")).toEqual(Array(4).fill("as written"));
  expect(text("td[data-cell][data-model='0']")).toEqual(["w", "w", "w", "w"]);
  await vi.waitFor(() => expect(location.hash).toBe(""));
});

it("reads the slider and the field", () => {
  type(slider(), "0", "input");
  expect(text("td[data-cell][data-model='0']")).toEqual(["4", "6", "0", "0"]);
  type(slider(), slider().max, "input");
  expect(text("td[data-cell][data-model='0']")).toEqual(["0", "0", "4", "6"]);
  expect(at("[data-figure=density] line", "display")).toEqual(["none"]);
  type(field(0), "0,75");
  expect(thresholds[thresholds.length - 1]).toBe(0.75);
  type(field(0), "many");
  expect(thresholds[thresholds.length - 1]).toBe(0.75);
  expect(field(0).getAttribute("aria-invalid")).toBe("true");
  expect(field(0).value).toBe("0.75");
  expect(slider().getAttribute("aria-valuetext")).toContain("0.75, risk sensitivity 0.500");
});

it("goes to a kept threshold where points were left out", () => {
  mounted.destroy();
  root = page();
  const thinned = payload();
  thinned.models.forEach((m) => (m.error = 0.01));
  mounted = mount(root, thinned, { hash: false, onThreshold: (t) => thresholds.push(t) });
  type(field(0), "0.42");
  expect(thresholds).toEqual([0.45]);
  expect(text(".sw-now")[0]).toMatch(/^at 0.5 sensitivity/);
  expect(text(".sw-now")[1]).toMatch(/^sensitivity/);
});

it("answers to prevalence, models, groups and axes", () => {
  type(field(1), "0.02");
  const [ppv] = text("[data-at-prevalence=ppv]");
  expect(Number(ppv)).toBeCloseTo((0.02 * 0.75) / (0.02 * 0.75 + (0.98 * 2) / 6), 3);
  type(field(1), "2");
  expect(field(1).value).toBe("0.02");
  const [, second] = all(".sw-model input") as HTMLInputElement[];
  second!.click();
  expect(at("svg g[data-model]", "display").filter((d) => d === "none")).toHaveLength(3);
  (all(".sw-model input")[0] as HTMLInputElement).click();
  expect((all(".sw-model input")[0] as HTMLInputElement).checked).toBe(true);
  const select = root.querySelector("select")!;
  select.value = "north";
  select.dispatchEvent(new Event("change", { bubbles: true }));
  expect(at("[data-group]", "opacity")).toEqual(["", "0.25"]);
  (root.querySelector(".sw-item input[type=checkbox]") as HTMLInputElement).click();
  expect(at("svg[data-axis]", "display")).toEqual(["none", ""]);
});

it("restores a link", () => {
  mounted.destroy();
  start("#t=0.3&off=1&q=0.02&g=north&axis=logit");
  expect(text("td[data-cell][data-model='0']")).toEqual(["4", "3", "0", "3"]);
  expect(field(1).value).toBe("0.02");
  expect(at("svg[data-axis]", "display")).toEqual(["none", ""]);
  (all(".sw-actions button")[0] as HTMLButtonElement).click();
  expect(text("td[data-cell][data-model='0']")).toEqual(["w", "w", "w", "w"]);
});

it("shows names as text", () => {
  expect(text(".sw-model .sw-name")).toEqual(["risk", "</script><b>"]);
  expect(all("b")).toHaveLength(0);
});

it("tells the values of the threshold below each curve", () => {
  mounted.setThreshold(0.3);
  expect(text("[data-kind=roc] .sw-value")).toEqual([
    "risk at 0.3: sensitivity 1.000, false positive rate 0.500",
    "</script><b> at 0.3: sensitivity 0.750, false positive rate 0.333",
  ]);
  expect(all("[data-kind=smroc] .sw-value")).toHaveLength(1);
  expect(all("[data-kind=forest] .sw-readout")).toHaveLength(0);
});

it("leaves the page as it was", () => {
  mounted.destroy();
  const before = page().innerHTML;
  start();
  document.querySelectorAll("[data-sortable]").forEach((t) => t.remove());
  document.querySelectorAll(".sw-tools").forEach((t) => t.remove());
  mounted.setThreshold(0.3);
  mounted.destroy();
  const kept = new DOMParser().parseFromString(before, "text/html");
  kept.querySelectorAll("[data-sortable]").forEach((t) => t.remove());
  expect(text(".sw-bar, .sw-readout")).toEqual([]);
  expect(root.textContent!.replace(/\s+/g, " ").trim()).toBe(kept.body.textContent!.replace(/\s+/g, " ").trim());
});

it("without models has no bar", () => {
  mounted.destroy();
  root = page();
  mounted = mount(root, { ...payload(), models: [], groups: [] }, { hash: true });
  expect(all(".sw-bar")).toHaveLength(0);
  expect(all(".sw-sort")).toHaveLength(2);
});

it("shares its threshold with a notebook", () => {
  mounted.destroy();
  const html = page().outerHTML;
  const values: Record<string, unknown> = { html, payload: payload(), threshold: 0.5 };
  let changed = () => {};
  const model = {
    get: (name: string) => values[name],
    set: (name: string, x: unknown) => (values[name] = x),
    save_changes: vi.fn(),
    on: (_: string, run: () => void) => (changed = run),
    off: vi.fn(),
  };
  root = document.createElement("div");
  const close = widget.render({ model: model as any, el: root });
  type(slider(), "0", "input");
  expect(values.threshold).toBe(0.05);
  expect(model.save_changes).toHaveBeenCalledTimes(1);
  values.threshold = 0.3;
  changed();
  expect(text("td[data-cell][data-model='0']")).toEqual(["4", "3", "0", "3"]);
  close();
  expect(model.off).toHaveBeenCalled();
});
