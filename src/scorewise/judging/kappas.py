"""Cohen's kappa of two columns, sums of kappas on the same items, and how many items these take."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.checks import check, is_integer, is_number, one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.agreement import Coefficient, coefficient
from scorewise.inference.agreement_limits import by_score
from scorewise.inference.clusters import widened_test
from scorewise.inference.resampling import resampled
from scorewise.inference.scales import (
    bootstrap_chance,
    bootstrap_tail,
    effective,
    fewest,
    student,
    z,
)
from scorewise.inference.shares import matched_difference, wilson_of
from scorewise.inference.tables import SMOOTHING, occurring_or_called
from scorewise.judging.reading import Codes, Panel
from scorewise.measures.agreement import cohen_kappa
from scorewise.tallies import Confusion, Ratings
from scorewise.tallies.formulas import kappa_slope, table_kappa
from scorewise.tallies.sorting import Numbers

Of: TypeAlias = Literal["kappa", "share", "accuracy", "difference"]
MOST = 10**12  # items that an interval may take
Interval: TypeAlias = Literal["formula", "bootstrap"]
MOVER = "score intervals combined (MOVER)"
BOOTSTRAP = "bootstrap of items"
LEAST = "; p is at most that"  # no resample was beyond 0
_AT_ONCE = 1 << 21  # resampled weights that are held
_WORK = 1 << 25  # resampled weights that are drawn and summed, over all kappas
_DRAWING = 4  # what drawing a weight costs, in sums
_WIDE = 32  # categories beyond which tables are not resampled
_FAR = 38.0  # standard errors beyond which a p-value is 0


def why_no_kappa(c: Confusion, weights: Floats) -> str:
    """Why chance cannot be told from agreement; nothing where it can."""
    if not c.weight.any():
        return "no item is rated by both"
    used = occurring_or_called(c)
    if used.sum() < 2:
        return "both always say the same one thing"
    rows, columns = (c.weight.sum(k).astype(float)[used] for k in (1, 0))
    apart = 1 - weights[np.ix_(used, used)]
    if not (rows[:, None] * apart * columns).any():
        return "every two ratings that occur count as agreement"
    return ""


def kappa_of(c: Confusion, weights: Floats, level: float) -> Estimate:
    """Agreement beyond chance, as of two raters.

    >>> kappa_of(Confusion.counts(tp=20, fp=5, fn=10, tn=15), np.eye(2), 0.95)
    0.400 [0.131, 0.632]
    """
    if why := why_no_kappa(c, weights):
        return Estimate.undefined(why, level)
    return cohen_kappa(Ratings.of_confusion(c), weights=weights, level=level)


def kappa_moves(c: Confusion, weights: Floats) -> Floats:
    """What a unit of weight in each cell of the table does to kappa; 0 where there is no kappa."""
    slope = np.zeros(c.weight.shape)
    if not why_no_kappa(c, weights):
        r = Ratings.of_confusion(c)
        slope[tuple(r.codes.T)] = coefficient(r, "cohen_kappa", weights).slope
    return slope


def clustered_kappa(
    e: Estimate,
    c: Confusion,
    panel: Panel,
    first: Codes,
    second: Codes,
    weight: Floats,
    cluster: Ints,
) -> Estimate:
    """A kappa with its interval and test by cluster of items, from what each item does to it."""
    if not e.defined:
        return e
    moved = weight * kappa_moves(c, panel.agreement)[first, second]
    sums = np.bincount(np.unique(cluster, return_inverse=True)[1], moved)
    many = len(sums)
    variance = float((sums**2).sum()) * many / max(many - 1, 1)
    return widened_test(e, variance, float((moved**2).sum()), many, (-1.0, 1.0))


class Term(NamedTuple):
    """A kappa of two columns, and how often it counts."""

    times: float
    first: Codes
    second: Codes


class Part(NamedTuple):
    """A kappa of a sum: how often it counts, and how far each item moves it, in its standard errors.

    `items` are the places of the items that both rated, `cells` theirs in the table.
    """

    times: float
    kappa: Coefficient
    items: Ints
    cells: Ints
    moves: Floats


def combined(
    panel: Panel,
    terms: Sequence[Term],
    *,
    interval: Interval,
    level: float,
    replicates: int,
    seed: int,
    tested: bool = True,
) -> Estimate:
    """The sum of kappas of the same items, with its interval and the p-value of its being 0.

    The distances of each kappa to the ends of its score interval are added like standard errors, with the
    correlations of the kappas over items (Donner and Zou 2012). With interval="bootstrap" items are
    resampled together for all kappas (Bayesian bootstrap of patterns; percentiles), unless that is too
    much work.
    """
    tables = [panel.confusion(a, b) for _, a, b in terms]
    if why := next(filter(None, (why_no_kappa(c, panel.agreement) for c in tables)), ""):
        return Estimate.undefined(why, level)
    used = np.logical_or.reduce([(t.first >= 0) & (t.second >= 0) for t in terms])
    weight, squares = panel.weight[used], panel.weight2[used]
    kept = (Term(t.times, t.first[used], t.second[used]) for t in terms)
    parts = [_part(panel, t, c, squares) for t, c in zip(kept, tables, strict=True)]
    if why := next((p.kappa.why for p in parts if p.kappa.why), ""):
        return Estimate.undefined(why, level)
    value = sum(p.times * p.kappa.value for p in parts)
    # differences of kappas that no item tells apart
    alike = abs(sum(p.times for p in parts)) + abs(value) < 1e-12
    if alike and _moved(parts, [p.kappa.se for p in parts], len(weight)) < 1e-12:
        return Estimate(0.0, level=level, method="none: no item tells them apart")
    if panel.cluster is not None:
        cluster = np.unique(panel.cluster[used], return_inverse=True)[1]
        return _mover(parts, value, len(weight), level, tested, cluster)
    work = replicates * len(weight) * (len(terms) + _DRAWING)
    if interval == "formula" or work > _WORK or len(panel.categories) > _WIDE:
        return _mover(parts, value, len(weight), level, tested)
    drawn = _replicates(panel, parts, weight, squares, replicates, seed)
    n = effective(float(weight.sum()), float(squares.sum()))
    # a bootstrap is unreliable where the published interval of a kappa is: too few items decide
    each = (
        cohen_kappa(Ratings.of_confusion(c), weights=panel.agreement, interval="published")
        for c in tables
    )
    caution = next((e.caution for e in each if e.caution), "")
    return replace(_percentiles(value, drawn, n, level, tested), caution=caution)


def _part(panel: Panel, term: Term, c: Confusion, squares: Numbers) -> Part:
    r = Ratings.of_confusion(c)
    kappa = coefficient(r, "cohen_kappa", panel.agreement)
    items = np.flatnonzero((term.first >= 0) & (term.second >= 0))
    cells = term.first[items].astype(np.int64) * len(c.weight) + term.second[items]
    slope = np.zeros(c.weight.shape)
    if kappa.se > 1e-12:
        slope[tuple(r.codes.T)] = kappa.slope / np.abs(kappa.slope).max()
    moves = slope.ravel()[cells] * np.sqrt(squares[items] / squares.max())
    size = math.sqrt(float((moves * moves).sum()))
    return Part(term.times, kappa, items, cells, moves / (size or 1.0))


def _moved(
    parts: Sequence[Part], errors: Sequence[float], many: int, cluster: Ints | None = None
) -> float:
    """Standard errors added with the correlations of the kappas over items, or over clusters of them."""
    moved: Floats = np.zeros(many)
    for p, error in zip(parts, errors, strict=True):
        moved[p.items] += p.times * error * p.moves
    if cluster is not None:
        sums = np.bincount(cluster, moved).astype(np.float64)
        moved = sums * math.sqrt(len(sums) / max(len(sums) - 1, 1))
    return math.sqrt(float((moved * moved).sum()))


def _mover(
    parts: Sequence[Part],
    value: float,
    many: int,
    level: float,
    tested: bool,
    cluster: Ints | None = None,
) -> Estimate:
    clusters = 0 if cluster is None else int(cluster.max()) + 1
    if clusters == 1:
        return Estimate(value, level=level, method="none: a single cluster")
    # by Student's quantile with one degree of freedom less than there are clusters
    grown = student(level, clusters - 1) / z(level) if clusters else 1.0

    def distance(reach: float, sign: float) -> float:
        """From the value to that end of its interval.

        As far as standard errors go, kappas vary together, over items. Where a score interval ends further
        out, what is beyond is added up for all kappas: how they vary together there is not known.
        """
        seen, more = [], {True: 0.0, False: 0.0}
        for p in parts:
            up, k = p.times * sign > 0, p.kappa.value
            low, high = by_score(p.kappa, reach)
            far = abs(min(high, 1.0) - k if up else max(low, min(-1.0, k)) - k)
            known = min(far, reach * p.kappa.se)
            seen.append(known)
            more[up] += abs(p.times) * math.sqrt((far - known) * (far + known))
        return grown * math.hypot(_moved(parts, seen, many, cluster), *more.values())

    reach, most = z(level), sum(abs(p.times) for p in parts)
    low, high = max(-most, value - distance(reach, -1.0)), min(most, value + distance(reach, 1.0))
    p = None
    if tested:
        p = _chance(lambda reach: distance(reach, -math.copysign(1.0, value)), abs(value))
    caution = next((p.kappa.caution for p in parts if p.kappa.caution), "")
    method = f"{MOVER}; by cluster" if clusters else MOVER
    return Estimate(value, low, high, level, method, p=p, caution=caution)


def _chance(distance: Callable[[float], float], value: float) -> float:
    """The p-value of the interval that ends at 0."""
    from scipy.optimize import brentq

    if distance(0.0) >= value:  # 0, up to rounding
        return 1.0
    if distance(_FAR) < value:
        return 0.0
    reach = brentq(lambda reach: distance(reach) - value, 0.0, _FAR, xtol=1e-10)
    return math.erfc(reach / math.sqrt(2))


def _replicates(
    panel: Panel,
    parts: Sequence[Part],
    weight: Numbers,
    squares: Numbers,
    replicates: int,
    seed: int,
) -> Floats:
    """The sum of kappas for each resample of the patterns."""
    rng, apart = np.random.default_rng(seed), 1 - panel.agreement
    step = max(1, _AT_ONCE // max(1, len(weight)))
    found = []
    for start in range(0, replicates, step):
        drawn = resampled(weight, squares, min(step, replicates - start), rng)
        total = np.zeros(len(drawn))
        for p in parts:
            order = np.argsort(p.cells, kind="stable")
            cells, starts = np.unique(p.cells[order], return_index=True)
            tables = np.zeros((len(drawn), apart.size))
            tables[:, cells] = np.add.reduceat(drawn[:, p.items[order]], starts, axis=1)
            total += p.times * table_kappa(tables.reshape(-1, *apart.shape), apart)
        found.append(total)
    return np.concatenate(found)


def _percentiles(value: float, drawn: Floats, n: float, level: float, tested: bool) -> Estimate:
    """Quantiles a little further out for n items; the p-value is that of the interval that ends at 0."""
    if np.ptp(drawn) < 1e-12:
        return Estimate(value, level=level, method="none: no item tells them apart")
    tail = bootstrap_tail(level, n)
    low, high = (float(x) for x in np.quantile(drawn, [tail, 1 - tail]))
    p, method = None, BOOTSTRAP
    if tested:
        beyond = min(int((drawn <= 0).sum()), int((drawn >= 0).sum()))
        p = bootstrap_chance((1 + beyond) / (1 + len(drawn)), n)
        method += "" if beyond else LEAST
    return Estimate(value, min(low, value), max(high, value), level, method, p=p)


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
        return needed_for_share(width, share, level)
    if discordant is None:
        raise BadInput(
            "discordant= is not given: the share of items on which one judge is right and the other wrong, "
            "such as 0.3"
        )
    _between("discordant", discordant, 0, 1)
    _between("difference", difference, -discordant, discordant)
    return needed_for_difference(width, difference, discordant, level)


def needed_for_error(width: float, error: float, level: float) -> int:
    """Items for a normal interval, from the standard error of one item."""
    root = 2 * z(level) * error / width
    if not root * root <= MOST:
        raise BadInput(f"width is {width:g}; it would take more than {MOST:.0e} items")
    return max(2, math.ceil(root * root * (1 - 1e-12)))


def needed_for_share(width: float, share: float, level: float) -> int:
    """Items for a Wilson interval."""
    return _least(width, lambda n: wilson_of(share, n, level)[1:])


def needed_for_difference(width: float, difference: float, discordant: float, level: float) -> int:
    """Items for Tango's interval of a difference."""
    first, second = (discordant + difference) / 2, max((discordant - difference) / 2, 0.0)
    return _least(width, lambda n: matched_difference(first * n, second * n, n, level))


def _least(width: float, limits: Callable[[int], tuple[float, float]]) -> int:
    """The fewest items whose interval is no wider."""

    def wider(n: int) -> bool:
        low, high = limits(n)
        return high - low > width

    found = fewest(lambda n: not wider(n), 2, MOST, least=2)
    if found is None:
        raise BadInput(f"width is {width:g}; it would take more than {MOST:.0e} items")
    return found


def error_of_one(c: Confusion, weights: Floats) -> float:
    """The standard error of kappa that one item like these would give."""
    used = occurring_or_called(c)
    table = c.weight[np.ix_(used, used)] / c.weight.sum()
    if np.count_nonzero(table) == np.count_nonzero(table.diagonal()):
        # as for the interval: nobody is sure of perfect agreement
        n = effective(float(c.weight.sum()), float(c.weight2.sum()))
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
    p = _margins(prevalence)
    chance = p[:, None] * p[None, :]
    table = (1 - kappa) * chance + kappa * np.diag(p)
    slope = kappa_slope(table)
    known = kappa * float((p * slope.diagonal() ** 2).sum())
    guess = (slope * p).sum(1)
    one = known + (1 - kappa) * float((p * guess**2).sum())
    none = known + (1 - kappa) * float((p * guess).sum()) ** 2
    pairs = raters * (raters - 1) / 2
    same = float((table * slope**2).sum())
    apart = (raters - 2) * (raters - 3) / 2
    return math.sqrt((same + 2 * (raters - 2) * one + apart * none) / pairs)


def _margins(prevalence: Any) -> Floats:
    """The shares of the categories, which add up to 1."""
    shares = np.empty(0)
    if isinstance(prevalence, int | float | np.number):
        _between("prevalence", prevalence, 0, 1)
        shares = np.array([1 - prevalence, prevalence], np.float64)
    else:
        with suppress(TypeError, ValueError):
            shares = np.asarray(prevalence, np.float64)
    several = shares.ndim == 1 and len(shares) > 1
    if not several or not (shares > 1e-9).all() or not np.isfinite(shares).all():
        raise BadInput(
            f"prevalence is {prevalence}; give a share between 0 and 1, or one above 0 for each category"
        )
    if abs(shares.sum() - 1) > 1e-6:
        raise BadInput(
            f"prevalence adds up to {shares.sum():g}; the shares of categories add up to 1"
        )
    whole: Floats = shares / shares.sum()
    return whole


def _between(name: str, given: Any, low: float, high: float) -> None:
    if not is_number(given) or not low <= given <= high:
        raise BadInput(f"{name} must lie between {low:g} and {high:g}; got {given}")
