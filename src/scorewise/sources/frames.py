"""Frames of any library, and mappings of columns."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from scorewise.errors import BadInput


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
            f"a value of type {type(source).__name__} is no source of rows; "
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
