"""What the runs of the KDG study come to: for each set, and over sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from experiments.kdg_runs import RADII
from experiments.paired_tests import Difference, corrected_t
from experiments.ranking import Ranking, ranking
from experiments.rivals import FAMILIES, RIVALS

MEASURES = {
    "log_loss": "log loss",
    "ece": "ECE",
    "brier": "Brier",
    "error": "error",
    "kappa": "kappa",
}
HIGH = {"kappa"}  # better when high
FAR = tuple(f"far_{r}" for r in RADII)
PLAIN, ISOTONIC, TEMPERATURE, KERNEL = range(4)  # places in a family


SEEDS, TREES = 5, 500  # of the study; fewer make a short run


def settings(r: pl.DataFrame, trees: int) -> str:
    """How much was run, and that it was little where it was."""
    seeds = r["seed"].n_unique()
    short = "" if seeds >= SEEDS and trees >= TREES else "**a short run**, "
    return f"{short}seeds: {seeds}, {trees} trees"


class Versus(NamedTuple):
    """A measure of one rival less that of another, over sets."""

    over: Difference
    better: int
    sets: int


def by_set(r: pl.DataFrame) -> pl.DataFrame:
    """Means over seeds, of what is the same in every run of the study, so not of times."""
    kept = [*MEASURES, "ece_chance", *FAR, "hellinger"]
    place = pl.col("rival").replace_strict(
        {k: i for i, k in enumerate(RIVALS)}, default=len(RIVALS)
    )
    return (
        r.group_by("study", "set", "rival")
        .agg(pl.col("seed").n_unique().alias("seeds"), pl.col(kept).mean(), *_errors())
        .sort("study", "set", place)
    )


def _errors() -> list[pl.Expr]:
    """Standard errors over seeds of log loss and ECE."""
    return [
        (pl.col(c).std() / pl.len().sqrt()).alias(f"{c}_se") for c in ("log_loss", "ece", "kappa")
    ]


def over_sets(r: pl.DataFrame, column: str) -> dict[str, tuple[float | None, float | None]]:
    """Of each rival the mean over sets, and its standard error over seeds."""
    each = r.group_by("rival", "seed").agg(pl.col(column).mean()).group_by("rival")
    both = each.agg(mean=pl.col(column).mean(), error=pl.col(column).std() / pl.len().sqrt())
    return {row["rival"]: (row["mean"], row["error"]) for row in both.iter_rows(named=True)}


def wide(r: pl.DataFrame, measure: str, rivals: Any) -> NDArray[np.float64]:
    """Sets by rivals, means over seeds, sets in the order of their names."""
    means = r.group_by("set", "rival").agg(pl.col(measure).mean())
    table = means.pivot("rival", index="set", values=measure).sort("set")
    return table.select(rivals).to_numpy()


def ranked(r: pl.DataFrame, measure: str, family: str) -> Ranking:
    """Ranks of a family by a measure over sets."""
    values = wide(r, measure, FAMILIES[family])
    return ranking(-values if measure in HIGH else values)


def versus(r: pl.DataFrame, measure: str, one: str, other: str) -> Versus:
    """Student's interval of the mean difference over sets, and on how many sets `one` is better."""
    a, b = wide(r, measure, (one, other)).T
    d = a - b
    better = (d > 0) if measure in HIGH else (d < 0)
    return Versus(corrected_t(d, 1, 0), int(better.sum()), len(d))


def within(r: pl.DataFrame, measure: str, one: str, other: str) -> dict[str, Difference]:
    """For each set the mean difference over seeds, whose halves overlap (Nadeau and Bengio 2003)."""
    found = {}
    for (name,), part in r.sort("seed").group_by("set", maintain_order=True):
        a, b = (part.filter(pl.col("rival") == rival)[measure].to_numpy() for rival in (one, other))
        if len(a) > 1:
            found[str(name)] = corrected_t(a - b, 1, 1)
    return dict(sorted(found.items()))
