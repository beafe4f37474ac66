/** Which columns are labels and scores, guessed and then chosen by the reader. */

import { BadFile, type Table } from "./table";

export interface Roles {
  label: string;
  positive: string;
  scores: string[];
}

const LABELS = /^(y|y_?true|label|labels|target|outcome|truth|actual|class|diagnosis|event|status)$/i;
const POSITIVE = /^(1|1\.0|true|t|yes|y|pos|positive|case|ill|sick|malignant|event|fraud|spam|bad|default|churn|died|dead)$/i;
const MOST = 5; // scores that one page shows

export const numeric = (cells: string[]): boolean =>
  cells.some((c) => c !== "") && cells.every((c) => c === "" || isFinite(Number(c)));

/** The different values of a column, up to so many. */
export function values(cells: string[], most = 3): string[] {
  const found = new Set<string>();
  for (const cell of cells) {
    if (cell !== "") found.add(cell);
    if (found.size >= most) break;
  }
  return Array.from(found).sort();
}

/** Which of two classes is positive: the one whose word means it, else the one that is rarer. */
export function positiveOf(cells: string[]): string {
  const two = values(cells);
  const word = two.filter((value) => POSITIVE.test(value));
  if (word.length === 1) return word[0]!;
  const many = (value: string) => cells.reduce((n, cell) => n + Number(cell === value), 0);
  return two.reduce((a, b) => (many(b) < many(a) ? b : a));
}

export const column = (table: Table, name: string): string[] => table.columns[table.names.indexOf(name)] ?? [];

/** Names of columns that can be labels: those of two values. */
export const labelColumns = (table: Table): string[] => table.names.filter((name) => values(column(table, name)).length === 2);

export const scoreColumns = (table: Table, label: string): string[] =>
  table.names.filter((name) => name !== label && numeric(column(table, name)) && values(column(table, name)).length > 1);

export function guess(table: Table): Roles {
  const possible = labelColumns(table);
  const label = possible.find((name) => LABELS.test(name)) ?? possible[0];
  if (label === undefined) throw new BadFile(`no column has two values, as a label of two classes has; columns: ${table.names.join(", ")}`);
  const numbers = scoreColumns(table, label);
  const fractions = numbers.filter((name) => column(table, name).some((c) => c !== "" && !Number.isInteger(Number(c))));
  const shares = fractions.filter((name) => column(table, name).every((c) => c === "" || (Number(c) >= 0 && Number(c) <= 1)));
  const scores = [shares, fractions, numbers].find((found) => found.length)?.slice(0, MOST);
  if (!scores) throw new BadFile(`no column of numbers is left for the scores; columns: ${table.names.join(", ")}`);
  return { label, positive: positiveOf(column(table, label)), scores };
}

/** Rows in which label and all scores are known. */
export function rowsOf(table: Table, roles: Roles): { positive: boolean[]; scores: Float64Array[]; dropped: number } {
  const labels = column(table, roles.label);
  const given = roles.scores.map((name) => column(table, name));
  const known: number[] = [];
  labels.forEach((label, i) => {
    if (label !== "" && given.every((cells) => cells[i] !== "")) known.push(i);
  });
  return {
    positive: known.map((i) => labels[i] === roles.positive),
    scores: given.map((cells) => Float64Array.from(known, (i) => Number(cells[i]) + 0)),
    dropped: table.rows - known.length,
  };
}
