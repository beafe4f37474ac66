"""Where a tally comes from: its labels, scores and files; and the file that it is kept in."""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from scorewise.errors import BadInput, Option

_PIECE = 1 << 20
_PIECES = 64


class Stored:
    """A tally that is written to one small Parquet file, and read from it again."""

    def save(self, path: str | Path) -> None:
        """Write one file; `load` reads it."""
        from scorewise.tallies.store import save

        tally: Any = self
        save(tally, path)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """What `save` wrote; refused where it is of another kind, of another version or damaged."""
        from scorewise.tallies.store import load

        tally: Self = load(Path(path), cls)
        return tally


class Shard(NamedTuple):
    """A file that rows came from: its name, its size in bytes, its rows, and a digest of its content."""

    name: str
    size: int
    rows: int
    digest: str


@dataclass(frozen=True)
class Origin:
    """What is known of the rows that a tally was made of; added up when tallies are merged."""

    label: str | None = None
    score: str = "score"
    weight: str | None = None
    positive: str = "1"
    negative: str = "0"
    rule: str = ""
    negatives: int = 0
    positives: int = 0
    dropped: int = 0
    sources: tuple[str, ...] = ()
    shards: tuple[Shard, ...] = ()  # files of which more than the name is known
    half: bool = False  # whether all scores came with 16 bits

    @property
    def rows(self) -> int:
        """Rows used, of both classes."""
        return self.negatives + self.positives

    def __add__(self, other: Origin) -> Origin:
        """The origin of a merged tally; the classes must be the same, and no file be in both."""
        shards = self._shards(other)
        for a, b in ((self, other), (other, self)):
            if not b.rows:
                return replace(a, dropped=a.dropped + b.dropped, shards=shards)
        if self.positive != other.positive:
            raise BadInput(
                f"the tallies have different positive classes, {self.positive!r} and ",
                f"{other.positive!r}; make them with the same ", Option("positive"),
            )  # fmt: skip
        if self.score != other.score:
            raise BadInput(
                f"the tallies are of different scores, {self.score!r} and {other.score!r}; only "
                f"rows of one and the same model add up"
            )
        first = min(
            self, other, key=lambda o: (o.label or "", o.score, o.rule, o.negative, o.weight or "")
        )
        return replace(
            first,
            negatives=self.negatives + other.negatives,
            positives=self.positives + other.positives,
            dropped=self.dropped + other.dropped,
            sources=tuple(sorted({*self.sources, *other.sources})),
            shards=shards,
            half=self.half and other.half,
        )

    def _shards(self, other: Origin) -> tuple[Shard, ...]:
        """The files of both; refused where one is in both, by its content."""
        by_digest = {shard.digest: shard for shard in self.shards}
        twice = [shard for shard in other.shards if shard.digest in by_digest]
        if twice:
            first, names = twice[0], by_digest[twice[0].digest].name
            alias = "" if first.name == names else f" (there named {names})"
            more = f" and {len(twice) - 1:,} other files are" if len(twice) > 1 else " is"
            raise BadInput(
                f"{first.name}{alias}{more} in the tally already, with the same content; its "
                f"{first.rows:,} rows would count twice; leave it out, or pass ", Option("again"),
            )  # fmt: skip
        return tuple(sorted((*self.shards, *other.shards)))

    def apart_from(self, other: Origin) -> Origin:
        """The same without the files that the other has too, to be added nevertheless."""
        digests = {shard.digest for shard in other.shards}
        return replace(self, shards=tuple(s for s in self.shards if s.digest not in digests))


def digest_of(path: str | os.PathLike[str]) -> str:
    """BLAKE2b of a file's size and content; of large files, of 64 pieces of 1 MiB spread over it.

    Two files of the same size that differ in no such piece would be taken for one.
    """
    digest = hashlib.blake2b(digest_size=32)
    with Path(path).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        digest.update(str(size).encode())
        last = max(0, size - _PIECE)
        small = size <= _PIECE * _PIECES
        steps = -(-size // _PIECE) if small else _PIECES
        for k in range(steps):
            file.seek(k * _PIECE if small else last * k // (_PIECES - 1))
            digest.update(file.read(_PIECE))
    return digest.hexdigest()
