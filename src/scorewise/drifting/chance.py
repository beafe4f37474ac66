"""What chance alone would do: rows dealt out anew to the samples, on cells.

The rows of a cell are alike, so that it is enough to say how many of each cell go to the reference: a
multivariate hypergeometric draw, the cost of which does not grow with the number of rows. With weights a
cell gets a Poisson number of rows, as many and as heavy as give it the mean and the variance that its
rows would give it in each sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from scorewise.arrays import Floats
from scorewise.drifting.split import Classes, Split
from scorewise.inference.resampling import resampled, share_beyond

Held = Literal["nothing", "class", "score"]
_MOST = 10**9  # rows that numpy deals out exactly
_FEW = 40_000  # rows up to which it is faster to shuffle them


def dealt(x: Split, held: Held, replicates: int, rng: np.random.Generator) -> Split:
    """Replicates of the samples if only chance decided which row is in which.

    `held="nothing"`: any row may be in either. "class": among rows of the same class, so that both
    samples keep their prevalence. "score": among rows of the same cell, so that they keep their scores.
    """
    if x.squares is not None or x.mass.sum() >= _MOST:
        return _weighted(x, held, replicates, rng)
    a, whole = (
        x.reference,
        Classes(x.reference.neg + x.current.neg, x.reference.pos + x.current.pos),
    )
    if held == "nothing":
        drawn = _deal(np.concatenate(whole), a.all.sum(), replicates, rng)
        reference = Classes(*np.split(drawn, 2, axis=-1))
    elif held == "class":
        parts = zip(a, whole, strict=True)
        reference = Classes(*(_deal(w, part.sum(), replicates, rng) for part, w in parts))
    else:
        neg, pos, taken = (np.rint(w).astype(np.int64) for w in (*whole, a.all))
        hit = rng.hypergeometric(pos, neg, taken, (replicates, len(pos))).astype(np.float64)
        reference = Classes(a.all - hit, hit)
    return x.having(reference, Classes(whole.neg - reference.neg, whole.pos - reference.pos))


def _deal(whole: Floats, rows: float, replicates: int, rng: np.random.Generator) -> Floats:
    counts = np.rint(whole).astype(np.int64)
    method: Literal["count", "marginals"] = "count" if counts.sum() <= _FEW else "marginals"
    drawn = rng.multivariate_hypergeometric(counts, round(rows), size=replicates, method=method)
    return np.asarray(drawn, np.float64)


def _weighted(x: Split, held: Held, replicates: int, rng: np.random.Generator) -> Split:
    squares = x.squares or x.sides
    if held == "score":
        return x.having(*(_outcomes(x, i, replicates, rng) for i in (0, 1)))
    sides = []
    for side, side2 in zip(x.sides, squares, strict=True):
        parts = []
        for k in (0, 1):
            whole, whole2 = (w[0][k] + w[1][k] for w in (x.sides, squares))
            if held == "class":
                share, share2 = side[k].sum() / whole.sum(), side2[k].sum() / whole2.sum()
            else:
                share, share2 = side.all.sum() / x.mass.sum(), side2.all.sum() / _total(squares)
            parts.append(_counted(whole * share, whole2 * share2, replicates, rng))
        sides.append(Classes(*parts))
    return x.having(*sides)


def _counted(weight: Floats, squares: Floats, replicates: int, rng: np.random.Generator) -> Floats:
    """Replicates of the weights of cells as counts of rows: a cell may get none, as when rows are dealt.

    Poisson draws of the rows that the weights are worth, of the mean and variance that these have.
    """
    unit = np.divide(squares, weight, out=np.zeros_like(weight), where=weight > 0)
    rows = np.divide(weight, unit, out=np.zeros_like(weight), where=unit > 0)
    drawn = rng.poisson(rows, (replicates, len(rows))).astype(np.float64)
    drawn *= unit
    return drawn


def _total(sides: tuple[Classes, Classes]) -> float:
    return float(sum(w.all.sum() for w in sides))


def _outcomes(x: Split, i: int, replicates: int, rng: np.random.Generator) -> Classes:
    """One sample with its weight on each cell, and outcomes as in both samples together."""
    weight, weight2 = x.sides[i].all, (x.squares or x.sides)[i].all
    positive = np.divide(
        x.reference.pos + x.current.pos, x.mass, out=np.zeros_like(x.mass), where=x.mass > 0
    )
    pos, neg = (
        _counted(weight * part, weight2 * part, replicates, rng)
        for part in (positive, 1 - positive)
    )
    total = pos + neg
    hit = weight * np.divide(pos, total, out=np.zeros_like(pos), where=total > 0)
    return Classes(weight - hit, hit)


def again(x: Split, replicates: int, rng: np.random.Generator) -> Split:
    """Replicates of both samples, each drawn anew from its own rows: the bootstrap of cells."""
    squares = x.squares or x.sides
    return x.having(
        *(
            Classes(*(resampled(w, w2, replicates, rng) for w, w2 in zip(side, side2, strict=True)))
            for side, side2 in zip(x.sides, squares, strict=True)
        )
    )


def p_value(value: float, by_chance: Floats) -> float:
    """How often chance alone makes a change at least as large, the sample itself counted once.

    (1 + number of replicates with |T*| >= |T|) / (1 + replicates). A replicate without a value counts as
    large.

    >>> p_value(-2.0, np.array([0.5, -1.0, 3.0]))
    0.5
    """
    size = np.where(np.isnan(by_chance), np.inf, np.abs(by_chance))
    # a hair, because sums of the same numbers in another order are rounded otherwise
    return share_beyond(size, abs(value) * (1 - 1e-9) - 1e-14)


def in_parts(
    draw: Callable[[int], Split], of: Callable[[Split], dict[str, Floats]], replicates: int
) -> dict[str, Floats]:
    """What is computed of many replicates, a few hundred at a time."""
    sizes = [len(part) for part in np.array_split(np.arange(replicates), -(-replicates // 256))]
    # a sample of few weighted rows may get none; then there is no value, which counts as large
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [of(draw(size)) for size in sizes]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
