"""Groups of rows in `evaluate`: every measure of the first screen in each, beside the rest of the rows.

A cluster with rows in a group and beside it makes both vary together: their correlation is that of the
effects of rows, summed by cluster. Of a group of less than a twentieth of the rows, what rows do to the
measure of all stands for what they do to the rest.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.columns import Rows
from scorewise.columns.classes import ClassRows, DecidedRows
from scorewise.columns.grouping import Grouping, grouping
from scorewise.estimate import Estimate
from scorewise.evaluation.by_group import Settings, asked, by_group, cells_of
from scorewise.inference.effects import clustered, correlation, effects, told_apart
from scorewise.registry import CLASS_MEASURES, MEASURES
from scorewise.show import groups as shared
from scorewise.show.groups import LARGE, GroupsRecord, GroupWords, ends, groups_record
from scorewise.show.page import Section
from scorewise.show.verdict import Claim
from scorewise.show.words import quoted
from scorewise.tallies import ClassTally, Tally
from scorewise.tallies.joint import Rule
from scorewise.tallies.sorting import kept

if TYPE_CHECKING:
    from scorewise.evaluation.classes import ClassEvaluation
    from scorewise.evaluation.models import Evaluation

MOST = 200  # groups of rows of several classes, each of which is judged and taken out of the others
TITLES = {
    "auroc": "AUROC",
    "calibration_slope": "Slope",
    "oe_ratio": "O/E",
    "sensitivity": "Sens.",
    "specificity": "Spec.",
    "precision": "Prec.",
}
# what the verdict looks at, and what it says of a lower and of a higher value than in the rest
WORDS = {
    "sensitivity": ("Positives in {} are missed more often", "Positives in {} are found more often"),
    "specificity": ("False alarms are more frequent in {}", "False alarms are less frequent in {}"),
    "precision": ("Positive calls in {} are right less often", "Positive calls in {} are right more often"),
    "auroc": ("Ranking is worse within {}", "Ranking is better within {}"),
    "calibration_intercept": ("Probabilities in {} are too high beside the rest",
                              "Probabilities in {} are too low beside the rest"),
    "calibration_slope": ("Probabilities in {} are more extreme than they should be beside the rest",
                          "Probabilities in {} are less extreme than they should be beside the rest"),
}  # fmt: skip
TWO_CLASSES = GroupWords(
    # of calibration no group is better or worse by its sign: the one further from the target is worse
    better={n: m.target if m.better == "near" else m.better for n, m in MEASURES.items()},
    sentences=WORDS,
    titles=TITLES,
    names={"calibration_intercept": "calibration in the large", "calibration_slope": "slope",
           "auroc": MEASURES["auroc"].title},
    shares=("sensitivity", "specificity", "precision"),
    untested={"ece": "chance makes it larger in smaller groups"},
    sampled=True,
)  # fmt: skip

SEVERAL_CLASSES = GroupWords(
    better={n: m.target if m.better == "near" else m.better for n, m in CLASS_MEASURES.items()},
    sentences={
        "accuracy": ("Decisions in {} are right less often", "Decisions in {} are right more often"),
        "macro_auroc": WORDS["auroc"],
    },
    titles={
        "accuracy": "Accuracy", "macro_f1": "F1", "macro_auroc": "AUROC", "log_loss": "Log loss",
        "ece": "ECE",
    },
    names={"macro_auroc": "macro AUROC"},
    shares=("accuracy",),
    untested=TWO_CLASSES.untested,
)  # fmt: skip


class Groups(shared.Groups["Evaluation"]):
    """The evaluation of the rows of each group, by its name, made when it is first asked for.

    `groups["north"]` of one column, `groups["north", "f"]` or `groups["north / f"]` of two.
    """

    def __init__(self, rows: Rows, of: Evaluation, g: Grouping) -> None:
        super().__init__(g)
        self._rows, self._of = rows, of

    def _make(self, name: str) -> Evaluation:
        from scorewise.evaluation.models import Evaluation

        t, rows = self._of.tally, self._rows.at(self.grouping.codes == self._index[name])
        of = Tally.of_rows(rows, t.origin.score, t.origin.sources)
        made = Evaluation(of if t.origin.label else of.unlabelled(), self._of.settings)
        made._rows = rows if rows.cluster is not None else None
        return made

    def confirmed(self, name: str, measure: str, level: float) -> bool:
        """Whether the interval of the difference to the rest still excludes 0 at a stricter level."""
        rows, of = self._rows, self._of.tally.origin.score
        settings = {**vars(self._of.settings), "level": level}
        mine = self.grouping.codes == self._index[name]
        if rows.cluster is None:
            parts = (Tally.of_rows(rows.at(at), of) for at in (mine, ~mine))
            first, second = (asked(measure, t, settings) for t in parts)
            return told_apart(first, second, level)
        group, rest = (Side(rows, np.flatnonzero(at), of) for at in (mine, ~mine))
        first, second = (side.estimate(measure, settings) for side in (group, rest))
        return told_apart(first, second, level, lambda: together(group, rest, measure, settings))

    @property
    def record(self) -> GroupsRecord:
        """Each measure in each group and in the rest, with tests."""
        # a cached property would let other models wait: its lock is that of the class
        return kept(self, "record", self._recorded)

    def _recorded(self) -> GroupsRecord:
        from scorewise.evaluation.document import FIRST

        e, rows, codes = self._of, self._rows, self.grouping.codes
        settings, names = vars(e.settings), (*FIRST, "oe_ratio")
        cells = cells_of(rows, e.tally.origin.score, codes, len(self))
        mine, rest = by_group(rows, e, e.tally, codes, cells, settings, names)
        joint: dict[str, Any] | None = None
        if rows.cluster is not None:
            mine, rest, joint = clustered_groups(rows, e, e.tally, codes, mine, rest, settings)
        there = (codes >= 0) & rows.y
        times = None if rows.count is None else rows.count[there]
        positives = np.bincount(codes[there], times, len(self)).astype(int)
        return groups_record(
            self.grouping, mine, rest, e.settings.level, TWO_CLASSES, joint=joint,
            positives=positives.tolist(), model=e.tally.origin.score,
        )  # fmt: skip


# Rows that come in clusters.


class Side:
    """Some of the rows, in clusters that may have others."""

    def __init__(self, rows: Rows, at: Ints, name: str) -> None:
        assert rows.cluster is not None
        self.rows, self.cluster, self.many = rows.at(at), rows.cluster[at], len(rows.cluster)
        self.tally = Tally.of_rows(self.rows, name)

    def estimate(self, m: str, settings: Settings, e: Estimate | None = None) -> Estimate:
        """The measure with its interval by cluster; `e` is what it is if rows stand alone."""
        alone = asked(m, self.tally, settings) if e is None else e
        by = self.rows.cluster
        assert by is not None
        return clustered(alone, MEASURES[m], self.rows, self.tally, settings, by)

    def sums(self, m: str, settings: Settings) -> Floats | None:
        """What each cluster does to the measure; None where no derivative is known."""
        x = effects(MEASURES[m], self.rows, self.tally, settings)
        return None if x is None else _summed(self.cluster, self.rows.mass() * x, self.many)


def _summed(cluster: Ints, x: Floats, many: int) -> Floats:
    found: Floats = np.bincount(cluster, x, many).astype(np.float64)
    return found


def together(group: Side, rest: Side, m: str, settings: Settings) -> float:
    """The correlation of a group and the rest, by clusters that have rows in both."""
    near, far = group.sums(m, settings), rest.sums(m, settings)
    return 0.0 if near is None or far is None else correlation(near, far)


def clustered_groups(
    rows: Rows,
    whole: Mapping[str, Estimate],
    t: Tally,
    codes: Ints,
    mine: Mapping[str, Sequence[Estimate]],
    rest: Mapping[str, Floats],
    settings: Settings,
) -> tuple[dict[str, list[Estimate]], dict[str, Floats], dict[str, Floats]]:
    """The measures of groups and of the rest with intervals by cluster, and their correlation."""
    name, mass, cluster = t.origin.score, rows.mass(), rows.cluster
    assert cluster is not None
    many = len(next(iter(mine.values())))
    own = {m: list(found) for m, found in mine.items()}
    others, joint = {m: x.copy() for m, x in rest.items()}, {m: np.zeros(many) for m in mine}
    cells = len(np.unique(cluster * (many + 1) + codes))
    crossed = cells > int(cluster.max()) + 1  # else no cluster has rows in two groups
    moved = {
        m: effects(MEASURES[m], rows, t, settings) for m in mine if crossed and whole[m].defined
    }
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(many + 1))
    for k in range(many):
        at = order[ends[k] : ends[k + 1]]
        part = float(mass[at].sum() / mass.sum())
        group = Side(rows, at, name)
        other = Side(rows, np.flatnonzero(codes != k), name) if part >= LARGE else None
        for m in mine:
            own[m][k] = group.estimate(m, settings, own[m][k])
            known = crossed and own[m][k].defined
            if other is not None:
                e = other.estimate(m, settings)
                others[m][:, k] = e.value, e.low, e.high
                joint[m][k] = together(group, other, m, settings) if known and e.defined else 0.0
                continue
            e = whole[m]
            reach = np.array([e.low - e.value, e.high - e.value]) / math.sqrt(1 - part)
            others[m][1:, k] = others[m][0, k] + reach
            near, x = group.sums(m, settings) if known else None, moved.get(m)
            if near is not None and x is not None:
                left = np.where(codes == k, 0.0, mass * x)
                joint[m][k] = correlation(near, _summed(cluster, left, group.many))
    return own, others, joint


# Rows of several classes.


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
        return told_apart(first, second, level)

    def claims(self) -> Iterator[Claim]:
        """Which group is worse than the rest, or that none is told apart."""
        level = self._of.settings.level
        yield from shared.group_claims(self.record, level, SEVERAL_CLASSES, self.confirmed)


# What is said and shown of groups.


def groups_of(rows: Rows, e: Evaluation, least: int) -> Groups | dict[str, Evaluation]:
    """The groups of rows by their columns; none where there are no such columns."""
    if not rows.groups:
        return {}
    return Groups(rows, e, grouping(rows.groups, least, mass=rows.mass(), times=rows.count))


def group_claims(groups: Groups, level: float, times: int = 1) -> Iterator[Claim]:
    """Which group is worse than the rest, in the one or two measures that show it most clearly.

    `times` is how many models are looked at.
    """
    settings, used = groups._of.settings, list(WORDS)
    if groups._of.tally.kind == "score" and settings.threshold == type(settings).threshold:
        used = [n for n in WORDS if MEASURES[n].group != "decisions"]  # 0.5 means nothing
    return shared.group_claims(groups.record, level, TWO_CLASSES, groups.confirmed, used, times)


def group_section(record: GroupsRecord, level: float, several: bool) -> Section:
    """One line for each group; of many, those that differ most clearly and the largest."""
    title = f"Groups of {quoted(record.model)}" if several else "Groups"
    two = any(g.positives is not None for g in record.groups)
    return shared.group_section(record, level, TWO_CLASSES if two else SEVERAL_CLASSES, title)
