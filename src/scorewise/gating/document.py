"""What `gate` writes and shows: the outcome, then each requirement with what it was judged by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Annotated, Any, Literal, TypeAlias
from xml.etree import ElementTree

from scorewise.errors import plain
from scorewise.gating.requirements import Outcome
from scorewise.show.data import DataRecord
from scorewise.show.document import (
    COMMAND,
    Count,
    Document,
    EstimateField,
    Hints,
    Level,
    Word,
    says,
)
from scorewise.show.page import (
    Column,
    Heading,
    Page,
    Section,
    Table,
    count,
    counted,
    hints,
    named,
    percent,
)
from scorewise.show.verdict import VERDICT, Claim, claim, figure, verdict

Inconclusive: TypeAlias = Literal["exit3", "pass", "fail"]
EXIT: dict[str, int] = {"pass": 0, "fail": 1, "exit3": 3}


@dataclass(frozen=True, kw_only=True)
class SettingsRecord:
    """What was asked for."""

    level: Annotated[Level, says("Confidence level that was asked for.")]
    looks: Annotated[Count, says("Looks at the same rows that the level is shared among.")]
    adjusted: Annotated[Level, says("Confidence level of the intervals, for so many looks.")]
    inconclusive: Annotated[Inconclusive, says("What an inconclusive gate counts as.")]
    min_rows: Annotated[Count, says("Groups of fewer rows are not judged, so inconclusive.")]


@dataclass(frozen=True, kw_only=True)
class CheckRecord:
    """One requirement, of all rows or of one group, and its outcome."""

    requirement: Annotated[Word, says("The requirement, such as auroc.low >= 0.8.")]
    measure: Annotated[Word, says("The measure, as in the Python library.")]
    of: Annotated[str, says("The group, window or judge; empty for all rows.")]
    outcome: Annotated[
        Outcome, says("Whether it is shown to hold, shown to be broken, or neither.")
    ]
    estimate: Annotated[EstimateField, says("What was measured.")]
    limit: Annotated[float, says("The limit required.")]
    baseline: Annotated[str, says("What it is compared with; empty where it is no difference.")]
    paired: Annotated[bool | None, says("Whether the rows are those of the baseline.")]
    rows: Annotated[Count, says("Rows judged.")]
    rows_needed: Annotated[
        Count | None, says("Rows in all that would tell, if the value stayed; null: not known.")
    ]
    sentence: Annotated[Word, says("The outcome in words.")]


@dataclass(frozen=True, kw_only=True)
class BaselineRecord:
    """What the rows were compared with."""

    name: Annotated[Word, says("Its file or column.")]
    paired: Annotated[bool, says("Whether its rows are the same; false for a saved result.")]
    rows: Annotated[Count, says("Rows of it that were used.")]
    sentence: Annotated[Word, says("How it was compared.")]


@dataclass(frozen=True, kw_only=True)
class LooksRecord:
    """How often the same rows or the same baseline decided on a release."""

    of: Annotated[Word, says("The baseline, or the labels where there is none.")]
    times: Annotated[Count, says("Different candidates looked at so far, this one included.")]
    planned: Annotated[Count, says("Looks that the confidence level is shared among.")]


@dataclass(frozen=True, kw_only=True)
class GateDocument(Document):
    """Whether a release may go: pass, fail or inconclusive, by requirements on intervals."""

    command: Annotated[Literal["gate"], says(COMMAND)] = "gate"
    settings: SettingsRecord
    data: Annotated[DataRecord | None, says("The rows; null where a result was judged.")]
    verdict: Annotated[list[Claim], says(VERDICT)]
    outcome: Annotated[Outcome, says("Fail if one fails; else inconclusive if one is.")]
    exit_code: Annotated[Literal[0, 1, 3], says("What the command exits with.")]
    checks: Annotated[list[CheckRecord], says("The requirements, one for each group.")]
    baselines: Annotated[list[BaselineRecord], says("What was compared with.")]
    looks: Annotated[list[LooksRecord], says("How often was looked; empty without a ledger.")]
    hints: Hints

    def page(self) -> Page:
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
        level = percent(s.adjusted)
        columns = [
            Column("Requirement", "text"), Column("Outcome", "text"), Column("Value", "value"),
            Column(level, "interval"), Column("Rows", "count", optional=True),
        ]  # fmt: skip
        rows: list[Any] = []
        for requirement, some in groupby(self.checks, lambda c: c.requirement):
            checks = list(some)
            rows += [Heading(requirement)] if checks[0].of else []
            for c in checks:
                enough = "" if c.rows_needed is None else f" of {count(c.rows_needed)}"
                many = f"{count(c.rows)}{enough}"
                rows.append((c.of or requirement, c.outcome, c.estimate, c.estimate, many))
        notes = []
        if any(c.rows_needed is not None for c in self.checks):
            notes.append("Rows: those judged, of those that would tell if the value stayed.")
        table = Section("Requirements", table=Table(columns, rows, notes))
        return Page(
            self.command, [*verdict(self.verdict), Section(facts=facts), table, *hints(self.hints)]
        )


def times(n: int) -> str:
    """How often, in words.

    >>> times(1), times(12)
    ('once', '12 times')
    """
    return "once" if n == 1 else f"{n:,} times"


def outcome_of(checks: Sequence[CheckRecord]) -> Outcome:
    """Fail if one fails; else inconclusive if one is; else pass."""
    found = {c.outcome for c in checks}
    return "fail" if "fail" in found else "inconclusive" if "inconclusive" in found else "pass"


def verdict_of(checks: Sequence[CheckRecord], inconclusive: Inconclusive) -> list[Claim]:
    """The outcome in a sentence, then what broke or stayed open, then what held."""
    outcome = outcome_of(checks)
    many = Counter[str](c.outcome for c in checks)
    parts = [
        f"{many[word]:,} {said}"
        for word, said in (("fail", "broken"), ("inconclusive", "open"), ("pass", "kept"))
        if many[word]
    ]
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
        claims.append(claim("gate", "pass", f"Kept: {named(kept, 5)}."))
    elif kept:
        claims += [
            claim("gate", "pass", c.sentence, [figure(c.measure, c.estimate, c.of)])
            for c in checks[:5]
        ]
    return claims


SAID = {"fail": "fail", "inconclusive": "are open"}


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
