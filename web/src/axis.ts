/** Linear or logit axes: Python drew both, and one of them is shown. */

import { visible } from "./enhance";
import type { Kind } from "./scale";

/** The figures that were drawn with either kind of axes, and what shows one kind. */
export function axes(root: ParentNode) {
  const drawn = Array.from(root.querySelectorAll("svg[data-axis]"));
  const both = drawn.filter((svg) => drawn.some((other) => other !== svg && other.parentNode === svg.parentNode));
  return {
    any: both.length > 0,
    show: (kind: Kind) => both.forEach((svg) => visible(svg, svg.getAttribute("data-axis") === kind)),
  };
}
