"""Coefficients of agreement beyond chance: values, standard errors, and how they vary by chance alone."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.inference.agreement_weights import (
    Identity,
    MidRanks,
    Quadratic,
    Weights,
    all_or_nothing,
    disagreement,
    of_table,
    unit,
)
from scorewise.inference.disagreement import (
    ALPHA,
    BY_RATER,
    LEAST,
    SHARES,
    Margins,
    Rated,
    apart,
    each_pair,
    fractions,
    mean_cohen,
    parts,
)
from scorewise.inference.scales import one_row
from scorewise.tallies.rating_patterns import summed
from scorewise.tallies.ratings import Ratings
from scorewise.tallies.sorting import kept

NAN = math.nan
TWO_RATERS = ("cohen_kappa", "scott_pi")
PAIRED = (*TWO_RATERS, ALPHA, "percent_agreement")  # without single ratings
COEFFICIENTS = (
    "percent_agreement", "fleiss_kappa", "scott_pi", "conger_kappa", "cohen_kappa", "gwet_ac",
    "brennan_prediger", ALPHA, "light_kappa",
)  # fmt: skip
UNTESTED = ("percent_agreement", "gwet_ac", "brennan_prediger")  # which mean another chance
MIDRANKS = "midranks"  # weights of Krippendorff's alpha alone
METRICS = {"nominal": "identity", "ordinal": MIDRANKS, "interval": "quadratic", "ratio": "ratio"}
FEW = 10  # items that decide chance, below which intervals with weights do not hold
BANDS = {
    "none": Fraction(0),
    "slight": Fraction(1, 5),
    "fair": Fraction(2, 5),
    "moderate": Fraction(3, 5),
    "substantial": Fraction(4, 5),
    "almost perfect": Fraction(1),
}  # the words for coefficients, each with its upper end, which is included
MOST_EXACT = 1 << 18  # ratings of patterns, of which there are fractions
MOST_CATEGORIES = 1 << 9
_TABLE = 64  # categories of which every pair is looked at
_IRRATIONAL = ("radical", "circular", "bipolar")


class Moments(NamedTuple):
    """Mean squares over items, divided by their number, from which variances at other values follow.

    An item moves the value k by (1 - k) * lean - own (see `Parts`). `guessed` and `agreed` are the squares
    of lean where raters are independent, and where all agree. `skew` is the ratio of the third to the
    second moment of own, divided by the number of items. `whole` says that own is all or nothing.
    """

    lean2: float
    both: float
    own2: float
    guessed: float
    agreed: float
    skew: float
    whole: bool


class Coefficient(NamedTuple):
    """An agreement coefficient: (observed - expected) / (1 - expected).

    `df` is what its standard error is known with (infinite where the error is that of a large sample),
    `items` the number of equal items that it rests on, `null` the standard error if raters were
    independent (NaN for coefficients whose chance is another, AC1 and Brennan-Prediger). `slope` says
    how each pattern of the ratings moves the value: the variance is the sum of weight2 * slope**2, times
    n / (n - 1) where df is n - 1. `moments` are what the score interval is made from, and `caution` says
    why that is unreliable. Without a value, `why` is the reason.
    """

    value: float
    se: float = NAN
    df: float = NAN
    observed: float = NAN
    expected: float = NAN
    items: float = 0.0
    null: float = NAN
    slope: Floats = np.empty(0)
    moments: Moments | None = None
    caution: str = ""
    why: str = ""


def coefficient(r: Ratings, name: str, weights: Weights = None) -> Coefficient:
    """The coefficient of that name (see COEFFICIENTS) with those weights of partial agreement.

    >>> c = coefficient(Ratings.of_table([[20, 5], [10, 15]]), "cohen_kappa")
    >>> round(c.value, 4), round(c.se, 4), round(c.null, 4), round(c.expected, 4)
    (0.4, 0.127, 0.1386, 0.5)
    """
    x = rated(r, name, weights)
    if isinstance(x, str):
        return Coefficient(NAN, why=x)
    items = x.worth
    if name == "light_kappa":
        made = partial(mean_cohen, x, r.raters or ())
        # a table of weights has no name to keep it under
        mean = kept(r, (name, weights), made) if isinstance(weights, str | None) else made()
        if isinstance(mean, str):
            return Coefficient(NAN, why=mean)
        ratio, observed, chance, items, moved = mean
        # what items do to chance, of all pairs at once
        lean = parts(x, "conger_kappa").lean
        own = ratio * lean - moved
    else:
        observed, chance, own, lean = parts(x, name)
        if chance <= LEAST:
            return Coefficient(NAN, why=_no_room(r, x, chance))
        ratio = float(observed / chance)
        moved = ratio * lean - own
    factor = 1.0 if name in TWO_RATERS else x.worth / (x.worth - 1)
    slope = np.zeros(len(r))
    slope[x.used] = moved / float(r.weight[x.used].sum())
    null, guessed, agreed = (NAN, NAN, NAN) if name in UNTESTED else _null(x, name, float(chance))
    square, cube, lean2, both = (
        float((x.weight2 * y).sum()) for y in (own**2, own**3, lean**2, lean * own)
    )
    share, within = 1 / x.worth, x.apart[x.said.rated >= 2]
    skew = max(cube / square * share, 0.0) if name not in SHARES and square > 0 else 0.0
    whole = bool(((within == 0) | (within == 1)).all())
    few = name not in UNTESTED and 1 / lean2 < FEW and not all_or_nothing(x.kernel)
    return Coefficient(
        value=0.0 if abs(1 - ratio) < 1e-12 else 1 - ratio,  # but for rounding
        se=math.sqrt(factor * float((x.weight2 * moved * moved).sum())),
        df=math.inf if name == "cohen_kappa" else items - 1,
        observed=float(1 - observed),
        expected=float(1 - chance),
        items=items,
        null=null,
        slope=slope,
        moments=Moments(lean2, both, square, guessed * share, agreed * share, skew, whole),
        caution=f"chance rests on about {max(round(1 / lean2), 1)} of {round(x.worth)} items"
        if few  # rare categories that are far away, where disagreement is of degrees
        else "",
    )


def rated(r: Ratings, name: str, weights: Weights) -> Rated | str:
    """The ratings that a coefficient uses, or why there is no such coefficient."""
    if name not in COEFFICIENTS:
        raise BadInput(f"no coefficient is named {name}; there are {', '.join(COEFFICIENTS)}")
    if not len(r):
        return "no items"
    raters = r.given.shape[1]
    if name in (*BY_RATER, *TWO_RATERS, "light_kappa") and r.raters is None:
        return "it is not known which rater gave which rating"
    if name in TWO_RATERS and raters != 2:
        return f"{raters} raters; this needs two"
    two = r.rated >= 2
    if not two.any():
        return "one rater" if len(np.unique(r.listed.rater)) < 2 else "no item has two ratings"
    if len(r.categories) < 2 and name != "percent_agreement":
        return f"all ratings are {r.categories[0]}"
    if name == ALPHA and weights is None:
        weights = METRICS[r.scale]
    ranks = isinstance(weights, str) and weights == MIDRANKS
    kernel = MidRanks(unit(r.values)) if ranks else disagreement(r, weights)
    if isinstance(kernel, str):
        return kernel
    x = Rated.of(r, kernel, two if name in PAIRED else np.ones(len(r), np.bool_))
    return "one item" if one_row(x.worth) else x


def _no_room(r: Ratings, x: Rated, chance: Any) -> str:
    """Why chance leaves no room for disagreement."""
    said = np.unique(x.said.code[np.asarray(x.weight[x.said.at] > 0)])
    if len(said) == 1:
        return f"all ratings are {r.categories[int(said[0])]}"
    if chance > 0 or all_or_nothing(x.kernel):
        return "all categories but one are too rare for floating point"
    return "by chance alone all ratings would agree"


def _null(x: Rated, name: str, chance: float) -> tuple[float, float, float]:
    """The standard error if raters were independent, and how much an item moves chance then.

    Of Cohen's kappa, each rater with their own shares (Fleiss, Cohen and Everitt 1969); of the others, with
    the shares of all raters together (Fleiss, Nee and Landis 1979). An item with m ratings says
    2 / (m (m - 1)) times as much of chance as one pair. How much it moves chance is the mean square of an
    item's lean (see `Parts`): where raters are independent, and where all of them say the same of it.
    """
    two = x.said.rated >= 2
    m = x.said.rated[two].astype(np.float64)
    times = m if name == ALPHA else np.ones(len(m))  # alpha weighs items by their ratings
    each = x.weight[two] * times
    total = float(each.sum())
    if name == "cohen_kappa":
        a, b = Margins.of(x, name).share
    else:
        said = np.where(two, x.weight, 0.0)[x.said.at] * x.said.times
        a = b = summed(x.said.code, said / said.sum(), x.kernel.categories)
    kernel = x.kernel.of_shares(a) if isinstance(x.kernel, MidRanks) else x.kernel
    of_a, of_b = kernel.spread(b), kernel.spread(a)
    # the variance of the disagreement of two ratings, beyond what either of them says alone
    mean, least = float((a * of_a).sum()), 1e-14
    if (
        len(a) <= _TABLE
    ):  # a sum of squares, which cancels nothing where a rater hardly ever differs
        every = np.arange(len(a), dtype=np.int32)
        left = kernel.between(every[:, None], every) - of_a[:, None] - of_b + mean
        variance, least = float(a @ (left * left) @ b), least**2
    else:
        alone_too = float((a * of_a * of_a).sum() + (b * of_b * of_b).sum())
        variance = kernel.squares(a, b) + mean**2 - alone_too
    pairs = float((x.weight2[two] * times**2 * 2 / (m * (m - 1))).sum()) / total**2
    variance = variance * pairs if variance > least else 0.0
    share, apart_of = np.stack((a, b, (a + b) / 2)), np.stack((of_a, of_b, of_a + of_b))
    spread = (share * apart_of**2).sum(1) - (share * apart_of).sum(1) ** 2
    *each_alone, both = np.maximum(spread, 0.0).tolist()
    alone = sum(each_alone)
    if name in ("fleiss_kappa", "conger_kappa"):  # single ratings count in the shares alone
        item, expected = x.listed.item, 1 / x.said.rated[x.listed.item]
        if name == "conger_kappa":
            margins = Margins.of(x, name)
            group = margins.cell // kernel.categories
            expected = 1 / (margins.total[group] * len(margins.total))
        counted = np.where(two, 1 / (x.said.rated * total), 0.0)[item] - expected
        variance += 2 * alone * float((x.weight2[item] * counted**2).sum())
    guessed = 2 * alone * float((each / m).sum()) / total
    return math.sqrt(variance) / chance, 1 + guessed / chance**2, 1 + both / chance**2


def most_kappa(r: Ratings, weights: Weights = None) -> float | str:
    """The largest Cohen's kappa of a table with these margins, or why it is not known.

    >>> round(most_kappa(Ratings.of_table([[25, 10], [15, 20]])), 4)
    0.8571
    """
    x = rated(r, "cohen_kappa", weights)
    if isinstance(x, str):
        return x
    chance = float(parts(x, "cohen_kappa", slopes=False).chance)
    if chance <= LEAST:
        return _no_room(r, x, chance)
    a, b = Margins.of(x, "cohen_kappa").share
    if any(0 < p[:-1].sum() < 1e-12 for p in (np.sort(a), np.sort(b))):
        return "all categories but one are too rare for floating point"
    if isinstance(x.kernel, Identity):
        return 1 - float(np.maximum(a - b, 0.0).sum()) / chance
    if not isinstance(x.kernel, Quadratic):
        return "the largest kappa is known for identity, linear and quadratic weights"
    # both raters put items in one order
    order = np.argsort(x.kernel.values, kind="stable")
    ends = [p[order].cumsum() for p in (a, b)]
    cuts = np.sort(np.concatenate(ends))
    mass = np.diff(cuts, prepend=0.0)
    first, second = (
        order[np.minimum(np.searchsorted(e, cuts - mass / 2), len(order) - 1)] for e in ends
    )
    return 1 - float((mass * x.kernel.between(first, second)).sum()) / chance


def exact(r: Ratings, name: str, weights: Weights = None) -> Fraction | None:
    """The coefficient as a fraction; None where it does not exist, is not rational or takes too long.

    Weights and numbers of categories that are floats are the fractions that these are.

    >>> exact(Ratings.of_table([[20, 5], [10, 15]]), "cohen_kappa")
    Fraction(2, 5)
    """
    large = math.prod(r.given.shape) > MOST_EXACT or len(r.categories) > MOST_CATEGORIES
    if large or coefficient(r, name, weights).why:
        return None
    if isinstance(weights, str) and weights in _IRRATIONAL:
        return None
    values, w, w2 = (fractions(x) for x in (r.values, r.weight, r.weight2))
    whole = replace(r, values=values, weight=w, weight2=w2)
    each, of = [whole], name
    if name == "light_kappa":
        each, of = [two for *_, two in each_pair(whole)], "cohen_kappa"
    ratios = []
    for one in each:
        x = rated(one, of, weights)
        assert isinstance(x, Rated)  # or there would be no coefficient
        if not isinstance(weights, str | None):
            kernel = of_table(1 - fractions(weights))
            x = replace(x, kernel=kernel, apart=apart(x.said, kernel))
        found = parts(x, of, slopes=False)
        ratios.append(found.observed / found.chance)
    return 1 - sum(ratios, Fraction(0)) / len(ratios)
