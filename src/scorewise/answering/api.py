"""One call for answers as columns, and for answers in files and frames."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from scorewise.answering.document import document
from scorewise.answering.result import Answers
from scorewise.answering.settings import Settings
from scorewise.columns import Missing
from scorewise.columns.answers import take_answers
from scorewise.columns.load_answers import LoadedAnswers, load_answers
from scorewise.columns.quality import UNANSWERABLE, Lists, Normalise
from scorewise.errors import BadInput, plain
from scorewise.views.words import Document


def answers(
    source: Any = None,
    predicted: Any = None,
    confidence: Any = None,
    *,
    gold: Any = None,
    quality: Any = "anls",
    tau: float = 0.5,
    by: Any = None,
    weight: Any = None,
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
    from 0 to 1 of one's own, which need neither `gold` nor `predicted`. `confidence` is a column, or
    several by name; `by` are columns of groups, by name. Of a file, a list of files or a frame, all of
    them are names of columns: `answers("file.jsonl", gold="answer", predicted="said", confidence="p")`.
    Files of text are in UTF-8, or in `encoding`. See `take_answers` for `missing`, `normalise`, `lists` and
    `unanswerable`.

    >>> a = answers(["Paris", "Rome", "Oslo"], ["paris", "Rom", "Bergen"], [0.9, 0.8, 0.7])
    >>> a.accuracy, a.mean_quality.value
    (0.667 [0.208, 0.939], 0.5833333333333334)
    >>> answers(confidence=[0.9, 0.8, 0.3], quality=[1.0, 0.4, 0.0]).at(0.3).accuracy.value
    0.6666666666666666
    """
    settings = Settings(tau, bins, level, seed)
    how: dict[str, Any] = {
        "quality": quality, "weight": weight, "missing": missing, "normalise": normalise,
        "lists": lists, "unanswerable": unanswerable,
    }  # fmt: skip
    if source is not None and _names(confidence) and isinstance(predicted, str | None):
        loaded = load_answers(
            source, gold=gold, predicted=predicted, confidence=_listed(confidence),
            groups=_listed(by), encoding=encoding, **how,
        )  # fmt: skip
        for note in loaded.notes:
            warnings.warn(plain(note), stacklevel=2)
        return Answers(loaded.rows, settings, loaded.sources, loaded.notes)
    if source is not None and gold is not None:
        raise BadInput("gold is given twice; pass it first, or as gold=")
    if confidence is None:
        raise BadInput("confidence is missing; call answers(gold, predicted, confidence)")
    rows = take_answers(
        gold if source is None else source, predicted, confidence, groups=_columns(by), **how
    )
    return Answers(rows, settings)


def judge_answers(loaded: LoadedAnswers, **settings: Any) -> Document:
    """The document of answers that were read."""
    return document(Answers(loaded.rows, Settings(**settings), loaded.sources, loaded.notes))


def _names(confidence: Any) -> bool:
    """Whether names of columns are given, or none, rather than columns."""
    if confidence is None or isinstance(confidence, str):
        return True
    listed = isinstance(confidence, list | tuple) and len(confidence) > 0
    return listed and all(isinstance(name, str) for name in confidence)


def _listed(names: Any) -> tuple[str, ...]:
    if names is None:
        return ()
    return (names,) if isinstance(names, str) else tuple(names)


def _columns(by: Any) -> Mapping[str, Any] | None:
    """Columns of groups by name."""
    if isinstance(by, str):
        raise BadInput(
            f"by='{by}' names a column, but the answers were given as columns; pass the column "
            f"itself, or by={{'{by}': column}}"
        )
    return by if by is None or isinstance(by, Mapping) else {"group": by}
