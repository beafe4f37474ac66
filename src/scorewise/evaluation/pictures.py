"""What is drawn of evaluations: one model, several on the same rows, or several classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from scorewise import displays
from scorewise.displays.canvas import take_options
from scorewise.evaluation.result import ClassEvaluation, Comparison, Evaluation, OfModels
from scorewise.show.result import Pictures

Models: TypeAlias = Sequence[tuple[str | None, Evaluation]]  # of one, without its name
FIRST = ("roc", "precision_recall", "reliability", "confusion")
COMPARED = ("accuracy", "macro_f1", "macro_auroc", "log_loss", "brier")  # models of several classes


def pictures_of(of: OfModels) -> Pictures:
    """The pictures of one model or several; of several models of several classes, their differences."""
    if isinstance(of, ClassEvaluation):
        return _of_classes(of)
    if isinstance(of, Comparison) and of.several:
        differences = partial(displays.ForestDisplay.from_differences, of, COMPARED)
        return Pictures({"differences": differences}, ("differences",))
    evaluations = {name: e for name, e in of.evaluations.items() if isinstance(e, Evaluation)}
    several = len(evaluations) > 1
    models = [(name if several else None, e) for name, e in evaluations.items()]
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
    if all(e.tally.kind != "score" for _, e in models):
        kinds["decision_curve"] = partial(_curves, models, displays.DecisionCurveDisplay)
    first: tuple[str, ...] = FIRST
    if several:
        kinds["differences"] = partial(displays.ForestDisplay.from_differences, of)
        first = (*FIRST[:3], "differences")
    if all(e.groups for _, e in models):
        kinds["groups"] = partial(displays.ForestDisplay.from_groups, of)
        first = (*first, "groups")
    return Pictures(kinds, first)


def _of_classes(e: ClassEvaluation) -> Pictures:
    """Each class against the rest, the confidence, the decisions, and the risk of those kept."""
    t, level, seed = e.tally, e.settings.level, e.settings.seed
    shown: dict[str, Any] = {
        "roc": displays.ClassRocDisplay,
        "precision_recall": displays.ClassPrecisionRecallDisplay,
        "reliability": displays.ClassReliabilityDisplay,
        "confusion": displays.ConfusionDisplay,
        "risk_coverage": displays.RiskCoverageDisplay,
    }
    kinds: dict[str, Any] = {n: partial(x.from_tally, t, level=level) for n, x in shown.items()}
    kinds["reliability"] = partial(kinds["reliability"], seed=seed)
    first: tuple[str, ...] = ("roc", "reliability", "confusion", "risk_coverage")
    if e.groups:
        kinds["groups"] = partial(displays.ForestDisplay.from_groups, {"": e}, "accuracy")
        first = (*first, "groups")
    return Pictures(kinds, first)


def _curves(models: Models, kind: Any, *, ax: Any, **options: Any) -> Any:
    for name, e in models:
        known = take_options(kind, {"level": e.settings.level, "seed": e.settings.seed})
        drawn = kind(e.tally, name, **known).plot(ax=ax, **options)
        ax = drawn.ax_
    return drawn


def _reliability(models: Models, *, ax: Any, **options: Any) -> Any:
    """On one panel with histograms at its foot, or on two of a figure of its own."""
    for name, e in models:
        level, seed, rows = e.settings.level, e.settings.seed, e.clustered_rows
        shown = displays.ReliabilityDisplay(e.tally, name, level=level, seed=seed, rows=rows)
        own = {"histogram": True, "parts": False} if hasattr(ax, "plot") else {}
        drawn = shown.plot(ax=ax, **own | options)
        ax = drawn.axes_ if len(drawn.axes_) > 1 else drawn.ax_
    return drawn


def _confusions(models: Models, *, ax: Any, **options: Any) -> Any:
    made = {n: displays.ConfusionDisplay(e.confusion, n, level=e.settings.level) for n, e in models}
    return _panels({n: shown.plot for n, shown in made.items()}, ax, options)


def _densities(models: Models, *, ax: Any, **options: Any) -> Any:
    draw = displays.DensityDisplay.from_tally
    return _panels({n: partial(draw, e.tally, name=n) for n, e in models}, ax, options)


def _panels(plots: Mapping[Any, Any], ax: Any, options: Mapping[str, Any]) -> Any:
    """A panel for each model; one alone is drawn where it is asked for."""
    if len(plots) == 1:
        return next(iter(plots.values()))(ax=ax, **options)
    return displays.Overview(plots).plot(ax=ax, **options)
