"""Tallies as files: one small Parquet file, with version, origin and a seal in its metadata."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from scorewise.errors import BadInput
from scorewise.tallies.coarse import Coarse
from scorewise.tallies.losses import Moments
from scorewise.tallies.origin import Origin
from scorewise.tallies.parquet import invalid, read, write
from scorewise.tallies.tally import Tally
from scorewise.tallies.validity import fault

_KEY = "scorewise.tally"
_SIDES = ("neg", "pos")


def save(t: Tally, path: str | Path) -> None:
    """Write the tally, if it is one that can be read again."""
    if wrong := fault(t):
        raise BadInput(f"the tally cannot be saved: {wrong}")
    columns: dict[str, Any] = {"score": t.score, "neg": t.neg, "pos": t.pos}
    if t.weighted:
        columns |= {"neg2": t.neg2, "pos2": t.pos2}
    about: dict[str, Any] = {"kind": t.kind, "origin": asdict(t.origin)}
    if t.coarse is not None:
        columns["cell"] = t.coarse.cell
        for k, side in enumerate(_SIDES):
            parts = {"low": t.coarse.low, "high": t.coarse.high, "sum": t.coarse.sum}
            columns |= {f"{side}_{name}": v[k] for name, v in parts.items()}
        about |= {"grid": t.coarse.grid, "losses": t.coarse.losses}
    write(columns, _KEY, about, path)


def load(path: Path) -> Tally:
    """Read a tally, refusing what is not one, is damaged or comes from another version."""
    about, column = read(path, _KEY, "read it with sw.tally")
    try:
        t = _built(about, column)
        wrong = fault(t)
    except (AttributeError, KeyError, TypeError, ValueError) as e:
        raise invalid(path, "something in it is missing or wrong; make it anew") from e
    if wrong:
        raise invalid(path, wrong)
    return t


def _built(about: dict[str, Any], column: dict[str, Any]) -> Tally:
    if any(c.dtype.kind not in "if" for c in column.values()):
        raise TypeError
    neg, pos = column["neg"], column["pos"]
    counted = neg.dtype.kind == "i"  # counts are their own squares, and are kept once
    neg2, pos2 = (neg, pos) if counted else (column["neg2"], column["pos2"])
    origin, coarse = restored_origin(about["origin"]), _coarse(about, column)
    return Tally(column["score"], neg, pos, neg2, pos2, about["kind"], origin, coarse)


def restored_origin(stored: dict[str, Any]) -> Origin:
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


def _coarse(about: dict[str, Any], column: dict[str, Any]) -> Coarse | None:
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
