"""Maps judged on rows that they have not seen: cross-fitting by cells."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtrit

from scorewise.arrays import Floats, Ints
from scorewise.columns import Kind
from scorewise.estimate import Estimate
from scorewise.inference.resampling import dealt as deal_cells
from scorewise.inference.resampling import others
from scorewise.inference.scales import effective, one_row
from scorewise.measures import brier, calibration_intercept, calibration_slope, log_loss
from scorewise.recalibrating.cells import FEW, Cells, Points, Scale
from scorewise.recalibrating.mapping import fitted
from scorewise.recalibrating.methods import METHODS
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


# Which of the maps that were tried is taken, if any: shown to help, and no rougher than need be.


SURE = 0.99  # level at which what a map saves has to be above 0
LIKELIER = 1000.0  # or how many times likelier the rows have to be with it
NEAR = 0.25  # standard errors within which a simpler map is as good


def paired(gap: Floats, w: Floats, w2: Floats, level: float) -> Estimate:
    """The mean of differences, row by row, with its t interval."""
    mean, error, n = _mean(gap, w, w2)
    if one_row(n):
        return Estimate(mean, level=level, method="none: a single row", baseline=0.0)
    if error <= 1e-13:
        return Estimate(mean, mean, mean, level, "none: no row differs", "", 0.0, 0.0)
    half = float(stdtrit(n - 1, 0.5 + level / 2)) * error
    return Estimate(mean, mean - half, mean + half, level, "t, paired", "", 0.0, 0.0)


def verdict(
    losses: Mapping[str, Floats], w: Floats, w2: Floats, fold: Ints, level: float
) -> tuple[str, str]:
    """The name of the map to take, and why; `losses` has the loss of each row, simple maps first.

    The best is the one with the least mean loss, or the first that is worse by no more than a quarter
    of the standard error of their paired difference. It is taken if what it saves against identity is
    above 0 at a level of 0.99, or if it is above its standard error and the rows are 1,000 times
    likelier with it (see `evidence`); both are stricter at a level beyond 0.99.
    """
    if len(losses) == 1:
        return "identity", "too few rows to try anything else"
    least = min(losses, key=lambda name: _mean(losses[name], w, w2)[0])
    if least == "identity":
        return "identity", "nothing else has a lower log loss on rows not seen"
    best = next(n for n in losses if n != "identity" and _near(losses[n] - losses[least], w, w2))
    gap, sure = losses["identity"] - losses[best], max(level, SURE)
    if not (paired(gap, w, w2, sure).low > 0 or _likelier(gap, w, w2, fold, level)):
        said = f"{best} saves log loss, but is not shown to help"
        return "identity", f"{said} (its {100 * sure:g}% interval reaches 0)"
    how = "" if paired(gap, w, w2, sure).low > 0 else ", by the likelihood of the rows"
    if best != least:
        return best, f"shown to help{how}: as good as {least} on rows not seen, and simpler"
    return best, f"shown to help{how}: least log loss on rows not seen"


def evidence(gap: Floats, w: Floats, w2: Floats, fold: Ints) -> float:
    """Log of how many times likelier the rows of a fold are with a map fitted to the others, mean of all.

    If the scores are calibrated and rows are split without regard to labels, chance makes it log(1000) or
    more in at most one of 1,000 samples (Wasserman, Ramdas and Balakrishnan 2020), however few rows there
    are and however skewed their losses. Here folds are dealt class by class and one of several maps is
    chosen, so that this is a guide and no guarantee.
    """
    rows = w * (w.sum() / w2.sum())  # weights as if they were rows
    each = np.bincount(fold, rows * gap)
    return float(np.logaddexp.reduce(each) - math.log(len(each)))


def _likelier(gap: Floats, w: Floats, w2: Floats, fold: Ints, level: float) -> bool:
    mean, error, _ = _mean(gap, w, w2)
    enough = math.log(max(LIKELIER, 1 / (1 - level)))
    return mean > error and evidence(gap, w, w2, fold) >= enough


def _near(gap: Floats, w: Floats, w2: Floats) -> bool:
    mean, error, _ = _mean(gap, w, w2)
    return mean <= NEAR * error + 1e-15


def _mean(gap: Floats, w: Floats, w2: Floats) -> tuple[float, float, float]:
    """The mean, its standard error and how many rows it is worth."""
    total = float(w.sum())
    n = effective(total, float(w2.sum()))
    mean = float((w * gap).sum() / total)
    if one_row(n):
        return mean, math.inf, n
    variance = float((w2 * (gap - mean) ** 2).sum() / total**2) * n / (n - 1)
    return mean, float(np.sqrt(variance)), n


# Which map, if any, is shown to help: candidates judged on rows that they have not seen.


@dataclass(frozen=True)
class Judged:
    """A method on rows that it was not fitted to; `gain` is the log loss it saves against identity."""

    method: str
    log_loss: Estimate
    brier: Estimate
    gain: Estimate
    in_the_large: Estimate
    slope: Estimate


@dataclass(frozen=True)
class Choice:
    """The method chosen, why, and all that were tried."""

    chosen: str
    reason: str
    table: tuple[Judged, ...]


def choose(t: Tally, method: str, *, folds: int, seed: int, clip: float, level: float) -> Choice:
    """Judge the candidates, or the method that was named, beside identity.

    Of the candidates, one is chosen by its cross-fitted log loss if it is shown to help, see `verdict`;
    else identity is kept.
    """
    dealt = deal(t, Scale.of(t, clip), folds, seed)
    auto = method == "auto"
    names = list(candidates(t)) if auto else [method]
    if t.kind != "score" and "identity" not in names:
        names.insert(0, "identity")
    found = {name: _found(name, dealt) for name in names}
    table = tuple(_judge(name, p, dealt, clip, level) for name, p in found.items())
    if not auto:
        return Choice(method, "asked for", table)
    charged = {name: losses(p, clip) for name, p in found.items()}
    if t.kind == "score":
        best = min(table, key=lambda row: row.log_loss.value)
        return Choice(best.method, "least log loss of all that take scores of any scale", table)
    return Choice(*verdict(charged, dealt.rows, dealt.squares, dealt.fold, level), table)


def _found(name: str, dealt: Folds) -> Floats:
    """What a method says of rows that it has not seen."""
    found: Floats = (
        before(dealt, dealt.tally.kind) if name == "identity" else out_of_fold(name, dealt)
    )
    return found


def _judge(name: str, p: Floats, dealt: Folds, clip: float, level: float) -> Judged:
    made = scored(p, dealt)
    return Judged(
        name,
        log_loss(made, clip=clip, level=level),
        brier(made, level=level),
        _gain(p, dealt, clip, level),
        calibration_intercept(made, clip=clip, level=level),
        calibration_slope(made, clip=clip, level=level),
    )


def _gain(p: Floats, dealt: Folds, clip: float, level: float) -> Estimate:
    kind = dealt.tally.kind
    if kind == "score":
        return Estimate.undefined("scores of any scale have no log loss of their own", level)
    first, second = losses(before(dealt, kind), clip), losses(p, clip)
    return difference(first, second, dealt, level)
