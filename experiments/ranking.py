"""Several methods on several data sets: mean ranks, and which of them are told apart (Demsar 2006)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]


class Ranking(NamedTuple):
    """Mean ranks of methods, 1 the best, and how far apart they must be to be told apart."""

    mean: Array
    critical: float
    statistic: float
    p: float
    joined: tuple[tuple[int, ...], ...]


def ranking(values: Array, level: float = 0.95) -> Ranking:
    """Friedman's test, and Nemenyi's critical difference of mean ranks; low values are good.

    Rows are data sets, columns methods; ties share their ranks. `joined` are the largest groups of
    methods that are not told apart. Rows with a value that is no number are left out; where none is left,
    ranks and p are NaN, as p is for fewer than three methods.

    >>> a = np.array([[0.1, 0.2, 0.9], [0.3, 0.4, 0.8], [0.2, 0.1, 0.7], [0.0, 0.1, 0.5]])
    >>> found = ranking(a)
    >>> found.mean.tolist(), round(found.p, 3), found.joined
    ([1.25, 1.75, 3.0], 0.039, ((0, 1), (1, 2)))
    """
    values = values[np.isfinite(values).all(axis=1)]
    sets, methods = values.shape
    if not sets:
        return Ranking(np.full(methods, np.nan), np.nan, np.nan, np.nan, ())
    ranks = stats.rankdata(values, axis=1)
    mean = np.asarray(ranks.mean(axis=0))
    if methods < 3:
        test = (np.nan, np.nan)
    elif not np.ptp(values, axis=1).any():
        test = (0.0, 1.0)  # rows in which all are equal leave nothing to test
    else:
        test = stats.friedmanchisquare(*values.T)
    critical = critical_difference(methods, sets, level)
    return Ranking(mean, critical, float(test[0]), float(test[1]), joined(mean, critical))


def critical_difference(methods: int, sets: int, level: float = 0.95) -> float:
    """How far apart two mean ranks are by chance, at most, when all methods are compared (Nemenyi).

    >>> round(critical_difference(4, 20), 2)
    1.05
    """
    return critical_value(methods, level) * float(np.sqrt(methods * (methods + 1) / (6 * sets)))


def critical_value(methods: int, level: float = 0.95) -> float:
    """The studentised range of so many methods, divided by the root of 2.

    >>> [round(critical_value(k), 3) for k in (2, 3, 4)]
    [1.96, 2.344, 2.569]
    """
    return float(stats.studentized_range.ppf(level, methods, np.inf) / np.sqrt(2))


def joined(mean: Array, critical: float) -> tuple[tuple[int, ...], ...]:
    """The largest groups of methods within a critical difference, best first."""
    order = np.argsort(mean, kind="stable")
    groups: list[tuple[int, ...]] = []
    end = 0
    for first in range(len(order)):
        near = [i for i in order[first:] if mean[i] - mean[order[first]] <= critical]
        if len(near) > 1 and first + len(near) > end:
            groups.append(tuple(int(i) for i in near))
            end = first + len(near)
    return tuple(groups)
