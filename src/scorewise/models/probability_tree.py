"""A decision tree that is grown for its probabilities: not pruned, its leaves smoothed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from scorewise.arrays import Floats, Ints
from scorewise.errors import BadInput
from scorewise.models.features import Encoding
from scorewise.models.validation import Classifier, class_codes, features, is_number, weights

Smoothing: TypeAlias = Literal["laplace", "m"] | None


class ProbabilityTree(Classifier):
    """Probability estimating tree: unpruned, with smoothed leaves, for features of any kind.

    A leaf with n rows, n_c of class c of C, says (n_c + 1) / (n + C) with smoothing="laplace",
    (n_c + m p_c) / (n + m) with "m", where p_c is the share of the class in all rows, n_c / n with None.
    A weight of 2 is worth the row twice, in leaves too; `min_samples_leaf` counts rows.

    Text, categories and booleans are nominal, and what `nominal` names; a split asks for one level against
    the rest. Missing numbers go to the side that suits the training rows best; missing nominal values are a
    level of their own. A level that fitting has not seen goes to the side with more rows.

    Grown by scikit-learn's DecisionTreeClassifier, which is `estimator_` and sees 32 bits of a number.
    Provost & Domingos (2003), Tree induction for probability-based ranking.

    >>> age, smokes = [22, 35, 41, 58, 63, 70], ["no", "no", "yes", "no", "yes", None]
    >>> import polars as pl
    >>> x, ill = pl.DataFrame({"age": age, "smokes": smokes}), [0, 0, 1, 0, 1, 1]
    >>> tree = ProbabilityTree(min_samples_leaf=1, random_state=0).fit(x, ill)
    >>> tree.predict_proba(x[:3]).round(2)
    array([[0.8, 0.2],
           [0.8, 0.2],
           [0.2, 0.8]])
    """

    def __init__(
        self,
        *,
        smoothing: Smoothing = "laplace",
        m: float = 2.0,
        criterion: Literal["entropy", "gini", "log_loss"] = "entropy",
        min_samples_leaf: int = 2,
        nominal: Sequence[str | int] | None = None,
        random_state: Any = None,
    ) -> None:
        self.smoothing, self.m, self.criterion = smoothing, m, criterion
        self.min_samples_leaf, self.nominal = min_samples_leaf, nominal
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Grow the tree."""
        self._check_settings()
        columns = features(self, X, y=y)
        self.classes_, codes = class_codes(y, columns)
        weight = weights(sample_weight, len(codes))
        used = weight > 0  # rows that do not count must not be counted in leaves either
        self.encoding_ = Encoding.learn(columns, self.nominal, used)
        x = _narrow(self.encoding_.read(columns)[0])
        self.estimator_ = DecisionTreeClassifier(
            criterion=self.criterion,
            min_samples_leaf=self.min_samples_leaf,
            random_state=self.random_state,
        ).fit(x[used], codes[used], sample_weight=weight[used])
        count = len(self.classes_)
        self.class_prior_ = np.bincount(codes, weight, count) / weight.sum()
        nodes = self.estimator_.tree_.node_count
        place = self.estimator_.apply(x) * count + codes
        self.leaf_weights_ = np.bincount(place, weight, nodes * count).reshape(nodes, count)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """The smoothed shares of the classes, in the order of `classes_`, in the leaf of each row."""
        leaves = self.apply(X)
        n = self.leaf_weights_[leaves]
        if self.smoothing == "laplace":
            n = n + 1
        elif self.smoothing == "m":
            n = n + self.m * self.class_prior_
        return np.asarray(n / n.sum(axis=1, keepdims=True))

    def apply(self, X: Any) -> Ints:  # noqa: N803
        """The number of the leaf that each row falls into."""
        check_is_fitted(self)
        x, _ = self.encoding_.read(features(self, X, reset=False))
        return np.asarray(self.estimator_.apply(_narrow(x)))

    def _check_settings(self) -> None:
        if self.smoothing not in ("laplace", "m", None):
            raise BadInput(
                f'smoothing={self.smoothing!r} is not known; pass smoothing="laplace" or "m" or None'
            )
        if self.smoothing == "m" and not (is_number(self.m) and self.m > 0):
            raise BadInput(f"m={self.m!r} is not positive and finite; it is worth that many rows")

    def _input_tags(self) -> dict[str, bool]:
        return {"allow_nan": True, "categorical": True, "string": True}


def _narrow(x: Floats) -> NDArray[np.float32]:
    """With the 32 bits that trees see; larger numbers as the largest that these hold."""
    far = np.finfo(np.float32).max
    return np.clip(x, -far, far).astype(np.float32)
