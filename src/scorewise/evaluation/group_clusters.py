"""Groups of rows that come in clusters: intervals within each, and how a group varies with the rest.

A cluster with rows in a group and beside it makes both vary together: their correlation is that of the
effects of rows, summed by cluster. Of a group of less than a twentieth of the rows, what rows do to the
measure of all stands for what they do to the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.columns import Rows
from scorewise.estimate import Estimate
from scorewise.evaluation.by_group import Settings, asked
from scorewise.inference.effects import clustered, correlation, effects
from scorewise.registry import MEASURES
from scorewise.show.groups import LARGE
from scorewise.tallies import Tally


class Side:
    """Some of the rows, in clusters that may have others."""

    def __init__(self, rows: Rows, at: Ints, name: str) -> None:
        assert rows.cluster is not None
        self.rows, self.cluster, self.many = rows.at(at), rows.cluster[at], len(rows.cluster)
        self.tally = Tally.of_rows(self.rows, name)

    def estimate(self, m: str, settings: Settings, e: Estimate | None = None) -> Estimate:
        """The measure with its interval by cluster; `e` is what it is if rows stand alone."""
        alone = asked(m, self.tally, settings) if e is None else e
        by = self.rows.cluster
        assert by is not None
        return clustered(alone, MEASURES[m], self.rows, self.tally, settings, by)

    def sums(self, m: str, settings: Settings) -> Floats | None:
        """What each cluster does to the measure; None where no derivative is known."""
        x = effects(MEASURES[m], self.rows, self.tally, settings)
        return None if x is None else _summed(self.cluster, self.rows.mass() * x, self.many)


def _summed(cluster: Ints, x: Floats, many: int) -> Floats:
    found: Floats = np.bincount(cluster, x, many).astype(np.float64)
    return found


def together(group: Side, rest: Side, m: str, settings: Settings) -> float:
    """The correlation of a group and the rest, by clusters that have rows in both."""
    near, far = group.sums(m, settings), rest.sums(m, settings)
    return 0.0 if near is None or far is None else correlation(near, far)


def clustered_groups(
    rows: Rows,
    whole: Mapping[str, Estimate],
    t: Tally,
    codes: Ints,
    mine: Mapping[str, Sequence[Estimate]],
    rest: Mapping[str, Floats],
    settings: Settings,
) -> tuple[dict[str, list[Estimate]], dict[str, Floats], dict[str, Floats]]:
    """The measures of groups and of the rest with intervals by cluster, and their correlation."""
    name, mass, cluster = t.origin.score, rows.mass(), rows.cluster
    assert cluster is not None
    many = len(next(iter(mine.values())))
    own = {m: list(found) for m, found in mine.items()}
    others, joint = {m: x.copy() for m, x in rest.items()}, {m: np.zeros(many) for m in mine}
    cells = len(np.unique(cluster * (many + 1) + codes))
    crossed = cells > int(cluster.max()) + 1  # else no cluster has rows in two groups
    moved = {
        m: effects(MEASURES[m], rows, t, settings) for m in mine if crossed and whole[m].defined
    }
    order = np.argsort(codes, kind="stable")
    ends = np.searchsorted(codes[order], np.arange(many + 1))
    for k in range(many):
        at = order[ends[k] : ends[k + 1]]
        part = float(mass[at].sum() / mass.sum())
        group = Side(rows, at, name)
        other = Side(rows, np.flatnonzero(codes != k), name) if part >= LARGE else None
        for m in mine:
            own[m][k] = group.estimate(m, settings, own[m][k])
            known = crossed and own[m][k].defined
            if other is not None:
                e = other.estimate(m, settings)
                others[m][:, k] = e.value, e.low, e.high
                joint[m][k] = together(group, other, m, settings) if known and e.defined else 0.0
                continue
            e = whole[m]
            reach = np.array([e.low - e.value, e.high - e.value]) / math.sqrt(1 - part)
            others[m][1:, k] = others[m][0, k] + reach
            near, x = group.sums(m, settings) if known else None, moved.get(m)
            if near is not None and x is not None:
                left = np.where(codes == k, 0.0, mass * x)
                joint[m][k] = correlation(near, _summed(cluster, left, group.many))
    return own, others, joint
