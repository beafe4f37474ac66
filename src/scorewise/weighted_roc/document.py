"""The document of score-weighted ROC curves."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.curves.smroc import Part
from scorewise.curves.thresholds import Curve
from scorewise.inference.ranking import area
from scorewise.show.documents import data_of, documented, estimate_of, finite
from scorewise.show.words import Document
from scorewise.tallies import Confusion

if TYPE_CHECKING:
    from scorewise.weighted_roc.curve import SmRoc


POINTS = 256  # of a curve, at most


def document(curves: Mapping[str, SmRoc], threshold: float = 0.5) -> Document:
    """The document of curves on the same rows."""
    first = next(iter(curves.values()))
    return documented(
        "smroc",
        {
            "settings": {"level": first.level, "seed": first.seed, "threshold": threshold},
            "data": data_of(first.tally),
            "curves": [_curve(name, c, threshold) for name, c in curves.items()],
            "distances": [
                {"first": a, "second": b, "distance": curves[a].distance(curves[b])}
                for a, b in combinations(curves, 2)
            ],
            "hints": [f"'{name}': {said}" for name, c in curves.items() for said in c.cautions],
        },
    )


def _curve(name: str, c: SmRoc, threshold: float) -> Document:
    sets, areas = c.sets, c.sensitivity()
    right, wrong = c.tables(threshold)
    known = areas.area[np.isfinite(areas.area)]
    return {
        "name": name,
        "kind": c.tally.kind,
        "area": estimate_of(c.area),
        "auroc": area(c.tally),
        "midpoint": {"value": c.midpoint, "rule": c.rule},
        "areas": {"lowest": float(known.min()), "highest": float(known.max())},
        "height": c.curve.height,
        "width": c.curve.width,
        "sets": {key: _part(getattr(sets, key)) for key in SETS},
        "appropriate": sets.appropriate,
        "rotation": sets.rotation,
        "gap": finite(c.gap) if c.area.defined else None,
        "recalibrated": estimate_of(c.recalibrated().area),
        "tables": {"appropriate": _table(right), "inappropriate": _table(wrong)},
        "curve": points(c.curve),
    }


SETS = ("high_positive", "high_negative", "low_positive", "low_negative")


def _part(part: Part) -> Document:
    return {"weight": part.weight, "mean": finite(part.mean)}


def _table(c: Confusion) -> Document:
    return {"tp": c.tp, "fp": c.fp, "fn": c.fn, "tn": c.tn}


def points(curve: Curve) -> Document:
    """The points of a curve, thinned out where there are many."""
    at: Any = np.unique(np.linspace(0, len(curve.x) - 1, POINTS).round().astype(int))
    columns = {"x": curve.x[at], "y": curve.y[at], "threshold": curve.threshold[at]}
    return {key: [finite(v) for v in column] for key, column in columns.items()}
