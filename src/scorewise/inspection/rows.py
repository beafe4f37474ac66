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
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.columns import Rows
from scorewise.curves.hull import calibrated
from scorewise.errors import BadInput
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import appropriate, row_climbs, why_not_unit

_DIGITS = 12  # beyond these, sums of floats depend on the order of rows


class Suspicion(NamedTuple):
    """For each row its suspicion, and how far its score errs, which orders equals.

    The error is |y - p|, or for scores beyond [0, 1] the share of the other class they are wrongly beyond.
    """

    value: Floats
    error: Floats


def suspicion(rows: Rows, t: Tally) -> Suspicion:
    """The suspicion of each of the rows that the tally was made of.

    Weights and counts say how much a row matters to the others, not how suspicious it is itself.

    >>> from scorewise.columns import take
    >>> rows = take([0, 0, 1, 0, 1], {"p": [0.1, 0.4, 0.6, 0.8, 0.9]})
    >>> suspicion(rows, Tally.of_rows(rows, "p")).value
    array([0. , 0. , 0.5, 0.5, 0. ])
    """
    # a row of no weight may lie beside all cells
    cell = np.searchsorted(t.score, rows.scores[t.origin.score]).clip(0, len(t.score) - 1)
    share = calibrated(t)
    value = np.where(rows.y, (1 - share)[cell], share[cell]).round(_DIGITS)
    if not why_not_unit(t):
        s = unit(t.score, t.kind)
        return Suspicion(value, np.where(rows.y, (1 - s)[cell], s[cell]))
    # ties count half
    above = 1 - (t.neg.cumsum() - t.neg / 2) / t.negatives
    below = (t.pos.cumsum() - t.pos / 2) / t.positives
    return Suspicion(value, np.where(rows.y, above[cell], below[cell]).round(_DIGITS))


def most(found: Suspicion, among: NDArray[np.bool_], top: int) -> NDArray[np.int64]:
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
    order: NDArray[np.int64] = rows[np.lexsort((rows, -found.error[rows], -value))][:top]
    return order


# Single rows as a reader meets them: where, what they say, and why they are named.


Name = str | int | None
EVEN = 0.5  # below this suspicion a label is likelier right than wrong


@dataclass(frozen=True)
class Suspect:
    """A row whose label may be wrong, or whose score is a hard success.

    `row` counts from 0 in arrays and from 1 after the header in a `file`. `set` (high or low, positive
    or negative), `climb` and `run` are its part in the smROC curve; None where there is no midpoint.
    """

    row: int
    file: str | None
    id: Name
    label: str
    score: float
    suspicion: float
    set: str | None
    climb: float | None
    run: float | None
    reason: str


def suspects(
    rows: Rows,
    t: Tally,
    found: Suspicion,
    chosen: NDArray[np.int64],
    midpoint: float | None,
    ids: Any = None,
) -> list[Suspect]:
    """The chosen rows, with the reason in words."""
    made = []
    for i in chosen.tolist():
        positive, score = bool(rows.y[i]), float(rows.scores[t.origin.score][i])
        file, number = rows.place.number(i)
        kind, climb = (None, None) if midpoint is None else _part(t, positive, score, midpoint)
        made.append(
            Suspect(
                row=number,
                file=file,
                id=name_of(ids, rows.place.position(i)),
                label=rows.labels.positive if positive else rows.labels.negative,
                score=score,
                suspicion=float(found.value[i]),
                set=kind,
                climb=climb,
                run=None if climb is None else 1 - climb,
                reason=reason(t, positive, bool(found.value[i] < EVEN), score),
            )
        )
    return made


def _part(t: Tally, positive: bool, score: float, midpoint: float) -> tuple[str, float]:
    """The set that a row belongs to, and its climb."""
    y, s = np.array([positive]), unit(np.array([score]), t.kind)
    high = bool(appropriate(y, s, midpoint)[0]) == positive
    return f"{'high' if high else 'low'} {_class(positive)}", float(row_climbs(y, s, midpoint)[0])


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
    other, weight, total = (
        ("negative", t.neg, t.negatives) if positive else ("positive", t.pos, t.positives)
    )
    i = int(np.searchsorted(t.score, score, side="left" if up else "right"))
    passed = float((weight[:i] if up else weight[i:]).sum())
    than = f"{'above' if up else 'below'} {_share(passed, float(total), other)}"
    return f"{_class(positive)}, {'' if right else 'but '}scored {shown(score)}, {than}"


def _class(positive: bool) -> str:
    return "positive" if positive else "negative"


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


def name_of(ids: Any, position: int) -> Name:
    """What the input calls a row."""
    value: Any = None if ids is None else ids[position]
    value = value.item() if hasattr(value, "item") else value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else str(value)


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


# Gaps between scores: where a ranked list may naturally be cut.


DEPTH = 1000  # distinct scores looked at, from the highest down
LEAST = 3.0  # a gap is this many times as wide as those around it
NEAR = 11  # gaps, itself among them, that a gap is compared with
FINEST = 1e-3  # of the range of scores: what is finer is no spacing
REPLICATES = 200


@dataclass(frozen=True)
class Gap:
    """A cut in (above, upto]: every threshold in it gives the same decisions.

    `ratio` is its width over the spacing around it, `rows` how many lie above it; `precision` is the
    share of those that are positive, `recall` the share of all positives among them. `stability` is
    the share of resamples in which this gap keeps its rank.
    """

    above: float
    upto: float
    width: float
    ratio: float
    rows: int
    precision: float
    recall: float
    stability: float


def gaps(rows: Rows, t: Tally, *, most: int = 5, seed: int = 0) -> list[Gap]:
    """The widest gaps relative to the spacing around them, the most pronounced first.

    Of the highest 1,000 distinct scores, each gap is divided by the median of the 11 around it (or by a
    thousandth of the range of all scores, where they lie closer); those at least 3 times as wide count.
    Stability resamples the rows 200 times, by a Poisson bootstrap: the gap of rank r must be among
    the first r again.

    >>> from scorewise.columns import take
    >>> s = [0.99, 0.98, 0.97, 0.96, 0.86, 0.85, 0.84, 0.83]
    >>> rows = take([1, 1, 1, 0, 1, 0, 0, 0], {"p": s})
    >>> best, = gaps(rows, Tally.of_rows(rows, "p"))
    >>> best.above, best.upto, round(best.ratio, 1), best.rows, best.precision, best.recall
    (0.86, 0.96, 10.0, 4, 0.75, 0.75)
    """
    score = t.score[-DEPTH:].astype(np.float64)
    lowest, highest = t.ends
    # Python's floats overflow without a warning: scores may lie further apart than a float can say
    least = FINEST * (highest - lowest)
    if len(score) < 3 or not math.isfinite(least):
        return []
    width = np.diff(score)
    ratio = ratios(width, least)
    order = np.lexsort((-np.arange(len(ratio)), -ratio))[:most]
    order = order[ratio[order] >= LEAST - 1e-9]
    if not len(order):
        return []
    stable = _stability(t, score, score[order] + width[order] / 2, least, seed)
    return [
        _gap(rows, t, float(score[i]), float(score[i + 1]), float(ratio[i]), float(kept))
        for i, kept in zip(order.tolist(), stable, strict=True)
    ]


def ratios(width: Floats, least: float) -> Floats:
    """Each width over the median of those around it, itself among them.

    >>> ratios(np.array([1.0, 1.0, 10.0, 1.0]), 0.01)
    array([ 1.,  1., 10.,  1.])
    """
    near = min(NEAR, len(width))
    middle = [(near - 1) // 2, near // 2]
    medians = np.partition(sliding_window_view(width, near), middle, axis=-1)[:, middle].mean(-1)
    at = (np.arange(len(width)) - near // 2).clip(0, len(medians) - 1)
    found: Floats = width / np.maximum(medians[at], least)
    return found


def _stability(t: Tally, score: Floats, middle: Floats, least: float, seed: int) -> Floats:
    """The share of resamples in which the gap at each place, given by rank, is among as many first."""
    rng = np.random.default_rng(seed)
    weight, square = t.neg + t.pos, t.neg2 + t.pos2
    # a cell of n like rows is drawn Poisson(n) times; weights count as the rows they are worth
    n = (weight * (weight / square))[-len(score) :]
    drawn = rng.random((REPLICATES, len(score))) < -np.expm1(-n)
    kept = np.zeros(len(middle))
    rank = np.arange(len(middle))
    for here in drawn:
        left = score[here]
        if len(left) < 3:
            continue
        ratio = ratios(np.diff(left), least)
        at = np.searchsorted(left, middle) - 1
        inside = (at >= 0) & (at < len(ratio))
        mine = ratio[at.clip(0, len(ratio) - 1)]
        wider = len(ratio) - np.searchsorted(np.sort(ratio), mine, side="right")
        kept += inside & (wider <= rank)
    return kept / REPLICATES


def _gap(rows: Rows, t: Tally, above: float, upto: float, ratio: float, stable: float) -> Gap:
    i = int(np.searchsorted(t.score, upto))
    pos, neg = float(t.pos[i:].sum()), float(t.neg[i:].sum())
    over = rows.scores[t.origin.score] >= upto
    count = over.sum() if rows.count is None else rows.count[over].sum()
    recall = pos / t.positives if t.positives else float("nan")
    return Gap(above, upto, upto - above, ratio, int(count), pos / (pos + neg), recall, stable)
