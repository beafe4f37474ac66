"""Coefficients of agreement beyond chance: values, standard errors, and how they vary by chance alone.

What chance means differs: ratings drawn from the shares of the categories over all raters, or over each
of them. One linearisation gives what each item adds to observed and chance disagreement. The formulas also
take replicates of the weights, one in each row, and fractions in place of floats.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns.rating_codes import RatingList
from scorewise.computing import cached
from scorewise.errors import BadInput
from scorewise.estimate import Undefined
from scorewise.inference.agreement_weights import (
    MIDRANKS,
    Disagreement,
    MidRanks,
    Weights,
    all_or_nothing,
    disagreement_of,
)
from scorewise.inference.rater_pairs import MIN_CHANCE, light_kappa
from scorewise.inference.scales import effective_size, single_row
from scorewise.statistics.formulas import midranks
from scorewise.tallies.rating_patterns import CategoryCounts, sums_at, take_patterns
from scorewise.tallies.ratings import UNNAMED, Ratings

NAN = math.nan
ALPHA = "krippendorff_alpha"
TWO_RATERS = ("cohen_kappa", "scott_pi")
BY_RATER = ("cohen_kappa", "conger_kappa")  # by the shares of each rater
SHARES = ("percent_agreement", "brennan_prediger")  # of which chance does not depend on the ratings
PAIRED = (*TWO_RATERS, ALPHA, "percent_agreement")  # without single ratings
COEFFICIENTS = (
    "percent_agreement", "fleiss_kappa", "scott_pi", "conger_kappa", "cohen_kappa", "gwet_ac",
    "brennan_prediger", ALPHA, "light_kappa",
)  # fmt: skip
UNTESTED = ("percent_agreement", "gwet_ac", "brennan_prediger")  # which mean another chance
METRICS = {"nominal": "identity", "ordinal": MIDRANKS, "interval": "quadratic", "ratio": "ratio"}
MIN_ITEMS = 10  # items that decide chance, below which intervals with weights do not hold
BANDS = {
    "none": Fraction(0),
    "slight": Fraction(1, 5),
    "fair": Fraction(2, 5),
    "moderate": Fraction(3, 5),
    "substantial": Fraction(4, 5),
    "almost perfect": Fraction(1),
}  # the words for coefficients, each with its upper end, which is included
_MAX_TABLE = 64  # categories of which every pair is looked at


def band(x: Fraction | float) -> str:
    """The word for a coefficient: upper ends belong to the band below.

    >>> band(0.4), band(Fraction(2, 5)), band(0.41), band(-0.1)
    ('fair', 'fair', 'moderate', 'none')
    """
    if not x <= 1:
        raise BadInput(f"a coefficient of agreement is {x}; it is 1 at most")
    # a float is compared with the float of the edge: 0.4 means two fifths
    return next(w for w, e in BANDS.items() if x <= (e if isinstance(x, Fraction) else float(e)))


@dataclass(frozen=True)
class RatedItems:
    """Patterns of ratings with weights that add up to 1, and the mean disagreement within each.

    `listed` has the ratings one by one, `counts` the categories of each pattern; `used` says which patterns
    of the ratings these are. Weights may be several replicates, one in each row; all sums then are one for
    each row. `apart` is 0 where there are fewer than two ratings. `items` is the number of equal items.
    """

    listed: RatingList
    counts: CategoryCounts
    weight: Any
    weight2: Any
    apart: Any
    kernel: Disagreement
    items: float
    used: Bools


def rated_items(r: Ratings, name: str, weights: Weights) -> RatedItems:
    """The ratings that a coefficient uses, in fractions where the weights are."""
    if name not in COEFFICIENTS:
        raise BadInput(f"no coefficient is named {name}; there are {', '.join(COEFFICIENTS)}")
    if why := _why_none(r, name):
        raise Undefined(why)
    if name == ALPHA and weights is None:
        weights = METRICS[r.scale]
    kernel = disagreement_of(r, weights)
    if isinstance(kernel, str):
        raise Undefined(kernel)
    listed, counts, w, w2 = r.listed, r.counted, r.weight, r.weight2
    used = (counts.rated >= 2) | (name not in PAIRED)
    if not used.all():
        rows = np.flatnonzero(used)
        listed, counts, w, w2 = take_patterns(listed, rows), counts.pick(rows), w[rows], w2[rows]
    total: Any = w.sum()
    items = effective_size(total, w2.sum())
    if w.dtype == object:
        counts, items = counts._replace(times=fractions(counts.times)), total * total / w2.sum()
    if single_row(items):
        raise Undefined("one item")
    if total > 0:
        w, w2 = w / total, w2 / total / total
    return RatedItems(listed, counts, w, w2, kernel.mean(counts), kernel, items, used)


def _why_none(r: Ratings, name: str) -> str:
    """Why ratings have no such coefficient, or nothing."""
    raters = r.listed.shape[1]
    if not len(r.weight):
        return "no items"
    if name in (*BY_RATER, *TWO_RATERS, "light_kappa") and r.raters is None:
        return UNNAMED
    if name in TWO_RATERS and raters != 2:
        return f"{raters} raters; this needs two"
    if not (r.counted.rated >= 2).any():
        return "one rater" if len(np.unique(r.listed.rater)) < 2 else "no item has two ratings"
    single = len(r.categories) < 2 and name != "percent_agreement"
    return f"all ratings are {r.categories[0]}" if single else ""


class Margins(NamedTuple):
    """The shares of the categories, of all raters together or of each (second last axis).

    An `item` adds so many `times` to a `cell` of them; `total` is the weight of all.
    """

    item: Ints
    cell: Any
    times: Any
    share: Any
    total: Any

    @classmethod
    def of(cls, x: RatedItems, name: str) -> Margins:
        """Those that chance rests on: each item counts the same, or in alpha each rating."""
        categories, groups, cell = x.kernel.categories, 1, x.counts.code
        item: Any = x.counts.at
        times: Any = x.counts.times
        if name in BY_RATER:
            item, rater, code, _ = x.listed
            rates = np.bincount(rater) > 0
            groups, cell = int(rates.sum()), (rates.cumsum() - 1)[rater] * categories + code
            times = np.ones(len(item), np.int64)
        elif name != ALPHA:
            times = times / x.counts.rated[item]
        if x.weight.ndim > 1:
            table = np.zeros((len(x.apart), groups * categories))
            table[item, cell] = times
            share = np.einsum("bp,pc->bc", x.weight, table)
        else:
            share = sums_at(cell, x.weight[item] * times, groups * categories)
        share = share.reshape(*share.shape[:-1], groups, categories)
        total = share.sum(-1)
        return cls(item, cell, times, share / total[..., None], total)

    def influence(self, slope: Any, patterns: int) -> Any:
        """The influence of each pattern on a function of the shares with these slopes."""
        group = self.cell // self.share.shape[-1]
        mean = (self.share * slope).sum(-1)
        each = (slope.ravel()[self.cell] - mean[group]) * self.times / self.total[group]
        return sums_at(self.item, each, patterns)


class Decomposition(NamedTuple):
    """Observed and chance disagreement, and the influence of each pattern on both, in units of chance.

    A pattern moves 1 - observed / chance by observed / chance * on_chance - on_observed.
    """

    observed: Any
    chance: Any
    on_observed: Any = None
    on_chance: Any = None


def decompose(x: RatedItems, name: str, *, influence: bool = True) -> Decomposition:
    """What the coefficient of that name is made of; without the influence of replicates and fractions.

    Observed disagreement is the mean over items with two ratings. Influences are Gwet's (2014, 2021), also
    that of an item with one rating, which says something of chance alone.
    """
    if name == ALPHA:
        return _decompose_alpha(x, influence)
    chance: Any = 1  # percent agreement: no correction for chance
    margins, slope, categories = None, None, x.kernel.categories
    if name in ("brennan_prediger", "gwet_ac"):
        # floats or fractions, as the weights are
        even = np.full(categories, x.items / x.items) / categories
        chance = (even * x.kernel.spread(even)).sum()  # two categories drawn evenly
    if name == "gwet_ac":  # random ratings, as often as the shares are even
        margins, often = Margins.of(x, name), categories * (1 - chance) / (categories - 1)
        chance = 1 - often * (margins.share * (1 - margins.share)).sum((-2, -1))
        slope = often * (2 * margins.share - 1)
    elif name not in SHARES:
        margins, pairs = Margins.of(x, name), 1
        by_category = x.kernel.spread(margins.share)
        if name in BY_RATER:  # one rating of each of two raters, over all pairs of them
            by_category = x.kernel.spread(margins.share.sum(-2, keepdims=True)) - by_category
            pairs = margins.share.shape[-2] * (margins.share.shape[-2] - 1)
        chance = (margins.share * by_category).sum((-2, -1)) / pairs
        slope = 2 * by_category / pairs
    two = x.counts.rated >= 2
    part = two / x.weight[..., two].sum(-1, keepdims=True)  # of each pattern in the mean
    observed = (x.weight * part * x.apart).sum(-1)
    if not influence or chance <= MIN_CHANCE:
        return Decomposition(observed, chance)
    patterns = len(x.apart)
    by_margins = 0.0 if margins is None else margins.influence(slope, patterns) / chance
    on_observed = part * x.apart / chance - (part - 1)
    return Decomposition(observed, chance, on_observed, np.full(patterns, 1 + by_margins))


def _decompose_alpha(x: RatedItems, influence: bool) -> Decomposition:
    """Krippendorff's: the parts over ratings of items with two, corrected for a small sample.

    Of ordinal ratings, the squared distance of mid-ranks, which items move too.
    """
    m = Margins.of(x, ALPHA)
    kernel, within, p = x.kernel, x.apart, m.share[..., 0, :]
    if isinstance(x.kernel, MidRanks):
        kernel = ranks = x.kernel.of_shares(p)
        within = kernel.mean(x.counts)
    by_category = kernel.spread(p)
    chance = (p * by_category).sum(-1)
    part = x.counts.rated / m.total
    left = 1 - 1 / (m.total[..., 0] * x.items)
    observed = left * (x.weight * part * within).sum(-1)
    if not influence or chance <= MIN_CHANCE:
        return Decomposition(observed, chance)
    patterns = len(x.apart)
    on_observed = part * within / chance
    on_chance = part - 1 + (1 + m.influence(2 * by_category[None], patterns) / chance) / left
    if isinstance(x.kernel, MidRanks):
        rank, down = ranks.values, np.argsort(x.kernel.values, kind="stable")[::-1]
        at, code, times = x.counts.at, x.counts.code, x.counts.times
        mean = x.counts.total(times * rank[code]) / x.counts.rated
        pull = (4 * x.weight * part / (x.counts.rated - 1))[at] * (rank[code] - mean[at]) * times

        def by_ranks(slope: Any) -> Any:
            above = np.empty_like(p)  # the sum over higher categories and half its own
            above[down] = midranks(slope[down])
            return m.influence(above[None], patterns) / chance

        # the ranks move observed and chance disagreement, and the shares move the ranks
        on_observed = on_observed + by_ranks(sums_at(code, pull, len(p)))
        on_chance = on_chance + by_ranks(4 * p * (rank - (p * rank).sum()))
    return Decomposition(observed, chance, on_observed, on_chance)


def fractions(numbers: Any) -> Any:
    """The fractions that numbers are, in an array of the same shape."""
    values = np.asarray(numbers)
    exact = np.empty(values.shape, object)
    exact.ravel()[:] = [Fraction(x) for x in values.ravel().tolist()]
    return exact


class Coefficient(NamedTuple):
    """An agreement coefficient: (observed - expected) / (1 - expected).

    `df` is what its standard error is known with (infinite where the error is that of a large sample),
    `items` the number of equal items that it rests on, `null` the standard error if raters were
    independent and `p` that of the test of it, two-sided (NaN for coefficients whose chance is another, AC1
    and Brennan-Prediger). `influence` is that of each pattern of the ratings: the variance is the sum of
    weight2 * influence**2, times n / (n - 1) where df is n - 1. `caution` says why the score interval is
    unreliable. Without a value, `why` is the reason.

    From the mean squares over items, divided by their number, follow the variances at other values:
    `chance2`, `observed2` and `product` are those of the influence on chance and on observed disagreement
    (see `Decomposition`) and of their product, `independent` and `agreed` the squares of that on chance
    where raters are independent, and where all agree. `skew` is the ratio of the third to the second moment
    of the influence on observed disagreement, divided by the number of items. `binary`: items are agreed on
    wholly or not at all.
    """

    value: float
    se: float = NAN
    df: float = NAN
    observed: float = NAN
    expected: float = NAN
    items: float = 0.0
    null: float = NAN
    p: float = NAN
    influence: Floats = np.empty(0)
    chance2: float = NAN
    product: float = NAN
    observed2: float = NAN
    independent: float = NAN
    agreed: float = NAN
    skew: float = NAN
    binary: bool = False
    caution: str = ""
    why: str = ""

    def variance(self, ratio: float) -> float:
        """The variance of observed / chance disagreement, at that value of it."""
        return ratio * ratio * self.chance2 - 2 * ratio * self.product + self.observed2


def coefficient(r: Ratings, name: str, weights: Weights = None) -> Coefficient:
    """The coefficient of that name (see COEFFICIENTS) with those weights of partial agreement.

    >>> c = coefficient(Ratings.of_table([[20, 5], [10, 15]]), "cohen_kappa")
    >>> round(c.value, 4), round(c.se, 4), round(c.null, 4), round(c.expected, 4)
    (0.4, 0.127, 0.1386, 0.5)
    """
    try:
        return linearised(r, name, weights)
    except Undefined as reason:
        return Coefficient(NAN, why=str(reason))


def linearised(r: Ratings, name: str, weights: Weights = None) -> Coefficient:
    """The same of a coefficient that is defined; else the reason is raised."""
    x = rated_items(r, name, weights)
    items = x.items
    if name == "light_kappa":
        compute = partial(light_kappa, x, r.raters or ())
        # a table of weights has no name to keep it under
        mean = cached(r, (name, weights), compute) if isinstance(weights, str | None) else compute()
        ratio, observed, chance, items, of_items = mean
        # the influence on chance is that of all pairs at once
        on_chance = decompose(x, "conger_kappa").on_chance
        on_observed = ratio * on_chance - of_items
    else:
        observed, chance, on_observed, on_chance = decompose(x, name)
        if chance <= MIN_CHANCE:
            raise Undefined(why_no_chance(r, x, chance))
        ratio = float(observed / chance)
        of_items = ratio * on_chance - on_observed
    factor = 1.0 if name in TWO_RATERS else x.items / (x.items - 1)
    influence = np.zeros(len(r.weight))
    influence[x.used] = of_items / float(r.weight[x.used].sum())
    tested, share = name not in UNTESTED, 1 / x.items
    null, independent, agreed = _independence(x, name, float(chance)) if tested else (NAN,) * 3
    observed2, observed3, chance2, product = (
        float((x.weight2 * y).sum())
        for y in (on_observed**2, on_observed**3, on_chance**2, on_chance * on_observed)
    )
    within = x.apart[x.counts.rated >= 2]
    skewed = name not in SHARES and observed2 > 0
    skew = max(observed3 / observed2 * share, 0.0) if skewed else 0.0
    binary = bool(((within == 0) | (within == 1)).all())
    value = 0.0 if abs(1 - ratio) < 1e-12 else 1 - ratio  # but for rounding
    caution = ""
    # rare categories that are far away, where disagreement is of degrees
    if tested and 1 / chance2 < MIN_ITEMS and not all_or_nothing(x.kernel):
        caution = f"chance rests on about {max(round(1 / chance2), 1)} of {round(x.items)} items"
    return Coefficient(
        value=value,
        se=math.sqrt(factor * float((x.weight2 * of_items * of_items).sum())),
        df=math.inf if name == "cohen_kappa" else items - 1,
        observed=float(1 - observed),
        expected=float(1 - chance),
        items=items,
        null=null,
        p=math.erfc(abs(value / null) / math.sqrt(2)) if null > 1e-12 else NAN,
        influence=influence,
        chance2=chance2,
        product=product,
        observed2=observed2,
        independent=independent * share,
        agreed=agreed * share,
        skew=skew,
        binary=binary,
        caution=caution,
    )


def why_no_chance(r: Ratings, x: RatedItems, chance: Any) -> str:
    """Why chance leaves no room for disagreement."""
    used = np.unique(x.counts.code[np.asarray(x.weight[x.counts.at] > 0)])
    if len(used) == 1:
        return f"all ratings are {r.categories[int(used[0])]}"
    if chance > 0 or all_or_nothing(x.kernel):
        return "all categories but one are too rare for floating point"
    return "by chance alone all ratings would agree"


def _independence(x: RatedItems, name: str, chance: float) -> tuple[float, float, float]:
    """The standard error if raters were independent, and how much an item moves chance then.

    Of Cohen's kappa, each rater with their own shares (Fleiss, Cohen and Everitt 1969); of the others, with
    the shares of all raters together (Fleiss, Nee and Landis 1979). An item with m ratings says
    2 / (m (m - 1)) times as much of chance as one pair. How much it moves chance is the mean square of its
    influence (see `Decomposition`): where raters are independent, and where all say the same of it.
    """
    two = x.counts.rated >= 2
    m = x.counts.rated[two].astype(np.float64)
    times = m if name == ALPHA else np.ones(len(m))  # alpha weighs items by their ratings
    each = x.weight[two] * times
    total = float(each.sum())
    if name == "cohen_kappa":
        a, b = Margins.of(x, name).share
    else:
        mass = np.where(two, x.weight, 0.0)[x.counts.at] * x.counts.times
        a = b = sums_at(x.counts.code, mass / mass.sum(), x.kernel.categories)
    kernel = x.kernel.of_shares(a) if isinstance(x.kernel, MidRanks) else x.kernel
    of_a, of_b = kernel.spread(b), kernel.spread(a)
    # the variance of the disagreement of two ratings, beyond what either of them says alone
    mean, least = float((a * of_a).sum()), 1e-14
    if len(a) <= _MAX_TABLE:
        # a sum of squares, which cancels nothing where a rater hardly ever differs
        every = np.arange(len(a), dtype=np.int32)
        left = kernel.between(every[:, None], every) - of_a[:, None] - of_b + mean
        variance, least = float(a @ (left * left) @ b), least**2
    else:
        alone_too = float((a * of_a * of_a).sum() + (b * of_b * of_b).sum())
        variance = kernel.squares(a, b) + mean**2 - alone_too
    pairs = float((x.weight2[two] * times**2 * 2 / (m * (m - 1))).sum()) / total**2
    variance = variance * pairs if variance > least else 0.0
    share, means = np.stack((a, b, (a + b) / 2)), np.stack((of_a, of_b, of_a + of_b))
    variances = (share * means**2).sum(1) - (share * means).sum(1) ** 2
    *each_alone, both = np.maximum(variances, 0.0).tolist()
    alone = sum(each_alone)
    if name in ("fleiss_kappa", "conger_kappa"):  # single ratings count in the shares alone
        item, expected = x.listed.item, 1 / x.counts.rated[x.listed.item]
        if name == "conger_kappa":
            margins = Margins.of(x, name)
            group = margins.cell // kernel.categories
            expected = 1 / (margins.total[group] * len(margins.total))
        counted = np.where(two, 1 / (x.counts.rated * total), 0.0)[item] - expected
        variance += 2 * alone * float((x.weight2[item] * counted**2).sum())
    by_chance = 2 * alone * float((each / m).sum()) / total
    return math.sqrt(variance) / chance, 1 + by_chance / chance**2, 1 + both / chance**2
