"""Groups of rows: those combinations of the words of some columns that occur."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.errors import BadInput, Option, plain

MOST = 10_000  # groups that are judged
Coded: TypeAlias = Mapping[str, tuple[Ints, list[str]]]  # the code of each row, and their words


@dataclass(frozen=True)
class Grouping:
    """The group of each row, and what the groups are called.

    `codes` are places in `words`, -1 for rows of no weight; `sizes` are the rows of each group, of which
    those of fewer than `min_rows` are shown and not judged.
    """

    by: tuple[str, ...]
    codes: Ints
    words: Sequence[tuple[str, ...]]
    sizes: Ints
    min_rows: int
    smallest: Ints | None = None  # of several samples, the rows in the smallest of them

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def names(self) -> list[str]:
        """The words of each group with slashes between."""
        joined = [" / ".join(key) for key in self.words]
        return joined if len({*joined}) == len(joined) else [str(key) for key in self.words]

    @property
    def judged(self) -> Bools:
        """Which groups have rows enough."""
        rows = self.sizes if self.smallest is None else self.smallest
        return np.asarray(rows >= self.min_rows)

    def at(self, k: int) -> Ints:
        """The rows of a group."""
        order, ends = self._order
        return order[ends[k] : ends[k + 1]]

    @cached_property
    def _order(self) -> tuple[Ints, Ints]:
        order = np.argsort(self.codes, kind="stable")
        return order, np.searchsorted(self.codes[order], np.arange(len(self) + 1))


def grouping(
    columns: Coded, min_rows: int, *, mass: Floats | None = None, times: Any = None,
    most: int = MOST,
) -> Grouping:  # fmt: skip
    """The groups by these columns; refused where there is one, or more than `most`.

    Rows of no `mass` are in no group; `times` says how many rows each row stands for.

    >>> g = grouping({"site": (np.array([1, 0, 1]), ["a", "b"])}, 2)
    >>> g.names, g.sizes.tolist(), g.judged.tolist()
    (['a', 'b'], [1, 2], [False, True])
    """
    codes, words = intersections(columns, mass)
    by = " and ".join(f"'{plain(name)}'" for name in columns)
    if len(words) < 2:
        one = plain(" / ".join(words[0])) if words else ""
        raise BadInput(
            f"all rows are in one group by {by}, '{one}'; name a column of two or more values ",
            "with ", Option("by"),
        )  # fmt: skip
    if len(words) > most:
        raise BadInput(
            f"{by} make{'s' * (len(columns) == 1)} {len(words):,} groups, more than the {most:,} ",
            "that are judged; name columns of fewer values with ", Option("by"),
        )  # fmt: skip
    there = codes >= 0
    each = np.ones(len(codes)) if times is None else np.asarray(times, np.float64)
    sizes = np.bincount(codes[there], each[there], len(words)).astype(np.int64)
    return Grouping(tuple(columns), codes, words, sizes, min_rows)


def intersections(columns: Coded, mass: Floats | None = None) -> tuple[Ints, list[tuple[str, ...]]]:
    """The group of each row, and the words of each group that occurs; -1 for rows of no mass."""
    many = len(next(iter(columns.values()))[0])
    cell = np.zeros(many, np.int64)
    for codes, words in columns.values():
        cell = cell * len(words) + codes
        if int(cell.max(initial=0)) + 1 > 4 * many + MOST:
            cell = np.unique(cell, return_inverse=True)[1]
    heavy = np.ones(many, bool) if mass is None else mass > 0
    there = np.bincount(cell[heavy], minlength=int(cell.max(initial=0)) + 1) > 0
    at = np.where(there[cell], (there.cumsum() - 1)[cell], -1)
    first = np.zeros(int(there.sum()) + 1, np.int64)
    first[at[::-1]] = np.arange(len(at))[::-1]  # the last entry is for rows of no mass
    keys = [
        tuple(words[codes[i]] for codes, words in columns.values()) for i in first[:-1].tolist()
    ]
    return at, keys


def check_groups(by: Any, others: Mapping[str, Any]) -> None:
    """Refuse columns of groups that are named twice, or stand for something else."""
    listed = [by] if isinstance(by, str) else list(by)
    for name in listed:
        if listed.count(name) > 1:
            raise BadInput(f"column '{name}' is given twice as group; name each once")
        for role, used in others.items():
            if name == used or (isinstance(used, list | tuple) and name in used):
                raise BadInput(
                    f"column '{name}' is given as {role} and as group; name a different column for each"
                )
