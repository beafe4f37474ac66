"""Calibration errors of very many bins: noise drawn a block of cells at a time.

An error adds up, or is the largest of, what single cells hold, and cells are independent given the
scores. So each block needs few replicates, which are put together anew for each replicate of the whole:
memory does not grow with the number of cells.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.intervals.inversion import Direction, Noise, Statistic
from scorewise.tallies.chances import Chances

CELLS = 1 << 10  # up to which all can be drawn at once
DRAWN = 1 << 20  # beyond which draws would take minutes
_BLOCK = 1 << 12  # cells in a block, at the most
_BLOCKS = 16  # at the least
_DRAWS = 1 << 22  # labels drawn at a step, about

Part = Callable[[slice], Statistic]  # of the gaps of some cells: what they add to an error


class ManyCells:
    """What each block adds to an error: seen, drawn, and without chance; see `Gaps`.

    `term` makes it of the gaps of a block, `size` of gaps that are free of noise.
    """

    def __init__(self, c: Chances, term: Part, size: Part, replicates: int, seed: int) -> None:
        self._cells, self._term, self._size, self._seed = c, term, size, seed
        self._way = Direction.of(c)
        self.few = self._way.few
        step = max(1, min(_BLOCK, len(c) // _BLOCKS))
        self._blocks = [slice(i, i + step) for i in range(0, len(c), step)]
        self._draws = int(np.clip(_DRAWS // len(c), 16, 256))
        shape = replicates, len(self._blocks)
        self._which = np.random.default_rng(seed).integers(self._draws, size=shape)
        self.gap = self._each(lambda block: term(block)((c.gap[block] / c.total)[None]))[0]
        self.null = self.at(0.0)

    def moved(self, step: float) -> Floats:
        """What each block adds without chance."""
        free = self._each(lambda at: self._size(at)(self._noise(at, 0).moved(step)[None]))
        added: Floats = free[0]
        return added

    def at(self, step: float) -> Floats:
        """Replicates of what each block adds."""
        drawn = self._each(lambda at: self._term(at)(self._noise(at, self._draws).at(step)))
        return np.take_along_axis(drawn, self._which, axis=0)

    def _noise(self, block: slice, draws: int) -> Noise:
        seed = self._seed, block.start
        return Noise(self._cells.part(block), draws, seed, whole=self._way.part(block))

    def _each(self, made: Callable[[slice], Any]) -> Floats:
        return np.stack([made(block) for block in self._blocks], axis=-1)
