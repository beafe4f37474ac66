"""Classifiers for features of several kinds: naive Bayes, and a tree grown for its probabilities."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils.validation import check_is_fitted

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import is_finite
from scorewise.errors import BadInput
from scorewise.models.features import Columns, Encoding
from scorewise.models.validation import Classifier, class_codes, features, weights

_FAR = 1e100  # squares of more standard deviations than that are no floats
_WIDEST = 1e300  # the largest variance, in which all rows are as likely
# columns, the class of each row, its weight, and whether it has any
Training: TypeAlias = tuple[Columns, Ints, Floats, Bools]
Smoothing: TypeAlias = Literal["laplace", "m"] | None


class MixedClassifier(Classifier):
    """A classifier that takes numbers, text, categories and booleans, with missing values."""

    nominal: Sequence[str | int] | None

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:  # noqa: N803
        """What is learned from, once the settings are checked."""
        self._check_settings()
        columns = features(self, X, y=y)
        self.classes_, codes = class_codes(y, columns)
        weight = weights(sample_weight, len(codes))
        return columns, codes, weight, weight > 0

    def _check_settings(self) -> None:
        """Refuse settings that cannot be used."""
        raise NotImplementedError

    def _input_tags(self) -> dict[str, bool]:
        return {"allow_nan": True, "categorical": True, "string": True}


class NaiveBayes(MixedClassifier):
    """Naive Bayes for numeric and nominal features with missing values.

    Each numeric feature has a normal density in each class, each nominal one the shares of its levels,
    (n_level + alpha) / (n + alpha k) for k levels. Values that are missing, in training or later, and
    levels that training has not seen are left out of the product. A weight of 2 is worth the row twice.

    Text, categories and booleans are nominal, and what `nominal` names. No standard deviation is below a
    sixth of the mean gap between neighbouring values of the feature, as in WEKA; with `var_smoothing`, that
    share of the largest variance of any feature is added to each instead, as in scikit-learn's GaussianNB.
    A class without any value of a feature takes the mean and variance of all rows.

    >>> import polars as pl
    >>> age, smokes = [22, 35, None, 58, 63, 70], ["no", "no", "yes", "no", "yes", None]
    >>> x, ill = pl.DataFrame({"age": age, "smokes": smokes}), [0, 0, 1, 0, 1, 1]
    >>> model = NaiveBayes().fit(x, ill)
    >>> model.predict_proba(pl.DataFrame({"age": [None, 60], "smokes": ["yes", "pipe"]})).round(2)
    array([[0.21, 0.79],
           [0.31, 0.69]])
    """

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        var_smoothing: float | None = None,
        nominal: Sequence[str | int] | None = None,
    ) -> None:
        self.alpha, self.var_smoothing, self.nominal = alpha, var_smoothing, nominal

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Learn the shares of classes, the means and variances of numbers and the shares of levels."""
        columns, codes, weight, used = self._training(X, y, sample_weight)
        self.encoding_ = Encoding.learn(columns, self.nominal, used)
        rows = self.encoding_.features(columns)
        member = (codes[:, None] == np.arange(len(self.classes_))) * weight[:, None]
        self.class_count_ = member.sum(axis=0)
        self.class_prior_ = self.class_count_ / weight.sum()
        self._normals = n = _Normals.of(rows.numbers[used], member[used], self.var_smoothing)
        with np.errstate(over="ignore"):  # in the units of the columns, as far as floats go
            self.theta_, self.var_ = np.ldexp(n.mean, n.power), np.ldexp(n.var, 2 * n.power)
        self.level_log_prob_ = [
            _log_shares(column, member, len(levels), self.alpha)
            for column, (_, levels) in zip(rows.codes.T, self.encoding_.nominal, strict=True)
        ]
        return self

    def predict_joint_log_proba(self, X: Any) -> Floats:  # noqa: N803
        """The logarithm of each class's share times the density of what is known of the row."""
        log_prior, evidence = self._weigh(X)
        return log_prior + evidence

    def predict_log_proba(self, X: Any) -> Floats:  # noqa: N803
        """The logarithms of the probabilities."""
        log_prior, evidence = self._weigh(X)
        possible = np.isfinite(log_prior)
        # far away the evidence is so large that adding the prior to it would lose the prior
        odds = log_prior + (evidence - evidence[:, possible].max(axis=1, keepdims=True))
        return np.asarray(odds - logsumexp(odds, axis=1, keepdims=True), np.float64)

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """The probability of each class, in the order of `classes_`."""
        return np.exp(self.predict_log_proba(X))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The likeliest class of each row, told apart where probabilities round to the same."""
        best = self.predict_log_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def _weigh(self, x: Any) -> tuple[Floats, Floats]:
        """The log shares of the classes, and the log density of what is known of each row in them."""
        check_is_fitted(self)
        rows = self.encoding_.features(features(self, x, reset=False))
        with np.errstate(divide="ignore"):  # a class of no weight is impossible
            log_prior = np.log(self.class_prior_)
        evidence = self._normals.log_density(rows.numbers)
        for column, shares in zip(rows.codes.T, self.level_log_prob_, strict=True):
            met = column >= 0
            evidence[met] += shares[:, column[met]].T
        return log_prior, evidence

    def _check_settings(self) -> None:
        if not (is_finite(self.alpha) and self.alpha > 0):
            raise BadInput(f"alpha={self.alpha!r} is not positive and finite; 1 is Laplace's")
        smoothing = self.var_smoothing
        if smoothing is not None and not (is_finite(smoothing) and smoothing >= 0):
            raise BadInput(
                f"var_smoothing={smoothing!r} is not a finite number from 0 up; GaussianNB's is 1e-9"
            )


class _Normals(NamedTuple):
    """Means and variances by class, with each column in a unit of its own, 2^power.

    Squares of the smallest and largest floats are none; of values up to 1 they are.
    """

    power: Ints
    mean: Floats
    var: Floats

    @classmethod
    def of(cls, x: Floats, member: Floats, smoothing: float | None) -> _Normals:
        """From rows and their weights in each class; variances are kept away from 0."""
        power = np.frexp(np.nan_to_num(np.abs(x)).max(axis=0))[1].astype(np.int64)
        x = np.ldexp(x, -power)
        values = [np.unique(column[~np.isnan(column)]) for column in x.T]
        gap = np.array([np.ptp(v) / (len(v) - 1) if len(v) > 1 else 0.0 for v in values])
        _, centre, spread = _moments(x, member.sum(axis=1))
        total, mean, var = np.stack([_moments(x, weight) for weight in member.T], axis=1)
        mean, var = np.where(total > 0, [mean, var], [[centre], [spread]])
        if smoothing is None:
            var = np.maximum(var, (gap / 6) ** 2)
        else:
            var = np.maximum(var + _added(spread, power, smoothing), np.finfo(float).tiny)
        # a feature with one value has the same density in all classes, which cancels
        mean = np.where(gap > 0, mean, centre)
        one = np.ldexp(1.0, np.clip(-2 * power, -900, 900))
        return cls(power, mean, np.where(gap > 0, np.minimum(var, _WIDEST), one))

    def log_density(self, x: Floats) -> Floats:
        """The sum of the log densities of what is there, rows by classes."""
        densities = []
        with np.errstate(over="ignore"):  # as far as can be
            x = np.ldexp(x, -self.power)
            for mean, var in zip(self.mean, self.var, strict=True):
                away = np.clip((x - mean) / np.sqrt(var), -_FAR, _FAR)
                log_scale = np.log(2 * np.pi * var) + 2 * np.log(2) * self.power
                densities.append(-0.5 * np.nansum(log_scale + away**2, axis=1))
        return np.stack(densities, axis=1)


def _moments(x: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """For each column the weight, mean and variance of what is there."""
    mass = np.where(np.isnan(x), 0.0, weight[:, None])
    filled = np.nan_to_num(x)
    total = mass.sum(axis=0)
    divisor = np.where(total > 0, total, 1.0)
    mean = (mass * filled).sum(axis=0) / divisor
    return total, mean, (mass * (filled - mean) ** 2).sum(axis=0) / divisor


def _added(var: Floats, power: Ints, smoothing: float) -> Floats:
    """That share of the largest variance of any column, in the unit of each."""
    if not smoothing or not var.any():
        return np.zeros_like(var)
    with np.errstate(divide="ignore"):
        largest = (np.log2(var) + 2 * power).max() + np.log2(smoothing)
    return np.asarray(np.exp2(np.minimum(largest - 2 * power, np.log2(_WIDEST))), np.float64)


def _log_shares(column: Ints, member: Floats, levels: int, alpha: float) -> Floats:
    """For each class the logarithms of the smoothed shares of the levels."""
    met = column >= 0
    n = np.array([np.bincount(column[met], c[met], levels) for c in member.T]) + alpha
    return np.asarray(np.log(n) - np.log(n.sum(axis=1, keepdims=True)), np.float64)


class ProbabilityTree(MixedClassifier):
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
        # rows that do not count must not be counted in leaves either
        columns, codes, weight, used = self._training(X, y, sample_weight)
        self.encoding_ = Encoding.learn(columns, self.nominal, used)
        x = _narrow(self.encoding_.matrix(columns)[0])
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
        x, _ = self.encoding_.matrix(features(self, X, reset=False))
        return np.asarray(self.estimator_.apply(_narrow(x)))

    def _check_settings(self) -> None:
        if self.smoothing not in ("laplace", "m", None):
            raise BadInput(
                f'smoothing={self.smoothing!r} is not known; pass smoothing="laplace" or "m" or None'
            )
        if self.smoothing == "m" and not (is_finite(self.m) and self.m > 0):
            raise BadInput(f"m={self.m!r} is not positive and finite; it is worth that many rows")


def _narrow(x: Floats) -> NDArray[np.float32]:
    """With the 32 bits that trees see; larger numbers as the largest that these hold."""
    largest = np.finfo(np.float32).max
    return np.clip(x, -largest, largest).astype(np.float32)
