"""A rule that turns scores into alerts: chosen under a constraint or a cost, applied, saved and loaded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.columns import Columns, Kind, Missing, Rows, binary_rows, take
from scorewise.columns.binary import scores_of
from scorewise.columns.classes import is_source, only_column, positive_column
from scorewise.columns.grouping import check_groups
from scorewise.columns.rewriting import Applied, Scanned, add_columns, score_column
from scorewise.columns.rows import group_columns, no_name, warn
from scorewise.errors import BadInput, Option, no_scores
from scorewise.show.data import DataRecord
from scorewise.show.document import dumps, sealed
from scorewise.show.estimates import record_of
from scorewise.show.shown import Shown
from scorewise.show.words import named, quoted
from scorewise.tallies import Tally
from scorewise.tallies.formulas import auroc
from scorewise.tallies.merging import taken
from scorewise.thresholds import cuts, document
from scorewise.thresholds.cuts import Clusters, Table
from scorewise.thresholds.document import Best, CutPoint, GroupCuts, ThresholdDocument
from scorewise.thresholds.groups import group_cuts, group_verdict
from scorewise.thresholds.operating_points import Asked, Choice, asked_for, elsewhere
from scorewise.thresholds.verdict import verdict_of
from scorewise.writing import write

if TYPE_CHECKING:
    from scorewise.displays.overview import Pictures


class ThresholdRule(Shown):
    """A cut: scores at or above it are alerts. It knows what it keeps, and with which confidence.

    `rule(scores)` and `rule.predict(scores)` are True for alerts; `rule.save(path)` and
    `ThresholdRule.load(path)` keep it as JSON with what it was chosen from; `rule.points` has every cut.
    """

    def __init__(
        self, doc: ThresholdDocument, table: Table | None = None, rows: Any = None
    ) -> None:
        self._doc, self._table, self._rows = doc, table, rows
        self.notes: tuple[str, ...] = ()

    @property
    def threshold(self) -> float:
        """The cut, on the scale of the scores."""
        return self._doc.rule.threshold

    @property
    def guaranteed(self) -> bool:
        """Whether what the cut keeps holds beyond the rows, with confidence."""
        return self._doc.rule.guaranteed

    @property
    def kind(self) -> Kind:
        """What the scores are: "probability", "logit" or "score"."""
        return self._doc.rule.kind

    @property
    def positive(self) -> Any:
        """The class that alerts stand for."""
        return self._doc.data.positive

    @property
    def groups(self) -> dict[str, float]:
        """The own cut of each group that has one, where columns of groups were named (`by`)."""
        return {g.name: g.own.cut.threshold for g in self._doc.groups if g.own is not None}

    def predict(self, scores: Any, groups: Any = None) -> Bools:
        """Which scores are alerts; with the group of each, by the own cuts of groups."""
        found = self.scores_of(scores)
        if groups is None:
            return found >= self.threshold
        words = [str(g) for g in groups]
        if len(words) != len(found):
            raise BadInput(
                f"{len(words):,} groups do not match {len(found):,} scores; pass one a score"
            )
        own = self.groups
        for row, word in enumerate(words):
            if word not in own:
                known = f"there are {named([*own], 5)}" if own else "the rule has none"
                raise BadInput(
                    f"no cut is known for group {quoted(word)} in row {row}, counting from 0; {known}"
                )
        return found >= np.array([own[word] for word in words], np.float64)

    __call__ = predict

    def review(self, scores: Any) -> Bools:
        """Which scores are to be reviewed: those between the two cuts."""
        between = self._doc.reject
        if between is None:
            raise BadInput(
                "the rule has one cut; choose it with ", Option("review", 0.2), " for two"
            )
        found = self.scores_of(scores)
        return (found >= between.low) & (found < between.high)

    def scores_of(self, scores: Any) -> Floats:
        """The scores in a column, checked, as 64-bit floats."""
        return scores_of(scores, self.kind).astype(np.float64)

    @cached_property
    def points(self) -> Any:
        """Every cut with its tp, fp, fn, tn and shares with their intervals, as a polars frame."""
        import polars as pl

        if self._table is None:
            raise BadInput("a stored rule has thinned points only, in to_dict()['points']")
        level = self._doc.settings.level
        return pl.DataFrame(document.points(self._table, self._rows, level))

    def document(self) -> ThresholdDocument:
        """What is written and shown; `scorewise schema threshold` prints its schema."""
        return self._doc

    def save(self, path: str | Path) -> None:
        """Write the rule as JSON, with what it was chosen from."""
        write(path, dumps(self._doc))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """The rule that `save` wrote."""
        return cls(document.read_rule(path))

    def pictures(self) -> Pictures:
        """What every cut gives, and the cut chosen (`displays.ThresholdDisplay`)."""
        from scorewise.displays import ThresholdDisplay
        from scorewise.displays.overview import Pictures

        return Pictures({"cuts": partial(ThresholdDisplay.from_rule, self)}, ("cuts",))


def threshold(
    y: Any, p: Any = None, *, at: str | Sequence[str] | None = None, best: Best | None = None,
    cost: float | None = None, review: float | None = None, prevalence: float | None = None,
    guarantee: float | None = None, label: str | None = None, score: str | None = None,
    weight: Any = None, count: Any = None, positive: Any = None, by: Any | Sequence[str] = None,
    cluster: Any = None, level: float = 0.95, kind: Kind | None = None, missing: Missing = "refuse",
    encoding: str | None = None,
) -> ThresholdRule:  # fmt: skip
    """The cut that keeps a constraint or is best at something, as a rule for new scores.

    `at` are constraints, such as "recall >= 0.9" or "precision >= 80% and alert_rate <= 0.02", of recall,
    specificity, fpr, fnr, precision, npv, alert_rate, f1 and others. Where they leave a choice, low cuts
    that keep them give way to the one with fewest alerts, high cuts to the one with most recall; or `best`
    says what is to be largest: "youden", "f1", "f2", "kappa", or "cost", the least cost where a missed
    positive is worth `cost` false alarms. With `review`, what a review by hand costs in false alarms, there
    are two cuts, and reviews between them. `prevalence` decides for rows of which that share is positive.

    With constraints the rule is the guaranteed cut: what it keeps holds for new rows of the same kind, with
    a confidence of 0.95 or `guarantee`. Where rows are too few for that, it says so and takes the cut that
    keeps them on these rows, or refuses where `guarantee` is passed; `guarantee=0` takes that cut at once.

    `by` names columns of groups, or is a column or a mapping to columns: the common cut is judged in each
    group, and each has a cut of its own beside it, guaranteed by itself; `rule.predict(scores, groups=...)`
    applies those. The rule is the common cut.

    Labels and scores are columns as in `evaluate`, or a file, frame or mapping of which `label`, `score`,
    `weight`, `count` and `cluster` name columns; or `y` is a `Tally`, or a file of one (.tally).

    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(500)
    >>> rule = threshold(rng.random(500) < p, p, at="recall >= 0.9")
    >>> rule.guaranteed, round(rule.threshold, 3)
    (True, 0.298)
    >>> rule.predict([0.1, 0.3, 0.8])
    array([False,  True,  True])
    """
    asked = asked_for(at, best, cost, review, prevalence, guarantee, level)
    columns: dict[str, Any] = {"label": label, "score": score, "encoding": encoding}
    further: dict[str, Any] = {
        "weight": weight,
        "count": count,
        "cluster": cluster,
        "positive": positive,
        "kind": kind,
    }
    y = taken(y, p)
    if isinstance(y, Tally):
        if extra := [n for n, v in {"p": p, **columns, **further}.items() if v is not None]:
            raise BadInput(f"a tally has its scores and labels already; leave out {extra[0]}")
        if by is not None:
            raise BadInput(
                Option("by"), " belongs to rows, but a tally has none; pass labels and scores"
            )
        return _rule(y, asked, None)
    if p is None:
        if not is_source(y):
            raise no_scores("threshold(y, p)", 'threshold("file.csv", label=..., score=...)')
        rows = binary_rows(y, **columns, **further, groups=by, missing=missing)
        if by is not None:
            used = {"score": [*rows.scores], "label": rows.names.label}
            check_groups(by, used | ({"weight": weight} if weight is not None else {}))
        if len(rows.scores) > 1:
            raise BadInput(
                "several columns of scores are named; choose one cut for each, one ",
                Option("score"),
            )
        name = next(iter(rows.scores))
        t = Tally.of_rows(rows, name, rows.sources)
        warn(rows.notes)
    else:
        if extra := [n for n, v in columns.items() if v is not None]:
            raise BadInput(
                f"{extra[0]} belongs to files and frames, but labels and scores are given as columns"
            )
        no_name("cluster", cluster)
        s = positive_column(y, p, positive, kind)
        groups = group_columns(by, "labels and scores")
        rows = take(only_column(y), {"score": s}, groups=groups, **further, missing=missing)
        name = "score"
        t = Tally.of_rows(rows, name).unlabelled()
    made = _rule(t, asked, rows)
    made.notes = rows.notes
    return made


def _rule(t: Tally, asked: Asked, rows: Rows | None) -> ThresholdRule:
    """The rule of a tally; of its `rows`, for clusters and groups."""
    if why := t.why_not_ranked:
        raise BadInput(f"no cut can be chosen: {why}; it takes rows of both classes")
    clusters = None
    if rows is not None and rows.cluster is not None:
        clusters = Clusters.of(rows)
        if rows.weight is not None:
            raise BadInput(
                Option("cluster"), " and ", Option("weight"), " do not go together here; leave out one",
            )  # fmt: skip
    c = Choice(t, asked, clusters)
    plain_at = c.plain_cut
    if c.guaranteed.threshold is None and asked.guarantee is not None and asked.strictly:
        raise BadInput(
            f"{c.guaranteed.why}; the cut that keeps it on these rows only is {plain_at:.4g}, which ",
            Option("guarantee", 0), " takes",
        )  # fmt: skip
    kept = "keeps it on these rows" if asked.wanted else "best on these rows"
    method = kept + (f", {asked.aim.words}" if asked.wanted else "")
    sure, plain = c.guaranteed_point(), c.point("plain", plain_at, method, c.near())
    points = [plain] if sure is None else [sure, plain]
    groups: list[GroupCuts] = []
    if rows is not None and rows.groups:
        groups = group_cuts(rows, t.origin.score, points[0].cut.threshold, asked)
    by = [] if rows is None else list(rows.groups)
    hints = [] if rows is None else [*rows.hints]
    return ThresholdRule(_document(c, points, groups, by, hints), c.table, _worth(t))


def _worth(t: Tally) -> Floats:
    """The equally weighted rows that a unit of weight of positives, and of negatives, is worth."""
    neg, pos = (
        w / w2 if w2 else 1.0 for w, w2 in zip((t.negatives, t.positives), t.squares, strict=True)
    )
    return np.array([pos, neg])


def _document(
    c: Choice, points: list[CutPoint], groups: list[GroupCuts], by: list[str], hints: list[str]
) -> ThresholdDocument:
    t, table, asked, why = c.t, c.table, c.asked, c.guaranteed.why
    (low, high), first, other = t.ends, points[0], asked.prevalence
    there = None if other is None else elsewhere(first, other, asked.level)
    region = None
    if asked.review is not None:
        region = cuts.reject_region(table, asked.cost or 1.0, asked.review)
    reject = None if region is None else record_of(document.RejectRecord, **region._asdict())
    rule = document.RuleRecord(
        threshold=first.cut.threshold,
        kind=t.kind,
        score=t.origin.score,
        guaranteed=first.name == "guaranteed",
        promise=" and ".join(x.text for x in asked.wanted),
        why=why,
        low=low,
        high=high,
    )
    settings = record_of(
        document.SettingsRecord,
        asked,
        at=[x.text for x in asked.wanted],
        cluster=c.clusters is not None,
    )
    if float(auroc(t.neg, t.pos)) < 0.5:
        hints.append(
            "Higher scores go with the negative class on these rows: is the right class positive?"
        )
    if asked.prevalence is not None and asked.wanted:
        hints.append("Constraints are kept at the prevalence given, not at that of the rows.")
    doc = ThresholdDocument(
        settings=settings,
        data=DataRecord.of(t),
        verdict=verdict_of(t, asked, points, why, there, reject, group_verdict(groups, asked, by)),
        rule=rule,
        cuts=points,
        elsewhere=there,
        reject=reject,
        by=by,
        groups=groups,
        points=document.PointsRecord.of(table, _worth(t), asked.level),
        hints=hints,
    )
    return sealed(doc)


def apply(
    rule_file: str | Path,
    files: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    out: str | Path,
    score: str | None = None,
    name: str | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> Applied:
    """Write the rows of files with the decisions of a saved rule: 1 for an alert, 0 for none.

    With two cuts, a row that is to be reviewed has 0.5. All other columns and the order of the rows stay;
    files may be larger than memory. The new column is `name`, else COLUMN_alert.
    """
    rule = ThresholdRule.load(rule_file)
    region = rule.document().reject

    def columns_of(file: Scanned) -> tuple[list[str], list[str], list[str]]:
        column, notes = score_column(file, score)
        return [column], [name or f"{column}_alert"], notes

    def decided(s: Floats) -> Any:
        if region is None:
            return (s >= rule.threshold).astype(np.float64)
        return np.where(s >= region.high, 1.0, np.where(s < region.low, 0.0, 0.5))

    def outside(found: Columns) -> int:
        column, values = next(iter(found["score"].items()))
        wrong = (values.values < 0) | (values.values > 1)
        if rule.kind == "probability" and wrong.any():
            rows = found.place.rows(wrong)
            raise BadInput(f"{column} is outside [0, 1] {rows}; the rule is for probabilities")
        return 0

    how: dict[str, Any] = {"missing": missing, "encoding": encoding}
    return add_columns(
        files, out, columns_of, decided, outside, **how, whole_numbers=region is None
    )


def rule_file(rule: ThresholdRule, ending: str) -> bytes:
    """The rule as `ThresholdRule.save` writes it."""
    return dumps(rule.document()).encode()
