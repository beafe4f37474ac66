"""The kernel density forest and its rivals on 20 sets of OpenML-CC18.

`python -m experiments.cc18 [--trees 100] [--seeds 2] [--data ../shared/data/cc18]` writes
docs/tables/cc18.md and docs/figures/cc18.png; what is done is kept and not done again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray
from rich.progress import track
from scipy import stats
from sklearn.model_selection import train_test_split

from experiments.judging import away, judged
from experiments.rivals import RIVALS, rivals

ROOT = Path(__file__).parents[1]
KEPT = Path(__file__).parent / "results"
SETS, ROWS = 20, 3_000  # the smallest sets; rows that are used of each
RADII = (1, 2, 3, 4, 5)
MEASURES = {"log_loss": "log loss", "ece": "ECE", "brier": "Brier", "error": "error"}


def read(file: Path) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Features as numbers (categories as codes, NaN where missing), and codes of the classes."""
    frame = pl.read_parquet(file)
    target = "class" if "class" in frame.columns else "y"
    columns = [
        (c.to_physical() if c.dtype in (pl.Categorical, pl.Enum) else c).cast(pl.Float64).to_numpy()
        for c in frame.drop("class", "y", strict=False)
    ]
    labels = frame[target].cast(pl.String).to_numpy()
    return np.column_stack(columns), np.unique(labels, return_inverse=True)[1]


def run(file: Path, seed: int, trees: int) -> Iterator[dict[str, Any]]:
    """What each rival gets on one half of a set after learning from the other."""
    x, y = read(file)
    if len(y) > ROWS:
        x, _, y, _ = train_test_split(x, y, train_size=ROWS, stratify=y, random_state=seed)
    x, new, y, truth = train_test_split(x, y, test_size=0.5, stratify=y, random_state=seed)
    largest = np.bincount(y).max() / len(y)
    full = np.where(np.isnan(x), np.nanmean(x, axis=0), x)
    for rival, made in rivals(x, y, trees=trees, seed=seed).items():
        far = {
            f"far_{r}": float(made.predict(away(full, r, seed=seed)).max(axis=1).mean() - largest)
            for r in RADII
        }
        found = judged(made.predict(new), truth)
        yield {"set": file.stem, "seed": seed, "rival": rival, **found, **far}


def results(folder: Path, seeds: int, trees: int) -> pl.DataFrame:
    """All runs, those from before read back."""
    KEPT.mkdir(exist_ok=True)
    size = pl.scan_parquet
    files = sorted(
        folder.glob("*.parquet"), key=lambda f: (size(f).select(pl.len()).collect().item(), f.name)
    )[:SETS]
    jobs = [(file, seed) for seed in range(seeds) for file in files]
    done = []
    for file, seed in track(jobs, "sets"):
        kept = KEPT / f"cc18-{trees}-{file.stem}-{seed}.parquet"
        if not kept.exists():
            pl.DataFrame(list(run(file, seed, trees))).write_parquet(kept)
        done.append(pl.read_parquet(kept))
    return pl.concat(done)


def ranks(r: pl.DataFrame, measure: str) -> NDArray[np.float64]:
    """Rank of each rival on each set, 1 the least, of the mean over seeds."""
    wide = (
        r.group_by("set", "rival")
        .agg(pl.col(measure).mean())
        .pivot("rival", index="set", values=measure)
    )
    return np.asarray(stats.rankdata(wide.sort("set").select(RIVALS).to_numpy(), axis=1))


def critical(rivals: int, sets: int) -> float:
    """Difference of mean ranks beyond chance at 5 % (Nemenyi 1963; Demsar 2006)."""
    q = stats.studentized_range.ppf(0.95, rivals, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(rivals * (rivals + 1) / (6 * sets)))


def report(r: pl.DataFrame, trees: int) -> str:
    """Means and mean ranks, in Markdown."""
    shown = {"error": "error", "kappa": "kappa", "ece": "ECE", "log_loss": "log loss"}
    shown |= {f"far_{k}": f"{k}" for k in RADII}
    means = {
        row["rival"]: row for row in r.group_by("rival").agg(pl.col(list(shown)).mean()).to_dicts()
    }
    sets, seeds = r["set"].n_unique(), r["seed"].n_unique()
    lines = [
        f"Means over {sets} sets of OpenML-CC18, seeds: {seeds}, {trees} trees, at most {ROWS:,} rows,",
        "halved; under 1 to 5, mean confidence less the largest prior at so many radii of the data.",
        "",
        "| | " + " | ".join(shown.values()) + " |",
        "|---|" + "---|" * len(shown),
        *(f"| {k} | " + " | ".join(f"{means[k][c]:.3f}" for c in shown) + " |" for k in RIVALS),
        "",
        f"Mean ranks, 1 the best; {critical(len(RIVALS), sets):.2f} apart is beyond chance (Nemenyi, 5 %):",
        "",
        "| | " + " | ".join(MEASURES.values()) + " |",
        "|---|" + "---|" * len(MEASURES),
    ]
    table = np.column_stack([ranks(r, m).mean(axis=0) for m in MEASURES])
    lines += [
        f"| {k} | " + " | ".join(f"{v:.2f}" for v in row) + " |"
        for k, row in zip(RIVALS, table, strict=True)
    ]
    return "\n".join(lines) + "\n"


def draw(r: pl.DataFrame, file: Path) -> None:
    """Critical-difference diagrams: mean ranks on a line, with a bar as long as chance reaches."""
    import matplotlib.pyplot as plt

    apart = critical(len(RIVALS), r["set"].n_unique())
    figure, axes = plt.subplots(len(MEASURES), 1, figsize=(7, 7.5), layout="constrained")
    for ax, (measure, title) in zip(axes, MEASURES.items(), strict=True):
        mean = ranks(r, measure).mean(axis=0)
        order = np.argsort(mean)
        ax.plot([1, 1 + apart], [1, 1], "k-", lw=3)
        ax.text(1, 1.15, f"critical difference {apart:.2f}", fontsize=8)
        for height, at in enumerate(order):
            ax.plot([mean[at]], [0], "o", color="#0072B2")
            ax.annotate(
                f"{RIVALS[at]} {mean[at]:.2f}", (mean[at], 0), (mean[at], -0.5 - 0.55 * height),
                fontsize=8, ha="center", arrowprops={"arrowstyle": "-", "lw": 0.6},
            )  # fmt: skip
        ax.set(xlim=(0.8, len(RIVALS) + 0.2), ylim=(-2.6, 1.7), yticks=[], title=f"rank by {title}")
        ax.axhline(0, color="k", lw=0.8, zorder=0)
    figure.savefig(file, dpi=80, metadata={"Software": None})
    plt.close(figure)


def main() -> None:
    """Run what is missing, then write table and figure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data" / "cc18")
    asked = parser.parse_args()
    if not asked.data.is_dir():
        parser.error(f"no folder {asked.data}; pass --data with parquet files of the same layout")
    r = results(asked.data, asked.seeds, asked.trees)
    text = report(r, asked.trees)
    (ROOT / "docs" / "tables" / "cc18.md").write_text(text)
    draw(r, ROOT / "docs" / "figures" / "cc18.png")
    print(text)


if __name__ == "__main__":
    main()
