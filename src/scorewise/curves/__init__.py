"""Curves over all thresholds, as arrays."""

from __future__ import annotations

from scorewise.curves.benefit import (
    cost_curve,
    decision_curve,
    gain,
    lift,
    net_benefit_difference,
    risk_coverage,
)
from scorewise.curves.hull import calibrated, decompose, murphy
from scorewise.curves.reliability import reliability, smooth_reliability
from scorewise.curves.thresholds import best_cut, precision_recall, roc, thresholds

__all__ = [
    "best_cut", "calibrated", "cost_curve", "decision_curve", "decompose", "gain", "lift", "murphy",
    "net_benefit_difference", "precision_recall", "reliability", "risk_coverage", "roc",
    "smooth_reliability", "thresholds",
]  # fmt: skip
