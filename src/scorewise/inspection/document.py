"""What `inspect` writes and shows: rows to check, gaps between scores, and whether labels look wrong."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import pdtr, pdtrc, pdtrik

from scorewise.checks import check
from scorewise.columns import Kind
from scorewise.estimate import Estimate
from scorewise.inference.logistic import logistic
from scorewise.inspection.opinions import (
    AgreementRecord,
    Middle,
    Tolerance,
    listed_rows,
    same_decisions,
)
from scorewise.inspection.suspects import Gap, Set, Suspect
from scorewise.show.data import CutRecord, DataRecord, DensityRecord
from scorewise.show.document import JudgedDocument
from scorewise.show.page import Heads, Section, section
from scorewise.show.records import Count, Record, Word, field, record_of
from scorewise.show.verdict import Claim, claim, figure, next_step
from scorewise.show.words import by_reason, count, formatted, p_phrase, plural, quoted
from scorewise.statistics.smroc import FoundBy
from scorewise.tallies import Tally
from scorewise.tallies.losses import expit, unit

if TYPE_CHECKING:
    from scorewise.inspection.inspection import Inspected, Inspection

SUCCESSES = 5  # shown; the document has more
ODDS = 0.1  # a label that fewer rows like it have contradicts its score
LEVEL = 0.95
MODELS_IN_WORDS = 3

READING = [
    (
        "Suspicion",
        "share of rows with about the same score that have the other label (isotonic regression: the hull"
        " of the ROC curve). Scores should be out of fold: a model that saw a wrong label may have"
        " learned it.",
    ),
    ("Hard success", "a label that its score supports, but only just."),
    (
        "Gap",
        "every threshold in it gives the same decisions. Times as wide: its width over the median of the"
        " gaps around it. Stable: share of resamples in which it keeps its rank.",
    ),
]


class Settings(Record):
    """The settings that the result depends on."""

    midpoint: Word = field("How the midpoint was chosen, or the number given.", default="mean")
    top: Count = field("Rows listed at most.", default=20)
    tolerance: Tolerance = 0.1
    threshold: float = 0.5
    seed: Count = 0

    def __post_init__(self) -> None:
        given = vars(self)
        check(**{name: given[name] for name in given if name != "midpoint"})


class SetRecord(Record):
    """Rows of one class with high or with low scores."""

    set: Set
    rows: Count


class ModelRecord(Record):
    """One column of scores."""

    name: str
    kind: Kind
    distinct: Count = field("Distinct scores.")
    why: str
    midpoint: Middle
    rule: FoundBy | None = field("How the midpoint was found; null when there is none.")
    why_no_midpoint: str = field("Why there is no midpoint; empty when there is one.")
    sets: list[SetRecord] = field("Rows by score and class; empty when there is no midpoint.")
    suspicious: list[Suspect] = field("Rows whose label may be wrong, most suspicious first.")
    successes: list[Suspect] = field(
        "Rows whose score supports the label, but only just; hardest first."
    )
    gaps: list[Gap] = field("Gaps between scores, most pronounced first.")
    density: DensityRecord | None = field(
        "How the scores of each class are spread; null where a class has no rows."
    )

    @classmethod
    def of(cls, name: str, model: Inspected) -> ModelRecord:
        """The record of one model."""
        middle = model.midpoint
        return record_of(
            cls,
            model,
            model.tally,
            name=name,
            distinct=len(model.tally.score),
            midpoint=None if middle is None else middle.value,
            rule=None if middle is None else middle.rule,
            sets=[SetRecord(set=kind, rows=rows) for kind, rows in model.sets.items()],
            density=DensityRecord.of(model.tally),
        )

    def sections(self, several: bool, data: DataRecord) -> list[Section]:
        """The rows and gaps of the model, which is named where there are `several`."""
        of, by = (f" {word} '{self.name}'" * several for word in ("of", "by"))
        sections = []
        if self.sets:
            many = {s.set: count(s.rows) for s in self.sets}
            middle = (
                f"{formatted(self.midpoint, 'number')} ({self.rule}); scores from here on are high"
            )
            facts = [
                ("Midpoint", middle),
                ("High", f"{many['high positive']} positives, {many['high negative']} negatives"),
                ("Low", f"{many['low positive']} positives, {many['low negative']} negatives"),
            ]
            sections.append(Section(f"Scores{of}", facts=facts))
        if not self.why:
            for title, suspects in (
                (f"Labels to check{by}", self.suspicious),
                (f"Hard successes{of}", self.successes[:SUCCESSES]),
            ):
                lines = [(r, r.suspicion, r.reason) for r in suspects]
                sections.append(listed_rows(title, "suspicion", "why", lines, data))
        rows = []
        for g in self.gaps:
            cut = CutRecord(threshold=(g.above + g.upto) / 2, above=g.above, upto=g.upto)
            cells = (f"{g.ratio:.1f}", g.rows, g.precision, g.recall, g.stability)
            rows.append((cut.same_decisions(), *cells))
        heads: Heads = [
            ("cut", "text"), "times as wide", ("rows above", "count"), "precision", "recall",
            ("stable", "percent"),
        ]  # fmt: skip
        title, none = f"Gaps between scores{of}", "no gap is three times as wide as those around it"
        return [*sections, *(section(title, heads, rows) or [Section(title, lines=[none])])]


class InspectDocument(JudgedDocument, command="inspect"):
    """The rows of each model that deserve a second look."""

    settings: Settings
    data: DataRecord
    models: list[ModelRecord] = field(
        "The scores that were inspected, in the order given.", min_length=1
    )
    agreement: AgreementRecord | None = field(
        "How far several models agree; null when there is one."
    )

    @classmethod
    def of(cls, i: Inspection) -> InspectDocument:
        """The document of an inspection."""
        data = DataRecord.of(next(iter(i.models.values())).tally)
        hints = ((hint, f"'{name}'") for name, model in i.models.items() for hint in _hints(model))
        return cls(
            settings=i.settings,
            data=data if data.sources else replace(data, label=None),  # arrays have no columns
            verdict=_verdict(i),
            models=[ModelRecord.of(name, model) for name, model in i.models.items()],
            agreement=None if i.agreement is None else AgreementRecord.of(i.agreement),
            hints=[*by_reason(hints), *_scales(i)],
        )

    def sections(self) -> list[Section]:
        """The data, each model's rows and gaps, and how far models agree."""
        data = self.data
        sections = [Section(facts=data.facts())]
        for model in self.models:
            sections += model.sections(len(self.models) > 1, data)
        if self.agreement is not None:
            sections += self.agreement.sections(data, (data.negative, data.positive), "model")
        return [*sections, Section("How to read this", facts=READING)]


def _hints(model: Inspected) -> Iterator[str]:
    """Remarks on one model."""
    if model.why:
        yield f"rows cannot be ranked by suspicion: {model.why}"
    elif model.why_no_midpoint:
        yield (
            f"rows are not sorted into high and low scores, as there is no midpoint: "
            f"{model.why_no_midpoint}"
        )
    else:
        wrong = model.sets["low positive"] + model.sets["high negative"]
        rows = model.tally.origin.rows
        if 2 * wrong > rows:
            yield (
                f"{wrong:,} of {rows:,} scores lie on the wrong side of the midpoint; "
                f"is '{model.tally.origin.positive}' the positive class?"
            )


def _scales(i: Inspection) -> Iterator[str]:
    """A remark where scores of several models are on different scales."""
    kinds = {name: model.tally.kind for name, model in i.models.items()}
    if "score" in kinds.values() and len(kinds) > 1:
        beyond = ", ".join(f"'{name}'" for name, kind in kinds.items() if kind == "score")
        yield (
            f"the scores of {beyond} are not probabilities; distances between scores, and agreement within "
            f"the tolerance, are meaningful only if all models use the same scale"
        )


# What an inspection means: whether more labels contradict their scores than chance leads to expect.


def _verdict(i: Inspection) -> list[Claim]:
    """The sentences on the labels of rows, and on models that are compared."""
    t = next(iter(i.models.values())).tally
    claims = [_labels(name, model) for name, model in [*i.models.items()][:MODELS_IN_WORDS]]
    more = any(c.finding == "more than expected" for c in claims)
    if i.agreement is not None and not t.weighted:
        claims.append(same_decisions(i.agreement.decisions, t.origin.rows, "Models"))
    if more:
        call, further = "to_frame() of the result, the rows to check", [("top", "100")]
        further += [("json", "suspects.json")]
        return [*claims, next_step("inspect", t.origin, call, further, *i.models)]
    return [*claims, next_step("evaluate", t.origin, "sw.evaluate(labels, scores)", (), *i.models)]


def contradicted(t: Tally) -> tuple[int, float] | None:
    """The number of labels with a probability of at most 1 in 10, and the number expected.

    By probabilities as they are, and by logistic regression on scores of another kind. Nothing where that
    has no solution, one class has no rows, or rows have weights.
    """
    if t.why_not_ranked or t.weighted:
        return None
    p = t.score.astype(np.float64)
    if t.kind == "score":
        x = (p - p.mean()) / (float(p.std()) or 1.0)
        fit = logistic([np.ones(len(x)), x], t.neg.astype(float), t.pos.astype(float))
        if not fit.converged:
            return None
        p = expit(fit.coef[0] + fit.coef[1] * x)
    else:
        p = unit(p, t.kind)
    low, high = p <= ODDS, p >= 1 - ODDS
    due = ((t.neg + t.pos) * p)[low].sum() + ((t.neg + t.pos) * (1 - p))[high].sum()
    return int(t.pos[low].sum() + t.neg[high].sum()), float(due)


def _labels(name: str, model: Inspected) -> Claim:
    """Whether labels contradict the scores more often than expected."""
    found = contradicted(model.tally)
    if found is None:
        why = model.why or "rows have weights, or the scores separate the classes"
        text = f"How many labels may be wrong cannot be estimated from {quoted(name)}: {why}."
        return claim("labels", "unknown", text)
    seen, expected = found
    tails = ((1 - LEVEL) / 2, (1 + LEVEL) / 2)
    low, high = (poisson_quantile(tail, expected) for tail in tails)
    p = float(pdtrc(seen - 1, expected)) if seen else 1.0
    figures = [
        figure("contradicted", Estimate(seen), name),
        figure("expected", Estimate(expected, low, high), name),
    ]
    rows = plural(seen, "label") if seen else "No label"
    fitted = " (mapped to probabilities by logistic regression)" * (model.tally.kind == "score")
    text = f"{rows} contradict{'s' * (seen < 2)} {quoted(name)}{fitted} at odds of 9 to 1 or more"
    mean = f"{expected:.2g}" if expected < 10 else f"{expected:,.0f}"
    by_chance = f"{mean} [{low:,}, {high:,}]"
    if p < 1 - LEVEL:
        text += f", more than expected by chance ({by_chance}; {p_phrase(p)}): "
        text += "some labels may be wrong, or the scores too extreme."
        return claim("labels", "more than expected", text, figures)
    if seen:
        text += f", no more than expected by chance ({by_chance})"
    elif expected:
        text += f" ({by_chance} expected by chance)"
    return claim("labels", "as expected", f"{text}: no evidence of wrong labels.", figures)


def poisson_quantile(tail: float, expected: float) -> int:
    """The smallest count whose cumulative Poisson probability reaches `tail`.

    >>> poisson_quantile(0.025, 4.0), poisson_quantile(0.975, 4.0), poisson_quantile(0.025, 0.0)
    (1, 8, 0)
    """
    if not expected:
        return 0
    k = max(math.ceil(float(pdtrik(tail, expected))), 0)
    # the inverse is right to rounding alone
    return k - 1 if k and float(pdtr(k - 1, expected)) >= tail else k
