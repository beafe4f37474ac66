"""Cohen's kappa of two columns, and sums of kappas on the same items with their interval."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.inference.agreement import Coefficient, coefficient
from scorewise.inference.agreement_limits import by_score
from scorewise.inference.resampling import resampled
from scorewise.inference.scales import bootstrap_chance, bootstrap_tail, effective, z
from scorewise.inference.tables import SMOOTHING, Sloped, occurring_or_called
from scorewise.judging.panel import Panel
from scorewise.judging.reading import Codes
from scorewise.measures.agreement import cohen_kappa
from scorewise.tallies import Confusion, Ratings
from scorewise.tallies.formulas import kappa_slope
from scorewise.tallies.formulas import table_kappa as kappa
from scorewise.tallies.sorting import Numbers

Interval: TypeAlias = Literal["formula", "bootstrap"]
MOVER = "score intervals combined (MOVER)"
BOOTSTRAP = "bootstrap of items"
LEAST = "; p is at most that"  # no resample was beyond 0
_AT_ONCE = 1 << 21  # resampled weights that are held
_WORK = 1 << 25  # resampled weights that are drawn and summed, over all kappas
_DRAWING = 4  # what drawing a weight costs, in sums
_WIDE = 32  # categories beyond which tables are not resampled
_FAR = 38.0  # standard errors beyond which a p-value is 0


def sloped(weights: Floats) -> Sloped:
    """The formula of kappa for those weights: a table -> its value, and its slope in each cell.

    >>> round(sloped(np.eye(2))(np.array([[20.0, 5.0], [10.0, 15.0]]))[0], 6)
    0.4
    """
    return lambda table: (float(kappa(table, 1 - weights)), kappa_slope(table, 1 - weights))


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


def error_of_one(c: Confusion, weights: Floats) -> float:
    """The standard error of kappa that one item like these would give."""
    used = occurring_or_called(c)
    table = c.weight[np.ix_(used, used)] / c.weight.sum()
    if np.count_nonzero(table) == np.count_nonzero(table.diagonal()):
        # as for the interval: nobody is sure of perfect agreement
        n = effective(float(c.weight.sum()), float(c.weight2.sum()))
        table = (table * n + SMOOTHING / table.size) / (n + SMOOTHING)
    _, slope = sloped(weights[np.ix_(used, used)])(table)
    return float(np.sqrt((table * slope**2).sum()))


class Term(NamedTuple):
    """A kappa of two columns, and how often it counts."""

    times: float
    first: Codes
    second: Codes


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
    for c in tables:
        if why := why_no_kappa(c, panel.agreement):
            return Estimate.undefined(why, level)
    used = np.logical_or.reduce([(t.first >= 0) & (t.second >= 0) for t in terms])
    kept = [Term(t.times, t.first[used], t.second[used]) for t in terms]
    weight, squares = panel.said.weight[used], panel.said.weight2[used]
    parts = [_part(panel, t, c, squares) for t, c in zip(kept, tables, strict=True)]
    for p in parts:
        if p.kappa.why:
            return Estimate.undefined(p.kappa.why, level)
    if _cancel(parts, len(weight)):
        return Estimate(0.0, level=level, method="none: no item tells them apart")
    work = replicates * len(weight) * (len(terms) + _DRAWING)
    if interval == "formula" or work > _WORK or len(panel.categories) > _WIDE:
        return _mover(parts, len(weight), level, tested)
    drawn = _replicates(panel, kept, weight, squares, replicates, seed)
    n = effective(float(weight.sum()), float(squares.sum()))
    found = _percentiles(_value(parts), drawn, n, level, tested)
    return replace(found, caution=_few(panel, tables))


class Part(NamedTuple):
    """A kappa of a sum: how often it counts, and how far each item moves it, in its standard errors."""

    times: float
    kappa: Coefficient
    items: NDArray[np.int64]
    moves: Floats


def _part(panel: Panel, term: Term, c: Confusion, squares: Numbers) -> Part:
    r = Ratings.of_confusion(c)
    kappa = coefficient(r, "cohen_kappa", panel.agreement)
    items = np.flatnonzero((term.first >= 0) & (term.second >= 0))
    cells = np.zeros(c.weight.shape)
    if kappa.se > 1e-12:
        cells[tuple(r.codes.T)] = kappa.slope / np.abs(kappa.slope).max()
    moves = cells[term.first[items], term.second[items]] * np.sqrt(squares[items] / squares.max())
    size = math.sqrt(float((moves * moves).sum()))
    return Part(term.times, kappa, items, moves / (size or 1.0))


def _value(parts: Sequence[Part]) -> float:
    return sum(p.times * p.kappa.value for p in parts)


def _cancel(parts: Sequence[Part], many: int) -> bool:
    """Whether these are differences of kappas that no item tells apart."""
    alike = abs(sum(p.times for p in parts)) + abs(_value(parts)) < 1e-12
    return alike and _moved(parts, [p.kappa.se for p in parts], many) < 1e-12


def _moved(parts: Sequence[Part], errors: Sequence[float], many: int) -> float:
    """Standard errors added with the correlations of the kappas over items."""
    moved = np.zeros(many)
    for p, error in zip(parts, errors, strict=True):
        moved[p.items] += p.times * error * p.moves
    return math.sqrt(float((moved * moved).sum()))


def _mover(parts: Sequence[Part], many: int, level: float, tested: bool) -> Estimate:
    def distance(reach: float, sign: float) -> float:
        """From the value to that end of its interval.

        As far as standard errors go, kappas vary together, over items. Where a score interval ends further
        out, what is beyond is added up for all kappas: how they vary together there is not known.
        """
        seen, more = [], {True: 0.0, False: 0.0}
        for p in parts:
            up = p.times * sign > 0
            far = abs(_ends(p.kappa, reach)[int(up)] - p.kappa.value)
            known = min(far, reach * p.kappa.se)
            seen.append(known)
            more[up] += abs(p.times) * math.sqrt((far - known) * (far + known))
        return math.hypot(_moved(parts, seen, many), *more.values())

    value, reach = _value(parts), z(level)
    most = sum(abs(p.times) for p in parts)
    low, high = max(-most, value - distance(reach, -1.0)), min(most, value + distance(reach, 1.0))
    p = None
    if tested:
        p = _chance(lambda reach: distance(reach, -math.copysign(1.0, value)), abs(value))
    caution = next((p.kappa.caution for p in parts if p.kappa.caution), "")
    return Estimate(value, low, high, level, MOVER, p=p, caution=caution)


def _ends(c: Coefficient, reach: float) -> tuple[float, float]:
    low, high = by_score(c, reach)
    return max(low, min(-1.0, c.value)), min(high, 1.0)


def _chance(distance: Callable[[float], float], value: float) -> float:
    """The p-value of the interval that ends at 0."""
    from scipy.optimize import brentq

    if distance(0.0) >= value:  # 0, up to rounding
        return 1.0
    if distance(_FAR) < value:
        return 0.0
    reach = brentq(lambda reach: distance(reach) - value, 0.0, _FAR, xtol=1e-10)
    return math.erfc(reach / math.sqrt(2))


def _few(panel: Panel, tables: Sequence[Confusion]) -> str:
    """Why a bootstrap is unreliable: as for the published interval of a kappa, too few items decide."""
    each = (
        cohen_kappa(Ratings.of_confusion(c), weights=panel.agreement, interval="published")
        for c in tables
    )
    return next((e.caution for e in each if e.caution), "")


def _replicates(
    panel: Panel,
    terms: Sequence[Term],
    weight: Numbers,
    squares: Numbers,
    replicates: int,
    seed: int,
) -> Floats:
    rng = np.random.default_rng(seed)
    step = max(1, _AT_ONCE // max(1, len(weight)))
    parts = []
    for start in range(0, replicates, step):
        drawn = resampled(weight, squares, min(step, replicates - start), rng)
        parts.append(sum(t.times * _kappas(panel, t, drawn) for t in terms))
    return np.concatenate(parts)


def _kappas(panel: Panel, term: Term, drawn: Floats) -> Floats:
    """Kappa for each row of resampled weights of the patterns."""
    many = len(panel.categories)
    both = np.flatnonzero((term.first >= 0) & (term.second >= 0))
    cell = term.first[both].astype(np.int64) * many + term.second[both]
    order = np.argsort(cell, kind="stable")
    cells, starts = np.unique(cell[order], return_index=True)
    tables = np.zeros((len(drawn), many * many))
    tables[:, cells] = np.add.reduceat(drawn[:, both[order]], starts, axis=1)
    found: Floats = kappa(tables.reshape(-1, many, many), 1 - panel.agreement)
    return found


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
