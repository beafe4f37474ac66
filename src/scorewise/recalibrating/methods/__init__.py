"""The methods of recalibration, the simple ones first."""

from __future__ import annotations

from scorewise.recalibrating.methods.beta import BETA
from scorewise.recalibrating.methods.histogram import HISTOGRAM
from scorewise.recalibrating.methods.isotonic import ISOTONIC, ISOTONIC_STRICT
from scorewise.recalibrating.methods.linear import IDENTITY, PLATT, TEMPERATURE
from scorewise.recalibrating.methods.method import Method, Parameters
from scorewise.recalibrating.methods.quadratic import QUADRATIC
from scorewise.recalibrating.methods.spline import SPLINE
from scorewise.recalibrating.methods.venn_abers import VENN_ABERS

METHODS = {
    m.name: m
    for m in (
        IDENTITY,
        TEMPERATURE,
        PLATT,
        BETA,
        QUADRATIC,
        SPLINE,
        ISOTONIC,
        ISOTONIC_STRICT,
        HISTOGRAM,
        VENN_ABERS,
    )
}

__all__ = ["METHODS", "Method", "Parameters"]
