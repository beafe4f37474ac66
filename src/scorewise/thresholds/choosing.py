"""The cut that is chosen on rows, with what it does there, elsewhere and in each group."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns import Rows
from scorewise.columns.grouping import grouping
from scorewise.curves.operating import short_cut
from scorewise.curves.thresholds import lowest_scores
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.shares import Share, ratio_limits, share_of_items
from scorewise.measures import decisions
from scorewise.show.data import CutRecord
from scorewise.show.records import record_of
from scorewise.tallies import Confusion, Tally
from scorewise.thresholds.cuts import (
    Clusters,
    CutTable,
    error_of_side,
    grid,
    interval_of_cut,
    not_told_from_best,
    p_values,
    plain_cut,
    shown_to_keep,
)
from scorewise.thresholds.document import (
    CutPoint,
    ElsewhereRecord,
    GroupCuts,
    Promise,
    RangeRecord,
    RejectRecord,
)
from scorewise.thresholds.goals import SHARES, TITLES, Constraint, Goal

MAX_TESTED = 200  # cuts that are tested where rows come in clusters


class Guaranteed(NamedTuple):
    """A cut whose promise holds beyond the rows: its threshold, how it was found, or why there is none.

    `fixed` cuts are those of the grid, whose promise holds at that very value.
    """

    threshold: float | None
    method: str = ""
    why: str = ""
    fixed: bool = False


@dataclass(frozen=True)
class Choice:
    """Rows, in clusters or not, among whose cuts one is chosen for a goal."""

    t: Tally
    goal: Goal
    clusters: Clusters | None = None

    @cached_property
    def table(self) -> CutTable:
        """The cuts at all distinct scores."""
        return CutTable.of(self.t, self.goal.prevalence)

    @cached_property
    def plain(self) -> int:
        """The place of the best cut that keeps all constraints on these rows."""
        return plain_cut(self.table, self.goal.constraints, self.goal.objective)

    @cached_property
    def guaranteed(self) -> Guaranteed:
        """The best cut among those that are shown to keep all constraints, if a guarantee is wanted."""
        goal, t, constraints = self.goal, self.t, self.goal.constraints
        if goal.guarantee is None:
            return Guaranteed(None)
        if why := self.why_no_guarantee:
            return Guaranteed(None, why=why)
        error = error_of_side(constraints, goal.guarantee)
        for c in constraints:
            if why := _why_too_few(c, t, error, goal.guarantee):
                return Guaranteed(None, why=why)
        sequenced = not all(c.monotone for c in constraints)
        cuts = self.table
        if sequenced:
            cuts = CutTable.at(t, grid(t), goal.prevalence)
        elif self.clusters is not None:
            cuts = CutTable.at(t, cuts.threshold[cuts.thinned(MAX_TESTED)], goal.prevalence)
        shown = shown_to_keep(cuts, constraints, error, self.clusters)
        if not shown.any():
            what = " and ".join(c.text for c in constraints)
            why = f"no cut is shown to keep {what}; more rows or a weaker constraint may do"
            return Guaranteed(None, why=why)
        place = cuts.best(goal.objective, shown)
        if place < 0:
            why = f"no cut that is shown to keep them has the {goal.objective.words}"
            return Guaranteed(None, why=why)
        method = "fixed sequence of exact tests" if sequenced else "exact order statistic"
        if self.clusters is not None:
            method = (
                "sequence of tests with effective rows by cluster (Korn and Graubard), approximate"
            )
        two_sided = len({c.kept_by_high_cuts for c in constraints}) > 1
        method += ", half of the error for each side" if two_sided else ""
        return Guaranteed(float(cuts.threshold[place]), method, fixed=sequenced)

    @property
    def why_no_guarantee(self) -> str:
        """Why these rows or constraints have no guarantee at all; empty where they may."""
        if not self.goal.constraints:
            return "a guarantee needs a constraint, such as recall >= 0.9"
        if self.t.weighted:
            return "rows are weighted, and the guarantee is exact for rows that count alike"
        for c in self.goal.constraints:
            if c.why_not_guaranteed:
                return c.why_not_guaranteed
            if self.goal.prevalence is not None and SHARES[c.measure][1] not in ((0, 2), (1, 3)):
                return f"{c.word} at another prevalence has no guarantee; recall and specificity have one"
            if not c.monotone and self.t.kind == "score":
                return (
                    f"{c.word} is guaranteed on a grid of probabilities, but these scores are not "
                    f"probabilities; calibrate them first"
                )
            if not c.monotone and self.t.coarse is not None:
                return f"{c.word} is not guaranteed for a coarse tally, whose cells the grid cuts through"
        return ""

    def points(self, method: str, near: RangeRecord | None = None) -> Iterator[CutPoint]:
        """The guaranteed cut, if there is one, then the plain one, which was found by that method."""
        plain, sure = float(self.table.threshold[self.plain]), self.guaranteed
        if sure.threshold is not None:
            yield self.point("guaranteed", sure.threshold, sure.method, fixed=sure.fixed)
        yield self.point("plain", plain, method, near)

    def point(
        self,
        name: Any,
        cut: float,
        method: str,
        near: RangeRecord | None = None,
        *,
        fixed: bool = False,
    ) -> CutPoint:
        """A cut with its operating point; unless it is `fixed`, one with few digits that decides alike."""
        t, level = self.t, self.goal.level
        scores = lowest_scores(t).astype(np.float64)
        ends = scores if t.coarse is None else t.coarse.high.max(0).astype(np.float64)
        i = int(np.searchsorted(scores, cut))
        sums = np.array([[w[:i].sum(), w[i:].sum()] for w in (t.neg, t.pos, t.neg2, t.pos2)])
        c = Confusion(sums[:2], sums[2:], (t.origin.negative, t.origin.positive))
        above = float(ends[i - 1]) if i else -math.inf
        upto = float(scores[i]) if i < len(scores) else math.inf
        if not fixed and upto < math.inf:
            cut = short_cut(above, upto)
        record = record_of(CutRecord, threshold=cut, above=above, upto=upto)
        names = ("sensitivity", "specificity", "precision", "npv")
        measured = {n: getattr(decisions, n)(c, level=level) for n in names}
        alerts = decisions.share(c, (0, 1), (2, 3), level)
        measured["alert_rate"] = Estimate(*alerts, level, "Wilson")
        if self.clusters is not None:
            for n, e in measured.items():
                if e.defined:
                    hit, of = self.clusters.sums(n, cut)
                    ones = np.ones(len(hit))
                    measured[n] = share_of_items(hit, of, ones, ones, level=level)
        return record_of(CutPoint, c, name=name, cut=record, method=method, near=near, **measured)

    def near(self) -> RangeRecord | None:
        """The cuts that the data do not tell from the plain one."""
        goal, table = self.goal, self.table
        level = f"{100 * goal.level:g}%"
        if self.t.weighted or self.clusters is not None:
            return None
        if not goal.constraints:
            low, high = not_told_from_best(table, self.plain, goal.objective, goal.level)
            name = TITLES.get(goal.objective.name, goal.objective.name)
            meaning = f"Cuts whose {name} cannot be told from the best cut's ({level}, paired)"
            return RangeRecord(low=low, high=high, meaning=meaning)
        c, *more = goal.constraints
        if more or not c.monotone or goal.best is not None or goal.prevalence is not None:
            return None
        if (ends := interval_of_cut(table, c, goal.level)) is None:
            return None
        word = c.word.replace("_", " ")
        meaning = f"The cut at which {word} is truly {100 * c.limit:g}% ({level} interval)"
        return RangeRecord(low=ends[0], high=ends[1], meaning=meaning)

    def reject(self) -> RejectRecord | None:
        """The two cuts that cost least where a review can be bought; None where reviews do not pay.

        In false alarms, a missed positive costs `cost` and a review `review` (Chow 1970).
        """
        cost, review, table = self.goal.cost, self.goal.review, self.table
        if cost is None or review is None:
            return None
        tp, fp, fn, tn = (np.asarray(c, np.float64) for c in table.weighed)
        total = float(tp[0] + fp[0] + fn[0] + tn[0])
        # also no alerts at all: above every cut
        fn = np.concatenate(([fn[0] + tp[0]], fn))
        tp, fp = (np.concatenate(([0.0], c)) for c in (tp, fp))
        below, above = cost * fn + review * (tp + fp), fp - review * (tp + fp)
        low, high = int(np.argmin(below)), len(above) - 1 - int(np.argmin(above[::-1]))
        alone = float((cost * fn + fp).min()) / total
        both = float(below[low] + above[high]) / total
        if low <= high or high == 0 or both >= alone - 1e-12:
            return None
        reviewed = float((tp + fp)[low] - (tp + fp)[high]) / total
        ends = {"low": table.short(low - 1), "high": table.short(high - 1)}
        return RejectRecord(**ends, reviewed=reviewed, cost=both, alone=alone)

    @property
    def worth(self) -> Floats:
        """The equally weighted rows that a unit of weight of positives, and of negatives, is worth."""
        sums = ((self.t.positives, self.t.negatives), self.t.squares[::-1])
        return np.array([w / w2 if w2 else 1.0 for w, w2 in zip(*sums, strict=True)])

    def promise(self, cut: float) -> Promise:
        """Whether a cut, however it was chosen, is shown to keep or to break the constraints."""
        constraints, confidence = self.goal.constraints, self.goal.guarantee
        if not constraints or confidence is None:
            return "not asked"
        if self.why_no_guarantee:
            return "open"
        cuts, error = CutTable.at(self.t, np.array([cut])), error_of_side(constraints, confidence)
        broken = [p_values(c.opposite, cuts, self.clusters)[0] for c in constraints]
        if min(broken) <= error / len(constraints):
            return "broken"
        if not all(c.monotone for c in constraints):
            cuts = CutTable.at(self.t, grid(self.t))
        shown = shown_to_keep(cuts, constraints, error, self.clusters)
        return "kept" if shown[cuts.threshold == cut].any() else "open"


def _why_too_few(c: Constraint, t: Tally, error: float, confidence: float) -> str:
    """Why there are too few rows for a guarantee, with the number needed; empty where there are enough."""
    need, unit = c.rows_needed(1 - error), c.unit
    promise = f"{c.text} cannot be guaranteed with {100 * confidence:g}% confidence"
    if need is None:
        return f"{promise}: no number of rows shows a share of 0 or 1; ask for a little less"
    pos, neg = int(t.positives), int(t.negatives)
    there = {"positives": pos, "negatives": neg}.get(unit, pos + neg)
    if there >= need:
        return ""
    have = unit[:-1] if there == 1 and unit.endswith("s") else unit
    return f"{promise}: there are {there:,} {have}, and it takes {need:,} at least"


def group_cuts(rows: Rows, name: str, threshold: float, goal: Goal) -> list[GroupCuts]:
    """Each group with the common cut and its own.

    A rate that rises or falls with the cut is kept in a group, with confidence, by all cuts on one side of
    the group's own guaranteed cut; precision and NPV by all cuts of the group's own fixed sequence that are
    shown. So the common cut, which was chosen on all rows, is judged in each group without looking twice.
    """
    groups, records = grouping(rows.groups, 1, mass=rows.mass(), times=rows.count), []
    own_method = "keeps it on these rows" if goal.guarantee is not None else goal.objective.words
    for k, group in enumerate(groups.names):
        part = rows.at(groups.codes == k)
        c = Choice(Tally.of_rows(part, name), goal, Clusters.of(part))
        size: Any = {"name": group, "rows": c.t.origin.rows, "positives": c.t.origin.positives}
        if why := c.t.why_not_ranked:
            records.append(GroupCuts(**size, common=None, promise="open", own=None, why=why))
            continue
        common = c.point("plain", threshold, "the common cut", fixed=True)
        own: CutPoint | None = None
        try:
            own, why = next(c.points(own_method)), c.guaranteed.why
        except BadInput as e:
            why = str(e)
        promise = c.promise(threshold)
        records.append(GroupCuts(**size, common=common, promise=promise, own=own, why=why))
    return records


def elsewhere(c: CutPoint, prevalence: float, level: float) -> ElsewhereRecord:
    """PPV and NPV where another share of rows is positive, from sensitivity and specificity.

    The odds are those of the prevalence times the likelihood ratio, whose interval is that of a ratio of
    two independent shares (MOVER on the log scale).
    """
    odds = prevalence / (1 - prevalence)
    sens, spec = (Share(e.value, e.low, e.high) for e in (c.sensitivity, c.specificity))
    miss, false = (Share(1 - s.value, 1 - s.high, 1 - s.low) for s in (sens, spec))

    def value(good: Share, bad: Share, odds: float, why: str) -> Estimate:
        if not good.value and not bad.value:
            return Estimate.undefined(why, level)
        low, high = ratio_limits(bad, good) if good.value else (math.inf, math.inf)
        low, high = (1 / (1 + x / odds) for x in (high, low))
        at = 1 / (1 + bad.value / good.value / odds) if good.value else 0.0
        return Estimate(at, min(low, at), max(high, at), level, "MOVER of the likelihood ratio")

    return record_of(
        ElsewhereRecord,
        prevalence=prevalence,
        ppv=value(sens, false, odds, "nothing is called positive"),
        npv=value(spec, miss, 1 / odds, "nothing is called negative"),
        alert_rate=prevalence * sens.value + (1 - prevalence) * false.value,
    )
