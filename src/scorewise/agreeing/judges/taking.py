"""What humans and judges said, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.agreeing.judges.swapping import Swap, read_swap
from scorewise.columns import Place
from scorewise.columns.files import open_frame
from scorewise.columns.labels import text
from scorewise.columns.numbers import numbers
from scorewise.columns.rating_codes import coded_ratings
from scorewise.columns.ratings import RatingRows, Scale
from scorewise.columns.rows import aligned, one_of, same_length
from scorewise.columns.rows import weights as checked_weights
from scorewise.columns.vectors import Coded, Numbers, Vector, vector
from scorewise.errors import BadInput
from scorewise.tallies.ratings import Ratings

NoAnswer: TypeAlias = Literal["drop", "wrong"]
Codes: TypeAlias = NDArray[np.int32]
MOST = 1000  # categories


@dataclass(frozen=True, eq=False)
class Said:
    """Codes of humans, judges and judges asked again, a row for each pattern; -1 is no answer.

    `count` is the number of items with each pattern, `weight` and `weight2` the sums of their weights and
    of the squares of those.
    """

    humans: dict[str, Codes]
    judges: dict[str, Codes]
    swapped: dict[str, Codes]
    swap: Swap | None
    count: NDArray[np.int64]
    weight: NDArray[Any]
    weight2: NDArray[Any]
    categories: tuple[str, ...]
    values: NDArray[np.float64]
    weighted: bool = False
    place: Place = field(default_factory=Place)


def take_judges(
    humans: Any,
    judges: Any,
    *,
    scale: Scale = "nominal",
    categories: Sequence[Any] | None = None,
    swapped: Mapping[str, Any] | None = None,
    swap: Mapping[str, str] | str | None = None,
    ignore: Sequence[Any] = (),
    weight: Any = None,
    weight_name: str = "weight",
    place: Place | None = None,
) -> Said:
    """Columns of humans and of judges on the same items.

    Values named in `ignore` are no answer where a judge gives them.
    """
    place = place or Place()
    one_of("scale", scale, get_args(Scale))
    people, machines = named_columns(humans, "human"), named_columns(judges, "judge")
    if both := [name for name in machines if name in people]:
        raise BadInput(f"'{both[0]}' is named as a human and as a judge; it can be one of them")
    again = _again(swapped, machines)
    given = {**people, **machines, **{_rerun(name): column for name, column in again.items()}}
    if len(given) < len(people) + len(machines) + len(again):
        raise BadInput("two columns have the same name; give each a name of its own")
    aligned(given.items())
    vectors = {name: vector(column, name) for name, column in given.items()}
    same_length(list(vectors.items()))
    words = {text(v) for v in _several(() if ignore is None else ignore)}
    vectors = {n: v if n in people else _without(v, words) for n, v in vectors.items()}
    _check_said(vectors, people, machines)
    found = coded_ratings(vectors, scale, categories, place)
    if len(found.categories) > MOST:
        raise BadInput(
            f"there are {len(found.categories):,} different ratings, and a judge can be judged on {MOST:,} "
            f"at most; round or group them"
        )
    heavy = None if weight is None else _weights(weight, weight_name, vectors, place)
    folded = _folded(found.codes, heavy, found.categories, found.values, scale)
    at = dict(zip(vectors, folded.codes.T, strict=False))
    return Said(
        {name: at[name] for name in people},
        {name: at[name] for name in machines},
        {name: at[_rerun(name)] for name in again},
        read_swap(swap, found.categories) if again else None,
        folded.count,
        folded.weight,
        folded.weight2,
        found.categories,
        found.values,
        weight is not None,
        place,
    )


def named_columns(given: Any, what: str) -> dict[str, Any]:
    """Columns by name: of a mapping, a frame, an array of columns, or one column.

    >>> sorted(named_columns(np.zeros((5, 2)), "human"))
    ['human 1', 'human 2']
    """
    if isinstance(given, Mapping):
        columns = {str(name): column for name, column in given.items()}
        if len(columns) < len(given):
            raise BadInput(f"two {what}s have the same name; give each a name of its own")
    elif isinstance(given, np.ndarray) and given.ndim == 2:
        columns = {f"{what} {k + 1}": given[:, k] for k in range(given.shape[1])}
    elif hasattr(given, "columns") or hasattr(given, "collect_schema"):
        names, get = open_frame(given)
        columns = get(names)
    elif given is None:
        columns = {}
    else:
        columns = {what: given}
    if not columns:
        raise BadInput(f"no {what} was given; pass the ratings of at least one {what}")
    return columns


def _rerun(name: str) -> str:
    return f"swapped verdicts of {name}"


def _several(values: Any) -> list[Any]:
    return [values] if isinstance(values, str | int | float | np.generic) else list(values)


def _again(swapped: Any, judges: Mapping[str, Any]) -> dict[str, Any]:
    if swapped is None:
        return {}
    if not isinstance(swapped, Mapping):
        raise BadInput(
            "swapped= takes verdicts by the name of the judge, such as {'gpt': verdicts}"
        )
    for name in swapped:
        if str(name) not in judges:
            raise BadInput(
                f"swapped= has verdicts of '{name}', which is no judge; the judges are {', '.join(judges)}"
            )
    return {str(name): column for name, column in swapped.items()}


def _without(column: Vector, words: set[str]) -> Vector:
    """The same with ignored values as missing."""
    if not words:
        return column
    if isinstance(column, Coded):
        keep = np.array([text(v) not in words for v in column.values], bool)
        codes = np.append(np.where(keep, keep.cumsum() - 1, -1), -1)
        left = [v for v, kept in zip(column.values, keep, strict=True) if kept]
        return Coded(codes[column.codes], left, column.declared)
    values, place = np.unique(column.values, return_inverse=True)
    ignored = np.array([text(v) in words for v in values], bool)[place]
    return Numbers(column.values, ignored if column.null is None else ignored | column.null)


def _check_said(
    vectors: Mapping[str, Vector], people: Mapping[str, Any], judges: Mapping[str, Any]
) -> None:
    """Refuse too few items, humans who label nothing, and judges who never answer."""
    items = len(next(iter(vectors.values())))
    if items < 2:
        raise BadInput(f"there {'is 1 item' if items else 'are no items'}; at least two are needed")
    blank = {n for n, v in vectors.items() if (gone := v.missing()) is not None and gone.all()}
    if blank.issuperset(people):
        raise BadInput("no item is labelled: every human rating is missing; label some of them")
    if silent := [name for name in vectors if name not in people and name in blank]:
        who = f"judge '{silent[0]}' gives" if silent[0] in judges else f"'{silent[0]}' give"
        raise BadInput(f"{who} no answer on any of {items:,} items; leave it out")


def _weights(
    weight: Any, name: str, vectors: Mapping[str, Vector], place: Place
) -> NDArray[np.float64]:
    found = numbers(vector(weight, name), name, place)
    same_length([next(iter(vectors.items())), (name, found)])
    if (gone := found.missing()) is not None:
        raise BadInput(f"{name} is missing {place.rows(gone)}; give each item one")
    return checked_weights(found, name, place)


@dataclass(frozen=True)
class _Folded:
    codes: Codes
    count: NDArray[np.int64]
    weight: NDArray[Any]
    weight2: NDArray[Any]


def _folded(
    codes: Codes,
    weight: NDArray[np.float64] | None,
    categories: tuple[str, ...],
    values: NDArray[np.float64],
    scale: Scale,
) -> _Folded:
    """Distinct patterns; an item that nobody rated is one, too."""
    there = np.zeros((len(codes), 1), np.int32)
    marked = np.concatenate([codes, there], axis=1)
    if weight is not None:
        marked, weight = marked[weight > 0], weight[weight > 0]
    names = tuple(map(str, range(marked.shape[1])))
    rows = RatingRows(marked, categories, values, scale, names)
    plain = Ratings.of_rows(rows)
    found = plain
    if weight is not None:
        found = Ratings.of_rows(RatingRows(marked, categories, values, scale, names, weight=weight))
    return _Folded(found.codes[:, :-1], plain.weight.astype(np.int64), found.weight, found.weight2)
