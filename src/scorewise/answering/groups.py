"""Answers by group: each confidence in each group, beside the rest of the answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property

import numpy as np

from scorewise.answering.judged import Judged, Part, Settings
from scorewise.answering.measures import Sample, moves
from scorewise.answering.rows import AnswerRows
from scorewise.arrays import Floats
from scorewise.columns.grouping import Grouping, grouping
from scorewise.inference.effects import correlation_by_cluster, told_apart
from scorewise.show import groups as shared
from scorewise.show.groups import LARGE, GroupsRecord, GroupWords, groups_record, without
from scorewise.show.verdict import Claim

MANY = 2000  # groups, some milliseconds each
MEASURES = ("accuracy", "mean_confidence", "overconfidence", "ece", "auroc", "brier")
WORDS = GroupWords(
    better={
        "accuracy": "high", "mean_confidence": "high", "overconfidence": 0.0, "ece": "low",
        "auroc": "high", "brier": "low",
    },
    sentences={
        "overconfidence": ("{model} is less overconfident on {}", "{model} is more overconfident on {}"),
        "auroc": ("{model} tells right from wrong less well on {}",
                  "{model} tells right from wrong better on {}"),
    },
    titles={
        "accuracy": "Right", "mean_confidence": "Says", "overconfidence": "Over", "ece": "ECE",
        "auroc": "AUROC",
    },
    names={"auroc": "AUROC"},
    untested={"ece": "chance makes it larger in smaller groups"},
    noun="answer",
)  # fmt: skip


class Groups(shared.Groups[Part]):
    """The answers of each group, by its name, judged when they are first asked for.

    `groups["gpt-4o"]` of one column, `groups["gpt-4o", "sciq"]` or `groups["gpt-4o / sciq"]` of two.
    """

    def __init__(self, rows: AnswerRows, settings: Settings, least: int) -> None:
        coded = {}
        for name, column in rows.groups.items():
            words, codes = np.unique(column, return_inverse=True)
            coded[name] = codes, [str(word) for word in words]
        super().__init__(grouping(coded, least, mass=rows.weight, most=MANY))
        self._rows, self.settings = rows, settings

    def _make(self, name: str) -> Part:
        return Part(self._rows, self.settings, self.grouping.at(self._index[name]))

    @cached_property
    def records(self) -> dict[str, GroupsRecord]:
        """Each confidence in each group that has it and in the rest, with tests."""
        made = {name: self._record(name) for name in self._rows.confidence}
        return {name: record for name, record in made.items() if record is not None}

    def _of(self, confidence: str) -> Grouping:
        """The groups that have a confidence."""
        g, known = self.grouping, ~np.isnan(self._rows.confidence[confidence])
        if self._rows.weight is not None:
            known &= self._rows.weight > 0
        codes = np.where(known, g.codes, -1)
        sizes = np.bincount(codes[codes >= 0], minlength=len(g))
        there = np.flatnonzero(sizes)
        place = np.full(len(g) + 1, -1)
        place[there] = np.arange(len(there))
        words = [g.words[k] for k in there.tolist()]
        return Grouping(g.by, place[codes], words, sizes[there], g.min_rows)

    def _record(self, confidence: str) -> GroupsRecord | None:
        g = self._of(confidence)
        if not len(g):
            return None
        whole = Judged(Sample.of(self._rows, confidence), self.settings)
        each = [self[name][confidence] for name in g.names]
        own = {m: [j[m] for j in each] for m in MEASURES}
        mass = np.ones(len(g.codes)) if self._rows.weight is None else self._rows.weight
        there = g.codes >= 0
        part = np.bincount(g.codes[there], mass[there], len(g)) / mass[there].sum()
        large = np.flatnonzero((part >= LARGE) & (part < 1)).tolist()
        others = {k: self._judged(confidence, g, k, self.settings) for k in large}
        rest = {m: self._rest(whole, m, g, part, others) for m in MEASURES}
        joint: dict[str, Floats] | None = None
        if self._rows.cluster is not None:
            joint = {
                m: np.array(
                    [self._joint(confidence, g, k, m, j, others.get(k)) for k, j in enumerate(each)]
                )
                for m in MEASURES
            }
        level = self.settings.level
        return groups_record(g, own, rest, level, WORDS, joint=joint, model=confidence)

    def _judged(self, confidence: str, g: Grouping, k: int, settings: Settings) -> Judged:
        """A confidence in all answers that have it but those of a group."""
        at = np.flatnonzero((g.codes >= 0) & (g.codes != k))
        return Judged(Sample.of(self._rows, confidence, at), settings)

    def _rest(
        self, whole: Judged, m: str, g: Grouping, part: Floats, others: dict[int, Judged]
    ) -> Floats:
        """A measure of all answers but those of each group: value, low and high.

        A group of a twentieth of the answers or more is taken out of them. For smaller ones, what their
        answers do to the value of all is taken off.
        """
        e, moved = whole[m], np.zeros(len(g))
        if len(others) < len(g) and e.defined:
            each = moves(whole.sample, m, self.settings)
            moved = np.bincount(g.codes[g.codes >= 0], each, len(g)).astype(np.float64)
        found = without(e, moved, part, {k: j[m] for k, j in others.items()})
        found[:, part >= 1] = np.nan  # there is no rest
        return found

    def _joint(
        self, confidence: str, g: Grouping, k: int, m: str, own: Judged, rest: Judged | None
    ) -> float:
        """The correlation of a group and the rest, by clusters that have answers in both."""
        cluster = self._rows.cluster
        assert cluster is not None
        there = np.flatnonzero(g.codes >= 0)
        mine, left = there[g.codes[there] == k], there[g.codes[there] != k]
        if not own[m].defined or not len(left):
            return 0.0
        if rest is None:
            whole = Sample.of(self._rows, confidence)
            far = moves(whole, m, self.settings)[g.codes[there] != k]
        else:
            far = moves(rest.sample, m, self.settings) if rest[m].defined else np.zeros(len(left))
        near = moves(own.sample, m, self.settings)
        return correlation_by_cluster(cluster, (mine, near), (left, far))

    def strict(self, level: float) -> dict[str, Part]:
        """The groups that are judged, at another level."""
        settings, g = replace(self.settings, level=level), self.grouping
        judged = np.flatnonzero(g.judged).tolist()
        return {g.names[k]: Part(self._rows, settings, g.at(k)) for k in judged}

    def confirmed(self, confidence: str, name: str, measure: str, level: float) -> bool:
        """Whether the interval of the difference to the rest still excludes 0 at a stricter level."""
        g, settings = self._of(confidence), replace(self.settings, level=level)
        k = g.names.index(name)
        own = Part(self._rows, settings, self.grouping.at(self._index[name]))[confidence]
        rest = self._judged(confidence, g, k, settings)

        def shared_by() -> float:
            clustered = self._rows.cluster is not None
            return self._joint(confidence, g, k, measure, own, rest) if clustered else 0.0

        return told_apart(own[measure], rest[measure], level, shared_by)

    def claims(self, confidence: str, times: int) -> Iterator[Claim]:
        """Which group of a confidence, one of so many, is told apart from the rest, if any is."""

        def sure(group: str, measure: str, level: float) -> bool:
            return self.confirmed(confidence, group, measure, level)

        record, level = self.records[confidence], self.settings.level
        found = [*shared.group_claims(record, level, WORDS, sure, times=times)]
        yield from (c for c in found[:1] if c.finding != "not told apart")
