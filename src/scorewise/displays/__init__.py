"""Pictures with matplotlib, which `pip install 'scorewise[plot]'` brings."""

from __future__ import annotations

from scorewise.displays.roc import RocDisplay
from scorewise.displays.smroc import SmRocDisplay

__all__ = ["RocDisplay", "SmRocDisplay"]
