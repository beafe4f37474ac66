"""Pictures with matplotlib, which `pip install 'scorewise[plot]'` brings."""

from __future__ import annotations

from scorewise.displays.answers import AnswersDisplay, ConfusionDisplay, RiskCoverageDisplay
from scorewise.displays.models import ConfidenceDisplay, PosteriorDisplay
from scorewise.displays.raters import AgreementDisplay, CoefficientsDisplay, PairsDisplay
from scorewise.displays.reliability import RecalibrationDisplay, ReliabilityDisplay
from scorewise.displays.roc import (
    HullDisplay,
    MidpointDisplay,
    RocDisplay,
    SensitivityDisplay,
    SmRocDisplay,
)
from scorewise.displays.samples import DensityDisplay, DriftDisplay

__all__ = [
    "AgreementDisplay",
    "AnswersDisplay",
    "CoefficientsDisplay",
    "ConfidenceDisplay",
    "ConfusionDisplay",
    "DensityDisplay",
    "DriftDisplay",
    "HullDisplay",
    "MidpointDisplay",
    "PairsDisplay",
    "PosteriorDisplay",
    "RecalibrationDisplay",
    "ReliabilityDisplay",
    "RiskCoverageDisplay",
    "RocDisplay",
    "SensitivityDisplay",
    "SmRocDisplay",
]
