"""Features of several kinds as one matrix of numbers, which trees and densities can use."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns.vectors import Vector
from scorewise.models.features import MISSING, UNSEEN, Layout

_NEW = 0.005  # of the rows: so many levels that were met once let expect new ones


@dataclass(frozen=True)
class Encoding:
    """Numbers as they are, then a column of 0 and 1 for each level of each nominal feature.

    A missing nominal value is a level of its own if there were any in learning. A level that was
    not met has `unseen` in all columns of its feature.

    >>> from scorewise.columns.vectors import vector
    >>> hue, age = vector(["red", "blue", "red"], "hue"), vector([3, 4, None], "age")
    >>> encoding = Encoding.learn([("hue", hue), ("age", age)])
    >>> encoding.names
    ['age', 'hue=blue', 'hue=red']
    >>> encoding.encode([("hue", vector(["green", "red"], "hue")), ("age", vector([5, 6], "age"))])
    array([[ 5., nan, nan],
           [ 6.,  0.,  1.]])
    """

    layout: Layout
    gaps: tuple[bool, ...]
    settled: tuple[bool, ...]
    unseen: float = np.nan

    @classmethod
    def learn(
        cls,
        columns: Sequence[tuple[str, Vector]],
        nominal: Sequence[Any] | None = None,
        used: Bools | None = None,
        *,
        unseen: float = np.nan,
    ) -> Self:
        """From the rows that are used: those are nominal that hold text, and those that are named."""
        layout = Layout.learn(columns, nominal, used)
        codes = layout.read(columns).codes
        codes = codes if used is None else codes[used]
        gaps = (codes == MISSING).any(axis=0)
        settled = tuple(_singles(column) <= _NEW * len(column) for column in codes.T)
        return cls(layout, tuple(gaps.tolist()), settled, unseen)

    def encode(self, columns: Sequence[tuple[str, Vector]]) -> Floats:
        """Other rows in the same way."""
        return self.read(columns)[0]

    def read(self, columns: Sequence[tuple[str, Vector]]) -> tuple[Floats, Bools]:
        """And which have a level that was not met, of a feature where new levels are not the rule."""
        rows = self.layout.read(columns)
        parts = [rows.numbers]
        for column, levels, gaps in zip(rows.codes.T, self._levels(), self.gaps, strict=True):
            code = np.where(column == MISSING, len(levels), column) if gaps else column
            part = (code[:, None] == np.arange(len(levels) + gaps)).astype(float)
            part[code < 0] = self.unseen
            parts.append(part)
        new = rows.codes[:, list(self.settled)] == UNSEEN
        return np.concatenate(parts, axis=1), np.asarray(new.any(axis=1))

    @property
    def names(self) -> list[str]:
        """The name of each column of the matrix."""
        pairs = list(zip(self.layout.names, self.layout.levels, strict=True))
        nominal = [(name, levels) for name, levels in pairs if levels is not None]
        names = [name for name, levels in pairs if levels is None]
        for (name, levels), gaps in zip(nominal, self.gaps, strict=True):
            names += [f"{name}={level}" for level in levels] + [f"{name} missing"] * gaps
        return names

    def _levels(self) -> list[tuple[Any, ...]]:
        return [levels for levels in self.layout.levels if levels is not None]


def _singles(codes: Ints) -> int:
    """How many levels were met once."""
    return int((np.bincount(codes[codes >= 0]) == 1).sum())
