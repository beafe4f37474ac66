"""The document of a recalibration: the map, what it was chosen from, and before and after."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from scorewise.recalibrating.cells import FEW
from scorewise.recalibrating.choosing import Judged
from scorewise.recalibrating.methods import METHODS
from scorewise.show.documents import data_of, documented, estimate_of
from scorewise.show.words import Document

if TYPE_CHECKING:
    from scorewise.recalibrating.recalibrator import Recalibrator


def document(r: Recalibrator) -> Document:
    """The document of a fitted map, but for its seal."""
    choice = r.choice_
    return documented(
        "calibrate",
        {
            "settings": r.settings,
            "data": data_of(r.tally_),
            "chosen": r.chosen,
            "meaning": METHODS[r.chosen].meaning,
            "outside": METHODS[r.chosen].outside,
            "reason": choice.reason,
            "table": [_row(row) for row in choice.table if isinstance(row, Judged)],
            "map": r.map_.to_dict(),
            "hints": list(_hints(r)),
        },
    )


def _row(row: Judged) -> Document:
    parts = ("log_loss", "brier", "gain", "in_the_large", "slope")
    return {"method": row.method, **{name: estimate_of(getattr(row, name)) for name in parts}}


def _hints(r: Recalibrator) -> Iterator[str]:
    t, m = r.tally_, r.map_
    if m.smoothed:
        yield (
            "A threshold tells the classes apart, so that no slope is steep enough: the labels were "
            "smoothed as if there were one more row of each class (Platt 1999)."
        )
    slopes = [m.parameters.get(name) for name in ("slope", "a", "b", "first", "last")]
    known = [s for s in slopes if s is not None]
    if known and not any(known):
        yield "Higher scores do not go with positives: the best map that does not fall is flat."
    if t.coarse is not None:
        yield "The tally is coarse: the map was fitted to the middles of its cells."
    elif len(t.score) > FEW:
        yield "Methods were compared on 8,192 pooled cells; the map is fitted to all scores."
    if m.method == "isotonic":
        yield "This map may say 0 or 1, and be certain and wrong; isotonic_strict never does."
