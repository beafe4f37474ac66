"""Is the order right, whatever the costs? Hand's H-measure."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.hull import fits_elsewhere, pool_rows, pooled
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.bootstrap import bootstrap_cells, few_cells
from scorewise.intervals.scales import effective, z
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.extremes import certified
from scorewise.tallies.sorting import add_runs, inner

RAREST = 1e-12  # share of a class of which the loss of the best constant keeps some digits
_Charges = Callable[[Floats, Floats], tuple[Floats, Floats]]


@measure(group="order", title="H-measure")
def h_measure(
    t: Tally,
    *,
    costs: tuple[float, float] | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> Estimate:
    """Share of the loss of the best constant decision that is saved, averaged over misclassification costs.

    The cost of a false positive, as a share of both costs, is spread as Beta(1 + prevalence,
    2 - prevalence) (Hand and Anagnostopoulos 2014), or as Beta(*costs). The decisions are the best for
    each cost, those of the hull of the ROC curve, chosen on the same rows: in small samples the value is
    too high. The interval, with the error of the bootstrap of cells, therefore reaches down from what
    decisions that were chosen on other rows save, in five folds, dealt twice.

    >>> h_measure(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1, 0.9, 0.4]))
    0.561 [0.000, 0.981]
    """
    if costs is not None and not min(costs) > 0:
        raise BadInput(
            f"costs are {costs}; both shapes of the Beta must be positive, such as (2, 2)"
        )
    if why := t.why_not_ranked:
        return Estimate.undefined(why, level)
    value, bound = certified(t, lambda x: _saved(x, costs))
    rare = min(t.negatives, t.positives) < RAREST * (t.negatives + t.positives)
    if rare or math.isnan(value):
        return Estimate.undefined("a class is too rare for floating point", level)
    drawn = bootstrap_cells(
        t, lambda n, p: _each(n, p, costs), replicates=150, seed=seed, cells=_cells(t)
    )
    reach = z(level) * float(drawn.std())
    if reach > 1e-12:  # more than rounding
        least = min(_saved_elsewhere(few_cells(t, _cells(t)), costs, seed), value)
        low, high = least - reach, value + reach
        if least > 0 and value < 1:  # near 1 the error is too small, but not on the logit scale
            odds = least / (1 - least) * math.exp(-min(reach / (value * (1 - value)), 700.0))
            low = min(low, odds / (1 + odds))
        method = "bootstrap, cross-fitted"
    else:
        low, high, method = *_rare(t, value, level), "rule of three"
    low, high = max(0.0, min(low, value) - bound), min(1.0, max(high, value) + bound)
    return Estimate(value, low, high, level, method, "", bound, 0.0)


def _cells(t: Tally) -> int:
    """How many cells to resample: many rows on few cells leave no bias that more would show."""
    return 256 if t.origin.rows > 1 << 16 else 1024


def _each(neg: Floats, pos: Floats, costs: tuple[float, float] | None) -> Floats:
    """The value of each row of cells."""
    start, row = pool_rows(neg, pos)
    n, p = (add_runs(w.ravel(), start) for w in (neg, pos))
    total = neg.sum(-1) + pos.sum(-1)
    prevalence = pos.sum(-1) / total
    charges = _tabled(prevalence, costs)
    constant = charges(prevalence, prevalence)
    most = (1 - prevalence) * constant[0] + prevalence * constant[1]
    on_neg, on_pos = charges(p / (n + p), prevalence[row])
    loss = np.bincount(row, n * on_neg + p * on_pos, len(neg)) / total
    with np.errstate(divide="ignore", invalid="ignore"):
        saved: Floats = np.where(most > 0, np.maximum(0.0, 1 - loss / most), np.nan)
    return saved


def _tabled(prevalence: Floats, costs: tuple[float, float] | None) -> _Charges:
    """`_charges` of many posteriors and prevalences, read off a table: replicates need no more digits.

    Straight between 129 posteriors; a polynomial through four prevalences of the range.
    """
    low, high = float(prevalence.min()), float(prevalence.max())
    nodes = np.array([low])
    if costs is None and high > low:
        nodes = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(4) + 0.5) / 4)
    grid = np.linspace(0.0, 1.0, 129)
    tables = [_charges(grid, *_shape(x, costs)) for x in nodes]

    def charges(q: Floats, at: Floats) -> tuple[Floats, Floats]:
        found = np.zeros((2, len(q)))
        for k, table in enumerate(tables):
            others = np.delete(nodes, k)
            share = np.prod([(at - x) / (nodes[k] - x) for x in others], axis=0)
            found += share * np.stack([np.interp(q, grid, column) for column in table])
        return found[0], found[1]

    return charges


def _rare(t: Tally, value: float, level: float) -> tuple[float, float]:
    """What luck can hide behind 0 or 1: so large a share of the smaller class."""
    smaller = min(map(effective, (t.negatives, t.positives), t.squares))
    reach = 1 - ((1 - level) / 2) ** (1 / smaller)
    return (1 - reach, 1.0) if value > 0.5 else (0.0, reach)


def _saved(t: Tally, costs: tuple[float, float] | None) -> float:
    start = pooled(t)
    neg, pos = (add_runs(w, start).astype(np.float64) for w in (t.neg, t.pos))
    total = neg.sum() + pos.sum()
    prevalence = float(pos.sum() / total)
    shape = _shape(prevalence, costs)
    constant = _charges(np.array([prevalence]), *shape)
    most = float((1 - prevalence) * constant[0][0] + prevalence * constant[1][0])
    on_neg, on_pos = _charges(pos / (neg + pos), *shape)
    loss = float((inner(neg, on_neg) + inner(pos, on_pos)) / total)
    return max(0.0, 1 - loss / most) if most > 0 else math.nan


def _saved_elsewhere(few: Tally, costs: tuple[float, float] | None, seed: int) -> float:
    """The value of decisions that are the best on all folds but the one that they are judged on."""
    prevalence = np.array([few.positives / (few.negatives + few.positives)])
    charges, loss = _tabled(prevalence, costs), 0.0
    for neg, pos, posterior in fits_elsewhere(few, seed):
        on_neg, on_pos = charges(posterior, prevalence)
        loss += float(inner(neg, on_neg) + inner(pos, on_pos))
    constant = charges(prevalence, prevalence)
    most = float(few.negatives * constant[0][0] + few.positives * constant[1][0])
    return 1 - loss / most if most > 0 else 0.0


def _shape(prevalence: float, costs: tuple[float, float] | None) -> tuple[float, float]:
    return costs if costs is not None else (1 + prevalence, 2 - prevalence)


def _charges(q: Floats, a: float, b: float) -> tuple[Floats, Floats]:
    """Mean cost of a negative and of a positive that are called by "posterior > cost", at posterior q."""
    from scipy.special import betainc, betaincc

    return a / (a + b) * betainc(a + 1, b, q), b / (a + b) * betaincc(a, b + 1, q)
