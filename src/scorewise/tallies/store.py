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
from scorewise.tallies.joint import JOINT, MARKS, Joint, Marks
from scorewise.tallies.losses import Moments
from scorewise.tallies.tally import Tally
from scorewise.tallies.validity import fault
from scorewise.writing import write as put

Stored = dict[str, Any]
Made = TypeVar("Made", Tally, ClassTally)
_VERSION = 2
_UNREADABLE = (OSError, ValueError, RecursionError, IndexError)
_SEAL = "scorewise.sha256"
_SEALED = re.compile(_SEAL.encode().replace(b".", rb"\.") + rb"[^0-9a-f]{1,8}([0-9a-f]{64})")
_OPEN = "0" * 64  # where the seal of all other bytes will stand
_KEYS = {False: "scorewise.tally", True: "scorewise.class_tally"}  # of several classes?
_SIDES = ("neg", "pos")
_ENDS = ("low", "high", "sum")
_TALLY = ("score", "neg", "pos", "neg2", "pos2")


def save(t: Tally | ClassTally, path: str | Path) -> None:
    """Write the tally, if it is one that can be read again; of several classes, as lists in one row."""
    import polars as pl

    if wrong := fault(t):
        raise BadInput(f"the tally cannot be saved: {wrong}")
    several = isinstance(t, ClassTally)  # whose columns have different lengths
    columns, about = _class_columns(t) if isinstance(t, ClassTally) else _columns(t)
    series = [pl.Series(name, values) for name, values in columns.items()]
    text = json.dumps({"version": _VERSION, **about})
    frame, buffer = pl.DataFrame([s.implode() if several else s for s in series]), io.BytesIO()
    frame.write_parquet(buffer, metadata={_KEYS[several]: text, _SEAL: _OPEN})
    data = bytearray(buffer.getbuffer())
    place, made = _sealed(data)
    data[place] = made
    put(path, bytes(data))


def load(path: Path) -> Tally:
    """Read a tally, refusing what is not one, is damaged or comes from another version."""
    return _loaded(path, _KEYS[False], "read it with sw.tally", _built)


def load_classes(path: Path) -> ClassTally:
    """Read a tally of several classes, refusing what is not one, is damaged or of another version."""
    return _loaded(path, _KEYS[True], "make it with ClassTally.of and save", _built_classes)


def _loaded(path: Path, key: str, instead: str, built: Callable[[Stored, Stored], Made]) -> Made:
    about, column = _read(path, key, instead)
    try:
        t = built(about, column)
        wrong = fault(t)
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as e:
        wrong = "something in it is missing or wrong; make it anew"
        raise BadInput(f"{path.name} is not a valid tally: {wrong}") from e
    if wrong:
        raise BadInput(f"{path.name} is not a valid tally: {wrong}")
    return t


def _read(path: Path, key: str, instead: str) -> tuple[Stored, Stored]:
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
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, *_UNREADABLE) as e:
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


def _columns(t: Tally) -> tuple[Stored, Stored]:
    """The columns of a tally, and what else is to be known of it."""
    columns = {name: getattr(t, name) for name in (_TALLY if t.weighted else _TALLY[:3])}
    about: Stored = {"kind": t.kind, "origin": asdict(t.origin)}
    if t.coarse is not None:
        columns["cell"] = t.coarse.cell
        for k, side in enumerate(_SIDES):
            columns |= {f"{side}_{name}": getattr(t.coarse, name)[k] for name in _ENDS}
        about |= {"grid": t.coarse.grid, "losses": t.coarse.losses}
    return columns, about


def _built(about: Stored, column: Stored) -> Tally:
    if any(c.dtype.kind not in "if" for c in column.values()):
        raise TypeError
    neg, pos = column["neg"], column["pos"]
    counted = neg.dtype.kind == "i"  # counts are their own squares, and are kept once
    neg2, pos2 = (neg, pos) if counted else (column["neg2"], column["pos2"])
    coarse = None
    if "grid" in about:
        ends = (np.stack([column[f"{side}_{name}"] for side in _SIDES]) for name in _ENDS)
        low, high, total = ends
        losses = {loss: (a, b) for loss, (a, b) in _losses(about["losses"]).items()}
        coarse = Coarse(about["grid"], column["cell"], low, high, total, losses)
    return Tally(
        column["score"], neg, pos, neg2, pos2, about["kind"], _origin(about["origin"]), coarse
    )


def _origin(stored: Stored) -> Origin:
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


def _losses(stored: Stored) -> Any:
    """The moments of each loss by class, as they were stored."""
    if not all(type(n) in (int, float) for sums in stored.values() for m in sums for n in m):
        raise TypeError
    return {loss: tuple(Moments(*m) for m in sums) for loss, sums in stored.items()}


def _class_columns(t: ClassTally) -> tuple[Stored, Stored]:
    """The same of several classes, part by part."""
    parts: dict[str, tuple[Any, tuple[str, ...]]] = {
        "confusion": (t.confusion, ("weight", "weight2")),
        "top": (t.top, _TALLY),
        "ranked": (t.ranked, _TALLY),
    }
    parts |= {f"class {c}": (marks, MARKS) for c, marks in enumerate(t.each)}
    about: Stored = {
        "kind": t.kind, "classes": t.classes, "losses": t.losses, "rule": t.rule,
        "ordered": t.ordered,
        "tallies": {n: [parts[n][0].kind, asdict(parts[n][0].origin)] for n in ("top", "ranked")},
    }  # fmt: skip
    if t.joint is not None:
        parts["joint"] = (t.joint, JOINT)
        about["joint"] = [float(t.joint.total), float(t.joint.total2)]
    columns = {
        f"{name}: {field}": np.ravel(getattr(part, field))
        for name, (part, fields) in parts.items()
        for field in fields
        # counts are their own squares, and are kept once
        if not (field.endswith("2") and t.confusion.weight.dtype == np.int64)
    }
    return columns, about


def _built_classes(about: Stored, column: Stored) -> ClassTally:
    classes, k = tuple(about["classes"]), len(about["classes"])
    if not all(isinstance(c, str) for c in classes):
        raise TypeError

    def weights(part: str, *fields: str) -> list[Any]:
        """Columns of weights; that of squares is the weights themselves where they are counts."""
        plain = [column[f"{part}: {field.removesuffix('2')}"] for field in fields]
        pairs = zip(plain, fields, strict=True)
        return [w if w.dtype.kind == "i" else column[f"{part}: {field}"] for w, field in pairs]

    def scores(name: str) -> Any:
        return column[name].astype(np.float64, copy=False)

    def codes(name: str) -> Any:
        found = column[name].astype(np.int64, copy=False)
        if not np.array_equal(found, column[name]):
            raise ValueError
        return found

    def tally(part: str) -> Tally:
        kind, origin = about["tallies"][part]
        neg, pos, neg2, pos2 = weights(part, *_TALLY[1:])
        return Tally(scores(f"{part}: score"), neg, pos, neg2, pos2, kind, _origin(origin))

    each: tuple[Marks, ...] = ()
    if "class 0: score" in column:
        parts = [f"class {c}" for c in range(k)]
        each = tuple(
            Marks(scores(f"{x}: score"), codes(f"{x}: true"), *weights(x, "weight", "weight2"))
            for x in parts
        )
    joint = None
    if "joint" in about:
        total, total2 = about["joint"]
        if type(total) is not float or type(total2) is not float:
            raise TypeError
        w, w2 = weights("joint", "weight", "weight2")
        rows = scores("joint: scores").reshape(-1, k), codes("joint: y")
        joint = Joint.of(*rows, w, w2, totals=(total, total2))
    w, w2 = (x.reshape(k, k) for x in weights("confusion", "weight", "weight2"))
    return ClassTally(
        classes, about["kind"], Confusion(w, w2, classes), tally("top"), tally("ranked"), each,
        None if about["losses"] is None else _losses(about["losses"]), joint, str(about["rule"]),
        bool(about.get("ordered", numbered(classes))),
    )  # fmt: skip
