"""Maps of several classes on rows that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats, Ints
from scorewise.estimate import Estimate
from scorewise.recalibrating.choosing import paired, verdict
from scorewise.recalibrating.classes.maps import Table
from scorewise.recalibrating.classes.methods import CLASS_METHODS, ClassMethod, mapped
from scorewise.tallies.losses import class_charges

MOST = 10_000  # rows on which methods are compared
MANY = 30  # classes beyond which strengths are compared on one fold
ROUGH = 1e-3  # how exact maps need to be to be compared: loss is flat where it is least


class Tried(NamedTuple):
    """A method at its best strength, and the probabilities that it gives to rows not seen."""

    method: str
    strength: float
    p: Floats


def deal(t: Table, folds: int, seed: int) -> tuple[Table, Ints]:
    """The rows to compare on and the fold of each: dealt out at random, class by class.

    The rows are sorted by what is in them, so their order in the input does not matter. Beyond 10,000,
    as many are drawn.
    """
    rng = np.random.default_rng(seed)
    if len(t) > MOST:
        t = t.at(np.sort(rng.permutation(len(t))[:MOST]))
    by_class = np.argsort(t.y, kind="stable")
    shuffled = by_class[np.lexsort((rng.random(len(t)), t.y[by_class]))]
    fold = np.empty(len(t), np.int64)
    fold[shuffled] = np.arange(len(t)) % folds
    return t, fold


def candidates(t: Table) -> list[str]:
    """The methods that suit the number of rows."""
    return [m.name for m in CLASS_METHODS.values() if len(t) >= m.least(t.many)]


def tried(method: str, t: Table, fold: Ints, clip: float) -> Tried:
    """The method at the strength, strong ones first, after which a weaker one is no better.

    The strength is chosen on all folds; with many classes, whose matrix takes long, on the first alone.
    """
    m = CLASS_METHODS[method]
    if not m.names:
        return Tried(method, m.strengths[0], t.p)
    folds = range(int(fold.max()) + 1)
    looked = folds if t.many <= MANY else folds[:1]
    starts: dict[int, Any] = dict.fromkeys(looked)
    judged = np.isin(fold, looked)
    best, least = None, np.inf
    for strength in m.strengths:
        p = np.empty_like(t.p)
        for k in looked:
            p[fold == k], starts[k] = _unseen(m, t, fold == k, strength, starts[k])
        seen = t.at(judged)
        loss = float((seen.w * row_losses(p[judged], seen, clip)).sum())
        if loss >= least:
            break
        best, least, near = Tried(method, strength, p), loss, starts[0]
    assert best is not None
    for k in folds[len(looked) :]:
        best.p[fold == k], near = _unseen(m, t, fold == k, best.strength, near)
    return best


def _unseen(
    m: ClassMethod, t: Table, left_out: NDArray[np.bool_], strength: float, start: Any
) -> tuple[Floats, Any]:
    """The probabilities of rows by the map of all others, and the vector it comes from."""
    parameters, found = m.fit(t.at(~left_out), strength, start, exact=ROUGH)
    return mapped(parameters, t.x[left_out]), found


def row_losses(p: Floats, t: Table, clip: float) -> Floats:
    """The log loss of each row, probabilities kept `clip` from 0 and 1."""
    return -np.log(np.clip(p[np.arange(len(t)), t.y], clip, 1 - clip))


# Which map of several classes, if any, is shown to help.


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
