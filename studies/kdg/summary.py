"""What the runs of the KDG study come to: means over sets and seeds, ranks, and differences of rivals."""

from __future__ import annotations

from math import isnan, nan
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from studies._comparisons import Array, Difference, Ranking, corrected_t, ranking
from studies._tools import shown
from studies.kdg.rivals import FAMILIES, RIVALS
from studies.kdg.runs import FLOOR, RADII

MEASURES = {
    "log_loss": "log loss",
    "log_loss_floor": f"log loss held at {FLOOR:g}",
    "ece": "ECE",
    "brier": "Brier",
    "error": "error",
    "kappa": "kappa",
}
HIGH = {"kappa"}  # better when high
FAR = tuple(f"far_{r}" for r in RADII)  # mean confidence less the largest prior
OFF = tuple(f"off_{r}" for r in RADII)  # how far the two are apart, on whichever side
PLAIN, ISOTONIC, TEMPERATURE, KERNEL = range(4)  # places in a family
SEEDS, TREES = 5, 500  # of the study; fewer make a short run


def settings(r: pl.DataFrame, trees: int) -> str:
    """How much was run, and that it was little where it was."""
    seeds = r["seed"].n_unique()
    short = "" if seeds >= SEEDS and trees >= TREES else "**a short run**, "
    return f"{short}seeds: {seeds}, {trees} trees"


def by_set(r: pl.DataFrame) -> pl.DataFrame:
    """Means over seeds, of what is the same in every run of the study, so not of times."""
    kept = [*MEASURES, "zeros", "rows", "ece_chance", *FAR, *OFF, "hellinger"]
    place = pl.col("rival").replace_strict(
        {k: i for i, k in enumerate(RIVALS)}, default=len(RIVALS)
    )
    return (
        r.group_by("study", "set", "rival")
        .agg(pl.col("seed").n_unique().alias("seeds"), pl.col(kept).mean(), *_spread())
        .sort("study", "set", place)
    )


def _spread() -> list[pl.Expr]:
    """Standard deviations over seeds."""
    return [
        pl.col(c).cast(pl.Float64).std().alias(f"{c}_sd")
        for c in ("log_loss", "log_loss_floor", "ece", "kappa", "hellinger")
    ]


def over_sets(r: pl.DataFrame, column: str) -> dict[str, tuple[float | None, float | None]]:
    """Of each rival the mean over sets, and its standard deviation over seeds."""
    value = pl.col(column).cast(pl.Float64)
    each = r.group_by("rival", "seed").agg(value.mean()).group_by("rival")
    both = each.agg(mean=value.mean(), spread=value.std())
    return {row["rival"]: (row["mean"], row["spread"]) for row in both.iter_rows(named=True)}


def wide(r: pl.DataFrame, measure: str, rivals: Any, unit: str = "set") -> Array:
    """Sets by rivals, means over seeds, sets in the order of their names; or seeds, means over sets."""
    means = r.group_by(unit, "rival").agg(pl.col(measure).cast(pl.Float64).mean())
    table = means.pivot("rival", index=unit, values=measure).sort(unit)
    return table.select(rivals).to_numpy()


def ranked(r: pl.DataFrame, measure: str, family: str) -> Ranking:
    """Ranks of a family by a measure over sets."""
    values = wide(r, measure, FAMILIES[family])
    return ranking(-values if measure in HIGH else values)


SAME = 1e-12  # differences this near to one another are the same


class Versus(NamedTuple):
    """A measure of one rival less that of another; where there is no interval, `why` says why.

    `better` of `sets` sets have `one` ahead.
    """

    over: Difference
    better: int
    sets: int
    why: str = ""


def student(d: Array, unit: str) -> tuple[Difference, str]:
    """Student's interval of a mean difference, or why there is none.

    >>> found, why = student(np.array([0.1, 0.2, 0.3]), "set")
    >>> round(found.low, 3), round(found.high, 3), why
    (-0.048, 0.448, '')
    >>> student(np.array([0.5, np.nan]), "set")[1]
    'one set only'
    """
    d = d[np.isfinite(d)]
    mean = float(d.mean()) if len(d) else nan
    if not len(d):
        why = f"no {unit} has both numbers"
    elif len(d) == 1:
        why = f"one {unit} only"
    elif np.ptp(d) <= SAME:
        why = f"the same on all {len(d)} {unit}s"
    else:
        return corrected_t(d, 1, 0), ""
    return Difference(mean, nan, nan, nan, nan), why


def versus(r: pl.DataFrame, measure: str, one: str, other: str) -> Versus:
    """Means over seeds compared over sets, which vary."""
    return _compared(r, measure, one, other, "set")


def over_seeds(r: pl.DataFrame, measure: str, one: str, other: str) -> Versus:
    """Means over sets compared over seeds: only for sets that are drawn anew with each seed."""
    return _compared(r, measure, one, other, "seed")


def _compared(r: pl.DataFrame, measure: str, one: str, other: str, unit: str) -> Versus:
    a, b = wide(r, measure, (one, other), unit).T
    over, why = student(a - b, unit)
    x, y = wide(r, measure, (one, other)).T
    better = (x > y) if measure in HIGH else (x < y)
    return Versus(over, int(better.sum()), int(np.isfinite(x - y).sum()), why)


def cell(v: Versus, digits: int = 4) -> str:
    """The difference and its interval, or why there is none."""
    if isnan(v.over.mean):
        return v.why
    mean, low, high = (shown(x, digits, "+") for x in (v.over.mean, v.over.low, v.over.high))
    return f"{mean} ({v.why})" if v.why else f"{mean} [{low}, {high}]"


def counted(v: Versus) -> str:
    """The difference and its interval, and on how many sets the first rival is better."""
    return cell(v) + (f" ({v.better} of {v.sets})" if v.sets else "")
