import { beforeEach, expect, it, vi } from "vitest";

import { latex, markdown, tables } from "../src/tables";
import { page } from "./page";

let table: HTMLTableElement;
const column = (i: number) => Array.from(table.tBodies).flatMap((b) => Array.from(b.rows, (r) => r.cells[i]?.textContent));
const press = (i: number) => table.querySelectorAll("button")[i]!.click();
const order = () => Array.from(table.querySelectorAll("th[aria-sort]"), (th) => th.getAttribute("aria-sort"));

beforeEach(() => {
  const root = page();
  tables(root);
  tables(root); // a second time changes nothing
  table = root.querySelector<HTMLTableElement>("table[data-sortable]")!;
});

it("sorts by value up, down and back, below each heading", () => {
  expect(table.querySelectorAll("button")).toHaveLength(2);
  const names = ["AUROC", "a_b|c", "Brier & 5%", "Second", "z", "y"];
  press(1);
  expect(order()).toEqual(["none", "ascending"]);
  expect(column(0)).toEqual(["Brier & 5%", "AUROC", "a_b|c", "Second", "z", "y"]);
  press(1);
  expect(order()).toEqual(["none", "descending"]);
  expect(column(0)).toEqual(["AUROC", "Brier & 5%", "a_b|c", "Second", "y", "z"]);
  press(1);
  expect(column(0)).toEqual(names);
  press(0);
  expect(order()).toEqual(["ascending", "none"]);
  expect(column(0).slice(-2)).toEqual(["y", "z"]);
});

it("writes Markdown in which no cell breaks the table", () => {
  expect(markdown(table)).toBe(
    [
      "| Measure | Value |",
      "| --- | ---: |",
      "| AUROC | 0.800 |",
      "| a\\_b\\|c | — |",
      "| Brier & 5% | 0.100 |",
      "| **Second** |  |",
      "| z | 2 |",
      "| y | 10 |",
      "",
    ].join("\n"),
  );
});

it("writes LaTeX that compiles", () => {
  const text = latex(table);
  expect(text).toContain("\\begin{tabular}{lr}\n\\toprule\nMeasure & Value \\\\\n\\midrule");
  expect(text).toContain("a\\_b|c & --- \\\\");
  expect(text).toContain("Brier \\& 5\\% & 0.100 \\\\");
  expect(text).toContain("\\multicolumn{2}{l}{\\textit{Second}} \\\\");
});

it("copies, or leaves a box to copy from", async () => {
  const tools = table.nextElementSibling as HTMLElement;
  const [md] = Array.from(tools.querySelectorAll("button"));
  const written = vi.fn().mockResolvedValue(undefined);
  vi.stubGlobal("navigator", { clipboard: { writeText: written } });
  md!.click();
  await vi.waitFor(() => expect(tools.textContent).toContain("Copied."));
  expect(written).toHaveBeenCalledWith(markdown(table));

  vi.stubGlobal("navigator", {});
  md!.click();
  await vi.waitFor(() => expect(tools.textContent).toContain("Copy it from the box"));
  expect((tools.nextElementSibling as HTMLTextAreaElement).value).toBe(markdown(table));
  md!.click();
  await vi.waitFor(() => expect(document.querySelectorAll(".sw-box")).toHaveLength(1));
  vi.unstubAllGlobals();
});
