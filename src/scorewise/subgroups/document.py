"""Each measure in each group against the rest, as record, sentence and table.

A group is tested by its difference to the rest, with which it has no row in common. p-values are adjusted
by Holm's method over the groups of a measure; a verdict, which may look at several measures, also counts
these. Cochran's Q asks whether the groups differ among each other at all.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from scorewise.estimate import Estimate
from scorewise.show.data import NamedGroup
from scorewise.show.page import Column, Section, Table
from scorewise.show.records import Count, Limits, Named, Number, PValue, Record, Word, field
from scorewise.show.verdict import NARROW_INTERVAL, Claim, as_percent, claim, figure, with_ci
from scorewise.show.words import DASH, p_value, plural, quoted, value
from scorewise.subgroups.pooling import GroupsWithInterval, PooledRecord

MAX_ROWS = 20  # groups on the page


class GroupMeasure(Limits, Named):
    """A measure in one group, and its difference to the rest of the rows, which is tested."""

    why: str
    rest: Number = field("Its value in the rest of the rows.")
    difference: Number = field("The group less the rest; null where it is not judged.")
    difference_low: Number = field("Lower end of the interval of the difference.")
    difference_high: Number = field("Upper end of the interval of the difference.")
    p: PValue
    p_adjusted: PValue
    expected: Number = None

    def differs(self, level: float, times: int = 1) -> bool:
        """Whether the group is told apart from the rest after the correction."""
        return self.p_adjusted is not None and self.p_adjusted * times <= 1 - level


class GroupRecord(NamedGroup):
    """The rows of one group."""

    words: list[str] = field("The word of the group in each column of `by`.")
    rows: Count = field("Rows of the group: items, answers or labelled scores.")
    positives: Count | None = field("Positives among them; null where there are no two classes.")
    judged: bool = field("False where it has fewer rows than are asked for.")
    measures: list[GroupMeasure] = field("The measures of the first screen, and O/E.")


class HeterogeneityRecord(Record):
    """Whether a measure differs among groups (Cochran's Q), and where it is worst."""

    measure: Word
    groups: GroupsWithInterval
    q: Number = field("Sum of squared distances from the common value, in standard errors.")
    p: PValue
    why: str
    worst: str | None = field(
        "The judged group with the worst value, by chance or not; null if none.", default=None
    )


class GroupsRecord(Record):
    """What was judged, group by group."""

    model: str = field(
        "Name of the scores, the judge or the confidence; empty where there is one only."
    )
    by: list[str]
    min_rows: Count = field("Groups of fewer rows are shown and not judged.")
    correction: Word = field("How p-values are adjusted.", default="Holm")
    groups: list[GroupRecord] = field("The groups, in the order of their words.")
    heterogeneity: list[HeterogeneityRecord] = field("Whether groups differ, measure by measure.")
    summary: list[PooledRecord] = field(
        "AUROC, slope and O/E over groups that are a sample of more (random effects).",
        default_factory=list,
    )


@dataclass(frozen=True)
class GroupWording:
    """What pages and verdicts say of groups.

    `better` has for each measure "high", "low" or its target. `sentences` are what the verdict says of a
    lower and of a higher value than in the rest, of those measures that it looks at; `names` what they are
    called there, `percents` those in percent. `titles` are the columns of the page, and `untested` says of
    measures why Cochran's Q is not asked. `noun` and `where` say what is counted. `sampled`: groups may be
    a sample of more, so that means over them are of use.
    """

    better: Mapping[str, str | float]
    sentences: Mapping[str, tuple[str, str]]
    titles: Mapping[str, str]
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)
    percents: Collection[str] = ()
    untested: Mapping[str, str] = dataclasses.field(default_factory=dict)
    noun: str = "row"
    where: str = ""
    sampled: bool = False

    def badness(self, measure: str, x: Any) -> Any:
        """How bad a value is, or each of several, on a scale of no meaning."""
        target = self.better[measure]
        if isinstance(target, str):
            return -x if target == "high" else x
        return abs(x - target)

    def is_worse(self, m: GroupMeasure) -> bool:
        """Whether a group that differs from the rest is the worse side."""
        group, rest = (self.badness(m.name, x or 0.0) for x in (m.value, m.rest))
        return bool(group > rest)


def group_claim(
    g: GroupRecord, m: GroupMeasure, better: bool, wording: GroupWording, model: str
) -> Claim:
    """The sentence on one group that differs from the rest."""
    e = Estimate(m.value or 0.0, m.low or 0.0, m.high or 0.0)
    rest = Estimate(m.rest or 0.0)
    figures = [figure(m.name, e, g.name), figure(m.name, rest, "the rest")]
    words = wording.sentences[m.name][(m.difference or 0.0) > 0].format(
        quoted(g.name), model=quoted(model)
    )
    numbers, against = with_ci(e), value(rest)
    if m.name in wording.percents:
        digits = 0 if e.high - e.low >= NARROW_INTERVAL else 1
        numbers, against = as_percent(e), f"{100 * rest.value:.{digits}f}%"
    text = f"{words}: {wording.names.get(m.name, m.name)} {numbers} against {against} in the rest."
    return claim("groups", "better group" if better else "worse group", text, figures)


def no_group_claim(record: GroupsRecord, wording: GroupWording, measures: Sequence[str]) -> Claim:
    """The sentence where no group is shown to differ from the rest."""
    by = " and ".join(quoted(x) for x in record.by)
    if not any(g.judged for g in record.groups):
        least = plural(record.min_rows, wording.noun)
        text = f"No group by {by} has the {least} that are asked for."
        return claim("groups", "not told apart", text)
    *first, last = [wording.names.get(n, n) for n in measures or ["any measure"]]
    where = f"{', '.join(first)} or {last}" if first else last
    judged = plural(sum(g.judged for g in record.groups), "group")
    text = f"No group by {by} is shown to differ from the rest in {where} ({judged}, Holm)."
    return claim("groups", "not told apart", text)


def group_section(
    record: GroupsRecord,
    level: float,
    wording: GroupWording,
    title: str,
    further: Mapping[str, Mapping[str, str]] | None = None,
) -> Section:
    """One line for each group; of many, those that differ most clearly and the largest.

    `further` are further columns: by title, the text of each group.
    """
    groups, lines, noun = record.groups, [], wording.noun
    if len(groups) > MAX_ROWS:
        clear = sorted((g for g in groups if g.judged), key=lambda g: _smallest_p(g, wording))
        clear = clear[: MAX_ROWS // 2]
        rest = sorted((g for g in groups if g not in clear), key=lambda g: -g.rows)
        names = {g.name for g in [*clear, *rest[: MAX_ROWS - len(clear)]]}
        groups = [g for g in groups if g.name in names]
        lines = [
            f"The {len(clear)} groups that differ most clearly and the {MAX_ROWS - len(clear)} largest of "
            f"the others; the JSON document has all {len(record.groups):,}."
        ]
    valued = {m.name for g in groups for m in g.measures if m.value is not None}
    measures = [name for name in wording.titles if name in valued]
    if small := sum(not g.judged for g in record.groups):
        lines.append(
            f"{plural(small, 'group')} of fewer than {plural(record.min_rows, noun)}{wording.where}: "
            f"shown, not judged."
        )
    p = {h.measure: h.p for h in record.heterogeneity if h.p is not None}
    if tested := [f"{wording.titles[n]} {p_value(p[n])}" for n in measures if n in p]:
        lines.append(f"p of no difference among groups (Cochran's Q): {', '.join(tested)}.")
    star = f"*: differs from the rest of the {noun}s, p adjusted for the groups by Holm."
    two_classes, texts = any(g.positives is not None for g in groups), further or {}

    def table(intervals: bool) -> Table:
        note = f"Brackets: {100 * level:g}% interval. {star}" if intervals else star
        columns = [
            Column(" / ".join(record.by), "name"),
            Column(f"{noun.capitalize()}s", "count"),
            *([Column("Positive", "percent")] if two_classes else []),
            *(Column(wording.titles[n], meaning="" if k else note) for k, n in enumerate(measures)),
            *(Column(text, "text") for text in texts),
        ]
        rows = []
        for g in groups:
            by_name = {m.name: m for m in g.measures}
            size = g.rows if g.judged else f"{g.rows:,} (few)"
            share = [(g.positives or 0) / g.rows if g.rows else None] if two_classes else []
            cells = (_cell(by_name[n], level, intervals) for n in measures)
            rows.append((g.name, size, *share, *cells, *(of[g.name] for of in texts.values())))
        return Table(columns, rows)

    narrow = Section(title, table=table(False), lines=lines)
    return Section(title, table=table(True), lines=lines, narrow=narrow)


def _smallest_p(g: GroupRecord, wording: GroupWording) -> float:
    """The smallest adjusted p-value of the measures that the verdict looks at."""
    adjusted = (m.p_adjusted for m in g.measures if m.name in wording.sentences)
    return min((p for p in adjusted if p is not None), default=1.0)


def _cell(m: GroupMeasure, level: float, interval: bool) -> str:
    if m.value is None:
        return DASH
    star = "*" if m.differs(level) else " "
    if not interval or m.low is None or m.high is None:
        return f"{m.value:.2f}{star}"
    return f"{m.value:.2f}{star}[{m.low:.2f}, {m.high:.2f}]"
