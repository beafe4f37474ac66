"""Evaluations: every measure of a model with its interval, and differences of models on the same rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, ItemsView, Mapping, ValuesView
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias, get_args

import numpy as np

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.arrays import Floats, Ints
from scorewise.checks import at_least, check, one_of
from scorewise.columns import Rows
from scorewise.columns.classes import ClassRows
from scorewise.columns.grouping import grouping
from scorewise.columns.models import Models
from scorewise.computing import cached, on_threads
from scorewise.errors import BadInput, Option, plain
from scorewise.estimate import Estimate
from scorewise.evaluation.inputs import tally_of
from scorewise.inference.choices import Interval, interval_by_name
from scorewise.inference.correlation import (
    correlation_of_classes,
    correlation_of_models,
    groups_left_out,
)
from scorewise.inference.differences import (
    area_difference,
    difference,
    holm,
    smooth_difference,
    unpaired_areas,
)
from scorewise.inference.influence import clustered
from scorewise.inference.means import cluster_mean, mean_difference
from scorewise.inference.scales import t_quantile
from scorewise.registry import CLASS_MEASURES, MEASURES, Lazy, Measure, Measured, unknown
from scorewise.show.document import to_dict
from scorewise.show.result import Pictures, Result
from scorewise.statistics.smroc import why_not_unit
from scorewise.tallies import ClassTally, Confusion, Tally
from scorewise.tallies.losses import unit

if TYPE_CHECKING:
    from scorewise.evaluation.document import DifferenceRecord, EvaluationDocument

# the measures of the first screen
FIRST = (
    "auroc", "average_precision", "brier", "log_loss", "calibration_intercept", "calibration_slope", "ece",
    "sensitivity", "specificity", "precision",
)  # fmt: skip
FIRST_OF_CLASSES = (
    "accuracy", "balanced_accuracy", "macro_f1", "kappa", "macro_auroc", "log_loss", "brier", "ece",
)  # fmt: skip
MIN_ROWS_ON_THREADS = 1 << 16


@dataclass(frozen=True)
class Settings:
    """What the numbers of an evaluation depend on."""

    threshold: float = 0.5
    level: float = 0.95
    seed: int = 0
    clip: float | None = None
    interval: Interval | None = None
    replicates: int = 2000

    def __post_init__(self) -> None:
        check(threshold=self.threshold, level=self.level, seed=self.seed, clip=self.clip)
        one_of("interval", self.interval, (None, *get_args(Interval)))
        at_least(100, 2000, replicates=self.replicates)


def refuse_interval(interval: Interval | None, **others: Any) -> None:
    """Refuse a choice of interval beside what has intervals of its own."""
    for name, given in others.items():
        if interval is not None and given is not None:
            raise BadInput(
                Option("interval", interval), " and ", Option(name),
                ", which has intervals of its own, do not go together; leave out one",
            )  # fmt: skip


class OfModels(Result):
    """A result whose document is that of one model or of several on the same rows."""

    settings: Settings

    @property
    def evaluations(self) -> Mapping[str, AnyEvaluation]:
        """The evaluation of each model, by its name."""
        raise NotImplementedError

    def difference_records(self, only: Collection[str] | None = None) -> list[DifferenceRecord]:
        """The differences of models in all measures, or in some."""
        return []

    def document(self) -> EvaluationDocument:
        """What is written and shown; `scorewise schema` prints its schema."""
        return self._document(every=True)

    def brief(self) -> EvaluationDocument:
        """The document of the first screen."""
        return self._document(every=False)

    def _document(self, every: bool) -> EvaluationDocument:
        from scorewise.evaluation.document import evaluation_document

        return evaluation_document(self, every)

    def pictures(self) -> Pictures:
        """ROC, precision-recall, reliability and confusion of each model, and what goes with them.

        Differences of several models; groups, where there are some; of several classes, risk over coverage.
        """
        from scorewise.evaluation.pictures import pictures_of

        return pictures_of(self)


class Evaluation(OfModels, Measured):
    """Each measure as an attribute and by its name: `e.auroc`, `e["auroc"]`, an `Estimate`.

    A measure is computed when it is first asked for. Prints as a table of all. The scores themselves are
    in `e.tally`, the decisions in `e.confusion`. `e.groups["north"]` is the evaluation of the rows of a
    group, where columns of groups were named (`by`).
    """

    tally: Tally
    confusion: Confusion
    settings: Settings
    groups: Mapping[str, Evaluation]
    clusters: Ints | None = None  # the number of the cluster of each row, where rows come in any

    def __init__(self, tally: Tally, settings: Settings, notes: tuple[str, ...] = ()) -> None:
        self.tally, self.settings, self.notes = tally, settings, notes
        self.confusion = tally.confusion(settings.threshold)
        self.groups = {}
        self.hints: tuple[str, ...] = ()  # on the columns that it was made from
        self.of_classes = False  # the confidence of a model of several classes, right or wrong
        self.clustered_rows: Rows | None = None  # where they come in clusters
        super().__init__(MEASURES, vars(settings))

    @classmethod
    def of_rows(cls, rows: Rows, name: str, settings: Settings, nameless: bool) -> Evaluation:
        """The evaluation of one column of scores; labels in memory may have no name."""
        t = Tally.of_rows(rows, name, rows.sources)
        made = cls(t.unlabelled() if nameless else t, settings)
        made.clustered_rows = rows if rows.cluster is not None else None
        made.clusters = rows.cluster
        return made

    @property
    def evaluations(self) -> Mapping[str, AnyEvaluation]:
        """Itself, by the name of the scores."""
        return {self.tally.origin.score: self}

    def _make(self, name: str) -> Estimate:
        m, s, rows = MEASURES[name], self.settings, self.clustered_rows
        if name == "mcb_crossfit" and rows is not None:
            from scorewise.evaluation.calibration import isotonic_gain

            return isotonic_gain(self, "brier", s.seed)
        e = m.under(self._options, self.confusion if m.group == "decisions" else self.tally)
        if s.interval is not None:
            return interval_by_name(
                e, m, self.tally, self.confusion, s.interval,
                replicates=s.replicates, seed=s.seed, clip=s.clip,
            )  # fmt: skip
        return e if rows is None else self.by_cluster(e, name)

    def items(self) -> ItemsView[str, Estimate]:
        """Each measure and its name; those of many rows are computed on several threads."""
        self._ask_all()
        return super().items()

    def values(self) -> ValuesView[Estimate]:
        """Each measure; those of many rows are computed on several threads."""
        self._ask_all()
        return super().values()

    def _ask_all(self) -> None:
        if len(self.tally.score) >= MIN_ROWS_ON_THREADS:
            # those that draw take the longest, and begin first so that no thread is left with one of them
            ordered = sorted(self, key=lambda name: "seed" not in self._measures[name].options)
            on_threads(self.__getitem__, ordered, enough=1)

    def by_cluster(self, e: Estimate, name: str) -> Estimate:
        """An estimate of that measure, its interval widened where rows come in clusters."""
        rows = self.clustered_rows
        if rows is None or rows.cluster is None:
            return e
        return clustered(e, MEASURES[name], rows, self.tally, vars(self.settings), rows.cluster)

    @cached_property
    def mean_error(self) -> Estimate:
        """The share of positives less the mean probability; by cluster where rows come in clusters."""
        return self._mean(lambda y, p: y - p)

    @cached_property
    def overconfidence(self) -> Estimate:
        """The mean confidence in the likelier class less how often it is right; by cluster as above."""
        return self._mean(lambda y, p: np.maximum(p, 1 - p) - ((p >= 0.5) == y))

    def _mean(self, gap: Callable[[Any, Floats], Floats]) -> Estimate:
        """The mean of a number of each row, given its label and probability."""
        t, level, rows = self.tally.pooled, self.settings.level, self.clustered_rows
        p = unit(t.score, t.kind)
        weight, square = np.array([[t.neg, t.pos], [t.neg2, t.pos2]], np.float64)
        e = mean_difference(np.stack((gap(0, p), gap(1, p))), weight, square, level)
        if rows is None or rows.cluster is None or math.isnan(e.low):
            return e
        own = gap(rows.y, unit(rows.scores[self.tally.origin.score].astype(np.float64), t.kind))
        _, error, many = cluster_mean(own, rows.mass(), rows.cluster)
        reach = max(error * t_quantile(level, many - 1), e.high - e.value)
        return replace(e, low=e.value - reach, high=e.value + reach)


class ClassEvaluation(OfModels, Measured):
    """Each measure of several classes as an attribute and by its name: `e.accuracy`, `e["accuracy"]`.

    Prints as a table. `e.top` is the `Evaluation` of the confidence against whether the decision was
    right, `e.each["cat"]` that of the scores of one class against the rest. All of them are made when
    they are first asked for, because some measures of calibration take a second. The scores themselves
    are in `e.tally`, the decisions in `e.confusion`. `e.groups["north"]` is the evaluation of the rows of a
    group, where columns of groups were named (`by`).
    """

    tally: ClassTally
    settings: Settings
    clusters = None  # which only two classes have
    hints: tuple[str, ...] = ()
    _what = "measure of several classes"

    def __init__(self, tally: ClassTally, settings: Settings, notes: tuple[str, ...] = ()) -> None:
        self.tally, self.settings, self.notes = tally, settings, notes
        self.groups: Mapping[str, ClassEvaluation] = {}
        self.columns = ""  # of the scores in a file, as `classes` names them
        super().__init__(CLASS_MEASURES, vars(settings))

    @property
    def evaluations(self) -> Mapping[str, AnyEvaluation]:
        """Itself; its scores have no name of their own."""
        return {"scores": self}

    def _make(self, name: str) -> Estimate:
        return CLASS_MEASURES[name].under(self._options, self.tally)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.tally.classes

    @property
    def confusion(self) -> Confusion:
        """Weight per true class and decision."""
        return self.tally.confusion

    @cached_property
    def top(self) -> Evaluation:
        """The confidence against whether the decision was right."""
        made = Evaluation(self.tally.ranked, self.settings)
        made.of_classes = True
        return made

    @cached_property
    def each(self) -> Each:
        """The scores of each class against the rest, by the name of the class."""
        return Each(self.tally, self.settings)

    def _document(self, every: bool) -> EvaluationDocument:
        return cached(self, ("document", every), partial(super()._document, every))


AnyEvaluation: TypeAlias = Evaluation | ClassEvaluation


class Each(Lazy[Evaluation]):
    """The evaluation of each class against the rest, made when it is first asked for."""

    def __init__(self, tally: ClassTally, settings: Settings) -> None:
        self._tally, self._settings = tally, settings
        super().__init__(tally.classes if tally.each else ())

    def _make(self, name: str) -> Evaluation:
        return Evaluation(self._tally.one(name), self._settings)

    def _unknown(self, name: str) -> str:
        if not self._tally.each:
            return "only the confidence is known; scores of each class are needed"
        return f"no class is named {name}; there are {', '.join(self)}"

    def __repr__(self) -> str:
        return f"<evaluations of {plain(', '.join(self)) or 'no class'}, each against the rest>"


# Several models, side by side, and the differences between them.


class Comparison(OfModels, Lazy[Any]):
    """The evaluation of each model by its name, and `differences` between them.

    Prints as a table of all models.
    """

    def __init__(
        self, models: Models, settings: Settings, min_rows: int = 20, nameless: bool = False
    ) -> None:
        self.models, self.settings, self.min_rows = models, settings, min_rows
        self.notes = tuple(dict.fromkeys(models.notes))
        # of all models, unless they have their own
        self.rows: Any = next(iter(models.rows.values()))
        self.several = isinstance(self.rows, ClassRows)  # classes
        self._nameless = nameless  # labels in memory may have no name
        self._differences: dict[tuple[str, str, str], Estimate] = {}
        super().__init__(models.rows)

    def _make(self, name: str) -> AnyEvaluation:
        rows = self.models.rows[name]
        if isinstance(rows, ClassRows):
            t = tally_of(rows)
            return ClassEvaluation(t.unlabelled() if self._nameless else t, self.settings)
        made = Evaluation.of_rows(rows, name, self.settings, self._nameless)
        made.notes, made.hints = self.notes, rows.hints
        if rows.groups:
            from scorewise.evaluation.groups import RowGroups

            g = grouping(rows.groups, self.min_rows, mass=rows.mass(), times=rows.count)
            made.groups = RowGroups(made, g, rows)
        return made

    def _unknown(self, name: str) -> str:
        return f"no model is named {name}; there are {', '.join(self)}"

    @property
    def evaluations(self) -> Mapping[str, AnyEvaluation]:
        """Itself."""
        return self

    @property
    def register(self) -> Mapping[str, Measure]:
        """The measures that models are compared by."""
        return CLASS_MEASURES if self.several else MEASURES

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The models that are compared: each with each later one."""
        return list(combinations(self, 2))

    @property
    def differences(self) -> list[dict[str, Any]]:
        """Each model minus each later one, paired, with p-values adjusted by Holm within a measure."""
        found: list[dict[str, Any]] = to_dict(self.difference_records())
        return found

    def difference(
        self, measure: str, first: str | None = None, second: str | None = None
    ) -> Estimate:
        """A measure of one model minus that of another, the first two unless named, paired."""
        names = [*self]
        a, b = first or names[0], second or next(n for n in names if n != (first or names[0]))
        if measure not in self.register:
            raise BadInput(unknown(measure, self.register, "measure"))
        return self._difference(self.register[measure], a, b)

    def _difference(self, m: Measure, first: str, second: str) -> Estimate:
        """The difference of two models, computed once."""
        key = m.name, first, second
        if key not in self._differences:
            self._differences[key] = self._minus(m, first, second)
        return self._differences[key]

    def _minus(self, m: Measure, first: str, second: str) -> Estimate:
        """One model minus another; in closed form, or by the intervals of both and their correlation."""
        names, settings, paired = (first, second), vars(self.settings), self.models.paired
        rows: list[Any] = [self.models.rows[name] for name in names]
        tallies: list[Any] = [self[name].tally for name in names]
        level = self.settings.level
        if not self.several and rows[0].cluster is None:
            if paired and m.name in _IN_CLOSED_FORM:
                return _IN_CLOSED_FORM[m.name](rows[0], tallies[0], tallies[1], level)
            if not paired and m.name == "auroc":
                return unpaired_areas(tallies[0], tallies[1], level)

        def correlation() -> float:
            if not paired:
                return 0.0
            if not self.several:
                return correlation_of_models(m, rows[0], tallies, settings, rows[0].cluster)
            left_out = [partial(self._groups_left_out, name) for name in names]
            return correlation_of_classes(m, rows, left_out, settings)

        e = difference(self[first][m.name], self[second][m.name], level, correlation)
        return e if paired else replace(e, method=e.method.replace("paired", "unpaired"))

    def _groups_left_out(self, name: str) -> list[ClassTally]:
        """The tallies of a model without groups of rows, which several measures look at."""
        rows: Any = self.models.rows
        models = [rows[other] for other in sorted(rows)]
        seed = self.settings.seed
        return cached(self, ("left out", name), lambda: groups_left_out(rows[name], models, seed))

    def difference_records(self, only: Collection[str] | None = None) -> list[DifferenceRecord]:
        """The differences of all measures, or of some; p-values are adjusted by Holm within each.

        smAUC is left out where the scores of a model are not on [0, 1]; its own row says so.
        """
        from scorewise.evaluation.document import DifferenceRecord

        measures = [
            m
            for m in map(self.register.__getitem__, next(iter(self.values())))
            if m.better != "neither"
            and (only is None or m.name in only)
            and not (m.name == "smauc" and any(why_not_unit(e.tally) for e in self.values()))
        ]
        if len(self.rows) >= MIN_ROWS_ON_THREADS:
            tasks = [(m, *pair) for m in measures for pair in self.pairs]
            on_threads(lambda task: self._difference(*task), tasks, enough=1)
        lines: list[DifferenceRecord] = []
        for m in measures:
            found = [self._difference(m, *pair) for pair in self.pairs]
            adjusted = holm([d.p for d in found])
            lines += map(partial(DifferenceRecord.of, m), self.pairs, found, adjusted)
        return lines


_IN_CLOSED_FORM = {"auroc": area_difference, "smauc": smooth_difference}
