"""What stands out: labels that may be wrong, hard successes, and gaps where a ranked list may be cut.

A label is as suspicious as the share of rows scored alike that have the other one. Which rows are scored
alike is read off the convex hull of the ROC curve, which joins neighbouring scores as isotonic regression
does. A confident score on the wrong side is thus near 1 (an easy error), one on the right side near 0, and
a right score where others fail lies between. Unlike |y - p| this does not believe the scores of an
overconfident model, and it takes scores of any scale; docs/tables/labels.md compares it with others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

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
    candidates = np.where(rows.y, *(np.isin(scores, t.score[near[k]]) for k in (1, 0)))
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
            set=None if midpoint is None else set_name(up, positive),
            climb=None if midpoint is None else climb,
            run=None if midpoint is None else 1 - climb,
            reason=reason(t, positive, value < EVEN, score),
        )
        for i, positive, score, value, up, climb in zip(*columns, strict=True)
    ]


def set_name(high: bool, positive: bool) -> Set:
    """The set of rows that score high or low, by class."""
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


# Gaps between scores.


MAX_SCORES = 1000  # distinct scores looked at, from the highest down
MIN_RATIO = 3.0  # a gap is this many times as wide as those around it
NEIGHBOURS = 11  # gaps, itself among them, that a gap is compared with
MIN_SPACING = 1e-3  # of the range of scores
REPLICATES = 200


class Gap(Record):
    """A gap between scores: every threshold in (above, upto] gives the same decisions."""

    above: float
    upto: float
    width: float = field("How wide it is.", gt=0)
    ratio: float = field("Its width over that of the gaps around it.", gt=0)
    rows: Count = field("Rows above it.")
    precision: Share = field("Share of the rows above it that are positive.")
    recall: Share | None = field(
        "Share of all positives that lie above it; null without positives."
    )
    stability: Share = field("Share of resamples in which it keeps its rank.")


def gaps(rows: Rows, t: Tally, *, most: int = 5, seed: int = 0) -> list[Gap]:
    """The widest gaps relative to the spacing around them, the most pronounced first.

    Of the highest 1,000 distinct scores, each gap is divided by the median of the 11 around it (or by a
    thousandth of the range of all scores, where they lie closer); those at least 3 times as wide count.
    Stability resamples the rows 200 times, by a Poisson bootstrap: the gap of rank r must be among
    the first r again.

    >>> from scorewise.columns import binary_rows
    >>> s = [0.99, 0.98, 0.97, 0.96, 0.86, 0.85, 0.84, 0.83]
    >>> rows = binary_rows(None, label=[1, 1, 1, 0, 1, 0, 0, 0], score={"p": s})
    >>> best, = gaps(rows, Tally.of_rows(rows, "p"))
    >>> best.above, best.upto, round(best.ratio, 1), best.rows, best.precision, best.recall
    (0.86, 0.96, 10.0, 4, 0.75, 0.75)
    """
    score = t.score[-MAX_SCORES:].astype(np.float64)
    lowest, highest = t.ends
    # Python's floats overflow without a warning: scores may lie further apart than a float can say
    least = MIN_SPACING * (highest - lowest)
    if len(score) < 3 or not math.isfinite(least):
        return []
    width = np.diff(score)
    ratio = ratios(width, least)
    order = np.lexsort((-np.arange(len(ratio)), -ratio))[:most]
    order = order[ratio[order] >= MIN_RATIO - 1e-9]
    if not len(order):
        return []
    stable = _stability(t, score, score[order] + width[order] / 2, least, seed)
    found = []
    for i, stability in zip(order.tolist(), stable.tolist(), strict=True):
        above, upto = score[i : i + 2].tolist()
        neg, pos = (float(w[i + 1 - len(score) :].sum()) for w in (t.neg, t.pos))
        found.append(
            Gap(
                above=above,
                upto=upto,
                width=upto - above,
                ratio=float(ratio[i]),
                rows=rows.number(rows.scores[t.origin.score] >= upto),
                precision=pos / (pos + neg),
                recall=pos / t.positives if t.positives else math.nan,
                stability=stability,
            )
        )
    return found


def ratios(width: Floats, least: float) -> Floats:
    """Each width over the median of those around it, itself among them.

    >>> ratios(np.array([1.0, 1.0, 10.0, 1.0]), 0.01)
    array([ 1.,  1., 10.,  1.])
    """
    near = min(NEIGHBOURS, len(width))
    middle = [(near - 1) // 2, near // 2]
    medians = np.partition(sliding_window_view(width, near), middle, axis=-1)[:, middle].mean(-1)
    at = (np.arange(len(width)) - near // 2).clip(0, len(medians) - 1)
    return np.asarray(width / np.maximum(medians[at], least))


def _stability(t: Tally, score: Floats, middle: Floats, least: float, seed: int) -> Floats:
    """The share of resamples in which the gap at each place, given by rank, is among as many first."""
    rng = np.random.default_rng(seed)
    weight, square = t.neg + t.pos, t.neg2 + t.pos2
    # a cell of n like rows is drawn Poisson(n) times; weights count as the rows they are worth
    n = (weight * (weight / square))[-len(score) :]
    drawn = rng.random((REPLICATES, len(score))) < -np.expm1(-n)
    stable = np.zeros(len(middle))
    for here in drawn:
        resampled = score[here]
        if len(resampled) < 3:
            continue
        ratio = ratios(np.diff(resampled), least)
        at = np.searchsorted(resampled, middle) - 1
        inside = (at >= 0) & (at < len(ratio))
        wider = (ratio > ratio[at.clip(0, len(ratio) - 1), None]).sum(1)
        stable += inside & (wider <= np.arange(len(middle)))
    return stable / REPLICATES
