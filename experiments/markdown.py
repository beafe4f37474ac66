"""Numbers and tables as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from textwrap import fill


def table(head: Sequence[str], words: int, lines: Sequence[Sequence[str]]) -> str:
    """A table whose first columns, `words` of them, are words and all others numbers."""
    rule = "|" + "---|" * words + "---:|" * (len(head) - words)
    return "\n".join([f"| {' | '.join(head)} |", rule, *(f"| {' | '.join(x)} |" for x in lines)])


def wrapped(text: str, mark: str = "") -> str:
    """Lines of a page; the first begins with `mark`."""
    text = text.replace(
        " + ", "\N{NO-BREAK SPACE}+ "
    )  # a line that begins with a plus would be a list
    return fill(
        text, 108, break_on_hyphens=False, initial_indent=mark, subsequent_indent=" " * len(mark)
    )


def shown(value: float | None, digits: int = 3) -> str:
    """A number, or nothing where there is none; no minus before a zero."""
    if value is None or isnan(value):
        return ""
    return f"{round(value, digits) + 0.0:.{digits}f}"


def give_or_take(value: float | None, spread: float | None, digits: int = 3) -> str:
    """A number with its spread, where there is one."""
    if spread is None or isnan(spread):
        return shown(value, digits)
    return f"{shown(value, digits)} ± {shown(spread, digits)}"


def between(middle: float, low: float, high: float, digits: int = 3) -> str:
    """A difference with its interval."""
    return " ".join(
        (
            f"{round(middle, digits) + 0.0:+.{digits}f}",
            f"[{round(low, digits) + 0.0:+.{digits}f}, {round(high, digits) + 0.0:+.{digits}f}]",
        )
    )


def probability(p: float) -> str:
    """A p-value, or nothing where there is none."""
    if isnan(p):
        return ""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"
