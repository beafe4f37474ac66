"""Do raters agree, and more than by chance? Coefficients with missing ratings and partial agreement.

Each is (pa - pe) / (1 - pe). pa is the mean over items of two ratings or more of the share of agreeing
pairs; what differs is the agreement by chance, pe. Partial agreement counts by `weights`: "identity",
"linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar", or a table with a row and a
column for each category. None takes those of the scale: identity for nominal ratings, linear for
ordinal, quadratic for interval and ratio for ratio.

An interval is that of a score test, of which the variance is that at the value tested: 0 is in it exactly
where the test allows independent raters. AC1 and Brennan-Prediger mean another chance and have no test;
their intervals are Wilson's. With interval="bootstrap" items are resampled; "published" is what other
packages give, which fails where items are few or a category is rare.
"""

from __future__ import annotations

import math
from typing import Any, Literal, TypedDict, Unpack, get_args

import numpy as np

from scorewise.checks import at_least, one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate, Undefined
from scorewise.inference.agreement import (
    METRICS,
    SHARES,
    Coefficient,
    Margins,
    decompose,
    linearised,
    rated_items,
    why_no_chance,
)
from scorewise.inference.agreement_intervals import (
    Interval,
    by_bootstrap,
    by_error,
    by_score,
    by_wilson,
)
from scorewise.inference.agreement_weights import Identity, Quadratic, Weights, weights_name
from scorewise.inference.rater_pairs import MIN_CHANCE
from scorewise.inference.scales import normal_quantile
from scorewise.registry import RATER_MEASURES, measure
from scorewise.tallies.ratings import Ratings

MIN_RARE = 15  # items outside the commonest category: fewer make all but score intervals fail
MIN_DIFFERENT = 10  # items on which raters differ: fewer make published intervals fail
PUBLISHED = {
    "cohen_kappa": "Fleiss, Cohen and Everitt 1969",
    "light_kappa": "delta method over items, t",
}  # where other packages do not take Gwet's
BELOW_ONE = (-math.inf, 1.0)
SIGNED = (-1.0, 1.0)
Metric = Literal["nominal", "ordinal", "interval", "ratio"]


class Options(TypedDict, total=False):
    """Options that all coefficients have; `replicates` and `seed` are those of the bootstrap."""

    weights: Weights
    interval: Interval
    replicates: int
    level: float
    seed: int


def estimate_of_ratings(
    r: Ratings, name: str, *, weights: Weights = None, interval: Interval = "formula",
    replicates: int = 1000, level: float = 0.95, seed: int = 0, note: str | None = None,
) -> Estimate:  # fmt: skip
    """The coefficient of that name with its interval; `note` says which weights, unless it is plain."""
    one_of("interval", interval, get_args(Interval))
    note = weighted(r, weights) if note is None else note
    c = linearised(r, name, weights)
    caution = c.caution if interval == "formula" else _why_unreliable(r, c, interval)
    if interval == "bootstrap":
        at_least(20, 1000, replicates=replicates)
        limits = by_bootstrap(r, name, weights, level, replicates, seed)
        method = f"bootstrap of items, {replicates:,} replicates"
    elif interval == "published":
        limits, method = by_error(c, level), PUBLISHED.get(name, "Gwet's variance, t")
    elif math.isnan(c.null):
        limits, method = by_wilson(c, level), "Wilson, delta over items"
        if name in SHARES and c.binary:
            method = "Wilson"
    else:
        limits, method = by_score(c, normal_quantile(level)), "score"
    # a table of weights may lead below -1, and rounding a little beyond the bounds
    bounds = RATER_MEASURES[name].bounds if isinstance(weights, str | None) else BELOW_ONE
    # two ratings that always differ get -1; gaps and a table of weights may lead below
    low = max(limits[0], min(-1.0, c.value))
    return Estimate.within(
        bounds, c.value, low, limits[1], level, method + note,
        p=None if math.isnan(c.p) else c.p, caution=caution,
    )  # fmt: skip


def _why_unreliable(r: Ratings, c: Coefficient, interval: Interval) -> str:
    """Why the published interval or the bootstrap is unreliable: too few items decide."""
    said = r.said / r.weight.max()
    rarer = c.items * float(1 - said.max() / said.sum())
    if rarer < MIN_RARE and not math.isnan(c.null):
        return f"about {round(rarer)} of {round(c.items)} items outside the commonest category"
    apart = c.items * min(1 - c.observed, c.observed)
    if apart < MIN_DIFFERENT and interval == "published":
        return f"raters differ on about {round(apart)} of {round(c.items)} items"
    return ""


def weighted(r: Ratings, weights: Any) -> str:
    """Which weights, in words; nothing where only the same category agrees.

    >>> weighted(Ratings.of_table([[2, 1], [1, 3]]), "linear")
    '; linear weights'
    """
    name = weights_name(r, weights)
    return {"identity": "", "own": "; custom weights"}.get(name, f"; {name} weights")


@measure(group="agreement", of="raters", bounds=SIGNED, title="Krippendorff's alpha")
def krippendorff_alpha(
    r: Ratings, *, metric: Metric | None = None, **options: Unpack[Options]
) -> Estimate:
    """Agreement beyond chance, where chance shuffles the ratings over all items.

    1 - observed / expected disagreement over all pairs of ratings of one item and of the whole table,
    where the disagreement is 0 or 1 (nominal), the squared distance of mid-ranks (ordinal) or of numbers
    (interval), or that divided by the squared sum (ratio): by the scale of the ratings unless `metric`
    is given (Krippendorff 2011). Items with one rating are left out. `weights` take the place of a
    metric. p tests that raters are independent. Score interval, by resampling items, or as published with
    Gwet's variance and Student's t (of mid-ranks with what items do to these).

    >>> krippendorff_alpha(Ratings.of_table([[20, 5], [10, 15]]))
    0.400 [0.124, 0.635]
    """
    weights = options.get("weights")
    if metric is not None:
        one_of("metric", metric, tuple(METRICS))
    if metric is not None and weights is not None:
        raise BadInput(f"metric is {metric!r} and there are weights; give one of both")
    note = None
    if weights is None:
        scale = metric or r.scale
        options["weights"], note = METRICS[scale], "" if scale == "nominal" else f"; {scale}"
    return estimate_of_ratings(r, "krippendorff_alpha", note=note, **options)


@measure(group="agreement", of="raters", title="Percent agreement")
def percent_agreement(r: Ratings, **options: Unpack[Options]) -> Estimate:
    """Share of agreeing pairs of ratings, the mean over items.

    Wilson's interval (of more than two raters or with weights, for as many items as would be as uncertain),
    by resampling items, or as published with the variance between items and Student's t.

    >>> percent_agreement(Ratings.of_table([[20, 5], [10, 15]]))
    0.700 [0.562, 0.809]
    """
    return estimate_of_ratings(r, "percent_agreement", **options)


@measure(group="agreement", of="raters", bounds=BELOW_ONE, title="Fleiss' kappa")
def fleiss_kappa(r: Ratings, **options: Unpack[Options]) -> Estimate:
    """Agreement beyond chance, given the category shares of all raters together.

    (pa - pe) / (1 - pe), where pe is the agreement of two draws from the mean shares of the categories
    (Fleiss 1971; with missing ratings and weights: Gwet 2021). p tests that raters are independent. Score
    interval, by resampling items, or as published with Gwet's variance and Student's t.

    >>> fleiss_kappa(Ratings.of_table([[20, 5], [10, 15]]))
    0.394 [0.118, 0.630]
    """
    return estimate_of_ratings(r, "fleiss_kappa", **options)


@measure(group="agreement", of="raters", bounds=BELOW_ONE, title="Conger's kappa")
def conger_kappa(r: Ratings, **options: Unpack[Options]) -> Estimate:
    """Agreement beyond chance, given each rater's own category shares.

    (pa - pe) / (1 - pe), where pe is the mean over pairs of raters of the agreement of draws from their
    own shares of the categories (Conger 1980; of two raters without missing ratings Cohen's kappa). p tests
    that raters are independent. Score interval, by resampling items, or as published with Gwet's variance
    and Student's t.

    >>> conger_kappa(Ratings.of_table([[20, 5], [10, 15]]))
    0.400 [0.129, 0.632]
    """
    return estimate_of_ratings(r, "conger_kappa", **options)


@measure(group="agreement", of="raters", bounds=BELOW_ONE, title="Gwet's AC1")
def gwet_ac(r: Ratings, **options: Unpack[Options]) -> Estimate:
    """Agreement beyond chance, where only items that are hard to rate are rated at random.

    (pa - pe) / (1 - pe), where pe is the sum of p (1 - p) over the shares p of the categories, times the
    sum of all weights / (q (q - 1)) of q categories (Gwet 2008). It is AC1 without weights and AC2 with
    them. Wilson's interval of the disagreement, for as many items as would be as uncertain, divided by that
    of chance; by resampling items; or as published with Gwet's variance and Student's t.

    >>> gwet_ac(Ratings.of_table([[20, 5], [10, 15]]))
    0.406 [0.130, 0.640]
    """
    note = weighted(r, options.get("weights"))
    return estimate_of_ratings(r, "gwet_ac", note=f"; AC2{note}" if note else "; AC1", **options)


@measure(group="agreement", of="raters", bounds=BELOW_ONE, title="Brennan-Prediger")
def brennan_prediger(r: Ratings, **options: Unpack[Options]) -> Estimate:
    """Agreement beyond chance, where all categories are equally likely (PABAK for two categories).

    (pa - pe) / (1 - pe), where pe is the mean of all weights: 1 / q without weights (Brennan and
    Prediger 1981). Wilson's interval of the agreement carried over, by resampling items, or as published
    with Gwet's variance and Student's t.

    >>> brennan_prediger(Ratings.of_table([[20, 5], [10, 15]]))
    0.400 [0.125, 0.618]
    """
    return estimate_of_ratings(r, "brennan_prediger", **options)


@measure(group="agreement", of="raters", bounds=SIGNED, title="Cohen's kappa")
def cohen_kappa(r: Ratings, **options: Unpack[Options]) -> Estimate:
    """Agreement of two raters beyond chance, given each rater's own category shares.

    (po - pe) / (1 - pe), which is 1 - error / baseline error (Cohen 1960, 1968). p tests independence with
    the standard error under it (Fleiss, Cohen and Everitt 1969). Score interval (for two categories, Lee
    and Tu 1994), by resampling items, or as published with their standard error of 1969.

    >>> cohen_kappa(Ratings.of_table([[20, 5], [10, 15]]))
    0.400 [0.131, 0.632]
    >>> cohen_kappa(Ratings.of_table([[20, 5], [10, 15]]), interval="published")
    0.400 [0.151, 0.649]
    """
    return estimate_of_ratings(r, "cohen_kappa", **options)


@measure(group="agreement", of="raters", bounds=SIGNED, title="Scott's pi")
def scott_pi(r: Ratings, **options: Unpack[Options]) -> Estimate:
    """Agreement of two raters beyond chance, given their pooled category shares.

    (po - pe) / (1 - pe), where pe is the agreement of two draws from the mean of both margins (Scott
    1955). p tests that raters are independent. Score interval, by resampling items, or as published with
    Gwet's variance of two raters and Student's t.

    >>> scott_pi(Ratings.of_table([[20, 5], [10, 15]]))
    0.394 [0.118, 0.630]
    """
    return estimate_of_ratings(r, "scott_pi", **options)


@measure(group="agreement", of="raters", bounds=SIGNED, title="Light's kappa")
def light_kappa(r: Ratings, **options: Unpack[Options]) -> Estimate:
    """Cohen's kappa, the mean over all pairs of raters.

    Each pair over the items that both rated (Light 1971). p tests that raters are independent. Score
    interval, by resampling items, or, as "published", by the delta method over items with Student's t.

    >>> light_kappa(Ratings.of({"a": [0, 1, 1, 0, 1], "b": [0, 1, 1, 1, 1], "c": [0, 1, 0, 0, 1]}))
    0.482 [0.002, 0.899]
    """
    return estimate_of_ratings(r, "light_kappa", **options)


@measure(group="agreement", of="raters", better="neither", bounds=SIGNED, title="Maximum kappa")
def kappa_max(r: Ratings, *, weights: Weights = None, level: float = 0.95) -> Estimate:
    """Largest Cohen's kappa that the margins of the two raters allow.

    (pm - pe) / (1 - pe), where pm is the largest agreement of any table with the same margins: the sum
    of the smaller shares without weights; both raters in the same order with linear and quadratic ones.
    No interval.

    >>> kappa_max(Ratings.of_table([[20, 5], [10, 15]]))
    0.800
    """
    x = rated_items(r, "cohen_kappa", weights)
    chance = float(decompose(x, "cohen_kappa", influence=False).chance)
    if chance <= MIN_CHANCE:
        raise Undefined(why_no_chance(r, x, chance))
    a, b = Margins.of(x, "cohen_kappa").share
    if any(0 < p[:-1].sum() < 1e-12 for p in (np.sort(a), np.sort(b))):
        raise Undefined("all categories but one are too rare for floating point")
    if isinstance(x.kernel, Identity):
        least = float(np.maximum(a - b, 0.0).sum())
    elif isinstance(x.kernel, Quadratic):  # both raters put items in one order
        order = np.argsort(x.kernel.values, kind="stable")
        ends = [p[order].cumsum() for p in (a, b)]
        cuts = np.sort(np.concatenate(ends))
        mass = np.diff(cuts, prepend=0.0)
        first, second = (
            order[np.minimum(np.searchsorted(e, cuts - mass / 2), len(order) - 1)] for e in ends
        )
        least = float((mass * x.kernel.between(first, second)).sum())
    else:
        raise Undefined("the largest kappa is known for identity, linear and quadratic weights")
    value = 1 - least / chance
    value = 0.0 if abs(value) < 1e-12 else value
    return Estimate(value, level=level, method=f"largest for these margins{weighted(r, weights)}")
