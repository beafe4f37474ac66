"""Scores brought into ROC space: the score-weighted ROC curve (smROC) and all that it shows."""

from __future__ import annotations

from scorewise.weighted_roc.curve import SmRoc, SmRocs, segments_file, smroc

__all__ = ["SmRoc", "SmRocs", "segments_file", "smroc"]
