"""Cohen's kappa of all pairs of raters: one rater against all that follow, at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from scorewise.intervals.agreement_parts import Floats, Rated


class MeanCohen(NamedTuple):
    """The mean over pairs of kappa and of its parts, the fewest items of a pair, and the slopes."""

    value: float
    observed: float
    expected: float
    items: float
    slope: Floats


def mean_cohen(x: Rated, raters: tuple[str, ...]) -> MeanCohen | str:
    """Light's kappa, or why a pair of raters has no kappa; memory grows with raters, not with pairs."""
    sums, items, slope = np.zeros(3), np.inf, np.zeros(len(x.codes))
    for k in range(len(raters) - 1):
        found = _one_against(x, k)
        if (few := found.items < 1 + 1e-9).any():
            other = raters[k + 1 + int(few.argmax())]
            return f"{raters[k]} and {other} rated fewer than two items both"
        if (alike := found.chance <= 1e-14).any():
            other = raters[k + 1 + int(alike.argmax())]
            return f"{raters[k]} and {other} leave no room for disagreement by chance"
        ratio = found.observed / found.chance
        sums += (1 - ratio).sum(), (1 - found.observed).sum(), (1 - found.chance).sum()
        items = min(items, float(found.items.min()))
        turned = (found.apart - found.observed - ratio * found.turn) / found.chance
        slope -= (found.share * turned).sum(1)
    many = len(raters) * (len(raters) - 1) / 2
    value, observed, expected = (sums / many).tolist()
    return MeanCohen(value, observed, expected, items, slope / many)


class _Against(NamedTuple):
    """One rater against others (columns): disagreement of each item, its mean, and that by chance.

    `share` is 1 / the share of the items that both rated, on those items, and 0 on others.
    """

    share: Any
    apart: Any
    observed: Floats
    chance: Floats
    turn: Any
    items: Floats


def _one_against(x: Rated, k: int) -> _Against:
    own, others = x.codes[:, k : k + 1], x.codes[:, k + 1 :]
    both = (own >= 0) & (others >= 0)
    weight = x.weight[:, None] * both
    total, squares = weight.sum(0), (x.weight2[:, None] * both).sum(0)
    rated = np.where(total > 0, total, 1.0)
    weight /= rated
    apart = x.kernel.between(own, others)
    column = np.arange(others.shape[1])
    shares = [_by_column(c, weight, x.many) for c in (np.broadcast_to(own, others.shape), others)]
    spread = x.kernel.spread(shares[1]), x.kernel.spread(shares[0])
    chance = (shares[0] * spread[0]).sum(1)
    turn = spread[0][column, own] + spread[1][column, others] - 2 * chance
    items = total * total / np.where(squares > 0, squares, 1.0)
    return _Against(both / rated, apart, (weight * apart).sum(0), chance, turn, items)


def _by_column(codes: Any, weight: Floats, many: int) -> Floats:
    """Columns x categories: the weight of each category in a column of codes."""
    columns = codes.shape[1]
    at = codes + np.arange(columns) * (many + 1) + 1
    found: Any = np.bincount(at.ravel(), weight.ravel(), columns * (many + 1))
    table: Floats = found.reshape(columns, many + 1)[:, 1:]
    return table
