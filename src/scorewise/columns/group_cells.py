"""Columns of groups: their combinations that occur, and what such columns may not be."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from scorewise.arrays import Ints
from scorewise.columns.binary import Rows
from scorewise.errors import BadInput

MOST = 10_000  # groups that are judged


def intersections(rows: Rows) -> tuple[Ints, list[tuple[str, ...]]]:
    """The group of each row, and the words of each group that occurs; -1 for rows of no weight."""
    cell = np.zeros(len(rows), np.int64)
    for codes, words in rows.groups.values():
        cell = cell * len(words) + codes
        many = int(cell.max(initial=0)) + 1
        if many > 4 * len(rows) + MOST:
            cell = np.unique(cell, return_inverse=True)[1]
    heavy = rows.mass() > 0
    there = np.bincount(cell[heavy], minlength=int(cell.max(initial=0)) + 1) > 0
    at = np.where(there[cell], (there.cumsum() - 1)[cell], -1)
    first = np.zeros(int(there.sum()) + 1, np.int64)
    first[at[::-1]] = np.arange(len(at))[::-1]  # the last entry is for rows of no weight
    keys = [
        tuple(words[codes[i]] for codes, words in rows.groups.values()) for i in first[:-1].tolist()
    ]
    return at, keys


def check_columns(by: Any, others: Mapping[str, Any]) -> None:
    """Refuse columns of groups that are named twice, or stand for something else."""
    listed = [by] if isinstance(by, str) else list(by)
    for name in listed:
        if listed.count(name) > 1:
            raise BadInput(f"column '{name}' is given twice as group; name each once")
        for role, used in others.items():
            if name == used or (isinstance(used, list | tuple) and name in used):
                raise BadInput(
                    f"column '{name}' is given as {role} and as group; name a different column for each"
                )
