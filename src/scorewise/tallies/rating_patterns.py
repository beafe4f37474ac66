"""Rows of ratings folded into distinct patterns, without a sort where few are possible."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int32]
_FEW = 1 << 20  # possible patterns that are counted without a sort


def folded(
    codes: Codes, weight: Any, weight2: Any, many: int, plain: bool
) -> tuple[Codes, Any, Any]:
    """Distinct patterns in order, and the sums of weights on each; `plain` weights are all 1."""
    raters = codes.shape[1]
    if (many + 1) ** raters <= _FEW:
        key = _keys(codes, many)
        size = (many + 1) ** raters
        amount = np.bincount(key, minlength=size)
        seen = np.flatnonzero(amount)
        if plain:
            return _spelled(seen, many, raters), amount[seen], amount[seen]
        sums = [_summed(key, w, size)[seen] for w in (weight, weight2)]
        return _spelled(seen, many, raters), sums[0], sums[1]
    key = _ranked_keys(codes, many)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    sums = [_summed(place, w, len(first)) for w in (weight, weight2)]
    return codes[first], sums[0], sums[1]


def _keys(codes: Codes, many: int) -> NDArray[np.int64]:
    key = np.zeros(len(codes), np.int64)
    for column in codes.T:
        key *= many + 1
        key += column
        key += 1
    return key


def _spelled(key: NDArray[np.int64], many: int, raters: int) -> Codes:
    """The patterns of keys."""
    powers = (many + 1) ** np.arange(raters - 1, -1, -1, dtype=np.int64)
    return (key[:, None] // powers % (many + 1) - 1).astype(np.int32)


def _ranked_keys(codes: Codes, many: int) -> NDArray[np.int64]:
    """Keys in the order of the patterns; they are replaced by their ranks where they grow too long."""
    key, reach = np.zeros(len(codes), np.int64), 1
    for column in codes.T:
        if reach > 2**62 // (many + 1):
            distinct, key = np.unique(key, return_inverse=True)
            reach = len(distinct)
        key = key * (many + 1) + column + 1
        reach *= many + 1
    return key


def _summed(place: Any, weight: Any, size: int) -> Any:
    found = np.bincount(place, weight, size)
    return found.astype(np.int64) if weight.dtype.kind == "i" else found
