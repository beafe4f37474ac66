"""Answers judged as a whole and group by group, and those that are wrong but sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise import subgroups
from scorewise.answering.confidence import Judged, Part, Settings
from scorewise.answering.measures import PAGE_MEASURES, Sample
from scorewise.answering.quality import UNANSWERABLE, Lists, Normalise
from scorewise.answering.rows import AnswerRows, answer_rows
from scorewise.arrays import Floats
from scorewise.checks import check
from scorewise.columns import Missing
from scorewise.columns.grouping import Grouping, grouping, intersections
from scorewise.columns.reader import warn
from scorewise.computing import cached
from scorewise.errors import BadInput, Option
from scorewise.show.records import Count, Estimated, Record, field, record_of
from scorewise.show.result import Backend, Pictures, Result, framed
from scorewise.subgroups import GroupWording

if TYPE_CHECKING:
    from scorewise.answering.document import AnswersDocument

FROM_COLUMN = "null where quality is a column"


class ConfidentError(Record):
    """A wrong answer: where it is, how sure it was said, how good it is, and the texts if there are any."""

    file: str | None
    row: Count
    confidence: float = field("The confidence in it.", ge=0)
    quality: float = field("Its quality.", ge=0)
    gold: str | None = field(f"Gold answers, cut short; {FROM_COLUMN}.")
    predicted: str | None = field(f"The answer, cut short; {FROM_COLUMN}.")

    @property
    def place(self) -> str:
        """Its row, and what that counts from."""
        return f"row {self.row}" + (f" of {self.file}" if self.file else ", counting from 0")


def _text(answer: Any) -> str:
    """An answer as one text: variants by bars, lists in brackets.

    >>> _text(["NARA", "Archives"]), _text([["a"], ["b", "c"]])
    ('NARA | Archives', '[a] | [b | c]')
    """
    if not isinstance(answer, list):
        return "" if answer is None else str(answer)
    parts = (f"[{_text(part)}]" if isinstance(part, list) else _text(part) for part in answer)
    return " | ".join(parts)


# Answers by group: each confidence in each group, beside the rest of the answers.


MAX_GROUPS = 2000  # some milliseconds each
GROUP_MEASURES = ("accuracy", "mean_confidence", "overconfidence", "ece", "auroc", "brier")
WORDING = GroupWording(
    better={
        "accuracy": "high", "mean_confidence": "high", "overconfidence": 0.0, "ece": "low",
        "auroc": "high", "brier": "low",
    },
    sentences={
        "overconfidence": ("{model} is less overconfident on {}", "{model} is more overconfident on {}"),
        "auroc": ("{model} tells right from wrong less well on {}",
                  "{model} tells right from wrong better on {}"),
    },
    titles={
        "accuracy": "Right", "mean_confidence": "Says", "overconfidence": "Over", "ece": "ECE",
        "auroc": "AUROC",
    },
    names={"auroc": "AUROC"},
    untested={"ece": "chance makes it larger in smaller groups"},
    noun="answer",
)  # fmt: skip


class Groups(subgroups.GroupsOfModels[Part]):
    """The answers of each group, by its name, judged when they are first asked for.

    `groups["gpt-4o"]` of one column, `groups["gpt-4o", "sciq"]` or `groups["gpt-4o / sciq"]` of two.
    """

    def __init__(self, of: Part, min_rows: int) -> None:
        rows = of.rows
        super().__init__(grouping(rows.groups, min_rows, mass=rows.weight, most=MAX_GROUPS))
        self.rows, self.settings = rows, of.settings
        each = {name: OfConfidence(self, name, j) for name, j in of.items() if len(self)}
        self.each = {name: in_groups for name, in_groups in each.items() if len(in_groups.grouping)}

    def _make(self, name: str) -> Part:
        return Part(self.rows, self.settings, self.grouping.at(self._index[name]))


class OfConfidence(subgroups.GroupComparison[Judged]):
    """One confidence in the groups that have it."""

    wording, measures = WORDING, GROUP_MEASURES

    def __init__(self, groups: Groups, confidence: str, overall: Judged) -> None:
        rows, g = groups.rows, groups.grouping
        self._groups, self.model, self.level = groups, confidence, groups.settings.level
        self.overall = overall
        self.cluster, self.mass = rows.cluster, rows.mass()
        known = np.where(np.isnan(rows.confidence[confidence]), 0.0, self.mass)
        codes, words = intersections(rows.groups, known)
        sizes = np.bincount(codes[codes >= 0], minlength=len(words))
        self.grouping = Grouping(g.by, codes, words, sizes, g.min_rows)

    def in_group(self, k: int) -> Judged:
        """The confidence in the answers of a group, which may be there already."""
        return self._groups[self.grouping.names[k]][self.model]

    def estimates(self, k: int, inside: bool, level: float) -> Judged:
        """The confidence in the answers of a group, or in all others that have it."""
        sample = Sample.of(self._groups.rows, self.model, self.row_places(k, inside))
        return Judged(sample, replace(self._groups.settings, level=level))

    def influence(self, of: Judged, measure: str) -> Floats:
        """What each answer does to a measure, times its weight."""
        moved = of.influence(measure)
        if of is not self.overall:
            return moved
        every = np.zeros(len(self.mass))
        every[self.grouping.codes >= 0] = moved
        return every


class Answers(Part, Result):
    """Answers judged: each measure of their confidence, over groups and over thresholds of quality.

    `a.ece` with one confidence, `a["stated"].ece` with several; `a.groups["gpt-4o"]["stated"].ece`;
    `a.curve("ece")` over tau, and `a.at(0.8)` the same answers with another tau. Prints as a table.
    """

    def __init__(self, rows: AnswerRows, settings: Settings, min_rows: int = 20) -> None:
        super().__init__(rows, settings)
        self.groups = Groups(self, min_rows)  # none where no columns were named (`by`)
        self.sources, self.notes = rows.sources, list(rows.notes)

    def at(self, tau: float) -> Answers:
        """The same answers with another threshold of quality."""
        return Answers(self.rows, replace(self.settings, tau=tau), self.groups.min_rows)

    def confident_errors(
        self, top: int = 5, *, confidence: str | None = None
    ) -> tuple[ConfidentError, ...]:
        """The wrong answers that were said with most confidence; of equally sure ones the worst first.

        >>> from scorewise import answers
        >>> a = answers(["Paris", "Rome"], ["Lyon", "Oslo"], [0.9, 0.95])
        >>> [(e.place, e.predicted, e.confidence) for e in a.confident_errors(top=1)]
        [('row 1, counting from 0', 'Oslo', 0.95)]
        """
        check(top=top)
        rows, name = self.rows, confidence or next(iter(self))
        if confidence is None:
            self._only("accuracy")  # refuses to choose between several
        if name not in rows.confidence:
            raise BadInput(
                f"no confidence is named {name}; confidences are {', '.join(rows.confidence)}"
            )
        sure = rows.confidence[name]
        wrong = np.flatnonzero((rows.quality <= self.settings.tau) & ~np.isnan(sure))
        errors = []
        for k in wrong[np.lexsort((rows.quality[wrong], -sure[wrong]))[:top]].tolist():
            file, row = rows.place.number(k)
            gold, said = (
                None if c is None else _text(c.values[k]) for c in (rows.gold, rows.predicted)
            )
            p, quality = float(sure[k]), float(rows.quality[k])
            error = ConfidentError(
                file=file, row=row, confidence=p, quality=quality, gold=gold, predicted=said
            )
            errors.append(error)
        return tuple(errors)

    def pictures(self) -> Pictures:
        """Reliability and risk of each confidence, a measure over tau (also by its name), and by group."""
        from scorewise.displays import AnswersDisplay, ReliabilityDisplay, RiskCoverageDisplay

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
        kinds |= {m: partial(AnswersDisplay.over_tau, self, m) for m in PAGE_MEASURES}
        return Pictures(kinds, first)

    def document(self) -> AnswersDocument:
        """What is written and shown; `scorewise schema answers` prints its schema."""
        from scorewise.answering.document import AnswersDocument

        return cached(self, "document", lambda: AnswersDocument.of(self))

    def to_frame(self, part: str | None = None, *, backend: Backend = "polars") -> Any:
        """One line for each group, confidence and measure; all answers come first.

        `part` names a list of the document in place of that, `backend` is "polars" or "pandas".
        """
        if part is not None:
            return super().to_frame(part, backend=backend)
        columns = list(self.rows.groups)
        grouped = zip(self.groups.grouping.words, self.groups.values(), strict=True)
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
            for measure in PAGE_MEASURES
        ]
        return framed(lines, backend)

    __repr__ = Result.__repr__


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
    given: dict[str, Any] = {
        "gold": gold, "predicted": predicted, "confidence": confidence, "weight": weight,
        "cluster": cluster, "group": by,
    }  # fmt: skip
    if source is None or not _names(confidence) or not isinstance(predicted, str | None):
        if source is not None and gold is not None:
            raise BadInput("gold is given twice; pass it first, or as ", Option("gold"))
        if confidence is None:
            raise BadInput("confidence is missing; call answers(gold, predicted, confidence)")
        given["gold"], source = gold if source is None else source, None
    rows = answer_rows(
        source, quality=quality, missing=missing, normalise=normalise, lists=lists,
        unanswerable=unanswerable, encoding=encoding, **given,
    )  # fmt: skip
    if source is not None:
        warn(rows.notes)
    return Answers(rows, settings, min_rows)


def _names(confidence: Any) -> bool:
    """Whether names of columns are given, or none, rather than columns."""
    if confidence is None or isinstance(confidence, str):
        return True
    listed = isinstance(confidence, list | tuple) and len(confidence) > 0
    return listed and all(isinstance(name, str) for name in confidence)
