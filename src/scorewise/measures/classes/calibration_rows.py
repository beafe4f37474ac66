"""Calibration judged row by row: what a better temperature saves, and whether like rows err alike."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.columns.rows import one_of
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.inference.class_resampling import (
    ClassSample,
    changes,
    drawn_labels,
    few_surprises,
    pairs_of_rows,
    replicates,
    why_no_rows,
)
from scorewise.inference.resampling import share_beyond
from scorewise.inference.scales import limits, pooled_spread, z
from scorewise.registry import measure
from scorewise.tallies import ClassTally
from scorewise.tallies.losses import CLIP
from scorewise.tallies.sorting import add_runs, inner

_GRID = np.geomspace(1 / 32, 32, 61)  # inverse temperatures
Distance = Literal["total variation", "euclidean"]
_NARROW = (
    0.05  # a narrower kernel, of scores that are nearly all certain, sees no two rows as alike
)


@measure(
    group="calibration",
    better="low",
    bounds=(-np.inf, np.inf),
    title="Calibration gain",
    of="several classes",
)
def calibration_gain(
    t: ClassTally, *, folds: int = 5, level: float = 0.95, seed: int = 0
) -> Estimate:
    """Log loss that a temperature, fitted on other rows, saves: the calibration error is at least that.

    The canonical calibration error of log loss is what the best of all maps from rows of probabilities to
    rows of probabilities would save; any one map bounds it from below. Here it is softmax(log p / T), with
    T fitted on the other folds (Guo et al. 2017).
    Probabilities are clipped at 1e-15. Labels drawn from each row's own probabilities give `expected`, a
    little below 0, and `p`. Student's interval of what each row saves, whose upper end is higher by as
    much as calibrated scores lose.

    >>> p = np.random.default_rng(1).dirichlet([1, 1, 1], 100)
    >>> e = calibration_gain(ClassTally.of(p.argmax(1), p))
    >>> e, round(e.expected, 3), e.p
    (0.498 [0.456, 0.546], -0.007, 0.001)
    """
    if not isinstance(folds, int) or folds < 2:
        raise BadInput(Option("folds", folds), " cannot be left out one by one; 5 are usual")
    z(level)
    if why := why_no_rows(t):
        return Estimate.undefined(why, level)
    k = len(t.classes)
    s = ClassSample.of(t, int(np.clip((1 << 17) // k, 512, 4096))).shuffled(seed)
    if len(s) < folds:
        return Estimate.undefined(f"{len(s)} rows are fewer than the {folds} folds", level)
    tables = _Tables(s, folds)
    saved = tables.saved(s.y)
    value = float((s.weight * saved).sum())
    chance = np.random.default_rng(seed).random((replicates(len(s), budget=1 << 19), len(s)))
    null = tables.gains(drawn_labels(s.p, chance))
    p = share_beyond(null, value - 1e-9 * abs(value) - 1e-12)
    known = pooled_spread(
        (float((s.weight**2 * (saved - value) ** 2).sum()), 1 / float((s.weight**2).sum()))
    )
    how = f"Student, cross-fitted on {folds} folds, {len(null)} draws of labels{s.said}"
    low = high = value
    if known.says_something():
        low, high = limits(value, known, level, "identity")
    expected = float(null.mean())
    high += max(0.0, -expected)
    return Estimate(value, low, high, level, how, expected=expected, p=p)


class _Tables:
    """The log loss of each fold as a function of the inverse temperature b: A(b) - b c.

    A, the sum of log sum exp(b log p), and its slope do not depend on labels, so they are tabulated once;
    c, the sum of the log p of what happened, is all that labels decide. The fit has slope c.
    """

    def __init__(self, s: ClassSample, folds: int) -> None:
        from scipy.interpolate import CubicHermiteSpline

        self._log = np.log(np.maximum(s.p, CLIP))
        self._weight = s.weight
        self._start = np.arange(folds) * len(s) // folds
        size, slope = (np.empty((len(_GRID), folds)) for _ in range(2))
        for i, b in enumerate(_GRID):
            norm, mean = self._norm(np.full(len(s), b))
            size[i], slope[i] = (add_runs(s.weight * c, self._start) for c in (norm, mean))
        self._slope = slope
        self._size = [CubicHermiteSpline(_GRID, size[:, f], slope[:, f]) for f in range(folds)]

    def _norm(self, b: Floats) -> tuple[Floats, Floats]:
        """Log sum exp(b log p) of each row, and its slope in b."""
        tilted = self._log * b[:, None]
        top = tilted.max(1)
        tilted -= top[:, None]
        e = np.exp(tilted, out=tilted)
        total = e.sum(1)
        return top + np.log(total), (e * self._log).sum(1) / total

    def _happened(self, labels: NDArray[np.int64]) -> Floats:
        """The weighted log p of what happened, added up on each fold (second axis)."""
        total: Floats = add_runs(
            self._weight * self._log[np.arange(len(self._log)), labels], self._start
        )
        return total

    def _fitted(self, c: Floats) -> Floats:
        """The inverse temperature for each fold, fitted on the others."""
        # added up, not the difference of sums: weights may be far apart
        elsewhere = 1.0 - np.eye(c.shape[-1])
        rest, slope = c @ elsewhere, self._slope @ elsewhere
        grid = np.log(_GRID)
        each = [np.interp(rest[..., f], slope[:, f], grid) for f in range(c.shape[-1])]
        fitted: Floats = np.exp(np.stack(each, axis=-1))
        return fitted

    def saved(self, y: NDArray[np.int64]) -> Floats:
        """What each row saves."""
        b = np.repeat(self._fitted(self._happened(y)), np.diff(self._start, append=len(y)))
        own = self._log[np.arange(len(y)), y]
        saved: Floats = self._norm(np.ones(len(y)))[0] - own - (self._norm(b)[0] - b * own)
        return saved

    def gains(self, labels: NDArray[np.int64]) -> Floats:
        """The mean of what rows save, for each replicate of labels (first axis)."""
        c = self._happened(labels)
        b = self._fitted(c)
        gain = (b - 1) * c
        for f, size in enumerate(self._size):
            gain[:, f] += size(1.0) - size(b[:, f])
        total: Floats = gain.sum(1)
        return total


@measure(group="calibration", better="low", bounds=(-2.0, 2.0), title="SKCE", of="several classes")
def skce(
    t: ClassTally,
    *,
    distance: Distance = "total variation",
    width: float | None = None,
    rows: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """How alike the errors of two rows are, the more the closer their probabilities: 0 if calibrated.

    The mean over pairs of rows of exp(-d(p, p') / width) (y - p)·(y' - p'), with one-hot y: the unbiased
    quadratic estimator of the squared kernel calibration error (Widmann, Lindsten and Zachariah 2019),
    below 0 by chance in half of all calibrated samples. The width is the median distance. Labels drawn
    from each row's own probabilities give `p`, and with the variance of the rows' own means the interval
    (Hoeffding's two parts). Above a thousand rows, or `rows=`, a sample of them is used.

    >>> p = np.random.default_rng(1).dirichlet([1, 1, 1], 100)
    >>> e = skce(ClassTally.of(p.argmax(1), p))
    >>> e, e.expected, e.p
    (0.017 [0.008, 0.026], 0.0, 0.001)
    """
    one_of("distance", distance, get_args(Distance))
    if width is not None and not width > 0:
        raise BadInput(
            Option("width", width), " is not positive; leave it out for the median distance"
        )
    z(level)
    if why := why_no_rows(t):
        return Estimate.undefined(why, level)
    s = ClassSample.of(t, pairs_of_rows(len(t.classes)) if rows is None else rows)
    if s.alone:
        return Estimate.undefined("one row has no others to be compared with", level)
    share = s.weight * s.weight[:, None]
    np.fill_diagonal(share, 0.0)
    share *= _likeness(s.p, distance, width) / share.sum()  # 1 - sum of squares would cancel
    gap = s.gap
    each = np.einsum("ik,jk->ij", gap, gap) * share
    value = float(each.sum())
    if 2 < abs(value) < 2 + 1e-9:  # by rounding
        value = math.copysign(2.0, value)
    rng = np.random.default_rng(seed)
    null = _null(s, share, rng)
    terms = float((np.abs(gap) @ np.abs(gap).T * share).sum())
    p = share_beyond(null, value - 1e-6 * terms)  # the rounding of single precision
    own, noise = _linear(each, s.weight)
    normal, tail = rng.standard_normal(len(null)), (1 - level) / 2
    # upwards nothing is taken off, so that what is not seen to vary may still
    far = [null - null.mean() + np.sqrt(v) * normal for v in (own, max(own - noise, 0.0))]
    high, low = (
        value - float(np.quantile(f, q)) for f, q in zip(far, (tail, 1 - tail), strict=True)
    )
    low = 0.0 if p >= tail else max(low, 0.0)
    how = f"{len(null)} draws of labels{s.said}"
    ends = min(low, value), min(max(high, value), 2.0)
    caution = few_surprises(s)
    return Estimate(value, *ends, level, how, expected=0.0, p=p, caution=caution)


def _likeness(p: Floats, distance: Distance, width: float | None) -> Floats:
    from scipy.spatial.distance import pdist, squareform

    far = pdist(p, "cityblock") / 2 if distance == "total variation" else pdist(p)
    scale = width or max(float(np.median(far)), _NARROW)
    alike: Floats = squareform(np.exp(-far / scale))
    return alike


def _linear(each: Floats, weight: Floats) -> tuple[float, float]:
    """The variance of the sum from the rows' own means, and what of it other rows add by chance.

    `each` are the shares of pairs in the sum; a row's own mean is its sum over weight.
    """
    own = 2 * (each.sum(1) - weight * each.sum())
    return float((own**2).sum()), 4 * float((each**2).sum())


def _null(s: ClassSample, share: Floats, rng: np.random.Generator) -> Floats:
    """Replicates of the sum over pairs for labels drawn from the rows' probabilities.

    Labels are the likeliest but for some changes: the sum is that of the likeliest, twice what changes
    meet there, and what they meet of each other.
    """
    n, k = s.p.shape
    many = replicates(max(n * n, 8 * n * k))
    labels, likeliest, row = drawn_labels(s.p, rng.random((many, n))), s.p.argmax(1), np.arange(n)
    least = -s.p
    least[row, likeliest] += 1
    there = np.einsum("ij,jk->ik", share, least)
    met = (there[row, labels] - there[row, likeliest]).sum(1)
    drawn = changes(labels, likeliest, k) @ share.astype(np.float32)
    drawn = drawn.reshape(many, k, n)
    other = np.take_along_axis(drawn, labels[:, None], axis=1)[:, 0]
    other -= drawn[:, likeliest, row]
    null: Floats = inner(there, least) + 2 * met + other.sum(1, dtype=float)
    return null
