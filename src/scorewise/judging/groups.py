"""Judges by group of items: how far each agrees with the truth in a group, beside the rest of the items."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns.grouping import grouping
from scorewise.estimate import Estimate
from scorewise.inference.effects import correlation_by_cluster, told_apart
from scorewise.judging.accuracy import accuracy, agreement
from scorewise.judging.kappas import kappa_moves, kappa_of
from scorewise.judging.reading import Panel
from scorewise.show import groups as shared
from scorewise.show.groups import GroupsRecord, GroupWords, ends, groups_record
from scorewise.show.verdict import Claim
from scorewise.tallies import Confusion

if TYPE_CHECKING:
    from scorewise.judging.judgement import Judgement

MEASURES = ("accuracy", "kappa")
WORDS = GroupWords(
    better=dict.fromkeys(MEASURES, "high"),
    sentences={
        "kappa": ("{model} agrees with the truth less on {}", "{model} agrees with the truth more on {}")
    },
    titles={"accuracy": "Accuracy", "kappa": "Kappa"},
    noun="item",
)  # fmt: skip


class Groups(shared.Groups["Judgement"]):
    """The judgement of the items of each group, by its name, made when it is first asked for.

    `groups["north"]` of one column, `groups["north", "f"]` or `groups["north / f"]` of two.
    """

    def __init__(self, of: Judgement, least: int) -> None:
        super().__init__(grouping(of.panel.groups, least, times=of.panel.told))
        self._of = of

    def _make(self, name: str) -> Judgement:
        return type(self._of)(self._part(self._index[name]), self._of.settings)

    def _part(self, k: int, inside: bool = True) -> Panel:
        which = (self.grouping.codes == k) == inside
        return self._of.panel.part(np.flatnonzero(which))

    @cached_property
    def _parts(self) -> list[Panel]:
        return [self._of.panel.part(self.grouping.at(k)) for k in range(len(self))]

    @cached_property
    def records(self) -> dict[str, GroupsRecord]:
        """Accuracy and kappa of each judge in each group and in the rest, with tests."""
        return {name: self._record(name) for name in self._of.panel.judges}

    def _record(self, judge: str) -> GroupsRecord:
        panel, level = self._of.panel, self._of.settings.level
        each = [agreement(p, p.truth, p.judges[judge], level) for p in self._parts]
        own = {m: [found[m] for found in each] for m in MEASURES}
        joint: dict[str, Floats] | None = None
        if panel.cluster is None:
            whole = panel.confusion(panel.truth, panel.judges[judge])
            others = [
                _of_table(_less(whole, p.confusion(p.truth, p.judges[judge])), panel, level)
                for p in self._parts
            ]
        else:
            left = [self._part(k, inside=False) for k in range(len(self))]
            others = [agreement(p, p.truth, p.judges[judge], level) for p in left]
            joint = {
                m: np.array([self._joint(k, m, judge, p) for k, p in enumerate(left)])
                for m in MEASURES
            }
        rest = {m: ends([found[m] for found in others]) for m in MEASURES}
        return groups_record(self.grouping, own, rest, level, WORDS, joint=joint, model=judge)

    def _joint(self, k: int, m: str, judge: str, rest: Panel) -> float:
        """The correlation of a group and the rest, by clusters that have items in both."""
        cluster = self._of.panel.cluster
        assert cluster is not None
        sides = ((self._parts[k], self.grouping.codes == k), (rest, self.grouping.codes != k))
        return correlation_by_cluster(cluster, *((at, _moves(p, judge, m)) for p, at in sides))

    def confirmed(self, judge: str, name: str, measure: str, level: float) -> bool:
        """Whether the interval of the difference to the rest still excludes 0 at a stricter level."""
        k = self._index[name]
        own, rest = self._parts[k], self._part(k, inside=False)
        first, second = (
            agreement(p, p.truth, p.judges[judge], level)[measure] for p in (own, rest)
        )
        clustered = own.cluster is not None
        return told_apart(
            first, second, level, lambda: self._joint(k, measure, judge, rest) if clustered else 0.0
        )

    def claims(self) -> Iterator[Claim]:
        """On which group each judge agrees less with the truth, or that none is told apart."""
        said: list[Claim] = []
        for judge, record in self.records.items():

            def sure(name: str, measure: str, level: float, judge: str = judge) -> bool:
                return self.confirmed(judge, name, measure, level)

            many = len(self.records)
            said += shared.group_claims(record, self._of.settings.level, WORDS, sure, times=many)
        told = [c for c in said if c.finding != "not told apart"]
        yield from told or said[:1]


def _less(whole: Confusion, part: Confusion) -> Confusion:
    """The table of the other items."""
    weight, weight2 = (
        np.maximum(getattr(whole, x) - getattr(part, x), 0) for x in ("weight", "weight2")
    )
    return replace(whole, weight=weight, weight2=weight2)


def _of_table(c: Confusion, panel: Panel, level: float) -> dict[str, Estimate]:
    return {"accuracy": accuracy(c, level), "kappa": kappa_of(c, panel.agreement, level)}


def _moves(panel: Panel, judge: str, m: str) -> Floats:
    """What each item does to a measure of a judge, times its weight; 0 for items that are not judged."""
    truth, codes = panel.truth, panel.judges[judge]
    both = (truth >= 0) & (codes >= 0)
    moved = np.zeros(len(truth))
    weight = np.asarray(panel.weight, np.float64)
    if not both.any():
        return moved
    if m == "accuracy":
        right = (truth == codes)[both]
        mean = float((weight[both] * right).sum() / weight[both].sum())
        moved[both] = weight[both] * (right - mean) / weight[both].sum()
    else:
        c = panel.confusion(truth, codes)
        moved[both] = weight[both] * kappa_moves(c, panel.agreement)[truth[both], codes[both]]
    return moved
