"""Samples from whatever they are given as."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from scorewise.columns import take
from scorewise.columns.load import load, load_scores, open_source
from scorewise.drifting.sample import Sample
from scorewise.errors import BadInput
from scorewise.tallies import Tally


class Columns(NamedTuple):
    """Which columns to read, and how."""

    label: str | None = None
    score: str | None = None
    weight: str | None = None
    positive: Any = None
    kind: Any = None
    missing: Any = "refuse"
    encoding: str | None = None


def read(name: str, given: Any, columns: Columns, labelled: bool) -> tuple[Sample, list[str]]:
    """The sample, and what was decided on the way.

    A `Tally`; labels and scores as a pair; scores alone; or files, a data frame or a dict of columns.
    """
    if isinstance(given, Tally):
        return Sample(name, given, labelled), []
    if is_source(given):
        return _from_source(name, given, columns, labelled)
    if columns.weight is not None:
        raise BadInput(
            "weight= names a column of a file or data frame; for arrays pass "
            "sw.Tally.of(y, p, weight=...) instead"
        )
    options = {"kind": columns.kind, "missing": columns.missing}
    if _is_pair(given):
        tally = Tally.of(given[0], given[1], positive=columns.positive, **options)
        return Sample(name, tally, labelled), []
    rows = take(_none(given), {"score": given}, **options)
    return Sample(name, Tally.of_rows(rows, "score"), False), []


def is_source(given: Any) -> bool:
    """Whether columns have to be found in it: files, data frames, dicts of columns."""
    if isinstance(given, str | os.PathLike | Mapping):
        return True
    if isinstance(given, list | tuple) and given:
        return all(isinstance(part, str | os.PathLike) for part in given)
    # of the type: asking a lazy frame for its columns would make it work
    return hasattr(type(given), "columns") or hasattr(type(given), "collect_schema")


def _is_pair(given: Any) -> bool:
    return (
        isinstance(given, list | tuple)
        and len(given) == 2
        and all(hasattr(part, "__len__") for part in given)
    )


def _none(given: Any) -> Any:
    """Labels that stand for none."""
    try:
        return np.zeros(len(given), np.int64)
    except TypeError:
        raise BadInput(
            f"a value of type {type(given).__name__} is no sample; pass a Tally, a pair of labels and "
            f"scores, scores alone, a file name or a data frame"
        ) from None


def _from_source(
    name: str, given: Any, columns: Columns, labelled: bool
) -> tuple[Sample, list[str]]:
    kept = ("weight", "kind", "missing", "encoding")
    options = {name: getattr(columns, name) for name in kept}
    if labelled:
        _check_label(name, given, columns)
        loaded = load(
            given,
            label=columns.label,
            scores=() if columns.score is None else columns.score,
            positive=columns.positive,
            **options,
        )
    else:
        loaded = load_scores(given, score=columns.score, label=columns.label, **options)
    tally = Tally.of_rows(loaded.rows, next(iter(loaded.rows.scores)), loaded.sources)
    return Sample(name, tally, labelled), loaded.notes


def _check_label(name: str, given: Any, columns: Columns) -> None:
    """Labels come late: say what to do where a sample has none yet."""
    label = columns.label
    if name != "current" or label is None or is_stream(given):
        return
    names, _, sources = open_source(given, columns.encoding)
    if label not in names:
        where = ", ".join(sources) or "the current sample"
        raise BadInput(
            f"there is no column '{label}' in {where}; name another label, or pass labels=\"reference\" "
            f"if its labels are not known yet"
        )


def is_stream(given: Any) -> bool:
    """Whether it can be read only once."""
    return given == "-" if isinstance(given, str) else False
