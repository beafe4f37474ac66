"""The methods of recalibration, the simple ones first."""

from __future__ import annotations

from scorewise.recalibrating.methods.nonparametric import (
    HISTOGRAM,
    ISOTONIC,
    ISOTONIC_STRICT,
    VENN_ABERS,
)
from scorewise.recalibrating.methods.parametric import (
    BETA,
    IDENTITY,
    PLATT,
    QUADRATIC,
    SPLINE,
    TEMPERATURE,
    Method,
    Parameters,
)

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
