"""Evaluations of saved tallies and of files larger than memory, with groups that are tallies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns.classes import is_source
from scorewise.columns.files import is_files
from scorewise.columns.grouping import Grouping, check_groups
from scorewise.columns.rows import warn
from scorewise.errors import BadInput, Option
from scorewise.evaluation.by_group import asked
from scorewise.evaluation.groups import TWO_CLASSES, Groups
from scorewise.evaluation.models import Evaluation, Settings
from scorewise.inference.effects import told_apart
from scorewise.show.groups import GroupsRecord, ends, groups_record
from scorewise.tallies import Tally, TallySet
from scorewise.tallies.gathering import Asked, gather, is_large, listed_files

if TYPE_CHECKING:
    from scorewise.evaluation.evaluating import Given


class TallyGroups(Groups):
    """The evaluation of each group of a set of tallies; `Groups` of which no rows are at hand."""

    def __init__(self, tallies: Sequence[Tally], of: Evaluation, g: Grouping) -> None:
        super().__init__(None, of, g)  # type: ignore[arg-type]
        self._tallies = tallies

    def _make(self, name: str) -> Evaluation:
        return Evaluation(self._tallies[self._index[name]], self._of.settings)

    @cached_property
    def _rest(self) -> list[Tally]:
        """The tally of all other groups, for each: what is before it and what is after it."""
        none = Tally.empty()
        before, after = [none], [none]
        for t in self._tallies[:-1]:
            before.append(before[-1] + t)
        for t in self._tallies[:0:-1]:
            after.append(after[-1] + t)
        return [a + b for a, b in zip(before, reversed(after), strict=True)]

    def confirmed(self, name: str, measure: str, level: float) -> bool:
        """Whether the interval of the difference to the rest still excludes 0 at a stricter level."""
        settings = {**vars(self._of.settings), "level": level}
        k = self._index[name]
        first, second = (asked(measure, t, settings) for t in (self._tallies[k], self._rest[k]))
        return told_apart(first, second, level)

    @cached_property
    def record(self) -> GroupsRecord:
        """Each measure in each group and in the rest, with tests."""
        from scorewise.evaluation.document import FIRST

        e, names = self._of, (*FIRST, "oe_ratio")
        settings = vars(e.settings)
        mine = {name: [asked(name, t, settings) for t in self._tallies] for name in names}
        rest: dict[str, Floats] = {
            name: ends([asked(name, t, settings) for t in self._rest]) for name in names
        }
        return groups_record(
            self.grouping, mine, rest, e.settings.level, TWO_CLASSES,
            positives=[t.origin.positives for t in self._tallies], model=e.tally.origin.score,
        )  # fmt: skip


def evaluate_set(
    t: TallySet, settings: Settings, by: Any, min_rows: int, notes: tuple[str, ...] = ()
) -> Evaluation:
    """The evaluation of all rows of a set of tallies, and of its groups, by all its columns or by some."""
    if by is not None:
        t = t.over([by] if isinstance(by, str) else list(by))
    made = Evaluation(t.whole, settings, notes)
    keys = [key for key in t if t[key].origin.rows]
    if t.by and len(keys) < 2:
        one = " / ".join(keys[0]) if keys else ""
        if by is None:
            return made
        raise BadInput(
            f"all rows are in one group by {' and '.join(t.by)}, '{one}'; leave out ", Option("by")
        )
    if t.by:
        sizes = np.array([t[key].origin.rows for key in keys])
        g = Grouping(t.by, np.empty(0, np.int64), keys, sizes, min_rows)
        made.groups = TallyGroups([t[key] for key in keys], made, g)
    return made


def evaluate_large(
    given: Given, memory: str, settings: Settings, min_rows: int
) -> Evaluation | None:
    """The evaluation of files that do not fit the memory, read in batches; None where they do.

    Several classes, several scores and clusters take all rows at once.
    """
    source, by, named, options = given.y, given.by, given.named, given.options
    score = named["score"]
    one = score is None or isinstance(score, str) or len(score) == 1
    if not is_source(source) or not is_files(source) or not one or given.cluster is not None:
        return None
    if any(value is not None for value in given.several.values()):
        return None
    files = listed_files(source)
    if not is_large(files, memory):
        return None
    columns: dict[str, Any] = {
        "label": named["label"], "score": score, "weight": options["weight"], "count": options["count"],
        "cluster": None,
    }  # fmt: skip
    if by is not None:
        check_groups(by, {n: c for n, c in columns.items() if c is not None})
        columns["group"] = [by] if isinstance(by, str) else list(by)
    reading = Asked(
        columns,
        given.positive,
        options["kind"],
        options["missing"],
        named["encoding"],
        memory=memory,
    )
    found = gather(files, reading, digests=False)
    warn(found.notes)
    made = evaluate_set(found.tallies, settings, by, min_rows, found.notes)
    made.hints = found.hints
    return made
