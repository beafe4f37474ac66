"""What contradicts itself in a tally: asked before one is saved, and of one that was read from a file."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.columns import Kind
from scorewise.columns.classes import ClassKind
from scorewise.tallies.classes import ClassTally
from scorewise.tallies.coarse import Coarse, Grid, cell_of
from scorewise.tallies.joint import MAX_ROWS
from scorewise.tallies.losses import CLASS_LOSSES, CLIP, LOSSES, score_losses, unit
from scorewise.tallies.sets import RowTally, TallySet, role_columns
from scorewise.tallies.sorting import Numbers
from scorewise.tallies.tally import Tally

AnyTally = Tally | ClassTally | TallySet | RowTally
_SLACK = 1e-6  # relative; far above what rounding leaves in sums of a billion rows
_LARGEST = float(np.finfo(np.float64).max)
_LOG_OF_LEAST = 745.0  # log loss of the smallest float above 0
_MAX_LOSS = {
    "log": math.inf, "log clipped": -math.log(CLIP), "brier": 2.0, "spherical": 1.0, "ranked": 1.0
}  # fmt: skip


def fault(t: AnyTally) -> str:
    """What contradicts itself in a tally, in words; nothing where all is well.

    >>> fault(Tally.of([0, 1], [0.1, 0.2]))
    ''
    >>> one = np.array([1, 0])
    >>> fault(Tally(np.array([2.0, 8.0]), one, one, one, one, "probability"))
    'probabilities must lie in [0, 1]'
    """
    if isinstance(t, RowTally):
        return next(_of_rows(t), "")
    tallies: Any = t.parts.values() if isinstance(t, TallySet) else (t,)
    faults = (_of_classes(x) if isinstance(x, ClassTally) else _of_tally(x) for x in tallies)
    with np.errstate(over="ignore", invalid="ignore"):  # sums of huge scores are infinite
        return next((wrong for each in faults for wrong in each), "")


def _of_rows(t: RowTally) -> Iterator[str]:
    if sorted(t.columns) != sorted(role_columns(t.roles, t.by)):
        yield "the columns must be those of the roles"
    count = t.frame[t.count]
    if not count.dtype.is_integer() or count.null_count() or (count < 0).any():
        yield "the number of rows must be a whole number, 0 or more"
    if t.frame.select(t.columns).is_duplicated().any():
        yield "rows must be distinct"


def _of_tally(t: Tally) -> Iterator[str]:
    """Each finding may rely on those before it being absent; comparisons are such that NaN fails."""
    sides = ((t.neg, t.neg2, t.origin.negatives), (t.pos, t.pos2, t.origin.positives))
    if t.kind not in get_args(Kind):
        yield f"{t.kind!r} is not a kind of score"
    weights = t.neg, t.pos, t.neg2, t.pos2
    if {x.shape for x in (t.score, *weights)} != {(len(t.score),)}:
        yield "columns must have the same length"
    if len({x.dtype.kind for x in weights}) > 1:
        yield "there must be counts of both classes, or weights of both"
    if not (t.score[1:] > t.score[:-1]).all() or not _within(t.score, -_LARGEST, _LARGEST):
        yield "scores must be finite and increase"
    if t.kind == "probability" and not _within(t.score, 0, 1):
        yield "probabilities must lie in [0, 1]"
    for w, w2, rows in sides:
        yield from _of_weights(w, w2, rows)
    if t.rest is not None and not _small(t.rest, np.stack(weights)):
        yield "what rounding left must be less than the sums show"
    if t.coarse is not None:
        yield from _of_coarse(t, t.coarse)


def _small(rest: Any, value: Any) -> bool:
    """Whether each term is what rounding may have left of the one before.

    That is half a step at most; next to a tie it is all but the half, which is then the term. Nothing is
    left of a sum that is beyond the floats.
    """
    before = [value, *rest[:-1]]
    with np.errstate(invalid="ignore"):
        steps = [np.where(np.isinf(a), 0, np.spacing(np.abs(a)) / 2) for a in before]
    return all((np.abs(b) <= step).all() for b, step in zip(rest, steps, strict=True))


def _of_weights(w: Numbers, w2: Numbers, rows: int) -> Iterator[str]:
    """Counts add up to the rows; of weights, the squares fit them and so many rows."""
    if not all(_within(x, 0, _LARGEST) for x in (w, w2)):
        yield "weights must be finite and 0 or more"
    if w.dtype.kind == "i":
        if w.sum() != rows or not (w2 is w or np.array_equal(w, w2)):
            yield "counts must add up to the number of rows"
        return
    # squares of n weights add up to at most the square of their sum, and to at least the n-th part of it;
    # the number of rows may be an effective one, which is rounded
    if not (w2 <= w * w * (1 + _SLACK)).all():
        yield "squared weights must fit the weights"
    if not w.sum() ** 2 <= 1.5 * rows * w2.sum() * (1 + _SLACK) or rows >= 2**63:
        yield "weights must fit the number of rows"


def _of_coarse(t: Tally, c: Coarse) -> Iterator[str]:
    if c.grid not in get_args(Grid) or c.cell.dtype.kind != "i":
        yield "the cells must be those of a known grid"
    wanted = set() if t.kind == "score" else set(LOSSES)
    if set(c.losses) != wanted:
        yield "the losses must be those of the kind of score"
    if not {x.shape for x in (c.low, c.high, c.sum)} == {(2, len(c.cell))} == {(2, len(t.score))}:
        yield "columns must have the same length"
    if c.rest is not None and not _small(c.rest, c.sum):
        yield "what rounding left must be less than the sums show"
    for k in (0, 1):
        yield from _of_side(t, c, k)
    size = np.maximum(np.abs(c.low.min(0)), np.abs(c.high.max(0)))
    tolerance = max(1e-9, float(np.finfo(t.score.dtype).eps))  # scores of 32 bits have seven digits
    centred = (np.abs(c.middle - t.score) <= tolerance * size).all()
    if not (np.diff(c.cell) > 0).all() or not centred:
        yield "the cells must increase, and their scores lie in their middle"


def _of_side(t: Tally, c: Coarse, k: int) -> Iterator[str]:
    """The negatives (0) or the positives (1) of a coarse tally."""
    sides: Any = ((t.neg, t.neg2), (t.pos, t.pos2))
    here = sides[k][0] > 0
    w, w2, low, high, total = (x[here] for x in (*sides[k], c.low[k], c.high[k], c.sum[k]))
    none = (c.low[k][~here] == np.inf).all() and (c.high[k][~here] == -np.inf).all()
    first, last = (0, 1) if t.kind == "probability" else (-_LARGEST, _LARGEST)
    if not none or not ((first <= low) & (low <= high) & (high <= last)).all():
        yield "the ends of each cell must be scores, and the lower below the upper"
    if not all(np.array_equal(cell_of(end, c.grid), c.cell[here]) for end in (low, high)):
        yield "the ends of each cell must lie in it"
    inside = _between(total, w * unit(low, t.kind), w * unit(high, t.kind))
    if not inside or c.sum[k][~here].any():
        yield "the sum of the scores of a cell must lie between its ends"
    for loss, moments in c.losses.items():
        on = score_losses(low, t.kind, loss)[k], score_losses(high, t.kind, loss)[k]
        least, largest = np.minimum(*on), np.maximum(*on)
        endless = ~np.isfinite(largest)  # infinite losses are left out of the sums
        least, largest = np.where(endless, 0, least), np.where(endless, _LOG_OF_LEAST, largest)
        sums = ((w, 1), (w2, 1), (w2, 2))
        if not all(
            _between(np.array(m), (x * least**power).sum(), (x * largest**power).sum())
            for m, (x, power) in zip(moments[k], sums, strict=True)
        ):
            yield "the losses must fit the scores"


def _of_classes(t: ClassTally) -> Iterator[str]:
    k, w, w2 = len(t.classes), t.confusion.weight, t.confusion.weight2
    if t.kind not in get_args(ClassKind) or len(set(t.classes)) < max(k, 2):
        yield "there must be two different classes or more, and a known kind of score"
    if not w.shape == w2.shape == (k, k) or t.confusion.classes != t.classes:
        yield "there must be a decision for each class"
    yield from _of_weights(w.ravel(), w2.ravel(), t.rows)
    for part in (t.top, t.ranked):
        yield from _of_tally(part)
        sums = part.positives, part.squares[1], part.negatives + part.positives, sum(part.squares)
        matches = _near(sums, (w.trace(), w2.trace(), w.sum(), w2.sum()))
        if not matches or part.origin.rows != t.rows:
            yield "the confidence must be that of the decisions"
    if len(t.each) not in (0, k) or any(x is not None for x in (t.losses, t.joint)) > bool(t.each):
        yield "there must be scores of each class, or of none"
    for marks in t.each:
        yield from _of_marks(marks, t)
    yield from _of_class_losses(t)
    yield from _of_joint(t)


def _of_marks(marks: Any, t: ClassTally) -> Iterator[str]:
    score, true, k = marks.score, marks.true, len(t.classes)
    if {x.shape for x in (score, true, marks.weight, marks.weight2)} != {(len(score),)}:
        yield "columns must have the same length"
    if not _within(score, 0, 1) or not _within(true, 0, k - 1):
        yield "probabilities must lie in [0, 1], and classes be known"
    up = np.diff(score)
    if not ((up > 0) | ((up == 0) & (np.diff(true) > 0))).all():
        yield "probabilities must increase"
    for w, total in ((marks.weight, t.weight), (marks.weight2, t.weight2)):
        if not (w >= 0).all() or not _near(np.bincount(true, w, k), total):
            yield "each class must have the same weight in all parts"


def _of_class_losses(t: ClassTally) -> Iterator[str]:
    if t.losses is None:
        return
    many = {len(sums) for sums in t.losses.values()}
    if set(t.losses) != set(CLASS_LOSSES) or many != {len(t.classes)}:
        yield "there must be the sums of each loss for each class"
    for loss, sums in t.losses.items():
        # the probabilities of a row may add up to a little more than 1
        most = 1.1 * _MAX_LOSS[loss]
        for m, w, w2 in zip(sums, t.weight.tolist(), t.weight2.tolist(), strict=True):
            # of no weight nothing, however large a loss may be
            if not all(
                0 <= x <= (many and many * most)
                for x, many in zip(m, (w, w2, m.square), strict=True)
            ):
                yield "the losses must fit the weights"


def _of_joint(t: ClassTally) -> Iterator[str]:
    j = t.joint
    if j is None:
        return
    if not len(j.scores) == len(j.y) == len(j.weight) == len(j.weight2) <= MAX_ROWS:
        yield "columns must have the same length"
    valid = np.isfinite(j.scores).all() and _within(j.y, 0, len(t.classes) - 1)
    if not valid or (t.kind == "probability" and not _within(j.scores, 0, 1)):
        yield "scores must be finite, probabilities lie in [0, 1], and classes be known"
    if not all((w >= 0).all() for w in (j.weight, j.weight2)):
        yield "weights must be finite and 0 or more"
    sums = j.weight.sum(), j.weight2.sum()
    totals = t.weight.sum(), t.weight2.sum()
    if not _near((j.total, j.total2), totals) or (len(j.y) < MAX_ROWS and not _near(sums, totals)):
        yield "the rows must have the weight of the whole"
    if not all(a <= b * (1 + _SLACK) for a, b in zip(sums, totals, strict=True)):
        yield "a sample of rows cannot weigh more than all"


def _within(x: NDArray[Any], low: float, high: float) -> bool:
    # the least and the largest of numbers with NaN among them are NaN, which fails
    return not x.size or (float(x.min()) >= low and float(x.max()) <= high)


def _between(x: NDArray[Any], low: Any, high: Any) -> bool:
    """Whether numbers lie between others, but for rounding."""
    slack = _SLACK * np.maximum(np.abs(low), np.abs(high))
    return bool((((low - slack <= x) | (x == low)) & ((x <= high + slack) | (x == high))).all())


def _near(a: Any, b: Any) -> bool:
    return bool(np.allclose(a, b, rtol=_SLACK, atol=0))
