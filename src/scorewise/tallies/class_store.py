"""Tallies of several classes as files: one row of lists in a Parquet file, the rest in its metadata."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from scorewise.errors import BadInput
from scorewise.tallies.classes import ClassTally
from scorewise.tallies.confusion import Confusion
from scorewise.tallies.joint import Joint
from scorewise.tallies.marks import Marks
from scorewise.tallies.parquet import invalid, read, write
from scorewise.tallies.store import restored_moments, restored_origin
from scorewise.tallies.tally import Tally
from scorewise.tallies.validity import fault

_KEY = "scorewise.class_tally"
_TALLY = ("score", "neg", "pos", "neg2", "pos2")
_MARKS = ("score", "true", "weight", "weight2")
_JOINT = ("scores", "y", "weight", "weight2")


def save(t: ClassTally, path: str | Path) -> None:
    """Write the tally, if it is one that can be read again."""
    if wrong := fault(t):
        raise BadInput(f"the tally cannot be saved: {wrong}")
    parts: dict[str, tuple[Any, tuple[str, ...]]] = {
        "confusion": (t.confusion, ("weight", "weight2")),
        "top": (t.top, _TALLY),
        "ranked": (t.ranked, _TALLY),
    }
    parts |= {f"class {c}": (marks, _MARKS) for c, marks in enumerate(t.each)}
    about: dict[str, Any] = {
        "kind": t.kind, "classes": t.classes, "losses": t.losses, "rule": t.rule,
        "tallies": {n: [part.kind, asdict(part.origin)] for n, part in _tallies(t).items()},
    }  # fmt: skip
    if t.joint is not None:
        parts["joint"] = (t.joint, _JOINT)
        about["joint"] = [float(t.joint.total), float(t.joint.total2)]
    columns = {
        f"{name}: {field}": np.ravel(getattr(part, field))
        for name, (part, fields) in parts.items()
        for field in fields
        # counts are their own squares, and are kept once
        if not (field.endswith("2") and t.confusion.weight.dtype == np.int64)
    }
    write(columns, _KEY, about, path, lists=True)


def load(path: Path) -> ClassTally:
    """Read a tally of several classes, refusing what is not one, is damaged or of another version."""
    about, column = read(path, _KEY, "make it with ClassTally.of and save")
    try:
        t = _built(about, column)
        wrong = fault(t)
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as e:
        raise invalid(path, "something in it is missing or wrong; make it anew") from e
    if wrong:
        raise invalid(path, wrong)
    return t


def _tallies(t: ClassTally) -> dict[str, Tally]:
    return {"top": t.top, "ranked": t.ranked}


def _built(about: dict[str, Any], column: dict[str, Any]) -> ClassTally:
    classes, k = tuple(about["classes"]), len(about["classes"])
    if not all(isinstance(c, str) for c in classes):
        raise TypeError
    table = [_weights(column, "confusion", f).reshape(k, k) for f in ("weight", "weight2")]
    each: tuple[Marks, ...] = ()
    if "class 0: score" in column:
        each = tuple(_marks(column, f"class {c}") for c in range(k))
    return ClassTally(
        classes, about["kind"], Confusion(table[0], table[1], classes),
        _tally(about, column, "top"), _tally(about, column, "ranked"), each,
        _losses(about), _joint(about, column, k), str(about["rule"]),
    )  # fmt: skip


def _weights(column: dict[str, Any], part: str, field: str) -> Any:
    """A column of weights; that of squares is the weights themselves where they are counts."""
    weights = column[f"{part}: {field.removesuffix('2')}"]
    return weights if weights.dtype.kind == "i" else column[f"{part}: {field}"]


def _scores(column: dict[str, Any], name: str) -> Any:
    return column[name].astype(np.float64, copy=False)


def _codes(column: dict[str, Any], name: str) -> Any:
    codes = column[name].astype(np.int64, copy=False)
    if not np.array_equal(codes, column[name]):
        raise ValueError
    return codes


def _tally(about: dict[str, Any], column: dict[str, Any], part: str) -> Tally:
    kind, origin = about["tallies"][part]
    neg, pos, neg2, pos2 = (_weights(column, part, field) for field in _TALLY[1:])
    score = _scores(column, f"{part}: score")
    return Tally(score, neg, pos, neg2, pos2, kind, restored_origin(origin))


def _marks(column: dict[str, Any], part: str) -> Marks:
    w, w2 = _weights(column, part, "weight"), _weights(column, part, "weight2")
    return Marks(_scores(column, f"{part}: score"), _codes(column, f"{part}: true"), w, w2)


def _losses(about: dict[str, Any]) -> Any:
    if about["losses"] is None:
        return None
    return {k: tuple(restored_moments(m) for m in sums) for k, sums in about["losses"].items()}


def _joint(about: dict[str, Any], column: dict[str, Any], k: int) -> Joint | None:
    if "joint" not in about:
        return None
    total, total2 = about["joint"]
    if type(total) is not float or type(total2) is not float:
        raise TypeError
    scores, y = _scores(column, "joint: scores").reshape(-1, k), _codes(column, "joint: y")
    w, w2 = _weights(column, "joint", "weight"), _weights(column, "joint", "weight2")
    return Joint.of(scores, y, w, w2, totals=(total, total2))
