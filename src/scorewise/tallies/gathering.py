"""The tally of files of any size and number: read in batches, file by file, within a budget of memory."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeVar, get_args

from scorewise.checks import one_of
from scorewise.columns import Kind, Missing, Rows
from scorewise.columns.csv_files import Table, start_of
from scorewise.columns.files import open_file
from scorewise.columns.grouping import Every, windows
from scorewise.columns.labels import Labels
from scorewise.columns.numbers import no_weight
from scorewise.columns.paths import FORMATS, STDIN, expand, format_of, names_of, partitions
from scorewise.columns.rows import Columns
from scorewise.columns.streaming import Changed, Settled, batches, settle
from scorewise.errors import BadInput, Option
from scorewise.progress import Progress, tell
from scorewise.tallies.building import Budget, Builder, Totals
from scorewise.tallies.coarse import Grid, Origin, Shard, shard_of
from scorewise.tallies.sets import Key, RowTally, TallySet
from scorewise.tallies.tally import Tally
from scorewise.writing import make_folder, refused

MEMORY = "1GB"
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_LEAST = 1 << 16
_PER_ROW = 64  # bytes of a row of binary columns, read at once
_PER_BYTE = 4  # bytes of memory of a byte of text
_LINE = 1 << 16  # bytes that tell how long lines are
Kept = TypeVar("Kept", TallySet, RowTally)
_PLACEHOLDER: dict[str, Any] = {
    "positive": "1",
    "negative": "0",
    "rule": "",
}  # while classes have no names yet


def bytes_of(memory: str | int) -> int:
    """A size in bytes, from such as "1GB", "500 MB" or a number.

    >>> bytes_of("1.5KB"), bytes_of(10_000_000)
    (65536, 10000000)
    """
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([KMGT]?)i?B?\s*", str(memory).upper())
    if match is None or isinstance(memory, bool):
        raise BadInput(Option("memory", memory), " is not a size; write it as 500MB or 2GB")
    return max(_LEAST, int(float(match[1]) * _UNITS[match[2]]))


@dataclass(frozen=True)
class Asked:
    """Which columns to read and how, whatever the files are."""

    columns: Mapping[str, Any]  # label, score, weight, count, group, time
    positive: Any = None
    kind: Kind | None = None
    missing: Missing = "refuse"
    encoding: str | None = None
    every: Every | None = None
    grid: Grid | None = None
    memory: str | int = MEMORY

    def __post_init__(self) -> None:
        one_of("every", self.every, (None, *get_args(Every)))
        one_of("grid", self.grid, (None, *get_args(Grid)))
        one_of("kind", self.kind, (None, *get_args(Kind)))
        one_of("missing", self.missing, get_args(Missing))
        check_time(self.columns.get("time"), self.every)

    @property
    def mark(self) -> str:
        """What tells tallies of the same files apart that were asked for in another way."""
        how = self.positive, self.kind, self.missing, self.encoding, self.every, self.grid
        return mark_of(dict(self.columns), *how)


def check_time(time: Any, every: Every | None) -> None:
    """Refuse a column of time without how it is cut, and the other way round."""
    if (time is None) != (every is None):
        raise BadInput(Option("time"), " and ", Option("every"), " belong together; pass both")


def mark_of(*asked: Any) -> str:
    """A fingerprint of what was asked for."""
    return hashlib.sha256(json.dumps(asked, default=str).encode()).hexdigest()[:16]


class File(NamedTuple):
    """A file, what it is called, and about how many rows it has."""

    path: Path
    name: str
    rows: int


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


@dataclass
class Parts:
    """Finished files of a tally that is not finished, in a folder beside it."""

    folder: Path
    mark: str
    resume: bool = False

    def __post_init__(self) -> None:
        if not self.resume:
            self.clear()

    def _path(self, file: str | os.PathLike[str], digest: str) -> Path:
        # folders that stand for columns are a part of what a file says
        told = json.dumps([digest, partitions(Path(file))])
        return self.folder / f"{hashlib.sha256(told.encode()).hexdigest()[:40]}-{self.mark}.tally"

    def find(self, file: str | os.PathLike[str], digest: str, kind: type[Kept]) -> Kept | None:
        """What an earlier run made of a file of that content, if it is whole."""
        try:
            return kind.load(self._path(file, digest)) if self.resume else None
        except BadInput:
            return None

    def keep(self, file: str | os.PathLike[str], digest: str, made: TallySet | RowTally) -> None:
        """Keep what was made of a file; where that cannot be, the tally it is a part of is named."""
        try:
            make_folder(self.folder)
            made.save(self._path(file, digest))
        except BadInput as error:
            if isinstance(error.__cause__, OSError):
                out = str(self.folder).removesuffix(".parts")
                raise BadInput(refused(out, error.__cause__)) from error
            raise

    def clear(self) -> None:
        """Remove what was kept, and the folder if nothing else is in it."""
        if not self.folder.is_dir():
            return
        for path in self.folder.glob("*-*.tally"):
            path.unlink(missing_ok=True)
        for path in self.folder.glob(".*.part"):
            path.unlink(missing_ok=True)
        if not any(self.folder.iterdir()):
            self.folder.rmdir()


@dataclass
class Gathered:
    """What was made of files: tallies by group, and what is to be said of the reading."""

    tallies: TallySet
    notes: tuple[str, ...]
    hints: tuple[str, ...]
    skipped: tuple[str, ...] = ()
    resumed: int = 0

    @property
    def tally(self) -> Tally | TallySet:
        """One tally where there are no groups."""
        return self.tallies if self.tallies.by else self.tallies.whole


@dataclass
class _Reading:
    """One walk through the files."""

    asked: Asked
    budget: Budget
    progress: Progress
    settled: Settled | None = None
    piped: dict[str, Table] = field(default_factory=dict)
    shards: dict[str, Shard] = field(default_factory=dict)
    sources: list[str] = field(default_factory=list)
    skipped: list[tuple[str, BadInput]] = field(default_factory=list)
    dropped: int = 0
    resumed: int = 0


def gather(
    files: Sequence[Any],
    asked: Asked,
    *,
    again: bool = False,
    skip_bad_files: bool = False,
    parts: Parts | None = None,
    digests: bool = True,
) -> Gathered:
    """The tally of files, by group where columns of groups are named.

    Files of the same content are refused unless `again`; a file that cannot be used is left out and told
    of with `skip_bad_files`. `parts` keeps each finished file.
    """
    paths = expand(files)
    listed = [File(p, n, _rows(p)) for p, n in zip(paths, names_of(paths), strict=True)]
    known: Settled | None = None
    piped: dict[str, Table] = {}  # what can be read once only
    while True:
        budget = Budget(bytes_of(asked.memory), asked.grid)
        r = _Reading(asked, budget, Progress(sum(f.rows for f in listed)), known, piped)
        totals = Totals(budget)
        try:
            for file in listed:
                _read(
                    r,
                    file,
                    totals,
                    again,
                    skip_bad_files,
                    parts if len(listed) > 1 else None,
                    digests,
                )
            return _made(r, totals, listed)
        except Changed:  # what a later file showed is known now
            known = r.settled
            assert known is not None
            known.handed = False


def _read(
    r: _Reading,
    file: File,
    totals: Totals,
    again: bool,
    skip: bool,
    parts: Parts | None,
    digests: bool,
) -> None:
    """Add the tallies of one file."""
    before = None if r.settled is None else _copied(r.settled)
    try:
        table = r.piped.get(file.name) or open_file(file.path, file.name, r.asked.encoding)
        shard = None
        if str(file.path) == STDIN or not file.path.is_file():
            r.piped[file.name] = table
        elif digests:
            shard = shard_of(file.path, file.name, 0)
            check_once(r.shards, shard, again)
        made, rows, dropped = _file(r, table, shard, file.path, parts)
    except BadInput as problem:
        if not skip:
            raise
        r.settled = before
        r.skipped.append((file.name, problem))
        return
    totals.add(made)
    r.sources.append(file.name)
    r.dropped += dropped
    if shard is not None:
        r.shards[shard.digest] = shard._replace(rows=rows)


def _copied(settled: Settled) -> Settled:
    made = copy(settled)
    made.words, made.written = dict(settled.words), dict(settled.written)
    return made


def check_once(shards: Mapping[str, Shard], shard: Shard, again: bool) -> None:
    """Refuse a file with the content of another."""
    first = shards.get(shard.digest)
    if first is not None and not again:
        raise BadInput(
            f"{shard.name} has the same content as {first.name}; its rows would count twice; leave it out, "
            "or pass ", Option("again"),
        )  # fmt: skip


def _file(
    r: _Reading, table: Table, shard: Shard | None, path: Path, parts: Parts | None
) -> tuple[dict[Key, Tally], int, int]:
    """The tallies of a file, from an earlier run where there is one; its rows, and those dropped."""
    a = r.asked
    if r.settled is None:
        r.settled = settle(table, a.columns, positive=a.positive, kind=a.kind, missing=a.missing)
    kept = None if parts is None or shard is None else parts.find(path, shard.digest, TallySet)
    if kept is not None:
        o = kept.origin
        t = next(iter(kept.values()))
        if _copied(r.settled).know(Labels(o.positive, o.negative, o.rule), t.kind):
            r.settled.know(Labels(o.positive, o.negative, o.rule), t.kind)
            if t.coarse is not None and r.budget.grid is None:
                r.budget.grid, r.budget.overrun = t.coarse.grid, True
            r.resumed += 1
            r.progress.rows += o.shards[0].rows
            return {key: _plain(kept[key]) for key in kept}, o.shards[0].rows, o.dropped
    builder = Builder(r.budget, r.settled.score)
    for found, rows in batches(table, r.settled):
        builder.add(_windowed(rows, found, a.every))
        r.progress.rows += len(rows) + rows.dropped
        tell(r.progress)
    made = builder.sums()
    if parts is not None and shard is not None and made and r.settled.decided:
        labels = _classes(r.settled.labels())
        own = {key: replace(t, origin=replace(t.origin, **labels)) for key, t in made.items()}
        origin = Origin(
            r.settled.label, r.settled.score, **labels, dropped=builder.dropped,
            shards=(shard._replace(rows=builder.rows),),
        )  # fmt: skip
        parts.keep(path, shard.digest, TallySet(_by(a, r.settled), own, a.every, origin))
    return made, builder.rows, builder.dropped


def _classes(labels: Labels) -> dict[str, Any]:
    return {"positive": labels.positive, "negative": labels.negative, "rule": labels.rule}


def _plain(t: Tally) -> Tally:
    return replace(t, origin=replace(t.origin, **_PLACEHOLDER, shards=(), sources=(), dropped=0))


def _by(a: Asked, settled: Settled) -> tuple[str, ...]:
    time = settled.columns.get("time")
    return (*settled.columns.get("group", ()), *([time] if time is not None else []))


def _windowed(rows: Rows, found: Columns, every: Every | None) -> Rows:
    """The same rows with the window of time as their last group."""
    if every is None:
        return rows
    name = found.name("time")
    own = {name: windows(found.one("time").values, name, every)}
    return replace(rows, groups=rows.groups | own)


def _made(r: _Reading, totals: Totals, listed: Sequence[File]) -> Gathered:
    """The sum of all files, and what is to be told."""
    problems = [problem for _, problem in r.skipped]
    if r.skipped and (len(r.skipped) == len(listed) or r.settled is None):
        raise none_left(len(listed), problems)
    assert r.settled is not None
    parts = totals.sums()
    if not parts:
        raise BadInput(
            f"{', '.join(r.sources[:3])}: no rows are left to judge; {r.dropped:,} were dropped as missing"
        )
    labels = _classes(r.settled.labels())
    parts = {key: replace(t, origin=replace(t.origin, **labels)) for key, t in parts.items()}
    if not any(t.negatives or t.positives for t in parts.values()) and r.settled.columns.get(
        "weight"
    ):
        raise no_weight(r.settled.columns["weight"])
    first = next(iter(parts.values())).origin
    origin = replace(
        first, negatives=sum(t.origin.negatives for t in parts.values()),
        positives=sum(t.origin.positives for t in parts.values()), dropped=r.dropped,
        sources=tuple(sorted(r.sources)), shards=tuple(sorted(r.shards.values())),
    )  # fmt: skip
    resumed, skipped = told_of(r.resumed, len(r.sources), problems)
    notes = (*r.settled.notes, *resumed, *_overrun(r, totals), *skipped)
    names = tuple(name for name, _ in r.skipped)
    made = TallySet(_by(r.asked, r.settled), parts, r.asked.every, origin)
    return Gathered(made, notes, r.settled.hints, names, r.resumed)


def none_left(files: int, problems: Sequence[BadInput]) -> BadInput:
    """That all files were skipped, and why the first was."""
    return BadInput(f"none of the {files:,} files can be used; the first: ", *problems[0].parts)


def told_of(resumed: int, files: int, problems: Sequence[BadInput]) -> tuple[list[str], list[str]]:
    """Notes on files taken from an earlier run, and on those that were skipped."""
    earlier = f"{resumed:,} of {files:,} files were taken from the earlier run"
    of = "file was" if len(problems) == 1 else "files were"
    why = "; ".join(map(str, problems[:3])) + "; ..." * (len(problems) > 3)
    skipped = f"{len(problems):,} bad {of} skipped: {why}"
    return [earlier] * bool(resumed), [skipped] * bool(problems)


def _overrun(r: _Reading, totals: Totals) -> list[str]:
    """A note where scores were put on a grid because of the memory."""
    if not r.budget.overrun:
        return []
    scores = r.budget.scores(r.settled is not None and bool(r.settled.columns.get("weight")))
    cells = sum(total.cells for total in totals.totals.values())
    return [
        f"more than {scores:,} distinct scores do not fit the memory of {r.asked.memory}: they are "
        f"kept on a grid of {cells:,} cells, and what that leaves "
        "open is told as a bound"
    ]


def listed_files(source: Any) -> list[Any]:
    """One file or several as a list."""
    return list(source) if isinstance(source, list | tuple) else [os.fspath(source)]
