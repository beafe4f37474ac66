"""One fitted map of several classes: plain numbers, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from scorewise import __version__
from scorewise.arrays import Floats
from scorewise.columns.classes import ClassKind
from scorewise.recalibrating.classes.methods import CLASS_METHODS, ClassParameters, mapped
from scorewise.recalibrating.classes.table import Table, log_probabilities
from scorewise.tallies.losses import softmax
from scorewise.writing import seal


@dataclass(frozen=True)
class ClassMap:
    """A method with its parameters, the classes, the kind of scores, and the rows it was fitted to.

    `strength` is how many rows the pull towards simpler maps is worth; `absent` are the classes that no
    row had.
    """

    method: str
    parameters: ClassParameters
    classes: tuple[str, ...]
    kind: ClassKind
    clip: float
    strength: float
    rows: int
    absent: tuple[str, ...] = ()
    version: str = __version__

    @classmethod
    def fit(
        cls,
        method: str,
        t: Table,
        classes: tuple[str, ...],
        kind: ClassKind,
        clip: float,
        strength: float,
    ) -> ClassMap:
        """The map of that method at a strength."""
        m, start = CLASS_METHODS[method], None
        for s in (s for s in m.strengths if s > strength):
            _, start = m.fit(t, s, start, exact=1e-2)
        parameters, _ = m.fit(t, strength, start)
        absent = tuple(c for c, seen in zip(classes, t.seen, strict=True) if not seen)
        return cls(method, parameters, classes, kind, clip, strength, len(t), absent)

    def __call__(self, scores: Floats) -> Floats:
        """The probabilities of rows of scores, one column a class."""
        if self.method == "identity":
            return softmax(scores) if self.kind == "logit" else scores.copy()
        return mapped(self.parameters, log_probabilities(scores, self.kind, self.clip))

    def of_table(self, t: Table) -> Floats:
        """The probabilities of rows that were read already."""
        return t.p if self.method == "identity" else mapped(self.parameters, t.x)

    def to_dict(self) -> dict[str, Any]:
        """All of it as JSON values, with a seal."""
        doc = {
            "version": self.version,
            "method": self.method,
            "kind": self.kind,
            "clip": self.clip,
            "classes": list(self.classes),
            "strength": self.strength,
            "rows": self.rows,
            "absent": list(self.absent),
            "parameters": self.parameters,
        }
        return {**doc, "sha256": seal(doc)}
