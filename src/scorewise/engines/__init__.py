"""Tallies of data larger than memory: files read in batches, and frames that stay in their engine.

Engines are Polars lazy frames, DuckDB, Dask, PySpark and others. Two queries by narwhals are the same for
all of them: one that checks the columns, and one that counts rows in cells. Only its groups leave the
engine. They use additions, multiplications, divisions, square roots, comparisons and `floor`, which are the
same to the last bit everywhere, and aggregate with counts, least and greatest values and sums of integers,
which do not depend on the order of rows. Rounding, logarithms, sums of floats, and comparisons with NaN are
not used, because engines differ on them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np


def is_engine(source: Any) -> bool:
    """Whether it is a frame that is computed elsewhere, or later, and not a table in memory.

    >>> import polars as pl
    >>> is_engine(pl.LazyFrame({"p": [0.5]})), is_engine(pl.DataFrame({"p": [0.5]})), is_engine("a.csv")
    (True, False, False)
    """
    if source is None or isinstance(source, str | os.PathLike | Mapping | Sequence | np.ndarray):
        return False
    import narwhals as nw  # which takes a while

    return isinstance(nw.from_native(source, pass_through=True), nw.LazyFrame)
