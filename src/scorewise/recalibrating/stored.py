"""Maps in files: read back whole, or refused."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from scorewise.errors import BadInput
from scorewise.recalibrating.cells import Scale
from scorewise.recalibrating.classes.methods import CLASS_METHODS, ClassMap
from scorewise.recalibrating.mapping import Map
from scorewise.recalibrating.methods import METHODS
from scorewise.show.words import Document, plain
from scorewise.writing import seal


def read_map(path: str | Path) -> tuple[Document, Map | ClassMap]:
    """The document in a file and its map; a sentence says what is wrong with any other file."""
    name = plain(Path(path).name)
    try:
        doc = json.loads(Path(path).read_text("utf-8"))
    except OSError as e:
        raise BadInput(f"{name} cannot be read: {e.strerror or e}") from None
    except (ValueError, RecursionError):
        raise BadInput(f"{name} is not JSON; name a file that calibrate fit wrote") from None
    if not isinstance(doc, dict) or doc.get("command") not in ("calibrate", "calibrate-classes"):
        raise BadInput(f"{name} holds no map; name a file that calibrate fit wrote")
    if doc.get("schema") != 1:
        raise BadInput(f"{name} has format {doc.get('schema')!r}, but 1 is known here")
    try:
        whole = doc["sha256"] == seal(doc)
        found = (
            (_map if doc["command"] == "calibrate" else _class_map)(doc["map"]) if whole else None
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        found = None
    if found is None:
        raise BadInput(f"{name} is damaged or was edited; fit the map again")
    return doc, found


def _map(doc: dict[str, Any]) -> Map | None:
    """The map, if its seal and its numbers are right."""
    if doc["sha256"] != seal(doc):
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


def _class_map(doc: dict[str, Any]) -> ClassMap | None:
    """The same for several classes."""
    if doc["sha256"] != seal(doc):
        return None
    method, parameters, classes = CLASS_METHODS[doc["method"]], doc["parameters"], doc["classes"]
    k = len(classes)
    shapes = {"slope": (), "slopes": (k,), "intercepts": (k,), "weights": (k, k)}
    if set(parameters) != set(method.names) or doc["kind"] not in ("probability", "logit"):
        return None
    for name, value in parameters.items():
        numbers = np.asarray(value, np.float64)
        if numbers.shape != shapes[name] or not np.isfinite(numbers).all():
            return None
    if not (_finite(doc["clip"]) and _finite(doc["strength"])):
        return None
    rows, absent = int(doc["rows"]), tuple(doc["absent"])
    return ClassMap(
        doc["method"], parameters, tuple(classes), doc["kind"], doc["clip"], doc["strength"], rows,
        absent, str(doc["version"]),
    )  # fmt: skip


def _finite(x: Any) -> bool:
    return isinstance(x, int | float) and not isinstance(x, bool) and math.isfinite(x)
