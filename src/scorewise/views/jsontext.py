"""The document as strict JSON text."""

from __future__ import annotations

import json
import math
from typing import Any


def dumps(doc: Any) -> str:
    """JSON with keys in the order of the document, floats at their shortest, non-finite as null.

    >>> print(dumps({"value": 0.1, "low": float("nan"), "name": "Größe"}), end="")
    {
      "value": 0.1,
      "low": null,
      "name": "Größe"
    }
    """
    return json.dumps(_strict(doc), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {_strict(str(key)): _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if isinstance(value, str):
        # file names that are not UTF-8 hold lone surrogates, which JSON text cannot
        return value.encode("utf-8", "backslashreplace").decode()
    if hasattr(value, "item"):
        return _strict(value.item())
    return None if isinstance(value, float) and not math.isfinite(value) else value
