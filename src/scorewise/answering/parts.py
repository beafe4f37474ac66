"""Answers of one group or of all, judged by each confidence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.answering.judged import Judged, TauCurve, unknown
from scorewise.answering.measures import ALL
from scorewise.answering.sample import Sample
from scorewise.answering.settings import Settings
from scorewise.columns.answers import AnswerRows
from scorewise.errors import BadInput, plain
from scorewise.estimate import Estimate

Key = tuple[str, ...]


class Part(Mapping[str, Judged]):
    """Some answers, judged by each confidence that any of them has: `part["stated"].ece`.

    Where there is one confidence, `part.ece` and `part["ece"]` are its measures.
    """

    def __init__(
        self, rows: AnswerRows, settings: Settings, at: NDArray[np.intp] | None = None
    ) -> None:
        self.rows, self.settings = rows, settings
        made = {name: Judged(Sample.of(rows, name, at), settings) for name in rows.confidence}
        self._judged = {name: j for name, j in made.items() if j.answers or at is None}

    def __getitem__(self, name: str) -> Any:
        if name in self._judged:
            return self._judged[name]
        if name in ALL:
            return self._only(name)[name]
        raise KeyError(
            f"no confidence or measure is named {name}; confidences are {', '.join(self._judged)}"
        )

    def __iter__(self) -> Iterator[str]:
        return iter(self._judged)

    def __len__(self) -> int:
        return len(self._judged)

    def __getattr__(self, name: str) -> Estimate:
        if name.startswith("_") or name not in ALL:
            raise AttributeError(unknown(name))
        try:
            return self._only(name)[name]
        except BadInput as error:
            raise AttributeError(str(error)) from None

    def curve(self, measure: str, taus: Sequence[float] | None = None) -> TauCurve:
        """A measure over the threshold of quality; see `Judged.curve`."""
        return self._only(f"curve('{measure}')").curve(measure, taus)

    def _only(self, wanted: str) -> Judged:
        if len(self._judged) != 1:
            names = ", ".join(self._judged)
            first = next(iter(self._judged), "")
            raise BadInput(
                f"there are {len(self._judged)} confidences, {names}; choose one, as in "
                f"['{first}'].{wanted}"
            )
        return next(iter(self._judged.values()))

    def __repr__(self) -> str:
        said = [
            f"{plain(name)}: ECE {j['ece']} of {j.answers:,}" for name, j in self._judged.items()
        ]
        return f"<Part: {'; '.join(said)}>"


class Groups(Mapping[Key, Part]):
    """The answers of each group, by its words.

    `groups["gpt-4o"]` of one column, `groups["gpt-4o", "sciq"]` of two.
    """

    def __init__(self, rows: AnswerRows, settings: Settings) -> None:
        self._rows, self._settings = rows, settings
        self.columns = tuple(rows.groups)
        self._where = grouped(rows.groups)
        self._made: dict[Key, Part] = {}

    def __getitem__(self, key: str | Key) -> Part:
        words = (key,) if isinstance(key, str) else tuple(key)
        if words not in self._where:
            known = [" / ".join(k) for k in list(self._where)[:3]]
            raise KeyError(f"no group is {' / '.join(words)}; there are {', '.join(known)}, ...")
        if words not in self._made:
            self._made[words] = Part(self._rows, self._settings, self._where[words])
        return self._made[words]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._where)

    def __len__(self) -> int:
        return len(self._where)

    def __repr__(self) -> str:
        return f"<{len(self):,} groups by {plain(', '.join(self.columns)) or 'nothing'}>"


def grouped(columns: Mapping[str, NDArray[Any]]) -> dict[Key, NDArray[np.intp]]:
    """Which rows belong to each combination of words that occurs, in the order of the words.

    >>> grouped({"a": np.array(["y", "x", "y"], object)})
    {('x',): array([1]), ('y',): array([0, 2])}
    """
    if not columns:
        return {}
    cell = np.zeros(len(next(iter(columns.values()))), np.intp)
    for column in columns.values():
        words, code = np.unique(column, return_inverse=True)
        cell = np.unique(cell * len(words) + code, return_inverse=True)[1]
    order = np.argsort(cell, kind="stable")
    parts = np.split(order, np.flatnonzero(np.diff(cell[order])) + 1)
    return {tuple(str(c[part[0]]) for c in columns.values()): part for part in parts}
