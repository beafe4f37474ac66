"""What is drawn of evaluations: one model, several on the same rows, or several classes."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from scorewise import displays
from scorewise.displays.canvas import taken
from scorewise.displays.overview import Pictures

if TYPE_CHECKING:
    from scorewise.evaluation.classes import ClassEvaluation
    from scorewise.evaluation.models import Comparison, Evaluation

FIRST = ("roc", "precision_recall", "reliability", "confusion")


def pictures_of_models(models: Mapping[str, Evaluation], of: Evaluation | Comparison) -> Pictures:
    """ROC, precision-recall, reliability and confusion of each model; differences, and groups."""
    kinds: dict[str, Any] = {
        "roc": partial(_curves, models, displays.RocDisplay),
        "precision_recall": partial(_curves, models, displays.PrecisionRecallDisplay),
        "reliability": partial(_reliability, models),
        "confusion": partial(_confusions, models),
        "density": partial(_densities, models),
        "gain": partial(_curves, models, displays.GainDisplay),
        "lift": partial(_curves, models, displays.LiftDisplay),
        "cost_curve": partial(_curves, models, displays.CostCurveDisplay),
    }
    if all(e.tally.kind != "score" for e in models.values()):
        kinds["decision_curve"] = partial(_curves, models, displays.DecisionCurveDisplay)
    first: tuple[str, ...] = FIRST
    if len(models) > 1:
        kinds["differences"] = partial(displays.ForestDisplay.from_differences, of)
        first = (*FIRST[:3], "differences")
    if all(e.groups for e in models.values()):
        kinds["groups"] = partial(displays.ForestDisplay.from_groups, of)
        first = (*first, "groups")
    return Pictures(kinds, first)


def pictures_of_differences(of: Comparison) -> Pictures:
    """What several models of several classes share: how they differ."""
    shown = ("accuracy", "macro_f1", "macro_auroc", "log_loss", "brier")
    kinds = {"differences": partial(displays.ForestDisplay.from_differences, of, shown)}
    return Pictures(kinds, ("differences",))


def _curves(models: Mapping[str, Evaluation], kind: Any, *, ax: Any, **options: Any) -> Any:
    for name, e in models.items():
        known = taken(kind, {"level": e.settings.level, "seed": e.settings.seed})
        drawn = kind(e.tally, name if len(models) > 1 else None, **known).plot(ax=ax, **options)
        ax = drawn.ax_
    return drawn


def _reliability(models: Mapping[str, Evaluation], *, ax: Any, **options: Any) -> Any:
    """On one panel with histograms at its foot, or on two of a figure of its own."""
    several = len(models) > 1
    for name, e in models.items():
        level, seed = e.settings.level, e.settings.seed
        shown = displays.ReliabilityDisplay(
            e.tally, name if several else None, level=level, seed=seed, rows=e.clustered_rows
        )
        own = {"histogram": True, "parts": False} if hasattr(ax, "plot") else {}
        drawn = shown.plot(ax=ax, **own | options)
        ax = drawn.axes_ if len(drawn.axes_) > 1 else drawn.ax_
    return drawn


def _confusions(models: Mapping[str, Evaluation], *, ax: Any, **options: Any) -> Any:
    made = {
        name: displays.ConfusionDisplay(
            e.confusion, name if len(models) > 1 else None, level=e.settings.level
        )
        for name, e in models.items()
    }
    if len(made) == 1:
        return next(iter(made.values())).plot(ax=ax, **options)
    return displays.Overview({name: shown.plot for name, shown in made.items()}).plot(
        ax=ax, **options
    )


def _densities(models: Mapping[str, Evaluation], *, ax: Any, **options: Any) -> Any:
    made = {
        name: partial(displays.DensityDisplay.from_tally, e.tally) for name, e in models.items()
    }
    if len(made) == 1:
        return next(iter(made.values()))(ax=ax, **options)
    named = {name: partial(draw, name=name) for name, draw in made.items()}
    return displays.Overview(named).plot(ax=ax, **options)


def pictures_of_classes(e: ClassEvaluation) -> Pictures:
    """Each class against the rest, the confidence, the decisions, and the risk of those kept."""
    t, level = e.tally, e.settings.level
    kinds: dict[str, Any] = {
        "roc": partial(displays.ClassRocDisplay.from_tally, t, level=level),
        "precision_recall": partial(
            displays.ClassPrecisionRecallDisplay.from_tally, t, level=level
        ),
        "reliability": partial(
            displays.ClassReliabilityDisplay.from_tally, t, level=level, seed=e.settings.seed
        ),
        "confusion": partial(displays.ConfusionDisplay.from_tally, t, level=level),
        "risk_coverage": partial(displays.RiskCoverageDisplay.from_tally, t, level=level),
    }
    first: tuple[str, ...] = ("roc", "reliability", "confusion", "risk_coverage")
    if e.groups:
        kinds["groups"] = partial(displays.ForestDisplay.from_groups, {"": e}, "accuracy")
        first = (*first, "groups")
    return Pictures(kinds, first)
