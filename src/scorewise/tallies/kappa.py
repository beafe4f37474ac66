"""Cohen's kappa of square tables: of labels and decisions, or of two raters."""

from __future__ import annotations

from typing import Any

import numpy as np

from scorewise.arrays import Floats


def kappa(table: Any, apart: Floats | None = None) -> Any:
    """Agreement beyond chance, 1 - disagreement seen / disagreement by the margins.

    The last two axes are a table, those before it replicates. `apart` says how far apart two categories
    are, from 0 to 1; without it different ones are 1 apart.

    >>> round(float(kappa(np.array([[20.0, 5.0], [10.0, 15.0]]))), 6)
    0.4
    """
    _, seen, by_chance, *_ = _parts(table, apart)
    return 1 - seen / by_chance


def kappa_slope(table: Floats, apart: Floats | None = None) -> Floats:
    """How each cell moves kappa: that of Fleiss, Cohen and Everitt (1969)."""
    away, seen, by_chance, of_row, of_column = _parts(table, apart)
    seen, by_chance = seen[..., None, None], by_chance[..., None, None]
    turned = of_row[..., :, None] + of_column[..., None, :] - 2 * by_chance
    total = table.sum((-2, -1), keepdims=True)
    slope: Floats = (seen / by_chance * turned - (away - seen)) / by_chance / total
    return slope


def _parts(table: Any, apart: Floats | None) -> tuple[Any, Any, Any, Any, Any]:
    """How far categories are apart, the means of it as seen and by chance, and those of each category."""
    away = 1 - np.eye(table.shape[-1]) if apart is None else apart
    share = table / table.sum((-2, -1), keepdims=True)
    row, column = share.sum(-1), share.sum(-2)
    of_row, of_column = column @ away.T, row @ away
    return away, (share * away).sum((-2, -1)), (row * of_row).sum(-1), of_row, of_column
