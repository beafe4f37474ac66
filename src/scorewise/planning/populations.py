"""What rows would be like, by a pilot or as they are supposed to be, and the intervals of n such rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, TypeAlias

import numpy as np
from scipy.special import ndtri

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.agreeing import agree
from scorewise.columns import binary_rows
from scorewise.columns.sources import is_source
from scorewise.comparing import ModelComparison, compare
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.evaluation import Evaluation, evaluate
from scorewise.gating.candidate import register_of, rows_of
from scorewise.gating.requirements import rescaled
from scorewise.inference.influence import placements
from scorewise.inference.scales import normal_quantile, wald
from scorewise.inference.shares import wilson_of
from scorewise.judging import items_needed
from scorewise.registry import MEASURES, RATER_MEASURES, Measure
from scorewise.show.verdict import column_options
from scorewise.show.words import quoted
from scorewise.tallies import Tally
from scorewise.tallies.losses import expit
from scorewise.tallies.merging import is_saved, not_readable, sum_of_saved

GRID = 4000  # scores of each class that stand for all
PAIRS = 20_000  # rows of each class, scored by two models, that stand for all


def repeated(t: Tally, times: float) -> Tally:
    """The tally of so many times as many rows of the same kind."""
    sums: list[Any] = [np.asarray(w, np.float64) * times for w in (t.neg, t.pos, t.neg2, t.pos2)]
    neg, pos, neg2, pos2 = sums
    return Tally(t.score, neg, pos, neg2, pos2, t.kind, t.origin, t.coarse)


class Pilot:
    """Rows like those to come, evaluated, and compared where there are two models.

    `evaluated` and `compared` give them at a level, which decides on the ends of the interval.
    """

    columns: Sequence[tuple[str, str]] = ()  # options that name its columns again
    supposed_of_two: Sequence[str] = ()

    def __init__(self, evaluated: Callable[[float], Any], compared: Any = None) -> None:
        self.evaluated, self.compared = evaluated, compared
        self.first = evaluated(0.95)
        self.register, self.rows = register_of(self.first), rows_of(self.first)
        self.supposed = [f"rows like the {self.rows:,} of the pilot"]
        self.notes, self.prevalence = tuple(getattr(self.first, "notes", ())), math.nan
        if isinstance(self.first, Evaluation):
            o = self.first.tally.origin
            self.prevalence = o.positives / o.rows
            if o.rule == "last in sort order":
                self.notes += (f"positive class: {quoted(o.positive)}, the last in sort order",)
            if o.sources and o.label is not None:
                self.columns = column_options(o)

    @classmethod
    def of(cls, source: Any, p: Any, score: Any, raters: Any, columns: dict[str, Any]) -> Pilot:
        """The pilot of a source or of columns, evaluated at any level that is asked for, each once."""
        if p is None and not is_source(source):
            raise BadInput("scores are missing; call plan(y, p, ...) or name a file")
        if raters:
            code = columns["encoding"]
            return cls(cache(lambda x: agree(source, raters=raters, level=x, encoding=code)))
        first: dict[str, Any]
        if p is None:
            models = [score] if score is None or isinstance(score, str) else [*score]
            first, both = {"score": models[0]}, {"score": score}
        else:
            models = [*p.values()] if isinstance(p, dict) else [p]
            first, both = {"p": models[0]}, {"scores": p}
            columns = {n: v for n, v in columns.items() if n not in ("label", "encoding")}
        if len(models) > 2:
            raise BadInput(
                f"{len(models)} score columns are named, but a plan is for one model, or for the "
                "difference of two"
            )
        evaluated = cache(lambda level: evaluate(source, **first, level=level, **columns))
        compared = cache(lambda level: compare(source, **both, level=level, **columns))
        if not hasattr(evaluated(0.95), "tally"):
            if is_saved(source):
                raise not_readable(sum_of_saved(source), "one score is")
            raise BadInput(
                "the pilot has several columns of scores; name one or two, ", Option("score")
            )
        return cls(evaluated, compared if len(models) > 1 else None)

    def estimate(self, name: str, rows: float, level: float) -> Estimate:
        """By the tally of the pilot as often as it takes; of clusters and classes by the root of rows."""
        e = self.first
        if not isinstance(e, Evaluation) or e.clusters is not None:
            return rescaled(self.evaluated(level)[name], math.sqrt(rows / self.rows))
        t = repeated(e.tally, rows / self.rows)
        return MEASURES[name].of_tally(t, {**vars(e.settings), "level": level})

    def difference(self, name: str, rows: float, level: float, value: float) -> Estimate:
        """By the paired difference in the pilot, about the value supposed."""
        if self.compared is None:
            raise BadInput(
                "a pilot of one model says nothing of differences; name two ", Option("score"),
                " columns, or a baseline",
            )  # fmt: skip
        c: ModelComparison = self.compared(level)
        e = c.difference(name)
        if not e.defined or not e.high > e.low:
            raise BadInput(
                f"the difference in {name} has no interval in the pilot ({e.why or e.method})"
            )
        data: Any = next(iter(c.models.rows.values()))
        return rescaled(e, math.sqrt(rows / len(data)), value)


class Supposed:
    """Rows as they are supposed to be: calibrated binormal scores of that AUROC, or a share.

    `correlation` is that of the scores of two models within a class, or of their decisions.
    """

    columns: Sequence[tuple[str, str]] = ()
    register: Mapping[str, Measure] = {**MEASURES, "cohen_kappa": RATER_MEASURES["cohen_kappa"]}

    def __init__(
        self, value: float | None, prevalence: float | None, correlation: float | None,
        area: float | None,
    ) -> None:  # fmt: skip
        self.value, self.area = value, area
        self.prevalence = 0.5 if prevalence is None else prevalence
        self.correlation = 0.5 if correlation is None else correlation
        self.supposed = [] if value is None else [f"a value of {value:g}"]
        if area is not None:
            self.supposed.append(f"calibrated binormal scores with an AUROC of {area:g}")
        self.supposed.append(f"{100 * self.prevalence:g}% positive")
        alike = f"two models that correlate by {self.correlation:g} within a class"
        self.supposed_of_two = [alike]
        # measures that are shares of decisions, and what share of all rows each of them is of
        up = self.prevalence
        self.shares = {"sensitivity": up, "specificity": 1 - up, "accuracy": 1.0}

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
            value = self.needed(name)
            # as many as make an interval that wide tell the standard error
            items = items_needed(0.01, kappa=value, prevalence=self.prevalence)
            error = 0.1 * math.sqrt(items) / 20 / normal_quantile(0.95)
            reach = normal_quantile(level) * error / math.sqrt(rows)
            return Estimate(value, value - reach, value + reach, level, "Fleiss, Cohen and Everitt")
        if name in self.shares:
            n = rows * self.shares[name]
            return Estimate(*wilson_of(self.needed(name), n, level), level, "Wilson")
        area = self.needed(name) if name == "auroc" else self.area
        if area is None:
            raise BadInput(
                f"{name} follows from how well scores rank; pass ", Option("auroc", 0.85),
                " for calibrated scores that rank so well, or a pilot file",
            )  # fmt: skip
        t = repeated(_binormal(area, self.prevalence), rows)
        e = MEASURES[name].of_tally(t, {"level": level, "threshold": 0.5, "seed": 0})
        return replace(e, value=area) if name == "auroc" else e

    def difference(self, name: str, rows: float, level: float, value: float) -> Estimate:
        """Of AUROC by the places of rows (DeLong), of shares by their discordance (McNemar)."""
        if name != "auroc" and name not in self.shares:
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
            spread /= self.shares[name]
        ends = wald(value, math.sqrt(spread / rows), level, "identity")
        return Estimate(value, *ends, level, "normal")


Population: TypeAlias = Pilot | Supposed  # what is taken for granted of rows to come


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
    mean, cov = [0.0, 0.0], [[1.0, correlation], [correlation, 1.0]]
    neg, pos = (rng.multivariate_normal(mean, cov, PAIRS, method="cholesky") for _ in range(2))
    scores = np.concatenate((neg, pos + math.sqrt(2) * ndtri([first, second])))
    both = dict(zip("ab", scores.T, strict=True))
    rows = binary_rows(None, label=np.repeat([0, 1], PAIRS), score=both, kind="score")
    one, other = (placements(Tally.of_rows(rows, name), rows) for name in rows.scores)
    gap = one - other
    return float(np.var(gap[rows.y])), float(np.var(gap[~rows.y]))
