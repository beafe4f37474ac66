"""Single rows of several classes, for what has to look at pairs of rows or draw their labels anew."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.tallies.classes import ClassTally
from scorewise.tallies.losses_of_classes import softmax


@dataclass(frozen=True, eq=False)
class ClassSample:
    """Rows one by one: probabilities that add up to 1, the class that happened, the share of weight.

    `rows` is how many there are in all; a sample was taken where that is more than `len(sample)`.

    >>> t = ClassTally.of([0, 1], [[0.75, 0.25], [0.5, 0.5]], count=[1, 2])
    >>> s = ClassSample.of(t, 1000)
    >>> sorted(s.p[:, 0].tolist()), sorted(s.y.tolist()), s.rows
    ([0.5, 0.5, 0.75], [0, 1, 1], 3)
    """

    p: Floats
    y: NDArray[np.int64]
    weight: Floats
    rows: int

    @classmethod
    def of(cls, t: ClassTally, most: int) -> ClassSample:
        """All rows, or `most` of them: evenly along the hashes of their content.

        A distinct row stands for as many as its weights are worth (Kish).
        """
        if isinstance(most, bool) or not isinstance(most, int | np.integer) or most < 2:
            raise BadInput(f"rows={most} has no pairs of rows; leave it out, or give some hundred")
        assert t.joint is not None
        j = t.joint
        used = np.flatnonzero(j.weight > 0)
        w, w2 = (c[used].astype(float) for c in (j.weight, j.weight2))
        times = np.maximum(np.rint(w * w / w2), 1.0).astype(np.int64)
        ends = np.cumsum(times)
        n = int(ends[-1]) if len(ends) else 0
        places = np.arange(n) if n <= most else ((np.arange(most) + 0.5) * (n / most)).astype(int)
        at = np.searchsorted(ends, places, side="right")
        one = (w / times)[at]
        scores = j.scores[used[at]]
        p = softmax(scores) if t.kind == "logit" else scores / scores.sum(1, keepdims=True)
        rows = n if j.whole else max(t.rows, n)
        return cls(p, j.y[used[at]], one / one.sum() if n else one, rows)

    @property
    def gap(self) -> Floats:
        """What happened (0 or 1 for each class), less its probability."""
        gap = -self.p
        gap[np.arange(len(self)), self.y] += 1
        return gap

    @property
    def alone(self) -> bool:
        """Whether one row has all the weight, so that there are no pairs of rows."""
        return bool((self.weight**2).sum() > 1 - 1e-12)

    @property
    def said(self) -> str:
        """What of the rows was used, for the method; nothing where all were."""
        return "" if len(self) >= self.rows else f", on {len(self):,} of {self.rows:,} rows"

    def shuffled(self, seed: int) -> ClassSample:
        """The rows in an order of chance, so that neighbours have nothing in common."""
        order = np.random.default_rng([seed, 1]).permutation(len(self))
        return ClassSample(self.p[order], self.y[order], self.weight[order], self.rows)

    def __len__(self) -> int:
        return len(self.y)


def why_no_rows(t: ClassTally) -> str:
    """Why calibration of all classes cannot be judged, or nothing."""
    if not t.rows or not t.weight.sum():
        return "no rows"
    return "" if t.joint is not None else "only the confidence is known, not the other classes"


def few_surprises(s: ClassSample) -> str:
    """Why an interval along the errors seen is unreliable: there are hardly any, and few expected."""
    rows = 1 / float((s.weight**2).sum())
    top = s.p.argmax(1)
    seen, expected = (
        rows * float((s.weight * x).sum()) for x in (s.y != top, 1 - s.p[np.arange(len(s)), top])
    )
    if max(seen, expected) >= 5:
        return ""
    n = round(seen)
    return f"{n} row{'' if n == 1 else 's'} of a class that was not the likeliest"


def pairs_of_rows(classes: int) -> int:
    """How many rows can be compared in pairs, in all their classes, in a fraction of a second.

    >>> pairs_of_rows(10), pairs_of_rows(1000)
    (1024, 223)
    """
    return min(1024, int((5e7 / classes) ** 0.5))
