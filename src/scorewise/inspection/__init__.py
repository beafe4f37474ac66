"""From scores back to single rows: wrong labels, natural cut-offs, and where raters disagree."""

from __future__ import annotations

from scorewise.inspection.inspection import Inspection, inspect
from scorewise.inspection.opinions import Raters, raters

__all__ = ["Inspection", "Raters", "inspect", "raters"]
