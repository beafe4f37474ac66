"""Answers judged as a whole and group by group, and those that are wrong but sure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.answering.groups import Groups
from scorewise.answering.judged import Part, Settings
from scorewise.answering.measures import SHOWN
from scorewise.answering.quality import UNANSWERABLE, Lists, Normalise
from scorewise.answering.rows import AnswerRows, answer_rows
from scorewise.checks import check
from scorewise.columns import Missing
from scorewise.columns.grouping import check_groups
from scorewise.columns.rows import group_columns, no_name, warn
from scorewise.errors import BadInput, Option
from scorewise.show.estimates import Estimated, record_of
from scorewise.show.fields import Count, Record, means
from scorewise.show.frame import Backend, framed
from scorewise.show.shown import Shown

if TYPE_CHECKING:
    from scorewise.answering.document import AnswersDocument
    from scorewise.displays.overview import Pictures

FROM_COLUMN = "null where quality is a column"


class ConfidentError(Record):
    """A wrong answer: where it is, how sure it was said, how good it is, and the texts if there are any."""

    file: str | None
    row: Count
    confidence: float = means("The confidence in it.", ge=0)
    quality: float = means("Its quality.", ge=0)
    gold: str | None = means(f"Gold answers, cut short; {FROM_COLUMN}.")
    predicted: str | None = means(f"The answer, cut short; {FROM_COLUMN}.")

    @property
    def place(self) -> str:
        """Its row, and what that counts from."""
        return f"row {self.row}" + (f" of {self.file}" if self.file else ", counting from 0")


def confident_errors(
    rows: AnswerRows, name: str, tau: float, top: int
) -> tuple[ConfidentError, ...]:
    """The surest of the answers whose quality is not above `tau`; of equally sure ones the worst first."""
    check(top=top)
    sure = rows.confidence[name]
    wrong = np.flatnonzero((rows.quality <= tau) & ~np.isnan(sure))
    order = np.lexsort((rows.quality[wrong], -sure[wrong]))[:top]
    return tuple(_error(rows, k, float(sure[k])) for k in wrong[order].tolist())


def _error(rows: AnswerRows, k: int, sure: float) -> ConfidentError:
    file, row = rows.place.number(k)
    gold, said = (None if c is None else _text(c.values[k]) for c in (rows.gold, rows.predicted))
    quality = float(rows.quality[k])
    return ConfidentError(
        file=file, row=row, confidence=sure, quality=quality, gold=gold, predicted=said
    )


def _text(answer: Any) -> str:
    """An answer as one text: variants by bars, lists in brackets.

    >>> _text(["NARA", "Archives"]), _text([["a"], ["b", "c"]])
    ('NARA | Archives', '[a] | [b | c]')
    """
    if not isinstance(answer, list):
        return "" if answer is None else str(answer)
    parts = (f"[{_text(part)}]" if isinstance(part, list) else _text(part) for part in answer)
    return " | ".join(parts)


class Answers(Part, Shown):
    """Answers judged: each measure of their confidence, over groups and over thresholds of quality.

    `a.ece` with one confidence, `a["stated"].ece` with several; `a.groups["gpt-4o"]["stated"].ece`;
    `a.curve("ece")` over tau, and `a.at(0.8)` the same answers with another tau. Prints as a table.
    """

    def __init__(self, rows: AnswerRows, settings: Settings, min_rows: int = 20) -> None:
        super().__init__(rows, settings)
        self.min_rows = min_rows
        self.sources, self.notes = rows.place.sources, list(rows.notes)

    @cached_property
    def groups(self) -> Mapping[str, Part]:
        """The answers of each group; none where no columns of groups were named (`by`)."""
        return Groups(self.rows, self.settings, self.min_rows) if self.rows.groups else {}

    def at(self, tau: float) -> Answers:
        """The same answers with another threshold of quality."""
        return Answers(self.rows, replace(self.settings, tau=tau), self.min_rows)

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

    def pictures(self) -> Pictures:
        """Reliability and risk of each confidence, a measure over tau (also by its name), and by group."""
        from scorewise.displays import AnswersDisplay, ReliabilityDisplay, RiskCoverageDisplay
        from scorewise.displays.overview import Pictures

        level, several = self.settings.level, len(self) > 1

        def curves(kind: Any, *, ax: Any, **options: Any) -> Any:
            for name, judged in self.items():
                shown = kind(judged.tally, name if several else None, level=level)
                drawn = shown.plot(ax=ax, **options)
                ax = drawn.ax_
            return drawn

        def reliability(*, ax: Any, **options: Any) -> Any:
            own = {"histogram": True, "parts": False} if hasattr(ax, "plot") else {}
            drawn = curves(ReliabilityDisplay, ax=ax, **own | options)
            drawn.ax_.set(xlabel="confidence", ylabel="share correct")
            return drawn

        kinds: dict[str, Any] = {
            "reliability": reliability,
            "risk_coverage": partial(curves, RiskCoverageDisplay),
            "over_tau": partial(AnswersDisplay.over_tau, self),
        }
        first: tuple[str, ...] = ("reliability", "risk_coverage")
        if not {*self.rows.quality.tolist()} <= {0.0, 1.0}:  # else the same for every tau
            first = (*first, "over_tau")
        if self.groups:
            kinds["groups"] = partial(AnswersDisplay.by_group, self)
            first = (*first, "groups")
        kinds |= {m: partial(AnswersDisplay.over_tau, self, m) for m in SHOWN}
        return Pictures(kinds, first)

    def document(self) -> AnswersDocument:
        """What is written and shown; `scorewise schema answers` prints its schema."""
        return self._document

    @cached_property
    def _document(self) -> AnswersDocument:
        from scorewise.answering.document import answers_document

        return answers_document(self)

    def to_frame(self, part: str | None = None, *, backend: Backend = "polars") -> Any:
        """One line for each group, confidence and measure; all answers come first.

        `part` names a list of the document in place of that, `backend` is "polars" or "pandas".
        """
        if part is not None:
            return super().to_frame(part, backend=backend)
        columns = list(self.rows.groups)
        words = self.groups.grouping.words if isinstance(self.groups, Groups) else ()
        grouped = zip(words, self.groups.values(), strict=True)
        parts: list[tuple[Any, Part]] = [((None,) * len(columns), self), *grouped]
        lines = [
            {
                **dict(zip(columns, key, strict=True)),
                "confidence": name,
                "answers": judged.answers,
                "name": measure,
                **vars(record_of(Estimated, judged[measure])),
            }
            for key, part in parts
            for name, judged in part.items()
            for measure in SHOWN
        ]
        return framed(lines, backend)

    __repr__ = Shown.__repr__


def answers(
    source: Any = None,
    predicted: Any = None,
    confidence: Any | Sequence[str] = None,
    *,
    gold: Any = None,
    quality: Any = "anls",
    tau: float = 0.5,
    by: Any | Sequence[str] = None,
    min_rows: int = 20,
    weight: Any = None,
    cluster: Any = None,
    missing: Missing = "refuse",
    normalise: Normalise | None = None,
    lists: Lists = "variants",
    unanswerable: Sequence[str] = UNANSWERABLE,
    bins: int = 15,
    level: float = 0.95,
    seed: int = 0,
    encoding: str | None = None,
) -> Answers:
    """Judge the confidence in answers: `answers(gold, predicted, confidence)`, or a file or frame.

    An answer is correct when its quality is above `tau`. Quality is "anls", "exact", "f1", or numbers
    from 0 to 1 of your own, which need neither `gold` nor `predicted`. `confidence` is a column, or
    several by name; `by` are columns of groups, by name, of which several make those combinations that
    occur: the document has each confidence in each group beside the rest of the answers, and groups of
    fewer than `min_rows` answers are shown and not judged; `cluster` says which answers belong together,
    such as those to one question: intervals then allow for what they share. Of a file, a list of files
    or a frame, all of them are names of columns: `answers("file.jsonl", gold="answer", predicted="said",
    confidence="p")`.
    Files of text are in UTF-8, or in `encoding`. See `answer_rows` for `missing`, `normalise`, `lists` and
    `unanswerable`.

    >>> a = answers(["Paris", "Rome", "Oslo"], ["paris", "Rom", "Bergen"], [0.9, 0.8, 0.7])
    >>> a.accuracy, a.mean_quality.value
    (0.667 [0.208, 0.939], 0.5833333333333334)
    >>> answers(confidence=[0.9, 0.8, 0.3], quality=[1.0, 0.4, 0.0]).at(0.3).accuracy.value
    0.6666666666666666
    """
    settings = Settings(tau=tau, bins=bins, level=level, seed=seed)
    check(min_rows=min_rows)
    how: dict[str, Any] = {
        "quality": quality, "weight": weight, "cluster": cluster, "missing": missing,
        "normalise": normalise, "lists": lists, "unanswerable": unanswerable,
    }  # fmt: skip
    if source is not None and _names(confidence) and isinstance(predicted, str | None):
        rows = answer_rows(
            source, gold=gold, predicted=predicted, confidence=confidence, groups=by,
            encoding=encoding, **how,
        )  # fmt: skip
        warn(rows.notes)
        if by is not None:
            check_groups(by, {"confidence": [*rows.confidence], "weight": weight})
        return _made(rows, settings, min_rows)
    if source is not None and gold is not None:
        raise BadInput("gold is given twice; pass it first, or as ", Option("gold"))
    if confidence is None:
        raise BadInput("confidence is missing; call answers(gold, predicted, confidence)")
    no_name("cluster", cluster)
    rows = answer_rows(
        None, gold=gold if source is None else source, predicted=predicted, confidence=confidence,
        groups=group_columns(by, "the answers"), **how,
    )  # fmt: skip
    return _made(rows, settings, min_rows)


def _made(rows: AnswerRows, settings: Settings, min_rows: int) -> Answers:
    made = Answers(rows, settings, min_rows)
    assert made.groups is not None  # refuses columns that make no groups
    return made


def _names(confidence: Any) -> bool:
    """Whether names of columns are given, or none, rather than columns."""
    if confidence is None or isinstance(confidence, str):
        return True
    listed = isinstance(confidence, list | tuple) and len(confidence) > 0
    return listed and all(isinstance(name, str) for name in confidence)
