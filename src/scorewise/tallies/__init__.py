"""Small, mergeable statistics: what is left of the rows once they have been read."""

from __future__ import annotations

from scorewise.tallies.classes import ClassTally
from scorewise.tallies.confusion import Confusion
from scorewise.tallies.ratings import Ratings
from scorewise.tallies.sets import RowTally, TallySet
from scorewise.tallies.tally import Tally

__all__ = ["ClassTally", "Confusion", "Ratings", "RowTally", "Tally", "TallySet"]
