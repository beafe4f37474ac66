"""Columns that belong together: aligned, of one length, and complete or cut down to what is."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools
from scorewise.columns.labels import Labels, read_labels
from scorewise.columns.numbers import Place, in_range, numbers
from scorewise.columns.vectors import Numbers, Vector, short, vector
from scorewise.errors import BadInput

Missing: TypeAlias = Literal["refuse", "drop"]


class Columns(NamedTuple):
    """Columns of one length without a missing value, and how many rows were left out for that."""

    words: dict[str, Vector]
    amounts: list[dict[str, Numbers]]
    dropped: int
    place: Place


def read(
    words: Mapping[str, Any], *amounts: Mapping[str, Any], missing: Missing, place: Place
) -> Columns:
    """Columns of any library: those of labels as they are, those of amounts as numbers.

    Amounts come in groups, between which names may be the same; one that is None is not there. A row with
    a missing value (None, null, NaN) in any column is refused, or with missing="drop" left out and
    counted.

    >>> found = read({"y": ["a", "b"]}, {"p": [0.5, None]}, {"w": None}, missing="drop", place=Place())
    >>> found.amounts[0]["p"].values, found.amounts[1], found.dropped
    (array([0.5]), {}, 1)
    """
    one_of("missing", missing, get_args(Missing))
    given = [{n: column for n, column in group.items() if column is not None} for group in amounts]
    aligned([pair for group in (words, *given) for pair in group.items()])
    labels = {n: vector(column, n) for n, column in words.items()}
    vectors = [{n: vector(column, n) for n, column in group.items()} for group in given]
    same_length(_pairs(labels, *vectors))
    numeric = [{n: numbers(column, n, place) for n, column in group.items()} for group in vectors]
    keep = complete(_pairs(labels, *numeric), missing, place)
    if keep is None:
        return Columns(labels, numeric, 0, place)
    return Columns(
        {n: column.keep(keep) for n, column in labels.items()},
        [{n: column.keep(keep) for n, column in group.items()} for group in numeric],
        int(len(keep) - np.count_nonzero(keep)),
        place.keep(keep),
    )


def _pairs(*groups: Mapping[str, Vector]) -> list[tuple[str, Vector]]:
    return [pair for group in groups for pair in group.items()]


def one_of(option: str, word: Any, known: tuple[Any, ...]) -> None:
    """Refuse a word that the option does not know."""
    if (word is None or isinstance(word, str)) and word in known:
        return
    words = " or ".join(f'"{k}"' for k in known if k is not None)
    raise BadInput(f"{option}={short(word)} is not known; pass {option}={words}")


def aligned(columns: Iterable[tuple[str, Any]]) -> None:
    """Refuse pandas columns whose indexes hold the same keys in another order: rows would not match."""
    pandas = sys.modules.get("pandas")
    if pandas is None:
        return
    indexed = [(n, c.index) for n, c in columns if isinstance(c, pandas.Series)]
    for name, index in indexed[1:]:
        first, other = indexed[0]
        if index.equals(other) or len(index) != len(other):
            continue
        if len(index.union(other)) == len(index.unique()) == len(other.unique()):
            raise BadInput(
                f"{first} and {name} have the same pandas index in different orders; align them, or "
                f"pass .to_numpy() to match them by position"
            )


def same_length(columns: list[tuple[str, Vector]]) -> None:
    """Refuse columns of different lengths."""
    (first, label), *others = columns
    for name, column in others:
        if len(column) != len(label):
            raise BadInput(
                f"{first} has {len(label):,} rows and {name} has {len(column):,}; "
                f"they have to match row by row"
            )


def complete(columns: list[tuple[str, Vector]], missing: Missing, place: Place) -> Bools | None:
    """The rows that miss nothing; None when that is all of them."""
    gaps: Bools | None = None
    for name, column in columns:
        gone = column.missing()
        if gone is None:
            continue
        if missing == "refuse":
            them = "it" if np.count_nonzero(gone) == 1 else "them"
            raise BadInput(
                f'{name} is missing {place.rows(gone)}; drop {them} or pass missing="drop"'
            )
        gaps = gone if gaps is None else gaps | gone
    return None if gaps is None else ~gaps


# Rows that are fit for tallying: labels, scores and weights, checked once.


Kind: TypeAlias = Literal["probability", "logit", "score"]
Scores: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Names:
    """What the columns are called in messages and reports."""

    label: str = "label"
    weight: str = "weight"
    count: str = "count"


@dataclass(frozen=True)
class Rows:
    """Checked columns of one length: finite scores, labels as True for positive.

    Scores are float64, or float32 where they came as 32 bits or fewer; the arrays may be the
    caller's own memory and are not to be written to. `place` knows their numbers in the input.
    """

    y: Bools
    scores: dict[str, Scores]
    weight: NDArray[np.float64] | None
    count: NDArray[np.int64] | None
    labels: Labels
    names: Names
    dropped: int
    kinds: dict[str, Kind]
    place: Place = field(default_factory=Place)

    def __len__(self) -> int:
        return len(self.y)

    def mass(self, power: int = 1) -> NDArray[np.float64]:
        """The weight of each row, or a power of it, summed over the rows that it stands for."""
        w = 1.0 if self.weight is None else self.weight**power
        times = 1 if self.count is None else self.count
        return np.broadcast_to(np.asarray(w * times, np.float64), len(self))


def take(
    labels: Any,
    scores: Mapping[str, Any],
    *,
    weight: Any = None,
    count: Any = None,
    positive: Any = None,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    label_name: str = "label",
    weight_name: str = "weight",
    count_name: str = "count",
    place: Place | None = None,
) -> Rows:
    """Check columns of any library and bring them to numpy, without a copy where that can be.

    A row with a missing value (None, null, NaN) in any column is refused, or with missing="drop"
    left out for all scores alike and counted. Unless said, the kind of a score is "probability"
    when all its values are in [0, 1] and "score" otherwise; scores are never transformed.

    >>> rows = take([0, 1, 1], {"p": [0.2, float("nan"), 0.9]}, missing="drop")
    >>> rows.y, rows.scores["p"], rows.dropped
    (array([False,  True]), array([0.2, 0.9]), 1)
    >>> rows.labels
    Labels(positive='1', negative='0', rule='1 of 0 and 1')
    """
    one_of("kind", kind, (None, *get_args(Kind)))
    if not scores:
        raise BadInput("no scores were given; pass at least one column of scores")
    if len({str(name) for name in scores}) < len(scores):
        raise BadInput("two columns of scores have the same name; give each a name of its own")
    names = Names(label_name, weight_name, count_name)
    amounts = {str(name): column for name, column in scores.items()}
    found = read(
        {label_name: labels},
        amounts,
        {weight_name: weight, count_name: count},
        missing=missing,
        place=place or Place(),
    )
    (numeric, further), place = found.amounts, found.place
    y, classes = read_labels(found.words[label_name], label_name, positive)
    floats = {n: scored(column, n, kind, place) for n, column in numeric.items()}
    return Rows(
        y=y,
        scores={n: s for n, (s, _) in floats.items()},
        weight=weights(further[weight_name], weight_name, place) if weight is not None else None,
        count=counts(further[count_name], count_name, place) if count is not None else None,
        labels=classes,
        names=names,
        dropped=found.dropped,
        kinds={n: k for n, (_, k) in floats.items()},
        place=place,
    )


def scored(column: Numbers, name: str, kind: Kind | None, place: Place) -> tuple[Scores, Kind]:
    """Scores as floats, and their kind: as said, or what their values allow."""
    values = column.values
    if values.dtype.kind == "f":
        floats = values if values.dtype.itemsize > 2 else values.astype(np.float32)
    else:
        floats = values.astype(np.float64)
    low, high = in_range(floats, name, place)
    inside = low >= 0 and high <= 1
    if kind == "probability" and not inside:
        outside = (floats < 0) | (floats > 1)
        raise BadInput(
            f"{name} is outside [0, 1] {place.rows(outside)} ({floats[outside.argmax()]:.6g}); "
            f'pass kind="logit" for log-odds or kind="score" for scores of any scale'
        )
    return floats, kind or ("probability" if inside else "score")


def weights(column: Numbers, name: str, place: Place) -> NDArray[np.float64]:
    """Weights, which have to be finite, not negative and not all zero."""
    values = column.values.astype(np.float64, copy=False)
    low, high = in_range(values, name, place)
    if low < 0:
        below = values < 0
        raise BadInput(
            f"{name} is negative {place.rows(below)} ({values[below.argmax()]:.6g}); "
            f"weights are zero or more"
        )
    if len(values) and high == 0:
        raise BadInput(f"{name} is zero in every row; give at least one row some weight")
    beyond = (values > 1e120) | ((values > 0) & (values < 1e-120))
    if beyond.any():
        raise BadInput(
            f"{name} is beyond what can be squared {place.rows(beyond)} "
            f"({values[beyond.argmax()]:.6g}); weights have no unit, so scale them all towards 1"
        )
    return values


def counts(column: Numbers, name: str, place: Place) -> NDArray[np.int64]:
    """Counts, which have to be whole and not negative."""
    values = column.values
    low, high = in_range(values.astype(np.float64, copy=False), name, place)
    if low < 0:
        below = values < 0
        raise BadInput(
            f"{name} is negative {place.rows(below)} ({values[below.argmax()]:.6g}); "
            f"counts are whole numbers from zero up"
        )
    if values.dtype.kind == "f":
        part = values != np.floor(values)
        if part.any():
            raise BadInput(
                f"{name} is not whole {place.rows(part)} ({values[part.argmax()]:.6g}); "
                f"pass fractions as weight= instead"
            )
    if high > 2**53 or float(values.sum(dtype=np.float64)) > 2**53:
        raise BadInput(f"{name} adds up to more than 2**53, beyond exact counting; scale it down")
    return values.astype(np.int64, copy=False)


# A sample of numbers with their weights, checked once.


@dataclass(frozen=True)
class Sample:
    """Finite values, at least one, with their weights if any; `ends` are the least and the greatest.

    The arrays may be the caller's own memory and are not to be written to.
    """

    values: NDArray[Any]
    weight: NDArray[np.float64] | None
    ends: tuple[float, float]
    dropped: int
    place: Place


def take_sample(
    x: Any, *, weight: Any = None, missing: Missing = "refuse", name: str = "x"
) -> Sample:
    """Check a column of any library and bring it to numpy, without a copy where that can be.

    >>> take_sample([0.2, None, 0.4], missing="drop").values
    array([0.2, 0.4])
    """
    found = read({}, {name: x}, {"weight": weight}, missing=missing, place=Place())
    (read_x, further), place = found.amounts, found.place
    values = read_x[name].values
    if not len(values):
        raise BadInput(f"{name} has no rows; pass at least one number")
    w = None if weight is None else weights(further["weight"], "weight", place)
    return Sample(values, w, in_range(values, name, place), found.dropped, place)
