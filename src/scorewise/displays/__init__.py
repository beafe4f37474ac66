"""Pictures with matplotlib, which `pip install 'scorewise[plot]'` brings."""

from __future__ import annotations

from scorewise.displays.agreement import AgreementDisplay
from scorewise.displays.answers import AnswersDisplay
from scorewise.displays.coefficients import CoefficientsDisplay
from scorewise.displays.confidence import ConfidenceDisplay
from scorewise.displays.confusion import ConfusionDisplay
from scorewise.displays.density import DensityDisplay
from scorewise.displays.drift import DriftDisplay
from scorewise.displays.hull import HullDisplay
from scorewise.displays.midpoint import MidpointDisplay
from scorewise.displays.pairs import PairsDisplay
from scorewise.displays.posterior import PosteriorDisplay
from scorewise.displays.recalibration import RecalibrationDisplay
from scorewise.displays.reliability import ReliabilityDisplay
from scorewise.displays.risk_coverage import RiskCoverageDisplay
from scorewise.displays.roc import RocDisplay
from scorewise.displays.sensitivity import SensitivityDisplay
from scorewise.displays.smroc import SmRocDisplay

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
