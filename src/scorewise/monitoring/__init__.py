"""Scores judged while they come in: a long-lived evaluator in constant memory."""

from __future__ import annotations

from scorewise.monitoring.monitor import Monitor

__all__ = ["Monitor"]
