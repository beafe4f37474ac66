"""The methods for one score a row: rising curves of the log-odds, and maps of no set form."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.columns import Kind
from scorewise.curves.hull import pav_blocks
from scorewise.inference.logistic import Fitted, logistic, nonnegative_fit
from scorewise.recalibrating.cells import MAX_COMPARED, Cells, Points
from scorewise.recalibrating.sql import expit, log_expit, stepwise
from scorewise.tallies.runs import add_runs, equal_mass_runs

Parameters: TypeAlias = dict[str, float | list[float]]
ANY: tuple[Kind, ...] = ("probability", "logit", "score")
LOG_ODDS: tuple[Kind, ...] = ("probability", "logit")


@dataclass(frozen=True)
class Method:
    """A family of maps: how one is fitted to cells, and how it is applied to scores.

    `single` and `many` name its parameters, numbers and lists of numbers; `least` is how many rows of
    the smaller class it wants before `auto` tries it; `outside` is what becomes of scores beyond those
    seen in fitting; `likely` says that it is fitted by maximum likelihood.
    """

    name: str
    meaning: str
    fit: Callable[[Cells], Parameters]
    apply: Callable[[Mapping[str, Any], Points], Any]
    single: tuple[str, ...] = ()
    many: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = LOG_ODDS
    least: int = 0
    outside: Literal["extrapolated", "clamped", "left as they are"] = "extrapolated"
    likely: bool = True
    strengths: tuple[float, ...] = (1.0,)


def _same(parameters: Mapping[str, Any], points: Points) -> Any:
    """Probabilities as they are; logits, whose two scales are one, as probabilities."""
    return expit(points.x) if points.x is points.score else points.score


IDENTITY = Method(
    "identity",
    "the scores as they are",
    lambda cells: {},
    _same,
    outside="left as they are",
    likely=False,
)


# Sums of a few features of the log-odds, none of which falls, with factors from 0 up.


def _rising(
    name: str,
    meaning: str,
    features: Callable[[Any, float, float], list[Any]],
    factors: Sequence[str],
    intercept: str = "intercept",
    **traits: Any,
) -> Method:
    """A method whose log-odds are intercept + sum of factor x feature; "" is no intercept.

    Features are functions of the log-odds and of the lowest and the highest seen, `low` and `high`.
    """
    names = ("low", "high", *([intercept] if intercept else []), *factors)

    def fit(cells: Cells) -> Parameters:
        ends = float(cells.x[0]), float(cells.x[-1])
        coef = nonnegative_fit(
            features(cells.x, *ends), cells.neg, cells.pos, intercept=bool(intercept)
        )
        values = dict(zip(names, (*ends, *coef.tolist()), strict=True))
        return {single: values[single] for single in traits["single"]}

    def apply(parameters: Mapping[str, Any], points: Points) -> Any:
        ends = (parameters.get(end, 0.0) for end in ("low", "high"))
        terms = zip(factors, features(points.x, *ends), strict=True)
        return expit(sum((parameters[f] * x for f, x in terms), parameters.get(intercept, 0.0)))

    return Method(name, meaning, fit, apply, **traits)


def _logs(x: Floats, low: float, high: float) -> list[Floats]:
    """The features log p and -log(1 - p), from the log-odds of p."""
    return [log_expit(x), -log_expit(x, -1)]


def _parabolas(x: Floats, low: float, high: float) -> list[Floats]:
    """Two parabolas: the slope of one falls from 1 to 0 between `low` and `high`, that of the other rises.

    Outside both go on straight, so that any sum of them with factors from 0 up rises everywhere.
    """
    width = max(high - low, 1e-300)
    inside = np.clip(x, low, high)
    up = (inside - low) ** 2 / (2 * width)
    return [(inside - low) - up + np.minimum(x - low, 0.0), up + np.maximum(x - high, 0.0)]


TEMPERATURE = _rising(
    "temperature",
    "all log-odds times one number, 1 / temperature (Guo et al. 2017)",
    lambda x, low, high: [x],
    ("slope",),
    intercept="",
    single=("slope",),
    least=10,
)
PLATT = _rising(
    "platt",
    "log-odds times a slope plus an intercept (Platt 1999, without his targets)",
    lambda x, low, high: [x],
    ("slope",),
    single=("intercept", "slope"),
    kinds=ANY,
    least=10,
)
BETA = _rising(
    "beta",
    "log-odds a log p - b log(1 - p) + c, with a and b not negative (Kull et al. 2017)",
    _logs,
    ("a", "b"),
    intercept="c",
    single=("a", "b", "c"),
    least=50,
)
QUADRATIC = _rising(
    "quadratic",
    "a parabola of the log-odds, rising; its slope goes from first to last over the range seen",
    _parabolas,
    ("first", "last"),
    single=("low", "high", "intercept", "first", "last"),
    kinds=ANY,
    least=50,
)


# A natural cubic spline of the log-odds: free in the middle, straight at both ends.


QUANTILES = (0.05, 0.275, 0.5, 0.725, 0.95)  # Harrell's places for five knots
_PENALTIES = 10.0 ** np.arange(-3.0, 8.5, 0.5)
_FINE = 257
NARROW = 1e-100  # between the outer knots, below which cubes vanish


def _curves(x: Floats, knots: Floats) -> list[Any]:
    """The score, and for each inner knot a curve that is straight beyond the outer knots."""
    if not len(knots):
        return [x]
    # cubes beyond the last knot would cancel, to nothing but rounding far away
    inside, beyond = np.minimum(x, knots[-1]), np.maximum(x - knots[-1], 0.0)
    curves = zip(_arches(inside, knots), _slopes_beyond(knots), strict=True)
    return [x, *(arch + slope * beyond for arch, slope in curves)]


def _arches(x: Any, knots: Floats) -> list[Any]:
    """Those curves without the score, up to the last knot."""
    last, width = knots[-1], knots[-1] - knots[0]
    cubes = [np.maximum(x - k, 0.0) ** 3 / ((last - k) * width) for k in knots[:-1]]
    return [cube - cubes[-1] for cube in cubes[:-1]]


def _slopes_beyond(knots: Floats) -> Floats:
    """The slope of each of those curves, without the score, beyond the last knot."""
    slopes: Floats = 3 * (knots[-2] - knots[:-2]) / (knots[-1] - knots[0])
    return slopes


def _roughness(knots: Floats) -> Floats:
    """Integrals of products of second derivatives, which are straight between knots: two-point Gauss."""
    half, middle = np.diff(knots) / 2, (knots[1:] + knots[:-1]) / 2
    at = np.concatenate([middle - half / np.sqrt(3), middle + half / np.sqrt(3)])
    width = knots[-1] - knots[0]
    bends = [6 * np.maximum(at - k, 0.0) / ((knots[-1] - k) * width) for k in knots[:-1]]
    # intercept and slope do not bend
    curves = [np.zeros(len(at))] * 2 + [bend - bends[-1] for bend in bends[:-1]]
    weights = np.concatenate([half, half])
    return np.array([[float((weights * a * b).sum()) for b in curves] for a in curves])


def _fit_spline(cells: Cells) -> Parameters:
    """The penalty of the least AIC among those with which the curve rises everywhere.

    It is Platt's map where there are too few scores to bend, or where nothing else would rise.
    """
    share = (cells.mass.cumsum() - cells.mass / 2) / cells.mass.sum()
    knots = np.unique(np.interp(QUANTILES, share, cells.x))
    least = max(1e-9 * np.abs(knots).max(), NARROW)
    bent = None if len(knots) < 3 or knots[-1] - knots[0] < least else _bent(cells, knots)
    if bent is None:
        knots, bent = knots[:0], nonnegative_fit([cells.x], cells.neg, cells.pos)
    return {
        "knots": knots.tolist(),
        "intercept": float(bent[0]),
        "coefficients": bent[1:].tolist(),
    }


def _bent(cells: Cells, knots: Floats) -> Floats | None:
    """Intercept and coefficients of the curve; none where no penalty lets it rise."""
    pooled, rough = cells.pooled(MAX_COMPARED), _roughness(knots)
    features = [np.ones(1), *_curves(pooled.x, knots)]
    best: tuple[float, float, Floats] | None = None
    coef = None
    for penalty in _PENALTIES[::-1] * pooled.row:
        fit = logistic(features, pooled.neg, pooled.pos, penalty=penalty * rough, start=coef)
        coef = fit.coef
        if not fit.converged or not _rises(coef, knots):
            break
        value = _criterion(fit, penalty * rough, pooled.row)
        if best is None or value < best[0]:
            best = value, penalty, coef
    if best is None or pooled is cells:
        return best and best[2]
    features = [np.ones(1), *_curves(cells.x, knots)]
    fit = logistic(features, cells.neg, cells.pos, penalty=best[1] * rough, start=best[2])
    return fit.coef if _rises(fit.coef, knots) else best[2]


def _criterion(fit: Fitted, penalty: Floats, row: float) -> float:
    """AIC: twice the loss in rows, plus twice the effective number of coefficients."""
    likelihood = fit.loss - float(fit.coef @ penalty @ fit.coef) / 2
    share = np.linalg.lstsq(fit.curvature, fit.curvature - penalty, rcond=None)[0]
    return 2 * likelihood / row + 2 * float(np.trace(share))


def _rises(coef: Floats, knots: Floats) -> bool:
    """Whether the curve never falls; beyond the outer knots it is straight."""
    margin = (knots[-1] - knots[0]) / 100
    x = np.linspace(knots[0] - margin, knots[-1] + margin, _FINE)
    curve = sum(c * f for c, f in zip(coef[1:], _curves(x, knots), strict=True))
    return bool((np.diff(curve) >= 0).all())


def _apply_spline(parameters: Mapping[str, Any], points: Points) -> Any:
    knots, (slope, *bends), x = (
        np.asarray(parameters["knots"]),
        parameters["coefficients"],
        points.x,
    )
    if not len(knots):
        return expit(slope * x + parameters["intercept"])
    last, end = knots[-1], slope + float(_slopes_beyond(knots) @ bends)
    inside = np.minimum(x, last)
    z = sum((c * f for c, f in zip(bends, _arches(inside, knots), strict=True)), slope * inside)
    # one slope for all of it, which does not fall
    return expit(z + parameters["intercept"] + max(end, 0.0) * np.maximum(x - last, 0.0))


SPLINE = Method(
    "spline",
    "a natural cubic spline of the log-odds with five knots, as flexible as AIC favours while rising",
    _fit_spline,
    _apply_spline,
    single=("intercept",),
    many=("knots", "coefficients"),
    kinds=ANY,
    least=100,
)


# Histogram binning: the share of positives in each of a few bins of equal mass.


_TRAITS: dict[str, Any] = {"kinds": ANY, "least": 500, "outside": "clamped", "likely": False}


def _fit_histogram(cells: Cells) -> Parameters:
    rows = cells.mass.sum() / cells.row
    start = equal_mass_runs(cells.mass, int(np.clip(np.cbrt(2 * rows), 2, 50)))
    neg, pos = add_runs(cells.neg, start), add_runs(cells.pos, start)
    values = (pos + cells.row) / (neg + pos + 2 * cells.row)
    return {"edges": cells.points.score[start].tolist(), "values": values.tolist()}


HISTOGRAM = Method(
    "histogram",
    "(positives + 1) / (rows + 2) in each of up to 50 bins of equal mass that split no ties",
    _fit_histogram,
    lambda q, points: stepwise(points.score, q["edges"][1:], q["values"], "right"),
    many=("edges", "values"),
    **_TRAITS,
)


# Isotonic regression: the best of all maps that never fall, and a variant that always rises.


def blocks(cells: Cells) -> tuple[Ints, Floats]:
    """The first cell of each block of the isotonic fit, and the share of positives in the block."""
    start = pav_blocks(cells.neg, cells.pos)
    return start, add_runs(cells.pos, start) / add_runs(cells.mass, start)


def _fit_isotonic(cells: Cells) -> Parameters:
    start, share = blocks(cells)
    ends = np.append(start[1:], len(cells.x)) - 1
    both = np.stack([start, ends]).T.ravel()
    # a block of one cell is one point
    at = np.concatenate(([True], both[1:] != both[:-1]))
    values = np.repeat(share, 2)[at]
    return {"scores": cells.points.score[both[at]].tolist(), "values": values.tolist()}


def _fit_strict(cells: Cells) -> Parameters:
    start, share = blocks(cells)
    centre = add_runs(cells.points.x * cells.mass, start) / add_runs(cells.mass, start)
    rows = float(cells.mass.sum() / cells.row)
    return {"x": centre.tolist(), "values": share.tolist(), "rows": rows}


def _apply_strict(parameters: Mapping[str, Any], points: Points) -> Any:
    fit, rows = np.interp(points.x, parameters["x"], parameters["values"]), parameters["rows"]
    return (rows * fit + expit(points.x)) / (rows + 1)


ISOTONIC = Method(
    "isotonic",
    "the likeliest map that never falls, straight between the scores seen (Zadrozny and Elkan 2002)",
    _fit_isotonic,
    lambda q, points: np.interp(points.score, q["scores"], q["values"]),
    many=("scores", "values"),
    **_TRAITS,
)
ISOTONIC_STRICT = Method(
    "isotonic_strict",
    "isotonic, straight between the centres of its blocks (Oron and Flournoy 2017), the score itself "
    "counting as one more row: rises everywhere, and is never 0 or 1",
    _fit_strict,
    _apply_strict,
    single=("rows",),
    many=("x", "values"),
    **_TRAITS,
)


# Venn-Abers prediction: what isotonic regression would say if the row itself were one of either class.


def _fit_venn_abers(cells: Cells) -> Parameters:
    c = cells.pooled()
    low = 1 - _with_one_more(c.neg[::-1], c.pos[::-1], c.row)[::-1]
    high = _with_one_more(c.pos, c.neg, c.row)
    return {"scores": c.points.score.tolist(), "low": low.tolist(), "high": high.tolist()}


def _with_one_more(up: Floats, down: Floats, row: float) -> Floats:
    """For each cell the isotonic fit there, once it has one more row of the class that goes up.

    That fit is the slope of the greatest convex curve below the cumulative sums. One more row in a cell
    shifts all sums left of it by (-row, -row): the slope is that of the line below both convex chains, of
    the shifted sums and of the others, that touches both (Vovk, Petej and Fedorova 2015).
    """
    x = np.concatenate(([0.0], (up + down).cumsum())).tolist()
    y = np.concatenate(([0.0], up.cumsum())).tolist()
    right, last = list(zip(x, y, strict=True)), len(up)
    left = [(a - row, b - row) for a, b in right]
    before = _chain(left)
    after = [last - i for i in _chain([(-a, b) for a, b in reversed(right)])][::-1]
    slopes = []
    for i in range(last):
        j, moved = i + 1, True
        while moved:
            moved = False
            while i > 0 and not _turns(left[before[i]], left[i], right[j]):
                i, moved = before[i], True
            while j < last and not _turns(left[i], right[j], right[after[j]]):
                j, moved = after[j], True
        slopes.append((right[j][1] - left[i][1]) / (right[j][0] - left[i][0]))
    return np.array(slopes)


def _chain(points: Sequence[tuple[float, float]]) -> list[int]:
    """For each point the one before it on the convex chain below all up to it."""
    before = [0]
    for k in range(1, len(points)):
        i = k - 1
        while i > 0 and not _turns(points[before[i]], points[i], points[k]):
            i = before[i]
        before.append(i)
    return before


def _turns(a: tuple[float, float], b: tuple[float, float], c: tuple[float, float]) -> bool:
    """Whether the way over three points turns upwards at the middle one."""
    return (b[1] - a[1]) * (c[0] - b[0]) < (c[1] - b[1]) * (b[0] - a[0])


def venn_abers_pair(parameters: Mapping[str, Any], score: Any) -> tuple[Any, Any]:
    """The probabilities if the row were negative and if it were positive."""
    low, high = [0.0, *parameters["low"]], [*parameters["high"], 1.0]
    at = parameters["scores"]
    return stepwise(score, at, low, "right"), stepwise(score, at, high, "left")


def _merged(parameters: Mapping[str, Any], points: Points) -> Any:
    p0, p1 = venn_abers_pair(parameters, points.score)
    return p1 / (1 - p0 + p1)


VENN_ABERS = Method(
    "venn_abers",
    "isotonic with the row itself as a negative (p0) and as a positive (p1), merged to "
    "p1 / (1 - p0 + p1) (Vovk, Petej and Fedorova 2015)",
    _fit_venn_abers,
    _merged,
    many=("scores", "low", "high"),
    **_TRAITS,
)


# the simple ones first
METHODS = {
    m.name: m
    for m in (
        *(IDENTITY, TEMPERATURE, PLATT, BETA, QUADRATIC, SPLINE),
        *(ISOTONIC, ISOTONIC_STRICT, HISTOGRAM, VENN_ABERS),
    )
}
