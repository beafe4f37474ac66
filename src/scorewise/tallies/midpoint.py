"""The midpoint of the scores: where a score turns from low to high."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.tallies.climbing import class_sums, why_not_unit
from scorewise.tallies.losses import unit
from scorewise.tallies.tally import Tally

Rule: TypeAlias = Literal["mean", "balanced", "median", "crossing"]

_FAR = 0.2


def far(value: float) -> bool:
    """Whether a midpoint is so far from 0.5 that wrong scores may climb more than right ones."""
    return abs(value - 0.5) > _FAR


class Midpoint(NamedTuple):
    """The midpoint, how it was found, and between which values it lies when the tally is coarse."""

    value: float
    rule: Literal["mean", "balanced", "median", "crossing", "fixed", "learned"]
    low: float
    high: float


def midpoint(t: Tally, rule: Rule | float | Tally = "mean") -> Midpoint:
    """The midpoint of a tally whose scores have a place on [0, 1]; for logits, of the probabilities.

    "mean": of all scores, which is the mean of the class means, each weighted by its class.
    "balanced": of the two class means. "median": of the two class medians. "crossing": where the
    densities of the classes cross. A number is taken as it is, in the precision of the scores ("fixed").
    Another tally, for instance of a validation set, gives its mean ("learned").

    >>> t = Tally.of([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> [round(midpoint(t, rule).value, 3) for rule in ("mean", "balanced", "median", 0.5)]
    [0.493, 0.493, 0.45, 0.5]
    """
    if isinstance(rule, Tally):
        return _learned(rule)
    if isinstance(rule, str):
        if rule not in get_args(Rule):
            known = ", ".join(f'"{r}"' for r in get_args(Rule))
            raise BadInput(
                f"midpoint={rule!r} is not known; pass {known}, a number in [0, 1] or a Tally"
            )
        return _found(t, rule)
    return _fixed(rule, t)


def _learned(other: Tally) -> Midpoint:
    if why := why_not_unit(other) or other.why_not_ranked:
        raise BadInput(f"no midpoint can be learned from that tally: {why}")
    return _found(other, "mean")._replace(rule="learned")


def _fixed(value: Any, t: Tally) -> Midpoint:
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number <= 1:
        raise BadInput(f"midpoint={value!r} is not a number in [0, 1]")
    if t.kind != "logit":  # in the precision of the scores, as a threshold is
        number = float(t.score.dtype.type(number))
    return Midpoint(number, "fixed", number, number)


def _found(t: Tally, rule: Rule) -> Midpoint:
    if rule == "median":
        (a, b), (c, d) = _median(t, 0), _median(t, 1)
        low, high = (a + c) / 2, (b + d) / 2
        return Midpoint((low + high) / 2, rule, low, high)
    if rule == "crossing":
        from scorewise.tallies.crossing import crossing

        if t.coarse is not None:
            raise BadInput(
                "a coarse tally does not know where densities cross; choose another midpoint, such as "
                'midpoint="balanced"'
            )

        value = crossing(t)
    else:
        sums, weights = class_sums(t), (t.negatives, t.positives)
        if rule == "mean":  # which one class is enough for
            value = sum(sums) / sum(weights)
        else:
            value = sum(x / w for x, w in zip(sums, weights, strict=True)) / 2
    return Midpoint(value, rule, value, value)


def _median(t: Tally, side: int) -> tuple[float, float]:
    """The median of a class: between which values it lies, which is one value unless coarse."""
    w = (t.neg, t.pos)[side]
    if t.coarse is None:
        low = high = unit(t.score, t.kind)
    else:
        low, high = (unit(x[side], t.kind) for x in (t.coarse.low, t.coarse.high))
    used = w > 0
    w, low, high = w[used], low[used], high[used]
    below, half = w.cumsum(), w.sum() / 2
    # the first score at which half of the weight is reached, and the first at which it is passed
    hair = 1e-12 * half
    first, last = (np.searchsorted(below, half + sign * hair) for sign in (-1, 1))
    return _mean(low, first, last), _mean(high, first, last)


def _mean(values: Floats, first: Any, last: Any) -> float:
    return float(values[first] + values[last]) / 2
