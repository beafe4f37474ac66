"""Recalibration: maps from scores to probabilities, chosen on rows that they have not seen."""

from __future__ import annotations

from scorewise.recalibrating.files import apply, calibrate, map_file
from scorewise.recalibrating.maps import CLASS_METHODS, ClassMap, Map
from scorewise.recalibrating.methods import METHODS
from scorewise.recalibrating.recalibrator import Recalibrator

__all__ = [
    "CLASS_METHODS", "METHODS", "ClassMap", "Map", "Recalibrator", "apply", "calibrate", "map_file",
]  # fmt: skip
