"""Tallies of several classes as files: one row of lists in a Parquet file, the rest in its metadata."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import numpy as np

from scorewise.door import Kind
from scorewise.door.classes import ClassKind
from scorewise.tallies.classes import ClassTally
from scorewise.tallies.confusion import Confusion
from scorewise.tallies.joint import Joint
from scorewise.tallies.losses_of_classes import CLASS_LOSSES
from scorewise.tallies.marks import Marks
from scorewise.tallies.parquet import invalid, read, write
from scorewise.tallies.store import restored_moments, restored_origin
from scorewise.tallies.tally import Tally

_KEY = "scorewise.class_tally"
_VERSION = 1
_TALLY = ("score", "neg", "pos", "neg2", "pos2")
_MARKS = ("score", "true", "weight", "weight2")
_JOINT = ("scores", "y", "weight", "weight2")


def save(t: ClassTally, path: Path) -> None:
    """Write the tally under a temporary name and move it into place."""
    parts: dict[str, tuple[Any, tuple[str, ...]]] = {
        "confusion": (t.confusion, ("weight", "weight2")),
        "top": (t.top, _TALLY),
        "ranked": (t.ranked, _TALLY),
    }
    parts |= {f"class {c}": (marks, _MARKS) for c, marks in enumerate(t.each)}
    about: dict[str, Any] = {
        "version": _VERSION, "kind": t.kind, "classes": t.classes, "losses": t.losses,
        "rule": t.rule,
        "tallies": {n: [part.kind, asdict(part.origin)] for n, part in _tallies(t).items()},
    }  # fmt: skip
    if t.joint is not None:
        parts["joint"] = (t.joint, _JOINT)
        about["joint"] = [float(t.joint.total), float(t.joint.total2)]
    columns = {
        f"{name}: {field}": [np.ravel(getattr(part, field)).tolist()]
        for name, (part, fields) in parts.items()
        for field in fields
        # counts are their own squares, and are kept once
        if not (field.endswith("2") and t.confusion.weight.dtype == np.int64)
    }
    write(_typed(columns), _KEY, about, path)


def load(path: Path) -> ClassTally:
    """Read a tally of several classes, refusing what is not one, is damaged or of a later version."""
    about, frame = read(path, _KEY, _VERSION, "make it with ClassTally.of and save")
    try:
        if len(frame) != 1:
            raise ValueError
        return _built(about, {name: frame[name][0].to_numpy() for name in frame.columns})
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as e:
        raise invalid(path, "something in it is missing or wrong; make it anew") from e


def _tallies(t: ClassTally) -> dict[str, Tally]:
    return {"top": t.top, "ranked": t.ranked}


def _typed(columns: dict[str, list[Any]]) -> dict[str, Any]:
    """Columns of lists, of which an empty one has a type too."""
    import polars as pl

    whole = {name for name, [values] in columns.items() if values and type(values[0]) is int}
    return {
        name: pl.Series(name, values, pl.List(pl.Int64 if name in whole else pl.Float64))
        for name, values in columns.items()
    }


def _built(about: dict[str, Any], column: dict[str, Any]) -> ClassTally:
    classes, k = tuple(about["classes"]), len(about["classes"])
    if not all(isinstance(c, str) for c in classes) or len(set(classes)) < max(k, 2):
        raise ValueError
    if about["kind"] not in get_args(ClassKind):
        raise ValueError
    table = [_weights(column, "confusion", f).reshape(k, k) for f in ("weight", "weight2")]
    each: tuple[Marks, ...] = ()
    if "class 0: score" in column:
        each = tuple(_marks(column, c, k) for c in range(k))
    return ClassTally(
        classes, about["kind"], Confusion(table[0], table[1], classes),
        _tally(about, column, "top"), _tally(about, column, "ranked"), each,
        _losses(about, k), _joint(about, column, k), str(about.get("rule", "")),
    )  # fmt: skip


def _weights(column: dict[str, Any], part: str, field: str) -> Any:
    """A column of weights; that of squares is the weights themselves where they are counts."""
    plain = field.removesuffix("2")
    values = column.get(f"{part}: {field}", column[f"{part}: {plain}"])
    # written so that NaN, which is what nulls become, fails
    if not (values >= 0).all():
        raise ValueError
    return values


def _scores(column: dict[str, Any], name: str) -> Any:
    values = column[name].astype(np.float64)
    if not np.isfinite(values).all():
        raise ValueError
    return values


def _codes(column: dict[str, Any], name: str, k: int) -> Any:
    codes = column[name].astype(np.int64)
    if not np.array_equal(codes, column[name]) or not ((codes >= 0) & (codes < k)).all():
        raise ValueError
    return codes


def _same_length(*columns: Any) -> None:
    if len({len(c) for c in columns}) > 1:
        raise ValueError


def _tally(about: dict[str, Any], column: dict[str, Any], part: str) -> Tally:
    kind, origin = about["tallies"][part]
    score = _scores(column, f"{part}: score")
    neg, pos, neg2, pos2 = (_weights(column, part, field) for field in _TALLY[1:])
    _same_length(score, neg, pos, neg2, pos2)
    if kind not in get_args(Kind) or not (np.diff(score) > 0).all():
        raise ValueError
    return Tally(score, neg, pos, neg2, pos2, kind, restored_origin(origin))


def _marks(column: dict[str, Any], c: int, k: int) -> Marks:
    part = f"class {c}"
    score, true = _scores(column, f"{part}: score"), _codes(column, f"{part}: true", k)
    w, w2 = _weights(column, part, "weight"), _weights(column, part, "weight2")
    _same_length(score, true, w, w2)
    up = np.diff(score)
    if not ((up > 0) | ((up == 0) & (np.diff(true) > 0))).all():
        raise ValueError
    return Marks(score, true, w, w2)


def _losses(about: dict[str, Any], k: int) -> Any:
    if about["losses"] is None:
        return None
    losses = about["losses"]
    made = {loss: tuple(restored_moments(m) for m in losses[loss]) for loss in CLASS_LOSSES}
    if any(len(sums) != k for sums in made.values()):
        raise ValueError
    return made


def _joint(about: dict[str, Any], column: dict[str, Any], k: int) -> Joint | None:
    if "joint" not in about:
        return None
    total, total2 = about["joint"]
    if type(total) is not float or type(total2) is not float:
        raise TypeError
    scores = _scores(column, "joint: scores").reshape(-1, k)
    y = _codes(column, "joint: y", k)
    w, w2 = _weights(column, "joint", "weight"), _weights(column, "joint", "weight2")
    _same_length(scores, y, w, w2)
    return Joint.of(scores, y, w, w2, totals=(total, total2))
