"""Can the scores of several classes be read as probabilities? Proper scores, from exact sums."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

from scorewise.checks import check
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.paired import mean_loss
from scorewise.measures.classes.decisions import UNKNOWN, shares
from scorewise.registry import measure
from scorewise.tallies import ClassTally
from scorewise.tallies.losses import ClassLoss, Moments

_UNORDERED = "the classes have no known order; list them from the lowest to the highest"


@measure(
    group="probability",
    better="low",
    bounds=(0.0, math.inf),
    title="Log loss",
    of="several classes",
)
def log_loss(t: ClassTally, *, clip: float | None = None, level: float = 0.95) -> Estimate:
    """Mean of -log of the probability given to the class that happened (negative log likelihood).

    Infinite as soon as something happened that had probability 0, unless `clip=1e-15` (or another) is
    asked for. Normal interval on the log scale. The baseline gives the frequencies of the classes.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> log_loss(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.653 [0.258, 1.651]
    >>> log_loss(ClassTally.of([0, 1, 2], [[0.9, 0.1, 0.0], [0.2, 0.8, 0.0], [0.4, 0.6, 0.0]]))
    inf: what happened had probability 0 in 1 row; a clip of 1e-15 bounds its loss
    """
    check(clip=clip)
    if why := _why_not(t):
        return Estimate.undefined(why, level)
    baseline = -sum(f * math.log(f) for f in shares(t) if f)
    if clip is not None:
        return _mean(t, _clipped(t, clip), level, baseline)
    if wrong := _impossible(t):
        rows = f"{wrong:g} row{'s' * (wrong != 1)}"
        if t.confusion.weight.dtype != np.int64:
            rows = f"rows of weight {wrong:g}"
        why = f"what happened had probability 0 in {rows}; a clip of 1e-15 bounds its loss"
        return Estimate(math.inf, level=level, why=why, baseline=baseline)
    return _mean(t, _sums(t, "log"), level, baseline)


@measure(
    group="probability", better="low", bounds=(0.0, 2.0), title="Brier score", of="several classes"
)
def brier(
    t: ClassTally, *, convention: Literal["sum", "half"] = "sum", level: float = 0.95
) -> Estimate:
    """Squared distance of the probabilities from what happened, summed over classes; mean over rows.

    Brier's own convention, from 0 to 2. `convention="half"` gives half of it, from 0 to 1, which for two
    classes is the binary Brier score. Normal interval on the log scale. The baseline gives the
    frequencies of the classes.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> brier(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.350 [0.103, 1.189]
    """
    if convention not in ("sum", "half"):
        raise BadInput(f"convention={convention!r} is not known; it is 'sum' or 'half'")
    if why := _why_not(t):
        return Estimate.undefined(why, level)
    sums, unit = _sums(t, "brier"), 1.0 if convention == "sum" else 0.5
    scaled = [Moments(unit * m.first, unit * m.square, unit**2 * m.second) for m in sums]
    baseline = sum(f * (1 - f) for f in shares(t))
    return _mean(t, scaled, level, unit * baseline, 2 * unit)


@measure(group="probability", better="low", title="Spherical loss", of="several classes")
def spherical(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of 1 - cosine of the angle between the probabilities and what happened.

    1 - p_truth / |p|: the spherical score, as a loss. Normal interval on the log scale. The baseline
    gives the frequencies of the classes.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> spherical(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.192 [0.034, 1.000]
    """
    if why := _why_not(t):
        return Estimate.undefined(why, level)
    baseline = 1 - math.hypot(*shares(t))
    return _mean(t, _sums(t, "spherical"), level, baseline, 1.0)


@measure(group="probability", better="low", title="RPS, of ordered classes", of="several classes")
def rps(t: ClassTally, *, level: float = 0.95) -> Estimate:
    """Squared distance of cumulative probabilities from what happened, for classes that have an order.

    The mean over the K - 1 cuts between neighbouring classes of the Brier score of lying below the cut
    (Epstein 1969). The order is that of classes that are numbers, or of those that `classes=` lists;
    words without such a list have none, and then there is no score. Normal interval on the log scale. The
    baseline gives the frequencies.

    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> rps(ClassTally.of(["low", "mid", "mid", "high"], p, classes=["low", "mid", "high"]))
    0.073 [0.028, 0.189]
    >>> rps(ClassTally.of(["a", "b", "c", "c"], p))
    undefined: the classes have no known order; list them from the lowest to the highest
    """
    if why := _why_not(t) or ("" if t.ordered or len(t.classes) == 2 else _UNORDERED):
        return Estimate.undefined(why, level)
    below = np.cumsum(shares(t))[:-1].clip(0.0, 1.0)
    return _mean(t, _sums(t, "ranked"), level, float((below * (1 - below)).mean()), 1.0)


def _why_not(t: ClassTally) -> str:
    if not t.confusion.weight.any():
        return "no rows"
    return UNKNOWN if t.losses is None else ""


def _sums(t: ClassTally, loss: ClassLoss) -> tuple[Moments, ...]:
    assert t.losses is not None
    return t.losses[loss]


def _impossible(t: ClassTally) -> float:
    """Weight of the rows whose class had probability 0; logits never say so."""
    if t.kind == "logit":
        return 0.0
    at = (marks.weight[(marks.score == 0) & (marks.true == c)] for c, marks in enumerate(t.each))
    return float(sum(weight.sum() for weight in at))


def _clipped(t: ClassTally, clip: float) -> list[Moments]:
    """Moments of the log loss of probabilities that are kept `clip` away from 0 and 1."""
    made = []
    for c, marks in enumerate(t.each):
        own = marks.true == c
        loss = -np.log(np.clip(marks.score[own], clip, 1 - clip))
        made.append(Moments.of(loss, marks.weight[own], marks.weight2[own]))
    return made


def _mean(
    t: ClassTally,
    sums: list[Moments] | tuple[Moments, ...],
    level: float,
    baseline: float,
    most: float = math.inf,
) -> Estimate:
    return mean_loss(sums, t.weight.tolist(), t.weight2.tolist(), level, baseline, most)
