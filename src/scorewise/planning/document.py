"""What `plan` writes and shows: how many rows, for what, and what fewer or more would give."""

from __future__ import annotations

from typing import Literal, TypeAlias

from scorewise.gating.requirements import bonferroni_level
from scorewise.show.document import JudgedDocument
from scorewise.show.page import Column, Section, section
from scorewise.show.records import Count, Level, Number, Record, Share, Word, field
from scorewise.show.verdict import Claim, claim
from scorewise.show.words import count, percent, plural

Goal: TypeAlias = Literal["half-width", "difference", "guarantee", "gate", "rows at hand"]
POWERED = {"difference", "gate", "rows at hand"}  # goals that are met in a share of cases


class SettingsRecord(Record):
    """What was asked for."""

    level: Level = field("Confidence level of the intervals or of the guarantee.")
    power: Share = field("Share of cases in which a difference or a gate is to be shown.")
    looks: Count
    supposed: list[Word] = field("What is taken for granted.")


class NeedRecord(Record):
    """One goal, and the rows that it takes."""

    goal: Goal = field("What the rows are for.")
    text: Word = field("The goal in words.")
    measure: Word
    unit: Word = field("What is counted: rows, items or alerts.")
    rows: Count = field("How many it takes, or how many are at hand.")
    positives: Count | None = field("How many of them are positive; null: not known.")
    value: Number = field("The value, or difference, that is supposed; null: none.")
    reach: Number = field("Half-width or detectable difference of these; null: none.")


class PointRecord(Record):
    """What another number of rows would give."""

    rows: Count
    half_width: Number = field("Half the width of the interval; null where not asked.")
    detectable: Number = field("Difference that is shown so often; null where not asked.")

    @property
    def reach(self) -> float | None:
        """The one of the two that was asked for."""
        return self.detectable if self.half_width is None else self.half_width


class PlanDocument(JudgedDocument, command="plan"):
    """How many rows a goal takes, under what is supposed."""

    settings: SettingsRecord
    needs: list[NeedRecord] = field("The goals.")
    points: list[PointRecord] = field("Fewer and more rows.")

    def sections(self) -> list[Section]:
        """The answer, what is supposed, and what fewer or more rows would give."""
        s = self.settings
        facts = [("Supposed", "; ".join(s.supposed))] if s.supposed else []
        level = percent(bonferroni_level(s.level, s.looks))
        shared = f" ({percent(s.level)} shared among {s.looks} looks)" if s.looks > 1 else ""
        power = f"; power {percent(s.power)}" if {n.goal for n in self.needs} & POWERED else ""
        facts.append(("Level", f"{level}{shared}{power}"))
        sections = [Section(facts=facts)]
        if len(self.needs) > 1:
            goals = [(n.text, n.rows, n.unit) for n in self.needs]
            sections += section("Goals", {"Goal": "text", "Needed": "count", "": "text"}, goals)
        if self.points:
            heads, notes = [Column(self.needs[0].unit.capitalize(), "count")], []
            if self.points[0].half_width is not None:
                heads.append(Column("Half-width"))
            else:
                heads.append(Column("Detectable"))
                notes.append(
                    f"Detectable: the difference that is shown in {percent(s.power)} of cases."
                )
            rows = [(p.rows, p.reach) for p in self.points]
            sections += section("Fewer or more", heads, rows, notes=notes)
        return sections


def sentence(n: NeedRecord, supposed: list[str]) -> Claim:
    """A goal in a sentence."""
    rows = plural(n.rows, n.unit.removesuffix("s"))
    if n.positives is not None and n.unit == "rows":
        rows += f" ({count(n.positives)} positive)"
    if n.goal == "guarantee" and n.measure in ("sensitivity", "fnr"):  # of which it is a share
        rows = f"{plural(n.positives or 0, 'positive')}, in about {plural(n.rows, 'row')},"
    text = f"{rows} {n.text}" if n.goal == "rows at hand" else f"It takes {rows} {n.text}"
    text += f", given {'; '.join(supposed)}." if supposed else "."
    return claim("plan", n.goal, text)
