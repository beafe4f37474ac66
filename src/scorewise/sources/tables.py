"""A file as a table: its columns, and how they are read."""

from __future__ import annotations

import io
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from scorewise.errors import BadInput
from scorewise.sources.decoding import Source, stream

if TYPE_CHECKING:
    import polars as pl

_HEAD = 1 << 16


class Whole(NamedTuple):
    """All columns of a file as they stand, to be read in batches; those of csv are text.

    `columns` are their names. The frame names them by their places, "0", "1", ..., since names in csv may
    occur twice. Whatever reads it does so within `guard`; `why` says what is wrong with the file, if that
    can be known. `typed` makes of a column what `Table.read` would.
    """

    columns: list[str]
    frame: pl.LazyFrame
    guard: Callable[[], AbstractContextManager[None]]
    why: Callable[[], str | None] = lambda: None
    typed: Callable[[pl.Series], pl.Series] = lambda column: column


@dataclass(frozen=True)
class Table:
    """A file whose columns are known and not yet read.

    `texts`, where types are guessed from text, reads columns as that text: only an empty cell is missing.
    """

    name: str
    columns: list[str]
    read: Callable[[list[str]], pl.DataFrame]
    whole: Callable[[], AbstractContextManager[Whole]]
    texts: Callable[[list[str]], pl.DataFrame] | None = None


@contextmanager
def _panics_apart() -> Iterator[None]:
    """Keeps back what polars writes past sys.stderr when it panics; shows it if nothing was raised.

    File descriptors are those of the process, so that only its main thread may turn them.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    try:
        errors = os.dup(2)
    except OSError:  # there is none
        yield
        return
    with tempfile.TemporaryFile() as seen:
        os.dup2(seen.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(errors, 2)
            os.close(errors)
        seen.seek(0)
        os.write(2, seen.read())


@contextmanager
def guard(name: str, form: str, why: Callable[[], str | None] = lambda: None) -> Iterator[None]:
    """One sentence for whatever a reader may throw."""
    import polars as pl

    try:
        with _panics_apart():
            yield
    except BadInput:
        raise
    except pl.exceptions.DuplicateError:
        raise BadInput(f"columns of {name} have the same name; give them names apart") from None
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        OSError,
        EOFError,
        ValueError,
    ):
        said = why() or f"{name} cannot be read as {form}; it is damaged or cut short"
        raise BadInput(said) from None


def placed(frame: pl.LazyFrame, name: str, form: str) -> Whole:
    """A frame with its columns named by their places."""
    columns = frame.collect_schema().names()
    placed = frame.rename({c: str(k) for k, c in enumerate(columns)})
    return Whole(columns, placed, lambda: guard(name, form))


def start_of(source: Source, size: int = _HEAD) -> bytes:
    """The first bytes."""
    with stream(source) as file:
        return file.read(size)


def end_of(source: Source) -> bytes:
    """The last bytes."""
    with stream(source) as file:
        file.seek(max(0, file.seek(0, io.SEEK_END) - _HEAD))
        return file.read()
