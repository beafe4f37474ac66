"""Data sets of the studies: a folder of parquet files, or what ships with scikit-learn."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

UCI = Path(__file__).parents[2] / "shared" / "data" / "uci"


class DataSet(NamedTuple):
    """Features of any kind, and whether each row is positive."""

    x: pl.DataFrame
    y: np.ndarray


def names(folder: Path | None) -> list[str]:
    """The sets of a folder, one parquet file each; without one those of scikit-learn."""
    if folder is None:
        return list(_SHIPPED)
    found = sorted(path.stem for path in folder.glob("*.parquet"))
    if not found:
        raise SystemExit(f"there is no data set in {folder}; pass --data DIR, or --small")
    return found


@lru_cache(maxsize=2)
def load(folder: Path | None, name: str) -> DataSet:
    """One set: `y` is 1 on positives, `class` its word, all other columns are features."""
    if folder is None:
        return _shipped(name)
    frame = pl.read_parquet(folder / f"{name}.parquet")
    return DataSet(frame.drop("y", "class", strict=False), frame["y"].to_numpy() == 1)


# the class that is taken for positive: in the breast cancer data the malignant tumours
_SHIPPED = {"breast_cancer": 0, "digits": 8, "iris": 1, "wine": 1}


def _shipped(name: str) -> DataSet:
    from sklearn import datasets

    data = getattr(datasets, f"load_{name}")()
    columns = [f"x{i}" for i in range(data.data.shape[1])]
    return DataSet(pl.DataFrame(data.data, schema=columns), data.target == _SHIPPED[name])
