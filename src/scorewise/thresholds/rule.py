"""A rule that turns scores into alerts: chosen under a constraint or a cost, applied, saved and loaded."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, get_args

import numpy as np

from scorewise.arrays import Bools, Floats
from scorewise.checks import check
from scorewise.columns import Kind, Missing, Rows, binary_rows, take
from scorewise.columns.classes import is_source, only_column, positive_column
from scorewise.columns.grouping import check_groups
from scorewise.columns.rows import group_columns, one_of, warn
from scorewise.curves.thresholds import lowest
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.inference import shares
from scorewise.measures import decisions
from scorewise.show.data import CutRecord, DataRecord
from scorewise.show.document import dumps, record_of
from scorewise.show.page import named, quoted
from scorewise.show.shown import Shown
from scorewise.tallies import Confusion, Tally
from scorewise.tallies.formulas import auroc
from scorewise.thresholds import cuts, document
from scorewise.thresholds.constraints import Constraint, constraints, cut_wanted
from scorewise.thresholds.cuts import Clusters, Objective, Table
from scorewise.thresholds.document import Best, CutPoint, GroupCuts, ThresholdDocument
from scorewise.thresholds.groups import group_cuts, group_verdict
from scorewise.thresholds.verdict import verdict_of
from scorewise.writing import write

if TYPE_CHECKING:
    from scorewise.displays.overview import Pictures

CONFIDENCE = 0.95  # of a guarantee, unless asked for


@dataclass(frozen=True)
class Asked:
    """What a cut is for.

    `guarantee` is its confidence, None where none is wanted; `strictly` refuses rows that are too few for
    it, rather than to say so.
    """

    wanted: list[Constraint]
    aim: Objective
    best: Best | None
    cost: float | None
    review: float | None
    prevalence: float | None
    guarantee: float | None
    strictly: bool
    level: float

    def weighed(self, tp: float, fp: float, fn: float, tn: float) -> Sequence[Any]:
        """One table as it would be at the other prevalence."""
        a, b, c, d = (np.array([float(x)]) for x in (tp, fp, fn, tn))
        return [float(x[0]) for x in Table(np.zeros(1), (a, b, c, d), self.prevalence).weighed]


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
                    f"no cut is known for group {quoted(word)} in row {row + 1}; {known}"
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
        column = scores if hasattr(scores, "__len__") else np.asarray(scores)
        none = np.zeros(len(column), np.int64)
        return take(none, {"score": column}, kind=self.kind).scores["score"].astype(np.float64)

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
    y: Any,
    p: Any = None,
    *,
    at: str | Sequence[str] | None = None,
    best: Best | None = None,
    cost: float | None = None,
    review: float | None = None,
    prevalence: float | None = None,
    guarantee: float | None = None,
    label: str | None = None,
    score: str | None = None,
    weight: Any = None,
    count: Any = None,
    positive: Any = None,
    by: Any | Sequence[str] = None,
    cluster: Any = None,
    level: float = 0.95,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    encoding: str | None = None,
) -> ThresholdRule:
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
    `weight`, `count` and `cluster` name columns; or `y` is a `Tally`.

    >>> rng = np.random.default_rng(0)
    >>> p = rng.random(500)
    >>> rule = threshold(rng.random(500) < p, p, at="recall >= 0.9")
    >>> rule.guaranteed, round(rule.threshold, 3)
    (True, 0.298)
    >>> rule.predict([0.1, 0.3, 0.8])
    array([False,  True,  True])
    """
    asked = _asked(at, best, cost, review, prevalence, guarantee, level)
    columns: dict[str, Any] = {"label": label, "score": score, "encoding": encoding}
    further: dict[str, Any] = {
        "weight": weight,
        "count": count,
        "cluster": cluster,
        "positive": positive,
        "kind": kind,
    }
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
            raise BadInput(
                "scores are missing; call threshold(y, p) with labels and scores, or "
                'threshold("file.csv", label=..., score=...) for files and data frames'
            )
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
        if isinstance(cluster, str):
            raise BadInput(
                Option("cluster", cluster), " names a column of files and frames; pass the column"
            )
        s = positive_column(y, p, positive, kind)
        groups = group_columns(by, "labels and scores")
        rows = take(only_column(y), {"score": s}, groups=groups, **further, missing=missing)
        name = "score"
        t = Tally.of_rows(rows, name).unlabelled()
    made = _rule(t, asked, rows if cluster is not None or by is not None else None)
    made.notes = rows.notes
    return made


def _asked(
    at: Any, best: Any, cost: Any, review: Any, prevalence: Any, guarantee: Any, level: float
) -> Asked:
    """What is asked for, checked."""
    check(level=level, cost=cost, review=review, prevalence=prevalence, guarantee=guarantee)
    one_of("best", best, (None, *get_args(Best)))
    wanted = constraints(at)
    if best is None and cost is not None and not wanted:
        best = "cost"
    if not wanted and best is None:
        raise cut_wanted()
    if best == "cost" and cost is None:
        raise BadInput(
            "the cost of a missed positive is missing; pass ", Option("cost", 10),
            " where it is worth 10 false alarms",
        )  # fmt: skip
    if cost is not None and best != "cost" and review is None:
        raise BadInput(
            Option("cost", cost), " has no effect here; pass ", Option("best", "cost"), " with it"
        )
    if review is not None and cost is None:
        raise BadInput(
            Option("review", review),
            " needs the cost of a missed positive; pass ",
            Option("cost", 10),
        )
    if guarantee and not wanted:
        raise BadInput(
            Option("guarantee", guarantee),
            " needs a constraint; pass ",
            Option("at", "recall >= 0.9"),
        )
    sure = None if guarantee == 0 or not wanted else CONFIDENCE if guarantee is None else guarantee
    aim = cuts.objective(best, cost, wanted)
    return Asked(wanted, aim, best, cost, review, prevalence, sure, bool(guarantee), level)


def _rule(t: Tally, asked: Asked, rows: Rows | None) -> ThresholdRule:
    """The rule of checked rows; `rows` where they come in clusters or in groups."""
    if why := t.why_not_ranked:
        raise BadInput(f"no cut can be chosen: {why}")
    clusters = None
    if rows is not None and rows.cluster is not None:
        clusters = Clusters.of(rows)
        if rows.weight is not None:
            raise BadInput(
                Option("cluster"),
                " and ",
                Option("weight"),
                " do not go together here; leave out one",
            )
    table = Table.of(t, asked.prevalence)
    at = cuts.plain_cut(table, asked.wanted, asked.aim)
    plain_at = float(table.threshold[at])
    found = cuts.Guaranteed(None)
    if asked.guarantee is not None:
        found = cuts.guaranteed_cut(t, table, asked.wanted, asked.aim, asked.guarantee, clusters)
        if found.threshold is None and asked.strictly:
            raise BadInput(
                f"{found.why}; the cut that keeps it on these rows only is {plain_at:.4g}, which ",
                Option("guarantee", 0), " takes",
            )  # fmt: skip
    kept = "keeps it on these rows" if asked.wanted else "best on these rows"
    method = kept + (f", {asked.aim.words}" if asked.wanted else "")
    points = [
        _point("plain", t, plain_at, method, _near(t, table, at, asked, clusters), asked, clusters)
    ]
    if found.threshold is not None:
        sure = _point(
            "guaranteed", t, found.threshold, found.method, None, asked, clusters, found.fixed
        )
        points.insert(0, sure)
    groups: list[GroupCuts] = []
    if rows is not None and rows.groups:
        groups = group_cuts(rows, t.origin.score, points[0].cut.threshold, asked, _point)
    by = [] if rows is None else list(rows.groups)
    doc = _document(t, table, asked, points, found.why, clusters, groups, by)
    return ThresholdRule(doc, table, _worth(t))


def _worth(t: Tally) -> Floats:
    """The equally weighted rows that a unit of weight of positives, and of negatives, is worth."""
    neg, pos = (
        w / w2 if w2 else 1.0 for w, w2 in zip((t.negatives, t.positives), t.squares, strict=True)
    )
    return np.array([pos, neg])


def _document(
    t: Tally,
    table: Table,
    asked: Asked,
    points: list[CutPoint],
    why: str,
    clusters: Clusters | None,
    groups: list[GroupCuts],
    by: list[str],
) -> ThresholdDocument:
    low, high = t.ends
    first = points[0]
    elsewhere = (
        None if asked.prevalence is None else _elsewhere(first, asked.prevalence, asked.level)
    )
    region = None
    if asked.review is not None:
        region = cuts.reject_region(table, asked.cost or 1.0, asked.review)
    reject = None if region is None else record_of(document.RejectRecord, **region._asdict())
    rule = document.RuleRecord(
        threshold=first.cut.threshold,
        kind=t.kind,
        score=t.origin.score,
        guaranteed=first.name == "guaranteed",
        promise=" and ".join(c.text for c in asked.wanted),
        why=why,
        low=low,
        high=high,
    )
    settings = record_of(
        document.SettingsRecord,
        asked,
        at=[c.text for c in asked.wanted],
        cluster=clusters is not None,
    )
    hints = []
    if float(auroc(t.neg, t.pos)) < 0.5:
        hints.append(
            "Higher scores go with the negative class on these rows: is the right class positive?"
        )
    if asked.prevalence is not None and asked.wanted:
        hints.append("Constraints are kept at the prevalence given, not at that of the rows.")
    doc = ThresholdDocument(
        settings=settings,
        data=DataRecord.of(t),
        verdict=verdict_of(
            t, asked, points, why, elsewhere, reject, group_verdict(groups, asked, by)
        ),
        rule=rule,
        cuts=points,
        elsewhere=elsewhere,
        reject=reject,
        by=by,
        groups=groups,
        points=document.PointsRecord.of(table, _worth(t), asked.level),
        hints=hints,
    )
    return document.sealed(doc)


def _point(
    name: Any,
    t: Tally,
    cut: float,
    method: str,
    near: document.RangeRecord | None,
    asked: Asked,
    clusters: Clusters | None,
    fixed: bool = False,
) -> CutPoint:
    """A cut with its operating point; unless it is `fixed`, one with few digits that decides alike."""
    scores = lowest(t).astype(np.float64)
    ends = scores if t.coarse is None else t.coarse.high.max(0).astype(np.float64)
    i = int(np.searchsorted(scores, cut))
    sums = np.array([[w[:i].sum(), w[i:].sum()] for w in (t.neg, t.pos, t.neg2, t.pos2)])
    c = Confusion(sums[:2], sums[2:], (t.origin.negative, t.origin.positive))
    above = float(ends[i - 1]) if i else None
    upto = float(scores[i]) if i < len(scores) else None
    if not fixed and upto is not None:
        cut = cuts.short_cut(above, upto)
    record = CutRecord(threshold=cut, above=above, upto=upto)
    names = ("sensitivity", "specificity", "precision", "npv")
    measured = {n: getattr(decisions, n)(c, level=asked.level) for n in names}
    called = decisions.share(c, (0, 1), (2, 3), asked.level)
    measured["alert_rate"] = Estimate(*called, asked.level, "Wilson")
    if clusters is not None:
        for n, e in measured.items():
            if e.defined:
                hit, of = clusters.sums(n, cut)
                one = np.ones(len(hit))
                measured[n] = shares.share_over_items(hit, of, one, one, level=asked.level)
    return record_of(CutPoint, c, name=name, cut=record, method=method, near=near, **measured)


def _near(
    t: Tally, table: Table, at: int, asked: Asked, clusters: Clusters | None
) -> document.RangeRecord | None:
    """The cuts that the data do not tell from the plain one."""
    level = f"{100 * asked.level:g}%"
    if t.weighted or clusters is not None:
        return None
    if not asked.wanted:
        low, high = cuts.alike(table, at, asked.aim, asked.level)
        name = {"youden": "Youden's J", "cost": "cost"}.get(asked.aim.name, asked.aim.name)
        meaning = f"Cuts whose {name} is not told from the best one's ({level}, paired)"
        return document.RangeRecord(low=low, high=high, meaning=meaning)
    c = asked.wanted[0]
    if (
        len(asked.wanted) > 1
        or not c.monotone
        or asked.best is not None
        or asked.prevalence is not None
    ):
        return None
    found = cuts.around(table, c, asked.level)
    if found is None:
        return None
    word = c.word.replace("_", " ")
    meaning = f"The cut at which {word} is truly {100 * c.value:g}% ({level} interval)"
    return document.RangeRecord(low=found[0], high=found[1], meaning=meaning)


def _elsewhere(c: CutPoint, prevalence: float, level: float) -> document.ElsewhereRecord:
    """PPV and NPV where another share of rows is positive, from sensitivity and specificity.

    The odds are those of the prevalence times the likelihood ratio, whose interval is that of a ratio of
    two independent shares (MOVER on the log scale).
    """
    odds = prevalence / (1 - prevalence) if prevalence < 1 else math.inf
    sens, spec = (shares.Share(e.value, e.low, e.high) for e in (c.sensitivity, c.specificity))
    miss, false = (shares.Share(1 - s.value, 1 - s.high, 1 - s.low) for s in (sens, spec))

    def value(good: shares.Share, bad: shares.Share, odds: float, why: str) -> Estimate:
        if not good.value and not bad.value:
            return Estimate.undefined(why, level)
        low, high = shares.ratio(bad, good) if good.value else (math.inf, math.inf)
        ends = [1 / (1 + x / odds) for x in (high, low)]
        at = 1 / (1 + bad.value / good.value / odds) if good.value else 0.0
        return Estimate(
            at, min(ends[0], at), max(ends[1], at), level, "MOVER of the likelihood ratio"
        )

    return record_of(
        document.ElsewhereRecord,
        prevalence=prevalence,
        ppv=value(sens, false, odds, "nothing is called positive"),
        npv=value(spec, miss, 1 / odds, "nothing is called negative"),
        alert_rate=prevalence * sens.value + (1 - prevalence) * false.value,
    )
