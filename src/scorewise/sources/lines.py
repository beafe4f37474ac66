"""Lines of JSON as Python objects, whatever is nested in them."""

from __future__ import annotations

import json
from typing import Any

from scorewise.errors import BadInput
from scorewise.sources.decoding import broken


def lines_of(data: bytes, name: str) -> list[dict[str, Any]]:
    """The objects in lines of JSON; finds the line that is broken.

    >>> lines_of(b'{"gold": ["a", "b"]}', "x.jsonl")
    [{'gold': ['a', 'b']}]
    """
    rows: list[dict[str, Any]] = []
    for number, line in enumerate(data.splitlines(), start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line.decode(), parse_int=_integer)
        except RecursionError:
            raise BadInput(
                f"{name} is nested too deeply in line {number}; leave out the field that is"
            ) from None
        except ValueError as problem:
            said = broken(data, name, "jsonl") if isinstance(problem, UnicodeError) else None
            raise BadInput(
                said or f"{name} is not JSON in line {number}; one object per line is wanted"
            ) from None
        if not isinstance(row, dict):
            raise BadInput(
                f"{name} has a {type(row).__name__} in line {number}; one object per line is wanted"
            )
        rows.append(row)
    if not rows:
        raise BadInput(f"{name} has no rows")
    return rows


def _integer(digits: str) -> int | str:
    """An integer; as text when 64 bits may not hold it."""
    return int(digits) if len(digits) <= 18 else digits
