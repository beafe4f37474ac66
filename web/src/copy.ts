/** Text to the clipboard, or, where that is forbidden, in a box from which it can be copied by hand. */

/** Copy a text; false where the reader has to do it, from a box put after `near`. */
export async function copy(text: string, near: Element): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyFromBox(text, near);
  }
}

function copyFromBox(text: string, near: Element): boolean {
  const box = document.createElement("textarea");
  box.className = "sw-box";
  box.readOnly = true;
  box.rows = Math.min(text.split("\n").length + 1, 12);
  box.value = text;
  box.setAttribute("aria-label", "Text to copy");
  near.nextElementSibling?.matches(".sw-box") && near.nextElementSibling.remove();
  near.after(box);
  box.focus();
  box.select();
  let done = false;
  try {
    done = document.execCommand("copy");
  } catch {
    // the box stays for the reader
  }
  if (done) box.remove();
  return done;
}
