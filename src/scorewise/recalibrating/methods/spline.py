"""A natural cubic spline of the log-odds: free in the middle, straight at both ends."""

from __future__ import annotations

from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.inference.logistic import Fitted, logistic, rising
from scorewise.recalibrating.cells import FEW, Cells
from scorewise.recalibrating.methods.method import ANY, Method, Parameters, number, numbers
from scorewise.recalibrating.scale import Points
from scorewise.tallies.losses import expit

QUANTILES = (0.05, 0.275, 0.5, 0.725, 0.95)  # Harrell's places for five knots
_PENALTIES = 10.0 ** np.arange(-3.0, 8.5, 0.5)
_FINE = 257
NARROW = 1e-100  # between the outer knots, below which cubes vanish


def _features(x: Floats, knots: Floats) -> list[Any]:
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


def _fit(cells: Cells) -> Parameters:
    """The penalty of the least AIC among those with which the curve rises everywhere."""
    knots = _knots(cells)
    if len(knots) < 3 or knots[-1] - knots[0] < max(1e-9 * np.abs(knots).max(), NARROW):
        return _straight(cells)
    few, rough = cells.pooled(FEW), _roughness(knots)
    features = [np.ones(1), *_features(few.x, knots)]
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
        return _straight(cells)
    coef = best[2]
    if few is not cells:
        whole = [np.ones(1), *_features(cells.x, knots)]
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
    curve = sum(c * f for c, f in zip(coef[1:], _features(x, knots), strict=True))
    return bool((np.diff(curve) >= 0).all())


def _straight(cells: Cells) -> Parameters:
    """Platt's map, where there are too few scores to bend, or where nothing else would rise."""
    intercept, slope = rising([cells.x], cells.neg, cells.pos)
    return {"knots": [], "intercept": float(intercept), "coefficients": [float(slope)]}


def _apply(parameters: Parameters, points: Points) -> Floats:
    knots, coef = numbers(parameters, "knots"), numbers(parameters, "coefficients")
    features = _features(points.x, knots) if len(knots) else [points.x]
    at = sum((c * f for c, f in zip(coef, features, strict=True)), number(parameters, "intercept"))
    return expit(np.asarray(at))


SPLINE = Method(
    "spline",
    "a natural cubic spline of the log-odds with five knots, bent as far as AIC likes and it still rises",
    _fit,
    _apply,
    single=("intercept",),
    many=("knots", "coefficients"),
    kinds=ANY,
    least=100,
)
