"""Answers judged: all of them, and group by group."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from scorewise.answering.document import document
from scorewise.answering.errors import ConfidentError, confident_errors
from scorewise.answering.measures import SHOWN
from scorewise.answering.parts import Groups, Part
from scorewise.answering.settings import Settings
from scorewise.columns.answers import AnswerRows
from scorewise.errors import BadInput
from scorewise.views.documents import estimate_of
from scorewise.views.shown import Shown
from scorewise.views.words import Document


class Answers(Part, Shown):
    """Answers judged: each measure of their confidence, over groups and over thresholds of quality.

    `a.ece` with one confidence, `a["stated"].ece` with several; `a.groups["gpt-4o"]["stated"].ece`;
    `a.curve("ece")` over tau, and `a.at(0.8)` the same answers with another tau. Prints as a table.
    """

    def __init__(
        self,
        rows: AnswerRows,
        settings: Settings,
        sources: tuple[str, ...] = (),
        notes: Sequence[str] = (),
    ) -> None:
        if not len(rows):
            where = f"{', '.join(sources)}: " if sources else ""
            raise BadInput(f"{where}no answers are left to judge; {rows.dropped} were dropped")
        super().__init__(rows, settings)
        self.sources, self.notes = sources, list(notes)

    @cached_property
    def groups(self) -> Groups:
        """The answers of each group."""
        return Groups(self.rows, self.settings)

    def at(self, tau: float) -> Answers:
        """The same answers with another threshold of quality."""
        return Answers(self.rows, replace(self.settings, tau=tau), self.sources, self.notes)

    def confident_errors(
        self, top: int = 5, *, confidence: str | None = None
    ) -> tuple[ConfidentError, ...]:
        """The wrong answers that were said with most confidence, the surest first.

        >>> from scorewise import answers
        >>> a = answers(["Paris", "Rome"], ["Lyon", "Oslo"], [0.9, 0.95])
        >>> [(e.place, e.predicted, e.confidence) for e in a.confident_errors(top=1)]
        [('row 1, counting from 0', 'Oslo', 0.95)]
        """
        name = confidence or next(iter(self))
        if confidence is None:
            self._only("accuracy")  # refuses to choose between several
        if name not in self.rows.confidence:
            raise BadInput(
                f"no confidence is named {name}; confidences are {', '.join(self.rows.confidence)}"
            )
        return confident_errors(self.rows, name, self.settings.tau, top)

    def plot(self, measure: str = "ece", *, ax: Any = None) -> Any:
        """Draw a measure over the threshold of quality; `displays.AnswersDisplay` draws groups, too."""
        from scorewise.displays import AnswersDisplay

        return AnswersDisplay.over_tau(self, measure, ax=ax)

    @cached_property
    def _document(self) -> Document:
        return document(self)

    def to_dict(self) -> Document:
        """The document that every view renders; `scorewise schema answers` has its schema."""
        from copy import deepcopy

        return deepcopy(self._document)

    def to_frame(self) -> Any:
        """One row for each group, confidence and measure, as a polars frame; all answers come first."""
        import polars as pl

        columns = list(self.rows.groups)
        parts: list[tuple[tuple[str | None, ...], Part]] = [((None,) * len(columns), self)]
        parts += list(self.groups.items())
        lines = [
            {
                **dict(zip(columns, key, strict=True)),
                "confidence": name,
                "answers": judged.answers,
                "measure": measure,
                **estimate_of(judged[measure]),
            }
            for key, part in parts
            for name, judged in part.items()
            for measure in SHOWN
        ]
        return pl.DataFrame(lines, infer_schema_length=None)

    __repr__ = Shown.__repr__
