"""Pictures with matplotlib, which `pip install 'scorewise[plot]'` brings."""

from __future__ import annotations

from scorewise.displays.canvas import Overview
from scorewise.displays.curves import (
    ClassPrecisionRecallDisplay,
    ClassRocDisplay,
    CostCurveDisplay,
    GainDisplay,
    LiftDisplay,
    PrecisionRecallDisplay,
    RiskCoverageDisplay,
    RocDisplay,
)
from scorewise.displays.decisions import ConfusionDisplay, DecisionCurveDisplay, ThresholdDisplay
from scorewise.displays.forest import AnswersDisplay, ForestDisplay
from scorewise.displays.models import ConfidenceDisplay, PosteriorDisplay
from scorewise.displays.raters import (
    AgreementDisplay,
    CoefficientsDisplay,
    OpinionsDisplay,
    PairsDisplay,
)
from scorewise.displays.reliability import (
    ClassReliabilityDisplay,
    RecalibrationDisplay,
    ReliabilityDisplay,
)
from scorewise.displays.samples import DensityDisplay, DriftDisplay, SuspectsDisplay
from scorewise.displays.smroc import HullDisplay, MidpointDisplay, SensitivityDisplay, SmRocDisplay

__all__ = [
    "AgreementDisplay", "AnswersDisplay", "ClassPrecisionRecallDisplay", "ClassReliabilityDisplay",
    "ClassRocDisplay", "CoefficientsDisplay", "ConfidenceDisplay", "ConfusionDisplay",
    "CostCurveDisplay", "DecisionCurveDisplay", "DensityDisplay", "DriftDisplay", "ForestDisplay",
    "GainDisplay", "HullDisplay", "LiftDisplay", "MidpointDisplay", "OpinionsDisplay", "Overview",
    "PairsDisplay", "PosteriorDisplay", "PrecisionRecallDisplay", "RecalibrationDisplay",
    "ReliabilityDisplay", "RiskCoverageDisplay", "RocDisplay", "SensitivityDisplay", "SmRocDisplay",
    "SuspectsDisplay", "ThresholdDisplay",
]  # fmt: skip
