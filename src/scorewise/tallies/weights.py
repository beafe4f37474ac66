"""The columns of weights of a tally, added up exactly when cells are joined and when tallies are merged."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.tallies import exact
from scorewise.tallies.exact import Exact
from scorewise.tallies.sorting import Numbers, add_runs

if TYPE_CHECKING:
    from scorewise.tallies.tally import Tally

COLUMNS = ("neg", "pos", "neg2", "pos2")


def columns_of(t: Tally) -> list[Exact]:
    """The weights and squared weights of both classes as exact sums; counts are exact as they are."""
    rest = np.empty((0, 4, len(t.score))) if t.rest is None else t.rest
    return [
        Exact(getattr(t, name).astype(np.float64), rest[:, k]) for k, name in enumerate(COLUMNS)
    ]


def as_columns(sums: Sequence[Exact]) -> dict[str, Any]:
    """The columns of a tally of weights, by the names of its fields."""
    return {**{n: x.value for n, x in zip(COLUMNS, sums, strict=True)}, "rest": rest_of(sums)}


def rest_of(sums: Sequence[Exact]) -> Floats | None:
    """What rounding left of several columns, shape (terms, columns, K); nothing where nothing was."""
    terms = max(len(exact.trimmed(x.rest)) for x in sums)
    if not terms:
        return None
    rest = np.zeros((terms, len(sums), len(sums[0].value)))
    for k, x in enumerate(sums):
        rest[: len(x.rest), k] = x.rest[:terms]
    return rest


def same_rest(a: Floats | None, b: Floats | None) -> bool:
    """Whether two such rests are equal."""
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def joined_runs(t: Tally, start: Ints) -> dict[str, Any]:
    """The weights of runs of cells, exactly."""
    if not t.weighted:
        neg, pos = add_runs(t.neg, start), add_runs(t.pos, start)
        return {"neg": neg, "pos": pos, "neg2": neg, "pos2": pos}
    made = []
    for column in columns_of(t):
        parts = [exact.sum_runs(term, start) for term in (column.value, *column.rest)]
        every = slice(None)
        made.append(
            parts[0] if len(parts) == 1 else exact.add(len(start), [(x, every) for x in parts])
        )
    return as_columns(made)


def merged(size: int, parts: Sequence[tuple[Tally, Ints]]) -> dict[str, Any]:
    """The weights of several tallies together, given the place of each of their cells, exactly."""
    if any(t.weighted for t, _ in parts):
        found = [(columns_of(t), at) for t, at in parts]
        return as_columns(
            [exact.add(size, [(columns[k], at) for columns, at in found]) for k in range(4)]
        )
    neg: Numbers = np.zeros(size, np.int64)
    pos: Numbers = np.zeros(size, np.int64)
    for t, at in parts:
        neg[at] += t.neg
        pos[at] += t.pos
    return {"neg": neg, "pos": pos, "neg2": neg, "pos2": pos}
