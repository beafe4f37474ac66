"""Columns of numbers in one small Parquet file, with what they are in its metadata, under a seal."""

from __future__ import annotations

import io
import json
import os
from pathlib import Path
from typing import Any

from scorewise.errors import BadInput
from scorewise.writing import seal
from scorewise.writing import write as put

_VERSION = 2
_SEAL = "scorewise.sha256"


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
    sealed = seal({key: text}, {s.name: s.to_numpy() for s in series})
    frame, buffer = pl.DataFrame([s.implode() if lists else s for s in series]), io.BytesIO()
    frame.write_parquet(buffer, metadata={key: text, _SEAL: sealed})
    put(path, buffer.getbuffer())


def read(path: Path, key: str, instead: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """What the file says of itself, and its columns; `instead` is the way out if it is another file."""
    import polars as pl

    if not os.path.isfile(path):  # noqa: PTH113 (bears names too long)
        raise BadInput(f"no such file: {path}")
    try:
        data = path.read_bytes()  # polars takes brackets in a path for a glob
        metadata = pl.read_parquet_metadata(io.BytesIO(data))
        if key not in metadata:
            raise BadInput(f"{path.name} is a Parquet file, but not a saved tally; {instead}")
        about = json.loads(metadata[key])
        frame = pl.read_parquet(io.BytesIO(data))
        columns = {s.name: (s[0] if s.dtype == pl.List else s).to_numpy() for s in frame}
        whole = metadata.get(_SEAL) == seal({key: metadata[key]}, columns)
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        OSError,
        ValueError,
        RecursionError,
        IndexError,
    ) as e:
        if isinstance(e, BadInput):
            raise
        raise BadInput(
            f"{path.name} cannot be read as a saved tally; it is damaged or cut off"
        ) from e
    known = about.get("version") if isinstance(about, dict) else None
    if known != _VERSION:
        raise BadInput(
            f"{path.name} is a tally of version {known}, this scorewise reads "
            f"version {_VERSION}; update scorewise or make the tally anew"
        )
    if not whole:
        raise BadInput(f"{path.name} is damaged or was edited after it was saved; make it anew")
    return about, columns


def invalid(path: Path, reason: str) -> BadInput:
    """The error of a file whose content cannot be a tally's."""
    return BadInput(f"{path.name} is not a valid tally: {reason}")
