"""Saved tallies and maps with flipped bits and tampered fields: refused, or the same; and wild fits."""

import copy
import io
import json
import tempfile
from pathlib import Path

import numpy as np
import polars as pl

from fuzz import classes, two
from fuzz.case import rust_apart
from scorewise import BadInput, ClassTally, Recalibrator, Tally
from scorewise.recalibrating import CLASS_METHODS, METHODS

NUMBERS = (0, 1, -1, 0.5, 1e308, -1e-300, 2**53 + 1, 10**30, None, True, "x", [], {}, "NaN")


def flipped(case, data):
    """Some bits turned, or a part cut off or put twice."""
    found = bytearray(data)
    how = case.one("bit", "bit", "bit", "bits", "cut", "twice", "byte")
    if how in ("bit", "bits"):
        for at in case.rng.integers(0, len(found), 1 if how == "bit" else 8):
            found[at] ^= 1 << int(case.rng.integers(0, 8))
    elif how == "byte":
        found[int(case.rng.integers(0, len(found)))] = int(case.rng.integers(0, 256))
    elif how == "cut":
        del found[int(case.rng.integers(0, len(found))) :]
    else:
        found += found[: len(data)]
    return how, bytes(found)


def tampered(case, doc):
    """One field of a document changed, taken away or added."""
    doc = copy.deepcopy(doc)
    at, path = doc, []
    while isinstance(at, dict | list) and at:
        key = case.one(*(at if isinstance(at, dict) else range(len(at))))
        path.append(key)
        if not isinstance(at[key], dict | list) or not at[key] or case.chance(0.15):
            break
        at = at[key]
    old = at[key]
    how = case.one("set", "nudge", "drop", "add")
    if how == "nudge" and isinstance(old, int | float) and not isinstance(old, bool):
        at[key] = case.one(old + 1, -old, old * 1.0000001, old / 2)
    elif how == "drop":
        del at[key]
    elif how == "add" and isinstance(at, dict):
        at["further"] = 1
    else:
        at[key] = case.one(*NUMBERS)
    return f"{how} {path}", doc


def rewritten(case, data):
    """A parquet file with a field of its columns or its metadata changed."""
    frame = pl.read_parquet(io.BytesIO(data))
    about = {
        k: v
        for k, v in pl.read_parquet_metadata(io.BytesIO(data)).items()
        if k.startswith("scorewise")
    }
    key = next(k for k in about if "sha" not in k)
    what = case.one("metadata", "cell", "column", "rows", "type")
    if what == "metadata" or not frame.height:
        what, doc = tampered(case, json.loads(about[key]))
        about[key] = json.dumps(doc)
    else:
        column = case.one(*frame.columns)
        series = frame[column]
        if what == "cell":
            values = series.to_list()
            flat = values[0] if isinstance(values[0], list) else values
            if flat:
                k = int(case.rng.integers(0, len(flat)))
                flat[k] = case.one(flat[k] * 2 + 1, -flat[k], flat[k] + 1)
            frame = frame.with_columns(pl.Series(column, values, dtype=series.dtype, strict=False))
        elif what == "column":
            frame = frame.drop(column) if case.chance(0.5) else frame.rename({column: column + "x"})
        elif what == "rows":
            frame = case.one(
                frame.reverse(), frame.head(frame.height - 1), pl.concat([frame, frame])
            )
        elif not isinstance(series.dtype, pl.List):
            frame = frame.with_columns(
                series.cast(case.one(pl.Float32, pl.String, pl.Int64), strict=False)
            )
        what = f"{what} {column}"
    to = io.BytesIO()
    frame.write_parquet(to, metadata=about)
    return what, to.getvalue()


def tally(case):
    """A tally of two or several classes, saved, changed and loaded."""
    several = case.chance(0.4)
    rows = classes.drawn(case) if several else two.drawn(case)
    t = case.call("tally", lambda: rows.tally)
    if t is None or isinstance(t, Exception):
        return
    if not several and case.chance(0.3):
        t = t.coarsen()
    load = ClassTally.load if several else Tally.load
    with tempfile.TemporaryDirectory(prefix="scorewise-fuzz-") as folder:
        path = Path(folder) / "t.parquet"
        case.call("save", t.save, path)
        if not path.exists():
            case.wrong("save: nothing is saved", t)
            return
        data = path.read_bytes()
        back = case.call("load", load, path)
        if back is None or isinstance(back, BadInput) or not same(back, t):
            case.wrong("load: not what was saved", back)
        name = load.__qualname__
        for change in (flipped, flipped, flipped, rewritten):
            what, changed = change(case, data)
            path.write_bytes(changed)
            case.inputs = {"rows": rows, "change": what}
            case.covered[f"{name} {change.__name__}"] += 1
            back = case.call(f"{name} {what}", load, path)
            if isinstance(back, Tally | ClassTally) and not same(back, t):
                case.wrong(f"{name}: {change.__name__}, but loaded", f"{what}: {back!r}")
    return


def same(a, b):
    if isinstance(a, ClassTally):
        return a == b and a.losses == b.losses and a.top.origin == b.top.origin
    parts = a.coarse is None or (
        np.array_equal(a.coarse.sum, b.coarse.sum) and a.coarse.losses == b.coarse.losses
    )
    return a == b and a.origin == b.origin and parts


def wild(case):
    """Scores, labels and weights of any size, or table of them, for a map."""
    if case.chance(0.3):
        rows = classes.drawn(case)
        return rows.scores, rows.y, rows.weight, rows.kind, case.one("auto", *CLASS_METHODS)
    rows = two.drawn(case)
    s = rows.s
    if rows.kind == "score" and case.chance(0.5):
        s = s.astype(float) * case.one(1e155, 1e-200, 1e300)
        s = np.clip(s, -1e308, 1e308)
    return s, rows.y, rows.weight, rows.kind, case.one("auto", *METHODS)


def fitted(case):
    """A map fitted to anything gives probabilities, and those of its file are the same; or is refused."""
    s, y, w, kind, method = wild(case)
    case.inputs = {"scores": s, "y": y, "weight": w, "kind": kind, "method": method}
    options = {"classes": range(s.shape[1])} if s.ndim == 2 else {}
    r = case.call(f"fit {method}", lambda: Recalibrator(method, kind=kind).fit(s, y, w, **options))
    case.covered[f"fit {method}"] += 1
    if r is None or isinstance(r, Exception):
        return None
    q = case.call(f"transform {method}", r.transform, s)
    if q is None or isinstance(q, Exception):
        return None
    if not (np.isfinite(q).all() and (q >= 0).all() and (q <= 1).all()):
        return case.wrong(f"{method}: no probabilities", q)
    if (
        s.ndim == 2
        and len(q)
        and abs(q.sum(1) - 1).max() > (0.011 if r.chosen == "identity" else 1e-9)
    ):
        return case.wrong(f"{method}: rows do not add up to 1", q)
    with tempfile.TemporaryDirectory(prefix="scorewise-fuzz-") as folder:
        path = Path(folder) / "map.json"
        if isinstance(case.call(f"save {method}", r.save, path), Exception) or not path.exists():
            return case.wrong(f"{method}: cannot be saved", "")
        back = case.call(f"load {method}", Recalibrator.load, path)
        if not isinstance(back, Recalibrator) or not np.array_equal(back.transform(s), q):
            case.wrong(f"{method}: not the map that was saved", back)
            return None
        doc, text = json.loads(path.read_text("utf-8")), path.read_bytes()
        for _ in range(3):
            what, changed = tampered(case, doc)
            flip = case.chance(0.4)
            if flip:
                what, data = flipped(case, text)
            path.write_bytes(data if flip else json.dumps(changed).encode())
            found = case.call(f"load {what}", Recalibrator.load, path)
            case.covered["map tampered"] += 1
            if isinstance(found, Recalibrator) and (
                found.to_dict() != r.to_dict() and json.dumps(found.to_dict()) != json.dumps(doc)
            ):
                case.wrong("Recalibrator.load: tampered, but loaded", what)
    return None


def saved(case):
    """One case of saved files."""
    with rust_apart():
        case.one(tally, tally, fitted)(case)
