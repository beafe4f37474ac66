"""Scores of several classes as a fitted map takes them: the same classes, in its order."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns.classes import as_table, take_classes, unnamed
from scorewise.columns.labels import listed, text
from scorewise.errors import BadInput
from scorewise.recalibrating.classes.mapping import ClassMap


def several(p: Any) -> bool:
    """Whether there is a column of scores for each class: a table, a frame or a mapping.

    >>> several([0.2, 0.7]), several([[0.2, 0.8], [0.7, 0.3]]), several({"a": [0.2], "b": [0.8]})
    (False, True, True)
    """
    if isinstance(p, Mapping) or _framed(p):
        return True
    if isinstance(p, list | tuple):
        return bool(len(p)) and all(
            hasattr(row, "__len__") and not isinstance(row, str) for row in p
        )
    return getattr(p, "ndim", 1) == 2


def scores_of(p: Any, m: ClassMap) -> Floats:
    """The scores of the classes of a map, checked; columns that have names are found by them."""
    if not unnamed(p):
        named = {text(c): p[c] for c in (p.columns if hasattr(p, "columns") else p)}
        if set(named) != set(m.classes):
            raise BadInput(
                f"the columns are {listed(list(named))}, but the map is for the classes "
                f"{listed(list(m.classes))}; pass one column for each"
            )
        p = {c: named[c] for c in m.classes}
        first = p[m.classes[0]]
        size = len(first) if hasattr(first, "__len__") else 0
    else:
        p = as_table(p)
        if p.ndim != 2 or p.shape[1] != len(m.classes):
            raise BadInput(
                f"scores have shape {p.shape}; the map is for {len(m.classes)} classes and needs one row "
                f"of {len(m.classes)} scores each"
            )
        size = len(p)
    labels = np.full(size, m.classes[0])
    return take_classes(labels, p, classes=m.classes, kind=m.kind).scores


def _framed(p: Any) -> bool:
    pandas = sys.modules.get("pandas")
    return hasattr(p, "get_columns") or (pandas is not None and isinstance(p, pandas.DataFrame))
