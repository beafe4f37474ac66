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
from scorewise.inference.effects import places
from scorewise.show.fields import Count, Record, Share, Word, means
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import appropriate, row_climbs, why_not_unit

_DIGITS = 12  # beyond these, sums of floats depend on the order of rows


class Suspicion(NamedTuple):
    """For each row, or class and cell, its suspicion, and how far its score errs, which orders equals.

    The error is |y - p|, or for scores beyond [0, 1] the share of the other class they are wrongly beyond.
    """

    value: Floats
    error: Floats


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

    >>> from scorewise.columns import take
    >>> rows = take([0, 0, 1, 0, 1], {"p": [0.1, 0.4, 0.6, 0.8, 0.9]})
    >>> suspicion(rows, Tally.of_rows(rows, "p")).value
    array([0. , 0. , 0.5, 0.5, 0. ])
    """
    # a row of no weight may lie beside all cells
    cell = places(rows, t.origin.score, t.score, "left").clip(0, len(t.score) - 1)
    of = suspicion_of_cells(t)
    return Suspicion(*(np.where(rows.y, x[1][cell], x[0][cell]) for x in of))


def most(found: Suspicion, among: Bools, top: int) -> Ints:
    """The most suspicious rows among some; of equals the one that errs further, then the first.

    >>> same = np.array([0.5, 0.7, 0.7])
    >>> most(Suspicion(same, np.array([0.1, 0.2, 0.3])), same > 0, 2)
    array([2, 1])
    """
    rows = np.flatnonzero(among)
    value = found.value[rows]
    if top < len(rows):
        least = -np.partition(-value, top - 1)[top - 1] if top else np.inf
        rows, value = rows[value >= least], value[value >= least]
    return np.asarray(rows[np.lexsort((rows, -found.error[rows], -value))][:top])


def most_of_cells(rows: Rows, t: Tally, found: Suspicion, among: Bools, top: int) -> Ints:
    """The same rows, looked for in the classes and cells that the most suspicious of some can be in.

    >>> from scorewise.columns import take
    >>> rows = take([0, 0, 1, 0, 1], {"p": [0.1, 0.4, 0.6, 0.8, 0.9]})
    >>> t = Tally.of_rows(rows, "p")
    >>> most_of_cells(rows, t, suspicion_of_cells(t), np.stack((t.neg, t.pos)) > 0, 1)
    array([3])
    """
    flat = Suspicion(*(x.ravel() for x in found))
    best = most(flat, among.ravel(), top)
    if not len(best):
        return best
    # as many classes and cells hold at least as many rows; those equal to the last one may come first
    last = flat.value[best[-1]], flat.error[best[-1]]
    equal = (found.value == last[0]) & (found.error >= last[1])
    near = among & ((found.value > last[0]) | equal)
    scores = rows.scores[t.origin.score]
    at = [
        np.flatnonzero(np.isin(scores, t.score[near[k]]) & (rows.y == bool(k)))
        for k in (0, 1)
        if near[k].any()
    ]
    chosen = np.sort(np.concatenate(at))
    chosen = chosen[rows.mass()[chosen] > 0]
    own = of_rows(rows, t, found, chosen)
    return np.asarray(chosen[most(own, np.ones(len(chosen), np.bool_), top)])


def of_rows(rows: Rows, t: Tally, found: Suspicion, chosen: Ints) -> Suspicion:
    """The suspicion of some rows, each by its class and cell."""
    cell = np.searchsorted(t.score, rows.scores[t.origin.score][chosen])
    which = rows.y[chosen].astype(np.int64)
    return Suspicion(*(x[which, cell] for x in found))


# Single rows as a reader meets them: where, what they say, and why they are named.


Name = str | int | None
Set = Literal["high positive", "low positive", "high negative", "low negative"]
_CLASS = {True: "positive", False: "negative"}
EVEN = 0.5  # below this suspicion a label is likelier right than wrong


class NamedRow(Record):
    """Where a row is, and what the data call it."""

    row: Count
    file: str | None
    id: Name = means("What the data call the row.")


def where(place: Place, index: int, ids: Any) -> dict[str, Any]:
    """The fields of a named row."""
    file, number = place.number(index)
    return {"row": number, "file": file, "id": _name(ids, place.position(index))}


def _name(ids: Any, position: int) -> Name:
    """What the input calls a row."""
    value: Any = None if ids is None else ids[position]
    value = value.item() if hasattr(value, "item") else value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else str(value)


class Suspect(NamedRow):
    """A row whose label may be wrong, or whose score is a hard success."""

    label: str = means("The label of the row.")
    score: float = means("Its score.")
    suspicion: Share = means("Share of rows scored alike that have the other label.")
    set: Set | None
    climb: Share | None = means("How much it climbs on the smROC curve; null without midpoint.")
    run: Share | None = means("How much it runs on the smROC curve; null without midpoint.")
    reason: Word = means("Why the row is named, in words.")


def suspects(
    rows: Rows, t: Tally, found: Suspicion, chosen: Ints, midpoint: float | None, ids: Any = None
) -> list[Suspect]:
    """The chosen rows, with the reason in words."""
    y, scores = rows.y[chosen], rows.scores[t.origin.score][chosen]
    sets: list[Any] = [None] * len(chosen)
    climbs = list(sets)
    if midpoint is not None:
        s = unit(scores, t.kind)
        high = (appropriate(y, s, midpoint) == y).tolist()
        sets = [
            f"{'high' if h else 'low'} {_CLASS[k]}" for h, k in zip(high, y.tolist(), strict=True)
        ]
        climbs = row_climbs(y, s, midpoint).tolist()
    columns = (chosen, y, scores, of_rows(rows, t, found, chosen).value)
    return [
        Suspect(
            **where(rows.place, i, ids),
            label=rows.labels.positive if positive else rows.labels.negative,
            score=score,
            suspicion=value,
            set=kind,
            climb=climb,
            run=None if climb is None else 1 - climb,
            reason=reason(t, positive, value < EVEN, score),
        )
        for i, positive, score, value, kind, climb in zip(
            *(column.tolist() for column in columns), sets, climbs, strict=True
        )
    ]


def reason(t: Tally, positive: bool, right: bool, score: float) -> str:
    """Where a score lies among those of the other class, in words.

    A wrong score is compared with those whose place it takes, a right one with those it beats.

    >>> t = Tally.of([0, 0, 1, 0, 1], [0.1, 0.4, 0.6, 0.8, 0.9])
    >>> reason(t, False, False, 0.8)
    'negative, but scored 0.8, above 50% of the positives'
    >>> reason(t, True, True, 0.9)
    'positive, scored 0.9, above every negative'
    """
    up = positive == right
    weight, total = (t.neg, t.negatives) if positive else (t.pos, t.positives)
    i = int(np.searchsorted(t.score, score, side="left" if up else "right"))
    passed = float((weight[:i] if up else weight[i:]).sum())
    than = f"{'above' if up else 'below'} {_share(passed, float(total), _CLASS[not positive])}"
    return f"{_CLASS[positive]}, {'' if right else 'but '}scored {shown(score)}, {than}"


def _share(part: float, total: float, noun: str) -> str:
    """How many of a class, never rounded up to all or down to none of them."""
    if part >= total:
        return f"every {noun}"
    if not part:
        return f"no {noun}"
    percent = min(max(100 * part / total, 0.1), 99.9)
    text = f"{percent:.0f}" if 1 <= percent < 99 else f"{percent:.1f}"
    return f"{text}% of the {noun}s"


def shown(score: float) -> str:
    """A score to three digits, or as many as it takes not to say 0 or 1 when it is neither.

    >>> shown(0.97), shown(0.99999312), shown(1.0)
    ('0.97', '0.99999', '1')
    """
    for digits in range(3, 17):
        text = f"{score:.{digits}g}"
        if float(text) not in (0.0, 1.0) or score in (0.0, 1.0):
            return text
    return repr(score)


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
