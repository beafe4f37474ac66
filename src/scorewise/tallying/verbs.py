"""`tally`, `merge` and `show`: shards to a tally, days to a month, and what is in one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from scorewise.columns import Kind, Missing
from scorewise.columns.files import is_files
from scorewise.columns.grouping import check_groups
from scorewise.columns.roles import Spec
from scorewise.columns.times import Every
from scorewise.errors import BadInput, Option
from scorewise.show.shown import Shown
from scorewise.tallies import ClassTally, RowTally, Tally, TallySet
from scorewise.tallies.coarse import Grid
from scorewise.tallies.gathering import MEMORY, Asked, Parts, gather, listed_files
from scorewise.tallies.merging import check_path, is_saved, merged
from scorewise.tallies.row_files import Wanted, gather_rows
from scorewise.tallies.store import AnyTally, save
from scorewise.tallying.document import TallyDocument, tally_document


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
