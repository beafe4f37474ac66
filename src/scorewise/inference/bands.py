"""The words for coefficients of agreement, each with its upper end, which is included."""

from __future__ import annotations

from fractions import Fraction

BANDS = {
    "none": Fraction(0),
    "slight": Fraction(1, 5),
    "fair": Fraction(2, 5),
    "moderate": Fraction(3, 5),
    "substantial": Fraction(4, 5),
    "almost perfect": Fraction(1),
}
