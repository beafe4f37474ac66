"""The methods of recalibration of several classes, the simple ones first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from scorewise.arrays import Floats
from scorewise.recalibrating.classes.linear import Linear, Parts
from scorewise.recalibrating.classes.newton import TOLERANCE, likeliest
from scorewise.recalibrating.classes.table import Table, row_sums

ClassParameters: TypeAlias = dict[str, Any]
STRENGTHS = (1000.0, 100.0, 10.0, 1.0)


@dataclass(frozen=True)
class ClassMethod:
    """A family of maps: its free parts at a strength, and the strengths to choose from.

    `names` are its parameters; `least` gives how many rows it wants for K classes before `auto` tries it.
    """

    name: str
    meaning: str
    parts: Callable[[float, int], Parts]
    names: tuple[str, ...] = ()
    strengths: tuple[float, ...] = (1.0,)
    least: Callable[[int], int] = lambda k: 0

    def fit(
        self, t: Table, strength: float, start: Any = None, exact: float = TOLERANCE
    ) -> tuple[ClassParameters, Any]:
        """The parameters, and the vector they come from, from which a further fit may start."""
        if not self.names:
            return {}, None
        model = Linear(self.parts(strength, t.many), t.x, t.seen, t.row)
        theta, _ = likeliest(model, t.y, t.w, start=start, exact=exact)
        slope, slopes, mixing, intercepts = model.split(theta)
        weights = np.diag(1 + slope + slopes) + mixing
        made: ClassParameters = {
            "slope": max(1 + slope, 0.0),  # no map turns the classes round
            "slopes": np.diag(weights).tolist(),
            "intercepts": intercepts.tolist(),
            "weights": weights.tolist(),
        }
        return {name: made[name] for name in self.names}, theta


def mapped(parameters: ClassParameters, x: Floats) -> Floats:
    """The probabilities of log probabilities; each row by itself, to the last bit."""
    if "weights" in parameters:
        z = np.broadcast_to(np.asarray(parameters["intercepts"]), x.shape).copy()
        for column, weights in zip(x.T, np.asarray(parameters["weights"]).T, strict=True):
            z += column[:, None] * weights
    elif "slopes" in parameters:
        z = x * np.asarray(parameters["slopes"]) + np.asarray(parameters["intercepts"])
    else:
        z = x * parameters["slope"]
    e = np.exp(z - z.max(1, keepdims=True))
    made: Floats = e / row_sums(e)[:, None]
    return made


IDENTITY = ClassMethod("identity", "the probabilities as they are", lambda s, k: Parts())
TEMPERATURE = ClassMethod(
    "temperature",
    "all log probabilities times one number, 1 / temperature (Guo et al. 2017)",
    lambda s, k: Parts(slope=s),
    names=("slope",),
    least=lambda k: 20,
)
VECTOR = ClassMethod(
    "vector",
    "a slope and an intercept for each class (vector scaling, Guo et al. 2017)",
    lambda s, k: Parts(slopes=s, intercepts=s),
    names=("slopes", "intercepts"),
    least=lambda k: 20 * k,
)
STRUCTURED = ClassMethod(
    "structured",
    "one slope, and slopes, intercepts and a matrix that are drawn towards it",
    lambda s, k: Parts(slope=1.0, slopes=s, mixing=s * k, intercepts=s),
    names=("weights", "intercepts"),
    strengths=STRENGTHS,
    least=lambda k: 20 * k,
)
DIRICHLET = ClassMethod(
    "dirichlet",
    "a matrix times log probabilities plus intercepts (Kull et al. 2019)",
    lambda s, k: Parts(slopes=1.0, mixing=s * k, intercepts=s),
    names=("weights", "intercepts"),
    strengths=STRENGTHS,
    least=lambda k: 20 * k,
)
CLASS_METHODS = {m.name: m for m in (IDENTITY, TEMPERATURE, VECTOR, STRUCTURED, DIRICHLET)}
