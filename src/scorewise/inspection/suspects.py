"""How suspicious each label is: the share of rows scored alike that have the other one.

Which rows are scored alike is read off the convex hull of the ROC curve, which joins neighbouring scores as
isotonic regression does. A confident score on the wrong side is thus near 1 (an easy error), one on the
right side near 0, and a right score where others fail lies between. Unlike |y - p| this does not believe
the scores of an overconfident model, and it takes scores of any scale; docs/tables/labels.md compares it
with other rankings.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns import Place, Rows
from scorewise.curves.hull import calibrated
from scorewise.errors import BadInput
from scorewise.inference.influence import places
from scorewise.show.records import Count, Record, Share, Word, field
from scorewise.statistics.smroc import appropriate, row_climbs, why_not_unit
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.sorting import largest

_DIGITS = 12  # beyond these, sums of floats depend on the order of rows


class Suspicion(NamedTuple):
    """For each row, or class and cell, its suspicion, and how far its score errs, which orders equals.

    The error is |y - p|, or for scores beyond [0, 1] the share of the other class they are wrongly beyond.
    """

    value: Floats
    error: Floats

    def at(self, y: Any, cell: Any) -> Suspicion:
        """The suspicion of rows by their class and cell, where this one is by class and cell."""
        return Suspicion(*(x[np.asarray(y, np.int8), cell] for x in self))


def suspicion_of_cells(t: Tally) -> Suspicion:
    """The suspicion of the negatives and of the positives in each cell.

    >>> suspicion_of_cells(Tally.of([0, 0, 1, 0, 1], [0.1, 0.4, 0.6, 0.8, 0.9])).value[0]
    array([0. , 0. , 0.5, 0.5, 1. ])
    """
    share = calibrated(t)
    value = np.stack((share, 1 - share)).round(_DIGITS)
    if not why_not_unit(t):
        s = unit(t.score, t.kind)
        return Suspicion(value, np.stack((s, 1 - s)))
    # ties count half
    above = 1 - (t.neg.cumsum() - t.neg / 2) / t.negatives
    below = (t.pos.cumsum() - t.pos / 2) / t.positives
    return Suspicion(value, np.stack((below, above)).round(_DIGITS))


def suspicion(rows: Rows, t: Tally) -> Suspicion:
    """The suspicion of each of the rows that the tally was made of.

    Weights and counts say how much a row matters to the others, not how suspicious it is itself.

    >>> from scorewise.columns import binary_rows
    >>> rows = binary_rows(None, label=[0, 0, 1, 0, 1], score={"p": [0.1, 0.4, 0.6, 0.8, 0.9]})
    >>> suspicion(rows, Tally.of_rows(rows, "p")).value
    array([0. , 0. , 0.5, 0.5, 0. ])
    """
    # a row of no weight may lie beside all cells
    cell = places(rows, t.origin.score, t.score, "left").clip(0, len(t.score) - 1)
    return suspicion_of_cells(t).at(rows.y, cell)


def most_suspicious(rows: Rows, t: Tally, of_cells: Suspicion, among: Bools, top: int) -> Ints:
    """The most suspicious rows among some; of equals the one that errs further, then the first.

    They are looked for in the classes and cells that they can be in.

    >>> from scorewise.columns import binary_rows
    >>> rows = binary_rows(None, label=[0, 0, 1, 0, 1], score={"p": [0.1, 0.4, 0.6, 0.8, 0.9]})
    >>> t = Tally.of_rows(rows, "p")
    >>> most_suspicious(rows, t, suspicion_of_cells(t), np.stack((t.neg, t.pos)) > 0, 1)
    array([3])
    """
    value, error = of_cells
    best = largest(among.ravel(), top, value.ravel(), error.ravel())
    if not len(best):
        return best
    # as many classes and cells hold at least as many rows; those equal to the last one may come first
    last_value, last_error = value.ravel()[best[-1]], error.ravel()[best[-1]]
    equal = (value == last_value) & (error >= last_error)
    near = among & ((value > last_value) | equal)
    scores = rows.scores[t.origin.score]
    candidates = np.zeros(len(rows), np.bool_)
    for k in (0, 1):
        if near[k].any():
            candidates |= np.isin(scores, t.score[near[k]]) & (rows.y == bool(k))
    chosen = np.flatnonzero(candidates & (rows.mass() > 0))
    own = of_cells.at(rows.y[chosen], np.searchsorted(t.score, scores[chosen]))
    return chosen[largest(np.ones(len(chosen), np.bool_), top, *own)]


# Single rows as a reader meets them: where, what they say, and why they are named.


Name = str | int | None
Set = Literal["high positive", "low positive", "high negative", "low negative"]
_CLASS = ("negative", "positive")
EVEN = 0.5  # below this suspicion a label is likelier right than wrong


class NamedRow(Record):
    """Where a row is, and what the data call it."""

    row: Count
    file: str | None
    id: Name = field("What the data call the row.")


class Suspect(NamedRow):
    """A row whose label may be wrong, or whose score is a hard success."""

    label: str = field("The label of the row.")
    score: float = field("Its score.")
    suspicion: Share = field("Share of rows scored alike that have the other label.")
    set: Set | None
    climb: Share | None = field("How much it climbs on the smROC curve; null without midpoint.")
    run: Share | None = field("How much it runs on the smROC curve; null without midpoint.")
    reason: Word = field("Why the row is named, in words.")


def named_rows(ids: Any, rows: int) -> Sequence[Any] | None:
    """Names of rows that can be asked for by position, whatever library they came from."""
    if ids is None:
        return None
    if isinstance(ids, str | bytes) or not hasattr(ids, "__len__"):
        raise BadInput(f"ids is {ids!r}; pass one name or number per row")
    if len(ids) != rows:
        raise BadInput(
            f"there are {rows:,} rows and {len(ids):,} ids; they have to match row by row"
        )
    named: Sequence[Any] = ids.to_list() if hasattr(ids, "to_list") else list(ids)
    return named


def place_of_row(place: Place, index: int, ids: Sequence[Any] | None) -> dict[str, Any]:
    """The fields of a named row."""
    file, number = place.number(index)
    name: Any = None if ids is None else ids[place.position(index)]
    name = name.item() if hasattr(name, "item") else name
    if name is None or (isinstance(name, float) and math.isnan(name)):
        name = None
    elif not isinstance(name, int) or isinstance(name, bool):
        name = str(name)
    return {"row": number, "file": file, "id": name}


def suspects(
    rows: Rows, t: Tally, of_cells: Suspicion, chosen: Ints, midpoint: float | None, ids: Any = None
) -> list[Suspect]:
    """The chosen rows, with the reason in words."""
    y, scores = rows.y[chosen], rows.scores[t.origin.score][chosen]
    values = of_cells.at(y, np.searchsorted(t.score, scores)).value
    high, climbs = np.zeros(len(chosen), np.bool_), np.full(len(chosen), np.nan)
    if midpoint is not None:
        s = unit(scores, t.kind)
        high, climbs = appropriate(y, s, midpoint) == y, row_climbs(y, s, midpoint)
    columns = (column.tolist() for column in (chosen, y, scores, values, high, climbs))
    return [
        Suspect(
            **place_of_row(rows.place, i, ids),
            label=rows.labels.positive if positive else rows.labels.negative,
            score=score,
            suspicion=value,
            set=None if midpoint is None else _set(up, positive),
            climb=None if midpoint is None else climb,
            run=None if midpoint is None else 1 - climb,
            reason=reason(t, positive, value < EVEN, score),
        )
        for i, positive, score, value, up, climb in zip(*columns, strict=True)
    ]


def _set(high: bool, positive: bool) -> Set:
    if positive:
        return "high positive" if high else "low positive"
    return "high negative" if high else "low negative"


def reason(t: Tally, positive: bool, right: bool, score: float) -> str:
    """Where a score lies among those of the other class, in words.

    A wrong score is compared with those whose place it takes, a right one with those it beats.

    >>> t = Tally.of([0, 0, 1, 0, 1], [0.1, 0.4, 0.6, 0.8, 0.9])
    >>> reason(t, False, False, 0.8)
    'negative, but scored 0.8, above 50% of the positives'
    >>> reason(t, True, True, 0.9)
    'positive, scored 0.9, above every negative'
    """
    above = positive == right
    weight, total = (t.neg, t.negatives) if positive else (t.pos, t.positives)
    i = int(np.searchsorted(t.score, score, side="left" if above else "right"))
    passed = float((weight[:i] if above else weight[i:]).sum())
    side, others = "above" if above else "below", _CLASS[not positive]
    if passed >= total:
        than = f"every {others}"
    elif not passed:
        than = f"no {others}"
    else:  # never rounded up to all or down to none of them
        percent = min(max(100 * passed / float(total), 0.1), 99.9)
        than = f"{percent:.{0 if 1 <= percent < 99 else 1}f}% of the {others}s"
    return f"{_CLASS[positive]}, {'' if right else 'but '}scored {formatted_score(score)}, {side} {than}"


def formatted_score(score: float) -> str:
    """A score to three digits, or as many as it takes not to say 0 or 1 when it is neither.

    >>> [formatted_score(x) for x in (0.97, 0.99999312, 1.0)]
    ['0.97', '0.99999', '1']
    """
    for digits in range(3, 17):
        text = f"{score:.{digits}g}"
        if float(text) not in (0.0, 1.0) or score in (0.0, 1.0):
            return text
    return repr(score)
