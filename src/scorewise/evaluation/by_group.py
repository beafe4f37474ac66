"""The measures of the first screen for every group of rows, from one sort by group and score.

Sums over rows are taken for many groups at once, and made into a measure as its own function does. Where
they are not enough, as where a threshold tells the classes of a group apart, the measure itself is
computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns import Kind, Rows
from scorewise.computing import on_threads, remember
from scorewise.estimate import Estimate
from scorewise.inference.influence import order_of, row_influence
from scorewise.inference.logistic import MAX_VARIANCE, as_log_odds, newton_lines
from scorewise.inference.means import loss_variance
from scorewise.inference.ranking import (
    MIN_FREEDOM,
    MIN_ROWS,
    least_freedom,
    placement_squares,
    precision_influence,
    variance_by_class,
)
from scorewise.inference.scales import effective_size, limits, pooled_variance, sandwich
from scorewise.inference.shares import wilson
from scorewise.measures.calibration_clinical import ratio_interval
from scorewise.measures.calibration_tests import line_interval
from scorewise.registry import MEASURES
from scorewise.statistics.formulas import FN, FP, SHARES, TN, TP
from scorewise.statistics.probabilities import MAX_CELLS, bin_index, moments
from scorewise.subgroups.comparison import (
    LARGE_GROUP,
    OfGroups,
    OfRest,
    rest_limits,
    without_groups,
)
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.confusion import threshold_on_scale
from scorewise.tallies.losses import Loss, Moments, score_losses, uncertainty, unit
from scorewise.tallies.runs import ByGroup, add_runs, first_of_runs
from scorewise.tallies.tally import Block, masses

if TYPE_CHECKING:
    from scorewise.evaluation.result import Evaluation

CELLS_IN_BATCH = 1 << 16  # about so many, whose groups are summed together
MAX_ECE_INTERVALS = 50  # groups of which ECE has an interval, which takes a thousand draws for each
BINS = 15
Settings: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Cells:
    """Weights of both classes on each distinct score of each group; `first` is where groups begin.

    Of all groups, `sorted_scores` are those of the rows, and `rank` is the place there of the first row of
    each cell.
    """

    score: Any
    neg: Any
    pos: Any
    neg2: Any
    pos2: Any
    first: Ints
    kind: Kind
    sorted_scores: Any = None
    rank: Any = None

    @property
    def counts(self) -> bool:
        """Whether rows have no weights."""
        return self.neg2 is self.neg

    @cached_property
    def mass(self) -> Any:
        """The weight of each cell, of both classes."""
        return self.neg + self.pos

    @cached_property
    def one_row_each(self) -> bool:
        """Whether there is a single row in each cell."""
        return self.counts and int(self.mass.sum()) == len(self.score)

    @cached_property
    def by(self) -> ByGroup:
        """The sums of cells within each group."""
        return ByGroup(self.first, len(self.score))

    @cached_property
    def weights(self) -> Floats:
        """The weight of the negatives and of the positives of each group."""
        return np.stack([self.by.add(w) for w in (self.neg, self.pos)])

    @cached_property
    def squares(self) -> Floats:
        """The same of squared weights."""
        return np.stack([self.by.add(w) for w in (self.neg2, self.pos2)])

    @cached_property
    def rows(self) -> Floats:
        """As many rows as the weights of both classes are worth."""
        return np.asarray(effective_size(self.weights, self.squares))

    @cached_property
    def ranked(self) -> Bools:
        """Which groups have rows of both classes, and no more cells than are kept apart."""
        return (self.weights > 0).all(0) & (self.by.length <= MAX_CELLS)

    def of(self, k: int) -> slice:
        """The cells of one group."""
        return slice(self.first[k], self.first[k] + self.by.length[k])

    def columns(self, at: slice) -> tuple[Any, Any, Any, Any, Any]:
        """The scores and weights of some cells."""
        neg, pos = self.neg[at], self.pos[at]
        squares = (neg, pos) if self.counts else (self.neg2[at], self.pos2[at])
        return self.score[at], neg, pos, *squares

    def tally(self, k: int) -> Tally:
        """The cells of one group."""
        return Tally(*self.columns(self.of(k)), self.kind)

    def batches(self) -> Iterator[Cells]:
        """The same in parts of whole groups that fit a core's cache."""
        ends = [*first_of_runs(self.first // CELLS_IN_BATCH)[1:], len(self.first)]
        for a, b in zip([0, *ends], ends, strict=False):
            at = slice(self.of(a).start, self.of(b - 1).stop)
            yield Cells(*self.columns(at), self.first[a:b] - at.start, self.kind)


def cells_of(rows: Rows, name: str, codes: Ints, many: int) -> Cells:
    """The cells of groups 0, 1, ... `many` - 1, each of which has rows of some weight."""
    y, s, (w, w2) = rows.y, rows.scores[name], masses(rows)
    if w is None or (w > 0).all():
        order = order_of(rows, name)
    else:
        y, s, codes, w, w2 = (x[w > 0] for x in (y, s, codes, w, w2))
        order = np.argsort(s)
    # of small integers a stable sort is by radix
    narrow = codes.astype(np.uint16 if many < 1 << 16 else np.int64)
    narrow, ordered = narrow[order], s[order] + s.dtype.type(0.0)
    rank = np.argsort(narrow, kind="stable")
    group, score, up = narrow[rank], ordered[rank], y[order][rank]
    start = first_of_runs(group, score)
    if w is None:
        pos = up.astype(np.int64)
        if len(start) == len(up):  # a row in each cell
            neg = 1 - pos
        else:
            pos = add_runs(pos, start)
            neg = np.diff(start, append=len(up)) - pos
        columns = [neg, pos]
    else:
        both = (w,) if w2 is w else (w, w2)
        columns = [
            add_runs(np.where(up == side, c[order][rank], 0), start)
            for c in both
            for side in (0, 1)
        ]
    first = np.searchsorted(group[start], np.arange(many, dtype=group.dtype))
    neg, pos, neg2, pos2 = *columns[:2], *columns[-2:]
    kind = rows.kinds[name]
    return Cells(score[start], neg, pos, neg2, pos2, first, kind, ordered, rank[start])


class Values(NamedTuple):
    """A measure of each group: fields of its estimate, and where the sums of a group are enough for it."""

    regular: Bools
    method: str
    fields: dict[str, Any]

    def estimates(self, level: float) -> list[Estimate | None]:
        """The estimate of each group; None where the measure itself has to be computed."""
        columns = (np.broadcast_to(x, len(self.regular)).tolist() for x in self.fields.values())
        return [
            Estimate(level=level, method=self.method, **dict(zip(self.fields, line, strict=True)))
            if ok
            else None
            for ok, *line in zip(self.regular.tolist(), *columns, strict=True)
        ]


def values_of(
    regular: Bools, value: Floats, ends: tuple[Any, ...], method: str, **further: Any
) -> Values:
    """A measure with limits, which hold the value."""
    low, high = np.minimum(ends[0], value), np.maximum(ends[1], value)
    return Values(regular, method, {"value": value, "low": low, "high": high, **further})


def by_group(
    rows: Rows, e: Evaluation, codes: Ints, many: int, names: Sequence[str]
) -> tuple[OfGroups, OfRest]:
    """Each of the measures for each of so many groups, and on all rows but its own."""
    settings, t = vars(e.settings), e.tally
    cells = cells_of(rows, t.origin.score, codes, many)
    shares = cells.by.add(cells.mass) / (t.negatives + t.positives)
    parts, small = [*cells.batches()], (shares < LARGE_GROUP).any()
    tasks: list[Callable[[], Any]] = [
        partial(_influences, rows, e, cells, names) if small else dict,
        *(partial(_of_batch, part, settings, names, many) for part in parts),
    ]
    # sums beside each other; what is made of them is Python, which would only wait for itself
    influences, *batches = on_threads(lambda task: task(), tasks, enough=4)
    level = settings["level"]
    own: dict[str, list[Any]] = {name: [] for name in names}
    for part, batch in zip(parts, batches, strict=True):
        for name in names:
            of = batch[name].estimates(level) if name in batch else [None] * len(part.first)
            own[name] += of

    def compute_missing(k: int) -> None:
        missing = [name for name in names if own[name][k] is None]
        tally = cells.tally(k) if missing else t
        for name in missing:
            own[name][k] = MEASURES[name].of_tally(tally, settings)

    if many <= MAX_ECE_INTERVALS and cells.by.length.max() > MAX_CELLS:  # of many rows each
        on_threads(compute_missing, range(many), enough=1)
    else:
        for k in range(many):
            compute_missing(k)
    return own, _rest(rows, e, codes, cells, names, shares, influences)


def _of_batch(c: Cells, settings: Settings, names: Sequence[str], many: int) -> dict[str, Values]:
    """The measures whose sums can be taken for all groups at once."""
    level, clip = settings["level"], settings["clip"]
    found: dict[str, Values] = {}
    with np.errstate(all="ignore"):  # groups of one class, which are left out
        found["auroc"] = _auroc(c, level)
        exact = (c.by.length <= MAX_CELLS).any()  # of pooled cells the measures below are computed
        if exact:
            found["average_precision"] = _average_precision(c, level)
        if c.kind != "score":
            found["brier"] = _loss(c, "brier", level, None)
            found["log_loss"] = _loss(c, "log", level, clip)
        if c.kind != "score" and exact:
            x = as_log_odds(c.score, c.kind, clip)
            found["calibration_intercept"] = _line(c, x, level, 0.0)
            found["calibration_slope"] = _line(c, x, level, 1.0)
            found["oe_ratio"] = _ratio(c, level)
        if c.kind != "score" and many > MAX_ECE_INTERVALS:
            found["ece"] = _ece(c)
    tables = decision_tables(c, settings["threshold"])
    return found | {n: _share(n, tables, level) for n in names if n in SHARES and c.counts}


def _auroc(c: Cells, level: float) -> Values:
    neg, pos = c.weights
    area = np.minimum(c.by.add(c.pos * (c.by.upto(c.neg) - c.neg / 2)) / (neg * pos), 1.0)
    block = Block(*c.columns(slice(None)), 0, 0, 0, 0)
    of_pos, of_neg = placement_squares(block, (neg, pos), area, c.by)
    spread = pooled_variance((of_pos / pos**2, c.rows[1]), (of_neg / neg**2, c.rows[0]))
    sides = (c.neg, c.neg2, neg), (c.pos, c.pos2, pos)
    regular = (c.rows.min(0) > MIN_ROWS - 1e-9) & (area > 0) & (area < 1) & spread.informative()
    regular &= least_freedom(spread.variance, *sides, by=c.by) > MIN_FREEDOM
    ends = limits(area, spread, level, "logit")
    return values_of(regular, area, ends, "DeLong, logit", baseline=0.5)


def _average_precision(c: Cells, level: float) -> Values:
    (neg, pos), by = c.weights, c.by
    area, gain, loss = precision_influence(c.neg, c.pos, by=by)
    area = np.minimum(area, 1.0)
    spread = variance_by_class((c.pos, c.pos2, gain), (c.neg, c.neg2, loss), by=by)
    regular = c.ranked & (area > 0) & (area < 1) & spread.informative()
    ends = limits(area, spread, level, "logit")
    return values_of(regular, area, ends, "linearised, logit", baseline=pos / (neg + pos))


def _loss(c: Cells, loss: Loss, level: float, clip: float | None) -> Values:
    how = {} if clip is None else {"clip": clip}
    charged = score_losses(c.score, c.kind, "log clipped" if clip is not None else loss, **how)
    certain, sums = np.zeros(len(c.first)), []
    for charge, w, w2 in zip(charged, (c.neg, c.pos), (c.neg2, c.pos2), strict=True):
        infinite = np.isinf(charge)
        if infinite.any():
            certain += c.by.add(np.where(infinite, w, 0))
            charge = np.where(infinite, 0.0, charge)
        first, second = c.by.add(w * charge), c.by.add(w2 * charge * charge)
        sums.append((first, first if c.counts else c.by.add(w2 * charge), second))
    largest = 1.0 if loss == "brier" else math.inf if clip is None else -math.log(clip)
    value, spread = loss_variance(Moments(*np.stack(sums, 1)), c.weights, c.squares)
    regular = (c.weights > 0).all(0) & (certain == 0) & (value > 0) & (value <= largest)
    regular &= spread.informative(value)
    low, high = limits(value, spread, level, "log")
    base = uncertainty(c.weights[1] / c.weights.sum(0), loss)
    ends = low, np.minimum(high, largest)
    return values_of(regular, value, ends, "Student, log scale", baseline=base)


def _ratio(c: Cells, level: float) -> Values:
    """Observed over expected positives of each group."""
    p, total = unit(c.score, c.kind), c.weights.sum(0)
    expected = c.by.add(c.mass * p)
    value = c.weights[1] / expected
    due, each = c.by.of(value) * p, c.by.of(1 / expected)
    spread = sandwich((c.pos, c.pos2, (1 - due) * each), (c.neg, c.neg2, -due * each), by=c.by)
    regular = c.ranked & (expected > 1e-100 * total) & spread.informative(value)
    low, high, chance = ratio_interval(value, spread, level)
    return values_of(regular, value, (low, high), "linearised, log", expected=1.0, p=chance)


def _line(c: Cells, x: Floats, level: float, right: float) -> Values:
    """Cox's line of each group: an intercept beside slope 1, or a slope."""
    known, by, (neg, pos) = np.isfinite(x) & (np.abs(x) <= MAX_VARIANCE), c.by, c.weights
    regular = c.ranked & np.logical_and.reduceat(known, c.first)
    regular &= np.minimum(neg, pos) >= 1e-12 * (neg + pos)
    x = x if known.all() else np.where(known, x, 0.0)
    mass, start = (None if c.one_row_each else c.mass), np.zeros(len(c.first))
    if sloped := right == 1:
        low, high = (
            [end.reduceat(np.where(w > 0, x, far), c.first) for w in (c.neg, c.pos)]
            for end, far in ((np.minimum, np.inf), (np.maximum, -np.inf))
        )
        width = np.maximum(*high) - np.minimum(*low)
        regular &= (high[0] > low[1] + 1e-12 * width) & (high[1] > low[0] + 1e-12 * width)
        regular &= width >= 1e-100
        x = x - by.of(by.add(x if mass is None else mass * x) / (neg + pos))
        start = np.where(regular, np.log(pos / neg), 0.0)
    up, ones = c.pos.astype(np.float64), np.ones(len(c.first))
    fit = newton_lines(x, mass, up, start, ones, by=by, offset=not sloped, wanted=regular)
    p, (a, b) = fit.chances, fit.last
    effect = by.of(b) * x + by.of(a) if sloped else by.of(a)
    if c.one_row_each:  # of a row of one class, the effect of that class alone
        sides = [(c.mass, c.mass, effect * np.where(c.pos, 1 - p, p))]
    else:
        sides = [(c.neg, c.neg2, effect * p), (c.pos, c.pos2, effect * (1 - p))]
    spread = sandwich(*sides, by=by)
    value = fit.slope if sloped else fit.intercept
    low, high, chance = line_interval((c.rows[0], c.rows[1]), value, spread, level, right)
    regular = fit.converged & (spread.variance > 0) & (spread.variance < MAX_VARIANCE)
    return values_of(regular, value, (low, high), "Student, sandwich", expected=right, p=chance)


def _ece(c: Cells) -> Values:
    p = unit(c.score, c.kind)
    at = c.by.of(np.arange(len(c.first)) * BINS) + bin_index(BINS, None, p.dtype)(p)
    gap = np.bincount(at, c.pos - c.mass * p, BINS * len(c.first))
    value = np.abs(gap).reshape(-1, BINS).sum(1) / c.weights.sum(0)
    method = f"none: more than {MAX_ECE_INTERVALS} groups"
    return Values(np.ones(len(value), np.bool_), method, {"value": value})


def decision_tables(c: Cells, threshold: float) -> Floats:
    """tp, fp, fn and tn of each group."""
    t = Tally(c.score[:1], c.neg[:1], c.pos[:1], c.neg[:1], c.pos[:1], c.kind)
    called = c.score >= threshold_on_scale(t, threshold)
    tp, fp = (c.by.add(np.where(called, w, 0)) for w in (c.pos, c.neg))
    return np.stack([tp, fp, c.weights[1] - tp, c.weights[0] - fp], 1)


def share_limits(name: str, tables: Floats, level: float) -> Floats:
    """Values and Wilson's limits of a share, from counts tp, fp, fn and tn of each group; else NaN."""
    hit, miss = (tables[:, list(cells)].sum(1) for cells in SHARES[name])
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.stack(wilson(hit, miss, hit, miss, level))


def _share(name: str, tables: Floats, level: float) -> Values:
    with np.errstate(invalid="ignore"):
        called, positive = ((tables[:, TP] + tables[:, i]) / tables.sum(1) for i in (FP, FN))
    chance = called if name == "sensitivity" else 1 - called if name == "specificity" else positive
    value, *ends = share_limits(name, tables, level)
    return values_of(~np.isnan(value), value, (*ends,), "Wilson", baseline=chance)


# The measures on all rows but those of each group.


def _rest(
    rows: Rows, e: Evaluation, codes: Ints, cells: Cells, names: Sequence[str], shares: Floats,
    influences: Mapping[str, Floats],
) -> OfRest:  # fmt: skip
    """Each of the measures on all rows but those of each group: value, low and high.

    A group of a twentieth of the rows or more is taken out of them. For smaller ones, their influence is
    taken off the value of all, and the interval is that of all, widened as rows are fewer: it is narrow
    beside that of the group.
    """
    t, settings = e.tally, vars(e.settings)
    large = np.flatnonzero(shares >= LARGE_GROUP).tolist()
    tables = decision_tables(cells, settings["threshold"])
    left = tables.sum(0) - tables
    decisions = [name for name in names if MEASURES[name].group == "decisions"]
    by_table = decisions if cells.counts else []
    found = {name: share_limits(name, left, settings["level"]) for name in by_table}
    others = [name for name in names if name not in by_table]
    for name in others:
        values = without_groups(e[name], influences.get(name, 0 * shares), shares)
        found[name] = rest_limits(e[name], values, shares)
    if not cells.counts:
        heavy = sum(t.squares) / (t.negatives + t.positives)
        for k in {*range(len(shares))} - {*large}:
            table = left[k][[TN, FP, FN, TP]].reshape(2, 2)
            confusion = Confusion(table, table * heavy)
            for name in decisions:
                exact = MEASURES[name].under(settings, confusion)
                found[name][:, k] = exact.value, exact.low, exact.high

    clip = settings["clip"]
    losses: list[tuple[Loss, float | None]] = [("brier", None)]
    losses += [("log", clip)]

    def without(k: int) -> list[Estimate]:
        rest, group = _tally_without(rows, t, codes, cells, k), cells.tally(k)
        for loss in losses if cells.kind != "score" else ():  # sums that all rows have already
            both = zip(moments(t, *loss), moments(group, *loss), strict=True)
            remember(rest, moments, *loss, result=tuple(Moments(*np.subtract(*x)) for x in both))
        return [MEASURES[name].of_tally(rest, settings) for name in others]

    for k, exactly in zip(large, on_threads(without, large, enough=1), strict=True):
        for name, estimate in zip(others, exactly, strict=True):
            found[name][:, k] = estimate.value, estimate.low, estimate.high
    return {name: found[name] for name in names}


def _influences(rows: Rows, e: Evaluation, cells: Cells, names: Sequence[str]) -> dict[str, Floats]:
    """The influence of the rows of each group on measures of all rows, except on those of decisions."""
    t, found = e.tally, {}
    pooled = t.pooled
    weight = np.concatenate((pooled.neg, pooled.pos)).astype(np.float64)
    positive, there = np.arange(len(weight)) >= len(pooled.score), weight > 0
    scores = {t.origin.score: np.tile(pooled.score, 2)[there]}
    each = replace(rows, y=positive[there], scores=scores, weight=weight[there], count=None)
    # pooled scores are looked up among the sorted rows, not each row among them
    last = np.searchsorted(cells.sorted_scores, pooled.score[1:])
    sizes = np.diff(last, prepend=0, append=len(cells.sorted_scores))
    at = np.repeat(np.arange(len(pooled.score)), sizes)[cells.rank]
    for name in names:
        if e[name].defined and MEASURES[name].group != "decisions":
            influence = np.zeros(len(weight))
            influence[there] = row_influence(MEASURES[name], each, t, vars(e.settings))
            neg, pos = influence[: len(pooled.score)], influence[len(pooled.score) :]
            if cells.one_row_each:
                moved = influence[at + cells.pos * len(pooled.score)]
            else:
                moved = cells.neg * neg[at] + cells.pos * pos[at]
            found[name] = cells.by.add(moved)
    return found


def _tally_without(rows: Rows, t: Tally, codes: Ints, cells: Cells, k: int) -> Tally:
    """The tally of all rows but those of a group."""
    if not cells.counts or t.coarse is not None:  # what is left of sums is not exact
        return Tally.of_rows(rows.at(codes != k), t.origin.score)
    its = cells.of(k)
    at = cells.rank[its] if t.distinct else np.searchsorted(t.score, cells.score[its])
    neg, pos, there = t.neg, t.pos, np.ones(len(t.score), np.bool_)
    if t.distinct:
        there[at] = False
    else:
        neg, pos = neg.copy(), pos.copy()
        neg[at] -= cells.neg[its]
        pos[at] -= cells.pos[its]
        there = neg + pos > 0
    neg, pos = neg[there], pos[there]
    origin = replace(t.origin, negatives=int(neg.sum()), positives=int(pos.sum()))
    return replace(t, score=t.score[there], neg=neg, pos=pos, neg2=neg, pos2=pos, origin=origin)
