"""What a method of recalibration is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns import Kind
from scorewise.inference.logistic import Fitted, logistic, rising
from scorewise.recalibrating.cells import FEW, Cells, Points
from scorewise.tallies.losses import expit

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
    apply: Callable[[Parameters, Points], Floats]
    single: tuple[str, ...] = ()
    many: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = LOG_ODDS
    least: int = 0
    outside: Literal["extrapolated", "clamped", "left as they are"] = "extrapolated"
    likely: bool = True


def number(parameters: Parameters, name: str) -> float:
    """A parameter that is one number."""
    value = parameters[name]
    assert not isinstance(value, list)
    return value


def numbers(parameters: Parameters, name: str) -> Floats:
    """A parameter that is a list of numbers."""
    import numpy as np

    return np.asarray(parameters[name], np.float64)


# Maps that are straight on the scale of log-odds: identity, temperature and Platt's.


def _nothing(cells: Cells) -> Parameters:
    return {}


def _same(parameters: Parameters, points: Points) -> Floats:
    """Probabilities as they are; logits, whose two scales are one, as probabilities."""
    return expit(points.x) if points.x is points.score else points.score


def _temperature(cells: Cells) -> Parameters:
    return {"slope": float(rising([cells.x], cells.neg, cells.pos, intercept=False)[0])}


def _cooled(parameters: Parameters, points: Points) -> Floats:
    return expit(number(parameters, "slope") * points.x)


def _platt(cells: Cells) -> Parameters:
    intercept, slope = rising([cells.x], cells.neg, cells.pos)
    return {"intercept": float(intercept), "slope": float(slope)}


def _straight(parameters: Parameters, points: Points) -> Floats:
    return expit(number(parameters, "intercept") + number(parameters, "slope") * points.x)


IDENTITY = Method(
    "identity",
    "the scores as they are",
    _nothing,
    _same,
    outside="left as they are",
    likely=False,
)
TEMPERATURE = Method(
    "temperature",
    "all log-odds times one number, 1 / temperature (Guo et al. 2017)",
    _temperature,
    _cooled,
    single=("slope",),
    least=10,
)
PLATT = Method(
    "platt",
    "log-odds times a slope plus an intercept (Platt 1999, without his targets)",
    _platt,
    _straight,
    single=("intercept", "slope"),
    kinds=ANY,
    least=10,
)


# Beta calibration: what is right when the scores of both classes are beta distributed.


def _features_beta(x: Floats) -> list[Floats]:
    """Features log p and -log(1 - p), from the log-odds of p."""
    return [-np.logaddexp(0.0, -x), np.logaddexp(0.0, x)]


def _fit_beta(cells: Cells) -> Parameters:
    c, a, b = rising(_features_beta(cells.x), cells.neg, cells.pos)
    return {"a": float(a), "b": float(b), "c": float(c)}


def _apply_beta(parameters: Parameters, points: Points) -> Floats:
    left, right = _features_beta(points.x)
    a, b, c = (number(parameters, name) for name in "abc")
    return expit(a * left + b * right + c)


BETA = Method(
    "beta",
    "log-odds a log p - b log(1 - p) + c, with a and b not negative (Kull et al. 2017)",
    _fit_beta,
    _apply_beta,
    single=("a", "b", "c"),
    least=50,
)


# A parabola on the log-odds that rises wherever scores were seen.


def _features_quadratic(x: Floats, low: float, high: float) -> list[Floats]:
    """Two parabolas: the slope of one falls from 1 to 0 between `low` and `high`, that of the other rises.

    Outside both go on straight, so that any sum of them with factors from 0 up rises everywhere.
    """
    width = max(high - low, 1e-300)
    inside = np.clip(x, low, high)
    up = (inside - low) ** 2 / (2 * width)
    return [(inside - low) - up + np.minimum(x - low, 0.0), up + np.maximum(x - high, 0.0)]


def _fit_quadratic(cells: Cells) -> Parameters:
    low, high = float(cells.x[0]), float(cells.x[-1])
    intercept, first, last = rising(_features_quadratic(cells.x, low, high), cells.neg, cells.pos)
    named = {"low": low, "high": high, "intercept": intercept, "first": first, "last": last}
    return {name: float(value) for name, value in named.items()}


def _apply_quadratic(parameters: Parameters, points: Points) -> Floats:
    low, high, intercept, first, last = (number(parameters, n) for n in NAMES)
    down, up = _features_quadratic(points.x, low, high)
    return expit(intercept + first * down + last * up)


NAMES = ("low", "high", "intercept", "first", "last")
QUADRATIC = Method(
    "quadratic",
    "a parabola of the log-odds, rising; its slope goes from first to last over the range seen",
    _fit_quadratic,
    _apply_quadratic,
    single=NAMES,
    kinds=ANY,
    least=50,
)


# A natural cubic spline of the log-odds: free in the middle, straight at both ends.


QUANTILES = (0.05, 0.275, 0.5, 0.725, 0.95)  # Harrell's places for five knots
_PENALTIES = 10.0 ** np.arange(-3.0, 8.5, 0.5)
_FINE = 257
NARROW = 1e-100  # between the outer knots, below which cubes vanish


def _features_spline(x: Floats, knots: Floats) -> list[Any]:
    """The score, and for each inner knot a curve that is straight beyond the outer knots."""
    return [x, *(_arch(x, knots, j) - _arch(x, knots, len(knots) - 2) for j in _inner(knots))]


def _inner(knots: Floats) -> range:
    return range(len(knots) - 2)


def _arch(x: Floats, knots: Floats, j: int) -> Any:
    last, width = knots[-1], knots[-1] - knots[0]
    cubes = (np.maximum(x - k, 0.0) ** 3 for k in (knots[j], last))
    return (next(cubes) - next(cubes)) / ((last - knots[j]) * width)


def _roughness(knots: Floats) -> Floats:
    """Integrals of products of second derivatives, which are straight between knots: two-point Gauss."""
    half, middle = np.diff(knots) / 2, (knots[1:] + knots[:-1]) / 2
    at = np.concatenate([middle - half / np.sqrt(3), middle + half / np.sqrt(3)])
    width = knots[-1] - knots[0]

    def bend(j: int) -> Any:
        return 6 * np.maximum(at - knots[j], 0.0) / ((knots[-1] - knots[j]) * width)

    bends = [np.zeros(len(at)), *(bend(j) - bend(len(knots) - 2) for j in _inner(knots))]
    weights = np.concatenate([half, half])
    inside = np.array([[float((weights * a * b).sum()) for b in bends] for a in bends])
    whole = np.zeros((len(bends) + 1, len(bends) + 1))
    whole[1:, 1:] = inside
    return whole


def _knots(cells: Cells) -> Floats:
    share = (cells.mass.cumsum() - cells.mass / 2) / cells.mass.sum()
    return np.unique(np.interp(QUANTILES, share, cells.x))


def _fit_spline(cells: Cells) -> Parameters:
    """The penalty of the least AIC among those with which the curve rises everywhere."""
    knots = _knots(cells)
    if len(knots) < 3 or knots[-1] - knots[0] < max(1e-9 * np.abs(knots).max(), NARROW):
        return _straight_spline(cells)
    few, rough = cells.pooled(FEW), _roughness(knots)
    features = [np.ones(1), *_features_spline(few.x, knots)]
    best: tuple[float, float, Floats] | None = None
    coef = None
    for penalty in _PENALTIES[::-1] * few.row:
        fit = logistic(features, few.neg, few.pos, penalty=penalty * rough, start=coef)
        coef = fit.coef
        if not fit.converged or not _rises(coef, knots):
            break
        value = _criterion(fit, penalty * rough, few.row)
        if best is None or value < best[0]:
            best = value, penalty, coef
    if best is None:
        return _straight_spline(cells)
    coef = best[2]
    if few is not cells:
        whole = [np.ones(1), *_features_spline(cells.x, knots)]
        coef = logistic(whole, cells.neg, cells.pos, penalty=best[1] * rough, start=coef).coef
        if not _rises(coef, knots):
            coef = best[2]
    return {
        "knots": knots.tolist(),
        "intercept": float(coef[0]),
        "coefficients": coef[1:].tolist(),
    }


def _criterion(fit: Fitted, penalty: Floats, row: float) -> float:
    """AIC: twice the loss in rows, plus twice the effective number of coefficients."""
    likelihood = fit.loss - float(fit.coef @ penalty @ fit.coef) / 2
    share = np.linalg.lstsq(fit.curvature, fit.curvature - penalty, rcond=None)[0]
    return 2 * likelihood / row + 2 * float(np.trace(share))


def _rises(coef: Floats, knots: Floats) -> bool:
    """Whether the curve never falls; beyond the outer knots it is straight."""
    margin = (knots[-1] - knots[0]) / 100
    x = np.linspace(knots[0] - margin, knots[-1] + margin, _FINE)
    curve = sum(c * f for c, f in zip(coef[1:], _features_spline(x, knots), strict=True))
    return bool((np.diff(curve) >= 0).all())


def _straight_spline(cells: Cells) -> Parameters:
    """Platt's map, where there are too few scores to bend, or where nothing else would rise."""
    intercept, slope = rising([cells.x], cells.neg, cells.pos)
    return {"knots": [], "intercept": float(intercept), "coefficients": [float(slope)]}


def _apply_spline(parameters: Parameters, points: Points) -> Floats:
    knots, coef = numbers(parameters, "knots"), numbers(parameters, "coefficients")
    features = _features_spline(points.x, knots) if len(knots) else [points.x]
    at = sum((c * f for c, f in zip(coef, features, strict=True)), number(parameters, "intercept"))
    return expit(np.asarray(at))


SPLINE = Method(
    "spline",
    "a natural cubic spline of the log-odds with five knots, bent as far as AIC likes and it still rises",
    _fit_spline,
    _apply_spline,
    single=("intercept",),
    many=("knots", "coefficients"),
    kinds=ANY,
    least=100,
)
