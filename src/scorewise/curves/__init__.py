"""Curves over all thresholds, as arrays."""

from __future__ import annotations

from scorewise.curves.thresholds import best_cut, precision_recall, roc, thresholds

__all__ = ["best_cut", "precision_recall", "roc", "thresholds"]
