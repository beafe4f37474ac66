"""Maps of several classes on rows that they have not seen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from scorewise.recalibrating.classes.methods import CLASS_METHODS, mapped
from scorewise.recalibrating.classes.table import Codes, Table
from scorewise.recalibrating.scale import Floats

MOST = 10_000  # rows on which methods are compared
ROUGH = 1e-3  # how exact maps need to be to be compared: loss is flat where it is least


class Tried(NamedTuple):
    """A method at its best strength, and the probabilities that it gives to rows not seen."""

    method: str
    strength: float
    p: Floats


def deal(t: Table, folds: int, seed: int) -> tuple[Table, Codes]:
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


def tried(method: str, t: Table, fold: Codes, clip: float) -> Tried:
    """The method at the strength, strong ones first, after which a weaker one is no better."""
    m = CLASS_METHODS[method]
    if not m.names:
        return Tried(method, m.strengths[0], t.p)
    starts = dict.fromkeys(range(int(fold.max()) + 1))
    best, least = None, np.inf
    for strength in m.strengths:
        p = np.empty_like(t.p)
        for k in starts:
            parameters, starts[k] = m.fit(t.at(fold != k), strength, starts[k], exact=ROUGH)
            p[fold == k] = mapped(parameters, t.x[fold == k])
        loss = float((t.w * row_losses(p, t, clip)).sum())
        if loss >= least:
            break
        best, least = Tried(method, strength, p), loss
    assert best is not None
    return best


def row_losses(p: Floats, t: Table, clip: float) -> Floats:
    """The log loss of each row, probabilities kept `clip` from 0 and 1."""
    return -np.log(np.clip(p[np.arange(len(t)), t.y], clip, 1 - clip))
