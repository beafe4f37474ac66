"""Can the scores be read as probabilities? Proper scores, from exact sums over the rows of each class.

Of two classes a `Tally` holds the probability of the positive one, of several a `ClassTally` that of each.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Literal

import numpy as np

from scorewise.checks import check, one_of
from scorewise.estimate import Estimate, undefined_if
from scorewise.inference.means import mean_loss
from scorewise.measures.decisions import UNKNOWN, frequencies, why_no_rows
from scorewise.registry import measure
from scorewise.statistics.probabilities import moments, why_infinite, why_not_probabilities
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.losses import ClassLoss, Moments

Convention = Literal["binary", "sum", "half"]
_UNORDERED = "the classes have no known order; list them from the lowest to the highest"


@measure(
    group="probability",
    better="low",
    bounds=(0.0, math.inf),
    title="Log loss",
    classes="Mean of -log of the probability given to the class that happened (negative log likelihood).",
)
def log_loss(t: Tally | ClassTally, *, clip: float | None = None, level: float = 0.95) -> Estimate:
    """Mean of -log of the probability given to what happened (negative log likelihood).

    Infinite as soon as something happened that had probability 0 (of two classes: a certain prediction
    was wrong), unless `clip=1e-15` (or another) is asked for. Normal interval on the log scale. The
    baseline is the best constant: the frequencies of the classes.

    >>> log_loss(Tally.of([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1]))
    0.236 [0.015, 3.810]
    >>> log_loss(Tally.of([1, 0, 1, 0], [0.0, 0.2, 0.6, 0.1]))
    inf: a certain prediction was wrong in 1 row; a clip of 1e-15 bounds its loss
    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> log_loss(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.653 [0.258, 1.651]
    """
    check(clip=clip)
    baseline = -sum(f * math.log(f) for f in _frequencies(t) if f)
    if clip is None and (
        why := _why_impossible(t) if isinstance(t, ClassTally) else why_infinite(t)
    ):
        return Estimate(math.inf, level=level, why=why, baseline=baseline)
    # the loss of a clipped probability is bounded; that of several classes is left as it is
    most = math.inf if clip is None or isinstance(t, ClassTally) else -math.log(clip)
    return _mean_loss(t, "log", level, baseline, most, clip=clip)


@measure(
    group="probability",
    better="low",
    bounds=(0.0, 2.0),
    title="Brier score",
    of="several classes",
    meaning="Squared distance of the probabilities from what happened, summed over classes; mean over "
    "rows.",
)
@measure(group="probability", better="low", title="Brier score")
def brier(
    t: Tally | ClassTally, *, convention: Convention | None = None, level: float = 0.95
) -> Estimate:
    """Mean squared distance of the probability from what happened (0 or 1).

    Of two classes the "binary" convention, that of the positive class, from 0 to 1, or of convention="sum"
    both classes, which is twice that (Brier 1950). Of several classes the "sum" over classes, from 0 to 2,
    or "half" of it, which of two is the binary score. Normal interval on the log scale. The baseline is
    the best constant, the frequencies of the classes: p (1 - p), summed in the same way.

    >>> brier(Tally.of([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1]))
    0.055 [0.000668, 1.000]
    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> brier(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.350 [0.103, 1.189]
    """
    several = isinstance(t, ClassTally)
    units = {"sum": 1.0, "half": 0.5} if several else {"binary": 1.0, "sum": 2.0}
    one_of("convention", convention, (None, *units))
    unit, most = units[convention or ("sum" if several else "binary")], 2.0 if several else 1.0
    baseline = unit * most / 2 * sum(f * (1 - f) for f in _frequencies(t))
    return _mean_loss(t, "brier", level, baseline, unit * most, unit=unit)


@measure(
    group="probability",
    better="low",
    title="Spherical loss",
    classes="Mean of 1 - cosine of the angle between the probabilities and what happened.",
)
def spherical(t: Tally | ClassTally, *, level: float = 0.95) -> Estimate:
    """Mean of 1 - cosine between the probabilities of both classes and what happened.

    1 - p_truth / |p|, from 0 to 1: the loss of the spherical score (Good 1971), which is 1 minus this.
    Normal interval on the log scale. The baseline is the best constant, the frequencies of the classes.

    >>> spherical(Tally.of([1, 0, 1, 0], [0.9, 0.2, 0.6, 0.1]))
    0.053 [0.000386, 1.000]
    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]
    >>> spherical(ClassTally.of(["a", "b", "b", "c"], p, classes=["a", "b", "c"]))
    0.192 [0.034, 1.000]
    """
    f = _frequencies(t)
    # 1 - |f|, without losing the digits of a small one
    baseline = sum(x * (1 - x) for x in f) / (1 + math.hypot(*f))
    return _mean_loss(t, "spherical", level, baseline, 1.0)


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
    below = np.cumsum(_frequencies(t))[:-1].clip(0.0, 1.0)
    undefined_if("" if t.ordered or len(t.classes) == 2 else _UNORDERED)
    return _mean_loss(t, "ranked", level, float((below * (1 - below)).mean()), 1.0)


def _why_impossible(t: ClassTally) -> str:
    """Why log loss of several classes is infinite, or nothing; logits never say 0."""
    at = (marks.weight[(marks.score == 0) & (marks.true == c)] for c, marks in enumerate(t.each))
    wrong = float(sum(weight.sum() for weight in at)) if t.kind != "logit" else 0.0
    if not wrong:
        return ""
    rows = f"{wrong:,.0f} row{'s' * (wrong != 1)}"
    if t.confusion.weight.dtype != np.int64:
        rows = f"rows of weight {wrong:g}"
    return f"what happened had probability 0 in {rows}; a clip of 1e-15 bounds its loss"


def _frequencies(t: Tally | ClassTally) -> list[float]:
    """How frequent each class is; undefined without a probability of each."""
    if isinstance(t, ClassTally):
        undefined_if(why_no_rows(t) or (UNKNOWN if t.losses is None else ""))
        return frequencies(t)
    undefined_if(why_not_probabilities(t))
    total = t.negatives + t.positives
    return [t.negatives / total, t.positives / total]


def _mean_loss(
    t: Tally | ClassTally,
    loss: ClassLoss,
    level: float,
    baseline: float,
    most: float,
    *,
    clip: float | None = None,
    unit: float = 1.0,
) -> Estimate:
    """The mean of a loss that is at most so much, in some unit, with its interval."""
    sums: Iterable[Moments]
    if isinstance(t, Tally):
        assert loss != "ranked"
        sums = moments(t, loss, clip)
        weights, squares = [t.negatives, t.positives], list(t.squares)
    else:
        assert t.losses is not None
        sums = t.losses[loss] if clip is None else _clipped(t, clip)
        weights, squares = t.weight.tolist(), t.weight2.tolist()
    scaled = [Moments(unit * m.first, unit * m.square, unit**2 * m.second) for m in sums]
    return mean_loss(scaled, weights, squares, level, baseline, most)


def _clipped(t: ClassTally, clip: float) -> Iterator[Moments]:
    """The moments of log loss by true class, of probabilities `clip` away from 0 and 1."""
    for c, marks in enumerate(t.each):
        own = marks.true == c
        charge = -np.log(np.clip(marks.score[own], clip, 1 - clip))
        yield Moments.of(charge, marks.weight[own], marks.weight2[own])
