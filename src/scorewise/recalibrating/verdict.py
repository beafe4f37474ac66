"""Which of the maps that were tried is taken, if any: shown to help, and no rougher than need be."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from scipy.special import stdtrit

from scorewise.arrays import Floats, Ints
from scorewise.estimate import Estimate
from scorewise.inference.scales import effective, one_row

SURE = 0.99  # level at which what a map saves has to be above 0
LIKELIER = 1000.0  # or how many times likelier the rows have to be with it
NEAR = 0.25  # standard errors within which a simpler map is as good


def paired(gap: Floats, w: Floats, w2: Floats, level: float) -> Estimate:
    """The mean of differences, row by row, with its t interval."""
    mean, error, n = _mean(gap, w, w2)
    if one_row(n):
        return Estimate(mean, level=level, method="none: a single row", baseline=0.0)
    if error <= 1e-13:
        return Estimate(mean, mean, mean, level, "none: no row differs", "", 0.0, 0.0)
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    return Estimate(mean, mean - half, mean + half, level, "t, paired", "", 0.0, 0.0)


def verdict(
    losses: Mapping[str, Floats], w: Floats, w2: Floats, fold: Ints, level: float
) -> tuple[str, str]:
    """The name of the map to take, and why; `losses` has the loss of each row, simple maps first.

    The best is the one with the least mean loss, or the first that is worse by no more than a quarter
    of the standard error of their paired difference. It is taken if what it saves against identity is
    above 0 at a level of 0.99, or if it is above its standard error and the rows are 1,000 times
    likelier with it (see `evidence`); both are stricter at a level beyond 0.99.
    """
    if len(losses) == 1:
        return "identity", "too few rows to try anything else"
    least = min(losses, key=lambda name: _mean(losses[name], w, w2)[0])
    if least == "identity":
        return "identity", "nothing else has a lower log loss on rows not seen"
    best = next(n for n in losses if n != "identity" and _near(losses[n] - losses[least], w, w2))
    gap, sure = losses["identity"] - losses[best], max(level, SURE)
    if not (paired(gap, w, w2, sure).low > 0 or _likelier(gap, w, w2, fold, level)):
        said = f"{best} saves log loss, but is not shown to help"
        return "identity", f"{said} (its {100 * sure:g}% interval reaches 0)"
    how = "" if paired(gap, w, w2, sure).low > 0 else ", by the likelihood of the rows"
    if best != least:
        return best, f"shown to help{how}: as good as {least} on rows not seen, and simpler"
    return best, f"shown to help{how}: least log loss on rows not seen"


def evidence(gap: Floats, w: Floats, w2: Floats, fold: Ints) -> float:
    """Log of how many times likelier the rows of a fold are with a map fitted to the others, mean of all.

    If the scores are calibrated and rows are split without regard to labels, chance makes it log(1000) or
    more in at most one of 1,000 samples (Wasserman, Ramdas and Balakrishnan 2020), however few rows there
    are and however skewed their losses. Here folds are dealt class by class and one of several maps is
    chosen, so that this is a guide and no guarantee.
    """
    rows = w * (w.sum() / w2.sum())  # weights as if they were rows
    each = np.bincount(fold, rows * gap)
    return float(np.logaddexp.reduce(each) - math.log(len(each)))


def _likelier(gap: Floats, w: Floats, w2: Floats, fold: Ints, level: float) -> bool:
    mean, error, _ = _mean(gap, w, w2)
    enough = math.log(max(LIKELIER, 1 / (1 - level)))
    return mean > error and evidence(gap, w, w2, fold) >= enough


def _near(gap: Floats, w: Floats, w2: Floats) -> bool:
    mean, error, _ = _mean(gap, w, w2)
    return mean <= NEAR * error + 1e-15


def _mean(gap: Floats, w: Floats, w2: Floats) -> tuple[float, float, float]:
    """The mean, its standard error and how many rows it is worth."""
    total = float(w.sum())
    n = effective(total, float(w2.sum()))
    mean = float((w * gap).sum() / total)
    if one_row(n):
        return mean, math.inf, n
    variance = float((w2 * (gap - mean) ** 2).sum() / total**2) * n / (n - 1)
    return mean, float(np.sqrt(variance)), n
