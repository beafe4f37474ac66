"""Each two raters: what both said, how often they agree, and Cohen's kappa."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns.rating_codes import RatingList
from scorewise.columns.ratings import RatingRows
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.agreement_parts import Compared, apart, compared, too_many
from scorewise.inference.agreement_weights import Disagreement, Weights, disagreement
from scorewise.inference.shares import share_over_items
from scorewise.measures.raters.agreement import cohen_kappa
from scorewise.tallies import Confusion, Ratings
from scorewise.tallies.rating_patterns import Counted, distinct, summed

SHOWN = 45


@dataclass(frozen=True)
class Pair:
    """Two raters: on how many items both spoke, their agreement, their kappa and their table.

    `agreement` counts partial agreement by the weights, `kappa` is Cohen's with the same weights; the
    rows of the `table` are of the first rater (None beyond 64 categories).
    """

    first: str
    second: str
    items: float
    agreement: Estimate
    kappa: Estimate
    table: Confusion | None


class Pairs(NamedTuple):
    """Pairs that disagree most, of so many that share an item; and why none were looked at."""

    rows: list[Pair]
    number: int
    why: str = ""


def pairs(r: Ratings, *, weights: Weights = None, most: int = SHOWN, level: float = 0.95) -> Pairs:
    """The pairs of raters who agree least, at most so many, least agreement first.

    >>> r = Ratings.of({"ann": [1, 0, 1, 1], "bob": [1, 0, 0, 1], "cay": [0, 1, 0, None]})
    >>> for p in pairs(r).rows:
    ...     print(p.first, p.second, p.items, p.agreement, p.table.weight.tolist())
    ann cay 3 0.000 [0.000, 0.561] [[0, 1], [2, 0]]
    bob cay 3 0.333 [0.061, 0.792] [[1, 1], [1, 0]]
    ann bob 4 0.750 [0.301, 0.954] [[1, 0], [1, 2]]
    """
    if r.raters is None:
        return Pairs([], 0, "it is not known which rater said what")
    if why := too_many(r.rated):
        return Pairs([], 0, why)
    found = disagreement(r, weights)
    if isinstance(found, str):
        return Pairs([], 0, found)
    many = len(r.raters)
    number, kept = 0, np.empty((3, 0))
    for c in compared(r.listed, r.weight, None, len(r.categories), many):
        block = _shares(c, found)
        number += block.shape[1]
        block[0] += c.lowest * many
        kept = np.concatenate((kept, block), axis=1)
        cell, share, both = kept
        kept = kept[:, np.lexsort((cell, -both, -share))[:most]]
    made = [_pair(r, *divmod(int(cell), many), weights, level) for cell in kept[0]]
    return Pairs(made, number)


def _shares(c: Compared, d: Disagreement) -> Floats:
    """The pairs of raters who share an item, their disagreement, and the weight of these items."""
    if c.cells > 4 * len(c.cell):  # most pairs share none
        pair, place = np.unique(c.cell, return_inverse=True)
    else:
        pair, place = np.arange(c.cells), c.cell
    size = len(pair)
    apart = summed(place, c.weight * d.between(c.first, c.second), size)
    both = summed(place, c.weight, size)
    used = both > 0
    # rounded, so that rounding does not decide between equals
    return np.stack([pair[used], (apart[used] / both[used]).round(12), both[used]])


def _pair(r: Ratings, first: int, second: int, weights: Weights, level: float) -> Pair:
    two = r.only([first, second])
    d = disagreement(r, weights)
    assert r.raters is not None
    assert not isinstance(d, str)
    both = two.rated == 2
    a, b = two.codes[both].T
    agreement = share_over_items(
        1 - d.between(a, b), np.ones(len(a)), two.weight[both], two.weight2[both], level=level
    )
    items: float = two.weight[both].sum().item()
    kappa = cohen_kappa(two, weights=weights, level=level)
    table = two.pair(0, 1) if len(r.categories) <= 64 else None
    return Pair(r.raters[first], r.raters[second], items, agreement, kappa, table)


# Where raters disagree: the items they differ on most, and the rater who differs most.


BLOCK = 1 << 17  # items looked at together


@dataclass(frozen=True)
class DisputedItem:
    """An item, the mean disagreement of two of its ratings, and what was said.

    `row` and `file` say where it is. `said` has a word for each rater in order, None for those who said
    nothing; where raters are not known, the words in the order of the categories.
    """

    row: int
    file: str | None
    id: Any
    disagreement: float
    said: tuple[str | None, ...]

    @property
    def counts(self) -> dict[str, int]:
        """How many raters said each word, the most frequent first."""
        return dict(Counter(w for w in self.said if w is not None).most_common())


@dataclass(frozen=True)
class RaterAgreement:
    """A rater, how many items they rated, and how far they agree with the others.

    `others` is the mean agreement with each other rater of the same item; `majority` the share of items
    on which they say what most of the others say, where one category has most.
    """

    rater: str
    items: float
    others: Estimate
    majority: Estimate


def disputed(
    rows: RatingRows, r: Ratings, *, weights: Weights = None, top: int = 10
) -> list[DisputedItem]:
    """The items whose ratings lie furthest apart, of equals the first; none that all agree on.

    The share of pairs of ratings that differ, partly where categories are ordered (1 - weight).
    `r` are the ratings of those rows.

    >>> from scorewise.columns.ratings import rating_rows
    >>> said = {"ann": ["a", "a", "b"], "bob": ["a", "b", "a"], "cay": ["a", "b", "c"]}
    >>> rows = rating_rows(raters=said)
    >>> for item in disputed(rows, Ratings.of_rows(rows)):
    ...     print(item.row, round(item.disagreement, 3), item.said, item.counts)
    2 1.0 ('b', 'a', 'c') {'b': 1, 'a': 1, 'c': 1}
    1 0.667 ('a', 'b', 'b') {'b': 2, 'a': 1}
    """
    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise BadInput(f"top={top!r} is no number of items; 10 is usual")
    d = disagreement(r, weights)
    if isinstance(d, str) or not top:
        return []
    found = _apart(rows, d)
    worst = np.flatnonzero(found > 0)
    if len(worst) > top:
        least = np.partition(found[worst], len(worst) - top)[len(worst) - top]
        worst = worst[found[worst] >= least]
    worst = worst[np.lexsort((worst, -found[worst]))][:top]
    return [_item(rows, i, float(found[i])) for i in worst.tolist()]


def _apart(rows: RatingRows, d: Disagreement) -> Floats:
    """The mean disagreement of two ratings of each item; 0 where there are no two."""
    if isinstance(rows.given, RatingList):
        found = apart(Counted.of(rows.given), d)
    else:
        codes, place = distinct(rows.given, len(rows.categories))
        blocks = (codes[k : k + BLOCK] for k in range(0, len(codes), BLOCK))
        each = [apart(Counted.of(block), d) for block in blocks]
        found = np.concatenate([np.empty(0), *each])[place]
    for amount in (rows.count, rows.weight):
        if amount is not None:
            found[amount == 0] = 0.0
    # so that rounding does not decide between equals
    return found.round(12)


def _item(rows: RatingRows, at: int, disagreement: float) -> DisputedItem:
    file, number = rows.place.number(at)
    said = tuple(rows.categories[c] if c >= 0 else None for c in _codes(rows, at))
    name = None if rows.items is None else rows.items[at]
    return DisputedItem(number, file, name, disagreement, said)


def _codes(rows: RatingRows, at: int) -> list[int]:
    """What each rater said of an item, -1 where nothing; in order where it is not known who."""
    if isinstance(rows.given, RatingList):
        its = slice(*np.searchsorted(rows.given.item, (at, at + 1)))
        line = np.full(rows.given.shape[1], -1, np.int32)
        line[rows.given.rater[its]] = rows.given.code[its]
    else:
        line = rows.given[at]
    return line.tolist() if rows.raters is not None else sorted(line[line >= 0].tolist())


def differing(r: Ratings, *, weights: Weights = None, level: float = 0.95) -> list[RaterAgreement]:
    """How far each rater agrees with the others, the one who differs most first.

    Nothing where raters are not known. Wilson's interval, with the variance over items.

    >>> r = Ratings.of({"ann": [1, 0, 1, 1], "bob": [1, 0, 0, 1], "cay": [0, 1, 0, None]})
    >>> for row in differing(r):
    ...     print(row.rater, row.items, row.others, row.majority)
    cay 3 0.167 [0.007, 0.851] 0.000 [0.000, 0.658]
    ann 4 0.500 [0.104, 0.896] 0.500 [0.095, 0.905]
    bob 4 0.625 [0.263, 0.886] 1.000 [0.207, 1.000]
    """
    d = disagreement(r, weights)
    if r.raters is None or isinstance(d, str) or not len(r):
        return []
    said, ratings = r.counted, r.listed
    rated = r.rated[said.at]
    close = np.where(rated > 1, 1 - d.within(said) / np.maximum(rated - 1, 1), -1.0)
    judged, right = _majority(said)
    key = said.at * len(r.categories) + said.code
    place = np.searchsorted(key, ratings.item * len(r.categories) + ratings.code)
    order, start, length = r.by_rater
    made = []
    for name, first, many in zip(r.raters, start.tolist(), length.tolist(), strict=True):
        its = order[first : first + many]
        here, items = place[its], ratings.item[its]
        w, w2 = r.weight[items], r.weight2[items]
        others, majority = _judged(close[here], judged[here], right[here], w, w2, level=level)
        made.append(RaterAgreement(name, w.sum().item(), others, majority))
    # rounded, so that rounding does not decide between equals
    return sorted(made, key=lambda row: (not row.others.defined, round(row.others.value, 12)))


def _judged(
    close: Floats, judged: Any, right: Any, w: Any, w2: Any, *, level: float
) -> tuple[Estimate, Estimate]:
    """Agreement of one rater with the others, and with their majority."""
    compared = close > -0.5  # -1 where there is no other, and rounding
    if not compared.any():
        alone = Estimate.undefined("no item that they rated has another rating", level)
        return alone, alone
    others = share_over_items(np.maximum(close, 0.0), compared, w, w2, level=level)
    if not judged.any():
        why = "the others have no majority on any item that they rated"
        return others, Estimate.undefined(why, level)
    return others, share_over_items(right, judged, w, w2, level=level)


def _majority(said: Counted) -> tuple[Any, Any]:
    """Of each category said of an item: without one of its ratings, whether the rest have a majority.

    And whether it is this category that has it.
    """
    at, times = said.at, said.times
    order = np.lexsort((-times, at))
    most, second = np.zeros((2, len(said.rated)), np.int64)
    several = said.length > 1
    most[said.length > 0] = times[order[said.start[said.length > 0]]]
    second[several] = times[order[said.start[several] + 1]]
    tops, seconds = (
        said.total((times == x[at]).astype(np.int64)).astype(np.int64) for x in (most, second)
    )
    leads = (times == most[at]) & (tops[at] == 1)
    rival = np.where(leads, second[at], most[at])
    rivals = np.where(leads, seconds[at], tops[at] - (times == most[at]))
    own = times - 1
    right = own > rival
    judged = right | ((rival > own) & (rivals == 1))
    return judged, right
