"""Groups of rows: each measure in each group beside the rest, as record, table and sentence.

A group is told apart from the rest by the difference of the two, which have no row in common. p-values are
adjusted by Holm's method over the groups of a measure; a verdict, which may look at several measures,
also counts these. Cochran's Q asks whether the groups differ among each other at all.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from scipy.special import chdtrc

from scorewise.arrays import Bools, Floats
from scorewise.columns.grouping import Grouping
from scorewise.errors import plain
from scorewise.estimate import Estimate
from scorewise.inference.effects import mover
from scorewise.inference.paired import holm
from scorewise.inference.scales import z
from scorewise.registry import Lazy
from scorewise.show.data import NamedGroup
from scorewise.show.estimates import Limits, Named, finite
from scorewise.show.fields import Count, Number, PValue, Record, Word, means
from scorewise.show.page import Column, Section, Table
from scorewise.show.sites import SCALES, JudgedGroups, PooledRecord, pooled_record
from scorewise.show.verdict import NARROW, Claim, claim, figure, share, shown
from scorewise.show.words import DASH, counted, named, p_value, quoted, value

SHOWN = 20  # groups on the page
TRIED = 5  # groups that the verdict looks at again, of each measure
LARGE = 0.05  # share of the rows from which on a group is taken out of them row by row
Value = TypeVar("Value")


class GroupMeasure(Limits, Named):
    """A measure in one group, and its difference to the rest of the rows, which is tested."""

    why: str
    rest: Number = means("Its value in the rest of the rows.")
    difference: Number = means("The group less the rest; null where it is not judged.")
    difference_low: Number
    difference_high: Number
    p: PValue
    p_adjusted: PValue
    expected: Number = None

    def differs(self, level: float, times: int = 1) -> bool:
        """Whether the group is told apart from the rest after the correction."""
        return self.p_adjusted is not None and self.p_adjusted * times <= 1 - level


class GroupRecord(NamedGroup):
    """The rows of one group."""

    words: list[str] = means("The word of the group in each column of `by`.")
    rows: Count = means("Rows of the group: items, answers or labelled scores.")
    positives: Count | None = means("Positives among them; null where there are no two classes.")
    judged: bool = means("False where it has fewer rows than are asked for.")
    measures: list[GroupMeasure] = means("The measures of the first screen, and O/E.")


class HeterogeneityRecord(Record):
    """Whether a measure differs among groups (Cochran's Q), and where it is worst."""

    measure: Word
    groups: JudgedGroups
    q: Number = means("Sum of squared distances from the common value, in standard errors.")
    p: PValue
    why: str
    worst: str | None = means(
        "The judged group with the worst value, by chance or not; null if none.", default=None
    )


class GroupsRecord(Record):
    """What was judged, group by group."""

    model: str = means(
        "Name of the scores, the judge or the confidence; empty where there is one only."
    )
    by: list[str]
    min_rows: Count = means("Groups of fewer rows are shown and not judged.")
    correction: Word = means("How p-values are adjusted.", default="Holm")
    groups: list[GroupRecord] = means("The groups, in the order of their words.")
    heterogeneity: list[HeterogeneityRecord] = means("Whether groups differ, measure by measure.")
    summary: list[PooledRecord] = means(
        "AUROC, slope and O/E over groups that are a sample of more (random effects).",
        default_factory=list,
    )


@dataclass(frozen=True)
class GroupWords:
    """How groups are told of.

    `better` has for each measure "high", "low" or the value it should have. `sentences` are what the
    verdict says of a lower and of a higher value than in the rest, of those measures that it looks at;
    `names` what they are called there, `shares` those in percent. `titles` are the columns of the page, and
    `untested` says of measures why Cochran's Q is not asked. `noun` and `where` say what is counted.
    `sampled`: groups may be a sample of more, so that means over them are of use.
    """

    better: Mapping[str, str | float]
    sentences: Mapping[str, tuple[str, str]]
    titles: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)
    shares: Collection[str] = ()
    untested: Mapping[str, str] = field(default_factory=dict)
    noun: str = "row"
    where: str = ""
    sampled: bool = False

    def badness(self, name: str, x: Any) -> Any:
        """How bad a value is, or each of several, on a scale of no meaning."""
        target = self.better[name]
        if isinstance(target, str):
            return -x if target == "high" else x
        return abs(x - target)

    def is_worse(self, m: GroupMeasure) -> bool:
        """Whether a group that differs from the rest is the worse side."""
        own, rest = (self.badness(m.name, x or 0.0) for x in (m.value, m.rest))
        return bool(own > rest)


class Groups(Lazy[Value]):
    """What was judged of the rows of each group, by its name, made when it is first asked for.

    `groups["north"]` of one column, `groups["north", "f"]` or `groups["north / f"]` of two.
    """

    def __init__(self, grouping: Grouping) -> None:
        self.grouping, self.by, self.min_rows = grouping, grouping.by, grouping.min_rows
        self._index = {name: k for k, name in enumerate(grouping.names)}
        super().__init__(grouping.names)

    def __getitem__(self, name: Any) -> Value:
        return super().__getitem__(" / ".join(map(str, name)) if isinstance(name, tuple) else name)

    def _unknown(self, name: str) -> str:
        return f"no group is named {name}; there are {named([*self], 5)}"

    def __repr__(self) -> str:
        return f"<{counted(len(self), 'group')} by {plain(', '.join(self.by))}>"


def ends(estimates: Sequence[Estimate]) -> Floats:
    """Values, lower and upper limits of estimates, one below the other."""
    found: Floats = np.array([(e.value, e.low, e.high) for e in estimates]).reshape(-1, 3).T
    return found


def without(e: Estimate, moved: Floats, part: Floats, exact: Mapping[int, Estimate]) -> Floats:
    """A measure of all rows but those of each group, as `ends` has it.

    `e` is that of all rows, `moved` what the rows of each group do to it, `part` their share of all. The
    interval is that of all rows, as much wider as rows are fewer; groups that were taken out of the rows
    have their `exact` rest.
    """
    left = np.maximum(1 - part, 1e-300)
    values, wider = e.value - moved / left, 1 / np.sqrt(left)
    found = np.stack([values, *(values + (end - e.value) * wider for end in (e.low, e.high))])
    for k, rest in exact.items():
        found[:, k] = rest.value, rest.low, rest.high
    return found


def groups_record(
    g: Grouping,
    own: Mapping[str, Sequence[Estimate]],
    rest: Mapping[str, Floats],
    level: float,
    how: GroupWords,
    *,
    joint: Mapping[str, Any] | None = None,
    positives: Sequence[int] | None = None,
    model: str = "",
) -> GroupsRecord:
    """The record of measures in each group and, as `ends` has them, in the rest, with tests.

    `joint` are correlations of a group with its rest, if rows of both belong together.
    """
    measures: list[list[GroupMeasure]] = [[] for _ in g.names]
    tests, summary = [], []
    judged = [n for n, ok in zip(g.names, g.judged, strict=True) if ok]
    for name, estimates in own.items():
        mine = ends(estimates)
        shared = 0.0 if joint is None else joint[name]
        gap = np.stack(_gap(mine, rest[name], shared, g.judged, level))
        numbers = np.vstack([mine, rest[name][:1], gap, holm(gap[3].tolist())])
        lines = numbers.astype(object)
        lines[~np.isfinite(numbers)] = None
        for k, line in enumerate(lines.T.tolist()):
            measures[k].append(_measure(name, estimates[k], *line))
        tests.append(heterogeneity(name, judged, mine[:, g.judged], level, how))
        if name in SCALES and how.sampled:
            kept = [e for e, ok in zip(estimates, g.judged, strict=True) if ok]
            summary.append(pooled_record(name, kept, level))
    ups = [None] * len(g) if positives is None else positives
    listed = zip(g.names, g.words, g.sizes.tolist(), ups, g.judged.tolist(), measures, strict=True)
    return GroupsRecord(
        model=model,
        by=list(g.by),
        min_rows=g.min_rows,
        groups=[
            GroupRecord(name=n, words=list(w), rows=r, positives=p, judged=ok, measures=m)
            for n, w, r, p, ok, m in listed
        ],
        heterogeneity=tests,
        summary=summary,
    )


def _gap(own: Floats, rest: Floats, joint: Any, judged: Bools, level: float) -> list[Floats]:
    """The difference of each group to the rest, its limits and p; NaN where it is not judged."""
    with np.errstate(invalid="ignore", over="ignore"):
        value, low, high, p = mover(own, rest, joint, level)
    known = np.isfinite(low) & np.isfinite(high) & judged
    return [np.where(judged, value, np.nan), *(np.where(known, x, np.nan) for x in (low, high, p))]


def _measure(name: str, e: Estimate, *numbers: float | None) -> GroupMeasure:
    expected = None if e.expected is None else finite(e.expected)
    value, low, high, rest, gap, gap_low, gap_high, p, adjusted = numbers
    return GroupMeasure(
        name=name, value=value, low=low, high=high, why=e.why, rest=rest, difference=gap,
        difference_low=gap_low, difference_high=gap_high, p=p, p_adjusted=adjusted,
        expected=expected,
    )  # fmt: skip


def heterogeneity(
    name: str, groups: Sequence[str], own: Floats, level: float, how: GroupWords
) -> HeterogeneityRecord:
    """Cochran's Q of a measure among groups, standard errors being those of the intervals.

    `own` are values and limits, as `ends` has them.

    >>> two = ends([Estimate(0.2, 0.1, 0.3), Estimate(0.5, 0.4, 0.6)])
    >>> h = heterogeneity("brier", ["a", "b"], two, 0.95, GroupWords({"brier": "low"}, {}, {}))
    >>> round(h.q, 2), h.p < 0.001, h.worst
    (17.29, True, 'b')
    """
    defined = np.flatnonzero(np.isfinite(own[0]))
    values, low, high = own[:, defined]
    bad = how.badness(name, values)
    worst = groups[defined[bad.argmax()]] if len(defined) else None
    known = np.stack([values, (high - low) / (2 * z(level))], 1)
    known = known[np.isfinite(known[:, 1]) & (known[:, 1] > 0)]
    why = "" if len(known) > 1 else "fewer than two groups have an interval"
    why = how.untested.get(name, why)
    if why:
        return HeterogeneityRecord(
            measure=name, groups=len(known), q=None, p=None, why=why, worst=worst
        )
    weight = known[:, 1] ** -2
    common = (weight * known[:, 0]).sum() / weight.sum()
    q = float((weight * (known[:, 0] - common) ** 2).sum())
    p = float(chdtrc(len(known) - 1, q))
    return HeterogeneityRecord(measure=name, groups=len(known), q=q, p=p, why="", worst=worst)


def group_claims(
    record: GroupsRecord,
    level: float,
    how: GroupWords,
    confirmed: Callable[[str, str, float], bool],
    used: Collection[str] | None = None,
    times: int = 1,
) -> Iterator[Claim]:
    """Which group is worse than the rest, in the one or two measures that show it most clearly.

    `confirmed(group, measure, level)` says whether the interval of the difference to the rest still
    excludes 0 at a stricter level. `times` is how many models are looked at.
    """
    judged = [g for g in record.groups if g.judged]
    valued = {m.name for g in judged for m in g.measures if m.value is not None}
    looked_at = [n for n in (how.sentences if used is None else used) if n in valued]
    many = max(len(looked_at), 1)
    tests = many * times
    told: list[tuple[float, bool, GroupRecord, GroupMeasure]] = []
    for name in looked_at:
        apart = [
            (g, m)
            for g in judged
            for m in g.measures
            if m.name == name and m.differs(level, tests) and None not in (m.low, m.high)
        ]
        apart.sort(key=lambda x: (not how.is_worse(x[1]), -abs(x[1].difference or 0.0)))
        strict = 1 - (1 - level) / max(len(judged) * tests, 1)
        sure = ((g, m) for g, m in apart[:TRIED] if confirmed(g.name, name, strict))
        if pick := next(sure, None):
            g, m = pick
            told.append((m.p_adjusted or 0.0, not how.is_worse(m), g, m))
    told.sort(key=lambda x: x[:2])
    told = [x for x in told if not x[1]] or told
    yield from (_told(g, m, better, how, record.model) for _, better, g, m in told[:2])
    if told:
        return
    by = " and ".join(quoted(x) for x in record.by)
    *first, last = [how.names.get(n, n) for n in looked_at or ["any measure"]]
    at = f"{', '.join(first)} or {last}" if first else last
    least = counted(record.min_rows, how.noun)
    yield claim(
        "groups",
        "not told apart",
        f"No group by {by} is shown to differ from the rest in {at} "
        f"({counted(len(judged), 'group')}, Holm)."
        if judged
        else f"No group by {by} has the {least} that are asked for.",
    )


def _told(g: GroupRecord, m: GroupMeasure, better: bool, how: GroupWords, model: str) -> Claim:
    """The sentence on one group that is told apart."""
    e = Estimate(m.value or 0.0, m.low or 0.0, m.high or 0.0)
    others = Estimate(m.rest or 0.0)
    figures = [figure(m.name, e, g.name), figure(m.name, others, "the rest")]
    words = how.sentences[m.name][(m.difference or 0.0) > 0].format(
        quoted(g.name), model=quoted(model)
    )
    plainly = m.name in how.shares
    numbers = share(e) if plainly else shown(e)
    digits = 0 if e.high - e.low >= NARROW else 1
    beside = f"{100 * others.value:.{digits}f}%" if plainly else value(others)
    text = f"{words}: {how.names.get(m.name, m.name)} {numbers} against {beside} in the rest."
    return claim("groups", "better group" if better else "worse group", text, figures)


def group_section(
    record: GroupsRecord,
    level: float,
    how: GroupWords,
    title: str,
    beside: Mapping[str, Mapping[str, str]] | None = None,
) -> Section:
    """One line for each group; of many, those that differ most clearly and the largest.

    `beside` are further columns: by title, the text of each group.
    """
    groups, lines, noun = record.groups, [], how.noun
    if len(groups) > SHOWN:
        clear = sorted((g for g in groups if g.judged), key=lambda g: _least(g, how))[: SHOWN // 2]
        rest = sorted((g for g in groups if g not in clear), key=lambda g: -g.rows)
        kept = {g.name for g in [*clear, *rest[: SHOWN - len(clear)]]}
        groups = [g for g in groups if g.name in kept]
        lines = [
            f"The {len(clear)} groups that differ most clearly and the {SHOWN - len(clear)} largest of "
            f"the others; the JSON document has all {len(record.groups):,}."
        ]
    used = [n for n in how.titles if any(m.name == n and m.value is not None
                                         for g in groups for m in g.measures)]  # fmt: skip
    small = [g for g in record.groups if not g.judged]
    if small:
        lines.append(
            f"{counted(len(small), 'group')} of fewer than {counted(record.min_rows, noun)}{how.where}: "
            f"shown, not judged."
        )
    tested = {h.measure: h for h in record.heterogeneity}
    found = [f"{how.titles[n]} {p_value(tested[n].p)}" for n in used if tested[n].p is not None]
    if found:
        lines.append(f"p of no difference among groups (Cochran's Q): {', '.join(found)}.")
    mark = f"*: differs from the rest of the {noun}s, p adjusted for the groups by Holm."
    brackets = f"Brackets: {100 * level:g}% interval. "
    two = any(g.positives is not None for g in groups)
    wide, narrow = (
        Table(
            [
                Column(" / ".join(record.by), "name"),
                Column(f"{noun.capitalize()}s", "count"),
                *([Column("Positive", "percent")] if two else []),
                *(Column(how.titles[n], meaning="" if k else means) for k, n in enumerate(used)),
                *(Column(also, "text") for also in beside or {}),
            ],
            [
                (
                    *_line(g, used, level, whole, two),
                    *(of[g.name] for of in (beside or {}).values()),
                )
                for g in groups
            ],
        )
        for whole, means in ((True, brackets + mark), (False, mark))
    )
    return Section(title, table=wide, lines=lines, narrow=Section(title, table=narrow, lines=lines))


def _line(
    g: GroupRecord, used: Sequence[str], level: float, whole: bool, two: bool
) -> tuple[Any, ...]:
    """A group with its values, and with intervals where there is room."""
    by_name = {m.name: m for m in g.measures}
    rows = g.rows if g.judged else f"{g.rows:,} (few)"
    cells = (_cell(by_name[n], level, whole) for n in used)
    part = [(g.positives or 0) / g.rows if g.rows else None] if two else []
    return g.name, rows, *part, *cells


def _least(g: GroupRecord, how: GroupWords) -> float:
    """The smallest adjusted p-value of the measures that the verdict looks at."""
    known = [
        m.p_adjusted for m in g.measures if m.name in how.sentences and m.p_adjusted is not None
    ]
    return min(known, default=1.0)


def _cell(m: GroupMeasure, level: float, whole: bool) -> str:
    if m.value is None:
        return DASH
    star = "*" if m.differs(level) else " "
    if not whole or m.low is None or m.high is None:
        return f"{m.value:.2f}{star}"
    return f"{m.value:.2f}{star}[{m.low:.2f}, {m.high:.2f}]"
