"""Exact sums of floats: the same bits in any order, from any shards, and from sums of integers.

A sum of floats depends on the order in which it is taken. Here every number is cut into whole numbers of
30 bits at fixed places (digits to the base 2^30), those are added as integers, and the exact total is told
by floats that do not overlap: `value` is the total, correctly rounded (what `math.fsum` gives), and `rest`
has the rounded remainder, the remainder of that, and so on, until nothing is left. An exact total has one
such form only, so that equal totals are equal bit for bit. Any finite floats add up exactly, however far
apart, and up to 2^33 of them at a time; beyond the largest float the sum is infinite.

An engine that sums integers gets the same: with `limbs_of`, or `floor(w)`, `floor((w - floor(w)) * 2^30)`
and so on, each summed as int64, `from_limbs` makes the total. Four limbs hold every weight from 2^-38
(3.6e-12) to 2^33 (8.6e9) exactly; what is finer than 2^-90 is lost there, and only there.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Floats, Ints
from scorewise.tallies.sorting import Numbers, add_runs, on_threads

if TYPE_CHECKING:
    from scorewise.tallies.tally import Tally

BITS = 30
LIMBS = 4  # that engines and dense grids sum
_MASK = (1 << BITS) - 1
_BLOCK = 1 << 15  # sums that are brought into their form at a time
_SAFE = 990  # powers of two up to this and their inverses are floats
COLUMNS = ("neg", "pos", "neg2", "pos2")


class Exact(NamedTuple):
    """Exact sums: each is `value` (rounded) plus the terms of `rest`, shape (terms, K), often none."""

    value: Floats
    rest: Floats

    def at(self, which: Any) -> Exact:
        """Some of the sums, or all in another order."""
        return Exact(self.value[which], trimmed(self.rest[:, which]))


def plain(value: Any) -> Exact:
    """Numbers that stand for themselves."""
    found = np.asarray(value, np.float64)
    return Exact(found, np.empty((0, len(found))))


def trimmed(rest: Floats) -> Floats:
    """The terms up to the last that is not zero throughout."""
    while len(rest) and not rest[-1].any():
        rest = rest[:-1]
    return rest


def same(a: Floats, b: Floats) -> bool:
    """Whether two rests are equal; terms that are zero throughout do not matter."""
    return np.array_equal(trimmed(a), trimmed(b))


def sum_runs(values: Floats, start: Ints) -> Exact:
    """The exact sum of each run of finite numbers; the runs begin at `start`.

    >>> sum_runs(np.array([1e16, 1.0, -1e16, 0.1, 0.2]), np.array([0, 3]))
    Exact(value=array([1. , 0.3]), rest=array([[ 0.00000000e+00, -2.77555756e-17]]))
    """
    if not len(start):
        return plain(np.empty(0))
    long = np.diff(start, append=len(values)) > 1
    if not long.any():
        return plain(values[start])
    runs = np.flatnonzero(long)
    first = start[runs]
    last = np.append(start, len(values))[runs + 1]
    if len(runs) == len(start):
        inside, begins = values, start
    else:
        sizes = last - first
        begins = np.concatenate(([0], sizes.cumsum()[:-1]))
        inside = values[np.repeat(first - begins, sizes) + np.arange(sizes.sum())]
    digits, top = digits_of(inside)
    if not len(digits):
        return plain(values[start])
    sums = _settled(np.stack([np.add.reduceat(d, begins) for d in digits]), top)
    if len(runs) == len(start):
        return sums
    value = values[start].astype(np.float64)
    rest = np.zeros((len(sums.rest), len(start)))
    value[runs], rest[:, runs] = sums
    return Exact(value, rest)


def add(size: int, parts: Sequence[tuple[Exact, Any]]) -> Exact:
    """The exact sums of parts, each with the places (without repeats) that its numbers are added at.

    >>> a, b = plain([0.1, 1.0]), plain([0.2])
    >>> add(2, [(a, np.array([0, 1])), (b, np.array([0]))]).value
    array([0.3, 1. ])
    """
    terms = [(term, at) for x, at in parts for term in (x.value, *x.rest)]
    if len(terms) <= 2 and all(len(x.rest) == 0 for x, _ in parts):
        a, b = np.zeros((2, size))
        for column, (term, at) in zip((a, b), terms, strict=False):
            column[at] = term
        return _two(a, b)
    cut = [(*digits_of(term), at) for term, at in terms]
    top = max(t for _, t, _ in cut)
    low = min(t - len(d) for d, t, _ in cut)
    total = np.zeros((top - low, size), np.int64)
    for digits, t, at in cut:
        for k, digit in enumerate(digits):
            total[top - t + k, at] += digit
    made = _settled(total, top)
    for term, at in terms:
        if np.isinf(term).any():  # sums beyond the largest float stay so
            made.value[at] = np.where(np.isinf(term), term, made.value[at])
    return made


def _two(a: Floats, b: Floats) -> Exact:
    """The exact sums of pairs (Knuth's two-sum)."""
    with np.errstate(over="ignore", invalid="ignore"):
        value = a + b
        part = value - a
        left = (a - (value - part)) + (b - part)
    left = np.where(np.isfinite(value), left, 0.0)
    return Exact(value, trimmed(left[None]))


def sum_counted(values: Floats, counts: Sequence[Any], start: Ints) -> list[Exact]:
    """The exact sum over each run of numbers times counts, for several columns of counts.

    >>> sum_counted(np.array([0.1, 0.2]), [np.array([3, 0]), np.array([1, 1])], np.array([0]))[1].value
    array([0.3])
    """
    if not len(start):
        return [plain(np.empty(0)) for _ in counts]

    def of_block(runs: tuple[int, int]) -> list[Exact]:
        begins = start[runs[0] : runs[1]]
        at = slice(begins[0], start[runs[1]] if runs[1] < len(start) else len(values))
        digits, top = digits_of(values[at])
        begins = begins - begins[0]
        return [
            _settled(np.stack([np.add.reduceat(d * many[at], begins) for d in digits]), top)
            if len(digits)
            else plain(np.zeros(len(begins)))
            for many in counts
        ]

    # blocks of whole runs that fit a core's cache
    cuts = np.unique(np.searchsorted(start, np.arange(0, len(values), _BLOCK))).tolist()
    blocks = list(zip(cuts, [*cuts[1:], len(start)], strict=True))
    return _joined(on_threads(of_block, [b for b in blocks if b[0] < b[1]]))


def _joined(parts: Sequence[Sequence[Exact]]) -> list[Exact]:
    """Several columns of sums, part after part."""
    made = []
    for columns in zip(*parts, strict=True):
        terms = max(len(x.rest) for x in columns)
        value = np.concatenate([x.value for x in columns])
        rest, done = np.zeros((terms, len(value))), 0
        for x in columns:
            rest[: len(x.rest), done : done + len(x.value)] = x.rest
            done += len(x.value)
        made.append(Exact(value, rest))
    return made


def digits_of(values: NDArray[np.floating]) -> tuple[Ints, int]:
    """Numbers as digits to the base 2^30 with their sign, the highest first, and how many are whole.

    >>> digits_of(np.array([3.0, -0.5]))
    (array([[         3,          0],
           [         0, -536870912]]), 1)
    """
    left = np.abs(values.astype(np.float64))
    left[~np.isfinite(left)] = 0.0
    largest = float(left.max(initial=0.0))
    top = -(-int(np.frexp(largest)[1]) // BITS) if largest else 0
    down = values < 0
    signed = bool(down.any())
    found: list[Any] = []
    place = top
    while left.any():
        place -= 1
        digit = np.floor(_shifted(left, -BITS * place))
        left -= _shifted(digit, BITS * place)
        whole = digit.astype(np.int64)
        if signed:
            np.negative(whole, out=whole, where=down)
        found.append(whole)
    return np.stack(found) if found else np.zeros((0, len(values)), np.int64), top


def limbs_of(weights: Floats) -> Ints:
    """What engines sum: the whole part of numbers from 0 up, and further digits to the base 2^30."""
    left, found = weights.astype(np.float64), []
    for _ in range(LIMBS):
        whole = np.floor(left)
        found.append(whole.astype(np.int64))
        left = (left - whole) * float(1 << BITS)
    return np.stack(found)


def from_limbs(limbs: Any, top: int = 1) -> Exact:
    """The exact totals of limbs, shape (limbs, K): sums as int64 of digits, the first of place `top`.

    The first limb counts ones if `top` is 1, units of 2^-30 if it is 0, and so on.

    >>> from_limbs(limbs_of(np.array([0.1, 0.2])).sum(1, keepdims=True)).value
    array([0.3])
    """
    return _settled(np.asarray(limbs, np.int64), top)


def _shifted(values: Floats, power: int) -> Any:
    """Numbers times a power of two, exactly."""
    return values * 2.0**power if abs(power) < _SAFE else np.ldexp(values, power)


def _settled(sums: Ints, top: int) -> Exact:
    """Sums of digits in their one form, block by block."""
    size = sums.shape[1]
    made = [_form(sums[:, i : i + _BLOCK], top) for i in range(0, size, _BLOCK)]
    value = np.concatenate([np.empty(0), *(x.value for x in made)])
    rest = np.zeros((max((len(x.rest) for x in made), default=0), size))
    for k, x in enumerate(made):
        rest[: len(x.rest), k * _BLOCK : k * _BLOCK + x.rest.shape[1]] = x.rest
    return Exact(value, rest)


def _form(sums: Ints, top: int) -> Exact:
    """The total, rounded; the rest, rounded; and so on until nothing is left."""
    if not len(sums):
        return plain(np.zeros(sums.shape[1]))
    # carries of three digits at most, and four beyond the last that rounding looks at
    digits = np.concatenate((np.zeros((3, sums.shape[1]), np.int64), sums))
    top += 3
    down = _carried(digits)
    value = _rounded(digits, top, down)
    rest: list[Floats] = []
    here, last = np.arange(sums.shape[1]), value
    while True:
        known = np.isfinite(last)
        digits = digits - _placed(np.where(known, np.abs(last), 0.0), top, len(digits))
        flipped = _carried(digits)
        down = down ^ flipped
        left = digits.any(0) & known
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


def _placed(values: Floats, top: int, many: int) -> Ints:
    """Numbers from 0 up as digits at given places."""
    found, own = digits_of(values)
    made = np.zeros((many, len(values)), np.int64)
    made[top - own : top - own + len(found)] = found
    return made


def _rounded(digits: Ints, top: int, down: Bools) -> Floats:
    """Numbers of canonical digits, rounded to the nearest float, ties to even.

    Of each the first 64 bits are taken, the last of them set where anything was cut off; rounding those
    to 53 is then what rounding all would be.
    """
    each = np.arange(digits.shape[1])
    filled = digits != 0
    first = filled.argmax(0)
    last = len(digits) - 1 - filled[::-1].argmax(0)
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


def columns_of(t: Tally) -> list[Exact]:
    """The weights and squared weights of both classes as exact sums; counts are exact as they are."""
    rest = np.empty((0, 4, len(t.score))) if t.rest is None else t.rest
    return [
        Exact(getattr(t, name).astype(np.float64), rest[:, k]) for k, name in enumerate(COLUMNS)
    ]


def as_columns(sums: Sequence[Exact]) -> dict[str, Any]:
    """The columns of a tally of weights, by the names of its fields."""
    return {**{n: x.value for n, x in zip(COLUMNS, sums, strict=True)}, "rest": rest_of(sums)}


def rest_of(sums: Sequence[Exact]) -> Floats | None:
    """What rounding left of several columns, shape (terms, columns, K); nothing where nothing was."""
    terms = max(len(trimmed(x.rest)) for x in sums)
    if not terms:
        return None
    rest = np.zeros((terms, len(sums), len(sums[0].value)))
    for k, x in enumerate(sums):
        rest[: len(x.rest), k] = x.rest[:terms]
    return rest


def same_rest(a: Floats | None, b: Floats | None) -> bool:
    """Whether two such rests are equal."""
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def joined_runs(t: Tally, start: Ints) -> dict[str, Any]:
    """The weights of runs of cells, exactly."""
    if not t.weighted:
        neg, pos = add_runs(t.neg, start), add_runs(t.pos, start)
        return {"neg": neg, "pos": pos, "neg2": neg, "pos2": pos}
    made = []
    for column in columns_of(t):
        parts = [sum_runs(term, start) for term in (column.value, *column.rest)]
        every = slice(None)
        made.append(parts[0] if len(parts) == 1 else add(len(start), [(x, every) for x in parts]))
    return as_columns(made)


def merged(size: int, parts: Sequence[tuple[Tally, Ints]]) -> dict[str, Any]:
    """The weights of several tallies together, given the place of each of their cells, exactly."""
    if any(t.weighted for t, _ in parts):
        found = [(columns_of(t), at) for t, at in parts]
        return as_columns(
            [add(size, [(columns[k], at) for columns, at in found]) for k in range(4)]
        )
    neg: Numbers = np.zeros(size, np.int64)
    pos: Numbers = np.zeros(size, np.int64)
    for t, at in parts:
        neg[at] += t.neg
        pos[at] += t.pos
    return {"neg": neg, "pos": pos, "neg2": neg, "pos2": pos}
