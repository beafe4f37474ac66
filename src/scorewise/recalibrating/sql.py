"""Fitted maps as SQL expressions, to be applied where the scores are.

Only CASE, comparisons, arithmetic, EXP, LN, ABS, POWER, LEAST and GREATEST occur, which the engines at hand
agree on. Numbers are written with an exponent, which makes them doubles everywhere. NULL, NaN, infinite
scores and probabilities outside [0, 1], which Python refuses, give NULL.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from unicodedata import category

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns.binary import ROUNDED
from scorewise.columns.classes import LARGEST, SLACK
from scorewise.columns.labels import listed
from scorewise.errors import BadInput, Option, plain
from scorewise.recalibrating.document import (
    CalibrateClassesDocument,
    Calibrated,
    CalibrateDocument,
    read_map,
)
from scorewise.recalibrating.maps import ClassMap, Map
from scorewise.recalibrating.methods import both, slopes_beyond
from scorewise.tallies.losses import expit

MOST = 1 << 20  # characters
_FARTHEST = 700.0  # beyond it EXP overflows, which some engines refuse
_LARGEST = 1.7976931348623157e308


def to_sql(m: Map, column: str, quote: str = '"') -> str:
    """The probability of a map of one score a row, as an expression of the column of scores."""
    s = _quoted(column, quote)
    probable = m.kind == "probability"
    low, high = (-ROUNDED, 1 + ROUNDED) if probable else (-_LARGEST, _LARGEST)
    inside = f"{s} >= {_number(low)} AND {s} <= {_number(high)}"
    return _short(f"CASE WHEN {inside} THEN {_METHODS[m.method](m, s)} END", m.method)


def class_to_sql(m: ClassMap, columns: Mapping[str, str], quote: str = '"') -> dict[str, str]:
    """The probability of each class, as expressions of the columns of scores by class."""
    if set(columns) != set(m.classes):
        raise BadInput(
            f"the columns are of {listed(list(columns))}, but the map is for the classes "
            f"{listed(list(m.classes))}; name one column for each"
        )
    s = [_quoted(columns[c], quote) for c in m.classes]
    low, high = (0.0, 1.0) if m.kind == "probability" else (-LARGEST, LARGEST)
    inside = " AND ".join(f"{x} >= {_number(low)} AND {x} <= {_number(high)}" for x in s)
    if m.kind == "probability":
        inside += f" AND ABS({' + '.join(s)} - 1) <= {_number(SLACK)}"
    if m.method == "identity" and m.kind == "probability":
        made = s
    else:
        z = _logits(m, s)
        made = [_share(z, k) for k in range(len(z))]
    found = {c: f"CASE WHEN {inside} THEN {x} END" for c, x in zip(m.classes, made, strict=True)}
    for x in found.values():
        _short(x, m.method)
    return found


def sql_of(
    map_file: str | Path | Calibrated, columns: str | Mapping[str, str] | None, quote: str = '"'
) -> str | dict[str, str]:
    """The same of a stored map; columns of several classes are those it was fitted to, unless given."""
    doc = read_map(map_file) if isinstance(map_file, str | Path) else map_file
    if isinstance(doc, CalibrateClassesDocument):
        if columns is not None and not isinstance(columns, Mapping):
            raise BadInput(
                "the map is for several classes; name the column of each, class by class"
            )
        known = {c.name: c.column or c.name for c in doc.data.classes}
        return class_to_sql(doc.map, known if columns is None else columns, quote)
    if not isinstance(columns, str):
        raise BadInput("the map is for one score a row; name the one column that has it")
    return to_sql(doc.map, columns, quote)


def sql_text(map_file: str | Path, columns: Sequence[str], quote: str = '"') -> str:
    """What `scorewise calibrate sql` prints: an expression, or one for each class with its name.

    Columns are one name, or CLASS=COLUMN for each class.
    """
    doc, given = read_map(map_file), list(columns)
    if isinstance(doc, CalibrateDocument):
        if len(given) != 1:
            raise BadInput(
                f"the map is for one score a row, and {len(given)} columns are named; name one in ",
                Option("column"),
            )
        return f"{sql_of(doc, given[0], quote)}\n"
    named = dict(c.partition("=")[::2] for c in given)
    found = sql_of(doc, named or None, quote)
    assert isinstance(found, dict)
    lines = (f"{x} AS {_quoted(f'calibrated_{c}', quote)}" for c, x in found.items())
    return ",\n".join(lines) + "\n"


# Parts of expressions.


def _number(x: float) -> str:
    """A double with all its digits.

    >>> _number(0.1), _number(-2), _number(1e-7)
    ('0.1e0', '(-2.0e0)', '1e-07')
    """
    text = repr(float(x) + 0.0)  # no -0.0
    text = text if "e" in text else f"{text}e0"
    return f"({text})" if text.startswith("-") else text


def _quoted(column: str, quote: str) -> str:
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
    return f"{quote}{column.replace(quote, 2 * quote)}{quote}" if quote else column


def _between(x: str, low: float, high: float) -> str:
    return f"LEAST(GREATEST({x}, {_number(low)}), {_number(high)})"


def _expit(z: str) -> str:
    return f"1 / (1 + EXP(-{_between(z, -_FARTHEST, _FARTHEST)}))"


def _softplus(x: str) -> str:
    return f"(GREATEST({x}, 0) + LN(1 + EXP(-LEAST(ABS({x}), {_number(_FARTHEST)}))))"


def _sum(terms: Sequence[tuple[float, str]], start: float = 0.0) -> str:
    """A start + sum of factor * term, without those of factor 0."""
    parts = [f"{_number(c)} * {x}" for c, x in terms if c]
    if start or not parts:
        parts.insert(0, _number(start))
    return "(" + " + ".join(parts) + ")"


def _tree(breaks: Sequence[tuple[str, float]], pieces: Sequence[str], s: str) -> str:
    """The piece in which a score lies, found by halving; piece i ends where `s OP break[i]` fails."""
    if len(pieces) == 1:
        return pieces[0]
    k = (len(pieces) - 1) // 2
    sign, at = breaks[k]
    left, right = _tree(breaks[:k], pieces[: k + 1], s), _tree(breaks[k + 1 :], pieces[k + 1 :], s)
    return f"CASE WHEN {s} {sign} {_number(at)} THEN {left} ELSE {right} END"


def _steps(breaks: Sequence[tuple[str, float]], values: Sequence[float], s: str) -> str:
    """A piecewise constant function; neighbours of the same value are one piece."""
    kept = [i for i, (a, b) in enumerate(pairwise(values)) if a != b]
    pieces = [_number(values[i]) for i in [*kept, len(values) - 1]]
    return _tree([breaks[i] for i in kept], pieces, s)


def _lines(at: Floats, values: Floats, x: str, s: str, breaks: Floats) -> str:
    """A function of x that is straight between points and constant beyond them, as numpy.interp.

    Pieces are found on the scale of `s`, on which the points are `breaks`.
    """
    pieces = [_number(values[0])]
    with np.errstate(over="ignore", invalid="ignore"):
        slopes = np.diff(values) / np.diff(at)
    for a, v, slope in zip(at[:-1], values[:-1], slopes, strict=True):
        flat = not slope or not np.isfinite(slope)
        pieces.append(_number(v) if flat else _sum([(slope, f"({x} - {_number(a)})")], v))
    pieces.append(_number(values[-1]))
    # equal neighbours are one piece
    kept = [i for i, (a, b) in enumerate(pairwise(pieces)) if a != b]
    breaking = [("<", float(breaks[i])) for i in kept]
    return _tree(breaking, [pieces[i] for i in [*kept, len(pieces) - 1]], s)


def _short(text: str, method: str) -> str:
    if len(text) > MOST:
        raise BadInput(
            f"the {method} map takes {len(text):,} characters of SQL, more than the {MOST:,} that "
            f"engines can be expected to read; fit a method of fewer numbers, or apply it in Python"
        )
    return text


# Each method.


def _x(m: Map, s: str) -> str:
    """The score on the scale of log-odds; scores of any scale are standardised."""
    if m.kind == "logit":
        return s
    if m.kind == "score":
        return f"(({s} - {_number(m.centre)}) / {_number(m.unit)})"
    p = _between(s, m.clip, 1 - m.clip)
    return f"(LN({p}) - LN(1 - {p}))"


def _identity(m: Map, s: str) -> str:
    return _expit(s) if m.kind == "logit" else _between(s, 0.0, 1.0)


def _linear(m: Map, s: str) -> str:
    q: Any = m.parameters
    return _expit(_sum([(q["slope"], _x(m, s))], q.get("intercept", 0.0)))


def _beta(m: Map, s: str) -> str:
    q: Any = m.parameters
    if m.kind == "probability":
        p = _between(s, m.clip, 1 - m.clip)
        return _expit(_sum([(q["a"], f"LN({p})"), (-q["b"], f"LN(1 - {p})")], q["c"]))
    terms = [(-q["a"], _softplus(f"(-{s})")), (q["b"], _softplus(s))]
    return _expit(_sum(terms, q["c"]))


def _quadratic(m: Map, s: str) -> str:
    q: Any = m.parameters
    x, low, high = _x(m, s), q["low"], q["high"]
    reach = f"({_between(x, low, high)} - {_number(low)})"
    up = f"{reach} * {reach} / {_number(2 * max(high - low, 1e-300))}"
    first = f"({reach} - {up} + LEAST({x} - {_number(low)}, 0))"
    last = f"({up} + GREATEST({x} - {_number(high)}, 0))"
    return _expit(_sum([(q["first"], first), (q["last"], last)], q["intercept"]))


def _spline(m: Map, s: str) -> str:
    q: Any = m.parameters
    x, knots = _x(m, s), q["knots"]
    slope, *rest = q["coefficients"]
    if not knots:
        return _expit(_sum([(slope, x)], q["intercept"]))
    last, width = knots[-1], knots[-1] - knots[0]
    inside = f"LEAST({x}, {_number(last)})"
    # the arches of the inner knots share that of the last, so that each cube is written once
    factors = [c / ((last - k) * width) for c, k in zip(rest, knots, strict=False)]
    factors.append(-sum(rest) / ((last - knots[-2]) * width))
    cubes = [
        (f, f"POWER(GREATEST({inside} - {_number(k)}, 0), 3)")
        for f, k in zip(factors, knots[:-1], strict=True)
    ]
    end = max(slope + float(slopes_beyond(np.asarray(knots)) @ rest), 0.0)
    beyond = end, f"GREATEST({x} - {_number(last)}, 0)"
    return _expit(_sum([(slope, inside), *cubes, beyond], q["intercept"]))


def _isotonic(m: Map, s: str) -> str:
    at, values = (np.array(m.parameters[name]) for name in ("scores", "values"))
    return _lines(at, values, s, s, at)


def _isotonic_strict(m: Map, s: str) -> str:
    q: Any = m.parameters
    x, at, rows = _x(m, s), np.array(q["x"]), q["rows"]
    # the map has no jumps, so that pieces may be found on the scale of the score
    breaks = expit(at) if m.kind == "probability" else at * m.unit + m.centre
    fit = _lines(at, np.array(q["values"]), x, s, breaks)
    return f"({_number(rows)} * ({fit}) + {_expit(x)}) / {_number(rows + 1)}"


def _histogram(m: Map, s: str) -> str:
    q: Any = m.parameters
    return _steps([("<", edge) for edge in q["edges"][1:]], q["values"], s)


def _venn_abers(m: Map, s: str) -> str:
    """Constant on each score seen and between neighbours."""
    q: Any = m.parameters
    at = np.array(q["scores"], np.float64)
    low, high = both(q, at)
    inner = np.array([0.0, *q["low"]]), np.array([*q["high"], 1.0])
    p0, p1 = np.empty(2 * len(at) + 1), np.empty(2 * len(at) + 1)
    p0[1::2], p1[1::2] = low, high
    p0[::2], p1[::2] = inner
    breaks = [(sign, float(a)) for a in at for sign in ("<", "<=")]
    values = (p1 / (1 - p0 + p1)).tolist()
    if m.kind == "probability":  # what rounding puts outside is taken as 0 or 1
        begin, end = int(at[0] <= 0), len(breaks) - int(at[-1] >= 1)
        breaks, values = breaks[begin:end], values[begin : end + 1]
    return _steps(breaks, values, s)


_METHODS = {
    "identity": _identity,
    "temperature": _linear,
    "platt": _linear,
    "beta": _beta,
    "quadratic": _quadratic,
    "spline": _spline,
    "isotonic": _isotonic,
    "isotonic_strict": _isotonic_strict,
    "histogram": _histogram,
    "venn_abers": _venn_abers,
}


# Several classes.


def _logits(m: ClassMap, s: Sequence[str]) -> list[str]:
    """New logits, up to what is the same for all classes."""
    q: Any = m.parameters
    slopes = "weights" not in q and "slopes" not in q
    if m.kind == "probability":
        x = [f"LN({_between(c, m.clip, 1.0)})" for c in s]
    elif slopes:
        x = list(s)  # what all have in common falls out of the shares
    else:
        top = f"GREATEST({', '.join(s)})"
        total = f"LN({' + '.join(f'EXP(GREATEST({c} - {top}, {_number(-_FARTHEST)}))' for c in s)})"
        x = [f"({c} - {top} - {total})" for c in s]
    if "weights" in q:
        rows = zip(q["weights"], q["intercepts"], strict=True)
        return [_sum(list(zip(row, x, strict=True)), b) for row, b in rows]
    if "slopes" in q:
        each = zip(q["slopes"], x, q["intercepts"], strict=True)
        return [_sum([(a, c)], b) for a, c, b in each]
    return [_sum([(q.get("slope", 1.0), c)]) for c in x]


def _share(z: Sequence[str], k: int) -> str:
    """softmax: 1 / sum of EXP(z_j - z_k)."""
    others = [
        f"EXP({_between(f'{x} - {z[k]}', -_FARTHEST, _FARTHEST)})"
        for j, x in enumerate(z)
        if j != k
    ]
    return f"1 / (1 + {' + '.join(others)})"
