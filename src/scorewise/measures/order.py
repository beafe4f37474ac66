"""Is the order right? Measures of the ROC curve."""

from __future__ import annotations

from typing import Literal

from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.kolmogorov import least_distance
from scorewise.intervals.partial import partial, partial_spread
from scorewise.intervals.placements import FEW, area, area_limits, score_limits, sizes
from scorewise.intervals.scales import Spread, limits
from scorewise.intervals.shares import combine, wilson
from scorewise.registry import measure
from scorewise.tallies import Tally
from scorewise.tallies.extremes import certified, extremes


@measure(group="order", title="AUROC")
def auroc(t: Tally, *, level: float = 0.95) -> Estimate:
    """Chance that a positive outscores a negative, ties counting half.

    The area under the ROC curve. DeLong's interval on the logit scale, from the counts, ties exact;
    with fewer than ten rows in a class, or all pairs in one order, Newcombe's (2006) score interval, whose
    limit towards 0.5 also serves where a few rows bring most of the variance. Every constant scores 0.5.

    >>> auroc(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1, 0.9, 0.4]))
    0.833 [0.358, 0.976]
    """
    if why := t.why_not_ranked:
        return Estimate.undefined(why, level)
    value, bound = certified(t, area)
    low, high, method = area_limits(t, value, level)
    low, high = max(0.0, low - bound), min(1.0, high + bound)
    return Estimate(value, low, high, level, method, "", bound, 0.5)


@measure(group="order", bounds=(0.0, 0.1), title="pAUROC, FPR <= 0.1")
def partial_auroc(
    t: Tally,
    *,
    max_fpr: float | None = None,
    min_tpr: float | None = None,
    scale: Literal["area", "mcclish"] = "area",
    level: float = 0.95,
) -> Estimate:
    """Area under the part of the ROC curve that matters: false positive rates up to `max_fpr`.

    `max_fpr=0.1` unless said; or `min_tpr=`, the area right of the curve above that true positive rate.
    `scale="mcclish"` maps chance to 0.5 and perfection to 1 (McClish 1989). The interval is DeLong's,
    with the boundary quantile estimated (Dodd and Pepe 2003), on the logit scale of the share. With
    fewer than ten rows of a class within the part it is no narrower than Newcombe's (2006), which serves
    alone where the part is perfect; where it is empty, Wilson's of the positives.

    >>> partial_auroc(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1, 0.9, 0.4]), max_fpr=0.5)
    0.347 [0.004, 0.499]
    """
    if max_fpr is not None and min_tpr is not None:
        raise BadInput("partial_auroc takes max_fpr or min_tpr, not both")
    if scale not in ("area", "mcclish"):
        raise BadInput(f"scale={scale!r} is not known; it is 'area' or 'mcclish'")
    width = 1 - min_tpr if min_tpr is not None else 0.1 if max_fpr is None else max_fpr
    if not 0 < width <= 1:
        raise BadInput("partial_auroc needs 0 < max_fpr <= 1 or 0 <= min_tpr < 1")
    if why := t.why_not_ranked:
        return Estimate.undefined(why, level)
    across = min_tpr is not None
    part = partial(t, width, across)
    value, bound = certified(t, lambda x: (part if x is t else partial(x, width, across)).area)
    variance, df = partial_spread(t, part, across)
    known = Spread(variance / width**2, df)
    share = value / width
    neg, pos = sizes(t)
    # of the class along the axis, only those rows count that lie within the width
    used = (neg, pos * width) if across else (neg * width, pos)
    low, high, method = _part_limits(share, known, used, pos if not across else neg, level)
    low, high = max(0.0, low * width - bound), min(width, high * width + bound)
    chance = width * width / 2
    if scale == "mcclish":
        way = 2 * (width - chance)
        value, low, high = (0.5 + (x - chance) / way for x in (value, low, high))
        bound, chance = bound / way, 0.5
    return Estimate(value, low, high, level, method, "", bound, chance)


def _part_limits(
    share: float, known: Spread, used: tuple[float, float], climbing: float, level: float
) -> tuple[float, float, str]:
    """Limits of the share of a part that is filled, and their name.

    `used` are the rows of both classes within the part, `climbing` all rows of the class that climbs.
    """
    if share == 0:  # none of the class that climbs lies within the part
        return *wilson(0.0, climbing, 0.0, climbing, level)[1:], "Wilson"
    few = min(used) <= FEW - 1e-9
    seen = known.says_something() and share < 1
    if seen and not few:
        return *limits(share, known, level, "logit"), "DeLong, logit"
    low, high = score_limits(share, *used, level)
    if not seen:
        return low, high, "Newcombe"
    least, most = limits(share, known, level, "logit")
    return min(low, least), max(high, most), "DeLong and Newcombe"


@measure(group="order", title="KS")
def ks(t: Tally, *, level: float = 0.95) -> Estimate:
    """Largest distance between the score distributions of the two classes (Kolmogorov-Smirnov).

    max |tpr - fpr| over all thresholds. Newcombe's interval at the threshold that attains it, which was
    searched for: the lower limit is that of a test of the maximum, where that is lower. It is 0 where the
    Kolmogorov-Smirnov test finds no difference.

    >>> ks(Tally.of([1, 0, 1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1, 0.9, 0.4]))
    0.667 [0.000, 0.939]
    """
    if why := t.why_not_ranked:
        return Estimate.undefined(why, level)
    above, below, at, sign = _distances(t)
    # weights may add up to a hair above the whole
    value, bound = min(1.0, max(above, below)), 0.0
    if t.coarse is not None:
        (worst_up, worst_down, *_), (best_up, best_down, *_) = map(_distances, extremes(t))
        ends = max(worst_up, best_down), max(best_up, worst_down)
        value, bound = (ends[0] + ends[1]) / 2, (ends[1] - ends[0]) / 2
    rates = []
    for w, squares, way in zip((t.pos, t.neg), reversed(t.squares), (-1, 1), strict=True):
        # floats, because squares of large counts leave the range of integers
        hit, miss = [float(w[:at].sum()), float(w[at:].sum())][::way]
        # weights as uneven on both sides as on the whole: where heavy rows lie is chance
        each = float(squares) / (hit + miss)
        rates.append(wilson(hit, miss, hit * each, miss * each, level))
    tpr, tnr = rates
    ends = combine(lambda a, b: a + b - 1, tpr, tnr)
    low, high = sorted(sign * x for x in ends)
    low = min(low, value, least_distance(t, level))
    low, high = max(0.0, low - bound), min(1.0, max(high, value) + bound)
    return Estimate(value, low, high, level, "Newcombe; test of the maximum", "", bound, 0.0)


def _distances(t: Tally) -> tuple[float, float, int, int]:
    """max(tpr - fpr), max(fpr - tpr), the cell from which the larger is counted, and its sign."""
    neg, pos = t.negatives, t.positives
    up = down = 0.0
    at, sign, first = 0, 1, 0
    for b in t.blocks():
        lead = (b.neg_below + b.neg.cumsum()) / neg - (b.pos_below + b.pos.cumsum()) / pos
        most, least = int(lead.argmax()), int(lead.argmin())
        if lead[most] > max(up, down):
            at, sign = first + most + 1, 1
        if -lead[least] > max(up, down, lead[most]):
            at, sign = first + least + 1, -1
        up, down = max(up, float(lead[most])), max(down, float(-lead[least]))
        first += len(lead)
    return up, down, at, sign
