"""Calibration of each class, of the top class, and of the whole row of probabilities."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.columns.rows import one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.class_resampling import (
    ClassSample,
    KernelGaps,
    Kernels,
    class_replicates,
    drawn_class_gaps,
    enough_rows,
    few_surprises,
    likeliest,
    pairs_of_rows,
    resampled_class_gaps,
    why_no_rows,
)
from scorewise.inference.inversion import Noise, Statistic, inverted
from scorewise.inference.scales import z
from scorewise.inference.shares import largest_gap
from scorewise.measures import calibration_bins, calibration_smooth
from scorewise.measures.calibration_bins import METHOD, calibrated
from scorewise.registry import measure
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.coarse import pooled_at
from scorewise.tallies.probabilities import Binning, Chances, Convention, binned, check_bins
from scorewise.tallies.sorting import first_of_runs, once

_MOST = 1 << 23  # gaps that are drawn at a step
Smoothed = Literal["labels", "gaps"]


@measure(group="calibration", better="low", title="Class-wise ECE", of="several classes")
def classwise_ece(
    t: ClassTally,
    *,
    bins: int = 15,
    norm: float = 1,
    binning: Binning = "width",
    convention: Convention | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Mean over the classes of how far the share of a class lies from its probability, bin by bin.

    (1/K sum_k sum_b n_kb/n |ybar_kb - pbar_kb|^norm)^(1/norm), on `bins` of equal width or mass of the
    probabilities of each class (Kull et al. 2019; norm=2: Kumar, Liang and Ma 2019). norm=inf is the
    largest gap of all; `convention` cuts bins as other packages do, see `ece`. The interval inverts
    consistency tests along the gaps seen; labels drawn from each row's own probabilities give
    `expected` and `p`.

    >>> p = np.random.default_rng(1).dirichlet([1, 1, 1], 100)
    >>> e = classwise_ece(ClassTally.of(p.argmax(1), p))
    >>> e, round(e.expected, 3), e.p
    (0.209 [0.172, 0.218], 0.113, 0.001)
    """
    check_bins(bins, binning, convention)
    if not norm >= 1:
        raise BadInput(f"norm={norm:g} is below 1; 1 is usual, 2 weighs large gaps, inf takes one")
    z(level)
    if why := why_no_rows(t):
        return Estimate.undefined(why, level)
    parts = [binned(t.one(c), bins, binning, convention) for c in t.classes]
    cells = _stacked(parts)
    size = _size(cells, norm)
    s = enough_rows(t)
    many = class_replicates(s, len(cells), _MOST)
    if not many:
        how = f"none: {len(cells):,} bins are too many to draw labels for"
        return Estimate(float(size((cells.gap / cells.total)[None])[0]), level=level, method=how)
    first = np.concatenate(([0], np.cumsum([len(c) for c in parts])))
    cell = np.stack([first[k] + _place(c, s.p[:, k]) for k, c in enumerate(parts)], axis=1)
    rng = np.random.default_rng(seed)
    drawn = drawn_class_gaps(s, cell, cells, many, rng)
    seen = resampled_class_gaps(s, cell, len(cells), many, rng)
    found = inverted(Noise(cells, many, seed, drawn=drawn, seen=seen), size, level)
    how = f"{METHOD}, {many} draws of labels of {len(s):,} rows"
    if math.isinf(norm):
        far = largest_gap(cells, np.zeros(len(cells)), level)
        found, how = found._replace(high=max(found.high, far)), f"{how}, exact in each bin"
    return calibrated(found, level, how=how)


def _size(cells: Chances, norm: float) -> Statistic:
    """The error as a function of gaps that are shares of the whole."""
    share = cells.weight / cells.total
    if norm == 1:
        return lambda gaps: np.abs(gaps).sum(1)
    if math.isinf(norm):
        return lambda gaps: np.abs(gaps / share).max(1)
    return lambda gaps: (share * np.abs(gaps / share) ** norm).sum(1) ** (1 / norm)


def _place(c: Chances, p: Floats) -> NDArray[np.int64]:
    """In which of the bins each probability lies."""
    return np.maximum(np.searchsorted(c.low, p, side="right") - 1, 0)


def _stacked(parts: list[Chances]) -> Chances:
    names = ("low", "weight", "squares", "pos", "sum", "noise")
    low, weight, squares, pos, total, noise = (
        np.concatenate([getattr(c, name) for c in parts]) for name in names
    )
    return Chances(low, weight, squares, pos, total, noise, parts[0].weighted)


def _top_label(binary: Callable[..., Estimate], title: str, meaning: str, hidden: str = "") -> None:
    """Record a binary measure, under its own name, as one of the confidence against being right."""

    def top_label(t: ClassTally, **options: Any) -> Estimate:
        # torchmetrics rounds the confidence of several classes to 32 bits, whatever the scores were
        rounds = options.get("convention") == "torchmetrics"
        return binary(_in_32_bits(t.top) if rounds else t.top, **options)

    signature = inspect.signature(binary)
    first, *others = (x for x in signature.parameters.values() if x.name != hidden)
    known = [first.replace(annotation="ClassTally"), *others]
    name = top_label.__name__ = top_label.__qualname__ = binary.__name__
    top_label.__signature__ = signature.replace(parameters=known)  # type: ignore[attr-defined]
    top_label.__doc__ = meaning
    record = measure(group="calibration", better="low", title=title, of="several classes")
    globals()[name] = record(top_label)


@once
def _in_32_bits(t: Tally) -> Tally:
    if t.coarse is not None:
        return t
    score = t.score.astype(np.float32)
    return pooled_at(replace(t, score=score), first_of_runs(score))


_top_label(
    calibration_bins.ece,
    "Top-label ECE",
    """Mean distance between the share of right decisions in a bin and the mean confidence there.

    The binary `ece` of the highest probability against whether its class was right (top-label or top-1
    calibration, Guo et al. 2017).

    >>> p = [[0.6, 0.2, 0.2], [0.0, 0.95, 0.05], [0.7, 0.1, 0.2]]
    >>> round(ece(ClassTally.of([0, 1, 2], p)).value, 7)
    0.3833333
    """,
)
_top_label(
    calibration_bins.max_ce,
    "Top-label max. CE",
    """Largest distance, over bins, of the share of right decisions from the mean confidence.

    >>> p = [[0.6, 0.2, 0.2], [0.0, 0.95, 0.05], [0.7, 0.1, 0.2]]
    >>> round(max_ce(ClassTally.of([0, 1, 2], p)).value, 7)
    0.7
    """,
)
_top_label(
    calibration_bins.ce_l2_debiased,
    "Top-label debiased L2",
    """Root mean square distance of shares of right decisions from confidence, less what chance adds.

    The binary `ce_l2_debiased` of the confidence (Kumar, Liang and Ma 2019).
    """,
)
_top_label(
    calibration_smooth.smece,
    "Top-label smECE",
    """Distance of right decisions from confidence after smoothing, at a width of the same size.

    The binary `smece` of the confidence (Błasiok and Nakkiran 2023).
    """,
    hidden="convention",
)
_top_label(
    calibration_bins.ece_sweep,
    "Top-label ECE, sweep",
    """ECE of the confidence on as many bins as keep the share of right decisions increasing.

    The binary `ece_sweep` of the confidence (Roelofs et al. 2022).
    """,
)


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
