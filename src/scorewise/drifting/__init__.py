"""Has the data changed? Two samples, or windows of time, compared through scores and outcomes."""

from __future__ import annotations

from scorewise.drifting.changes import Change, Window
from scorewise.drifting.result import Drift, drift

__all__ = ["Change", "Drift", "Window", "drift"]
