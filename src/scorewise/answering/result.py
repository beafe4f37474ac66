"""Answers judged: all of them, and group by group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.answering.document import document
from scorewise.answering.judged import Judged, TauCurve, unknown
from scorewise.answering.measures import ALL, SHOWN
from scorewise.answering.sample import Sample
from scorewise.answering.settings import Settings
from scorewise.door.answers import AnswerRows
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.views.documents import estimate_of
from scorewise.views.shown import Shown
from scorewise.views.words import Document

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
        said = [f"{name}: ECE {j['ece']} of {j.answers:,}" for name, j in self._judged.items()]
        return f"<Part: {'; '.join(said)}>"


class Groups(Mapping[Key, Part]):
    """The answers of each group, by its words: `groups["gpt-4o"]`, or of two columns `groups["gpt-4o", "sciq"]`."""

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
        return f"<{len(self):,} groups by {', '.join(self.columns) or 'nothing'}>"


def grouped(columns: Mapping[str, NDArray[Any]]) -> dict[Key, NDArray[np.intp]]:
    """Which rows belong to each combination of words that occurs, in the order of the words.

    >>> grouped({"a": np.array(["y", "x", "y"], object)})
    {('x',): array([1]), ('y',): array([0, 2])}
    """
    if not columns:
        return {}
    words, codes = zip(*(np.unique(c, return_inverse=True) for c in columns.values()), strict=True)
    shape = tuple(len(w) for w in words)
    cell = np.ravel_multi_index(codes, shape) if len(codes[0]) else np.empty(0, np.intp)
    order = np.argsort(cell, kind="stable")
    found, start = np.unique(cell[order], return_index=True)
    keys = zip(*(w[i] for w, i in zip(words, np.unravel_index(found, shape), strict=True)))
    parts = np.split(order, start[1:])
    return {tuple(map(str, key)): part for key, part in zip(keys, parts, strict=False)}


class Answers(Part, Shown):
    """Answers judged: each measure of their confidence, over groups and over thresholds of quality.

    `a.ece` with one confidence, `a["stated"].ece` with several; `a.groups["gpt-4o"]["stated"].ece`;
    `a.curve("ece")` over tau, and `a.at(0.8)` the same answers with another tau. Prints as a table.
    """

    def __init__(
        self,
        rows: AnswerRows,
        settings: Settings,
        sources: tuple[str, ...] = (),
        notes: Sequence[str] = (),
    ) -> None:
        if not len(rows):
            where = f"{', '.join(sources)}: " if sources else ""
            raise BadInput(f"{where}no answers are left to judge; {rows.dropped} were dropped")
        super().__init__(rows, settings)
        self.sources, self.notes = sources, list(notes)

    @cached_property
    def groups(self) -> Groups:
        """The answers of each group."""
        return Groups(self.rows, self.settings)

    def at(self, tau: float) -> Answers:
        """The same answers with another threshold of quality."""
        from dataclasses import replace

        return Answers(self.rows, replace(self.settings, tau=tau), self.sources, self.notes)

    @cached_property
    def _document(self) -> Document:
        return document(self)

    def to_dict(self) -> Document:
        """The document that every view renders; `scorewise schema answers` has its schema."""
        from copy import deepcopy

        return deepcopy(self._document)

    def to_frame(self) -> Any:
        """One row for each group, confidence and measure, as a polars frame; all answers come first."""
        import polars as pl

        columns = list(self.rows.groups)
        parts: list[tuple[tuple[str | None, ...], Part]] = [((None,) * len(columns), self)]
        parts += list(self.groups.items())
        lines = [
            {
                **dict(zip(columns, key, strict=True)),
                "confidence": name,
                "answers": judged.answers,
                "measure": measure,
                **estimate_of(judged[measure]),
            }
            for key, part in parts
            for name, judged in part.items()
            for measure in SHOWN
        ]
        return pl.DataFrame(lines, infer_schema_length=None)

    __repr__ = Shown.__repr__
