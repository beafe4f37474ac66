"""One call for all that is known of scores: `report`, its result, and the document that it writes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from scorewise.columns import Kind, Missing
from scorewise.columns.roles import Spec
from scorewise.comparing import ModelComparison
from scorewise.comparing.document import CompareDocument
from scorewise.drifting import drift
from scorewise.drifting.document import DriftDocument
from scorewise.errors import BadInput, Option
from scorewise.evaluation import ClassEvaluation, Comparison, Evaluation
from scorewise.evaluation.document import EvaluationDocument
from scorewise.evaluation.evaluating import evaluated
from scorewise.evaluation.inputs import Inputs
from scorewise.evaluation.page import MORE
from scorewise.evaluation.result import Settings
from scorewise.inspection import Inspection
from scorewise.inspection.document import InspectDocument
from scorewise.inspection.document import Settings as InspectSettings
from scorewise.recalibrating import Recalibrator
from scorewise.recalibrating.document import CalibrateDocument
from scorewise.show.document import Document
from scorewise.show.page import Page, Section, verdict
from scorewise.show.records import Count, Record, Word, field
from scorewise.show.report import SECTIONS
from scorewise.show.result import Pictures, Result
from scorewise.show.verdict import Claim, Claims
from scorewise.show.words import Name, quoted

TOP = 5  # rows listed of each kind
MAX_RECALIBRATED = 20_000  # rows up to which recalibration is tried in passing
MAX_SETS = 200_000  # rows up to which those are listed on which models agree and differ
MAX_HASHED = 256_000_000  # bytes of a file up to which its hash is taken
NEEDS = {
    "slices": "name a column of groups (by)",
    "comparison": "name the scores of a second model (score)",
    "instances": "scores of two classes, row by row",
    "drift": "name the file of an earlier sample (reference)",
    "recalibration": f"probabilities of two classes, at most {MAX_RECALIBRATED:,} rows; see calibrate",
    "agreement": "ratings of two or more raters; see agree and judge",
}

# sections of the pages of other documents that say what the report says elsewhere
LEFT = ("Hints", "Scores", "smROC curves", "Rows with the same decision", "Tried")


class FileRecord(Record):
    """A file that was read."""

    path: Word = field("Its path, as it was given.")
    size: Count
    sha256: str = field("SHA-256 of its bytes; empty where it is too large to be read again.")


class AbsentRecord(Record):
    """A section that the report lacks."""

    section: Word = field("The section.")
    needs: Word = field("Which input would bring it.")


class ReportDocument(Document, command="report"):
    """What is known of the scores of one model or several."""

    verdict: Claims
    files: list[FileRecord] = field("Files read; empty when given as arrays.")
    evaluation: EvaluationDocument
    comparison: CompareDocument | None = field("Models against each other; null of one.")
    inspection: InspectDocument | None = field("Rows to check; null of several classes.")
    drift: dict[str, DriftDocument] = field(
        "What has changed since a reference, by the name of the model; empty without one."
    )
    recalibration: dict[str, CalibrateDocument] = field(
        "What recalibration would change, by the name of the model; empty of many rows."
    )
    absent: list[AbsentRecord] = field("What the report lacks, and what would bring it.")

    def page(self) -> Page:
        """The first screen of the evaluation, and what the report lacks."""
        own = replace(self.evaluation.first_screen, verdict=self.verdict, groups=[], hints=[])
        brief = own.page()
        return Page(self.command, [*brief.sections, *self._absent()], brief.footnotes)

    def report(self) -> Page:
        """The sections of all documents in one order."""
        own = self.evaluation.report()
        replaced = {"verdict", "missing", *(["comparison"] if self.comparison else [])}
        sections = [*verdict(self.verdict), *(s for s in own.sections if s.anchor not in replaced)]
        for anchor, model, doc in self.others():
            sections += _within(doc, anchor, model)
        facts = [
            (f"{f.size:,} bytes", [Name(f.path), f": SHA-256 {f.sha256}" if f.sha256 else ""])
            for f in self.files
        ]
        files = [Section("Files", facts=facts, anchor="methods")] if facts else []
        return Page(self.command, [*sections, *self._absent(), *files], own.footnotes)

    def others(self) -> Iterator[tuple[str, str, Document]]:
        """The documents beside the evaluation: the section of each, the model that it is of, itself."""
        if self.comparison is not None:
            yield "comparison", "", self.comparison
        if self.inspection is not None:
            yield "instances", "", self.inspection
        several = len(self.evaluation.models) > 1
        for anchor, docs in (("drift", self.drift), ("recalibration", self.recalibration)):
            yield from ((anchor, name * several, doc) for name, doc in docs.items())

    def _absent(self) -> list[Section]:
        lines = [f"{SECTIONS[a.section]}: {a.needs}." for a in self.absent]
        return [Section(SECTIONS["missing"], lines=lines, anchor="missing")] if lines else []


def _within(doc: Document, anchor: str, model: str) -> Iterator[Section]:
    """The page of a document as a part of another: without its data, its sentences as lines."""
    sections = doc.page().sections
    claims = [c for part in sections for c in part.verdict if getattr(c, "about", "") != "next"]
    if model or claims:
        yield Section(quoted(model) if model else "", lines=claims, anchor=anchor)
    parts = [p for p in sections if not p.verdict and (p.title or p.table)]
    for i, part in enumerate(p for p in parts if not p.title.startswith(LEFT)):
        if part.title or i <= 1:  # else it goes with one that is closed
            notes = [n for n in part.table.notes if n != MORE] if part.table else []
            table = replace(part.table, notes=notes) if part.table else None
            yield replace(part, table=table, anchor=anchor, narrow=None, folded=i > 1)


class Report(Result):
    """All that is known of scores: `r.evaluation`, and `r.report("report.html")` to write it.

    Prints as the first screen of the evaluation. The parts are made when the report is.
    """

    def __init__(
        self,
        evaluation: Evaluation | Comparison | ClassEvaluation,
        reference: Any = None,
        columns: Mapping[str, Any] | None = None,
        ids: Any = None,
    ) -> None:
        self.notes, self._ids = tuple(evaluation.notes), ids
        self._models = evaluation if isinstance(evaluation, Comparison) else None
        self.models = {n: e for n, e in evaluation.evaluations.items() if isinstance(e, Evaluation)}
        only = next(iter(self.models.values())) if len(self.models) == 1 else None
        self.evaluation: Any = only or evaluation
        if reference is not None and not self.models:
            raise BadInput(
                Option("reference"), " belongs to scores of two classes, of which drift is told"
            )
        self._drift: dict[str, DriftDocument] = {}
        if reference is not None:
            s, columns = self.evaluation.settings, columns or {}
            for name, e in self.models.items():
                options = {**columns, "score": name, "level": s.level, "seed": s.seed}
                self._drift[name] = drift(reference, e.tally, **options).document()

    def document(self) -> ReportDocument:
        """What is written and shown; `scorewise schema report` prints its schema."""
        return self._document

    def pictures(self) -> Pictures:
        """Those of the evaluation."""
        found: Pictures = self.evaluation.pictures()
        return found

    @cached_property
    def _document(self) -> ReportDocument:
        own: EvaluationDocument = self.evaluation.document()
        compared = self._models if len(self.models) > 1 else None
        parts: dict[str, Any] = {
            "slices": own.groups,
            "comparison": compared and ModelComparison.of(compared).brief(),
            "instances": self._rows_to_check(),
            "drift": self._drift,
            "recalibration": self._recalibrated(),
            "agreement": None,
        }
        doc = ReportDocument(
            verdict=[],
            files=[_file(path) for path in own.data.sources if Path(path).is_file()],
            evaluation=own,
            comparison=parts["comparison"],
            inspection=parts["instances"],
            drift=self._drift,
            recalibration=parts["recalibration"],
            absent=[AbsentRecord(section=n, needs=NEEDS[n]) for n, x in parts.items() if not x],
        )
        return replace(doc, verdict=_verdict(doc))

    def _rows_to_check(self) -> InspectDocument | None:
        if self._models is None:
            return None
        rows, s = self._models.rows, self.evaluation.settings
        settings = InspectSettings(top=TOP, threshold=s.threshold, seed=s.seed)
        tallies = [e.tally for e in self.models.values()]
        agree = len(rows) <= MAX_SETS
        made = Inspection(rows, settings, ids=self._ids, tallies=tallies, agree=agree)
        return made.document()

    def _recalibrated(self) -> dict[str, CalibrateDocument]:
        found: dict[str, Any] = {}
        for name, e in self.models.items():
            t, s = e.tally, e.settings
            if t.kind != "score" and t.origin.rows <= MAX_RECALIBRATED and not t.why_not_ranked:
                made = Recalibrator(seed=s.seed, level=s.level, kind=t.kind)
                found[name] = made.fit(t).document()
        return found


def report(
    y: Any, p: Any = None, *, label: str | None = None, score: str | Sequence[str] | None = None,
    classes: Spec | Sequence[Any] | None = None, weight: Any = None, count: Any = None,
    positive: Any = None, by: Any | Sequence[str] = None, cluster: Any = None,
    ids: str | None = None, reference: Any = None, min_rows: int = 20, threshold: float = 0.5,
    level: float = 0.95, seed: int = 0, kind: Kind | None = None, missing: Missing = "refuse",
    clip: float | None = None, encoding: str | None = None,
) -> Report:  # fmt: skip
    """All that is known of scores, for one HTML file: `report("scores.csv").report("report.html")`.

    It is what `evaluate` finds, with groups (`by`) and curves; with two or more scores, what `compare`
    tells; the rows that `inspect` would check, named by the column `ids`; what recalibration would change;
    and, with an earlier sample as `reference`, what has drifted since. See these for the options.

    >>> r = report({"y": [1, 1, 0, 1, 0, 0], "p": [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]}, label="y", score="p")
    >>> r.evaluation.auroc
    0.889 [0.401, 0.988]
    >>> r.document().absent[0].section
    'slices'
    """
    settings = Settings(threshold, level, seed, clip)
    inputs = Inputs(
        y, p, label, score, encoding, classes, None, None, weight, count, kind, positive, cluster, by,
        missing, ids,
    )  # fmt: skip
    made = evaluated(inputs, settings, min_rows)
    if isinstance(made, Comparison):
        ids = ids if p is not None else made.rows.ids
    elif ids is not None:
        raise BadInput(Option("ids"), " names rows of two classes; leave it out")
    columns = {
        "label": label, "weight": weight, "positive": positive, "kind": kind, "missing": missing,
        "encoding": encoding,
    }  # fmt: skip
    return Report(made, reference, columns, ids)


def _verdict(doc: ReportDocument) -> list[Claim]:
    """The sentences of the evaluation, what has drifted and what to check; the next commands last."""
    own = doc.evaluation.verdict
    claims = [c for c in own if c.about != "next"]
    for drifted in doc.drift.values():
        claims += [c for c in drifted.verdict if c.about != "next"][:2]
    if doc.inspection is not None:
        claims += [c for c in doc.inspection.verdict if c.about == "labels"][:1]
    return [*claims, *(c for c in own if c.about == "next")]


def _file(path: str) -> FileRecord:
    """A file, and the hash of what it holds where that is soon read."""
    size = Path(path).stat().st_size
    digest = ""
    if size <= MAX_HASHED:
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileRecord(path=path, size=size, sha256=digest)
