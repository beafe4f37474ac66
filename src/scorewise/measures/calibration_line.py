"""Are the log-odds too high, or too bold? Cox's intercept and slope."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from scorewise.estimate import Estimate
from scorewise.intervals.cox import LARGEST, Coefficient, LogOdds, in_the_large, log_odds, slope
from scorewise.intervals.scales import Spread, effective, limits, student_chance
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.chances import why_not_probable
from scorewise.tallies.extremes import why_open
from scorewise.tallies.mean_loss import check_clip

EVERYWHERE = (-math.inf, math.inf)
METHOD = "Student, sandwich"


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
