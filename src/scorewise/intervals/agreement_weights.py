"""What a partial agreement counts: weights of pairs of categories, by name or as a table of one's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.door.rating_codes import is_number
from scorewise.door.ratings import Scale
from scorewise.errors import BadInput
from scorewise.intervals.disagreement import Disagreement, Identity, Linear, Pairwise, Quadratic
from scorewise.tallies.ratings import Ratings

Weights = str | Any | None
BY_SCALE = {"nominal": "identity", "ordinal": "linear", "interval": "quadratic", "ratio": "ratio"}
NAMES = (
    "identity", "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar",
)  # fmt: skip
MOST = 1 << 14  # categories of which every pair is looked at, a block at a time
MOST_OWN = 1 << 12  # categories of a table of one's own


def named(r: Ratings, weights: Weights) -> str:
    """What the weights are called: by the scale unless told, "own" for a table.

    >>> named(Ratings.of_table([[2, 1], [1, 3]], scale="ordinal"), None)
    'linear'
    """
    if weights is None:
        return BY_SCALE[r.scale]
    if not isinstance(weights, str):
        return "own"
    if weights not in NAMES:
        raise BadInput(f"weights is {weights!r}; it is one of {', '.join(NAMES)}, or a table")
    return weights


def disagreement(r: Ratings, weights: Weights) -> Disagreement | str:
    """The disagreement 1 - w of those weights, or the reason why there is none.

    None takes the weights of the scale: identity for nominal, linear for ordinal, quadratic for
    interval and ratio for ratio ratings. All but identity, ordinal and a table of one's own compare the
    numbers of the categories (Gwet 2014, chapter 3).
    """
    name, many = named(r, weights), len(r.categories)
    if name == "own":
        return _own(weights, r.categories)
    if name == "identity" or not many:
        return Identity()
    _check_order(r, name)
    if name in ("linear", "quadratic"):
        values = unit(r.values)
        return Linear(values) if name == "linear" else Quadratic(values)
    if many > MOST:
        return f"{many:,} categories are too many for {name} weights, which take {MOST:,}"
    if name == "ratio" and many and r.values.min() < 0:
        return "ratio weights need numbers of 0 or more"
    return Pairwise(_FUNCTIONS[name](r.values), many)


def _check_order(r: Ratings, name: str) -> None:
    """Refuse weights of near misses where nobody said which categories are near."""
    if r.scale == "nominal" and not r.declared and not all(map(is_number, r.categories)):
        raise BadInput(
            f'weights="{name}" needs categories in an order; pass categories= from the lowest to the '
            f'highest, and scale="ordinal"'
        )


def agreements(
    weights: Weights, scale: Scale, categories: tuple[str, ...], values: Floats, declared: bool
) -> tuple[Floats, str]:
    """How much each two categories agree (1 on the diagonal), and what that is called.

    >>> agreements("linear", "ordinal", ("low", "mid", "high"), np.arange(3.0), True)[0].tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    nothing = np.empty(0, np.int64)
    none = Ratings(
        np.empty((0, 2), np.int32), nothing, nothing, categories, values, scale, None, declared
    )
    d = disagreement(none, weights)
    if isinstance(d, str):
        raise BadInput(d)
    many = len(categories)
    every = np.arange(many, dtype=np.int32)
    return 1.0 - d.between(every[:, None], every), named(none, weights)


def unit(values: Floats) -> Floats:
    """Numbers moved and scaled to lie between 0 and 1.

    >>> unit(np.array([2.0, 3.0, 6.0]))
    array([0.  , 0.25, 1.  ])
    """
    if not len(values):
        return values
    low = values.min()
    # halves, because the range of numbers can be beyond floats
    width = values.max() / 2 - low / 2
    return (values / 2 - low / 2) / width if width > 0 else np.zeros(len(values))


def _own(table: Any, categories: tuple[str, ...]) -> Disagreement | str:
    many = len(categories)
    if many > MOST_OWN:
        return f"{many:,} categories are too many for a table of weights, which takes {MOST_OWN:,}"
    try:
        w = np.asarray(table)
        w = np.asarray(table, np.float64) if w.dtype.kind != "c" else np.empty(0)
    except (TypeError, ValueError):
        raise BadInput("weights is no table of numbers") from None
    if w.shape != (many, many):
        raise BadInput(
            f"the table of weights has shape {w.shape}, and there are {many} categories: it needs a row "
            f"and a column for each, in the order {', '.join(categories[:9])}"
        )
    _check(w, categories)
    away = 1 - (w + w.T) / 2
    return Pairwise(lambda k, j: away[k, j], many)


def _check(w: Floats, categories: tuple[str, ...]) -> None:
    for wrong, fault in (
        (~((w >= 0) & (w <= 1)), "weights lie between 0 and 1"),
        (
            (np.abs(w - 1) > 1e-12) & np.eye(len(w), dtype=np.bool_),
            "a category fully agrees with itself",
        ),
        (np.abs(w - w.T) > 1e-12, "weights are the same in both directions"),
    ):
        if wrong.any():
            k, j = np.argwhere(wrong)[0]
            raise BadInput(
                f"the weight of {categories[k]} and {categories[j]} is {w[k, j]:g}; {fault}"
                + (f", and the other way round it is {w[j, k]:g}" if k != j else "")
            )


def _ordinal(values: Floats) -> Callable[[Any, Any], Any]:
    """The share of all pairs of categories that lie between two (both included)."""
    rank = np.argsort(np.argsort(values, kind="stable"), kind="stable")
    most = max(len(values) * (len(values) - 1) / 2, 1)

    def of(k: Any, j: Any) -> Any:
        apart = np.abs(rank[k] - rank[j])
        return apart * (apart + 1) / 2 / most

    return of


def _radical(values: Floats) -> Callable[[Any, Any], Any]:
    v = unit(values)
    return lambda k, j: np.sqrt(np.abs(v[k] - v[j]))


def _ratio(values: Floats) -> Callable[[Any, Any], Any]:
    v = values / (values.max() or 1.0)
    widest = (v.max() - v.min()) / (v.max() + v.min()) if v.max() > v.min() else 1.0

    def of(k: Any, j: Any) -> Any:
        both = v[k] + v[j]
        # two zeros agree
        return ((v[k] - v[j]) / np.where(both > 0, both, 1.0) / widest) ** 2

    return of


def _circular(values: Floats) -> Callable[[Any, Any], Any]:
    around = values.max() - values.min() + 1

    def raw(k: Any, j: Any) -> Any:
        return np.sin(np.pi * ((values[k] - values[j]) / around)) ** 2

    most = max((float(b.max()) for _, b in Pairwise(raw, len(values)).blocks()), default=1.0) or 1.0
    return lambda k, j: raw(k, j) / most


def _bipolar(values: Floats) -> Callable[[Any, Any], Any]:
    v = unit(values)

    def of(k: Any, j: Any) -> Any:
        both = v[k] + v[j]
        below = both * (2 - both)
        return np.where(v[k] == v[j], 0.0, (v[k] - v[j]) ** 2 / np.where(below > 0, below, 1.0))

    return of


_FUNCTIONS = {
    "ordinal": _ordinal,
    "radical": _radical,
    "ratio": _ratio,
    "circular": _circular,
    "bipolar": _bipolar,
}
