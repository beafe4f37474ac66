"""Files of rows whose columns stay together: several scores, several classes, raters."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from scorewise.columns import binary_rows
from scorewise.columns.classes import class_rows
from scorewise.columns.files import is_files, open_source
from scorewise.columns.grouping import Every, check_groups, moments, windows
from scorewise.columns.paths import STDIN, expand, names_of
from scorewise.columns.ratings import rating_rows
from scorewise.columns.roles import class_columns
from scorewise.columns.rows import warn
from scorewise.errors import BadInput, Option
from scorewise.progress import Progress, tell
from scorewise.tallies.coarse import Origin, Shard, shard_of
from scorewise.tallies.gathering import (
    MEMORY,
    Parts,
    bytes_of,
    check_once,
    check_time,
    mark_of,
    none_left,
    told_of,
)
from scorewise.tallies.sets import RowTally, role_columns


@dataclass(frozen=True)
class Wanted:
    """Which columns stay together, and how they are read."""

    roles: Mapping[
        str, Any
    ]  # label, score, classes, raters, weight, count, positive, kind, missing
    by: tuple[str, ...] = ()
    time: str | None = None
    every: Every | None = None
    encoding: str | None = None
    memory: str | int = MEMORY

    def __post_init__(self) -> None:
        check_time(self.time, self.every)

    @property
    def mark(self) -> str:
        """What tells tallies of the same files apart that were asked for in another way."""
        return mark_of(dict(self.roles), self.by, self.time, self.every, self.encoding)

    def tally(self, source: Any) -> RowTally:
        """The tally of files, a frame or a mapping of columns, of which what was guessed is told."""
        made, notes = self.read(source)
        warn(notes)
        return made

    def read(self, source: Any) -> tuple[RowTally, tuple[str, ...]]:
        """The tally, whose rows are checked as a verb would, and what is to be said of the columns."""
        groups = [*self.by, *([self.time] if self.time else [])]
        # what can be read once only is read here
        opened = open_source(source, self.encoding if is_files(source) else None)
        roles, dropped, notes = self._checked(opened, groups or None)
        count = roles.get("count")
        names = [*role_columns(roles, groups), *([count] if count else [])]
        columns, _ = opened.read(names, ())
        if self.time is not None:
            columns[self.time] = self._windows(columns[self.time])
        origin = Origin(sources=opened.sources, dropped=dropped)
        made = RowTally.of(columns, roles, groups, self.every, origin)
        if made.frame.estimated_size() > bytes_of(self.memory):
            raise BadInput(
                f"{made.frame.height:,} distinct rows do not fit the memory of {self.memory}; round the "
                "scores before, or pass ", Option("memory"), " with more",
            )  # fmt: skip
        return made, notes

    def _checked(self, opened: Any, groups: Any) -> tuple[dict[str, Any], int, tuple[str, ...]]:
        """The roles with the names of their columns, rows dropped, and notes; bad rows are refused."""
        r = {k: v for k, v in self.roles.items() if v is not None}
        if groups:
            used = {k: v for k, v in r.items() if k in ("label", "score", "weight", "count")}
            check_groups(groups, used)
        if "raters" in r:
            amounts = {k: r[k] for k in ("weight", "count") if k in r}
            rating_rows(opened, raters=r["raters"], groups=groups, **amounts)
            return r, 0, ()
        if "classes" in r:
            r["classes"] = class_columns(opened.names, r["classes"])
            own = {k: v for k, v in r.items() if k not in ("classes", "positive")}
            rows: Any = class_rows(opened, r["classes"], groups=groups, **own)
        else:
            rows = binary_rows(opened, groups=groups, **r)
        return r | {"label": rows.names.label}, rows.dropped, tuple(rows.notes)

    def _windows(self, column: Any) -> list[str]:
        assert self.time is not None
        assert self.every is not None
        at = moments(column, self.time)
        if at.dtype.kind == "M" and np.isnat(at).any():
            first = int(np.flatnonzero(np.isnat(at))[0]) + 1
            raise BadInput(f"{self.time} is missing, first at row {first}; give each row its time")
        codes, words = windows(at, self.time, self.every)
        return [words[k] for k in codes.tolist()]


@dataclass
class GatheredRows:
    """The sum of files, and what is to be said of them."""

    tally: RowTally
    notes: tuple[str, ...] = ()


@dataclass
class _Walk:
    shards: dict[str, Shard] = field(default_factory=dict)
    skipped: list[BadInput] = field(default_factory=list)
    resumed: int = 0
    notes: tuple[str, ...] = ()  # of the first file


def gather_rows(
    files: Sequence[Any], wanted: Wanted, *, again: bool, skip_bad_files: bool, parts: Parts
) -> GatheredRows:
    """The tally of files, one after the other; see `tally_files`."""
    paths = expand(files)
    walk, total = _Walk(), None
    progress = Progress(0)
    for path, name in zip(paths, names_of(paths), strict=True):
        try:
            made = _file(path, name, wanted, walk, again, parts if len(paths) > 1 else None)
            total = made if total is None else total + made
        except BadInput as problem:
            if not skip_bad_files:
                raise
            walk.skipped.append(problem)
            continue
        progress.rows += made.rows
        tell(progress)
    if total is None:
        raise none_left(len(paths), walk.skipped)
    resumed, skipped = told_of(walk.resumed, len(paths), walk.skipped)
    return GatheredRows(total, (*walk.notes, *resumed, *skipped))


def _file(
    path: Path, name: str, wanted: Wanted, walk: _Walk, again: bool, parts: Parts | None
) -> RowTally:
    if str(path) == STDIN or not path.is_file():
        made, walk.notes = wanted.read([str(path)])
        return made
    shard = shard_of(path, name, 0)
    check_once(walk.shards, shard, again)
    first = walk.shards.setdefault(shard.digest, shard)
    kept = None if parts is None else parts.find(path, shard.digest, RowTally)
    if kept is not None:
        walk.resumed += 1
        made = kept
    else:
        made, notes = wanted.read([str(path)])
        walk.notes = walk.notes or notes
        shards = (shard._replace(rows=made.rows),)
        made = replace(made, origin=replace(made.origin, sources=(name,), shards=shards))
        if parts is not None:
            parts.keep(path, shard.digest, made)
    return made if first is shard else replace(made, origin=replace(made.origin, shards=()))
