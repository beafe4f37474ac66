"""Humans and judges as patterns of codes, the truth made of the humans, and tables of any two columns."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats
from scorewise.judging.reading import Codes, NoAnswer, Said
from scorewise.tallies import Confusion

SILENT = "no answer"


@dataclass(frozen=True, eq=False)
class Panel:
    """What was said, and what counts as agreement.

    Where no answer counts as wrong it is a category of its own, the last, that no human uses.
    """

    said: Said
    judges: dict[str, Codes]
    swapped: dict[str, Codes]
    categories: tuple[str, ...]
    agreement: Floats

    @classmethod
    def of(cls, said: Said, agreement: Floats, no_answer: NoAnswer) -> Panel:
        """The panel in which judges that say nothing are left out, or wrong."""
        if no_answer == "drop":
            return cls(said, said.judges, said.swapped, said.categories, agreement)
        many = len(said.categories)
        wide = np.zeros((many + 1, many + 1))
        wide[:many, :many], wide[many, many] = agreement, 1.0
        judges, swapped = (
            {
                name: np.where(codes < 0, many, codes).astype(np.int32)
                for name, codes in group.items()
            }
            for group in (said.judges, said.swapped)
        )
        return cls(said, judges, swapped, (*said.categories, SILENT), wide)

    @property
    def humans(self) -> dict[str, Codes]:
        """The codes of each human."""
        return self.said.humans

    @cached_property
    def _votes(self) -> tuple[Codes, NDArray[np.int64]]:
        """The codes of the humans side by side, and for each how many of them said the same."""
        codes = np.stack(list(self.humans.values()), axis=1)
        votes = np.stack([(codes == column[:, None]).sum(1) for column in codes.T], axis=1)
        return codes, np.where(codes < 0, 0, votes)

    @cached_property
    def votes(self) -> NDArray[np.int64]:
        """How many humans rated each."""
        return np.asarray((self._votes[0] >= 0).sum(1), np.int64)

    @cached_property
    def truth(self) -> Codes:
        """What most humans said; -1 where nobody did or two ratings have as many votes."""
        return _most(*self._votes)

    def others(self, human: str) -> Codes:
        """What most of the other humans said."""
        codes, votes = self._votes
        at = list(self.humans).index(human)
        fewer = votes - (codes == codes[:, [at]]) * (codes >= 0)
        rest = np.arange(codes.shape[1]) != at
        return _most(codes[:, rest], fewer[:, rest])

    @cached_property
    def labelled(self) -> Bools:
        """Patterns with at least one human rating."""
        found: Bools = self.votes > 0
        return found

    def items(self, where: Bools) -> int:
        """How many items are there."""
        return int(self.said.count[where].sum())

    def sums(self, where: Bools) -> tuple[float, float]:
        """Their weight, and the sum of its squares."""
        return float(self.said.weight[where].sum()), float(self.said.weight2[where].sum())

    def confusion(self, first: Codes, second: Codes) -> Confusion:
        """The table of two columns, over the items that have both."""
        both, many = (first >= 0) & (second >= 0), len(self.categories)
        cell = first[both].astype(np.int64) * many + second[both]
        tables: list[NDArray[Any]] = []
        for amount in (self.said.weight, self.said.weight2):
            sums = np.bincount(cell, amount[both], many * many).reshape(many, many)
            tables.append(sums.astype(np.int64) if amount.dtype.kind == "i" else sums)
        return Confusion(tables[0], tables[1], self.categories)


def _most(codes: Codes, votes: NDArray[np.int64]) -> Codes:
    """The code with most votes of each row; -1 where there is none or a tie."""
    best = votes.max(1, keepdims=True)
    first = codes[np.arange(len(codes)), votes.argmax(1)]
    tied = ((votes == best) & (codes != first[:, None])).any(1)
    return np.where(tied | (best[:, 0] == 0), -1, first).astype(np.int32)
