"""Pictures with matplotlib, which `pip install 'scorewise[plot]'` brings."""

from __future__ import annotations

from scorewise.displays.answers import AnswersDisplay, RiskCoverageDisplay
from scorewise.displays.classes import (
    ClassPrecisionRecallDisplay,
    ClassReliabilityDisplay,
    ClassRocDisplay,
)
from scorewise.displays.decisions import (
    ConfusionDisplay,
    CostCurveDisplay,
    DecisionCurveDisplay,
    GainDisplay,
    LiftDisplay,
    PrecisionRecallDisplay,
    ThresholdDisplay,
)
from scorewise.displays.forest import ForestDisplay
from scorewise.displays.models import ConfidenceDisplay, PosteriorDisplay
from scorewise.displays.overview import Overview
from scorewise.displays.raters import (
    AgreementDisplay,
    CoefficientsDisplay,
    OpinionsDisplay,
    PairsDisplay,
)
from scorewise.displays.reliability import RecalibrationDisplay, ReliabilityDisplay
from scorewise.displays.roc import (
    HullDisplay,
    MidpointDisplay,
    RocDisplay,
    SensitivityDisplay,
    SmRocDisplay,
)
from scorewise.displays.samples import DensityDisplay, DriftDisplay, SuspectsDisplay

__all__ = [
    "AgreementDisplay", "AnswersDisplay", "ClassPrecisionRecallDisplay", "ClassReliabilityDisplay",
    "ClassRocDisplay", "CoefficientsDisplay", "ConfidenceDisplay", "ConfusionDisplay",
    "CostCurveDisplay", "DecisionCurveDisplay", "DensityDisplay", "DriftDisplay", "ForestDisplay",
    "GainDisplay", "HullDisplay", "LiftDisplay", "MidpointDisplay", "OpinionsDisplay", "Overview",
    "PairsDisplay", "PosteriorDisplay", "PrecisionRecallDisplay", "RecalibrationDisplay",
    "ReliabilityDisplay", "RiskCoverageDisplay", "RocDisplay", "SensitivityDisplay", "SmRocDisplay",
    "SuspectsDisplay", "ThresholdDisplay",
]  # fmt: skip
