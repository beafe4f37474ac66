"""Models compared: the paired difference of every measure, tests of the field, and non-inferiority."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Bools
from scorewise.checks import check, one_of
from scorewise.columns import Kind, Missing, Rows, take
from scorewise.columns.classes import (
    ClassRows,
    is_source,
    is_wide,
    named_columns,
    only_column,
    positive_column,
    take_classes,
)
from scorewise.columns.models import Models, models_of
from scorewise.columns.roles import Spec
from scorewise.columns.rows import group_columns, warn
from scorewise.errors import BadInput, Option, no_scores
from scorewise.estimate import Estimate
from scorewise.evaluation.classes import ClassEvaluation
from scorewise.evaluation.models import (
    Comparison,
    Evaluation,
    Settings,
    paired_difference,
    refuse_interval,
)
from scorewise.inference.choices import Interval
from scorewise.inference.class_rows import class_together, groups_left_out
from scorewise.inference.effects import difference
from scorewise.inference.paired import (
    ChiSquare,
    Difference,
    McNemar,
    McNemarKind,
    joint_areas,
    mcnemar,
    unpaired_areas,
)
from scorewise.registry import CLASS_MEASURES, MEASURES, Measure, unknown
from scorewise.tallies import ClassTally, RowTally, Tally
from scorewise.tallies.merging import is_saved, saved, scores_of, unread

if TYPE_CHECKING:
    from scorewise.displays.overview import Pictures
    from scorewise.evaluation.compare_document import CompareDocument

Shown: TypeAlias = Literal["non-inferior", "inferior", "cannot be told"]
MOST = 200  # groups in which models are compared


@dataclass(frozen=True)
class Question:
    """What is asked of the models: a measure, how much worse than the baseline a model may be, a test."""

    measure: str = ""
    margin: float | None = None
    baseline: str | None = None
    mcnemar: McNemarKind = "mid-p"

    def __post_init__(self) -> None:
        check(margin=self.margin)
        one_of("mcnemar", self.mcnemar, get_args(McNemarKind))


@dataclass(frozen=True)
class NonInferiority:
    """Whether a model is at most a margin worse than the baseline.

    `gap` is by how much it is better, at the level of the comparison, two-sided: its lower end decides.
    """

    model: str
    baseline: str
    gap: Estimate
    margin: float

    @property
    def finding(self) -> Shown:
        """Non-inferior where the whole interval lies above the margin, inferior where it lies below."""
        if self.gap.low > -self.margin:
            return "non-inferior"
        return "inferior" if self.gap.high < -self.margin else "cannot be told"

    @property
    def superior(self) -> bool:
        """Whether it is shown to be better than the baseline."""
        return self.gap.low > 0


class ModelComparison(Comparison):
    """The evaluation of each model by its name, and what tells the models apart.

    `c.difference("brier")` is the difference of two models in any measure, `c.differences` has all of them,
    `c.joint` the test whether AUROCs differ at all, `c.mcnemar("a", "b")` that of decisions, and
    `c.noninferiority` says whether models are at most `margin` worse than the baseline. `c.groups["north"]`
    compares the models on the rows of one group. Prints as a verdict and ten measures side by side.
    """

    def __init__(
        self,
        models: Models,
        settings: Settings,
        question: Question,
        min_rows: int = 20,
        nameless: bool = False,
    ) -> None:
        self.models, self.question, self.paired = models, question, models.paired
        first: Any = next(iter(models.rows.values()), None)
        if first is None or len(models.rows) < 2:
            raise BadInput("compare takes two or more models; for one, use evaluate")
        self.several = isinstance(first, ClassRows)
        super().__init__(first, settings, nameless, min_rows, models.rows)
        self.notes = tuple(dict.fromkeys(models.notes))
        self._without: dict[str, list[ClassTally]] = {}
        self.groups: Mapping[str, ModelComparison] = {}
        self.measure = question.measure or ("accuracy" if self.several else "auroc")
        self._check()
        if not self.several and first.groups:
            self.groups = self._by_group(first)

    @classmethod
    def of(cls, c: Comparison) -> ModelComparison:
        """The models of an evaluation and what tells them apart; what was computed of them is kept."""
        rows = replace(c._rows, groups={})
        made = cls(
            Models(dict.fromkeys(c, rows), notes=c.notes, columns=True), c.settings, Question(),
            c.min_rows, c._nameless,
        )  # fmt: skip
        made._made, made._found = c._made, c._found
        return made

    def _check(self) -> None:
        q = self.question
        if self.measure not in self._register:
            what = "measure of several classes" if self.several else "measure"
            raise BadInput(unknown(self.measure, self._register, what))
        if self._register[self.measure].better not in ("high", "low"):
            raise BadInput(
                Option("measure", self.measure), " is neither better high nor low; name one that is, such ",
                "as auroc or brier",
            )  # fmt: skip
        if q.baseline is not None and q.baseline not in self:
            raise BadInput(
                Option("baseline", q.baseline), f" is not a model; the models are {', '.join(self)}"
            )

    @property
    def _register(self) -> Mapping[str, Measure]:
        return CLASS_MEASURES if self.several else MEASURES

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The models that are compared: each with each later one, or with the baseline."""
        base = self.question.baseline
        return (
            list(combinations(self, 2)) if base is None else [(n, base) for n in self if n != base]
        )

    def _make(self, name: str) -> Any:
        rows = self.models.rows[name]
        if isinstance(rows, ClassRows):
            t = ClassTally.of_rows(rows, sources=rows.place.sources)
            return ClassEvaluation(t.unlabelled() if self._nameless else t, self.settings)
        one = Tally.of_rows(rows, name, rows.sources)
        made = Evaluation(one.unlabelled() if self._nameless else one, self.settings)
        made._rows = rows if rows.cluster is not None else None
        made.hints = rows.hints
        return made

    def _pair(self, m: Measure, first: str, second: str) -> Difference:
        rows: list[Any] = [self.models.rows[name] for name in (first, second)]
        models: list[Any] = [self[first], self[second]]
        settings, level = vars(self.settings), self.settings.level
        if not self.several and self.paired:
            return paired_difference(m, rows[0], models, settings)
        if m.name == "auroc" and rows[0].cluster is None:
            return unpaired_areas(models[0].tally, models[1].tally, level)

        def correlation() -> float:
            made = [partial(self._left_out, name) for name in (first, second)]
            return class_together(m, rows, made, settings) if self.paired else 0.0

        made = difference(models[0][m.name], models[1][m.name], level, correlation)
        if not self.paired:
            made = replace(made, method=made.method.replace("paired", "unpaired"))
        return Difference(made, math.nan if made.p is None else made.p)

    def _left_out(self, name: str) -> list[ClassTally]:
        """The tallies of a model without groups of rows, which several measures look at."""
        if name not in self._without:
            rows: Any = self.models.rows
            models = [rows[other] for other in sorted(rows)]
            self._without[name] = groups_left_out(rows[name], models, self.settings.seed)
        return self._without[name]

    @property
    def joint(self) -> ChiSquare | None:
        """DeLong's test of whether the AUROCs of three or more models differ; None of fewer."""
        if self.several or len(self) < 3:
            return None
        rows: Any = self.models.rows
        return joint_areas(rows, {name: e.tally for name, e in self.items()}, self.paired)

    def right(self, name: str) -> Bools:
        """On which rows the decision of a model is right."""
        rows = self.models.rows[name]
        if isinstance(rows, ClassRows):
            return np.asarray(rows.scores.argmax(1) == rows.y)
        cut = self[name].tally.cut(self.settings.threshold).upto
        return np.asarray((rows.scores[name] >= cut) == rows.y)

    def why_not_mcnemar(self) -> str:
        """Why McNemar's test does not apply; empty where it does."""
        rows: Any = self._rows
        if not self.paired:
            return "the models were judged on different rows"
        if rows.weight is not None:
            return "rows have weights"
        if not self.several and self.settings.threshold == Settings.threshold:
            for name, kind in rows.kinds.items():
                if kind == "score":
                    return f"scores of '{name}' are not probabilities; choose a threshold for them"
        return "rows come in clusters" if getattr(rows, "cluster", None) is not None else ""

    def mcnemar(self, first: str, second: str, kind: McNemarKind | None = None) -> McNemar:
        """McNemar's test of the decisions of two models: "mid-p", "exact" or "corrected"."""
        if why := self.why_not_mcnemar():
            raise BadInput(f"McNemar's test does not apply: {why}")
        kind = kind or self.question.mcnemar
        one_of("mcnemar", kind, get_args(McNemarKind))
        count: Any = self._rows.count
        return mcnemar(self.right(first), self.right(second), kind, count)

    @property
    def noninferiority(self) -> list[NonInferiority]:
        """Each model against the baseline, the first unless named; empty where no margin was named."""
        margin = self.question.margin
        if margin is None:
            return []
        base = self.question.baseline or next(iter(self))
        m, found = self._register[self.measure], []
        for name in self:
            if name != base:
                order = (name, base) if m.better == "high" else (base, name)
                found.append(NonInferiority(name, base, self.difference(m.name, *order), margin))
        return found

    def _by_group(self, rows: Rows) -> dict[str, ModelComparison]:
        """The same comparison on the rows of each group that has enough of them."""
        from scorewise.columns.grouping import check_groups, intersections

        check_groups(list(rows.groups), {"label": rows.names.label, "score": [*rows.scores]})
        codes, words = intersections(rows.groups, rows.mass())
        by = " and ".join(f"'{name}'" for name in rows.groups)
        if not 2 <= len(words) <= MOST:
            raise BadInput(
                f"{by} makes {len(words):,} group{'s' * (len(words) != 1)}; models are compared in 2 to ",
                f"{MOST} of them: name another column with ", Option("by"),
            )  # fmt: skip
        sizes = np.bincount(codes[codes >= 0], rows.mass()[codes >= 0] * 0 + 1)
        made = {}
        for k, word in enumerate(words):
            if sizes[k] >= self.min_rows:
                some = replace(rows.at(codes == k), groups={})
                own = Models(dict.fromkeys(self.models.rows, some), True)
                made[" / ".join(word)] = ModelComparison(own, self.settings, self.question)
        if not made:
            raise BadInput(
                f"no group by {by} has {self.min_rows} rows; name another column with ", Option("by"),
                ", or pass a smaller ", Option("min_rows"),
            )  # fmt: skip
        return made

    def pictures(self) -> Pictures:
        """Curves of each model and differences between them; of several classes, the differences."""
        from scorewise.evaluation.pictures import pictures_of_differences

        return pictures_of_differences(self) if self.several else super().pictures()

    def document(self) -> CompareDocument:  # type: ignore[override]
        """What is written and shown; `scorewise schema compare` prints its schema."""
        from scorewise.evaluation.compare_document import compare_document

        return compare_document(self, every=True)

    def brief(self) -> CompareDocument:  # type: ignore[override]
        """The document of the first screen."""
        from scorewise.evaluation.compare_document import compare_document

        return compare_document(self, every=False)


def compare(
    y: Any, scores: Any = None, *, label: str | None = None, score: str | Sequence[str] | None = None,
    classes: Spec | Sequence[Any] | None = None, model: str | None = None,
    key: str | Sequence[str] | None = None, unpaired: bool = False,
    weight: Any = None, count: Any = None, positive: Any = None,
    by: Any | Sequence[str] = None, cluster: Any = None, min_rows: int = 20,
    measure: str | None = None, margin: float | None = None, baseline: str | None = None,
    mcnemar: McNemarKind = "mid-p", threshold: float = 0.5, level: float = 0.95, seed: int = 0,
    kind: Kind | None = None, missing: Missing = "refuse", clip: float | None = None,
    interval: Interval | None = None, replicates: int = 2000, encoding: str | None = None,
) -> ModelComparison:  # fmt: skip
    """Which of several models is better, in what, and whether the rows suffice to tell.

    Labels `y` and a mapping from the names of models to their scores: one a row, or n x K for several
    classes. Without `scores`, the first argument is a source: a file or frame whose columns `score` are the
    models; several files, or a mapping from names to files or frames, each a model, joined on the columns
    `key`; or a long file in which the column `model` says whose score a row has. Without `key` the rows of
    models are matched by their order where their labels agree in it; `unpaired` says that models were
    judged on different rows.

    `measure` is the one that the verdict ranks by, AUROC unless named (accuracy, of several classes). With
    `margin`, each model is held against the `baseline` (the first, unless named): it is non-inferior where
    the interval of the difference lies above -margin. `mcnemar` is "mid-p", "exact" or "corrected". `by`
    names columns of groups, in each of which the models are compared, with p-values adjusted by Holm.
    See `evaluate` for the other options.

    >>> y = [1, 1, 0, 1, 0, 0]
    >>> c = compare(y, {"tree": [0.9, 0.7, 0.6, 0.5, 0.2, 0.0], "bayes": [0.6, 0.4, 0.7, 0.8, 0.1, 0.3]})
    >>> c["tree"].auroc
    0.889 [0.401, 0.988]
    >>> c.difference("brier")
    -0.067 [-0.556, 0.350]
    >>> round(c.mcnemar("tree", "bayes").p, 3)
    0.5
    """
    settings = Settings(threshold, level, seed, clip, interval, replicates)
    refuse_interval(interval, by=by, cluster=cluster)
    question = Question(measure or "", margin, baseline, mcnemar)
    check(min_rows=min_rows)
    if by is not None and unpaired:
        raise BadInput(
            Option("by"), " and ", Option("unpaired"), " do not go together; leave out one"
        )
    further = {"weight": weight, "count": count, "cluster": cluster}
    options: dict[str, Any] = {"kind": kind, "missing": missing}
    if scores is None and is_saved(y):
        y = _joint(saved(y))
    if scores is None and isinstance(y, RowTally):
        return compare(
            y.frame, **scores_of(_joint(y), by), cluster=cluster, min_rows=min_rows, measure=measure,
            margin=margin, baseline=baseline, mcnemar=mcnemar, threshold=threshold, level=level,
            seed=seed, clip=clip, interval=interval, replicates=replicates,
        )  # fmt: skip
    if scores is None:
        if not is_source(y):
            raise no_scores(
                "compare(y, {'tree': p, 'bayes': q})", 'compare("file.csv", label=..., score=[...])'
            )
        found = models_of(
            y, label=label, score=score, classes=classes, model=model, key=key, unpaired=unpaired,
            by=by, positive=positive, encoding=encoding, **options, **further,
        )  # fmt: skip
        warn(found.notes)
        _refuse_classes(found, interval)
        return ModelComparison(found, settings, question, min_rows)
    named = {"label": label, "score": score, "model": model, "key": key, "encoding": encoding}
    if extra := next((name for name, value in named.items() if value is not None), ""):
        raise BadInput(
            Option(extra),
            " belongs to files and frames, but labels and scores are given as columns",
        )
    columns = named_columns(scores) if is_wide(scores) else None
    if columns is None:
        raise BadInput("compare takes scores by name, such as {'tree': p, 'bayes': q}")
    if unpaired:
        raise BadInput(
            Option("unpaired"), " belongs to files and frames, whose models have own rows"
        )
    found = _in_memory(y, columns, classes, by, positive, further, options)
    _refuse_classes(found, interval)
    return ModelComparison(found, settings, question, min_rows, nameless=True)


def _joint(t: Any) -> RowTally:
    """A tally that says what several models say of the same rows; others are refused."""
    if not isinstance(t, RowTally) or len(t.roles.get("score", ())) < 2:
        raise BadInput(
            *unread(t, "the scores of several models for the same rows are").parts,
            ", or make it anew with ", Option("score"), " for each model",
        )  # fmt: skip
    return t


def _refuse_classes(found: Models, interval: Interval | None) -> None:
    if any(isinstance(rows, ClassRows) for rows in found.rows.values()):
        refuse_interval(interval, classes=True)


def _in_memory(
    y: Any,
    columns: Mapping[str, Any],
    classes: Any,
    by: Any,
    positive: Any,
    further: Mapping[str, Any],
    options: Mapping[str, Any],
) -> Models:
    """Models whose scores are given beside the labels: of two classes, or of several."""
    y = only_column(y)
    wide = {name: only_column(p) for name, p in columns.items()}
    tables = {name: p for name, p in wide.items() if is_wide(p) and _width(p) > 2}
    if not tables:
        kind = options["kind"]
        one = {name: positive_column(y, p, positive, kind) for name, p in wide.items()}
        groups = group_columns(by, "labels and scores")
        rows = take(y, one, groups=groups, positive=positive, **further, **options)
        return Models(dict.fromkeys(rows.scores, rows), True, {}, rows.notes)
    if plain := next((name for name in wide if name not in tables), None):
        raise BadInput(f"'{plain}' has no score for each class, as '{next(iter(tables))}' has")
    given = {"by": by, "cluster": further["cluster"], "positive": positive}
    if extra := next((name for name, value in given.items() if value is not None), ""):
        raise BadInput(Option(extra), " belongs to two classes; leave it out of several")
    weights: dict[str, Any] = {k: v for k, v in further.items() if k != "cluster"}
    made = {
        name: take_classes(y, p, classes=classes, **weights, **options)
        for name, p in tables.items()
    }
    first = next(iter(made.values()))
    at = [r.place.kept if r.place.kept is not None else np.arange(len(r)) for r in made.values()]
    common = at[0]
    for own in at[1:]:
        common = np.intersect1d(common, own)
    for name, own_rows in made.items():
        if own_rows.classes != first.classes:
            raise BadInput(
                f"'{name}' has other classes than '{next(iter(made))}'; give all models the same"
            )
    # rows that one model lacks are left out of all
    some = {
        name: replace(
            table.at(np.isin(own, common)), dropped=table.dropped + len(own) - len(common)
        )
        for (name, table), own in zip(made.items(), at, strict=True)
    }
    return Models(some, True, {}, first.notes)


def _width(p: Any) -> int:
    shape = getattr(p, "shape", None)
    if shape is not None and len(shape) == 2:
        return int(shape[1])
    return len(p) if isinstance(p, Mapping) else np.asarray(p).shape[-1]
