"""Groups of rows in `evaluate`: every measure of the first screen in each, beside the rest of the rows.

A cluster with rows in a group and beside it makes both vary together: their correlation is that of the
effects of rows, summed by cluster. Of a group of less than a twentieth of the rows, what rows do to the
measure of all stands for what they do to the rest.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import accumulate

import numpy as np

from scorewise import subgroups
from scorewise.arrays import Floats
from scorewise.columns import Rows
from scorewise.columns.classes import ClassRows, DecidedRows
from scorewise.columns.grouping import Grouping, grouping
from scorewise.evaluation.by_group import by_group
from scorewise.evaluation.inputs import tally_of
from scorewise.evaluation.result import FIRST, FIRST_OF_CLASSES, ClassEvaluation, Evaluation
from scorewise.inference.influence import row_influence
from scorewise.registry import CLASS_MEASURES, MEASURES
from scorewise.show.page import Section
from scorewise.show.words import quoted
from scorewise.subgroups import ComparedGroups, GroupsRecord, GroupWording
from scorewise.subgroups.comparison import OfGroups, OfRest
from scorewise.tallies import Tally
from scorewise.tallies.joint import Rule

MAX_CLASS_GROUPS = 200  # each is judged and taken out of the others
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
TWO_CLASSES = GroupWording(
    # of calibration no group is better or worse by its sign: the one further from the target is worse
    better={n: m.target if m.better == "near" else m.better for n, m in MEASURES.items()},
    sentences=WORDS,
    titles=TITLES,
    names={"calibration_intercept": "calibration in the large", "calibration_slope": "slope",
           "auroc": MEASURES["auroc"].title},
    percents=("sensitivity", "specificity", "precision"),
    untested={"ece": "chance makes it larger in smaller groups"},
    sampled=True,
)  # fmt: skip

SEVERAL_CLASSES = GroupWording(
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
    percents=("accuracy",),
    untested=TWO_CLASSES.untested,
)  # fmt: skip


class Groups(ComparedGroups[Evaluation]):
    """The evaluation of the rows of each group, by its name, made when it is first asked for.

    `groups["north"]` of one column, `groups["north", "f"]` or `groups["north / f"]` of two.
    """

    wording, measures = TWO_CLASSES, (*FIRST, "oe_ratio")

    def __init__(self, of: Evaluation, g: Grouping) -> None:
        super().__init__(g)
        self._of, self.level, self.model = of, of.settings.level, of.tally.origin.score

    @property
    def verdict_measures(self) -> Collection[str]:
        """The measures that the verdict looks at: without those of decisions where 0.5 means nothing."""
        settings = self._of.settings
        plain = self._of.tally.kind != "score" or settings.threshold != type(settings).threshold
        return [n for n in WORDS if plain or MEASURES[n].group != "decisions"]


class RowGroups(Groups):
    """Groups of rows at hand."""

    def __init__(self, of: Evaluation, g: Grouping, rows: Rows) -> None:
        super().__init__(of, g)
        self.overall, self._rows, self.mass, self.cluster = of, rows, rows.mass(), rows.cluster

    def estimates(self, k: int, inside: bool, level: float) -> Evaluation:
        """The evaluation of the rows of a group, or of all others."""
        rows = self._rows.at(self.row_places(k, inside))
        settings = replace(self._of.settings, level=level)
        return Evaluation.of_rows(rows, self.model, settings, not self._of.tally.origin.label)

    def influence(self, of: Evaluation, measure: str) -> Floats | None:
        """What each row does to a measure, times its weight; None where no derivative is known."""
        rows = self._rows if of is self._of else of.clustered_rows
        assert rows is not None
        x = row_influence(MEASURES[measure], rows, of.tally, vars(of.settings))
        return None if x is None else rows.mass() * x

    @cached_property
    def positives(self) -> list[int]:  # type: ignore[override]
        """The positives of each group."""
        codes, count = self.grouping.codes, self._rows.count
        there = (codes >= 0) & self._rows.y
        found = np.bincount(codes[there], None if count is None else count[there], len(self))
        return [int(many) for many in found]

    def _compared(self) -> tuple[OfGroups, OfRest, OfRest | None]:
        own, rest = by_group(self._rows, self._of, self.grouping.codes, len(self), self.measures)
        if self.cluster is None:
            return own, rest, None
        wider = {
            m: [group.by_cluster(x, m) for group, x in zip(self.values(), found, strict=True)]
            for m, found in own.items()
        }
        return self._against_rest(wider, {m: x[0] for m, x in rest.items()})


class TallyGroups(Groups):
    """Groups of which only the tallies are at hand: each is taken out of their sum."""

    def __init__(self, of: Evaluation, g: Grouping, tallies: Sequence[Tally]) -> None:
        super().__init__(of, g)
        self._tallies, self.positives = tallies, [t.origin.positives for t in tallies]

    @cached_property
    def _left(self) -> list[Tally]:
        """The tally of all other groups, for each: what is before it and what is after it."""
        none = Tally.empty()
        before = accumulate(self._tallies[:-1], initial=none)
        after = accumulate(self._tallies[:0:-1], initial=none)
        return [a + b for a, b in zip(before, reversed([*after]), strict=True)]

    def estimates(self, k: int, inside: bool, level: float) -> Evaluation:
        """The evaluation of a group, or of all others together."""
        t = (self._tallies if inside else self._left)[k]
        return Evaluation(t, replace(self._of.settings, level=level))


class ClassGroups(ComparedGroups[ClassEvaluation]):
    """The evaluation of several classes on the rows of each group, by its name."""

    wording, measures, model = SEVERAL_CLASSES, FIRST_OF_CLASSES, "scores"

    def __init__(
        self, of: ClassEvaluation, rows: ClassRows | DecidedRows, rule: Rule, min_rows: int
    ) -> None:
        most = MAX_CLASS_GROUPS
        super().__init__(
            grouping(rows.groups, min_rows, mass=rows.mass(), times=rows.count, most=most)
        )
        self._of, self._rows, self._rule, self.level = of, rows, rule, of.settings.level

    def estimates(self, k: int, inside: bool, level: float) -> ClassEvaluation:
        """The evaluation of the rows of a group, or of all others."""
        t = tally_of(self._rows.at(self.row_places(k, inside)), self._rule)
        t = t if self._of.top.tally.origin.label else t.unlabelled()
        return ClassEvaluation(t, replace(self._of.settings, level=level))


def group_section(record: GroupsRecord, level: float, several: bool) -> Section:
    """One line for each group; of many, those that differ most clearly and the largest."""
    title = f"Groups of {quoted(record.model)}" if several else "Groups"
    two = any(g.positives is not None for g in record.groups)
    return subgroups.group_section(record, level, TWO_CLASSES if two else SEVERAL_CLASSES, title)
