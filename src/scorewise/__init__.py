"""Judge classifier scores: decisions, order, scores and probabilities, each with its interval."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scorewise import curves, displays, measures, models
    from scorewise.agreeing import Agreement, agree
    from scorewise.answering import Answers, answers
    from scorewise.comparing import ModelComparison, compare
    from scorewise.curves.density import Density, density
    from scorewise.drifting import Drift, drift
    from scorewise.errors import BadInput
    from scorewise.estimate import Estimate
    from scorewise.evaluation import (
        ClassEvaluation,
        Comparison,
        Evaluation,
        class_tally,
        evaluate,
        tally,
    )
    from scorewise.gating import Gate, gate
    from scorewise.inspection import Inspection, Raters, inspect, raters
    from scorewise.judging import Judgement, items_needed, judge
    from scorewise.monitoring import Monitor
    from scorewise.planning import Plan, plan
    from scorewise.recalibrating import Recalibrator
    from scorewise.registry import measure
    from scorewise.reporting import Report, report
    from scorewise.tallies import ClassTally, Confusion, Ratings, Tally
    from scorewise.thresholds import ThresholdRule, threshold
    from scorewise.thresholds.classifier import ThresholdClassifier
    from scorewise.weighted_roc import SmRoc, smroc

__version__ = "0.1.0"

__all__ = [
    "Agreement",
    "Answers",
    "BadInput",
    "ClassEvaluation",
    "ClassTally",
    "Comparison",
    "Confusion",
    "Density",
    "Drift",
    "Estimate",
    "Evaluation",
    "Gate",
    "Inspection",
    "Judgement",
    "ModelComparison",
    "Monitor",
    "Plan",
    "Raters",
    "Ratings",
    "Recalibrator",
    "Report",
    "SmRoc",
    "Tally",
    "ThresholdClassifier",
    "ThresholdRule",
    "agree",
    "answers",
    "class_tally",
    "compare",
    "curves",
    "density",
    "displays",
    "drift",
    "evaluate",
    "gate",
    "inspect",
    "items_needed",
    "judge",
    "measure",
    "measures",
    "models",
    "plan",
    "raters",
    "report",
    "smroc",
    "tally",
    "threshold",
]

# imported when first asked for, so that `import scorewise` and `scorewise --help` cost nothing
_MODULES = {
    "agreeing": "Agreement agree",
    "answering": "Answers answers",
    "comparing": "ModelComparison compare",
    "curves.density": "Density density",
    "drifting": "Drift drift",
    "errors": "BadInput",
    "estimate": "Estimate",
    "evaluation": "ClassEvaluation Comparison Evaluation class_tally evaluate tally",
    "gating": "Gate gate",
    "inspection": "Inspection Raters inspect raters",
    "judging": "Judgement items_needed judge",
    "monitoring": "Monitor",
    "planning": "Plan plan",
    "recalibrating": "Recalibrator",
    "registry": "measure",
    "reporting": "Report report",
    "tallies": "ClassTally Confusion Ratings Tally",
    "thresholds": "ThresholdClassifier ThresholdRule threshold",
    "weighted_roc": "SmRoc smroc",
}
_HOMES = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"scorewise.{_HOMES[name]}"), name)
    if name in ("curves", "displays", "measures", "models"):
        return import_module(f"scorewise.{name}")
    raise AttributeError(f"scorewise has no attribute {name}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return __all__
