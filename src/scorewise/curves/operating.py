"""A few hundred operating points of a tally, with exact counts, and what decisions at thresholds are worth.

Points that stand for a long curve are chosen by how far the rest of it lies from the lines between them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from typing import Any, TypeAlias

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.checks import is_number
from scorewise.columns import take
from scorewise.curves.thresholds import Curve, lowest, roc, sums, thresholds
from scorewise.errors import BadInput, Option, short
from scorewise.inference.scales import student, z
from scorewise.tallies import Tally
from scorewise.tallies.confusion import on_their_scale
from scorewise.tallies.losses import logit, unit
from scorewise.tallies.sorting import Numbers, first_of_runs

MOST = 400
DIGITS = 6
_CANDIDATES, _FIRST, _STEPS, _RATIO = 1 << 13, 1000, 2000, 1.001
_EVEN = 48  # points at equal steps of sensitivity, of false positive rate and of score
Line: TypeAlias = tuple[Floats, Floats]
_AT_ONCE = 24  # points that are added before distances are measured again
EXACT = 1e-9


@dataclass(frozen=True, eq=False)
class OperatingPoints:
    """Weights of positives and negatives called positive, from nobody to everybody.

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
    t: Tally, threshold: float | None = None, *, most: int = MOST
) -> OperatingPoints:
    """The points to keep of all cuts of a tally: those at which its curves bend, and some evenly spread.

    The cut at `threshold` is among them.

    >>> points = operating_points(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]), 0.5)
    >>> points.threshold, points.tp.tolist(), points.fp.tolist(), points.error
    ([None, 0.5, 0.3, 0.1], [0, 1, 2, 2], [0, 0, 1, 2], 0.0)
    """
    tp, fp = sums(t.pos[::-1]), sums(t.neg[::-1])
    low = lowest(t)
    cut = None if threshold is None else len(low) - _reached(t, low, threshold)
    near = _candidates(tp, fp, cut)
    lines = _lines(tp[near], fp[near], tp[-1], fp[-1])
    kept = np.arange(len(near))
    if len(near) > most:
        falling = -unit(low[len(low) - near[1:]], t.kind)
        steps = min(_EVEN, most // 8)
        even = spread(tp[near], steps), spread(fp[near], steps), spread(falling, steps) + 1
        asked = np.searchsorted(near, [] if cut is None else [cut])
        kept = thinned(lines, most, np.concatenate((*even, asked)))
        # where fewer are enough to draw with, others make the steps between thresholds small
        others = np.setdiff1d(np.arange(len(near)), kept)
        kept = np.union1d(kept, others[spread(np.arange(len(others)), most - len(kept))])
    cells = near[kept]
    error = _error(lines, kept, near, (tp, fp))
    return OperatingPoints(
        cells, _thresholds(t, low, cells, cut, threshold), tp[cells], fp[cells], error
    )


def _reached(t: Tally, low: Any, threshold: float) -> int:
    """The first cell that is at or above the threshold."""
    return int(np.searchsorted(low, on_their_scale(t, threshold)))


def _candidates(tp: Numbers, fp: Numbers, cut: int | None) -> Ints:
    """Cuts so close that what lies between them hardly shows; all where they are not very many.

    Among the highest scores each cut counts, because precision changes with every row there.
    """
    last = len(tp) - 1
    if last < _CANDIDATES:
        return np.arange(last + 1)
    called = tp + fp
    steps = np.exp(np.arange(np.log(called[-1] / called[_FIRST]) / np.log(_RATIO)) * np.log(_RATIO))
    found = (
        np.arange(_FIRST),
        np.searchsorted(called, called[_FIRST] * steps),
        spread(tp, _STEPS), spread(fp, _STEPS), [last], [] if cut is None else [cut],
    )  # fmt: skip
    return np.unique(np.concatenate(found).astype(np.int64))


def _lines(tp: Numbers, fp: Numbers, positives: Any, negatives: Any) -> list[Line]:
    """ROC and precision-recall curve at some points; a class without rows has rates of 0."""
    rates = [x / (float(total) or 1.0) for x, total in ((tp, positives), (fp, negatives))]
    return [(rates[1], rates[0]), (rates[0], _precision(tp, fp))]


def _precision(tp: Any, fp: Any) -> Floats:
    called = (tp + fp).astype(np.float64)
    return np.asarray(np.divide(tp, called, out=np.ones(len(called)), where=called > 0))


def _error(lines: list[Line], kept: Ints, near: Ints, counts: tuple[Numbers, Numbers]) -> float:
    """The largest deviation at candidates, and at the corners of boxes that hold all between them."""
    error = float(deviations(lines, kept).max())
    error = error if error > EXACT else 0.0
    open_ = np.flatnonzero(np.diff(near) > 1)
    if not len(open_):
        return error
    (tp, fp), scale = counts, [float(x[-1]) or 1.0 for x in counts]
    first, last = near[open_], near[open_ + 1]
    for a, b in ((tp[last], fp[first]), (tp[first], fp[last])):
        for recall in (tp[first], tp[last]):
            points = [(b / scale[1], a / scale[0]), (recall / scale[0], _precision(a, b))]
            error = max(error, float(off_segments(lines, kept, open_, points).max()))
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
                _as_said(t, low[-k]),
                _as_said(t, low[-k - 1]) if k < len(low) else -np.inf,
            )
            made.append(_short(above, upto))
    return made


def _as_said(t: Tally, score: Any) -> float:
    """A score as users see it: of logits the probability, of 32 bits no more digits than it has."""
    return float(unit(np.array([score]), t.kind)[0]) if t.kind == "logit" else float(str(score))


def _short(above: float, upto: float) -> float:
    """The number in (above, upto] that few digits are enough for.

    >>> _short(0.1, 0.123456789), _short(0.12345678, 0.123456789)
    (0.123456, 0.123456789)
    """
    exact = Decimal(repr(upto))
    for digits in range(DIGITS, 17):
        found = float(Context(prec=digits, rounding=ROUND_FLOOR).plus(exact))
        if above < found <= upto:
            return found
    return upto


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


# What decisions are worth: net benefit, expected cost, and what the highest scores bring (gain, lift).


GRID = np.arange(1, 100) / 100


@dataclass(frozen=True, eq=False)
class DecisionCurve:
    """Net benefit at each threshold probability with its limits, beside alerting on everybody.

    Alerting on nobody has a net benefit of 0. Of a difference of two models, `treat_all` is NaN.
    """

    threshold: Floats
    net_benefit: Floats
    low: Floats
    high: Floats
    treat_all: Floats
    level: float


def decision_curve(t: Tally, at: Any = None, *, level: float = 0.95) -> DecisionCurve:
    """The net benefit of alerting from each threshold probability on (Vickers and Elkin 2006).

    (tp - fp * pt / (1 - pt)) / n: true alerts a row, less false ones, of which (1 - pt) / pt are worth one
    true alert to somebody who would alert from the probability pt on. `at` are such probabilities, 0.01 to
    0.99 unless given. The interval is normal, as net benefit is a mean over rows.

    >>> curve = decision_curve(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]), [0.2, 0.5])
    >>> curve.net_benefit, curve.treat_all
    (array([0.4375, 0.25  ]), array([0.375, 0.   ]))
    """
    if why := t.why_not_ranked:
        raise BadInput(f"no decision curve: {why}")
    if t.kind == "score":
        raise BadInput(
            f"no decision curve: scores go {t.written_ends}, but thresholds are probabilities; calibrate "
            f"them, or pass ", Option("kind", "logit"), " for log-odds",
        )  # fmt: skip
    pt = _probabilities(at)
    cuts = logit(pt) if t.kind == "logit" else pt
    place = np.searchsorted(lowest(t), cuts.astype(t.precision).astype(t.score.dtype))
    tp, fp = tp2, fp2 = _from(t.pos, place), _from(t.neg, place)
    if t.weighted:
        tp2, fp2 = _from(t.pos2, place), _from(t.neg2, place)
    n, squares, odds = float(t.negatives + t.positives), float(sum(t.squares)), pt / (1 - pt)
    benefit = (tp - odds * fp) / n
    rest = squares - tp2 - fp2
    spread = tp2 * (1 - benefit) ** 2 + fp2 * (odds + benefit) ** 2 + rest * benefit**2
    half = z(level) * np.sqrt(spread) / n
    share = float(t.positives) / n
    everybody = share - (1 - share) * odds
    return DecisionCurve(pt, benefit, benefit - half, benefit + half, everybody, level)


def _from(w: Any, place: Any) -> Floats:
    """The sums of weights from each place on."""
    return np.asarray(np.append(w[::-1].cumsum()[::-1], 0)[place], np.float64)


def net_benefit_difference(
    y: Any,
    first: Any,
    second: Any,
    at: Any = None,
    *,
    positive: Any = None,
    weight: Any = None,
    cluster: Any = None,
    level: float = 0.95,
) -> DecisionCurve:
    """The net benefit of one model less that of another on the same rows, with paired limits.

    Probabilities of both; with `cluster`, rows of a cluster count together, and limits are Student's.

    >>> y, a, b = [1, 0, 1, 0], [0.8, 0.3, 0.6, 0.1], [0.8, 0.6, 0.3, 0.1]
    >>> net_benefit_difference(y, a, b, [0.5]).net_benefit
    array([0.5])
    """
    given: dict[str, Any] = {"positive": positive, "weight": weight, "cluster": cluster}
    rows = take(y, {"first": first, "second": second}, kind="probability", **given)
    pt = _probabilities(at)
    mass = rows.mass()
    total = float(mass.sum())
    value, half = np.empty(len(pt)), np.empty(len(pt))
    for k, p in enumerate(pt):
        worth = np.where(rows.y, 1.0, -p / (1 - p))
        a, b = (s >= s.dtype.type(p) for s in rows.scores.values())
        row = worth * (a * 1.0 - b)
        value[k] = float((mass * row).sum()) / total
        parts, reach = mass * (row - value[k]), z(level)
        if rows.cluster is not None:
            parts = np.bincount(rows.cluster, parts)
            many = len(parts)
            parts, reach = parts * np.sqrt(many / (many - 1)), student(level, many - 1)
        half[k] = reach * np.sqrt(float((parts**2).sum())) / total
    none = np.full(len(pt), np.nan)
    return DecisionCurve(pt, value, value - half, value + half, none, level)


def _probabilities(at: Any) -> Floats:
    """Threshold probabilities, checked."""
    if at is None:
        return GRID
    found = np.atleast_1d(np.asarray(at))
    if found.dtype.kind not in "fiu" or not ((found > 0) & (found < 1)).all():
        wrong = next((x for x in found.ravel().tolist() if not is_number(x) or not 0 < x < 1), at)
        raise BadInput(f"threshold probabilities lie between 0 and 1, but {short(wrong)} is given")
    return found.astype(np.float64).ravel()


def cost_curve(t: Tally, points: int = 101) -> Curve:
    """The least normalised cost (y) over the share of cost that positives make up (x).

    x is prevalence times the cost of a miss, over the same plus that of false alarms; y is
    fnr * x + fpr * (1 - x) at the cut where that is least, which is `threshold` (Drummond and Holte 2006).

    >>> curve = cost_curve(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]), 3)
    >>> curve.x, curve.y, curve.threshold
    (array([0. , 0.5, 1. ]), array([0.  , 0.25, 0.  ]), array([inf, 0.8, 0.3]))
    """
    if why := t.why_not_ranked:
        raise BadInput(f"no cost curve: {why}")
    x, hull = np.linspace(0, 1, points), roc(t).hull()
    cost = np.outer(x, 1 - hull.y) + np.outer(1 - x, hull.x)
    at = cost.argmin(1)
    return Curve(x, cost[np.arange(points), at], hull.threshold[at])


def gain(t: Tally) -> Curve:
    """The share of positives found (y) over the share of rows with an alert (x), the highest scores first.

    >>> curve = gain(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1]))
    >>> curve.x, curve.y
    (array([0.  , 0.25, 0.75, 1.  ]), array([0. , 0.5, 1. , 1. ]))
    """
    if not t.positives:
        raise BadInput("no gain: no positives")
    table = thresholds(t)
    n = float(t.negatives + t.positives)
    return Curve((table.tp + table.fp) / n, table.tp / float(t.positives), table.threshold)


def lift(t: Tally) -> Curve:
    """How many times the prevalence the precision is (y), over the share of rows with an alert (x).

    >>> lift(Tally.of([1, 0, 1, 0], [0.8, 0.3, 0.3, 0.1])).y.round(3)
    array([2.   , 1.333, 1.   ])
    """
    g = gain(t)
    return Curve(g.x[1:], g.y[1:] / g.x[1:], g.threshold[1:])
