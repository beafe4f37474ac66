"""The document as strict JSON text."""

from __future__ import annotations

import json
import math
from typing import Any


def dumps(doc: Any) -> str:
    r"""JSON with keys in the order of the document, floats at their shortest, non-finite as null.

    >>> print(dumps({"value": 0.1, "low": float("nan"), "name": "Größe", "bell": "\a"}), end="")
    {
      "value": 0.1,
      "low": null,
      "name": "Größe",
      "bell": "\u0007"
    }
    """
    text = json.dumps(_strict(doc), indent=2, ensure_ascii=False, allow_nan=False)
    if text.replace("\n", "").isprintable():
        return f"{text}\n"
    return "".join(f"{_shown(line)}\n" for line in text.split("\n"))


def _shown(line: str) -> str:
    """The line with escapes of JSON for all that does not print: controls, bidirectional marks."""
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {_strict(str(key)): _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        whole = all(type(item) is int for item in value)  # of a large table, most lists
        return value if whole else [_strict(item) for item in value]
    if isinstance(value, str):
        # file names that are not UTF-8 hold lone surrogates, which JSON text cannot
        return value.encode("utf-8", "backslashreplace").decode()
    if hasattr(value, "item"):
        return _strict(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
