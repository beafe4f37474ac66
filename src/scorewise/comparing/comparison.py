"""Models compared: the paired difference of every measure, tests of the field, and non-inferiority."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import Any, Literal, get_args

import numpy as np

from scorewise.arrays import Bools
from scorewise.checks import check, one_of, refuse_given, refuse_names
from scorewise.columns import Kind, Missing, Rows, binary_rows
from scorewise.columns.classes import ClassRows, class_rows, positive_column
from scorewise.columns.grouping import grouping
from scorewise.columns.models import Models, models_of
from scorewise.columns.reader import warn
from scorewise.columns.roles import Spec
from scorewise.columns.sources import is_source, is_wide, named_columns, only_column
from scorewise.comparing.document import CompareDocument, compare_document
from scorewise.errors import BadInput, Option, no_scores
from scorewise.estimate import Estimate
from scorewise.evaluation.result import Comparison, Settings, refuse_interval
from scorewise.inference.choices import Interval
from scorewise.inference.differences import ChiSquare, McNemar, McNemarKind, joint_areas, mcnemar
from scorewise.registry import unknown
from scorewise.tallies import ClassTally, RowTally, Tally, TallySet
from scorewise.tallies.merging import is_saved, not_readable, scores_of, sum_of_saved

MAX_GROUPS = 200  # in which models are compared


@dataclass(frozen=True)
class ComparisonSettings(Settings):
    """Also the measure to rank by, how much worse than the baseline a model may be, and McNemar's test."""

    measure: str = ""
    margin: float | None = None
    baseline: str | None = None
    mcnemar: McNemarKind = "mid-p"

    def __post_init__(self) -> None:
        super().__post_init__()
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
    def finding(self) -> Literal["non-inferior", "inferior", "cannot be told"]:
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

    settings: ComparisonSettings

    def __init__(
        self, models: Models, settings: ComparisonSettings, min_rows: int = 20,
        nameless: bool = False,
    ) -> None:  # fmt: skip
        if len(models.rows) < 2:
            raise BadInput("compare takes two or more models; for one, use evaluate")
        # groups are those of the comparison, not of each model
        super().__init__(_without_groups(models), settings, min_rows, nameless)
        self.paired, baseline = models.paired, settings.baseline
        self.measure = settings.measure or ("accuracy" if self.several else "auroc")
        if self.measure not in self.register:
            what = "measure of several classes" if self.several else "measure"
            raise BadInput(unknown(self.measure, self.register, what))
        if self.register[self.measure].better not in ("high", "low"):
            raise BadInput(
                Option("measure", self.measure), " is neither better high nor low; name one that is, such ",
                "as auroc or brier",
            )  # fmt: skip
        if baseline is not None and baseline not in self:
            raise BadInput(
                Option("baseline", baseline), f" is not a model; the models are {', '.join(self)}"
            )
        self.groups: Mapping[str, ModelComparison] = {}
        rows = next(iter(models.rows.values()))
        if isinstance(rows, Rows) and rows.groups:
            self.groups = self._by_group(rows)

    @classmethod
    def of(cls, c: Comparison) -> ModelComparison:
        """The models of an evaluation and what tells them apart; what was computed of them is kept."""
        settings = ComparisonSettings(**vars(c.settings))
        made = cls(_without_groups(c.models), settings, c.min_rows, c._nameless)
        made._made, made._differences = c._made, c._differences
        return made

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The models that are compared: each with each later one, or with the baseline."""
        base = self.settings.baseline
        return super().pairs if base is None else [(n, base) for n in self if n != base]

    @cached_property
    def joint(self) -> ChiSquare | None:
        """DeLong's test of whether the AUROCs of three or more models differ; None of fewer."""
        if self.several or len(self) < 3:
            return None
        rows: Any = self.models.rows
        return joint_areas(rows, {name: e.tally for name, e in self.items()}, self.paired)

    def _right(self, name: str) -> Bools:
        """On which rows the decision of a model is right."""
        rows = self.models.rows[name]
        if isinstance(rows, ClassRows):
            return np.asarray(rows.scores.argmax(1) == rows.y)
        cut = self[name].tally.cut(self.settings.threshold).upto
        return np.asarray((rows.scores[name] >= cut) == rows.y)

    def why_not_mcnemar(self) -> str:
        """Why McNemar's test does not apply; empty where it does."""
        rows = self.rows
        if not self.paired:
            return "the models were judged on different rows"
        if rows.weight is not None:
            return "rows have weights"
        if not self.several and self.settings.threshold == Settings.threshold:
            for name, kind in rows.kinds.items():
                if kind == "score":
                    return f"scores of '{name}' are not probabilities; choose a threshold for them"
        return "rows come in clusters" if rows.cluster is not None else ""

    def mcnemar(self, first: str, second: str, kind: McNemarKind | None = None) -> McNemar:
        """McNemar's test of the decisions of two models: "mid-p", "exact" or "corrected"."""
        if why := self.why_not_mcnemar():
            raise BadInput(f"McNemar's test does not apply: {why}")
        kind = kind or self.settings.mcnemar
        one_of("mcnemar", kind, get_args(McNemarKind))
        return mcnemar(self._right(first), self._right(second), kind, self.rows.count)

    @property
    def noninferiority(self) -> list[NonInferiority]:
        """Each model against the baseline, the first unless named; empty where no margin was named."""
        margin = self.settings.margin
        if margin is None:
            return []
        base = self.settings.baseline or next(iter(self))
        high = self.register[self.measure].better == "high"
        pairs = {name: (name, base) if high else (base, name) for name in self if name != base}
        gaps = {name: self.difference(self.measure, *pair) for name, pair in pairs.items()}
        return [NonInferiority(name, base, gap, margin) for name, gap in gaps.items()]

    def _by_group(self, rows: Rows) -> dict[str, ModelComparison]:
        """The same comparison on the rows of each group that has enough of them."""
        g, made = grouping(rows.groups, self.min_rows, mass=rows.mass(), most=MAX_GROUPS), {}
        for k, name in enumerate(g.names):
            if len(g.at(k)) >= self.min_rows:
                some = Models(dict.fromkeys(self, replace(rows.at(g.at(k)), groups={})))
                made[name] = ModelComparison(some, self.settings)
        if not made:
            by = " and ".join(f"'{name}'" for name in rows.groups)
            raise BadInput(
                f"no group by {by} has {self.min_rows} rows; name another column with ", Option("by"),
                ", or pass a smaller ", Option("min_rows"),
            )  # fmt: skip
        return made

    def document(self) -> CompareDocument:  # type: ignore[override]
        """What is written and shown; `scorewise schema compare` prints its schema."""
        return compare_document(self, every=True)

    def brief(self) -> CompareDocument:  # type: ignore[override]
        """The document of the first screen."""
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
    settings = ComparisonSettings(
        threshold, level, seed, clip, interval, replicates, measure or "", margin, baseline, mcnemar
    )
    refuse_interval(interval, by=by, cluster=cluster)
    check(min_rows=min_rows)
    if by is not None and unpaired:
        raise BadInput(
            Option("by"), " and ", Option("unpaired"), " do not go together; leave out one"
        )
    columns: dict[str, Any] = {
        "classes": classes, "weight": weight, "count": count, "positive": positive, "by": by,
        "cluster": cluster, "kind": kind, "missing": missing,
    }  # fmt: skip
    named = {"label": label, "score": score, "model": model, "key": key, "encoding": encoding}
    if scores is None:
        y = sum_of_saved(y) if is_saved(y) else y
        if isinstance(y, RowTally | Tally | ClassTally | TallySet):
            y, columns = _several_scores(y).frame, columns | named | scores_of(y, by)
        elif is_source(y):
            columns |= named
        else:
            raise no_scores(
                "compare(y, {'tree': p, 'bayes': q})", 'compare("file.csv", label=..., score=[...])'
            )
        models = models_of(y, unpaired=unpaired, **columns)
        warn(models.notes)
    else:
        refuse_names(**named)
        if unpaired:
            raise BadInput(
                Option("unpaired"), " belongs to files and frames, whose models have own rows"
            )
        models = _in_memory(y, scores, **columns)
    if any(isinstance(rows, ClassRows) for rows in models.rows.values()):
        why = " belongs to two classes; leave it out of several"
        refuse_given(why, by=by, cluster=cluster, positive=positive)
        refuse_interval(interval, classes=True)
    return ModelComparison(models, settings, min_rows, nameless=scores is not None)


def _several_scores(t: RowTally | Tally | ClassTally | TallySet) -> RowTally:
    """A tally that says what several models say of the same rows; others are refused."""
    if not isinstance(t, RowTally) or len(t.roles.get("score", ())) < 2:
        raise BadInput(
            *not_readable(t, "the scores of several models for the same rows are").parts,
            ", or make it anew with ", Option("score"), " for each model",
        )  # fmt: skip
    return t


def _in_memory(
    y: Any, scores: Any, *, classes: Any, by: Any, positive: Any, cluster: Any, **options: Any
) -> Models:
    """Models whose scores are given beside the labels: of two classes, or of several."""
    columns = named_columns(scores) if is_wide(scores) else None
    if columns is None:
        raise BadInput("compare takes scores by name, such as {'tree': p, 'bayes': q}")
    y = only_column(y)
    columns = {name: only_column(p) for name, p in columns.items()}
    tables = {name: p for name, p in columns.items() if is_wide(p) and _width(p) > 2}
    if not tables:
        kind = options["kind"]
        score = {name: positive_column(y, p, positive, kind) for name, p in columns.items()}
        roles = {"label": y, "score": score, "group": by, "cluster": cluster}
        rows = binary_rows(None, **roles, positive=positive, **options)
        return Models(dict.fromkeys(rows.scores, rows), notes=rows.notes)
    if plain := next((name for name in columns if name not in tables), None):
        raise BadInput(f"'{plain}' has no score for each class, as '{next(iter(tables))}' has")
    options |= {"label": y, "classes": classes}
    made = {name: class_rows(None, score=p, **options) for name, p in tables.items()}
    first = next(iter(made.values()))
    if other := next((name for name, rows in made.items() if rows.classes != first.classes), None):
        raise BadInput(
            f"'{other}' has other classes than '{next(iter(made))}'; give all models the same"
        )
    # rows that one model lacks are left out of all
    places = [(model.place.kept, np.arange(len(model))) for model in made.values()]
    kept = [every if some is None else some for some, every in places]
    common: Any = reduce(np.intersect1d, kept)
    for (name, model), at in zip(made.items(), kept, strict=True):
        dropped = model.dropped + len(model) - len(common)
        made[name] = replace(model.at(np.isin(at, common)), dropped=dropped)
    return Models(made, notes=first.notes)


def _width(p: Any) -> int:
    shape = getattr(p, "shape", None)
    if shape is not None and len(shape) == 2:
        return int(shape[1])
    return len(p) if isinstance(p, Mapping) else np.asarray(p).shape[-1]


def _without_groups(models: Models) -> Models:
    """The same models; where rows of two classes have groups, all models share these rows."""
    rows = next(iter(models.rows.values()))
    if not isinstance(rows, Rows) or not rows.groups:
        return models
    return replace(models, rows=dict.fromkeys(models.rows, replace(rows, groups={})))
