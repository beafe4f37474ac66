"""The page of a command: sections of facts, tables and sentences, which each renderer sets its own way.

Cells of a table are raw values; the format of their column says how they are written. Widths, cutting,
escaping and alignment belong to the renderers (terminal, Markdown).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol, TypeVar

from scorewise.errors import plain
from scorewise.estimate import decimals, number

DASH = "—"
UNRELIABLE = "†"  # behind an interval that has a caution
Format = Literal["text", "number", "count", "percent", "p", "value", "interval"]
Item = TypeVar("Item")


class Ends(Protocol):
    """What has a value and an interval: an estimate, or a record with the same fields."""

    @property
    def value(self) -> float | None:
        """The value; none where it is undefined."""

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""


@dataclass(frozen=True)
class Column:
    """A column of a table; text is set left and may be folded, all else right."""

    title: str
    format: Format = "number"


@dataclass(frozen=True)
class Table:
    """Columns and rows; a row of one cell heads those below it, across all columns."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Any]]

    def texts(self) -> list[list[str]]:
        """The rows as they are written."""
        return [
            [written(cell, c.format) for cell, c in zip(row, self.columns, strict=False)]
            for row in self.rows
        ]


@dataclass(frozen=True)
class Section:
    """A title, and below it facts (key and sentence), a table and sentences; each may be absent."""

    title: str = ""
    facts: Sequence[tuple[str, str]] = ()
    table: Table | None = None
    lines: Sequence[str] = ()


@dataclass(frozen=True)
class Page:
    """The sections of a page, under the name of its command."""

    command: str
    sections: Sequence[Section]


def written(cell: Any, how: Format) -> str:
    """A cell as text.

    >>> written(0.25, "number"), written(None, "number"), written("as it is", "number")
    ('0.250', '—', 'as it is')
    >>> written(1234, "count"), written(0.95, "percent"), written(0.0004, "p")
    ('1,234', '95%', '0.0004')
    """
    if isinstance(cell, str):
        return cell
    if cell is None:
        return DASH
    return _WRITTEN[how](cell)


def value(e: Ends) -> str:
    """The value of an estimate, with as many decimals as its interval needs."""
    return number(math.nan if e.value is None else e.value, _digits(e))


def interval(e: Ends) -> str:
    """The interval in brackets, marked where it is unreliable; nothing where there is none."""
    low, high = (math.nan if end is None else end for end in (e.low, e.high))
    if math.isnan(low) and math.isnan(high):
        return ""
    mark = UNRELIABLE if getattr(e, "caution", "") else ""
    digits = _digits(e)
    return f"[{number(low, digits)}, {number(high, digits)}]{mark}"


def _digits(e: Ends) -> int:
    return 3 if e.low is None or e.high is None else decimals(e.low, e.high)


def percent(share: float) -> str:
    """A share in percent, to three digits.

    >>> percent(0.12), percent(0.95), percent(1 / 30000)
    ('12%', '95%', '0.00333%')
    """
    return f"{100 * share:.3g}%"


def count(x: float) -> str:
    """A count, or a sum of weights.

    >>> count(1234567), count(118.25)
    ('1,234,567', '118.250')
    """
    return f"{x:,.0f}" if float(x).is_integer() else number(x)


def p_value(p: float) -> str:
    """A p-value, to three decimals where that says enough.

    >>> p_value(0.03), p_value(0.000999), p_value(0.0)
    ('0.030', '0.001', '<1e-300')
    """
    return "<1e-300" if p <= 1e-300 else f"{p:.3f}" if p >= 0.00095 else f"{p:.1g}"


_WRITTEN: dict[Format, Callable[[Any], str]] = {
    "text": str,
    "number": number,
    "count": count,
    "percent": percent,
    "p": p_value,
    "value": value,
    "interval": interval,
}


def counted(n: int, noun: str) -> str:
    """A count with its noun.

    >>> counted(1, "row"), counted(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def quoted(word: object) -> str:
    """A user's word, marked off from ours."""
    return f"'{plain(word)}'"


def named(words: Sequence[str], most: int = 3) -> str:
    """A list in words, cut short where it is long.

    >>> named(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    rest = len(words) - most
    return ", ".join(words[:most]) + (f" and {rest} more" if rest > 0 else "")


def hints(lines: Sequence[str]) -> list[Section]:
    """The remarks for the reader, as the last section; none where there are none."""
    return [Section("Hints", lines=lines)] if lines else []


def undefined(found: Iterable[tuple[str, str]], title: str = "Without a value") -> list[Section]:
    """What has no value, by the reason, from pairs of a reason (empty: it has one) and a name.

    >>> undefined([("no rows", "AUROC"), ("", "Brier"), ("no rows", "AUPRC")])[0].lines
    ['AUROC, AUPRC: no rows']
    """
    by_reason: dict[str, dict[str, None]] = {}
    for why, name in found:
        if why:
            by_reason.setdefault(why, {})[name] = None
    lines = [f"{', '.join(names)}: {why}" for why, names in by_reason.items()]
    return [Section(title, lines=lines)] if lines else []
