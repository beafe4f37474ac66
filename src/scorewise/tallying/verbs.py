"""`tally`, `merge` and `show`: shards to a tally, days to a month, and what is in one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from scorewise.columns import Kind, Missing
from scorewise.columns.files import is_files
from scorewise.columns.grouping import Every, check_groups
from scorewise.columns.roles import Spec
from scorewise.errors import BadInput, Option
from scorewise.registry import MEASURES
from scorewise.show.data import DataRecord
from scorewise.show.document import Document
from scorewise.show.fields import Count, Number, Record, Word, means
from scorewise.show.page import Section, section
from scorewise.show.shown import Shown
from scorewise.show.verdict import Claims, claim
from scorewise.show.words import Sentence, count, counted, percent
from scorewise.tallies import ClassTally, RowTally, Tally, TallySet
from scorewise.tallies.coarse import Grid, Shard
from scorewise.tallies.gathering import MEMORY, Asked, Parts, gather, listed_files
from scorewise.tallies.merging import check_path, is_saved, merged
from scorewise.tallies.row_files import Wanted, gather_rows
from scorewise.tallies.store import AnyTally, save


@dataclass(frozen=True)
class Saved:
    """A tally that was written, the rows that it is of, and what is to be said of them."""

    tally: AnyTally
    rows: int
    notes: tuple[str, ...] = ()


def tally_files(
    source: Any, *, label: str | None = None, score: str | Sequence[str] | None = None,
    classes: Spec | None = None, raters: Sequence[str] = (), weight: str | None = None,
    count: str | None = None, positive: Any = None, by: str | Sequence[str] | None = None,
    time: str | None = None, every: Every | None = None, grid: Grid | None = None,
    memory: str = MEMORY, kind: Kind | None = None, missing: Missing = "refuse",
    encoding: str | None = None, again: bool = False, resume: bool = False,
    skip_bad_files: bool = False, out: str,
) -> Saved:  # fmt: skip
    """Write the tally of files of any size and number, which are read in batches, file by file.

    `by` names columns of groups, each of which gets a tally; with `time`, a column of dates, each `every`
    day, week, month, quarter or year does. Tallies are exact as long as the distinct scores fit `memory`;
    then, or with `grid` from the start, they lie on the cells of a grid.

    Of several `score` columns, of the columns of several `classes`, and of `raters`, the distinct rows are
    kept, with how many rows each stands for: `compare`, `evaluate` and `agree` need what they say together.

    Each finished file is kept beside `out` until all are done, and a run that was ended goes on from those
    with `resume`. A file with the content of another is refused, unless `again`; one that cannot be used is
    left out with `skip_bad_files`.
    """
    check_path(out)
    if not is_files(source) or is_saved(source):
        raise BadInput(
            "a tally is made of files of rows; saved tallies are added up by scorewise merge"
        )
    if raters or classes is not None or _several(score):
        roles = {"label": label, "score": score, "classes": classes, "raters": list(raters) or None}
        roles |= {"weight": weight, "count": count, "positive": positive, "kind": kind}
        _refuse_roles(roles, grid)
        groups = (by,) if isinstance(by, str) else tuple(by or ())
        wanted = Wanted(
            roles if raters else {**roles, "missing": missing},
            groups,
            time,
            every,
            encoding,
            memory,
        )
        parts = Parts(Path(f"{out}.parts"), wanted.mark, resume)
        found = gather_rows(
            listed_files(source), wanted, again=again, skip_bad_files=skip_bad_files, parts=parts
        )
        save(found.tally, out)
        parts.clear()
        return Saved(found.tally, found.tally.rows, found.notes)
    score = _one(score)
    columns: dict[str, Any] = {"label": label, "score": score, "weight": weight, "count": count}
    if by is not None:
        check_groups(by, {name: used for name, used in columns.items() if used is not None})
        columns["group"] = [by] if isinstance(by, str) else list(by)
    if time is not None:
        columns["time"] = time
    asked = Asked(columns, positive, kind, missing, encoding, every, grid, memory)
    parts = Parts(Path(f"{out}.parts"), asked.mark, resume)
    made = gather(
        listed_files(source), asked, again=again, skip_bad_files=skip_bad_files, parts=parts
    )
    save(made.tally, out)
    parts.clear()
    return Saved(made.tally, made.tallies.origin.rows, made.notes)


def _several(score: Any) -> bool:
    return score is not None and not isinstance(score, str) and len(score) > 1


def _one(score: Any) -> str | None:
    return score if score is None or isinstance(score, str) else next(iter(score), None)


def _refuse_roles(roles: dict[str, Any], grid: Grid | None) -> None:
    """Refuse options that do not belong to columns that stay together."""
    kind = next(role for role in ("raters", "classes", "score") if roles[role])
    others = {
        "raters": ("label", "score", "classes", "positive", "kind"), "classes": ("score", "positive"),
        "score": (),
    }[kind]  # fmt: skip
    if extra := next((name for name in others if roles[name]), None):
        raise BadInput(
            Option(extra), " does not go together with ", Option(kind), "; leave out one of them"
        )
    if grid is not None:
        raise BadInput(
            Option("grid"), " is for one column of scores; leave it out of several columns"
        )


def merge(files: Any, *, again: bool = False, out: str) -> Saved:
    """Write the sum of saved tallies: that of their rows, had they been read at once.

    A tally of rows that another has already is refused, by the files that each was made of, unless `again`.
    """
    check_path(out)
    total = merged(_tallies(files), again)
    save(total, out)
    return Saved(total, _rows(total))


def show(files: Any, *, again: bool = False) -> ShownTally:
    """What is in saved tallies: rows, classes, cells, groups, and the files that they were made of."""
    return ShownTally(merged(_tallies(files), again))


class ShownTally(Shown):
    """A saved tally as a page."""

    def __init__(self, tally: AnyTally) -> None:
        self.tally = tally
        self.notes: tuple[str, ...] = ()

    def document(self) -> TallyDocument:
        """What is written and shown; `scorewise schema show` prints its schema."""
        return tally_document(self.tally)

    def pictures(self) -> Any:
        """How the scores of both classes are spread; of several classes, the decisions."""
        from scorewise.displays import ConfusionDisplay, DensityDisplay
        from scorewise.displays.overview import Pictures

        t = self.tally
        if isinstance(t, RowTally):
            return Pictures({}, ())
        if isinstance(t, ClassTally):
            return Pictures({"confusion": partial(ConfusionDisplay.from_tally, t)}, ("confusion",))
        whole = t.whole if isinstance(t, TallySet) else t
        return Pictures({"density": partial(DensityDisplay.from_tally, whole)}, ("density",))


def _tallies(files: Any) -> list[Any]:
    listed = listed_files(files)
    if not is_saved(listed):
        raise BadInput(
            f"{listed[0]} is not a saved tally (.tally); make one of it with scorewise tally"
        )
    return listed


def _rows(t: AnyTally) -> int:
    if isinstance(t, ClassTally | RowTally):
        return int(t.rows)
    assert isinstance(t, Tally | TallySet)
    return t.origin.rows


# What `show` writes and shows of a saved tally.


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
