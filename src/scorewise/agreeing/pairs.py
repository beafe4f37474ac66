"""Each two raters: what both said, how often they agree, and Cohen's kappa."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.agreeing.packed import between, each_two, packed
from scorewise.estimate import Estimate
from scorewise.intervals.agreement_weights import Weights, disagreement
from scorewise.intervals.ratios import share_over_items
from scorewise.measures.raters.pairs import cohen_kappa
from scorewise.tallies import Confusion, Ratings

SHOWN = 45
MOST = 2048  # raters of whom each two are looked at
Floats = NDArray[np.float64]


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
    many = len(r.raters)
    if many > MOST:
        return Pairs([], 0, f"{many:,} raters are too many to look at each two; {MOST:,} are taken")
    found = disagreement(r, weights)
    if isinstance(found, str):
        return Pairs([], 0, found)
    apart, both = np.zeros(many * many), np.zeros(many * many)
    for p in packed(r):
        w = r.weight[p.at].astype(np.float64)
        for j, k, here, d in each_two(p, found):
            cell = p.rater[here, j] * many + p.rater[here, k]
            apart += np.bincount(cell, w[here] * d, many * many)
            both += np.bincount(cell, w[here], many * many)
    shared = np.flatnonzero(both)
    share = (apart[shared] / both[shared]).round(12)
    worst = shared[np.lexsort((shared, -both[shared], -share))][:most]
    made = [_pair(r, *divmod(int(cell), many), weights, level) for cell in worst]
    return Pairs(made, len(shared))


def _pair(r: Ratings, first: int, second: int, weights: Weights, level: float) -> Pair:
    assert r.raters is not None
    both = (r.codes[:, first] >= 0) & (r.codes[:, second] >= 0)
    a, b = (r.codes[both, k] for k in (first, second))
    d = disagreement(r, weights)
    assert not isinstance(d, str)
    close = 1 - between(d, a, b)
    agreement = share_over_items(
        close, np.ones(len(close)), r.weight[both], r.weight2[both], level=level
    )
    items: float = r.weight[both].sum().item()
    kappa = cohen_kappa(r.only([first, second]), weights=weights, level=level)
    table = r.pair(first, second) if len(r.categories) <= 64 else None
    return Pair(r.raters[first], r.raters[second], items, agreement, kappa, table)
