"""From tallies to what users see: every measure of one model, and several models side by side."""

from __future__ import annotations

from scorewise.evaluation.classes import ClassEvaluation
from scorewise.evaluation.evaluating import evaluate
from scorewise.evaluation.loading import class_tally, judge_classes
from scorewise.evaluation.one import Evaluation, tally
from scorewise.evaluation.several import Comparison, compare, judge

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
