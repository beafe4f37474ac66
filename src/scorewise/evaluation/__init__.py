"""From rows or tallies to what users see: every measure of a model, or of several side by side."""

from __future__ import annotations

from scorewise.evaluation.evaluating import class_tally, evaluate, tally
from scorewise.evaluation.result import ClassEvaluation, Comparison, Evaluation

__all__ = ["ClassEvaluation", "Comparison", "Evaluation", "class_tally", "evaluate", "tally"]
