"""Several raters, each with a decision and a score for the same rows, and whether they disagree."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from scorewise.arrays import Bools
from scorewise.checks import check
from scorewise.columns import Columns, Kind, Labels, Missing, Place, Rows, read
from scorewise.columns.binary import rows_of
from scorewise.columns.classes import is_source
from scorewise.columns.files import open_source
from scorewise.columns.labels import REST, read_labels
from scorewise.columns.roles import check_columns
from scorewise.columns.vectors import Coded, Vector, vector
from scorewise.errors import BadInput, Option
from scorewise.inference.ranking import area
from scorewise.inspection.agreement import Agreement, Opinions, agreement
from scorewise.inspection.document import RatersDocument, raters_document
from scorewise.inspection.suspects import named_rows
from scorewise.show.shown import Shown
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.smroc import Rule, why_not_unit

if TYPE_CHECKING:
    from scorewise.displays.overview import Pictures

TRUTH = "\0truth"  # no name of a rater


@dataclass(frozen=True, repr=False, eq=False)
class Raters(Shown):
    """What several raters say of the same rows, compared; prints as tables.

    `agreement` has each rater's smROC curve, the pairs, and the rows on which they differ.
    """

    agreement: Agreement
    labels: Labels
    rows: int
    dropped: int
    truth: bool
    sources: tuple[str, ...] = ()
    hints: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def document(self) -> RatersDocument:
        """What is written and shown; `scorewise schema raters` prints its schema."""
        return raters_document(self)

    def pictures(self) -> Pictures:
        """The curve of each rater, and on how many rows they agree."""
        from scorewise.displays import OpinionsDisplay
        from scorewise.displays.overview import Pictures

        return Pictures({"agreement": OpinionsDisplay(self.agreement).plot}, ("agreement",))


def raters(
    said: Any,
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
    if decisions is not None or scores is not None or not isinstance(said, Mapping):
        if not is_source(said):
            _pairs(said)  # says what is wanted
        said, known, place = _from_source(said, decisions or (), scores or (), label, ids, encoding)
        y, ids = known[0], known[1]
    elif label is not None or encoding is not None:
        raise BadInput("label and encoding belong to files and frames; pass the labels as y")
    given = _pairs(said)
    found = read(
        None,
        {
            "decision": {f"decision of {name}": d for name, (d, _) in given.items()},
            **({} if y is None else {"label": y}),
            "score": {f"score of {name}": s for name, (_, s) in given.items()},
        },
        missing=missing,
        place=place,
    )
    columns = dict(zip(given, found["decision"].values(), strict=True))
    if y is not None:
        columns[TRUTH] = found.one("label")
    decided, labels = _read(columns, positive)
    _check_words(columns, decided, labels, positive)
    rows = _rows(found, given, decided, labels, kind)
    tallies = [
        Tally.of_rows(replace(rows, y=decided[name if y is None else TRUTH], labels=labels), name)
        for name in given
    ]
    opinions = Opinions(
        tuple(given),
        np.stack([decided[name] for name in given], axis=1),
        np.stack([unit(rows.scores[name], rows.kinds[name]) for name in given], axis=1),
        np.ones(len(rows)),
    )
    compared = agreement(
        opinions, tallies, tolerance=tolerance, rule=midpoint,
        top=top, place=rows.place, ids=named_rows(ids, len(rows) + rows.dropped),
    )  # fmt: skip
    own = [Tally.of_rows(replace(rows, y=decided[name], labels=labels), name) for name in given]
    return Raters(
        compared,
        labels,
        len(rows),
        rows.dropped,
        y is not None,
        rows.sources,
        tuple(hint for t in own for hint in _hints(t, labels)),
        rows.notes,
    )


def _from_source(
    source: Any,
    decisions: Sequence[str],
    scores: Sequence[str],
    label: str | None,
    ids: str | None,
    encoding: str | None,
) -> tuple[dict[str, tuple[Any, Any]], tuple[Any, Any], Place]:
    """Decisions and scores by rater, labels and names of rows if there are any, and where the rows are."""
    if len(decisions) != len(scores) or len(scores) < 2:
        raise BadInput(
            f"{len(decisions)} ", Option("decisions"), f" and {len(scores)} ", Option("scores"),
            " were given; name both for each of at least two raters",
        )  # fmt: skip
    for names in (decisions, scores):
        if twice := [name for name in names if list(names).count(name) > 1]:
            raise BadInput(f"column '{twice[0]}' is given twice; name one for each rater")
    opened = open_source(source, encoding)
    further = [name for name in (label, ids) if name is not None]
    wanted = list(dict.fromkeys([*decisions, *scores, *further]))
    check_columns(opened.names, wanted)
    columns, place = opened.read(wanted, ())
    pairs = {d: (columns[d], columns[s]) for d, s in zip(decisions, scores, strict=True)}
    known = [None if name is None else columns[name] for name in (label, ids)]
    return pairs, (known[0], known[1]), place


def _hints(t: Tally, labels: Labels) -> Iterator[str]:
    """What a reader should be told of one rater."""
    name = t.origin.score
    if why_not_unit(t):
        low, high = t.ends
        yield (
            f"scores of '{name}' lie between {low:.4g} and {high:.4g}, not in [0, 1]; distances between "
            f"scores mean something only where all raters use one scale"
        )
    if not t.why_not_ranked and area(t) < 0.5:
        yield (
            f"high scores of '{name}' do not go with '{labels.positive}' (AUROC {area(t):.3g} against the "
            f"rater's own decisions); a score says how much speaks for '{labels.positive}', not how sure "
            f"the rater is of either answer: turn the scores of the others round (1 - score)"
        )


def _pairs(said: Any) -> dict[str, tuple[Any, Any]]:
    example = "such as {'ann': (decisions, scores), 'bob': (decisions, scores)}"
    if not isinstance(said, Mapping) or len(said) < 2:
        raise BadInput(
            f"raters takes decisions and scores of at least two raters by name, {example}"
        )
    for name, columns in said.items():
        if not isinstance(columns, Sequence) or isinstance(columns, str) or len(columns) != 2:
            raise BadInput(f"rater '{name}' needs a pair of decisions and scores, {example}")
    if len({str(name) for name in said}) < len(said):
        raise BadInput("two raters have the same name; give each a name of its own")
    return {str(name): (columns[0], columns[1]) for name, columns in said.items()}


def _rows(
    found: Columns,
    names: Mapping[str, Any],
    decided: Mapping[str, Bools],
    labels: Labels,
    kind: Kind | None,
) -> Rows:
    """The scores, checked, by the names of the raters."""
    rows = rows_of(replace(found, values={"score": found["score"]}), kind=kind)
    plain = dict(zip(rows.scores, names, strict=True))
    return replace(
        rows,
        y=next(iter(decided.values())),
        labels=labels,
        scores={plain[n]: s for n, s in rows.scores.items()},
        kinds={plain[n]: k for n, k in rows.kinds.items()},
    )


def _read(columns: Mapping[str, Vector], positive: Any) -> tuple[dict[str, Bools], Labels]:
    """All decisions read as one column, so that a word means the same whoever says it."""
    stacked = [value for column in columns.values() for value in _values(column)]
    y, labels = read_labels(vector(stacked, "decision"), "decision", positive)
    return dict(zip(columns, y.reshape(len(columns), -1), strict=True)), labels


def _check_words(
    columns: Mapping[str, Vector], decided: Mapping[str, Bools], labels: Labels, positive: Any
) -> None:
    """Refuse raters that use other words: then all of theirs would stand for the rest."""
    if positive is None or labels.negative != REST:
        return
    for name in columns:
        if not decided[name].any():
            who = "the label" if name == TRUTH else f"'{name}'"
            raise BadInput(
                f"{who} never says {labels.positive!r}, and other words than the others; write the "
                f"decisions of all in the same words"
            )


def _values(column: Vector) -> list[Any]:
    if isinstance(column, Coded):
        return [column.values[code] for code in column.codes.tolist()]
    values: list[Any] = column.values.tolist()
    return values
