"""One call for two classes and for several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from scorewise.columns import Kind, Missing
from scorewise.columns.classes import is_wide, only_column, take_classes
from scorewise.errors import BadInput
from scorewise.evaluation.classes import ClassEvaluation
from scorewise.evaluation.models import Evaluation, Settings
from scorewise.tallies import ClassTally, Tally


def evaluate(
    y: Any,
    p: Any = None,
    *,
    classes: Sequence[Any] | None = None,
    predicted: Any = None,
    confidence: Any = None,
    weight: Any = None,
    count: Any = None,
    positive: Any = None,
    threshold: float = 0.5,
    level: float = 0.95,
    seed: int = 0,
    kind: Kind | None = None,
    missing: Missing = "refuse",
    clip: float | None = None,
) -> Evaluation | ClassEvaluation:
    """Every measure of labels `y` and scores `p`, or of a tally.

    Of two classes, `p` has one score a row, or a column for each class in the order of the sorted labels,
    as scikit-learn's `predict_proba` has them; a row is called positive when the score of the positive
    class is >= `threshold`. Of several classes, `p` is an n x K array, a frame or a mapping from class to
    column, and the decision is the class of the highest score; `confidence` says how sure it is ("max",
    "margin", "entropy", "energy" or a column). With `predicted`, the decisions themselves, `p` is the
    confidence in them.
    `weight` says how much a row matters, `count` how many rows it stands for. See `Tally.of` for
    `positive`, `kind` and `missing`, `ClassTally.of` for `classes`, and `measures.log_loss` for `clip`.

    >>> e = evaluate([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> e.auroc
    0.889 [0.401, 0.988]
    >>> e["sensitivity"].value
    1.0
    >>> round(evaluate(["a", "b", "b"], [[0.7, 0.3], [0.2, 0.8], [0.6, 0.4]]).brier.value, 3)
    0.163
    >>> p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3]]
    >>> evaluate(["a", "b", "b"], p, classes=["a", "b", "c"]).confusion.weight.tolist()
    [[1, 0, 0], [0, 1, 1], [0, 0, 0]]
    """
    settings = Settings(threshold, level, seed, clip)
    further = {"weight": weight, "count": count}
    named = {"classes": classes, "predicted": predicted, "confidence": confidence}
    if isinstance(y, Tally | ClassTally):
        given = {"p": p, **further, **named, "positive": positive, "kind": kind}
        if extra := [name for name, value in given.items() if value is not None]:
            raise BadInput(
                f"a tally has its scores and labels already; leave out {', '.join(extra)}"
            )
        if isinstance(y, Tally):
            return Evaluation(y, settings)
        _refuse_binary(positive, threshold)
        return ClassEvaluation(y, settings)
    if p is None:
        raise BadInput(
            "scores are missing; call evaluate(y, p) with labels and scores, or evaluate(sw.tally(...)) "
            "for files and data frames"
        )
    y, p = only_column(y), only_column(p)
    if predicted is None and not is_wide(p):
        if extra := [f"{name}=" for name, value in named.items() if value is not None]:
            raise BadInput(
                f"{' and '.join(extra)} belongs to several classes, but p has one score a row; pass one "
                f"score for each class (n x K), or predicted= with the decisions"
            )
        t = Tally.of(y, p, **further, positive=positive, kind=kind, missing=missing)
        return Evaluation(t, settings)
    several: Any = {**further, "classes": classes, "kind": kind, "missing": missing}
    if predicted is not None:
        _refuse_binary(positive, threshold)
        return ClassEvaluation(_decided(y, predicted, p, confidence, several), settings)
    rule = "max" if confidence is None else confidence
    own = None if isinstance(rule, str) else rule
    rows = take_classes(y, p, confidence=own, **several)
    if len(rows.classes) == 2 and confidence is None:
        return Evaluation(Tally.of_rows(rows.of_two(positive), "score").unlabelled(), settings)
    _refuse_binary(positive, threshold)
    by: Any = rule if own is None else "max"
    return ClassEvaluation(ClassTally.of_rows(rows, rule=by).unlabelled(), settings)


def _decided(y: Any, predicted: Any, p: Any, confidence: Any, options: Any) -> ClassTally:
    if is_wide(p) or confidence is not None:
        raise BadInput(
            "predicted= goes with one confidence a row, as p; leave it out where each class has a score"
        )
    return ClassTally.of_decisions(y, predicted, p, **options)


def _refuse_binary(positive: Any, threshold: float) -> None:
    """Refuse what means nothing for several classes."""
    given = {"positive=": positive is not None, "threshold=": threshold != Settings.threshold}
    if extra := [name for name, there in given.items() if there]:
        raise BadInput(
            f"{' and '.join(extra)} belongs to two classes; of several, the class of the highest score "
            f"is the decision (evaluate one class against the rest for a threshold)"
        )
