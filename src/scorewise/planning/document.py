"""What `plan` writes and shows: how many rows, for what, and what fewer or more would give."""

from __future__ import annotations

from typing import Literal, TypeAlias

from scorewise.show.document import JudgedDocument
from scorewise.show.fields import Count, Level, Number, Record, Share, Word, means
from scorewise.show.page import Column, Section, section
from scorewise.show.verdict import Claim, claim
from scorewise.show.words import count, counted, percent

Goal: TypeAlias = Literal["half-width", "difference", "guarantee", "gate", "rows at hand"]
POWERED = {"difference", "gate", "rows at hand"}  # goals that are met in a share of cases


class SettingsRecord(Record):
    """What was asked for."""

    level: Level = means("Confidence level of the intervals or of the guarantee.")
    power: Share = means("Share of cases in which a difference or a gate is to be shown.")
    looks: Count
    supposed: list[Word] = means("What is taken for granted.")


class NeedRecord(Record):
    """One goal, and the rows that it takes."""

    goal: Goal = means("What the rows are for.")
    text: Word = means("The goal in words.")
    measure: Word
    unit: Word = means("What is counted: rows, items or alerts.")
    rows: Count = means("How many it takes, or how many are at hand.")
    positives: Count | None = means("How many of them are positive; null: not known.")
    value: Number = means("The value, or difference, that is supposed; null: none.")
    reach: Number = means("Half-width or detectable difference of these; null: none.")


class PointRecord(Record):
    """What another number of rows would give."""

    rows: Count
    half_width: Number = means("Half the width of the interval; null where not asked.")
    detectable: Number = means("Difference that is shown so often; null where not asked.")


class PlanDocument(JudgedDocument, command="plan"):
    """How many rows a goal takes, under what is supposed."""

    settings: SettingsRecord
    needs: list[NeedRecord] = means("The goals.")
    points: list[PointRecord] = means("Fewer and more rows.")

    def sections(self) -> list[Section]:
        """The answer, what is supposed, and what fewer or more rows would give."""
        s = self.settings
        facts = [("Supposed", "; ".join(s.supposed))] if s.supposed else []
        level = percent(1 - (1 - s.level) / s.looks)
        shared = f" ({percent(s.level)} shared among {s.looks} looks)" if s.looks > 1 else ""
        power = f"; power {percent(s.power)}" if {n.goal for n in self.needs} & POWERED else ""
        facts.append(("Level", f"{level}{shared}{power}"))
        sections = [Section(facts=facts)]
        if len(self.needs) > 1:
            rows = [(n.text, n.rows, n.unit) for n in self.needs]
            sections += section("Goals", {"Goal": "text", "Needed": "count", "": "text"}, rows)
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
            sections += section("Fewer or more", columns, cells, notes=notes)
        return sections


def sentence(n: NeedRecord, supposed: list[str]) -> Claim:
    """A goal in a sentence."""
    many = counted(n.rows, n.unit.removesuffix("s"))
    if n.positives is not None and n.unit == "rows":
        many += f" ({count(n.positives)} positive)"
    if n.goal == "guarantee" and n.measure in ("sensitivity", "fnr"):  # of which it is a share
        many = f"{counted(n.positives or 0, 'positive')}, in about {counted(n.rows, 'row')},"
    text = f"{many} {n.text}" if n.goal == "rows at hand" else f"It takes {many} {n.text}"
    text += f", given {'; '.join(supposed)}." if supposed else "."
    return claim("plan", n.goal, text)
