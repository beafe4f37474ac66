"""A few hundred operating points of a tally, with exact counts.

Points that stand for a long curve are chosen by how far the rest of it lies from the lines between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any, TypeAlias

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.curves.thresholds import cumulative, lowest_scores
from scorewise.tallies import Tally
from scorewise.tallies.confusion import threshold_on_scale
from scorewise.tallies.losses import unit
from scorewise.tallies.runs import first_of_runs
from scorewise.tallies.sorting import Numbers

MAX_POINTS = 400
DIGITS = 6
_ALL_CUTS = 1 << 13  # below so many, each cut is a candidate
_HIGHEST = 1000  # cuts at the highest scores, each a candidate
_RATIO = 1.001  # of the weights above neighbouring candidates further down
_STEPS = 2000  # candidates at equal steps of sensitivity and of false positive rate
_EVEN = 48  # points at equal steps of sensitivity, of false positive rate and of score
Line: TypeAlias = tuple[Floats, Floats]
_BATCH = 24  # points that are added before distances are measured again
EXACT = 1e-9  # farther than this from a line is off it


@dataclass(frozen=True, eq=False)
class OperatingPoints:
    """Weights of positives and negatives called positive at some cuts, from nobody to everybody.

    `cells` is how many cells of the tally, from the highest score down, are called positive at each
    point. The thresholds, from the first cell on, decide as the lowest score of the last cell called would,
    and have no more digits than that takes. `error` is a limit to how far the whole ROC or precision-recall
    curve, on axes from 0 to 1, is from straight lines between the points.
    """

    cells: Ints
    threshold: list[float | None]
    tp: Numbers
    fp: Numbers
    error: float


def operating_points(
    t: Tally, threshold: float | None = None, *, most: int = MAX_POINTS
) -> OperatingPoints:
    """A few hundred cuts of a tally: those at which its curves bend, and some evenly spread.

    The cut at `threshold` is among them.

    >>> points = operating_points(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]), 0.5)
    >>> points.threshold, points.tp.tolist(), points.fp.tolist(), points.error
    ([None, 0.5, 0.3, 0.1], [0, 1, 2, 2], [0, 0, 1, 2], 0.0)
    """
    tp, fp = cumulative(t.pos[::-1]), cumulative(t.neg[::-1])
    low = lowest_scores(t)
    cut = None
    if threshold is not None:
        cut = len(low) - int(np.searchsorted(low, threshold_on_scale(t, threshold)))
    cuts = _candidates(tp, fp, cut)
    lines = _lines(tp[cuts], fp[cuts], tp[-1], fp[-1])
    chosen = np.arange(len(cuts))
    if len(cuts) > most:
        falling = -unit(low[len(low) - cuts[1:]], t.kind)
        steps = min(_EVEN, most // 8)
        even = [evenly_spaced(x, steps) for x in (tp[cuts], fp[cuts], falling)]
        even[2] += 1  # falling has no score above all
        own = np.searchsorted(cuts, [] if cut is None else [cut])
        chosen = simplified(lines, most, np.concatenate((*even, own)))
        # where fewer are enough to draw with, others make the steps between thresholds small
        rest = np.setdiff1d(np.arange(len(cuts)), chosen)
        chosen = np.union1d(chosen, rest[evenly_spaced(np.arange(len(rest)), most - len(chosen))])
    cells = cuts[chosen]
    error = _error(lines, chosen, cuts, (tp, fp))
    return OperatingPoints(
        cells, _thresholds(t, low, cells, cut, threshold), tp[cells], fp[cells], error
    )


def _candidates(tp: Numbers, fp: Numbers, cut: int | None) -> Ints:
    """Cuts so close that what lies between them hardly shows; all where they are not very many.

    Among the highest scores each cut counts, because precision changes with every row there.
    """
    last = len(tp) - 1
    if last < _ALL_CUTS:
        return np.arange(last + 1)
    called = tp + fp
    steps = np.exp(
        np.arange(np.log(called[-1] / called[_HIGHEST]) / np.log(_RATIO)) * np.log(_RATIO)
    )
    found = (
        np.arange(_HIGHEST),
        np.searchsorted(called, called[_HIGHEST] * steps),
        evenly_spaced(tp, _STEPS), evenly_spaced(fp, _STEPS), [last], [] if cut is None else [cut],
    )  # fmt: skip
    return np.unique(np.concatenate(found).astype(np.int64))


def _lines(tp: Numbers, fp: Numbers, positives: Any, negatives: Any) -> list[Line]:
    """ROC and precision-recall curve at some points; a class without rows has rates of 0."""
    rates = [x / (float(total) or 1.0) for x, total in ((tp, positives), (fp, negatives))]
    return [(rates[1], rates[0]), (rates[0], _precision(tp, fp))]


def _precision(tp: Any, fp: Any) -> Floats:
    called = (tp + fp).astype(np.float64)
    return np.asarray(np.divide(tp, called, out=np.ones(len(called)), where=called > 0))


def _error(lines: list[Line], chosen: Ints, cuts: Ints, counts: tuple[Numbers, Numbers]) -> float:
    """The largest distance of candidates, and of the corners of boxes that hold all between them."""
    error = float(distances_to_lines(lines, chosen).max())
    error = error if error > EXACT else 0.0
    open_ = np.flatnonzero(np.diff(cuts) > 1)
    if not len(open_):
        return error
    (tp, fp), scale = counts, [float(x[-1]) or 1.0 for x in counts]
    first, last = cuts[open_], cuts[open_ + 1]
    for a, b in ((tp[last], fp[first]), (tp[first], fp[last])):
        for recall in (tp[first], tp[last]):
            points = [(b / scale[1], a / scale[0]), (recall / scale[0], _precision(a, b))]
            error = max(error, float(distances_to_segments(lines, chosen, open_, points).max()))
    return error


def _thresholds(
    t: Tally, low: Any, cells: Ints, cut: int | None, threshold: float | None
) -> list[float | None]:
    """A short number above the next lower score and not above that of the last cell called."""
    made: list[float | None] = []
    for k in cells.tolist():
        if not k:
            made.append(None)
        elif k == cut:
            made.append(threshold)
        else:
            upto, above = (
                _as_shown(t, low[-k]),
                _as_shown(t, low[-k - 1]) if k < len(low) else -np.inf,
            )
            made.append(short_cut(above, upto, DIGITS))
    return made


def _as_shown(t: Tally, score: Any) -> float:
    """A score as users see it: of logits the probability, of 32 bits no more digits than it has."""
    return float(unit(np.array([score]), t.kind)[0]) if t.kind == "logit" else float(str(score))


def short_cut(above: float, upto: float, least: int = 3) -> float:
    """The cut with the fewest digits above one score and up to the next, where all cuts decide alike.

    It has `least` digits at least.

    >>> short_cut(0.025243, 0.025312), short_cut(0.1234567, 0.1234568), short_cut(-np.inf, 0.1234567)
    (0.0253, 0.1234568, 0.123)
    """
    exact = Decimal(repr(upto))
    for digits in range(least, 17):
        found = float(Context(prec=digits, rounding=ROUND_FLOOR).plus(exact))
        if above < found <= upto:
            return found
    return upto


def simplified(lines: Sequence[Line], most: int, keep: Any = ()) -> Ints:
    """The places at which lines over the same places bend, at most so many; ends and `keep` among them.

    The place that lies farthest from the drawn lines comes next, some at a time (Ramer 1972).

    >>> x = np.linspace(0, 1, 101)
    >>> simplified([(x, np.abs(x - 0.3))], 10)
    array([  0,  30, 100])
    """
    size = len(lines[0][0])
    chosen = np.unique(np.concatenate(([0, size - 1], np.asarray(keep, np.int64))))
    while len(chosen) < most:
        distance = distances_to_lines(lines, chosen)
        starts = chosen[:-1]
        peaks = np.maximum.reduceat(distance, starts) if len(starts) else np.empty(0)
        rough = np.flatnonzero(peaks > EXACT)
        if not len(rough):
            break
        rough = rough[np.argsort(-peaks[rough], kind="stable")[: min(_BATCH, most - len(chosen))]]
        farthest = [starts[i] + int(distance[starts[i] : chosen[i + 1]].argmax()) for i in rough]
        chosen = np.union1d(chosen, farthest)
    return chosen


def distances_to_lines(lines: Sequence[Line], chosen: Ints) -> Floats:
    """How far each place is from the lines drawn between the chosen ones, at most."""
    return distances_to_segments(lines, chosen, np.arange(len(lines[0][0])), lines)


def distances_to_segments(
    lines: Sequence[Line], chosen: Ints, at: Ints, points: Sequence[Line]
) -> Floats:
    """The same for any points, one at a time for each line, beside the segments of the places `at`."""
    square = np.zeros(len(at))
    if len(chosen) < 2:
        return square
    segment = np.minimum(np.searchsorted(chosen, at, side="right") - 1, len(chosen) - 2)
    for (x, y), (px, py) in zip(lines, points, strict=True):
        ax, ay = x[chosen[:-1]], y[chosen[:-1]]
        dx, dy = np.diff(x[chosen]), np.diff(y[chosen])
        length = dx * dx + dy * dy
        length[length == 0] = 1.0
        rx, ry, dx, dy = px - ax[segment], py - ay[segment], dx[segment], dy[segment]
        along = np.clip((rx * dx + ry * dy) / length[segment], 0.0, 1.0)
        rx -= along * dx
        ry -= along * dy
        np.maximum(square, rx * rx + ry * ry, out=square)
    return np.sqrt(square)


def evenly_spaced(values: Any, steps: int) -> Ints:
    """The places at which values that never fall first reach each of some equal steps.

    >>> evenly_spaced(np.array([0, 1, 1, 5, 6, 10]), 4)
    array([0, 3, 5])
    """
    if not len(values) or steps < 1:
        return np.empty(0, np.int64)
    wanted = np.linspace(float(values[0]), float(values[-1]), steps)
    at = np.minimum(np.searchsorted(values, wanted), len(values) - 1)
    return at[first_of_runs(at)]
