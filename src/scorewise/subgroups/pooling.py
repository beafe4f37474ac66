"""Groups as a sample of places, such as hospitals: the mean over them, and what to expect of a new one.

AUROC is pooled on the logit scale, O/E on the log scale, the calibration slope as it is (Debray and others
2017, 2019), by random effects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Annotated, Any, Literal, NamedTuple, TypeAlias

import numpy as np

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.arrays import Floats
from scorewise.estimate import Estimate, number
from scorewise.inference.scales import normal_quantile, t_quantile
from scorewise.registry import MEASURES
from scorewise.show.page import Column, Section, section
from scorewise.show.records import Count, Number, OfMeasure, Share, Word, doc, field
from scorewise.show.verdict import Claim, claim, figure, with_ci
from scorewise.show.words import quoted
from scorewise.tallies.losses import expit, logit

MIN_POOLED = 3  # groups
REML_STEPS = 200
DRAWS = 10_000  # of a new place
TAU_GRID = 200  # values of tau^2 at which Q is computed
MIN_TO_PREDICT = 5  # groups from which on the verdict speaks of new ones
# columns of such names have groups that are a sample of more
PLACES = re.compile(
    "site|cent(er|re)|hospital|clinic|practice|ward|country|region|state|city|study|trial|cohort|lab|"
    "school|branch|store|plant|source|data_?set",
    re.IGNORECASE,
)
METHOD = "REML, Hartung-Knapp"
Scale: TypeAlias = Literal["logit", "log", "identity"]
SCALES: dict[str, Scale] = {"auroc": "logit", "calibration_slope": "identity", "oe_ratio": "log"}
NAMES = {"auroc": "AUROC", "calibration_slope": "slope", "oe_ratio": "O/E"}
# to the scale and back
TRANSFORMS: dict[str, tuple[Any, Any]] = {
    "logit": (logit, expit),
    "log": (np.log, np.exp),
    "identity": (np.asarray, np.asarray),
}
GroupsWithInterval: TypeAlias = Annotated[
    Count, doc("Groups that are judged and have an interval.")
]


class PooledRecord(OfMeasure):
    """A measure over groups that are a sample of more, by random effects."""

    groups: GroupsWithInterval
    scale: Scale = field("The scale on which estimates are pooled.")
    method: Word = field("How variance between groups and interval are found.", default=METHOD)
    value: Number = field("The mean over groups; null where there are too few.")
    low: Number
    high: Number
    prediction_low: Number = field("Lower end of where the true value of a new group is.")
    prediction_high: Number = field("Upper end of that.")
    tau2: Number = field("Variance of true values between groups, on the scale.")
    i2: Share | None = field("Share of that in the variance of a typical estimate.")
    why: str

    def estimate(self, level: float = 0.95) -> Estimate:
        """The mean over groups."""
        if self.value is None or self.low is None or self.high is None:
            return Estimate.undefined(self.why, level)
        return Estimate(self.value, self.low, self.high, level, METHOD)

    def prediction(self, level: float = 0.95) -> Estimate:
        """The mean with the prediction interval of a new group."""
        e = self.estimate(level)
        if self.prediction_low is None or self.prediction_high is None:
            return e
        return Estimate(e.value, self.prediction_low, self.prediction_high, level, METHOD)


def pooled_record(measure: str, estimates: Sequence[Estimate], level: float) -> PooledRecord:
    """The mean of a measure over groups, standard errors being those of the intervals.

    >>> three = [Estimate(0.8, 0.7, 0.88), Estimate(0.7, 0.6, 0.79), Estimate(0.9, 0.85, 0.94)]
    >>> found = pooled_record("auroc", three, 0.95)
    >>> found.estimate(0.95), round(found.i2, 2)
    (0.813 [0.443, 0.960], 0.86)
    """
    scale = SCALES[measure]
    to_scale, back = TRANSFORMS[scale]
    each = np.array([(e.value, e.low, e.high) for e in estimates]).reshape(-1, 3)
    usable = np.isfinite(each).all(1) & (each[:, 1] < each[:, 2])
    if scale != "identity":
        usable &= each[:, 1] > 0
    if scale == "logit":
        usable &= each[:, 2] < 1
    points, low, high = to_scale(each[usable].T)
    numbers: Any = dict.fromkeys(
        ("value", "low", "high", "prediction_low", "prediction_high", "tau2", "i2")
    )
    why = "fewer than three groups have an interval" if len(points) < MIN_POOLED else ""
    if not why:
        fit = pooled(points, ((high - low) / (2 * normal_quantile(level))) ** 2, level)
        limits = back(np.clip(fit[:5], -700.0, 700.0)).tolist()
        numbers = dict(zip(numbers, (*limits, fit.tau2, fit.i2), strict=True))
    title, many = MEASURES[measure].title, len(points)
    return PooledRecord(measure=measure, title=title, groups=many, scale=scale, why=why, **numbers)


def is_sample(by: Sequence[str]) -> bool:
    """Whether the groups of such columns are a sample of more, as hospitals are and sexes are not.

    >>> is_sample(["site_id"]), is_sample(["sex"])
    (True, False)
    """
    return any(PLACES.search(name) for name in by)


def pooled_claims(
    records: Sequence[PooledRecord], by: Sequence[str], level: float
) -> Iterator[Claim]:
    """What to expect of a new group, where there are enough to tell."""
    enough = [r for r in records if r.groups >= MIN_TO_PREDICT and r.value is not None]
    if not (enough and is_sample(by)):
        return
    parts, figures = [], []
    for r in enough:
        new = r.prediction(level)
        parts.append(f"{NAMES[r.measure]} {number(r.value or 0.0)}, in a new one {_limits(new)}")
        figures.append(figure(r.measure, r.estimate(level), "mean of groups"))
        figures.append(figure(r.measure, new, "a new group"))
    where = " and ".join(quoted(x) for x in by)
    text = f"Over {enough[0].groups} groups by {where}, on average: {'; '.join(parts)}"
    text += f" ({100 * level:g}% prediction intervals)."
    yield claim("groups", "new group", text, figures)


def _limits(e: Estimate) -> str:
    return f"{number(e.low)} to {number(e.high)}"


def pooled_section(
    records: Sequence[PooledRecord], by: Sequence[str], level: float
) -> list[Section]:
    """The mean over groups with its interval, and that of a new group, measure by measure."""
    rows = [
        (r.title, r.groups, with_ci(r.estimate(level)), _limits(r.prediction(level)), r.tau2, r.i2)
        for r in records
        if r.value is not None and is_sample(by)
    ]
    mean = "Random effects (REML, Hartung-Knapp); AUROC on the logit, O/E on the log scale."
    new = f"A new group: {100 * level:g}% prediction interval of its true value."
    columns = [Column("Over groups", "title"), Column("Groups", "count")]
    columns += [Column("Mean", meaning=mean), Column("A new group", meaning=new)]
    return section("", [*columns, "tau²", ("I²", "percent")], rows)


# Random effects: the mean over places, how much they differ, and how far a new place may be from it.
#
# Each place has a true value of its own, normal around a mean with variance tau^2, which is estimated by
# restricted likelihood (REML). The interval of the mean is that of Hartung and Knapp (2001). The prediction
# interval knows that tau^2 is an estimate, too, often 0 where it is not: it is drawn from its confidence
# distribution (Nagashima, Noma and Furukawa 2019), which that of Q under normal effects gives.


class Pooled(NamedTuple):
    """A mean with its limits, those of a new place, and how much places differ."""

    value: float
    low: float
    high: float
    new_low: float
    new_high: float
    tau2: float
    i2: float
    q: float


def between(values: Floats, variances: Floats) -> float:
    """tau^2 by restricted likelihood: Fisher scoring from the estimate of DerSimonian and Laird (1986).

    >>> round(between(np.array([0.1, 0.5, 0.9]), np.full(3, 0.01)), 6)
    0.15
    """
    weight = 1 / variances
    q = float((weight * (values - (weight * values).sum() / weight.sum()) ** 2).sum())
    tau2 = max((q - len(values) + 1) / _spread(weight), 0.0)
    scale = float(values.var()) + float(variances.mean())
    for _ in range(REML_STEPS):
        w = 1 / (variances + tau2)
        mean = (w * values).sum() / w.sum()
        # P = W - W 1 1' W / 1' W 1: what is left of the values beside their mean
        trace, rest = _spread(w), _others(w) / w.sum()
        square = float((w**2 * (rest**2 + _others(w**2) / w.sum() ** 2)).sum())
        step = (float(((w * (values - mean)) ** 2).sum()) - trace) / square
        new = max(tau2 + step, 0.0)
        if abs(new - tau2) <= 1e-12 * scale:
            return new
        tau2 = new
    return tau2


def _others(x: Floats) -> Floats:
    """The sum of all others at each place; in the sum of all, one may be so large that it hides them."""
    before, after = x.cumsum()[:-1], x[:0:-1].cumsum()[::-1]
    return np.asarray(np.append(0.0, before) + np.append(after, 0.0))


def _spread(weight: Floats) -> float:
    """The sum of weights less that of their squares over it."""
    return float((weight * (_others(weight) / weight.sum())).sum())


def pooled(values: Floats, variances: Floats, level: float) -> Pooled:
    """The mean of three or more estimates under random effects, and where a new one may be.

    I^2 is the share of tau^2 in the variance of a typical estimate (Higgins and Thompson 2002); Q is
    Cochran's.

    >>> found = pooled(np.array([0.2, 0.4, 0.9, 0.5]), np.array([0.01, 0.02, 0.02, 0.01]), 0.95)
    >>> [round(x, 3) for x in found]
    [0.491, 0.027, 0.955, -0.568, 1.498, 0.069, 0.833, 16.75]
    """
    many, tau2, fixed = len(values), between(values, variances), 1 / variances
    (q, _), (_, mean), (_, error) = _at(values, variances, np.array([0.0, tau2])).tolist()
    typical = (many - 1) / _spread(fixed)
    half = t_quantile(level, many - 1) * error
    new = np.quantile(_drawn(values, variances), [(1 - level) / 2, (1 + level) / 2])
    low, high = min(float(new[0]), mean - half), max(float(new[1]), mean + half)
    return Pooled(mean, mean - half, mean + half, low, high, tau2, tau2 / (tau2 + typical), q)


def _drawn(values: Floats, variances: Floats) -> Floats:
    """True values of a new place, drawn with fixed seed: the mean, Student's error of it, and tau."""
    wanted, t, normal = _chances(len(values) - 1)  # Q falls as tau^2 rises
    most = float(((values - values.mean()) ** 2).sum()) / float(wanted.min())
    least = 1e-6 * (
        float(variances.min()) + 1e-9 * most
    )  # below it tau says nothing beside the errors
    tau2 = np.append(0.0, np.geomspace(least, most, TAU_GRID) if least < most else [])
    few = max(1, (1 << 20) // len(values))  # of many places not all at once
    parts = [_at(values, variances, tau2[i : i + few]) for i in range(0, len(tau2), few)]
    q, mean, error = np.concatenate(parts, axis=1)
    at = np.interp(-wanted, -q, np.arange(len(q)))
    means, errors, spread = (np.interp(at, np.arange(len(q)), x) for x in (mean, error, tau2**0.5))
    found: Floats = means + errors * t + spread * normal
    return found


@lru_cache(8)
def _chances(free: int) -> tuple[Floats, Floats, Floats]:
    """Draws with fixed seed of chi-square, in even steps of its chance, of Student's t and the normal."""
    from scipy.special import chdtri

    rng = np.random.default_rng(0)
    steps = (rng.permutation(DRAWS) + 0.5) / DRAWS
    return chdtri(free, steps), rng.standard_t(free, DRAWS), rng.standard_normal(DRAWS)


def _at(values: Floats, variances: Floats, tau2: Floats) -> Floats:
    """Q, the mean and its standard error (Hartung and Knapp) if tau^2 is so large."""
    w = 1 / (variances + tau2[:, None])
    whole = w.sum(1)
    mean = (w * values).sum(1) / whole
    q = (w * (values - mean[:, None]) ** 2).sum(1)
    return np.stack([q, mean, np.sqrt(q / (len(values) - 1) / whole)])
