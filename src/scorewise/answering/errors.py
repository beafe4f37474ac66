"""Wrong answers that were said with most confidence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from scorewise.columns.answers import AnswerRows
from scorewise.errors import BadInput

LONG = 80  # letters of an answer that a document shows


@dataclass(frozen=True)
class ConfidentError:
    """A wrong answer: where it is, how sure it was said, how good it is, and the texts if there are any."""

    file: str | None
    row: int
    place: str
    confidence: float
    quality: float
    gold: str | None
    predicted: str | None


def confident_errors(
    rows: AnswerRows, name: str, tau: float, top: int
) -> tuple[ConfidentError, ...]:
    """The surest of the answers whose quality is not above `tau`; of equally sure ones the worst first."""
    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise BadInput(f"top is {top}; it must be a whole number, 0 or more")
    sure = rows.confidence[name]
    wrong = np.flatnonzero((rows.quality <= tau) & ~np.isnan(sure))
    order = np.lexsort((rows.quality[wrong], -sure[wrong]))[:top]
    return tuple(_error(rows, int(k), float(sure[k])) for k in wrong[order])


def _error(rows: AnswerRows, k: int, sure: float) -> ConfidentError:
    file, row = rows.place.number(k)
    texts = [None if c is None else said(c.values[k]) for c in (rows.gold, rows.predicted)]
    return ConfidentError(file, row, rows.place.row(k), sure, float(rows.quality[k]), *texts)


def said(cell: Any) -> str:
    """An answer as one text: variants by bars, lists in brackets.

    >>> said(["NARA", "Archives"]), said([["a"], ["b", "c"]])
    ('NARA | Archives', '[a] | [b | c]')
    """
    if not isinstance(cell, list):
        return "" if cell is None else str(cell)
    return " | ".join(f"[{said(part)}]" if isinstance(part, list) else said(part) for part in cell)


def cut(text: str) -> str:
    """A text on one line, cut short.

    >>> cut("a  b"), len(cut("x" * 200))
    ('a b', 80)
    """
    line = " ".join(text.split())
    return line if len(line) <= LONG else f"{line[: LONG - 1]}…"
