"""Rows of several classes: labels beside a probability or logit for each class, checked once."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns.labels import listed, text
from scorewise.columns.numbers import Place, in_range
from scorewise.columns.rows import Kind, Missing, Names, counts, one_of, read, scored, weights
from scorewise.columns.vectors import Coded, Numbers, Vector, of_torch
from scorewise.errors import BadInput

ClassKind: TypeAlias = Literal["probability", "logit"]
LARGEST = 1e100  # beyond which sums of logits leave the floats
LONG = 20  # classes that are no longer listed one by one
SLACK = 0.01  # how far from 1 the probabilities of a row may add up


@dataclass(frozen=True)
class ClassRows:
    """Checked rows: `y` is the place of each label in `classes`, `scores` has one column a class.

    `rule` says which labels the columns were taken for where neither the columns nor `classes` named them.
    `ordered` says whether the order of the classes means something: they are numbers, or were listed.
    """

    y: Ints
    scores: Floats
    classes: tuple[str, ...]
    kind: ClassKind
    weight: Floats | None
    count: Ints | None
    names: Names
    dropped: int
    place: Place = field(default_factory=Place)
    confidence: Floats | None = None
    confidence_name: str = "confidence"
    rule: str = ""
    ordered: bool = False

    def __len__(self) -> int:
        return len(self.y)


def take_classes(
    labels: Any,
    scores: Any,
    *,
    classes: Sequence[Any] | None = None,
    kind: ClassKind | None = None,
    weight: Any = None,
    count: Any = None,
    confidence: Any = None,
    missing: Missing = "refuse",
    label_name: str = "label",
    weight_name: str = "weight",
    count_name: str = "count",
    confidence_name: str = "confidence",
    place: Place | None = None,
    in_order: bool = False,
) -> ClassRows:
    """Check labels and an n x K table of scores, or a mapping from class to column.

    Classes are those of the mapping or frame; else the list given; else 0 to K - 1 or 1 to K where the
    labels are such numbers and 0 or K occurs; else the K distinct labels in order. What could be either
    is refused, and so is a label outside the list; a class that does not occur stays. Probabilities have
    to lie in [0, 1] and to add up to 1, within 0.01; they are used as given. Logits have to be said:
    kind="logit". `confidence` is a further column, if any. With `in_order` named columns are those of the
    classes in their order, whatever their names.

    >>> rows = take_classes(["b", "a"], {"a": [0.2, 0.7], "b": [0.5, 0.1], "c": [0.3, 0.2]})
    >>> rows.y, rows.classes, rows.kind
    (array([1, 0]), ('a', 'b', 'c'), 'probability')
    """
    one_of("kind", kind, (None, *get_args(ClassKind)))
    names = Names(label_name, weight_name, count_name)
    columns, known = _columns(scores, classes, in_order)
    found = read(
        {label_name: labels},
        columns,
        {weight_name: weight, count_name: count, confidence_name: confidence},
        missing=missing,
        place=place or Place(),
    )
    (numeric, extra), place = found.amounts, found.place
    label = found.words[label_name]
    rule = ""
    if known is None:
        known, rule = _guessed(label, names.label, len(columns))
    y = class_codes(label, names.label, known, place)
    values = np.empty((len(y), len(columns)))
    for k, (name, column) in enumerate(numeric.items()):
        values[:, k] = column.values
        in_range(values[:, k], name, place)
    own = None
    if confidence is not None:
        own = extra[confidence_name].values.astype(np.float64)
        in_range(own, confidence_name, place)
    return ClassRows(
        y=y,
        scores=values,
        classes=known,
        kind=_kind(values, list(columns), kind, place),
        weight=weights(extra[weight_name], weight_name, place) if weight is not None else None,
        count=counts(extra[count_name], count_name, place) if count is not None else None,
        names=names,
        dropped=found.dropped,
        place=place,
        confidence=own,
        confidence_name=confidence_name,
        rule=rule,
        ordered=classes is not None or numbered(known),
    )


def numbered(classes: Iterable[str]) -> bool:
    """Whether the names of the classes are increasing numbers.

    >>> numbered(["1", "2", "10"]), numbered(["1", "10", "2"]), numbered(["low", "mid", "high"])
    (True, False, False)
    """
    try:
        return all(a < b for a, b in pairwise(map(float, classes)))
    except ValueError:
        return False


def named_classes(classes: Sequence[Any] | None) -> tuple[str, ...] | None:
    """The names of the classes, if they are given."""
    classes = of_torch(classes, "classes")
    if classes is not None and hasattr(classes, "tolist"):
        classes = classes.tolist()
    if not isinstance(classes, Iterable | None):
        raise BadInput(f"classes={classes!r} is no list; name the classes, such as ['cat', 'dog']")
    given = None if classes is None else tuple(text(c) for c in classes)
    if given is not None and len(set(given)) < len(given):
        raise BadInput(f"classes={list(given)} names a class twice; give each a name of its own")
    if given is not None and len(given) < 2:
        raise BadInput(f"classes={list(given)} names too few classes; name two or more")
    return given


def _columns(
    scores: Any, classes: Sequence[Any] | None, in_order: bool
) -> tuple[dict[str, Any], tuple[str, ...] | None]:
    """The columns of the table by name, and the classes if they are known already."""
    given = named_classes(classes)
    if type(scores).__name__ == "LazyFrame" and hasattr(scores, "collect"):
        scores = scores.collect()
    if not unnamed(scores):
        heads = list(scores.columns) if hasattr(scores, "columns") else list(scores)
        columns = {text(c): scores[c] for c in heads}
        if len(columns) < len(heads):
            raise BadInput("two columns of scores have the same name; give each a name of its own")
        known: tuple[str, ...] | None = given or tuple(columns)
        if given is not None and len(given) == len(columns) and not in_order:
            if set(given) != set(columns):
                raise BadInput(
                    f"classes= names {listed(list(given))}, but the columns are {listed(list(columns))}; "
                    f"the names of the columns have to be those of the classes"
                )
            columns = {c: columns[c] for c in given}
    else:
        table = as_table(scores)
        if table.ndim != 2:
            raise BadInput(
                f"scores have shape {table.shape}; several classes need one row of K scores each, n x K"
            )
        many = table.shape[1]
        of = (
            given
            if given is not None and len(given) == many
            else [f"class {k}" for k in range(many)]
        )
        columns = {f"score of {c}": _column(table, k) for k, c in enumerate(of)}
        known = given
    if len(columns) < 2:
        raise BadInput(
            f"there is a score for {len(columns)} class only; several classes need two or more"
        )
    if given is not None and len(given) != len(columns):
        raise BadInput(
            f"classes= names {len(given)} classes, but there are scores for {len(columns)}"
        )
    return columns, known


def unnamed(scores: Any) -> bool:
    """Whether the columns of scores have no names; those of a pandas frame may be numbers from 0 alone."""
    pandas = sys.modules.get("pandas")
    if pandas is not None and isinstance(scores, pandas.DataFrame):
        return bool(scores.columns.equals(pandas.RangeIndex(scores.shape[1])))
    return not isinstance(scores, Mapping) and not hasattr(scores, "get_columns")


def _column(table: Any, k: int) -> Any:
    return table.iloc[:, k] if hasattr(table, "iloc") else table[:, k]


def as_table(scores: Any) -> Any:
    """Rows of scores as numpy; what is masked stays so."""
    scores = of_torch(scores, "the table of scores")
    if isinstance(scores, np.ma.MaskedArray) or hasattr(scores, "iloc"):
        return scores
    try:
        return np.asarray(scores)
    except Exception as e:  # whatever a container may raise
        if isinstance(scores, list | tuple) and isinstance(e, ValueError):
            sizes = [np.size(row) for row in scores]
            row = next((i for i, size in enumerate(sizes) if size != sizes[0]), 0)
            raise BadInput(
                f"scores have {sizes[0]} columns in row 0 and {sizes[row]} in row {row}, counting from "
                f"0; each row needs one score for each class"
            ) from None
        raise BadInput(
            f"scores ({type(scores).__name__}) cannot be read as a table; pass an n x K array, a frame "
            f"or a mapping from class to column"
        ) from e


def _guessed(column: Vector, name: str, many: int) -> tuple[tuple[str, ...], str]:
    """The classes that unnamed columns are taken for, and by which rule.

    >>> from scorewise.columns.vectors import vector
    >>> _guessed(vector([2, 0, 2], "y"), "y", 3)
    (('0', '1', '2'), '0 to 2')
    >>> _guessed(vector([3, 1], "y"), "y", 3)
    (('1', '2', '3'), '1 to 3')
    """
    words = coded(column)[1]
    starts = [s for s in (0, 1) if {*words} <= {str(k + s) for k in range(many)}]
    if len(starts) == 2 and words:
        whole = [range(s, s + many) for s in starts]
        given = " or ".join(f"classes={list(w) if many < LONG else w}" for w in whole)
        raise BadInput(
            f"{name} has {listed(words)} beside {many} columns of scores, which may be the classes 0 to "
            f"{many - 1} or 1 to {many}; pass {given} to say which"
        )
    if isinstance(column, Coded) and words and _unordered(column, words, starts, many):
        raise BadInput(
            f"{name} has numbers as text, whose order may be 1, 2, 10 or 1, 10, 2; pass classes= with "
            f"the classes in the order of the scores"
        )
    if starts:
        first, last = starts[0], starts[0] + many - 1
        return tuple(str(k) for k in range(first, last + 1)), f"{first} to {last}"
    if len(words) != many:
        raise BadInput(
            f"{name} has {len(words)} distinct values ({listed(words)}) and there are scores for "
            f"{many} classes; pass classes= with their names in the order of the scores"
        )
    return tuple(words), listed(words)


def _unordered(column: Coded, words: list[str], starts: list[int], many: int) -> bool:
    """Whether classes are whole numbers as text, in an order that is not that of the numbers."""
    if starts and not column.declared:
        words = sorted(str(k + starts[0]) for k in range(many))
    return all(w.isdecimal() for w in words) and words != sorted(words, key=int)


def class_codes(column: Vector, name: str, known: tuple[str, ...], place: Place) -> Ints:
    """The place of each label among the classes; the column misses nothing.

    >>> from scorewise.columns.vectors import vector
    >>> class_codes(vector([2, 0, 2], "y"), "y", ("0", "1", "2"), Place())
    array([2, 0, 2])
    """
    codes, words = coded(column)
    at = {c: k for k, c in enumerate(known)}
    places = np.array([at.get(w, -1) for w in words], np.int64)
    y = places[codes] if len(codes) else np.zeros(0, np.int64)
    if len(y) and y.min() < 0:
        wrong: Bools = y < 0
        first = words[codes[wrong.argmax()]]
        raise BadInput(
            f"{name} is not among the classes {place.rows(wrong)} ({first!r}); the classes are "
            f"{listed(list(known))}"
        )
    return y


def coded(column: Vector) -> tuple[Ints, list[str]]:
    """Codes into a list of words: declared categories in their order, others sorted."""
    if isinstance(column, Coded):
        words = [text(v) for v in column.values]
        if column.declared:
            return column.codes.astype(np.int64), words
        order = sorted(range(len(words)), key=lambda i: words[i])
        rank = np.empty(len(words), np.int64)
        rank[order] = np.arange(len(words))
        used = rank[column.codes] if len(words) else column.codes.astype(np.int64)
        return used, [words[i] for i in order]
    assert isinstance(column, Numbers)
    distinct, codes = np.unique(column.values, return_inverse=True)
    return codes.astype(np.int64), [text(v) for v in distinct]


def _kind(values: Floats, names: list[str], kind: ClassKind | None, place: Place) -> ClassKind:
    if kind == "logit" and len(values):
        huge: Any = (np.abs(values) > LARGEST).any(1)
        if huge.any():
            raise BadInput(
                f"logits are beyond {LARGEST:g} {place.rows(huge)}; logits of some hundred are certain "
                f"already, so scale them down"
            )
    if kind == "logit" or not len(values):
        return kind or "probability"
    outside: Any = ((values < 0) | (values > 1)).any(1)
    if outside.any():
        row = int(outside.argmax())
        column = int(((values[row] < 0) | (values[row] > 1)).argmax())
        raise BadInput(
            f"{names[column]} is outside [0, 1] {place.rows(outside)} ({values[row, column]:.6g}); "
            f'pass kind="logit" for logits'
        )
    total = values.sum(1)
    apart: Bools = np.abs(total - 1) > SLACK
    if apart.any():
        raise BadInput(
            f"the probabilities of the {len(names)} classes ({listed(names)}) do not add up to 1 "
            f"{place.rows(apart)} ({total[apart.argmax()]:.6g}); leave out what is no class, divide each "
            f'row by its sum, or pass kind="logit" for logits'
        )
    return "probability"


# Rows of which only the decision and the confidence in it are known, checked once.


@dataclass(frozen=True)
class DecidedRows:
    """Checked rows: `y` and `called` are places in `classes`, `confidence` is that in the decision."""

    y: Ints
    called: Ints
    confidence: Floats
    classes: tuple[str, ...]
    kind: Kind
    weight: Floats | None
    count: Ints | None
    names: Names
    dropped: int
    place: Place = field(default_factory=Place)

    def __len__(self) -> int:
        return len(self.y)


def take_decided(
    labels: Any,
    predicted: Any,
    confidence: Any,
    *,
    classes: Sequence[Any] | None = None,
    kind: Kind | None = None,
    weight: Any = None,
    count: Any = None,
    missing: Missing = "refuse",
    label_name: str = "label",
    predicted_name: str = "predicted",
    confidence_name: str = "confidence",
    weight_name: str = "weight",
    count_name: str = "count",
    place: Place | None = None,
) -> DecidedRows:
    """Check labels, decisions and the confidence in each decision.

    Classes are the list given, or else all labels and decisions in order. Unless said, confidence is a
    probability when all of it lies in [0, 1], and a score otherwise.

    >>> rows = take_decided(["a", "b"], ["a", "c"], [0.9, 0.4])
    >>> rows.y, rows.called, rows.classes
    (array([0, 1]), array([0, 2]), ('a', 'b', 'c'))
    """
    one_of("kind", kind, (None, *get_args(Kind)))
    names = Names(label_name, weight_name, count_name)
    found = read(
        {label_name: labels, predicted_name: predicted},
        {confidence_name: confidence, weight_name: weight, count_name: count},
        missing=missing,
        place=place or Place(),
    )
    text, (numeric,), place = found.words, found.amounts, found.place
    known = named_classes(classes) or _classes(list(text.values()))
    y, called = (class_codes(v, n, known, place) for n, v in text.items())
    sure, kind = scored(numeric[confidence_name], confidence_name, kind, place)
    return DecidedRows(
        y, called, sure.astype(np.float64), known, kind,
        weights(numeric[weight_name], weight_name, place) if weight is not None else None,
        counts(numeric[count_name], count_name, place) if count is not None else None,
        names, found.dropped, place,
    )  # fmt: skip


def _classes(columns: Sequence[Vector]) -> tuple[str, ...]:
    """The classes that occur: declared categories in their order, numbers by size, else by name."""
    found = list(dict.fromkeys(word for column in columns for word in coded(column)[1]))
    if len(found) < 2:
        said = f"only the class {found[0]!r}" if found else "no class"
        raise BadInput(
            f"labels and decisions name {said}; pass classes= with the names of all classes"
        )
    if any(isinstance(column, Coded) and column.declared for column in columns):
        return tuple(found)
    try:
        return tuple(sorted(found, key=float))
    except ValueError:
        return tuple(sorted(found))
