"""A part of a page: facts, a table or sentences, in plain words that each view escapes and sets."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Section:
    """A title, and below it facts (key and sentence), a table and sentences; each may be absent.

    In the table, columns named in `words` hold text and are set left, and the last of them is folded
    where the line is too long; all others hold numbers and are set right.
    """

    title: str = ""
    facts: Sequence[tuple[str, str]] = ()
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    words: frozenset[str] = field(default_factory=frozenset)
    lines: Sequence[str] = ()

    def mapped(self, change: Callable[[object], str]) -> Section:
        """The same with every text changed: how a view makes all words of a page its own at once."""
        return Section(
            change(self.title),
            [(change(key), change(sentence)) for key, sentence in self.facts],
            [change(head) for head in self.head],
            [[change(cell) for cell in row] for row in self.rows],
            frozenset(change(word) for word in self.words),
            [change(line) for line in self.lines],
        )


def hints(said: Sequence[str]) -> list[Section]:
    """The remarks for the reader, as the last section; none where there are none."""
    return [Section("Hints", lines=said)] if said else []


def absent(found: Iterable[tuple[str, str]], title: str = "Without a value") -> list[Section]:
    """What has no value, by the reason, from pairs of a reason (empty: it has one) and a name.

    >>> absent([("no rows", "AUROC"), ("", "Brier"), ("no rows", "AUPRC")])[0].lines
    ['AUROC, AUPRC: no rows']
    """
    by_reason: dict[str, dict[str, None]] = {}
    for why, name in found:
        if why:
            by_reason.setdefault(why, {})[name] = None
    lines = [f"{', '.join(names)}: {why}" for why, names in by_reason.items()]
    return [Section(title, lines=lines)] if lines else []
