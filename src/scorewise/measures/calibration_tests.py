"""Are the scores calibrated? Cox's slope and intercept, tests, and what a second opinion would gain."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Literal, get_args

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.checks import at_least, check, one_of
from scorewise.computing import cached, inner
from scorewise.estimate import Estimate, Undefined, undefined_if
from scorewise.inference.folds import deal_cells
from scorewise.inference.inversion import Direction, Noise, invert_test
from scorewise.inference.logistic import (
    MAX_VARIANCE,
    Coefficient,
    LogOdds,
    in_the_large,
    log_odds,
    slope,
)
from scorewise.inference.ranking import class_sizes
from scorewise.inference.resampling import REPLICATES, consistency_gaps, resampling_p
from scorewise.inference.scales import Variance, limits, t_p_value
from scorewise.measures.calibration_bins import FEWER, method_on_cells
from scorewise.registry import measure
from scorewise.statistics.probabilities import (
    MAX_CELLS,
    ProbabilityCells,
    equal_mass,
    moments,
    probability_cells,
    why_not_probabilities,
)
from scorewise.tallies import Tally
from scorewise.tallies.coarse import why_undecided
from scorewise.tallies.losses import expit, logit, unit
from scorewise.tallies.runs import add_runs, first_of_runs

EVERYWHERE = (-math.inf, math.inf)
_CELLS = 20
_MAX_CELLS = 1 << 12  # cells on which f is constant, at the most
_CERTAIN = 1e-4  # logits end here
_CLEAR = 2.0  # standard errors of a gap that shows a direction by itself
RowsOf = Literal["new", "training"]
MIN_VARIANCE = 1e-200  # of a variance, in rows: less is none


@measure(
    group="calibration", better="near", target=1.0, bounds=EVERYWHERE, title="Calibration slope"
)
def calibration_slope(t: Tally, *, clip: float | None = None, level: float = 0.95) -> Estimate:
    """By what the log-odds should be multiplied: 1 is right, below 1 they are too bold.

    The slope of the logistic regression of the labels on the log-odds, beside an intercept (Cox 1958).
    Interval and `p` (of slope 1) by the sandwich, with as many degrees of freedom as the rarer class has
    rows, less one, or fewer where few rows bring most of the variance. Beyond 65,536 distinct scores rows
    are joined on a fixed grid.

    >>> calibration_slope(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.6, 0.1, 0.4, 0.7]))
    1.070 [-2.164, 4.304]
    """
    undefined_if(_why_no_odds(t, clip) or why_undecided(t))
    cells = log_odds(t, clip)
    flat = "the log-odds differ by less than 1e-100" if len(cells.x) > 1 else "all scores are equal"
    undefined_if(_why_infinite(t, cells) or ("" if cells.x[-1] - cells.x[0] >= 1e-100 else flat))
    found = slope(cells)
    if found is None:
        raise Undefined("a threshold tells the classes apart, no slope is enough")
    return _estimate_of_coefficient(t, found, level, 1.0)


@measure(
    group="calibration",
    better="near",
    target=0.0,
    bounds=EVERYWHERE,
    title="Calibration in the large",
)
def calibration_intercept(t: Tally, *, clip: float | None = None, level: float = 0.95) -> Estimate:
    """What all log-odds lack: 0 is right, above 0 the probabilities are too low on the whole.

    Calibration in the large: the intercept of the logistic regression of the labels with the log-odds
    as offset, of slope 1 (Cox 1958). Interval and `p` (of intercept 0) as for the slope. Beyond
    65,536 distinct scores rows are joined on a fixed grid.

    >>> calibration_intercept(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.6, 0.1, 0.4, 0.7]))
    0.087 [-3.923, 4.097]
    """
    undefined_if(_why_no_odds(t, clip))
    cells = log_odds(t, clip)
    undefined_if(_why_infinite(t, cells))
    found = in_the_large(cells)
    if found is None:
        raise Undefined("no intercept is large enough")
    e = _estimate_of_coefficient(t, found, level, 0.0)
    if not why_undecided(t):
        return e
    bound = _intercept_bound(t, clip, cells, e.value)
    if not math.isfinite(bound):
        raise Undefined(why_undecided(t))
    return replace(e, low=e.low - bound, high=e.high + bound, bound=bound)


def _why_no_odds(t: Tally, clip: float | None) -> str:
    check(clip=clip)
    if why := why_not_probabilities(t) or t.why_not_ranked:
        return why
    rarer, total = min(t.negatives, t.positives), t.negatives + t.positives
    return "a class is too rare for floating point" if rarer < 1e-12 * total else ""


def _why_infinite(t: Tally, c: LogOdds) -> str:
    certain = np.isinf(c.x)
    if certain.any():
        weight = float((c.neg + c.pos)[certain].sum())
        rows = f"in {weight:,.0f} row{'s' * (weight != 1)}" if not t.weighted else "in some rows"
        # half of the way to the nearest other score: half of the last digit, where scores were rounded
        near = float(expit(-np.abs(c.x[~certain])).min(initial=0.01)) / 2
        return (
            f"a probability is 0 or 1 {rows}; a clip of {max(near, 1e-15):.1g} bounds its log-odds"
        )
    return "the log-odds are too large" if np.abs(c.x).max() > MAX_VARIANCE else ""


def _intercept_bound(t: Tally, clip: float | None, c: LogOdds, value: float) -> float:
    """How far the intercept can be off: it falls as log-odds rise to the upper ends of their cells."""
    assert t.coarse is not None
    ends = []
    for x in (t.coarse.low.min(0), t.coarse.high.max(0)):
        at = log_odds(replace(t, score=x, coarse=None), clip)
        found = in_the_large(c._replace(x=at.x)) if np.isfinite(at.x).all() else None
        ends.append(math.inf if found is None else abs(found[0] - value))
    return max(ends)


def line_interval(
    rows: tuple[Any, Any], value: Any, known: Variance, level: float, right: float
) -> tuple[Any, Any, Any]:
    """The limits of a coefficient of Cox's line and the p-value of the right one; or of many.

    `rows` are so many negatives and positives.
    """
    # a sandwich learns from the rows of the rarer class
    df = np.maximum(np.minimum(np.minimum(*rows) - 1, known.df), 1.0)
    low, high = limits(value, Variance(known.variance, df), level, "identity")
    with np.errstate(divide="ignore", invalid="ignore"):  # the variance may be too small for floats
        return low, high, t_p_value((value - right) / np.sqrt(known.variance), df)


def _estimate_of_coefficient(t: Tally, c: Coefficient, level: float, right: float) -> Estimate:
    value, known = c
    low, high, p = line_interval(class_sizes(t), value, known, level, right)
    p = p if known.variance > 0 else None
    return Estimate(value, low, high, level, "Student, sandwich", expected=right, p=p)


@measure(
    group="calibration", better="near", target=0.0, bounds=EVERYWHERE, title="Spiegelhalter's z"
)
def spiegelhalter(t: Tally, *, level: float = 0.95) -> Estimate:
    """How many standard errors the Brier score is above what calibrated scores would get.

    sum (y - p)(1 - 2 p) / sqrt(sum (1 - 2 p)^2 p (1 - p)); above 0 the scores are too bold, below 0 too
    timid (Spiegelhalter 1986). Standard normal if the scores are calibrated, which gives the two-sided
    `p`. No interval. Beyond 65,536 distinct scores the variance is that of cells of a fixed grid.

    >>> e = spiegelhalter(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.6, 0.1, 0.2, 0.9]))
    >>> e, round(e.p, 3)
    (1.529, 0.126)
    """
    undefined_if(why_not_probabilities(t))
    above, variance, half = _brier_excess(t)
    if variance - half <= MIN_VARIANCE:
        certain = "all probabilities are 0, 0.5 or 1: their Brier score does not vary"
        raise Undefined(why_undecided(t) or certain)
    value = above / math.sqrt(variance)
    bound = abs(above) / math.sqrt(variance - half) - abs(value) + (1e-9 if half else 0.0)
    p = math.erfc(abs(value) / math.sqrt(2))
    return Estimate(value, level=level, bound=bound, expected=0.0, p=p)


def _brier_excess(t: Tally) -> tuple[float, float, float]:
    """Sum over rows of (y - p)(1 - 2 p), its variance for calibrated scores, and what of that is open."""
    row = sum(t.squares) / (t.negatives + t.positives)  # what a row weighs: 1 for counts
    if why_undecided(t):
        assert t.coarse is not None
        # the sum is exact, because those of p and of p^2 are kept
        brier = sum(side.first for side in moments(t, "brier", None))
        of_neg, of_pos = t.coarse.sum.sum(1).tolist()
        squares = brier - t.positives + 2 * of_pos
        above = t.positives - 2 * of_pos - (of_neg + of_pos) + 2 * squares
        low, high = t.coarse.ends(t.kind)
        p, mass = (low + high) / 2, (t.neg2 + t.pos2) / row**2
        # the slope of (1 - 2 p)^2 p (1 - p) is never steeper than 1
        variance = inner(mass * (1 - 2 * p) ** 2, p * (1 - p))
        return above / row, variance, inner(mass, high - low) / 2
    if len(t.score) > MAX_CELLS and not t.weighted:
        # of very many counts the sum is exact, the variance that of joined cells
        c, brier = probability_cells(t), sum(side.first for side in moments(t, "brier", None))
        return brier - float(c.noise.sum()), inner(c.noise, (1 - 2 * c.p) ** 2), 0.0
    above = variance = 0.0
    for b in t.blocks():
        p = unit(b.score, t.kind)
        # that of a logit keeps its digits where p is all but 1
        bold, q = 1 - 2 * p, unit(-b.score, t.kind) if t.kind == "logit" else 1 - p
        above += inner(b.pos / row * q - b.neg / row * p, bold)
        variance += inner((b.neg2 + b.pos2) / row**2 * bold * bold, p * q)
    return above, variance, 0.0


@measure(group="calibration", better="low", bounds=(0.0, math.inf), title="Hosmer-Lemeshow")
def hosmer_lemeshow(
    t: Tally, *, groups: int = 10, rows: RowsOf = "new", level: float = 0.95, seed: int = 0
) -> Estimate:
    """How far the shares of positives in groups of like scores are from their mean probabilities.

    The sum over groups of (positives - expected)^2 / (n p (1 - p)), with groups of about equal mass that
    split no tied scores (Hosmer and Lemeshow 1980). On new rows it is chi-squared with as many degrees
    of freedom as groups if the scores are calibrated, on the rows that a logistic model was fitted to
    (rows="training") with two fewer: that is `expected`, and gives `p`. Where a group expects fewer than
    five rows of a class, that does not hold, and on new rows `p` comes from labels drawn anew; the method
    says which. No interval. Beyond 65,536 distinct scores the groups begin at edges of a fixed grid.

    >>> e = hosmer_lemeshow(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.6, 0.1, 0.2, 0.9]), groups=2)
    >>> e, round(e.p, 3)
    (0.501, 1.0)
    """
    one_of("rows", rows, get_args(RowsOf))
    at_least(2, 10, groups=groups)
    undefined_if(why_not_probabilities(t) or why_undecided(t))
    c = probability_cells(t)
    g = c.at_most(groups)
    variance = g.squares * g.p * (1 - g.p)
    free = np.minimum(g.p, 1 - g.p) > 1e-12  # nearer to 0 or 1 is certain, up to rounding
    if (np.abs(g.gap[~free]) > 1e-9 * g.weight[~free]).any():
        why = "infinite: a group of certain probabilities holds a row that is not as they say"
        return Estimate(math.inf, level=level, why=why)
    value = float((g.gap[free] ** 2 / variance[free]).sum())
    df = int(free.sum()) - 2 * (rows == "training")
    if df < 1 and rows == "training":
        raise Undefined("fewer than three groups")
    from scipy.special import chdtrc

    p, how = float(chdtrc(df, value)) if df else 1.0, "chi-squared"
    if rows == "new" and (g.rows * np.minimum(g.p, 1 - g.p))[free].min(initial=5.0) < 5:
        drawn = consistency_gaps(g, REPLICATES, np.random.default_rng(seed))[:, free]
        null = (drawn**2 / variance[free]).sum(1)
        p = resampling_p(null, value * (1 - 1e-9) - 1e-15)
        how = f"{len(null):,} draws of labels"
    return Estimate(value, level=level, method=how, expected=float(df), p=p)


@measure(group="calibration", better="low", bounds=(-1.0, 1.0), title="Variational L1 error")
def ce_variational(t: Tally, *, folds: int = 5, level: float = 0.95, seed: int = 0) -> Estimate:
    """Mean gap between labels and probabilities, in the direction that other rows have shown.

    E[f(p) (y - p)] with |f| <= 1 is at most the L1 calibration error, and reaches it for the right f.
    Here f is the sign of the gap that the rows of the other folds have, in the same of twenty cells of
    equal mass, where it is more than two standard errors; elsewhere that of a logistic recalibration's
    correction (one step of Newton from the scores as they are). No row judges itself, so the value is
    about 0, on either side, for calibrated scores, and otherwise rather too small. Rows are dealt to folds
    by `seed`, whatever their order; scores with broken weights as a whole. The interval is of the L1
    error of the twenty cells, and begins at the value where that is below 0; it inverts consistency
    tests of both the value and the plain size of the gaps, along the gaps seen.

    >>> ce_variational(Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75]))
    0.090 [0.000, 0.479]
    """
    check(folds=folds)
    undefined_if(why_not_probabilities(t))
    fine, few = cached(t, ("folds", folds, seed), lambda: _dealt_cells(t, int(folds), seed))
    value = float(fine.error((fine.cells.gap / fine.cells.total)[None])[0])
    noise = cached(
        few, ("noise", seed), lambda: Noise(few.cells, FEWER, seed, direction=few.direction())
    )
    found = invert_test(noise, few.error, level, size=few.size, value=value)
    # a direction that other rows do not show hides an error that the plain size of the gaps has
    most = invert_test(noise, few.size, level).high
    found = found._replace(high=max(found.high, most))
    return found.estimate(level, bounds=(-1.0, 1.0), method=method_on_cells(t))


class FoldCells:
    """Cells of all folds, fold by fold, each within a group of cells, and what their gaps show."""

    def __init__(self, cells: ProbabilityCells, fold: Ints, group: Ints) -> None:
        self.cells = cells
        self._fold, self._group = fold, group
        self._first = first_of_runs(fold, group)
        self._shape = int(fold.max(initial=0)) + 1, int(group.max(initial=0)) + 1
        self._place = np.ravel_multi_index((fold, group), self._shape)
        # one cell of every group in every fold, as replicates mostly have
        self._full = len(fold) == len(self._first) == math.prod(self._shape)
        p = np.clip(cells.p, _CERTAIN, 1 - _CERTAIN)
        self._logit = logit(p)
        v = cells.weight * p * (1 - p) / cells.total
        self._known = [self._of_other_folds(v * self._logit**k) for k in (0, 1, 2)]
        i0, i1, i2 = self._known
        # what rounding leaves of nothing is no direction
        self._none = 1e-12 * (np.abs(i2) + np.abs(i1) + i0)[fold] * (1 + np.abs(self._logit))
        # of the others in the group: the variance of their gap, and no less than that of a row
        used = cells.weight > 0
        row = (cells.squares[used] / cells.weight[used]).max(initial=0.0)
        noise = self._of_others_in_group(np.maximum(cells.noise, 0.0))
        self._least = _CLEAR / cells.total * np.sqrt(np.maximum(noise, 0.0) + row**2)

    def error(self, gaps: Floats) -> Floats:
        """The gaps, each in the direction that the other folds have shown."""
        elsewhere = self._of_others_in_group(gaps)
        clear = np.abs(elsewhere) > self._least
        return np.asarray((gaps * np.sign(np.where(clear, elsewhere, self._trend(gaps)))).sum(-1))

    def size(self, gaps: Floats) -> Floats:
        """The size of the gaps of the groups: the error if there were no chance."""
        return np.asarray(np.abs(self._table(gaps).sum(-2)).sum(-1))

    def direction(self) -> Direction:
        """Where the rates of the groups move, in the same way in all folds."""
        c = self.cells
        sums = self._table(np.stack([c.weight, c.squares, c.pos, c.sum, c.noise])).sum(-2)
        used = sums[0] > 0
        w, w2, pos, total, noise = sums[:, used]
        way = Direction.of(ProbabilityCells(total / w, w, w2, pos, total, noise, c.weighted))
        at = (np.cumsum(used) - 1)[self._group]
        share = c.weight / w[at]
        return way._replace(toward=way.toward[at] * share, back=way.back[at] * share)

    def _table(self, each: Floats) -> Floats:
        """What each fold (the last axis but one) has in each group (the last)."""
        shape = *each.shape[:-1], *self._shape
        if self._full:
            return each.reshape(shape)
        made = np.zeros((*each.shape[:-1], math.prod(self._shape)))
        made[..., self._place[self._first]] = add_runs(each, self._first)
        return made.reshape(shape)

    def _of_others_in_group(self, each: Floats) -> Floats:
        """For each cell, what its group has in all other folds."""
        table = self._table(each)
        others = (table.sum(-2, keepdims=True) - table).reshape(*each.shape[:-1], -1)
        return others if self._full else np.asarray(others[..., self._place])

    def _of_other_folds(self, each: Floats) -> Floats:
        """For each fold, what all others have."""
        sums = self._table(each).sum(-1)
        return np.asarray(sums.sum(-1, keepdims=True) - sums)

    def _trend(self, gaps: Floats) -> Floats:
        """The direction of the logistic correction of each cell, fitted on the other folds."""
        first, second = (self._of_other_folds(g) for g in (gaps, gaps * self._logit))
        i0, i1, i2 = self._known
        known = i0 * i2 - i1 * i1 > 1e-9 * i0 * i2
        shift = np.where(known, i2 * first - i1 * second, first)
        slope = np.where(known, i0 * second - i1 * first, 0.0)
        toward = slope[..., self._fold]
        toward *= self._logit
        toward += shift[..., self._fold]
        toward[np.abs(toward) <= self._none] = 0.0
        return toward


def _dealt_cells(t: Tally, folds: int, seed: int) -> tuple[FoldCells, FoldCells]:
    """All cells dealt to folds, for the value, and a few of equal mass, for replicates."""
    c = probability_cells(t).at_most(_MAX_CELLS)
    share, pos = deal_cells(c, folds, seed)
    start = equal_mass(c, _CELLS)
    fold, cell = np.nonzero(share * c.weight > 0)
    group = (np.searchsorted(start, np.arange(len(c)), side="right") - 1)[cell]
    weight, squares, total, noise = (
        (share * x)[fold, cell] for x in (c.weight, c.squares, c.sum, c.noise)
    )
    columns = c.low[cell], weight, squares, pos[fold, cell], total, noise
    fine = ProbabilityCells(*columns, c.weighted)
    first = first_of_runs(fold, group)
    return FoldCells(fine, fold, group), FoldCells(fine.joined(first), fold[first], group[first])
