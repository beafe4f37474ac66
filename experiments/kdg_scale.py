"""Time and memory of the kernel density forest against its forest's, from 1,000 to 32,000 rows.

`python -m experiments.kdg_scale [--trees 50]` writes docs/tables/kdg_scale.md.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import track
from sklearn.ensemble import RandomForestClassifier

import scorewise as sw
from experiments.rivals import timed
from experiments.simulations import SIMULATIONS

OUT = Path(__file__).parents[1] / "docs" / "tables" / "kdg_scale.md"
SIZES = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
NEW = 2_000


def overlapping(n: int, seed: int) -> tuple[Any, Any]:
    """Classes that overlap: leaves stay small."""
    return SIMULATIONS["Gaussian XOR"].sample(n, seed)


def apart(n: int, seed: int) -> tuple[Any, Any]:
    """Classes far from one another: leaves are as large as the classes."""
    x, y = overlapping(n, seed)
    corner = np.sign(np.random.default_rng(seed).normal(size=n))
    return 0.1 * x + np.column_stack([corner, corner * (1 - 2 * y)]), y


def measured(x: Any, y: Any, new: Any, trees: int) -> tuple[float, float, float]:
    """Extra fit and predict, against the forest's, and bytes of the leaves for each row."""
    forest = RandomForestClassifier(trees, random_state=0)
    alone = timed(lambda: forest.fit(x, y))
    model = sw.models.KernelDensityForest(forest, random_state=0)
    extra = timed(lambda: model.fit(x, y))
    seconds = min(timed(lambda: model.predict_proba(new)) for _ in range(3))
    plain = min(timed(lambda: forest.predict_proba(new)) for _ in range(3))
    kept = model._leaves.members
    size = kept.data.nbytes + kept.indices.nbytes + kept.indptr.nbytes
    return extra / alone, seconds / plain, size / len(y) / trees


def main() -> None:
    """Measure and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trees", type=int, default=50)
    trees = parser.parse_args().trees
    lines = [
        f"Against the forest's own time ({trees} trees, processor time); bytes: of the leaves, for each",
        "row and tree.",
        "",
        "| rows | overlapping: extra fit | predict | bytes | far apart: extra fit | predict | bytes |",
        "|---|---|---|---|---|---|---|",
    ]
    for n in track(SIZES, "rows"):
        cells = []
        for draw in (overlapping, apart):
            x, y = draw(n, 0)
            extra, predict, size = measured(x, y, draw(NEW, 1)[0], trees)
            cells += [f"{extra:.2f}", f"{predict:.2f}", f"{size:.0f}"]
        lines.append(f"| {n:,} | " + " | ".join(cells) + " |")
    text = "\n".join(lines) + "\n"
    OUT.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
