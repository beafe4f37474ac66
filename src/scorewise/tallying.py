"""`tally`, `merge` and `show`: shards to a tally, days to a month, and what is in one."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from scorewise.columns import Kind, Missing
from scorewise.columns.grouping import Every
from scorewise.columns.roles import Spec
from scorewise.columns.sources import is_files
from scorewise.engines.file_walk import MEMORY, FileWalk, TallyOptions
from scorewise.engines.files import rows_of_files, tally_of_files
from scorewise.errors import BadInput, Option
from scorewise.registry import MEASURES
from scorewise.show.data import DataRecord
from scorewise.show.document import Document
from scorewise.show.page import Section, section
from scorewise.show.records import Count, Number, Record, Word, field
from scorewise.show.result import Pictures, Result
from scorewise.show.verdict import Claims, claim
from scorewise.show.words import Sentence, count, percent, plural
from scorewise.tallies import ClassTally, RowTally, Tally, TallySet
from scorewise.tallies.coarse import Grid
from scorewise.tallies.consistency import AnyTally
from scorewise.tallies.merging import as_list, check_path, is_saved, merge_files
from scorewise.tallies.store import save


class Saved(NamedTuple):
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
    several_scores = score is not None and not isinstance(score, str) and len(score) > 1
    together = bool(raters) or classes is not None or several_scores
    roles: dict[str, Any] = {
        "label": label, "score": score, "classes": classes, "raters": list(raters) or None,
        "weight": weight, "count": count, "positive": positive, "kind": kind,
    }  # fmt: skip
    if together:
        _refuse_roles(roles, grid)
    elif score is not None and not isinstance(score, str):
        roles["score"] = next(iter(score), None)
    if not raters:
        roles["missing"] = missing
    options = TallyOptions(roles, by, time, every, encoding, grid, memory)
    walk = FileWalk(
        as_list(source), again=again, skip_bad_files=skip_bad_files,
        checkpoints=Path(f"{out}.parts"), mark=options.mark, resume=resume,
    )  # fmt: skip
    made = (rows_of_files if together else tally_of_files)(options, walk)
    t = made.tallies
    t = t.whole if isinstance(t, TallySet) and not t.by else t  # one where there are no groups
    save(t, out)
    walk.clear()
    return Saved(t, t.rows, made.notes)


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
    total = merge_files(_tallies(files), again)
    save(total, out)
    return Saved(total, total.rows)


def show(files: Any, *, again: bool = False) -> ShownTally:
    """What is in saved tallies: rows, classes, cells, groups, and the files that they were made of."""
    return ShownTally(merge_files(_tallies(files), again))


class ShownTally(Result):
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

        t = self.tally
        if isinstance(t, RowTally):
            return Pictures({}, ())
        if isinstance(t, ClassTally):
            return Pictures({"confusion": partial(ConfusionDisplay.from_tally, t)}, ("confusion",))
        whole = t.whole if isinstance(t, TallySet) else t
        return Pictures({"density": partial(DensityDisplay.from_tally, whole)}, ("density",))


def _tallies(files: Any) -> list[Any]:
    names = as_list(files)
    if not is_saved(names):
        raise BadInput(
            f"{names[0]} is not a saved tally (.tally); make one of it with scorewise tally"
        )
    return names


# What `show` writes and shows of a saved tally.


_SHOWN = 50  # groups or files on a page


class FileRecord(Record):
    """A file that rows came from."""

    name: str
    size: Count
    rows: Count = field("Its rows, with those that were dropped.")
    digest: str = field("BLAKE2b (256 bits) of its size and content, of large files of 64 pieces.")


class GroupRecord(Record):
    """The rows of one group, or of one window of time."""

    words: list[str] = field("The value of each column of groups.")
    rows: Count
    positives: Count | None
    cells: Count = field("Its distinct scores, cells of the grid, or distinct rows.")


class TallyDocument(Document, command="show"):
    """What is in a saved tally."""

    verdict: Claims
    data: DataRecord | None = field("The rows and classes; null of several classes.")
    rows: Count
    classes: list[str] = field("The classes; the negative one first, where there are two.")
    score: str
    kind: Kind | None = field("What the scores are said to be; null: not said.")
    cells: Count = field("Distinct scores, cells of the grid, or distinct rows, in all groups.")
    grid: Word | None = field("The grid of the cells; null: all scores are exact.")
    bound: Number = field(
        "How far AUROC may be from that of the exact scores; null: none or not known."
    )
    columns: list[str] = field("Columns of distinct rows; empty where scores are kept by class.")
    by: list[str]
    window: Word | None = field(
        "What a window of time is, by the last of these columns; null: none."
    )
    groups: list[GroupRecord] = field("The groups.")
    files: list[FileRecord] = field("The files of rows, where they were recorded.")

    def sections(self) -> list[Section]:
        """The rows, the scores, the groups and the files."""
        facts: list[tuple[str, Sentence]] = [("Rows", count(self.rows))]
        facts += [("Classes", ", ".join(self.classes))] if self.classes else []
        facts = facts if self.data is None else [*self.data.facts()]
        if self.columns:
            facts.append(("Columns", ", ".join(self.columns)))
        elif self.grid is None:
            facts.append(("Scores", f"{plural(self.cells, 'distinct score')}, exact ({self.kind})"))
        else:
            cells = f"{plural(self.cells, 'cell')} of the grid '{self.grid}'"
            known = "" if self.bound is None else f"; AUROC is known to within {self.bound:.2g}"
            facts.append(("Scores", f"{cells}{known} ({self.kind})"))
        if self.by:
            window = f", each {self.window}" if self.window else ""
            facts.append(("Groups", f"{len(self.groups):,}, by {' and '.join(self.by)}{window}"))
        groups: list[tuple[Any, ...]]
        if self.columns:
            groups = [(" / ".join(g.words), g.rows, g.cells) for g in self.groups]
            counts = ["Rows", "Distinct"]
        else:
            groups = [(" / ".join(g.words), g.rows, g.positives, g.cells) for g in self.groups]
            counts = ["Rows", "Positive", "Cells"]
        files = [(f.name, f.rows, f.size) for f in self.files]
        return [
            Section(facts=facts),
            *_table("Group", counts, groups),
            *_table("File", ["Rows", "Bytes"], files),
        ]


def _table(name: str, counts: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> list[Section]:
    """The first rows of a table of names and counts, and how many more there are."""
    if not rows:
        return []
    more = len(rows) - _SHOWN
    notes = [f"{more:,} more; --json has all."] if more > 0 else []
    columns: Any = {name: "text", **dict.fromkeys(counts, "count")}
    return list(section(f"{name}s", columns, list(rows[:_SHOWN]), notes=notes))


def tally_document(t: AnyTally) -> TallyDocument:
    """The document of any saved tally."""
    fields: dict[str, Any] = dict.fromkeys(("data", "grid", "bound", "window"))
    fields |= {name: [] for name in ("columns", "by", "groups", "files")}
    if isinstance(t, ClassTally):
        sentences = {"rows": f"{plural(t.rows, 'row')} of {len(t.classes)} classes."}
        kind = "probability" if t.kind == "probability" else "score"
        fields |= {"classes": list(t.classes), "score": t.top.origin.score, "kind": kind}
    else:
        sentences, more = _row_fields(t) if isinstance(t, RowTally) else _score_fields(t)
        files = [FileRecord(**shard._asdict()) for shard in t.origin.shards]
        fields |= {**more, "files": files}
        if not isinstance(t, Tally):
            fields |= {"by": list(t.by), "window": t.window}
    verdict = [claim("data", finding, said) for finding, said in sentences.items()]
    return TallyDocument(verdict=verdict, rows=t.rows, cells=t.cells, **fields)


def _row_fields(t: RowTally) -> tuple[dict[str, str], dict[str, Any]]:
    """The verdict on distinct rows, and what is shown of them."""
    scores = t.roles.get("score") or (t.roles.get("classes") or {}).values() or t.roles["raters"]
    classes = list(t.roles.get("classes") or ())
    if not classes and "label" in t.roles:
        classes = sorted(map(str, t.frame[t.roles["label"]].unique().to_list()))
    groups = []
    for key, part in t.frame.group_by(t.by, maintain_order=True) if t.by else ():
        words, rows = list(map(str, key)), int(part[t.count].sum())
        groups.append(GroupRecord(words=words, rows=rows, positives=None, cells=part.height))
    return {"rows": f"{plural(t.rows, 'row')}, kept as {plural(t.cells, 'distinct row')}."}, {
        "classes": classes, "score": ", ".join(scores), "kind": t.roles.get("kind") or None,
        "columns": t.columns, "groups": sorted(groups, key=lambda group: group.words),
    }  # fmt: skip


def _score_fields(t: Tally | TallySet) -> tuple[dict[str, str], dict[str, Any]]:
    """The verdict on scores of two classes, how exactly they are known, and what is shown of them."""
    whole = t.whole if isinstance(t, TallySet) else t
    o, coarse, bound = whole.origin, whole.coarse, None
    groups = [
        GroupRecord(words=list(key), rows=x.rows, positives=x.origin.positives, cells=x.cells)
        for key, x in (t.parts.items() if isinstance(t, TallySet) else ())
    ]
    share = f", {percent(o.positives / o.rows)} of them positive" if o.rows else ""
    parts = f", in {plural(len(groups), 'group')}" if groups else ""
    verdict = {"rows": f"{plural(o.rows, 'row')}{share}{parts}."}
    if coarse is None:
        verdict["exact"] = "Each score is kept, so that every measure is exact."
    else:
        verdict["grid"] = "Scores are rounded to the cells of a grid."
        if not whole.why_not_ranked:
            bound = MEASURES["auroc"].under({"level": 0.95}, whole).bound
            verdict["grid"] = (
                f"Scores are rounded to the cells of a grid: AUROC is known to within {bound:.2g}."
            )
    return verdict, {
        "data": DataRecord.of(whole), "classes": [o.negative, o.positive], "score": o.score,
        "kind": whole.kind, "grid": None if coarse is None else coarse.grid, "bound": bound,
        "groups": groups,
    }  # fmt: skip
