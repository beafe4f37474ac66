/** A file as columns of texts or numbers: csv of any usual dialect, or parquet. */

import { decompress as unzstd } from "fzstd";
import { parquetMetadata, parquetRead, parquetSchema } from "hyparquet";

export interface Table {
  names: string[];
  /** Cells of each column; a missing one is "". */
  columns: string[][];
  rows: number;
}

/** What is wrong with a file, in a sentence for its owner. */
export class BadFile extends Error {}

export async function readTable(file: File): Promise<Table> {
  const bytes = await file.arrayBuffer();
  const magic = new TextDecoder("latin1").decode(bytes.slice(0, 4));
  return magic === "PAR1" ? readParquet(bytes) : parseCsv(new TextDecoder().decode(bytes));
}

async function readParquet(bytes: ArrayBuffer): Promise<Table> {
  const metadata = parquetMetadata(bytes);
  const fields = parquetSchema(metadata).children.filter((field) => field.children.length === 0);
  const names = fields.map((field) => field.element.name);
  let rows: unknown[][] = [];
  const compressors = { ZSTD: (input: Uint8Array, length: number) => unzstd(input, new Uint8Array(length)) };
  try {
    await parquetRead({ file: bytes, metadata, columns: names, compressors, onComplete: (found) => (rows = found) });
  } catch (error) {
    throw new BadFile(`the parquet file cannot be read here: ${error instanceof Error ? error.message : error}`);
  }
  const text = (cell: unknown) => (cell === null || cell === undefined ? "" : String(cell));
  return { names, columns: names.map((_, i) => rows.map((row) => text(row[i]))), rows: rows.length };
}

/** The mark between cells: that of which the first line has most outside quotes. */
function separator(text: string): string {
  const first = text.slice(0, text.search(/[\r\n]|$/)).replace(/"[^"]*"/g, "");
  const many = (mark: string) => first.split(mark).length;
  return [",", ";", "\t", "|"].reduce((best, mark) => (many(mark) > many(best) ? mark : best));
}

/** Columns of a csv text; cells may be quoted, and hold marks, line ends and doubled quotes. */
export function parseCsv(given: string): Table {
  const text = given.replace(/^\ufeff/, "");
  const mark = separator(text);
  const columns: string[][] = [];
  let at = 0;
  let line = 0;
  const put = (column: number, cell: string) => {
    if (line === 0) columns.push([cell.trim()]);
    else if (column < columns.length) columns[column]![line] = cell.trim();
    else if (cell.trim() !== "") throw new BadFile(`line ${line + 1} has more cells than the first line has names`);
  };
  while (at < text.length) {
    let column = 0;
    let ended = false;
    if (text[at] === "\n" || text[at] === "\r") {
      at += 1; // an empty line
      continue;
    }
    while (!ended) {
      let cell = "";
      if (text[at] === '"') {
        const [inside, next] = quoted(text, at);
        cell = inside;
        at = next;
      }
      const start = at;
      while (at < text.length && text[at] !== mark && text[at] !== "\n" && text[at] !== "\r") at += 1;
      put(column, cell + text.slice(start, at));
      column += 1;
      ended = text[at] !== mark;
      at += 1;
    }
    if (line > 0) for (let i = column; i < columns.length; i += 1) columns[i]![line] = "";
    line += 1;
  }
  if (line < 2) throw new BadFile("there are no rows below the names of the columns");
  return { names: columns.map((cells) => cells[0]!), columns: columns.map((cells) => cells.slice(1)), rows: line - 1 };
}

/** The text within quotes that begin here, and where they end. */
function quoted(text: string, start: number): [string, number] {
  let inside = "";
  let at = start + 1;
  for (;;) {
    const end = text.indexOf('"', at);
    if (end < 0) return [inside + text.slice(at), text.length];
    inside += text.slice(at, end);
    if (text[end + 1] !== '"') return [inside, end + 1];
    inside += '"';
    at = end + 2;
  }
}
