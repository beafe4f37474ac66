"""Groups of rows of several classes: the measures of the first screen in each, beside the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.arrays import Ints
from scorewise.columns.classes import ClassRows, DecidedRows
from scorewise.columns.grouping import grouping
from scorewise.estimate import Estimate
from scorewise.evaluation.groups import SEVERAL_CLASSES
from scorewise.inference.effects import difference
from scorewise.registry import CLASS_MEASURES
from scorewise.show import groups as shared
from scorewise.show.groups import GroupsRecord, ends, groups_record
from scorewise.show.verdict import Claim
from scorewise.tallies import ClassTally
from scorewise.tallies.joint import Rule

if TYPE_CHECKING:
    from scorewise.evaluation.classes import ClassEvaluation

MOST = 200  # groups, each of which is judged and taken out of the others


class ClassGroups(shared.Groups["ClassEvaluation"]):
    """The evaluation of the rows of each group, by its name, made when it is first asked for.

    `groups["north"]` of one column, `groups["north", "f"]` or `groups["north / f"]` of two.
    """

    def __init__(
        self, of: ClassEvaluation, rows: ClassRows | DecidedRows, rule: Rule, least: int
    ) -> None:
        times = 1.0 if rows.count is None else rows.count
        mass = np.broadcast_to(times * (1.0 if rows.weight is None else rows.weight), len(rows))
        super().__init__(grouping(rows.groups, least, mass=mass, times=rows.count, most=MOST))
        self._of, self._rows, self._rule = of, rows, rule

    def _tally(self, at: Ints) -> ClassTally:
        """The tally of some of the rows."""
        rows: Any = self._rows
        names = ("y", "scores", "called", "confidence", "weight", "count")
        columns = {n: getattr(rows, n, None) for n in names}
        some = replace(rows, groups={}, **{n: x[at] for n, x in columns.items() if x is not None})
        if isinstance(some, ClassRows):
            made = ClassTally.of_rows(some, rule=self._rule, sources=rows.place.sources)
        else:
            made = ClassTally.of_decided(some, sources=rows.place.sources)
        return made if self._of.top.tally.origin.label else made.unlabelled()

    def _others(self, k: int) -> ClassTally:
        codes = self.grouping.codes
        return self._tally(np.flatnonzero((codes != k) & (codes >= 0)))

    def _make(self, name: str) -> ClassEvaluation:
        tally = self._tally(self.grouping.at(self._index[name]))
        return type(self._of)(tally, self._of.settings)

    @cached_property
    def record(self) -> GroupsRecord:
        """Each measure in each group and in the rest, with tests."""
        from scorewise.evaluation.document import FIRST_OF_CLASSES

        g, settings = self.grouping, vars(self._of.settings)
        own = {m: [e[m] for e in self.values()] for m in FIRST_OF_CLASSES}
        found: dict[str, list[Estimate]] = {m: [] for m in FIRST_OF_CLASSES}
        for k in range(len(g)):
            t = self._others(k)
            for m, estimates in found.items():
                estimates.append(CLASS_MEASURES[m].under(settings, t))
        rest = {m: ends(estimates) for m, estimates in found.items()}
        level = self._of.settings.level
        return groups_record(g, own, rest, level, SEVERAL_CLASSES, model="scores")

    def confirmed(self, name: str, measure: str, level: float) -> bool:
        """Whether the interval of the difference to the rest still excludes 0 at a stricter level."""
        settings, k = {**vars(self._of.settings), "level": level}, self._index[name]
        tallies = (self._tally(self.grouping.at(k)), self._others(k))
        first, second = (CLASS_MEASURES[measure].under(settings, t) for t in tallies)
        gap = difference(first, second, level, lambda: 0.0)
        return gap.low > 0 or gap.high < 0

    def claims(self) -> Iterator[Claim]:
        """Which group is worse than the rest, or that none is told apart."""
        level = self._of.settings.level
        yield from shared.group_claims(self.record, level, SEVERAL_CLASSES, self.confirmed)
