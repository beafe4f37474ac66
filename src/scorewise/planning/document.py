"""What `plan` writes and shows: how many rows, for what, and what fewer or more would give."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, TypeAlias

from scorewise.show.document import (
    COMMAND,
    Count,
    Document,
    Hints,
    Level,
    Number,
    Share,
    Word,
    says,
)
from scorewise.show.page import Column, Page, Section, Table, count, counted, hints, percent
from scorewise.show.verdict import VERDICT, Claim, claim, verdict

Goal: TypeAlias = Literal["half-width", "difference", "guarantee", "gate", "rows at hand"]


@dataclass(frozen=True, kw_only=True)
class SettingsRecord:
    """What was asked for."""

    level: Annotated[Level, says("Confidence level of the intervals or of the guarantee.")]
    power: Annotated[Share, says("Share of cases in which a difference or a gate is to be shown.")]
    looks: Annotated[Count, says("Looks at the same rows that the level is shared among.")]
    supposed: Annotated[list[Word], says("What is taken for granted.")]


@dataclass(frozen=True, kw_only=True)
class NeedRecord:
    """One goal, and the rows that it takes."""

    goal: Annotated[Goal, says("What the rows are for.")]
    text: Annotated[Word, says("The goal in words.")]
    measure: Annotated[Word, says("The measure, as in the Python library.")]
    unit: Annotated[Word, says("What is counted: rows, items or alerts.")]
    rows: Annotated[Count, says("How many it takes, or how many are at hand.")]
    positives: Annotated[Count | None, says("How many of them are positive; null: not known.")]
    value: Annotated[Number, says("The value, or difference, that is supposed; null: none.")]
    reach: Annotated[Number, says("Half-width or detectable difference of these; null: none.")]


@dataclass(frozen=True, kw_only=True)
class PointRecord:
    """What another number of rows would give."""

    rows: Annotated[Count, says("How many there are.")]
    half_width: Annotated[Number, says("Half the width of the interval; null where not asked.")]
    detectable: Annotated[Number, says("Difference that is shown so often; null where not asked.")]


@dataclass(frozen=True, kw_only=True)
class PlanDocument(Document):
    """How many rows a goal takes, under what is supposed."""

    command: Annotated[Literal["plan"], says(COMMAND)] = "plan"
    settings: SettingsRecord
    verdict: Annotated[list[Claim], says(VERDICT)]
    needs: Annotated[list[NeedRecord], says("The goals.")]
    points: Annotated[list[PointRecord], says("Fewer and more rows.")]
    hints: Hints

    def page(self) -> Page:
        """The answer, what is supposed, and what fewer or more rows would give."""
        s = self.settings
        facts = [("Supposed", "; ".join(s.supposed))] if s.supposed else []
        level = percent(1 - (1 - s.level) / s.looks)
        shared = f" ({percent(s.level)} shared among {s.looks} looks)" if s.looks > 1 else ""
        facts.append(("Level", f"{level}{shared}; power {percent(s.power)}"))
        sections = [*verdict(self.verdict), Section(facts=facts)]
        if len(self.needs) > 1:
            columns = [Column("Goal", "text"), Column("Needed", "count"), Column("", "text")]
            rows = [(n.text, n.rows, n.unit) for n in self.needs]
            sections.append(Section("Goals", table=Table(columns, rows)))
        if self.points:
            columns, names = [Column(self.needs[0].unit.capitalize(), "count")], []
            for name, title in (("half_width", "Half-width"), ("detectable", "Detectable")):
                if any(getattr(p, name) is not None for p in self.points):
                    columns.append(Column(title, "number"))
                    names.append(name)
            cells = [(p.rows, *(getattr(p, name) for name in names)) for p in self.points]
            notes = []
            if "detectable" in names:
                notes.append(
                    f"Detectable: the difference that is shown in {percent(s.power)} of cases."
                )
            sections.append(Section("Fewer or more", table=Table(columns, cells, notes)))
        return Page(self.command, [*sections, *hints(self.hints)])


def sentence(n: NeedRecord, supposed: list[str], power: float) -> Claim:
    """A goal in a sentence."""
    many = counted(n.rows, n.unit.removesuffix("s"))
    if n.positives is not None and n.unit == "rows":
        many += f" ({count(n.positives)} positive)"
    text = f"{many} {n.text}" if n.goal == "rows at hand" else f"It takes {many} {n.text}"
    text += f", given {'; '.join(supposed)}." if supposed else "."
    return claim("plan", n.goal, text)
