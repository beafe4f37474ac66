"""What `gate` writes and shows: the outcome, then each requirement with what it was judged by."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any, Literal, TypeAlias
from xml.etree import ElementTree

from scorewise.errors import BadInput, plain
from scorewise.gating.requirements import Outcome, Requirement, decide
from scorewise.show.data import DataRecord
from scorewise.show.document import JudgedDocument, cautions
from scorewise.show.page import Column, Heading, Section, section
from scorewise.show.records import Count, EstimateField, Level, Record, Word, field
from scorewise.show.verdict import Claim, claim, figure, with_ci
from scorewise.show.words import count, listed, percent, plural, rounded_count

if TYPE_CHECKING:
    from scorewise.gating.candidate import Evidence

Inconclusive: TypeAlias = Literal["exit3", "pass", "fail"]
EXIT: dict[str, int] = {"pass": 0, "fail": 1, "exit3": 3}
SHOWN = 5  # checks of an outcome whose sentences are in the verdict


class SettingsRecord(Record):
    """What was asked for."""

    level: Level = field("Confidence level that was asked for.")
    looks: Count
    adjusted: Level = field("Confidence level of the intervals, for so many looks.")
    inconclusive: Inconclusive = field("What an inconclusive gate counts as.")
    min_rows: Count = field("Groups of fewer rows are not judged, so inconclusive.")


class CheckRecord(Record):
    """One requirement, of all rows or of one group, and its outcome."""

    requirement: Word = field("The requirement, such as auroc.low >= 0.8.")
    measure: Word
    of: str = field("The group, window or judge; empty for all rows.")
    outcome: Outcome = field("Whether it is shown to hold, shown to be broken, or neither.")
    estimate: EstimateField = field("What was measured.")
    limit: float = field("The limit required.")
    baseline: str = field("What it is compared with; empty where it is not a difference.")
    paired: bool | None = field("Whether the rows are those of the baseline.")
    rows: Count
    rows_needed: Count | None = field(
        "Rows in all that would tell, if the value stayed; null: not known."
    )
    sentence: Word

    @property
    def name(self) -> str:
        """The requirement, and what it is of."""
        return self.requirement + (f" ({self.of})" if self.of else "")

    @classmethod
    def checked(cls, r: Requirement, x: Evidence, groups: int) -> CheckRecord:
        """A requirement held against its evidence, in all rows or in one of so many groups."""
        where, e = f"{r.text}{f' ({x.of})' if x.of else ''}", x.estimate
        outcome: Outcome = "inconclusive"
        needed = x.needed or None
        value = with_ci(e) if r.end != "value" else f"{e.value:.4g}"
        if x.why:
            text = f"{where} cannot be judged: {x.why}."
        else:
            outcome, needed = decide(r, e, x.rows, groups)
            text = f"{where} {'fails' if outcome == 'fail' else 'passes'}: {value}."
        if outcome == "inconclusive" and not x.why:
            text = f"{where} cannot be told with {plural(x.rows, 'row')}: {value}"
            # the whole interval breaks it, before allowing for other groups
            broken = not r.holds(r.ends(e)[1])
            text += f", which may be chance among {groups} groups; " if broken else "; "
            text += (
                f"about {rounded_count(needed - x.rows)} more would tell if the value stayed the same."
                if needed is not None
                else "the value lies at the limit, so that no number of rows would tell."
            )
        return cls(
            requirement=r.text, measure=x.measure, of=x.of, outcome=outcome, estimate=e, limit=r.limit,
            baseline=x.baseline, paired=x.paired, rows=x.rows, rows_needed=needed, sentence=text,
        )  # fmt: skip


class BaselineRecord(Record):
    """What the rows were compared with: a file or a column."""

    name: Word
    paired: bool = field("Whether its rows are the same; false for a saved result.")
    rows: Count
    sentence: Word


class LooksRecord(Record):
    """How often the same rows or the same baseline decided on a release."""

    of: Word = field("The baseline, or the labels where there is none.")
    times: int = field("Different candidates looked at so far, this one included.", ge=1)
    planned: int = field("Looks that the confidence level is shared among.", ge=1)


class GateDocument(JudgedDocument, command="gate"):
    """Whether a release may go: pass, fail or inconclusive, by requirements on intervals."""

    settings: SettingsRecord
    data: DataRecord | None = field("The rows; null where a result was judged.")
    outcome: Outcome = field("Fail if one fails; else inconclusive if one is.")
    exit_code: Literal[0, 1, 3] = field("What the command exits with.")
    checks: list[CheckRecord] = field("The requirements, one for each group.")
    baselines: list[BaselineRecord] = field("What was compared with.")
    looks: list[LooksRecord] = field("How often was looked; empty without a ledger.")

    @classmethod
    def of(
        cls, s: SettingsRecord, checks: list[CheckRecord], hints: list[str], **known: Any
    ) -> GateDocument:
        """The document of these checks: it fails if one fails; else is inconclusive if one is."""
        found = {c.outcome for c in checks}
        outcome: Outcome = next((o for o in ("fail", "inconclusive") if o in found), "pass")
        code: Any = EXIT[s.inconclusive if outcome == "inconclusive" else outcome]
        return cls(
            settings=s,
            verdict=verdict_of(checks, outcome, s.inconclusive),
            outcome=outcome,
            exit_code=code,
            checks=checks,
            hints=[*hints, *cautions(checks)],
            **known,
        )

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
        # groups have a heading, so all rows first
        checks = sorted(self.checks, key=lambda c: bool(c.of))
        for requirement, some in groupby(checks, lambda c: c.requirement):
            same = list(some)
            rows += [Heading(requirement)] if same[0].of else []
            for c in same:
                enough = "" if c.rows_needed is None else f" of {count(c.rows_needed)}"
                many = f"{count(c.rows)}{enough}"
                rows.append((c.of or requirement, c.outcome, c.estimate, c.estimate, many))
        needed = any(c.rows_needed is not None for c in self.checks)
        note = "Rows: those judged, of those that would tell if the value stayed the same."
        notes = [note] if needed else []
        columns = [Column(name, "text") for name in ("Requirement", "Outcome")]
        columns += [Column("Value", "value"), Column(percent(s.adjusted), "interval")]
        columns.append(Column("Rows", "count", optional=True))
        return [Section(facts=facts), *section("Requirements", columns, rows, notes=notes)]


def times(n: int) -> str:
    """How often, in words.

    >>> times(1), times(2), times(12)
    ('once', 'twice', '12 times')
    """
    return {1: "once", 2: "twice"}.get(n, f"{n:,} times")


def verdict_of(
    checks: Sequence[CheckRecord], outcome: Outcome, inconclusive: Inconclusive
) -> list[Claim]:
    """The outcome in a sentence, then what failed or is inconclusive, then what passed."""
    many = Counter[str](c.outcome for c in checks)
    words = {"fail": "failed", "inconclusive": "inconclusive", "pass": "passed"}
    parts = [f"{many[word]:,} {said}" for word, said in words.items() if many[word]]
    text = f"{outcome.upper()}: of {plural(len(checks), 'requirement')}, {', '.join(parts)}."
    if outcome == "inconclusive" and inconclusive != "exit3":
        text += f" It counts as a {inconclusive}, as asked."
    claims = [claim("gate", outcome, text)]
    for one, said in (("fail", "fail"), ("inconclusive", "are inconclusive")):
        some = [c for c in checks if c.outcome == one]
        claims += _sentences(some)
        if len(some) > SHOWN:
            claims.append(claim("gate", one, f"And {len(some) - SHOWN} more that {said}."))
    kept = [c for c in checks if c.outcome == "pass"]
    if outcome == "pass":
        claims += _sentences(kept)
    elif kept:
        claims.append(claim("gate", "pass", f"Passed: {listed([c.name for c in kept], SHOWN)}."))
    return claims


def _sentences(checks: Sequence[CheckRecord]) -> list[Claim]:
    """Those of the first few."""
    return [
        claim("gate", c.outcome, c.sentence, [figure(c.measure, c.estimate, c.of)])
        for c in checks[:SHOWN]
    ]


def junit_file(result: Any, ending: str) -> bytes:
    """The checks of a gate as a JUnit file; an open one is skipped, or what it counts as."""
    doc: GateDocument = result.document()
    tags = {"pass": "system-out", "fail": "failure", "exit3": "skipped"}
    tags["inconclusive"] = tags[doc.settings.inconclusive]
    return _junit([(c.name, tags[c.outcome], c.outcome, c.sentence) for c in doc.checks])


def refusal_file(error: BadInput) -> bytes:
    """The JUnit file of a gate that had nothing to judge, so that no earlier one is taken for it."""
    return _junit([("input", "error", "bad input", str(error))])


def _junit(cases: Sequence[tuple[str, str, str, str]]) -> bytes:
    """A JUnit file of cases: the name, the element that says how it went, its type and a sentence."""
    many = Counter(tag for _, tag, *_ in cases)
    suite = ElementTree.Element(
        "testsuite",
        name="scorewise gate",
        tests=str(len(cases)),
        failures=str(many["failure"]),
        skipped=str(many["skipped"]),
        errors=str(many["error"]),
    )
    for name, tag, kind, sentence in cases:
        case = ElementTree.SubElement(
            suite, "testcase", classname="scorewise.gate", name=plain(name)
        )
        found = ElementTree.SubElement(case, tag)
        if tag == "system-out":
            found.text = plain(sentence)
        else:
            found.set("message", plain(sentence))
        if tag in ("failure", "error"):
            found.set("type", kind)
    ElementTree.indent(suite)
    text: bytes = ElementTree.tostring(suite, "utf-8", xml_declaration=True)
    return text + b"\n"
