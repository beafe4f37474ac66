"""The parts of a tally of several classes: confidence, scores by true class, weights, and whole rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import EqualByFields, Floats, Ints
from scorewise.checks import one_of
from scorewise.columns import Kind
from scorewise.errors import BadInput, Option
from scorewise.tallies.losses import class_probabilities
from scorewise.tallies.runs import add_runs, first_of_runs
from scorewise.tallies.sorting import Numbers

Rule = Literal["max", "margin", "entropy", "energy"]
MAX_ROWS = 1 << 14
GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MARKS, JOINT = ("score", "true", "weight", "weight2"), ("scores", "y", "weight", "weight2")


def confidence(scores: Floats, kind: str, rule: Rule = "max") -> tuple[Floats, Kind]:
    """The confidence of each row, higher being surer, and whether it can be read as a probability.

    `max` is the largest probability (Hendrycks and Gimpel 2017), `margin` its lead over the second,
    `entropy` the negative entropy in nats, `energy` the log of the sum of exp(logit) (Liu et al. 2020).

    >>> z = np.log([[0.5, 0.3, 0.2]])
    >>> rules = ("max", "margin", "entropy", "energy")
    >>> [round(confidence(z, "logit", r)[0].item(), 4) + 0.0 for r in rules]
    [0.5, 0.2, -1.0297, 0.0]
    """
    one_of("confidence", rule, get_args(Rule))
    if rule == "energy":
        if kind != "logit":
            raise BadInput(
                "energy needs logits; pass ", Option("kind", "logit"), " with scores that are logits",
            )  # fmt: skip
        top = scores.max(1)
        return top + np.log(np.exp(scores - top[:, None]).sum(1)), "score"
    p = class_probabilities(scores, kind)
    if rule == "max":
        # of probabilities that add up to 1 within rounding, one may lie slightly above it
        return np.minimum(p.max(1), 1.0), "probability"
    if rule == "margin":
        top_two = np.partition(p, -2, axis=1)[:, -2:]
        lead: Any = top_two[:, 1] - top_two[:, 0]
        return lead, "score"
    log = np.log(np.where(p > 0, p, 1.0))
    return (p * log).sum(1), "score"


@dataclass(frozen=True, eq=False)
class Marks(EqualByFields):
    """Distinct pairs of score and true class, from the lowest score up, with their weight."""

    score: Floats
    true: Ints
    weight: Numbers
    weight2: Numbers
    _identity = MARKS

    @classmethod
    def of(cls, score: Floats, true: Ints, weight: Numbers, weight2: Numbers) -> Marks:
        """Those of rows in any order; rows without weight are left out.

        >>> m = Marks.of(np.array([0.5, 0.1, 0.5]), np.array([1, 0, 1]), *np.ones((2, 3), int))
        >>> m.score, m.true, m.weight
        (array([0.1, 0.5]), array([0, 1]), array([1, 2]))
        """
        used = weight > 0
        if not used.all():
            squares = weight2[used]
            score, true, weight = score[used], true[used], weight[used]
            weight2 = weight if np.array_equal(squares, weight) else squares
        # + 0.0 folds -0.0 into 0.0
        score = score + 0.0
        order = np.argsort(score)
        if len(first_of_runs(score[order])) < len(score):  # only ties need the slower sort
            order = np.lexsort((true, score))
        score, true = score[order], true[order]
        new = first_of_runs(score, true)
        w = add_runs(weight[order], new)
        w2 = w if weight2 is weight else add_runs(weight2[order], new)
        return cls(score[new], true[new], w, w2)

    def __add__(self, other: Marks) -> Marks:
        score, true, w, w2 = _joined(self, other, MARKS)
        counted = self.weight2 is self.weight and other.weight2 is other.weight
        return Marks.of(score, true, w, w if counted else w2)

    def wins(self, positive: int, classes: int) -> Floats:
        """For each class, the weight of pairs with a row of `positive` in which the latter scores higher.

        Ties count half. There are no pairs within a class.

        >>> ones = np.ones(4, int)
        >>> Marks.of(np.array([0.5, 0.1, 0.5, 0.4]), np.array([1, 0, 0, 1]), ones, ones).wins(1, 2)
        array([2.5, 0. ])
        """
        w = self.weight.astype(np.float64)
        start = first_of_runs(self.score)
        mine = add_runs(np.where(self.true == positive, w, 0.0), start)
        above = mine[::-1].cumsum()[::-1] - mine / 2
        pairs = w * np.repeat(above, np.diff(start, append=len(w)))
        against = np.where(self.true == positive, 0.0, pairs)
        return np.bincount(self.true, against, classes).astype(np.float64, copy=False)

    def cells(self, positive: int, negative: int | None = None) -> tuple[Any, ...]:
        """Score, neg, pos, neg2, pos2: one class against another, or against the rest."""
        pos = self.true == positive
        used = slice(None) if negative is None else pos | (self.true == negative)
        score, up = self.score[used], pos[used]
        start = first_of_runs(score)
        columns = []
        for w in (self.weight[used], self.weight2[used]):
            columns += [add_runs(np.where(up, 0, w), start), add_runs(np.where(up, w, 0), start)]
        return (score[start], *columns)


@dataclass(frozen=True, eq=False)
class Joint(EqualByFields):
    """Distinct rows with the weight of each: all of them up to 16,384, else a sample of so many.

    The sample keeps the rows whose content has the least hash: it depends on nothing but the rows, not
    on their order, and those of two parts merge to that of the whole. `total` and `total2` are the sums
    of weights and squared weights of all rows. For variances and for measures that need whole rows.
    """

    scores: Floats
    y: Ints
    weight: Numbers
    weight2: Numbers
    key: NDArray[np.uint64]
    total: float
    total2: float
    _identity = JOINT

    @classmethod
    def of(
        cls, scores: Floats, y: Ints, weight: Numbers, weight2: Numbers,
        totals: tuple[float, float] | None = None,
    ) -> Joint:  # fmt: skip
        """The sample of rows in any order; `totals` where they are a sample already."""
        totals = totals or (weight.sum().item(), weight2.sum().item())
        return _least(_hash(scores, y), totals, scores, y, weight, weight2)

    @property
    def whole(self) -> bool:
        """Whether no row was left out."""
        return bool(abs(self.weight.sum() - self.total) <= 1e-12 * self.total)

    def __add__(self, other: Joint) -> Joint:
        totals = self.total + other.total, self.total2 + other.total2
        key, *columns = _joined(self, other, ("key", *JOINT))
        return _least(key, totals, *columns)


def _least(key: Any, totals: tuple[float, float], scores: Any, y: Any, *weights: Any) -> Joint:
    """Equal rows joined, and those with the least keys kept."""
    if len(key) > 2 * MAX_ROWS:
        # duplicates share their key, so that the least MAX_ROWS distinct keys are among those up to here
        ordered = np.sort(key)
        sampled = key <= ordered[first_of_runs(ordered)][:MAX_ROWS][-1]
        key, scores, y, *weights = (c[sampled] for c in (key, scores, y, *weights))  # type: ignore[assignment]
    order = np.argsort(key, kind="stable")
    start = first_of_runs(key[order])
    w, w2 = (add_runs(x[order], start)[:MAX_ROWS] for x in weights)
    first = order[start][:MAX_ROWS]
    return Joint(scores[first], y[first], w, w2, key[first], *totals)


def _hash(scores: Floats, y: Ints) -> NDArray[np.uint64]:
    """Sixty-four bits of each row's content, well mixed."""
    # + 0.0 folds -0.0 into 0.0
    bits = np.ascontiguousarray(scores + 0.0).view(np.uint64)
    hashed = mixed(y.astype(np.uint64) + np.uint64(1))
    for k in range(bits.shape[1]):
        hashed = mixed(hashed ^ (bits[:, k] + GOLDEN))
    return hashed


def mixed(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Bits well stirred: the last step of splitmix64 (Steele, Lea and Flood 2014)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def _joined(a: Any, b: Any, columns: tuple[str, ...]) -> tuple[Any, ...]:
    return tuple(np.concatenate((getattr(a, c), getattr(b, c))) for c in columns)
