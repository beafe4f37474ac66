"""How far raters disagree, as seen and by chance: all of them together, and each two.

What chance means differs: ratings drawn from the shares of the categories over all raters, or over each
of them. One linearisation gives what each item adds to both. The formulas also take replicates of the
weights, one in each row, and fractions in place of floats.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns.rating_codes import RatingList
from scorewise.inference.agreement_weights import Disagreement, MidRanks
from scorewise.inference.scales import effective
from scorewise.tallies.formulas import placed
from scorewise.tallies.rating_patterns import Counted, picked, ranges, spans, summed
from scorewise.tallies.ratings import Ratings

ALPHA = "krippendorff_alpha"
BY_RATER = ("cohen_kappa", "conger_kappa")  # by the shares of each rater
SHARES = ("percent_agreement", "brennan_prediger")  # of which chance does not depend on the ratings
LEAST = 1e-14  # disagreement by chance, of which less leaves no room for agreement
MOST = 10**9  # pairs of ratings of an item that are compared
_BLOCK = 1 << 18  # pairs of ratings at a time
_CELLS = 1 << 18  # of tables of pairs of raters x categories at a time


@dataclass(frozen=True)
class Rated:
    """Patterns of ratings with weights that add up to 1, and the mean disagreement within each.

    `listed` has the ratings one by one, `said` the categories of each pattern; `used` says which patterns
    of the ratings these are. Weights may be several replicates, one in each row; all sums then are one for
    each row. `apart` is 0 where there are fewer than two ratings. `worth` is the number of equal items.
    """

    listed: RatingList
    said: Counted
    weight: Any
    weight2: Any
    apart: Any
    kernel: Disagreement
    worth: float
    used: Bools

    @classmethod
    def of(cls, r: Ratings, kernel: Disagreement, used: Bools) -> Rated:
        """The patterns in use; in fractions where the weights are."""
        listed, said, w, w2 = r.listed, r.counted, r.weight, r.weight2
        if not used.all():
            rows = np.flatnonzero(used)
            listed, said, w, w2 = picked(listed, rows), said.pick(rows), w[rows], w2[rows]
        total: Any = w.sum()
        worth = effective(total, w2.sum())
        if w.dtype == object:
            said, worth = said._replace(times=fractions(said.times)), total * total / w2.sum()
        if total > 0:
            w, w2 = w / total, w2 / total / total
        return cls(listed, said, w, w2, apart(said, kernel), kernel, worth, used)


def apart(said: Counted, kernel: Disagreement) -> Floats:
    """The mean disagreement of two ratings of each pattern."""
    pairs = said.rated * (said.rated - 1)
    found: Floats = said.total(said.times * kernel.within(said)) / np.maximum(pairs, 1)
    return found


class Margins(NamedTuple):
    """The shares of the categories, of all raters together or of each (second last axis).

    An `item` adds so many `times` to a `cell` of them; `total` is the weight of all.
    """

    item: Ints
    cell: Any
    times: Any
    share: Any
    total: Any

    @classmethod
    def of(cls, x: Rated, name: str) -> Margins:
        """Those that chance rests on: each item counts the same, or in alpha each rating."""
        many, groups, cell = x.kernel.categories, 1, x.said.code
        item: Any = x.said.at
        times: Any = x.said.times
        if name in BY_RATER:
            item, rater, code, _ = x.listed
            known = np.bincount(rater) > 0
            groups, cell = int(known.sum()), (known.cumsum() - 1)[rater] * many + code
            times = np.ones(len(item), np.int64)
        elif name != ALPHA:
            times = times / x.said.rated[item]
        if x.weight.ndim > 1:
            table = np.zeros((len(x.apart), groups * many))
            table[item, cell] = times
            share = np.einsum("bp,pc->bc", x.weight, table)
        else:
            share = summed(cell, x.weight[item] * times, groups * many)
        share = share.reshape(*share.shape[:-1], groups, many)
        total = share.sum(-1)
        return cls(item, cell, times, share / total[..., None], total)

    def turned(self, slope: Any, patterns: int) -> Any:
        """What a unit of each pattern adds to a function of the shares with these slopes."""
        group = self.cell // self.share.shape[-1]
        mean = (self.share * slope).sum(-1)
        moved = (slope.ravel()[self.cell] - mean[group]) * self.times / self.total[group]
        return summed(self.item, moved, patterns)


class Parts(NamedTuple):
    """Observed and chance disagreement, and what each pattern adds to both, in units of chance.

    A pattern moves 1 - observed / chance by observed / chance * lean - own.
    """

    observed: Any
    chance: Any
    own: Any
    lean: Any

    @property
    def value(self) -> Any:
        """The coefficient; NaN where chance leaves no room."""
        return 1 - self.observed / np.where(self.chance > 0, self.chance, np.nan)


def parts(x: Rated, name: str, *, slopes: bool = True) -> Parts:
    """What the coefficient of that name is made of; without slopes of replicates and fractions.

    Observed disagreement is the mean over items with two ratings. The slopes are Gwet's (2014, 2021): those
    of an item with one rating, which says something of chance alone, are as in his variance.
    """
    if name == ALPHA:
        return _alpha(x, slopes)
    chance: Any = 1  # percent agreement: no correction for chance
    margins, slope, many = None, None, x.kernel.categories
    if name in ("brennan_prediger", "gwet_ac"):
        even = np.full(many, x.worth / x.worth) / many  # floats or fractions, as the weights are
        chance = (even * x.kernel.spread(even)).sum()  # two categories drawn evenly
    if name == "gwet_ac":  # random ratings, as often as the shares are even
        margins, often = Margins.of(x, name), many * (1 - chance) / (many - 1)
        chance = 1 - often * (margins.share * (1 - margins.share)).sum((-2, -1))
        slope = often * (2 * margins.share - 1)
    elif name not in SHARES:
        margins, pairs = Margins.of(x, name), 1
        spread = x.kernel.spread(margins.share)
        if name in BY_RATER:  # one rating of each of two raters, over all pairs of them
            spread = x.kernel.spread(margins.share.sum(-2, keepdims=True)) - spread
            pairs = margins.share.shape[-2] * (margins.share.shape[-2] - 1)
        chance, slope = (margins.share * spread).sum((-2, -1)) / pairs, 2 * spread / pairs
    two = x.said.rated >= 2
    counts = two / x.weight[..., two].sum(-1, keepdims=True)
    observed = (x.weight * counts * x.apart).sum(-1)
    if not slopes or chance <= LEAST:
        return Parts(observed, chance, None, None)
    turn = 0.0 if margins is None else margins.turned(slope, len(x.apart)) / chance
    return Parts(
        observed, chance, counts * x.apart / chance - (counts - 1), np.full(len(x.apart), 1 + turn)
    )


def _alpha(x: Rated, slopes: bool) -> Parts:
    """Krippendorff's: the parts over ratings of items with two, corrected for a small sample.

    Of ordinal ratings, the squared distance of mid-ranks, which items move too.
    """
    m = Margins.of(x, ALPHA)
    kernel, within, p = x.kernel, x.apart, m.share[..., 0, :]
    if isinstance(x.kernel, MidRanks):
        kernel = ranks = x.kernel.of_shares(p)
        within = apart(x.said, kernel)
    spread = kernel.spread(p)
    chance = (p * spread).sum(-1)
    counts = x.said.rated / m.total
    left = 1 - 1 / (m.total[..., 0] * x.worth)
    observed = left * (x.weight * counts * within).sum(-1)
    if not slopes or chance <= LEAST:
        return Parts(observed, chance, None, None)
    own = counts * within / chance
    lean = counts - 1 + (1 + m.turned(2 * spread[None], len(x.apart)) / chance) / left
    if isinstance(x.kernel, MidRanks):
        rank, down = ranks.values, np.argsort(x.kernel.values, kind="stable")[::-1]
        at, code, times = x.said.at, x.said.code, x.said.times
        mean = x.said.total(times * rank[code]) / x.said.rated
        pull = (4 * x.weight * counts / (x.said.rated - 1))[at] * (rank[code] - mean[at]) * times
        # the ranks move observed and chance disagreement, and the shares move the ranks
        moves = summed(code, pull, len(p)), 4 * p * (rank - (p * rank).sum())
        for part, by in zip((own, lean), moves, strict=True):
            above = np.empty_like(p)  # the sum over higher categories and half its own
            above[down] = placed(by[down])
            part += m.turned(above[None], len(x.apart)) / chance
    return Parts(observed, chance, own, lean)


def fractions(numbers: Any) -> Any:
    """The fractions that numbers are, in an array of the same shape."""
    values = np.asarray(numbers)
    made = np.empty(values.shape, object)
    made.ravel()[:] = [Fraction(x) for x in values.ravel().tolist()]
    return made


# Each two raters.


def too_many(rated: Ints) -> str:
    """Why the ratings of these items are not compared in pairs, or nothing."""
    pairs = int((rated * (rated - 1) // 2).sum())
    return (
        f"{pairs:,} pairs of ratings of an item are too many to compare; {MOST:,} are taken"
        if pairs > MOST
        else ""
    )


def each_pair(r: Ratings) -> Iterator[tuple[Bools, Ints, Ratings]]:
    """For each two raters: which patterns both rated, and the cell of each in the table of the two."""
    many = len(r.categories)
    for k, j in combinations(range(r.given.shape[1]), 2):
        first, second = r.said_by(k), r.said_by(j)
        both = (first >= 0) & (second >= 0)
        key = first[both].astype(np.int64) * many + second[both]
        cells, place = np.unique(key, return_inverse=True)
        given = np.stack(np.divmod(cells, many), axis=1).astype(np.int32)
        w, w2 = (summed(place, x[both], len(cells)) for x in (r.weight, r.weight2))
        names = None if r.raters is None else (r.raters[k], r.raters[j])
        yield both, place, replace(r, given=given, weight=w, weight2=w2, raters=names)


class Compared(NamedTuple):
    """Some raters against all that follow: what each two said, and the weight of the items.

    `cell` is the pair: raters from the `lowest` on x all. `place` has, for each pair of ratings of a
    `pattern`, its place in the other columns: equal ones are summed up where that makes them fewer.
    """

    lowest: int
    cells: int
    cell: Ints
    first: Any
    second: Any
    weight: Any
    weight2: Any
    pattern: Ints
    place: Any


def compared(
    ratings: RatingList, weight: Any, weight2: Any, many: int, together: int
) -> Iterator[Compared]:
    """All pairs of ratings of a pattern: at most `together` raters and all that follow, at a time.

    `weight2` is None where nobody asks for it.
    """
    item, rater, code, (patterns, raters) = ratings
    start, length = spans(item, patterns)
    later = (start + length)[item] - np.arange(len(item)) - 1
    order = np.argsort(rater, kind="stable")
    ends = [*spans(rater, raters)[0].tolist(), len(rater)]
    pairs = np.bincount(rater, later, raters).cumsum()
    code, table = code.astype(np.int64), many * many
    low = 0
    while low < raters:
        done = pairs[low - 1] if low else 0.0
        high = int(np.searchsorted(pairs, done + _BLOCK, side="right"))
        high = min(max(high, low + 1), low + together, raters)
        its = order[ends[low] : ends[high]]
        n = later[its]
        other, pattern = ranges(its + 1, n), item[its].repeat(n)
        place: Any = slice(None)
        w, w2 = weight[pattern], None if weight2 is None else weight2[pattern]
        cell = ((rater[its] - low) * raters).repeat(n) + rater[other]
        first, second = code[its].repeat(n), code[other]
        cells = (high - low) * raters
        if cells * table <= len(other):
            place = cell * table + first * many + second
            w, w2 = (None if x is None else summed(place, x, cells * table) for x in (w, w2))
            cell, said = np.divmod(np.arange(cells * table), table)
            first, second = np.divmod(said, many)
        yield Compared(low, cells, cell, first, second, w, w2, pattern, place)
        low = high


def mean_cohen(
    x: Rated, raters: tuple[str, ...]
) -> tuple[float, float, float, float, Floats] | str:
    """Light's kappa, or why there is none: a pair of raters has no kappa, or they are too many.

    The means over pairs of observed / chance disagreement and of both, the fewest items of a pair, and what
    each pattern adds to kappa.
    """
    if why := too_many(x.said.rated):
        return why
    d, (patterns, many) = x.kernel, x.listed.shape
    sums, items, slope = np.zeros(3), np.inf, np.zeros(patterns)
    together = max(1, _CELLS // (many * d.categories))
    for c in compared(x.listed, x.weight, x.weight2, d.categories, together):
        worth, observed, chance, turned = _kappas(c, d)
        # the raters that follow the first of each pair
        pair = np.arange(many) > np.arange(c.lowest, c.lowest + c.cells // many)[:, None]
        few, alike = (pair & y.reshape(pair.shape) for y in (worth < 1 + 1e-9, chance <= LEAST))
        if (lacking := (few | alike).any(1)).any():
            k = int(lacking.argmax())
            other = raters[int((few if few[k].any() else alike)[k].argmax())]
            why = "leave no room for disagreement by chance"
            why = "rated fewer than two items both" if few[k].any() else why
            return f"{raters[c.lowest + k]} and {other} {why}"
        worth, observed, chance = (y[pair.ravel()] for y in (worth, observed, chance))
        sums += [float(y.sum()) for y in (observed / chance, observed, chance)]
        items = min(items, float(worth.min(initial=np.inf)))
        slope -= summed(c.pattern, turned[c.place], patterns)
    pairs = many * (many - 1) / 2
    return *(sums / pairs).tolist(), items, slope / pairs


def _kappas(c: Compared, d: Disagreement) -> tuple[Floats, Floats, Floats, Floats]:
    """Items of each pair of raters, disagreement and that by chance, and how what they said turns it."""
    many = d.categories
    total, squares = (summed(c.cell, w, c.cells) for w in (c.weight, c.weight2))
    rated = np.where(total > 0, total, 1.0)
    apart = d.between(c.first, c.second)
    observed = summed(c.cell, c.weight * apart, c.cells) / rated
    own, other = (
        summed(c.cell * many + code, c.weight, c.cells * many).reshape(-1, many) / rated[:, None]
        for code in (c.first, c.second)
    )
    of_own, of_other = d.spread(other), d.spread(own)
    chance = (own * of_own).sum(1)
    safe = np.where(chance > 0, chance, 1.0)
    turn = of_own[c.cell, c.first] + of_other[c.cell, c.second] - 2 * chance[c.cell]
    turned = apart - observed[c.cell] - (observed / safe)[c.cell] * turn
    items = total * total / np.where(squares > 0, squares, 1.0)
    return items, observed, chance, turned / (safe * rated)[c.cell]
