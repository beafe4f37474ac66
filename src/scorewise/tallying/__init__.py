"""Saved tallies: made of files of any size, merged, and shown."""

from __future__ import annotations

from scorewise.tallying.verbs import Saved, ShownTally, merge, show, tally_files

__all__ = ["Saved", "ShownTally", "merge", "show", "tally_files"]
