"""What `gate` writes and shows: the outcome, then each requirement with what it was judged by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import Any, Literal, TypeAlias
from xml.etree import ElementTree

from scorewise.errors import plain
from scorewise.gating.requirements import Outcome
from scorewise.show.data import DataRecord
from scorewise.show.document import JudgedDocument
from scorewise.show.estimates import EstimateField
from scorewise.show.fields import Count, Level, Record, Word, means
from scorewise.show.page import Column, Heading, Section, section
from scorewise.show.verdict import Claim, claim, figure
from scorewise.show.words import count, counted, named, percent

Inconclusive: TypeAlias = Literal["exit3", "pass", "fail"]
EXIT: dict[str, int] = {"pass": 0, "fail": 1, "exit3": 3}


class SettingsRecord(Record):
    """What was asked for."""

    level: Level = means("Confidence level that was asked for.")
    looks: Count
    adjusted: Level = means("Confidence level of the intervals, for so many looks.")
    inconclusive: Inconclusive = means("What an inconclusive gate counts as.")
    min_rows: Count = means("Groups of fewer rows are not judged, so inconclusive.")


class CheckRecord(Record):
    """One requirement, of all rows or of one group, and its outcome."""

    requirement: Word = means("The requirement, such as auroc.low >= 0.8.")
    measure: Word
    of: str = means("The group, window or judge; empty for all rows.")
    outcome: Outcome = means("Whether it is shown to hold, shown to be broken, or neither.")
    estimate: EstimateField = means("What was measured.")
    limit: float = means("The limit required.")
    baseline: str = means("What it is compared with; empty where it is not a difference.")
    paired: bool | None = means("Whether the rows are those of the baseline.")
    rows: Count
    rows_needed: Count | None = means(
        "Rows in all that would tell, if the value stayed; null: not known."
    )
    sentence: Word


class BaselineRecord(Record):
    """What the rows were compared with: a file or a column."""

    name: Word
    paired: bool = means("Whether its rows are the same; false for a saved result.")
    rows: Count
    sentence: Word


class LooksRecord(Record):
    """How often the same rows or the same baseline decided on a release."""

    of: Word = means("The baseline, or the labels where there is none.")
    times: int = means("Different candidates looked at so far, this one included.", ge=1)
    planned: int = means("Looks that the confidence level is shared among.", ge=1)


class GateDocument(JudgedDocument, command="gate"):
    """Whether a release may go: pass, fail or inconclusive, by requirements on intervals."""

    settings: SettingsRecord
    data: DataRecord | None = means("The rows; null where a result was judged.")
    outcome: Outcome = means("Fail if one fails; else inconclusive if one is.")
    exit_code: Literal[0, 1, 3] = means("What the command exits with.")
    checks: list[CheckRecord] = means("The requirements, one for each group.")
    baselines: list[BaselineRecord] = means("What was compared with.")
    looks: list[LooksRecord] = means("How often was looked; empty without a ledger.")

    def sections(self) -> list[Section]:
        """The outcome, then each requirement."""
        s = self.settings
        facts = [] if self.data is None else self.data.facts()
        facts += [("Baseline", b.sentence) for b in self.baselines]
        facts += [
            ("Looks", f"{x.of} was looked at {times(x.times)}, of {x.planned} planned")
            for x in self.looks
        ]
        at = f"{percent(s.adjusted)} intervals"
        if s.looks > 1:
            at += f": {percent(s.level)} shared among {s.looks} looks"
        facts.append(("Judged by", at))
        rows: list[Any] = []
        checks = sorted(
            self.checks, key=lambda c: bool(c.of)
        )  # groups have a heading, so all rows first
        for requirement, some in groupby(checks, lambda c: c.requirement):
            same = list(some)
            rows += [Heading(requirement)] if same[0].of else []
            for c in same:
                enough = "" if c.rows_needed is None else f" of {count(c.rows_needed)}"
                many = f"{count(c.rows)}{enough}"
                rows.append((c.of or requirement, c.outcome, c.estimate, c.estimate, many))
        notes = []
        if any(c.rows_needed is not None for c in self.checks):
            notes.append(
                "Rows: those judged, of those that would tell if the value stayed the same."
            )
        columns = [
            Column("Requirement", "text"),
            Column("Outcome", "text"),
            Column("Value", "value"),
        ]
        columns += [Column(percent(s.adjusted), "interval"), Column("Rows", "count", optional=True)]
        return [Section(facts=facts), *section("Requirements", columns, rows, notes=notes)]


def times(n: int) -> str:
    """How often, in words.

    >>> times(1), times(2), times(12)
    ('once', 'twice', '12 times')
    """
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def outcome_of(checks: Sequence[CheckRecord]) -> Outcome:
    """Fail if one fails; else inconclusive if one is; else pass."""
    found = {c.outcome for c in checks}
    return "fail" if "fail" in found else "inconclusive" if "inconclusive" in found else "pass"


def verdict_of(checks: Sequence[CheckRecord], inconclusive: Inconclusive) -> list[Claim]:
    """The outcome in a sentence, then what failed or is inconclusive, then what passed."""
    outcome = outcome_of(checks)
    many = Counter[str](c.outcome for c in checks)
    words = {"fail": "failed", "inconclusive": "inconclusive", "pass": "passed"}
    parts = [f"{many[word]:,} {said}" for word, said in words.items() if many[word]]
    word = {"pass": "PASS", "fail": "FAIL", "inconclusive": "INCONCLUSIVE"}[outcome]
    text = f"{word}: of {counted(len(checks), 'requirement')}, {', '.join(parts)}."
    if outcome == "inconclusive" and inconclusive != "exit3":
        text += f" It counts as a {inconclusive}, as asked."
    claims = [claim("gate", outcome, text)]
    for one in ("fail", "inconclusive"):
        claims += [
            claim("gate", one, c.sentence, [figure(c.measure, c.estimate, c.of)])
            for c in checks
            if c.outcome == one
        ][:5]
        if (more := sum(c.outcome == one for c in checks) - 5) > 0:
            claims.append(claim("gate", one, f"And {more} more that {SAID[one]}."))
    kept = [c.requirement + (f" ({c.of})" if c.of else "") for c in checks if c.outcome == "pass"]
    if kept and outcome != "pass":
        claims.append(claim("gate", "pass", f"Passed: {named(kept, 5)}."))
    elif kept:
        claims += [
            claim("gate", "pass", c.sentence, [figure(c.measure, c.estimate, c.of)])
            for c in checks[:5]
        ]
    return claims


SAID = {"fail": "fail", "inconclusive": "are inconclusive"}


def junit_of_refusal(sentence: str) -> bytes:
    """A JUnit file that says why there was nothing to judge."""
    suite = ElementTree.Element(
        "testsuite", name="scorewise gate", tests="1", failures="0", skipped="0", errors="1"
    )
    case = ElementTree.SubElement(suite, "testcase", classname="scorewise.gate", name="input")
    ElementTree.SubElement(case, "error", message=plain(sentence), type="bad input")
    text: bytes = ElementTree.tostring(suite, "utf-8", xml_declaration=True)
    return text + b"\n"


def junit(doc: GateDocument) -> bytes:
    """The checks as a JUnit file: an open one is skipped, unless it counts as a pass or a failure."""
    counts = {c.outcome: 0 for c in doc.checks} | Counter(c.outcome for c in doc.checks)
    as_failure = doc.settings.inconclusive == "fail"
    as_skipped = doc.settings.inconclusive == "exit3"
    open_ = counts.get("inconclusive", 0)
    suite = ElementTree.Element(
        "testsuite",
        name="scorewise gate",
        tests=str(len(doc.checks)),
        failures=str(counts.get("fail", 0) + open_ * as_failure),
        skipped=str(open_ * as_skipped),
        errors="0",
    )
    for c in doc.checks:
        name = c.requirement + (f" ({c.of})" if c.of else "")
        case = ElementTree.SubElement(
            suite, "testcase", classname="scorewise.gate", name=plain(name)
        )
        bad = c.outcome == "fail" or (c.outcome == "inconclusive" and as_failure)
        if bad:
            ElementTree.SubElement(case, "failure", message=plain(c.sentence), type=c.outcome)
        elif c.outcome == "inconclusive" and as_skipped:
            ElementTree.SubElement(case, "skipped", message=plain(c.sentence))
        else:
            ElementTree.SubElement(case, "system-out").text = plain(c.sentence)
    ElementTree.indent(suite)
    text: bytes = ElementTree.tostring(suite, "utf-8", xml_declaration=True)
    return text + b"\n"
