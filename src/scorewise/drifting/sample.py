"""One side of the comparison: its rows, and whether their labels are known."""

from __future__ import annotations

from dataclasses import dataclass

from scorewise.errors import BadInput
from scorewise.tallies import Tally


@dataclass(frozen=True)
class Sample:
    """A tally with a name; without labels, all its rows stand where the negatives are."""

    name: str
    tally: Tally
    labelled: bool = True

    @property
    def rows(self) -> int:
        """Rows used."""
        return self.tally.origin.rows


def check_alike(a: Sample, b: Sample) -> None:
    """Refuse samples whose scores or classes are not the same thing."""
    if not a.rows or not b.rows:
        return
    kinds = a.tally.kind, b.tally.kind
    if kinds[0] != kinds[1]:
        raise BadInput(
            f"the {a.name} sample has scores of kind {kinds[0]} and the {b.name} sample of kind "
            f'{kinds[1]}; pass kind="score" (or "logit") when reading both if they are the same '
            f"model's scores"
        )
    grids = [t.coarse.grid for t in (a.tally, b.tally) if t.coarse is not None]
    if len(set(grids)) > 1:
        raise BadInput(
            f"the samples are coarse on different grids, {grids[0]} and {grids[1]}; "
            f"coarsen both on the same"
        )
    positives = a.tally.origin.positive, b.tally.origin.positive
    if a.labelled and b.labelled and positives[0] != positives[1]:
        raise BadInput(
            f"the positive class is {positives[0]!r} in the {a.name} sample and {positives[1]!r} "
            f"in the {b.name} sample; pass positive= with the same class for both"
        )
