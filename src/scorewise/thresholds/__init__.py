"""Cuts: the best under a cost or a constraint, and the one whose promise holds beyond the rows."""

from __future__ import annotations

from scorewise.thresholds.files import apply, rule_file
from scorewise.thresholds.rule import ThresholdRule, threshold

__all__ = ["ThresholdRule", "apply", "rule_file", "threshold"]
