/** A small page with the hooks that a report has, and the payload that goes with it. */

import type { Payload } from "../src/counts";

/** Ten rows: 4 positives among scores .9 .8 .7 .6 .5 .4 .3 .2 .1 .05. */
export const payload = (): Payload => ({
  version: 1,
  level: 0.95,
  z: 1.959963984540054,
  threshold: 0.5,
  prevalence: 0.4,
  positive: "ill",
  groups: ["north", "south"],
  models: [
    {
      name: "risk",
      kind: "probability",
      positives: 4,
      negatives: 6,
      intervals: true,
      error: 0,
      threshold: [null, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05],
      tp: [0, 1, 2, 2, 3, 3, 3, 4, 4, 4, 4],
      fp: [0, 0, 0, 1, 1, 2, 3, 3, 4, 5, 6],
      smroc_x: [0, 0, 0, 0.1, 0.1, 0.3, 0.4, 0.5, 0.6, 0.8, 1],
      smroc_y: [0, 0.3, 0.6, 0.6, 0.8, 0.8, 0.9, 1, 1, 1, 1],
    },
    {
      name: "</script><b>",
      kind: "probability",
      positives: 4,
      negatives: 6,
      intervals: false,
      error: 0,
      threshold: [null, 0.95, 0.45, 0.05],
      tp: [0, 2, 3, 4],
      fp: [0, 1, 2, 6],
      smroc_x: [],
      smroc_y: [],
    },
  ],
});

const figure = (kind: string, x: string, y: string, inside: string) =>
  `<figure data-kind="${kind}"><svg data-figure="${kind}" viewBox="0 0 440 400" data-x="${x}" data-y="${y}">${inside}</svg><figcaption>${kind}</figcaption></figure>`;

const unit = ["linear,0,1,60,420", "linear,0,1,380,20"] as const;
const marks = [0, 1]
  .map((i) => `<g data-model="${i}"><path fill="none" stroke="#00${i}" d="M0 0"/><circle data-mark="${i}" cx="1" cy="1"/></g>`)
  .join("");

export function page(): HTMLElement {
  const row = (name: string) => [0, 1].map((i) => `<td data-rate="${name}" data-model="${i}">as <span class="ci">written</span></td>`).join("");
  const cells = [0, 1].map((i) => ["tp", "fp", "fn", "tn"].map((c) => `<td data-cell="${c}" data-model="${i}">w</td>`).join("")).join("");
  document.body.innerHTML = `<main id="scorewise">
    ${figure("roc", ...unit, marks)}${figure("precision_recall", ...unit, marks)}${figure("smroc", ...unit, marks)}
    ${figure("density", "linear,0,1,60,420", "linear,0,5,380,20", '<line data-threshold="" x1="0" x2="0"/>')}
    ${figure("forest", ...unit, '<g data-group="north"></g><g data-group="south"></g>')}
    <figure><svg data-figure="reliability" data-axis="linear" data-x="${unit[0]}" data-y="${unit[1]}"><line data-threshold=""/></svg>
    <svg data-figure="reliability" data-axis="logit" display="none" data-x="logit,0.001,0.999,60,420" data-y="${unit[1]}"><line data-threshold=""/></svg></figure>
    <svg data-figure="confusion"><rect fill-opacity="0.5"/><text data-cell="fn" data-model="0">w</text><text data-share="fn" data-model="0">w</text></svg>
    <p>At <span data-threshold-value>0.5</span></p>
    <table><tbody><tr>${cells}</tr><tr>${row("sensitivity")}</tr><tr>${row("f1")}</tr>
    <tr><td data-at-prevalence="ppv" data-model="0">w</td><td data-at-prevalence="npv" data-model="0">w</td></tr></tbody></table>
    <table data-sortable><thead><tr><th scope="col">Measure</th><th scope="col" class="n">Value</th></tr></thead>
    <tbody><tr><th scope="row">AUROC</th><td data-value="0.8">0.800</td></tr><tr><th scope="row">a_b|c</th><td>—</td></tr><tr><th scope="row">Brier &amp; 5%</th><td data-value="0.1">0.100</td></tr></tbody>
    <tbody><tr><th colspan="2">Second</th></tr><tr><th scope="row">z</th><td data-value="2">2</td></tr><tr><th scope="row">y</th><td data-value="10">10</td></tr></tbody></table>
  </main>`;
  return document.getElementById("scorewise")!;
}
