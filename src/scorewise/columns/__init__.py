"""Columns from any source, checked once, here, and nowhere behind it."""

from __future__ import annotations

from scorewise.columns.binary import Kind, Rows, binary_rows, take
from scorewise.columns.labels import Labels
from scorewise.columns.numbers import Place
from scorewise.columns.rows import Columns, Missing, Names, read

__all__ = [
    "Columns", "Kind", "Labels", "Missing", "Names", "Place", "Rows", "binary_rows", "read", "take",
]  # fmt: skip
