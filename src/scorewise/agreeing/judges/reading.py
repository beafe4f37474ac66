"""Columns of humans and judges, by their names in a file or frame."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scorewise.columns import Place
from scorewise.columns.load import open_source
from scorewise.columns.roles import check_columns
from scorewise.errors import BadInput


@dataclass(frozen=True)
class Given:
    """The columns of humans and judges, of judges asked again, and the weights."""

    humans: Any
    judges: Any
    swapped: Mapping[str, Any] | None
    weight: Any
    weight_name: str = "weight"
    place: Place | None = None


def given(
    source: Any,
    second: Any,
    humans: Any,
    judges: Any,
    swapped: Any,
    weight: Any,
    encoding: str | None = None,
) -> Given:
    """What `judge` was given: columns, or a file or frame with the names of its columns."""
    if second is not None:
        if humans is not None or judges is not None:
            raise BadInput("humans= or judges= is given twice; pass each once, by place or by name")
        humans, judges = source, second
    elif source is None or humans is None:
        humans = source if humans is None else humans
    else:
        named = _names(humans, "human"), _names(judges, "judge")
        return _read(source, *named, swapped, weight, encoding)
    if isinstance(humans, str | os.PathLike):
        raise BadInput(
            "humans is a path or a name; pass a file with the names of its columns, such as "
            'judge("file.csv", humans=["ann"], judges=["gpt"])'
        )
    return Given(humans, judges, swapped, weight)


def _names(names: Any, what: str) -> list[str]:
    """Names of columns, each once."""
    listed = [names] if isinstance(names, str) else names
    if listed is None or isinstance(listed, Mapping) or not all(isinstance(n, str) for n in listed):
        raise BadInput(f"{what}s= names columns of the file or frame; pass a list of names")
    if not listed:
        raise BadInput(f"no {what} was given; name at least one column")
    return list(listed)


def _read(
    source: Any,
    humans: list[str],
    judges: list[str],
    swapped: Any,
    weight: str | None,
    encoding: str | None,
) -> Given:
    if both := [name for name in judges if name in humans]:
        raise BadInput(f"'{both[0]}' is named as a human and as a judge; it can be one of them")
    if weight is not None and not isinstance(weight, str):
        raise BadInput("weight= is the name of a column where ratings are in a file or a frame")
    columns, get, _ = open_source(source, encoding)
    again = _again(judges, swapped, columns)
    wanted = [*humans, *judges, *again.values(), *([] if weight is None else [weight])]
    if twice := [name for name in wanted if wanted.count(name) > 1]:
        raise BadInput(f"column '{twice[0]}' is given twice; name a different column for each")
    check_columns(columns, wanted)
    found, place = get(wanted)
    return Given(
        {name: found[name] for name in humans},
        {name: found[name] for name in judges},
        {judge: found[name] for judge, name in again.items()} or None,
        None if weight is None else found[weight],
        weight or "weight",
        place,
    )


def _again(judges: Sequence[str], swapped: Any, columns: Sequence[str]) -> dict[str, str]:
    """The column of the exchanged run of each judge: by judge, or in their order.

    >>> _again(["gpt", "small"], ["small=other"], ["gpt", "small", "other"])
    {'small': 'other'}
    >>> _again(["gpt"], ["gpt=1"], ["gpt", "gpt=1"])
    {'gpt': 'gpt=1'}
    """
    if isinstance(swapped, Mapping):
        return {str(judge): str(column) for judge, column in swapped.items()}
    asked = [swapped] if isinstance(swapped, str) else list(swapped or ())
    # a column whose name has a = is a column
    parts = [("", name) if name in columns else _part(name, judges) for name in asked]
    named = {judge: name for judge, name in parts if judge}
    if named:
        if len(named) < len(parts):
            raise BadInput(
                "swapped= names judges for some columns and not for others, or one twice; write each as "
                "JUDGE=COLUMN"
            )
        return named
    if asked and len(asked) != len(judges):
        raise BadInput(
            f"swapped= has {len(asked)} and there {'is' if len(judges) == 1 else 'are'} {len(judges)} of "
            f"judges; name one column for each, in their order, or write JUDGE=COLUMN"
        )
    return dict(zip(judges, asked, strict=False))


def _part(name: str, judges: Sequence[str]) -> tuple[str, str]:
    """The judge and the column of JUDGE=COLUMN; no judge where it is none."""
    return next(
        ((j, name[len(j) + 1 :]) for j in judges if name.startswith(f"{j}=")),
        ("", name),
    )
