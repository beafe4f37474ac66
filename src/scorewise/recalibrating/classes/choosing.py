"""Which map of several classes, if any, is shown to help."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.recalibrating.classes.crossfit import Tried, candidates, deal, row_losses, tried
from scorewise.recalibrating.classes.methods import CLASS_METHODS
from scorewise.recalibrating.classes.table import Table
from scorewise.recalibrating.verdict import paired, verdict
from scorewise.tallies.losses import class_charges


@dataclass(frozen=True)
class ClassJudged:
    """A method on rows that it was not fitted to; `gain` is the log loss it saves against identity."""

    method: str
    strength: float
    log_loss: Estimate
    brier: Estimate
    accuracy: Estimate
    gain: Estimate


@dataclass(frozen=True)
class ClassChoice:
    """The method chosen with its strength, why, all that were tried, and on how many rows."""

    chosen: str
    strength: float
    reason: str
    table: tuple[ClassJudged, ...]
    compared: int


def choose_classes(
    t: Table, method: str, *, folds: int, seed: int, clip: float, level: float
) -> ClassChoice:
    """Judge the candidates, or the method that was named, beside identity; see `verdict`."""
    auto = method == "auto"
    compared, fold = deal(t, folds, seed)
    names = candidates(t) if auto else list(dict.fromkeys(("identity", method)))
    found = [tried(name, compared, fold, clip) for name in names]
    losses = {one.method: row_losses(one.p, compared, clip) for one in found}
    w, w2 = compared.w, compared.w**2
    chosen, reason = verdict(losses, w, w2, fold, level) if auto else (method, "asked for")
    table = tuple(_judge(one, losses, compared, level) for one in found)
    strength = next(row.strength for row in table if row.method == chosen)
    return ClassChoice(chosen, strength, reason, table, len(compared))


def fixed(method: str) -> bool:
    """Whether a method has no strength to choose."""
    return method != "auto" and len(CLASS_METHODS[method].strengths) == 1


def _judge(one: Tried, losses: dict[str, Floats], t: Table, level: float) -> ClassJudged:
    w, w2 = t.w, t.w**2
    loss = losses[one.method]
    right = (one.p.argmax(1) == t.y).astype(float)

    def mean(values: Floats) -> Estimate:
        return replace(paired(values, w, w2, level), baseline=None)

    return ClassJudged(
        one.method,
        one.strength,
        mean(loss),
        mean(class_charges(t.y, one.p, -loss, "brier")),
        mean(right),
        paired(losses["identity"] - loss, w, w2, level),
    )
