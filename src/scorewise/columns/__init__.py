"""The door: columns in memory are checked once, here, and nowhere behind it."""

from __future__ import annotations

from scorewise.columns.labels import Labels
from scorewise.columns.numbers import Place
from scorewise.columns.rows import Kind, Missing, Names, Rows, take

__all__ = ["Kind", "Labels", "Missing", "Names", "Place", "Rows", "take"]
