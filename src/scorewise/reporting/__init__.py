"""Reports: what is known of scores, of all rooms, in one document and one HTML file."""

from __future__ import annotations

from scorewise.reporting.reports import Report, report

__all__ = ["Report", "report"]
