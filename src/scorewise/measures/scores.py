"""Do the scores themselves agree with the labels? The score-weighted ROC curve."""

from __future__ import annotations

import math

from scorewise.estimate import Estimate
from scorewise.inference.ranking import score_limits, sizes
from scorewise.inference.scales import limits, z
from scorewise.inference.smroc import chance_area, smooth_area, smooth_replicates, smooth_spread
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.smroc import Midpoint, Rule, smooth_bounds, why_not_unit
from scorewise.tallies.smroc import midpoint as find_midpoint

EMPTY = "all scores are extreme: nothing climbs, or nothing runs"


@measure(group="scores", title="smAUC")
def smauc(
    t: Tally, *, midpoint: Rule | float | Tally = "mean", level: float = 0.95, seed: int = 0
) -> Estimate:
    """How well high scores on positives and low ones on negatives are set apart, by their magnitude.

    The area under the score-weighted ROC curve (smROC): each row climbs by its score if that is
    appropriate, and by 1 minus it if not, and runs by the rest. Scores of 0 and 1 alone give AUROC. It is
    no proper score: it rewards bold scores, also too bold ones. The interval is by influence on the
    logit scale, the movement of the midpoint included; with the rules "median" and "crossing" by the
    bootstrap of cells. Every constant scores 0.5. The baseline is what the same scores would get if they
    were dealt out to the rows at random; it is far above 0.5 where most scores are near 0, or near 1.

    >>> smauc(Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]))
    0.843 [0.379, 0.979]
    """
    if why := t.why_not_ranked or why_not_unit(t):
        return Estimate.undefined(why, level)
    m = find_midpoint(t, midpoint)
    value, bound = _value(t, m)
    if math.isnan(value):
        return Estimate.undefined(EMPTY, level)
    low, high, method = _limits(t, m, value, level, seed)
    low, high = max(0.0, min(low, value) - bound), min(1.0, max(high, value) + bound)
    chance = chance_area(t, m.value)
    baseline = None if math.isnan(chance) else chance  # a class may vanish beside the other
    return Estimate(value, low, high, level, method, "", bound, baseline)


def _value(t: Tally, m: Midpoint) -> tuple[float, float]:
    if t.coarse is None:
        return smooth_area(t, m.value).value, 0.0
    least, most = smooth_bounds(t, m)
    return (least + most) / 2, (most - least) / 2


def _limits(
    t: Tally, m: Midpoint, value: float, level: float, seed: int
) -> tuple[float, float, str]:
    if m.rule in ("median", "crossing"):
        known, method = smooth_replicates(t, m.rule, seed=seed), "bootstrap, logit"
    else:
        known, method = smooth_spread(t, m), "influence, logit"
    if 0 < value < 1 and known.says_something():
        return *limits(value, known, level, "logit"), method
    z(level)  # refuses a level that means nothing
    return *score_limits(value, *sizes(t), level), "Newcombe"
