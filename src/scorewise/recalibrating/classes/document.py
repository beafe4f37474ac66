"""The document of a recalibration of several classes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

import numpy as np

from scorewise.columns.classes import ClassRows
from scorewise.recalibrating.classes.choosing import ClassJudged
from scorewise.recalibrating.classes.methods import CLASS_METHODS
from scorewise.show.documents import documented, estimate_of
from scorewise.show.words import Document, amount

if TYPE_CHECKING:
    from scorewise.recalibrating.recalibrator import Recalibrator


def document(r: Recalibrator) -> Document:
    """The document of a fitted map, but for its seal."""
    choice = r.choice_
    return documented(
        "calibrate-classes",
        {
            "settings": r.settings,
            "data": r.data_,
            "chosen": r.chosen,
            "meaning": CLASS_METHODS[r.chosen].meaning,
            "reason": choice.reason,
            "table": [_row(row) for row in choice.table if isinstance(row, ClassJudged)],
            "map": r.map_.to_dict(),
            "hints": list(_hints(r)),
        },
    )


def data_of_classes(rows: ClassRows, columns: Mapping[str, str] | None = None) -> Document:
    """What was learned from: the rows and the weight of each class, and their columns."""
    times = np.ones(len(rows), np.int64) if rows.count is None else rows.count
    mass = times.astype(float) if rows.weight is None else times * rows.weight
    k = len(rows.classes)
    counts, weights = np.bincount(rows.y, times, k), np.bincount(rows.y, mass, k)
    return {
        "sources": [name for name, _ in rows.place.files],
        "label": rows.names.label,
        "classes": [
            {
                "name": name,
                "column": (columns or {}).get(name),
                "rows": int(counts[c]),
                "weight": float(weights[c]),
            }
            for c, name in enumerate(rows.classes)
        ],
        "rows": int(times.sum()),
        "dropped": rows.dropped,
        "weight": None if rows.weight is None else rows.names.weight,
    }


def _row(row: ClassJudged) -> Document:
    parts = ("log_loss", "brier", "accuracy", "gain")
    said = {name: estimate_of(getattr(row, name)) for name in parts}
    return {"method": row.method, "strength": row.strength, **said}


def _hints(r: Recalibrator) -> Iterator[str]:
    m, compared = r.map_, getattr(r.choice_, "compared", 0)
    if m.absent and m.method != "identity":
        yield (
            f"No row has the class {', '.join(m.absent)}: its own slope and intercept stay as in the "
            f"identity."
        )
    if compared < m.rows:
        yield (
            f"Methods were compared on {amount(compared)} rows drawn at random; the map is fitted to all."
        )
    if m.parameters.get("slope") == 0:
        yield "Higher probabilities do not go with the class: the best map that does not fall is flat."
