"""A scikit-learn classifier that decides by a rule."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, clone, is_classifier
from sklearn.utils.validation import check_is_fitted

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.thresholds.rule import ThresholdRule


class ThresholdClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of two classes whose alerts are those of a rule: `ThresholdClassifier(model, rule)`.

    `rule` is what `threshold` gave, or the file that it was saved to. A model that is fitted already serves
    as it is; `fit` fits a copy of it. Rows with an alert get the positive class of the rule. Scores are
    those of the positive class in `predict_proba`, or of `decision_function` where the rule is for logits
    or other scores.
    """

    def __init__(self, estimator: Any, rule: ThresholdRule | str | Path) -> None:
        self.estimator, self.rule = estimator, rule

    def fit(self, X: Any, y: Any, **options: Any) -> Self:  # noqa: N803 (as scikit-learn names it)
        """Fit a copy of the model; the rule stays as it is, so choose it again if scores change."""
        self.estimator_ = clone(self.estimator).fit(X, y, **options)
        return self

    @property
    def classes_(self) -> Any:
        """The two classes of the model."""
        return self._model().classes_

    def decision_scores(self, X: Any) -> Floats:  # noqa: N803
        """The scores that the rule cuts: how much speaks for its positive class."""
        model = self._model()
        rule, positive = self._rule(model)
        if rule.kind == "probability":
            if not hasattr(model, "predict_proba"):
                raise BadInput(
                    f"the rule is for probabilities, but {type(model).__name__} has no predict_proba; "
                    f"choose the threshold on the scores of its decision_function"
                )
            return np.asarray(model.predict_proba(X)[:, positive], np.float64)
        scores = np.asarray(model.decision_function(X), np.float64)
        return scores if positive else -scores

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The positive class of the rule for alerts, the other for the rest."""
        model = self._model()
        rule, positive = self._rule(model)
        alerts = rule.predict(self.decision_scores(X))
        return np.asarray(model.classes_)[np.where(alerts, positive, 1 - positive)]

    def predict_proba(self, X: Any) -> Any:  # noqa: N803
        """The probabilities of the model."""
        return self._model().predict_proba(X)

    def _model(self) -> Any:
        if hasattr(self, "estimator_"):
            return self.estimator_
        check_is_fitted(self.estimator)
        return self.estimator

    def __sklearn_is_fitted__(self) -> bool:
        try:
            self._model()
        except Exception:
            return False
        return True

    def _rule(self, model: Any) -> tuple[ThresholdRule, int]:
        """The rule, and the place of its positive class among those of the model."""
        rule = self.rule if isinstance(self.rule, ThresholdRule) else ThresholdRule.load(self.rule)
        if not is_classifier(model) or len(model.classes_) != 2:
            raise BadInput("a rule needs a classifier of two classes")
        words = [str(c) for c in model.classes_]
        if str(rule.positive) not in words:
            raise BadInput(
                f"the rule alerts for '{rule.positive}', but the classes of the model are "
                f"{' and '.join(repr(w) for w in words)}; choose the threshold on its labels"
            )
        return rule, words.index(str(rule.positive))
