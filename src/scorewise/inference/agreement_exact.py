"""Agreement coefficients in rational arithmetic, for values that lie on an edge up to rounding."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from scorewise.inference.agreement import MIDRANKS, chosen, coefficient
from scorewise.inference.agreement_weights import Weights, named
from scorewise.tallies.ratings import Ratings

Away = Callable[[int, int], Fraction]
Shares = dict[int, Fraction]
MOST = 1 << 18  # ratings of patterns
MOST_CATEGORIES = 1 << 9


class Pattern(NamedTuple):
    """The ratings of a pattern (rater and category) and the weight of its items."""

    said: list[tuple[int, int]]
    weight: Fraction
    weight2: Fraction


def exact(r: Ratings, name: str, weights: Weights = None) -> Fraction | None:
    """The coefficient as a fraction; None where it does not exist, is not rational or takes too long.

    Weights and numbers of categories that are floats are the fractions that these are.

    >>> exact(Ratings.of_table([[20, 5], [10, 15]]), "cohen_kappa")
    Fraction(2, 5)
    """
    weights = chosen(r, name, weights)
    large = math.prod(r.given.shape) > MOST or len(r.categories) > MOST_CATEGORIES
    if large or coefficient(r, name, weights).why:
        return None
    rows = _patterns(r)
    if name in ("krippendorff_alpha", "cohen_kappa", "scott_pi"):
        rows = [row for row in rows if len(row.said) >= 2]
    if isinstance(weights, str) and weights == MIDRANKS:
        return _alpha(rows, _ranked(r, rows))
    away = _away(r, weights)
    if away is None:
        return None
    if name == "krippendorff_alpha":
        return _alpha(rows, away)
    if name == "light_kappa":
        return _light(rows, away, r.given.shape[1])
    return 1 - _observed(rows, away) / _CHANCE[name](rows, away, len(r.categories))


def _patterns(r: Ratings) -> list[Pattern]:
    return [
        Pattern([(g, c) for g, c in enumerate(codes) if c >= 0], Fraction(w), Fraction(w2))
        for codes, w, w2 in zip(
            r.codes.tolist(), r.weight.tolist(), r.weight2.tolist(), strict=True
        )
    ]


def _apart(row: Pattern, away: Away) -> Fraction:
    """The mean disagreement of two ratings of a pattern."""
    pairs = [away(a, b) for (_, a), (_, b) in combinations(row.said, 2)]
    return sum(pairs, Fraction(0)) / len(pairs)


def _observed(rows: list[Pattern], away: Away) -> Fraction:
    two = [row for row in rows if len(row.said) >= 2]
    return _sum(row.weight * _apart(row, away) for row in two) / _sum(row.weight for row in two)


def _shares(rows: list[Pattern]) -> Shares:
    """The mean share of each category in the ratings of an item."""
    found: Shares = defaultdict(Fraction)
    total = _sum(row.weight for row in rows)
    for row in rows:
        for _, c in row.said:
            found[c] += row.weight / len(row.said) / total
    return found


def _between(first: Shares, second: Shares, away: Away) -> Fraction:
    return _sum(p * q * away(k, j) for k, p in first.items() for j, q in second.items())


def _fleiss(rows: list[Pattern], away: Away, many: int) -> Fraction:
    p = _shares(rows)
    return _between(p, p, away)


def _conger(rows: list[Pattern], away: Away, many: int) -> Fraction:
    table: dict[int, Shares] = defaultdict(lambda: defaultdict(Fraction))
    for row in rows:
        for g, c in row.said:
            table[g][c] += row.weight
    own = [{c: w / _sum(t.values()) for c, w in t.items()} for t in table.values()]
    pairs = [_between(a, b, away) for a, b in combinations(own, 2)]
    return _sum(pairs) / len(pairs)


def _brennan(rows: list[Pattern], away: Away, many: int) -> Fraction:
    return _sum(away(k, j) for k in range(many) for j in range(many)) / many**2


def _gwet(rows: list[Pattern], away: Away, many: int) -> Fraction:
    even = many * (1 - _brennan(rows, away, many)) / (many - 1)
    return 1 - even * _sum(p * (1 - p) for p in _shares(rows).values())


def _none(rows: list[Pattern], away: Away, many: int) -> Fraction:
    return Fraction(1)


_CHANCE: dict[str, Callable[[list[Pattern], Away, int], Fraction]] = {
    "percent_agreement": _none,
    "fleiss_kappa": _fleiss,
    "scott_pi": _fleiss,
    "conger_kappa": _conger,
    "cohen_kappa": _conger,
    "gwet_ac": _gwet,
    "brennan_prediger": _brennan,
}


def _alpha(rows: list[Pattern], away: Away) -> Fraction:
    total = _sum(row.weight for row in rows)
    rated = _sum(row.weight * len(row.said) for row in rows)
    few = _sum(row.weight2 for row in rows) / total / rated
    observed = _sum(row.weight * len(row.said) * _apart(row, away) for row in rows) / rated
    p = _pooled(rows)
    return 1 - (1 - few) * observed / _between(p, p, away)


def _pooled(rows: list[Pattern]) -> Shares:
    """The share of each category in all ratings."""
    found: Shares = defaultdict(Fraction)
    rated = _sum(row.weight * len(row.said) for row in rows)
    for row in rows:
        for _, c in row.said:
            found[c] += row.weight / rated
    return found


def _ranked(r: Ratings, rows: list[Pattern]) -> Away:
    """Squared distances of mid-ranks."""
    p, below, rank = _pooled(rows), Fraction(0), {}
    for c in sorted(p, key=lambda c: r.values[c]):
        rank[c] = below + p[c] / 2
        below += p[c]
    return lambda k, j: (rank[k] - rank[j]) ** 2


def _light(rows: list[Pattern], away: Away, raters: int) -> Fraction:
    each = []
    for pair in combinations(range(raters), 2):
        both = [row._replace(said=[s for s in row.said if s[0] in pair]) for row in rows]
        both = [row for row in both if len(row.said) == 2]
        each.append(1 - _observed(both, away) / _conger(both, away, 0))
    return _sum(each) / len(each)


def _away(r: Ratings, weights: Any) -> Away | None:
    """The disagreement of two categories; None where it is not rational."""
    name, v = named(r, weights), [Fraction(x) for x in r.values.tolist()]
    width = max(v) - min(v) or Fraction(1)
    if name == "own":
        table = np.asarray(weights, np.float64).tolist()
        return lambda k, j: 1 - Fraction(table[k][j])
    rank = {k: i for i, k in enumerate(sorted(range(len(v)), key=v.__getitem__))}
    functions: dict[str, Away] = {
        "identity": lambda k, j: Fraction(k != j),
        "linear": lambda k, j: abs(v[k] - v[j]) / width,
        "quadratic": lambda k, j: ((v[k] - v[j]) / width) ** 2,
        "ordinal": lambda k, j: _steps(abs(rank[k] - rank[j])) / _steps(len(v) - 1),
        "ratio": lambda k, j: (_relative(v[k], v[j]) / _relative(max(v), min(v))) ** 2,
    }
    found = functions.get(name)
    return None if found is None else cache(found)


def _steps(apart: int) -> Fraction:
    return Fraction(apart * (apart + 1), 2)


def _relative(a: Fraction, b: Fraction) -> Fraction:
    return (a - b) / (a + b) if a + b else Fraction(0)


def _sum(numbers: Any) -> Fraction:
    return sum(numbers, Fraction(0))
