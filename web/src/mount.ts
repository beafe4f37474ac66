/** Brings a report to life: the bar, what it moves, values under the pointer, tables. */

import { h, render } from "preact";

import { Bar, type BarProps, type Look } from "./bar";
import { axes } from "./axis";
import { copy } from "./copy";
import { type Payload, stopAt, stops } from "./counts";
import { enhancer } from "./enhance";
import { type Choice, current, hasAddress, initial, isChoice, read, replace, write } from "./hash";
import { readouts } from "./readout";
import { tables } from "./tables";

export interface Options {
  /** Whether the choice is kept in the address of the page. */
  hash: boolean;
  onThreshold?: (t: number | null) => void;
}

export interface Mounted {
  setThreshold(t: number | null): void;
  destroy(): void;
}

/** How the figures draw each model: the attributes of its line in one where all models are curves. */
function looks(root: ParentNode, payload: Payload): Look[] {
  const figure = root.querySelector("[data-figure=roc], [data-figure=precision_recall]") ?? root;
  return payload.models.map((_, i) => {
    const line = figure.querySelector(`[data-model="${i}"] [stroke][fill=none]`);
    return {
      // a style sheet may have changed it for a dark page
      stroke: (line && getComputedStyle(line).stroke) || (line?.getAttribute("stroke") ?? "currentColor"),
      dash: line?.getAttribute("stroke-dasharray") ?? "",
    };
  });
}

/** A function that runs when its last call is so many milliseconds ago. */
function settled(wait: number, run: () => void) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const later = () => {
    clearTimeout(timer);
    timer = setTimeout(run, wait);
  };
  return { later, cancel: () => clearTimeout(timer) };
}

export function mount(root: HTMLElement, payload: Payload | null, options: Options): Mounted {
  tables(root);
  if (!payload || payload.version !== 1 || !(payload.models.length || payload.groups.length)) {
    return { setThreshold: () => {}, destroy: () => {} };
  }
  const start = initial(payload);
  const kept = stops(payload.models);
  const axis = axes(root);
  const show = enhancer(root, payload);
  const values = readouts(root, payload, (threshold) => set({ threshold }));
  const place = document.createElement("div");
  place.className = "sw-place";
  root.prepend(place);
  root.classList.add("sw-mounted");

  let choice: Choice = options.hash ? read(current(), payload) : start;
  let open = false;
  let status = "";
  // browsers allow a page only so many changes of its address in a while
  const address = settled(150, () => replace(write(choice, payload)));

  function draw(): void {
    const props: BarProps = {
      payload: payload!,
      choice,
      stops: kept,
      stop: stopAt(kept, choice.threshold),
      looks: looks(root, payload!),
      axes: axis.any,
      open,
      changed: write(choice, payload!) !== "",
      status,
      set,
      toggle: () => {
        open = !open;
        draw();
      },
      reset: () => set(start),
      link: options.hash && hasAddress() ? copyLink : null,
    };
    render(h(Bar, props), place);
  }

  function move(): void {
    axis.show(choice.axis);
    show(choice);
    values.show(choice);
    draw();
  }

  function set(change: Partial<Choice>): void {
    const before = choice.threshold;
    choice = { ...choice, ...change };
    status = "";
    move();
    if (options.hash) address.later();
    if (choice.threshold !== before) options.onThreshold?.(choice.threshold);
  }

  async function copyLink(): Promise<void> {
    replace(write(choice, payload!));
    const done = await copy(location.href.split("#")[0] + write(choice, payload!), place);
    status = done ? "Copied." : "Copy it from the box.";
    draw();
  }

  const follow = () => {
    if (!isChoice(current()) && current() !== "") return;
    choice = read(current(), payload);
    move();
  };
  if (options.hash) window.addEventListener("hashchange", follow);

  function destroy(): void {
    window.removeEventListener("hashchange", follow);
    address.cancel();
    axis.show("linear");
    show(start);
    values.destroy();
    render(null, place);
    place.remove();
    root.classList.remove("sw-mounted");
  }

  try {
    move();
  } catch (error) {
    destroy();
    throw error;
  }
  return { setThreshold: (threshold) => set({ threshold }), destroy };
}
