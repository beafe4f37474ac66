"""The curves of a model, thin enough to draw and to carry along whatever the number of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from scorewise.curves import decision_curve
from scorewise.curves import reliability as reliability_curve
from scorewise.curves.operating import DIGITS, OperatingPoints, operating_points, thinned
from scorewise.curves.thresholds import sums
from scorewise.evaluation.models import Evaluation
from scorewise.inference.shares import wilson_band
from scorewise.show.data import DensityRecord, short, where_defined
from scorewise.show.fields import Number, Record, Share, Weight, means
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.probabilities import chances
from scorewise.tallies.smroc import cell_climbs, midpoint, why_not_unit
from scorewise.tallies.sorting import add_runs

BINS, STAIRS = 40, 200
_FINE = 4096  # cells among which those of a staircase are chosen


class ReliabilityRecord(Record):
    """The share of positives over the probability: isotonic regression (CORP), and a histogram."""

    x: list[Share] = means("Probabilities, rising.")
    y: list[Share] = means("Share of positives there, by isotonic regression.")
    low: list[Share] = means("Lower end of where the curves of calibrated scores lie, pointwise.")
    high: list[Share] = means("Upper end of where they lie.")
    edges: list[Share] = means("Edges of the bins of the histogram.")
    positives: list[Weight] = means("Weight of the positives in each bin.")
    negatives: list[Weight] = means("Weight of the negatives in each bin.")
    mean_x: list[Number] = means("Mean probability of each bin; null where it is empty.")


class BenefitRecord(Record):
    """The decision curve: net benefit of alerting from each threshold probability on."""

    threshold: list[Share] = means("Threshold probabilities.")
    value: list[float] = means("Net benefit, in true positives a row.")
    low: list[float]
    high: list[float]
    treat_all: list[float] = means("Net benefit of alerting on everybody.")


class CurvesRecord(Record):
    """The curves of one model, or of one of several classes against the rest, at a few hundred points.

    Counts at the points are exact. From the first point, at which nobody is called positive, thresholds
    fall; a row is called positive when its score is at or above the threshold.
    """

    model: str = means("Name of the model; of several classes, of the class.")
    threshold: list[Number] = means(
        "Thresholds, falling; null where nobody is called positive. That of the settings is kept."
    )
    tp: list[Weight]
    fp: list[Weight]
    smroc_x: list[Share] = means("smROC there: share of all runs; empty where undefined.")
    smroc_y: list[Share] = means("smROC there: share of all climbs.")
    tpr_low: list[Share] = means(
        "Lower end of the interval of sensitivity there (Wilson); empty where there is none."
    )
    tpr_high: list[Share] = means("Upper end of it.")
    error: float = means(
        "The whole ROC and precision-recall curves are no farther than this from straight lines "
        "between the points.",
        ge=0,
    )
    density: DensityRecord | None = means("Spread of the scores; null where a class has no rows.")
    reliability: ReliabilityRecord | None = means(
        "Calibration; null where scores are not probabilities."
    )
    benefit: BenefitRecord | None = means(
        "Decision curve; null where scores are not probabilities."
    )

    @classmethod
    def of(cls, name: str, e: Evaluation) -> CurvesRecord:
        """The curves of scores of two classes."""
        t, s = e.tally, e.settings
        points = operating_points(t, s.threshold)
        columns = _columns(t, points)
        threshold = points.threshold
        if any(e.confusion.doubt):  # the threshold is within a cell of a coarse tally
            place, columns = _inserted(columns, e.confusion)
            threshold = [*threshold[:place], s.threshold, *threshold[place:]]
        smooth = columns.pop("smroc_x", ()), columns.pop("smroc_y", ())
        low, high = ([], []) if e.clusters is not None else _sensitivities(t, columns, s.level)
        return cls(
            model=name,
            threshold=threshold,
            tp=_counts(columns["tp"], t),
            fp=_counts(columns["fp"], t),
            smroc_x=short(smooth[0]),
            smroc_y=short(smooth[1]),
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
        none: dict[str, Any] = {x: [] for x in ("smroc_x", "smroc_y", "tpr_low", "tpr_high")}
        return cls(
            model=name,
            threshold=points.threshold,
            tp=_counts(points.tp, t),
            fp=_counts(points.fp, t),
            error=float(f"{points.error:.2g}"),
            density=None,
            reliability=None,
            benefit=None,
            **none,
        )


def _counts(weights: Any, t: Tally) -> list[float]:
    """Counts as they are, sums of weights without the noise of their last digits."""
    return short(weights, 12) if t.weighted or t.coarse is not None else weights.tolist()


def _columns(t: Tally, points: OperatingPoints) -> dict[str, Any]:
    """What is known at each point: weights and their squares, and the smROC curve where there is one."""
    made: dict[str, Any] = {"tp": points.tp, "fp": points.fp}
    cells = points.cells
    if t.weighted:
        made |= {"tp2": _upto(t.pos2, cells), "fp2": _upto(t.neg2, cells)}
    if not (why_not_unit(t) or t.why_not_ranked):
        for name, parts in zip(
            ("smroc_y", "smroc_x"), cell_climbs(t, midpoint(t).value), strict=True
        ):
            upto = _upto(parts, cells)
            if not upto[-1] > 0:  # nothing climbs, or nothing runs
                return {key: column for key, column in made.items() if "smroc" not in key}
            made[name] = np.clip(upto / upto[-1], 0.0, 1.0)
    return made


def _upto(parts: Any, cells: Any) -> Any:
    """The sums over the first so many cells from the highest score down."""
    if len(cells) < 2:
        return np.zeros(len(cells), parts.dtype)
    return sums(add_runs(parts[::-1], cells[:-1]))


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
    low, high = wilson_band(tp, fn, rows, level)
    return short(low), short(high)


def _reliability(t: Tally, level: float, seed: int) -> ReliabilityRecord:
    curve = reliability_curve(t, level=level, seed=seed)
    # the stairs first and last at each height, and a few more for the band
    turns = np.flatnonzero(np.diff(curve.y))
    ends = np.union1d(turns, turns + 1)
    fine = np.union1d(ends, np.linspace(0, len(curve.x) - 1, _FINE).astype(np.int64))
    lines = [(curve.x[fine], y[fine]) for y in (curve.y, curve.low, curve.high)]
    at = fine if len(fine) <= STAIRS else fine[thinned(lines, STAIRS)]
    c = chances(t)
    edges = np.linspace(0.0, 1.0, BINS + 1)
    place = np.clip(np.searchsorted(edges, curve.x, side="right") - 1, 0, BINS - 1)
    pos, total, mean = (np.bincount(place, w, BINS) for w in (c.pos, c.weight, c.weight * curve.x))
    return ReliabilityRecord(
        x=short(curve.x[at]),
        y=short(curve.y[at]),
        low=short(curve.low[at]),
        high=short(curve.high[at]),
        edges=short(edges),
        positives=short(pos, 12),
        negatives=short(np.maximum(total - pos, 0.0), 12),
        mean_x=[
            None if not w else float(f"{m / w:.{DIGITS}g}")
            for m, w in zip(mean.tolist(), total.tolist(), strict=True)
        ],
    )


def _benefit(t: Tally, level: float) -> BenefitRecord:
    c = decision_curve(t, level=level)
    return BenefitRecord(
        threshold=short(c.threshold),
        value=short(c.net_benefit),
        low=short(c.low),
        high=short(c.high),
        treat_all=short(c.treat_all),
    )
