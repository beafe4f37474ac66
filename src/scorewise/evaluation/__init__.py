"""From tallies to what users see: every measure of one model, and several models side by side."""

from __future__ import annotations

from scorewise.evaluation.classes import ClassEvaluation, class_tally, judge_classes
from scorewise.evaluation.evaluating import evaluate
from scorewise.evaluation.models import Comparison, Evaluation, compare, judge, tally

__all__ = [
    "ClassEvaluation",
    "Comparison",
    "Evaluation",
    "class_tally",
    "compare",
    "evaluate",
    "judge",
    "judge_classes",
    "tally",
]
