"""What a cut is for, and the operating points of cuts: plain, guaranteed, and at another prevalence."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

import numpy as np

from scorewise.checks import check, one_of
from scorewise.curves.thresholds import lowest
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.inference import shares
from scorewise.measures import decisions
from scorewise.show.data import CutRecord
from scorewise.show.estimates import record_of
from scorewise.tallies import Confusion, Tally
from scorewise.thresholds import cuts
from scorewise.thresholds.constraints import Constraint, constraints
from scorewise.thresholds.cuts import Clusters, Guaranteed, Objective, Table
from scorewise.thresholds.document import Best, CutPoint, ElsewhereRecord, RangeRecord

CONFIDENCE = 0.95  # of a guarantee, unless asked for


@dataclass(frozen=True)
class Asked:
    """What a cut is for.

    `guarantee` is its confidence, None where none is wanted; `strictly` refuses rows that are too few for
    it, rather than to say so.
    """

    wanted: list[Constraint]
    aim: Objective
    best: Best | None
    cost: float | None
    review: float | None
    prevalence: float | None
    guarantee: float | None
    strictly: bool
    level: float

    def weighed(self, tp: float, fp: float, fn: float, tn: float) -> Sequence[Any]:
        """One table as it would be at the other prevalence."""
        a, b, c, d = (np.array([float(x)]) for x in (tp, fp, fn, tn))
        return [float(x[0]) for x in Table(np.zeros(1), (a, b, c, d), self.prevalence).weighed]


def asked_for(
    at: Any, best: Any, cost: Any, review: Any, prevalence: Any, guarantee: Any, level: float
) -> Asked:
    """What is asked for, checked."""
    check(level=level, cost=cost, review=review, prevalence=prevalence, guarantee=guarantee)
    one_of("best", best, (None, *get_args(Best)))
    wanted = constraints(at)
    if best is None and cost is not None and not wanted:
        best = "cost"
    if not wanted and best is None:
        raise BadInput(
            "no goal of the threshold is given; pass ", Option("at", "recall >= 0.9"), " or ",
            Option("best", "youden"), ", or ", Option("cost", 10),
            " where a missed positive costs as much as 10 false alarms",
        )  # fmt: skip
    if best == "cost" and cost is None:
        raise BadInput(
            "the cost of a missed positive is missing; pass ", Option("cost", 10),
            " where it is worth 10 false alarms",
        )  # fmt: skip
    if cost is not None and best != "cost" and review is None:
        raise BadInput(
            Option("cost", cost), " has no effect here; pass ", Option("best", "cost"), " with it"
        )
    if review is not None and cost is None:
        raise BadInput(
            Option("review", review),
            " needs the cost of a missed positive; pass ",
            Option("cost", 10),
        )
    if guarantee and not wanted:
        raise BadInput(
            Option("guarantee", guarantee),
            " needs a constraint; pass ",
            Option("at", "recall >= 0.9"),
        )
    sure = None if guarantee == 0 or not wanted else CONFIDENCE if guarantee is None else guarantee
    aim = cuts.objective(best, cost, wanted)
    return Asked(wanted, aim, best, cost, review, prevalence, sure, bool(guarantee), level)


@dataclass(frozen=True)
class Choice:
    """Rows, in clusters or not, among whose cuts one is chosen."""

    t: Tally
    asked: Asked
    clusters: Clusters | None = None

    @cached_property
    def table(self) -> Table:
        """The cuts at all distinct scores."""
        return Table.of(self.t, self.asked.prevalence)

    @cached_property
    def plain(self) -> int:
        """The place of the best cut that keeps all constraints on these rows."""
        return cuts.plain_cut(self.table, self.asked.wanted, self.asked.aim)

    @property
    def plain_cut(self) -> float:
        """That cut."""
        return float(self.table.threshold[self.plain])

    @cached_property
    def guaranteed(self) -> Guaranteed:
        """The best cut among those that are shown to keep them, if a guarantee is wanted."""
        a = self.asked
        if a.guarantee is None:
            return Guaranteed(None)
        return cuts.guaranteed_cut(self.t, self.table, a.wanted, a.aim, a.guarantee, self.clusters)

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
        t, level = self.t, self.asked.level
        scores = lowest(t).astype(np.float64)
        ends = scores if t.coarse is None else t.coarse.high.max(0).astype(np.float64)
        i = int(np.searchsorted(scores, cut))
        sums = np.array([[w[:i].sum(), w[i:].sum()] for w in (t.neg, t.pos, t.neg2, t.pos2)])
        c = Confusion(sums[:2], sums[2:], (t.origin.negative, t.origin.positive))
        above = float(ends[i - 1]) if i else None
        upto = float(scores[i]) if i < len(scores) else None
        if not fixed and upto is not None:
            cut = cuts.short_cut(above, upto)
        record = CutRecord(threshold=cut, above=above, upto=upto)
        names = ("sensitivity", "specificity", "precision", "npv")
        measured = {n: getattr(decisions, n)(c, level=level) for n in names}
        called = decisions.share(c, (0, 1), (2, 3), level)
        measured["alert_rate"] = Estimate(*called, level, "Wilson")
        if self.clusters is not None:
            for n, e in measured.items():
                if e.defined:
                    hit, of = self.clusters.sums(n, cut)
                    one = np.ones(len(hit))
                    measured[n] = shares.share_over_items(hit, of, one, one, level=level)
        return record_of(CutPoint, c, name=name, cut=record, method=method, near=near, **measured)

    def guaranteed_point(self) -> CutPoint | None:
        """The operating point of the guaranteed cut, if there is one."""
        found = self.guaranteed
        if found.threshold is None:
            return None
        return self.point("guaranteed", found.threshold, found.method, fixed=found.fixed)

    def near(self) -> RangeRecord | None:
        """The cuts that the data do not tell from the plain one."""
        asked, table = self.asked, self.table
        level = f"{100 * asked.level:g}%"
        if self.t.weighted or self.clusters is not None:
            return None
        if not asked.wanted:
            low, high = cuts.alike(table, self.plain, asked.aim, asked.level)
            name = cuts.CALLED.get(asked.aim.name, asked.aim.name)
            meaning = f"Cuts whose {name} cannot be told from the best cut's ({level}, paired)"
            return RangeRecord(low=low, high=high, meaning=meaning)
        c, *more = asked.wanted
        if more or not c.monotone or asked.best is not None or asked.prevalence is not None:
            return None
        if (found := cuts.around(table, c, asked.level)) is None:
            return None
        word = c.word.replace("_", " ")
        meaning = f"The cut at which {word} is truly {100 * c.value:g}% ({level} interval)"
        return RangeRecord(low=found[0], high=found[1], meaning=meaning)


def elsewhere(c: CutPoint, prevalence: float, level: float) -> ElsewhereRecord:
    """PPV and NPV where another share of rows is positive, from sensitivity and specificity.

    The odds are those of the prevalence times the likelihood ratio, whose interval is that of a ratio of
    two independent shares (MOVER on the log scale).
    """
    odds = prevalence / (1 - prevalence) if prevalence < 1 else math.inf
    sens, spec = (shares.Share(e.value, e.low, e.high) for e in (c.sensitivity, c.specificity))
    miss, false = (shares.Share(1 - s.value, 1 - s.high, 1 - s.low) for s in (sens, spec))

    def value(good: shares.Share, bad: shares.Share, odds: float, why: str) -> Estimate:
        if not good.value and not bad.value:
            return Estimate.undefined(why, level)
        low, high = shares.ratio(bad, good) if good.value else (math.inf, math.inf)
        ends = [1 / (1 + x / odds) for x in (high, low)]
        at = 1 / (1 + bad.value / good.value / odds) if good.value else 0.0
        return Estimate(
            at, min(ends[0], at), max(ends[1], at), level, "MOVER of the likelihood ratio"
        )

    return record_of(
        ElsewhereRecord,
        prevalence=prevalence,
        ppv=value(sens, false, odds, "nothing is called positive"),
        npv=value(spec, miss, 1 / odds, "nothing is called negative"),
        alert_rate=prevalence * sens.value + (1 - prevalence) * false.value,
    )
