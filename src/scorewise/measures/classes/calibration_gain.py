"""What would a better temperature save? A lower bound of the calibration error in log loss."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.class_consistency import drawn_labels, replicates
from scorewise.intervals.scales import limits, pooled_spread, z
from scorewise.registry import measure
from scorewise.tallies import ClassTally
from scorewise.tallies.class_sample import ClassSample, why_no_rows
from scorewise.tallies.losses import CLIP
from scorewise.tallies.sorting import add_runs

_GRID = np.geomspace(1 / 32, 32, 61)  # inverse temperatures


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
        raise BadInput(f"folds={folds} cannot be left out one by one; 5 are usual")
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
    p = (1 + np.count_nonzero(null >= value - 1e-9 * abs(value) - 1e-12)) / (1 + len(null))
    known = pooled_spread(
        (float((s.weight**2 * (saved - value) ** 2).sum()), 1 / float((s.weight**2).sum()))
    )
    how = f"Student, cross-fitted on {folds} folds, {len(null)} draws of labels{s.said}"
    low = high = value
    if known.says_something():
        low, high = limits(value, known, level, "identity")
    expected = float(null.mean())
    high += max(0.0, -expected)
    return Estimate(value, low, high, level, how, expected=expected, p=float(p))


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
