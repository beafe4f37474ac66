"""Which map, if any, is shown to help: candidates judged on rows that they have not seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

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
from scorewise.recalibrating.scale import Floats, Scale
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

    Of the candidates, the one with the least cross-fitted log loss is chosen, if the paired interval of
    what it saves lies above 0; else identity is kept.
    """
    dealt = deal(t, Scale.of(t, clip), folds, seed)
    auto = method == "auto"
    names = list(candidates(t)) if auto else [method]
    if t.kind != "score" and "identity" not in names:
        names.insert(0, "identity")
    table = tuple(_judge(name, dealt, clip, level) for name in names)
    if not auto:
        return Choice(method, "asked for", table)
    best = min(table, key=lambda row: row.log_loss.value)
    return Choice(*_verdict(best, table), table)


def _verdict(best: Judged, table: Sequence[Judged]) -> tuple[str, str]:
    if best.gain.why:
        return best.method, "least log loss of all that take scores of any scale"
    if len(table) == 1:
        return "identity", "too few rows of the smaller class to try anything else"
    if best.method == "identity":
        return "identity", "nothing else has a lower log loss on rows not seen"
    if not best.gain.low > 0:
        return "identity", f"{best.method} saves log loss, but it is not shown to help"
    return best.method, "shown to help: least log loss on rows not seen"


def _judge(name: str, dealt: Folds, clip: float, level: float) -> Judged:
    t = dealt.tally
    p = before(dealt, t.kind) if name == "identity" else out_of_fold(name, dealt)
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
