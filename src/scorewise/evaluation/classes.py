"""Every measure of a model of several classes, overall and class by class."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, get_args

from scorewise.columns import Kind, Missing
from scorewise.columns.classes import ClassRows, DecidedRows, class_rows, decided_rows
from scorewise.columns.roles import Spec
from scorewise.columns.rows import warn
from scorewise.errors import BadInput, plain
from scorewise.evaluation.models import Evaluation, Settings, measure_frame, refuse_no_rows
from scorewise.registry import CLASS_MEASURES, Lazy, Measure, Measured
from scorewise.show.shown import Shown
from scorewise.tallies import ClassTally, Confusion
from scorewise.tallies.joint import Rule

if TYPE_CHECKING:
    from scorewise.evaluation.class_document import ClassDocument


class ClassEvaluation(Shown, Measured):
    """Each measure of several classes as an attribute and by its name: `e.accuracy`, `e["accuracy"]`.

    Prints as a table. `e.top` is the `Evaluation` of the confidence against whether the decision was
    right, `e.each["cat"]` that of the scores of one class against the rest. All of them are made when
    they are first asked for, because some measures of calibration take a second. The scores themselves
    are in `e.tally`, the decisions in `e.confusion`.
    """

    tally: ClassTally
    settings: Settings
    _what = "measure of several classes"

    def __init__(self, tally: ClassTally, settings: Settings) -> None:
        self.tally, self.settings = tally, settings
        super().__init__(CLASS_MEASURES, vars(settings))

    def _statistic(self, m: Measure) -> ClassTally:
        return self.tally

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

    def document(self) -> ClassDocument:
        """What is written and shown; `scorewise schema evaluate-classes` prints its schema."""
        return self._document

    @cached_property
    def _document(self) -> ClassDocument:
        from scorewise.evaluation.class_document import class_document

        return class_document(self)

    def to_frame(self) -> Any:
        """One row per measure, as a polars frame."""
        return measure_frame(self._document.measures)


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


def judge_classes(rows: ClassRows | DecidedRows, rule: Rule, **settings: Any) -> ClassDocument:
    """The document of rows that were read."""
    refuse_no_rows(rows)
    return ClassEvaluation(tally_of(rows, rule), Settings(**settings)).document()
