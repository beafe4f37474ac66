"""Columns of numbers in one small Parquet file, with what they are in its metadata, under a seal."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from pathlib import Path
from typing import Any

from scorewise.errors import BadInput
from scorewise.writing import write as put

_VERSION = 2
_SEAL = "scorewise.sha256"
_SEALED = re.compile(_SEAL.encode().replace(b".", rb"\.") + rb"[^0-9a-f]{1,8}([0-9a-f]{64})")
_OPEN = "0" * 64  # where the seal of all other bytes will stand


def write(
    columns: dict[str, Any],
    key: str,
    about: dict[str, Any],
    path: str | Path,
    *,
    lists: bool = False,
) -> None:
    """Write columns; as `lists`, each may have its own length and all make one row."""
    import polars as pl

    series = [pl.Series(name, values) for name, values in columns.items()]
    text = json.dumps({"version": _VERSION, **about})
    frame, buffer = pl.DataFrame([s.implode() if lists else s for s in series]), io.BytesIO()
    frame.write_parquet(buffer, metadata={key: text, _SEAL: _OPEN})
    data = bytearray(buffer.getbuffer())
    place, made = _sealed(data)
    data[place] = made
    put(path, bytes(data))


def read(path: Path, key: str, instead: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the file says of itself, and its columns; `instead` is the way out if it is another file.

    The seal is of the bytes, and looked at first: on damaged ones a reader of Parquet may end the process.
    """
    import polars as pl

    if not os.path.isfile(path):  # noqa: PTH113 (bears names too long)
        raise BadInput(f"no such file: {path}")
    changed = BadInput(f"{path.name} is damaged or was edited after it was saved; make it anew")
    damaged = BadInput(f"{path.name} cannot be read as a saved tally; it is damaged or cut off")
    try:
        data = path.read_bytes()  # polars takes brackets in a path for a glob
    except OSError:
        raise damaged from None
    place, made = _sealed(bytearray(data))
    if place.stop and data[place] != made:
        raise changed
    try:
        metadata = pl.read_parquet_metadata(io.BytesIO(data))
        about: Any = json.loads(metadata[key]) if key in metadata else None
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        OSError,
        ValueError,
        RecursionError,
        IndexError,
    ) as e:
        raise damaged from e
    if key not in metadata:
        raise BadInput(f"{path.name} is a Parquet file, but not a saved tally; {instead}")
    known = about.get("version") if isinstance(about, dict) else None
    if known != _VERSION:
        raise BadInput(
            f"{path.name} is a tally of version {known}, this scorewise reads "
            f"version {_VERSION}; update scorewise or make the tally anew"
        )
    if not place.stop:
        raise changed
    frame = pl.read_parquet(io.BytesIO(data))
    return about, {s.name: (s[0] if s.dtype == pl.List else s).to_numpy() for s in frame}


def _sealed(data: bytearray) -> tuple[slice, bytes]:
    """Where the seal of a file stands, if it has one, and what it must be."""
    found = list(_SEALED.finditer(data))
    place = slice(*found[-1].span(1)) if found else slice(0, 0)
    if found:
        data[place] = _OPEN.encode()
    return place, hashlib.sha256(data).hexdigest().encode()


def invalid(path: Path, reason: str) -> BadInput:
    """The error of a file whose content cannot be a tally's."""
    return BadInput(f"{path.name} is not a valid tally: {reason}")
