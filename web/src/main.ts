/** The script of a report; where anything fails, the page stays as Python wrote it. */

import { mount } from "./mount";

try {
  const root = document.getElementById("scorewise");
  const data = document.getElementById("scorewise-data");
  if (root) mount(root, data ? JSON.parse(data.textContent ?? "null") : null, { hash: true });
} catch {
  // the static page says all that it says
}
