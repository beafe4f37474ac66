"""Every measure of a model of several classes, overall and class by class."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, get_args

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.columns import Kind, Missing
from scorewise.columns.classes import ClassRows, DecidedRows, class_rows, decided_rows
from scorewise.columns.roles import Spec
from scorewise.columns.rows import warn
from scorewise.errors import BadInput, plain
from scorewise.estimate import Estimate
from scorewise.evaluation.document import Settings, class_document
from scorewise.evaluation.models import Evaluation
from scorewise.registry import CLASS_MEASURES, Group
from scorewise.tallies import ClassTally, Confusion
from scorewise.tallies.joint import Rule
from scorewise.views.shown import Shown
from scorewise.views.words import Document


class ClassEvaluation(Shown, Mapping[str, Estimate]):
    """Each measure of several classes as an attribute and by its name: `e.accuracy`, `e["accuracy"]`.

    Prints as a table. `e.top` is the `Evaluation` of the confidence against whether the decision was
    right, `e.each["cat"]` that of the scores of one class against the rest. All of them are made when
    they are first asked for, because some measures of calibration take a second. The scores themselves
    are in `e.tally`, the decisions in `e.confusion`.
    """

    tally: ClassTally
    settings: Settings

    def __init__(self, tally: ClassTally, settings: Settings) -> None:
        if settings.clip is not None and not 0 < settings.clip < 0.5:
            raise BadInput(f"clip={settings.clip:g} is not between 0 and 0.5; 1e-15 is usual")
        self.tally, self.settings = tally, settings
        by_group = sorted(CLASS_MEASURES.values(), key=lambda m: get_args(Group).index(m.group))
        self._measures = {m.name: m for m in by_group}
        self._estimates: dict[str, Estimate] = {}

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
        return Evaluation(self.tally.ranked, self.settings)

    @cached_property
    def each(self) -> Each:
        """The scores of each class against the rest, by the name of the class."""
        return Each(self.tally, self.settings)

    def __getitem__(self, name: str) -> Estimate:
        if name not in self._measures:
            raise KeyError(_unknown(name))
        if name not in self._estimates:
            t, s = self.tally, self.settings
            self._estimates[name] = self._measures[name](t, level=s.level, seed=s.seed, clip=s.clip)
        return self._estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._measures)

    def __len__(self) -> int:
        return len(self._measures)

    def __getattr__(self, name: str) -> Estimate:
        if name not in self.__dict__.get("_measures", ()):
            raise AttributeError(_unknown(name))
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._measures]

    def skill(self, name: str) -> float:
        """Share of the way from a measure's baseline to its best value; NaN where there is none."""
        return self._measures[name].skill(self[name])

    @cached_property
    def _document(self) -> Document:
        return class_document(self)

    def to_dict(self) -> Document:
        """The document that every view renders; `scorewise schema evaluate-classes` has its schema."""
        from copy import deepcopy

        # numbers alone need no copy one by one, and of many classes there are a great many
        table = [line.copy() for line in self._document["confusion"]]
        rest = {key: part for key, part in self._document.items() if key != "confusion"}
        copied = deepcopy(rest)
        return {key: table if key == "confusion" else copied[key] for key in self._document}

    def to_frame(self) -> Any:
        """One row per measure, as a polars frame."""
        import polars as pl

        frame = pl.DataFrame(self._document["measures"], infer_schema_length=None)
        first = ["name", "value", "low", "high", "baseline", "skill"]
        return frame.select(*first, pl.exclude(first))


class Each(Mapping[str, Evaluation]):
    """The evaluation of each class against the rest, made when it is first asked for."""

    def __init__(self, tally: ClassTally, settings: Settings) -> None:
        self._tally, self._settings = tally, settings
        self._made: dict[str, Evaluation] = {}

    def __getitem__(self, name: Any) -> Evaluation:
        word = str(name)
        if word not in list(self):
            if not self._tally.each:
                raise KeyError("only the confidence is known; scores of each class are needed")
            raise KeyError(f"no class is named {word}; there are {', '.join(self)}")
        if word not in self._made:
            self._made[word] = Evaluation(self._tally.one(word), self._settings)
        return self._made[word]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tally.classes if self._tally.each else ())

    def __len__(self) -> int:
        return len(self._tally.classes) if self._tally.each else 0

    def __repr__(self) -> str:
        return f"<evaluations of {plain(', '.join(self)) or 'no class'}, each against the rest>"


def _unknown(name: str) -> str:
    return f"no measure of several classes is named {name}; there are {', '.join(sorted(CLASS_MEASURES))}"


# Tallies of several classes from files and frames.


def class_tally(
    source: Any,
    *,
    label: str | None = None,
    classes: Spec | None = None,
    predicted: str | None = None,
    score: str | None = None,
    confidence: str = "max",
    weight: str | None = None,
    count: str | None = None,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> ClassTally:
    """The tally of several classes of files, globs or any data frame.

    `classes` says which columns hold the scores: "cat=p_cat,dog=p_dog", a pattern such as "p_*", a
    mapping from class to column, or a list of columns. `confidence` is "max", "margin", "entropy" or
    "energy", or another column. With `predicted`, a column of decisions, `score` is the column of the
    confidence in them, and `classes` may list the names of the classes. Files of text are in UTF-8, or in
    `encoding`, such as "latin-1".

    >>> wide = {"y": ["a", "b"], "p_a": [0.7, 0.2], "p_b": [0.3, 0.8]}
    >>> class_tally(wide, label="y", classes="p_*")
    <ClassTally: 2 rows of 2 classes (probability)>
    """
    rows, rule = read_classes(
        source, label=label, classes=classes, predicted=predicted, score=score,
        confidence=confidence, weight=weight, count=count, kind=kind, missing=missing,
        encoding=encoding,
    )  # fmt: skip
    warn(rows.notes)
    return tally_of(rows, rule)


def read_classes(
    source: Any,
    *,
    classes: Spec | None,
    predicted: str | None,
    score: str | None,
    confidence: str,
    kind: Any,
    **columns: Any,
) -> tuple[ClassRows | DecidedRows, Rule]:
    """The rows that the options mean, and the rule of confidence."""
    if predicted is not None:
        if confidence != "max":
            raise BadInput(
                "confidence= belongs to scores of each class; with predicted=, score= names its column"
            )
        named = _listed(classes)
        decided = decided_rows(
            source, predicted=predicted, confidence=score, classes=named, kind=kind, **columns
        )
        return decided, "max"
    if classes is None:
        raise BadInput('classes= is missing; pass a pattern such as classes="p_*", or predicted=')
    if score is not None:
        raise BadInput(
            "score= is the confidence in decisions and goes with predicted=; with classes=, leave it out"
        )
    own = None if confidence in get_args(Rule) else confidence
    read = class_rows(source, classes, confidence=own, kind=kind, **columns)
    rule: Any = "max" if own else confidence
    return read, rule


def _listed(classes: Spec | None) -> Sequence[str] | None:
    """The names of the classes, beside decisions."""
    if classes is None:
        return None
    names = [c.strip() for c in classes.split(",")] if isinstance(classes, str) else list(classes)
    if not all(names) or any(mark in name for name in names for mark in "*="):
        raise BadInput(
            f"classes={classes} beside predicted= lists the names of the classes, such as "
            f'"cat,dog,bird"; leave it out to take those that occur'
        )
    return names


def tally_of(rows: ClassRows | DecidedRows, rule: Rule) -> ClassTally:
    """The tally of rows that were read."""
    if isinstance(rows, ClassRows):
        return ClassTally.of_rows(rows, rule=rule, sources=rows.place.sources)
    return ClassTally.of_decided(rows, sources=rows.place.sources)


def judge_classes(rows: ClassRows | DecidedRows, rule: Rule, **settings: Any) -> Document:
    """The document of rows that were read."""
    if not len(rows) or (rows.count is not None and not rows.count.any()):
        where = f"{', '.join(rows.place.sources)}: " if rows.place.sources else ""
        raise BadInput(f"{where}no rows are left to judge; {rows.dropped} were dropped as missing")
    return ClassEvaluation(tally_of(rows, rule), Settings(**settings)).to_dict()
