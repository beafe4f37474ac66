"""Groups of rows in `evaluate`: every measure of the first screen in each, beside the rest of the rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.columns import Rows
from scorewise.columns.grouping import Grouping, grouping
from scorewise.evaluation.by_group import asked, by_group, cells_of
from scorewise.evaluation.group_clusters import Side, clustered_groups, together
from scorewise.inference.effects import difference
from scorewise.registry import CLASS_MEASURES, MEASURES
from scorewise.show import groups as shared
from scorewise.show.groups import GroupsRecord, GroupWords, groups_record
from scorewise.show.page import Section
from scorewise.show.verdict import Claim
from scorewise.show.words import quoted
from scorewise.tallies import Tally
from scorewise.tallies.sorting import kept

if TYPE_CHECKING:
    from scorewise.evaluation.models import Evaluation

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
            gap = difference(first, second, level, lambda: 0.0)
        else:
            group, rest = (Side(rows, np.flatnonzero(at), of) for at in (mine, ~mine))
            first, second = (side.estimate(measure, settings) for side in (group, rest))
            gap = difference(first, second, level, lambda: together(group, rest, measure, settings))
        return gap.low > 0 or gap.high < 0

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
