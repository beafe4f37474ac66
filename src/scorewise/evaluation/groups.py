"""Groups of rows: every measure of the first screen in each, beside the rest of the rows.

A group is told apart from the rest by the difference of the two, which share no row. p-values are adjusted
by Holm's method over the groups of a measure; a sentence of the verdict, which looks at several measures,
also counts these. Cochran's Q asks whether the groups differ among each other at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.columns import Rows
from scorewise.columns.group_cells import MOST, intersections
from scorewise.errors import BadInput, Option, plain
from scorewise.estimate import Estimate
from scorewise.evaluation.by_group import asked, by_group, cells_of, rest_of
from scorewise.evaluation.group_clusters import Side, clustered_groups, together
from scorewise.evaluation.sites import SCALES, PooledRecord, pooled_record
from scorewise.inference.effects import chosen, difference, mover
from scorewise.inference.paired import holm
from scorewise.inference.scales import z
from scorewise.registry import MEASURES, Lazy
from scorewise.show.document import Count, Number, Share, Word, says
from scorewise.show.page import DASH, Column, Section, Table, counted, named, p_value, quoted, value
from scorewise.show.verdict import Claim, claim, figure, share, shown
from scorewise.tallies import Tally

if TYPE_CHECKING:
    from scorewise.evaluation.models import Evaluation

SHOWN = 20  # groups on the page
TRIED = 5  # groups that the verdict looks at again, of each measure
# of calibration no group is better or worse by its sign: the one further from the target is worse
NEAR = {"calibration_intercept": 0.0, "calibration_slope": 1.0}
# what the verdict looks at, and what it says of a lower and of a higher value than in the rest
WORDS = {
    "sensitivity": ("Positives in {} are missed more often", "Positives in {} are found more often"),
    "specificity": ("False alarms are more frequent in {}", "False alarms are less frequent in {}"),
    "precision": ("Positive calls in {} are right less often", "Positive calls in {} are right more often"),
    "auroc": ("Ranking is worse within {}", "Ranking is better within {}"),
    "calibration_intercept": ("Probabilities in {} are too high beside the rest",
                              "Probabilities in {} are too low beside the rest"),
    "calibration_slope": ("Probabilities in {} are more extreme than they should be beside the rest",
                          "Probabilities in {} are less extreme than they should be beside the rest"),
}  # fmt: skip
NAMES = {"calibration_intercept": "calibration in the large", "calibration_slope": "slope"}
TITLES = {
    "auroc": "AUROC",
    "calibration_slope": "Slope",
    "oe_ratio": "O/E",
    "sensitivity": "Sens.",
    "specificity": "Spec.",
    "precision": "Prec.",
}


@dataclass(frozen=True, kw_only=True)
class GroupMeasure:
    """A measure in one group, and its difference to the rest of the rows."""

    name: Annotated[Word, says("Name of the measure.")]
    value: Annotated[Number, says("Its value in the group; null when undefined or infinite.")]
    low: Annotated[Number, says("Lower end of its interval; null when there is none.")]
    high: Annotated[Number, says("Upper end of its interval; null when there is none.")]
    why: Annotated[str, says("Why there is no value; empty when there is one.")]
    rest: Annotated[Number, says("Its value in the rest of the rows.")]
    difference: Annotated[Number, says("The group less the rest; null where it is not judged.")]
    difference_low: Annotated[Number, says("Lower end of the interval of the difference.")]
    difference_high: Annotated[Number, says("Upper end of the interval of the difference.")]
    p: Annotated[Share | None, says("P-value of no difference to the rest.")]
    p_adjusted: Annotated[Share | None, says("p, adjusted for the number of groups (Holm).")]

    def differs(self, level: float, times: int = 1) -> bool:
        """Whether the group is told apart from the rest after the correction."""
        return self.p_adjusted is not None and self.p_adjusted * times <= 1 - level


@dataclass(frozen=True, kw_only=True)
class GroupRecord:
    """The rows of one group."""

    name: Annotated[str, says("The words of the group, with slashes between.")]
    words: Annotated[list[str], says("The word of the group in each column of `by`.")]
    rows: Annotated[Count, says("Rows of the group.")]
    positives: Annotated[Count, says("Positives among them.")]
    judged: Annotated[bool, says("False where it has fewer rows than are asked for.")]
    measures: Annotated[list[GroupMeasure], says("The measures of the first screen, and O/E.")]


@dataclass(frozen=True, kw_only=True)
class HeterogeneityRecord:
    """Whether a measure differs among groups (Cochran's Q)."""

    measure: Annotated[Word, says("Name of the measure.")]
    groups: Annotated[Count, says("Groups that are judged and have an interval.")]
    q: Annotated[
        Number, says("Sum of squared distances from the common value, in standard errors.")
    ]
    p: Annotated[Share | None, says("P-value of no difference among groups.")]
    why: Annotated[str, says("Why there is no test; empty when there is one.")]


@dataclass(frozen=True, kw_only=True)
class GroupsRecord:
    """The scores of one model, group by group."""

    model: Annotated[str, says("Name of the scores.")]
    by: Annotated[list[str], says("Columns of the groups.")]
    min_rows: Annotated[Count, says("Groups of fewer rows are shown and not judged.")]
    correction: Annotated[Word, says("How p-values are adjusted.")] = "Holm"
    groups: Annotated[list[GroupRecord], says("The groups, in the order of their words.")]
    heterogeneity: Annotated[
        list[HeterogeneityRecord], says("Whether groups differ, measure by measure.")
    ]
    summary: Annotated[
        list[PooledRecord],
        says("AUROC, slope and O/E over groups that are a sample of more (random effects)."),
    ]


class Groups(Lazy["Evaluation"]):
    """The evaluation of the rows of each group, by its name, made when it is first asked for.

    `groups["north"]` of one column, `groups["north", "f"]` or `groups["north / f"]` of two.
    """

    def __init__(
        self, rows: Rows, of: Evaluation, codes: Ints, words: Sequence[tuple[str, ...]], least: int
    ) -> None:
        self._rows, self._of, self._codes, self._words, self.min_rows = (
            rows,
            of,
            codes,
            words,
            least,
        )
        self.by = tuple(rows.groups)
        joined = [" / ".join(key) for key in words]
        names = joined if len({*joined}) == len(joined) else [str(key) for key in words]
        self._index = {name: k for k, name in enumerate(names)}
        super().__init__(names)

    def __getitem__(self, name: Any) -> Evaluation:
        return super().__getitem__(" / ".join(map(str, name)) if isinstance(name, tuple) else name)

    def _make(self, name: str) -> Evaluation:
        from scorewise.evaluation.models import Evaluation

        t, rows = self._of.tally, chosen(self._rows, self._codes == self._index[name])
        of = Tally.of_rows(rows, t.origin.score, t.origin.sources)
        made = Evaluation(of if t.origin.label else of.unlabelled(), self._of.settings)
        made._rows = rows if rows.cluster is not None else None
        return made

    def _unknown(self, name: str) -> str:
        return f"no group is named {name}; there are {named([*self], 5)}"

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'group')} by {plain(', '.join(self.by))}>"

    def confirmed(self, name: str, measure: str, level: float) -> bool:
        """Whether the interval of the difference to the rest still excludes 0 at a stricter level."""
        rows, of = self._rows, self._of.tally.origin.score
        settings = {**vars(self._of.settings), "level": level}
        mine = self._codes == self._index[name]
        if rows.cluster is None:
            parts = (Tally.of_rows(chosen(rows, at), of) for at in (mine, ~mine))
            first, second = (asked(measure, t, settings) for t in parts)
            gap = difference(first, second, level, lambda: 0.0)
        else:
            group, rest = (Side(rows, np.flatnonzero(at), of) for at in (mine, ~mine))
            first, second = (side.estimate(measure, settings) for side in (group, rest))
            gap = difference(first, second, level, lambda: together(group, rest, measure, settings))
        return gap.low > 0 or gap.high < 0

    @cached_property
    def record(self) -> GroupsRecord:
        """Each measure in each group and in the rest, with tests."""
        from scorewise.evaluation.document import FIRST

        e, rows = self._of, self._rows
        settings, level = vars(e.settings), e.settings.level
        names = (*FIRST, "oe_ratio")
        cells = cells_of(rows, e.tally.origin.score, self._codes, len(self))
        mine = by_group(cells, settings, names)
        rest = rest_of(rows, e, e.tally, self._codes, cells, settings, names)
        joint: dict[str, Any] = dict.fromkeys(names, 0.0)
        if rows.cluster is not None:
            mine, rest, joint = clustered_groups(
                rows, e, e.tally, self._codes, mine, rest, settings
            )
        times = np.ones(len(rows)) if rows.count is None else rows.count
        sizes = np.bincount(self._codes, times, len(self)).astype(int).tolist()
        positives = np.bincount(self._codes, times * rows.y, len(self)).astype(int).tolist()
        judged = [n >= self.min_rows for n in sizes]
        measures: list[list[GroupMeasure]] = [[] for _ in self]
        tests, summary = [], []
        for name in names:
            own = np.array([(x.value, x.low, x.high) for x in mine[name]]).T
            gap = np.stack(_gap(own, rest[name], joint[name], np.array(judged), level))
            adjusted = np.array(holm(gap[3].tolist()))
            numbers = np.vstack([own, rest[name][:1], gap, adjusted])
            lines = numbers.astype(object)
            lines[~np.isfinite(numbers)] = None
            for k, line in enumerate(lines.T.tolist()):
                measures[k].append(_measure(name, mine[name][k].why, *line))
            kept = [x for x, ok in zip(mine[name], judged, strict=True) if ok]
            tests.append(heterogeneity(name, kept, level))
            if name in SCALES:
                summary.append(pooled_record(name, kept, level))
        listed = zip(self, self._words, sizes, positives, judged, measures, strict=True)
        return GroupsRecord(
            model=e.tally.origin.score,
            by=list(self.by),
            min_rows=self.min_rows,
            groups=[
                GroupRecord(name=n, words=list(w), rows=r, positives=p, judged=ok, measures=m)
                for n, w, r, p, ok, m in listed
            ],
            heterogeneity=tests,
            summary=summary,
        )


def _gap(own: Floats, rest: Floats, joint: Any, judged: Bools, level: float) -> list[Floats]:
    """The difference of each group to the rest, its limits and p; NaN where it is not judged."""
    with np.errstate(invalid="ignore"):
        value, low, high, p = mover(own, rest, joint, level)
    known = np.isfinite(low) & np.isfinite(high) & judged
    return [np.where(judged, value, np.nan), *(np.where(known, x, np.nan) for x in (low, high, p))]


def _measure(name: str, why: str, *numbers: float | None) -> GroupMeasure:
    value, low, high, rest, gap, gap_low, gap_high, p, adjusted = numbers
    return GroupMeasure(
        name=name, value=value, low=low, high=high, why=why, rest=rest, difference=gap,
        difference_low=gap_low, difference_high=gap_high, p=p, p_adjusted=adjusted,
    )  # fmt: skip


def heterogeneity(name: str, estimates: Sequence[Estimate], level: float) -> HeterogeneityRecord:
    """Cochran's Q of a measure among groups, standard errors being those of the intervals.

    >>> two = [Estimate(0.2, 0.1, 0.3), Estimate(0.5, 0.4, 0.6)]
    >>> h = heterogeneity("brier", two, 0.95)
    >>> round(h.q, 2), h.p < 0.001
    (17.29, True)
    """
    known = np.array([(e.value, (e.high - e.low) / (2 * z(level))) for e in estimates if e.defined])
    known = known[np.isfinite(known[:, 1]) & (known[:, 1] > 0)] if len(known) else known
    why = "" if len(known) > 1 else "fewer than two groups have an interval"
    if name == "ece":
        why = "chance makes it larger in smaller groups"
    if why:
        return HeterogeneityRecord(measure=name, groups=len(known), q=None, p=None, why=why)
    from scipy.special import chdtrc

    weight = known[:, 1] ** -2
    common = (weight * known[:, 0]).sum() / weight.sum()
    q = float((weight * (known[:, 0] - common) ** 2).sum())
    p = float(chdtrc(len(known) - 1, q))
    return HeterogeneityRecord(measure=name, groups=len(known), q=q, p=p, why="")


def groups_of(rows: Rows, e: Evaluation, least: int) -> Groups | dict[str, Evaluation]:
    """The groups of rows by their columns; none where there are no such columns."""
    if not rows.groups:
        return {}
    codes, words = intersections(rows)
    by = " and ".join(quoted(name) for name in rows.groups)
    if len(words) < 2:
        one = " / ".join(words[0]) if words else ""
        raise BadInput(
            f"all rows are in one group by {by}, {quoted(one)}; name a column of two or more values ",
            "with ", Option("by"),
        )  # fmt: skip
    if len(words) > MOST:
        raise BadInput(
            f"{by} make{'s' * (len(rows.groups) == 1)} {len(words):,} groups, more than the {MOST:,} ",
            "that are judged; name columns of fewer values with ", Option("by"),
        )  # fmt: skip
    return Groups(rows, e, codes, words, least)


def group_claims(groups: Groups, level: float) -> Iterator[Claim]:
    """Which group is worse than the rest, in the one or two measures that show it most clearly."""
    record = groups.record
    judged = [g for g in record.groups if g.judged]
    settings, used = groups._of.settings, WORDS
    if groups._of.tally.kind == "score" and settings.threshold == type(settings).threshold:
        used = {
            n: w for n, w in WORDS.items() if MEASURES[n].group != "decisions"
        }  # 0.5 means nothing
    told: list[tuple[float, bool, GroupRecord, GroupMeasure]] = []
    for name in used:
        apart = [
            (g, m)
            for g in judged
            for m in g.measures
            if m.name == name and m.differs(level, len(WORDS)) and None not in (m.low, m.high)
        ]
        apart.sort(key=lambda x: (not _is_worse(x[1]), -abs(x[1].difference or 0.0)))
        strict = 1 - (1 - level) / max(len(judged) * len(WORDS), 1)
        sure = ((g, m) for g, m in apart[:TRIED] if groups.confirmed(g.name, name, strict))
        if pick := next(sure, None):
            g, m = pick
            told.append((m.p_adjusted or 0.0, not _is_worse(m), g, m))
    told.sort(key=lambda x: x[:2])
    told = [x for x in told if not x[1]] or told
    for _, better, g, m in told[:2]:
        e = Estimate(m.value or 0.0, m.low or 0.0, m.high or 0.0)
        others = Estimate(m.rest or 0.0)
        figures = [figure(m.name, e, g.name), figure(m.name, others, "the rest")]
        words = WORDS[m.name][(m.difference or 0.0) > 0].format(quoted(g.name))
        plainly = m.name in ("sensitivity", "specificity", "precision")
        numbers = share(e) if plainly else shown(e)
        beside = f"{round(100 * others.value)}%" if plainly else value(others)
        what = NAMES.get(m.name, MEASURES[m.name].title if m.name == "auroc" else m.name)
        text = f"{words}: {what} {numbers} against {beside} in the rest."
        yield claim("groups", "better group" if better else "worse group", text, figures)
    if not told:
        by = " and ".join(quoted(x) for x in record.by)
        yield claim(
            "groups",
            "not told apart",
            f"No group by {by} is told apart from the rest, of {counted(len(judged), 'group')} "
            f"and {len(WORDS)} measures (Holm)."
            if judged
            else f"No group by {by} has the {counted(record.min_rows, 'row')} that are asked for.",
        )


def _is_worse(m: GroupMeasure) -> bool:
    """Whether a group that differs from the rest is the worse side."""
    if m.name not in NEAR:
        return (m.difference or 0.0) < 0
    off = [abs((x or 0.0) - NEAR[m.name]) for x in (m.value, m.rest)]
    return off[0] > off[1]


def group_section(record: GroupsRecord, level: float, several: bool) -> Section:
    """One line for each group; of many, those that differ most clearly and the largest."""
    groups, lines = record.groups, []
    if len(groups) > SHOWN:
        clear = sorted((g for g in groups if g.judged), key=_least)[: SHOWN // 2]
        rest = sorted((g for g in groups if g not in clear), key=lambda g: -g.rows)
        kept = {g.name for g in [*clear, *rest[: SHOWN - len(clear)]]}
        groups = [g for g in groups if g.name in kept]
        lines = [
            f"The {len(clear)} groups that differ most clearly and the {SHOWN - len(clear)} largest of "
            f"the others; the JSON document has all {len(record.groups):,}."
        ]
    used = [n for n in TITLES if any(m.name == n and m.value is not None
                                     for g in groups for m in g.measures)]  # fmt: skip
    small = [g for g in record.groups if not g.judged]
    if small:
        lines.append(
            f"{counted(len(small), 'group')} of fewer than {counted(record.min_rows, 'row')}: shown, "
            f"not judged."
        )
    tested = {h.measure: h for h in record.heterogeneity}
    found = [f"{TITLES[n]} {p_value(tested[n].p)}" for n in used if tested[n].p is not None]
    if found:
        lines.append(f"p of no difference among groups (Cochran's Q): {', '.join(found)}.")
    mark = "*: differs from the rest of the rows, p adjusted for the groups by Holm."
    brackets = f"Brackets: {100 * level:g}% interval. "
    wide, narrow = (
        Table(
            [
                Column(" / ".join(record.by), "name"),
                Column("Rows", "count"),
                Column("Positive", "percent"),
                *(Column(TITLES[n], meaning="" if k else means) for k, n in enumerate(used)),
            ],
            [_line(g, used, level, whole) for g in groups],
        )
        for whole, means in ((True, brackets + mark), (False, mark))
    )
    title = f"Groups of {quoted(record.model)}" if several else "Groups"
    return Section(title, table=wide, lines=lines, narrow=Section(title, table=narrow, lines=lines))


def _line(g: GroupRecord, used: Sequence[str], level: float, whole: bool) -> tuple[Any, ...]:
    """A group with its values, and with intervals where there is room."""
    by_name = {m.name: m for m in g.measures}
    rows = g.rows if g.judged else f"{g.rows} (few)"
    cells = (_cell(by_name[n], level, whole) for n in used)
    return g.name, rows, g.positives / g.rows if g.rows else None, *cells


def _least(g: GroupRecord) -> float:
    """The smallest adjusted p-value of the measures that the verdict looks at."""
    known = [m.p_adjusted for m in g.measures if m.name in WORDS and m.p_adjusted is not None]
    return min(known, default=1.0)


def _cell(m: GroupMeasure, level: float, whole: bool) -> str:
    if m.value is None:
        return DASH
    star = "*" if m.differs(level) else " "
    if not whole or m.low is None or m.high is None:
        return f"{m.value:.2f}{star}"
    return f"{m.value:.2f}{star}[{m.low:.2f}, {m.high:.2f}]"
