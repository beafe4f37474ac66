"""One call for all that is known of scores: `report` and its result."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scorewise.checks import check
from scorewise.columns import Kind, Missing, Rows
from scorewise.columns.roles import Spec
from scorewise.drifting import drift
from scorewise.errors import BadInput, Option
from scorewise.evaluation import ClassEvaluation, Comparison, Evaluation, ModelComparison, evaluate
from scorewise.evaluation.evaluating import Given, rows_to_judge
from scorewise.evaluation.models import Settings
from scorewise.inspection import Inspection
from scorewise.inspection.inspection import Settings as Inspected
from scorewise.recalibrating import Recalibrator
from scorewise.reporting.document import AbsentRecord, FileRecord, ReportDocument
from scorewise.show.shown import Shown
from scorewise.tallies import ClassTally, RowTally, Tally, TallySet
from scorewise.tallies.merging import is_saved, saved, scores_of

if TYPE_CHECKING:
    from scorewise.displays.overview import Pictures
    from scorewise.drifting.document import DriftDocument
    from scorewise.evaluation.document import EvaluationDocument
    from scorewise.inspection.document import InspectDocument
    from scorewise.recalibrating.document import CalibrateDocument
    from scorewise.show.verdict import Claim

TOP = 5  # rows listed of each kind
CHEAP = 20_000  # rows up to which recalibration is tried in passing
SETS = 200_000  # rows up to which those are listed on which models agree and differ
READ_AGAIN = 256_000_000  # bytes of a file up to which its hash is taken
NEEDS = {
    "slices": "name a column of groups (by)",
    "comparison": "name the scores of a second model (score)",
    "instances": "scores of two classes, row by row",
    "drift": "name the file of an earlier sample (reference)",
    "recalibration": f"probabilities of two classes, at most {CHEAP:,} rows; see calibrate",
    "agreement": "ratings of two or more raters; see agree and judge",
}


class Report(Shown):
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
        several = isinstance(evaluation, Comparison)
        self._rows = evaluation._rows if isinstance(evaluation, Comparison) else None
        self.models: dict[str, Evaluation] = {}
        if isinstance(evaluation, Comparison):
            self.models = dict(evaluation)
            several = len(self.models) > 1
        elif isinstance(evaluation, Evaluation):
            self.models = {evaluation.tally.origin.score: evaluation}
        only = next(iter(self.models.values()), None)
        self.evaluation: Any = evaluation if several or only is None else only
        self.notes, self._ids = tuple(evaluation.notes), ids
        if reference is not None and not self.models:
            raise BadInput(
                Option("reference"), " belongs to scores of two classes, of which drift is told"
            )
        self._drift = {} if reference is None else self._changes(reference, columns or {})

    @cached_property
    def _document(self) -> ReportDocument:
        return self._made()

    def document(self) -> ReportDocument:
        """What is written and shown; `scorewise schema report` prints its schema."""
        return self._document

    def pictures(self) -> Pictures:
        """Those of the evaluation."""
        found: Pictures = self.evaluation.pictures()
        return found

    def _made(self) -> ReportDocument:
        e = self.evaluation
        own = e.document()
        comparison = ModelComparison.of(e).brief() if isinstance(e, Comparison) else None
        inspection = self._rows_to_check()
        recalibration = self._recalibrated()
        there = {
            "slices": own.groups,
            "comparison": comparison,
            "instances": inspection,
            "drift": self._drift,
            "recalibration": recalibration,
            "agreement": None,
        }
        return ReportDocument(
            verdict=_verdict(own, inspection, self._drift),
            files=[_file(path) for path in own.data.sources if Path(path).is_file()],
            evaluation=own,
            comparison=comparison,
            inspection=inspection,
            drift=self._drift,
            recalibration=recalibration,
            absent=[
                AbsentRecord(section=name, needs=NEEDS[name])
                for name, part in there.items()
                if not part
            ],
        )

    def _rows_to_check(self) -> InspectDocument | None:
        rows, s = self._rows, self.evaluation.settings
        if rows is None:
            return None
        settings = Inspected(top=TOP, threshold=s.threshold, seed=s.seed)
        tallies = [e.tally for e in self.models.values()]
        agree = len(rows) <= SETS
        return Inspection(rows, settings, rows.sources, self._ids, tallies, agree).document()

    def _recalibrated(self) -> dict[str, CalibrateDocument]:
        found: dict[str, Any] = {}
        for name, e in self.models.items():
            t, s = e.tally, e.settings
            if t.kind != "score" and t.origin.rows <= CHEAP and not t.why_not_ranked:
                made = Recalibrator(seed=s.seed, level=s.level, kind=t.kind)
                found[name] = made.fit(t).document()
        return found

    def _changes(self, reference: Any, columns: Mapping[str, Any]) -> dict[str, DriftDocument]:
        s = self.evaluation.settings
        return {
            name: drift(
                reference, e.tally, **columns, score=name, level=s.level, seed=s.seed
            ).document()
            for name, e in self.models.items()
        }


def report(
    y: Any,
    p: Any = None,
    *,
    label: str | None = None,
    score: str | Sequence[str] | None = None,
    classes: Spec | Sequence[Any] | None = None,
    weight: Any = None,
    count: Any = None,
    positive: Any = None,
    by: Any | Sequence[str] = None,
    cluster: Any = None,
    ids: str | None = None,
    reference: Any = None,
    min_rows: int = 20,
    threshold: float = 0.5,
    level: float = 0.95,
    seed: int = 0,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    clip: float | None = None,
    encoding: str | None = None,
) -> Report:
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
    options = {"weight": weight, "count": count, "kind": kind, "missing": missing}
    if p is None and is_saved(y):
        y = saved(y)
    if isinstance(y, RowTally):
        return report(
            y.frame, **scores_of(y, by), reference=reference, cluster=cluster, ids=ids,
            min_rows=min_rows, threshold=threshold, level=level, seed=seed, clip=clip,
        )  # fmt: skip
    if classes is not None or isinstance(y, Tally | ClassTally | TallySet):
        if ids is not None:
            raise BadInput(Option("ids"), " names rows of two classes; leave it out")
        found: Any = evaluate(
            y, p, label=label, score=score, classes=classes, positive=positive, by=by,
            cluster=cluster, min_rows=min_rows, encoding=encoding, **vars(settings), **options,
        )  # fmt: skip
        rows = None
    else:
        check(min_rows=min_rows)
        named = {"label": label, "score": score, "encoding": encoding}
        several = dict.fromkeys(("classes", "predicted", "confidence"))
        by_id = {} if ids is None or p is not None else {"ids": ids}
        rows, _ = rows_to_judge(Given(y, p, named, several, options | by_id, positive, by, cluster))
        if isinstance(rows, Rows):
            found = Comparison(rows, settings, nameless=p is not None, min_rows=min_rows)
        else:  # a column of scores for each class
            found = evaluate(
                y, p, positive=positive, by=by, min_rows=min_rows, **vars(settings), **options
            )
    columns = {
        "label": label, "weight": weight, "positive": positive, "kind": kind, "missing": missing,
        "encoding": encoding,
    }  # fmt: skip
    ids = ids if p is not None else getattr(rows, "ids", None)
    return Report(found, reference, columns, ids)


def _verdict(
    own: EvaluationDocument, inspection: InspectDocument | None, drifted: dict[str, DriftDocument]
) -> list[Claim]:
    """The sentences of the evaluation, what has drifted and what to check; the next commands last."""
    said = [c for c in own.verdict if c.about != "next"]
    for doc in drifted.values():
        said += [c for c in doc.verdict if c.about != "next"][:2]
    if inspection is not None:
        said += [c for c in inspection.verdict if c.about == "labels"][:1]
    return [*said, *(c for c in own.verdict if c.about == "next")]


def _file(path: str) -> FileRecord:
    """A file, and the hash of what it holds where that is soon read."""
    size = Path(path).stat().st_size
    digest = ""
    if size <= READ_AGAIN:
        with Path(path).open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    return FileRecord(path=path, size=size, sha256=digest)
