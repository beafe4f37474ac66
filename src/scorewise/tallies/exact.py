"""Exact sums of floats: the same bits in any order, from any shards, and from sums of integers.

A sum of floats depends on the order in which it is taken. Here every number is cut into whole numbers of
30 bits at fixed places (digits to the base 2^30), those are added as integers, and the exact total is told
by floats that do not overlap: `value` is the total, correctly rounded (what `math.fsum` gives), and `rest`
has the rounded remainder, the remainder of that, and so on, until nothing is left. An exact total has one
such form only, so that equal totals are equal bit for bit. Any finite floats add up exactly, however far
apart, and up to 2^33 of them at a time; beyond the largest float the sum is infinite.

An engine that sums the digits of numbers as integers gets the same: `from_digits` makes the total of them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints
from scorewise.computing import on_threads
from scorewise.tallies.runs import add_runs

if TYPE_CHECKING:
    from scorewise.tallies.tally import Tally

BITS = 30
_MASK = (1 << BITS) - 1
_BLOCK = 1 << 15  # sums that are brought into their form at a time
COLUMNS = ("neg", "pos", "neg2", "pos2")


class Exact(NamedTuple):
    """Exact sums: each is `value` (rounded), shape (..., K), and the terms of `rest`, (terms, ..., K)."""

    value: Floats
    rest: Floats


def as_exact(value: Any, rest: Floats | None = None) -> Exact:
    """Numbers that stand for themselves, or with what rounding left of them."""
    values = np.asarray(value, np.float64)
    return Exact(values, np.empty((0, *values.shape)) if rest is None else rest)


def sum_runs(values: Floats, start: Ints) -> Exact:
    """The exact sum of each run of finite numbers; the runs begin at `start`.

    >>> sum_runs(np.array([1e16, 1.0, -1e16, 0.1, 0.2]), np.array([0, 3]))
    Exact(value=array([1. , 0.3]), rest=array([[ 0.00000000e+00, -2.77555756e-17]]))
    """
    length = np.diff(start, append=len(values))
    longer = length > 1
    sums = as_exact(values[start])
    if longer.any():  # a number by itself is its own sum
        length, inside = length[longer], np.repeat(longer, length)
        totals = from_digits(*run_digits(values[inside], length.cumsum() - length))
        rest = np.zeros((len(totals.rest), len(start)))
        sums.value[longer], rest[:, longer] = totals
        sums = sums._replace(rest=rest)
    return sums


def run_digits(values: Floats, start: Ints, counts: Any = None) -> tuple[Ints, int]:
    """The same as sums of digits, shape (digits, runs), the first of them of the place that is returned.

    Numbers may be taken `counts` times.

    >>> from_digits(*run_digits(np.array([0.1, 0.2]), np.array([0]), np.array([3, 0]))).value
    array([0.3])
    """

    def of_block(runs: tuple[int, int]) -> tuple[list[Ints], int]:
        begins = start[runs[0] : runs[1]]
        at = slice(begins[0], start[runs[1]] if runs[1] < len(start) else len(values))
        digits, top = digits_of(values[at])
        if counts is not None:
            digits = [digit * counts[at] for digit in digits]
        return [np.add.reduceat(digit, begins - begins[0]) for digit in digits], top

    # blocks of whole runs that fit a core's cache
    cuts = np.searchsorted(start, np.arange(0, len(values), _BLOCK))
    blocks = list(pairwise(np.unique(np.append(cuts, len(start))).tolist()))
    sums = on_threads(of_block, blocks)
    top = max((t for _, t in sums), default=0)
    last = min((t - len(digits) for digits, t in sums), default=0)
    total = np.zeros((top - last, len(start)), np.int64)
    for (first, end), (digits, t) in zip(blocks, sums, strict=True):
        for k, digit in enumerate(digits, top - t):
            total[k, first:end] = digit
    return total, top


def add(size: int, summands: Sequence[tuple[Exact, Any]]) -> Exact:
    """The exact sums of parts, each with the places that its numbers are added at; of two, no place twice.

    >>> a, b = as_exact([0.1, 1.0]), as_exact([0.2])
    >>> add(2, [(a, np.array([0, 1])), (b, np.array([0]))]).value
    array([0.3, 1. ])
    """
    shape = (*summands[0][0].value.shape[:-1], size)
    columns = size * np.arange(math.prod(shape[:-1]))[:, None]
    flat = [
        (term.ravel(), (columns + at).ravel()) for x, at in summands for term in (x.value, *x.rest)
    ]
    if len(flat) == 2 == len(summands):  # several times faster
        a, b = np.zeros((2, *shape))
        for column, (term, place) in zip((a, b), flat, strict=True):
            column.ravel()[place] = term
        return _two(a, b)
    cut = [digits_of(term) for term, _ in flat]
    top, low = max(t for _, t in cut), min(t - len(digits) for digits, t in cut)
    total = np.zeros((top - low, *shape), np.int64)
    for (_, place), (digits, t) in zip(flat, cut, strict=True):
        for k, digit in enumerate(digits, top - t):
            np.add.at(total[k].ravel(), place, digit)
    exact = from_digits(total, top)
    for term, place in flat:
        endless = np.isinf(term)  # sums beyond the largest float stay so
        exact.value.ravel()[place[endless]] = term[endless]
    return exact


def _two(a: Floats, b: Floats) -> Exact:
    """The exact sums of pairs (Knuth's two-sum)."""
    with np.errstate(over="ignore", invalid="ignore"):
        value = a + b
        part = value - a
        left = (a - (value - part)) + (b - part)
    left = np.where(np.isfinite(value), left, 0.0)
    return Exact(value, left[None][: bool(left.any())])


def stacked(columns: Sequence[Exact]) -> Exact:
    """Columns of sums, one below the other."""
    return together(columns, np.stack, -2)


def together(parts: Sequence[Exact], join: Any, axis: int) -> Exact:
    """Sums joined as numpy joins arrays, along an axis counted from the last."""
    terms = max(len(x.rest) for x in parts)
    rests = [
        np.concatenate((x.rest, np.zeros((terms - len(x.rest), *x.value.shape)))) for x in parts
    ]
    return Exact(join([x.value for x in parts], axis), join(rests, axis))


def digits_of(values: NDArray[np.floating]) -> tuple[list[Ints], int]:
    """Numbers as digits to the base 2^30 with their sign, the highest first, and how many are whole.

    >>> digits_of(np.array([3.0, -0.5]))
    ([array([3, 0]), array([         0, -536870912])], 1)
    """
    left = np.abs(values, dtype=np.float64)
    largest = float(left.max(initial=0.0))
    if not np.isfinite(largest):
        left[~np.isfinite(left)] = 0.0
        largest = float(left.max())
    top = place = -(-int(np.frexp(largest)[1]) // BITS) if largest else 0
    if top < 0:
        left = np.ldexp(left, -BITS * top)
    down = values < 0
    signed = bool(down.any())
    digits: list[Ints] = []
    while left.any():
        place -= 1
        if place >= 0:
            digit = np.floor(left / 2.0 ** (BITS * place))
            left -= digit * 2.0 ** (BITS * place)
        else:  # in the unit of the last digit
            left *= 2.0**BITS
            digit = np.floor(left)
            left -= digit
        integers = digit.astype(np.int64)
        if signed:
            np.negative(integers, out=integers, where=down)
        digits.append(integers)
    return digits, top


def from_digits(digits: Any, top: int) -> Exact:
    """The exact totals of sums of digits, shape (digits, ..., K), the first of them of place `top`.

    The first digit counts ones if `top` is 1, units of 2^-30 if it is 0, and so on.

    >>> digits, top = digits_of(np.array([0.1, 0.2]))
    >>> from_digits(np.sum(digits, axis=1, keepdims=True), top).value
    array([0.3])
    """
    sums = np.asarray(digits, np.int64)
    flat = sums.reshape(len(sums), math.prod(sums.shape[1:]))
    blocks = range(0, max(flat.shape[1], 1), _BLOCK)
    forms = [_form(flat[:, i : i + _BLOCK], top) for i in blocks]
    value, rest = together(forms, np.concatenate, -1)
    return Exact(value.reshape(sums.shape[1:]), rest.reshape(len(rest), *sums.shape[1:]))


def _form(sums: Ints, top: int) -> Exact:
    """The total, rounded; the rest, rounded; and so on until nothing is left."""
    if not len(sums):
        return as_exact(np.zeros(sums.shape[1]))
    # carries of three digits at most, and four beyond the last that rounding looks at
    digits = np.concatenate((np.zeros((3, sums.shape[1]), np.int64), sums))
    top += 3
    down = _carried(digits)
    value = _rounded(digits, top, down)
    rest: list[Floats] = []
    here, last = np.arange(sums.shape[1]), value
    while True:
        finite = np.isfinite(last)
        taken, first = digits_of(np.where(finite, np.abs(last), 0.0))
        for k, digit in enumerate(taken, top - first):
            digits[k] -= digit
        flipped = _carried(digits)
        down = down ^ flipped
        left = digits.any(0) & finite
        if not left.any():
            return Exact(value, np.stack(rest) if rest else np.empty((0, len(value))))
        here, digits, down = here[left], digits[:, left], down[left]
        last = _rounded(digits, top, down)
        term = np.zeros(len(value))
        term[here] = last
        rest.append(term)


def _carried(digits: Ints) -> Bools:
    """Bring digits into 0 ... 2^30 - 1, in place; whether the number was negative and is turned."""
    _carry(digits)
    down = np.asarray(digits[0] < 0)
    if down.any():
        digits[:, down] *= -1
        _carry(digits)
    return down


def _carry(digits: Ints) -> None:
    for k in range(len(digits) - 1, 0, -1):
        digits[k - 1] += digits[k] >> BITS
        digits[k] &= _MASK


def _rounded(digits: Ints, top: int, down: Bools) -> Floats:
    """Numbers of canonical digits, rounded to the nearest float, ties to even.

    Of each the first 64 bits are taken, the last of them set where anything was cut off; rounding those
    to 53 is then what rounding all would be.
    """
    each = np.arange(digits.shape[1])
    filled = digits != 0
    first, last = filled.argmax(0), len(digits) - 1 - filled[::-1].argmax(0)
    padded = np.concatenate((digits, np.zeros((4, len(each)), np.int64))).view(np.uint64)
    window = [padded[first + k, each] for k in range(4)]
    bits = np.uint64(BITS)
    high, low = (window[0] << bits) | window[1], (window[2] << bits) | window[3]
    up = (64 - BITS - np.frexp(window[0].astype(np.float64))[1]).astype(np.uint64)
    cut = np.uint64(2 * BITS) - up
    lost = ((low & ((np.uint64(1) << cut) - np.uint64(1))) != 0) | (last > first + 3)
    mantissa = (high << up) | (low >> cut) | lost.astype(np.uint64)
    power = BITS * (top - first - 2) - up.astype(np.int64)
    with np.errstate(over="ignore"):
        value = np.ldexp(mantissa.astype(np.float64), power.astype(np.int32))
    return np.where(filled.any(0), np.where(down, -value, value), 0.0)


# The columns of weights of a tally.


def own_columns(t: Tally) -> tuple[str, ...]:
    """The names of those that a tally has: counts are their own squares."""
    return COLUMNS if t.weighted else COLUMNS[:2]


def columns_of(t: Tally) -> Exact:
    """The weights and squared weights of both classes, shape (4, K)."""
    return as_exact([getattr(t, name) for name in COLUMNS], t.rest)


def as_columns(sums: Exact) -> dict[str, Any]:
    """The columns of a tally of weights, by the names of its fields."""
    return {**dict(zip(COLUMNS, sums.value, strict=True)), "rest": sums.rest}


def joined_runs(t: Tally, start: Ints) -> dict[str, Any]:
    """The weights of runs of cells, exactly."""
    if not t.weighted:
        return {name: add_runs(getattr(t, name), start) for name in own_columns(t)}
    value, rest = columns_of(t)
    terms = np.stack([value, *rest])
    sums = [sum_runs(c.T.ravel(), start * len(terms)) for c in terms.swapaxes(0, 1)]
    return as_columns(stacked(sums))


def merged(size: int, tallies: Sequence[tuple[Tally, Ints]]) -> dict[str, Any]:
    """The weights of several tallies together, given the place of each of their cells, exactly."""
    if any(t.weighted for t, _ in tallies):
        return as_columns(add(size, [(columns_of(t), at) for t, at in tallies]))
    columns: Any = np.zeros((2, size), np.int64)
    for t, at in tallies:
        columns[0][at] += t.neg
        columns[1][at] += t.pos
    return {"neg": columns[0], "pos": columns[1]}
