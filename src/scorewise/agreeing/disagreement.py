"""Where raters disagree: the items they differ on most, and the rater who differs most."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.agreeing.packed import Packed, each_two, packed
from scorewise.door.ratings import RatingRows
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.intervals.agreement_weights import Weights, disagreement
from scorewise.intervals.disagreement import Disagreement
from scorewise.intervals.ratios import share_over_items
from scorewise.tallies import Ratings

Floats = NDArray[np.float64]
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

    >>> from scorewise.door.ratings import take_ratings
    >>> rows = take_ratings({"ann": ["a", "a", "b"], "bob": ["a", "b", "a"], "cay": ["a", "b", "c"]})
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
    apart = _apart(rows, d)
    worst = np.flatnonzero(apart > 0)
    if len(worst) > top:
        least = np.partition(apart[worst], len(worst) - top)[len(worst) - top]
        worst = worst[apart[worst] >= least]
    worst = worst[np.lexsort((worst, -apart[worst]))][:top]
    return [_item(rows, i, float(apart[i])) for i in worst.tolist()]


def _apart(rows: RatingRows, d: Disagreement) -> Floats:
    """The mean disagreement of two ratings of each item; 0 where there are no two."""
    found = np.zeros(len(rows))
    for first in range(0, len(rows), BLOCK):
        at = slice(first, first + BLOCK)
        codes = rows.codes[at]
        rated = np.count_nonzero(codes >= 0, axis=1)
        found[at] = d.within(codes) / np.maximum(rated * (rated - 1), 1)
    for amount in (rows.count, rows.weight):
        if amount is not None:
            found[amount == 0] = 0.0
    # so that rounding does not decide between equals
    return found.round(12)


def _item(rows: RatingRows, at: int, apart: float) -> DisputedItem:
    file, number = rows.place.number(at)
    codes = rows.codes[at].tolist()
    if rows.raters is None:
        codes = sorted(c for c in codes if c >= 0)
    said = tuple(rows.categories[c] if c >= 0 else None for c in codes)
    name = None if rows.items is None else rows.items[at]
    return DisputedItem(number, file, name, apart, said)


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
    if r.raters is None or isinstance(d, str) or not len(r.codes):
        return []
    parts = [_of_ratings(r, p, d) for p in packed(r)]
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
    order = np.argsort(columns[0], kind="stable")
    who = columns[0][order]
    ends = np.searchsorted(who, np.arange(len(r.raters) + 1))
    made = []
    for k, name in enumerate(r.raters):
        its = order[ends[k] : ends[k + 1]]
        others, majority = _judged(*(c[its] for c in columns[1:]), level=level)
        items: float = columns[-2][its].sum().item()
        made.append(RaterAgreement(name, items, others, majority))
    return sorted(made, key=lambda row: (not row.others.defined, row.others.value))


def _judged(
    close: Floats, judged: Any, right: Any, w: Any, w2: Any, *, level: float
) -> tuple[Estimate, Estimate]:
    """Agreement of one rater with the others, and with their majority."""
    compared = close >= 0
    if not compared.any():
        alone = Estimate.undefined("no item that they rated has another rating", level)
        return alone, alone
    others = share_over_items(np.maximum(close, 0.0), compared, w, w2, level=level)
    if not judged.any():
        why = "the others have no majority on any item that they rated"
        return others, Estimate.undefined(why, level)
    return others, share_over_items(right, judged, w, w2, level=level)


def _of_ratings(r: Ratings, p: Packed, d: Disagreement) -> tuple[Any, ...]:
    """A row for each rating: who gave it, how it agrees with the others, and the weights.

    Its mean agreement with each other is -1 where there is no other; then come whether the others have
    a majority, and whether it is the same.
    """
    apart = np.zeros(p.codes.shape)
    for j, k, both, gap in each_two(p, d):
        apart[both, j] += gap
        apart[both, k] += gap
    rated = r.rated[p.at][:, None]
    close = np.where(rated > 1, 1 - apart / np.maximum(rated - 1, 1), -1.0)
    judged, right = _majority(p)
    there = p.codes >= 0
    w, w2 = (np.broadcast_to(x[p.at, None], there.shape)[there] for x in (r.weight, r.weight2))
    return p.rater[there], close[there], judged[there], right[there], w, w2


def _majority(p: Packed) -> tuple[Any, Any]:
    """Of each rating, whether one category has most of the other ratings, and whether it is the same."""
    same = np.zeros(p.codes.shape, np.int64)
    for k in range(p.codes.shape[1]):
        same += p.codes == p.codes[:, k : k + 1]
    # each category once, by its first rating
    first = np.zeros(p.codes.shape, np.bool_)
    for k in range(p.codes.shape[1]):
        first[:, k] = (p.codes[:, :k] != p.codes[:, k : k + 1]).all(1) & (p.codes[:, k] >= 0)
    runs = -np.sort(-np.where(first, same, 0), axis=1)
    wide = np.pad(runs, ((0, 0), (0, 1)))
    most, second = wide[:, :1], wide[:, 1:2]
    tops, seconds = ((wide == x).sum(1, keepdims=True) for x in (most, second))
    leads = (same == most) & (tops == 1)
    rival = np.where(leads, second, most)
    rivals = np.where(leads, seconds, tops - (same == most))
    own = same - 1
    right = own > rival
    judged = right | ((rival > own) & (rivals == 1))
    return judged, right
