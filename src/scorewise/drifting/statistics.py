"""The measures of drift: what each needs, and what is held when rows are dealt out by chance."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from scorewise.arrays import Floats
from scorewise.drifting import curves, outcomes, scores
from scorewise.drifting.chance import Held
from scorewise.drifting.split import Split

Need = Literal["labels", "classes", "unit", "probability", "moving midpoint", "no labels"]


@dataclass(frozen=True)
class Statistic:
    """A measure of drift.

    `signed` changes have a direction, 0 when nothing has changed, and an interval; the others are
    distances, which chance alone makes larger than 0. `otherwise` is why there may still be no value.
    """

    name: str
    title: str
    of: Callable[[Split], Floats]
    needs: frozenset[Need] = frozenset()
    held: Held = "nothing"
    signed: bool = False
    otherwise: str = ""

    @property
    def meaning(self) -> str:
        """What the value says, in a sentence."""
        return (self.of.__doc__ or "").split("\n")[0]


def _needs(*words: Need) -> frozenset[Need]:
    return frozenset(words)


CERTAIN = "all scores of a sample are 0 or 1, and all right or all wrong"
APART = "no score has rows of both samples near it"

STATISTICS = (
    Statistic(
        "midpoint",
        "Midpoint",
        scores.midpoint_shift,
        _needs("unit", "moving midpoint"),
        signed=True,
    ),
    Statistic(
        "smroc_distance",
        "smROC distance",
        curves.smroc_distance,
        _needs("classes", "unit"),
        otherwise=CERTAIN,
    ),
    Statistic(
        "smauc",
        "smAUC",
        curves.smauc_change,
        _needs("classes", "unit"),
        signed=True,
        otherwise=CERTAIN,
    ),
    Statistic("auroc", "AUROC", curves.auroc_change, _needs("classes"), signed=True),
    Statistic(
        "rotation",
        "Rotation (degrees)",
        curves.rotation_change,
        _needs("labels", "unit"),
        signed=True,
    ),
    Statistic(
        "prevalence", "Prevalence", outcomes.prevalence_change, _needs("labels"), signed=True
    ),
    Statistic(
        "estimated_prevalence",
        "Prevalence (EM)",
        outcomes.estimated_prevalence_change,
        _needs("no labels", "unit", "probability"),
        signed=True,
        otherwise="all scores of the reference are 0, or all are 1",
    ),
    Statistic("psi", "PSI", scores.psi),
    Statistic("ks", "KS distance", scores.ks),
    Statistic("wasserstein", "Wasserstein", scores.wasserstein),
    Statistic(
        "class_distance", "KS within classes", outcomes.class_distance, _needs("classes"), "class"
    ),
    Statistic(
        "calibration",
        "Calibration",
        outcomes.calibration_shift,
        _needs("labels"),
        "score",
        True,
        APART,
    ),
    Statistic(
        "calibration_slope",
        "Calibration slope",
        outcomes.calibration_slope,
        _needs("labels"),
        "score",
        True,
        "all scores near which both samples have rows are the same",
    ),
    Statistic(
        "calibration_distance",
        "Reliability curves",
        outcomes.calibration_distance,
        _needs("labels"),
        "score",
        otherwise=APART,
    ),
)
