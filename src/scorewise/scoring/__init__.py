"""Scores brought into ROC space: the score-weighted ROC curve (smROC) and all that it shows."""

from __future__ import annotations

from scorewise.scoring.several import SmRocs, curves_of
from scorewise.scoring.smroc import SmRoc, smroc

__all__ = ["SmRoc", "SmRocs", "curves_of", "smroc"]
