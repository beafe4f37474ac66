"""Groups of rows: whether one common cut keeps its promise in each, and a cut of its own for each.

A rate that rises or falls with the cut is kept in a group, with confidence, by all cuts on one side of the
group's own guaranteed cut; precision and NPV by all cuts of the group's own fixed sequence that are shown.
So the common cut, which was chosen on all rows, is judged in each group without looking twice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from scorewise.columns import Rows
from scorewise.columns.grouping import grouping
from scorewise.errors import BadInput
from scorewise.show.page import Column, Section, Table
from scorewise.show.verdict import Claim, claim, share
from scorewise.show.words import counted, named, percent, quoted
from scorewise.tallies import Tally
from scorewise.thresholds import cuts
from scorewise.thresholds.constraints import Constraint
from scorewise.thresholds.cuts import Clusters
from scorewise.thresholds.document import TITLES, CutPoint, GroupCuts, Promise
from scorewise.thresholds.operating_points import Asked, Choice

COMPLEMENTS = {"fnr": "sensitivity", "fpr": "specificity", "fdr": "precision"}
MEANING = "kept, broken: shown in the group by itself, with the confidence of the guarantee; open: neither."


def group_cuts(rows: Rows, name: str, threshold: float, asked: Asked) -> list[GroupCuts]:
    """Each group with the common cut and its own."""
    groups, found = grouping(rows.groups, 1, mass=rows.mass(), times=rows.count), []
    for k, group in enumerate(groups.names):
        some = rows.at(groups.codes == k)
        c = Choice(Tally.of_rows(some, name), asked, Clusters.of(some))
        o = c.t.origin
        size: Any = {"name": group, "rows": o.rows, "positives": o.positives}
        if why := c.t.why_not_ranked:
            found.append(GroupCuts(**size, common=None, promise="open", own=None, why=why))
            continue
        common = c.point("plain", threshold, "the common cut", fixed=True)
        own, why = _own(c)
        promise = kept_in(c, threshold)
        found.append(GroupCuts(**size, common=common, promise=promise, own=own, why=why))
    return found


def kept_in(c: Choice, cut: float) -> Promise:
    """Whether a cut, however it was chosen, is shown to keep or to break the constraints on such rows."""
    t, asked, clusters = c.t, c.asked, c.clusters
    if not asked.wanted or asked.guarantee is None:
        return "not asked"
    if cuts.why_no_guarantee(t, c.table, asked.wanted):
        return "open"
    at, (sides, error) = (
        cuts.Table.at(t, np.array([cut])),
        cuts.sides(asked.wanted, asked.guarantee),
    )
    turned = [x.turned for x in asked.wanted]
    if any(cuts.p_values(x, at, clusters)[0] <= error / len(turned) for x in turned):
        return "broken"
    tried = at if all(x.monotone for x in asked.wanted) else cuts.Table.at(t, cuts.grid(t))
    shown = cuts.shown_by_both(sides, tried, error, clusters)
    return "kept" if shown[tried.threshold == cut].any() else "open"


def _own(c: Choice) -> tuple[CutPoint | None, str]:
    """The cut of the rows of a group, and why it has no guarantee."""
    try:
        at = c.plain_cut
    except BadInput as e:
        return None, str(e)
    if sure := c.guaranteed_point():
        return sure, ""
    wanted = c.asked.guarantee is not None
    method = "keeps it on these rows" if wanted else c.asked.aim.words
    return c.point("plain", at, method), c.guaranteed.why


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
            f"shown neither kept nor broken in {named(left)}" if left else "",
            f"kept in {named(kept)}, {each}" if kept else "",
        ]
        text = f"By {_by(by)}, the promise of the common cut is {'; '.join(p for p in parts if p)}."
        yield claim("groups", "broken" if broken else "not shown", text)
    own = [g for g in groups if g.own is not None and g.own.name == "guaranteed"]
    if own:
        least = [
            f"{g.own.cut.threshold:.4g} for {quoted(g.name)}" for g in own if g.own is not None
        ]
        text = f"Own cuts keep it in {len(own)} of {many}, {each}: {named(least)}."
        yield claim("groups", "own cuts", text)


def _by(by: Sequence[str]) -> str:
    return " and ".join(quoted(x) for x in by)


def _shown(g: GroupCuts, asked: Asked) -> Any:
    """What the first constraint is about, at the common cut."""
    return None if g.common is None else getattr(g.common, asked_of(asked.wanted)[0])


def asked_of(wanted: Sequence[Constraint]) -> tuple[str, float | None]:
    """The share that the first constraint is about, and its limit; else sensitivity.

    >>> from scorewise.thresholds.constraints import constraints
    >>> asked_of(constraints("fpr <= 0.1")), asked_of(constraints("f1 >= 0.5"))
    (('specificity', 0.9), ('sensitivity', None))
    """
    c = next(iter(wanted), None)
    if c is not None and (turned := COMPLEMENTS.get(c.measure)):
        return turned, 1 - c.value
    return (c.measure, c.value) if c is not None and c.measure in TITLES else ("sensitivity", None)


def _at(g: GroupCuts, asked: Asked) -> str:
    e = _shown(g, asked)
    if e is None or e.why or e.value is None:
        return g.why or "undefined"
    title = asked_of(asked.wanted)[0].replace("sensitivity", "recall").replace("_", " ")
    return f"{title} {share(e) if e.low is not None else percent(e.value)}"


def group_section(groups: Sequence[GroupCuts], by: Sequence[str], name: str) -> Section:
    """One line for each group: the common cut there, by this share, and its own."""
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
