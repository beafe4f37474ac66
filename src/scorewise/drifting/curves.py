"""How far the curves have moved: AUROC, and smROC with its area, its balance and its rotation."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.curves.smroc import rotation
from scorewise.drifting.scores import midpoints
from scorewise.drifting.split import Classes, Split
from scorewise.tallies.smroc import HAIR
from scorewise.tallies.sorting import add_runs

PIECES = 1 << 16  # of a curve whose distance from another is measured
_GRID = np.linspace(0.0, 1.0, 257)  # where the curves of replicates are compared


class Steps(NamedTuple):
    """The climbs and the runs of an smROC curve as shares of their totals, from the highest score down."""

    climb: Floats
    run: Floats


def auroc_change(x: Split) -> Floats:
    """AUROC of the current sample minus that of the reference."""
    a, b = (auroc(side) for side in x.sides)
    return b - a


def auroc(w: Classes) -> Floats:
    """Chance that a positive outscores a negative, ties counting half."""
    return _area(w.pos[..., ::-1], w.neg[..., ::-1])


def _area(climb: Floats, run: Floats) -> Floats:
    """Area under the curve of these steps, by trapezoids, in the unit square."""
    above = climb.cumsum(-1) - climb / 2
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((run * above).sum(-1) / (climb.sum(-1) * run.sum(-1)))


def smroc(x: Split) -> tuple[Steps, Steps]:
    """The normalised smROC curve of each sample, each with its own midpoint."""
    if "smroc" not in x.known:
        x.known["smroc"] = tuple(
            _steps(x, w, m) for w, m in zip(x.sides, midpoints(x), strict=True)
        )
    first, second = x.known["smroc"]
    return first, second


def _steps(x: Split, w: Classes, midpoint: Floats) -> Steps:
    assert x.unit is not None
    high = x.unit >= midpoint[..., None] - HAIR
    climb = np.where(high, w.pos - w.neg, w.neg - w.pos)
    climb *= x.unit
    climb += np.where(high, w.neg, w.pos)
    run = np.maximum(w.all - climb, 0.0)  # rounding may leave less than nothing
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = (part[..., ::-1] / part.sum(-1, keepdims=True) for part in (climb, run))
        return Steps(*shares)


def smauc_change(x: Split) -> Floats:
    """Area under the smROC curve of the current sample minus that of the reference."""
    a, b = (_area(*steps) for steps in smroc(x))
    return b - a


def smroc_distance(x: Split) -> Floats:
    """Area between the normalised smROC curves of the two samples.

    Of one pair of samples it is exact up to 65,536 distinct scores, and beyond that for curves through as
    many of their points. Replicates are compared at 257 places along the axis.
    """
    first, second = smroc(x)
    if first.run.ndim > 1:
        at_grid = [_heights(steps) for steps in (first, second)]
        return np.asarray(np.abs(at_grid[0] - at_grid[1])[:, 1:-1].mean(-1))
    if not all(np.isfinite(part).all() for steps in (first, second) for part in steps):
        return np.asarray(np.nan)
    return np.asarray(_between(_corners(first), _corners(second)))


def _corners(steps: Steps) -> tuple[Floats, Floats]:
    """The points of a curve, (0, 0) first."""
    n = len(steps.run)
    if n > PIECES:
        start = np.unique(np.linspace(0, n, PIECES, endpoint=False).astype(np.int64))
        steps = Steps(*(add_runs(part, start) for part in steps))
    y, x = (np.concatenate(([0.0], part.cumsum())) for part in steps)
    return np.minimum(x, 1.0), np.minimum(y, 1.0)


def _heights(steps: Steps) -> Floats:
    x, y = (np.minimum(part.cumsum(-1), 1.0) for part in (steps.run, steps.climb))
    zero = np.zeros((len(x), 1))
    x, y = np.hstack((zero, x)), np.hstack((zero, y))
    return np.array([np.interp(_GRID, *pair) for pair in zip(x, y, strict=True)])


def _between(first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> float:
    """Area between two curves of straight lines that rise together from (0, 0) to (1, 1)."""
    at = np.unique(np.concatenate((first[0], second[0], [0.0, 1.0])))
    wide = np.diff(at)
    # straight between its corners, and two places inside tell a line from its ends, also at a jump
    near, far = (_gap(at[:-1] + part * wide, first, second) for part in (0.25, 0.75))
    left, right = 1.5 * near - 0.5 * far, 1.5 * far - 0.5 * near
    size = np.abs(left) + np.abs(right)
    with np.errstate(divide="ignore", invalid="ignore"):
        crossed = (left**2 + right**2) / size
    heights = np.where(left * right < 0, crossed, size) / 2
    return float((heights * wide).sum())


def _gap(at: Floats, first: tuple[Floats, Floats], second: tuple[Floats, Floats]) -> Any:
    return np.interp(at, *first) - np.interp(at, *second)


def rotation_change(x: Split) -> Floats:
    """Rotation of the current sample minus that of the reference, in degrees."""
    assert x.unit is not None
    found = []
    for w, rows, m in zip(x.sides, x.rows, midpoints(x), strict=True):
        high = (rows * (x.unit >= m[..., None] - HAIR)).sum(-1)
        found.append(rotation(high, rows.sum(-1) - high, w.pos.sum(-1), w.neg.sum(-1)))
    return np.asarray(found[1] - found[0])
