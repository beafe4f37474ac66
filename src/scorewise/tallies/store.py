"""Tallies as files: one small Parquet file, with version and origin in its metadata."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any, get_args

import numpy as np

from scorewise.door import Kind
from scorewise.tallies.coarse import Coarse
from scorewise.tallies.grid import Grid
from scorewise.tallies.losses import LOSSES, Moments
from scorewise.tallies.origin import Origin
from scorewise.tallies.parquet import invalid, read, write
from scorewise.tallies.tally import Tally

_KEY = "scorewise.tally"
_VERSION = 1
_SIDES = ("neg", "pos")


def save(t: Tally, path: Path) -> None:
    """Write the tally under a temporary name and move it into place."""
    columns: dict[str, Any] = {"score": t.score, "neg": t.neg, "pos": t.pos}
    if t.weighted:
        columns |= {"neg2": t.neg2, "pos2": t.pos2}
    about: dict[str, Any] = {"version": _VERSION, "kind": t.kind, "origin": asdict(t.origin)}
    if t.coarse is not None:
        columns["cell"] = t.coarse.cell
        for k, side in enumerate(_SIDES):
            parts = {"low": t.coarse.low, "high": t.coarse.high, "sum": t.coarse.sum}
            columns |= {f"{side}_{name}": v[k] for name, v in parts.items()}
        about |= {"grid": t.coarse.grid, "losses": t.coarse.losses}
    write(columns, _KEY, about, path)


def load(path: Path) -> Tally:
    """Read a tally, refusing what is not one, is damaged or comes from a later version."""
    about, frame = read(path, _KEY, _VERSION, "read it with sw.tally")
    try:
        t = _built(about, {name: frame[name].to_numpy() for name in frame.columns})
    except (AttributeError, KeyError, TypeError, ValueError) as e:
        raise invalid(path, "something in it is missing or wrong; make it anew") from e
    weights = t.neg, t.pos, t.neg2, t.pos2
    # written so that NaN, which is what nulls become, fails
    if not np.isfinite(t.score).all():
        raise invalid(path, "scores must be finite")
    if not (np.diff(t.score) > 0).all() or not all((w >= 0).all() for w in weights):
        raise invalid(path, "scores must increase and weights be >= 0")
    return t


def _built(about: dict[str, Any], column: dict[str, Any]) -> Tally:
    if any(c.dtype.kind not in "if" for c in column.values()):
        raise TypeError
    if "neg2" not in column:
        column |= {"neg2": column["neg"], "pos2": column["pos"]}
    score, neg, pos, neg2, pos2 = (column[c] for c in ("score", "neg", "pos", "neg2", "pos2"))
    if about["kind"] not in get_args(Kind):
        raise ValueError
    return Tally(
        score,
        neg,
        pos,
        neg2,
        pos2,
        about["kind"],
        restored_origin(about["origin"]),
        _coarse(about, column),
    )


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
    cell = column["cell"]
    wanted = () if about["kind"] == "score" else LOSSES
    if about["grid"] not in get_args(Grid) or not set(wanted) <= set(about["losses"]) <= {*LOSSES}:
        raise ValueError
    if cell.dtype.kind != "i" or not (np.diff(cell) > 0).all():
        raise ValueError
    losses = {
        k: (restored_moments(neg), restored_moments(pos))
        for k, (neg, pos) in about["losses"].items()
    }
    return Coarse(about["grid"], cell, low, high, total, losses)


def restored_moments(sums: list[Any]) -> Moments:
    """Moments as they were stored."""
    if not all(type(n) in (int, float) for n in sums):
        raise TypeError
    return Moments(*sums)
