"""Tallies of frames that stay in their engine: Polars lazy frames, DuckDB, Dask, PySpark and others.

Two queries by narwhals, the same for all of them: one that checks the columns, and one that counts rows in
cells. Only its groups leave the engine. They use additions, multiplications, divisions, square roots,
comparisons and `floor`, which are the same to the last bit everywhere, and aggregate with counts, least
and greatest values and sums of integers, which do not depend on the order of rows. Rounding, logarithms,
sums of floats, and comparisons with NaN are not used, because engines differ on them.
"""

from __future__ import annotations

from scorewise.engines.distinct import rows_of_frame
from scorewise.engines.frames import is_engine

__all__ = ["is_engine", "rows_of_frame"]
