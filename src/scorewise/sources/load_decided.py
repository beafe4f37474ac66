"""Rows of decisions and the confidence in them from any source, checked at the door."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from scorewise.door import Kind, Missing
from scorewise.door.decided import DecidedRows, take_decided
from scorewise.errors import BadInput
from scorewise.sources.columns import check_columns, pick
from scorewise.sources.load import open_source
from scorewise.sources.load_classes import further


@dataclass(frozen=True)
class LoadedDecided:
    """Checked rows, what was decided on the way, and the names of the files they came from."""

    rows: DecidedRows
    notes: list[str]
    sources: tuple[str, ...]


def load_decided(
    source: Any,
    *,
    predicted: str,
    label: str | None = None,
    confidence: str | None = None,
    classes: Sequence[str] | None = None,
    weight: str | None = None,
    count: str | None = None,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> LoadedDecided:
    """Rows of files or frames that have decisions and a column of confidence in them.

    >>> read = load_decided({"y": ["a", "b"], "said": ["a", "a"], "p": [0.7, 0.2]}, predicted="said")
    >>> read.rows.called, read.notes[1]
    (array([0, 0]), "score: column 'p' (not named; taken because of its name)")
    """
    names, get, sources = open_source(source, encoding)
    check_columns(names, [predicted])
    if predicted in (label, confidence):
        raise BadInput(f"column '{predicted}' is given twice; name a different column for each")
    wanted = [] if confidence is None else [confidence]
    picked = pick([n for n in names if n != predicted], label, wanted, weight, count)
    read, place = get([*picked.all, predicted])
    (sure,) = picked.scores
    rows = take_decided(
        read[picked.label],
        read[predicted],
        read[sure],
        classes=classes,
        kind=kind,
        missing=missing,
        predicted_name=predicted,
        confidence_name=sure,
        place=place,
        **further(picked, read),
    )
    return LoadedDecided(rows, picked.notes, sources)
