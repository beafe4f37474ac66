"""One fitted map from scores to probabilities: plain numbers, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias, TypeVar

import numpy as np
from msgspec import Meta
from numpy.typing import NDArray

from scorewise import __version__
from scorewise.arrays import Floats
from scorewise.columns import Kind
from scorewise.recalibrating.cells import Cells, Scale
from scorewise.recalibrating.methods import METHODS, Method, Parameters
from scorewise.show.document import Count, Word, says, to_dict
from scorewise.tallies import Tally
from scorewise.writing import seal

Clip: TypeAlias = Annotated[float, Meta(gt=0, lt=0.5)]
Seal: TypeAlias = Annotated[str, Meta(min_length=64), says("Fingerprint of all the above.")]
Sealed = TypeVar("Sealed")


def sealed(record: Sealed) -> Sealed:
    """The same record with the fingerprint of all its other fields."""
    return replace(record, sha256=seal(to_dict(record)))  # type: ignore[type-var]


@dataclass(frozen=True, kw_only=True)
class Map:
    """The map: all that is needed to apply it."""

    version: Annotated[str, says("Version of scorewise that fitted it.")] = __version__
    method: Annotated[Word, says("Name of the method.")]
    kind: Annotated[Kind, says("What the scores are.")]
    clip: Annotated[
        Clip, says("Probabilities are kept this far from 0 and 1 on the way to log-odds.")
    ]
    centre: Annotated[float, says("Taken off scores of any scale.")]
    unit: Annotated[float, says("Then they are divided by this.")]
    low: Annotated[float, says("The lowest score seen.")]
    high: Annotated[float, says("The highest score seen.")]
    rows: Annotated[Count, says("Rows that it was fitted to.")]
    positives: Annotated[Count, says("Positives among them.")]
    smoothed: Annotated[
        bool, says("Whether labels were smoothed because a threshold tells them apart.")
    ]
    parameters: Annotated[
        Parameters, says("The parameters of the method by name, numbers or lists of numbers.")
    ]
    sha256: Seal = ""

    @classmethod
    def fit(cls, method: str, t: Tally, clip: float) -> Map:
        """The map of that method, fitted to a tally."""
        scale = Scale.of(t, clip)
        parameters, smoothed = fitted(METHODS[method], Cells.of(t, scale))
        low, high = t.ends
        return cls(
            method=method,
            **vars(scale),
            low=low,
            high=high,
            rows=t.origin.rows,
            positives=t.origin.positives,
            smoothed=smoothed,
            parameters=parameters,
        )

    @property
    def scale(self) -> Scale:
        """How scores are put on the scale of log-odds."""
        return Scale(self.kind, self.clip, self.centre, self.unit)

    @property
    def sound(self) -> bool:
        """Whether the parameters, once read, are those of the method."""
        m = METHODS[self.method]
        lists = {name for name, x in self.parameters.items() if isinstance(x, list)}
        singles = set(self.parameters) - lists
        return (singles, lists) == (set(m.single), set(m.many)) and self.kind in m.kinds

    def __call__(self, score: NDArray[np.floating]) -> Floats:
        """The probabilities of scores."""
        return METHODS[self.method].apply(self.parameters, self.scale.points(score))

    def outside(self, score: NDArray[np.floating]) -> int:
        """How many scores lie beyond those that the map was fitted to."""
        return int(np.count_nonzero((score < self.low) | (score > self.high)))

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON values, with a seal."""
        values: dict[str, Any] = to_dict(sealed(self))
        return values


def fitted(method: Method, cells: Cells) -> tuple[Parameters, bool]:
    """The parameters, and whether the labels were smoothed because a threshold tells them apart."""
    smooth = method.likely and cells.separable
    used = cells.kept()
    return method.fit(used.smoothed() if smooth else used), smooth
