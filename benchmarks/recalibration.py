"""Recalibration on real scores: what it saves on rows that neither the model nor the map has seen.

`python -m benchmarks.recalibration [splits]` or `make recalibration` writes docs/tables/recalibration.md.
Each data set is split at random into halves: maps are fitted (and chosen) on one and judged on the other.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from benchmarks.recalibration_of_classes import class_sets, compared_classes
from scorewise import Recalibrator
from scorewise.recalibrating.classes.methods import CLASS_METHODS
from scorewise.recalibrating.methods import METHODS

HOME = Path(__file__).parents[1]
OUT = HOME / "docs" / "tables" / "recalibration.md"
DATA = HOME.parent / "shared" / "data" / "predictions"
CLIP = 1e-7
HEAD = """\
On rows that no map has seen: the test split of resnet110, else half of the rows, mean of {splits} random
halvings. Log loss before, after `auto`, what it chose most often (how often), and the method that in
hindsight had the lowest mean; the expected calibration error (ECE, 15 bins; of the confidence for several
classes) before and after; whether `auto` is within 1 % of the best, and not worse than identity by more
than 0.5 %. Language models are the first four by name, of eleven.

| scores | rows | before | auto | chosen | best | its | ECE before | after | within 1 % | not worse |
|---|---:|---:|---:|---|---|---:|---:|---:|---|---|"""


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
    """Log loss on the second half of each map fitted to the first, what auto chose, and both ECE."""
    order = np.random.default_rng(seed).permutation(len(y))
    a, b = order[: len(y) // 2], order[len(y) // 2 :]
    auto = Recalibrator(seed=seed).fit(p[a], y[a])
    after = auto.transform(p[b])
    rows = {"identity": loss(p[b], y[b]), "auto": loss(after, y[b]), "chosen": auto.chosen}
    rows |= {"ece before": ece(p[b], y[b]), "ece after": ece(after, y[b])}
    for name in () if auto_only else METHODS:
        if name != "identity":
            rows[name] = loss(Recalibrator(name).fit(p[a], y[a]).transform(p[b]), y[b])
    return rows


def ece(p: np.ndarray, y: np.ndarray, bins: int = 15) -> float:
    """Expected calibration error: gaps of share and mean in bins of equal width, weighed by rows."""
    at = np.minimum((p * bins).astype(int), bins - 1)
    gaps = np.bincount(at, y, bins) - np.bincount(at, p, bins)
    return float(np.abs(gaps).sum() / len(y))


def line(name: str, rows: int, runs: list[dict[str, float | str]], methods) -> str:
    """A row of the table; the promises are judged on the means."""
    mean = {k: float(np.mean([r[k] for r in runs])) for k in runs[0] if k != "chosen"}
    chosen = [r["chosen"] for r in runs]
    often = max(sorted(set(chosen)), key=chosen.count)
    best = min(methods, key=lambda m: mean[m])
    near = mean["auto"] <= 1.01 * mean[best]
    safe = mean["auto"] <= 1.005 * mean["identity"]
    return (
        f"| {name} | {rows:,} | {mean['identity']:.4f} | {mean['auto']:.4f} | "
        f"{often} ({chosen.count(often)}) | {best} | {mean[best]:.4f} | {mean['ece before']:.3f} | "
        f"{mean['ece after']:.3f} | {'yes' if near else 'no'} | {'yes' if safe else 'no'} |"
    )


def lines(splits: int):
    """All rows of the table: several classes, then one score a row."""
    for name, one in class_sets().items():
        runs = [compared_classes(*one.split(seed), seed) for seed in range(one.splits(splits))]
        yield line(name, len(one.y), runs, CLASS_METHODS)
    for name, (p, y) in data_sets().items():
        yield line(name, len(y), [compared(p, y, seed) for seed in range(splits)], METHODS)


def main(splits: int) -> None:
    made = [HEAD.format(splits=splits)]
    for row in lines(splits):
        made.append(row)
        print(row, flush=True)
    OUT.write_text("\n".join(made) + "\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
