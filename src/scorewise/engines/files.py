"""Tallies of files of any size and number: of one score its cells, of several columns the distinct rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from scorewise.columns import Rows, binary_rows
from scorewise.columns.classes import class_rows
from scorewise.columns.files import open_file, open_source
from scorewise.columns.grouping import moments, windows
from scorewise.columns.labels import Labels
from scorewise.columns.numbers import no_weight
from scorewise.columns.ratings import rating_rows
from scorewise.columns.reader import warn
from scorewise.columns.roles import class_columns
from scorewise.columns.sources import is_files
from scorewise.columns.streaming import BatchSchema, SchemaChanged, batches, infer_schema
from scorewise.columns.tables import Table
from scorewise.engines.file_walk import File, FileWalk, TallyOptions, bytes_of
from scorewise.engines.sums import GroupSums, MemoryBudget, group_tallies
from scorewise.errors import BadInput, Option
from scorewise.tallies.origin import Origin, Shard
from scorewise.tallies.sets import Key, RowTally, TallySet, role_columns
from scorewise.tallies.tally import Tally


class FileTally(NamedTuple):
    """What was made of files: tallies by group, or distinct rows, and what is to be said of the reading."""

    tallies: Any
    notes: tuple[str, ...]
    hints: tuple[str, ...] = ()


# One score of two classes: cells, by group.


def tally_of_files(options: TallyOptions, walk: FileWalk) -> FileTally:
    """The tally of files, by group where columns of groups are named."""
    settled: BatchSchema | None = None
    pipes: dict[str, Table] = {}  # what can be read once only
    while True:
        reading = _Reading(options, walk, settled, pipes)
        try:
            walk.each(reading.add)
            return reading.sum()
        except SchemaChanged:  # what a later file showed is known now
            settled = reading.settled
            assert settled is not None
            settled.handed = False


class _Reading:
    """The tallies of the files of one walk, under what is settled so far."""

    def __init__(
        self,
        options: TallyOptions,
        walk: FileWalk,
        settled: BatchSchema | None,
        pipes: dict[str, Table],
    ) -> None:
        self.options, self.walk, self.settled, self.pipes = options, walk, settled, pipes
        self.budget = MemoryBudget(bytes_of(options.memory), options.grid)
        self.groups = GroupSums(self.budget)
        self.dropped = 0

    def add(self, file: File, shard: Shard | None) -> int:
        """Add the tallies of one file; how many rows it has."""
        before = None if self.settled is None else _copied(self.settled)
        try:
            encoding = self.options.encoding
            table = self.pipes.get(file.name) or open_file(file.path, file.name, encoding)
            if file.once:
                self.pipes[file.name] = table
            settled = self.settled = self.settled or self._settle(table)
            made = self._earlier(file, shard, settled) or self._read(table, file, shard, settled)
        except BadInput:
            self.settled = before
            raise
        tallies, rows, dropped = made
        self.groups.add(tallies)
        self.dropped += dropped
        return rows

    def _earlier(self, file: File, shard: Shard | None, settled: BatchSchema) -> _Made | None:
        """The tallies that an earlier run made of a file, its rows, and those dropped."""
        kept = self.walk.earlier(file, shard, TallySet)
        if kept is None:
            return None
        o, t = kept.origin, next(iter(kept.values()))
        labels = Labels(o.positive, o.negative, o.rule)
        if not _copied(settled).know(labels, t.kind):
            return None
        settled.know(labels, t.kind)
        if t.coarse is not None and self.budget.grid is None:
            self.budget.grid, self.budget.overrun = t.coarse.grid, True
        self.walk.advance(o.shards[0].rows, earlier=True)
        return kept.parts, o.shards[0].rows, o.dropped

    def _read(self, table: Table, file: File, shard: Shard | None, settled: BatchSchema) -> _Made:
        """The tallies of a file, its rows, and those dropped."""
        groups, waiting = GroupSums(self.budget), list[Rows]()
        rows, dropped, every = 0, 0, self.options.every
        for columns, batch in batches(table, settled):
            if every is not None:  # the window of time is the last group
                name, moment = columns.name("time"), columns.column("time")
                window = {name: windows(moment.values, name, every)}
                batch = replace(batch, groups=batch.groups | window)
            waiting.append(batch)
            dropped += batch.dropped
            rows += len(batch) + batch.dropped
            self.walk.advance(len(batch) + batch.dropped)
            if sum(map(len, waiting)) >= self.budget.rows(batch.weight is not None):
                groups.add(group_tallies(waiting, settled.score))
                waiting = []
        groups.add(group_tallies(waiting, settled.score))
        tallies = groups.sums()
        if shard is not None and tallies and settled.decided:
            origin = replace(
                _of_classes(Origin(settled.label, settled.score), settled.labels()),
                dropped=dropped, shards=(shard._replace(rows=rows),),
            )  # fmt: skip
            self.walk.keep(file, shard, TallySet(self._by, tallies, every, origin))
        return tallies, rows, dropped

    def _settle(self, table: Table) -> BatchSchema:
        """Which columns are meant, by the first rows of the first file."""
        o = self.options
        columns = {role: o.roles.get(role) for role in ("label", "score", "weight", "count")}
        columns |= {"group": list(o.by)} if o.by else {}
        columns |= {} if o.time is None else {"time": o.time}
        how: Any = {name: o.roles.get(name) for name in ("positive", "kind")}
        return infer_schema(table, columns, **how, missing=o.roles.get("missing", "refuse"))

    @property
    def _by(self) -> tuple[str, ...]:
        assert self.settled is not None
        time = self.settled.columns.get("time")
        return (*self.settled.columns.get("group", ()), *([] if time is None else [time]))

    def sum(self) -> FileTally:
        """The sum of all files, and what is to be told."""
        settled, sources = self.settled, self.walk.sources
        assert settled is not None
        parts = self.groups.sums()
        if not parts:
            raise BadInput(
                f"{', '.join(sources[:3])}: no rows are left to judge; {self.dropped:,} were dropped as "
                "missing"
            )
        labels = settled.labels()  # which parts do not name while files are read
        parts = {key: replace(t, origin=_of_classes(t.origin, labels)) for key, t in parts.items()}
        weight = settled.columns.get("weight")
        if weight and not any(t.negatives or t.positives for t in parts.values()):
            raise no_weight(weight)
        origin = replace(
            next(iter(parts.values())).origin, dropped=self.dropped,
            negatives=sum(t.origin.negatives for t in parts.values()),
            positives=sum(t.origin.positives for t in parts.values()),
        )  # fmt: skip
        made = TallySet(self._by, parts, self.options.every, self.walk.with_files(origin))
        overrun = [
            f"more than {self.budget.scores(bool(weight)):,} distinct scores do not fit the memory of "
            f"{self.options.memory}: they are kept on a grid of {self.groups.cells:,} cells, and what that "
            "leaves open is told as a bound"
        ]
        notes = (*settled.notes, *self.walk.notes(*overrun * self.budget.overrun))
        return FileTally(made, notes, settled.hints)


_Made = tuple[dict[Key, Tally], int, int]


def _copied(settled: BatchSchema) -> BatchSchema:
    return replace(settled, words=dict(settled.words), written=dict(settled.written))


def _of_classes(origin: Origin, labels: Labels) -> Origin:
    return replace(origin, positive=labels.positive, negative=labels.negative, rule=labels.rule)


# Several columns: distinct rows.


def distinct_rows(source: Any, options: TallyOptions) -> RowTally:
    """The tally of files, a frame or a mapping of columns, of which what was guessed is told."""
    made, notes = _read_rows(source, options)
    warn(notes)
    return made


def _read_rows(source: Any, options: TallyOptions) -> tuple[RowTally, tuple[str, ...]]:
    """The tally, whose rows are checked as a verb would, and what is to be said of the columns."""
    # what can be read once only is read here
    opened = open_source(source, options.encoding if is_files(source) else None)
    roles, dropped, notes = _checked(opened, options)
    count, time = roles.get("count"), options.time
    columns, _ = opened.read(
        [*role_columns(roles, options.groups), *([count] if count else [])], ()
    )
    if time is not None and options.every is not None:
        at = moments(columns[time], time)
        if at.dtype.kind == "M" and (none := np.isnat(at)).any():
            first = int(none.argmax()) + 1
            raise BadInput(f"{time} is missing, first at row {first}; give each row its time")
        codes, words = windows(at, time, options.every)
        columns[time] = [words[k] for k in codes.tolist()]
    origin = Origin(sources=opened.sources, dropped=dropped)
    made = RowTally.of(columns, roles, options.groups, options.every, origin)
    if made.frame.estimated_size() > bytes_of(options.memory):
        raise BadInput(
            f"{made.cells:,} distinct rows do not fit the memory of {options.memory}; round the "
            "scores before, or pass ", Option("memory"), " with more",
        )  # fmt: skip
    return made, notes


def _checked(opened: Any, options: TallyOptions) -> tuple[dict[str, Any], int, tuple[str, ...]]:
    """The roles with the names of their columns, rows dropped, and notes; bad rows are refused."""
    r = {k: v for k, v in options.roles.items() if v is not None}
    groups = options.groups or None
    if "raters" in r:
        amounts = {k: r[k] for k in ("weight", "count") if k in r}
        rating_rows(opened, raters=r["raters"], groups=groups, **amounts)
        return r, 0, ()
    if "classes" in r:
        r["classes"] = class_columns(opened.names, r["classes"])
        own = {k: v for k, v in r.items() if k not in ("classes", "positive")}
        rows: Any = class_rows(opened, classes=r["classes"], group=groups, **own)
    else:
        rows = binary_rows(opened, group=groups, **r)
    return r | {"label": rows.names.label}, rows.dropped, tuple(rows.notes)


def rows_of_files(options: TallyOptions, walk: FileWalk) -> FileTally:
    """The distinct rows of files."""
    total: RowTally | None = None
    notes: tuple[str, ...] = ()  # of the first file

    def add(file: File, shard: Shard | None) -> int:
        nonlocal total, notes
        made = earlier = walk.earlier(file, shard, RowTally)
        if made is None:
            made, of_columns = _read_rows([str(file.path)], options)
            notes = notes or of_columns
            shards = () if shard is None else (shard._replace(rows=made.rows),)
            made = replace(made, origin=replace(made.origin, sources=(file.name,), shards=shards))
            walk.keep(file, shard, made)
        # the walk knows the files, of which one may be there twice
        own = replace(made, origin=replace(made.origin, shards=()))
        total = own if total is None else total + own
        walk.advance(made.rows, earlier=earlier is not None)
        return made.rows

    walk.each(add)
    assert total is not None
    total = replace(total, origin=walk.with_files(total.origin))
    return FileTally(total, (*notes, *walk.notes()))
