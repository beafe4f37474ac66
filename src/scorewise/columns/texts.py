"""Columns of text, or of lists of text, from any library: gold answers and predictions."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np

from scorewise.arrays import Bools
from scorewise.columns.labels import text
from scorewise.columns.numbers import Place
from scorewise.columns.vectors import absent
from scorewise.errors import BadInput

Cell: TypeAlias = str | list[Any] | None


@dataclass(frozen=True)
class Texts:
    """A text, a list of texts, a list of such lists, or None for a missing value, in each row."""

    values: list[Cell]

    def __len__(self) -> int:
        return len(self.values)

    def missing(self) -> Bools | None:
        """Where there is no value; None when every row has one."""
        if None not in self.values:
            return None
        return np.fromiter((v is None for v in self.values), bool, len(self.values))

    def keep(self, rows: Bools) -> Texts:
        """Those rows alone."""
        return Texts([v for v, kept in zip(self.values, rows, strict=True) if kept])


def texts(column: Any, name: str, place: Place) -> Texts:
    """A column of text or lists; numbers in it are written out, and an object's field "text" is taken.

    >>> texts(["Paris", ["12", 12.5], None], "gold", Place()).values
    ['Paris', ['12', '12.5'], None]
    """
    if isinstance(column, str | bytes | Mapping | set | frozenset):
        what = "a single text" if isinstance(column, str | bytes) else type(column).__name__
        raise BadInput(f"{name} is {what}; pass a column: one answer per row")
    if getattr(column, "ndim", 1) == 0:
        raise BadInput(f"{name} is a single value; pass a column: one answer per row")
    if getattr(column, "ndim", 1) > 1:
        raise BadInput(f"{name} has shape {column.shape}; pass a column: one answer per row")
    # polars and pandas, pyarrow, numpy
    known = (m for m in ("to_list", "to_pylist", "tolist") if hasattr(column, m))
    if method := next(known, None):
        column = getattr(column, method)()
    elif not isinstance(column, Iterable):
        raise BadInput(f"{name} is of type {type(column).__name__}; pass one answer per row")
    values = list(column)
    if set(map(type, values)) <= {str, type(None)}:
        return Texts(values)
    return Texts([_cell(v, name, place, i) for i, v in enumerate(values)])


def _cell(value: Any, name: str, place: Place, row: int) -> Cell:
    """A row's text or list of texts; refuses whatever is neither, and lists in lists in lists."""
    if type(value) is str or (type(value) is list and {*map(type, value)} <= {str}):
        return value
    if isinstance(value, Mapping) and "text" in value:  # the answers of SQuAD
        value = value["text"]
    if not _is_list(value):
        return None if absent(value) else _word(value, name, place, row)
    read = partial(_word, name=name, place=place, row=row)
    return [[*map(read, v)] if _is_list(v) else read(v) for v in value]


def _is_list(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.ndim > 0
    polars = sys.modules.get("polars")
    return isinstance(value, list | tuple if polars is None else list | tuple | polars.Series)


def _word(value: Any, name: str, place: Place, row: int) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, bool | int | float | np.generic) and not absent(value):
        return text(value)
    if absent(value):
        raise BadInput(
            f"{name} has a missing value within a list at {place.row(row)}; leave it out of the list"
        )
    kind = "list of lists of lists" if _is_list(value) else type(value).__name__
    raise BadInput(
        f"{name} holds a {kind} at {place.row(row)}; pass a text, a list of texts, or a list of such lists"
    )


def check_flat(column: Texts, name: str, place: Place) -> None:
    """Refuse lists within lists, which mean something in gold answers only."""
    for row, cell in enumerate(column.values):
        if not isinstance(cell, str) and any(not isinstance(part, str) for part in cell or ()):
            raise BadInput(
                f"{name} holds a list within a list at {place.row(row)}; pass a text or a list of texts"
            )


def plain(text: str) -> str:
    r"""Text in Unicode's form NFKC, without case, with single blanks between words and none around.

    NFKC writes a letter and its accent as one character where Unicode has one, and letters of full width,
    ligatures and raised digits as the usual ones.

    >>> plain("  The ﬁrst  STRASSE "), plain("Cafe\u0301") == plain("CAFÉ"), plain("Straße")
    ('the first strasse', True, 'strasse')
    """
    if not text.isascii():
        # taking away case may take apart what NFKC put together
        folded = unicodedata.normalize("NFKC", text).casefold()
        return " ".join(unicodedata.normalize("NFKC", folded).split())
    return " ".join(text.lower().split())
