"""Exponent, smoothing and temperature of a kernel posterior, by log loss on rows it does not know."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.models.kernel_posterior import smoothed, softmax

SMOOTHINGS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0)
SHARPEST, FLATTEST = 8.0, 0.125
_TINY = 1e-300


@dataclass(frozen=True)
class Tuned:
    """Exponent, smoothing and sharpness, and the log loss of each row with them."""

    exponent: float
    smoothing: float
    sharpness: float
    losses: Floats
    loss: float


def tune(
    sums: Mapping[float, Floats],
    y: NDArray[np.int64],
    prior: Floats,
    weight: Floats | None = None,
    *,
    smoothings: Sequence[float] = SMOOTHINGS,
    sharpness: float | None = None,
) -> Tuned:
    """The settings with the least log loss, but no other exponent than it takes.

    `sums` holds `class_sums` for each exponent that is tried, of rows whose class codes are `y`
    and which had no part in the weights (out of bag, or held out). Each exponent gets its best
    smoothing, and sharpness unless that is given. Of the exponents whose loss is within a standard
    error of the least, the one nearest to 1 is taken, which is the forest's own (the rule of one
    standard error of Breiman et al. 1984, Classification and Regression Trees).
    """
    weight = np.ones(len(y)) if weight is None else weight
    found = [
        _best(exponent, q, y, prior, weight, smoothings, sharpness) for exponent, q in sums.items()
    ]
    if not found:
        raise BadInput("nothing to tune: no exponents were given")
    least = min(found, key=lambda tuned: tuned.loss)
    as_good = [tuned for tuned in found if _as_good(tuned.losses - least.losses, weight)]
    return min(as_good, key=lambda tuned: (abs(np.log(tuned.exponent)), tuned.loss))


def _as_good(more: Floats, weight: Floats) -> bool:
    """Whether losses are more by no more than a standard error."""
    mean = np.average(more, weights=weight)
    error = np.sqrt((weight**2 * (more - mean) ** 2).sum()) / weight.sum()
    return bool(mean <= error)


def _best(
    exponent: float,
    q: Floats,
    y: NDArray[np.int64],
    prior: Floats,
    weight: Floats,
    smoothings: Sequence[float],
    given: float | None,
) -> Tuned:
    """The best smoothing of an exponent, and its sharpness."""
    tried, start = [], 1.0
    for smoothing in smoothings:
        logs = np.log(np.maximum(smoothed(q, prior, smoothing, 1.0), _TINY))
        logs = np.asfortranarray(logs)  # class by class: sums over a few classes are quicker so
        start = _sharpest(logs, y, weight, start) if given is None else given
        p = softmax(start * logs)[np.arange(len(y)), y]
        losses = -np.log(np.maximum(p, _TINY))
        loss = float(np.average(losses, weights=weight))
        tried.append(Tuned(exponent, smoothing, start, losses, loss))
    if not tried:
        raise BadInput("nothing to tune: no smoothings were given")
    return min(tried, key=lambda tuned: tuned.loss)


def _sharpest(logs: Floats, y: NDArray[np.int64], weight: Floats, sharpness: float) -> float:
    """The sharpness with the least log loss, convex in it, by Newton's method from the one given."""
    said = logs[np.arange(len(y)), y]
    for _ in range(8):
        p = softmax(sharpness * logs)
        mean = (p * logs).sum(axis=1)
        slope = (weight * (mean - said)).sum()
        curve = (weight * ((p * logs**2).sum(axis=1) - mean**2)).sum()
        moved = sharpness - slope / max(curve, 1e-9 * weight.sum())
        moved = np.clip(moved, max(sharpness / 2, FLATTEST), min(sharpness * 2, SHARPEST))
        if abs(moved - sharpness) < 1e-3 * sharpness:
            break
        sharpness = float(moved)
    return sharpness
