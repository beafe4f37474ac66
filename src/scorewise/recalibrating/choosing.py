"""Which map, if any, is shown to help: candidates judged on rows that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.measures import brier, calibration_intercept, calibration_slope, log_loss
from scorewise.recalibrating.crossfit import (
    Folds,
    before,
    candidates,
    deal,
    difference,
    losses,
    out_of_fold,
    scored,
)
from scorewise.recalibrating.scale import Scale
from scorewise.recalibrating.verdict import verdict
from scorewise.tallies import Tally


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
