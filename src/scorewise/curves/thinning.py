"""A few points that stand for a long curve, and how far the rest of it lies from the lines between them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.tallies.sorting import first_of_runs

Line: TypeAlias = tuple[Floats, Floats]
_AT_ONCE = 24  # points that are added before distances are measured again
EXACT = 1e-9


def thinned(lines: Sequence[Line], most: int, keep: Any = ()) -> Ints:
    """At most so many places to keep of lines over the same places; ends and `keep` among them.

    The place that lies farthest from the drawn lines comes next, some at a time (Ramer 1972).

    >>> x = np.linspace(0, 1, 101)
    >>> thinned([(x, np.abs(x - 0.3))], 10)
    array([  0,  30, 100])
    """
    size = len(lines[0][0])
    kept = np.unique(np.concatenate(([0, size - 1], np.asarray(keep, np.int64))))
    while len(kept) < most:
        off = deviations(lines, kept)
        starts = kept[:-1]
        peaks = np.maximum.reduceat(off, starts) if len(starts) else np.empty(0)
        rough = np.flatnonzero(peaks > EXACT)
        if not len(rough):
            break
        room = min(_AT_ONCE, most - len(kept))
        rough = rough[np.argsort(-peaks[rough], kind="stable")[:room]]
        found = [starts[i] + int(off[starts[i] : kept[i + 1]].argmax()) for i in rough]
        kept = np.union1d(kept, found)
    return kept


def deviations(lines: Sequence[Line], kept: Ints) -> Floats:
    """How far each place is from what is drawn between the kept ones, on the line where it is farthest."""
    return off_segments(lines, kept, np.arange(len(lines[0][0])), lines)


def off_segments(lines: Sequence[Line], kept: Ints, at: Ints, points: Sequence[Line]) -> Floats:
    """The same for any points, one at a time for each line, beside the segments of the places `at`."""
    off = np.zeros(len(at))
    if len(kept) < 2:
        return off
    segment = np.minimum(np.searchsorted(kept, at, side="right") - 1, len(kept) - 2)
    for (x, y), (px, py) in zip(lines, points, strict=True):
        ax, ay = x[kept[:-1]], y[kept[:-1]]
        dx, dy = np.diff(x[kept]), np.diff(y[kept])
        square = dx * dx + dy * dy
        square[square == 0] = 1.0
        rx, ry, dx, dy = px - ax[segment], py - ay[segment], dx[segment], dy[segment]
        along = np.clip((rx * dx + ry * dy) / square[segment], 0.0, 1.0)
        rx -= along * dx
        ry -= along * dy
        np.maximum(off, rx * rx + ry * ry, out=off)
    return np.sqrt(off)


def spread(values: Any, many: int) -> Ints:
    """The places at which never falling values first reach so many equal steps.

    >>> spread(np.array([0, 1, 1, 5, 6, 10]), 4)
    array([0, 3, 5])
    """
    if not len(values) or many < 1:
        return np.empty(0, np.int64)
    steps = np.linspace(float(values[0]), float(values[-1]), many)
    at = np.minimum(np.searchsorted(values, steps), len(values) - 1)
    return at[first_of_runs(at)]
