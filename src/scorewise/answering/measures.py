"""The measures of answers: those of any confidence against correct or wrong, and a few of their own."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.answering.means import (
    accuracy,
    mean_confidence,
    mean_quality,
    overconfidence,
    soft_brier,
)
from scorewise.answering.sample import Sample
from scorewise.answering.selective import selective_accuracy
from scorewise.answering.settings import Settings
from scorewise.estimate import Estimate
from scorewise.registry import CLASS_MEASURES, MEASURES, Better, Group, Measure


@dataclass(frozen=True)
class AnswerMeasure:
    """A measure of answers: its traits, and its function of the answers and the settings."""

    name: str
    title: str
    group: Group
    better: Better
    meaning: str
    function: Callable[[Sample, Settings], Estimate]
    needs_tau: bool = True


WHY = {
    "no rows": "no answers",
    "no positives": "no answer is correct",
    "no negatives": "every answer is correct",
}


def _own(
    name: str,
    title: str,
    group: Group,
    better: Better,
    function: Callable[[Sample, Settings], Estimate],
    of: Callable[..., Estimate],
    needs_tau: bool = True,
) -> AnswerMeasure:
    meaning = (of.__doc__ or "").strip().partition("\n")[0]
    return AnswerMeasure(name, title, group, better, meaning, function, needs_tau)


def _of_tally(m: Measure) -> AnswerMeasure:
    """A registered measure, of the tally of confidence against correct."""

    def judge(s: Sample, o: Settings) -> Estimate:
        e = m(s.tally(o.tau), level=o.level, seed=o.seed, bins=o.bins)
        return replace(e, why=WHY[e.why]) if e.why in WHY else e

    return AnswerMeasure(m.name, m.title, m.group, m.better, m.meaning, judge)


_OWN = [
    _own(
        "accuracy", "Accuracy", "decisions", "high",
        lambda s, o: accuracy(s.tally(o.tau), o.level), accuracy,
    ),
    _own(
        "mean_quality", "Mean quality", "decisions", "high",
        lambda s, o: mean_quality(s, o.level), mean_quality, needs_tau=False,
    ),
    _own(
        "mean_confidence", "Mean confidence", "scores", "neither",
        lambda s, o: mean_confidence(s.tally(o.tau), o.level), mean_confidence, needs_tau=False,
    ),
    _own(
        "overconfidence", "Overconfidence", "calibration", "near",
        lambda s, o: overconfidence(s.tally(o.tau), o.level), overconfidence,
    ),
    _own(
        "soft_brier", "Brier against quality", "probability", "low",
        lambda s, o: soft_brier(s, o.level), soft_brier, needs_tau=False,
    ),
    _own(
        "selective_accuracy", "Accuracy, surest 80%", "order", "high",
        lambda s, o: selective_accuracy(s.tally(o.tau), level=o.level), selective_accuracy,
    ),
]  # fmt: skip
_SELECTIVE = ("aurc", "excess_aurc", "augrc")

ALL: dict[str, AnswerMeasure] = {
    **{name: _of_tally(m) for name, m in MEASURES.items() if m.group != "decisions"},
    **{name: _of_tally(CLASS_MEASURES[name]) for name in _SELECTIVE},
    **{m.name: m for m in _OWN},
}
SHOWN = (
    "accuracy", "mean_quality", "mean_confidence", "overconfidence", "ece", "smece", "brier", "mcb", "dsc",
    "unc", "soft_brier", "auroc", "aurc", "selective_accuracy",
)  # fmt: skip
OF_GROUPS = ("accuracy", "mean_confidence", "ece", "auroc")
OVER_TAU = ("accuracy", "ece", "smece", "brier", "mcb", "auroc", "aurc")
