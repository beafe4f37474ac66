"""Agreement of several raters or models on the same rows, by decisions and by scores."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import check
from scorewise.columns import Columns, Kind, Labels, Missing, Place, Rows, read
from scorewise.columns.labels import REST, read_labels
from scorewise.columns.rows import rows_of
from scorewise.columns.sources import is_source
from scorewise.columns.vectors import Coded, vector
from scorewise.curves.smroc import smooth_roc
from scorewise.curves.thresholds import Roc, distance
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.inference.ranking import auroc_value
from scorewise.inspection.raters_document import (
    Instance,
    RatersDocument,
    Rating,
    raters_document,
)
from scorewise.inspection.suspects import named_rows, place_of_row
from scorewise.show.result import Pictures, Result
from scorewise.statistics.smroc import Rule, why_not_unit
from scorewise.statistics.smroc import midpoint as find_midpoint
from scorewise.tallies import Tally
from scorewise.tallies.losses import unit
from scorewise.tallies.sorting import largest

ROUNDING = 1e-7  # 0.7 - 0.6 is slightly above 0.1, and more so in 32 bits
TRUTH = "\0truth"  # no name of a rater
EXAMPLE = "such as {'ann': (decisions, scores), 'bob': (decisions, scores)}"


@dataclass(frozen=True)
class Rater:
    """One rater: the smROC curve of its scores and its area, or why there is none."""

    name: str
    curve: Roc | None
    area: Estimate
    midpoint: float | None


@dataclass(frozen=True)
class Pair:
    """Two raters: the area between their curves, and the shares of rows on which they agree."""

    first: str
    second: str
    distance: Estimate
    same_decisions: float
    within_tolerance: float


@dataclass(frozen=True)
class Agreement:
    """Whether raters agree, row by row.

    `decisions` and `within` are the shares of rows on which all decide the same, and on which all
    scores lie within the `tolerance`. `apparent` are rows that only look like disagreement: other
    decisions, but scores within the tolerance; `real` those where both differ, `hidden` those with one
    decision but scores apart. `numbers` counts the rows of each kind; `agree` are the positions, from
    0 in the input, of all rows within the tolerance.
    """

    tolerance: float
    raters: list[Rater]
    pairs: list[Pair]
    decisions: float
    within: float
    numbers: dict[str, int]
    apparent: list[Instance]
    real: list[Instance]
    hidden: list[Instance]
    agree: Ints


class Opinions(NamedTuple):
    """Decisions and scores of several raters on the same rows: one column for each rater.

    `tallies`, one for each rater, set its scores against its own decisions or against labels; `ids` name
    all rows of the input.
    """

    names: Sequence[str]
    decisions: Bools
    scores: Floats
    tallies: Sequence[Tally]
    rows: Rows
    ids: Sequence[Any] | None


def agreement(
    o: Opinions, *, tolerance: float, rule: Rule | float | Tally = "mean", top: int
) -> Agreement:
    """Compare raters on the same rows."""
    mass, count, kept = o.rows.mass(), o.rows.count, o.rows.place.kept
    raters = [_rater(name, t, rule) for name, t in zip(o.names, o.tallies, strict=True)]
    same, near = alike(o.decisions, o.scores, tolerance)
    kinds = {
        "both": same & near,
        "apparent": ~same & near,
        "hidden": same & ~near,
        "real": ~same & ~near,
    }
    kinds = {kind: which & (mass > 0) for kind, which in kinds.items()}
    agree = np.flatnonzero(near & (mass > 0))
    return Agreement(
        tolerance=tolerance,
        raters=raters,
        pairs=[_pair(o, raters, i, k, tolerance) for i, k in combinations(range(len(raters)), 2)],
        decisions=_share(same, mass),
        within=_share(near, mass),
        numbers={
            kind: int(np.count_nonzero(which) if count is None else count[which].sum())
            for kind, which in kinds.items()
        },
        agree=agree if kept is None else kept[agree].astype(np.int64),
        **{kind: _instances(o, which, top) for kind, which in kinds.items() if kind != "both"},
    )


def alike(decisions: Bools, scores: Floats, tolerance: float) -> tuple[Bools, Bools]:
    """Rows on which all decide the same, and rows on which all scores lie within the tolerance.

    >>> alike(np.array([[False, True]]), np.array([[0.60, 0.52]]), 0.1)
    (array([False]), array([ True]))
    """
    same: Bools = (decisions == decisions[:, :1]).all(1)
    near: Bools = np.ptp(scores, axis=1) <= tolerance + ROUNDING
    return same, near


def _rater(name: str, t: Tally, rule: Rule | float | Tally) -> Rater:
    """The curve of one rater."""
    if why := t.why_not_ranked or why_not_unit(t):
        return Rater(name, None, Estimate.undefined(why), None)
    m = find_midpoint(t, rule).value
    curve = smooth_roc(t, m)
    if not curve.height or not curve.width:
        side = "climbs" if not curve.height else "runs"
        return Rater(name, None, Estimate.undefined(f"nothing {side}: scores are all 0 or 1"), m)
    return Rater(name, curve, Estimate(curve.area), m)


def _pair(o: Opinions, raters: Sequence[Rater], i: int, k: int, tolerance: float) -> Pair:
    a, b = raters[i], raters[k]
    if a.curve is None or b.curve is None:
        without = a if a.curve is None else b
        between = Estimate.undefined(f"'{without.name}' has no curve: {without.area.why}")
    else:
        between = Estimate(distance(a.curve, b.curve))
    both = alike(o.decisions[:, [i, k]], o.scores[:, [i, k]], tolerance)
    return Pair(a.name, b.name, between, *(_share(which, o.rows.mass()) for which in both))


def _share(which: Bools, mass: Floats) -> float:
    """The share of the weight on some rows; NaN when there are none."""
    total = float(mass.sum())
    return float(mass[which].sum()) / total if total else float("nan")


def _instances(o: Opinions, which: Bools, top: int) -> list[Instance]:
    """Those of the rows on which scores are furthest apart; of equals, the first."""
    apart = np.ptp(o.scores, axis=1)
    return [
        Instance(
            **place_of_row(o.rows.place, i, o.ids),
            apart=float(apart[i]),
            ratings=[
                Rating(name=name, positive=bool(decision), score=float(score))
                for name, decision, score in zip(o.names, o.decisions[i], o.scores[i], strict=True)
            ],
        )
        for i in largest(which, top, apart.round(12)).tolist()
    ]


# Raters as users give them: decisions and scores of each.


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
        return raters_document(self)

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
    own, truth = [], []
    for name, column in zip(names, rows.scores, strict=True):
        own.append(Tally.of_rows(replace(rows, y=decided[name]), column))
        if labelled:
            truth.append(Tally.of_rows(replace(rows, y=decided[TRUTH]), column))
    opinions = Opinions(
        names,
        np.stack([decided[name] for name in names], axis=1),
        np.stack([unit(s, rows.kinds[column]) for column, s in rows.scores.items()], axis=1),
        truth or own,
        rows,
        named_rows(ids, len(rows) + rows.dropped),
    )
    hints = [hint for name, t in zip(names, own, strict=True) for hint in _hints(name, t, labels)]
    return Raters(
        agreement(opinions, tolerance=tolerance, rule=midpoint, top=top),
        opinions,
        labels,
        len(rows),
        rows.dropped,
        labelled,
        rows.sources,
        tuple(hints),
        rows.notes,
    )


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
