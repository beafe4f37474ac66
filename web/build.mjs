// Writes the scripts that the package ships (report.js, widget.js, bar.css) and the page of the docs for
// dropped files (drop.html); `node build.mjs FOLDER` writes all of them elsewhere.
import { createHash } from "node:crypto";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const assets = join(here, "../src/scorewise/show/assets");
const [scripts, docs] = process.argv[2] ? [process.argv[2], process.argv[2]] : [assets, join(here, "../docs")];
const LIMIT = 40_000; // bytes of report.js
const MORE = 100_000; // bytes that the page for dropped files may have beyond them

const bundled = async (entry, format) => {
  const made = await build({
    absWorkingDir: here,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    target: "es2020",
    charset: "utf8",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    logLevel: "warning",
    ...(format && { format }),
  });
  return made.outputFiles[0].text;
};

const atMost = (name, text, limit) => {
  const size = Buffer.byteLength(text);
  if (size > limit) throw new Error(`${name} has ${size} bytes, more than ${limit}`);
  // a script stands inside a page, where this would end it
  if (/<\/script|<!--/i.test(text)) throw new Error(`${name} holds </script or <!--`);
  return text;
};

const report = atMost("report.js", await bundled("src/main.ts", "iife"), LIMIT);
const drop = atMost("the script of drop.html", await bundled("src/drop/drop.tsx", "iife"), report.length + MORE);
const bar = await bundled("src/bar.css");
const style = [bar, await readFile(join(assets, "report.css"), "utf8"), await bundled("src/drop/page.css")].join("");
const parts = { hash: createHash("sha256").update(drop).digest("base64"), style, script: drop };
const page = (await readFile(join(here, "src/drop/page.html"), "utf8")).replace(/\{(hash|style|script)\}/g, (_, part) => parts[part]);

await mkdir(scripts, { recursive: true });
await writeFile(join(scripts, "report.js"), report);
await writeFile(join(scripts, "widget.js"), await bundled("src/widget.ts", "esm"));
await writeFile(join(scripts, "bar.css"), bar);
await writeFile(join(docs, "drop.html"), page);
