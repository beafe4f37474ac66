"""Cells, losses and exact sums as expressions that give the same bits in every engine.

A row's cell is not found by a search in the edges of the grid, which no query language has, but by a key
that tells at least as many scores apart: rows of one key are in one cell. Near an edge, where the rounding
of the key could matter, the score itself is part of the key. So the cells come out as numpy finds them.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import narwhals as nw

from scorewise.tallies.coarse import EQUAL_CELLS
from scorewise.tallies.exact import BITS
from scorewise.tallies.losses import CLIP

_HALF = math.sqrt(0.5)
_OCTAVE = 128  # cells of the grid of probabilities towards 0 and 1
_FIRST, _LAST = 8, 60  # octaves in which it has them
_NEAR = 1e-6  # of a cell: far more than the rounding of keys, far less than a cell
_TERMS = 11  # of the series of the logarithm, exact to the last digit
# towards 1 edges are rounded to 2^-54: so much in cells, times the distance from 1
_ROUNDED = 2.0**-45
Frame = Any  # nw.LazyFrame
Expr = Any  # nw.Expr


class Limbs(NamedTuple):
    """A column whose sum is taken as integers: digits to the base 2^30, the first of place `top`.

    `many` digits of numbers below 2^(30 top); what is finer is cut off.
    """

    column: str
    top: int
    many: int

    @property
    def names(self) -> list[str]:
        """What the columns of digits are called."""
        return [f"{self.column}_{k}" for k in range(self.many)]


def top_of(largest: float) -> int:
    """The place of the first digit of numbers up to `largest`, which may be a power of 2^30.

    >>> top_of(1.0), top_of(745.0), top_of(2.0**-31), top_of(0.0)
    (0, 1, -1, 0)
    """
    if not largest:
        return 0
    mantissa, power = math.frexp(largest)
    return -(-(power - (mantissa == 0.5)) // BITS)


def digits_for(least: float, largest: float) -> tuple[int, int]:
    """The first place and the number of digits that hold numbers from `least` to `largest` exactly.

    >>> digits_for(1.0, 1.0), digits_for(0.1, 10.0)
    ((0, 2), (1, 3))
    """
    top = top_of(largest)
    last = math.frexp(least)[1] - 53 if least else BITS * (top - 1)
    return top, top - last // BITS


def cut(frame: Frame, columns: list[Limbs]) -> Frame:
    """The digits of columns beside them."""
    for step in range(max(limbs.many for limbs in columns)):
        now = [limbs for limbs in columns if limbs.many > step]
        digits, lefts = [], []
        for limbs in now:
            place = limbs.top - 1 - step
            left = nw.col(limbs.column if not step else f"{limbs.column}_left")
            digit = (left * 2.0 ** (-BITS * place)).floor().cast(nw.Float64)
            digits.append(digit.alias(limbs.names[step]))
            rest = left - nw.col(limbs.names[step]) * 2.0 ** (BITS * place)
            lefts.append(rest.alias(f"{limbs.column}_left"))
        frame = frame.with_columns(*digits).with_columns(*lefts)
    whole = [nw.col(name).cast(nw.Int64) for limbs in columns for name in limbs.names]
    return frame.with_columns(*whole)


def octaves(frame: Frame, least: float, largest: float) -> Frame:
    """`x` as a number from 0.5 up to 1, times 2^-`e`; 0 stays 0.

    `least` and `largest` bound what is not 0, so that no step is taken for nothing.
    """
    frame = frame.with_columns(e=nw.col("x") * 0.0)
    for power in _powers(math.frexp(largest)[1]):
        frame = _scaled(frame, nw.col("x") >= 2.0 ** (power - 1), -power)
    many = -math.frexp(least)[1]
    # 2^1023 is the largest power of two; numbers below 2^-1022 take a second turn
    for power in (*_powers(min(many, 1023)), *_powers(many - 1023)):
        frame = _scaled(frame, nw.col("x") < 2.0**-power, power)
    return frame


def _powers(most: int) -> list[int]:
    """Powers of two, the largest first, that add up to at least `most`."""
    return [1 << k for k in range(max(most, 0).bit_length() - 1, -1, -1)]


def _scaled(frame: Frame, where: Expr, power: int) -> Frame:
    x, e = nw.col("x"), nw.col("e")
    return frame.with_columns(
        x=nw.when(where).then(x * 2.0**power).otherwise(x),
        e=nw.when(where).then(e + power).otherwise(e),
    )


def _atanh(z: Expr, terms: int) -> Expr:
    """The inverse hyperbolic tangent of numbers up to 0.172, by its series."""
    square, total = z * z, nw.lit(1.0 / (2 * terms - 1))
    for k in range(terms - 1, 0, -1):
        total = total * square + 1.0 / (2 * k - 1)
    return total * z


def probability_keys(frame: Frame, least: float) -> Frame:
    """`key` and `own` of probabilities `s`, by which rows are grouped, and `a`, which is s times 2^`scale`.

    `least` is the smallest distance from 0 or 1 that is not 0. Octaves of that distance are cut by their
    logarithm, and [0, 1] in equal cells.
    """
    s, t, v = nw.col("s"), nw.col("x"), nw.col("v")
    half = nw.when(s < 0.5)
    frame = frame.with_columns(x=half.then(s).otherwise(1.0 - s))
    frame = octaves(frame.with_columns(t=t), least, 0.5)
    frame = frame.with_columns(z=(nw.col("x") - _HALF) / (nw.col("x") + _HALF))
    frame = frame.with_columns(log=_atanh(nw.col("z"), _TERMS))
    frame = frame.with_columns(
        v=_OCTAVE * (nw.col("e") + 0.5 - 2 / math.log(2) * nw.col("log")), u=s * float(EQUAL_CELLS)
    )
    frame = frame.with_columns(k=nw.col("u").floor().cast(nw.Float64), j=v.floor().cast(nw.Float64))
    part, t = v - nw.col("j"), nw.col("t")
    frame = frame.with_columns(
        over=nw.when(part < 0.5).then(part).otherwise(1.0 - part),
        equal=nw.col("u") - nw.col("k"),
        slack=t * _NEAR + nw.when(s < 0.5).then(0.0).otherwise(_ROUNDED),
    )
    edge = (nw.col("over") * t < nw.col("slack")) & (v > _OCTAVE * _FIRST - 1.0)
    edge = edge & (v < _OCTAVE * _LAST + 1.0)
    near = edge | (nw.col("equal") < _NEAR) | (nw.col("equal") > 1.0 - _NEAR)
    j = nw.when(v < _OCTAVE * _FIRST).then(0.0).otherwise(nw.col("j") - _OCTAVE * _FIRST + 1)
    j = nw.when(v >= _OCTAVE * _LAST).then(_OCTAVE * (_LAST - _FIRST) + 1.0).otherwise(j)
    low = s < 2.0**-_FIRST
    frame = frame.with_columns(
        j=j + nw.when(s < CLIP).then(16384.0).otherwise(0.0),
        scale=nw.when(low).then(nw.col("e")).otherwise(0.0),
        a=nw.when(low).then(nw.col("x")).otherwise(s),
        own=nw.when(near & (s > 0.0)).then(s).otherwise(-1.0),
    )
    # 0 is near no other score and has a key of its own
    key = nw.when(s > 0.0).then(nw.col("k") * 32768.0 + nw.col("j")).otherwise(-1.0)
    return frame.with_columns(key=key.cast(nw.Int64), scale=nw.col("scale").cast(nw.Int64))


def relative_keys(frame: Frame, least: float, largest: float) -> Frame:
    """The same for any scores: sign, octave and ten bits of the fraction, as the grid has them."""
    s = nw.col("s")
    frame = frame.with_columns(x=nw.when(s < 0.0).then(0.0 - s).otherwise(s))
    frame = octaves(frame, least, largest)
    key = (nw.col("x") * 2048.0).floor().cast(nw.Float64)
    return frame.with_columns(
        a=nw.col("x"),
        scale=nw.col("e").cast(nw.Int64),
        key=nw.when(s < 0.0).then(-1.0 - key).otherwise(key).cast(nw.Int64),
        own=s * 0.0,
    )


def losses(frame: Frame) -> Frame:
    """`brier`, `spherical` and `log` of probabilities, as charged to the label `y`; infinite ones as 0."""
    s, x, hit, miss = nw.col("s"), nw.col("x"), nw.col("hit"), nw.col("miss")
    up = nw.col("y") > 0
    frame = frame.with_columns(
        hit=nw.when(up).then(s).otherwise(1.0 - s), miss=nw.when(up).then(1.0 - s).otherwise(s)
    )
    high, rare = hit >= _HALF, hit < 0.5
    frame = frame.with_columns(
        # from a part at least 0.5 and a power of two; close to 1 from the distance
        base=nw.when(rare).then(x).otherwise(hit),
        bits=nw.when(rare).then(nw.col("e")).otherwise(0.0),
        size=(hit * hit + miss * miss).sqrt(),
    ).with_columns(
        z=nw.when(high)
        .then((0.0 - miss) / (1.0 + hit))
        .otherwise((nw.col("base") - _HALF) / (nw.col("base") + _HALF))
    )
    less = _atanh(nw.col("z"), _TERMS) * 2.0
    log = nw.when(high).then(0.0 - less).otherwise((nw.col("bits") + 0.5) * math.log(2) - less)
    size = nw.col("size")
    return frame.with_columns(
        brier=miss * miss,
        spherical=miss * (miss / (size * (size + hit))),
        log=nw.when(hit > 0.0).then(log).otherwise(0.0),
    )
