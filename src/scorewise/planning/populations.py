"""What rows would be like, by a pilot or as they are supposed to be, and the intervals of n such rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from scipy.special import ndtri

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.agreeing import Agreement
from scorewise.arrays import Floats
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.evaluation import ClassEvaluation, Comparison, Evaluation, ModelComparison
from scorewise.inference.scales import z
from scorewise.inference.shares import wilson_of
from scorewise.judging import items_needed
from scorewise.registry import CLASS_MEASURES, MEASURES, RATER_MEASURES, Measure
from scorewise.show.verdict import columns_of
from scorewise.show.words import quoted
from scorewise.tallies import Tally
from scorewise.tallies.formulas import placed
from scorewise.tallies.losses import expit

GRID = 4000  # scores of each class that stand for all
PAIRS = 20_000  # rows of each class, scored by two models, that stand for all
# shares of decisions whose value can be supposed: of which rows, by prevalence
SHARES: dict[str, Callable[[float], float]] = {
    "sensitivity": lambda prevalence: prevalence,
    "specificity": lambda prevalence: 1 - prevalence,
    "accuracy": lambda prevalence: 1.0,
}


class Population(Protocol):
    """Where rows come from: intervals that n of them would give, of one model or of a difference."""

    def register(self) -> Mapping[str, Measure]:
        """The measures that there are of such rows."""

    def estimate(self, name: str, rows: float, level: float) -> Estimate:
        """A measure with the interval that so many rows would give."""

    def difference(self, name: str, rows: float, level: float, value: float) -> Estimate:
        """A difference of two models, supposed to be that, with the interval of so many rows."""

    @property
    def positive(self) -> float:
        """The share of positives; NaN where there is none."""

    @property
    def supposed(self) -> list[str]:
        """What is taken for granted, in words."""

    @property
    def shared(self) -> list[str]:
        """What is taken for granted of two models."""


def scaled(e: Estimate, times: float, value: float | None = None) -> Estimate:
    """An estimate whose interval is as much narrower as so many times as many rows make it."""
    at, root = e.value if value is None else value, math.sqrt(times)
    return replace(
        e, value=at, low=at - (e.value - e.low) / root, high=at + (e.high - e.value) / root
    )


def repeated(t: Tally, times: float) -> Tally:
    """The tally of so many times as many rows of the same kind."""
    sums: list[Any] = [np.asarray(w, np.float64) * times for w in (t.neg, t.pos, t.neg2, t.pos2)]
    neg, pos, neg2, pos2 = sums
    return Tally(t.score, neg, pos, neg2, pos2, t.kind, t.origin, t.coarse)


@dataclass(frozen=True)
class Pilot:
    """Rows like those to come, evaluated, and compared where there are two models.

    `evaluated` and `compared` give them at a level, which decides on the ends of the interval.
    """

    evaluated: Any
    compared: Any = None

    @cached_property
    def first(self) -> Any:
        """The evaluation at the usual level."""
        return self.evaluated(0.95)

    def register(self) -> Mapping[str, Measure]:
        """The measures of two classes, or of several."""
        if isinstance(self.first, Agreement):
            return RATER_MEASURES
        return CLASS_MEASURES if isinstance(self.first, ClassEvaluation) else MEASURES

    @cached_property
    def rows(self) -> int:
        """Rows or items of the pilot."""
        x = self.first
        if isinstance(x, Agreement):
            return int(x.ratings.items)
        return int(x.tally.origin.rows if isinstance(x, Evaluation) else x.tally.rows)

    @property
    def positive(self) -> float:
        """The share of positives in the pilot."""
        if not isinstance(self.first, Evaluation):
            return math.nan
        o = self.first.tally.origin
        return o.positives / o.rows

    @property
    def notes(self) -> tuple[str, ...]:
        """What was guessed when it was read."""
        notes = tuple(getattr(self.first, "notes", ()))
        o = self.first.tally.origin if isinstance(self.first, Evaluation) else None
        if o is not None and o.rule == "last in sort order":
            notes += (f"positive class: {quoted(o.positive)}, the last in sort order",)
        return notes

    @property
    def columns(self) -> list[tuple[str, str]]:
        """The options that name its columns again, where it is a file of two classes."""
        o = self.first.tally.origin if isinstance(self.first, Evaluation) else None
        return columns_of(o) if o is not None and o.sources and o.label is not None else []

    @property
    def supposed(self) -> list[str]:
        """That rows to come are like those of the pilot."""
        return [f"rows like the {self.rows:,} of the pilot"]

    @property
    def shared(self) -> list[str]:
        """Nothing: the pilot shows what two models share."""
        return []

    def estimate(self, name: str, rows: float, level: float) -> Estimate:
        """By the tally of the pilot as often as it takes; of clusters and classes by the root of rows."""
        e = self.first
        if not isinstance(e, Evaluation) or e.clusters is not None:
            return scaled(self.evaluated(level)[name], rows / self.rows)
        t = repeated(e.tally, rows / self.rows)
        m, settings = MEASURES[name], {**vars(e.settings), "level": level}
        return m.under(settings, t.confusion(e.settings.threshold) if m.group == "decisions" else t)

    def difference(self, name: str, rows: float, level: float, value: float) -> Estimate:
        """By the paired difference in the pilot, about the value supposed."""
        if self.compared is None:
            raise BadInput(
                "a pilot of one model says nothing of differences; name two ", Option("score"),
                " columns, or a baseline",
            )  # fmt: skip
        c: ModelComparison | Comparison = self.compared(level)
        e = c.difference(name)
        if not e.defined or not e.high > e.low:
            raise BadInput(
                f"the difference in {name} has no interval in the pilot ({e.why or e.method})"
            )
        data: Any = (
            next(iter(c.models.rows.values())) if isinstance(c, ModelComparison) else c._rows
        )
        return scaled(e, rows / len(data), value)


@dataclass(frozen=True)
class Supposed:
    """Rows as they are supposed to be: calibrated binormal scores of that AUROC, or a share.

    `correlation` is that of the scores of two models within a class, or of their decisions.
    """

    value: float | None
    prevalence: float
    correlation: float
    area: float | None = None

    def register(self) -> Mapping[str, Measure]:
        """The measures of two classes, and kappas of raters."""
        return {**MEASURES, "cohen_kappa": RATER_MEASURES["cohen_kappa"]}

    @property
    def positive(self) -> float:
        """The share of positives."""
        return self.prevalence

    @property
    def supposed(self) -> list[str]:
        """The assumptions."""
        told = [] if self.value is None else [f"a value of {self.value:g}"]
        if self.area is not None:
            told.append(f"calibrated binormal scores with an AUROC of {self.area:g}")
        return [*told, f"{100 * self.prevalence:g}% positive"]

    @property
    def shared(self) -> list[str]:
        """How far two models are alike."""
        return [f"two models that correlate by {self.correlation:g} within a class"]

    def needed(self, name: str) -> float:
        """The value that is expected, or a refusal."""
        if self.value is None:
            raise BadInput(
                f"no expected value of {name} is given; pass ", Option("value", 0.85),
                ", or a pilot file",
            )  # fmt: skip
        return self.value

    def estimate(self, name: str, rows: float, level: float) -> Estimate:
        """Of a share by Wilson's interval, of others by scores that stand for all."""
        if name == "cohen_kappa":
            return _kappa(self.needed(name), self.prevalence, rows, level)
        if name in SHARES:
            n = rows * SHARES[name](self.prevalence)
            return Estimate(*wilson_of(self.needed(name), n, level), level, "Wilson")
        area = self.needed(name) if name == "auroc" else self.area
        if area is None:
            raise BadInput(
                f"{name} follows from how well scores rank; pass ", Option("auroc", 0.85),
                " for calibrated scores that rank so well, or a pilot file",
            )  # fmt: skip
        t = repeated(_binormal(area, self.prevalence), rows)
        m = MEASURES[name]
        settings = {"level": level, "threshold": 0.5, "seed": 0}
        e = m.under(settings, t.confusion(0.5) if m.group == "decisions" else t)
        return replace(e, value=area) if name == "auroc" else e

    def difference(self, name: str, rows: float, level: float, value: float) -> Estimate:
        """Of AUROC by the places of rows (DeLong), of shares by their discordance (McNemar)."""
        if name != "auroc" and name not in SHARES:
            raise BadInput(
                f"a difference in {name} takes a pilot of two models; pass a file with two ",
                Option("score"), " columns",
            )  # fmt: skip
        own = self.needed(name)
        other = own - value
        if not 0 < other < 1:
            raise BadInput(
                f"a difference of {value:g} to {own:g} leaves [0, 1]; pass a smaller one"
            )
        if name == "auroc":
            up, down = _places(own, other, self.correlation)
            spread = up / self.prevalence + down / (1 - self.prevalence)
        else:
            shared = self.correlation * math.sqrt(own * (1 - own) * other * (1 - other))
            spread = own * (1 - own) + other * (1 - other) - 2 * shared
            spread /= SHARES[name](self.prevalence)
        reach = z(level) * math.sqrt(spread / rows)
        return Estimate(value, value - reach, value + reach, level, "normal")


def _binormal(area: float, prevalence: float) -> Tally:
    """One row in all, spread over scores that stand for calibrated binormal ones."""
    apart = math.sqrt(2) * float(ndtri(area))
    x = ndtri((np.arange(GRID) + 0.5) / GRID)
    odds = math.log(prevalence / (1 - prevalence))
    p = [expit(odds + apart * (x + shift) - apart**2 / 2) for shift in (0.0, apart)]
    y = np.repeat([0, 1], GRID)
    t = Tally.of(y, np.concatenate(p), kind="probability")
    neg: Any = t.neg * ((1 - prevalence) / GRID)
    pos: Any = t.pos * (prevalence / GRID)
    return Tally(t.score, neg, pos, neg, pos, t.kind, t.origin)


def _places(first: float, second: float, correlation: float) -> tuple[float, float]:
    """Variance of the difference of places, of a positive and of a negative, of two binormal models."""
    rng = np.random.default_rng(0)
    spread: list[list[Floats]] = [[], []]
    mean, cov = [0.0, 0.0], [[1.0, correlation], [correlation, 1.0]]
    both = [rng.multivariate_normal(mean, cov, PAIRS, method="cholesky") for _ in range(2)]
    for k, area in enumerate((first, second)):
        neg, pos = both[0][:, k], both[1][:, k] + math.sqrt(2) * float(ndtri(area))
        order = np.argsort(np.concatenate((neg, pos)), kind="stable")
        up = np.repeat([0, 1], PAIRS)[order]
        below, above = np.empty(2 * PAIRS), np.empty(2 * PAIRS)
        below[order], above[order] = placed(1 - up) / PAIRS, 1 - placed(up) / PAIRS
        spread[0].append(below[PAIRS:])
        spread[1].append(above[:PAIRS])
    up_gap, down_gap = (float(np.var(a - b)) for a, b in spread)
    return up_gap, down_gap


def _kappa(value: float, prevalence: float, rows: float, level: float) -> Estimate:
    """The kappa of two raters with the normal interval of so many items."""
    # as many as make an interval that wide tell the standard error
    error = 0.1 * math.sqrt(items_needed(0.01, kappa=value, prevalence=prevalence)) / 20 / z(0.95)
    reach = z(level) * error / math.sqrt(rows)
    return Estimate(value, value - reach, value + reach, level, "Fleiss, Cohen and Everitt")


def positives(population: Population, rows: int) -> int | None:
    """How many of so many rows are positive."""
    share = population.positive
    return None if math.isnan(share) else round(rows * share)
