"""What the documents without types have in common."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from scorewise import __version__
from scorewise.estimate import Estimate
from scorewise.registry import Measure
from scorewise.show.data import DataRecord
from scorewise.show.document import MeasureRow, estimated, to_dict
from scorewise.show.document import finite as finite
from scorewise.show.words import Document, named
from scorewise.tallies import Tally


def documented(command: str, parts: Document) -> Document:
    """The document of a command: which it is, its parts, and what its hints say of unreliable intervals."""
    head = {"schema": 1, "scorewise": __version__, "command": command}
    return with_cautions({**head, **parts})


def data_of(t: Tally) -> Document:
    """What was judged."""
    return dict(to_dict(DataRecord.of(t)))


def estimate_of(e: Estimate) -> Document:
    """An estimate."""
    return dict(to_dict(estimated(e)))


def measure_row(m: Measure, e: Estimate) -> Document:
    """One measure with its estimate."""
    return dict(to_dict(MeasureRow.of(m, e)))


def with_cautions(doc: Document) -> Document:
    """The same document; its hints say of which estimates the interval is unreliable, and why.

    >>> part = {"title": "Macro F1", **estimate_of(Estimate(0.5, 0.2, 0.8, caution="3 rows of class 'c'"))}
    >>> with_cautions({"measures": [part], "hints": []})["hints"]
    ["the interval marked † is unreliable: 3 rows of class 'c' (Macro F1)"]
    """
    by_reason: dict[str, dict[str, None]] = {}
    for reason, title in _cautions(doc, ""):
        by_reason.setdefault(reason, {})[title] = None
    many = sum(map(len, by_reason.values())) > 1
    which = "intervals marked † are" if many else "the interval marked † is"
    said = [f"{which} unreliable: {why} ({named(list(of), 6)})" for why, of in by_reason.items()]
    return {**doc, "hints": [*doc["hints"], *said]}


def _cautions(part: Any, name: str) -> Iterator[tuple[str, str]]:
    """The reason and the title of each estimate within a part of a document that has a caution."""
    if isinstance(part, list):
        for item in part:
            yield from _cautions(item, name)
    elif isinstance(part, dict):
        if part.get("caution"):
            yield part["caution"], str(part.get("title", name.replace("_", " ")))
        for key, item in part.items():
            if isinstance(item, list | dict):
                yield from _cautions(item, key)
