"""Raters who decide and score the same rows: `raters`, its result, and what it writes and shows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from scorewise.arrays import Bools
from scorewise.checks import check
from scorewise.columns import Columns, Kind, Labels, Missing, Place, read
from scorewise.columns.labels import REST, read_labels
from scorewise.columns.rows import rows_of
from scorewise.columns.sources import is_source
from scorewise.columns.vectors import Coded, vector
from scorewise.errors import BadInput, Option
from scorewise.inference.ranking import auroc_value
from scorewise.inspection.opinions import Agreement, AgreementRecord, Opinions, same_decisions
from scorewise.inspection.suspects import named_rows
from scorewise.show.data import RowsRecord
from scorewise.show.document import JudgedDocument
from scorewise.show.page import Section
from scorewise.show.records import field, record_of
from scorewise.show.result import Pictures, Result
from scorewise.show.verdict import Claim, claim, next_command
from scorewise.show.words import count, plural
from scorewise.statistics.smroc import Rule, why_not_unit
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit

TRUTH = "\0truth"  # no name of a rater
EXAMPLE = "such as {'ann': (decisions, scores), 'bob': (decisions, scores)}"


class RatedRecord(RowsRecord):
    """The rows that raters were compared on."""

    positive: str = field("The decision that high scores stand for.")
    negative: str = field("The other decision.")
    rule: str = field("How it was decided which of them is positive.")
    truth: bool = field("Whether the curves are against known labels, not a rater's own decisions.")


class RatersDocument(JudgedDocument, command="raters"):
    """Raters compared on the same rows."""

    data: RatedRecord
    agreement: AgreementRecord

    def sections(self) -> list[Section]:
        """What was compared, and how far raters agree."""
        data, classes = self.data, (self.data.negative, self.data.positive)
        against = "known labels" if data.truth else "each rater's own decisions"
        facts = [("Data", ", ".join(f"'{s}'" for s in data.sources))] if data.sources else []
        facts += [
            ("Rows", count(data.rows)),
            ("Positive", f"'{data.positive}' ({data.rule}); negative is '{data.negative}'"),
            ("Curves", f"against {against}"),
            *data.dropped_facts(),
        ]
        return [Section(facts=facts), *self.agreement.sections(data, classes, "rater")]


@dataclass(frozen=True, repr=False, eq=False)
class Raters(Result):
    """What several raters say of the same rows, compared; prints as tables.

    `agreement` has each rater's smROC curve, the pairs, and the rows on which they differ; `opinions` are
    the decisions and scores themselves.
    """

    agreement: Agreement
    opinions: Opinions
    labels: Labels
    rows: int
    dropped: int
    truth: bool
    sources: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def document(self) -> RatersDocument:
        """What is written and shown; `scorewise schema raters` prints its schema."""
        return RatersDocument(
            data=record_of(RatedRecord, self, self.labels),
            verdict=_verdict(self),
            agreement=AgreementRecord.of(self.agreement),
            hints=list(self.hints),
        )

    def pictures(self) -> Pictures:
        """The curve of each rater, and on how many rows they agree."""
        from scorewise.displays import OpinionsDisplay

        return Pictures({"agreement": OpinionsDisplay(self.agreement).plot}, ("agreement",))


def raters(
    ratings: Any,
    *,
    decisions: Sequence[str] | None = None,
    scores: Sequence[str] | None = None,
    label: str | None = None,
    y: Any = None,
    positive: Any = None,
    ids: Any = None,
    tolerance: float = 0.1,
    top: int = 20,
    midpoint: Rule | float = "mean",
    kind: Kind | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
    place: Place | None = None,
) -> Raters:
    """Decisions and scores of several raters on the same rows, and whether they really disagree.

    A score says how much speaks for the positive decision, not how sure a rater is of either: a sure "no"
    has a score near 0. Raters agree on a row when their scores lie within `tolerance` of each other,
    whatever they decide: a "no" at 0.60 and a "yes" at 0.52 are nearly the same opinion. The curve of a
    rater sets its scores against its own decisions, or against the labels `y` where they are known.
    `place` says in which files the rows are, where they come from files.

    Of a file, a pattern of files, a frame or a mapping from name to column, `decisions` and `scores` name
    the two columns of each rater, in the same order, and `label` and `ids` name columns, too.

    >>> ann = ["no", "yes", "yes", "no"], [0.60, 0.90, 0.80, 0.10]
    >>> bob = ["yes", "yes", "no", "no"], [0.52, 0.85, 0.30, 0.15]
    >>> found = raters({"ann": ann, "bob": bob}).agreement
    >>> found.decisions, found.within
    (0.5, 0.75)
    >>> [r.row for r in found.apparent], [r.row for r in found.real]
    ([0], [2])
    """
    check(top=top, tolerance=tolerance, midpoint=midpoint)
    if decisions is not None or scores is not None or not isinstance(ratings, Mapping):
        if not is_source(ratings):
            _pairs(ratings)  # says what is wanted
        columns = _columns(decisions or (), scores or ())
        columns |= {r: name for r, name in (("label", label), ("id", ids)) if name is not None}
        found = read(ratings, columns, missing=missing, encoding=encoding)
        names, ids = list(columns["decision"]), found.column("id")
    else:
        if label is not None or encoding is not None:
            raise BadInput("label and encoding belong to files and frames; pass the labels as y")
        pairs = _pairs(ratings)
        names = list(pairs)
        columns = {
            "decision": {f"decision of {name}": d for name, (d, _) in pairs.items()},
            "score": {f"score of {name}": s for name, (_, s) in pairs.items()},
        }
        columns |= {} if y is None else {"label": y}
        found = read(None, columns, missing=missing, place=place)
    labelled = "label" in columns
    decided, labels = _read_decisions(names, found, positive)
    scored = replace(found, values={"score": found["score"]})
    rows = rows_of(scored, role="decision", kind=kind, known=(decided[names[0]], labels))
    columns_of = [*zip(names, rows.scores, strict=True)]
    own = [Tally.of_rows(replace(rows, y=decided[name]), c) for name, c in columns_of]
    truth = [Tally.of_rows(replace(rows, y=decided[TRUTH]), c) for _, c in columns_of if labelled]
    opinions = Opinions(
        names,
        np.stack([decided[name] for name in names], axis=1),
        np.stack([unit(s, rows.kinds[column]) for column, s in rows.scores.items()], axis=1),
        truth or own,
        rows,
        named_rows(ids, len(rows) + rows.dropped),
    )
    compared = opinions.compared(tolerance=tolerance, rule=midpoint, top=top)
    hints = [hint for name, t in zip(names, own, strict=True) for hint in _hints(name, t, labels)]
    return Raters(
        compared, opinions, labels, len(rows), rows.dropped, labelled, rows.sources, tuple(hints),
        rows.notes,
    )  # fmt: skip


def _columns(decisions: Sequence[str], scores: Sequence[str]) -> dict[str, Any]:
    """The columns of raters in a file or frame, a decision and a score for each."""
    if len(decisions) != len(scores) or len(scores) < 2:
        raise BadInput(
            f"{len(decisions)} ", Option("decisions"), f" and {len(scores)} ", Option("scores"),
            " were given; name both for each of at least two raters",
        )  # fmt: skip
    for names in (decisions, scores):
        if twice := [name for name in names if list(names).count(name) > 1]:
            raise BadInput(f"column '{twice[0]}' is given twice; name one for each rater")
    return {"decision": decisions, "score": scores}


def _pairs(ratings: Any) -> dict[str, tuple[Any, Any]]:
    """Decisions and scores by the name of the rater."""
    if not isinstance(ratings, Mapping) or len(ratings) < 2:
        raise BadInput(
            f"raters takes decisions and scores of at least two raters by name, {EXAMPLE}"
        )
    for name, columns in ratings.items():
        if not isinstance(columns, Sequence) or isinstance(columns, str) or len(columns) != 2:
            raise BadInput(f"rater '{name}' needs a pair of decisions and scores, {EXAMPLE}")
    if len({str(name) for name in ratings}) < len(ratings):
        raise BadInput("two raters have the same name; give each a name of its own")
    return {str(name): (columns[0], columns[1]) for name, columns in ratings.items()}


def _read_decisions(
    names: Sequence[str], found: Columns, positive: Any
) -> tuple[dict[str, Bools], Labels]:
    """All decisions and labels read as one column, so that a word means the same whoever says it."""
    columns = dict(zip(names, found["decision"].values(), strict=True))
    if (truth := found.column("label")) is not None:
        columns[TRUTH] = truth
    stacked: list[Any] = []
    for column in columns.values():
        if isinstance(column, Coded):
            stacked += [column.values[code] for code in column.codes.tolist()]
        else:
            stacked += column.values.tolist()
    y, labels = read_labels(vector(stacked, "decision"), "decision", positive)
    decided = dict(zip(columns, y.reshape(len(columns), -1), strict=True))
    # raters that use other words: all of theirs would stand for the rest
    never = [name for name in decided if not decided[name].any()]
    if positive is not None and labels.negative == REST and never:
        who = "the label" if never[0] == TRUTH else f"'{never[0]}'"
        raise BadInput(
            f"{who} never says {labels.positive!r}, and uses other words than the other raters; write "
            f"all decisions in the same words"
        )
    return decided, labels


def _hints(name: str, t: Tally, labels: Labels) -> Iterator[str]:
    """Remarks on the scores of one rater."""
    if why_not_unit(t):
        low, high = t.ends
        yield (
            f"scores of '{name}' lie between {low:.4g} and {high:.4g}, not in [0, 1]; distances between "
            f"scores are meaningful only if all raters use the same scale"
        )
    if not t.why_not_ranked and (area := auroc_value(t)) < 0.5:
        yield (
            f"high scores of '{name}' do not go with '{labels.positive}' (AUROC {area:.3g} against the "
            f"rater's own decisions); a score should say how much speaks for '{labels.positive}', not how "
            f"sure the rater is of either answer: for the other answer, give 1 - score"
        )


def _verdict(r: Raters) -> list[Claim]:
    """The sentences on raters who decide and score."""
    a = r.agreement
    if not r.rows:
        return []
    claims, n = [same_decisions(a.decisions, r.rows, "Raters")], a.numbers
    if other := n["apparent"] + n["real"]:
        text = (
            f"Of {plural(other, 'row')} with different decisions, {n['apparent']:,} only "
            f"look{'s' * (n['apparent'] == 1)} like disagreement: the scores are "
            f"within {a.tolerance:g} of each other."
        )
        claims.append(claim("agreement", "apparent", text))
    if same := n["both"] + n["hidden"]:
        text = (
            f"Of {plural(same, 'row')} with the same decision, {n['hidden']:,} "
            f"hide{'s' * (n['hidden'] == 1)} a difference: the scores differ by more than "
            f"{a.tolerance:g}."
        )
        claims.append(claim("agreement", "hidden", text))
    if r.sources:
        return [*claims, next_command("agree", r.sources, [("rater", x.name) for x in a.raters])]
    return [*claims, claim("next", "agree", "Next: sw.agree(decisions), agreement beyond chance")]
