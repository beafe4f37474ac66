"""One small Parquet file, with what it is in its metadata; never half written, damage refused."""

from __future__ import annotations

import io
import json
import os
import secrets
from pathlib import Path
from typing import Any

from scorewise.errors import BadInput


def write(columns: dict[str, Any], key: str, about: dict[str, Any], path: Path) -> None:
    """Write columns under a temporary name and move them into place."""
    import polars as pl

    beside = path.with_name(f".{secrets.token_hex(8)}.part")
    try:
        frame = pl.DataFrame(columns)
        with beside.open("xb") as file:
            frame.write_parquet(file, metadata={key: json.dumps(about)})
        beside.replace(path)
    except OSError as e:
        raise BadInput(f"cannot write {path.name}: {e.strerror or e}") from None
    finally:
        beside.unlink(missing_ok=True)


def read(path: Path, key: str, version: int, instead: str) -> tuple[dict[str, Any], Any]:
    """What the file says of itself, and its frame; `instead` is the way out if it is another file."""
    import polars as pl

    if not os.path.isfile(path):  # noqa: PTH113 (bears names too long)
        raise BadInput(f"no such file: {path}")
    try:
        data = path.read_bytes()  # polars takes brackets in a path for a glob
        text = pl.read_parquet_metadata(io.BytesIO(data)).get(key)
        if text is None:
            raise BadInput(f"{path.name} is a Parquet file, but not a saved tally; {instead}")
        about = json.loads(text)
        frame = pl.read_parquet(io.BytesIO(data))
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        OSError,
        ValueError,
        RecursionError,
    ) as e:
        if isinstance(e, BadInput):
            raise
        raise BadInput(
            f"{path.name} cannot be read as a saved tally; it is damaged or cut off"
        ) from e
    known = about.get("version") if isinstance(about, dict) else None
    if known != version:
        raise BadInput(
            f"{path.name} is a tally of version {known}, this scorewise reads "
            f"version {version}; update scorewise or make the tally anew"
        )
    return about, frame


def invalid(path: Path, reason: str) -> BadInput:
    """The error of a file whose content cannot be a tally's."""
    return BadInput(f"{path.name} is not a valid tally: {reason}")
