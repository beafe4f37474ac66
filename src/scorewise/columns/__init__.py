"""Columns from any source, checked once, here, and nowhere behind it."""

from __future__ import annotations

from scorewise.columns.labels import Labels
from scorewise.columns.numbers import Place
from scorewise.columns.reader import Columns, Missing, Names, read
from scorewise.columns.rows import Kind, Rows, binary_rows

__all__ = [
    "Columns", "Kind", "Labels", "Missing", "Names", "Place", "Rows", "binary_rows", "read",
]  # fmt: skip
