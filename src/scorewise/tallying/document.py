"""What `show` writes and shows of a saved tally."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from scorewise.columns import Kind
from scorewise.registry import MEASURES
from scorewise.show.data import DataRecord
from scorewise.show.document import Document
from scorewise.show.fields import Count, Number, Record, Word, means
from scorewise.show.page import Section, section
from scorewise.show.verdict import Claims, claim
from scorewise.show.words import Sentence, count, counted, percent
from scorewise.tallies import ClassTally, RowTally, Tally, TallySet
from scorewise.tallies.coarse import Shard
from scorewise.tallies.store import AnyTally

_SHOWN = 50  # groups or files on a page


class FileRecord(Record):
    """A file that rows came from."""

    name: str
    size: Count
    rows: Count = means("Its rows, with those that were dropped.")
    digest: str = means("BLAKE2b (256 bits) of its size and content, of large files of 64 pieces.")

    @classmethod
    def of(cls, shard: Shard) -> FileRecord:
        """The record of what is known of a file."""
        return cls(name=shard.name, size=shard.size, rows=shard.rows, digest=shard.digest)


class GroupRecord(Record):
    """The rows of one group, or of one window of time."""

    words: list[str] = means("The value of each column of groups.")
    rows: Count
    positives: Count | None
    cells: Count = means("Its distinct scores, cells of the grid, or distinct rows.")


class TallyDocument(Document, command="show"):
    """What is in a saved tally."""

    verdict: Claims
    data: DataRecord | None = means("The rows and classes; null of several classes.")
    rows: Count
    classes: list[str] = means("The classes; the negative one first, where there are two.")
    score: str
    kind: Kind | None = means("What the scores are said to be; null: not said.")
    cells: Count = means("Distinct scores, cells of the grid, or distinct rows, in all groups.")
    grid: Word | None = means("The grid of the cells; null: all scores are exact.")
    bound: Number = means(
        "How far AUROC may be from that of the exact scores; null: none or not known."
    )
    columns: list[str] = means("Columns of distinct rows; empty where scores are kept by class.")
    by: list[str]
    window: Word | None = means(
        "What a window of time is, by the last of these columns; null: none."
    )
    groups: list[GroupRecord] = means("The groups.")
    files: list[FileRecord] = means("The files of rows, where they were recorded.")

    def sections(self) -> list[Section]:
        """The rows, the scores, the groups and the files."""
        facts: list[tuple[str, Sentence]] = []
        if self.data is None:
            facts.append(("Rows", count(self.rows)))
            facts += [("Classes", ", ".join(self.classes))] if self.classes else []
        else:
            facts += self.data.facts()
        cells = f"{counted(self.cells, 'cell')} of the grid '{self.grid}'"
        exact = f"{counted(self.cells, 'distinct score')}, exact"
        if self.bound is not None and self.grid is not None:
            cells += f"; AUROC is known to within {self.bound:.2g}"
        if self.columns:
            facts.append(("Columns", ", ".join(self.columns)))
        else:
            facts.append(("Scores", f"{exact if self.grid is None else cells} ({self.kind})"))
        if self.by:
            window = f", each {self.window}" if self.window else ""
            facts.append(("Groups", f"{len(self.groups):,}, by {' and '.join(self.by)}{window}"))
        made = [Section(facts=facts)]
        made += _table(
            "Groups",
            {"Group": "text", "Rows": "count", "Distinct": "count"}
            if self.columns
            else {"Group": "text", "Rows": "count", "Positive": "count", "Cells": "count"},
            [
                (" / ".join(g.words), g.rows, *(() if self.columns else (g.positives,)), g.cells)
                for g in self.groups
            ],
        )
        made += _table(
            "Files",
            {"File": "text", "Rows": "count", "Bytes": "count"},
            [(f.name, f.rows, f.size) for f in self.files],
        )
        return made


def _table(
    title: str, columns: Mapping[str, Literal["text", "count"]], rows: Sequence[tuple[Any, ...]]
) -> list[Section]:
    """The first rows of a table, and how many more there are."""
    if not rows:
        return []
    more = len(rows) - _SHOWN
    notes = [f"{more:,} more; --json has all."] if more > 0 else []
    return list(section(title, dict(columns), list(rows[:_SHOWN]), notes=notes))


def tally_document(t: AnyTally) -> TallyDocument:
    """The document of any saved tally."""
    if isinstance(t, RowTally):
        return _of_rows(t)
    if isinstance(t, ClassTally):
        said = f"{counted(int(t.rows), 'row')} of {len(t.classes)} classes."
        return TallyDocument(
            verdict=[claim("data", "rows", said)],
            data=None, rows=int(t.rows), classes=list(t.classes), score=t.top.origin.score,
            kind="probability" if t.kind == "probability" else "score", cells=len(t.top.score), grid=None,
            bound=None, columns=[], by=[], window=None, groups=[], files=[],
        )  # fmt: skip
    parts = t if isinstance(t, TallySet) else {}
    whole = t.whole if isinstance(t, TallySet) else t
    assert isinstance(whole, Tally)
    groups = [
        GroupRecord(
            words=list(key), rows=x.origin.rows, positives=x.origin.positives, cells=len(x.score)
        )
        for key, x in parts.items()
    ]
    bound = None
    if whole.coarse is not None and not whole.why_not_ranked:
        bound = MEASURES["auroc"].under({"level": 0.95}, whole).bound
    return TallyDocument(
        verdict=_verdict(whole, bound, len(groups)), data=DataRecord.of(whole), rows=whole.origin.rows,
        classes=[whole.origin.negative, whole.origin.positive], score=whole.origin.score,
        kind=whole.kind, cells=sum(g.cells for g in groups) if groups else len(whole.score),
        grid=None if whole.coarse is None else whole.coarse.grid, bound=bound,
        columns=[], by=list(t.by) if isinstance(t, TallySet) else [],
        window=t.window if isinstance(t, TallySet) else None, groups=groups,
        files=[FileRecord.of(shard) for shard in t.origin.shards],
    )  # fmt: skip


def _of_rows(t: RowTally) -> TallyDocument:
    """The document of distinct rows."""
    scores = t.roles.get("score") or (t.roles.get("classes") or {}).values() or t.roles["raters"]
    held = f"{counted(t.rows, 'row')}, kept as {counted(t.frame.height, 'distinct row')}."
    words = list(t.roles.get("classes") or ())
    if not words and "label" in t.roles:
        words = sorted(map(str, t.frame[t.roles["label"]].unique().to_list()))
    groups = []
    if t.by:
        parts = t.frame.group_by(t.by, maintain_order=True)
        groups = [
            GroupRecord(
                words=[str(word) for word in key], rows=int(part[t.count].sum()), positives=None,
                cells=part.height,
            )
            for key, part in sorted(parts, key=lambda pair: [str(word) for word in pair[0]])
        ]  # fmt: skip
    return TallyDocument(
        verdict=[claim("data", "rows", held)], data=None, rows=t.rows, classes=words,
        score=", ".join(scores), kind=t.roles.get("kind") or None, cells=t.frame.height, grid=None,
        bound=None, columns=t.columns, by=list(t.by), window=t.window, groups=groups,
        files=[FileRecord.of(shard) for shard in t.origin.shards],
    )  # fmt: skip


def _verdict(t: Tally, bound: float | None, groups: int) -> Claims:
    """How many rows there are, and how exactly their scores are known."""
    o = t.origin
    share = f", {percent(o.positives / o.rows)} of them positive" if o.rows else ""
    parts = f", in {counted(groups, 'group')}" if groups else ""
    if t.coarse is None:
        kept = "Each score is kept, so that every measure is exact."
    elif bound is None:
        kept = "Scores are rounded to the cells of a grid."
    else:
        kept = f"Scores are rounded to the cells of a grid: AUROC is known to within {bound:.2g}."
    said = f"{counted(o.rows, 'row')}{share}{parts}."
    return [
        claim("data", "rows", said),
        claim("data", "exact" if t.coarse is None else "grid", kept),
    ]
