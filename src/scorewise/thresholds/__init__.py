"""Cuts: the best under a cost or a constraint, and the one whose promise holds beyond the rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from scorewise.errors import BadInput
from scorewise.thresholds.rule import ThresholdRule, apply, threshold

if TYPE_CHECKING:
    from scorewise.thresholds.classifier import ThresholdClassifier

__all__ = ["ThresholdClassifier", "ThresholdRule", "apply", "threshold"]


def __getattr__(name: str) -> Any:
    if name != "ThresholdClassifier":
        raise AttributeError(f"scorewise.thresholds has no attribute {name}")
    try:
        from scorewise.thresholds.classifier import ThresholdClassifier
    except ModuleNotFoundError as e:
        if (e.name or "").partition(".")[0] != "sklearn":
            raise
        needs = "ThresholdClassifier needs scikit-learn: pip install 'scorewise[sklearn]'"
        raise BadInput(needs) from e
    return ThresholdClassifier
