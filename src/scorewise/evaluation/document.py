"""What `evaluate` of two classes writes and shows: data, decisions, every measure, differences, hints."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from msgspec import Meta

from scorewise.columns.binary import nearly_inside
from scorewise.estimate import number
from scorewise.evaluation.models import Settings
from scorewise.inference.paired import Difference
from scorewise.registry import MEASURES, Measure
from scorewise.show.data import CutRecord, DataRecord, Weight
from scorewise.show.document import (
    COMMAND,
    Count,
    Document,
    Hints,
    Level,
    MeasureRow,
    Number,
    Share,
    Word,
    cautions,
    finite,
    says,
)
from scorewise.show.page import (
    DASH,
    Column,
    Compared,
    Heading,
    Matrix,
    Name,
    Page,
    Section,
    Sentence,
    Table,
    chance,
    counted,
    hints,
    interval,
    percent,
    undefined,
    value,
)
from scorewise.tallies.smroc import far, midpoint

if TYPE_CHECKING:
    from scorewise.evaluation.models import Evaluation

TITLES = {
    "decisions": "Decisions",
    "order": "Ranking",
    "scores": "Scores (smROC)",
    "probability": "Probabilities",
    "calibration": "Calibration",
}


IntervalLevel: TypeAlias = Annotated[Level, says("Confidence level of the intervals.")]
Seed: TypeAlias = Annotated[Count, says("Seed of the random draws.")]
Clip: TypeAlias = Annotated[
    float | None, says("Distance from 0 and 1 to which log loss clips; null: no clipping.")
]


@dataclass(frozen=True, kw_only=True)
class SettingsRecord:
    """The settings that the numbers depend on."""

    level: IntervalLevel
    seed: Seed
    threshold: Annotated[float, says("A score at or above this is a positive decision.")]
    clip: Clip


@dataclass(frozen=True, kw_only=True)
class ConfusionRecord:
    """Weight per true class and decision; counts when there are no weights."""

    tp: Annotated[Weight, says("Positives predicted positive.")]
    fp: Annotated[Weight, says("Negatives predicted positive.")]
    fn: Annotated[Weight, says("Positives predicted negative.")]
    tn: Annotated[Weight, says("Negatives predicted negative.")]


@dataclass(frozen=True, kw_only=True)
class ModelRecord:
    """One column of scores."""

    name: Annotated[str, says("Name of the scores, usually their column.")]
    kind: Annotated[
        Literal["probability", "logit", "score"], says("What the scores are said to be.")
    ]
    distinct: Annotated[Count, says("Distinct scores, or cells when coarsened.")]
    exact: Annotated[bool, says("False when scores were coarsened into cells.")]
    lowest: Annotated[Number, says("Lowest score; null when there are none.")]
    highest: Annotated[Number, says("Highest score; null when there are none.")]
    cut: CutRecord
    confusion: ConfusionRecord
    measures: Annotated[list[MeasureRow], says("The measures, group by group.")]

    @classmethod
    def of(cls, name: str, e: Evaluation) -> ModelRecord:
        """The record of an evaluation."""
        t, c = e.tally, e.confusion
        cut = t.cut(e.settings.threshold)
        lowest, highest = t.ends
        return cls(
            name=name,
            kind=t.kind,
            distinct=len(t.score),
            exact=t.coarse is None,
            lowest=finite(lowest),
            highest=finite(highest),
            cut=CutRecord(threshold=cut.threshold, above=finite(cut.above), upto=finite(cut.upto)),
            confusion=ConfusionRecord(tp=c.tp, fp=c.fp, fn=c.fn, tn=c.tn),
            measures=[MeasureRow.of(MEASURES[key], estimate) for key, estimate in e.items()],
        )

    def facts(self) -> list[tuple[str, Sentence]]:
        """What kind of scores it has, and where they are cut."""
        ends = ""
        if self.distinct and self.lowest is not None and self.highest is not None:
            ends = f" from {number(self.lowest)} to {number(self.highest)}"
        coarse = "" if self.exact else "; coarsened"
        scores = f": {self.kind}, {counted(self.distinct, 'distinct value')}{ends}{coarse}"
        what = "probability" if self.kind == "logit" else "score"
        cut = f"{what} >= {self.cut.threshold!r} is positive; the same for any cut in "
        return [("Model", [Name(self.name), scores]), ("", cut + self.cut.same_decisions())]


@dataclass(frozen=True, kw_only=True)
class DifferenceRecord:
    """One model minus another, paired."""

    measure: Annotated[Word, says("Name of the measure.")]
    title: Annotated[Word, says("Name of the measure, as shown.")]
    first: Annotated[str, says("Name of the model that is subtracted from.")]
    second: Annotated[str, says("Name of the model that is subtracted.")]
    value: Annotated[Number, says("The difference; null when undefined.")]
    low: Annotated[Number, says("Lower end of the interval; null when there is none.")]
    high: Annotated[Number, says("Upper end of the interval; null when there is none.")]
    level: Annotated[Level, says("Confidence level of the interval.")]
    method: Annotated[str, says("How interval and p-value were made.")]
    why: Annotated[str, says("Why there is no value; empty when there is one.")]
    p: Annotated[Share | None, says("Two-sided p-value of no difference.")]
    p_adjusted: Annotated[Share | None, says("The same, adjusted for the number of pairs (Holm).")]
    caution: Annotated[str, says("Why the interval is unreliable; empty where it is not.")]

    @classmethod
    def of(cls, m: Measure, models: tuple[str, str], d: Difference, q: float) -> DifferenceRecord:
        """The record of a difference, with its adjusted p-value."""
        e = d.estimate
        return cls(
            measure=m.name,
            title=m.title,
            first=models[0],
            second=models[1],
            value=finite(e.value),
            low=finite(e.low),
            high=finite(e.high),
            level=e.level,
            method=e.method,
            why=e.why,
            p=finite(d.p),
            p_adjusted=finite(q),
            caution=e.caution,
        )

    def line(self, several: bool) -> Sentence:
        """The difference in a sentence; with the adjusted p-value where there are several."""
        pair = [f"{self.title} ", Name(self.first), " - ", Name(self.second), ": "]
        if self.value is None:
            return [*pair, f"{DASH}  {self.why}"]
        text = f"{value(self)} {interval(self)}"
        if self.p is not None:
            text += f", {chance(self.p)}"
            adjusted = several and self.p_adjusted is not None
            text += f" ({chance(self.p_adjusted or 0.0)} by Holm)" if adjusted else ""
        return [*pair, f"{text}; {self.method}"]


@dataclass(frozen=True, kw_only=True)
class EvaluationDocument(Document):
    """Models judged on the same rows."""

    command: Annotated[Literal["evaluate"], says(COMMAND)] = "evaluate"
    settings: SettingsRecord
    data: DataRecord
    models: Annotated[
        list[ModelRecord],
        Meta(min_length=1),
        says("The scores that were judged, in the order given."),
    ]
    differences: Annotated[
        list[DifferenceRecord], says("Models compared on the same rows, pair by pair.")
    ]
    hints: Hints

    def page(self) -> Page:
        """The data, the decisions, every measure of one model or of several side by side, differences."""
        models = self.models
        facts = [*self.data.facts(), *(fact for model in models for fact in model.facts())]
        sections = [
            Section(facts=facts),
            Section(matrices=[_matrix(self.data, model) for model in models]),
            Section(table=_table(self)),
            *_without_value(models),
        ]
        by_measure = [d.measure for d in self.differences]
        lines = [d.line(several=by_measure.count(d.measure) > 1) for d in self.differences]
        sections += [Section("Differences, on the same rows", lines=lines)] if lines else []
        record = footnotes(self.settings.seed, self.settings.clip)
        return Page(self.command, [*sections, *hints(self.hints)], record)


def evaluation_document(
    evaluations: Mapping[str, Evaluation],
    s: Settings,
    differences: Sequence[DifferenceRecord] = (),
) -> EvaluationDocument:
    """The document of evaluations on the same rows."""
    models = [ModelRecord.of(name, e) for name, e in evaluations.items()]
    remarks = [hint for name, e in evaluations.items() for hint in _hints(name, e)]
    return EvaluationDocument(
        settings=SettingsRecord(level=s.level, seed=s.seed, threshold=s.threshold, clip=s.clip),
        data=DataRecord.of(next(iter(evaluations.values())).tally),
        models=models,
        differences=list(differences),
        hints=[*remarks, *_unlike_tests(models), *cautions([models, list(differences)])],
    )


def _hints(name: str, e: Evaluation) -> Iterator[str]:
    """What a reader should be told in words."""
    c, t = e.confusion, e.tally
    if why := t.why_not_ranked:
        yield f"'{name}': {why}; measures that need both classes are undefined"
    elif e.auroc.value < 0.5:
        yield (
            f"AUROC of '{name}' is below 0.5: a higher score goes with the negative class; is "
            f"'{t.origin.positive}' the positive one, or is it '{t.origin.negative}'?"
        )
    if e.smauc.defined and far(middle := midpoint(t.pooled).value):
        yield (
            f"smAUC of '{name}' misleads, because the mean score {middle:.3g} is far from 0.5: judge it "
            f"by its baseline, what the same scores would get at random, or see smroc"
        )
    low, high = t.ends
    if t.kind == "score" and (low < 0 or high > 1) and nearly_inside(low, high):
        yield (
            f"'{name}': scores lie outside [0, 1] by at most {max(-low, high - 1):.1g}, as rounding leaves "
            f"them; declare their kind as probability to take such as 0 or 1"
        )
    elif t.kind == "score" and e.settings.threshold == Settings.threshold and t.origin.rows:
        yield (
            f"'{name}': these scores are no probabilities, and 0.5 may be no sensible threshold for them; "
            f"choose one for the decisions"
        )
    if t.kind == "probability" and t.score.tolist() == [0.0, 1.0]:
        yield (
            f"'{name}': all scores are 0 or 1, as decisions are, and none lies between; if the model gives "
            f"probabilities (predict_proba), pass those"
        )
    if t.kind == "logit" and t.ends[0] >= 0 and t.ends[1] <= 1:
        yield f"'{name}': said to be logits, but all lie in [0, 1] as probabilities do"
    for side, called in (("negative", c.tp + c.fp), ("positive", c.tn + c.fn)):
        if c.table.sum() and not called:
            lowest, highest = t.ends
            yield (
                f"'{name}': every row is called {side}; scores lie in [{lowest:.4g}, {highest:.4g}] "
                f"and the threshold is {e.settings.threshold:g}"
            )


def _unlike_tests(models: Sequence[ModelRecord]) -> Iterator[str]:
    """Tests (they have no interval) whose p-values were not made in the same way for all models."""
    for rows in zip(*(model.measures for model in models), strict=True):
        tested = [m.low is None and m.p is not None for m in rows]
        if len({m.method for m, of in zip(rows, tested, strict=True) if of}) > 1:
            ways = [
                f"'{model.name}' by {m.method}"
                for model, m, of in zip(models, rows, tested, strict=True)
                if of
            ]
            yield f"p-values of {rows[0].title} are not comparable: {', '.join(ways)}"


# The page.


SHARED = 3  # measures without a value for one reason, from which on it is told once
BASELINE = "Baseline: what chance or the best constant prediction would get."
CALIBRATED = "Under Calibration: what calibrated scores would get on average."
SKILL = "Skill: share of the way from there to the best value."
CHANCE = "p: the chance that calibrated scores would get as much or more."
COARSE = "±: certified half-width left by coarsening; the interval contains it."


def _matrix(data: DataRecord, model: ModelRecord) -> Matrix:
    positive, negative = (None if c is None else str(c) for c in (data.positive, data.negative))
    c = model.confusion
    return Matrix(model.name, (positive, negative), ((c.tp, c.fn), (c.fp, c.tn)))


def _table(doc: EvaluationDocument) -> Table:
    models = doc.models
    notes = [] if all(model.exact for model in models) else [COARSE]
    if len(models) == 1:
        shown = [m for m in models[0].measures if m.name not in _told_once(models)]
        return measure_table(shown, doc.settings.level, notes)
    return _side_by_side(doc, notes)


def _told_once(models: Sequence[ModelRecord]) -> set[str]:
    """Measures that no model has, for a reason that three or more share; it is told once, below."""
    found = []
    for model in models:
        shared = Counter(m.why for m in model.measures if m.why)
        found.append({m.name for m in model.measures if shared[m.why] >= SHARED})
    return set.intersection(*found)


def _without_value(models: Sequence[ModelRecord]) -> list[Section]:
    told = _told_once(models)
    pairs = [(model.name, m) for model in models for m in model.measures if m.name in told]
    reasons = {name: {m.why for n, m in pairs if n == name} for name in {n for n, _ in pairs}}
    alike = len({frozenset(whys) for whys in reasons.values()}) == 1
    return undefined((m.why if alike else f"'{name}': {m.why}", m.title) for name, m in pairs)


def measure_table(measures: Sequence[MeasureRow], level: float, notes: Sequence[str] = ()) -> Table:
    """One row for each measure, group by group: value, interval, baseline, skill and method."""
    expected = [CALIBRATED] if any(m.expected is not None for m in measures) else []
    tested = [CHANCE] if any(m.p is not None for m in measures) else []
    columns = [
        Column("Measure", "title"),
        Column("Value", "value", point=True),
        Column(f"{percent(level)} interval", "interval or reason"),
        Column("Baseline", "baseline", point=True, meaning=" ".join([BASELINE, *expected])),
        Column("Skill", "skill", meaning=" ".join([SKILL, *tested])),
        Column("Method", "text", optional=True),
    ]
    rows: list[tuple[object, ...] | Heading] = []
    for title, group in grouped(measures):
        rows += [Heading(title), *((m.title, m, m, m, m, m.method) for m in group)]
    return Table(columns, rows, notes)


def _side_by_side(doc: EvaluationDocument, notes: Sequence[str]) -> Table:
    """Models side by side, a winner marked; a baseline where all have the same."""
    models = doc.models
    by_name = [{m.name: m for m in model.measures} for model in models]
    every: dict[str, MeasureRow] = {}
    told = _told_once(models)
    for m in (m for model in models for m in model.measures if m.name not in told):
        every.setdefault(m.name, m)
    rows: list[tuple[object, ...] | Heading] = []
    for title, group in grouped(list(every.values())):
        rows += [
            Heading(title),
            *(
                (m.title, *_compared([of.get(m.name) for of in by_name], _winner(doc, m)))
                for m in group
            ),
        ]
    brackets = f"Brackets: {percent(doc.settings.level)} interval."
    columns = [
        Column("Measure", "title"),
        *(
            Column(Name(m.name), "compared", meaning="" if i else brackets)
            for i, m in enumerate(models)
        ),
        Column("Baseline", optional=True, point=True, meaning=BASELINE),
        Column("Method", "text", optional=True),
    ]
    return Table(columns, rows, notes)


def _winner(doc: EvaluationDocument, m: MeasureRow) -> int | None:
    """The model that is clearly better than every other: all paired intervals exclude 0."""
    sign = {"high": 1, "low": -1}.get(m.better, 0)
    beaten: dict[str, set[str]] = {}
    for d in doc.differences:
        if d.measure == m.name and d.low is not None and d.high is not None:
            if min(sign * d.low, sign * d.high) > 0:
                beaten.setdefault(d.first, set()).add(d.second)
            elif max(sign * d.low, sign * d.high) < 0:
                beaten.setdefault(d.second, set()).add(d.first)
    names = [model.name for model in doc.models]
    return next((i for i, n in enumerate(names) if {n} | beaten.get(n, set()) == {*names}), None)


def _compared(rows: Sequence[MeasureRow | None], winner: int | None) -> list[object]:
    """The cells of one measure: that of each model, the baseline and the method."""
    there = [m for m in rows if m is not None]
    cells: list[object] = [
        "" if m is None else Compared(m, i == winner) for i, m in enumerate(rows)
    ]
    baselines = {m.baseline for m in there}
    common = baselines.pop() if len(baselines) == 1 else None
    methods = dict.fromkeys(m.method for m in there if m.method)
    return [*cells, "" if common is None else common, "; ".join(methods)]


def grouped(measures: Sequence[MeasureRow]) -> list[tuple[str, list[MeasureRow]]]:
    """Each group's title and its measures, in the order in which they come."""
    groups: dict[str, list[MeasureRow]] = {}
    for m in measures:
        groups.setdefault(m.group, []).append(m)
    return [(TITLES.get(g, g.capitalize()), ms) for g, ms in groups.items()]


def footnotes(seed: int, clip: float | None) -> list[str]:
    """What the numbers depend on, for a page that is kept."""
    clipped = [] if clip is None else [f"Log loss clips at {clip:g}."]
    return [f"Seed {seed}.", *clipped, "Ties count half; row order does not matter."]
