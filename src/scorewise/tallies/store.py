"""Tallies as files: one small Parquet file, with version, origin and a seal in its metadata.

A tally of two classes is a row for each cell; that of several classes one row of lists.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from scorewise.columns.classes import numbered
from scorewise.errors import BadInput
from scorewise.tallies.classes import ClassTally
from scorewise.tallies.coarse import Coarse, Origin
from scorewise.tallies.confusion import Confusion
from scorewise.tallies.joint import Joint, Marks
from scorewise.tallies.losses import Moments
from scorewise.tallies.tally import Tally
from scorewise.tallies.validity import fault
from scorewise.writing import write as put

Stored = dict[str, Any]
Made = TypeVar("Made", Tally, ClassTally)
_VERSION = 2
_SEAL = "scorewise.sha256"
_SEALED = re.compile(_SEAL.encode().replace(b".", rb"\.") + rb"[^0-9a-f]{1,8}([0-9a-f]{64})")
_OPEN = "0" * 64  # where the seal of all other bytes will stand
_KEY = "scorewise.tally"
_SIDES = ("neg", "pos")
_CLASS_KEY = "scorewise.class_tally"
_TALLY = ("score", "neg", "pos", "neg2", "pos2")
_MARKS = ("score", "true", "weight", "weight2")
_JOINT = ("scores", "y", "weight", "weight2")


def write(
    t: Tally | ClassTally, columns: Stored, key: str, about: Stored, path: str | Path
) -> None:
    """Write the columns of a tally that can be read again; of several classes, as lists in one row."""
    import polars as pl

    if wrong := fault(t):
        raise BadInput(f"the tally cannot be saved: {wrong}")
    lists = isinstance(t, ClassTally)  # whose columns have different lengths

    series = [pl.Series(name, values) for name, values in columns.items()]
    text = json.dumps({"version": _VERSION, **about})
    frame, buffer = pl.DataFrame([s.implode() if lists else s for s in series]), io.BytesIO()
    frame.write_parquet(buffer, metadata={key: text, _SEAL: _OPEN})
    data = bytearray(buffer.getbuffer())
    place, made = _sealed(data)
    data[place] = made
    put(path, bytes(data))


def read(path: Path, key: str, instead: str) -> tuple[Stored, Stored]:
    """What the file says of itself, and its columns; `instead` is the way out if it is another file.

    The seal is of the bytes, and looked at first: on damaged ones a reader of Parquet may end the process.
    """
    import polars as pl

    if not os.path.isfile(path):  # noqa: PTH113 (bears names too long)
        raise BadInput(f"no such file: {path}")
    changed = BadInput(f"{path.name} is damaged or was edited after it was saved; make it anew")
    damaged = BadInput(f"{path.name} cannot be read as a saved tally; it is damaged or cut off")
    try:
        data = path.read_bytes()  # polars takes brackets in a path for a glob
    except OSError:
        raise damaged from None
    place, made = _sealed(bytearray(data))
    if place.stop and data[place] != made:
        raise changed
    try:
        metadata = pl.read_parquet_metadata(io.BytesIO(data))
        about: Any = json.loads(metadata[key]) if key in metadata else None
    except (
        pl.exceptions.PolarsError,
        pl.exceptions.PanicException,
        OSError,
        ValueError,
        RecursionError,
        IndexError,
    ) as e:
        raise damaged from e
    if key not in metadata:
        raise BadInput(f"{path.name} is a Parquet file, but not a saved tally; {instead}")
    known = about.get("version") if isinstance(about, dict) else None
    if known != _VERSION:
        raise BadInput(
            f"{path.name} is a tally of version {known}, this scorewise reads "
            f"version {_VERSION}; update scorewise or make the tally anew"
        )
    if not place.stop:
        raise changed
    frame = pl.read_parquet(io.BytesIO(data))
    return about, {s.name: (s[0] if s.dtype == pl.List else s).to_numpy() for s in frame}


def _sealed(data: bytearray) -> tuple[slice, bytes]:
    """Where the seal of a file stands, if it has one, and what it must be."""
    found = list(_SEALED.finditer(data))
    place = slice(*found[-1].span(1)) if found else slice(0, 0)
    if found:
        data[place] = _OPEN.encode()
    return place, hashlib.sha256(data).hexdigest().encode()


def invalid(path: Path, reason: str) -> BadInput:
    """The error of a file whose content cannot be a tally's."""
    return BadInput(f"{path.name} is not a valid tally: {reason}")


def save(t: Tally, path: str | Path) -> None:
    """Write the tally, if it is one that can be read again."""
    columns: Stored = {"score": t.score, "neg": t.neg, "pos": t.pos}
    if t.weighted:
        columns |= {"neg2": t.neg2, "pos2": t.pos2}
    about: Stored = {"kind": t.kind, "origin": asdict(t.origin)}
    if t.coarse is not None:
        columns["cell"] = t.coarse.cell
        for k, side in enumerate(_SIDES):
            parts = {"low": t.coarse.low, "high": t.coarse.high, "sum": t.coarse.sum}
            columns |= {f"{side}_{name}": v[k] for name, v in parts.items()}
        about |= {"grid": t.coarse.grid, "losses": t.coarse.losses}
    write(t, columns, _KEY, about, path)


def load(path: Path) -> Tally:
    """Read a tally, refusing what is not one, is damaged or comes from another version."""
    return _loaded(path, _KEY, "read it with sw.tally", _built)


def _loaded(path: Path, key: str, instead: str, built: Callable[[Stored, Stored], Made]) -> Made:
    about, column = read(path, key, instead)
    try:
        t = built(about, column)
        wrong = fault(t)
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as e:
        raise invalid(path, "something in it is missing or wrong; make it anew") from e
    if wrong:
        raise invalid(path, wrong)
    return t


def _built(about: Stored, column: Stored) -> Tally:
    if any(c.dtype.kind not in "if" for c in column.values()):
        raise TypeError
    neg, pos = column["neg"], column["pos"]
    counted = neg.dtype.kind == "i"  # counts are their own squares, and are kept once
    neg2, pos2 = (neg, pos) if counted else (column["neg2"], column["pos2"])
    origin, coarse = restored_origin(about["origin"]), _coarse(about, column)
    return Tally(column["score"], neg, pos, neg2, pos2, about["kind"], origin, coarse)


def restored_origin(stored: Stored) -> Origin:
    """The origin as it was stored, refused where a part of it is of another type."""
    origin = Origin(**{**stored, "sources": tuple(stored["sources"])})
    counts = origin.negatives, origin.positives, origin.dropped
    words = origin.score, origin.positive, origin.negative, origin.rule, *origin.sources
    maybe = origin.label, origin.weight
    if not all(type(n) is int and n >= 0 for n in counts):
        raise ValueError
    if not all(isinstance(w, str) for w in (*words, *(w for w in maybe if w is not None))):
        raise TypeError
    return origin


def _coarse(about: Stored, column: Stored) -> Coarse | None:
    if "grid" not in about:
        return None
    low, high, total = (
        np.stack([column[f"{side}_{name}"] for side in _SIDES]) for name in ("low", "high", "sum")
    )
    losses = {
        k: (restored_moments(neg), restored_moments(pos))
        for k, (neg, pos) in about["losses"].items()
    }
    return Coarse(about["grid"], column["cell"], low, high, total, losses)


def restored_moments(sums: list[Any]) -> Moments:
    """Moments as they were stored."""
    if not all(type(n) in (int, float) for n in sums):
        raise TypeError
    return Moments(*sums)


def save_classes(t: ClassTally, path: str | Path) -> None:
    """Write the tally, if it is one that can be read again."""
    parts: dict[str, tuple[Any, tuple[str, ...]]] = {
        "confusion": (t.confusion, ("weight", "weight2")),
        "top": (t.top, _TALLY),
        "ranked": (t.ranked, _TALLY),
    }
    parts |= {f"class {c}": (marks, _MARKS) for c, marks in enumerate(t.each)}
    about: Stored = {
        "kind": t.kind, "classes": t.classes, "losses": t.losses, "rule": t.rule,
        "ordered": t.ordered,
        "tallies": {n: [parts[n][0].kind, asdict(parts[n][0].origin)] for n in ("top", "ranked")},
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
    write(t, columns, _CLASS_KEY, about, path)


def load_classes(path: Path) -> ClassTally:
    """Read a tally of several classes, refusing what is not one, is damaged or of another version."""
    return _loaded(path, _CLASS_KEY, "make it with ClassTally.of and save", _built_classes)


def _built_classes(about: Stored, column: Stored) -> ClassTally:
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
        bool(about.get("ordered", numbered(classes))),
    )  # fmt: skip


def _weights(column: Stored, part: str, field: str) -> Any:
    """A column of weights; that of squares is the weights themselves where they are counts."""
    weights = column[f"{part}: {field.removesuffix('2')}"]
    return weights if weights.dtype.kind == "i" else column[f"{part}: {field}"]


def _scores(column: Stored, name: str) -> Any:
    return column[name].astype(np.float64, copy=False)


def _codes(column: Stored, name: str) -> Any:
    codes = column[name].astype(np.int64, copy=False)
    if not np.array_equal(codes, column[name]):
        raise ValueError
    return codes


def _tally(about: Stored, column: Stored, part: str) -> Tally:
    kind, origin = about["tallies"][part]
    neg, pos, neg2, pos2 = (_weights(column, part, field) for field in _TALLY[1:])
    score = _scores(column, f"{part}: score")
    return Tally(score, neg, pos, neg2, pos2, kind, restored_origin(origin))


def _marks(column: Stored, part: str) -> Marks:
    w, w2 = _weights(column, part, "weight"), _weights(column, part, "weight2")
    return Marks(_scores(column, f"{part}: score"), _codes(column, f"{part}: true"), w, w2)


def _losses(about: Stored) -> Any:
    if about["losses"] is None:
        return None
    return {k: tuple(restored_moments(m) for m in sums) for k, sums in about["losses"].items()}


def _joint(about: Stored, column: Stored, k: int) -> Joint | None:
    if "joint" not in about:
        return None
    total, total2 = about["joint"]
    if type(total) is not float or type(total2) is not float:
        raise TypeError
    scores, y = _scores(column, "joint: scores").reshape(-1, k), _codes(column, "joint: y")
    w, w2 = _weights(column, "joint", "weight"), _weights(column, "joint", "weight2")
    return Joint.of(scores, y, w, w2, totals=(total, total2))
