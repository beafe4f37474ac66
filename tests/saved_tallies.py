"""Saved tallies with other content, under a seal that fits it or under the old one."""

import hashlib

import numpy as np
import polars as pl

SEAL = "scorewise.sha256"


def edit(path, about=lambda text: text, content=lambda frame: frame, *, resealed=True):
    """Change the words or the columns of a saved tally."""
    known = {k: v for k, v in pl.read_parquet_metadata(path).items() if k.startswith("scorewise")}
    (key,) = known.keys() - {SEAL}
    known[key] = about(known[key])
    frame = content(pl.read_parquet(path))
    known[SEAL] = "0" * 64 if resealed else known[SEAL]
    frame.write_parquet(path, metadata=known)
    if resealed:
        data = path.read_bytes()
        at = data.rindex(SEAL.encode())
        at = data.index(b"0" * 64, at)
        path.write_bytes(data[:at] + hashlib.sha256(data).hexdigest().encode() + data[at + 64 :])


def flipped(path, many, seed=0):
    """The file with one bit turned, at random places, one after the other."""
    whole = path.read_bytes()
    for place in np.random.default_rng(seed).choice(8 * len(whole), many, replace=False).tolist():
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        path.write_bytes(damaged)
        yield place
    path.write_bytes(whole)
