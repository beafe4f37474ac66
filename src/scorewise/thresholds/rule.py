"""A rule that turns scores into alerts: chosen under a constraint or a cost, applied, saved and loaded."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Self

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.checks import refuse_beside_tally, refuse_given, refuse_names
from scorewise.columns import Kind, Missing, Rows, binary_rows
from scorewise.columns.classes import positive_column
from scorewise.columns.reader import warn
from scorewise.columns.rewriting import Applied, Transformation, add_columns, score_column
from scorewise.columns.rows import scores_of
from scorewise.columns.sources import is_source, only_column
from scorewise.columns.tables import Table
from scorewise.errors import BadInput, Option, no_scores
from scorewise.show.data import DataRecord
from scorewise.show.document import dumps, sealed
from scorewise.show.records import record_of
from scorewise.show.result import Pictures, Result
from scorewise.show.words import listed, quoted
from scorewise.statistics.formulas import auroc
from scorewise.tallies import Tally
from scorewise.tallies.merging import tally_or_source
from scorewise.thresholds import document
from scorewise.thresholds.choosing import Choice, elsewhere, group_cuts
from scorewise.thresholds.cuts import Clusters
from scorewise.thresholds.document import ThresholdDocument
from scorewise.thresholds.goals import Best, Goal
from scorewise.thresholds.verdict import verdict_of
from scorewise.writing import write


class ThresholdRule(Result):
    """A cut: scores at or above it are alerts. It knows what it keeps, and with which confidence.

    `rule(scores)` and `rule.predict(scores)` are True for alerts; `rule.save(path)` and
    `ThresholdRule.load(path)` keep it as JSON with what it was chosen from; `rule.points` has every cut.
    """

    def __init__(self, doc: ThresholdDocument, choice: Choice | None = None) -> None:
        self._doc, self._choice = doc, choice
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
        checked = self.scores_of(scores)
        if groups is None:
            return checked >= self.threshold
        words = [str(g) for g in groups]
        if len(words) != len(checked):
            raise BadInput(
                f"{len(words):,} groups do not match {len(checked):,} scores; pass one a score"
            )
        own = self.groups
        for row, word in enumerate(words):
            if word not in own:
                known = f"there are {listed([*own], 5)}" if own else "the rule has none"
                raise BadInput(
                    f"no cut is known for group {quoted(word)} in row {row}, counting from 0; {known}"
                )
        return checked >= np.array([own[word] for word in words], np.float64)

    __call__ = predict

    def review(self, scores: Any) -> Bools:
        """Which scores are to be reviewed: those between the two cuts."""
        between = self._doc.reject
        if between is None:
            raise BadInput(
                "the rule has one cut; choose it with ", Option("review", 0.2), " for two"
            )
        checked = self.scores_of(scores)
        return (checked >= between.low) & (checked < between.high)

    def scores_of(self, scores: Any) -> Floats:
        """The scores in a column, checked, as 64-bit floats."""
        return scores_of(scores, self.kind).astype(np.float64)

    @cached_property
    def points(self) -> Any:
        """Every cut with its tp, fp, fn, tn and shares with their intervals, as a polars frame."""
        import polars as pl

        c = self._choice
        if c is None:
            raise BadInput("a stored rule has thinned points only, in to_dict()['points']")
        return pl.DataFrame(document.points(c.table, c.worth, c.goal.level))

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
    goal = Goal.of(at, best, cost, review, prevalence, guarantee, level)
    columns: dict[str, Any] = {"label": label, "score": score, "encoding": encoding}
    further: dict[str, Any] = {"weight": weight, "count": count, "cluster": cluster}
    further |= {"positive": positive, "kind": kind}
    y = tally_or_source(y, p)
    if isinstance(y, Tally):
        refuse_beside_tally(p=p, **columns, **further)
        refuse_given(" belongs to rows, but a tally has none; pass labels and scores", by=by)
        return _rule(y, goal, None)
    if p is None:
        if not is_source(y):
            raise no_scores("threshold(y, p)", 'threshold("file.csv", label=..., score=...)')
        rows = binary_rows(y, **columns, **further, group=by, missing=missing)
        if len(rows.scores) > 1:
            several = "several columns of scores are named; choose one cut for each, one "
            raise BadInput(several, Option("score"))
        warn(rows.notes)
    else:
        refuse_names(**columns)
        scores = {"score": positive_column(y, p, positive, kind)}
        further |= {"label": only_column(y), "score": scores, "group": by}
        rows = binary_rows(None, **further, missing=missing)
    t = Tally.of_rows(rows, next(iter(rows.scores)), rows.sources)
    made = _rule(t if p is None else t.unlabelled(), goal, rows)
    made.notes = rows.notes
    return made


def _rule(t: Tally, goal: Goal, rows: Rows | None) -> ThresholdRule:
    """The rule of a tally; of its `rows`, for clusters and groups."""
    if why := t.why_not_ranked:
        raise BadInput(f"no cut can be chosen: {why}; it takes rows of both classes")
    clusters = None if rows is None else Clusters.of(rows)
    if rows is not None and clusters is not None and rows.weight is not None:
        raise BadInput(
            Option("cluster"), " and ", Option("weight"), " do not go together here; leave out one",
        )  # fmt: skip
    c = Choice(t, goal, clusters)
    plain = float(c.table.threshold[c.plain])
    if goal.strict and c.guaranteed.threshold is None:
        raise BadInput(
            f"{c.guaranteed.why}; the cut that keeps it on these rows only is {plain:.4g}, which ",
            Option("guarantee", 0), " takes",
        )  # fmt: skip
    aim = goal.objective.words
    method = f"keeps it on these rows, {aim}" if goal.constraints else "best on these rows"
    points = [*c.points(method, c.near())]
    first, groups, by, hints, there = points[0], [], [], [], None
    if rows is not None:
        by, hints = [*rows.groups], [*rows.hints]
        groups = group_cuts(rows, t.origin.score, first.cut.threshold, goal) if by else []
    if float(auroc(t.neg, t.pos)) < 0.5:
        hints.append(
            "Higher scores go with the negative class on these rows: is the right class positive?"
        )
    if goal.prevalence is not None:
        there = elsewhere(first, goal.prevalence, goal.level)
        if goal.constraints:
            hints.append("Constraints are kept at the prevalence given, not at that of the rows.")
    constraints, (low, high) = [x.text for x in goal.constraints], t.ends
    asked = {"at": constraints, "cluster": clusters is not None}
    sure = {"guaranteed": first.name == "guaranteed", "why": c.guaranteed.why}
    sure |= {"promise": " and ".join(constraints), "low": low, "high": high}
    doc = ThresholdDocument(
        settings=record_of(document.SettingsRecord, goal, **asked),
        data=DataRecord.of(t),
        verdict=[],
        rule=record_of(document.RuleRecord, t.origin, first.cut, t, **sure),
        cuts=points,
        elsewhere=there,
        reject=c.reject(),
        by=by,
        groups=groups,
        points=document.PointsRecord.of(c.table, c.worth, goal.level),
        hints=hints,
    )
    return ThresholdRule(sealed(replace(doc, verdict=verdict_of(t, goal, doc))), c)


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

    def columns_of(file: Table) -> tuple[list[str], list[str], list[str]]:
        column, notes = score_column(file, score)
        return [column], [name or f"{column}_alert"], notes

    def decided(s: Floats) -> Any:
        if region is None:
            return (s >= rule.threshold).astype(np.float64)
        return np.where(s >= region.high, 1.0, np.where(s < region.low, 0.0, 0.5))

    alerts = Transformation("rule", rule.kind, decided, whole_numbers=region is None)
    return add_columns(files, out, columns_of, alerts, missing=missing, encoding=encoding)
