"""Wrong answers that were said with most confidence."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.answering.measures import WHY
from scorewise.answering.rows import AnswerRows
from scorewise.errors import BadInput
from scorewise.views.words import amount, counted, named, quoted, shown, whole_percent

if TYPE_CHECKING:
    from scorewise.answering.measures import Judged
    from scorewise.answering.result import Answers


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


# What a reader of judged answers should be told in words.


FEW_VALUES, SURE, FEW_ANSWERS = 20, 0.5, 50


def hints(a: Answers) -> Iterator[str]:
    """Remarks, confidence by confidence, and on small groups."""
    for name, j in a.items():
        yield from _of(quoted(name), j)
    small = {
        " / ".join(key): min(j.answers for j in part.values())
        for key, part in a.groups.items()
        if part and min(j.answers for j in part.values()) < FEW_ANSWERS
    }
    if small:
        said = named([f"{quoted(key)} ({n})" for key, n in small.items()])
        yield f"fewer than {FEW_ANSWERS} answers: {said}; there chance alone makes an ECE large"


def _of(name: str, j: Judged) -> Iterator[str]:
    if not j.answers:
        yield f"{name} is missing from every answer"
        return
    t = j.tally
    if why := t.why_not_ranked:
        yield f"{name}: {WHY[why]} at tau {j.settings.tau:g}; measures that need both are undefined"
    gap = j["overconfidence"]
    word = "overconfident" if gap.value > 0 else "underconfident"
    if gap.low > 0 or gap.high < 0:
        if gap.value < 0:
            gap = replace(gap, value=-gap.value, low=-gap.high, high=-gap.low)
        says, right = j["mean_confidence"].value, j["accuracy"].value
        yield (
            f"{name} says {whole_percent(says)} and is right in {whole_percent(right)}: {word} by {gap}"
        )
    if len(t.score) <= FEW_VALUES and j.answers >= FEW_ANSWERS:
        yield (
            f"{name} takes only {counted(len(t.score), 'value')}, so answers are ranked in as many "
            f"steps"
        )
    if t.ends[0] >= SURE and j.answers >= FEW_ANSWERS:
        yield f"{name} is never below {shown(t.ends[0])}"
    area = j["auroc"]
    if area.defined and area.high < 0.5:
        yield f"{name} is higher where the answer is wrong: AUROC {area}"
    elif area.defined and area.low <= 0.5:
        yield (
            f"these {amount(j.answers)} answers do not show that {name} is higher where they are "
            f"correct: AUROC {area}"
        )
