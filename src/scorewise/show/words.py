"""Words and numbers of pages that read documents without types."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from scorewise.errors import plain as plain
from scorewise.estimate import decimals, number
from scorewise.show.data import CutRecord, DataRecord
from scorewise.show.document import from_dict
from scorewise.show.page import UNRELIABLE, count, sentence
from scorewise.show.page import chance as chance
from scorewise.show.page import counted as counted
from scorewise.show.page import named as named
from scorewise.show.page import percent as percent
from scorewise.show.page import whole_percent as whole_percent

Document = dict[str, Any]
amount = count


def quoted(text: object) -> str:
    """A user's word, marked off from ours."""
    return f"'{plain(text)}'"


def shown(x: float | None, digits: int = 3) -> str:
    """A number, or a dash where there is none."""
    return number(math.nan if x is None else x, digits)


def given(x: float | None) -> str:
    """A number, or nothing where there is none."""
    return "" if x is None else shown(x)


def chance_digits(p: float) -> str:
    """A p-value, to three decimals where that says enough."""
    return f"{p:.3f}" if p >= 0.00095 else number(p)


def value(measure: Document) -> str:
    """The value of a measure, with as many decimals as its interval needs."""
    return shown(measure["value"], _digits(measure))


def _digits(measure: Document) -> int:
    low, high = measure["low"], measure["high"]
    return 3 if low is None or high is None else decimals(low, high)


def interval(measure: Document) -> str:
    """The interval of a measure in brackets, marked where it is unreliable; nothing where it has none."""
    if measure["low"] is None and measure["high"] is None:
        return ""
    digits = _digits(measure)
    mark = UNRELIABLE if measure.get("caution") else ""
    return f"[{shown(measure['low'], digits)}, {shown(measure['high'], digits)}]{mark}"


def same_decisions(cut: Document) -> str:
    """The thresholds that decide as this one does."""
    ends = {key: cut[key] for key in ("threshold", "above", "upto")}
    return from_dict(CutRecord, ends).same_decisions()


def data_facts(
    doc: Document, quote: Callable[[object], str], escape: Callable[[object], str]
) -> list[tuple[str, str]]:
    """What was judged, as pairs of a key and a sentence; `quote` also marks off users' words."""
    facts = from_dict(DataRecord, doc["data"]).facts()
    return [(key, sentence(fact, quote, escape)) for key, fact in facts]
