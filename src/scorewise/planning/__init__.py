"""Plans: how many rows an interval, a difference, a guarantee or a gate takes."""

from __future__ import annotations

from scorewise.planning.rows_needed import Plan, plan

__all__ = ["Plan", "plan"]
