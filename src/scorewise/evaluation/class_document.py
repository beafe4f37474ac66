"""The document of an evaluation of several classes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from scorewise.registry import CLASS_MEASURES, MEASURES
from scorewise.tallies import ClassTally, Confusion, Tally
from scorewise.views.documents import documented, measure_row
from scorewise.views.words import Document, counted, named, quoted, whole_percent

if TYPE_CHECKING:
    from scorewise.evaluation.classes import ClassEvaluation

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
            "hints": list(_hints(e)),
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


def _hints(e: ClassEvaluation) -> Iterator[str]:
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
