"""Columns of text, or of lists of text, from any library: gold answers and predictions."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats
from scorewise.columns.classes import coded
from scorewise.columns.labels import text
from scorewise.columns.numbers import Place, amounts, in_unit, numbers, truths
from scorewise.columns.quality import (
    RULES,
    UNANSWERABLE,
    Compared,
    Lists,
    Normalise,
    Rule,
    compare,
    former,
)
from scorewise.columns.rows import Missing, aligned, complete, one_of, weights
from scorewise.columns.vectors import Numbers, Vector, absent, vector
from scorewise.errors import BadInput

Cell: TypeAlias = str | list[Any] | None


@dataclass(frozen=True)
class Texts:
    """A text, a list of texts, a list of such lists, or None for a missing value, in each row."""

    values: list[Cell]

    def __len__(self) -> int:
        return len(self.values)

    def missing(self) -> Bools | None:
        """Where there is no value; None when every row has one."""
        if None not in self.values:
            return None
        return np.fromiter((v is None for v in self.values), bool, len(self.values))

    def keep(self, rows: Bools) -> Texts:
        """Those rows alone."""
        return Texts([v for v, kept in zip(self.values, rows, strict=True) if kept])


def texts(column: Any, name: str, place: Place) -> Texts:
    """A column of text or lists; numbers in it are written out, and an object's field "text" is taken.

    >>> texts(["Paris", ["12", 12.5], None], "gold", Place()).values
    ['Paris', ['12', '12.5'], None]
    """
    values = _values(column, name)
    if set(map(type, values)) <= {str, type(None)}:
        return Texts(values)
    return Texts([_cell(v, name, place, i) for i, v in enumerate(values)])


def _values(column: Any, name: str) -> list[Any]:
    """The rows as Python objects."""
    if isinstance(column, str | bytes | Mapping | set | frozenset):
        what = "a single text" if isinstance(column, str | bytes) else type(column).__name__
        raise BadInput(f"{name} is {what}; pass a column: one answer per row")
    if getattr(column, "ndim", 1) == 0:
        raise BadInput(f"{name} is a single value; pass a column: one answer per row")
    if getattr(column, "ndim", 1) > 1:
        raise BadInput(f"{name} has shape {column.shape}; pass a column: one answer per row")
    for method in ("to_list", "to_pylist", "tolist"):  # polars and pandas, pyarrow, numpy
        if hasattr(column, method):
            return list(getattr(column, method)())
    if not isinstance(column, Iterable):
        raise BadInput(f"{name} is of type {type(column).__name__}; pass one answer per row")
    return list(column)


def _cell(value: Any, name: str, place: Place, row: int) -> Cell:
    """A row's text or list of texts; refuses whatever is neither, and lists in lists in lists."""
    if type(value) is str or (type(value) is list and {*map(type, value)} <= {str}):
        return value
    if isinstance(value, Mapping) and "text" in value:  # the answers of SQuAD
        value = value["text"]
    if not _is_list(value):
        return None if absent(value) else _word(value, name, place, row)
    inner = [list(v) if _is_list(v) else v for v in value]
    return [
        [_word(w, name, place, row) for w in v]
        if isinstance(v, list)
        else _word(v, name, place, row)
        for v in inner
    ]


def _is_list(value: Any) -> bool:
    if isinstance(value, list | tuple | np.ndarray):
        return np.ndim(value) > 0 if isinstance(value, np.ndarray) else True
    polars = sys.modules.get("polars")
    return polars is not None and isinstance(value, polars.Series)


def _word(value: Any, name: str, place: Place, row: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool | int | float | np.generic) and not absent(value):
        return text(value)
    if absent(value):
        raise BadInput(
            f"{name} has a missing value within a list at {place.row(row)}; leave it out of the list"
        )
    kind = "list of lists of lists" if _is_list(value) else type(value).__name__
    raise BadInput(
        f"{name} holds a {kind} at {place.row(row)}; pass a text, a list of texts, or a list of such lists"
    )


def check_flat(column: Texts, name: str, place: Place) -> None:
    """Refuse lists within lists, which mean something in gold answers only."""
    for row, cell in enumerate(column.values):
        if not isinstance(cell, str) and any(not isinstance(part, str) for part in cell or ()):
            raise BadInput(
                f"{name} holds a list within a list at {place.row(row)}; pass a text or a list of texts"
            )


# The columns of answers: of one length, and complete or cut down to what is.


Groups: TypeAlias = NDArray[np.object_]


@dataclass(frozen=True)
class AnswerColumns:
    """Columns of one length, by what they are for."""

    texts: dict[str, Texts]
    sure: dict[str, Numbers]
    groups: dict[str, Vector]
    amounts: dict[str, Numbers]
    place: Place

    def __len__(self) -> int:
        return len(next(iter(self.sure.values())))

    def complete(self, missing: Missing) -> AnswerColumns:
        """The rows that miss nothing but confidence, which may be missing when it is to be dropped."""
        said = [_without_text(n, c, missing, self.place) for n, c in self.texts.items()]
        others: list[tuple[str, Vector]] = [*self.groups.items(), *self.amounts.items()]
        kept = complete(others, missing, self.place)
        if missing == "refuse":
            complete(list(self.sure.items()), missing, self.place)
        gaps = [gone for gone in said if gone is not None] + ([] if kept is None else [~kept])
        if not gaps:
            return self
        keep: Bools = ~np.logical_or.reduce(gaps)
        if not keep.any():
            raise BadInput("every answer misses something; none is left to judge")
        return AnswerColumns(
            {n: c.keep(keep) for n, c in self.texts.items()},
            {n: _keep(c, keep) for n, c in self.sure.items()},
            {n: c.keep(keep) for n, c in self.groups.items()},
            {n: c.keep(keep) for n, c in self.amounts.items()},
            self.place.keep(keep),
        )


def read_answers(
    said: Mapping[str, Any],
    sure: Mapping[str, Any],
    groups: Mapping[str, Any],
    quality: tuple[str, Any],
    weight: tuple[str, Any],
    place: Place,
) -> AnswerColumns:
    """Columns of any library: texts, confidence, groups, and two by name of which None is not there."""
    given = ((*quality, truths), (*weight, numbers))
    heavy = {n: (column, reader) for n, column, reader in given if column is not None}
    others = {n: column for n, (column, _) in heavy.items()}
    aligned([pair for group in (said, sure, groups, others) for pair in group.items()])
    found = AnswerColumns(
        {n: texts(column, n, place) for n, column in said.items()},
        {n: amounts(vector(column, n), n, place) for n, column in sure.items()},
        {n: vector(column, n) for n, column in groups.items()},
        {n: reader(vector(column, n), n, place) for n, (column, reader) in heavy.items()},
        place,
    )
    _same_length({**found.texts, **found.amounts, **found.groups, **found.sure})
    if not len(found):
        raise BadInput("no answers were given; pass at least one")
    return found


def _same_length(columns: Mapping[str, Texts | Vector]) -> None:
    (first, answers), *others = columns.items()
    for name, column in others:
        if len(column) != len(answers):
            raise BadInput(
                f"{first} has {len(answers):,} rows and {name} has {len(column):,}; "
                f"they have to match row by row"
            )


def _without_text(name: str, column: Texts, missing: Missing, place: Place) -> Bools | None:
    gone = column.missing()
    if gone is not None and missing == "refuse":
        them = "it" if np.count_nonzero(gone) == 1 else "them"
        empty = (
            'write ""' if any(".csv" in file for file, _ in place.files) else "write an empty text"
        )
        quotes = " in quotes" if '"' in empty else ""
        raise BadInput(
            f'{name} is missing {place.rows(gone)}; drop {them} or pass missing="drop", or {empty}{quotes} '
            f"where there is no answer"
        )
    return gone


def _keep(column: Numbers, rows: Bools) -> Numbers:
    return Numbers(column.values[rows], None if column.null is None else column.null[rows])


def words(column: Vector) -> Groups:
    """What each row belongs to, as text; the column misses nothing.

    >>> words(vector([2, 1, 2], "group"))
    array(['2', '1', '2'], dtype=object)
    """
    codes, known = coded(column)
    return np.array(known, dtype=object)[codes]


# Answers in text: how good each is, and how sure it was said, checked once.


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

    `quality` is in [0, 1] and made by `rule`: "anls", "exact", "f1", or "own" for a column of one's own.
    `confidence` is in [0, 1], by name, and NaN where it is missing and was to be dropped. `groups` are
    words, by column. `cases` counts what is special about gold answers and predictions. `normalise` is how
    texts were brought into one form, None where quality is one's own; so are `gold` and `predicted`.
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

    def __len__(self) -> int:
        return len(self.quality)


def take_answers(
    gold: Any,
    predicted: Any,
    confidence: Any,
    *,
    quality: Any = "anls",
    groups: Mapping[str, Any] | None = None,
    weight: Any = None,
    missing: Missing = "refuse",
    normalise: Normalise | None = None,
    lists: Lists = "variants",
    unanswerable: Sequence[str] = UNANSWERABLE,
    gold_name: str = "gold",
    predicted_name: str = "predicted",
    confidence_name: str = "confidence",
    quality_name: str = "quality",
    weight_name: str = "weight",
    place: Place | None = None,
) -> AnswerRows:
    """Check answers, the confidence in each, and what they belong to.

    `quality` is a rule or a column of one's own, numbers in [0, 1], booleans or words for those; `gold`
    and `predicted` may then be None. `confidence` is a column, or several by name. Text is normalised
    as "plain" for ANLS, as "squad" for exact match and F1, unless said. A missing value is refused;
    with missing="drop", an answer without gold, prediction, quality, group or weight is left out and
    counted, and a confidence that is missing is NaN.

    >>> rows = take_answers(["1894", ["Yes", "It is"], ""], ["1884", "yes", "no answer"], [0.9, 0.8, 0.3])
    >>> rows.quality, rows.confidence["confidence"], rows.cases["unanswerable"]
    (array([0.75, 1.  , 1.  ]), array([0.9, 0.8, 0.3]), 1)
    """
    one_of("missing", missing, get_args(Missing))
    names = AnswerNames(gold_name, predicted_name, quality_name, weight_name)
    rule = _rule(quality, gold, predicted, names)
    sure = confidence if isinstance(confidence, Mapping) else {confidence_name: confidence}
    if not sure or any(column is None for column in sure.values()):
        raise BadInput("no confidence was given; pass a column of it, or several by name")
    given = read_answers(
        {gold_name: gold, predicted_name: predicted} if rule != "own" else {},
        {str(n): column for n, column in sure.items()},
        {str(n): column for n, column in (groups or {}).items()},
        (quality_name, quality if rule == "own" else None),
        (weight_name, weight),
        place or Place(),
    )
    kept = given.complete(missing)
    good, cases = (
        Compared(in_unit(kept.amounts[quality_name], quality_name, kept.place), {})
        if rule == "own"
        else _judged(kept, names, RULES[rule], normalise, lists, unanswerable)
    )
    return AnswerRows(
        quality=good,
        confidence={n: in_unit(column, n, kept.place) for n, column in kept.sure.items()},
        rule=rule,
        groups={n: words(column) for n, column in kept.groups.items()},
        weight=None
        if weight is None
        else weights(kept.amounts[weight_name], weight_name, kept.place),
        place=kept.place,
        dropped=len(given) - len(kept),
        names=names,
        cases=cases,
        normalise=None if rule == "own" else normalise or RULES[rule].normalise,
        gold=kept.texts.get(gold_name),
        predicted=kept.texts.get(predicted_name),
    )


def _judged(
    given: AnswerColumns,
    names: AnswerNames,
    rule: Rule,
    normalise: Normalise | None,
    lists: Lists,
    unanswerable: Sequence[str],
) -> Compared:
    """The quality of answers by a rule."""
    if isinstance(unanswerable, str):
        raise BadInput("unanswerable= is a single text; pass a list of words that say so")
    gold, predicted = given.texts[names.gold], given.texts[names.predicted]
    check_flat(predicted, names.predicted, given.place)
    form = former(normalise or rule.normalise, unanswerable)
    good, cases = compare(gold.values, predicted.values, rule.score, form, lists)
    return Compared(np.floor(good) if rule.whole else good, cases)


def _rule(quality: Any, gold: Any, predicted: Any, names: AnswerNames) -> str:
    """The rule that quality is made by; "own" where it is a column."""
    if not isinstance(quality, str):
        if quality is None:
            raise BadInput('quality= is None; pass "anls", "exact", "f1" or a column of qualities')
        return "own"
    if quality not in RULES:
        raise BadInput(
            f'quality={quality!r} is not known; pass "anls", "exact", "f1" or a column of qualities'
        )
    for name, column in ((names.gold, gold), (names.predicted, predicted)):
        if column is None:
            raise BadInput(
                f"{name} is not given and {quality} needs it; pass it, or a column of one's own as quality="
            )
    return quality
