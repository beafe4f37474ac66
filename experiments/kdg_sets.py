"""Data of the KDG study: eight sets of its goals, sets of a folder, or what ships with scikit-learn."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn import datasets
from sklearn.model_selection import train_test_split

from experiments.simulations import SIMULATIONS

CC18 = Path(__file__).parents[2] / "shared" / "data" / "cc18"
REAL = ("wine", "breast cancer", "digits")
EIGHT = (*REAL, *SIMULATIONS)
SHIPPED, FEW = ("iris", "wine", "breast cancer"), ("wine", "Gaussian XOR", "ellipse")
SETS, ROWS = 20, 6_000  # the smallest sets of a folder; rows that are used of each at most
POINTS = 1_000  # of a simulation, to learn from and to judge on

Array = NDArray[np.float64]


class Table(NamedTuple):
    """Numbers, codes of categories in the columns `nominal`, NaN where missing; and codes of classes."""

    x: Array
    y: NDArray[np.int64]
    nominal: NDArray[np.bool_]


@dataclass(frozen=True)
class Split:
    """Rows to learn from, rows to judge on, and their true posterior where it is known."""

    x: Array
    y: NDArray[np.int64]
    new: Array
    truth: NDArray[np.int64]
    nominal: NDArray[np.bool_]
    posterior: Array | None = None


def smallest(folder: Path, most: int = SETS) -> list[str]:
    """The sets of a folder with the fewest rows, one parquet file each."""
    sizes = {
        file.stem: pl.scan_parquet(file).select(pl.len()).collect().item()
        for file in folder.glob("*.parquet")
    }
    if not sizes:
        raise SystemExit(f"there is no data set in {folder}; pass --data DIR, or --small")
    return sorted(sizes, key=lambda name: (sizes[name], name))[:most]


def split(folder: Path | None, name: str, seed: int) -> Split:
    """Halves of a set, classes in the same shares; of a simulation new points each time."""
    if folder is None and name in SIMULATIONS:
        made = SIMULATIONS[name]
        x, y = made.sample(POINTS, (seed, 0))
        new, truth = made.sample(POINTS, (seed, 1))
        return Split(x, y, new, truth, np.zeros(2, dtype=bool), made.posterior(new))
    t = shipped(name) if folder is None else read(folder / f"{name}.parquet")
    x, y = t.x, t.y
    if len(y) > ROWS:
        x, _, y, _ = train_test_split(x, y, train_size=ROWS, stratify=y, random_state=seed)
    x, new, y, truth = train_test_split(x, y, test_size=0.5, stratify=y, random_state=seed)
    return Split(x, y, new, truth, t.nominal)


def shipped(name: str) -> Table:
    """A set that comes with scikit-learn."""
    x, y = getattr(datasets, f"load_{name.replace(' ', '_')}")(return_X_y=True)
    return Table(x, y, np.zeros(x.shape[1], dtype=bool))


@lru_cache(maxsize=2)
def read(file: Path) -> Table:
    """A parquet file with the classes in `class` (or `y`), and features in all other columns."""
    frame = pl.read_parquet(file)
    target = "class" if "class" in frame.columns else "y"
    features = frame.drop("class", "y", strict=False)
    labels = frame[target].cast(pl.String).to_numpy()
    return Table(
        np.column_stack([_numbers(c) for c in features]),
        np.unique(labels, return_inverse=True)[1],
        np.array([not c.dtype.is_numeric() for c in features]),
    )


def _numbers(column: pl.Series) -> Any:
    """A column as numbers; words get codes in the order of the alphabet."""
    if not column.dtype.is_numeric():
        words = column.cast(pl.String)
        column = words.rank("dense") - 1
    return column.cast(pl.Float64).to_numpy()
