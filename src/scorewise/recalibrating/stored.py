"""Maps in files: read back whole, or refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

from scorewise.errors import BadInput
from scorewise.recalibrating.mapping import Map, fingerprint
from scorewise.recalibrating.methods import METHODS
from scorewise.recalibrating.scale import Scale
from scorewise.views.words import Document, plain


def read_map(path: str | Path) -> tuple[Document, Map]:
    """The document in a file and its map; a sentence says what is wrong with any other file."""
    name = plain(Path(path).name)
    try:
        doc = json.loads(Path(path).read_text("utf-8"))
    except OSError as e:
        raise BadInput(f"{name} cannot be read: {e.strerror or e}") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{name} is not JSON; name a file that calibrate fit wrote") from None
    if not isinstance(doc, dict) or doc.get("command") != "calibrate":
        raise BadInput(f"{name} holds no map; name a file that calibrate fit wrote")
    if doc.get("schema") != 1:
        raise BadInput(f"{name} has format {doc.get('schema')!r}, but 1 is known here")
    try:
        found = _map(doc["map"])
        settings = doc["settings"]
        kept = {k: settings[k] for k in ("method", "folds", "seed", "clip", "level")}
    except (KeyError, TypeError, ValueError, AttributeError):
        found = kept = None
    if found is None or kept is None:
        raise BadInput(f"{name} is damaged or was edited; fit the map again")
    return doc, found


def _map(doc: dict[str, Any]) -> Map | None:
    """The map, if its fingerprint and its numbers are right."""
    if doc["sha256"] != fingerprint(doc):
        return None
    method = METHODS[doc["method"]]
    parameters = doc["parameters"]
    if set(parameters) != {*method.single, *method.many} or doc["kind"] not in method.kinds:
        return None
    singles = [doc[k] for k in ("clip", "centre", "unit", "low", "high")]
    singles += [parameters[k] for k in method.single]
    if not all(_finite(x) for x in singles):
        return None
    if not all(all(_finite(x) for x in parameters[k]) for k in method.many):
        return None
    scale = Scale(doc["kind"], doc["clip"], doc["centre"], doc["unit"])
    ends = float(doc["low"]), float(doc["high"])
    rows, positives = int(doc["rows"]), int(doc["positives"])
    smoothed, version = bool(doc["smoothed"]), str(doc["version"])
    return Map(doc["method"], parameters, scale, *ends, rows, positives, smoothed, version)


def _finite(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)
