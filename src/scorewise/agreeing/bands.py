"""Agreement in words: bands decided exactly, and how likely each is."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import scorewise.measures
from scorewise.errors import BadInput
from scorewise.inference.agreement import Coefficient, coefficient
from scorewise.inference.agreement_exact import exact
from scorewise.inference.agreement_weights import Weights
from scorewise.inference.bands import BANDS
from scorewise.registry import RATER_MEASURES
from scorewise.tallies.ratings import Ratings

assert scorewise.measures  # fills the register
NEAR = 1e-9  # of an edge, where the exact value decides
_ROUNDING = Fraction(1, 10**12)  # of weights and numbers that are not whole


class Banded(NamedTuple):
    """The band of a coefficient, and the probability that the true value lies in each band.

    >>> banded(Ratings.of_table([[20, 5], [10, 15]]), "cohen_kappa").name
    'fair'
    """

    name: str
    chances: dict[str, float]


def band(x: Fraction | float) -> str:
    """The word for a coefficient: upper ends belong to the band below.

    >>> band(0.4), band(Fraction(2, 5)), band(0.41), band(-0.1)
    ('fair', 'fair', 'moderate', 'none')
    """
    if not x <= 1:
        raise BadInput(f"a coefficient of agreement is {x}; it is 1 at most")
    # a float is compared with the float of the edge: 0.4 means two fifths
    return next(w for w, e in BANDS.items() if x <= (e if isinstance(x, Fraction) else float(e)))


def banded(r: Ratings, name: str, weights: Weights = None) -> Banded | None:
    """The band of a coefficient of these ratings and the probability of each; None where it is undefined.

    Within 1e-9 of an edge the value is taken in rational arithmetic. Of weights or numbers that are not
    whole, it counts as on the edge within 1e-12, because these are rounded themselves. Probabilities
    are those of the t distribution (normal for Cohen's kappa) around the value, cut to the
    coefficient's range (Gwet 2014, chapter 6); where all items agree alike, so that there is no standard
    error, those of the observed disagreement by Jeffreys' beta distribution.
    """
    c = coefficient(r, name, weights)
    if c.why:
        return None
    word = band(_decided(r, name, weights, c.value))
    if c.se < 1e-12:
        return Banded(word, _alike(c))
    return Banded(word, chances(c.value, c.se, c.df, RATER_MEASURES[name].bounds))


def _decided(r: Ratings, name: str, weights: Weights, value: float) -> Fraction | float:
    edge = min(BANDS.values(), key=lambda e: abs(float(e) - value))
    if abs(value - float(edge)) > NEAR:
        return min(value, 1.0)
    found = exact(r, name, weights)
    if found is None:
        found = Fraction(value)
    elif _whole(r, weights):
        return found
    return edge if abs(found - edge) < _ROUNDING else found


def _whole(r: Ratings, weights: Weights) -> bool:
    """Whether all numbers that count are whole, so that nothing was rounded."""
    own = weights is not None and not isinstance(weights, str)
    return not own and r.weight.dtype.kind == "i" and bool((r.values == r.values.round()).all())


def _alike(c: Coefficient) -> dict[str, float]:
    """The probability of each band when all items disagree by the same share."""
    from scipy.special import betaincc

    apart, room = min(max(1 - c.observed, 0.0), 1.0), 1 - c.expected
    a, b = apart * c.items + 0.5, (1 - apart) * c.items + 0.5
    ends = [0.0, *(float(betaincc(a, b, min((1 - float(e)) * room, 1.0))) for e in BANDS.values())]
    return {w: high - low for w, low, high in zip(BANDS, ends[:-1], ends[1:], strict=True)}


def chances(
    value: float, se: float, df: float, bounds: tuple[float, float] = (-1.0, 1.0)
) -> dict[str, float]:
    """The probability of each band, by the t distribution around the value within the bounds.

    >>> {w: round(p, 3) for w, p in chances(0.4, 0.1, math.inf).items()}["fair"]
    0.477
    """
    from scipy.special import ndtr, stdtr

    def below(x: float) -> float:
        at = (min(max(x, bounds[0]), bounds[1]) - value) / se
        return float(ndtr(at) if math.isinf(df) else stdtr(df, at))

    start, stop = below(bounds[0]), below(bounds[1])
    ends = [start, *(below(float(e)) for e in BANDS.values())]
    return {
        w: (high - low) / (stop - start)
        for w, low, high in zip(BANDS, ends[:-1], ends[1:], strict=True)
    }
