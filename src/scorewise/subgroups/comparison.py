"""Groups of rows by name, and the estimates of each group against those of all other rows.

A room says in `estimates` how it evaluates some of the rows. Where the influence of single rows on a
measure is known, a group of less than a twentieth of the rows is not left out of them: the influence of its
rows is taken off the value of all rows, whose interval is widened as rows are fewer.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Generic, TypeAlias, TypeVar

import numpy as np
from scipy.special import chdtrc

from scorewise.arrays import Floats, Ints
from scorewise.columns.grouping import Grouping
from scorewise.computing import cached
from scorewise.errors import plain
from scorewise.estimate import Estimate
from scorewise.inference.correlation import correlation_by_cluster
from scorewise.inference.differences import distinguishable, holm, mover
from scorewise.inference.scales import normal_quantile
from scorewise.registry import Lazy
from scorewise.show.records import finite, record_of
from scorewise.show.verdict import Claim
from scorewise.show.words import listed, plural
from scorewise.subgroups.document import (
    GroupMeasure,
    GroupRecord,
    GroupsRecord,
    GroupWording,
    HeterogeneityRecord,
    group_claim,
    no_group_claim,
)
from scorewise.subgroups.pooling import SCALES, pooled_record

CONFIRMED = 5  # groups whose difference is computed again at the stricter level of the verdict
_NUMBERS = (
    "value", "low", "high", "rest", "difference", "difference_low", "difference_high", "p", "p_adjusted"
)  # fmt: skip
LARGE_GROUP = 0.05  # share of the rows from which on a group is left out of them row by row
Value = TypeVar("Value")
Estimates = TypeVar("Estimates", bound=Mapping[str, Estimate])
OfGroups: TypeAlias = dict[str, list[Estimate]]  # by measure, of each group
OfRest: TypeAlias = dict[str, Floats]  # by measure, of the rest of each group: value, low and high


class Groups(Lazy[Value]):
    """What was found in the rows of each group, by its name, computed when it is first asked for.

    `groups["north"]` of one column, `groups["north", "f"]` or `groups["north / f"]` of two.
    """

    def __init__(self, grouping: Grouping) -> None:
        self.grouping, self.by, self.min_rows = grouping, grouping.by, grouping.min_rows
        self._index = {name: k for k, name in enumerate(grouping.names)}
        super().__init__(grouping.names)

    def __getitem__(self, name: Any) -> Value:
        return super().__getitem__(" / ".join(map(str, name)) if isinstance(name, tuple) else name)

    def _unknown(self, name: str) -> str:
        return f"no group is named {name}; there are {listed([*self], 5)}"

    def __repr__(self) -> str:
        by = f" by {plain(', '.join(self.by))}" if self.by else ""
        return f"<{plural(len(self), 'group')}{by}>"


class GroupComparison(Generic[Estimates]):
    """A model, a judge or a confidence, compared between each group and the rest of the rows.

    `model` is its name where there are several. `overall` are the estimates of all rows; where it is None,
    every group is left out of them. `mass` is the weight of each row, `cluster` the cluster that it
    belongs to, if there are any, and `positives` those of each group where there are two classes.
    """

    grouping: Grouping
    wording: GroupWording
    measures: Sequence[str]
    level: float
    model: str = ""
    positives: Sequence[int] | None = None
    overall: Estimates | None = None
    mass: Floats
    cluster: Ints | None = None

    @abstractmethod
    def estimates(self, k: int, inside: bool, level: float) -> Estimates:
        """The estimates of the rows of a group, or of all others."""

    def influence(self, of: Estimates, measure: str) -> Floats | None:
        """The influence of each row on a measure, times its weight; None where that is not known."""
        return None

    def in_group(self, k: int) -> Estimates:
        """The estimates of the rows of a group."""
        return self.estimates(k, True, self.level)

    def row_places(self, k: int, inside: bool) -> Ints:
        """The places of the rows of a group, or of all others that are in one."""
        codes = self.grouping.codes
        return self.grouping.at(k) if inside else np.flatnonzero((codes != k) & (codes >= 0))

    @property
    def record(self) -> GroupsRecord:
        """Each measure in each group and in the rest, with tests."""
        # a cached property would let other models wait: its lock is that of the class
        return cached(self, "record", self._tested)

    def _tested(self) -> GroupsRecord:
        """Each measure in each group and in the rest, their differences tested measure by measure."""
        g, level = self.grouping, self.level
        groups, rest, correlation = self._compared()
        measures: list[list[GroupMeasure]] = [[] for _ in g.names]
        tests, summary = [], []
        judged = [name for name, ok in zip(g.names, g.judged, strict=True) if ok]
        for name, estimates in groups.items():
            own, shared = limits(estimates), 0.0 if correlation is None else correlation[name]
            with np.errstate(invalid="ignore", over="ignore"):
                gap = np.stack(mover(own, rest[name], shared, level))
            gap[:, ~g.judged] = np.nan
            gap[1:, ~np.isfinite(gap[1:3]).all(0)] = np.nan
            numbers = np.vstack([own, rest[name][:1], gap, holm(gap[3].tolist())])
            lines = numbers.astype(object)
            lines[~np.isfinite(numbers)] = None
            for of, e, line in zip(measures, estimates, lines.T.tolist(), strict=True):
                numbered = dict(zip(_NUMBERS, line, strict=True))
                expected = finite(e.expected)
                of.append(GroupMeasure(name=name, why=e.why, expected=expected, **numbered))
            tests.append(heterogeneity(name, judged, own[:, g.judged], level, self.wording))
            if name in SCALES and self.wording.sampled:
                judged_estimates = [e for e, ok in zip(estimates, g.judged, strict=True) if ok]
                summary.append(pooled_record(name, judged_estimates, level))
        ups = [None] * len(g) if self.positives is None else self.positives
        columns = g.names, map(list, g.words), g.sizes.tolist(), ups, g.judged.tolist(), measures
        records = [
            GroupRecord(name=n, words=w, rows=r, positives=p, judged=ok, measures=m)
            for n, w, r, p, ok, m in zip(*columns, strict=True)
        ]
        tested = {"heterogeneity": tests, "summary": summary}
        return record_of(GroupsRecord, g, model=self.model, groups=records, **tested)

    def _compared(self) -> tuple[OfGroups, OfRest, OfRest | None]:
        """The measures of each group and of the rest, and their correlations if rows are in clusters."""
        estimates = [self.in_group(k) for k in range(len(self.grouping))]
        return self._against_rest({m: [of[m] for of in estimates] for m in self.measures})

    def _against_rest(
        self, groups: OfGroups, values: Mapping[str, Floats] | None = None
    ) -> tuple[OfGroups, OfRest, OfRest | None]:
        """The same, given the measures of each group, and the values in the rest if these are known."""
        shares = self._shares()
        large = np.flatnonzero(shares >= LARGE_GROUP).tolist() if len(shares) > 1 else []
        rest_of = {k: self.estimates(k, False, self.level) for k in large}
        rest = {m: self._rest(m, shares, rest_of, (values or {}).get(m)) for m in groups}
        if not self._crossed():
            return groups, rest, None
        own = [self.in_group(k) for k in range(len(shares))]
        correlation = {
            m: np.array([self._correlation(k, m, e, rest_of.get(k)) for k, e in enumerate(own)])
            for m in groups
        }
        return groups, rest, correlation

    def _shares(self) -> Floats:
        """The share of the rows in each group; 1 where every group is left out."""
        if self.overall is None:
            return np.ones(len(self.grouping))
        mass = self._sums(self.mass)
        shares: Floats = mass / mass.sum()
        return shares

    def _sums(self, x: Floats) -> Floats:
        """The sums of what rows have, in each group."""
        grouped = self.grouping.codes >= 0
        codes = self.grouping.codes[grouped]
        return np.bincount(codes, x[grouped], len(self.grouping)).astype(np.float64)

    def _crossed(self) -> bool:
        """Whether any cluster has rows in two groups."""
        if self.cluster is None:
            return False
        grouped = self.grouping.codes >= 0
        cluster, codes = self.cluster[grouped], self.grouping.codes[grouped]
        both = np.unique(cluster * len(self.grouping) + codes)
        return len(both) > len(np.unique(cluster))

    def _rest(
        self, measure: str, shares: Floats, left: Mapping[int, Estimates], values: Floats | None
    ) -> Floats:
        """A measure of all rows but those of each group: value, low and high."""
        exact = {k: of[measure] for k, of in left.items()}
        if self.overall is None:
            return limits([*exact.values()])
        if len(shares) == 1:  # there is no rest
            return np.full((3, 1), np.nan)
        e = self.overall[measure]
        if values is None:
            influence = self._overall_influence(measure) if len(exact) < len(shares) else None
            sums = 0 * shares if influence is None else self._sums(influence)
            values = without_groups(e, sums, shares)
        return rest_limits(e, values, shares, exact)

    def _overall_influence(self, measure: str) -> Floats | None:
        """The influence of each of all rows on a measure; None where it has no value."""
        of = self.overall
        if of is None or not of[measure].defined:
            return None
        return cached(self, ("influence", measure), lambda: self.influence(of, measure))

    def _correlation(self, k: int, measure: str, own: Estimates, rest: Estimates | None) -> float:
        """The correlation of a group and the rest, by clusters that have rows in both."""
        others = self.row_places(k, False)
        if self.cluster is None or not own[measure].defined or not len(others):
            return 0.0
        inside, outside = self.influence(own, measure), None
        if rest is not None:
            outside = self.influence(rest, measure) if rest[measure].defined else None
        elif (overall := self._overall_influence(measure)) is not None:
            outside = overall[others]
        if inside is None or outside is None:
            return 0.0
        pairs = (self.row_places(k, True), inside), (others, outside)
        return correlation_by_cluster(self.cluster, *pairs)

    @property
    def verdict_measures(self) -> Collection[str]:
        """The measures that the verdict looks at."""
        return self.wording.sentences

    def claims(self, models: int = 1) -> Iterator[Claim]:
        """Which group is worse than the rest, in the one or two measures that show it most clearly.

        `models` are looked at in all, which makes the level stricter.
        """
        if not len(self.grouping):
            return
        record, wording = self.record, self.wording
        judged = [g for g in record.groups if g.judged]
        valued = {m.name for g in judged for m in g.measures if m.value is not None}
        tested = [n for n in self.verdict_measures if n in valued]
        tests = max(len(tested), 1) * models
        strict = 1 - (1 - self.level) / max(len(judged) * tests, 1)
        shown: list[tuple[float, bool, GroupRecord, GroupMeasure]] = []
        for name in tested:
            apart = [
                (g, m)
                for g in judged
                for m in g.measures
                if m.name == name and m.differs(self.level, tests) and None not in (m.low, m.high)
            ]
            apart.sort(key=lambda x: (not wording.is_worse(x[1]), -abs(x[1].difference or 0.0)))
            for g, m in apart[:CONFIRMED]:
                if self._confirmed(g.name, name, strict):
                    shown.append((m.p_adjusted or 0.0, not wording.is_worse(m), g, m))
                    break
        shown.sort(key=lambda x: x[:2])
        shown = [x for x in shown if not x[1]] or shown
        for _, better, g, m in shown[:2]:
            yield group_claim(g, m, better, wording, record.model)
        if not shown:
            yield no_group_claim(record, wording, tested)

    def _confirmed(self, name: str, measure: str, level: float) -> bool:
        """Whether the interval of the difference to the rest still excludes 0 at a stricter level."""
        k = self.grouping.names.index(name)
        own, rest = (self.estimates(k, inside, level) for inside in (True, False))
        return distinguishable(
            own[measure], rest[measure], level, lambda: self._correlation(k, measure, own, rest)
        )


class GroupsOfModels(Groups[Value]):
    """Groups in each of which several models, judges or confidences are compared; there may be none."""

    each: Mapping[str, GroupComparison[Any]]

    @property
    def records(self) -> dict[str, GroupsRecord]:
        """Each measure of each model in each group and in the rest, with tests."""
        return {name: of.record for name, of in self.each.items()}


class ComparedGroups(Groups[Estimates], GroupComparison[Estimates]):
    """Groups of which each has one mapping from measures to estimates."""

    def _make(self, name: str) -> Estimates:
        return self.estimates(self._index[name], True, self.level)

    def in_group(self, k: int) -> Estimates:
        """The estimates of the rows of a group."""
        return self[self.grouping.names[k]]


def without_groups(e: Estimate, influence: Floats, shares: Floats) -> Floats:
    """A measure without the rows of each group, from that of all rows and the summed influence of each."""
    values: Floats = e.value - influence / np.maximum(1 - shares, 1e-300)
    return values


def rest_limits(
    e: Estimate, values: Floats, shares: Floats, exact: Mapping[int, Estimate] | None = None
) -> Floats:
    """A measure of all rows but those of each group: value, low and high.

    `e` is that of all rows, `values` are those in the rest, `shares` the groups' shares of all rows. The
    interval is that of all rows, widened as rows are fewer; groups that were left out row by row have
    their `exact` rest.
    """
    wider = 1 / np.sqrt(np.maximum(1 - shares, 1e-300))
    limits = np.stack([values, *(values + (end - e.value) * wider for end in (e.low, e.high))])
    for k, rest in (exact or {}).items():
        limits[:, k] = rest.value, rest.low, rest.high
    return limits


def limits(estimates: Sequence[Estimate]) -> Floats:
    """Values, lower and upper limits of estimates, one below the other."""
    rows: Floats = np.array([(e.value, e.low, e.high) for e in estimates]).reshape(-1, 3).T
    return rows


def heterogeneity(
    measure: str, groups: Sequence[str], estimates: Floats, level: float, wording: GroupWording
) -> HeterogeneityRecord:
    """Cochran's Q of a measure among groups, standard errors being those of the intervals.

    `estimates` are values and limits, as `limits` has them.

    >>> two = limits([Estimate(0.2, 0.1, 0.3), Estimate(0.5, 0.4, 0.6)])
    >>> h = heterogeneity("brier", ["a", "b"], two, 0.95, GroupWording({"brier": "low"}, {}, {}))
    >>> round(h.q, 2), h.p < 0.001, h.worst
    (17.29, True, 'b')
    """
    defined = np.flatnonzero(np.isfinite(estimates[0]))
    values, low, high = estimates[:, defined]
    bad = wording.badness(measure, values)
    worst = groups[defined[bad.argmax()]] if len(defined) else None
    errors = (high - low) / (2 * normal_quantile(level))
    known = np.isfinite(errors) & (errors > 0)
    values, weight = values[known], errors[known] ** -2
    q = p = None
    why = "" if len(values) > 1 else "fewer than two groups have an interval"
    why = wording.untested.get(measure, why)
    if not why:
        common = (weight * values).sum() / weight.sum()
        q = float((weight * (values - common) ** 2).sum())
        p = float(chdtrc(len(values) - 1, q))
    return HeterogeneityRecord(measure=measure, groups=len(values), q=q, p=p, why=why, worst=worst)
