"""Groups of rows: whether one common cut keeps its promise in each, and a cut of its own for each.

A rate that rises or falls with the cut is kept in a group, with confidence, by all cuts on one side of the
group's own guaranteed cut; precision and NPV by all cuts of the group's own fixed sequence that are shown.
So the common cut, which was chosen on all rows, is judged in each group without looking twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.columns import Rows
from scorewise.columns.grouping import grouping
from scorewise.errors import BadInput
from scorewise.inference.effects import chosen
from scorewise.show.page import Column, Section, Table, counted, named, percent, quoted
from scorewise.show.verdict import Claim, claim, share
from scorewise.tallies import Tally
from scorewise.thresholds import cuts
from scorewise.thresholds.constraints import constraints
from scorewise.thresholds.cuts import Clusters
from scorewise.thresholds.document import TITLES, CutPoint, GroupCuts, Promise

if TYPE_CHECKING:
    from scorewise.thresholds.rule import Asked

Point = Callable[..., CutPoint]
MEANING = "kept, broken: shown in the group by itself, with the confidence of the guarantee; open: neither."


def group_cuts(
    rows: Rows, name: str, threshold: float, asked: Asked, point: Point
) -> list[GroupCuts]:
    """Each group with the common cut and its own."""
    groups, found = grouping(rows.groups, 1, mass=rows.mass(), times=rows.count), []
    for k, group in enumerate(groups.names):
        some = chosen(rows, groups.codes == k)
        t = Tally.of_rows(some, name)
        clusters = Clusters.of(some)
        size: Any = {
            "name": group,
            "rows": t.origin.rows,
            "positives": t.origin.positives,
        }
        if why := t.why_not_ranked:
            found.append(GroupCuts(**size, common=None, promise="open", own=None, why=why))
            continue
        common = point("plain", t, threshold, "the common cut", None, asked, clusters, True)
        promise = kept_in(t, threshold, asked, clusters)
        own, why = _own(t, asked, clusters, point)
        found.append(GroupCuts(**size, common=common, promise=promise, own=own, why=why))
    return found


def kept_in(t: Tally, cut: float, asked: Asked, clusters: Clusters | None) -> Promise:
    """Whether a cut, however it was chosen, is shown to keep or to break the constraints on such rows."""
    if not asked.wanted or asked.guarantee is None:
        return "not asked"
    at = cuts.Table.at(t, np.array([cut]))
    if cuts.why_no_guarantee(t, cuts.Table.of(t, asked.prevalence), asked.wanted):
        return "open"
    sides = [[c for c in asked.wanted if c.strict is strict] for strict in (True, False)]
    error = (1 - asked.guarantee) / sum(map(bool, sides))
    turned = [c._replace(sign="<=" if c.sign == ">=" else ">=") for c in asked.wanted]
    for c in turned:
        p = c.p_value(at.cells) if clusters is None else clusters.p_value(c, at)
        if p[0] <= error / len(turned):
            return "broken"
    tried = at if all(c.monotone for c in asked.wanted) else cuts.Table.at(t, cuts.grid(t))
    shown = np.ones(len(tried), bool)
    for side, strict in zip(sides, (True, False), strict=True):
        shown &= cuts.shown_cuts(side, tried, error, strict, clusters)
    return "kept" if shown[tried.threshold == cut].any() else "open"


def _own(
    t: Tally, asked: Asked, clusters: Clusters | None, point: Point
) -> tuple[CutPoint | None, str]:
    """The cut of the rows of a group, and why it has no guarantee."""
    table = cuts.Table.of(t, asked.prevalence)
    try:
        at = float(table.threshold[cuts.plain_cut(table, asked.wanted, asked.aim)])
    except BadInput as e:
        return None, str(e)
    if asked.guarantee is not None:
        made = cuts.guaranteed_cut(t, table, asked.wanted, asked.aim, asked.guarantee, clusters)
        if made.threshold is not None:
            method, fixed = made.method, made.fixed
            return point("guaranteed", t, made.threshold, method, None, asked, clusters, fixed), ""
        return point("plain", t, at, "keeps it on these rows", None, asked, clusters), made.why
    return point("plain", t, at, asked.aim.words, None, asked, clusters), ""


def group_verdict(groups: Sequence[GroupCuts], asked: Asked, by: Sequence[str]) -> Iterator[Claim]:
    """In which groups the common cut keeps its promise, and what own cuts would keep."""
    if not groups or not asked.wanted or asked.guarantee is None:
        return
    kept = [quoted(g.name) for g in groups if g.promise == "kept"]
    sure = percent(asked.guarantee)
    rough = any(g.own is not None and "approximate" in g.own.method for g in groups)
    each = f"with {'about ' * rough}{sure} confidence each"
    many = counted(len(groups), "group")
    if len(kept) == len(groups):
        text = f"The common cut keeps it in each of {many} by {_by(by)}, {each}."
        yield claim("groups", "kept", text)
    else:
        broken = [f"{quoted(g.name)} ({_at(g, asked)})" for g in groups if g.promise == "broken"]
        left = [f"{quoted(g.name)} ({_at(g, asked)})" for g in groups if g.promise == "open"]
        parts = [
            f"broken in {named(broken)}" if broken else "",
            f"neither shown kept nor broken in {named(left)}" if left else "",
            f"kept in {named(kept)}, {each}" if kept else "",
        ]
        text = f"By {_by(by)}, the promise of the common cut is {'; '.join(p for p in parts if p)}."
        yield claim("groups", "broken" if broken else "not shown", text)
    own = [g for g in groups if g.own is not None and g.own.name == "guaranteed"]
    if own:
        least = [f"{g.own.cut.threshold:.4g} in {quoted(g.name)}" for g in own if g.own is not None]
        text = f"Own cuts keep it in {len(own)} of {many}, {each}: {named(least)}."
        yield claim("groups", "own cuts", text)


def _by(by: Sequence[str]) -> str:
    return " and ".join(quoted(x) for x in by)


def _shown(g: GroupCuts, asked: Asked) -> Any:
    """What the first constraint is about, at the common cut."""
    name = _measure(asked.wanted[0].measure if asked.wanted else "sensitivity")
    return None if g.common is None else getattr(g.common, name)


def _measure(name: str) -> str:
    turned = {"fnr": "sensitivity", "fpr": "specificity", "fdr": "precision"}.get(name, name)
    return turned if turned in TITLES else "sensitivity"


def _at(g: GroupCuts, asked: Asked) -> str:
    e = _shown(g, asked)
    if e is None or e.why or e.value is None:
        return g.why or "undefined"
    title = _measure(asked.wanted[0].measure).replace("sensitivity", "recall").replace("_", " ")
    return f"{title} {share(e) if e.low is not None else percent(e.value)}"


def group_section(groups: Sequence[GroupCuts], by: Sequence[str], at: Sequence[str]) -> Section:
    """One line for each group: the common cut there, and its own."""
    wanted = constraints(list(at))
    name = _measure(wanted[0].measure if wanted else "sensitivity")
    rows = []
    for g in groups:
        common = None if g.common is None else getattr(g.common, name)
        rate = None if g.common is None else g.common.alert_rate.value
        own, alerts = "—", None
        if g.own is not None:
            own = f"{g.own.cut.threshold:.4g}{'*' if g.own.name == 'guaranteed' else ' '}"
            alerts = g.own.alert_rate.value
        rows.append((g.name, g.rows, common, common, rate, g.promise, own, alerts))
    columns = [
        Column(" / ".join(by), "name"),
        Column("Rows", "count"),
        Column(TITLES[name].partition(" (")[0], "value", meaning="With the common cut."),
        Column("Interval", "interval"),
        Column("Alerts", "percent"),
        Column("Promise", "text", meaning=MEANING),
        Column("Own cut", meaning="*: guaranteed in the group, by itself."),
        Column("Alerts", "percent"),
    ]
    return Section("By group", table=Table(columns, rows))
