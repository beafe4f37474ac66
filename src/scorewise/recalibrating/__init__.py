"""Recalibration: maps from scores to probabilities, chosen on rows that they have not seen."""

from __future__ import annotations

from scorewise.recalibrating.applying import apply
from scorewise.recalibrating.maps import CLASS_METHODS, ClassMap, Map
from scorewise.recalibrating.methods import METHODS
from scorewise.recalibrating.recalibrator import Recalibrator, calibrate

__all__ = ["CLASS_METHODS", "METHODS", "ClassMap", "Map", "Recalibrator", "apply", "calibrate"]
