"""Where a tally comes from: columns, classes, rows, files."""

from __future__ import annotations

from dataclasses import dataclass, replace

from scorewise.door import Kind
from scorewise.errors import BadInput


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

    @property
    def rows(self) -> int:
        """Rows used, of both classes."""
        return self.negatives + self.positives

    def __add__(self, other: Origin) -> Origin:
        """The origin of a merged tally; the classes must be the same."""
        if not other.rows:
            return replace(self, dropped=self.dropped + other.dropped)
        if not self.rows:
            return replace(other, dropped=self.dropped + other.dropped)
        if self.positive != other.positive:
            raise BadInput(
                f"the tallies have different positive classes, {self.positive!r} and "
                f"{other.positive!r}; make them with the same positive="
            )
        if self.score != other.score:
            raise BadInput(
                f"the tallies are of different scores, {self.score!r} and {other.score!r}; only "
                f"rows of one and the same model add up"
            )
        return replace(
            min(
                self,
                other,
                key=lambda o: (o.label or "", o.score, o.rule, o.negative, o.weight or ""),
            ),
            negatives=self.negatives + other.negatives,
            positives=self.positives + other.positives,
            dropped=self.dropped + other.dropped,
            sources=tuple(sorted({*self.sources, *other.sources})),
        )


def merged_kind(a: Kind, b: Kind) -> Kind:
    """Probabilities and other scores together are scores; logits go with logits only."""
    if a == b:
        return a
    if "logit" in (a, b):
        raise BadInput(
            f"cannot merge a tally of {a}s with one of {b}s; make both of the same kind="
        )
    return "score"
