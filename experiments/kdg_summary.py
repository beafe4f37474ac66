"""What the runs of the KDG study come to: for each set, and over sets."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from experiments.judging import FLOOR
from experiments.kdg_runs import RADII
from experiments.ranking import Ranking, ranking
from experiments.rivals import FAMILIES, RIVALS

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


def wide(r: pl.DataFrame, measure: str, rivals: Any, unit: str = "set") -> NDArray[np.float64]:
    """Sets by rivals, means over seeds, sets in the order of their names; or seeds, means over sets."""
    means = r.group_by(unit, "rival").agg(pl.col(measure).cast(pl.Float64).mean())
    table = means.pivot("rival", index=unit, values=measure).sort(unit)
    return table.select(rivals).to_numpy()


def ranked(r: pl.DataFrame, measure: str, family: str) -> Ranking:
    """Ranks of a family by a measure over sets."""
    values = wide(r, measure, FAMILIES[family])
    return ranking(-values if measure in HIGH else values)
