"""One fitted map from scores to probabilities: plain numbers, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise import __version__
from scorewise.arrays import Floats
from scorewise.recalibrating.cells import Cells, Scale
from scorewise.recalibrating.methods import METHODS, Method, Parameters
from scorewise.tallies import Tally
from scorewise.writing import seal


@dataclass(frozen=True)
class Map:
    """A method with its parameters, the scale of its scores, and the rows it was fitted to."""

    method: str
    parameters: Parameters
    scale: Scale
    low: float
    high: float
    rows: int
    positives: int
    smoothed: bool = False
    version: str = __version__

    @classmethod
    def fit(cls, method: str, t: Tally, clip: float) -> Map:
        """The map of that method, fitted to a tally."""
        scale = Scale.of(t, clip)
        parameters, smoothed = fitted(METHODS[method], Cells.of(t, scale))
        low, high = t.ends
        return cls(
            method, parameters, scale, low, high, t.origin.rows, t.origin.positives, smoothed
        )

    def __call__(self, score: NDArray[np.floating]) -> Floats:
        """The probabilities of scores."""
        return METHODS[self.method].apply(self.parameters, self.scale.points(score))

    def outside(self, score: NDArray[np.floating]) -> int:
        """How many scores lie beyond those that the map was fitted to."""
        return int(np.count_nonzero((score < self.low) | (score > self.high)))

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON values, with a seal."""
        s = self.scale
        doc = {
            "version": self.version,
            "method": self.method,
            "kind": s.kind,
            "clip": s.clip,
            "centre": s.centre,
            "unit": s.unit,
            "low": self.low,
            "high": self.high,
            "rows": self.rows,
            "positives": self.positives,
            "smoothed": self.smoothed,
            "parameters": self.parameters,
        }
        return {**doc, "sha256": seal(doc)}


def fitted(method: Method, cells: Cells) -> tuple[Parameters, bool]:
    """The parameters, and whether the labels were smoothed because a threshold tells them apart."""
    smooth = method.likely and cells.separable
    used = cells.kept()
    return method.fit(used.smoothed() if smooth else used), smooth
