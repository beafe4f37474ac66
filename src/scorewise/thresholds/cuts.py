"""Cuts and what they keep: the best on these rows, and those that are shown to keep it beyond them.

A row is an alert when its score >= the cut. The plain cut keeps its constraints on these rows, and breaks
them on new ones about half the time. The guaranteed cut keeps them in the population, with confidence:

- a rate that rises or falls with the cut (recall, specificity, alert rate) by an order statistic: the cut
  is the (k + 1)-th lowest positive score with the largest k for which k misses show the recall (exact
  binomial; Wilks 1941). The rate being monotone, nothing has to be corrected for; ties make it safer;
- precision and NPV, which are not monotone in a sample, by tests in a fixed sequence on a grid of log-odds
  that does not look at the data (Angelopoulos, Bates, Candès, Jordan and Lei 2021), from the first cut with
  enough alerts to show anything until the first test that fails;
- several constraints that the same cuts keep by the largest of their p-values; of those that pull apart,
  such as recall and precision, each side has half of the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns import Rows
from scorewise.curves.operating import evenly_spaced, short_cut
from scorewise.curves.thresholds import lowest_scores, thresholds
from scorewise.errors import BadInput
from scorewise.estimate import number
from scorewise.inference.scales import normal_quantile, t_quantile
from scorewise.statistics.formulas import value_at_cuts
from scorewise.tallies import Tally
from scorewise.tallies.losses import expit
from scorewise.thresholds.goals import SHARES, Constraint, Objective, measured

STEP, FARTHEST = 0.25, 12.0  # of the grid of log-odds
MAX_COMPARED = 2048  # cuts that are compared with the best
_ROUNDING = 1e-12
Cells: TypeAlias = tuple[Any, Any, Any, Any]  # tp, fp, fn, tn


def class_weights(cells: Cells, prevalence: float | None) -> tuple[float, float]:
    """What a positive and a negative row count for where that share of as many rows is positive."""
    if prevalence is None:
        return 1.0, 1.0
    tp, fp, fn, tn = (float(np.ravel(c)[0]) for c in cells)  # rows are as many at every cut
    pos, neg = tp + fn, fp + tn
    return (pos + neg) * prevalence / pos, (pos + neg) * (1 - prevalence) / neg


def at_prevalence(cells: Cells, prevalence: float | None) -> Cells:
    """tp, fp, fn, tn of as many rows, of which that share is positive."""
    if prevalence is None:
        return cells
    up, down = class_weights(cells, prevalence)
    return cells[0] * up, cells[1] * down, cells[2] * up, cells[3] * down


@dataclass(frozen=True)
class CutTable:
    """tp, fp, fn, tn at cuts from the highest down; a score is an alert when it is >= the cut.

    `prevalence` is that for which positives and negatives are weighed, if it is not that of the rows.
    """

    threshold: Floats
    cells: Cells
    prevalence: float | None = None

    @classmethod
    def of(cls, t: Tally, prevalence: float | None = None) -> CutTable:
        """The cuts at all distinct scores."""
        every = thresholds(t)
        cells = (every.tp[1:], every.fp[1:], every.fn[1:], every.tn[1:])
        return cls(every.threshold[1:], cells, prevalence)

    @classmethod
    def at(cls, t: Tally, cuts: Floats, prevalence: float | None = None) -> CutTable:
        """Other cuts, given from the highest down."""
        place = np.searchsorted(lowest_scores(t).astype(np.float64), cuts)
        sums = [np.concatenate(([0], w.cumsum())) for w in (t.pos, t.neg)]
        fn, tn = (s[place] for s in sums)
        return cls(cuts, (sums[0][-1] - fn, sums[1][-1] - tn, fn, tn), prevalence)

    def __len__(self) -> int:
        return len(self.threshold)

    def short(self, i: int) -> float:
        """One cut, or one with fewer digits that decides alike."""
        above = float(self.threshold[i + 1]) if i + 1 < len(self) else -np.inf
        return short_cut(above, float(self.threshold[i]))

    @cached_property
    def weighed(self) -> Cells:
        """The cells as they would be at the other prevalence."""
        return at_prevalence(self.cells, self.prevalence)

    def rates(self) -> tuple[Floats, Floats]:
        """Sensitivity and false positive rate at each cut."""
        return measured("sensitivity", self.cells), measured("fpr", self.cells)

    def thinned(self, most: int) -> Ints:
        """Places of at most so many cuts, about equally far apart on the ROC curve, with both ends."""
        if len(self) <= most:
            return np.arange(len(self))
        recall, false = (np.nan_to_num(rate) for rate in self.rates())
        return np.union1d(evenly_spaced(recall + false, most), [0, len(self) - 1])

    def best(self, objective: Objective, among: Bools) -> int:
        """The place of the best cut among some, the highest of several; -1 where none has a value."""
        value = value_at_cuts(objective.value, self.weighed)
        value = np.where(among & ~np.isnan(value), value, -np.inf)
        top = value.max(initial=-np.inf)
        if not np.isfinite(top):
            return -1
        # sums of weights may differ by rounding
        return int(np.argmax(value >= top - _ROUNDING * max(1.0, abs(top))))


def plain_cut(table: CutTable, constraints: Sequence[Constraint], objective: Objective) -> int:
    """The place of the best cut that keeps all constraints on these rows."""
    kept = np.ones(len(table), bool)
    for c in constraints:
        alone = c.kept(table.weighed)
        if not alone.any():
            raise BadInput(_why_never_kept(table, c))
        kept &= alone
    if not kept.any():
        raise BadInput(_why_not_together(table, constraints))
    place = table.best(objective, kept)
    if place < 0:
        raise BadInput(f"no cut has the {objective.words}: it is undefined at each of them")
    return place


def _why_never_kept(table: CutTable, c: Constraint) -> str:
    """That no cut keeps the constraint, and how near it any comes."""
    values = measured(c.measure, table.weighed)
    if np.isnan(values).all():
        return f"no cut keeps {c.text}: {c.word} is undefined"
    end, best = ("highest", np.nanargmax) if c.upward else ("lowest", np.nanargmin)
    place = int(best(values))
    return (
        f"no cut that flags any row keeps {c.text}: the {end} {c.word} is {number(values[place])}, from "
        f"{number(table.threshold[place])} on; ask for less"
    )


def _why_not_together(table: CutTable, constraints: Sequence[Constraint]) -> str:
    """That no cut keeps all constraints, and what the last is at best where the others are kept."""
    *others, last = constraints
    kept = np.all([c.kept(table.weighed) for c in others], axis=0)
    text = f"no cut keeps {' and '.join(c.text for c in constraints)} on these rows"
    if not kept.any():
        return f"{text}; ask for less"
    values = measured(last.measure, table.weighed)[kept]
    side, best = ("at most", np.nanmax) if last.upward else ("at least", np.nanmin)
    others_kept = " and ".join(c.text for c in others)
    return f"{text}: with {others_kept}, {last.word} is {side} {number(float(best(values)))}; ask for less"


@dataclass(frozen=True)
class Clusters:
    """Rows that come in clusters: their class, their scores and the number of their cluster."""

    y: Bools
    score: Floats
    cluster: Ints
    count: Floats

    @classmethod
    def of(cls, rows: Rows) -> Clusters | None:
        """Those of the rows; none where they stand alone."""
        if rows.cluster is None:
            return None
        count = np.ones(len(rows)) if rows.count is None else rows.count.astype(np.float64)
        score = next(iter(rows.scores.values())).astype(np.float64)
        return cls(rows.y, score, rows.cluster, count)

    def sums(self, name: str, cut: float) -> tuple[Floats, Floats]:
        """For each cluster, the rows that count for a share and those that it is a share of."""
        alert = self.score >= cut
        cells = [self.y & alert, ~self.y & alert, self.y & ~alert, ~self.y & ~alert]
        hit, of = (np.any([cells[i] for i in part], axis=0) for part in SHARES[name])
        a, b = (np.bincount(self.cluster, self.count * part) for part in (hit, of))
        return a.astype(np.float64), b.astype(np.float64)

    def p_value(self, c: Constraint, cut: float) -> float:
        """The p-value of a constraint at a cut, of as many independent rows as vary as much.

        Korn and Graubard (1998): the rows that would give the variance of the share over clusters, fewer by
        Student's quantile; where the share is 0 or 1, the clusters.
        """
        from scipy.special import betainc

        hit, of = self.sums(c.measure, cut)
        total, clusters = float(of.sum()), int((of > 0).sum())
        if clusters < 2:
            return 1.0
        share, rows = float(hit.sum()) / total, float(clusters)
        if 0 < share < 1:
            variance = clusters / (clusters - 1) * float(((hit - share * of) ** 2).sum()) / total**2
            wider = t_quantile(0.95, clusters - 1) / normal_quantile(0.95)
            rows = min(share * (1 - share) / variance / wider**2, total) if variance else total
        good = share if c.upward else 1 - share
        if not good:
            return 1.0
        return float(betainc(good * rows, (1 - good) * rows + 1, c.least_share))


def p_values(c: Constraint, cuts: CutTable, clusters: Clusters | None) -> Floats:
    """The p-values of a constraint at cuts, by cluster where rows come in clusters."""
    if clusters is None:
        return c.p_value(cuts.cells)
    return np.array([clusters.p_value(c, float(cut)) for cut in cuts.threshold])


def error_of_side(constraints: Sequence[Constraint], confidence: float) -> float:
    """The error of the constraints that high cuts keep, and of those that low cuts keep."""
    return (1 - confidence) / len({c.kept_by_high_cuts for c in constraints})


def shown_to_keep(
    cuts: CutTable, constraints: Sequence[Constraint], error: float, clusters: Clusters | None
) -> Bools:
    """Which cuts are shown to keep the constraints, those of each side with this error."""
    shown = np.ones(len(cuts), bool)
    for high in {c.kept_by_high_cuts for c in constraints}:
        side = [c for c in constraints if c.kept_by_high_cuts is high]
        p = np.max([p_values(c, cuts, clusters) for c in side], axis=0)
        passed = p <= error * (1 + _ROUNDING)
        sequenced = [c for c in side if not c.monotone]
        if sequenced or clusters is not None:
            order = slice(None) if high else slice(None, None, -1)
            needs = [c.shares(cuts.cells)[1] >= (c.rows_needed(1 - error) or 0) for c in sequenced]
            enough = np.all([np.ones(len(cuts), bool), *needs], axis=0)[order]
            start = int(np.argmax(enough)) if enough.any() else len(cuts)
            passed[order][:start] = False
            passed[order][start:] = np.logical_and.accumulate(passed[order][start:])
        shown &= passed
    return shown


def grid(t: Tally) -> Floats:
    """The cuts of the fixed sequence, from the highest down: log-odds from 12 to -12 in steps of 0.25.

    Probabilities have three digits, those near 1 as their distance from it, so that they can be read.
    """
    odds = np.arange(FARTHEST, -FARTHEST - STEP / 2, -STEP)
    if t.kind == "logit":
        return odds
    small = [Decimal(f"{p:.3g}") for p in expit(-np.abs(odds))]
    return np.array([float(1 - p if x > 0 else p) for p, x in zip(small, odds, strict=True)])


def not_told_from_best(
    table: CutTable, best: int, objective: Objective, level: float
) -> tuple[float, float]:
    """The lowest and the highest cut whose value is not told from that of the best one.

    Paired, by the delta method: both cuts decide alike on all rows but those between them.
    """
    places = np.unique(np.append(table.thinned(MAX_COMPARED), best))
    best = int(np.searchsorted(places, best))
    tp, fp, fn, tn = (np.asarray(c, np.float64)[places] for c in table.cells)
    pos, neg = float(tp[0] + fn[0]), float(fp[0] + tn[0])
    worth, step = class_weights(table.cells, table.prevalence) * 2, 1e-30
    cells = [c * w for c, w in zip((tp, fp, fn, tn), worth, strict=True)]
    more = tp + fp > (tp + fp)[best]  # alerts than the best cut gives
    squares = mean = 0.0
    with np.errstate(divide="ignore", invalid="ignore"):
        value = objective.value(*cells)
        # what a row in each cell does to the value
        slopes = [
            objective.value(*map(np.add, cells, moved)).imag / step * w
            for moved, w in zip(1j * step * np.eye(4), worth, strict=True)
        ]
        for alerts, rows, hit, miss in ((tp, pos, *slopes[::2]), (fp, neg, *slopes[1::2])):
            low, high = np.minimum(alerts, alerts[best]), np.maximum(alerts, alerts[best])
            both, none = hit[best] - hit, miss[best] - miss
            one = np.where(more, miss[best] - hit, hit[best] - miss)
            for weight, gap in ((low, both), (high - low, one), (rows - high, none)):
                squares, mean = squares + weight * gap**2, mean + weight * gap
        error = np.sqrt(np.maximum(squares - mean**2 / (pos + neg), 0.0))
        apart = ~(value[best] - value <= normal_quantile(level) * error + _ROUNDING)
    apart[best] = False
    # a run of rows of one class beside the best cut tells nothing of those beyond it
    near = places[~apart]
    return float(table.threshold[near[-1]]), float(table.threshold[near[0]])


def interval_of_cut(table: CutTable, c: Constraint, level: float) -> tuple[float, float] | None:
    """The lowest and highest cut between which the rate truly reaches its value, with this confidence."""
    tail = (1 - level) / 2
    open_sides = [x.p_value(table.cells) > tail for x in (c, c.opposite)]
    places = np.flatnonzero(np.all(open_sides, axis=0))
    if not len(places):
        return None
    return float(table.threshold[places[-1]]), float(table.threshold[places[0]])
