"""Maps that are straight on the scale of log-odds: identity, temperature and Platt's."""

from __future__ import annotations

from scorewise.arrays import Floats
from scorewise.inference.logistic import rising
from scorewise.recalibrating.cells import Cells
from scorewise.recalibrating.methods.method import ANY, Method, Parameters, number
from scorewise.recalibrating.scale import Points
from scorewise.tallies.losses import expit


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
