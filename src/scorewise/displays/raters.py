"""Decisions and scores of several raters, read for drawing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.columns import Kind, Place, read
from scorewise.columns.binary import rows_of
from scorewise.columns.labels import read_labels
from scorewise.columns.vectors import vector
from scorewise.errors import BadInput
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import why_not_unit

HAIR = 1e-12  # 0.6 - 0.5 is a hair below 0.1, 0.7 - 0.6 a hair above
AGREE, APPARENT, REAL, HIDDEN = range(4)


class Rater(NamedTuple):
    """What one rater says of each row, and its tally: scores against its decisions, or the labels."""

    decisions: NDArray[np.bool_]
    scores: NDArray[np.float64]
    tally: Tally


def read_raters(
    said: Mapping[str, tuple[Any, Any]], y: Any, positive: Any, kind: Kind | None
) -> dict[str, Rater]:
    """Check what each rater decides and scores; a word means the same whoever says it."""
    if len(said) < 2:
        raise BadInput(f"{len(said)} raters were given; agreement needs two or more")
    words = {f"decision of {name}": list(pair[0]) for name, pair in said.items()}
    words |= {} if y is None else {"label": list(y)}
    masks = _masks(words, positive)
    made = {}
    for name, (_, scores) in said.items():
        decided = masks[f"decision of {name}"]
        against = {f"decision of {name}": masks.get("label", decided)}
        found = read(None, {"decision": against, "score": {f"score of {name}": scores}})
        rows = rows_of(found, role="decision", positive=True, kind=kind)
        t = Tally.of_rows(rows, f"score of {name}")
        if why := why_not_unit(t):
            raise BadInput(f"score of {name}: {why}")
        made[name] = Rater(decided, unit(rows.scores[f"score of {name}"], t.kind), t)
    return made


def _masks(words: dict[str, list[Any]], positive: Any) -> dict[str, NDArray[np.bool_]]:
    (first, column), *others = words.items()
    for name, other in others:
        if len(other) != len(column):
            raise BadInput(
                f"{first} has {len(column):,} rows and {name} has {len(other):,}; "
                f"they have to match row by row"
            )
    for name, values in words.items():
        gone = vector(values, name).missing()
        if gone is not None:
            raise BadInput(f"{name} is missing {Place().rows(gone)}; drop the row for all raters")
    stacked = [value for values in words.values() for value in values]
    read, _ = read_labels(vector(stacked, "decision"), "decision", positive)
    return dict(zip(words, read.reshape(len(words), -1), strict=True))


def opinions(a: Rater, b: Rater, tolerance: float) -> NDArray[np.int64]:
    """What two raters make of each row: AGREE, APPARENT or REAL disagreement, or HIDDEN.

    Apparent is other decisions on scores within the tolerance, hidden is one decision on scores apart.
    """
    near = np.abs(a.scores - b.scores) <= tolerance + HAIR
    same = a.decisions == b.decisions
    return np.where(same, np.where(near, AGREE, HIDDEN), np.where(near, APPARENT, REAL))
