"""Groups as a sample of places, such as hospitals: the mean over them, and what a new one may show.

AUROC is pooled on the logit scale, O/E on the log scale, the calibration slope as it is (Debray and others
2017, 2019), by random effects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np

from scorewise.estimate import Estimate, number
from scorewise.inference.clusters import pooled
from scorewise.inference.scales import z
from scorewise.registry import MEASURES
from scorewise.show.estimates import OfMeasure
from scorewise.show.fields import Count, Number, Share, Word, means, says
from scorewise.show.page import Column, Section, section
from scorewise.show.verdict import Claim, claim, figure, shown
from scorewise.show.words import quoted
from scorewise.tallies.losses import expit, logit

LEAST = 3  # groups that are pooled
# columns of such names have groups of which there are more: what a new one may show is told
PLACES = re.compile(
    "site|cent(er|re)|hospital|clinic|practice|ward|country|region|state|city|study|trial|cohort|lab|"
    "school|branch|store|plant|source|data_?set",
    re.IGNORECASE,
)
TOLD = 5  # groups from which on the verdict speaks of new ones
METHOD = "REML, Hartung-Knapp"
SCALES: dict[str, Literal["logit", "log", "identity"]] = {
    "auroc": "logit",
    "calibration_slope": "identity",
    "oe_ratio": "log",
}
# there and back
WAYS: dict[str, tuple[Any, Any]] = {
    "logit": (logit, expit),
    "log": (np.log, np.exp),
    "identity": (np.asarray, np.asarray),
}

JudgedGroups: TypeAlias = Annotated[Count, says("Groups that are judged and have an interval.")]


class PooledRecord(OfMeasure):
    """A measure over groups that are a sample of more, by random effects."""

    groups: JudgedGroups
    scale: Literal["logit", "log", "identity"] = means("The scale on which estimates are pooled.")
    method: Word = means("How variance between groups and interval are found.", default=METHOD)
    value: Number = means("The mean over groups; null where there are too few.")
    low: Number
    high: Number
    prediction_low: Number = means("Lower end of where the true value of a new group is.")
    prediction_high: Number = means("Upper end of that.")
    tau2: Number = means("Variance of true values between groups, on the scale.")
    i2: Share | None = means("Share of that in the variance of a typical estimate.")
    why: str

    def estimate(self, level: float = 0.95) -> Estimate:
        """The mean over groups."""
        if self.value is None or self.low is None or self.high is None:
            return Estimate.undefined(self.why, level)
        return Estimate(self.value, self.low, self.high, level, METHOD)

    def new(self, level: float = 0.95) -> Estimate:
        """The mean with the limits between which a new group is expected."""
        e = self.estimate(level)
        if self.prediction_low is None or self.prediction_high is None:
            return e
        return Estimate(e.value, self.prediction_low, self.prediction_high, level, METHOD)


def pooled_record(name: str, estimates: Sequence[Estimate], level: float) -> PooledRecord:
    """The mean of a measure over groups, standard errors being those of the intervals.

    >>> three = [Estimate(0.8, 0.7, 0.88), Estimate(0.7, 0.6, 0.79), Estimate(0.9, 0.85, 0.94)]
    >>> found = pooled_record("auroc", three, 0.95)
    >>> found.estimate(0.95), round(found.i2, 2)
    (0.813 [0.443, 0.960], 0.86)
    """
    scale = SCALES[name]
    each = np.array([(e.value, e.low, e.high) for e in estimates]).reshape(-1, 3)
    inside = np.isfinite(each).all(1) & (each[:, 1] < each[:, 2])
    if scale != "identity":
        inside &= each[:, 1] > 0
    if scale == "logit":
        inside &= each[:, 2] < 1
    points, low, high = WAYS[scale][0](each[inside].T)
    named: Any = {"measure": name, "title": MEASURES[name].title, "scale": scale}
    numbers = ("value", "low", "high", "prediction_low", "prediction_high", "tau2", "i2")
    if len(points) < LEAST:
        why = "fewer than three groups have an interval"
        none: Any = dict.fromkeys(numbers)
        return PooledRecord(**named, groups=len(points), why=why, **none)
    found = pooled(points, ((high - low) / (2 * z(level))) ** 2, level)
    ends = WAYS[scale][1](np.clip(found[:5], -700.0, 700.0)).tolist()
    made: Any = dict(zip(numbers, (*ends, found.tau2, found.i2), strict=True))
    return PooledRecord(**named, groups=len(points), why="", **made)


def is_sample(by: Sequence[str]) -> bool:
    """Whether the groups of such columns are a sample of more, as hospitals are and sexes are not.

    >>> is_sample(["site_id"]), is_sample(["sex"])
    (True, False)
    """
    return any(PLACES.search(name) for name in by)


def pooled_claims(
    records: Sequence[PooledRecord], by: Sequence[str], level: float
) -> Iterator[Claim]:
    """What a new group may show, where there are enough to tell."""
    told = [r for r in records if r.groups >= TOLD and r.value is not None and is_sample(by)]
    if not told:
        return
    parts, figures = [], []
    for r in told:
        new = r.new(level)
        parts.append(f"{NAMES[r.measure]} {number(r.value or 0.0)}, in a new one {_span(new)}")
        figures += [figure(r.measure, r.estimate(level), "mean of groups"),
                    figure(r.measure, new, "a new group")]  # fmt: skip
    where = " and ".join(quoted(x) for x in by)
    text = f"Over {told[0].groups} groups by {where}, on average: {'; '.join(parts)}"
    text += f" ({100 * level:g}% prediction intervals)."
    yield claim("groups", "new group", text, figures)


NAMES = {"auroc": "AUROC", "calibration_slope": "slope", "oe_ratio": "O/E"}


def _span(e: Estimate) -> str:
    return f"{number(e.low)} to {number(e.high)}"


def pooled_section(
    records: Sequence[PooledRecord], by: Sequence[str], level: float
) -> list[Section]:
    """The mean over groups with its interval, and that of a new group, measure by measure."""
    rows = [
        (r.title, r.groups, shown(r.estimate(level)), _span(r.new(level)), r.tau2, r.i2)
        for r in records
        if r.value is not None and is_sample(by)
    ]
    means = "Random effects (REML, Hartung-Knapp); AUROC on the logit, O/E on the log scale."
    new = f"A new group: {100 * level:g}% prediction interval of its true value."
    columns = [Column("Over groups", "title"), Column("Groups", "count")]
    columns += [Column("Mean", meaning=means), Column("A new group", meaning=new)]
    return section("", [*columns, "tau²", ("I²", "percent")], rows)
