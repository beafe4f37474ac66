"""The door: columns in memory are checked once, here, and nowhere behind it."""

from __future__ import annotations

from scorewise.door.columns import Missing
from scorewise.door.labels import Labels
from scorewise.door.place import Place
from scorewise.door.rows import Kind, Names, Rows, take

__all__ = ["Kind", "Labels", "Missing", "Names", "Place", "Rows", "take"]
