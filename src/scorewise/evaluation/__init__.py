"""From tallies to what users see: every measure of one model, and several models side by side."""

from __future__ import annotations

from scorewise.evaluation.one import Evaluation, evaluate, tally
from scorewise.evaluation.several import Comparison, compare, judge

__all__ = ["Comparison", "Evaluation", "compare", "evaluate", "judge", "tally"]
