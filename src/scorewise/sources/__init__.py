"""Where rows come from: files, frames, columns."""

from __future__ import annotations

from scorewise.sources.load import Loaded, load, read_columns

__all__ = ["Loaded", "load", "read_columns"]
