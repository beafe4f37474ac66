"""Scores as the methods see them: as they came, and on the scale on which logistic models are linear."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.columns import Kind
from scorewise.errors import BadInput
from scorewise.tallies import Tally
from scorewise.tallies.sorting import inner

LARGEST = 1e100  # the cube of a score must be a float


class Points(NamedTuple):
    """Scores as they came, and as log-odds; scores of any scale are standardised instead."""

    score: Floats
    x: Floats


@dataclass(frozen=True)
class Scale:
    """How scores are put on the scale of log-odds.

    Probabilities are kept `clip` away from 0 and 1, logits stay as they are, and scores of any scale
    become (score - centre) / unit.

    >>> Scale("probability", 1e-7).points(np.array([0.0, 0.5])).x.round(3)
    array([-16.118,   0.   ])
    """

    kind: Kind
    clip: float
    centre: float = 0.0
    unit: float = 1.0

    @classmethod
    def of(cls, t: Tally, clip: float) -> Scale:
        """The scale that suits a tally: mean and standard deviation, for scores of any scale."""
        if t.kind == "probability":
            return cls(t.kind, clip)
        reach = float(max(map(abs, t.ends)))
        if reach > LARGEST:
            raise BadInput(
                f"{t.origin.score or 'score'} reaches {reach:.3g}, beyond the {LARGEST:g} that maps are "
                f"fitted to; divide all scores by the same number"
            )
        if t.kind == "logit":
            return cls(t.kind, clip)
        weight = (t.neg + t.pos) / (t.negatives + t.positives)
        # in a unit near 1, so that squares do not vanish
        unit = float(np.ldexp(1.0, int(np.frexp(reach)[1]) - 1)) if reach else 1.0
        score = t.score.astype(np.float64) / unit
        middle = float(score[len(score) // 2])  # taken off first, so that squares keep their digits
        centre = middle + inner(weight, score - middle)
        spread = float(np.sqrt(inner(weight, (score - centre) ** 2))) * unit
        return cls(t.kind, clip, centre * unit, spread or 1.0)

    def points(self, score: NDArray[np.floating]) -> Points:
        """Scores on both scales."""
        s = score.astype(np.float64)
        if self.kind == "logit":
            return Points(s, s)
        if self.kind == "score":
            return Points(s, (s - self.centre) / self.unit)
        p = np.clip(s, self.clip, 1 - self.clip)
        return Points(s, np.log(p) - np.log1p(-p))
