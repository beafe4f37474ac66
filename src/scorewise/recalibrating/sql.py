"""Expressions of SQL to which numpy's functions apply: what maps arrays is a map in SQL, too.

Only CASE, comparisons, arithmetic, EXP, LN, ABS, POWER, LEAST and GREATEST occur, which the engines at hand
agree on. Numbers are written with an exponent, which makes them doubles everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Literal
from unicodedata import category

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from scorewise.arrays import Floats
from scorewise.errors import BadInput, Option, plain
from scorewise.tallies import losses

MAX_EXPONENT = 700.0  # beyond it EXP overflows, which some engines refuse
_UFUNCS = {
    "add": "({} + {})", "subtract": "({} - {})", "multiply": "({} * {})", "divide": "({} / {})",
    "negative": "(-{})", "minimum": "LEAST({}, {})", "maximum": "GREATEST({}, {})", "log": "LN({})",
    "power": "POWER({}, {})",
}  # fmt: skip


class Sql(NDArrayOperatorsMixin):
    """An expression of one row; operations are in parentheses.

    `probability` is what the expression is the log-odds of, where it is any. `scale` is an expression that
    rises with this one, and what a number becomes on it; `rounded` says that it is a probability, which
    rounding may have put outside [0, 1].

    >>> Sql("a") + 2 * np.maximum(Sql("b"), -1)
    (a + (2.0e0 * GREATEST(b, (-1.0e0))))
    """

    probability: Sql | None = None
    scale: tuple[Sql, Callable[[Floats], Any]] | None = None
    rounded = False

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        constant = next((x for x in inputs if not isinstance(x, Sql)), None)
        if (ufunc.__name__, constant) in (("add", 0.0), ("multiply", 1.0)):
            return next(x for x in inputs if isinstance(x, Sql))
        if (ufunc.__name__, constant) == ("multiply", 0.0):
            return Sql(number(0.0))
        texts = (x.text if isinstance(x, Sql) else number(x) for x in inputs)
        return Sql(_UFUNCS[ufunc.__name__].format(*texts))

    def __array_function__(self, func: Any, types: Any, args: Any, options: Any) -> Any:
        return {"clip": clip, "interp": _interp}[func.__name__](*args)

    def astype(self, dtype: Any) -> Sql:
        """The same: numbers are doubles."""
        return self


def number(x: float) -> str:
    """A double with all its digits.

    >>> number(0.1), number(-2), number(1e-7)
    ('0.1e0', '(-2.0e0)', '1e-07')
    """
    text = repr(float(x) + 0.0)  # no -0.0
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def quoted(column: str, quote: str) -> str:
    """The name of a column between quotes, which are doubled in it; without quotes, SQL as it is."""
    if len(quote) > 1:
        raise BadInput(
            Option("quote"),
            f" must be one character, such as ` for Spark, or nothing; got {quote!r}",
        )
    if not column or "\0" in column:
        raise BadInput(f"{column!r} is not the name of a column; pass the one that has the scores")
    if any(category(c) in ("Cc", "Cf") for c in column):  # which a terminal would obey
        raise BadInput(f"'{plain(column)}' has a control character; rename the column or the class")
    if quote:
        return f"{quote}{column.replace(quote, 2 * quote)}{quote}"
    return column if column.isidentifier() else f"({column})"


def expit(z: Any) -> Any:
    """The probability of log-odds, of an array or an expression."""
    if not isinstance(z, Sql):
        return losses.expit(z)
    if z.probability is not None:
        return z.probability
    return Sql(f"(1 / (1 + EXP(-{clip(z, -MAX_EXPONENT, MAX_EXPONENT)})))")


def logit(p: Any) -> Any:
    """The log-odds of a probability, of an array or an expression."""
    if not isinstance(p, Sql):
        return losses.logit(p)
    odds = Sql(f"(LN({p}) - LN(1 - {p}))")
    odds.probability = p
    return odds


def log_expit(z: Any, sign: Literal[1, -1] = 1) -> Any:
    """The logarithm of the probability of log-odds, or of its complement (sign -1)."""
    if not isinstance(z, Sql):
        return -np.logaddexp(0.0, -z if sign > 0 else z)
    if z.probability is not None:
        return Sql(f"LN({z.probability})" if sign > 0 else f"LN(1 - {z.probability})")
    signed: Any = z if sign > 0 else -z
    return np.minimum(signed, 0.0) - Sql(f"LN(1 + EXP(-LEAST(ABS({z}), {number(MAX_EXPONENT)})))")


def stepwise(x: Any, breaks: Any, values: Any, side: Literal["left", "right"]) -> Any:
    """The value between two breaks, of an array or an expression; `side` as in `numpy.searchsorted`."""
    if not isinstance(x, Sql):
        return np.asarray(values)[np.searchsorted(breaks, x, side)]
    sign, at = "<" if side == "right" else "<=", np.asarray(breaks, np.float64)
    if x.rounded:  # what rounding puts outside [0, 1] is taken as 0 or 1
        at = np.where(at <= 0, -1.0, at) if side == "right" else np.where(at >= 1, 2.0, at)
    return _pieces(x, sign, at, [number(v) for v in values])


def clip(x: Any, low: float, high: float) -> Any:
    """Numbers between two limits, of an array or an expression."""
    return np.minimum(np.maximum(x, low), high)


def _interp(x: Sql, at: Any, values: Any) -> Sql:
    """A function that is straight between points and constant beyond them.

    Pieces are found on the scale of the column where there is one, whose expression is shorter.
    """
    at, values = np.asarray(at, np.float64), np.asarray(values, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        slopes = np.diff(values) / np.diff(at)
    lines = [
        v + slope * (x - a) if slope and np.isfinite(slope) else Sql(number(v))
        for a, v, slope in zip(at[:-1], values[:-1], slopes, strict=True)
    ]
    pieces = [number(values[0]), *(line.text for line in lines), number(values[-1])]
    column, breaks = (x, at) if x.scale is None else (x.scale[0], x.scale[1](at))
    return _pieces(column, "<", breaks, pieces)


def _pieces(x: Sql, sign: str, breaks: Floats, pieces: Sequence[str]) -> Sql:
    """The piece in which x lies, found by halving; piece i ends where `x sign breaks[i]` fails.

    Neighbours that are the same are one.
    """
    last = [i for i, (a, b) in enumerate(pairwise(pieces)) if a != b]
    ends, texts = breaks[last].tolist(), [pieces[i] for i in [*last, len(pieces) - 1]]

    def tree(first: int, stop: int) -> str:
        if stop - first == 1:
            return texts[first]
        k = first + (stop - first - 1) // 2
        left, right = tree(first, k + 1), tree(k + 1, stop)
        return f"CASE WHEN {x} {sign} {number(ends[k])} THEN {left} ELSE {right} END"

    return Sql(tree(0, len(texts)))
