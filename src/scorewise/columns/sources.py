"""What was passed: files, a frame or mapping of columns, a table of scores, or a single column."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from scorewise.columns.labels import text
from scorewise.columns.vectors import of_torch
from scorewise.errors import BadInput


def is_files(source: Any) -> bool:
    """Whether it is the name of a file, or a list of them."""
    listed = source if isinstance(source, list | tuple) else [source]
    return all(isinstance(s, str | os.PathLike) for s in listed)


def is_source(x: Any) -> bool:
    """Whether columns can be read from it by name: a file, several, a frame or a mapping.

    >>> is_source("a.csv"), is_source({"y": [1]}), is_source([0, 1, 1])
    (True, True, False)
    """
    return isinstance(x, Mapping) or is_frame(x) or (is_files(x) and x not in ([], ()))


def is_frame(x: Any) -> bool:
    """Whether it is a data frame, in memory or lazy."""
    # of the type: asking a lazy frame for its columns would make it work
    frame = hasattr(type(x), "columns") or hasattr(type(x), "collect_schema")
    return frame or hasattr(x, "__dataframe__") or hasattr(x, "__narwhals_dataframe__")


def is_wide(p: Any) -> bool:
    """Whether there is a column of scores for each class: a table, a frame or a mapping.

    >>> is_wide([0.2, 0.7]), is_wide([[0.2, 0.8], [0.7, 0.3]]), is_wide({"a": [0.2], "b": [0.8]})
    (False, True, True)
    """
    if isinstance(p, Mapping) or is_frame(p):
        return True
    if isinstance(p, list | tuple):
        first: Any = p[0] if p else 0
        return isinstance(first, list | tuple) or np.ndim(first) > 0
    try:
        return len(getattr(p, "shape", ())) > 1
    except Exception:  # whatever a container may raise, such as nested tensors of torch
        return False


def only_column(p: Any) -> Any:
    """The column of a table, frame or mapping that has one alone; anything else as it is.

    >>> only_column([[0.2], [0.7]])
    array([0.2, 0.7])
    """
    if not is_wide(p):
        return p
    columns = named_columns(p)
    if columns is not None:
        return next(iter(columns.values())) if len(columns) == 1 else p
    table = as_table(p)
    return column_of(table, 0) if table.ndim == 2 and table.shape[1] == 1 else p


def named_columns(scores: Any) -> dict[str, Any] | None:
    """The columns of a mapping or a frame by name; None where they have no names.

    Those of a pandas frame may be numbers from 0 alone.
    """
    pandas: Any = sys.modules.get("pandas")
    framed = pandas is not None and isinstance(scores, pandas.DataFrame)
    if framed and scores.columns.equals(pandas.RangeIndex(scores.shape[1])):
        return None
    if framed or isinstance(scores, Mapping):
        columns = {text(c): scores[c] for c in scores}
        if len(columns) < len(scores.keys()):
            raise BadInput("two columns of scores have the same name; give each a name of its own")
        return columns
    if not is_frame(scores):
        return None
    names, get = open_frame(scores)
    return get(names)


def column_of(table: Any, k: int) -> Any:
    """A column of a table."""
    return table.iloc[:, k] if hasattr(table, "iloc") else table[:, k]


def as_table(scores: Any) -> Any:
    """Rows of scores as numpy; what is masked stays so."""
    scores = of_torch(scores, "the table of scores")
    if isinstance(scores, np.ma.MaskedArray) or hasattr(scores, "iloc"):
        return scores
    try:
        return np.asarray(scores)
    except Exception as e:  # whatever a container may raise
        if isinstance(scores, list | tuple) and isinstance(e, ValueError):
            sizes = [np.size(row) for row in scores]
            row = next((i for i, size in enumerate(sizes) if size != sizes[0]), 0)
            raise BadInput(
                f"scores have {sizes[0]} columns in row 0 and {sizes[row]} in row {row}, counting from "
                f"0; each row needs one score for each class"
            ) from None
        raise BadInput(
            f"scores ({type(scores).__name__}) cannot be read as a table; pass an n x K array, a frame "
            f"or a mapping from class to column"
        ) from e


def open_frame(source: Any) -> tuple[list[str], Callable[[list[str]], dict[str, Any]]]:
    """The names of the columns, and a function that gives those wanted.

    A lazy frame is collected with the wanted columns alone.

    >>> names, get = open_frame({"y": [0, 1], "p": [0.2, 0.9]})
    >>> names, get(["p"])
    (['y', 'p'], {'p': [0.2, 0.9]})
    """
    if isinstance(source, Mapping):
        by_name = {str(name): column for name, column in source.items()}
        return list(by_name), lambda wanted: {w: by_name[w] for w in wanted}

    import narwhals as nw
    from narwhals.exceptions import NarwhalsError

    try:
        frame = nw.from_native(source)
        known = {str(name): name for name in frame.collect_schema().names()}
    except TypeError:
        raise BadInput(
            f"a value of type {type(source).__name__} is not a source of rows; "
            f"pass a file name, a list of them, a data frame or a dict of columns"
        ) from None
    except NarwhalsError as problem:
        reason = " ".join(str(problem).split())
        raise BadInput(f"the data frame cannot be used: {reason}") from None

    def get(wanted: list[str]) -> dict[str, Any]:
        chosen = frame.select(*(nw.col(known[w]) for w in wanted))
        eager = chosen.collect() if isinstance(chosen, nw.LazyFrame) else chosen
        return {w: eager.get_column(known[w]).to_native() for w in wanted}

    return list(known), get
