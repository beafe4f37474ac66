"""Time and memory of the kernel density forest beyond its forest's, from 1,000 to 32,000 rows."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy import stats
from sklearn.datasets import make_classification

import scorewise as sw
from studies._tools import shown, store, stored, table, tracked, wrapped
from studies.kdg.rivals import forest, timed, warm_up
from studies.kdg.sets import SIMULATIONS

SIZES = (1_000, 2_000, 4_000, 8_000, 16_000, 32_000)
SMALL = (500, 1_000, 2_000)
NEW = {"twenty features": 10_000}  # rows to predict, where not 2,000
COLUMNS = {
    "forest_fit": ("forest's fit, s", 2),
    "extra_fit": ("extra fit", 2),
    "predict": ("predict", 2),
    "forest_mb": ("forest, MB", 1),
    "kept_mb": ("kept, MB", 1),
    "fit_mb": ("peak of fit, MB", 1),
    "predict_mb": ("peak of predict, MB", 1),
}


def overlapping(n: int, seed: int) -> tuple[Any, Any]:
    """Classes that overlap: leaves stay small."""
    return SIMULATIONS["Gaussian XOR"].sample(n, seed)


def apart(n: int, seed: int) -> tuple[Any, Any]:
    """Classes far from one another: leaves are as large as the classes."""
    x, y = overlapping(n, seed)
    corner = np.sign(np.random.default_rng(seed).normal(size=n))
    return 0.1 * x + np.column_stack([corner, corner * (1 - 2 * y)]), y


@cache
def _problem() -> tuple[Any, Any]:
    return make_classification(50_000, 20, n_informative=8, random_state=0)


def many(n: int, seed: int) -> tuple[Any, Any]:
    """Twenty features; other seeds draw from the other end of the same rows."""
    x, y = _problem()
    return (x[-n:], y[-n:]) if seed else (x[:n], y[:n])


DRAWS = {"classes that overlap": overlapping, "classes far apart": apart, "twenty features": many}


class Case(NamedTuple):
    """How many rows of which kind, and how many trees."""

    n: int
    draw: str
    trees: int

    @property
    def file(self) -> str:
        return f"scale-{self.draw.replace(' ', '_')}-{self.n}-{self.trees}.parquet"


def cases(sizes: Sequence[int], trees: Sequence[int]) -> list[Case]:
    """The long ones first, so that no core is idle at the end."""
    return [Case(n, draw, t) for n in sorted(sizes, reverse=True) for t in trees for draw in DRAWS]


def measured(case: Case) -> dict[str, Any]:
    """Seconds of processor time, the least of several, and megabytes beyond the forest's."""
    warm_up()
    x, y = DRAWS[case.draw](case.n, 0)
    new = DRAWS[case.draw](NEW.get(case.draw, 2_000), 1)[0]
    repeats = 3 if case.n <= 8_000 else 1
    alone = min(timed(lambda: forest(case.trees, 0).fit(x, y)) for _ in range(repeats))
    plain = forest(case.trees, 0).fit(x, y)
    model = sw.models.KernelDensityForest(plain, random_state=0)
    extra = min(timed(lambda: model.fit(x, y)) for _ in range(repeats))
    theirs = min(timed(lambda: plain.predict_proba(new)) for _ in range(5))
    ours = min(timed(lambda: model.predict_proba(new)) for _ in range(5))
    fresh = sw.models.KernelDensityForest(plain, random_state=0)
    fit_mb, kept_mb = memory(lambda: fresh.fit(x, y))
    predict_mb, _ = memory(lambda: fresh.predict_proba(new))
    return {
        **case._asdict(),
        "forest_fit": alone,
        "extra_fit": extra / alone,
        "predict": ours / theirs,
        "forest_mb": sum(map(_bytes, plain.estimators_)) / 1e6,
        "kept_mb": kept_mb,
        "fit_mb": fit_mb,
        "predict_mb": predict_mb,
    }


def memory(work: Callable[[], Any]) -> tuple[float, float]:
    """Megabytes that some work takes at its peak, and those that it leaves taken."""
    tracemalloc.start()
    before, _ = tracemalloc.get_traced_memory()
    kept = work()
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    del kept
    return (peak - before) / 1e6, (after - before) / 1e6


def _bytes(tree: Any) -> int:
    state = tree.tree_.__getstate__()
    return int(state["nodes"].nbytes + state["values"].nbytes)


class Slope(NamedTuple):
    """The power of n by which a quantity grows, with its 95 % interval: 0 is flat, 1 linear."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, n: Any, values: Any) -> Slope:
        """A line through the logarithms.

        >>> Slope.of([1, 2, 4, 8], [3, 6, 12, 24]).value
        1.0
        """
        known = [(a, b) for a, b in zip(n, values, strict=True) if np.isfinite(b) and b > 0]
        if len(known) < 2:
            return cls(np.nan, np.nan, np.nan)
        line = stats.linregress(*np.log(known).T)
        error = np.nan_to_num(line.stderr)  # none where all values are the same
        reach = stats.t.ppf(0.975, len(known) - 2) * error if len(known) > 2 else np.nan
        value = float(line.slope)
        return cls(round(value, 6), float(value - reach), float(value + reach))

    def __str__(self) -> str:
        if np.isnan(self.value):
            return "not known"
        if np.isnan(self.low):
            return f"{self.value:.2f} (two sizes only)"
        return f"{self.value:.2f} [{self.low:.2f}, {self.high:.2f}]"


def slope(r: pl.DataFrame, draw: str, trees: int, column: str) -> Slope:
    """How a column of the table grows with the number of rows."""
    part = r.filter((pl.col("draw") == draw) & (pl.col("trees") == trees)).sort("n")
    return Slope.of(part["n"].to_numpy(), part[column].to_numpy())


def run_all(todo: list[Case], results: Path, processes: int | None = None) -> pl.DataFrame:
    """The rows of all cases, those that were stored taken up."""
    left = [case for case in todo if stored(results / case.file) is None]
    for case, row in tracked(measured, left, processes, "scale"):
        store(results / case.file, [row])
    return pl.concat([pl.read_parquet(results / c.file) for c in todo]).sort("trees", "draw", "n")


def markdown(r: pl.DataFrame) -> str:
    """The tables, one for each number of trees and kind of data."""
    parts = [wrapped(_how())]
    for trees in sorted(r["trees"].unique(), reverse=True):
        for draw in DRAWS:
            part = r.filter((pl.col("draw") == draw) & (pl.col("trees") == trees)).sort("n")
            lines = [
                [f"{row['n']:,}", *(shown(row[c], d) for c, (_, d) in COLUMNS.items())]
                for row in part.iter_rows(named=True)
            ]
            lines.append(["*power of n*", *(str(slope(r, draw, trees, c)) for c in COLUMNS)])
            parts += [f"**{trees} trees, {draw}**"]
            parts += [table(["rows", *(title for title, _ in COLUMNS.values())], lines, 0)]
    return "\n\n".join(parts) + "\n"


def _how() -> str:
    return (
        "Two classes, in the plane or in twenty features. Extra fit and predict (of 2,000 rows, or 10,000 "
        "with twenty features) are divided by the forest's own; "
        "processor time, the least of several runs. Memory is what is allocated beyond the forest: kept by "
        "the model, and at the peak of fit and of predict. The power of n is the slope of a line through "
        "the logarithms, with its 95 % interval: 0 is flat, 1 is linear."
    )
