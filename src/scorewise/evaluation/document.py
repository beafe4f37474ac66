"""What an evaluation was asked for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from scorewise.errors import BadInput
from scorewise.registry import CLASS_MEASURES, MEASURES
from scorewise.show.documents import data_of, documented, finite, measure_row
from scorewise.show.words import Document, counted, named, quoted, whole_percent
from scorewise.tallies import ClassTally, Confusion, Tally
from scorewise.tallies.smroc import far, midpoint

if TYPE_CHECKING:
    from scorewise.evaluation.classes import ClassEvaluation
    from scorewise.evaluation.models import Evaluation


@dataclass(frozen=True)
class Settings:
    """What an evaluation was asked for."""

    threshold: float = 0.5
    level: float = 0.95
    seed: int = 0
    clip: float | None = None

    def __post_init__(self) -> None:
        for name, x in (("threshold", self.threshold), ("level", self.level), ("clip", self.clip)):
            if not isinstance(x, int | float | np.number) and not (name == "clip" and x is None):
                raise BadInput(f"{name} is {x!r}; it must be a number")
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise BadInput(f"seed is {self.seed!r}; it must be a whole number from 0 up")
        if not math.isfinite(self.threshold):
            raise BadInput(
                f"threshold is {self.threshold}; it must be a finite number, such as 0.5"
            )
        if not 0 < self.level < 1:
            raise BadInput(f"level is {self.level}; it must lie between 0 and 1, such as 0.95")


# The document that every view renders.


def document(
    evaluations: Mapping[str, Evaluation], s: Settings, differences: Sequence[Document] = ()
) -> Document:
    """The document of evaluations on the same rows."""
    return documented(
        "evaluate",
        {
            "settings": {
                "level": s.level,
                "seed": s.seed,
                "threshold": s.threshold,
                "clip": s.clip,
            },
            "data": data_of(next(iter(evaluations.values())).tally),
            "models": [_model(name, e) for name, e in evaluations.items()],
            "differences": list(differences),
            "hints": [hint for name, e in evaluations.items() for hint in _hints(name, e)],
        },
    )


def _model(name: str, e: Evaluation) -> Document:
    t, c = e.tally, e.confusion
    cut = t.cut(e.settings.threshold)
    lowest, highest = t.ends
    return {
        "name": name,
        "kind": t.kind,
        "distinct": len(t.score),
        "exact": t.coarse is None,
        "lowest": finite(lowest),
        "highest": finite(highest),
        "cut": {
            "threshold": cut.threshold,
            "above": finite(cut.above),
            "upto": finite(cut.upto),
        },
        "confusion": {"tp": c.tp, "fp": c.fp, "fn": c.fn, "tn": c.tn},
        "measures": [measure_row(MEASURES[key], estimate) for key, estimate in e.items()],
    }


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
    if t.kind == "score" and e.settings.threshold == Settings.threshold and t.origin.rows:
        yield (
            f"'{name}': these scores are no probabilities, and 0.5 may be no sensible threshold for them; "
            f"choose one for the decisions"
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


# The document of an evaluation of several classes.


DECIDED = ("sensitivity", "precision", "f1")
SCORED = ("auroc", "average_precision", "brier", "ece")
FEW = 50  # classes of which also the scores are judged one by one


def class_document(e: ClassEvaluation) -> Document:
    """The document of one model on all its rows."""
    s, t = e.settings, e.tally
    return documented(
        "evaluate-classes",
        {
            "settings": {"level": s.level, "seed": s.seed, "clip": s.clip},
            "data": _data(t),
            "confusion": t.confusion.weight.tolist(),
            "measures": [measure_row(CLASS_MEASURES[key], estimate) for key, estimate in e.items()],
            "classes": [_class(e, c) for c in t.classes],
            "hints": list(_class_hints(e)),
        },
    )


def _data(t: ClassTally) -> Document:
    o = t.top.origin
    return {
        "sources": list(o.sources),
        "label": o.label,
        "rows": t.rows,
        "dropped": o.dropped,
        "weight": o.weight,
        "kind": t.kind if t.each else None,
        "rule": t.rule,
        "confidence": t.ranked.origin.score,
        "confidence_kind": t.ranked.kind,
        "distinct": len(t.ranked.score),
    }


def _class(e: ClassEvaluation, name: str) -> Document:
    """One class against the rest: its rows, its decisions and, where they are known, its scores."""
    t, s = e.tally, e.settings
    at = t.classes.index(name)
    decided = t.decided(name)
    found: list[tuple[str, Confusion | Tally]] = [(key, decided) for key in DECIDED]
    if t.each and len(t.classes) <= FEW:
        scores = t.one(name)
        found += [(key, scores) for key in SCORED]
    rows = [
        measure_row(MEASURES[key], MEASURES[key](what, level=s.level, seed=s.seed, clip=s.clip))
        for key, what in found
        if key in MEASURES
    ]
    return {
        "name": name,
        "weight": float(t.weight[at]),
        "called": float(t.confusion.weight[:, at].sum()),
        "measures": rows,
    }


def _class_hints(e: ClassEvaluation) -> Iterator[str]:
    """What a reader should be told in words."""
    t = e.tally
    if not t.rows:
        return
    absent = t.weight == 0
    never = (t.confusion.weight.sum(0) == 0) & ~absent
    if absent.any():
        yield f"{_named(t, absent)} occurs in no row; averages over classes leave out what occurs nowhere"
    if never.any():
        yield f"{_named(t, never)} occurs, but is never the decision; it has no precision"
    a = e.accuracy
    if a.defined and a.baseline is not None and a.value < a.baseline:
        yield (
            f"decisions are worse than always saying the most frequent class: are the scores in the order "
            f"of the classes, {named(list(t.classes), 5)}? classes= gives theirs"
        )
    yield from _ties(t)
    if e.aurc.defined and e.aurc.baseline is not None and e.aurc.low > e.aurc.baseline:
        yield "confidence is higher where the decision is wrong: keeping the surest rows raises the risk"
    if e.canonical_ce.p is not None and e.canonical_ce.p > 0.95:
        yield (
            "the canonical error is below what calibrated scores get: its wide kernel hides scores that "
            "are too unsure; measures.canonical_ce with smoothed='gaps' sees them"
        )
    if len(t.classes) == 2 and t.each:
        yield "two classes have measures of their own: evaluate the scores of one of them alone for those"
    if t.kind == "logit" and t.joint is not None and _like_probabilities(t.joint.scores):
        yield "the scores are said to be logits, but are from 0 to 1 and add up to 1, as probabilities do"


def _named(t: ClassTally, which: np.ndarray) -> str:
    words = [quoted(c) for c, there in zip(t.classes, which, strict=True) if there]
    return named(words) if len(words) == 1 else f"each of {named(words)}"


def _ties(t: ClassTally) -> Iterator[str]:
    """Rows in which several classes share the highest score."""
    if t.joint is None:
        return
    scores = t.joint.scores
    shared = (scores == scores.max(1, keepdims=True)).sum(1) > 1
    if not shared.any():
        return
    if t.joint.whole and not t.top.weighted:
        said = f"in {counted(int(t.joint.weight[shared].sum()), 'row')}"
    else:
        part = float(t.joint.weight[shared].sum() / t.joint.weight.sum())
        said = f"in about {whole_percent(part)} of the rows"
    yield f"several classes share the highest score {said}; the first of them is the decision"


def _like_probabilities(scores: np.ndarray) -> bool:
    if not len(scores) or scores.min() < 0 or scores.max() > 1:
        return False
    return bool((np.abs(scores.sum(1) - 1) < 0.01).all())
