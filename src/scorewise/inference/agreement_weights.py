"""How far apart two ratings are, from 0 (agree) to 1, by the weights of partial agreement.

Weights go by name or by a table. Sums over pairs of ratings are taken without a table of all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns.rating_codes import RatingList, is_number
from scorewise.columns.ratings import Scale
from scorewise.errors import BadInput, Option
from scorewise.statistics.formulas import category_midranks
from scorewise.tallies.rating_patterns import CategoryCounts
from scorewise.tallies.ratings import Ratings

Weights = str | Any | None
BY_SCALE = {"nominal": "identity", "ordinal": "linear", "interval": "quadratic", "ratio": "ratio"}
NAMES = (
    "identity", "linear", "quadratic", "ordinal", "radical", "ratio", "circular", "bipolar",
)  # fmt: skip
MIDRANKS = "midranks"  # weights of Krippendorff's alpha alone
MAX_CATEGORIES = 1 << 14  # categories of which every pair is looked at, a block at a time
MAX_TABLE = 1 << 12  # categories of a table of weights
_BLOCK = 1 << 20  # pairs of categories at a time
Distance = Callable[[Any, Any], Any]  # of two codes, or arrays of them


def weights_name(r: Ratings, weights: Weights) -> str:
    """What the weights are called: by the scale unless named, "own" for a table.

    >>> weights_name(Ratings.of_table([[2, 1], [1, 3]], scale="ordinal"), None)
    'linear'
    """
    if weights is None:
        return BY_SCALE[r.scale]
    if not isinstance(weights, str):
        return "own"
    if weights not in NAMES:
        raise BadInput(f"weights is {weights!r}; it is one of {', '.join(NAMES)}, or a table")
    return weights


def disagreement_of(r: Ratings, weights: Weights) -> Disagreement | str:
    """The disagreement 1 - w of those weights, or the reason why there is none.

    None takes the weights of the scale: identity for nominal, linear for ordinal, quadratic for
    interval and ratio for ratio ratings. All but identity, ordinal and a table compare the numbers of the
    categories (Gwet 2014, chapter 3).
    """
    if isinstance(weights, str) and weights == MIDRANKS:
        return MidRanks(scaled_to_unit(r.values))
    name, categories = weights_name(r, weights), len(r.categories)
    if name == "own":
        return _checked_table(weights, r.categories)
    if name == "identity" or not categories:
        return Identity(categories)
    if r.scale == "nominal" and not r.declared and not all(map(is_number, r.categories)):
        raise BadInput(
            Option("weights", name), " needs categories in an order; pass ", Option("categories"),
            " from the lowest to the highest, and ", Option("scale", "ordinal"),
        )  # fmt: skip
    if name in ("linear", "quadratic"):
        return (Linear if name == "linear" else Quadratic)(scaled_to_unit(r.values))
    if categories > MAX_CATEGORIES:
        return f"{categories:,} categories are too many for {name} weights, which take {MAX_CATEGORIES:,}"
    if name == "ratio" and r.values.min() < 0:
        return "ratio weights need numbers of 0 or more"
    return Disagreement(_distance(name, r.values), categories)


def agreements(
    weights: Weights, scale: Scale, categories: tuple[str, ...], values: Floats, declared: bool
) -> tuple[Floats, str]:
    """How much each two categories agree (1 on the diagonal), and what that is called.

    >>> agreements("linear", "ordinal", ("low", "mid", "high"), np.arange(3.0), True)[0].tolist()
    [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    """
    nobody, nothing = RatingList.of(np.empty((0, 2), np.int32)), np.empty(0, np.int64)
    none = Ratings(nobody, nothing, nothing, categories, values, scale, None, declared)
    d = disagreement_of(none, weights)
    if isinstance(d, str):
        raise BadInput(d)
    every = np.arange(len(categories), dtype=np.int32)
    return 1.0 - d.between(every[:, None], every), weights_name(none, weights)


def scaled_to_unit(values: Floats) -> Floats:
    """Numbers moved and scaled to lie between 0 and 1.

    >>> scaled_to_unit(np.array([2.0, 3.0, 6.0]))
    array([0.  , 0.25, 1.  ])
    """
    if not len(values):
        return values
    low = values.min()
    # halves, because the range of numbers can be beyond floats
    width = values.max() / 2 - low / 2
    return (values / 2 - low / 2) / width if width > 0 else np.zeros_like(values)


def _checked_table(table: Any, categories: tuple[str, ...]) -> Disagreement | str:
    size = len(categories)
    if size > MAX_TABLE:
        return f"{size:,} categories are too many for a table of weights, which takes {MAX_TABLE:,}"
    try:
        w = np.asarray(table)
        w = np.asarray(table, np.float64) if w.dtype.kind != "c" else np.empty(0)
    except (TypeError, ValueError):
        raise BadInput("weights is not a table of numbers") from None
    if w.shape != (size, size):
        raise BadInput(
            f"the table of weights has shape {w.shape}, and there are {size} categories: it needs a row "
            f"and a column for each, in the order {', '.join(categories[:9])}"
        )
    same = np.eye(size, dtype=np.bool_)
    for wrong, fault in (
        (~((w >= 0) & (w <= 1)), "weights lie between 0 and 1"),
        ((np.abs(w - 1) > 1e-12) & same, "a category fully agrees with itself"),
        (np.abs(w - w.T) > 1e-12, "weights are the same in both directions"),
    ):
        if wrong.any():
            k, j = np.argwhere(wrong)[0]
            raise BadInput(
                f"the weight of {categories[k]} and {categories[j]} is {w[k, j]:g}; {fault}"
                + (f", and the other way round it is {w[j, k]:g}" if k != j else "")
            )
    return of_table(1 - (w + w.T) / 2)


def of_table(away: Any) -> Disagreement:
    """The disagreement of each two categories in a table."""
    return Disagreement(lambda k, j: away[k, j], len(away))


# how far apart two numbers are, up to a factor
_APART: dict[str, Distance] = {
    "radical": lambda a, b: np.sqrt(np.abs(a - b)),
    "circular": lambda a, b: np.sin(np.pi * (a - b)) ** 2,
    "ordinal": lambda a, b: np.abs(a - b) * (np.abs(a - b) + 1),
    "ratio": lambda a, b: ((a - b) / np.where(a + b > 0, a + b, 1)) ** 2,  # two zeros agree
    "bipolar": lambda a, b: (a - b) ** 2 / np.where(a == b, 1, (a + b) * (2 - (a + b))),
}


def _distance(name: str, values: Any) -> Distance:
    """The disagreement of two codes by named weights, 1 at most; of fractions where the values are."""
    apart, low, high = _APART[name], values.min(), values.max()
    x = scaled_to_unit(values)
    if name == "ratio":
        x = values / (high or 1)
    elif name == "circular":
        x = (values - low) / (high - low + 1)
    elif name == "ordinal":  # the pairs of categories that lie between two (both included)
        x = np.argsort(np.argsort(values, kind="stable"), kind="stable") + 0 * values
    largest = apart(x.min(), x.max())
    if name == "circular":
        blocks = Disagreement(lambda k, j: apart(x[k], x[j]), len(x)).blocks()
        largest = max(float(block.max()) for _, block in blocks)
    return lambda k, j: apart(x[k], x[j]) / (largest or 1)


class Disagreement:
    """The disagreement d(k, l) = 1 - w(k, l) of two categories, and its sums over pairs of ratings.

    Here any function `between` two codes: summed over what was said of a pattern, and over categories in
    blocks.

    >>> half = Disagreement(lambda k, l: 0.5 * (k != l), 2)
    >>> said = CategoryCounts.of(RatingList.of(np.array([[0, 1, 1]], np.int32)))
    >>> half.within(said), half.spread(np.array([0.25, 0.75]))
    (array([1. , 0.5]), array([0.375, 0.125]))
    """

    def __init__(self, between: Distance, categories: int) -> None:
        self.between, self.categories = between, categories

    def within(self, counts: CategoryCounts) -> Any:
        """For each category said of a pattern, the sum of d over all ratings of the pattern."""
        first = counts.code[:1]
        total = np.zeros(
            len(counts.code), np.result_type(self.between(first, first), counts.times, np.float64)
        )
        here = np.arange(len(total))
        ends = (counts.start + counts.length)[counts.at]
        # each category of a pattern with the next, with the one after that, ...
        for step in range(1, int(counts.length.max(initial=0))):
            here = here[here + step < ends[here]]
            there = here + step
            apart = self.between(counts.code[here], counts.code[there])
            total[here] += counts.times[there] * apart
            total[there] += counts.times[here] * apart
        return total

    def mean(self, counts: CategoryCounts) -> Floats:
        """The mean of d over each two ratings of each pattern."""
        pairs = counts.rated * (counts.rated - 1)
        return np.asarray(counts.total(counts.times * self.within(counts)) / np.maximum(pairs, 1))

    def spread(self, share: Any) -> Any:
        """For each category k, the sum of d(k, l) share(l); leading axes of `share` are kept."""
        total = np.empty_like(share)
        for rows, block in self.blocks():
            for at in np.ndindex(share.shape[:-1]):
                total[(*at, rows)] = (block * share[at]).sum(1)
        return total

    def squares(self, first: Floats, second: Floats) -> float:
        """The sum of first(k) second(l) d(k, l)**2."""
        blocks = self.blocks()
        return float(sum((first[k] * (d * d * second).sum(1)).sum() for k, d in blocks))

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Rows of the table of disagreements, some at a time."""
        step = max(1, _BLOCK // max(self.categories, 1))
        every = np.arange(self.categories)
        for first in range(0, self.categories, step):
            rows = slice(first, min(first + step, self.categories))
            yield rows, np.asarray(self.between(every[rows, None], every[None, :]))


class Identity(Disagreement):
    """0 for the same category, 1 for any other.

    >>> said = CategoryCounts.of(RatingList.of(np.array([[0, 0, 1, -1]], np.int32)))
    >>> Identity(2).within(said), Identity(2).spread(np.array([0.25, 0.75]))
    (array([1, 2]), array([0.75, 0.25]))
    """

    def __init__(self, categories: int) -> None:
        self.between, self.categories = np.not_equal, categories

    def within(self, counts: CategoryCounts) -> Any:
        """All ratings but those of the category."""
        return counts.rated[counts.at] - counts.times

    def spread(self, share: Any) -> Any:
        """The share of all other categories."""
        return share.sum(-1, keepdims=True) - share

    def squares(self, first: Floats, second: Floats) -> float:
        """The same as without the square."""
        return float((first * self.spread(second)).sum())


class Quadratic(Disagreement):
    """The squared distance of the numbers of the categories; these lie between 0 and 1.

    >>> Quadratic(np.array([0.0, 0.5, 1.0])).spread(np.array([0.5, 0.0, 0.5]))
    array([0.5 , 0.25, 0.5 ])
    """

    def __init__(self, values: Floats) -> None:
        super().__init__(lambda k, j: (values[k] - values[j]) ** 2, len(values))
        self.values = values

    def within(self, counts: CategoryCounts) -> Any:
        """By mean and variance of the numbers of each pattern."""
        v = self.values[counts.code]
        mean = counts.total(counts.times * v) / np.maximum(counts.rated, 1)
        off = (v - mean[counts.at]) ** 2
        return counts.rated[counts.at] * off + counts.total(counts.times * off)[counts.at]

    def spread(self, share: Any) -> Any:
        """By mean and variance of the numbers."""
        mass = share.sum(-1, keepdims=True)
        mean = (share * self.values).sum(-1, keepdims=True) / np.where(mass > 0, mass, 1)
        off = self.values - mean
        return mass * off * off + (share * off * off).sum(-1, keepdims=True)

    def squares(self, first: Floats, second: Floats) -> float:
        """The fourth power of a difference, by its moments."""
        v = self.values - ((first + second) * self.values).sum() / (first + second).sum()
        a, b = ([float((p * v**k).sum()) for k in range(5)] for p in (first, second))
        return a[4] * b[0] - 4 * a[3] * b[1] + 6 * a[2] * b[2] - 4 * a[1] * b[3] + a[0] * b[4]


class MidRanks(Quadratic):
    """The squared distance of mid-ranks, which the shares of the categories decide."""

    def of_shares(self, share: Floats) -> Quadratic:
        """The disagreement where the categories have these shares."""
        return Quadratic(category_midranks(share, self.values))


class Linear(Quadratic):
    """The distance of the numbers of the categories, by running sums in the order of the numbers.

    >>> Linear(np.array([0.0, 0.5, 1.0])).spread(np.array([0.5, 0.0, 0.5]))
    array([0.5, 0.5, 0.5])
    """

    def __init__(self, values: Floats) -> None:
        super().__init__(values)
        self.between = lambda k, j: np.abs(values[k] - values[j])

    def within(self, counts: CategoryCounts) -> Any:
        """By the ratings below and above each number."""
        v, times = self.values[counts.code], counts.times
        patterns, steps = counts.steps()
        rated, sums = counts.rated[patterns], counts.total(times * v)[patterns]
        mass, moment = np.zeros((2, len(patterns)), v.dtype)
        by_number = None if (np.diff(self.values) >= 0).all() else np.lexsort((v, counts.at))
        total = np.empty_like(v)
        for step in steps:
            here, n = step if by_number is None else by_number[step], len(step)
            value, amount = v[here], times[here]
            mass[:n] += amount
            moment[:n] += amount * value
            total[here] = value * (2 * mass[:n] - rated[:n]) + sums[:n] - 2 * moment[:n]
        return np.maximum(total, 0)

    def spread(self, share: Any) -> Any:
        """By the shares below and above each number."""
        order = np.argsort(self.values, kind="stable")
        v, p = self.values[order], share[..., order]
        mass, moment = p.cumsum(-1), (p * v).cumsum(-1)
        total = np.empty_like(p)
        total[..., order] = v * (2 * mass - mass[..., -1:]) + moment[..., -1:] - 2 * moment
        return np.maximum(total, 0)

    def squares(self, first: Floats, second: Floats) -> float:
        """The squares of distances are those of numbers."""
        return float((first * super().spread(second)).sum())


def all_or_nothing(d: Disagreement) -> bool:
    """Whether two categories agree wholly or not at all.

    >>> all_or_nothing(Identity(3)), all_or_nothing(Linear(np.array([0.0, 0.5, 1.0])))
    (True, False)
    """
    if isinstance(d, Identity) or d.categories <= 2:
        return True
    blocks = (block for _, block in d.blocks())
    return not isinstance(d, Quadratic) and all(((b == 0) | (b == 1)).all() for b in blocks)
