"""One rival less another: the mean difference, its interval, and what they say against a margin."""

from __future__ import annotations

from math import isnan, nan
from typing import NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from experiments.kdg_summary import HIGH, wide
from experiments.markdown import between, shown
from experiments.paired_tests import Difference, corrected_t

MARGIN = 0.1  # of the other's mean value; what is worse by less counts as not worse
SAME = 1e-12  # differences this near to one another are the same


class Versus(NamedTuple):
    """A measure of one rival less that of another; where there is no interval, `why` says why.

    `better` of `sets` sets have `one` ahead; `high` means that high values are good; NaN is no margin.
    """

    over: Difference
    better: int
    sets: int
    margin: float = nan
    high: bool = False
    why: str = ""

    @property
    def worst(self) -> float:
        """The end of the interval on the bad side, above 0 where it is worse."""
        return -self.over.low if self.high else self.over.high

    @property
    def best(self) -> float:
        """The end of the interval on the good side, below 0 where it is better."""
        return -self.over.high if self.high else self.over.low


def student(d: NDArray[np.float64], unit: str, shared: float = 0) -> tuple[Difference, str]:
    """Student's interval of a mean difference, or why there is none.

    `shared`: rows judged for each row learned from, where runs share rows (Nadeau and Bengio 2003).

    >>> found, why = student(np.array([0.1, 0.2, 0.3]), "set")
    >>> round(found.low, 3), round(found.high, 3), why
    (-0.048, 0.448, '')
    >>> student(np.array([0.5, np.nan]), "set")[1]
    'one set only'
    """
    d = d[np.isfinite(d)]
    mean = float(d.mean()) if len(d) else nan
    if not len(d):
        why = f"no {unit} has both numbers"
    elif len(d) == 1:
        why = f"one {unit} only"
    elif np.ptp(d) <= SAME:
        why = f"the same on all {len(d)} {unit}s"
    else:
        return corrected_t(d, 1, shared), ""
    return Difference(mean, nan, nan, nan, nan), why


def versus(r: pl.DataFrame, measure: str, one: str, other: str) -> Versus:
    """Means over seeds compared over sets, which vary."""
    return _compared(r, measure, one, other, "set")


def over_seeds(r: pl.DataFrame, measure: str, one: str, other: str) -> Versus:
    """Means over sets compared over seeds: only for sets that are drawn anew with each seed."""
    return _compared(r, measure, one, other, "seed")


def _compared(r: pl.DataFrame, measure: str, one: str, other: str, unit: str) -> Versus:
    a, b = wide(r, measure, (one, other), unit).T
    over, why = student(a - b, unit)
    both = np.isfinite(a - b)
    margin = MARGIN * abs(float(b[both].mean())) if both.any() else nan
    x, y = wide(r, measure, (one, other)).T
    better = (x > y) if measure in HIGH else (x < y)
    known = int(np.isfinite(x - y).sum())
    return Versus(over, int(better.sum()), known, margin, measure in HIGH, why)


def within(
    r: pl.DataFrame, measure: str, one: str, other: str, *, shared: bool = True
) -> dict[str, Difference]:
    """For each set the mean difference over seeds, where it has an interval.

    Halves of a set that are drawn with different seeds overlap, which `shared` corrects for (Nadeau and
    Bengio 2003); simulations are drawn anew.
    """
    found = {}
    for (name,), part in r.group_by("set"):
        a, b = wide(part, measure, (one, other), "seed").T
        over, why = student(a - b, "seed", float(shared))
        if not why:
            found[str(name)] = over
    return dict(sorted(found.items()))


def verdict(v: Versus) -> str:
    """What a difference and its interval say: one of four answers, or that there is no interval."""
    good, bad = ("higher", "**lower**") if v.high else ("lower", "**higher**")
    if v.why:
        return _without(v, good, bad)
    if v.worst < 0:
        return f"is {good}"
    if v.best > 0:
        return f"is {bad}, though within the margin" if v.worst <= v.margin else f"is {bad}"
    return "is not worse within the margin" if v.worst <= v.margin else "is not told apart"


def _without(v: Versus, good: str, bad: str) -> str:
    if isnan(v.over.mean):
        return "is not known"
    if abs(v.over.mean) <= SAME:
        return "is the same"
    ahead = (v.over.mean > 0) == v.high
    return f"is {good if ahead else bad} by the mean alone"


def interval(v: Versus, digits: int = 4) -> str:
    """The difference and its interval; where that is not all better, whether it ends within the margin."""
    if v.why or isnan(v.margin) or v.worst < 0:
        return cell(v, digits)
    end, sign = ("lower", "-") if v.high else ("upper", "+")
    side = "within" if v.worst <= v.margin else "beyond"
    return f"{cell(v, digits)}, {end} end {side} the margin of {sign}{shown(v.margin, digits)}"


def cell(v: Versus, digits: int = 3) -> str:
    """The difference and its interval; where there is none, the reason."""
    if isnan(v.over.mean):
        return v.why
    if v.why:
        return f"{round(v.over.mean, digits) + 0.0:+.{digits}f} ({v.why})"
    return between(v.over.mean, v.over.low, v.over.high, digits)
