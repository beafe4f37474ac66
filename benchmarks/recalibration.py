"""Recalibration on real scores: what it saves on rows that neither the model nor the map has seen.

`python -m benchmarks.recalibration [splits]` or `make recalibration` writes docs/tables/recalibration.md.
Each data set is split at random into halves: maps are fitted (and chosen) on one and judged on the other.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from scorewise import Recalibrator
from scorewise.recalibrating.methods import METHODS

HOME = Path(__file__).parents[1]
OUT = HOME / "docs" / "tables" / "recalibration.md"
DATA = HOME.parent / "shared" / "data" / "predictions"
CLIP = 1e-7


def data_sets() -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Probabilities and labels by name; those whose files lie beside the checkout."""
    import polars as pl

    found = {}
    for file, make in MAKERS.items():
        path = DATA / f"{file}.parquet"
        if path.is_file():
            found |= make(pl.read_parquet(path))
    return found


def _columns(frame, p, y):
    import polars as pl

    kept = frame.select(pl.col(p).cast(pl.Float64).alias("p"), y.cast(pl.Int64).alias("y"))
    kept = kept.drop_nulls().filter(pl.col("p").is_between(0, 1))
    return kept["p"].to_numpy(), kept["y"].to_numpy()


def _imdb(frame):
    import polars as pl

    inside = frame.with_columns(pl.col("p1").clip(0, 1))  # some are 1.0000001
    return {"film reviews (network)": _columns(inside, "p1", pl.col("label"))}


def _games(frame):
    import polars as pl

    sports = sorted(frame["sport"].unique())
    y = pl.col("prob1_outcome")
    return {f"games: {s}": _columns(frame.filter(pl.col("sport") == s), "prob1", y) for s in sports}


def _llm(frame):
    import polars as pl

    y, made = pl.col("correct"), {}
    for column, said in (("stated_confidence", "stated"), ("chosen_token_confidence", "token")):
        for n, model in enumerate(sorted(frame["llm"].unique())[:4], start=1):
            p, labels = _columns(frame.filter(pl.col("llm") == model), column, y)
            if len(p) > 200 and 0 < labels.mean() < 1:
                made[f"language model {n} ({said} confidence)"] = p, labels
    return made


def _compas(frame):
    import polars as pl

    decile = frame.with_columns(p=(pl.col("decile_score") - 0.5) / 10)
    return {"recidivism (deciles)": _columns(decile, "p", pl.col("two_year_recid"))}


def _rain(frame):
    import polars as pl

    return {f"rain: {m}": _columns(frame, m, pl.col("obs")) for m in ("Logistic", "EMOS", "ENS")}


def _two_class(frame):
    import polars as pl

    return {"two classes": _columns(frame, "Class1", pl.col("truth") == "Class1")}


MAKERS = {
    "imdb_test_probs": _imdb,
    "fivethirtyeight_games": _games,
    "llm_confidence": _llm,
    "compas_two_years": _compas,
    "precip_niamey_2016": _rain,
    "yardstick_two_class": _two_class,
}


def loss(p: np.ndarray, y: np.ndarray) -> float:
    p = np.clip(p, CLIP, 1 - CLIP)
    return float(-np.log(np.where(y == 1, p, 1 - p)).mean())


def compared(p, y, seed: int, auto_only: bool = False) -> dict[str, float | str]:
    """Log loss on the second half of each map fitted to the first, and what auto chose."""
    order = np.random.default_rng(seed).permutation(len(y))
    a, b = order[: len(y) // 2], order[len(y) // 2 :]
    auto = Recalibrator(seed=seed).fit(p[a], y[a])
    rows = {"identity": loss(p[b], y[b]), "auto": loss(auto.transform(p[b]), y[b])}
    rows["chosen"] = auto.chosen
    for name in () if auto_only else METHODS:
        if name != "identity":
            rows[name] = loss(Recalibrator(name).fit(p[a], y[a]).transform(p[b]), y[b])
    return rows


def line(name: str, p, y, splits: int) -> str:
    runs = [compared(p, y, seed) for seed in range(splits)]
    mean = {k: float(np.mean([r[k] for r in runs])) for k in runs[0] if k != "chosen"}
    chosen = [r["chosen"] for r in runs]
    often = max(sorted(set(chosen)), key=chosen.count)
    best = min(METHODS, key=lambda m: mean[m])
    change = 100 * (mean["auto"] / mean["identity"] - 1)
    return (
        f"| {name} | {len(y):,} | {mean['identity']:.4f} | {mean['auto']:.4f} | {change:+.1f} % | "
        f"{often} ({chosen.count(often)}) | {best} | {mean[best]:.4f} |"
    )


def main(splits: int) -> None:
    lines = [
        f"Log loss on the half of the rows that no map has seen, mean of {splits} random halvings.",
        "*Chosen* is what `auto` chose most often (how often); *best* is the method that, in hindsight,",
        "had the lowest mean. Language models are the first four by name, of eleven.",
        "",
        "| scores | rows | before | auto | change | chosen | best | its log loss |",
        "|---|---:|---:|---:|---:|---|---|---:|",
    ]
    for name, (p, y) in data_sets().items():
        lines.append(line(name, p, y, splits))
        print(lines[-1], flush=True)
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
