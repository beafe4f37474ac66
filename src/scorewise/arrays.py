"""The types of arrays that statistics are made of, and records that hold them."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]


class EqualByFields:
    """Records of arrays, equal if the fields that identify them are."""

    _identity: ClassVar[tuple[str, ...]]  # the fields that identify them

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, type(self)):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self._identity)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    if isinstance(a, tuple):
        return isinstance(b, tuple) and len(a) == len(b) and all(map(_same, a, b))
    return bool(a.equals(b) if hasattr(a, "equals") else a == b)


def freeze(record: Any, *names: str) -> None:
    """Make arrays of a frozen record read-only."""
    for name in names:
        seen = getattr(record, name).view()
        seen.flags.writeable = False
        object.__setattr__(record, name, seen)
