"""What is to be tallied of files, and the walk through them, which can be resumed."""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

from scorewise.checks import one_of
from scorewise.columns import Kind, Missing
from scorewise.columns.decoding import start_of
from scorewise.columns.grouping import Every, check_groups
from scorewise.columns.paths import FORMATS, STDIN, expand, format_of, names_of, partitions
from scorewise.errors import BadInput, Option
from scorewise.tallies.coarse import Grid
from scorewise.tallies.origin import Origin, Shard, digest_of
from scorewise.tallies.sets import RowTally, TallySet
from scorewise.writing import make_folder, refused

MEMORY = "1GB"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_MIN_BYTES = 1 << 16
_PER_ROW = 64  # bytes of a row of binary columns, read at once
_PER_BYTE = 4  # bytes of memory of a byte of text
_LINE = 1 << 16  # bytes that tell how long lines are
Made = TypeVar("Made", TallySet, RowTally)


def bytes_of(memory: str | int) -> int:
    """A size in bytes, from such as "1GB", "500 MB" or a number.

    >>> bytes_of("1.5KB"), bytes_of(10_000_000)
    (65536, 10000000)
    """
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)i?B?\s*", str(memory).upper())
    if match is None or isinstance(memory, bool):
        raise BadInput(Option("memory", memory), " is not a size; write it as 500MB or 2GB")
    return max(_MIN_BYTES, int(float(match[1]) * _UNITS[match[2]]))


@dataclass(frozen=True)
class TallyOptions:
    """Which columns to read and how, whatever the source is.

    `roles` are the options of verbs: `label` and `score`, `label` and `classes`, or `raters`; and `weight`,
    `count`, `positive`, `kind`, `missing`. `by` names one column of groups or several, `time` one of dates
    that is cut `every` day, week, ...
    """

    roles: Mapping[str, Any]
    by: Any = ()
    time: str | None = None
    every: Every | None = None
    encoding: str | None = None
    grid: Grid | None = None
    memory: str | int = MEMORY

    def __post_init__(self) -> None:
        by = (self.by,) if isinstance(self.by, str) else tuple(self.by or ())
        object.__setattr__(self, "by", by)
        named = {role: self.roles.get(role) for role in ("label", "score", "weight", "count")}
        check_groups(by, {r: c for r, c in named.items() if isinstance(c, str | list | tuple)})
        one_of("every", self.every, (None, *get_args(Every)))
        one_of("grid", self.grid, (None, *get_args(Grid)))
        one_of("kind", self.roles.get("kind"), (None, *get_args(Kind)))
        one_of("missing", self.roles.get("missing", "refuse"), get_args(Missing))
        if (self.time is None) != (self.every is None):
            raise BadInput(Option("time"), " and ", Option("every"), " belong together; pass both")

    @property
    def groups(self) -> list[str]:
        """The columns of groups, that of time being the last."""
        return [*self.by, *([] if self.time is None else [self.time])]

    @property
    def mark(self) -> str:
        """What tells tallies of the same files by other options apart."""
        how = {name: value for name, value in vars(self).items() if name != "memory"}
        return hashlib.sha256(json.dumps(how, default=str).encode()).hexdigest()[:16]


class File(NamedTuple):
    """A file, what it is called, and about how many rows it has."""

    path: Path
    name: str
    rows: int

    @property
    def once(self) -> bool:
        """Whether it is no file that could be read again, such as a pipe."""
        return str(self.path) == STDIN or not self.path.is_file()


def is_large(files: Sequence[Any], memory: str | int) -> bool:
    """Whether files, read at once, would take more memory than that."""
    most, spent = bytes_of(memory), 0
    for path in expand(files):
        if str(path) != STDIN and path.is_file():
            text = FORMATS[format_of(path)[0]].text
            spent += path.stat().st_size * _PER_BYTE if text else _rows(path) * _PER_ROW
        if spent > most:
            return True
    return False


def _rows(path: Path) -> int:
    """About how many rows a file has; 0 where that is not known or the file is not sound."""
    import polars as pl

    try:
        form, packed = format_of(path)
        if form == "parquet":
            frame = pl.scan_parquet(path, hive_partitioning=False, glob=False)
            return int(frame.select(pl.len()).collect().item())
        if form == "arrow" and start_of(path, 6) == b"ARROW1":
            return int(pl.scan_ipc(path, glob=False).select(pl.len()).collect().item())
        if FORMATS[form].text and not packed:
            head = start_of(path, _LINE)
            return path.stat().st_size * head.count(b"\n") // max(len(head), 1)
    except (OSError, ValueError, BadInput, pl.exceptions.PolarsError, pl.exceptions.PanicException):
        pass
    return 0


class FileWalk:
    """Files that are read one after the other, and what became of each.

    Files of the same content are refused unless `again`; a file that cannot be used is left out and told of
    with `skip_bad_files`. What was made of each of several files is kept in the folder `checkpoints` until
    all are done; with `resume` that of an earlier run of the same `mark` is taken.
    """

    def __init__(
        self, files: Sequence[Any], *, again: bool = False, skip_bad_files: bool = False,
        digests: bool = True, checkpoints: Path | None = None, mark: str = "", resume: bool = False,
    ) -> None:  # fmt: skip
        self.checkpoints, self.mark, self.resume = checkpoints, mark, resume
        if not resume:
            self.clear()
        paths = expand(files)
        self.files = [File(p, n, _rows(p)) for p, n in zip(paths, names_of(paths), strict=True)]
        self.again, self.skip_bad_files, self.digests = again, skip_bad_files, digests

    def each(self, read: Callable[[File, Shard | None], int]) -> None:
        """Read the files from the first on, by a function that gives the number of rows of one."""
        self.progress = Progress(sum(file.rows for file in self.files))
        self.shards: dict[str, Shard] = {}
        self.sources: list[str] = []
        self.skipped: list[BadInput] = []
        self.resumed = 0
        for file in self.files:
            try:
                shard = self._shard(file)
                rows = read(file, shard)
            except BadInput as problem:
                if not self.skip_bad_files:
                    raise
                self.skipped.append(problem)
                continue
            self.sources.append(file.name)
            if shard is not None:
                self.shards[shard.digest] = shard._replace(rows=rows)
        if not self.sources:
            raise BadInput(
                f"none of the {len(self.files):,} files can be used; the first: ",
                *self.skipped[0].parts,
            )

    def _shard(self, file: File) -> Shard | None:
        """What tells the content of a file; refused where another has the same."""
        if file.once or not self.digests:
            return None
        shard = Shard(file.name, file.path.stat().st_size, 0, digest_of(file.path))
        first = self.shards.get(shard.digest)
        if first is not None and not self.again:
            raise BadInput(
                f"{shard.name} has the same content as {first.name}; its rows would count twice; leave it "
                "out, or pass ", Option("again"),
            )  # fmt: skip
        return shard

    def _checkpoint(self, file: File, shard: Shard | None) -> Path | None:
        """Where what was made of a file of that content is kept, if it is."""
        if self.checkpoints is None or shard is None or len(self.files) < 2:
            return None
        # folders that stand for columns are a part of what a file says
        content = json.dumps([shard.digest, partitions(file.path)])
        name = f"{hashlib.sha256(content.encode()).hexdigest()[:40]}-{self.mark}.tally"
        return self.checkpoints / name

    def earlier(self, file: File, shard: Shard | None, kind: type[Made]) -> Made | None:
        """What an earlier run made of a file, if it is whole."""
        path = self._checkpoint(file, shard) if self.resume else None
        try:
            return None if path is None else kind.load(path)
        except BadInput:
            return None

    def keep(self, file: File, shard: Shard | None, made: TallySet | RowTally) -> None:
        """Keep what was made of a file; where that cannot be, the tally it is a part of is named."""
        if (path := self._checkpoint(file, shard)) is None:
            return
        try:
            make_folder(path.parent)
            made.save(path)
        except BadInput as error:
            if isinstance(error.__cause__, OSError):
                out = str(path.parent).removesuffix(".parts")
                raise BadInput(refused(out, error.__cause__)) from error
            raise

    def clear(self) -> None:
        """Remove what was kept, and the folder if nothing else is in it."""
        folder = self.checkpoints
        if folder is None or not folder.is_dir():
            return
        for path in [*folder.glob("*-*.tally"), *folder.glob(".*.part")]:
            path.unlink(missing_ok=True)
        if not any(folder.iterdir()):
            folder.rmdir()

    def advance(self, rows: int, earlier: bool = False) -> None:
        """Say that so many rows more have been read, or were by an earlier run."""
        self.resumed += earlier
        self.progress.advance(rows)

    def with_files(self, origin: Origin) -> Origin:
        """The same origin with the files that were read."""
        shards = tuple(sorted(self.shards.values()))
        return replace(origin, sources=tuple(sorted(self.sources)), shards=shards)

    def notes(self, *more: str) -> tuple[str, ...]:
        """On files taken from an earlier run, more, and on files that were skipped."""
        earlier = f"{self.resumed:,} of {len(self.sources):,} files were taken from the earlier run"
        bad = self.skipped
        of = "file was" if len(bad) == 1 else "files were"
        why = "; ".join(map(str, bad[:3])) + "; ..." * (len(bad) > 3)
        skipped = f"{len(bad):,} bad {of} skipped: {why}"
        return (*[earlier] * bool(self.resumed), *more, *[skipped] * bool(bad))


# How far a walk has come, for whoever listens.


_WIDTH = 20
_LISTENER: ContextVar[Callable[[str], None] | None] = ContextVar("listener", default=None)


@contextmanager
def listening(listener: Callable[[str], None]) -> Iterator[None]:
    """Let a function be told how far readings have come."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)


@dataclass
class Progress:
    """Rows read, of about so many (0 where that is not known), since a time.

    >>> p = Progress(4_000_000, started=0.0)
    >>> p.rows = 1_000_000
    >>> p.text(2.0)
    '[#####---------------] 1,000,000 of 4,000,000 rows, 500,000 rows/s, 6 s left'
    """

    total: int = 0
    rows: int = 0
    started: float = field(default_factory=time.monotonic)

    def advance(self, rows: int) -> None:
        """Count rows, and tell whoever listens."""
        self.rows += rows
        if (listener := _LISTENER.get()) is not None:
            listener(self.text())

    def text(self, now: float | None = None) -> str:
        """Rows, rows per second and the time left."""
        spent = max((time.monotonic() if now is None else now) - self.started, 1e-9)
        speed = self.rows / spent
        if not self.total or self.rows > self.total:
            return f"{self.rows:,} rows, {speed:,.0f} rows/s"
        done = _WIDTH * self.rows // self.total
        bar = f"[{'#' * done}{'-' * (_WIDTH - done)}]"
        left = (self.total - self.rows) / speed if speed else 0.0
        return (
            f"{bar} {self.rows:,} of {self.total:,} rows, {speed:,.0f} rows/s, {_time(left)} left"
        )


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
