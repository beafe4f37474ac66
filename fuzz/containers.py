"""Columns in the containers of every library, whole and hostile: the right value, or a sentence."""

import array
import datetime
import warnings
from collections import deque
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import torch

from scorewise import BadInput, ClassTally, Ratings, Tally

NAN = float("nan")


def floats(values):
    return np.array([NAN if v is None else v for v in values], float)


def gapped(values, fill=0.5):
    return np.array([fill if v is None else v for v in values]), np.array(
        [v is None for v in values]
    )


def text(values):
    return [None if v is None else str(v) for v in values]


def tensor(dtype, **options):
    return lambda v: torch.tensor(floats(v), **options).to(dtype)


def strided(v):
    wide = np.zeros(3 * len(v))
    wide[::3] = floats(v)
    return wide[::3]


def readonly(v):
    found = floats(v)
    found.flags.writeable = False
    return found


# containers of numbers that have to be taken as they are; missing values are None
NUMBERS = {
    "list": list, "tuple": tuple, "deque": deque, "generator": lambda v: (x for x in v),
    "dict values": lambda v: dict(enumerate(v)).values(), "map": lambda v: map(abs, v),
    "fractions": lambda v: [None if x is None else Fraction(x) for x in v],
    "decimals": lambda v: [None if x is None else Decimal(x) for x in v], "text": text,
    "array": lambda v: array.array("d", floats(v)),
    "memoryview": lambda v: memoryview(array.array("d", floats(v))), "f8": floats,
    "f4": lambda v: floats(v).astype(np.float32), "f2": lambda v: floats(v).astype(np.float16),
    "long double": lambda v: floats(v).astype(np.longdouble),
    "big-endian": lambda v: floats(v).astype(">f8"), "big-endian f4": lambda v: floats(v).astype(">f4"),
    "strided": strided, "read-only": readonly, "backwards": lambda v: floats(v)[::-1].copy()[::-1],
    "fortran": lambda v: np.asfortranarray(np.stack([floats(v)] * 2, 1))[:, 1],
    "masked": lambda v: np.ma.masked_array(*gapped(v)), "objects": lambda v: np.array(v, dtype=object),
    "numpy text": lambda v: np.array([str(x) for x in floats(v)]),
    "numpy bytes": lambda v: np.array([str(x).encode() for x in floats(v)]),
    "numpy strings": lambda v: np.array([str(x) for x in floats(v)], dtype=np.dtypes.StringDType()),
    "pandas": lambda v: pd.Series(floats(v), index=np.arange(len(v)) * 3 + 7),
    "pandas nullable": lambda v: pd.Series(v, dtype="Float64"),
    "pandas arrow": lambda v: pd.Series(v, dtype="double[pyarrow]"),
    "pandas text": lambda v: pd.Series(text(v), dtype="string"),
    "pandas category": lambda v: pd.Series(v, dtype="category"),
    "pandas objects": lambda v: pd.Series(v, dtype=object),
    "pandas index": lambda v: pd.Index(floats(v)),
    "pandas sparse": lambda v: pd.Series(pd.arrays.SparseArray(floats(v))),
    "polars": lambda v: pl.Series(v, dtype=pl.Float64),
    "polars f4": lambda v: pl.Series(v, dtype=pl.Float32),
    "polars decimal": lambda v: pl.Series(text(v)).cast(pl.Decimal(12, 8)),
    "polars text": lambda v: pl.Series(text(v), dtype=pl.String),
    "polars enum": lambda v: pl.Series(text(v), dtype=pl.Enum(sorted({x for x in text(v) if x}))),
    "polars category": lambda v: pl.Series(text(v), dtype=pl.Categorical),
    "polars chunks": lambda v: pl.concat([pl.Series(x, dtype=pl.Float64) for x in (v[:1], v[1:])]),
    "arrow": lambda v: pa.array(v, pa.float64()),
    "arrow slice": lambda v: pa.array([0.5, *v], pa.float64())[1:],
    "arrow chunks": lambda v: pa.chunked_array([v[:1], v[1:]], pa.float64()),
    "arrow dictionary": lambda v: pa.array(v, pa.float64()).dictionary_encode(),
    "arrow text": lambda v: pa.array(text(v), pa.string()), "torch": tensor(torch.float64),
    "torch f4": tensor(torch.float32), "torch half": tensor(torch.float16),
    "torch bf16": tensor(torch.bfloat16), "torch grad": tensor(torch.float64, requires_grad=True),
    "torch strided": lambda v: torch.tensor(np.repeat(floats(v), 2))[::2],
}  # fmt: skip
# those in which a missing value cannot be, or is another in other versions
WITHOUT_GAPS = {"arrow dictionary", "pandas sparse", "map"}
DTYPES = ("i1", "u1", "i2", "<i4", ">i8", "u8", "?", "f4")
WHOLE = {
    **{f"numpy {t}": lambda v, t=t: np.array(v, dtype=t) for t in DTYPES},
    "list": list, "bools": lambda v: [bool(x) for x in v], "text": text,
    "pandas Int8": lambda v: pd.Series(v, dtype="Int8"),
    "pandas boolean": lambda v: pd.Series([bool(x) for x in v], dtype="boolean"),
    "polars u8": lambda v: pl.Series(v, dtype=pl.UInt8),
    "polars i128": lambda v: pl.Series(v, dtype=pl.Int128),
    "polars bool": lambda v: pl.Series([bool(x) for x in v]),
    "arrow i8": lambda v: pa.array(v, pa.int8()),
    "arrow bool": lambda v: pa.array([bool(x) for x in v]),
    "torch bool": lambda v: torch.tensor(v, dtype=torch.bool),
    "torch i4": lambda v: torch.tensor(v, dtype=torch.int32),
    "range": lambda v: range(len(v)) if list(v) == [0, 1] else v,
    "words": lambda v: ["yes" if x else "no" for x in v],
    "bytes": lambda v: [b"yes" if x else b"no" for x in v],
    "category": lambda v: pd.Categorical.from_codes(v, ["neg", "pos"], ordered=True),
    "enum": lambda v: pl.Series(["pos" if x else "neg" for x in v], dtype=pl.Enum(["neg", "pos"])),
}  # fmt: skip


class Hostile:
    """A column that raises where it is looked at."""

    def __init__(self, values, where):
        self.values, self.where = values, where

    def _or(self, where, value):
        if where == self.where:
            raise RuntimeError(f"raises in {where}")
        return value

    def __len__(self):
        return self._or("len", len(self.values) + 5 * (self.where == "lies"))

    def __iter__(self):
        return self._or("iter", iter(self.values))

    def __getitem__(self, k):
        return self._or("getitem", self.values[k])


class Arrayed(Hostile):
    """The same with numpy's protocol."""

    def __array__(self, dtype=None, copy=None):
        return self._or("array", np.array(self.values))


class Touchy:
    """A value that raises when it is compared, hashed or turned into a number."""

    def __init__(self, where):
        self.where = where

    def _raise(self, where, rest=0):
        if where == self.where:
            raise RuntimeError(f"raises in {where}")
        return rest

    def __eq__(self, other):
        return self._raise("eq", False)

    def __hash__(self):
        return self._raise("hash", 7)

    def __float__(self):
        return self._raise("float", 0.5)

    def __repr__(self):
        return self._raise("repr", "<touchy>")


# what is no column of numbers, or one that cannot be read
ODD = {
    **{f"hostile {w}": lambda v, w=w: Hostile(v, w) for w in ("len", "iter", "getitem", "lies")},
    **{f"arrayed {w}": lambda v, w=w: Arrayed(v, w) for w in ("array", "len", "lies")},
    **{f"touchy {w}": lambda v, w=w: [*v[:-1], Touchy(w)] for w in ("eq", "hash", "float", "repr")},
    "torch sparse": lambda v: torch.tensor(floats(v)).to_sparse(),
    "torch meta": lambda v: torch.empty(len(v), device="meta"),
    "torch complex": lambda v: torch.tensor(floats(v)).to(torch.complex64),
    "torch quantised": lambda v: torch.quantize_per_tensor(
        torch.tensor(floats(v)).float(), 1 / 64, 0, torch.quint8),
    "torch nested": lambda v: torch.nested.nested_tensor([torch.tensor([0.5])] * len(v)),
    "text": lambda v: "0.5", "number": lambda v: 0.5, "none in all": lambda v: [None] * len(v),
    "table": lambda v: np.zeros((len(v), 2)), "dict": lambda v: dict(enumerate(v)), "set": set,
    "lists": lambda v: [[x, x] for x in v], "ragged": lambda v: [[x] * k for k, x in enumerate(v)],
    "complex": lambda v: floats(v) + 1j, "dates": lambda v: pd.date_range("2024", periods=len(v)),
    "times": lambda v: [datetime.timedelta(x) for x in range(len(v))],
    "records": lambda v: np.zeros(len(v), [("a", "f8")]), "void": lambda v: np.zeros(len(v), "V8"),
    "infinite": lambda v: [*v[:-1], float("inf")], "words": lambda v: [*text(v)[:-1], "high"],
    "huge": lambda v: [*v[:-1], 10**400], "deep": lambda v: [*v[:-1], [[[[[0.5]]]]]],
    "type": lambda v: float, "module": lambda v: np,
    "polars list": lambda v: pl.Series([[x, x] for x in v]),
    "polars object": lambda v: pl.Series([object() for _ in v], dtype=pl.Object),
    "polars struct": lambda v: pl.Series([{"a": x} for x in v]),
    "polars binary": lambda v: pl.Series([b"\xff"] * len(v)),
    "polars lazy": lambda v: pl.DataFrame({"a": v, "b": v}).lazy(),
    "polars frame": lambda v: pl.DataFrame({"a": v, "b": v}),
    "arrow struct": lambda v: pa.array([{"a": x} for x in v]),
    "arrow table": lambda v: pa.table({"a": v, "b": v}),
    "pandas frame": lambda v: pd.DataFrame({"a": v, "b": v}),
    "pandas interval": lambda v: pd.interval_range(0, len(v)),
    "pandas period": lambda v: pd.period_range("2024", periods=len(v), freq="D"),
    "nan text": lambda v: ["nan"] * len(v), "decimal nan": lambda v: [Decimal("sNaN")] * len(v),
    "surrogate": lambda v: ["\ud800"] * len(v), "exception": lambda v: ValueError("x"),
}  # fmt: skip
TABLES = {
    "lists": lambda p: p.tolist(), "array": lambda p: p, "f4": lambda p: p.astype(np.float32),
    "big-endian": lambda p: p.astype(">f8"), "fortran": np.asfortranarray,
    "masked": lambda p: np.ma.masked_array(p, np.zeros(p.shape, bool)),
    "frame": lambda p: pd.DataFrame(p, columns=["a", "b", "c"]),
    "polars": lambda p: pl.DataFrame(p, schema=["a", "b", "c"]),
    "mapping": lambda p: dict(zip("abc", p.T.tolist(), strict=True)), "torch": torch.tensor,
    "torch grad": lambda p: torch.tensor(p, requires_grad=True),
    "torch sparse": lambda p: torch.tensor(p).to_sparse(),
    "torch meta": lambda p: torch.empty(p.shape, device="meta"),
    "arrow": lambda p: pa.table(dict(zip("abc", p.T.tolist(), strict=True))),
    "objects": lambda p: p.astype(object), "cube": lambda p: p[None], "row": lambda p: p[0],
    "ragged": lambda p: [*p.tolist()[:-1], [0.5]],
    "lazy": lambda p: pl.DataFrame(p, schema=["a", "b", "c"]).lazy(), "text": lambda p: p.astype(str),
    "csr": lambda p: _csr(p),
}  # fmt: skip


def _csr(p):
    from scipy.sparse import csr_array

    return csr_array(p)


def box_of(case, boxes, values):
    name = case.one(*boxes)
    with warnings.catch_warnings():  # of what is new or old in torch
        warnings.simplefilter("ignore")
        return name, boxes[name](values)


def told(case, what, found, expected, must):
    """Accepted with the right value, or refused where that may be."""
    if found is None:
        return
    if isinstance(found, BadInput):
        if must:
            case.wrong(f"{what}: refused", found)
    elif expected is None:
        case.wrong(f"{what}: accepted", found)
    elif not _same(found, expected):
        case.wrong(f"{what}: other values", f"{found!r}, expected {expected!r}")


def _same(a, b):
    if isinstance(a, Tally):  # 32 bits may stay 32 bits
        return a.kind == b.kind and a.origin.rows == b.origin.rows and all(
            np.array_equal(getattr(a, k), getattr(b, k)) for k in ("score", "neg", "pos", "neg2", "pos2")
        )  # fmt: skip
    return a == b


def columns(case):
    """Labels, scores, weights and counts, each in a box of its own."""
    rng = case.rng
    n = int(rng.integers(2, 9))
    y = [0, 1, *rng.integers(0, 2, n - 2).tolist()]
    s = (rng.integers(0, 65, n) / 64).tolist()
    w = (rng.integers(1, 65, n) / 64).tolist() if case.chance(0.4) else None
    c = rng.integers(1, 4, n).tolist() if case.chance(0.3) else None
    gaps = case.chance(0.25)
    given = {"y": y, "s": s, "weight": w, "count": c}
    full = {k: v for k, v in given.items() if v is not None}
    boxed, kept = {}, list(range(n))
    for role, values in full.items():
        boxes = WHOLE if role == "y" else NUMBERS
        if role == "count":
            boxes = {
                k: b
                for k, b in WHOLE.items()
                if k not in ("bools", "words", "bytes", "category", "enum", "range")
                and "bool" not in k
                and "?" not in k
            }
        if gaps and role != "y" and role != "count":
            boxes = {k: b for k, b in boxes.items() if k not in WITHOUT_GAPS}
            hole = int(rng.integers(0, n))
            values = [None if i == hole else v for i, v in enumerate(values)]
            kept = [i for i in kept if i != hole]
        name, boxed[role] = box_of(case, boxes, values)
        case.inputs[role] = f"{name} {values}"
        case.covered[f"{role} {name}"] += 1
    what = "columns " + ", ".join(f"{k} {v.partition(' [')[0]}" for k, v in case.inputs.items())
    if len(kept) < n and case.chance(0.4):
        found = case.call(what, Tally.of, **boxed)
        return told(case, f"missing {what}", found, None, must=False)
    of = {k: [v[i] for i in kept] for k, v in full.items()}
    if len(set(of["y"])) < 2:  # words for one class may be unknown
        return None
    found = case.call(what, Tally.of, **boxed, missing="drop" if gaps else "refuse")
    return told(case, what, found, Tally.of(**of), must=True)


def odd(case):
    """One column that is none, or is hostile."""
    n = int(case.rng.integers(2, 7))
    y, s = [0, 1] * n, (case.rng.integers(0, 65, 2 * n) / 64).tolist()
    role = case.one("s", "y", "weight", "count", "positive", "kind", "missing")
    name, column = box_of(case, ODD, s)
    if role == "positive" and name == "touchy repr":  # which has no word that could be a label
        return
    given = {"y": y, "s": s, role: column}
    what = f"odd {role}: {name}"
    case.inputs = {"column": what}
    case.covered[what] += 1
    found = case.call(what, Tally.of, **given)
    if role in ("kind", "missing", "positive") or found is None or isinstance(found, BadInput):
        return
    plain = {"hostile", "arrayed"}
    if name.partition(" ")[0] in plain or name in ("torch sparse", "torch quantised"):
        values = {**given, role: s if role != "y" else y}
        if role in ("s", "weight") and not name.endswith("lies"):
            told(case, what, found, Tally.of(**values), must=False)
    elif role == "s" and name not in ("touchy float",):
        case.wrong(f"{what}: accepted", found)


def lengths(case):
    """Columns that do not match are refused."""
    n = int(case.rng.integers(3, 9))
    given = {"y": [0, 1] * n, "s": [0.5, 0.25] * n, "weight": [1.0, 2.0] * n, "count": [1, 2] * n}
    short = case.one(*given)
    given[short] = given[short][: int(case.one(0, 1, 2 * n - 1))]
    boxed = {
        k: case.one(*([list, np.array, pl.Series] if v else [list]))(v) for k, v in given.items()
    }
    case.inputs = given
    found = case.call(f"lengths {short}", Tally.of, **boxed)
    case.covered[f"length {short}"] += 1
    told(case, f"lengths {short}", found, None, must=False)


def tables(case):
    """Scores of several classes."""
    n = int(case.rng.integers(3, 8))
    parts = case.rng.integers(1, 20, (n, 3)).astype(float)
    p = np.round(64 * parts / parts.sum(1, keepdims=True)) / 64
    p[:, 2] = 1 - p[:, 0] - p[:, 1]
    y = ["a", "b", "c", *case.rng.choice(list("abc"), n - 3).tolist()]
    name, table = box_of(case, TABLES, p)
    role, labels = "y", y
    if case.chance(0.3):
        numbers = case.rng.integers(0, 65, n) / 64
        role, labels = box_of(case, ODD, numbers.tolist())
    case.inputs = {"table": name, "labels": role}
    case.covered[f"table {name}"] += 1
    found = case.call(
        f"table {name}, labels {role}", ClassTally.of, labels, table, classes=list("abc")
    )
    refused = {"cube", "row", "ragged", "torch meta"}
    may = name in refused | {"torch sparse", "arrow", "csr", "text"} or role != "y"
    expected = None if name in refused else ClassTally.of(y, p, classes=list("abc"))
    if role == "y":
        told(case, f"table {name}", found, expected, must=not may)


def rated(case):
    """Ratings of two raters."""
    n = int(case.rng.integers(3, 8))
    codes = case.rng.integers(0, 2, (2, n)).tolist()
    codes[0][:2] = [0, 1]
    boxed, odd_one = {}, case.chance(0.4)
    for k, values in enumerate(codes):
        boxes = (
            ODD
            if odd_one and k
            else {
                b: f
                for b, f in WHOLE.items()
                if b.startswith(("numpy", "list", "polars u", "arrow i", "torch i"))
                and "?" not in b
            }
        )
        name, boxed[f"r{k}"] = box_of(case, boxes, values)
        case.inputs[f"r{k}"] = name
    what = "ratings " + ", ".join(case.inputs.values())
    found = case.call(what, Ratings.of, boxed)
    case.covered["ratings"] += 1
    if not odd_one:
        told(case, what, found, Ratings.of({f"r{k}": v for k, v in enumerate(codes)}), must=True)


def containers(case):
    """One case of hostile containers."""
    case.one(columns, columns, odd, odd, lengths, tables, rated)(case)
