"""Each two raters: what both said, how often they agree, and Cohen's kappa."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.inference.agreement_parts import Compared, compared, too_many
from scorewise.inference.agreement_weights import Disagreement, Weights, disagreement
from scorewise.inference.shares import share_over_items
from scorewise.measures.raters.agreement import cohen_kappa
from scorewise.tallies import Confusion, Ratings
from scorewise.tallies.rating_patterns import summed

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
