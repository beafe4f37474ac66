/** The widget of a notebook (anywidget): the same page, its threshold shared with Python. */

import type { Payload } from "./counts";
import { mount } from "./mount";

interface Shared {
  get(name: "html"): string;
  get(name: "payload"): Payload | null;
  get(name: "threshold"): number | null;
  set(name: "threshold", t: number | null): void;
  save_changes(): void;
  on(event: "change:threshold", run: () => void): void;
  off(event: "change:threshold", run: () => void): void;
}

function render({ model, el }: { model: Shared; el: HTMLElement }): () => void {
  el.innerHTML = model.get("html");
  const root = el.querySelector<HTMLElement>("#scorewise") ?? el;
  const mounted = mount(root, model.get("payload"), {
    hash: false,
    onThreshold: (t) => {
      model.set("threshold", t);
      model.save_changes();
    },
  });
  const follow = () => mounted.setThreshold(model.get("threshold"));
  model.on("change:threshold", follow);
  return () => {
    model.off("change:threshold", follow);
    mounted.destroy();
  };
}

export default { render };
