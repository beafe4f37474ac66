"""Every measure of a model's scores, each with its interval, for the price of one sort."""

from __future__ import annotations

import math
from collections.abc import (
    Callable,
    Collection,
    ItemsView,
    Iterable,
    Mapping,
    Sequence,
    ValuesView,
)
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, get_args, overload

import numpy as np

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.arrays import Floats, Ints
from scorewise.checks import at_least, check, one_of
from scorewise.columns import Kind, Missing, Rows, binary_rows
from scorewise.columns.grouping import intersections
from scorewise.columns.rows import warn
from scorewise.engines import is_engine, rows_of_frame
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.inference.choices import Interval, by_name
from scorewise.inference.clusters import cluster_mean
from scorewise.inference.effects import clustered, difference, together
from scorewise.inference.paired import (
    Difference,
    area_difference,
    holm,
    mean_gap,
    smooth_difference,
)
from scorewise.inference.scales import student
from scorewise.registry import MEASURES, Lazy, Measure, Measured, unknown
from scorewise.show.document import to_dict
from scorewise.show.shown import Shown
from scorewise.tallies import Confusion, RowTally, Tally, TallySet
from scorewise.tallies.losses import unit
from scorewise.tallies.row_files import Wanted
from scorewise.tallies.smroc import why_not_unit
from scorewise.tallies.sorting import each_on_threads, kept, on_threads

if TYPE_CHECKING:
    from scorewise.displays.overview import Pictures
    from scorewise.evaluation.document import DifferenceRecord, EvaluationDocument

MANY = 1 << 18  # rows whose measures, or differences of models, are worth threads


@dataclass(frozen=True)
class Settings:
    """What an evaluation was asked for."""

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


class Evaluation(Shown, Measured):
    """Each measure as an attribute and by its name: `e.auroc`, `e["auroc"]`, an `Estimate`.

    A measure is computed when it is first asked for. Prints as a table of all. The scores themselves are
    in `e.tally`, the decisions in `e.confusion`. `e.groups["north"]` is the evaluation of the rows of a
    group, where columns of groups were named (`by`).
    """

    tally: Tally
    confusion: Confusion
    settings: Settings
    groups: Mapping[str, Evaluation]

    def __init__(self, tally: Tally, settings: Settings, notes: tuple[str, ...] = ()) -> None:
        self.tally, self.settings, self.notes = tally, settings, notes
        self.confusion = tally.confusion(settings.threshold)
        self.groups = {}
        self.hints: tuple[str, ...] = ()  # on the columns that it was made from
        self.of_classes = False  # the confidence of a model of several classes, right or wrong
        self._rows: Rows | None = None  # which come in clusters
        super().__init__(MEASURES, vars(settings))

    def _make(self, name: str) -> Estimate:
        if name == "mcb_crossfit" and self.clustered_rows is not None:
            from scorewise.evaluation.repair import isotonic_gain

            return isotonic_gain(self, "brier", self.settings.seed)
        m, s = MEASURES[name], self.settings
        e = m.under(self._options, self.confusion if m.group == "decisions" else self.tally)
        if s.interval is None:
            return self.by_cluster(e, name)
        return by_name(
            e, m, self.tally, self.confusion, s.interval,
            replicates=s.replicates, seed=s.seed, clip=s.clip,
        )  # fmt: skip

    def items(self) -> ItemsView[str, Estimate]:
        """Each measure and its name; those of many rows are computed on several threads."""
        self._ask_all()
        return super().items()

    def values(self) -> ValuesView[Estimate]:
        """Each measure; those of many rows are computed on several threads."""
        self._ask_all()
        return super().values()

    def _ask_all(self) -> None:
        if len(self.tally.score) >= MANY:
            each_on_threads(self.__getitem__, [*self])

    @property
    def clustered_rows(self) -> Rows | None:
        """The rows, where they come in clusters."""
        return None if self._rows is None or self._rows.cluster is None else self._rows

    def by_cluster(self, e: Estimate, name: str) -> Estimate:
        """An estimate of that measure, its interval widened where rows come in clusters."""
        rows = self._rows
        if rows is None or rows.cluster is None:
            return e
        settings = vars(self.settings)
        return clustered(e, MEASURES[name], rows, self.tally, settings, rows.cluster)

    @property
    def clusters(self) -> Ints | None:
        """The number of the cluster of each row; None where rows stand alone."""
        return None if self._rows is None else self._rows.cluster

    @cached_property
    def mean_error(self) -> Estimate:
        """The share of positives less the mean probability; by cluster where rows come in clusters."""
        return self._mean(lambda y, p: y - p)

    @cached_property
    def overconfidence(self) -> Estimate:
        """The mean confidence in the likelier class less how often it is right; by cluster as above."""
        return self._mean(lambda y, p: np.maximum(p, 1 - p) - ((p >= 0.5) == y))

    @property
    def repair_gains(self) -> list[Estimate]:
        """What recalibration would save of log loss, cross-validated, by each way that is defined."""
        from scorewise.evaluation.repair import gains

        return kept(self, "repair gains", lambda: gains(self))

    def _mean(self, gap: Callable[[Any, Floats], Floats]) -> Estimate:
        """The mean of a number of each row, given its label and probability."""
        t, level = self.tally.pooled, self.settings.level
        p = unit(t.score, t.kind)
        weight, square = (
            np.stack(w).astype(np.float64) for w in ((t.neg, t.pos), (t.neg2, t.pos2))
        )
        e, rows = mean_gap(np.stack((gap(0, p), gap(1, p))), weight, square, level), self._rows
        if rows is None or rows.cluster is None or math.isnan(e.low):
            return e
        own = gap(rows.y, unit(rows.scores[self.tally.origin.score].astype(np.float64), t.kind))
        _, error, many = cluster_mean(own, rows.mass(), rows.cluster)
        reach = max(error * student(level, many - 1), e.high - e.value)
        return replace(e, low=e.value - reach, high=e.value + reach)

    def document(self) -> EvaluationDocument:
        """What is written and shown; `scorewise schema` prints its schema."""
        from scorewise.evaluation.document import evaluation_document

        return evaluation_document({self.tally.origin.score: self}, self.settings)

    def brief(self) -> EvaluationDocument:
        """The document of the first screen."""
        from scorewise.evaluation.document import evaluation_document

        return evaluation_document({self.tally.origin.score: self}, self.settings, every=False)

    def pictures(self) -> Pictures:
        """ROC, precision-recall, reliability, confusion, density and, where there are some, groups."""
        from scorewise.evaluation.pictures import pictures_of_models

        return pictures_of_models({self.tally.origin.score: self}, self)


@overload
def tally(
    source: Any, *, label: str | None = None, score: str | None = None, weight: str | None = None,
    count: str | None = None, by: None = None, positive: Any = None, kind: Kind | None = None,
    missing: Missing = "refuse", encoding: str | None = None,
) -> Tally: ...  # fmt: skip
@overload
def tally(
    source: Any, *, label: str | None = None, score: str | None = None, weight: str | None = None,
    count: str | None = None, by: str | Sequence[str], positive: Any = None,
    kind: Kind | None = None, missing: Missing = "refuse", encoding: str | None = None,
) -> TallySet: ...  # fmt: skip
@overload
def tally(
    source: Any, *, label: str | None = None, score: Sequence[str], weight: str | None = None,
    count: str | None = None, by: str | Sequence[str] | None = None, positive: Any = None,
    kind: Kind | None = None, missing: Missing = "refuse", encoding: str | None = None,
) -> RowTally: ...  # fmt: skip
def tally(
    source: Any,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    weight: str | None = None,
    count: str | None = None,
    by: str | Sequence[str] | None = None,
    positive: Any = None,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> Tally | TallySet | RowTally:
    """The tally of files, globs or any data frame, reading only the columns that are needed.

    Polars lazy frames, DuckDB relations, Dask and PySpark dataframes stay in their engine, which counts the
    rows in cells; beyond 65,536 rows the tally is coarse. (With `count`, those of Polars are read.) `by`
    names columns of groups: there is then a tally of each, in a `TallySet`. Files of text are in UTF-8, or
    in `encoding`, such as "latin-1".

    Of several columns of scores, in a list, the distinct rows are kept with their number, for `compare` and
    `evaluate`, which need what the models say of the same row.

    >>> tally({"y": [0, 1, 1], "p": [0.2, 0.4, 0.9]}, label="y", score="p")
    <Tally: 3 rows, 2 positive, on 3 scores (probability)>
    >>> tally({"y": [0, 1, 1], "p": [0.2, 0.4, 0.9], "site": ["a", "a", "b"]}, label="y", score="p",
    ...       by="site")
    <TallySet: 3 rows in 2 groups by site>
    """
    columns: Any = {"label": label, "score": score, "weight": weight, "count": count}
    options: Any = {"positive": positive, "kind": kind, "missing": missing}
    if score is not None and not isinstance(score, str):
        columns["score"] = list(score)
        wanted = Wanted(
            columns | options, (by,) if isinstance(by, str) else tuple(by or ()), encoding=encoding
        )
        return rows_of_frame(source, wanted) if is_engine(source) else wanted.tally(source)
    in_memory = count is not None and hasattr(source, "collect_schema")  # Polars reads it itself
    if is_engine(source) and not in_memory:
        from scorewise.engines.tallying import tally_frame  # which imports narwhals

        return tally_frame(source, columns, by, **options)
    rows = binary_rows(source, groups=by, encoding=encoding, **columns, **options)
    warn(rows.notes)
    name = next(iter(rows.scores))
    if by is None:
        return Tally.of_rows(rows, name, rows.sources)
    codes, keys = intersections(rows.groups)
    parts = {key: Tally.of_rows(rows.at(codes == k), name) for k, key in enumerate(keys)}
    parts = {key: replace(t, origin=replace(t.origin, dropped=0)) for key, t in parts.items()}
    known = Tally.of_rows(rows, name, rows.sources).origin
    return TallySet((*rows.groups,), parts, origin=known)


# Several models on the same rows, side by side, and the differences between them.


class Comparison(Shown, Lazy[Evaluation]):
    """The evaluation of each model by its name, and `differences` between them.

    Prints as a table of all models.
    """

    def __init__(
        self,
        rows: Rows,
        settings: Settings,
        nameless: bool = False,
        min_rows: int = 20,
        models: Iterable[str] | None = None,
    ) -> None:
        self.settings, self.notes, self.min_rows = settings, rows.notes, min_rows
        self._rows, self._nameless = rows, nameless  # labels in memory may have no name
        self._found: dict[tuple[str, str, str], Difference] = {}
        super().__init__(rows.scores if models is None else models)

    def _make(self, name: str) -> Evaluation:
        t = Tally.of_rows(self._rows, name, self._rows.sources)
        made = Evaluation(t.unlabelled() if self._nameless else t, self.settings, self.notes)
        made.hints = self._rows.hints
        if self._rows.cluster is not None:
            made._rows = self._rows
        if self._rows.groups:
            from scorewise.evaluation.groups import groups_of

            made.groups = groups_of(self._rows, made, self.min_rows)
        return made

    def _unknown(self, name: str) -> str:
        return f"no model is named {name}; there are {', '.join(self)}"

    @property
    def _register(self) -> Mapping[str, Measure]:
        return MEASURES

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The models that are compared: each with each later one."""
        return list(combinations(self, 2))

    @property
    def differences(self) -> list[dict[str, Any]]:
        """Each model minus each later one, paired, with p-values adjusted by Holm within a measure."""
        found: list[dict[str, Any]] = to_dict(self.compared())
        return found

    def difference(
        self, measure: str, first: str | None = None, second: str | None = None
    ) -> Estimate:
        """A measure of one model minus that of another, the first two unless named, paired."""
        names = [*self]
        a, b = first or names[0], second or next(n for n in names if n != (first or names[0]))
        if measure not in self._register:
            raise BadInput(unknown(measure, self._register, "measure"))
        d = self._paired(self._register[measure], a, b)
        return replace(d.estimate, p=None if math.isnan(d.p) else d.p)

    def _paired(self, m: Measure, first: str, second: str) -> Difference:
        """The difference of two models, found once."""
        key = m.name, first, second
        if key not in self._found:
            self._found[key] = self._pair(m, first, second)
        return self._found[key]

    def _pair(self, m: Measure, first: str, second: str) -> Difference:
        """One model minus another on the same rows; in closed form, or by the intervals of both."""
        return paired_difference(m, self._rows, [self[first], self[second]], vars(self.settings))

    def compared(self, only: Collection[str] | None = None) -> list[DifferenceRecord]:
        """The differences of all measures, or of some; p-values are adjusted by Holm within each.

        smAUC is left out where the scores of a model are not on [0, 1]; its own row says so.
        """
        from scorewise.evaluation.document import DifferenceRecord

        asked = [
            m
            for m in map(self._register.__getitem__, next(iter(self.values())))
            if m.better != "neither"
            and (only is None or m.name in only)
            and not (m.name == "smauc" and any(why_not_unit(e.tally) for e in self.values()))
        ]
        if len(self._rows) >= MANY:
            on_threads(
                lambda of: self._paired(*of), [(m, *p) for m in asked for p in self.pairs], enough=1
            )
        lines: list[DifferenceRecord] = []
        for m in asked:
            found = [self._paired(m, *pair) for pair in self.pairs]
            adjusted = holm([d.p for d in found])
            lines += [
                DifferenceRecord.of(m, names, d, q)
                for names, d, q in zip(self.pairs, found, adjusted, strict=True)
            ]
        return lines

    def document(self) -> EvaluationDocument:
        """What is written and shown; `scorewise schema` prints its schema."""
        from scorewise.evaluation.document import evaluation_document
        from scorewise.evaluation.verdict import repairable

        # each model on a thread of its own, before what they share is found of them
        on_threads(
            lambda e: (dict(e), repairable(e) and e.repair_gains), [*self.values()], enough=1
        )
        return evaluation_document(self, self.settings, self.compared())

    def brief(self) -> EvaluationDocument:
        """The document of the first screen."""
        from scorewise.evaluation.document import FIRST, evaluation_document

        return evaluation_document(self, self.settings, self.compared(FIRST), every=False)

    def pictures(self) -> Pictures:
        """Those of an evaluation with a curve for each model, and the differences between them."""
        from scorewise.evaluation.pictures import pictures_of_models

        return pictures_of_models(self, self)


def refuse_interval(interval: Interval | None, **others: Any) -> None:
    """Refuse a choice of interval beside what has intervals of its own."""
    for name, given in others.items():
        if interval is not None and given is not None:
            raise BadInput(
                Option("interval", interval), " and ", Option(name),
                ", which has intervals of its own, do not go together; leave out one",
            )  # fmt: skip


_CLOSED = {"auroc": area_difference, "smauc": smooth_difference}


def paired_difference(
    m: Measure, rows: Rows, models: Sequence[Evaluation], settings: Mapping[str, Any]
) -> Difference:
    """One model minus another on the same rows; in closed form, or by the intervals of both."""
    level, tallies = settings["level"], [e.tally for e in models]
    if m.name in _CLOSED and rows.cluster is None:
        return _CLOSED[m.name](rows, tallies[0], tallies[1], level)
    first, second = (e[m.name] for e in models)
    made = difference(
        first, second, level, lambda: together(m, rows, tallies, settings, rows.cluster)
    )
    return Difference(made, math.nan if made.p is None else made.p)
