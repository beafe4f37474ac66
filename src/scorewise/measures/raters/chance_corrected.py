"""Do raters agree, and more than by chance? Coefficients of any number of raters, with missing ratings.

Each is (pa - pe) / (1 - pe). pa is the mean over items of two ratings or more of the share of agreeing
pairs; what differs is the agreement by chance, pe. Partial agreement counts by `weights`: "identity",
"linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar", or a table with a row and a
column for each category. None takes those of the scale: identity for nominal ratings, linear for ordinal,
quadratic for interval and ratio for ratio. An interval is that of a score test, of which the variance is
that at the value tested: 0 is in it exactly where the test allows independent raters. AC1 and
Brennan-Prediger mean another chance and have no test; their intervals are Wilson's. With
interval="bootstrap" items are resampled; "published" is what other packages give, which fails where items
are few or a category is rare.
"""

from __future__ import annotations

from scorewise.estimate import Estimate
from scorewise.intervals.agreement_limits import Interval
from scorewise.intervals.agreement_weights import Weights, named
from scorewise.measures.raters._judged import BELOW_ONE, judged, weighted
from scorewise.registry import measure
from scorewise.tallies.ratings import Ratings

GWET = "Gwet's variance, t"


@measure(group="agreement", of="raters", title="Percent agreement")
def percent_agreement(
    r: Ratings, *, weights: Weights = None, interval: Interval = "formula",
    replicates: int = 1000, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Share of agreeing pairs of ratings, the mean over items.

    Wilson's interval (of more than two raters or with weights, for as many items as would be as uncertain),
    by resampling items, or as published with the variance between items and Student's t.

    >>> percent_agreement(Ratings.of_table([[20, 5], [10, 15]]))
    0.700 [0.562, 0.809]
    """
    return judged(
        r, "percent_agreement", GWET, weights=weights, interval=interval,
        replicates=replicates, level=level, seed=seed, bounds=(0.0, 1.0),
    )  # fmt: skip


@measure(group="agreement", of="raters", bounds=BELOW_ONE, title="Fleiss' kappa")
def fleiss_kappa(
    r: Ratings, *, weights: Weights = None, interval: Interval = "formula",
    replicates: int = 1000, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Agreement beyond that of ratings drawn from what all raters said together.

    (pa - pe) / (1 - pe), where pe is the agreement of two draws from the mean shares of the categories
    (Fleiss 1971; with missing ratings and weights: Gwet 2021). p tests that raters are independent. Score
    interval, by resampling items, or as published with Gwet's variance and Student's t.

    >>> fleiss_kappa(Ratings.of_table([[20, 5], [10, 15]]))
    0.394 [0.118, 0.630]
    """
    return judged(
        r, "fleiss_kappa", GWET, weights=weights, interval=interval, replicates=replicates,
        level=level, seed=seed,
    )  # fmt: skip


@measure(group="agreement", of="raters", bounds=BELOW_ONE, title="Conger's kappa")
def conger_kappa(
    r: Ratings, *, weights: Weights = None, interval: Interval = "formula",
    replicates: int = 1000, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Agreement beyond that of two raters who each draw from what they themselves said.

    (pa - pe) / (1 - pe), where pe is the mean over pairs of raters of the agreement of draws from their
    own shares of the categories (Conger 1980; of two raters without missing ratings Cohen's kappa). p tests
    that raters are independent. Score interval, by resampling items, or as published with Gwet's variance
    and Student's t.

    >>> conger_kappa(Ratings.of_table([[20, 5], [10, 15]]))
    0.400 [0.129, 0.632]
    """
    return judged(
        r, "conger_kappa", GWET, weights=weights, interval=interval, replicates=replicates,
        level=level, seed=seed,
    )  # fmt: skip


@measure(group="agreement", of="raters", bounds=BELOW_ONE, title="Gwet's AC1")
def gwet_ac(
    r: Ratings, *, weights: Weights = None, interval: Interval = "formula",
    replicates: int = 1000, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Agreement beyond that of random ratings of those items that are hard to rate.

    (pa - pe) / (1 - pe), where pe is the sum of p (1 - p) over the shares p of the categories, times the
    sum of all weights / (q (q - 1)) of q categories (Gwet 2008). It is AC1 without weights and AC2 with
    them. Wilson's interval of the disagreement, for as many items as would be as uncertain, divided by that
    of chance; by resampling items; or as published with Gwet's variance and Student's t.

    >>> gwet_ac(Ratings.of_table([[20, 5], [10, 15]]))
    0.406 [0.130, 0.640]
    """
    plain = named(r, weights) == "identity"
    return judged(
        r, "gwet_ac", GWET, weights=weights, interval=interval, replicates=replicates,
        level=level, seed=seed,
        told="; AC1" if plain else f"; AC2{weighted(r, weights)}",
    )  # fmt: skip


@measure(group="agreement", of="raters", bounds=BELOW_ONE, title="Brennan-Prediger")
def brennan_prediger(
    r: Ratings, *, weights: Weights = None, interval: Interval = "formula",
    replicates: int = 1000, level: float = 0.95, seed: int = 0,
) -> Estimate:  # fmt: skip
    """Agreement beyond that of categories drawn evenly; of two categories it is PABAK.

    (pa - pe) / (1 - pe), where pe is the mean of all weights: 1 / q without weights (Brennan and
    Prediger 1981). Wilson's interval of the agreement carried over, by resampling items, or as published
    with Gwet's variance and Student's t.

    >>> brennan_prediger(Ratings.of_table([[20, 5], [10, 15]]))
    0.400 [0.125, 0.618]
    """
    return judged(
        r, "brennan_prediger", GWET, weights=weights, interval=interval,
        replicates=replicates, level=level, seed=seed,
    )  # fmt: skip
