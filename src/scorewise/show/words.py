"""How pages write things: numbers, shares, p-values, estimates and lists of names.

Cells of a table are raw values; the format of their column says how `formatted` writes them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from scorewise.errors import plain
from scorewise.estimate import decimals, number

DASH = "—"
EPONYMS = frozenset({"Brier", "Hand", "Hosmer", "Jaccard"})  # in titles of measures
UNRELIABLE = "†"  # behind an interval that has a caution
Format = Literal[
    "text",
    "name",  # a word of the user, which the terminal may cut in its middle
    "title",  # of a measure
    "number",
    "count",
    "percent",
    "p",
    "value",  # of an estimate
    "interval",  # of an estimate
    "interval or reason",  # and what coarsening has left; why there is no value
    "baseline",  # of a measure: what chance, the best constant or calibrated scores would get
    "skill",  # of a measure: in percent, with a bar where there is room; else the p-value
    "compared",  # value and interval, marked where a paired comparison with every other is won
]
MIN_P = 1e-15  # no approximation holds so far out: smaller p-values are not told apart
LEFT_ALIGNED: frozenset[Format] = frozenset(
    {"text", "name", "title", "interval or reason", "compared"}
)


class Name(str):
    """A word of the user, which each renderer marks off from ours: in quotes, or as code."""

    __slots__ = ()


class ClaimText(str):
    """A sentence of a verdict, with what it is about and what it finds."""

    about: str
    finding: str

    def __new__(cls, text: str, about: str, finding: str = "") -> ClaimText:
        """The text as it is; forms that have links lead from it to what it rests on."""
        text_of = super().__new__(cls, text)
        text_of.about, text_of.finding = about, finding
        return text_of


Sentence: TypeAlias = str | Sequence[str]  # a text, or parts of which some are names


@dataclass(frozen=True)
class Compared:
    """A cell of format "compared": the estimate of one model, and whether it beats every other."""

    estimate: Any
    best: bool


def formatted(cell: Any, how: Format) -> str:
    """A cell as text.

    >>> formatted(0.25, "number"), formatted(None, "number"), formatted("as it is", "number")
    ('0.250', '—', 'as it is')
    >>> formatted(1234, "count"), formatted(0.95, "percent"), formatted(0.0004, "p")
    ('1,234', '95%', '0.0004')
    """
    if isinstance(cell, str):
        return cell
    if cell is None:
        return DASH
    return _FORMATTERS.get(how, str)(cell)


def spans(cell: Any, how: Format) -> list[tuple[str, str]]:
    """A cell as pieces of text, each with its style; one piece without a style unless it is an estimate.

    >>> from scorewise.estimate import Estimate
    >>> spans(Compared(Estimate(0.8, 0.7, 0.9), best=True), "compared")
    [('0.800', 'best'), ('[0.700, 0.900]', 'interval')]
    >>> spans(Estimate.undefined("no positives"), "interval or reason"), spans(3, "count")
    ([('no positives', 'reason')], [('3', '')])
    """
    if isinstance(cell, Compared):
        e = cell.estimate
        rest = [piece for piece in spans(e, "interval or reason") if piece[0]]
        return [(value(e), "best" if cell.best else "value"), *rest]
    if how == "interval or reason" and not isinstance(cell, str | None):
        return [(interval_or_reason(cell), "reason" if cell.why else "interval")]
    return [(formatted(cell, how), "")]


def sentence(text: Sentence, name: Callable[[str], str], plain: Callable[[str], str] = str) -> str:
    """A sentence, its names written one way and the rest another.

    >>> sentence(["rows of ", Name("risk")], name=repr)
    "rows of 'risk'"
    """
    parts = (text,) if isinstance(text, str) else text
    return "".join(name(part) if isinstance(part, Name) else plain(part) for part in parts)


def value(e: Any) -> str:
    """The value of an estimate, with as many decimals as its interval needs."""
    return number(math.nan if e.value is None else e.value, _digits(e))


def interval(e: Any) -> str:
    """The interval in brackets, marked where it is unreliable; nothing where there is none."""
    low, high = (math.nan if end is None else end for end in (e.low, e.high))
    if math.isnan(low) and math.isnan(high):
        return ""
    mark = UNRELIABLE if getattr(e, "caution", "") else ""
    digits = _digits(e)
    return f"[{number(low, digits)}, {number(high, digits)}]{mark}"


def bound(e: Any) -> str:
    """The half-width that coarsening has left; nothing where the value is exact."""
    return f"±{e.bound:.1g}" if e.bound and e.value is not None else ""


def interval_or_reason(e: Any) -> str:
    """The interval and what coarsening has left, or why there is no value."""
    return str(e.why) or " ".join(filter(None, (interval(e), bound(e))))


def baseline(m: Any) -> str:
    """What a value is to be compared with: its baseline, or what calibrated scores would get."""
    if m.baseline is not None:
        return number(m.baseline)
    return "" if m.expected is None else number(m.expected, _digits(m))


def skill(m: Any) -> str:
    """The skill of a measure in whole percent; the p-value of one of calibration."""
    if m.skill is not None and not math.isnan(m.skill):
        return whole_percent(m.skill)
    return "" if m.p is None else p_phrase(m.p, least=has_smallest_p(m))


def compared(c: Compared) -> str:
    """Value and interval of a model beside others; a star marks a winner."""
    e = c.estimate
    return f"{value(e)}{'*' if c.best else ''} {interval_or_reason(e)}".rstrip()


def _digits(e: Any) -> int:
    return 3 if e.low is None or e.high is None else decimals(e.low, e.high)


def percent(share: float) -> str:
    """A share in percent, to three digits, or as many as tell it from 100%.

    >>> percent(0.12), percent(0.95), percent(1 / 30000), percent(0.99999)
    ('12%', '95%', '0.00333%', '99.999%')
    """
    shown = (f"{100 * share:.{digits}g}%" for digits in range(3, 18))
    return next(x for x in shown if x != "100%" or share >= 1 - 1e-15)


def whole_percent(share: float) -> str:
    """A share in whole percent.

    >>> whole_percent(0.124), whole_percent(-0.001)
    ('12%', '0%')
    """
    return f"{round(100 * share)}%"


def count(x: float) -> str:
    """A count, or a sum of weights.

    >>> count(1234567), count(118.25)
    ('1,234,567', '118.250')
    """
    return f"{x:,.0f}" if float(x).is_integer() else number(x)


def p_value(p: float | None, *, least: bool = False) -> str:
    """A p-value, to three decimals where that says enough; `least` marks the floor of resampling.

    >>> p_value(0.03), p_value(0.000999), p_value(0.0), p_value(1 / 1001, least=True)
    ('0.030', '0.001', '<1e-15', '≤0.001')
    """
    if p is None or p < MIN_P:
        return DASH if p is None else f"<{MIN_P:.0e}"
    p = rounded_up(p) if least else p
    return ("≤" if least else "") + (f"{p:.3f}" if p >= 0.00095 else f"{p:.1g}")


def p_phrase(p: float, *, least: bool = False) -> str:
    """A p-value within a sentence; `least` marks the floor of resampling.

    >>> p_phrase(0.03), p_phrase(0.000999), p_phrase(0.0), p_phrase(1 / 301, least=True)
    ('p = 0.030', 'p = 0.001', 'p < 1e-15', 'p ≤ 0.004')
    """
    if p < MIN_P:
        return f"p < {MIN_P:.0e}"
    p = rounded_up(p) if least else p
    return f"p {'≤' if least else '='} {f'{p:.3f}' if p >= 0.00095 else number(p)}"


def rounded_up(p: float) -> float:
    """An upper limit of a p-value, with the decimals that are printed of it.

    >>> rounded_up(1 / 301), rounded_up(1 / 1001), rounded_up(1 / 9001)
    (0.004, 0.001, 0.0002)
    """
    scale = 10.0 ** (3 if p >= 0.00095 else math.ceil(-math.log10(p)))
    return math.ceil(p * scale - 1e-9) / scale


def is_smallest_p(p: float | None, replicates: int) -> bool:
    """Whether a p-value is the least that so many replicates can show: none of them was beyond.

    >>> is_smallest_p(1 / 1001, 1000), is_smallest_p(2 / 1001, 1000)
    (True, False)
    """
    return p is not None and math.isclose(p * (1 + replicates), 1, rel_tol=1e-9)


def has_smallest_p(m: Any) -> bool:
    """Whether the p-value of an estimate is the least that its replicates can show.

    The method tells their number, or it is one of those that measures of calibration are drawn with.
    """
    from scorewise.inference.means import SIGN_FLIPS
    from scorewise.inference.resampling import REPLICATES
    from scorewise.measures import calibration_bins, calibration_parts

    if draws := re.search(r"([\d,]+) draws", m.method):
        many = {int(draws[1].replace(",", ""))}
    else:
        many = {REPLICATES, SIGN_FLIPS, calibration_bins.FEWER, calibration_parts.REPLICATES}
    return any(is_smallest_p(m.p, n) for n in many)


_FORMATTERS: dict[Format, Callable[[Any], str]] = {
    "number": number,
    "count": count,
    "percent": percent,
    "p": p_value,
    "value": value,
    "interval": interval,
    "interval or reason": interval_or_reason,
    "baseline": baseline,
    "skill": skill,
    "compared": compared,
}


def plural(n: int, noun: str) -> str:
    """A count with its noun.

    >>> plural(1, "row"), plural(2000, "row")
    ('1 row', '2,000 rows')
    """
    return f"{n:,} {noun}" + ("" if n == 1 else "s")


def rounded_count(n: int) -> str:
    """A count that is known roughly, rounded up to two digits.

    >>> rounded_count(7), rounded_count(99), rounded_count(1446), rounded_count(43_666)
    ('7', '99', '1,500', '44,000')
    """
    unit = 10 ** max(len(str(n)) - 2, 0)
    return f"{-(-n // unit) * unit:,}"


def quoted(word: object) -> str:
    """A user's word, marked off from ours."""
    return f"'{plain(word)}'"


def truncated(text: str, most: int) -> str:
    """A text of at most so many letters; what is left out shows.

    >>> truncated("north", 5), truncated("northern", 5)
    ('north', 'nort…')
    """
    return text if len(text) <= most else f"{text[: most - 1]}…"


def in_text(title: str) -> str:
    """The title of a measure within a sentence; names of people and acronyms keep their capitals.

    >>> in_text("Log loss"), in_text("Macro AUROC"), in_text("Brier score"), in_text("AUROC")
    ('log loss', 'macro AUROC', 'Brier score', 'AUROC')
    """
    first = re.split(r"[ -]", title)[0]
    kept = first in EPONYMS or first.endswith("'s") or not first[1:].islower()
    return title if kept else title[0].lower() + title[1:]


def listed(words: Sequence[str], most: int = 3) -> str:
    """A list in words, cut short where it is long.

    >>> listed(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    return "".join(listed_names(words, most))


def listed_names(words: Sequence[str], most: int = 3) -> list[str]:
    """A list of names, cut short where it is long, as parts of a sentence."""
    parts = [part for word in words[:most] for part in (", ", Name(word))][1:]
    rest = len(words) - most
    return [*parts, f" and {rest} more"] if rest > 0 else parts


def by_reason(found: Iterable[tuple[str, str]], line: str = "{names}: {why}") -> list[str]:
    """A line for each reason, which says it once for all names that share it; none for no reason.

    >>> by_reason([("no rows", "AUROC"), ("", "Brier"), ("no rows", "AUPRC")])
    ['AUROC, AUPRC: no rows']
    """
    shared = grouped(found)
    apart = {why: "; " if any("," in n for n in names) else ", " for why, names in shared.items()}
    return [line.format(names=apart[w].join(names), why=w) for w, names in shared.items()]


def grouped(found: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """The names that share a text, each once, from pairs of a text and a name; none of no text."""
    shared: dict[str, dict[str, None]] = {}
    for text, name in found:
        if text:
            shared.setdefault(text, {})[name] = None
    return {text: [*names] for text, names in shared.items()}
