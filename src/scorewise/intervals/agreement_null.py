"""How a coefficient of agreement would vary if raters were independent, or always agreed."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.intervals.agreement_parts import Rated
from scorewise.intervals.disagreement import Disagreement, Quadratic

Lone = Callable[[Rated, float], Floats]
Said = tuple[Floats, Floats]  # shares of the categories, and the mean disagreement with each
_ROUNDING = 1e-14


class Null(NamedTuple):
    """The standard error if raters were independent, and how much an item moves chance then.

    `guessed` is the mean square of an item's lean (see `Parts`) where raters are independent, `agreed`
    where all of them say the same of it.
    """

    error: float
    guessed: float
    agreed: float


def null_of_two(x: Rated, chance: float) -> Null:
    """Of Cohen's kappa, each rater with their own shares (Fleiss, Cohen and Everitt 1969)."""
    a, b = x.by_rater()
    of_a, of_b = x.kernel.spread(b), x.kernel.spread(a)
    error = math.sqrt(_variance(x.kernel, (a, of_a), (b, of_b)) / x.worth) / chance
    alone = _spread(a, of_a) + _spread(b, of_b)
    both = _spread((a + b) / 2, of_a + of_b)
    return Null(error, 1 + alone / chance**2, 1 + both / chance**2)


def null_of_many(x: Rated, chance: float, *, ranks: bool = False, lone: Lone | None = None) -> Null:
    """Of the others, with the shares of all raters together (Fleiss, Nee and Landis 1979).

    An item with m ratings says 2 / (m (m - 1)) times as much of chance as one pair. `ranks` says that the
    disagreement is that of mid-ranks, and `lone` how single ratings count where agreement is seen on
    other items than the shares.
    """
    paired = x.rated >= 2
    m = x.rated[paired].astype(np.float64)
    times = m if lone is None else np.ones(len(m))  # alpha weighs items by their ratings
    each = x.weight[paired] * times
    total = float(each.sum())
    p = x.shares(np.where(paired, x.weight, 0.0))
    p = p / p.sum()
    kernel: Disagreement = x.kernel
    if ranks:
        assert isinstance(x.kernel, Quadratic)
        kernel = Quadratic(mid_ranks(p, x.kernel.values))
    pairs = float((x.weight2[paired] * times**2 * 2 / (m * (m - 1))).sum()) / total**2
    said = kernel.spread(p)
    variance = _variance(kernel, (p, said), (p, said)) * pairs
    own = _spread(p, said)
    if lone is not None:
        counted = lone(x, total)
        variance += own * float((x.weight2[x.listed.item] * counted**2).sum())
    moved = 4 * own / chance**2
    return Null(
        math.sqrt(variance) / chance, 1 + moved * float((each / m).sum()) / total, 1 + moved
    )


def together(x: Rated, total: float) -> Floats:
    """How each rating counts in observed less expected agreement, where raters share one distribution."""
    seen = np.where(x.rated >= 2, 1 / total, 0.0)
    each = 2 / x.rated * (seen - 1 / float(x.weight.sum()))
    return each[x.listed.item]


def by_rater(x: Rated, total: float) -> Floats:
    """The same where each rater keeps their own."""
    item, rater = x.listed.item, x.listed.rater
    rated = np.bincount(rater, x.weight[item], x.listed.shape[1])
    used = rated > 0
    each = np.where(x.rated >= 2, 2 / (x.rated * total), 0.0)
    expected = np.where(used, 2 / (np.count_nonzero(used) * np.where(used, rated, 1.0)), 0.0)
    return each[item] - expected[rater]


def mid_ranks(p: Floats, values: Floats) -> Floats:
    """For each category, the share of ratings below it and half of its own."""
    order = np.argsort(values, kind="stable")
    rank = np.empty(len(p))
    rank[order] = p[order].cumsum() - p[order] / 2
    return rank


def _variance(d: Disagreement, first: Said, second: Said) -> float:
    """Of the disagreement of two independent ratings, beyond what either of them says alone."""
    (a, of_a), (b, of_b) = first, second
    alone = float((a * of_a * of_a).sum() + (b * of_b * of_b).sum())
    found = d.squares(a, b) + float((a * of_a).sum()) ** 2 - alone
    return found if found > _ROUNDING else 0.0


def _spread(share: Floats, values: Floats) -> float:
    """The variance of numbers of the categories."""
    return max(0.0, float((share * values * values).sum()) - float((share * values).sum()) ** 2)
