"""Do two raters agree, and more than by chance? Kappa and its kin, of two raters or the mean over pairs.

`weights` are those of chance_corrected. Only items that both rated count.
"""

from __future__ import annotations

from scorewise.estimate import Estimate
from scorewise.intervals.agreement_best import most_kappa
from scorewise.intervals.agreement_limits import Interval
from scorewise.intervals.agreement_weights import Weights
from scorewise.intervals.scales import z
from scorewise.measures.raters._judged import SIGNED, judged, weighted
from scorewise.registry import measure
from scorewise.tallies.ratings import Ratings


@measure(group="agreement", of="raters", bounds=SIGNED, title="Cohen's kappa")
def cohen_kappa(
    r: Ratings, *, weights: Weights = None, interval: Interval = "formula",
    replicates: int = 1000, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Agreement of two raters beyond that of draws from what each of them said.

    (po - pe) / (1 - pe), which is 1 - error / baseline error (Cohen 1960, 1968). p tests independence with
    the standard error under it (Fleiss, Cohen and Everitt 1969). Score interval (for two categories, Lee
    and Tu 1994), by resampling items, or as published with their standard error of 1969.

    >>> cohen_kappa(Ratings.of_table([[20, 5], [10, 15]]))
    0.400 [0.131, 0.632]
    >>> cohen_kappa(Ratings.of_table([[20, 5], [10, 15]]), interval="published")
    0.400 [0.151, 0.649]
    """
    return judged(
        r, "cohen_kappa", "Fleiss, Cohen and Everitt 1969", weights=weights, interval=interval,
        replicates=replicates, level=level, seed=seed, bounds=SIGNED,
    )  # fmt: skip


@measure(group="agreement", of="raters", bounds=SIGNED, title="Scott's pi")
def scott_pi(
    r: Ratings, *, weights: Weights = None, interval: Interval = "formula",
    replicates: int = 1000, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Agreement of two raters beyond that of draws from what both said together.

    (po - pe) / (1 - pe), where pe is the agreement of two draws from the mean of both margins (Scott
    1955). p tests that raters are independent. Score interval, by resampling items, or as published with
    Gwet's variance of two raters and Student's t.

    >>> scott_pi(Ratings.of_table([[20, 5], [10, 15]]))
    0.394 [0.118, 0.630]
    """
    return judged(
        r, "scott_pi", "Gwet's variance, t", weights=weights, interval=interval,
        replicates=replicates, level=level, seed=seed, bounds=SIGNED,
    )  # fmt: skip


@measure(group="agreement", of="raters", bounds=SIGNED, title="Light's kappa")
def light_kappa(
    r: Ratings, *, weights: Weights = None, interval: Interval = "formula",
    replicates: int = 1000, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Cohen's kappa, the mean over all pairs of raters.

    Each pair over the items that both rated (Light 1971). p tests that raters are independent. Score
    interval, by resampling items, or, as "published", by the delta method over items with Student's t.

    >>> light_kappa(Ratings.of({"a": [0, 1, 1, 0, 1], "b": [0, 1, 1, 1, 1], "c": [0, 1, 0, 0, 1]}))
    0.482 [0.002, 0.899]
    """
    return judged(
        r, "light_kappa", "delta method over items, t", weights=weights, interval=interval,
        replicates=replicates, level=level, seed=seed, bounds=SIGNED,
    )  # fmt: skip


@measure(group="agreement", of="raters", better="neither", bounds=SIGNED, title="Maximum kappa")
def kappa_max(r: Ratings, *, weights: Weights = None, level: float = 0.95) -> Estimate:
    """The largest Cohen's kappa that what each of two raters said allows.

    (pm - pe) / (1 - pe), where pm is the largest agreement of any table with the same margins: the sum
    of the smaller shares without weights; both raters in the same order with linear and quadratic ones.
    No interval.

    >>> kappa_max(Ratings.of_table([[20, 5], [10, 15]]))
    0.800
    """
    z(level)
    found = most_kappa(r, weights)
    if isinstance(found, str):
        return Estimate.undefined(found, level)
    found = 0.0 if abs(found) < 1e-12 else found
    return Estimate(found, level=level, method=f"largest for these margins{weighted(r, weights)}")
