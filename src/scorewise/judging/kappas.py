"""Cohen's kappa of two columns, sums of kappas on the same items, and how many items these take."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import check, is_integer, is_number, one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.agreement import Coefficient, coefficient
from scorewise.inference.agreement_intervals import Interval, by_score
from scorewise.inference.means import cluster_sums
from scorewise.inference.resampling import resampled_weights
from scorewise.inference.scales import (
    bootstrap_p,
    bootstrap_tail,
    effective_size,
    normal_quantile,
    smallest,
    t_quantile,
)
from scorewise.inference.shares import tango_limits, wilson_of
from scorewise.inference.tables import SMOOTHING, occurring_or_predicted
from scorewise.judging.panel import Codes, Panel
from scorewise.measures.agreement import cohen_kappa
from scorewise.statistics.formulas import kappa_slope, table_kappa
from scorewise.tallies import Confusion, Ratings

Of: TypeAlias = Literal["kappa", "share", "accuracy", "difference"]
MAX_ITEMS = 10**12  # that an interval may take
MOVER = "score intervals combined (MOVER)"
BOOTSTRAP = "bootstrap of items"
AT_MOST = "; p is at most that"  # no resample was beyond 0
ALIKE = "none: no item tells them apart"
_BLOCK = 1 << 21  # resampled weights that are held
_MAX_DRAWN = 1 << 25  # resampled weights that are drawn and summed, over all kappas
_DRAWING = 4  # what drawing a weight costs, in sums
_MAX_RESAMPLED = 32  # categories beyond which tables are not resampled
_MAX_ERRORS = 38.0  # standard errors beyond which a p-value is 0


@dataclass(frozen=True, eq=False)
class Two:
    """Two columns of a panel, on the items that have both."""

    panel: Panel
    first: Codes
    second: Codes

    @cached_property
    def both(self) -> Bools:
        """Which items have both."""
        return np.asarray((self.first >= 0) & (self.second >= 0))

    @property
    def cells(self) -> tuple[Ints, Ints]:
        """What the two say of the items that have both."""
        return self.first[self.both].astype(np.int64), self.second[self.both].astype(np.int64)

    @cached_property
    def table(self) -> Confusion:
        """The weight of the items of which they say each two things."""
        p = self.panel
        weights = p.weight[self.both], p.weight2[self.both]
        return Confusion.of(*self.cells, *weights, p.categories)

    @cached_property
    def why(self) -> str:
        """Why chance cannot be told from agreement; nothing where it can."""
        c = self.table
        if not c.weight.any():
            return "no item is rated by both"
        used = occurring_or_predicted(c)
        if used.sum() < 2:
            return "both always say the same one thing"
        rows, columns = (c.weight.sum(k).astype(float)[used] for k in (1, 0))
        apart = 1 - self.panel.agreement[np.ix_(used, used)]
        if not (rows[:, None] * apart * columns).any():
            return "every two ratings that occur count as agreement"
        return ""

    @cached_property
    def coefficient(self) -> Coefficient:
        """Kappa with what its interval is made of."""
        return coefficient(Ratings.of_confusion(self.table), "cohen_kappa", self.panel.agreement)

    @property
    def slope(self) -> Floats:
        """What a unit of weight in each cell of the table does to kappa."""
        slope = np.zeros(self.table.weight.shape)
        if not self.coefficient.why:
            slope[np.nonzero(self.table.weight)] = self.coefficient.influence
        return slope

    def kappa(self, interval: Interval = "formula") -> Estimate:
        """Agreement beyond chance, as of two raters."""
        level, weights = self.panel.settings.level, self.panel.agreement
        if self.why:
            return Estimate.undefined(self.why, level)
        r = Ratings.of_confusion(self.table)
        return cohen_kappa(r, weights=weights, interval=interval, level=level)

    def influence(self, measure: str) -> Floats:
        """What each item does to accuracy or kappa, times its weight; 0 for items that lack a column."""
        moved, (first, second) = np.zeros(len(self.both)), self.cells
        weight = np.asarray(self.panel.weight[self.both], np.float64)
        if measure == "accuracy" and len(weight):
            right, total = first == second, weight.sum()
            # so that nothing moves where all are right
            moved[self.both] = weight * (right - float((weight * right).sum() / total)) / total
        elif measure == "kappa" and not self.why:
            moved[self.both] = weight * self.slope[first, second]
        return moved


@dataclass(frozen=True)
class KappaSum:
    """A sum of kappas, each counted so many times, of items that may come in so many clusters.

    `influence` has a row for each kappa: how far each item, or cluster, moves it, in its standard errors.
    """

    times: Sequence[float]
    kappas: Sequence[Coefficient]
    influence: Floats
    clusters: int | None
    level: float

    @property
    def value(self) -> float:
        """The sum."""
        return sum(t * k.value for t, k in zip(self.times, self.kappas, strict=True))

    def error(self, errors: Sequence[float]) -> float:
        """Standard errors of the kappas, added with their correlations over items, or over clusters."""
        return float(np.linalg.norm(np.multiply(self.times, errors) @ self.influence))

    def distance(self, reach: float, sign: float) -> float:
        """From the value to that end of its interval.

        As far as standard errors go, kappas vary together, over items. Where a score interval ends further
        out, what is beyond is added up for all kappas: how they vary together there is not known.
        """
        within, beyond = [], {True: 0.0, False: 0.0}
        for times, kappa in zip(self.times, self.kappas, strict=True):
            up, k = times * sign > 0, kappa.value
            low, high = by_score(kappa, reach)
            far = abs(min(high, 1.0) - k if up else max(low, min(-1.0, k)) - k)
            near = min(far, reach * kappa.se)
            within.append(near)
            beyond[up] += abs(times) * math.sqrt((far - near) * (far + near))
        return math.hypot(self.error(within), *beyond.values())

    def by_score(self, tested: bool) -> Estimate:
        """The sum, its score intervals combined (MOVER), and the p-value of the interval that ends at 0."""
        value, level, grown, method = self.value, self.level, 1.0, MOVER
        if self.clusters == 1:
            return Estimate(value, level=level, method="none: a single cluster")
        if self.clusters is not None:
            # by Student's quantile with one degree of freedom less than there are clusters
            grown = t_quantile(level, self.clusters - 1) / normal_quantile(level)
            method += "; by cluster"
        down, up = (grown * self.distance(normal_quantile(level), sign) for sign in (-1.0, 1.0))
        most = float(np.abs(self.times).sum())
        p = None
        if tested:
            side = -math.copysign(1.0, value)
            p = _chance(lambda reach: grown * self.distance(reach, side), abs(value))
        caution = next((k.caution for k in self.kappas if k.caution), "")
        limits = max(-most, value - down), min(most, value + up)
        return Estimate(value, *limits, level, method, p=p, caution=caution)


def combined(terms: Sequence[tuple[float, Two]], *, tested: bool = True) -> Estimate:
    """The sum of kappas of the same items, with its interval and the p-value of its being 0.

    The distances of each kappa to the ends of its score interval are added like standard errors, with the
    correlations of the kappas over items (Donner and Zou 2012). With interval="bootstrap" items are
    resampled together for all kappas (Bayesian bootstrap of patterns; percentiles), unless that is too
    much work.
    """
    times, pairs = zip(*terms, strict=True)
    panel: Panel = pairs[0].panel
    s = panel.settings
    if why := next(filter(None, (two.why or two.coefficient.why for two in pairs)), ""):
        return Estimate.undefined(why, s.level)
    used = np.logical_or.reduce([two.both for two in pairs])
    weight, squares = panel.weight[used], panel.weight2[used]
    influence = np.zeros((len(pairs), len(weight)))
    for moved, two in zip(influence, pairs, strict=True):
        if two.coefficient.se > 1e-12:
            moved[two.both[used]] = (two.slope / np.abs(two.slope).max())[two.cells]
    influence *= np.sqrt(squares / squares.max())
    size = np.sqrt((influence * influence).sum(1, keepdims=True))
    influence /= np.where(size > 0, size, 1.0)
    kappas = [two.coefficient for two in pairs]
    whole = KappaSum(times, kappas, influence, None, s.level)
    # differences of kappas that no item tells apart
    alike = abs(sum(times)) + abs(whole.value) < 1e-12
    if alike and whole.error([k.se for k in kappas]) < 1e-12:
        return Estimate(0.0, level=s.level, method=ALIKE)
    if panel.cluster is not None:
        sums = np.stack([cluster_sums(x, panel.cluster[used]) for x in influence])
        many = sums.shape[1]
        sums *= math.sqrt(many / max(many - 1, 1))
        return replace(whole, influence=sums, clusters=many).by_score(tested)
    work = s.replicates * len(weight) * (len(terms) + _DRAWING)
    too_much = work > _MAX_DRAWN or len(panel.categories) > _MAX_RESAMPLED
    if s.interval == "formula" or too_much:
        return whole.by_score(tested)
    # a bootstrap is unreliable where the published interval of a kappa is: too few items decide
    e = _by_bootstrap(whole.value, terms, used, tested)
    cautions = (two.kappa("published").caution for two in pairs)
    return replace(e, caution=next(filter(None, cautions), ""))


def _chance(distance: Callable[[float], float], value: float) -> float:
    """The p-value of the interval that ends at 0."""
    from scipy.optimize import brentq

    if distance(0.0) >= value:  # 0, up to rounding
        return 1.0
    if distance(_MAX_ERRORS) < value:
        return 0.0
    reach = brentq(lambda reach: distance(reach) - value, 0.0, _MAX_ERRORS, xtol=1e-10)
    return math.erfc(reach / math.sqrt(2))


def _by_bootstrap(
    value: float, terms: Sequence[tuple[float, Two]], used: Bools, tested: bool
) -> Estimate:
    """Quantiles over resampled patterns, a little further out for few items.

    The p-value is that of the interval that ends at 0.
    """
    panel = terms[0][1].panel
    s, weight, squares = panel.settings, panel.weight[used], panel.weight2[used]
    apart, rng = 1 - panel.agreement, np.random.default_rng(s.seed)
    step = max(1, _BLOCK // max(1, len(weight)))
    sums = []
    for start in range(0, s.replicates, step):
        drawn = resampled_weights(weight, squares, min(step, s.replicates - start), rng)
        total = np.zeros(len(drawn))
        for times, two in terms:
            place = np.ravel_multi_index(two.cells, apart.shape)
            order = np.argsort(place, kind="stable")
            cells, starts = np.unique(place[order], return_index=True)
            tables = np.zeros((len(drawn), apart.size))
            own = np.flatnonzero(two.both[used])[order]
            tables[:, cells] = np.add.reduceat(drawn[:, own], starts, axis=1)
            total += times * table_kappa(tables.reshape(-1, *apart.shape), apart)
        sums.append(total)
    replicates = np.concatenate(sums)
    if np.ptp(replicates) < 1e-12:
        return Estimate(value, level=s.level, method=ALIKE)
    items = effective_size(float(weight.sum()), float(squares.sum()))
    tail = bootstrap_tail(s.level, items)
    low, high = (float(x) for x in np.quantile(replicates, [tail, 1 - tail]))
    p, method = None, BOOTSTRAP
    if tested:
        beyond = min(int((replicates <= 0).sum()), int((replicates >= 0).sum()))
        p = bootstrap_p((1 + beyond) / (1 + len(replicates)), items)
        method += "" if beyond else AT_MOST
    return Estimate(value, min(low, value), max(high, value), s.level, method, p=p)


# How many items make an interval as narrow as wanted.


def items_needed(
    width: float,
    of: Of = "kappa",
    *,
    kappa: float = 0.6,
    prevalence: float | Sequence[float] = 0.5,
    raters: int = 2,
    share: float = 0.5,
    difference: float = 0.0,
    discordant: float | None = None,
    level: float = 0.95,
) -> int:
    """How many items an interval of that width takes, for what is expected to be seen.

    of="kappa": raters who all use the categories as often as `prevalence` says (of the second of two, or
    of each) and whose kappa is as given; by the standard error of Fleiss, Cohen and Everitt (1969). With
    more than two raters it is the mean kappa of their pairs, where they either all know an item or all
    guess. of="share" or "accuracy": the Wilson interval of a share. of="difference": the interval of
    Tango for the accuracy of two judges on the same items, of which on a share `discordant` one is right
    and the other wrong.

    >>> items_needed(0.2, kappa=0.6, prevalence=0.5)
    246
    >>> items_needed(0.1, "share", share=0.8), items_needed(0.1, "difference", discordant=0.3)
    (245, 466)
    """
    check(width=width)
    one_of("of", of, get_args(Of))
    if of == "kappa":
        return needed_for_error(width, _kappa_error(kappa, prevalence, raters), level)
    if of in ("share", "accuracy"):
        _between("share", share, 0, 1)
        return _least(width, lambda n: wilson_of(share, n, level)[1:])
    if discordant is None:
        raise BadInput(
            "discordant= is not given: the share of items on which one judge is right and the other wrong, "
            "such as 0.3"
        )
    _between("discordant", discordant, 0, 1)
    _between("difference", difference, -discordant, discordant)
    first, second = (discordant + difference) / 2, max((discordant - difference) / 2, 0.0)
    return _least(width, lambda n: tango_limits(first * n, second * n, n, level))


def needed_for_error(width: float, error: float, level: float) -> int:
    """Items for a normal interval, from the standard error of one item."""
    half = normal_quantile(level) * error * (1 - 1e-12)  # but for rounding
    return _least(width, lambda n: (-half / math.sqrt(n), half / math.sqrt(n)))


def _least(width: float, limits: Callable[[int], tuple[float, float]]) -> int:
    """The fewest items whose interval is no wider."""

    def is_narrow(n: int) -> bool:
        low, high = limits(n)
        return not high - low > width

    items = smallest(is_narrow, 2, MAX_ITEMS, least=2)
    if items is None:
        raise BadInput(f"width is {width:g}; it would take more than {MAX_ITEMS:.0e} items")
    return items


def error_of_one(two: Two) -> float:
    """The standard error of kappa that one item like these would give."""
    c, weights = two.table, two.panel.agreement
    used = occurring_or_predicted(c)
    table = c.weight[np.ix_(used, used)] / c.weight.sum()
    if np.count_nonzero(table) == np.count_nonzero(table.diagonal()):
        # as for the interval: nobody is sure of perfect agreement
        n = effective_size(float(c.weight.sum()), float(c.weight2.sum()))
        table = (table * n + SMOOTHING / table.size) / (n + SMOOTHING)
    slope = kappa_slope(table, 1 - weights[np.ix_(used, used)])
    return float(np.sqrt((table * slope**2).sum()))


def _kappa_error(kappa: float, prevalence: Any, raters: int) -> float:
    """The standard error of the mean kappa of pairs, for one item."""
    _between("kappa", kappa, 0, 1)
    if kappa == 1:
        raise BadInput(
            "kappa is 1; raters who never differ have no spread, so expect less, such as 0.95"
        )
    if not is_integer(raters, 2, 10**6):
        raise BadInput(f"raters must be an integer from 2 to 1,000,000; got {raters}")
    p = _category_shares(prevalence)
    table = (1 - kappa) * (p[:, None] * p[None, :]) + kappa * np.diag(p)
    slope = kappa_slope(table)
    known = kappa * float((p * slope.diagonal() ** 2).sum())
    guess = (slope * p).sum(1)
    # covariances of pairs that share a rater, and that share none
    one = known + (1 - kappa) * float((p * guess**2).sum())
    none = known + (1 - kappa) * float((p * guess).sum()) ** 2
    pairs = raters * (raters - 1) / 2
    same = float((table * slope**2).sum())
    apart = (raters - 2) * (raters - 3) / 2
    return math.sqrt((same + 2 * (raters - 2) * one + apart * none) / pairs)


def _category_shares(prevalence: Any) -> Floats:
    """The shares of the categories, which add up to 1."""
    shares = np.empty(0)
    if isinstance(prevalence, int | float | np.number):
        _between("prevalence", prevalence, 0, 1)
        shares = np.array([1 - prevalence, prevalence], np.float64)
    else:
        with suppress(TypeError, ValueError):
            shares = np.asarray(prevalence, np.float64)
    if shares.ndim != 1 or len(shares) < 2 or not (shares > 1e-9).all() or shares.max() == math.inf:
        raise BadInput(
            f"prevalence is {prevalence}; give a share between 0 and 1, or one above 0 for each category"
        )
    if abs(shares.sum() - 1) > 1e-6:
        raise BadInput(
            f"prevalence adds up to {shares.sum():g}; the shares of categories add up to 1"
        )
    return np.asarray(shares / shares.sum())


def _between(name: str, given: Any, low: float, high: float) -> None:
    if not is_number(given) or not low <= given <= high:
        raise BadInput(f"{name} must lie between {low:g} and {high:g}; got {given}")
