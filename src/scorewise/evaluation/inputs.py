"""What `evaluate` and `report` take: labels and scores as columns, or a source and names of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, get_args

from scorewise.columns import Kind, Missing, Rows, binary_rows
from scorewise.columns.classes import (
    ClassRows,
    DecidedRows,
    class_rows,
    columns_of_labels,
    decided_rows,
    numbered,
    positive_column,
)
from scorewise.columns.files import open_source
from scorewise.columns.reader import warn
from scorewise.columns.roles import Spec, quoted
from scorewise.columns.sources import is_source, is_wide, only_column
from scorewise.errors import BadInput, Option, Setting, no_scores
from scorewise.tallies import ClassTally
from scorewise.tallies.joint import Rule

AnyRows: TypeAlias = Rows | ClassRows | DecidedRows
OF_CLASSES = ("classes", "predicted", "confidence")  # options of several classes
_NO_CLUSTERS = (
    " belongs to several classes, and clusters to two; evaluate one class against the rest"
)


@dataclass(frozen=True)
class Inputs:
    """Labels `y` and scores `p` as columns; or, without `p`, a source `y` whose columns the others name."""

    y: Any
    p: Any = None
    label: str | None = None
    score: str | Sequence[str] | None = None
    encoding: str | None = None
    classes: Spec | Sequence[Any] | None = None
    predicted: Any = None
    confidence: Any = None
    weight: Any = None
    count: Any = None
    kind: Kind | None = None
    positive: Any = None
    cluster: Any = None
    by: Any = None
    missing: Missing = "refuse"
    ids: Any = None

    def given(self, *names: str) -> list[str]:
        """Which of these options are given."""
        return [name for name in names if getattr(self, name) is not None]

    @property
    def _options(self) -> dict[str, Any]:
        names = ("weight", "count", "kind", "missing")
        return {name: getattr(self, name) for name in names}

    def rows(self) -> tuple[AnyRows, Rule]:
        """The checked rows, of two classes or several, and the rule of confidence."""
        if self.p is None:
            if not is_source(self.y):
                raise no_scores("evaluate(y, p)", 'evaluate("file.csv", label=..., score=...)')
            rows, rule = self.of_source()
            if not len(rows) or (rows.count is not None and not rows.count.any()):
                where = f"{', '.join(rows.sources)}: " if rows.sources else ""
                raise BadInput(
                    f"{where}no rows are left to judge; {rows.dropped} were dropped as missing"
                )
            warn(rows.notes)
        else:
            refuse(
                self.given("label", "score", "encoding"),
                after=" belongs to files and frames, but labels and scores are given as columns",
            )
            rows, rule = self._of_columns()
        if isinstance(rows, ClassRows) and len(rows.classes) == 2 and self.confidence is None:
            return rows.of_two(self.positive), rule
        return rows, rule

    def _of_columns(self) -> tuple[AnyRows, Rule]:
        y, p = only_column(self.y), only_column(self.p)
        columns: dict[str, Any] = {"label": y, "group": self.by, **self._options}
        if self.cluster is not None:
            refuse(self.given(*OF_CLASSES), after=_NO_CLUSTERS)
            p = positive_column(y, p, self.positive, self.kind)
        if self.predicted is not None:
            if is_wide(p) or self.confidence is not None:
                raise BadInput(
                    Option("predicted"),
                    " goes with one confidence a row, as p; leave it out where each class has a score",
                )
            columns |= {"predicted": self.predicted, "confidence": p, "classes": self.classes}
            return decided_rows(None, **columns), "max"
        if is_wide(p):
            rule, own = self._rule(isinstance(self.confidence, str | None))
            columns |= {"score": p, "classes": self.classes, "confidence": own}
            return class_rows(None, **columns), rule
        refuse(
            self.given(*OF_CLASSES),
            after=" belongs to several classes, but p has one score a row; pass one score for each class "
            "(n x K), or the decisions as predicted",
        )
        columns |= {"score": {"score": p}, "cluster": self.cluster, "positive": self.positive}
        return binary_rows(None, **columns), "max"

    def of_source(self) -> tuple[AnyRows, Rule]:
        """The checked rows of a source, and the rule of confidence."""
        score, classes, predicted = self.score, self.classes, self.predicted
        if predicted is None and classes is None:
            if self.confidence is not None:
                raise BadInput(
                    Option("confidence"), " belongs to several classes; pass ", Option("classes"),
                    ' too, such as "p_*"',
                )  # fmt: skip
            return self._of_two_classes(), "max"
        if self.cluster is not None:
            refuse(self.given(*OF_CLASSES), after=_NO_CLUSTERS)
        if score is not None and not isinstance(score, str):
            if len(score) > 1:
                raise BadInput(
                    "several classes of one model at a time; pass one ", Option("score"),
                    ", the confidence",
                )  # fmt: skip
            score = next(iter(score), None)
        columns: dict[str, Any] = {"label": self.label, "group": self.by, **self._options}
        columns["encoding"] = self.encoding
        if predicted is not None:
            if self.confidence is not None:
                raise BadInput(
                    Option("confidence"), " belongs to scores of each class; with ",
                    Option("predicted"), ", ", Option("score"), " names its column",
                )  # fmt: skip
            columns |= {"predicted": predicted, "confidence": score, "classes": _names_of(classes)}
            return decided_rows(self.y, **columns), "max"
        if score is not None:
            raise BadInput(
                Option("score"), " is the confidence in decisions and goes with ", Option("predicted"),
                "; with ", Option("classes"), ", leave it out",
            )  # fmt: skip
        rule, own = self._rule(self.confidence is None or self.confidence in get_args(Rule))
        return class_rows(self.y, classes=classes, confidence=own, **columns), rule

    def _rule(self, by_name: bool) -> tuple[Any, Any]:
        """The rule of confidence, or the user's own column of confidence."""
        return (self.confidence or "max", None) if by_name else ("max", self.confidence)

    def _of_two_classes(self) -> Rows | ClassRows:
        """Rows of one or more columns of scores; of several classes where the columns hold their scores."""
        opened = open_source(self.y, self.encoding)
        columns: dict[str, Any] = {"label": self.label, "group": self.by, **self._options}
        two = {"score": self.score, "cluster": self.cluster, "positive": self.positive}
        try:
            return binary_rows(opened, **columns, **two, id=self.ids)
        except BadInput:
            if self.score is None and self.cluster is None and (guess := _guessed(opened, columns)):
                return guess
            raise


def _guessed(opened: Any, columns: Mapping[str, Any]) -> ClassRows | None:
    """Rows of the scores of classes, where the values of the label name their columns."""
    try:
        label, scores = columns_of_labels(opened, columns["label"], columns["kind"])
    except BadInput:  # the columns that were asked for are refused in any case
        return None
    if not scores:
        return None
    try:
        rows = class_rows(opened, classes=scores, **columns)
    except BadInput:
        if len(scores) == 2:  # which two numbers of any kind may be
            return None
        raise
    note = (
        f"classes: columns {quoted([*scores.values()])} (not named; taken because they are named as the "
        f"values of '{label}' are)"
    )
    return replace(rows, notes=(note, *rows.notes), ordered=numbered(rows.classes))


def _names_of(classes: Any) -> Sequence[str] | None:
    """The names of the classes, beside decisions."""
    if classes is None:
        return None
    names = [c.strip() for c in classes.split(",")] if isinstance(classes, str) else list(classes)
    if not all(names) or any(mark in str(name) for name in names for mark in "*="):
        raise BadInput(
            Option("classes", classes), " beside ", Option("predicted"),
            ' lists the names of the classes, such as "cat,dog,bird"; leave it out to take those ',
            "that occur",
        )  # fmt: skip
    return names


def refuse(names: Sequence[str], before: str = "", after: str = "") -> None:
    """Refuse options that do not belong there, if there are any."""
    kind = Option if after else Setting
    listed = [part for name in names for part in (" and ", kind(name))]
    if listed:
        raise BadInput(before, *listed[1:], after)


def tally_of(rows: ClassRows | DecidedRows, rule: Rule = "max") -> ClassTally:
    """The tally of rows of several classes: of their scores, or of decisions and the confidence in them."""
    if isinstance(rows, ClassRows):
        return ClassTally.of_rows(rows, rule=rule, sources=rows.sources)
    return ClassTally.of_decided(rows, sources=rows.sources)
