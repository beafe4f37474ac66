"""What humans and a judge say about one category, item by item."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.agreeing.judges.panel import Panel
from scorewise.arrays import Floats
from scorewise.estimate import Estimate
from scorewise.inference.scales import effective
from scorewise.inference.shares import wilson


@dataclass(frozen=True, eq=False)
class Outcomes:
    """A category on the labelled items, and the judge on the others.

    Patterns of labelled items have `votes`, the share of their human ratings that name the category,
    `judge`, whether the judge does, and weights. `said` is the judge's share of the others,
    `spread_of_others` its variance there. `labelled` and `others` are numbers of items of equal weight.
    """

    votes: Floats
    judge: Floats
    weight: NDArray[Any]
    weight2: NDArray[Any]
    said: float
    spread_of_others: float
    labelled: float
    others: float

    @cached_property
    def _shares(self) -> Floats:
        return np.asarray(self.weight / self.weight.sum(), np.float64)

    def mean(self, values: Floats) -> float:
        """The mean of something over labelled items."""
        return float((self._shares * values).sum())

    @cached_property
    def covariance(self) -> float:
        """Of votes and judge."""
        return self.mean(self.votes * self.judge) - self.mean(self.votes) * self.mean(self.judge)

    @cached_property
    def spread_of_judge(self) -> float:
        """The judge's variance over all items."""
        n, more = self.labelled, self.others
        first = (n * self.mean(self.judge) + more * self.said) / (n + more)
        second = n * self.mean(self.judge**2) + more * (self.spread_of_others + self.said**2)
        return second / (n + more) - first**2

    @cached_property
    def table(self) -> Floats:
        """Labelled items by (votes, judge), as shares."""
        sides = [[1 - x, x] for x in (self.votes, self.judge)]
        return np.array([[self.mean(a * b) for b in sides[1]] for a in sides[0]])


def outcomes(panel: Panel, judge: str, k: int) -> Outcomes:
    """One category on all items."""
    told, other = panel.labelled, ~panel.labelled
    weight, weight2 = panel.said.weight, panel.said.weight2
    said = _said(panel, judge, k)
    codes = np.stack([c[told] for c in panel.humans.values()])
    votes = (codes == k).sum(0) / (codes >= 0).sum(0)
    share = weight[other] / weight[other].sum()
    mean = float((share * said[other]).sum())
    return Outcomes(
        votes,
        said[told],
        weight[told],
        weight2[told],
        mean,
        float((share * (said[other] - mean) ** 2).sum()),
        effective(*panel.sums(told)),
        effective(*panel.sums(other)),
    )


def _said(panel: Panel, judge: str, k: int) -> Floats:
    """Whether the judge names the category; where it gives no answer, its share elsewhere."""
    codes, weight = panel.said.judges[judge], panel.said.weight
    spoke = codes >= 0
    share = float(weight[codes == k].sum()) / float(weight[spoke].sum())
    return np.where(spoke, codes == k, share).astype(np.float64)


def judged_share(panel: Panel, judge: str, k: int, level: float) -> Estimate:
    """The share of a category among the judge's answers."""
    codes = panel.said.judges[judge]
    (one, one2), (two, two2) = panel.sums(codes == k), panel.sums((codes >= 0) & (codes != k))
    return Estimate(*wilson(one, two, one2, two2, level), level, "Wilson")
