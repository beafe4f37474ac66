"""Each two raters: what they said of the items that both rated, and their kappa."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns.rating_codes import RatingList
from scorewise.estimate import Undefined, undefined_if
from scorewise.inference.agreement_weights import Disagreement
from scorewise.tallies.rating_patterns import ranges, spans, sums_at
from scorewise.tallies.ratings import Ratings

if TYPE_CHECKING:
    from scorewise.inference.agreement import RatedItems

MIN_CHANCE = 1e-14  # disagreement by chance, of which less leaves no room for agreement
MAX_PAIRS = 10**9  # pairs of ratings of an item that are compared
_BLOCK = 1 << 18  # pairs of ratings at a time
_CELLS = 1 << 18  # of tables of pairs of raters x categories at a time


def why_too_many(rated: Ints) -> str:
    """Why the ratings of these items are not compared in pairs, or nothing."""
    if (pairs := int((rated * (rated - 1) // 2).sum())) <= MAX_PAIRS:
        return ""
    return f"{pairs:,} pairs of ratings of an item are too many to compare; {MAX_PAIRS:,} are taken"


def each_pair(r: Ratings) -> Iterator[tuple[Bools, Ints, Ratings]]:
    """For each two raters: which patterns both rated, and the cell of each in the table of the two."""
    categories = len(r.categories)
    for k, j in combinations(range(r.listed.shape[1]), 2):
        first, second = r.said_by(k), r.said_by(j)
        both = (first >= 0) & (second >= 0)
        key = first[both].astype(np.int64) * categories + second[both]
        cells, place = np.unique(key, return_inverse=True)
        listed = RatingList.of(np.stack(np.divmod(cells, categories), axis=1).astype(np.int32))
        w, w2 = (sums_at(place, x[both], len(cells)) for x in (r.weight, r.weight2))
        names = None if r.raters is None else (r.raters[k], r.raters[j])
        yield both, place, replace(r, listed=listed, weight=w, weight2=w2, raters=names)


class ComparedPairs(NamedTuple):
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


def compare_pairs(
    ratings: RatingList, weight: Any, weight2: Any, categories: int, together: int
) -> Iterator[ComparedPairs]:
    """All pairs of ratings of a pattern: at most `together` raters and all that follow, at a time.

    `weight2` is None where nobody asks for it.
    """
    item, rater, code, (patterns, raters) = ratings
    start, length = spans(item, patterns)
    later = (start + length)[item] - np.arange(len(item)) - 1
    order = np.argsort(rater, kind="stable")
    ends = [*spans(rater, raters)[0].tolist(), len(rater)]
    pairs = np.bincount(rater, later, raters).cumsum()
    code, table = code.astype(np.int64), categories * categories
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
            place = cell * table + first * categories + second
            w, w2 = (None if x is None else sums_at(place, x, cells * table) for x in (w, w2))
            cell, codes = np.divmod(np.arange(cells * table), table)
            first, second = np.divmod(codes, categories)
        yield ComparedPairs(low, cells, cell, first, second, w, w2, pattern, place)
        low = high


def light_kappa(x: RatedItems, raters: tuple[str, ...]) -> tuple[Any, Any, Any, float, Any]:
    """Light's kappa, if each pair of raters has a kappa, and there are not too many.

    The means over pairs of observed / chance disagreement and of both, the fewest items of a pair, and what
    each pattern adds to kappa.
    """
    undefined_if(why_too_many(x.counts.rated))
    d, (patterns, raters_) = x.kernel, x.listed.shape
    kind = x.weight.dtype  # floats, or fractions
    sums, items, slope = np.zeros(3, kind), np.inf, np.zeros(patterns, kind)
    together = max(1, _CELLS // (raters_ * d.categories))
    for c in compare_pairs(x.listed, x.weight, x.weight2, d.categories, together):
        worth, observed, chance, turned = _kappas(c, d)
        # the raters that follow the first of each pair
        pair = np.arange(raters_) > np.arange(c.lowest, c.lowest + c.cells // raters_)[:, None]
        few, alike = (
            pair & y.reshape(pair.shape) for y in (worth < 1 + 1e-9, chance <= MIN_CHANCE)
        )
        if (undefined := (few | alike).any(1)).any():
            k = int(undefined.argmax())
            other = raters[int((few if few[k].any() else alike)[k].argmax())]
            why = "leave no room for disagreement by chance"
            why = "rated fewer than two items both" if few[k].any() else why
            raise Undefined(f"{raters[c.lowest + k]} and {other} {why}")
        worth, observed, chance = (y[pair.ravel()] for y in (worth, observed, chance))
        sums += [y.sum() for y in (observed / chance, observed, chance)]
        items = min(items, float(worth.min(initial=np.inf)))
        slope -= sums_at(c.pattern, turned[c.place], patterns)
    pairs = raters_ * (raters_ - 1) // 2
    return *(sums / pairs).tolist(), items, slope / pairs


def _kappas(c: ComparedPairs, d: Disagreement) -> tuple[Floats, Floats, Floats, Floats]:
    """Items of each pair of raters, disagreement and that by chance, and how what they said turns it."""
    k = d.categories
    total, squares = (sums_at(c.cell, w, c.cells) for w in (c.weight, c.weight2))
    rated = np.where(total > 0, total, 1.0)
    apart = d.between(c.first, c.second)
    observed = sums_at(c.cell, c.weight * apart, c.cells) / rated
    own, other = (
        sums_at(c.cell * k + code, c.weight, c.cells * k).reshape(-1, k) / rated[:, None]
        for code in (c.first, c.second)
    )
    of_own, of_other = d.spread(other), d.spread(own)
    chance = (own * of_own).sum(1)
    safe = np.where(chance > 0, chance, 1.0)
    turn = of_own[c.cell, c.first] + of_other[c.cell, c.second] - 2 * chance[c.cell]
    turned = apart - observed[c.cell] - (observed / safe)[c.cell] * turn
    items = total * total / np.where(squares > 0, squares, 1.0)
    return items, observed, chance, turned / (safe * rated)[c.cell]
