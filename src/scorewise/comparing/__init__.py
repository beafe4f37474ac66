"""Models compared on the same rows: which is better, in what, and whether the rows suffice to tell."""

from __future__ import annotations

from scorewise.comparing.comparison import ModelComparison, compare

__all__ = ["ModelComparison", "compare"]
