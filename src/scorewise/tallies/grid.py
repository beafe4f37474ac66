"""Grids for coarse tallies: the same cells whatever the data, so that shards merge.

`probability`: 55,440 equal cells, whose edges contain i/B for B = 10, 12, 15, 16, 20 and more, refined
geometrically (128 cells an octave) towards 0 and towards 1, where rare events live; 0 and 1 have cells
of their own. `relative`: the leading bits of the float, 1,024 cells an octave, for any real score.
"""

from __future__ import annotations

from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from scorewise.errors import BadInput
from scorewise.tallies.losses import CLIP

Grid = Literal["probability", "relative"]
EQUAL_CELLS = 55_440
_DROPPED_BITS = 42  # of the 52 bits of a float64's fraction; 10 stay


@cache
def probability_edges() -> NDArray[np.float64]:
    """The lower edges of the cells on [0, 1]; the last cell holds 1 alone.

    >>> edges = probability_edges()
    >>> 60_000 < len(edges) < 70_000, bool(np.isin(np.arange(16) / 15, edges).all())
    (True, True)
    """
    equal = np.arange(EQUAL_CELLS + 1) / EQUAL_CELLS
    finer = 2.0 ** (-np.arange(8 * 128, 60 * 128 + 1) / 128)
    # 1 - 2^-53 is the last float below 1
    towards_one = 1.0 - finer[finer >= 2.0**-53]
    zero = [0.0, np.nextafter(0.0, 1.0)]
    edges = np.unique(np.concatenate((zero, equal, finer, towards_one, [CLIP, 1.0 - CLIP])))
    edges.flags.writeable = False
    return edges


def cell_of(score: NDArray[np.floating], grid: Grid) -> NDArray[np.int64]:
    """The number of the cell in which each score lies; non-decreasing in the score.

    >>> cell_of(np.array([-1.0, 0.0, 1.0, 1.0001, 1.001]), "relative") - (1023 << 10)
    array([-2095105, -1047552,        0,        0,        1])
    """
    if grid == "probability":
        if len(score) and (score.min() < 0 or score.max() > 1):
            raise BadInput("scores lie outside [0, 1]; coarsen with grid='relative'")
        edges = probability_edges()
        return np.searchsorted(edges, score.astype(np.float64), side="right") - 1
    if grid == "relative":
        # + 0.0 folds -0.0 into 0.0
        s = score.astype(np.float64) + 0.0
        size = (np.abs(s).view(np.int64)) >> _DROPPED_BITS
        return np.where(s < 0, -size - 1, size)
    raise BadInput(f"unknown grid {grid!r}; known are 'probability' and 'relative'")
