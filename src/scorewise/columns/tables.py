"""A file as a table: its columns, and how they are read, at once or in batches."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from queue import Queue
from typing import TYPE_CHECKING, Any

from scorewise.errors import BadInput

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Table:
    """A file whose columns are known and not yet read.

    `scan` opens all columns as they stand as a lazy frame; those of csv are text, of which `typed` makes
    what `read` would. The frame names columns by their places, "0", "1", ..., since names in csv may occur
    twice. `read_all` reads columns at once, where that is not done by a scan. `texts`, where types are
    guessed from text, reads columns as that text: only an empty cell is missing. `records`, of JSON, are
    the rows with whatever is nested in them. `why` says what is wrong with the file, if that can be known.
    """

    name: str
    form: str
    columns: list[str]
    scan: Callable[[], AbstractContextManager[pl.LazyFrame]]
    read_all: Callable[[list[str]], pl.DataFrame] | None = None
    texts: Callable[[list[str]], pl.DataFrame] | None = None
    records: Callable[[], list[dict[str, Any]]] | None = None
    why: Callable[[], BadInput | None] = lambda: None
    typed: Callable[[pl.Series], pl.Series] = lambda column: column

    def guard(self) -> AbstractContextManager[None]:
        """One sentence for whatever may go wrong while the table is read."""
        return guard(self.name, self.form, self.why)

    def places(self, columns: Sequence[str]) -> dict[str, str]:
        """What a scan calls the columns."""
        return {c: str(self.columns.index(c)) for c in columns}

    def read(self, columns: list[str], rows: int | None = None) -> dict[str, pl.Series]:
        """Some columns with their types, or their first rows."""
        if self.read_all is not None and rows is None:
            return dict(zip(columns, self.read_all(columns), strict=True))
        places = self.places(columns)
        with self.guard(), self.scan() as frame:
            frame = frame.select(places.values())
            found = (frame if rows is None else frame.head(rows)).collect()
            return {c: self.typed(found[place]).alias(c) for c, place in places.items()}

    def batches(self, columns: Sequence[str], rows: int) -> Iterator[dict[str, pl.Series]]:
        """All rows of some columns, so many at a time, with their types."""
        places = self.places(columns)
        with self.scan() as frame:
            found = in_batches(frame.select(places.values()), rows)
            try:
                while True:
                    with self.guard():  # each time anew: it keeps back what goes to the terminal
                        batch = next(found, None)
                        if batch is None:
                            return
                        made = {c: self.typed(batch[place]) for c, place in places.items()}
                    yield made
            finally:
                found.close()


def table_of(frame: pl.DataFrame, name: str, form: str) -> Table:
    """The table of a frame that is in memory, for formats that are read as a whole."""
    return Table(name, form, frame.columns, lambda: nullcontext(by_place(frame.lazy())))


def by_place(frame: pl.LazyFrame) -> pl.LazyFrame:
    """A frame with its columns named by their places."""
    names = frame.collect_schema().names()
    return frame.rename({name: str(k) for k, name in enumerate(names)})


@contextmanager
def panics_apart() -> Iterator[None]:
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


def in_batches(frame: pl.LazyFrame, rows: int) -> Generator[pl.DataFrame]:
    """The rows of a frame, so many at a time, in order; whatever ends them early is raised.

    polars' own `collect_batches` ends without a word where a thread of its reader panics.
    """
    found: Queue[pl.DataFrame | BaseException | None] = Queue(1)
    left = threading.Event()

    def take(batch: pl.DataFrame) -> bool:
        found.put(batch)
        return left.is_set()

    def run() -> None:
        end = None
        try:
            frame.sink_batches(take, chunk_size=rows, maintain_order=True)
        except BaseException as error:
            end = error
        found.put(end)

    threading.Thread(target=run, daemon=True).start()
    batch: Any = ()
    try:
        while (batch := found.get()) is not None:
            if isinstance(batch, BaseException):
                raise batch
            yield batch
    finally:
        left.set()
        while batch is not None and not isinstance(batch, BaseException):
            batch = found.get()


@contextmanager
def guard(
    name: str, form: str, why: Callable[[], BadInput | None] = lambda: None
) -> Iterator[None]:
    """One sentence for whatever a reader may throw."""
    import polars as pl

    try:
        with panics_apart():
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
        said = f"{name} cannot be read as {form}; it is damaged or cut short"
        raise (why() or BadInput(said)) from None
