/** Tables that sort by their headings, and copy as Markdown or LaTeX. */

import { copy } from "./copy";
import { DASH } from "./format";

type Order = "none" | "ascending" | "descending";
const NEXT: Record<Order, Order> = { none: "ascending", ascending: "descending", descending: "none" };

/** What a cell is sorted by: its value where it has one, else its text. */
function key(row: HTMLTableRowElement, column: number): number | string | null {
  const cell = row.cells[column];
  if (!cell) return null;
  const given = cell.dataset.value;
  if (given !== undefined) return given === "" || !isFinite(Number(given)) ? null : Number(given);
  const text = cellText(cell);
  return text === "" || text === DASH ? null : text;
}

function compare(a: number | string, b: number | string): number {
  if (typeof a === "number" && typeof b === "number") return a - b;
  return String(a).localeCompare(String(b), undefined, { numeric: true });
}

/** Rows in order of a column; what has no value comes last either way. */
export function sorted(rows: HTMLTableRowElement[], column: number, order: Order): HTMLTableRowElement[] {
  if (order === "none") return rows;
  const sign = order === "ascending" ? 1 : -1;
  const keyed = rows.map((row) => ({ row, k: key(row, column) }));
  return keyed
    .sort((a, b) => (a.k === null || b.k === null ? Number(a.k === null) - Number(b.k === null) : sign * compare(a.k, b.k)))
    .map(({ row }) => row);
}

/** A row of one cell heads those below it. */
const isHeading = (row: HTMLTableRowElement) => row.cells.length === 1 && row.cells[0]!.colSpan > 1;

/** The rows of a table as it was written, in parts that headings begin. */
function partsOf(table: HTMLTableElement): HTMLTableRowElement[][] {
  return Array.from(table.tBodies).flatMap((body) => {
    const parts: HTMLTableRowElement[][] = [[]];
    for (const row of Array.from(body.rows)) {
      if (isHeading(row)) parts.push([]);
      else parts[parts.length - 1]!.push(row);
    }
    return parts.filter((part) => part.length);
  });
}

/** Put the rows of a part in order, in the places that they hold. */
function place(part: HTMLTableRowElement[], ordered: HTMLTableRowElement[]): void {
  const body = part[0]!.parentNode!;
  const last = [...part].sort((a, b) => (a.compareDocumentPosition(b) & 4 ? -1 : 1)).pop()!;
  const after = last.nextSibling;
  for (const row of ordered) body.insertBefore(row, after);
}

function sortable(table: HTMLTableElement): void {
  const head = table.tHead?.rows[table.tHead.rows.length - 1];
  const parts = partsOf(table);
  if (!head || !parts.some((part) => part.length > 1)) return;
  const headings = Array.from(head.cells);
  if (headings.some((cell) => cell.colSpan > 1)) return;
  headings.forEach((cell, column) => {
    if (!cellText(cell)) return;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sw-sort";
    button.append(...Array.from(cell.childNodes));
    cell.append(button);
    cell.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const order = NEXT[(cell.getAttribute("aria-sort") as Order) ?? "none"];
      for (const other of headings) if (other.hasAttribute("aria-sort")) other.setAttribute("aria-sort", "none");
      cell.setAttribute("aria-sort", order);
      for (const part of parts) place(part, sorted(part, column, order));
    });
  });
}

const cellText = (cell: Element) => (cell.textContent ?? "").replace(/\s+/g, " ").trim();

/** Rows of texts as they stand; a heading is a row of one text. */
function grid(table: HTMLTableElement): { head: string[]; rows: string[][]; numeric: boolean[] } {
  const texts = (row: HTMLTableRowElement) => Array.from(row.cells, cellText);
  const rows = Array.from(table.tBodies).flatMap((body) => Array.from(body.rows));
  const headRow = table.tHead?.rows[table.tHead.rows.length - 1];
  const head = headRow ? texts(headRow) : [];
  const numeric = head.map((_, i) => rows.some((row) => !isHeading(row) && row.cells[i]?.dataset.value !== undefined));
  return { head, rows: rows.map(texts), numeric };
}

const escapeMarkdown = (text: string) => text.replace(/[\\|`*_<>[\]#~]/g, "\\$&");

/** The table as Markdown. */
export function markdown(table: HTMLTableElement): string {
  const { head, rows, numeric } = grid(table);
  const line = (cells: string[]) => `| ${cells.join(" | ")} |`;
  const body = rows.map((row) => {
    if (row.length > 1 || head.length === 1) return line(row.map(escapeMarkdown));
    return line([`**${escapeMarkdown(row[0] ?? "")}**`, ...head.slice(1).map(() => "")]);
  });
  return `${[line(head.map(escapeMarkdown)), line(numeric.map((n) => (n ? "---:" : "---"))), ...body].join("\n")}\n`;
}

const LATEX: Record<string, string> = {
  "\\": "\\textbackslash{}",
  "~": "\\textasciitilde{}",
  "^": "\\textasciicircum{}",
  "—": "---",
  "–": "--",
  "−": "$-$",
  "±": "$\\pm$",
  "≤": "$\\le$",
  "≥": "$\\ge$",
  "†": "$\\dagger$",
  "<": "$<$",
  ">": "$>$",
};
const escapeLatex = (text: string) => text.replace(/[\\~^—–−±≤≥†<>]|[&%$#_{}]/g, (c) => LATEX[c] ?? `\\${c}`);

/** The table as LaTeX, with the rules of booktabs. */
export function latex(table: HTMLTableElement): string {
  const { head, rows, numeric } = grid(table);
  // a bracket that begins a row would be taken as the space after the row before
  const line = (cells: string[]) => `${cells.map(escapeLatex).join(" & ").replace(/^\[/, "{}[")} \\\\`;
  const body = rows.map((row) => {
    if (row.length > 1 || head.length === 1) return line(row);
    return `\\multicolumn{${head.length}}{l}{\\textit{${escapeLatex(row[0] ?? "")}}} \\\\`;
  });
  const columns = numeric.map((n) => (n ? "r" : "l")).join("");
  return [`\\begin{tabular}{${columns}}`, "\\toprule", line(head), "\\midrule", ...body, "\\bottomrule", "\\end{tabular}", ""].join("\n");
}

function copyable(table: HTMLTableElement): void {
  const tools = document.createElement("div");
  tools.className = "sw-tools";
  const status = document.createElement("span");
  status.setAttribute("role", "status");
  const button = (title: string, text: (table: HTMLTableElement) => string) => {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = title;
    made.addEventListener("click", async () => {
      const done = await copy(text(table), tools);
      status.textContent = done ? "Copied." : "Copy it from the box below.";
    });
    return made;
  };
  tools.append(button("Copy as Markdown", markdown), button("Copy as LaTeX", latex), status);
  (table.closest(".sw-scroll") ?? table).after(tools);
}

/** Make the tables that say so sort and copy. */
export function tables(root: ParentNode): void {
  for (const table of Array.from(root.querySelectorAll<HTMLTableElement>("table[data-sortable]"))) {
    if (table.dataset.sortable === "ready") continue;
    table.dataset.sortable = "ready";
    sortable(table);
    copyable(table);
  }
}
