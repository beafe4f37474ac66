"""Scores brought into ROC space: the score-weighted ROC curve (smROC) and all that it shows."""

from __future__ import annotations

from scorewise.weighted_roc.curve import SmRoc, SmRocs, curves_of, smroc
from scorewise.weighted_roc.files import segments_file

__all__ = ["SmRoc", "SmRocs", "curves_of", "segments_file", "smroc"]
