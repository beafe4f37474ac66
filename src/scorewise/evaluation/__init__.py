"""From tallies to what users see: every measure of one model, and several models side by side."""

from __future__ import annotations

from scorewise.evaluation.classes import ClassEvaluation
from scorewise.evaluation.comparing import ModelComparison, compare
from scorewise.evaluation.evaluating import class_tally, evaluate
from scorewise.evaluation.models import Comparison, Evaluation, tally

__all__ = [
    "ClassEvaluation",
    "Comparison",
    "Evaluation",
    "ModelComparison",
    "class_tally",
    "compare",
    "evaluate",
    "tally",
]
