"""Files written anew with further columns: numbers read from text, places told, output put in place."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorewise import writing
from scorewise.errors import BadInput
from scorewise.views.words import counted

if TYPE_CHECKING:
    import polars as pl

ENDINGS = (".csv", ".parquet")


def place_of(out: str | Path) -> tuple[Path, str]:
    """Where the output goes, and its ending."""
    ending = Path(out).suffix.lower()
    if ending not in ENDINGS:
        raise BadInput(f"the output {out} has to end in {' or '.join(ENDINGS)}")
    return writing.check(out), ending


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
    """Write the rows in batches, and put the file in place when it is whole."""
    import polars as pl

    sink = frame.sink_csv if ending == ".csv" else frame.sink_parquet
    try:
        writing.write(place, lambda file: sink(file, maintain_order=True))
    except pl.exceptions.PolarsError as error:
        said = str(error).partition("\n")[0].rpartition("IO error: ")[2]  # what the system said
        raise BadInput(f"cannot write {place.name}: {said}") from error
