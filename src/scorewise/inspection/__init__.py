"""From scores back to single rows: wrong labels, natural cut-offs, and where raters disagree."""

from __future__ import annotations

from scorewise.inspection.agreement import Raters, raters
from scorewise.inspection.inspection import Inspection, inspect

__all__ = ["Inspection", "Raters", "inspect", "raters"]
