"""Files written anew with further columns: numbers read from text, places told, output put in place."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorewise.errors import BadInput
from scorewise.views.words import counted
from scorewise.views.write import check

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".csv", ".parquet")


def place_of(out: str | Path) -> tuple[Path, str]:
    """Where the output goes, and its ending."""
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"the output {out} has to end in {' or '.join(ENDINGS)}")
    return check(out), ending


def number(score: str) -> Any:
    """The scores as numbers; null where they are none."""
    import polars as pl

    return (
        pl.col(score)
        .cast(pl.String)
        .str.strip_chars()
        .cast(pl.Float64, strict=False)
        .fill_nan(None)
    )


def where(found: dict[str, int], fault: str, file: str) -> str:
    """How many rows have a fault, and the first of them."""
    rows = counted(found[fault], "row")
    return f"in {rows} of {file}, first at row {found[f'first_{fault}']}"


def write(frame: pl.LazyFrame, place: Path, ending: str) -> None:
    """Write beside the place, then move into it."""
    import polars as pl

    part = place.with_name(f".{secrets.token_hex(8)}.part")
    try:
        if ending == ".csv":
            frame.sink_csv(part, maintain_order=True)
        else:
            frame.sink_parquet(part, maintain_order=True)
        part.replace(place)
    except (OSError, pl.exceptions.PolarsError) as error:
        said = getattr(error, "strerror", None) or str(error).partition("\n")[0]
        raise BadInput(f"cannot write {place.name}: {said}") from error
    finally:
        part.unlink(missing_ok=True)
