"""Statistics as formulas of weights: the same for a sample, for its replicates and for pairs of raters.

Each takes arrays and keeps their leading axes, which are replicates (resamples, permutations, pairs);
the last axis holds cells from the lowest score up, or the last two a square table.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from scorewise.arrays import Floats
from scorewise.computing import on_threads

Given = TypeVar("Given")
_BLOCK = 1 << 15  # numbers that fit a core's cache
_EXACT = 2.0**61  # pairs of rows up to which twice their number fits 64 bits


def midranks(weight: Any) -> Any:
    """The weight below each cell and half of its own: the mid-rank of its rows.

    >>> midranks(np.array([2.0, 1.0, 4.0]))
    array([1. , 2.5, 5. ])
    """
    return weight.cumsum(-1) - weight / 2


def category_midranks(share: Any, values: Floats) -> Any:
    """For each category, the share of categories with a lower value and half of its own."""
    order = np.argsort(values, kind="stable")
    rank = np.empty_like(share)
    rank[order] = midranks(share[order])
    return rank


def auroc(neg: Any, pos: Any) -> Any:
    """Chance that a positive outscores a negative, ties counting half; NaN without either.

    >>> float(auroc(np.array([1, 1, 0]), np.array([0, 1, 1])))
    0.875
    """
    counts = neg.dtype.kind == pos.dtype.kind == "i"
    exact = counts and float(neg.sum()) * float(pos.sum()) < _EXACT
    return concordance(
        _blocks(neg, pos), lambda part: part if exact else [w * 1.0 for w in part]
    ).share


class Concordance(NamedTuple):
    """Twice the weight of pairs in which the positive outscores the negative, and both weights."""

    twice: Any
    neg: Any
    pos: Any

    @property
    def share(self) -> Any:
        """That of all pairs."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.twice / np.asarray(2 * self.neg * self.pos)


def concordance(blocks: Sequence[Given], weights: Callable[[Given], Any]) -> Concordance:
    """The pairs of blocks from the lowest cells up, ties counting half; `weights` are (neg, pos)."""

    def within(block: Given) -> tuple[Any, Any, Any]:
        neg, pos = weights(block)
        inside = neg.cumsum(-1)
        width, height = inside[..., -1].copy(), pos.sum(-1)
        inside *= 2
        inside -= neg
        inside *= pos
        return inside.sum(-1), width, height

    twice = below = above = 0
    for inside, width, height in on_threads(within, blocks):
        twice = twice + inside + 2 * below * height
        below, above = below + width, above + height
    return Concordance(twice, below, above)


def ks(first: Any, second: Any) -> Any:
    """Largest distance of two distribution functions on the same cells (Kolmogorov-Smirnov).

    >>> float(ks(np.array([1, 1, 0]), np.array([0, 1, 1])))
    0.5
    """
    return np.maximum(*largest_gaps(first, second)[:2])


def largest_gaps(first: Any, second: Any) -> tuple[Any, Any, Any, Any]:
    """How far the first distribution function rises above the second at most, and falls below it.

    And the numbers of cells up to these two places.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        lead, other = ((upto := w.cumsum(-1)) / upto[..., -1:] for w in (first, second))
        lead -= other
    at = lead.argmax(-1), lead.argmin(-1)
    up, down = (np.take_along_axis(lead, place[..., None], -1)[..., 0] for place in at)
    places = (np.where(far > 0, i + 1, 0) for far, i in zip((up, -down), at, strict=True))
    return np.maximum(up, 0.0), np.maximum(-down, 0.0), *places


def median(score: Floats, weight: Any) -> Any:
    """The score up to which half of the weight lies, or the middle of two; NaN without weight.

    >>> median(np.array([0.1, 0.4, 0.9]), np.array([[1, 1, 1], [1, 1, 2]]))
    array([0.4 , 0.65])
    """
    below = weight.cumsum(-1)
    half = below[..., -1:] / 2
    rounding = 1e-12 * half
    # the first score at which half of the weight is reached, and the first at which it is passed
    first, last = (below >= half - rounding).argmax(-1), (below > half + rounding).argmax(-1)
    return np.where(half[..., 0] > 0, (score[first] + score[last]) / 2, np.nan)


def _blocks(*columns: Any) -> list[tuple[Any, ...]]:
    """Neighbouring cells of all columns that fit a core's cache, replicate by replicate."""
    cells = columns[0].shape[-1]
    replicates = columns[0].size // max(cells, 1)
    step = max(_BLOCK // max(replicates, 1), 1 << 10)
    return [tuple(c[..., i : i + step] for c in columns) for i in range(0, cells, step)]


def table_kappa(table: Any, apart: Floats | None = None) -> Any:
    """Agreement beyond chance, 1 - disagreement seen / disagreement by the margins.

    The last two axes are a table, those before it replicates. `apart` says how far apart two categories
    are, from 0 to 1; without it different ones are 1 apart.

    >>> round(float(table_kappa(np.array([[20.0, 5.0], [10.0, 15.0]]))), 6)
    0.4
    """
    _, seen, by_chance, *_ = _parts(table, apart)
    return 1 - seen / by_chance


def kappa_slope(table: Floats, apart: Floats | None = None) -> Floats:
    """How each cell moves kappa: that of Fleiss, Cohen and Everitt (1969)."""
    away, seen, by_chance, of_row, of_column = _parts(table, apart)
    seen, by_chance = seen[..., None, None], by_chance[..., None, None]
    turned = of_row[..., :, None] + of_column[..., None, :] - 2 * by_chance
    total = table.sum((-2, -1), keepdims=True)
    return np.asarray((seen / by_chance * turned - (away - seen)) / by_chance / total)


def _parts(table: Any, apart: Floats | None) -> tuple[Any, Any, Any, Any, Any]:
    """How far categories are apart, the means of it as seen and by chance, and those of each category."""
    away = 1 - np.eye(table.shape[-1]) if apart is None else apart
    share = table / table.sum((-2, -1), keepdims=True)
    row, column = share.sum(-1), share.sum(-2)
    of_row, of_column = column @ away.T, row @ away
    return away, (share * away).sum((-2, -1)), (row * of_row).sum(-1), of_row, of_column


TP, FP, FN, TN = range(4)
# of decisions that are shares: the cells that are hits, and those that are misses
SHARES = {
    "accuracy": ((TP, TN), (FP, FN)),
    "sensitivity": ((TP,), (FN,)),
    "specificity": ((TN,), (FP,)),
    "precision": ((TP,), (FP,)),
    "npv": ((TN,), (FN,)),
    "jaccard": ((TP,), (FN, FP)),
}


def _share(hits: tuple[int, ...], misses: tuple[int, ...]) -> Callable[..., Any]:
    """The share of some cells of a table in these and others."""

    def of_table(*table: Any) -> Any:
        hit = sum(table[k] for k in hits)
        return hit / (hit + sum(table[k] for k in misses))

    return of_table


# of tp, fp, fn, tn; what each means is said by the measure of that name
DECISIONS: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    **{name: _share(*cells) for name, cells in SHARES.items()},
    "balanced_accuracy": lambda tp, fp, fn, tn: (tp / (tp + fn) + tn / (tn + fp)) / 2,
    "youden": lambda tp, fp, fn, tn: tp / (tp + fn) + tn / (tn + fp) - 1,
    "markedness": lambda tp, fp, fn, tn: tp / (tp + fp) + tn / (tn + fn) - 1,
    "g_mean": lambda tp, fp, fn, tn: (tp / (tp + fn) * (tn / (tn + fp))) ** 0.5,
    "lr_plus": lambda tp, fp, fn, tn: tp / (tp + fn) * ((tn + fp) / fp),
    "lr_minus": lambda tp, fp, fn, tn: fn / (tp + fn) * ((tn + fp) / tn),
    "kappa": lambda tp, fp, fn, tn: table_kappa(
        np.moveaxis(np.array([[tn, fp], [fn, tp]]), (0, 1), (-2, -1))
    ),
    "dor": lambda tp, fp, fn, tn: (tp / fp) * (tn / fn),
    "lift": lambda tp, fp, fn, tn: tp / (tp + fp) * ((tp + fp + fn + tn) / (tp + fn)),
    "mcc": lambda tp, fp, fn, tn: (
        (tp * tn - fp * fn) / (((tp + fp) * (tn + fn)) ** 0.5 * ((tp + fn) * (tn + fp)) ** 0.5)
    ),
}


def f_beta(tp: Any, fp: Any, fn: Any, tn: Any, beta: float = 1.0) -> Any:
    """Harmonic mean of precision and sensitivity, sensitivity weighing beta^2 as much."""
    return (1 + beta**2) * tp / ((1 + beta**2) * tp + beta**2 * fn + fp)


def value_at_cuts(formula: Callable[..., Any], cells: Sequence[Any]) -> Floats:
    """A formula of tp, fp, fn, tn at many cuts; NaN where it is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(formula(*(np.asarray(c, np.float64) for c in cells)), np.float64)
