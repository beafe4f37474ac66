"""Single rows as a reader meets them: where, what they say, and why they are named."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.columns import Rows
from scorewise.errors import BadInput
from scorewise.inspection.suspicion import Suspicion
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import appropriate, row_climbs

Name = str | int | None
EVEN = 0.5  # below this suspicion a label is likelier right than wrong


@dataclass(frozen=True)
class Suspect:
    """A row whose label may be wrong, or whose score is a hard success.

    `row` counts from 0 in arrays and from 1 after the header in a `file`. `set` (high or low, positive
    or negative), `climb` and `run` are its part in the smROC curve; None where there is no midpoint.
    """

    row: int
    file: str | None
    id: Name
    label: str
    score: float
    suspicion: float
    set: str | None
    climb: float | None
    run: float | None
    reason: str


def suspects(
    rows: Rows,
    t: Tally,
    found: Suspicion,
    chosen: NDArray[np.int64],
    midpoint: float | None,
    ids: Any = None,
) -> list[Suspect]:
    """The chosen rows, with the reason in words."""
    made = []
    for i in chosen.tolist():
        positive, score = bool(rows.y[i]), float(rows.scores[t.origin.score][i])
        file, number = rows.place.number(i)
        kind, climb = (None, None) if midpoint is None else _part(t, positive, score, midpoint)
        made.append(
            Suspect(
                row=number,
                file=file,
                id=name_of(ids, rows.place.position(i)),
                label=rows.labels.positive if positive else rows.labels.negative,
                score=score,
                suspicion=float(found.value[i]),
                set=kind,
                climb=climb,
                run=None if climb is None else 1 - climb,
                reason=reason(t, positive, bool(found.value[i] < EVEN), score),
            )
        )
    return made


def _part(t: Tally, positive: bool, score: float, midpoint: float) -> tuple[str, float]:
    """The set that a row belongs to, and its climb."""
    y, s = np.array([positive]), unit(np.array([score]), t.kind)
    high = bool(appropriate(y, s, midpoint)[0]) == positive
    return f"{'high' if high else 'low'} {_class(positive)}", float(row_climbs(y, s, midpoint)[0])


def reason(t: Tally, positive: bool, right: bool, score: float) -> str:
    """Where a score lies among those of the other class, in words.

    A wrong score is compared with those whose place it takes, a right one with those it beats.

    >>> t = Tally.of([0, 0, 1, 0, 1], [0.1, 0.4, 0.6, 0.8, 0.9])
    >>> reason(t, False, False, 0.8)
    'negative, but scored 0.8, above 50% of the positives'
    >>> reason(t, True, True, 0.9)
    'positive, scored 0.9, above every negative'
    """
    up = positive == right
    other, weight, total = (
        ("negative", t.neg, t.negatives) if positive else ("positive", t.pos, t.positives)
    )
    i = int(np.searchsorted(t.score, score, side="left" if up else "right"))
    passed = float((weight[:i] if up else weight[i:]).sum())
    than = f"{'above' if up else 'below'} {_share(passed, float(total), other)}"
    return f"{_class(positive)}, {'' if right else 'but '}scored {shown(score)}, {than}"


def _class(positive: bool) -> str:
    return "positive" if positive else "negative"


def _share(part: float, total: float, noun: str) -> str:
    """How many of a class, never rounded up to all or down to none of them."""
    if part >= total:
        return f"every {noun}"
    if not part:
        return f"no {noun}"
    percent = min(max(100 * part / total, 0.1), 99.9)
    text = f"{percent:.0f}" if 1 <= percent < 99 else f"{percent:.1f}"
    return f"{text}% of the {noun}s"


def shown(score: float) -> str:
    """A score to three digits, or as many as it takes not to say 0 or 1 when it is neither.

    >>> shown(0.97), shown(0.99999312), shown(1.0)
    ('0.97', '0.99999', '1')
    """
    for digits in range(3, 17):
        text = f"{score:.{digits}g}"
        if float(text) not in (0.0, 1.0) or score in (0.0, 1.0):
            return text
    return repr(score)


def name_of(ids: Any, position: int) -> Name:
    """What the input calls a row."""
    value: Any = None if ids is None else ids[position]
    value = value.item() if hasattr(value, "item") else value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    return value if isinstance(value, int) and not isinstance(value, bool) else str(value)


def named_rows(ids: Any, rows: int) -> Sequence[Any] | None:
    """Names of rows that can be asked for by position, whatever library they came from."""
    if ids is None:
        return None
    if isinstance(ids, str | bytes) or not hasattr(ids, "__len__"):
        raise BadInput(f"ids is {ids!r}; pass one name or number per row")
    if len(ids) != rows:
        raise BadInput(
            f"there are {rows:,} rows and {len(ids):,} ids; they have to match row by row"
        )
    named: Sequence[Any] = ids.to_list() if hasattr(ids, "to_list") else list(ids)
    return named
