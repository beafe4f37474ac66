"""The report that the tests open in a browser."""

from __future__ import annotations

from pathlib import Path

import scorewise as sw

RATES = ("sensitivity", "specificity", "precision", "npv", "f1", "accuracy", "alert_rate")


def write_report(path: Path, y, scores: dict, *, by=None, threshold: float = 0.5) -> Path:
    columns = {"y": y, **scores} | ({} if by is None else {"site": by})
    place = None if by is None else "site"
    sw.evaluate(columns, label="y", score=list(scores), by=place, threshold=threshold).report(path)
    return path
