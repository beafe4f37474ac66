"""Rows of several classes: labels beside a probability or logit for each class, checked once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import pairwise
from typing import Any, ClassVar, Literal, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import one_of
from scorewise.columns.files import Opened, open_source
from scorewise.columns.labels import (
    distinct_words,
    listed,
    named_once,
    places_among,
    read_labels,
    word_codes,
)
from scorewise.columns.numbers import Place, in_range, is_text
from scorewise.columns.reader import Columns, Missing, read
from scorewise.columns.roles import choose, class_columns
from scorewise.columns.rows import CheckedRows, Kind, Rows, clipping_note, nearly_inside, scored
from scorewise.columns.sources import as_table, column_of, is_wide, named_columns, only_column
from scorewise.columns.vectors import Coded, Numbers, Vector, vector
from scorewise.errors import BadInput, Option

ClassKind: TypeAlias = Literal["probability", "logit"]
_ROLES = dict.fromkeys(("label", "score", "weight", "count", "own confidence", "cluster", "group"))
LARGEST = 1e100  # beyond which sums of logits leave the floats
LONG = 20  # classes that are no longer listed one by one
SLACK = 0.01  # how far from 1 the probabilities of a row may add up


@dataclass(frozen=True, kw_only=True)
class ClassRows(CheckedRows):
    """Checked rows: `y` is the place of each label in `classes`, `scores` has one column a class.

    `rule` says which labels the columns were taken for where neither the columns nor `classes` named them,
    and `columns` which column each class has in a source. `ordered` says whether the order of the classes
    means something: they are numbers, or were listed.
    """

    y: Ints
    scores: Floats
    classes: tuple[str, ...]
    kind: ClassKind
    confidence: Floats | None = None
    confidence_name: str = "confidence"
    rule: str = ""
    columns: Mapping[str, str] = field(default_factory=dict)
    narrow: bool = False  # whether the scores came with 32 bits or fewer
    ordered: bool = False
    _values: ClassVar[tuple[str, ...]] = ("y", "scores", "confidence")

    def of_two(self, positive: Any = None) -> Rows:
        """Rows of two classes as scores of the positive one; of logits, their difference.

        >>> rows = class_rows(None, label=["b", "a"], score=[[0.2, 0.8], [0.7, 0.3]]).of_two()
        >>> rows.y, rows.scores["score"], rows.labels.positive
        (array([ True, False]), array([0.8, 0.3]), 'b')
        """
        named = [int(c) if c.lstrip("-").isdecimal() else c for c in self.classes]
        both = Coded(np.array([0, 1]), named, declared=not self.rule)
        _, labels = read_labels(both, self.names.label, positive)
        at = self.classes.index(labels.positive)
        score: Any = self.scores[:, at]
        if self.kind == "logit":
            score = score - self.scores[:, 1 - at]
        name = self.columns.get(labels.positive, "score")
        return Rows(
            y=self.y == at,
            scores={name: score.astype(np.float32) if self.narrow else score},
            labels=labels,
            kinds={name: self.kind},
            **{f.name: getattr(self, f.name) for f in fields(CheckedRows)},
        )


def class_rows(
    source: Any, *, classes: Any = None, confidence: Any = None, kind: Any = None,
    missing: Missing = "refuse", encoding: str | None = None, **roles: Any,
) -> ClassRows:  # fmt: skip
    """Rows that have a score for each class: of files, frames or mappings, or of columns themselves.

    Of a source, `classes` says which columns have the scores: "cat=p_cat,dog=p_dog", a pattern such as
    "p_*" in which the star stands for the class, a mapping from class to column, or a list of columns named
    as their classes are. Further `roles` are `label`, `weight`, `count`, `cluster` and `group`, and
    `confidence` is a further column, if the model's own confidence is to be judged.

    Where the source is None, `label` and `score` are the columns themselves: labels of the classes, or
    one-hot, or beside `classes` their numbers from 0 or 1 on; and an n x K table, or a mapping from class
    to column. Classes are those of the mapping or frame; else the list given; else 0 to K - 1 or 1 to K
    where the labels are such numbers and 0 or K occurs; else the K distinct labels in order. What could be
    either is refused, and so is a label outside the list; a class that does not occur stays.

    Probabilities have to lie in [0, 1] and to add up to 1, within 0.01; they are used as given. Logits have
    to be said: kind="logit".

    >>> wide = {"y": ["a", "b"], "p_a": [0.7, 0.2], "p_b": [0.3, 0.8]}
    >>> class_rows(wide, classes="p_*", label="y").scores.tolist()
    [[0.7, 0.3], [0.2, 0.8]]
    >>> scores = {"a": [0.2, 0.7], "b": [0.5, 0.1], "c": [0.3, 0.2]}
    >>> rows = class_rows(None, label=["b", "a"], score=scores)
    >>> rows.y, rows.classes, rows.kind
    (array([1, 0]), ('a', 'b', 'c'), 'probability')
    """
    if source is None:
        one_of("kind", kind, (None, *get_args(ClassKind)))
        columns, known = _columns(roles["score"], classes)
        roles["label"], known = _from_one_hot(roles["label"], known, len(columns))
        own = None if confidence is None else {"confidence": confidence}
        in_order = classes is not None
    else:
        if kind == "score":
            raise BadInput(
                Option("kind", "score"), " is not known for several classes; pass ",
                Option("kind", "probability"), " or ", Option("kind", "logit"),
            )  # fmt: skip
        source, own = open_source(source, encoding), confidence
        columns = class_columns(source.names, classes)
        if confidence is not None and confidence not in source.names:
            raise BadInput(
                Option("confidence", confidence),
                " is neither max, margin, entropy or energy nor a column; the columns are ",
                f"{listed(source.names)}",
            )
    asked = _ROLES | roles | {"score": columns, "own confidence": own}
    found = read(source, asked, missing=missing)
    if source is None:
        return rows_of_classes(found, kind, known, in_order)
    return rows_of_class_columns(found, kind, columns, classes)


def columns_of_labels(
    opened: Opened, label: str | None, kind: Any = None
) -> tuple[str, dict[str, str]]:
    """The label, and the column of each of its classes where these name columns, with the same ends.

    No columns where the label has two values and a column of numbers goes by the name of a score. Logits
    do not add up to 1, which would tell: none of two classes, nor where further columns are named alike.

    >>> wide = open_source({"obs": ["a", "b"], "p_a": [0.7, 0.2], "p_b": [0.3, 0.8], "age": [30, 41]})
    >>> columns_of_labels(wide, None)
    ('obs', {'a': 'p_a', 'b': 'p_b'})
    """
    choice = choose(opened.names, {"label": label, "score": None})
    (name,) = choice.columns["label"]
    likely, _ = choice.unsure["score"]
    raw, _ = opened.read([name, *likely], ())
    words = distinct_words(vector(raw[name], name))
    if len(words) == 2 and not all(is_text(vector(raw[n], n)) for n in likely):
        return name, {}
    known = set(opened.names) - {name}
    of_first = [n for n in known if words and words[0] in n]
    ends = {tuple(n.split(words[0])) for n in of_first if n.count(words[0]) == 1}
    fit = [e for e in ends if len(words) > 1 and all(w.join(e) in known for w in words)]
    if len(fit) != 1:
        return name, {}
    found = {w: w.join(fit[0]) for w in words}
    if kind == "logit":
        first, last = fit[0]
        alike = [n for n in known if (first or last) and n.startswith(first) and n.endswith(last)]
        if len(words) == 2 or len(alike) > len(words):
            return name, {}
    if len(words) > 2:  # in the order of the file, as patterns find them
        words.sort(key=lambda w: opened.names.index(found[w]))
    return name, {w: found[w] for w in words}


def rows_of_class_columns(
    found: Columns, kind: Any, columns: Mapping[str, str], classes: Any
) -> ClassRows:
    """The rows of columns of a source, as `classes` named them."""
    in_order = not isinstance(classes, str) or "=" in classes or "," in classes
    made = rows_of_classes(found, kind, tuple(columns), in_order)
    return replace(made, columns=columns)


def rows_of_classes(
    found: Columns, kind: ClassKind | None, known: tuple[str, ...] | None, in_order: bool
) -> ClassRows:
    """The rows of columns of scores, whose classes are known, maybe in order, or guessed."""
    one_of("kind", kind, (None, *get_args(ClassKind)))
    label, name, place = found.column("label"), found.name("label"), found.place
    scores, rule = found["score"], ""
    if known is None:
        known, rule = _guessed(label, name, len(scores))
    if numbers := _numbered(label, name, known):
        rule = f"{numbers[0]} to {numbers[-1]}"
    y = class_codes(label, name, numbers or known, place)
    values = np.empty((len(y), len(scores)))
    for k, (column, numeric) in enumerate(scores.items()):
        values[:, k] = numeric.values
        in_range(values[:, k], column, place)
    values, kind, note = _kind(values, list(scores), kind, place)
    own_name, sure = next(iter(found["own confidence"].items()), ("confidence", None))
    own = None if sure is None else sure.values.astype(np.float64)
    if own is not None:
        in_range(own, own_name, place)
    return ClassRows(
        y=y, scores=values, classes=known, kind=kind, confidence=own, confidence_name=own_name,
        rule=rule, ordered=in_order or numbered(known),
        narrow=all(numeric.values.dtype.itemsize < 8 for numeric in scores.values()),
        **found.checked(note),
    )  # fmt: skip


def numbered(classes: Iterable[str]) -> bool:
    """Whether the names of the classes are increasing numbers.

    >>> numbered(["1", "2", "10"]), numbered(["1", "10", "2"]), numbered(["low", "mid", "high"])
    (True, False, False)
    """
    try:
        return all(a < b for a, b in pairwise(map(float, classes)))
    except ValueError:
        return False


def _columns(
    scores: Any, classes: Sequence[Any] | None
) -> tuple[dict[str, Any], tuple[str, ...] | None]:
    """The columns of the table by name, and the classes if they are known already."""
    given = None if classes is None else tuple(named_once(classes, "classes", "class"))
    columns, named = named_columns(scores), True
    if columns is None:
        table, named = as_table(scores), False
        if table.ndim != 2:
            raise BadInput(
                f"scores have shape {table.shape}; several classes need one row of K scores each, n x K"
            )
        columns = {f"class {k}": column_of(table, k) for k in range(table.shape[1])}
    if len(columns) < 2:
        raise BadInput(
            f"there is a score for {len(columns)} class only; several classes need two or more"
        )
    if given is not None and len(given) != len(columns):
        raise BadInput(
            Option("classes"),
            f" names {len(given)} classes, but there are scores for {len(columns)}",
        )
    if not named:
        of = zip(given or columns, columns.values(), strict=True)
        return {f"score of {c}": column for c, column in of}, given
    if given is not None and set(given) != set(columns):
        raise BadInput(
            Option("classes"),
            f" names {listed(given)}, but the columns are {listed(list(columns))}; ",
            "the names of the columns have to be those of the classes",
        )
    known = given or tuple(columns)
    return {c: columns[c] for c in known}, known


def positive_column(labels: Any, p: Any, positive: Any = None, kind: Any = None) -> Any:
    """The scores of the positive class, where each of two has a column; of logits, their difference.

    >>> positive_column([0, 1], [[0.9, 0.1], [0.2, 0.8]])
    array([0.1, 0.8])
    """
    p = only_column(p)
    if not is_wide(p):
        return p
    rows = class_rows(None, label=labels, score=p, kind=kind, missing="drop")
    if len(rows.classes) != 2:
        raise BadInput(
            f"there are scores for {len(rows.classes)} classes, and two are needed here; evaluate without "
            f"clusters and ClassTally.of take several"
        )
    at = rows.classes.index(rows.of_two(positive).labels.positive)
    columns = list(_columns(p, None)[0].values())
    if kind == "logit":
        return np.asarray(columns[at], float) - np.asarray(columns[1 - at], float)
    return columns[at]


def _guessed(column: Vector, name: str, many: int) -> tuple[tuple[str, ...], str]:
    """The classes that unnamed columns are taken for, and by which rule.

    >>> _guessed(vector([2, 0, 2], "y"), "y", 3)
    (('0', '1', '2'), '0 to 2')
    >>> _guessed(vector([3, 1], "y"), "y", 3)
    (('1', '2', '3'), '1 to 3')
    """
    words = word_codes(column)[1]
    starts = [s for s in (0, 1) if {*words} <= {str(k + s) for k in range(many)}]
    if many == 2 and 0 in starts:  # 0 and 1 are what two classes are usually called
        starts = [0]
    if len(starts) == 2 and words:
        whole = [range(s, s + many) for s in starts]
        one, other = (Option("classes", list(w) if many < LONG else w) for w in whole)
        raise BadInput(
            f"{name} has {listed(words)} beside {many} columns of scores, which may be the classes 0 to ",
            f"{many - 1} or 1 to {many}; pass ", one, " or ", other, " to say which",
        )  # fmt: skip
    if isinstance(column, Coded) and words and _unordered(column, words, starts, many):
        raise BadInput(
            f"{name} has numbers as text, whose order may be 1, 2, 10 or 1, 10, 2; pass ",
            Option("classes"),
            " with the classes in the order of the scores",
        )
    if starts:
        first, last = starts[0], starts[0] + many - 1
        return tuple(str(k) for k in range(first, last + 1)), f"{first} to {last}"
    if len(words) != many:
        raise BadInput(
            f"{name} has {len(words)} distinct values ({listed(words)}) and there are scores for ",
            f"{many} classes; pass ",
            Option("classes"),
            " with their names in the order of the scores",
        )
    return tuple(words), listed(words)


def _numbered(column: Vector, name: str, known: tuple[str, ...]) -> tuple[str, ...]:
    """The numbers of the classes, where labels are such and the classes have other names; else none.

    >>> _numbered(vector([2, 0, 2], "y"), "y", ("ant", "bee", "cat"))
    ('0', '1', '2')
    """
    if not isinstance(column, Numbers) or column.values.dtype == bool:
        return ()
    words = word_codes(column)[1]
    if not words or {*words} & {*known} or not all(w.isdecimal() for w in words):
        return ()
    return _guessed(column, name, len(known))[0] if len(words) <= len(known) else ()


def _from_one_hot(
    labels: Any, known: tuple[str, ...] | None, many: int
) -> tuple[Any, tuple[str, ...] | None]:
    """Labels of one column, and the classes; those that are one-hot as names of classes."""
    if not is_wide(labels) or isinstance(labels, Mapping):
        return labels, known
    table = np.asarray(as_table(labels))
    if table.ndim != 2 or table.shape[1] == 1:
        return labels, known
    if table.shape[1] != many:
        raise BadInput(
            f"labels have {table.shape[1]} columns and there are scores for {many} classes; one-hot "
            f"labels need a column for each class"
        )
    hot = table == 1
    wrong = (hot.sum(1) != 1) | ~(hot | (table == 0)).all(1)
    if wrong.any():
        raise BadInput(
            f"labels have {many} columns that are not one-hot, first in {Place().row(wrong.argmax())}; "
            f"each row needs one 1 and else 0, or pass one label a row"
        )
    known = known or tuple(map(str, range(many)))
    return np.array(known, dtype=object)[hot.argmax(1)], known


def _unordered(column: Coded, words: list[str], starts: list[int], many: int) -> bool:
    """Whether classes are whole numbers as text, in an order that is not that of the numbers."""
    if starts and not column.declared:
        words = sorted(str(k + starts[0]) for k in range(many))
    return all(w.isdecimal() for w in words) and words != sorted(words, key=int)


def class_codes(column: Vector, name: str, known: Sequence[str], place: Place) -> Ints:
    """The place of each label among the classes; the column misses nothing.

    >>> class_codes(vector([2, 0, 2], "y"), "y", ("0", "1", "2"), Place())
    array([2, 0, 2])
    """
    return places_among(known, *word_codes(column), name, "classes", place)


def _kind(
    values: Floats, names: list[str], kind: ClassKind | None, place: Place
) -> tuple[Floats, ClassKind, str]:
    """The scores, their kind, and a note where some were taken as 0 or 1."""
    note = ""
    if kind == "logit" and len(values):
        huge: Any = (np.abs(values) > LARGEST).any(1)
        if huge.any():
            raise BadInput(
                f"logits are beyond {LARGEST:g} {place.rows(huge)}; logits of some hundred are certain "
                f"already, so scale them down"
            )
    if kind == "logit" or not len(values):
        return values, kind or "probability", note
    outside: Any = ((values < 0) | (values > 1)).any(1)
    if outside.any():
        low, high = float(values.min()), float(values.max())
        near = nearly_inside(low, high)
        if kind is None or not near:
            row = int(outside.argmax())
            column = int(((values[row] < 0) | (values[row] > 1)).argmax())
            raise BadInput(
                f"{names[column]} is outside [0, 1] {place.rows(outside)} "
                f"({values[row, column]:.8g}); pass ",
                Option("kind", "probability" if near else "logit"),
                " to take such as 0 or 1" if near else " for logits",
            )
        note = clipping_note("scores", place.rows(outside), low, high)
        values = np.clip(values, 0, 1)
    total = values.sum(1)
    apart: Bools = np.abs(total - 1) > SLACK
    if apart.any():
        raise BadInput(
            f"the probabilities of the {len(names)} classes ({listed(names)}) do not add up to 1 ",
            f"{place.rows(apart)} ({total[apart.argmax()]:.6g}); leave out columns that are not classes, ",
            "divide each row by its sum, pass ",
            Option("kind", "logit"),
            " for logits, or use compare for scores of several models",
        )
    return values, "probability", note


# Rows of which only the decision and the confidence in it are known, checked once.


@dataclass(frozen=True, kw_only=True)
class DecidedRows(CheckedRows):
    """Checked rows: `y` and `called` are places in `classes`, `confidence` is that in the decision."""

    y: Ints
    called: Ints
    confidence: Floats
    classes: tuple[str, ...]
    kind: Kind
    _values: ClassVar[tuple[str, ...]] = ("y", "called", "confidence")


def decided_rows(
    source: Any, *, predicted: Any, confidence: Any = None, classes: Sequence[Any] | None = None,
    kind: Kind | None = None, missing: Missing = "refuse", encoding: str | None = None, **roles: Any,
) -> DecidedRows:  # fmt: skip
    """Labels, decisions and the confidence in each decision, by name or, without a source, as columns.

    Classes are the list given, or else all labels and decisions in order. Unless said, confidence is a
    probability when all of it lies in [0, 1], and a score otherwise. Further `roles` are `label`, `weight`,
    `count` and `group`.

    >>> rows = decided_rows(None, label=["a", "b"], predicted=["a", "c"], confidence=[0.9, 0.4])
    >>> rows.y, rows.called, rows.classes
    (array([0, 1]), array([0, 2]), ('a', 'b', 'c'))
    >>> decided_rows({"y": ["a", "b"], "call": ["a", "a"], "p": [0.7, 0.2]}, predicted="call").notes[1]
    "score: column 'p' (not named; taken because of its name)"
    """
    one_of("kind", kind, (None, *get_args(Kind)))
    label = roles.pop("label", None)
    if source is None:
        predicted, confidence = {"predicted": predicted}, {"confidence": confidence}
    elif predicted in (label, confidence):
        raise BadInput(f"column '{predicted}' is given twice; name a different column for each")
    asked = {"label": label, "decision": predicted, "score": confidence, **roles}
    found = read(source, asked, missing=missing, encoding=encoding)
    place = found.place
    words = {**found["label"], **found["decision"]}
    known = (
        _classes([*words.values()]) if classes is None else named_once(classes, "classes", "class")
    )
    y, called = (class_codes(v, n, known, place) for n, v in words.items())
    sure, kind, note = scored(found.column("score"), found.name("score"), kind, place)
    confident = sure.astype(np.float64)
    return DecidedRows(
        y=y,
        called=called,
        confidence=confident,
        classes=tuple(known),
        kind=kind,
        **found.checked(note),
    )


def _classes(columns: Sequence[Vector]) -> tuple[str, ...]:
    """The classes that occur: declared categories in their order, numbers by size, else by name."""
    found = list(dict.fromkeys(word for column in columns for word in word_codes(column)[1]))
    if len(found) < 2:
        said = f"only the class {found[0]!r}" if found else "no class"
        raise BadInput(
            f"labels and decisions name {said}; pass ",
            Option("classes"),
            " with the names of all classes",
        )
    if any(isinstance(column, Coded) and column.declared for column in columns):
        return tuple(found)
    try:
        return tuple(sorted(found, key=float))
    except ValueError:
        return tuple(sorted(found))
