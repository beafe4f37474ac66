"""The document that every view renders."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from scorewise.evaluation.settings import Settings
from scorewise.registry import MEASURES
from scorewise.tallies.smroc import far, midpoint
from scorewise.views.documents import data_of, documented, finite, measure_row
from scorewise.views.words import Document

if TYPE_CHECKING:
    from scorewise.evaluation.one import Evaluation


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
