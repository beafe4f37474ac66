"""One fitted map of several classes: plain numbers, and where they come from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from msgspec import Meta

from scorewise import __version__
from scorewise.arrays import Floats
from scorewise.columns.classes import ClassKind, as_table, named_columns, take_classes
from scorewise.columns.labels import listed
from scorewise.errors import BadInput
from scorewise.recalibrating.classes.maps import (
    TOLERANCE,
    Linear,
    Parts,
    Table,
    likeliest,
    log_probabilities,
    row_sums,
)
from scorewise.recalibrating.mapping import Clip, Seal, sealed
from scorewise.show.document import Count, Word, says, to_dict
from scorewise.tallies.losses import softmax

ClassParameters: TypeAlias = dict[str, float | list[float | list[float]]]


@dataclass(frozen=True, kw_only=True)
class ClassMap:
    """The map of several classes: all that is needed to apply it."""

    version: Annotated[str, says("Version of scorewise that fitted it.")] = __version__
    method: Annotated[Word, says("Name of the method.")]
    kind: Annotated[ClassKind, says("What the scores are.")]
    clip: Annotated[Clip, says("Probabilities are kept this far from 0.")]
    classes: Annotated[
        tuple[str, ...], Meta(min_length=2), says("The classes in the order of the columns.")
    ]
    strength: Annotated[
        float, Meta(ge=0), says("Rows that the pull towards simpler maps is worth.")
    ]
    rows: Annotated[Count, says("Rows that it was fitted to.")]
    absent: Annotated[tuple[str, ...], says("Classes that no row had.")]
    parameters: Annotated[
        ClassParameters,
        says("Parameters by name: a number, a list, or a list of rows of a matrix."),
    ]
    sha256: Seal = ""

    @classmethod
    def fit(
        cls,
        method: str,
        t: Table,
        classes: tuple[str, ...],
        kind: ClassKind,
        clip: float,
        strength: float,
    ) -> ClassMap:
        """The map of that method at a strength."""
        m, start = CLASS_METHODS[method], None
        for s in (s for s in m.strengths if s > strength):
            _, start = m.fit(t, s, start, exact=1e-2)
        parameters, _ = m.fit(t, strength, start)
        absent = tuple(c for c, seen in zip(classes, t.seen, strict=True) if not seen)
        return cls(
            method=method,
            kind=kind,
            clip=clip,
            classes=classes,
            strength=strength,
            rows=len(t),
            absent=absent,
            parameters=parameters,
        )

    def __call__(self, scores: Floats) -> Floats:
        """The probabilities of rows of scores, one column a class."""
        if self.method == "identity":
            return softmax(scores) if self.kind == "logit" else scores.copy()
        return mapped(self.parameters, log_probabilities(scores, self.kind, self.clip))

    def of_table(self, t: Table) -> Floats:
        """The probabilities of rows that were read already."""
        return t.p if self.method == "identity" else mapped(self.parameters, t.x)

    @property
    def sound(self) -> bool:
        """Whether the parameters, once read, are those of the method and of as many classes."""
        k = len(self.classes)
        shapes = {"slope": (), "slopes": (k,), "intercepts": (k,), "weights": (k, k)}
        return set(self.parameters) == set(CLASS_METHODS[self.method].names) and all(
            np.shape(x) == shapes[name] for name, x in self.parameters.items()
        )

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON values, with a seal."""
        values: dict[str, Any] = to_dict(sealed(self))
        return values


# The methods of recalibration of several classes, the simple ones first.


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


# Scores of several classes as a fitted map takes them: the same classes, in its order.


def scores_of(p: Any, m: ClassMap) -> Floats:
    """The scores of the classes of a map, checked; columns that have names are found by them."""
    named = named_columns(p)
    if named is not None:
        if set(named) != set(m.classes):
            raise BadInput(
                f"the columns are {listed(list(named))}, but the map is for the classes "
                f"{listed(list(m.classes))}; pass one column for each"
            )
        first = named[m.classes[0]]
        size, p = len(first) if hasattr(first, "__len__") else 0, named
    else:
        p = as_table(p)
        if p.ndim != 2 or p.shape[1] != len(m.classes):
            raise BadInput(
                f"scores have shape {p.shape}; the map is for {len(m.classes)} classes and needs one row "
                f"of {len(m.classes)} scores each"
            )
        size = len(p)
    labels = np.full(size, m.classes[0])
    return take_classes(labels, p, classes=m.classes, kind=m.kind).scores
