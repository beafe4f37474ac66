"""The curves of a model, thin enough to draw and to carry along whatever the number of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from scorewise.curves import decision_curve
from scorewise.curves import reliability as reliability_curve
from scorewise.curves.operating import DIGITS, OperatingPoints, operating_points, simplified
from scorewise.curves.thresholds import cumulative
from scorewise.evaluation.result import Evaluation
from scorewise.inference.scales import normal_quantile
from scorewise.inference.shares import wilson_limits
from scorewise.show.data import DensityRecord, short, where_defined
from scorewise.show.records import Number, Record, Share, Weight, field
from scorewise.statistics.probabilities import probability_cells
from scorewise.statistics.smroc import cell_climbs, midpoint, why_not_unit
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.runs import add_runs

BINS = 40  # of the histogram
MAX_STAIRS, MAX_CELLS = 200, 4096  # of a staircase, and of those among which they are chosen


class ReliabilityRecord(Record):
    """The share of positives over the probability: isotonic regression (CORP), and a histogram."""

    x: list[Share] = field("Probabilities, rising.")
    y: list[Share] = field("Share of positives there, by isotonic regression.")
    low: list[Share] = field("Lower end of where the curves of calibrated scores lie, pointwise.")
    high: list[Share] = field("Upper end of where they lie.")
    edges: list[Share] = field("Edges of the bins of the histogram.")
    positives: list[Weight] = field("Weight of the positives in each bin.")
    negatives: list[Weight] = field("Weight of the negatives in each bin.")
    mean_x: list[Number] = field("Mean probability of each bin; null where it is empty.")


class BenefitRecord(Record):
    """The decision curve: net benefit of alerting from each threshold probability on."""

    threshold: list[Share] = field("Threshold probabilities.")
    value: list[float] = field("Net benefit, in true positives a row.")
    low: list[float]
    high: list[float]
    treat_all: list[float] = field("Net benefit of alerting on everybody.")


class CurvesRecord(Record):
    """The curves of one model, or of one of several classes against the rest, at a few hundred points.

    Counts at the points are exact. From the first point, at which nobody is called positive, thresholds
    fall; a row is called positive when its score is at or above the threshold.
    """

    model: str = field("Name of the model; of several classes, of the class.")
    threshold: list[Number] = field(
        "Thresholds, falling; null where nobody is called positive. That of the settings is kept."
    )
    tp: list[Weight]
    fp: list[Weight]
    smroc_x: list[Share] = field("smROC there: share of all runs; empty where undefined.")
    smroc_y: list[Share] = field("smROC there: share of all climbs.")
    tpr_low: list[Share] = field(
        "Lower end of the interval of sensitivity there (Wilson); empty where there is none."
    )
    tpr_high: list[Share] = field("Upper end of it.")
    error: float = field(
        "The whole ROC and precision-recall curves are no farther than this from straight lines "
        "between the points.",
        ge=0,
    )
    density: DensityRecord | None = field("Spread of the scores; null where a class has no rows.")
    reliability: ReliabilityRecord | None = field(
        "Calibration; null where scores are not probabilities."
    )
    benefit: BenefitRecord | None = field(
        "Decision curve; null where scores are not probabilities."
    )

    @classmethod
    def of(cls, name: str, e: Evaluation) -> CurvesRecord:
        """The curves of scores of two classes."""
        t, s = e.tally, e.settings
        points = operating_points(t, s.threshold)
        threshold, columns = points.threshold, _columns(t, points)
        if any(e.confusion.doubt):  # the threshold is within a cell of a coarse tally
            place, columns = _inserted(columns, e.confusion)
            threshold = [*threshold[:place], s.threshold, *threshold[place:]]
        low, high = ([], []) if e.clusters is not None else _sensitivities(t, columns, s.level)
        return cls(
            model=name,
            threshold=threshold,
            tp=_counts(columns["tp"], t),
            fp=_counts(columns["fp"], t),
            smroc_x=short(columns.get("smroc_x", ())),
            smroc_y=short(columns.get("smroc_y", ())),
            tpr_low=low,
            tpr_high=high,
            error=float(f"{points.error:.2g}"),
            density=DensityRecord.of(t),
            reliability=where_defined(lambda: _reliability(t, s.level, s.seed)),
            benefit=where_defined(lambda: _benefit(t, s.level)),
        )

    @classmethod
    def of_class(cls, name: str, t: Tally) -> CurvesRecord:
        """The ROC and precision-recall curves of one class against the rest."""
        points = operating_points(t)
        fields: dict[str, Any] = dict.fromkeys(("density", "reliability", "benefit"))
        fields |= {x: [] for x in ("smroc_x", "smroc_y", "tpr_low", "tpr_high")}
        fields |= {"tp": _counts(points.tp, t), "fp": _counts(points.fp, t)}
        error = float(f"{points.error:.2g}")
        return cls(model=name, threshold=points.threshold, error=error, **fields)


def _counts(weights: Any, t: Tally) -> list[float]:
    """Counts as they are, sums of weights without the noise of their last digits."""
    return short(weights, 12) if t.weighted or t.coarse is not None else weights.tolist()


def _columns(t: Tally, points: OperatingPoints) -> dict[str, Any]:
    """What is known at each point: weights and their squares, and the smROC curve where there is one."""
    columns: dict[str, Any] = {"tp": points.tp, "fp": points.fp}
    if t.weighted:
        columns |= {"tp2": _upto(t.pos2, points.cells), "fp2": _upto(t.neg2, points.cells)}
    if why_not_unit(t) or t.why_not_ranked:
        return columns
    smroc = [_upto(x, points.cells) for x in cell_climbs(t, midpoint(t).value)]
    if all(upto[-1] > 0 for upto in smroc):  # something climbs, and something runs
        y, x = (np.clip(upto / upto[-1], 0.0, 1.0) for upto in smroc)
        columns |= {"smroc_y": y, "smroc_x": x}
    return columns


def _upto(parts: Any, cells: Any) -> Any:
    """The sums over the first so many cells from the highest score down."""
    if len(cells) < 2:
        return np.zeros(len(cells), parts.dtype)
    return cumulative(add_runs(parts[::-1], cells[:-1]))


def _inserted(columns: dict[str, Any], c: Confusion) -> tuple[int, dict[str, Any]]:
    """The columns with the decisions at a threshold within a cell, and where they stand."""
    called = (columns["tp"] + columns["fp"]).astype(np.float64)
    place = int(np.searchsorted(called, c.tp + c.fp, side="right"))
    there = {name: np.interp(c.tp + c.fp, called, x) for name, x in columns.items()}
    there |= {"tp": c.tp, "fp": c.fp}
    return place, {
        name: np.insert(x.astype(np.float64), place, there[name]) for name, x in columns.items()
    }


def _sensitivities(
    t: Tally, columns: dict[str, Any], level: float
) -> tuple[list[float], list[float]]:
    """The interval of sensitivity at each point, as the measure has it (`measures.decisions.share`)."""
    if not t.positives:
        return [], []
    tp, total = columns["tp"].astype(np.float64), float(t.positives)
    fn = np.maximum(total - tp, 0.0)
    rows: Any = total * total / t.squares[1]
    if t.weighted:
        tp2 = columns["tp2"]
        noise = tp2 * (fn / total) ** 2 + np.maximum(tp2[-1] - tp2, 0.0) * (tp / total) ** 2
        own = np.divide(tp * fn, noise, out=np.full(len(tp), np.inf), where=noise > 0)
        rows = np.minimum(rows, np.where(tp * fn > 0, own, np.inf))
    low, high = wilson_limits(tp / total, fn / total, rows, normal_quantile(level))
    return short(low), short(high)


def _reliability(t: Tally, level: float, seed: int) -> ReliabilityRecord:
    curve = reliability_curve(t, level=level, seed=seed)
    # the stairs first and last at each height, and a few more for the band
    turns = np.flatnonzero(np.diff(curve.y))
    steps = np.linspace(0, len(curve.x) - 1, MAX_CELLS).astype(np.int64)
    at = np.union1d(np.union1d(turns, turns + 1), steps)
    if len(at) > MAX_STAIRS:
        lines = [(curve.x[at], y[at]) for y in (curve.y, curve.low, curve.high)]
        at = at[simplified(lines, MAX_STAIRS)]
    c, edges = probability_cells(t), np.linspace(0.0, 1.0, BINS + 1)
    place = np.clip(np.searchsorted(edges, curve.x, side="right") - 1, 0, BINS - 1)
    pos, total, sum_x = (np.bincount(place, w, BINS) for w in (c.pos, c.weight, c.weight * curve.x))
    means = np.divide(sum_x, total, out=np.full(BINS, np.nan), where=total > 0)
    return ReliabilityRecord(
        **{name: short(getattr(curve, name)[at]) for name in ("x", "y", "low", "high")},
        edges=short(edges),
        positives=short(pos, 12),
        negatives=short(np.maximum(total - pos, 0.0), 12),
        mean_x=[None if np.isnan(x) else x for x in short(means, DIGITS)],
    )


def _benefit(t: Tally, level: float) -> BenefitRecord:
    c = decision_curve(t, level=level)
    same = {name: short(getattr(c, name)) for name in ("threshold", "low", "high", "treat_all")}
    return BenefitRecord(value=short(c.net_benefit), **same)
