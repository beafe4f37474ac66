"""Do rows with like probabilities err alike? The squared kernel calibration error."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.door.columns import one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.class_consistency import changes, drawn_labels, replicates
from scorewise.intervals.scales import z
from scorewise.registry import measure
from scorewise.tallies import ClassTally
from scorewise.tallies.class_sample import (
    ClassSample,
    few_surprises,
    pairs_of_rows,
    why_no_rows,
)
from scorewise.tallies.sorting import inner

Distance = Literal["total variation", "euclidean"]

_NARROW = (
    0.05  # a narrower kernel, of scores that are nearly all certain, sees no two rows as alike
)


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
        raise BadInput(f"width={width} is not positive; leave it out for the median distance")
    z(level)
    if why := why_no_rows(t):
        return Estimate.undefined(why, level)
    s = ClassSample.of(t, pairs_of_rows(len(t.classes)) if rows is None else rows)
    if s.alone:
        return Estimate.undefined("one row has no others to be compared with", level)
    share = _likeness(s.p, distance, width) * (s.weight * s.weight[:, None])
    np.fill_diagonal(share, 0.0)
    share /= 1 - inner(s.weight, s.weight)
    gap = s.gap
    each = np.einsum("ik,jk->ij", gap, gap) * share
    value = float(each.sum())
    if 2 < abs(value) < 2 + 1e-9:  # by rounding
        value = math.copysign(2.0, value)
    rng = np.random.default_rng(seed)
    null = _null(s, share, rng)
    # equal up to the rounding of single precision counts as equal
    p = (1 + np.count_nonzero(null >= value - 1e-6 * abs(value))) / (1 + len(null))
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
    return Estimate(value, *ends, level, how, expected=0.0, p=float(p), caution=caution)


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
