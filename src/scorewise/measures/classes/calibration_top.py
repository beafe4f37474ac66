"""Is the highest probability right as often as it says? Calibration of the confidence."""

from __future__ import annotations

import math

from scorewise.estimate import Estimate
from scorewise.measures import calibration_bins as two
from scorewise.measures import calibration_bins_swept, calibration_kernel
from scorewise.registry import measure
from scorewise.tallies import ClassTally
from scorewise.tallies.bins import Binning, Convention


@measure(group="calibration", better="low", title="Top-label ECE", of="several classes")
def ece(
    t: ClassTally,
    *,
    bins: int = 15,
    binning: Binning = "width",
    norm: float = 1.0,
    convention: Convention | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Mean distance between the share of right decisions in a bin and the mean confidence there.

    The binary `ece` of the highest probability against whether its class was right (top-label or top-1
    calibration, Guo et al. 2017).

    >>> p = [[0.6, 0.2, 0.2], [0.0, 0.95, 0.05], [0.7, 0.1, 0.2]]
    >>> round(ece(ClassTally.of([0, 1, 2], p)).value, 7)
    0.3833333
    """
    return two.ece(
        t.top, bins=bins, binning=binning, norm=norm, convention=convention, level=level, seed=seed
    )


@measure(
    group="calibration",
    better="low",
    title="Top-label max. CE",
    of="several classes",
)
def max_ce(
    t: ClassTally,
    *,
    bins: int = 15,
    binning: Binning = "width",
    convention: Convention | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Largest distance, over bins, of the share of right decisions from the mean confidence.

    >>> p = [[0.6, 0.2, 0.2], [0.0, 0.95, 0.05], [0.7, 0.1, 0.2]]
    >>> round(max_ce(ClassTally.of([0, 1, 2], p)).value, 7)
    0.7
    """
    return ece(
        t, bins=bins, binning=binning, norm=math.inf, convention=convention, level=level, seed=seed
    )


@measure(
    group="calibration",
    better="low",
    title="Top-label debiased L2",
    of="several classes",
)
def ce_l2_debiased(
    t: ClassTally,
    *,
    bins: int = 15,
    binning: Binning = "width",
    squared: bool = False,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Root mean square distance of shares of right decisions from confidence, less what chance adds.

    The binary `ce_l2_debiased` of the confidence (Kumar, Liang and Ma 2019).
    """
    return two.ce_l2_debiased(
        t.top, bins=bins, binning=binning, squared=squared, level=level, seed=seed
    )


@measure(group="calibration", better="low", title="Top-label smECE", of="several classes")
def smece(t: ClassTally, *, level: float = 0.95, seed: int = 0) -> Estimate:
    """Distance of right decisions from confidence after smoothing, at a width of the same size.

    The binary `smece` of the confidence (Błasiok and Nakkiran 2023).
    """
    return calibration_kernel.smece(t.top, level=level, seed=seed)


@measure(group="calibration", better="low", title="Top-label ECE, sweep", of="several classes")
def ece_sweep(t: ClassTally, *, level: float = 0.95, seed: int = 0) -> Estimate:
    """ECE of the confidence on as many bins as keep the share of right decisions increasing.

    The binary `ece_sweep` of the confidence (Roelofs et al. 2022).
    """
    return calibration_bins_swept.ece_sweep(t.top, level=level, seed=seed)
