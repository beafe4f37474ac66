"""Measures as scikit-learn's scorers: `cross_validate(model, X, y, scoring=scorers("auroc", "brier"))`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from scorewise.errors import BadInput
from scorewise.registry import CLASS_MEASURES, MEASURES, unknown


@dataclass(frozen=True)
class Scorer:
    """A measure of a fitted classifier, the higher the better: losses are negative, as in scikit-learn."""

    measure: str
    options: dict[str, Any] = field(default_factory=dict)

    def __call__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:  # noqa: N803
        """The value on these rows; NaN where it is undefined."""
        import scorewise

        several = len(estimator.classes_) > 2
        register = CLASS_MEASURES if several else MEASURES
        if self.measure not in register:
            what = "measure of several classes" if several else "measure of two classes"
            raise BadInput(unknown(self.measure, register, what))
        options = {"weight": sample_weight, **self.options}
        if hasattr(estimator, "predict_proba"):
            p = estimator.predict_proba(X)
            options |= {"classes": list(estimator.classes_)} if several else {}
        else:
            p = estimator.decision_function(X)
        if not several:
            options = {"positive": estimator.classes_[-1], **options}
            if p.ndim == 2:
                at = [*estimator.classes_].index(options["positive"])
                p = p[:, at]
        found: Any = scorewise.evaluate(y, p, **options)
        value = float(found[self.measure].value)
        return -value if register[self.measure].better == "low" else value


def scorer(measure: str, **options: Any) -> Scorer:
    """The scorer of a measure; the options are those of `evaluate`, such as `threshold` or `clip`.

    >>> scorer("brier")
    Scorer(measure='brier', options={})
    """
    from scorewise import measures  # noqa: F401  (fills the register)

    known = {**CLASS_MEASURES, **MEASURES}
    if measure not in known:
        raise BadInput(unknown(measure, known))
    if known[measure].better not in ("high", "low"):
        raise BadInput(
            f"{measure} is neither better high nor low, and no search can go by it; name one that is, such "
            f"as auroc or brier"
        )
    return Scorer(measure, options)


def scorers(*names: str, **options: Any) -> dict[str, Scorer]:
    """Scorers by the names of their measures, for `cross_validate` and searches.

    >>> list(scorers("auroc", "log_loss"))
    ['auroc', 'log_loss']
    """
    return {name: scorer(name, **options) for name in names}
