/** What is chosen, and the link that reproduces it: #t=0.31&off=1&q=0.02&g=north&axis=logit. */

import type { Payload } from "./counts";
import type { Kind } from "./scale";

export interface Choice {
  /** Null calls nobody positive. */
  threshold: number | null;
  prevalence: number | null;
  /** Places of models that are not shown. */
  off: readonly number[];
  /** The group that stands out; none is "". */
  group: string;
  axis: Kind;
}

export const initial = (payload: Payload): Choice => ({
  threshold: payload.threshold,
  prevalence: payload.prevalence,
  off: [],
  group: "",
  axis: "linear",
});

/** What a hash says that makes sense on this page; the rest is as the page was written. */
export function read(hash: string, payload: Payload): Choice {
  const given = new URLSearchParams(hash.replace(/^#/, ""));
  const start = initial(payload);
  const number = (key: string) => {
    const text = given.get(key);
    const x = text === null || text.trim() === "" ? NaN : Number(text);
    return isFinite(x) ? x : null;
  };
  const q = number("q");
  const off = (given.get("off") ?? "").split(",").filter(Boolean).map(Number);
  const known = Array.from(new Set(off)).filter((i) => i in payload.models);
  const group = given.get("g") ?? "";
  return {
    threshold: given.get("t") === "inf" ? null : (number("t") ?? start.threshold),
    prevalence: q !== null && q >= 0 && q <= 1 ? q : start.prevalence,
    off: known.length < payload.models.length ? known.sort((a, b) => a - b) : [],
    group: payload.groups.includes(group) ? group : "",
    axis: given.get("axis") === "logit" ? "logit" : "linear",
  };
}

/** The hash of a choice, without what is as the page was written; "" for none. */
export function write(choice: Choice, payload: Payload): string {
  const start = initial(payload);
  const said = new URLSearchParams();
  if (choice.threshold !== start.threshold) said.set("t", choice.threshold === null ? "inf" : String(choice.threshold));
  if (choice.off.length) said.set("off", choice.off.join(","));
  if (choice.prevalence !== start.prevalence && choice.prevalence !== null) said.set("q", String(choice.prevalence));
  if (choice.group) said.set("g", choice.group);
  if (choice.axis !== start.axis) said.set("axis", choice.axis);
  const text = said.toString().replace(/%2C/g, ",");
  return text && `#${text}`;
}

/** The hash of the page; history and location may throw in a sandbox. */
export function current(): string {
  try {
    return location.hash;
  } catch {
    return "";
  }
}

/** Whether a link leads to the page: to one inside a notebook none does. */
export const hasAddress = (): boolean => /^(https?|file):/.test(location.protocol);

/** Put a hash in place of the one there is, where the page may. */
export function replace(hash: string): void {
  try {
    if (hash !== location.hash) history.replaceState(history.state, "", hash || location.href.split("#")[0]);
  } catch {
    // a sandboxed page, or one inside another, has no address of its own
  }
}

/** Whether a hash is a choice, and not the anchor of a section. */
export const isChoice = (hash: string): boolean => /[#&](t|off|q|g|axis)=/.test(hash);
