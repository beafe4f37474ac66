"""Saved tallies with other content, under a seal that fits it or under the old one."""

import numpy as np
import polars as pl

from scorewise.writing import seal

SEAL = "scorewise.sha256"


def edit(path, about=lambda text: text, content=lambda frame: frame, *, resealed=True):
    """Change the words or the columns of a saved tally."""
    known = {k: v for k, v in pl.read_parquet_metadata(path).items() if k.startswith("scorewise")}
    (key,) = known.keys() - {SEAL}
    known[key] = about(known[key])
    frame = content(pl.read_parquet(path))
    if resealed:
        columns = {s.name: (s[0] if s.dtype == pl.List else s).to_numpy() for s in frame}
        known[SEAL] = seal({key: known[key]}, columns)
    frame.write_parquet(path, metadata=known)


def flipped(path, many, seed=0):
    """The file with one bit turned, at random places, one after the other."""
    whole = path.read_bytes()
    for place in np.random.default_rng(seed).choice(8 * len(whole), many, replace=False).tolist():
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        yield place
    path.write_bytes(whole)
