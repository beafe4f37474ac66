"""Answers in text: how good each is, and how sure it was said, checked once, from any source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.answering.dude import CONFIDENCE, GOLD, PREDICTED, join_dude
from scorewise.answering.quality import (
    RULES,
    UNANSWERABLE,
    Compared,
    Lists,
    Normalise,
    Rule,
    compare,
    former,
)
from scorewise.arrays import Floats, Ints
from scorewise.columns import Columns, Missing, Place, read
from scorewise.columns.decoding import check_encoding
from scorewise.columns.files import is_files, open_files, open_source, open_tables
from scorewise.columns.labels import coded, listed
from scorewise.columns.numbers import in_range
from scorewise.columns.texts import Texts, check_flat
from scorewise.columns.vectors import Numbers, Vector
from scorewise.errors import BadInput, Option

Groups: TypeAlias = NDArray[np.object_]
_MARKS = 10  # the most that a scale of marks has; beyond are percentages


@dataclass(frozen=True)
class AnswerNames:
    """What the columns are called in messages and reports."""

    gold: str = "gold"
    predicted: str = "predicted"
    quality: str = "quality"
    weight: str = "weight"


@dataclass(frozen=True)
class AnswerRows:
    """Checked answers: how good each is, how sure it was said, and what it belongs to.

    `quality` is in [0, 1] and made by `rule`: "anls", "exact", "f1", or "own" for a column of your own.
    `confidence` is in [0, 1], by name, and NaN where it is missing and was to be dropped. `groups` are
    words, by column. `cases` counts what is special about gold answers and predictions. `normalise` is how
    texts were brought into one form, None where quality is a column; so are `gold` and `predicted`.
    `notes` say what was decided on the way.
    """

    quality: Floats
    confidence: dict[str, Floats]
    rule: str
    groups: dict[str, Groups]
    weight: Floats | None
    place: Place = field(default_factory=Place)
    dropped: int = 0
    names: AnswerNames = field(default_factory=AnswerNames)
    cases: dict[str, int] = field(default_factory=dict)
    normalise: Normalise | None = None
    gold: Texts | None = None
    predicted: Texts | None = None
    notes: tuple[str, ...] = ()
    cluster: Ints | None = None

    def __len__(self) -> int:
        return len(self.quality)


def answer_rows(
    source: Any,
    *,
    gold: Any = None,
    predicted: Any = None,
    confidence: Any = None,
    quality: Any = "anls",
    groups: Any = None,
    weight: Any = None,
    cluster: Any = None,
    missing: Missing = "refuse",
    normalise: Normalise | None = None,
    lists: Lists = "variants",
    unanswerable: Sequence[str] = UNANSWERABLE,
    encoding: str | None = None,
    place: Place | None = None,
) -> AnswerRows:
    """Answers, the confidence in each, and what they belong to: by the names of columns in a source.

    Of files (csv, jsonl, json, parquet, arrow), a data frame or a dict of columns, those that are not named
    are taken where a single one suggests itself. Text in csv is taken as it stands: only an empty cell is
    missing. Gold answers and a submission in the layout of DUDE, two json files, are joined by question.
    Where the source is None, the columns themselves are given; `confidence` and `groups` are then one or
    several by name.

    `quality` is a rule, "anls", "exact" or "f1", or a column of your own: numbers in [0, 1], booleans or
    words for those; `gold` and `predicted` are then not needed. Text is normalised as "plain" for ANLS, as
    "squad" for exact match and F1, unless said. A missing value is refused; with missing="drop", an answer
    without gold, prediction, quality, group or weight is left out and counted, and a confidence that is
    missing is NaN.

    >>> gold, said = ["1894", ["Yes", "It is"], ""], ["1884", "yes", "no answer"]
    >>> rows = answer_rows(None, gold=gold, predicted=said, confidence=[0.9, 0.8, 0.3])
    >>> rows.quality, rows.confidence["confidence"], rows.cases["unanswerable"]
    (array([0.75, 1.  , 1.  ]), array([0.9, 0.8, 0.3]), 1)
    >>> table = {"answers": [["4", "four"], ["5"]], "output": ["Four", "6"], "p": [0.9, 0.4]}
    >>> rows = answer_rows(table)
    >>> rows.quality, rows.notes[0]
    (array([1., 0.]), "gold: column 'answers' (not named; taken because of its name)")
    """
    notes: list[str] = []
    lost, also = 0, ""
    if source is None:
        rule = _rule(quality, gold, predicted)
        if confidence is None or (isinstance(confidence, Mapping) and not confidence):
            raise BadInput("no confidence was given; pass a column of it, or several by name")
    else:
        source, joined = _opened(source, missing, encoding)
        if joined is not None:
            notes, lost = joined
            gold, predicted, confidence = (
                gold or GOLD,
                predicted or PREDICTED,
                confidence or CONFIDENCE,
            )
        rule = quality if isinstance(quality, str) and quality in RULES else "own"
        if rule == "own":
            quality = _own(quality, source.names)
        elif rule in source.names:
            also = f"quality: the rule {quality}, not the column of that name"
    said = {"gold": gold, "predicted": predicted} if rule != "own" else {"quality": quality}
    asked = {**said, "weight": weight, "group": groups, "confidence": confidence}
    asked |= {} if cluster is None else {"cluster": cluster}
    found = read(source, asked, missing=missing, place=place)
    if not len(found.one("confidence")):
        left = "every answer misses something; none is left to judge"
        raise BadInput(left if found.dropped else "no answers were given; pass at least one")
    place = found.place
    names = AnswerNames(*map(found.name, ("gold", "predicted", "quality", "weight")))
    good, cases = (
        Compared(in_unit(found.one("quality"), names.quality, place), {})
        if rule == "own"
        else _judged(found, names, RULES[rule], normalise, lists, unanswerable)
    )
    return AnswerRows(
        quality=good,
        confidence={n: in_unit(column, n, place) for n, column in found["confidence"].items()},
        rule=rule,
        groups={n: words(column) for n, column in found["group"].items()},
        weight=found.weight,
        place=place,
        dropped=found.dropped + lost,
        names=names,
        cases=cases,
        normalise=None if rule == "own" else normalise or RULES[rule].normalise,
        gold=found.one("gold"),
        predicted=found.one("predicted"),
        notes=(*notes, *found.told(also)),
        cluster=found.clusters,
    )


def _opened(
    source: Any, missing: Missing, encoding: str | None
) -> tuple[Any, tuple[list[str], int] | None]:
    """The source; of a gold file beside a submission also notes, and how many questions are lost."""
    if not is_files(source):
        return open_source(source, encoding), None
    check_encoding(encoding)
    tables = open_files(source if isinstance(source, list | tuple) else [source], encoding)
    apart = [t for t in tables if t.records is None], [t for t in tables if t.records is not None]
    if all(apart):
        raise BadInput(
            f"{apart[0][0].name} is a table and {apart[1][0].name} is JSON; pass files of one kind"
        )
    joined = join_dude(tables, missing)
    return (open_tables(tables), None) if joined is None else (joined.opened, joined[1:])


def _judged(
    found: Columns,
    names: AnswerNames,
    rule: Rule,
    normalise: Normalise | None,
    lists: Lists,
    unanswerable: Sequence[str],
) -> Compared:
    """The quality of answers by a rule."""
    if isinstance(unanswerable, str):
        raise BadInput(
            Option("unanswerable"), " is a single text; pass a list of words that say so"
        )
    gold, predicted = found.one("gold"), found.one("predicted")
    check_flat(predicted, names.predicted, found.place)
    form = former(normalise or rule.normalise, unanswerable)
    good, cases = compare(gold.values, predicted.values, rule.score, form, lists)
    return Compared(np.floor(good) if rule.whole else good, cases)


def _rule(quality: Any, gold: Any, predicted: Any) -> str:
    """The rule that quality is made by; "own" where it is a column."""
    if not isinstance(quality, str):
        if quality is None:
            raise BadInput(
                Option("quality"), ' is None; pass "anls", "exact", "f1" or a column of qualities'
            )
        return "own"
    if quality not in RULES:
        raise BadInput(
            Option("quality", quality),
            ' is not known; pass "anls", "exact", "f1" or a column of qualities',
        )  # fmt: skip
    for name, column in (("gold", gold), ("predicted", predicted)):
        if column is None:
            raise BadInput(
                f"{name} is not given and {quality} needs it; pass it, or a column of your own ",
                "as ", Option("quality"),
            )  # fmt: skip
    return quality


def _own(quality: Any, names: Sequence[str]) -> str:
    if not isinstance(quality, str):
        raise BadInput(
            Option("quality"), ' is no text; pass "anls", "exact", "f1" or the name of a column'
        )
    if quality not in names:
        raise BadInput(
            Option("quality", quality),
            f" is neither anls, exact or f1 nor a column; the columns are {listed(list(names))}",
        )  # fmt: skip
    return quality


def words(column: Vector) -> Groups:
    """What each row belongs to, as text; the column misses nothing.

    >>> from scorewise.columns.vectors import vector
    >>> words(vector([2, 1, 2], "group"))
    array(['2', '1', '2'], dtype=object)
    """
    codes, known = coded(column)
    return np.array(known, dtype=object)[codes]


def in_unit(column: Numbers, name: str, place: Place) -> Floats:
    """Numbers in [0, 1], NaN where one is missing.

    >>> in_unit(Numbers(np.array([True, False]), np.array([False, True])), "correct", Place())
    array([ 1., nan])
    """
    values = column.values.astype(np.float64)
    if column.null is not None:
        values[column.null] = np.nan
    there = np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)
    low, high = in_range(there, name, place)
    if low < 0 or high > 1:
        outside = (there < 0) | (there > 1)
        raise BadInput(
            f"{name} is outside [0, 1] {place.rows(outside)} ({there[outside.argmax()]:.6g}); "
            f"{_way_out(values, low, high)}"
        )
    return values


def _way_out(values: Floats, low: float, high: float) -> str:
    if low < 0 or high > 100 or np.nanmedian(values) <= 1:
        return "bring it to that range"
    if high > _MARKS:
        return "divide percentages by 100"
    return f"divide it by the most that it can be, such as {high:g}"
