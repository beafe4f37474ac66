"""What the documents of all commands have in common."""

from __future__ import annotations

import math

from scorewise import __version__
from scorewise.estimate import Estimate
from scorewise.registry import Measure
from scorewise.tallies import Tally
from scorewise.views.words import Document


def head(command: str) -> Document:
    """How each document begins."""
    return {"schema": 1, "scorewise": __version__, "command": command}


def data_of(t: Tally) -> Document:
    """What was judged."""
    o = t.origin
    return {
        "sources": list(o.sources),
        "label": o.label,
        "positive": o.positive,
        "negative": o.negative,
        "rule": o.rule,
        "rows": o.rows,
        "positives": o.positives,
        "negatives": o.negatives,
        "dropped": o.dropped,
        "weight": o.weight,
        "weight_positives": float(t.positives),
        "weight_negatives": float(t.negatives),
    }


def estimate_of(e: Estimate) -> Document:
    """An estimate."""
    return {
        **{key: finite(x) for key, x in (("value", e.value), ("low", e.low), ("high", e.high))},
        "level": e.level,
        "method": e.method,
        "why": e.why,
        "bound": e.bound,
        "baseline": None if e.baseline is None else finite(e.baseline),
        "expected": None if e.expected is None else finite(e.expected),
        "p": None if e.p is None else finite(e.p),
    }


def measure_row(m: Measure, e: Estimate) -> Document:
    """One measure with its estimate."""
    return {
        "name": m.name,
        "title": m.title,
        "group": m.group,
        "meaning": m.meaning,
        "better": m.better,
        **estimate_of(e),
        "skill": finite(m.skill(e)),
    }


def finite(x: float) -> float | None:
    """The number, or none where it is not finite: JSON knows no others."""
    return float(x) if math.isfinite(x) else None
