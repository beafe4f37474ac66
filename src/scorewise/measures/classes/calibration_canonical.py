"""Are all classes together as frequent as a row of probabilities says? The canonical error."""

from __future__ import annotations

import math
from typing import Literal, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.door.columns import one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.dirichlet import KernelGaps, Kernels, likeliest
from scorewise.intervals.inversion import inverted
from scorewise.intervals.scales import z
from scorewise.measures._calibrated import calibrated
from scorewise.registry import measure
from scorewise.tallies import ClassTally
from scorewise.tallies.class_sample import (
    ClassSample,
    few_surprises,
    pairs_of_rows,
    why_no_rows,
)

Smoothed = Literal["labels", "gaps"]


@measure(
    group="calibration", better="low", bounds=(0.0, 2.0), title="Canonical CE", of="several classes"
)
def canonical_ce(
    t: ClassTally,
    *,
    norm: float = 1,
    smoothed: Smoothed = "labels",
    bandwidth: float | None = None,
    rows: int | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """How far the shares of all classes, given the whole row of probabilities, lie from that row.

    (mean_i sum_k |E[y_k | p_i] - p_ik|^norm)^(1/norm), with the conditional expectation by Dirichlet
    kernels on the other rows (Popordanoska, Sayer and Blaschko 2022). The bandwidth is the likeliest,
    leaving one out, of twenty from 1e-5 to 1. A wide one pulls the shares to their mean and so hides
    scores that are too unsure (p near 1): give a smaller one, or smoothed="gaps", which smooths y - p
    and is hurt less. With two classes the value is twice that of one class (norm=1). Few rows of many
    classes leave much noise in the value: compare it with `expected`. Interval by inverted tests along
    the smoothed gaps, `expected` and `p` by drawing labels from each row's own probabilities. Above a
    thousand rows, or `rows=`, a sample is used.

    >>> p = np.random.default_rng(1).dirichlet([1, 1, 1], 100)
    >>> e = canonical_ce(ClassTally.of(p.argmin(1), p))
    >>> e, round(e.expected, 2), e.p
    (0.842 [0.378, 0.842], 0.44, 0.001)
    """
    one_of("smoothed", smoothed, get_args(Smoothed))
    if not 1 <= norm < math.inf:
        raise BadInput(f"norm={norm} is not a number from 1 up; the usual are 1 and 2")
    if bandwidth is not None and not 0 < bandwidth < math.inf:
        raise BadInput(f"bandwidth={bandwidth} is not positive; 0.001 to 0.5 are usual")
    z(level)
    if why := why_no_rows(t):
        return Estimate.undefined(why, level)
    s = ClassSample.of(t, pairs_of_rows(len(t.classes)) if rows is None else rows)
    if s.alone:
        return Estimate.undefined("one row has no others to be compared with", level)
    kernels = Kernels(s)
    h = likeliest(kernels, s.weight) if bandwidth is None else bandwidth
    gaps = KernelGaps(s, kernels, h, seed)
    weight = np.tile(s.weight, len(t.classes))

    def size(gap: Floats) -> Floats:
        far = np.abs(gap)
        if norm != 1:
            far **= norm
        far *= weight.astype(gap.dtype)
        total: Floats = far.sum(1, dtype=float) ** (1 / norm)
        return total

    def published(gap: Floats) -> Floats:
        return size(gap + gaps.bias.astype(gap.dtype))

    found = inverted(gaps, published if smoothed == "labels" else size, level, size=size)
    how = f"inverted consistency test, bandwidth {h:.2g}, {len(gaps.null)} draws of labels{s.said}"
    return calibrated(found, level, bounds=(0.0, 2.0), how=how, caution=few_surprises(s))
