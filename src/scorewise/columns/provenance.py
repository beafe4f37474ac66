"""Which file a tally was made of, so that its rows are not counted twice."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import NamedTuple

_PIECE = 1 << 20
_PIECES = 64


class Shard(NamedTuple):
    """A file that rows came from: its name, its size in bytes, its rows, and a digest of its content."""

    name: str
    size: int
    rows: int
    digest: str


def digest_of(path: str | os.PathLike[str]) -> str:
    """BLAKE2b of a file's size and content; of large files, of 64 pieces of 1 MiB spread over it.

    Two files of the same size that differ in no such piece would be taken for one.
    """
    made = hashlib.blake2b(digest_size=32)
    with Path(path).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        made.update(str(size).encode())
        last = max(0, size - _PIECE)
        whole = size <= _PIECE * _PIECES
        steps = -(-size // _PIECE) if whole else _PIECES
        for k in range(steps):
            file.seek(k * _PIECE if whole else last * k // (_PIECES - 1))
            made.update(file.read(_PIECE))
    return made.hexdigest()


def shard_of(path: str | os.PathLike[str], name: str, rows: int) -> Shard:
    """What is recorded of a file."""
    return Shard(name, Path(path).stat().st_size, rows, digest_of(path))
