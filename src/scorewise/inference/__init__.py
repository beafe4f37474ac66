"""Intervals: pure functions of a few numbers, of a table or of the cells of a tally."""

from __future__ import annotations
