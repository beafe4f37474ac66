"""Maps judged on rows that they have not seen: cross-fitting by cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.columns import Kind
from scorewise.estimate import Estimate
from scorewise.inference.paired import dealt as deal_cells
from scorewise.inference.paired import others
from scorewise.inference.scales import effective
from scorewise.recalibrating.cells import FEW, Cells
from scorewise.recalibrating.mapping import fitted
from scorewise.recalibrating.methods import METHODS
from scorewise.recalibrating.scale import Points, Scale
from scorewise.recalibrating.verdict import paired
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.sorting import add_runs, runs, sum_cells


@dataclass(frozen=True)
class Folds:
    """Cells dealt out to folds: the weights of both classes and their squares, fold by cell."""

    cells: Cells
    neg: Floats
    pos: Floats
    neg2: Floats
    pos2: Floats
    tally: Tally

    @property
    def rows(self) -> Floats:
        """Weights of all rows: those of negatives, then of positives, fold after fold."""
        return np.concatenate((self.neg.ravel(), self.pos.ravel()))

    @property
    def squares(self) -> Floats:
        """The sums of their squares."""
        return np.concatenate((self.neg2.ravel(), self.pos2.ravel()))

    @property
    def fold(self) -> NDArray[np.int64]:
        """The folds of all rows, in that order."""
        folds, cells = self.neg.shape
        return np.tile(np.repeat(np.arange(folds), cells), 2)


def deal(t: Tally, scale: Scale, folds: int, seed: int) -> Folds:
    """Each row to one of the folds at random.

    Beyond 8,192 distinct scores neighbours are pooled first.
    """
    rng = np.random.default_rng(seed)
    full = Cells.of(t, scale)
    start = runs(full.mass, FEW)
    cells = full.pooled(FEW)
    columns: list[Floats] = []
    for weight, square in ((t.neg, t.neg2), (t.pos, t.pos2)):
        w, w2 = (add_runs(c.astype(float), start) for c in (weight, square))
        columns += deal_cells(w, w2, folds, rng)
    neg, neg2, pos, pos2 = columns
    return Folds(cells, neg, pos, neg2, pos2, t)


def out_of_fold(method: str, dealt: Folds) -> Floats:
    """The probability of each cell in each fold, by the map that was fitted to all other folds."""
    m, cells = METHODS[method], dealt.cells
    neg, pos = others(dealt.neg), others(dealt.pos)
    made = []
    for k in range(len(neg)):
        parameters, _ = fitted(m, replace(cells, neg=neg[k], pos=pos[k]))
        made.append(m.apply(parameters, cells.points))
    return np.stack(made)


def scored(p: Floats, dealt: Folds) -> Tally:
    """The rows with those probabilities as a tally, to be judged like any other."""
    columns = np.stack([w.ravel() for w in (dealt.neg, dealt.pos, dealt.neg2, dealt.pos2)])
    used = columns[:2].sum(0) > 0
    score, (neg, pos, neg2, pos2) = sum_cells(p.ravel()[used], columns[:, used])
    if not dealt.tally.weighted:
        neg, pos = (np.rint(w).astype(np.int64) for w in (neg, pos))
        neg2, pos2 = neg, pos
    kind: Kind = "probability"
    return replace(
        dealt.tally, score=score, neg=neg, pos=pos, neg2=neg2, pos2=pos2, kind=kind, coarse=None
    )


def losses(p: Floats, clip: float) -> Floats:
    """The log loss of each row: of negatives, then of positives, fold after fold."""
    kept = np.clip(p, clip, 1 - clip)
    return np.concatenate((-np.log1p(-kept).ravel(), -np.log(kept).ravel()))


def difference(first: Floats, second: Floats, dealt: Folds, level: float) -> Estimate:
    """Mean loss of the first less that of the second, row by row, with its t interval."""
    return paired(first - second, dealt.rows, dealt.squares, level)


def before(dealt: Folds, kind: Kind) -> Any:
    """The probabilities that the scores stand for, the same in each fold."""
    points: Points = dealt.cells.points
    return np.broadcast_to(unit(points.score, kind), dealt.neg.shape)


def candidates(t: Tally) -> Sequence[str]:
    """The methods that suit the kind of score and the number of rows of the smaller class."""
    sides = zip((t.negatives, t.positives), t.squares, strict=True)
    rows = min(effective(w, w2) for w, w2 in sides)
    fit = [m.name for m in METHODS.values() if t.kind in m.kinds and rows >= m.least]
    # isotonic says 0 and 1, and its variant says the same otherwise
    return [name for name in fit if name != "isotonic"] or ["platt"]
