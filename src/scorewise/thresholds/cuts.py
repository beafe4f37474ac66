"""Which cut: the best of these rows, and the one whose promise holds beyond them.

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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Context, Decimal
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns import Rows
from scorewise.curves.thresholds import lowest, thresholds
from scorewise.errors import BadInput
from scorewise.estimate import number
from scorewise.inference.scales import z
from scorewise.tallies import Tally
from scorewise.tallies.losses import expit
from scorewise.thresholds.constraints import SHARES, TP, Constraint, formula, measured

STEP, FARTHEST = 0.25, 12.0  # of the grid of log-odds
FEW = 2048  # cuts that are compared with the best
CLUSTERED = 200  # cuts that are tested where rows come in clusters
_HAIR = 1e-12


@dataclass(frozen=True)
class Table:
    """tp, fp, fn, tn at cuts from the highest down; a score is an alert when it is >= the cut.

    `share` is the prevalence for which positives and negatives are weighed, if it is not that of the rows.
    """

    threshold: Floats
    cells: tuple[Any, Any, Any, Any]
    share: float | None = None

    @staticmethod
    def of(t: Tally, share: float | None = None) -> Table:
        """The cuts at all distinct scores."""
        every = thresholds(t)
        cells = (every.tp[1:], every.fp[1:], every.fn[1:], every.tn[1:])
        return Table(every.threshold[1:], cells, share)

    @staticmethod
    def at(t: Tally, cuts: Floats) -> Table:
        """Other cuts, given from the highest down."""
        place = np.searchsorted(lowest(t).astype(np.float64), cuts)
        sums = [np.concatenate(([0], w.cumsum())) for w in (t.pos, t.neg)]
        fn, tn = (s[place] for s in sums)
        return Table(cuts, (sums[0][-1] - fn, sums[1][-1] - tn, fn, tn))

    def __len__(self) -> int:
        return len(self.threshold)

    def short(self, i: int) -> float:
        """One cut, or one with fewer digits that decides alike."""
        above = float(self.threshold[i + 1]) if i + 1 < len(self) else None
        return short_cut(above, float(self.threshold[i]))

    @cached_property
    def weighed(self) -> tuple[Any, Any, Any, Any]:
        """The cells as they would be at the other prevalence, of as many rows."""
        if self.share is None:
            return self.cells
        tp, fp, fn, tn = self.cells
        pos, neg = float(tp[0] + fn[0]), float(fp[0] + tn[0])
        up, down = ((pos + neg) * s / n for s, n in ((self.share, pos), (1 - self.share, neg)))
        return tp * up, fp * down, fn * up, tn * down

    def rates(self) -> tuple[Floats, Floats]:
        """Sensitivity and false positive rate at each cut."""
        return measured("sensitivity", self.cells), measured("fpr", self.cells)

    def thinned(self, most: int) -> Ints:
        """Places of at most so many cuts, about equally far apart on the ROC curve, with both ends."""
        if len(self) <= most:
            return np.arange(len(self))
        found, false = (np.nan_to_num(rate) for rate in self.rates())
        way = found + false
        wanted = np.linspace(way[0], way[-1], most)
        return np.unique(
            np.concatenate(([0], np.searchsorted(way, wanted - _HAIR), [len(self) - 1]))
        )


class Objective(NamedTuple):
    """What is largest at the best cut: a name, a formula of tp, fp, fn, tn, and the words for it."""

    name: str
    value: Callable[..., Any]
    words: str


# what is best, in words; others are called as they are asked for
CALLED = {"youden": "Youden's J", "f1": "F1", "f2": "F2", "mcc": "MCC"}


def objective(best: str | None, cost: float | None, wanted: Sequence[Constraint]) -> Objective:
    """What was asked for; else fewest alerts for constraints that low cuts keep, and else most recall."""
    if best == "cost":
        price = 1.0 if cost is None else cost
        words = f"lowest cost, a missed positive counting as {price:g} false alarms"
        return Objective(
            "cost", lambda tp, fp, fn, tn: -(price * fn + fp) / (tp + fp + fn + tn), words
        )
    if best is not None:
        return Objective(best, formula(best), f"highest {CALLED.get(best, best)}")
    if all(c.strict for c in wanted):
        return Objective("recall", formula("sensitivity"), "highest recall")
    return Objective("alerts", lambda tp, fp, fn, tn: -(tp + fp), "fewest alerts")


def best_of(table: Table, among: Bools, aim: Objective) -> int:
    """The place of the best cut among some; the highest of several."""
    with np.errstate(divide="ignore", invalid="ignore"):
        value = np.asarray(
            aim.value(*(np.asarray(c, np.float64) for c in table.weighed)), np.float64
        )
    value = np.where(among & ~np.isnan(value), value, -np.inf)
    top = value.max(initial=-np.inf)
    # sums of weights may differ by rounding
    return int(np.argmax(value >= top - _HAIR * max(1.0, abs(top)))) if np.isfinite(top) else -1


def plain_cut(table: Table, wanted: Sequence[Constraint], aim: Objective) -> int:
    """The place of the best cut that keeps all constraints on these rows."""
    kept = np.ones(len(table), bool)
    for c in wanted:
        mine = c.kept(table.weighed)
        if not mine.any():
            raise BadInput(_never(table, c))
        kept &= mine
    if not kept.any():
        raise BadInput(_not_both(table, wanted))
    at = best_of(table, kept, aim)
    if at < 0:
        raise BadInput(f"no cut has the {aim.words}: it is undefined at each of them")
    return at


def _never(table: Table, c: Constraint) -> str:
    """That no cut keeps the constraint, and how near it any comes."""
    found = measured(c.measure, table.weighed)
    if np.isnan(found).all():
        return f"no cut keeps {c.text}: {c.word} is undefined"
    at = int(np.nanargmax(found) if c.sign == ">=" else np.nanargmin(found))
    end = "highest" if c.sign == ">=" else "lowest"
    return (
        f"no cut that flags any row keeps {c.text}: the {end} {c.word} is {number(found[at])}, from "
        f"{number(table.threshold[at])} on; ask for less"
    )


def _not_both(table: Table, wanted: Sequence[Constraint]) -> str:
    """That no cut keeps all constraints, and what the last is at best where the others are kept."""
    *others, last = wanted
    kept = np.all([c.kept(table.weighed) for c in others], axis=0)
    whole = " and ".join(c.text for c in wanted)
    if not kept.any():
        return f"no cut keeps {whole} on these rows; ask for less"
    found = measured(last.measure, table.weighed)[kept]
    best = np.nanmax(found) if last.sign == ">=" else np.nanmin(found)
    side = "at most" if last.sign == ">=" else "at least"
    with_ = " and ".join(c.text for c in others)
    return (
        f"no cut keeps {whole} on these rows: with {with_}, {last.word} is {side} {number(float(best))}; "
        f"ask for less"
    )


class Guaranteed(NamedTuple):
    """A cut whose promise holds beyond the rows: its threshold, how it was found, or why there is none.

    `fixed` cuts are those of the grid, whose promise holds at that very value.
    """

    threshold: float | None
    method: str = ""
    why: str = ""
    fixed: bool = False


@dataclass(frozen=True)
class Clusters:
    """Rows that come in clusters: their class, their scores and the number of their cluster."""

    y: Bools
    score: Floats
    cluster: Ints
    times: Floats

    @staticmethod
    def of(rows: Rows) -> Clusters | None:
        """Those of the rows; none where they stand alone."""
        if rows.cluster is None:
            return None
        times = np.ones(len(rows)) if rows.count is None else rows.count.astype(np.float64)
        score = next(iter(rows.scores.values())).astype(np.float64)
        return Clusters(rows.y, score, rows.cluster, times)

    def sums(self, name: str, cut: float) -> tuple[Floats, Floats]:
        """For each cluster, the rows that count for a share and those that it is a share of."""
        alert = self.score >= cut
        cells = [self.y & alert, ~self.y & alert, self.y & ~alert, ~self.y & ~alert]
        hit, of = (np.any([cells[i] for i in part], axis=0) for part in SHARES[name])
        a, b = (np.bincount(self.cluster, self.times * part) for part in (hit, of))
        return a.astype(np.float64), b.astype(np.float64)

    def p_value(self, c: Constraint, cuts: Table) -> Floats:
        """The p-values of a constraint, of as many independent rows as vary as much.

        Korn and Graubard (1998): the rows that would give the variance of the share over clusters, fewer by
        Student's quantile; where the share is 0 or 1, the clusters.
        """
        from scipy.special import betainc, stdtrit

        found = np.ones(len(cuts))
        for k, cut in enumerate(cuts.threshold):
            hit, of = self.sums(c.measure, float(cut))
            total, many = float(of.sum()), int((of > 0).sum())
            if many < 2:
                continue
            share, rows = float(hit.sum()) / total, float(many)
            if 0 < share < 1:
                spread = many / (many - 1) * float(((hit - share * of) ** 2).sum()) / total**2
                student = float(stdtrit(many - 1, 0.975)) / z(0.95)
                rows = min(share * (1 - share) / spread / student**2, total) if spread else total
            good = share if c.sign == ">=" else 1 - share
            limit = c.value if c.sign == ">=" else 1 - c.value
            found[k] = betainc(good * rows, (1 - good) * rows + 1, limit) if good else 1.0
        return found


def guaranteed_cut(
    t: Tally,
    table: Table,
    wanted: Sequence[Constraint],
    aim: Objective,
    confidence: float,
    clusters: Clusters | None = None,
) -> Guaranteed:
    """The best cut among those that keep all constraints with this confidence."""
    if why := why_no_guarantee(t, table, wanted):
        return Guaranteed(None, why=why)
    both, error = sides(wanted, confidence)
    for c in wanted:
        if why := _too_few(c, t, 1 - error, confidence):
            return Guaranteed(None, why=why)
    sequenced = not all(c.monotone for c in wanted)
    cuts = Table.at(t, grid(t)) if sequenced else table
    if clusters is not None and not sequenced:
        cuts = Table.at(t, table.threshold[table.thinned(CLUSTERED)])
    shown = shown_by_both(both, cuts, error, clusters)
    if not shown.any():
        what = " and ".join(c.text for c in wanted)
        return Guaranteed(
            None, why=f"no cut is shown to keep {what}; more rows or a weaker constraint may do"
        )
    cuts = Table(cuts.threshold, cuts.cells, table.share)
    at = best_of(cuts, shown, aim)
    if at < 0:
        return Guaranteed(None, why=f"no cut that is shown to keep them has the {aim.words}")
    method = "fixed sequence of exact tests" if sequenced else "exact order statistic"
    if clusters is not None:
        method = "sequence of tests with effective rows by cluster (Korn and Graubard), approximate"
    method += ", half of the error for each side" if all(both) else ""
    return Guaranteed(float(cuts.threshold[at]), method, fixed=sequenced)


def sides(wanted: Sequence[Constraint], confidence: float) -> tuple[list[list[Constraint]], float]:
    """The constraints that the highest cuts keep, those that the lowest do, and the error of each side."""
    both = [[c for c in wanted if c.strict is strict] for strict in (True, False)]
    return both, (1 - confidence) / sum(map(bool, both))


def why_no_guarantee(t: Tally, table: Table, wanted: Sequence[Constraint]) -> str:
    """Why these rows or constraints have no guarantee at all; empty where they may."""
    if not wanted:
        return "a guarantee needs a constraint, such as recall >= 0.9"
    if t.weighted:
        return "rows are weighted, and the guarantee is exact for rows that count alike"
    for c in wanted:
        if c.why_not_guaranteed:
            return c.why_not_guaranteed
        if table.share is not None and SHARES[c.measure][1] not in ((0, 2), (1, 3)):
            return (
                f"{c.word} at another prevalence has no guarantee; recall and specificity have one"
            )
        if not c.monotone and t.kind == "score":
            return (
                f"{c.word} is guaranteed on a grid of probabilities, but these scores are not "
                f"probabilities; calibrate them first"
            )
        if not c.monotone and t.coarse is not None:
            return (
                f"{c.word} is not guaranteed for a coarse tally, whose cells the grid cuts through"
            )
    return ""


def _too_few(c: Constraint, t: Tally, sure: float, confidence: float) -> str:
    """Why there are too few rows for a guarantee, with the number needed; empty where there are enough."""
    need, of = c.rows_needed(sure), c.rows
    promise = f"{c.text} cannot be guaranteed with {100 * confidence:g}% confidence"
    if need is None:
        return f"{promise}: no number of rows shows a share of 0 or 1; ask for a little less"
    pos, neg = int(t.positives), int(t.negatives)
    there = {"positives": pos, "negatives": neg}.get(of, pos + neg)
    if there >= need:
        return ""
    have = of[:-1] if there == 1 and of.endswith("s") else of
    return f"{promise}: there are {there:,} {have}, and it takes {need:,} at least"


def grid(t: Tally) -> Floats:
    """The cuts of the fixed sequence, from the highest down: log-odds from 12 to -12 in steps of 0.25.

    Probabilities have three digits, those near 1 as their distance from it, so that they can be read.
    """
    odds = np.arange(FARTHEST, -FARTHEST - STEP / 2, -STEP)
    if t.kind == "logit":
        return odds
    small = [Decimal(f"{p:.3g}") for p in expit(-np.abs(odds))]
    return np.array([float(1 - p if x > 0 else p) for p, x in zip(small, odds, strict=True)])


def short_cut(above: float | None, upto: float) -> float:
    """The cut with the fewest digits among those above one score and up to the next, which decide alike.

    >>> short_cut(0.025243, 0.025312), short_cut(0.1234567, 0.1234568), short_cut(None, 0.1234567)
    (0.0253, 0.1234568, 0.123)
    """
    low, high = (Decimal("-inf" if x is None else repr(float(x))) for x in (above, upto))
    for digits in range(3, 18):
        cut = Context(prec=digits, rounding=ROUND_FLOOR).plus(high)
        if cut > low:
            return float(cut)
    return upto


def p_values(c: Constraint, cuts: Table, clusters: Clusters | None) -> Floats:
    """The p-values of a constraint at cuts, by cluster where rows come in clusters."""
    return c.p_value(cuts.cells) if clusters is None else clusters.p_value(c, cuts)


def shown_by_both(
    both: Sequence[Sequence[Constraint]], cuts: Table, error: float, clusters: Clusters | None
) -> Bools:
    """Which cuts are shown to keep the constraints of both sides."""
    pairs = zip(both, (True, False), strict=True)
    shown = [_shown(side, cuts, error, strict, clusters) for side, strict in pairs]
    return np.asarray(shown[0] & shown[1])


def _shown(
    side: Sequence[Constraint], cuts: Table, error: float, strict: bool, clusters: Clusters | None
) -> Bools:
    """Which cuts are shown to keep the constraints of one side."""
    if not side:
        return np.ones(len(cuts), bool)
    p = np.max([p_values(c, cuts, clusters) for c in side], axis=0)
    passed: Bools = p <= error * (1 + _HAIR)
    sequenced = [c for c in side if not c.monotone]
    if not sequenced and clusters is None:
        return passed
    order = slice(None) if strict else slice(None, None, -1)
    needs = [c.shares(cuts.cells)[1] >= (c.rows_needed(1 - error) or 0) for c in sequenced]
    enough = np.all([np.ones(len(cuts), bool), *needs], axis=0)[order]
    start = int(np.argmax(enough)) if enough.any() else len(cuts)
    kept = np.zeros(len(cuts), bool)
    kept[order][start:] = np.logical_and.accumulate(passed[order][start:])
    return kept


def alike(table: Table, at: int, aim: Objective, level: float) -> tuple[float, float]:
    """The lowest and the highest cut whose value is not told from that of the best one.

    Paired, by the delta method: both cuts decide alike on all rows but those between them.
    """
    few = np.unique(np.append(table.thinned(FEW), at))
    centre = int(np.searchsorted(few, at))
    called = [np.asarray(table.cells[i], np.float64)[few] for i in (0, 1)]
    whole = [float(table.cells[i][0] + table.cells[i + 2][0]) for i in (0, 1)]
    scale = np.ones(2)
    if table.share is not None:
        scale = sum(whole) * np.array([table.share, 1 - table.share]) / whole
    # of positives and of negatives: called by both cuts, by one of them, by none
    parts = []
    for c, n in zip(called, whole, strict=True):
        low, high = np.minimum(c, c[centre]), np.maximum(c, c[centre])
        parts += [low, high - low, n - high]
    lower = called[0] + called[1] > called[0][centre] + called[1][centre]

    def gap(*cells: Any) -> Any:
        """How far the value of the best cut is above that of each."""
        more = [np.stack([b, b + o, o + none, none]) for b, o, none in (cells[:3], cells[3:])]
        values = []
        for wide in (lower, ~lower):  # whether this one calls the rows between
            tp, fp = (m[1] * wide + m[0] * ~wide for m in more)
            fn, tn = (m[3] * wide + m[2] * ~wide for m in more)
            values.append(aim.value(tp * scale[0], fp * scale[1], fn * scale[0], tn * scale[1]))
        return values[1] - values[0]

    with np.errstate(divide="ignore", invalid="ignore"):
        difference = gap(*parts).real
        step = 1e-30
        slopes = [
            gap(*(p + step * 1j if i == k else p + 0j for i, p in enumerate(parts))).imag / step
            for k in range(6)
        ]
        squares, mean = (
            sum(p * s**power for p, s in zip(parts, slopes, strict=True)) for power in (2, 1)
        )
        error = np.sqrt(np.maximum(squares - mean**2 / sum(whole), 0.0))
    apart = ~(difference <= z(level) * error + _HAIR)
    apart[centre] = False
    # a run of rows of one class beside the best cut tells nothing of those beyond it
    near = few[~apart]
    return float(table.threshold[near[-1]]), float(table.threshold[near[0]])


def around(table: Table, c: Constraint, level: float) -> tuple[float, float] | None:
    """The lowest and highest cut between which the rate truly reaches its value, with this confidence."""
    tail = (1 - level) / 2
    open_ = [x.p_value(table.cells) > tail for x in (c, c.turned)]
    places = np.flatnonzero(open_[0] & open_[1])
    if not len(places):
        return None
    return float(table.threshold[places[-1]]), float(table.threshold[places[0]])


class Reject(NamedTuple):
    """Two cuts: alert from `high` on, clear below `low`, review between; and what a row then costs."""

    low: float
    high: float
    reviewed: float
    cost: float
    alone: float


def reject_region(table: Table, cost: float, review: float) -> Reject | None:
    """The two cuts that cost least where a review can be bought; none where reviews do not pay.

    In false alarms, a missed positive costs `cost` and a review `review` (Chow 1970).
    """
    tp, fp, fn, tn = (np.asarray(c, np.float64) for c in table.weighed)
    total = float(tp[0] + fp[0] + fn[0] + tn[0])
    # also no alerts at all: above every cut
    tp, fp = (np.concatenate(([0.0], c)) for c in (tp, fp))
    fn = np.concatenate(([fn[0] + table.weighed[TP][0]], fn))
    below, above = cost * fn + review * (tp + fp), fp - review * (tp + fp)
    low, high = int(np.argmin(below)), len(above) - 1 - int(np.argmin(above[::-1]))
    alone = float((cost * fn + fp).min()) / total
    both = float(below[low] + above[high]) / total
    if low <= high or high == 0 or both >= alone - _HAIR:
        return None
    reviewed = float((tp + fp)[low] - (tp + fp)[high]) / total
    return Reject(table.short(low - 1), table.short(high - 1), reviewed, both, alone)
