"""What `report` writes: the documents that it is made of, and what it lacks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from scorewise.drifting.document import DriftDocument
from scorewise.evaluation.compare_document import CompareDocument
from scorewise.evaluation.document import FIRST, FIRST_OF_CLASSES, EvaluationDocument
from scorewise.evaluation.page import MORE
from scorewise.inspection.document import InspectDocument
from scorewise.recalibrating.document import CalibrateDocument
from scorewise.show.document import Document
from scorewise.show.fields import Count, Record, Word, means
from scorewise.show.page import Page, Section, verdict
from scorewise.show.report import SECTIONS
from scorewise.show.verdict import Claims
from scorewise.show.words import Name, quoted

# sections of the pages of other documents that say what the report says elsewhere
LEFT = ("Hints", "Scores", "smROC curves", "Rows with one decision", "Tried")


class FileRecord(Record):
    """A file that was read."""

    path: Word = means("Its path, as it was given.")
    size: Count
    sha256: str = means("SHA-256 of its bytes; empty where it is too large to be read again.")


class AbsentRecord(Record):
    """A section that the report lacks."""

    section: Word = means("The section.")
    needs: Word = means("Which input would bring it.")


class ReportDocument(Document, command="report"):
    """What is known of the scores of one model or several."""

    verdict: Claims
    files: list[FileRecord] = means("Files read; empty when given as arrays.")
    evaluation: EvaluationDocument
    comparison: CompareDocument | None = means("Models against each other; null of one.")
    inspection: InspectDocument | None = means("Rows to check; null of several classes.")
    drift: dict[str, DriftDocument] = means(
        "What has changed since a reference, by the name of the model; empty without one."
    )
    recalibration: dict[str, CalibrateDocument] = means(
        "What recalibration would change, by the name of the model; empty of many rows."
    )
    absent: list[AbsentRecord] = means("What the report lacks, and what would bring it.")

    def page(self) -> Page:
        """The first screen of the evaluation, and what the report lacks."""
        only = FIRST_OF_CLASSES if self.evaluation.classes else FIRST
        models = [
            replace(m, measures=[x for x in m.measures if x.name in only])
            for m in self.evaluation.models
        ]
        brief = replace(
            self.evaluation, models=models, verdict=self.verdict, groups=[], hints=[]
        ).page()
        return Page(self.command, [*brief.sections, *self._absent()], brief.footnotes)

    def report(self) -> Page:
        """The sections of all documents in one order."""
        own = self.evaluation.report()
        compared = {"comparison"} if self.comparison else set()
        kept = [s for s in own.sections if s.anchor not in {"verdict", "missing", *compared}]
        sections = [
            *verdict(self.verdict),
            *kept,
            *(s for home, of, doc in self.others() for s in _within(doc, home, of)),
            *self._absent(),
            *self._read(),
        ]
        return Page(self.command, sections, own.footnotes)

    def others(self) -> Iterator[tuple[str, str, Document]]:
        """The documents beside the evaluation: the section of each, the model that it is of, itself."""
        if self.comparison is not None:
            yield "comparison", "", self.comparison
        if self.inspection is not None:
            yield "instances", "", self.inspection
        several = len(self.evaluation.models) > 1
        yield from (("drift", name * several, doc) for name, doc in self.drift.items())
        yield from (
            ("recalibration", name * several, doc) for name, doc in self.recalibration.items()
        )

    def _absent(self) -> list[Section]:
        lines = [f"{SECTIONS[a.section]}: {a.needs}." for a in self.absent]
        return [Section(SECTIONS["missing"], lines=lines, anchor="missing")] if lines else []

    def _read(self) -> list[Section]:
        """The files, by what they hold."""
        facts = [
            (f"{f.size:,} bytes", [Name(f.path), f": SHA-256 {f.sha256}" if f.sha256 else ""])
            for f in self.files
        ]
        return [Section("Files", facts=facts, anchor="methods")] if facts else []


def _within(doc: Document, anchor: str, model: str) -> Iterator[Section]:
    """The page of a document as a part of another: without its data, its sentences as lines."""
    page = doc.page()
    said = [s for part in page.sections for s in part.verdict if getattr(s, "about", "") != "next"]
    if model or said:
        yield Section(quoted(model) if model else "", lines=said, anchor=anchor)
    parts = [p for p in page.sections if not p.verdict and (p.title or p.table)]
    for i, part in enumerate(p for p in parts if not p.title.startswith(LEFT)):
        if part.title or i <= 1:  # else it goes with one that is closed
            notes = [n for n in part.table.notes if n != MORE] if part.table else []
            table = replace(part.table, notes=notes) if part.table else None
            yield replace(part, table=table, anchor=anchor, narrow=None, folded=i > 1)
