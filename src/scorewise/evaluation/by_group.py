"""The measures of the first screen for every group of rows, from one sort by group and score.

Sums over rows are taken for many groups at once; what is made of the sums of a group is what the measure
itself makes of them. Where the sums of a group are not enough, as where a threshold tells its classes
apart, the measure is asked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal

import numpy as np
from scipy.special import stdtrit

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns import Kind, Rows
from scorewise.estimate import Estimate
from scorewise.inference.effects import effects, order_of
from scorewise.inference.logistic import LARGEST, Coefficient
from scorewise.inference.ranking import CERTAIN, FEW
from scorewise.inference.scales import Spread, effective, z
from scorewise.measures.calibration_clinical import ratio_estimate
from scorewise.measures.calibration_tests import line_estimate
from scorewise.measures.decisions import NONE
from scorewise.registry import MEASURES
from scorewise.show.groups import LARGE, without
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.confusion import on_their_scale
from scorewise.tallies.formulas import FN, FP, SHARES, TN, TP
from scorewise.tallies.losses import NOTHING, Loss, Moments, charges, expit, logit, unit
from scorewise.tallies.probabilities import MOST, bin_index, moments
from scorewise.tallies.sorting import add_runs, first_of_runs, know, on_threads
from scorewise.tallies.tally import masses

BATCH = 1 << 16  # cells, about, whose groups are summed together
MANY = 50  # groups from which on ECE has no interval: it takes a thousand draws for each
BINS = 15
STEPS = 30  # of Newton's method, which takes five or six
Settings = Mapping[str, Any]
Estimates = dict[str, list[Estimate]]
Made = Callable[
    [int], Estimate | None
]  # of one group; None where the measure itself has to be asked


@dataclass(frozen=True)
class Cells:
    """Weights of both classes on each distinct score of each group; `first` is where groups begin.

    Of all groups, `ordered` are the scores of the rows from the lowest up, and `rank` is the place there of
    the first row of each cell.
    """

    score: Any
    neg: Any
    pos: Any
    neg2: Any
    pos2: Any
    first: Ints
    kind: Kind
    ordered: Any = None
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
    def alone(self) -> bool:
        """Whether there is a row in each cell."""
        return self.counts and int(self.mass.sum()) == len(self.score)

    @cached_property
    def length(self) -> Ints:
        """How many cells each group has."""
        return np.diff(self.first, append=len(self.score))

    def of(self, x: Any) -> Any:
        """What belongs to each group, for each of its cells."""
        return np.repeat(x, self.length)

    def add(self, x: Any) -> Floats:
        """The sum of each group."""
        total: Floats = add_runs(x, self.first).astype(np.float64)
        return total

    def upto(self, x: Any) -> Any:
        """The sum over the cells of a group up to each of them."""
        total = x.cumsum()
        return total - self.of(np.append(0, total[self.first[1:] - 1]).astype(total.dtype))

    def tally(self, k: int) -> Tally:
        """The cells of one group."""
        at = slice(self.first[k], self.first[k] + self.length[k])
        neg, pos = self.neg[at], self.pos[at]
        neg2, pos2 = (neg, pos) if self.counts else (self.neg2[at], self.pos2[at])
        return Tally(self.score[at], neg, pos, neg2, pos2, self.kind)

    def batches(self) -> Iterator[Cells]:
        """The same in parts of whole groups that fit a core's cache."""
        part = self.first // BATCH
        ends = [*first_of_runs(part)[1:], len(self.first)]
        for a, b in zip([0, *ends], ends, strict=False):
            at = slice(self.first[a], self.first[b] if b < len(self.first) else len(self.score))
            neg, pos = self.neg[at], self.pos[at]
            neg2, pos2 = (neg, pos) if self.counts else (self.neg2[at], self.pos2[at])
            first = self.first[a:b] - self.first[a]
            yield Cells(self.score[at], neg, pos, neg2, pos2, first, self.kind)


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


def by_group(
    rows: Rows, whole: Mapping[str, Estimate], t: Tally, codes: Ints, cells: Cells,
    settings: Settings, names: tuple[str, ...],
) -> tuple[Estimates, dict[str, Floats]]:  # fmt: skip
    """Each of the measures for each group, and on all rows but its own: value, low and high."""
    parts, many = list(cells.batches()), len(cells.first)
    small = (_part(cells, t) < LARGE).any()
    tasks: list[Callable[[], Any]] = [
        (lambda: _moved(rows, whole, t, cells, settings, names)) if small else dict,
        *(partial(_measured, part, settings, many, names) for part in parts),
    ]
    # sums beside each other; what is made of them is Python, which would only wait for itself
    moved, *each = on_threads(lambda task: task(), tasks, enough=4)
    groups = [
        (part, made, k)
        for part, made in zip(parts, each, strict=True)
        for k in range(len(part.first))
    ]
    make = partial(_group, settings=settings, names=names)
    if len(groups) <= MANY and cells.length.max() > MOST:  # measures are asked of many rows
        own = on_threads(lambda of: make(*of), groups, enough=1)
    else:
        own = [make(*of) for of in groups]
    found = {name: [e[i] for e in own] for i, name in enumerate(names)}
    return found, _rest(rows, whole, t, codes, cells, settings, names, moved)


def _group(
    part: Cells, made: Mapping[str, Made], k: int, settings: Settings, names: tuple[str, ...]
) -> list[Estimate]:
    """Each of the measures for one group: made of its sums, or asked, all of one tally."""
    t = part.tally(k)
    each = ((name, made[name](k)) for name in names)
    return [asked(name, t, settings) if e is None else e for name, e in each]


def _part(cells: Cells, t: Tally) -> Floats:
    """The share of the rows that belongs to each group."""
    return cells.add(cells.mass) / (t.negatives + t.positives)


def asked(name: str, t: Tally, settings: Settings) -> Estimate:
    """What the measure itself says of a tally."""
    m = MEASURES[name]
    of: Any = t.confusion(settings["threshold"]) if m.group == "decisions" else t
    return m.under(settings, of)


def _measured(c: Cells, settings: Settings, many: int, names: tuple[str, ...]) -> dict[str, Made]:
    """The sums of each group, as a function that makes a measure of them."""
    level, clip = settings["level"], settings["clip"]
    sizes = Sizes(c)
    found: dict[str, Made] = dict.fromkeys(MEASURES, lambda _: None)
    with np.errstate(all="ignore"):  # groups of one class, which are left out
        found["auroc"] = _auroc(c, sizes, level)
        alone = not sizes.pooled.all()  # of pooled cells the measures below are asked
        if alone:
            found["average_precision"] = _average_precision(c, sizes, level)
        if c.kind != "score":
            found["brier"] = _loss(c, sizes, "brier", level, None)
            found["log_loss"] = _loss(c, sizes, "log", level, clip)
        if c.kind != "score" and alone:
            x = c.score.astype(np.float64)
            if c.kind != "logit":
                x = logit(x if clip is None else np.clip(x, clip, 1 - clip))
            for name, right in (("calibration_intercept", 0.0), ("calibration_slope", 1.0)):
                found[name] = _line(c, sizes, x, bool(right), level)
            found["oe_ratio"] = _ratio(c, sizes, level)
        if c.kind != "score" and many > MANY:
            found["ece"] = _ece(c, sizes, level)
    tables = np.stack(decided(c, settings["threshold"]), 1)
    for name in [n for n in names if n in SHARES and c.counts]:
        found[name] = _shares(name, tables, level)
    return found


class Sizes:
    """Weights of the classes of each group, their squares, and the rows that they are worth."""

    def __init__(self, c: Cells) -> None:
        self.neg, self.pos, self.neg2, self.pos2 = map(c.add, (c.neg, c.pos, c.neg2, c.pos2))
        sides = (self.neg, self.neg2), (self.pos, self.pos2)
        self.rows_neg, self.rows_pos = (
            np.array([effective(*pair) for pair in zip(*side, strict=True)]) for side in sides
        )
        self.both = (self.neg > 0) & (self.pos > 0)
        self.pooled = c.length > MOST


def _heavy(c: Cells, w: Any, w2: Any) -> Any:
    """The mean weight of the rows of each cell."""
    return 1.0 if c.counts else np.where(w > 0, w2 / w, 0.0)


def _auroc(c: Cells, n: Sizes, level: float) -> Made:
    below = (c.upto(c.neg) - c.neg / 2) / c.of(n.neg)
    area = np.minimum(c.add(c.pos * below) / n.pos, 1.0)
    auc = c.of(area)
    above = 1 - (c.upto(c.pos) - c.pos / 2) / c.of(n.pos) - auc
    of_pos = c.add(c.pos2 * (below - auc) ** 2) / n.pos**2
    of_neg = c.add(c.neg2 * above**2) / n.neg**2
    heaviest = [
        np.maximum.reduceat(np.broadcast_to(_heavy(c, w, w2), len(w)), c.first) / total
        for w, w2, total in ((c.neg, c.neg2, n.neg), (c.pos, c.pos2, n.pos))
    ]
    most = np.maximum(*heaviest)

    known = _pooled((of_pos, n.rows_pos), (of_neg, n.rows_neg))
    regular = n.both & (np.minimum(n.rows_pos, n.rows_neg) > FEW - 1e-9) & (area > 0) & (area < 1)
    regular &= _says_something(*known) & (2 * known[0] / most**2 > CERTAIN)
    low, high = _limits(area, *known, level, "logit")
    return _estimates(regular, area, low, high, level, "DeLong, logit", 0.5 + 0 * area)


def _average_precision(c: Cells, n: Sizes, level: float) -> Made:
    tp = c.of(n.pos) - c.upto(c.pos) + c.pos
    rows = tp + c.of(n.neg) - c.upto(c.neg) + c.neg
    precision = tp / rows
    area = c.add(c.pos * precision) / n.pos
    share = c.pos / c.of(n.pos) / (rows * rows)
    gain = c.upto(share * (rows - tp)) + (precision - c.of(area)) / c.of(n.pos)
    loss = c.upto(share * tp)
    sides = (c.pos, c.pos2, gain), (c.neg, c.neg2, loss)
    variances = [c.add(w2 * x * x) for _, w2, x in sides]
    most = np.maximum.reduceat(
        np.maximum(*(np.abs(x) * _heavy(c, w, w2) for w, w2, x in sides)), c.first
    )
    few = 2 * (variances[0] + variances[1]) < 1000 * most**2
    known = zip(sides, variances, ((n.pos, n.pos2), (n.neg, n.neg2)), strict=True)
    df = [np.where(few, _freedom(c, [side], total, *sums), np.inf) for side, total, sums in known]
    area = np.minimum(area, 1.0)
    found = _pooled(*zip(variances, (n.rows_pos, n.rows_neg), df, strict=True))
    regular = n.both & ~n.pooled & (area > 0) & (area < 1) & _says_something(*found)
    low, high = _limits(area, *found, level, "logit")
    prevalence = n.pos / (n.pos + n.neg)
    return _estimates(regular, area, low, high, level, "linearised, logit", prevalence)


def _estimates(
    regular: Bools,
    value: Floats,
    low: Floats,
    high: Floats,
    level: float,
    method: str,
    base: Floats,
) -> Made:
    """The estimates of regular groups, whose limits hold the value."""
    ends = np.minimum(low, value), np.maximum(high, value)
    columns, there = np.stack([value, *ends, base], 1).tolist(), regular.tolist()

    def made(k: int) -> Estimate | None:
        if not there[k]:
            return None
        value, low, high, baseline = columns[k]
        return Estimate(value, low, high, level, method, baseline=baseline)

    return made


def _pooled(*parts: tuple[Floats, ...]) -> tuple[Floats, Floats]:
    """Variances and degrees of freedom of sums, as `inference.scales.pooled_spread` has them.

    Each part is a variance of each group, the rows that it is known from and, at most, degrees of freedom.
    """
    known = [
        (v * n / (n - 1), np.minimum(n - 1, *df) if df else n - 1, (v > 0) & (n < 1 + 1e-9))
        for v, n, *df in parts
    ]
    whole = np.sum([v for v, _, _ in known], 0)
    unsure = np.sum([np.where(v > 0, (v / whole) ** 2 / df, 0.0) for v, df, _ in known], 0)
    alone = np.logical_or.reduce([one for _, _, one in known])
    return np.where(alone, np.nan, whole), 1 / unsure


def _says_something(variance: Floats, df: Floats, size: float | Floats = 1.0) -> Bools:
    """Whether intervals can be made of it, as `inference.scales.Spread` has it."""
    se = np.sqrt(np.maximum(variance, 0.0))
    found: Bools = (1e-13 * size < se) & (se < np.inf) & (df > 0)
    return found


def _limits(
    value: Floats, variance: Floats, df: Floats, level: float, scale: Literal["log", "logit"]
) -> tuple[Floats, Floats]:
    """Value -+ Student's quantile of standard errors on a scale, as `inference.scales.limits` has it."""
    reach = np.sqrt(variance) * np.where(df > 1e6, z(level), stdtrit(df, 0.5 + level / 2))
    if scale == "log":
        steps = np.where(reach < 700 * value, reach / value, np.inf)
        return value * np.exp(-steps), value * np.exp(steps)
    centre, reach = np.log(value / (1 - value)), reach / (value * (1 - value))
    return expit(centre - reach), expit(centre + reach)


def _freedom(
    c: Cells, sides: list[tuple[Any, Any, Any]], total: Floats, weight: Floats, squares: Floats
) -> Floats:
    """Degrees of freedom of sums of squared effects, as `inference.scales.freedom` has them.

    The total is that sum of each group, `weight` and `squares` the sums of weights and of their squares.
    """
    mean, each = squares / weight, 0.0
    for w, w2, x in sides:
        square = x * x
        part = w2 * square
        if not c.counts:
            part *= _heavy(c, w, w2) ** 2
        part *= square
        each = each + part
    fourth = c.add(each) / mean**2
    uneven = fourth / total * (mean * mean / total) - squares / weight**2
    return np.where(uneven > 0, np.maximum(2 / uneven, 5.0), np.inf)


def _loss(c: Cells, n: Sizes, loss: Any, level: float, clip: float | None) -> Made:
    how = {} if clip is None else {"clip": clip}
    charged = charges(c.score, c.kind, "log clipped" if clip is not None else loss, **how)
    certain, sums = np.zeros(len(c.first)), []
    for charge, w, w2 in zip(charged, (c.neg, c.pos), (c.neg2, c.pos2), strict=True):
        infinite = np.isinf(charge)
        if infinite.any():
            certain += c.add(np.where(infinite, w, 0))
            charge = np.where(infinite, 0.0, charge)
        first, second = c.add(w * charge), c.add(w2 * charge * charge)
        sums.append((first, first if c.counts else c.add(w2 * charge), second))
    most = 1.0 if loss == "brier" else math.inf if clip is None else -math.log(clip)

    total = n.neg + n.pos
    shares = [w / total for w in (n.neg, n.pos)]
    means = [first / w for (first, _, _), w in zip(sums, (n.neg, n.pos), strict=True)]
    value = shares[0] * means[0] + shares[1] * means[1]
    sizes, parts, between = (n.rows_neg, n.rows_pos), [], 0 * value
    for (_, square, second), w2, mean, rows in zip(
        sums, (n.neg2, n.pos2), means, sizes, strict=True
    ):
        about = second - 2 * mean * square + mean * mean * w2
        # what rounding leaves when all losses are equal is no spread
        parts.append((np.where(about > 1e-12 * mean * mean * w2, about, 0.0) / total**2, rows))
        between += w2 * (mean - value) ** 2 / total**2
    rows = total**2 / (n.neg2 + n.pos2)
    # raised by Laplace's rule, as `inference.paired.mean_loss` has it
    plain, raised = (p * (1 - p) for p in (shares[1], (rows * shares[1] + 1) / (rows + 2)))
    known = _pooled(*parts, (between * raised / plain, rows))
    apart = np.maximum(*(np.abs(mean - value) for mean in means)) > 1e-13 * value
    regular = n.both & (np.minimum(*sizes) > 1 + 1e-9) & (certain == 0) & apart
    regular &= (value > 0) & (value <= most) & _says_something(*known, value)
    low, high = _limits(value, *known, level, "log")
    high = np.minimum(high, most)
    return _estimates(regular, value, low, high, level, "Student, log scale", _constant(n, loss))


def _constant(n: Sizes, loss: Any) -> Floats:
    """The loss of the share of positives of each group, said of all its rows."""
    shares = [w / (n.neg + n.pos) for w in (n.neg, n.pos)]
    brier = loss == "brier"
    each = [f * (1 - f) / 2 if brier else -np.where(f > 0, f * np.log(f), 0.0) for f in shares]
    total: Floats = each[0] + each[1]
    return total


def _ratio(c: Cells, n: Sizes, level: float) -> Made:
    """Observed over expected positives of each group."""
    p = unit(c.score, c.kind)
    expected = c.add(p if c.alone else c.mass * p)
    due = c.of(n.pos / expected) * p
    each = c.of(1 / expected)
    sides = (c.pos, c.pos2, (1 - due) * each), (c.neg, c.neg2, -due * each)
    variance: Floats = sum((c.add(w2 * x * x) for _, w2, x in sides), 0 * expected)
    df = _freedom(c, [*sides], variance, n.neg + n.pos, n.neg2 + n.pos2)

    def made(k: int) -> Estimate | None:
        if not n.both[k] or n.pooled[k] or not expected[k] > 1e-100 * (n.neg[k] + n.pos[k]):
            return None
        table = (float(n.pos[k]), float(n.neg[k]), float(n.pos2[k]), float(n.neg2[k]))
        known = Spread(float(variance[k]), float(df[k]))
        return ratio_estimate(float(expected[k]), known, table, level)

    return made


def _line(c: Cells, n: Sizes, x: Floats, sloped: bool, level: float) -> Made:
    """Cox's line of each group by Newton's method: an intercept beside slope 1, or a slope."""
    known = np.isfinite(x) & (np.abs(x) <= LARGEST)
    regular = n.both & ~n.pooled & np.logical_and.reduceat(known, c.first)
    regular &= np.minimum(n.neg, n.pos) >= 1e-12 * (n.neg + n.pos)
    x = x if known.all() else np.where(known, x, 0.0)
    mass, pos = (None if c.alone else c.mass), c.pos.astype(np.float64)
    start, f = np.zeros(len(c.first)), None
    if sloped:
        low, high = (
            [end.reduceat(np.where(w > 0, x, far), c.first) for w in (c.neg, c.pos)]
            for end, far in ((np.minimum, np.inf), (np.maximum, -np.inf))
        )
        hair = 1e-12 * (np.maximum(*high) - np.minimum(*low))
        regular &= (high[0] > low[1] + hair) & (high[1] > low[0] + hair)
        regular &= np.maximum(*high) - np.minimum(*low) >= 1e-100
        f = x - c.of(c.add(x if mass is None else mass * x) / (n.neg + n.pos))
        start = np.log(n.pos / n.neg)
    a, b = np.where(regular, start, 0.0), np.ones(len(c.first))
    done = ~regular
    against = _against(x) if f is None else x
    for _ in range(STEPS):
        p = _chances(c, a, b, against, f)
        v = p if mass is None else mass * p
        residual = v - pos
        p = 1 - p
        v *= p
        g0, h00 = c.add(residual), c.add(v)
        if f is None:
            move, turn = g0 / h00, np.zeros(len(a))
        else:
            vf = v * f
            residual *= f
            g1, h01 = c.add(residual), c.add(vf)
            vf *= f
            h11 = c.add(vf)
            det = h00 * h11 - h01 * h01
            move, turn = (h11 * g0 - h01 * g1) / det, (h00 * g1 - h01 * g0) / det
        a, b = np.where(done, a, a - move), np.where(done, b, b - turn)
        size = np.maximum(np.abs(move), np.abs(turn))
        regular &= done | (size < 50)  # diverges
        # steps shrink as their squares: what is left after such a one is below rounding
        done = done | ~regular | (size <= 1e-6)
        if done.all():
            break
    regular &= done
    p = _chances(c, a, b, against, f)
    # the last row of the inverse of the second derivatives
    r0, r1 = (1 / h00, np.zeros(len(a))) if f is None else (-h01 / det, h00 / det)
    effect = c.of(r0) if f is None else c.of(r0) + c.of(r1) * f
    if c.alone:  # of a row of one class, the effect of that class alone
        effect *= np.where(c.pos, 1 - p, p)
        sides = [(c.mass, c.mass, effect)]
        variance = c.add(effect * effect)
    else:
        variance = c.add((c.neg2 * p * p + c.pos2 * (1 - p) ** 2) * effect * effect)
        sides = [(c.neg, c.neg2, effect * p), (c.pos, c.pos2, effect * (1 - p))]
    df = _freedom(c, sides, variance, n.neg + n.pos, n.neg2 + n.pos2)

    def made(k: int) -> Estimate | None:
        if not regular[k] or not 0 < variance[k] < LARGEST:
            return None
        value, rows = (
            float((a if f is None else b)[k]),
            (float(n.rows_neg[k]), float(n.rows_pos[k])),
        )
        found = Coefficient(value, math.sqrt(variance[k]), float(df[k]))
        return line_estimate(rows, found, level, float(sloped))

    return made


def _chances(c: Cells, a: Floats, b: Floats, against: Floats, f: Floats | None) -> Floats:
    """The probability of each cell on the line of its group; of slope 1, given the odds `against`."""
    odds: Floats
    if f is None:
        odds = c.of(_against(a))
        odds *= against
    else:
        odds = c.of(-b) * f
        odds -= c.of(a)
        np.exp(odds, out=odds)  # beyond the floats it is infinite, and the probability 0
    odds += 1.0
    np.reciprocal(odds, out=odds)
    return odds


def _against(x: Floats) -> Floats:
    """The odds against, given log-odds; beyond these the probability is 0 or 1 to all digits."""
    odds = np.clip(x, -350.0, 350.0)
    np.negative(odds, out=odds)
    np.exp(odds, out=odds)
    return odds


def _ece(c: Cells, n: Sizes, level: float) -> Made:
    p = unit(c.score, c.kind)
    at = c.of(np.arange(len(c.first)) * BINS) + bin_index(BINS, None, p.dtype)(p)
    gap = np.bincount(at, c.pos - c.mass * p, BINS * len(c.first))
    values = np.abs(gap).reshape(-1, BINS).sum(1) / (n.neg + n.pos)
    method = f"none: more than {MANY} groups"
    return lambda k: Estimate(float(values[k]), level=level, method=method)


def decided(c: Cells, threshold: float) -> list[Floats]:
    """tp, fp, fn and tn of each group."""
    t = Tally(c.score[:1], c.neg[:1], c.pos[:1], c.neg[:1], c.pos[:1], c.kind)
    called = c.score >= on_their_scale(t, threshold)
    up = [c.add(np.where(called, w, 0)) for w in (c.pos, c.neg)]
    return [*up, c.add(c.pos) - up[0], c.add(c.neg) - up[1]]


def shares(name: str, table: Floats, level: float) -> Floats:
    """Values and Wilson's limits of a share, from counts tp, fp, fn and tn of each group; else NaN."""
    hit, miss = SHARES[name]
    a, b = (table[:, list(cells)].sum(1) for cells in (hit, miss))
    with np.errstate(invalid="ignore", divide="ignore"):
        p, rest, q = a / (a + b), b / (a + b), z(level) ** 2 / (a + b)
        centre = (p + q / 2) / (1 + q)
        half = np.sqrt(q * (p * rest + q / 4)) / (1 + q)
        low = np.where(p == 0, 0.0, np.clip(centre - half, 0.0, p))
        high = np.where(rest == 0, 1.0, np.clip(centre + half, p, 1.0))
    return np.stack([p, low, high])


def _shares(name: str, table: Floats, level: float) -> Made:
    total = table.sum(1)
    called, positive = ((table[:, TP] + table[:, i]) / total for i in (FP, FN))
    chance = called if name == "sensitivity" else 1 - called if name == "specificity" else positive
    columns = np.vstack([shares(name, table, level), chance]).T.tolist()

    def made(k: int) -> Estimate:
        value, low, high, baseline = columns[k]
        if value != value:
            return Estimate.undefined(NONE[name], level)
        return Estimate(value, low, high, level, "Wilson", baseline=baseline)

    return made


def _rest(
    rows: Rows, whole: Mapping[str, Estimate], t: Tally, codes: Ints, cells: Cells,
    settings: Settings, names: tuple[str, ...], moved: Mapping[str, Floats],
) -> dict[str, Floats]:  # fmt: skip
    """Each of the measures on all rows but those of each group: value, low and high.

    A group of a twentieth of the rows or more is taken out of them. For smaller ones, what their rows do to
    the value of all is taken off (their influence), and the interval is that of all, as much wider as rows
    are fewer: it is narrow beside that of the group.
    """
    part, level = _part(cells, t), settings["level"]
    large = np.flatnonzero(part >= LARGE).tolist()
    tables = np.stack(decided(cells, settings["threshold"]), 1)
    left = tables.sum(0) - tables
    heavy = sum(t.squares) / (t.negatives + t.positives)
    found: dict[str, Floats] = {}
    for name in names:
        e, decides = whole[name], MEASURES[name].group == "decisions"
        if decides and cells.counts:
            found[name] = shares(name, left, level)
            continue
        found[name] = without(e, moved.get(name, np.zeros(len(part))), part, {})
        for k in {*range(len(part))} - {*large} if decides else ():
            table = left[k][[TN, FP, FN, TP]].reshape(2, 2)
            exact = MEASURES[name].under(settings, Confusion(table, table * heavy))
            found[name][:, k] = exact.value, exact.low, exact.high
    asked_of = [n for n in names if not (MEASURES[n].group == "decisions" and cells.counts)]
    losses = _losses(cells, codes, settings["clip"]) if large else {}

    def measured(k: int) -> list[Estimate]:
        others = _others(rows, t, codes, cells, k)
        for of, each in losses.items():
            rest = [each[i] for i in range(len(each)) if i != k]
            know(others, moments, *of, made=(_added(rest, 0), _added(rest, 1)))
        return [asked(name, others, settings) for name in asked_of]

    for k, exactly in zip(large, on_threads(measured, large, enough=1), strict=True):
        for name, one in zip(asked_of, exactly, strict=True):
            found[name][:, k] = one.value, one.low, one.high
    return found


def _losses(cells: Cells, codes: Ints, clip: float | None) -> dict[Any, list[Any]]:
    """The moments of the losses of each group; none where rows are in no group."""
    if cells.kind == "score" or len(cells.first) > MANY or (codes < 0).any():
        return {}
    asked_for: list[tuple[Loss, float | None]] = [
        ("brier", None),
        ("log", None) if clip is None else ("log clipped", clip),
    ]
    groups = [cells.tally(k) for k in range(len(cells.first))]
    return {(loss, c): [moments(g, loss, c) for g in groups] for loss, c in asked_for}


def _added(each: Sequence[tuple[Moments, Moments]], side: int) -> Moments:
    return sum((both[side] for both in each), NOTHING)


def _moved(
    rows: Rows, whole: Mapping[str, Estimate], t: Tally, cells: Cells, settings: Settings,
    names: tuple[str, ...],
) -> dict[str, Floats]:  # fmt: skip
    """What the rows of each group do to the measures of all rows, except to those of decisions."""
    few, found = t.pooled, {}
    pair = np.concatenate((few.neg, few.pos)).astype(np.float64)
    up = np.arange(len(pair)) >= len(few.score)
    there = pair > 0
    scores = {t.origin.score: np.tile(few.score, 2)[there]}
    each = replace(rows, y=up[there], scores=scores, weight=pair[there], count=None)
    at = _pooled_at(few.score, cells)
    if cells.alone:
        at = at + cells.pos * len(few.score)
    for name in names:
        if whole[name].defined and MEASURES[name].group != "decisions":
            made = np.zeros(len(pair))
            made[there] = effects(MEASURES[name], each, t, settings)
            if cells.alone:
                found[name] = cells.add(made[at])
                continue
            neg, pos = made[: len(few.score)][at], made[len(few.score) :][at]
            found[name] = cells.add(cells.neg * neg + cells.pos * pos)
    return found


def _pooled_at(few: Any, cells: Cells) -> Ints:
    """The last of few sorted scores that is not above the score of each cell, or else the first."""
    # few are looked up among the sorted rows, not each row among them
    last = np.searchsorted(cells.ordered, few[1:])
    many = np.diff(last, prepend=0, append=len(cells.ordered))
    found: Ints = np.repeat(np.arange(len(few)), many)[cells.rank]
    return found


def _others(rows: Rows, t: Tally, codes: Ints, cells: Cells, k: int) -> Tally:
    """The tally of all rows but those of a group."""
    if not cells.counts or t.coarse is not None:  # what is left of sums is not exact
        return Tally.of_rows(rows.at(codes != k), t.origin.score)
    end = cells.first[k + 1] if k + 1 < len(cells.first) else len(cells.score)
    its = slice(cells.first[k], end)
    at = cells.rank[its] if t.distinct else np.searchsorted(t.score, cells.score[its])
    if t.distinct:
        there = np.ones(len(t.score), np.bool_)
        there[at] = False
        neg, pos = t.neg[there], t.pos[there]
    else:
        neg, pos = t.neg.copy(), t.pos.copy()
        neg[at] -= cells.neg[its]
        pos[at] -= cells.pos[its]
        there = neg + pos > 0
        neg, pos = neg[there], pos[there]
    origin = replace(t.origin, negatives=int(neg.sum()), positives=int(pos.sum()))
    return replace(t, score=t.score[there], neg=neg, pos=pos, neg2=neg, pos2=pos, origin=origin)
