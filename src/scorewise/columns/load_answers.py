"""Answers in text from any source, checked at the door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

from scorewise.columns import Missing
from scorewise.columns.answers import AnswerRows, take_answers
from scorewise.columns.labels import listed
from scorewise.columns.quality import RULES, UNANSWERABLE, Lists, Normalise
from scorewise.columns.records import CONFIDENCE, GOLD, PREDICTED, AnswerSource, open_answers
from scorewise.columns.roles import check_columns, guess
from scorewise.columns.rows import one_of
from scorewise.errors import BadInput

_GOLD = frozenset(
    {"gold", "gold_answer", "gold_answers", "answer", "answers", "reference", "references"}
    | {"ground_truth", "target", "targets", "correct_answer", "expected"}
)
_PREDICTED = frozenset(
    {"predicted", "prediction", "predictions", "predicted_answer", "pred", "output", "response"}
    | {"generated", "generation", "model_answer", "completion"}
)
_CONFIDENCE = frozenset(
    {"confidence", "conf", "score", "probability", "prob", "p", "certainty", "stated_confidence"}
)


@dataclass(frozen=True)
class LoadedAnswers:
    """Checked answers, what was decided on the way, and the names of the files they came from."""

    rows: AnswerRows
    notes: list[str]
    sources: tuple[str, ...]


def load_answers(
    source: Any,
    *,
    gold: str | None = None,
    predicted: str | None = None,
    confidence: str | Sequence[str] | None = None,
    quality: str = "anls",
    groups: str | Sequence[str] = (),
    weight: str | None = None,
    missing: Missing = "refuse",
    normalise: Normalise | None = None,
    lists: Lists = "variants",
    unanswerable: Sequence[str] = UNANSWERABLE,
    encoding: str | None = None,
) -> LoadedAnswers:
    """Answers of files (csv, jsonl, json, parquet, arrow), a data frame or a dict of columns.

    `quality` is "anls", "exact", "f1" or a column; the others are names of columns, and those that are not
    named are taken where a single one suggests itself. Text in csv is taken as it stands: only an empty
    cell is missing. Gold answers and a submission in the layout of DUDE, two json files, are joined by
    question.

    >>> table = {"answers": [["4", "four"], ["5"]], "output": ["Four", "6"], "p": [0.9, 0.4]}
    >>> loaded = load_answers(table)
    >>> loaded.rows.quality, loaded.notes[0]
    (array([1., 0.]), "gold: column 'answers' (not named; taken because of its name)")
    """
    one_of("missing", missing, get_args(Missing))
    opened = open_answers(source, missing, encoding)
    sure = [confidence] if isinstance(confidence, str) else list(confidence or ())
    by = [groups] if isinstance(groups, str) else list(groups)
    picked = _pick(opened, gold, predicted, sure, quality, by, weight)
    read, place = opened.read(picked.texts, picked.others)
    rows = take_answers(
        None if picked.gold is None else read[picked.gold],
        None if picked.predicted is None else read[picked.predicted],
        {name: read[name] for name in picked.confidence},
        quality=quality if picked.own is None else read[picked.own],
        groups={name: read[name] for name in by},
        weight=None if weight is None else read[weight],
        missing=missing,
        normalise=normalise,
        lists=lists,
        unanswerable=unanswerable,
        gold_name=picked.gold or "gold",
        predicted_name=picked.predicted or "predicted",
        quality_name=picked.own or "quality",
        weight_name=weight or "weight",
        place=place,
    )
    rows = replace(rows, dropped=rows.dropped + opened.dropped)
    return LoadedAnswers(rows, [*opened.notes, *picked.notes], opened.sources)


@dataclass(frozen=True)
class _Picked:
    """The columns chosen, `own` that of qualities if it is one, and notes on those that were not named."""

    gold: str | None
    predicted: str | None
    confidence: list[str]
    own: str | None
    further: list[str]
    notes: list[str] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        """Columns of text."""
        return [name for name in (self.gold, self.predicted) if name is not None]

    @property
    def others(self) -> list[str]:
        """Columns of numbers and words."""
        return [*self.confidence, *([] if self.own is None else [self.own]), *self.further]


def _pick(
    opened: AnswerSource,
    gold: str | None,
    predicted: str | None,
    sure: list[str],
    quality: str,
    groups: list[str],
    weight: str | None,
) -> _Picked:
    """Choose columns by name; one that is not named is taken where a single one suggests itself."""
    names = opened.names
    own = None if quality in RULES else _own(quality, names)
    single = [("gold", gold), ("predicted", predicted), ("quality", own), ("weight", weight)]
    taken = _named(names, [*single, *(("confidence", s) for s in sure)])
    check_columns(names, groups)
    taken.update({g: "group" for g in groups if g not in taken})
    notes: list[str] = []
    if opened.joined:
        gold, predicted, sure = gold or GOLD, predicted or PREDICTED, sure or [CONFIDENCE]
    if own is None:
        gold = gold or _guessed("gold", _GOLD, names, taken, notes)
        predicted = predicted or _guessed("predicted", _PREDICTED, names, taken, notes)
    else:
        gold = predicted = None
    if not sure:
        sure = [_guessed("confidence", _CONFIDENCE, names, taken, notes)]
    if own is None and quality in names:
        notes.append(f"quality: the rule {quality}, not the column of that name")
    check_columns(names, [c for c in (gold, predicted, *sure) if c is not None])
    further = [*groups, *([] if weight is None else [weight])]
    return _Picked(gold, predicted, sure, own, further, notes)


def _own(quality: Any, names: Sequence[str]) -> str:
    if not isinstance(quality, str):
        raise BadInput('quality= is no text; pass "anls", "exact", "f1" or the name of a column')
    if quality not in names:
        raise BadInput(
            f"quality={quality} is neither anls, exact or f1 nor a column; the columns are "
            f"{listed(list(names))}"
        )
    return quality


def _named(names: Sequence[str], roles: Sequence[tuple[str, str | None]]) -> dict[str, str]:
    taken: dict[str, str] = {}
    for role, name in roles:
        if name is None:
            continue
        check_columns(names, [name])
        if name in taken:
            raise BadInput(
                f"column '{name}' is given as {taken[name]} and as {role}; name a different column for each"
            )
        taken[name] = role
    return taken


def _guessed(
    role: str, known: frozenset[str], names: Sequence[str], taken: dict[str, str], notes: list[str]
) -> str:
    try:
        name, why = guess(role, known, names, taken)
    except BadInput as problem:
        if role == "confidence":
            raise
        raise BadInput(
            f"{problem}, or quality= with a column that says how good each answer is"
        ) from None
    taken[name] = role
    notes.append(f"{role}: column '{name}' (not named; {why})")
    return name
