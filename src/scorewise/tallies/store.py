"""Tallies as files: one small Parquet file, with version, origin and a seal.

A tally of two classes is a row for each cell; that of several classes one row of lists; a set of tallies
has a row of lists for each group; distinct rows are a row each. What
rounding leaves of exact sums has its own columns (`neg_rest1`).
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import numpy as np

from scorewise.columns.classes import numbered
from scorewise.errors import BadInput
from scorewise.tallies.classes import ClassTally
from scorewise.tallies.coarse import Coarse
from scorewise.tallies.confusion import Confusion
from scorewise.tallies.consistency import AnyTally, fault
from scorewise.tallies.exact import COLUMNS, own_columns
from scorewise.tallies.joint import JOINT, MARKS, Joint, Marks
from scorewise.tallies.losses import ClassLoss, Loss, Moments
from scorewise.tallies.origin import Origin
from scorewise.tallies.sets import Key, RowTally, TallySet
from scorewise.tallies.tally import Tally
from scorewise.writing import write as put

Stored = dict[str, Any]
_VERSION = 3
_UNREADABLE = (OSError, ValueError, RecursionError, IndexError)
_SEAL = "scorewise.sha256"
_SEALED = re.compile(_SEAL.encode().replace(b".", rb"\.") + rb"[^0-9a-f]{1,8}([0-9a-f]{64})")
_OPEN = "0" * 64  # where the seal of all other bytes will stand
_SIDES = ("neg", "pos")
_ENDS = ("low", "high", "sum")
_SUMS = ("neg_sum", "pos_sum")
_MOST_TERMS = 80  # floats that do not overlap


def save(t: AnyTally, path: str | Path) -> None:
    """Write the tally, if it is one that can be read again."""
    put(path, content(t))


def content(t: AnyTally) -> bytes:
    """What a file of the tally holds; of several classes and of groups, lists in rows."""
    import polars as pl

    if wrong := fault(t):
        raise BadInput(f"the tally cannot be saved: {wrong}")
    form = _FORMS[type(t)]
    columns, about = form.columns(t)
    series = [pl.Series(name, values) for name, values in columns.items()]
    frame = pl.DataFrame([s.implode() if isinstance(t, ClassTally) else s for s in series])
    text, buffer = json.dumps({"version": _VERSION, **about}), io.BytesIO()
    frame.write_parquet(buffer, metadata={form.key: text, _SEAL: _OPEN})
    data = bytearray(buffer.getbuffer())
    place, seal = _sealed(data)
    data[place] = seal
    return bytes(data)


def load(path: Path, kind: type | None = None) -> Any:
    """Read a kind of tally, or any; refused is what is none, is damaged or comes from another version."""
    if not os.path.isfile(path):  # noqa: PTH113 (bears names too long)
        raise BadInput(f"no such file: {path}")
    try:
        data = path.read_bytes()  # polars takes brackets in a path for a glob
    except OSError:
        raise _damaged(path.name) from None
    return _read(path.name, data, kind)


def from_content(data: bytes) -> Tally:
    """The tally whose content is given, checked as a file is."""
    tally: Tally = _read("the content", data, Tally, "pass that of a tally")
    return tally


def _read(name: str, data: bytes, kind: type | None, instead: str = "") -> Any:
    import polars as pl

    metadata = _metadata(name, data)
    if kind is None:
        kind = next((kind for kind, form in _FORMS.items() if form.key in metadata), Tally)
    form = _FORMS[kind]
    if form.key not in metadata:
        raise BadInput(
            f"{name} is a Parquet file, but not a saved tally; {instead or form.instead}"
        )
    try:
        about: Any = json.loads(metadata[form.key])
    except (ValueError, RecursionError) as e:
        raise _damaged(name) from e
    version = about.get("version") if isinstance(about, dict) else None
    if version != _VERSION:
        raise BadInput(
            f"{name} is a tally of version {version}, this scorewise reads "
            f"version {_VERSION}; update scorewise or make the tally anew"
        )
    if not _SEALED.search(data):
        raise _changed(name)
    try:
        columns: Stored = {s.name: s for s in pl.read_parquet(io.BytesIO(data))}
        if not form.rows:
            lists = {n: s[0] if s.dtype == pl.List else s for n, s in columns.items()}
            columns = {n: s.to_numpy() for n, s in lists.items()}
        t = form.built(about, columns)
        wrong = fault(t)
    except (AssertionError, AttributeError, IndexError, KeyError, TypeError, ValueError) as e:
        wrong = "something in it is missing or wrong; make it anew"
        raise BadInput(f"{name} is not a valid tally: {wrong}") from e
    if wrong:
        raise BadInput(f"{name} is not a valid tally: {wrong}")
    return t


def _metadata(name: str, data: bytes) -> Stored:
    """What a file says of itself.

    The seal is of the bytes, and looked at first: on damaged ones a reader of Parquet may end the process.
    """
    import polars as pl

    place, seal = _sealed(bytearray(data))
    if place.stop and data[place] != seal:
        raise _changed(name)
    try:
        return dict(pl.read_parquet_metadata(io.BytesIO(data)))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, *_UNREADABLE) as e:
        raise _damaged(name) from e


def _changed(name: str) -> BadInput:
    return BadInput(f"{name} is damaged or was edited after it was saved; make it anew")


def _damaged(name: str) -> BadInput:
    return BadInput(f"{name} cannot be read as a saved tally; it is damaged or cut off")


def _sealed(data: bytearray) -> tuple[slice, bytes]:
    """Where the seal of a file stands, if it has one, and what it must be."""
    seals = list(_SEALED.finditer(data))
    place = slice(*seals[-1].span(1)) if seals else slice(0, 0)
    if seals:
        data[place] = _OPEN.encode()
    return place, hashlib.sha256(data).hexdigest().encode()


def _columns(t: Tally) -> tuple[Stored, Stored]:
    """The columns of a tally, and what else is to be known of it."""
    columns = {name: getattr(t, name) for name in ("score", *own_columns(t))}
    about: Stored = {"kind": t.kind, "origin": asdict(t.origin)}
    columns |= _rest_columns(COLUMNS, t.rest)
    if t.coarse is not None:
        columns["cell"] = t.coarse.cell
        for k, side in enumerate(_SIDES):
            columns |= {f"{side}_{name}": getattr(t.coarse, name)[k] for name in _ENDS}
        columns |= _rest_columns(_SUMS, t.coarse.rest)
        about |= {"grid": t.coarse.grid, "losses": t.coarse.losses}
    return columns, about


def _rest_columns(names: Sequence[str], rest: Any) -> Stored:
    """What rounding left of some columns, a column for each term that is not zero throughout."""
    terms = [] if rest is None else list(enumerate(rest, start=1))
    pairs = ((f"{n}_rest{k}", term[j]) for k, term in terms for j, n in enumerate(names))
    return {name: column for name, column in pairs if column.any()}


def _rest(names: Sequence[str], column: Stored, size: int) -> Any:
    """The same, read."""
    terms = {(k, j): column[f"{n}_rest{k}"] for j, n in enumerate(names)
             for k in range(1, _MOST_TERMS) if f"{n}_rest{k}" in column}  # fmt: skip
    if not terms:
        return None
    rest = np.zeros((max(k for k, _ in terms), len(names), size))
    for (k, j), values in terms.items():
        rest[k - 1, j] = values
    return rest


def _set_columns(t: TallySet) -> tuple[Stored, Stored]:
    """A row of lists for each group."""
    import polars as pl

    stored = [(key, *_columns(t[key])) for key in t]
    columns = {}
    for name in dict.fromkeys(name for _, own, _ in stored for name in own):
        values = [own.get(name) for _, own, _ in stored]
        dtype = np.result_type(*(v for v in values if v is not None))
        number = {"i": pl.Int64, "f": pl.Float32 if dtype == np.float32 else pl.Float64}[dtype.kind]
        # arrays beside None would not do where all are of one length
        lists = [None if v is None else pl.Series(v.astype(dtype)) for v in values]
        columns[name] = pl.Series(name, lists, dtype=pl.List(number))
    groups = [{"key": key, **about} for key, _, about in stored]
    about = {"by": t.by, "window": t.window, "origin": asdict(t.origin), "parts": groups}
    return columns, about


def _built_set(about: Stored, column: Stored) -> TallySet:
    by, tallies = msgspec.convert(about["by"], Key), {}
    for k, of in enumerate(about["parts"]):
        columns = {name: s[k].to_numpy() for name, s in column.items() if s[k] is not None}
        key = msgspec.convert(of["key"], Key)
        if len(key) != len(by):
            raise ValueError
        tallies[key] = _built(of, columns)
    window = msgspec.convert(about["window"], str | None)
    return TallySet(by, tallies, window, _origin(about["origin"]))


def _row_columns(t: RowTally) -> tuple[Stored, Stored]:
    """Distinct rows as they are, with their number."""
    about = {"roles": t.roles, "by": t.by, "window": t.window, "origin": asdict(t.origin)}
    return {s.name: s for s in t.frame}, about


def _built_rows(about: Stored, column: Stored) -> RowTally:
    import polars as pl

    frame, by = pl.DataFrame(list(column.values())), tuple(about["by"])
    return RowTally(frame, dict(about["roles"]), by, about["window"], _origin(about["origin"]))


def _built(about: Stored, column: Stored) -> Tally:
    if any(c.dtype.kind not in "if" for c in column.values()):
        raise TypeError
    neg, pos = column["neg"], column["pos"]
    counted = neg.dtype.kind == "i"
    neg2, pos2 = (neg, pos) if counted else (column["neg2"], column["pos2"])
    coarse = None
    if "grid" in about:
        ends = (np.stack([column[f"{side}_{name}"] for side in _SIDES]) for name in _ENDS)
        low, high, total = ends
        losses = msgspec.convert(about["losses"], dict[Loss, tuple[Moments, Moments]])
        rest = _rest(_SUMS, column, len(neg))
        coarse = Coarse(about["grid"], column["cell"], low, high, total, losses, rest)
    return Tally(
        column["score"], neg, pos, neg2, pos2, about["kind"], _origin(about["origin"]), coarse,
        _rest(COLUMNS, column, len(neg)),
    )  # fmt: skip


def _origin(stored: Stored) -> Origin:
    """The origin as it was stored, refused where a part of it is of another type."""
    origin = msgspec.convert(stored, Origin)
    strange = stored.keys() - Origin.__dataclass_fields__.keys()
    if strange or min(origin.negatives, origin.positives, origin.dropped) < 0:
        raise ValueError
    return origin


def _class_columns(t: ClassTally) -> tuple[Stored, Stored]:
    """The same of several classes, part by part."""
    tops = {name: _columns(getattr(t, name)) for name in ("top", "ranked")}
    parts = {"confusion": _fields(t.confusion, ("weight", "weight2"))}
    parts |= {name: columns for name, (columns, _) in tops.items()}
    parts |= {f"class {c}": _fields(marks, MARKS) for c, marks in enumerate(t.each)}
    about: Stored = {
        "kind": t.kind, "classes": t.classes, "losses": t.losses, "rule": t.rule,
        "ordered": t.ordered,
        "tallies": {name: [of["kind"], of["origin"]] for name, (_, of) in tops.items()},
    }  # fmt: skip
    if t.joint is not None:
        parts["joint"] = _fields(t.joint, JOINT)
        about["joint"] = [float(t.joint.total), float(t.joint.total2)]
    columns = {f"{part}: {name}": x for part, own in parts.items() for name, x in own.items()}
    return columns, about


def _fields(record: Any, names: Sequence[str]) -> Stored:
    """Fields as columns; counts are their own squares, and are kept once."""
    own = names[:-1] if record.weight.dtype == np.int64 else names
    return {name: np.ravel(getattr(record, name)) for name in own}


def _built_classes(about: Stored, column: Stored) -> ClassTally:
    classes = msgspec.convert(about["classes"], tuple[str, ...])
    k, parts = len(classes), dict[str, Stored]()
    for name, values in column.items():
        part, _, own = name.partition(": ")
        scores = own in ("score", "scores")
        parts.setdefault(part, {})[own] = values.astype(np.float64) if scores else values

    def fields(part: str) -> Stored:
        of = parts[part]
        w = of["weight"]
        of |= {name: _integers(of[name]) for name in ("true", "y") if name in of}
        return of | {"weight2": w if w.dtype.kind == "i" else of["weight2"]}

    def tally(part: str) -> Tally:
        kind, origin = about["tallies"][part]
        return _built({"kind": kind, "origin": origin}, parts[part])

    each = tuple(Marks(**fields(f"class {c}")) for c in range(k if "class 0" in parts else 0))
    joint = None
    if "joint" in about:
        of = fields("joint")
        of["scores"] = of["scores"].reshape(-1, k)
        joint = Joint.of(**of, totals=msgspec.convert(about["joint"], tuple[float, float]))
    tables = {name: x.reshape(k, k) for name, x in fields("confusion").items()}
    return ClassTally(
        classes, about["kind"], Confusion(**tables, classes=classes), tally("top"), tally("ranked"), each,
        msgspec.convert(about["losses"], dict[ClassLoss, tuple[Moments, ...]] | None), joint,
        str(about["rule"]), bool(about.get("ordered", numbered(classes))),
    )  # fmt: skip


def _integers(column: Any) -> Any:
    integers = column.astype(np.int64, copy=False)
    if not np.array_equal(integers, column):
        raise ValueError
    return integers


class _Form(NamedTuple):
    """How a kind of tally is kept: the key that tells it, its columns and what is built of them.

    `instead` is the way out if it is another file; `rows` says that columns are kept as they are.
    """

    key: str
    columns: Callable[[Any], tuple[Stored, Stored]]
    built: Callable[[Stored, Stored], Any]
    instead: str
    rows: bool = False


_FORMS: dict[type, _Form] = {
    Tally: _Form("scorewise.tally", _columns, _built, "read it with sw.tally"),
    ClassTally: _Form(
        "scorewise.class_tally",
        _class_columns,
        _built_classes,
        "make it with ClassTally.of and save",
    ),
    TallySet: _Form(
        "scorewise.tally_set", _set_columns, _built_set, "make it with scorewise tally --by", True
    ),
    RowTally: _Form(
        "scorewise.row_tally", _row_columns, _built_rows, "make it with scorewise tally", True
    ),
}
