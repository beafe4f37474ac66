"""Agreement by group of items: coefficients in each, beside the rest of the items."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from scorewise.arrays import Floats, Ints
from scorewise.columns.grouping import Grouping
from scorewise.inference.agreement import coefficient
from scorewise.inference.effects import correlation_by_cluster, told_apart
from scorewise.registry import RATER_MEASURES
from scorewise.show import groups as shared
from scorewise.show.groups import LARGE, GroupsRecord, GroupWords, groups_record, without
from scorewise.show.verdict import Claim

if TYPE_CHECKING:
    from scorewise.agreeing.agreement import Agreement

TITLES = {
    "percent_agreement": "Agreement",
    "cohen_kappa": "Cohen",
    "fleiss_kappa": "Fleiss",
    "krippendorff_alpha": "Alpha",
    "gwet_ac": "AC",
}


def reported(raters: Sequence[str] | None) -> str:
    """The name of the coefficient to report of these raters; None where they are not known."""
    return "cohen_kappa" if raters is not None and len(raters) == 2 else "krippendorff_alpha"


def words(raters: Sequence[str] | None) -> GroupWords:
    """How groups of items are told of: by the coefficient to report."""
    name = reported(raters)
    other = "fleiss_kappa" if name == "cohen_kappa" else "cohen_kappa"
    titles = {n: t for n, t in TITLES.items() if n != other}
    return GroupWords(
        better=dict.fromkeys(TITLES, "high"),
        sentences={name: ("Raters agree less on {}", "Raters agree more on {}")},
        titles=titles,
        names={name: RATER_MEASURES[name].title},
        noun="item",
    )


class Groups(shared.Groups["Agreement"]):
    """The agreement on the items of each group, by its name, made when it is first asked for.

    `groups["north"]` of one column, `groups["north", "f"]` or `groups["north / f"]` of two.
    """

    def __init__(self, of: Agreement, g: Grouping) -> None:
        super().__init__(g)
        self._of, self.words = of, words(of.ratings.raters)

    def _make(self, name: str) -> Agreement:
        return self._of.part(self.grouping.at(self._index[name]))

    def _others(self, k: int) -> Ints:
        return np.flatnonzero(self.grouping.codes != k)

    @cached_property
    def record(self) -> GroupsRecord:
        """Coefficients in each group and in the rest, with tests."""
        g, level = self.grouping, self._of.settings.level
        own = {m: [part[m] for part in self.values()] for m in self.words.titles}
        mass = self._mass
        part = np.bincount(g.codes[g.codes >= 0], mass[g.codes >= 0], len(g)) / mass.sum()
        others = {k: self._of.part(self._others(k)) for k in np.flatnonzero(part >= LARGE).tolist()}
        rest = {m: self._rest(m, part, others) for m in own}
        joint: dict[str, Floats] | None = None
        if self._of.rows is not None and self._of.rows.cluster is not None:
            joint = {
                m: np.array([self._joint(k, m, others.get(k)) for k in range(len(g))]) for m in own
            }
        return groups_record(g, own, rest, level, self.words, joint=joint)

    @property
    def _mass(self) -> Floats:
        assert self._of.rows is not None
        return self._of.rows.mass

    def _rest(self, m: str, part: Floats, others: dict[int, Agreement]) -> Floats:
        """A coefficient on all items but those of each group: value, low and high.

        A group of a twentieth of the items or more is taken out of them. For smaller ones, what their items
        do to the value of all is taken off.
        """
        e, g = self._of[m], self.grouping
        moved = np.zeros(len(g))
        if len(others) < len(g) and e.defined:
            each = np.where(g.codes >= 0, self._effects(self._of, m), 0.0)
            moved = np.bincount(np.maximum(g.codes, 0), each, len(g)).astype(np.float64)
        return np.minimum(without(e, moved, part, {k: r[m] for k, r in others.items()}), 1.0)

    @staticmethod
    def _effects(of: Agreement, m: str) -> Floats:
        """What each item does to a coefficient, times its weight."""
        r, used = of._items
        assert of.rows is not None
        moved = np.zeros(len(of.rows))
        slope = coefficient(r, m, of.weights).slope
        if len(slope):
            moved[used] = r.weight * slope
        return moved

    def _joint(self, k: int, m: str, rest: Agreement | None) -> float:
        """The correlation of a group and the rest, by clusters that have items in both."""
        rows, of = self._of.rows, self[self.grouping.names[k]]
        assert rows is not None
        assert rows.cluster is not None
        if not of[m].defined or not self._of[m].defined:
            return 0.0
        at, left = self.grouping.at(k), self._others(k)
        far = self._effects(self._of, m)[left] if rest is None else self._effects(rest, m)
        return correlation_by_cluster(rows.cluster, (at, self._effects(of, m)), (left, far))

    def confirmed(self, name: str, measure: str, level: float) -> bool:
        """Whether the interval of the difference to the rest still excludes 0 at a stricter level."""
        k = self._index[name]
        group = self._of.part(self.grouping.at(k), level=level)
        rest = self._of.part(self._others(k), level=level)
        rows = self._of.rows
        clustered = rows is not None and rows.cluster is not None
        return told_apart(
            group[measure], rest[measure], level,
            lambda: self._joint(k, measure, rest) if clustered else 0.0,
        )  # fmt: skip


def group_claims(a: Agreement) -> Iterator[Claim]:
    """On which group of items raters agree less, or that none is told apart."""
    if isinstance(a.groups, Groups):
        g = a.groups
        yield from shared.group_claims(g.record, a.settings.level, g.words, g.confirmed)
