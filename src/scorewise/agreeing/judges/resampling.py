"""Sums of kappas on the same items: their spread by resampling items, or by the delta method."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.agreeing.judges.kappas import sloped, why_no_kappa
from scorewise.agreeing.judges.panel import Panel
from scorewise.agreeing.judges.taking import Codes
from scorewise.estimate import Estimate
from scorewise.intervals.bootstrap import resampled
from scorewise.intervals.class_tables import occurring_or_called
from scorewise.intervals.scales import bootstrap_chance, bootstrap_tail, effective, one_row, wald
from scorewise.tallies import Confusion
from scorewise.tallies.sorting import Numbers

Floats = NDArray[np.float64]
BOOTSTRAP = "bootstrap of items"
LEAST = "; p is at most that"  # no resample was beyond 0
_AT_ONCE = 1 << 21  # resampled weights that are held
_WORK = 1 << 25  # resampled weights that are drawn and summed, over all kappas
_DRAWING = 4  # what drawing a weight costs, in sums
_WIDE = 32  # categories beyond which tables are not resampled


class Term(NamedTuple):
    """A kappa of two columns, and how often it counts."""

    times: float
    first: Codes
    second: Codes


def combined(
    panel: Panel,
    terms: Sequence[Term],
    *,
    level: float,
    replicates: int,
    seed: int,
    tested: bool = True,
) -> Estimate:
    """The sum of kappas of the same items, with its interval and the p-value of its being 0.

    Items are resampled together for all kappas (Bayesian bootstrap of patterns; percentiles). Where that
    is too much work the delta method serves, from what each item does to each kappa.
    """
    tables = [panel.confusion(a, b) for _, a, b in terms]
    for c in tables:
        if why := why_no_kappa(c, panel.agreement):
            return Estimate.undefined(why, level)
    value, effect = _effects(panel, terms, tables)
    used = np.logical_or.reduce([(t.first >= 0) & (t.second >= 0) for t in terms])
    weight, squares = panel.said.weight[used], panel.said.weight2[used]
    n = effective(float(weight.sum()), float(squares.sum()))
    if one_row(n):
        return Estimate(value, level=level, method="none: a single item")
    work = replicates * int(used.sum()) * (len(terms) + _DRAWING)
    if work > _WORK or len(panel.categories) > _WIDE:
        error = math.sqrt(float((squares * effect[used] ** 2).sum()) * n / (n - 1))
        return _delta(value, error, level, tested)
    kept = [Term(t.times, t.first[used], t.second[used]) for t in terms]
    drawn = _replicates(panel, kept, weight, squares, replicates, seed)
    return _percentiles(value, drawn, n, level, tested)


def _effects(
    panel: Panel, terms: Sequence[Term], tables: Sequence[Confusion]
) -> tuple[float, Floats]:
    """The value, and what a unit of weight on each pattern adds to it."""
    total, effect = 0.0, np.zeros(len(panel.said.weight))
    for (times, a, b), c in zip(terms, tables, strict=True):
        used = np.flatnonzero(occurring_or_called(c))
        at = np.ix_(used, used)
        value, slope = sloped(panel.agreement[at])((c.weight[at] * c.scale).astype(float))
        both = (a >= 0) & (b >= 0)
        place = np.zeros(len(panel.categories), np.int64)
        place[used] = np.arange(len(used))
        effect[both] += times * c.scale * slope[place[a[both]], place[b[both]]]
        total += times * value
    return total, effect


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
    many, w = len(panel.categories), panel.agreement
    both = np.flatnonzero((term.first >= 0) & (term.second >= 0))
    cell = term.first[both].astype(np.int64) * many + term.second[both]
    order = np.argsort(cell, kind="stable")
    cells, starts = np.unique(cell[order], return_index=True)
    tables = np.zeros((len(drawn), many * many))
    tables[:, cells] = np.add.reduceat(drawn[:, both[order]], starts, axis=1)
    tables = (tables / tables.sum(1, keepdims=True)).reshape(-1, many, many)
    rows, columns = tables.sum(2), tables.sum(1)
    po = (tables * w).sum((1, 2))
    pe = ((rows[:, :, None] * w).sum(1) * columns).sum(1)
    found: Floats = (po - pe) / (1 - pe)
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


def _delta(value: float, error: float, level: float, tested: bool) -> Estimate:
    if error < 1e-13:
        return Estimate(value, level=level, method="none: no item tells them apart")
    low, high = wald(value, error, level, "identity")
    p = math.erfc(abs(value) / error / math.sqrt(2)) if tested else None
    return Estimate(value, low, high, level, "delta method", p=p)
