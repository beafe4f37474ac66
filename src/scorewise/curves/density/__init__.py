"""Kernel densities: of one sample, and of the scores of both classes."""

from __future__ import annotations

from scorewise.curves.density.classes import ClassDensities
from scorewise.curves.density.curve import Density, density

__all__ = ["ClassDensities", "Density", "density"]
