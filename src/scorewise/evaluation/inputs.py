"""What `evaluate` and `report` take: labels and scores as columns, or a source and names of its columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, get_args

from scorewise.checks import refuse_given, refuse_names
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
from scorewise.errors import BadInput, Option, no_scores
from scorewise.tallies import ClassTally
from scorewise.tallies.joint import Rule

AnyRows: TypeAlias = Rows | ClassRows | DecidedRows
OF_CLASSES = ("classes", "predicted", "confidence")  # options of several classes


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

    def given(self, *names: str) -> dict[str, Any]:
        """Those of these options that are given."""
        return {name: getattr(self, name) for name in names if getattr(self, name) is not None}

    def rows(self) -> tuple[AnyRows, Rule]:
        """The checked rows, of two classes or several, and the rule of confidence."""
        if self.p is not None:
            refuse_names(**self.given("label", "score", "encoding"))
        elif not is_source(self.y):
            raise no_scores("evaluate(y, p)", 'evaluate("file.csv", label=..., score=...)')
        rows, rule = self.read()
        if self.p is None:
            if not len(rows) or (rows.count is not None and not rows.count.any()):
                where = f"{', '.join(rows.sources)}: " if rows.sources else ""
                raise BadInput(
                    f"{where}no rows are left to judge; {rows.dropped} were dropped as missing"
                )
            warn(rows.notes)
        if isinstance(rows, ClassRows) and len(rows.classes) == 2 and self.confidence is None:
            return rows.of_two(self.positive), rule
        return rows, rule

    def read(self) -> tuple[AnyRows, Rule]:
        """The checked rows of columns, or of a source, and the rule of confidence."""
        in_memory, own = self.p is not None, self.confidence
        source = None if in_memory else self.y
        y, p = (only_column(self.y), only_column(self.p)) if in_memory else (self.label, self.score)
        if self.cluster is not None:
            why = " belongs to several classes, and clusters to two; evaluate one class against the rest"
            refuse_given(why, **self.given(*OF_CLASSES))
            p = positive_column(y, p, self.positive, self.kind) if in_memory else p
        columns: dict[str, Any] = {"label": y, "group": self.by, "weight": self.weight}
        columns |= {"count": self.count, "kind": self.kind, "missing": self.missing}
        scores_of_classes = is_wide(p) if in_memory else self.classes is not None
        if self.predicted is None and not scores_of_classes:
            return self._of_two_classes(p, columns), "max"
        if not in_memory and p is not None and not isinstance(p, str):
            if len(p) > 1:
                raise BadInput(
                    "several classes of one model at a time; pass one ", Option("score"),
                    ", the confidence",
                )  # fmt: skip
            p = next(iter(p), None)
        if self.predicted is not None:
            known = self.classes if in_memory else _names_of(self.classes)
            columns |= {"confidence": p, "classes": known, "encoding": self.encoding}
            self._check_confidence(p)
            return decided_rows(source, predicted=self.predicted, **columns), "max"
        if in_memory:
            columns["score"] = p
        elif p is not None:
            raise BadInput(
                Option("score"), " is the confidence in decisions and goes with ", Option("predicted"),
                "; with ", Option("classes"), ", leave it out",
            )  # fmt: skip
        # the rule of confidence, or the user's own column of it
        named = isinstance(own, str | None) if in_memory else own is None or own in get_args(Rule)
        columns |= {"classes": self.classes, "encoding": self.encoding}
        rows = class_rows(source, confidence=None if named else own, **columns)
        return rows, (own or "max") if named else "max"

    def _check_confidence(self, p: Any) -> None:
        """Refuse a second confidence in decisions."""
        if self.p is not None and (is_wide(p) or self.confidence is not None):
            raise BadInput(
                Option("predicted"),
                " goes with one confidence a row, as p; leave it out where each class has a score",
            )
        if self.confidence is not None:
            raise BadInput(
                Option("confidence"), " belongs to scores of each class; with ",
                Option("predicted"), ", ", Option("score"), " names its column",
            )  # fmt: skip

    def _of_two_classes(self, p: Any, columns: Mapping[str, Any]) -> Rows | ClassRows:
        """Rows of one or more columns of scores; of several classes where the columns hold their scores."""
        two = {"cluster": self.cluster, "positive": self.positive}
        if self.p is not None:
            why = (
                " belongs to several classes, but p has one score a row; pass one score for each class "
                "(n x K), or the decisions as predicted"
            )
            refuse_given(why, **self.given(*OF_CLASSES))
            return binary_rows(None, score={"score": p}, **columns, **two)
        if self.confidence is not None:
            raise BadInput(
                Option("confidence"), " belongs to several classes; pass ", Option("classes"),
                ' too, such as "p_*"',
            )  # fmt: skip
        opened = open_source(self.y, self.encoding)
        try:
            return binary_rows(opened, score=p, **columns, **two, id=self.ids)
        except BadInput:
            if p is None and self.cluster is None and (guess := _guessed(opened, columns)):
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


def tally_of(rows: ClassRows | DecidedRows, rule: Rule = "max") -> ClassTally:
    """The tally of rows of several classes: of their scores, or of decisions and the confidence in them."""
    if isinstance(rows, ClassRows):
        return ClassTally.of_rows(rows, rule=rule, sources=rows.sources)
    return ClassTally.of_decided(rows, sources=rows.sources)
