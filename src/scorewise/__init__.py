"""Judge and repair classifier scores: decisions, order, agreement with labels, probabilities."""

from __future__ import annotations

from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.registry import measure

__version__ = "0.1.0.dev0"

__all__ = ["BadInput", "Estimate", "measure"]
