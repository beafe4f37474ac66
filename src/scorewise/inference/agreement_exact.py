"""Agreement coefficients in rational arithmetic, for values that lie on an edge up to rounding.

The formulas are those of floats: they are handed arrays of fractions.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.inference.agreement import Subject, chosen, coefficient, cohen_pairs, subject
from scorewise.inference.agreement_parts import apart
from scorewise.inference.agreement_weights import Pairwise, Weights
from scorewise.tallies.ratings import Ratings

BANDS = {
    "none": Fraction(0),
    "slight": Fraction(1, 5),
    "fair": Fraction(2, 5),
    "moderate": Fraction(3, 5),
    "substantial": Fraction(4, 5),
    "almost perfect": Fraction(1),
}  # the words for coefficients, each with its upper end, which is included
MOST = 1 << 18  # ratings of patterns
MOST_CATEGORIES = 1 << 9
_IRRATIONAL = ("radical", "circular", "bipolar")


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
    if isinstance(weights, str) and weights in _IRRATIONAL:
        return None
    given = replace(r, values=_fractions(r.values))
    if name == "light_kappa":
        each = [_value(given, s, weights) for s in cohen_pairs(given, weights)]
        return sum(each, Fraction(0)) / len(each)
    found = subject(given, name, weights)
    assert not isinstance(found, str)  # or there would be no coefficient
    return _value(given, found, weights)


def _value(r: Ratings, s: Subject, weights: Weights) -> Fraction:
    """1 - observed / chance disagreement, with all that these are made of as fractions."""
    kernel = s.rated.kernel
    if not isinstance(weights, str | None):
        away = 1 - _fractions(weights)
        kernel = Pairwise(lambda k, j: away[k, j], len(away))
    w, w2 = (_fractions(x[s.used]) for x in (r.weight, r.weight2))
    said = s.rated.said._replace(times=_fractions(s.rated.said.times))
    total = w.sum()
    x = replace(
        s.rated, said=said, weight=w / total, weight2=w2 / total / total, kernel=kernel,
        apart=apart(said, kernel), worth=total * total / w2.sum(),
    )  # fmt: skip
    parts = s.formula(x)
    value: Fraction = 1 - parts.observed / parts.chance
    return value


def _fractions(numbers: Any) -> NDArray[Any]:
    """The fractions that numbers are, in an array of the same shape."""
    values = np.asarray(numbers)
    made = np.empty(values.shape, object)
    made.ravel()[:] = [Fraction(x) for x in values.ravel().tolist()]
    return made
