"""Tallies by group and by window of time, added up and saved together."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from scorewise.errors import BadInput, Option
from scorewise.tallies.coarse import Origin
from scorewise.tallies.tally import Tally

Key = tuple[str, ...]


@dataclass(frozen=True, eq=False, repr=False)
class TallySet(Mapping[Key, Tally]):
    """A tally for each combination of groups that occurs; `by` names the columns of the keys.

    The last column is that of time where `window` says how it was cut ("day", ...). `a + b` adds group by
    group; `whole` is the tally of all rows.

    >>> a = TallySet(("site",), {("north",): Tally.of([0, 1], [0.2, 0.9])})
    >>> b = TallySet(("site",), {("south",): Tally.of([0, 1], [0.4, 0.7])})
    >>> a + b
    <TallySet: 4 rows in 2 groups by site>
    >>> (a + b).whole
    <Tally: 4 rows, 2 positive, on 4 scores (probability)>
    """

    by: tuple[str, ...]
    parts: dict[Key, Tally] = field(default_factory=dict)
    window: str | None = None
    origin: Origin = field(default_factory=Origin)  # of all rows, which has the files

    def __getitem__(self, key: str | Key) -> Tally:
        """The tally of a group, by its words; a single word where there is one column."""
        return self.parts[(key,) if isinstance(key, str) else tuple(key)]

    def __iter__(self) -> Iterator[Key]:
        return iter(sorted(self.parts))

    def __len__(self) -> int:
        return len(self.parts)

    @cached_property
    def whole(self) -> Tally:
        """The tally of all rows."""
        total = added(self.parts[key] for key in self)
        known = replace(
            total.origin,
            shards=self.origin.shards,
            dropped=self.origin.dropped,
            sources=self.origin.sources or total.origin.sources,
        )
        return replace(total, origin=known)

    def over(self, by: Sequence[str]) -> TallySet:
        """The same by some of its columns, added up over the others."""
        for name in by:
            if name not in self.by:
                raise BadInput(
                    f"the tally is by {_said(self)}, not by '{name}'; make it anew with ",
                    Option("by", name),
                )
        at = [self.by.index(name) for name in by]
        parts: dict[Key, list[Tally]] = {}
        for key in self:
            parts.setdefault(tuple(key[k] for k in at), []).append(self.parts[key])
        made = {key: added(tallies) for key, tallies in parts.items()}
        window = self.window if self.by[-1:] == tuple(by)[-1:] else None
        return TallySet(tuple(by), made, window, self.origin)

    def __add__(self, other: TallySet) -> TallySet:
        if (self.by, self.window) != (other.by, other.window):
            raise BadInput(
                f"one tally is by {_said(self)} and the other by {_said(other)}; make both with the same ",
                Option("by"), " and ", Option("window"),
            )  # fmt: skip
        parts = {
            key: added(t.parts[key] for t in (self, other) if key in t.parts)
            for key in {*self.parts, *other.parts}
        }
        return TallySet(self.by, parts, self.window, self.origin + other.origin)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TallySet):
            return NotImplemented
        same = (self.by, self.window) == (other.by, other.window)
        return same and self.parts == other.parts

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        rows = sum(t.origin.rows for t in self.parts.values())
        return f"<TallySet: {rows:,} rows in {len(self):,} groups by {_said(self)}>"

    def save(self, path: str | Path) -> None:
        """Write one file; `TallySet.load` reads it."""
        from scorewise.tallies.store import save

        save(self, path)

    @staticmethod
    def load(path: str | Path) -> TallySet:
        """What `save` wrote."""
        from scorewise.tallies.store import load_set

        return load_set(Path(path))


def _said(t: TallySet) -> str:
    names = " and ".join(t.by) or "nothing"
    return f"{names} (each {t.window})" if t.window else names


def added(tallies: Iterable[Tally]) -> Tally:
    """The sum of tallies; of no tallies the empty one."""
    total = Tally.empty()
    for t in tallies:
        total = total + t
    return total
