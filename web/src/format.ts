/** Numbers as the Python side writes them (scorewise/estimate.py and show/page.py). */

export const DASH = "—";

/** A number with so many decimals; of two that are as near, the even one, as in Python. */
export function fixed(x: number, digits: number): string {
  const text = (x + 0).toFixed(digits);
  const doubled = Math.abs(x) * 2 ** (digits + 1); // an odd integer exactly where two are as near
  const last = Number(text[text.length - 1]);
  return doubled % 2 === 1 && last % 2 === 1 ? text.slice(0, -1) + (last - 1) : text;
}

/** So many significant digits, without trailing zeros: Python's format "g". */
export function significant(x: number, digits: number): string {
  if (x === 0) return "0";
  const [mantissa, power] = x.toExponential(digits - 1).split("e") as [string, string];
  const exponent = Number(power);
  const short = (s: string) => (s.includes(".") ? s.replace(/\.?0+$/, "") : s);
  if (exponent >= -4 && exponent < digits) return short(x.toFixed(digits - 1 - exponent));
  return `${short(mantissa)}e${exponent < 0 ? "-" : "+"}${String(Math.abs(exponent)).padStart(2, "0")}`;
}

/** Three decimals; three significant digits where that would say too little. */
export function number(x: number, digits = 3): string {
  if (!isFinite(x)) return isNaN(x) ? DASH : x > 0 ? "inf" : "-inf";
  const size = Math.abs(x);
  if (size >= 1000) return size < 1e9 ? fixed(x, 0) : significant(x, 3);
  return size > 0 && size < 10 ** -digits ? significant(x, 3) : fixed(x, digits);
}

/** How many decimals an interval needs to be seen: three, more where it is narrow. */
export function decimals(low: number, high: number): number {
  const width = high - low;
  return width > 0 && width < 1 ? Math.min(Math.max(3, Math.ceil(-Math.log10(width)) + 1), 8) : 3;
}

/** A number in digits, its thousands set apart. */
export function grouped(digits: string): string {
  const [whole, rest] = digits.split(".") as [string, string?];
  return whole.replace(/\B(?=(\d{3})+$)/g, ",") + (rest === undefined ? "" : `.${rest}`);
}

/** A count, or a sum of weights. */
export const count = (x: number): string => (Number.isInteger(x) ? grouped(fixed(x, 0)) : number(x));

/** A threshold, to four significant digits; none is that at which nobody is called positive. */
export const threshold = (t: number | null): string => (t === null ? "above all" : significant(t, 4));

/** A name cut in its middle where it is long. */
export function cut(name: string, most = 40): string {
  const letters = Array.from(name);
  const half = Math.floor(most / 2);
  return letters.length <= most ? name : `${letters.slice(0, half).join("")}…${letters.slice(-half).join("")}`;
}
