"""Files of a gate: gates.toml, results saved before, and the ledger of looks."""

from __future__ import annotations

import hashlib
import json
import tomllib
from collections.abc import Mapping
from difflib import get_close_matches
from os import PathLike
from pathlib import Path
from typing import Any

from scorewise.columns.paths import no_file
from scorewise.errors import BadInput, plain, short
from scorewise.show.document import document_type, from_dict
from scorewise.writing import write

Texts = str | list[str]
KEYS: dict[str, tuple[type, ...]] = {
    "file": (str, list), "require": (str, list), "baseline": (str,), "key": (str, list),
    "label": (str,), "score": (str,), "classes": (str,), "weight": (str,), "count": (str,),
    "positive": (str, int, float, bool), "cluster": (str,), "min_rows": (int,),
    "threshold": (int, float), "level": (int, float), "looks": (int,), "ledger": (str,),
    "inconclusive": (str,), "seed": (int,), "kind": (str,), "missing": (str,), "clip": (int, float),
    "encoding": (str,),
}  # fmt: skip
PATHS = ("file", "baseline", "ledger")  # which lie beside the file
WORDS = {
    str: "text",
    list: "a list of texts",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
}


def read_gates(path: str | PathLike[str]) -> dict[str, Any]:
    """The settings in a gates.toml; paths in it are relative to its folder."""
    place, name = Path(path), plain(Path(path).name)
    try:
        found = tomllib.loads(place.read_text("utf-8"))
    except OSError as e:
        why = f"{name} cannot be read: {e.strerror or e}"
        raise BadInput(why if place.exists() else no_file(name, place)) from None
    except UnicodeDecodeError:
        raise BadInput(f"{name} is not in UTF-8; save it as UTF-8") from None
    except tomllib.TOMLDecodeError as e:
        raise BadInput(f"{name} is not TOML: {e}") from None
    for key, value in found.items():
        if key not in KEYS:
            near = get_close_matches(key, KEYS, n=1)
            mean = f"did you mean {near[0]}?" if near else f"there are {', '.join(KEYS)}"
            raise BadInput(f"{name} has an unknown key {short(key)}; {mean}")
        kinds = KEYS[key]
        fits = isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))
        if not fits or (isinstance(value, list) and not all(isinstance(x, str) for x in value)):
            must = " or ".join(dict.fromkeys(WORDS[k] for k in kinds))
            raise BadInput(f"{name}: {key} has to be {must}; got {short(value)}")
    if not found.get("require"):
        raise BadInput(f'{name} requires nothing; add a line such as require = ["auroc >= 0.8"]')
    for key in PATHS:
        if key in found:
            value = found[key]
            beside = [str(place.parent / v) for v in ([value] if isinstance(value, str) else value)]
            found[key] = beside if isinstance(value, list) else beside[0]
    return found


def saved_result(path: Path) -> Any:
    """The document of `evaluate` that a file holds; None where it holds rows."""
    if path.suffix.lower() != ".json":
        return None
    try:
        doc = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return None  # which the reader of rows will say
    if not isinstance(doc, dict) or isinstance(doc.get("data"), list):
        return None
    name, verb = plain(path.name), doc.get("command")
    if verb != "evaluate":
        what = (
            "holds neither rows nor a result" if verb is None else f"is a result of {plain(verb)}"
        )
        raise BadInput(f"{name} {what}; a baseline is rows, or what evaluate wrote with --json")
    try:
        return from_dict(document_type("evaluate"), doc)
    except BadInput as e:
        raise BadInput(f"{name} is damaged, or of another version: {e}; write it again") from None


def looked(path: str | PathLike[str], of: Mapping[str, str], candidate: str) -> dict[str, int]:
    """Write down that a candidate was looked at; how many were, by name of what they were held against.

    `of` has the fingerprint of each. The same candidate again is no new look.
    """
    place = Path(path)
    ledger: dict[str, Any] = {}
    if place.exists():
        try:
            ledger = json.loads(place.read_text("utf-8"))
            known = [list(map(str, x["candidates"])) for x in ledger.values()]
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            raise BadInput(
                f"{plain(place.name)} is not a ledger of looks; name another file, or delete it"
            ) from None
        assert len(known) == len(ledger)
    for name, mark in of.items():
        entry = ledger.setdefault(mark, {"name": name, "candidates": []})
        if candidate not in entry["candidates"]:
            entry["candidates"].append(candidate)
    write(place, json.dumps(ledger, indent=2, ensure_ascii=False) + "\n")
    return {name: len(ledger[mark]["candidates"]) for name, mark in of.items()}


def fingerprint(*parts: bytes) -> str:
    """A short hash.

    >>> fingerprint(b"a", b"b")
    'fb8e20fc2e4c3f24'
    """
    made = hashlib.sha256()
    for part in parts:
        made.update(part)
    return made.hexdigest()[:16]
