"""From scores back to single rows: wrong labels, natural cut-offs, and where raters disagree."""

from __future__ import annotations

from scorewise.inspection.models import Inspection, inspect, look
from scorewise.inspection.rating import Raters, raters

__all__ = ["Inspection", "Raters", "inspect", "look", "raters"]
