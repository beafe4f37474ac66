"""Are the scores calibrated? Cox's slope and intercept; the tests of Spiegelhalter, Hosmer and Lemeshow."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from scorewise.columns.rows import one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.logistic import (
    LARGEST,
    Coefficient,
    LogOdds,
    in_the_large,
    log_odds,
    slope,
)
from scorewise.inference.resampling import REPLICATES, drawn_gaps, share_beyond
from scorewise.inference.scales import Spread, effective, limits, student_chance, z
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.coarse import why_open
from scorewise.tallies.losses import unit
from scorewise.tallies.probabilities import MOST, chances, check_clip, moments, why_not_probable
from scorewise.tallies.sorting import inner, runs

EVERYWHERE = (-math.inf, math.inf)
METHOD = "Student, sandwich"
Seen = Literal["new", "training"]
LEAST = 1e-200  # of a variance, in rows: less is none


@measure(group="calibration", better="near", target=1.0, bounds=EVERYWHERE, title="Slope")
def calibration_slope(t: Tally, *, clip: float | None = None, level: float = 0.95) -> Estimate:
    """By what the log-odds should be multiplied: 1 is right, below 1 they are too bold.

    The slope of the logistic regression of the labels on the log-odds, beside an intercept (Cox 1958).
    Interval and `p` (of slope 1) by the sandwich, with as many degrees of freedom as the rarer class has
    rows, less one, or fewer where few rows bring most of the variance. Beyond 65,536 distinct scores rows
    are joined on a fixed grid.

    >>> calibration_slope(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.6, 0.1, 0.4, 0.7]))
    1.070 [-2.164, 4.304]
    """
    if why := _why_not(t, clip) or why_open(t):
        return Estimate.undefined(why, level)
    cells = log_odds(t, clip)
    if why := _why_infinite(t, cells) or _why_flat(cells):
        return Estimate.undefined(why, level)
    found = slope(cells)
    if found is None:
        return Estimate.undefined("a threshold tells the classes apart, no slope is enough", level)
    return _judged(found, level, 1.0, _rarer(t))


@measure(group="calibration", better="near", target=0.0, bounds=EVERYWHERE, title="Intercept")
def calibration_intercept(t: Tally, *, clip: float | None = None, level: float = 0.95) -> Estimate:
    """What all log-odds lack: 0 is right, above 0 the probabilities are too low on the whole.

    Calibration in the large: the intercept of the logistic regression of the labels with the log-odds
    as offset, of slope 1 (Cox 1958). Interval and `p` (of intercept 0) as for the slope. Beyond
    65,536 distinct scores rows are joined on a fixed grid.

    >>> calibration_intercept(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.6, 0.1, 0.4, 0.7]))
    0.087 [-3.923, 4.097]
    """
    if why := _why_not(t, clip):
        return Estimate.undefined(why, level)
    cells = log_odds(t, clip)
    if why := _why_infinite(t, cells):
        return Estimate.undefined(why, level)
    found = in_the_large(cells)
    if found is None:
        return Estimate.undefined("no intercept is large enough", level)
    e = _judged(found, level, 0.0, _rarer(t))
    if not why_open(t):
        return e
    bound = _left_open(t, clip, cells, e.value)
    if not math.isfinite(bound):
        return Estimate.undefined(why_open(t), level)
    return replace(e, low=e.low - bound, high=e.high + bound, bound=bound)


def _why_not(t: Tally, clip: float | None) -> str:
    check_clip(clip)
    if why := why_not_probable(t) or t.why_not_ranked:
        return why
    rarer, total = min(t.negatives, t.positives), t.negatives + t.positives
    return "a class is too rare for floating point" if rarer < 1e-12 * total else ""


def _why_infinite(t: Tally, c: LogOdds) -> str:
    certain = np.isinf(c.x)
    if certain.any():
        weight = float((c.neg + c.pos)[certain].sum())
        rows = f"in {weight:g} row{'s' * (weight != 1)}" if not t.weighted else "in some rows"
        return f"a probability is 0 or 1 {rows}; pass clip=1e-15 to bound its log-odds"
    return "the log-odds are too large" if np.abs(c.x).max() > LARGEST else ""


def _why_flat(c: LogOdds) -> str:
    if len(c.x) < 2:
        return "all scores are equal"
    return "the log-odds differ by less than 1e-100" if c.x[-1] - c.x[0] < 1e-100 else ""


def _left_open(t: Tally, clip: float | None, c: LogOdds, value: float) -> float:
    """How far the intercept can be off: it falls as log-odds rise to the upper ends of their cells."""
    assert t.coarse is not None
    ends = []
    for x in (t.coarse.low.min(0), t.coarse.high.max(0)):
        at = log_odds(replace(t, score=x, coarse=None), clip)
        found = in_the_large(c._replace(x=at.x)) if np.isfinite(at.x).all() else None
        ends.append(math.inf if found is None else abs(found.value - value))
    return max(ends)


def _rarer(t: Tally) -> float:
    """How many rows of the rarer class there are, which is what a sandwich learns from."""
    sides = zip((t.negatives, t.positives), t.squares, strict=True)
    return min(effective(w, w2) for w, w2 in sides)


def _judged(c: Coefficient, level: float, right: float, rows: float) -> Estimate:
    df = max(min(rows - 1, c.df), 1.0)
    low, high = limits(c.value, Spread(c.se**2, df), level, "identity")
    p = student_chance((c.value - right) / c.se, df) if c.se > 0 else None
    return Estimate(c.value, low, high, level, METHOD, expected=right, p=p)


@measure(
    group="calibration",
    better="near",
    target=0.0,
    bounds=(-math.inf, math.inf),
    title="Spiegelhalter's z",
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
    if why := why_not_probable(t):
        return Estimate.undefined(why, level)
    above, variance, half = _excess(t) if why_open(t) else (*_exact_excess(t), 0.0)
    if variance - half <= LEAST:
        why = why_open(t) or "all probabilities are 0, 0.5 or 1: their Brier score does not vary"
        return Estimate.undefined(why, level)
    value = above / math.sqrt(variance)
    bound = abs(above) / math.sqrt(variance - half) - abs(value) + (1e-9 if half else 0.0)
    p = math.erfc(abs(value) / math.sqrt(2))
    return Estimate(value, level=level, bound=bound, expected=0.0, p=p)


def _row(t: Tally) -> float:
    """What a row weighs: 1 for counts."""
    return sum(t.squares) / (t.negatives + t.positives)


def _exact_excess(t: Tally) -> tuple[float, float]:
    """Sum over rows of (y - p)(1 - 2 p), and its variance if the scores are calibrated."""
    if len(t.score) > MOST and not t.weighted:
        return _joined_excess(t)
    above = variance = 0.0
    row = _row(t)
    for b in t.blocks():
        p = unit(b.score, t.kind)
        # that of a logit keeps its digits where p is all but 1
        bold, q = 1 - 2 * p, unit(-b.score, t.kind) if t.kind == "logit" else 1 - p
        above += inner(b.pos / row * q - b.neg / row * p, bold)
        variance += inner((b.neg2 + b.pos2) / row**2 * bold * bold, p * q)
    return above, variance


def _joined_excess(t: Tally) -> tuple[float, float]:
    """The same of very many counts: the sum is exact, the variance that of joined cells."""
    c = chances(t)
    brier = sum(side.first for side in moments(t, "brier", None))
    return brier - float(c.noise.sum()), inner(c.noise, (1 - 2 * c.p) ** 2)


def _excess(t: Tally) -> tuple[float, float, float]:
    """The same for a coarse tally, and what its cells leave open of the variance.

    The sum is exact, because those of p and of p^2 are kept. The slope of (1 - 2 p)^2 p (1 - p) is never
    steeper than 1.
    """
    assert t.coarse is not None
    row = _row(t)
    brier = sum(side.first for side in moments(t, "brier", None))
    of_neg, of_pos = t.coarse.sum.sum(1).tolist()
    squares = brier - t.positives + 2 * of_pos
    above = t.positives - 2 * of_pos - (of_neg + of_pos) + 2 * squares
    low, high = (unit(x, t.kind) for x in (t.coarse.low.min(0), t.coarse.high.max(0)))
    p, mass = (low + high) / 2, (t.neg2 + t.pos2) / row**2
    variance = inner(mass * (1 - 2 * p) ** 2, p * (1 - p))
    return above / row, variance, inner(mass, high - low) / 2


@measure(group="calibration", better="low", bounds=(0.0, math.inf), title="Hosmer-Lemeshow")
def hosmer_lemeshow(
    t: Tally, *, groups: int = 10, rows: Seen = "new", level: float = 0.95, seed: int = 0
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
    one_of("rows", rows, get_args(Seen))
    z(level)
    if isinstance(groups, bool) or not isinstance(groups, int | np.integer) or groups < 2:
        raise BadInput(f"groups={groups!r} is no number of groups; 10 is usual, 2 the least")
    if why := why_not_probable(t) or why_open(t):
        return Estimate.undefined(why, level)
    c = chances(t)
    g = c.joined(runs(c.weight, groups))
    variance = g.squares * g.p * (1 - g.p)
    free = np.minimum(g.p, 1 - g.p) > 1e-12  # nearer to 0 or 1 is certain, up to rounding
    if (np.abs(g.gap[~free]) > 1e-9 * g.weight[~free]).any():
        why = "infinite: a group of certain probabilities holds a row that is not as they say"
        return Estimate(math.inf, level=level, why=why)
    value = float((g.gap[free] ** 2 / variance[free]).sum())
    df = int(free.sum()) - 2 * (rows == "training")
    if df < 1 and rows == "training":
        return Estimate.undefined("fewer than three groups", level)
    from scipy.special import chdtrc

    p, how = float(chdtrc(df, value)) if df else 1.0, "chi-squared"
    size = g.weight**2 / g.squares
    if rows == "new" and (size * np.minimum(g.p, 1 - g.p))[free].min(initial=5.0) < 5:
        drawn = drawn_gaps(g, REPLICATES, np.random.default_rng(seed))[:, free]
        null = (drawn**2 / variance[free]).sum(1)
        p = share_beyond(null, value * (1 - 1e-9) - 1e-15)
        how = f"{len(null):,} draws of labels"
    return Estimate(value, level=level, method=how, expected=float(df), p=p)
