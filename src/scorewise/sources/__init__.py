"""Where rows come from: files, frames, columns."""

from __future__ import annotations

from scorewise.sources.load import Loaded, load

__all__ = ["Loaded", "load"]
