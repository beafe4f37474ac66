"""Do raters agree? The kappa family, in words, and where they differ."""

from __future__ import annotations

from scorewise.agreeing.agreement import Agreement, agree

__all__ = ["Agreement", "agree"]
