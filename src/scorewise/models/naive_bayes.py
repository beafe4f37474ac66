"""Naive Bayes for features of several kinds: each speaks for itself, and what is missing is silent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp
from sklearn.utils.validation import check_is_fitted

from scorewise.arrays import Floats, Ints
from scorewise.errors import BadInput
from scorewise.models.features import Layout
from scorewise.models.validation import Classifier, class_codes, features, is_number, weights

_FAR = 1e100  # squares of more standard deviations than that are no floats
_WIDEST = 1e300  # the largest variance, in which all rows are as likely


class NaiveBayes(Classifier):
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
        self._check_settings()
        columns = features(self, X, y=y)
        self.classes_, codes = class_codes(y, columns)
        weight = weights(sample_weight, len(codes))
        used = weight > 0
        self.layout_ = Layout.learn(columns, self.nominal, used)
        rows = self.layout_.read(columns)
        member = (codes[:, None] == np.arange(len(self.classes_))) * weight[:, None]
        self.class_count_ = member.sum(axis=0)
        self.class_prior_ = self.class_count_ / weight.sum()
        self._normals = _Normals.of(rows.numbers[used], member[used], self.var_smoothing)
        self.theta_, self.var_ = self._normals.in_units()
        levels = [found for found in self.layout_.levels if found is not None]
        self.level_log_prob_ = [
            _log_shares(column, member, len(found), self.alpha)
            for column, found in zip(rows.codes.T, levels, strict=True)
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
        rows = self.layout_.read(features(self, x, reset=False))
        with np.errstate(divide="ignore"):  # a class of no weight is impossible
            log_prior = np.log(self.class_prior_)
        evidence = self._normals.log_density(rows.numbers)
        for column, shares in zip(rows.codes.T, self.level_log_prob_, strict=True):
            known = column >= 0
            evidence[known] += shares[:, column[known]].T
        return log_prior, evidence

    def _check_settings(self) -> None:
        if not (is_number(self.alpha) and self.alpha > 0):
            raise BadInput(f"alpha={self.alpha!r} is not positive and finite; 1 is Laplace's")
        smoothing = self.var_smoothing
        if smoothing is not None and not (is_number(smoothing) and smoothing >= 0):
            raise BadInput(
                f"var_smoothing={smoothing!r} is not a finite number from 0 up; GaussianNB's is 1e-9"
            )

    def _input_tags(self) -> dict[str, bool]:
        return {"allow_nan": True, "categorical": True, "string": True}


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
        own = [_moments(x, weight) for weight in member.T]
        mean = np.array([np.where(total > 0, mean, centre) for total, mean, _ in own])
        var = np.array([np.where(total > 0, var, spread) for total, _, var in own])
        if smoothing is None:
            var = np.maximum(var, (gap / 6) ** 2)
        else:
            var = np.maximum(var + _added(spread, power, smoothing), np.finfo(float).tiny)
        # a feature with one value has the same density in all classes, which cancels
        mean = np.where(gap > 0, mean, centre)
        one = np.ldexp(1.0, np.clip(-2 * power, -900, 900))
        return cls(power, mean, np.where(gap > 0, np.minimum(var, _WIDEST), one))

    def in_units(self) -> tuple[Floats, Floats]:
        """Means and variances in the units of the columns, as far as floats go."""
        with np.errstate(over="ignore"):
            return np.ldexp(self.mean, self.power), np.ldexp(self.var, 2 * self.power)

    def log_density(self, x: Floats) -> Floats:
        """The sum of the log densities of what is there, rows by classes."""
        found = []
        with np.errstate(over="ignore"):  # as far as can be
            x = np.ldexp(x, -self.power)
            for mean, var in zip(self.mean, self.var, strict=True):
                away = np.clip((x - mean) / np.sqrt(var), -_FAR, _FAR)
                log_scale = np.log(2 * np.pi * var) + 2 * np.log(2) * self.power
                found.append(-0.5 * np.nansum(log_scale + away**2, axis=1))
        return np.stack(found, axis=1)


def _moments(x: Floats, weight: Floats) -> tuple[Floats, Floats, Floats]:
    """For each column the weight, mean and variance of what is there."""
    mass = np.where(np.isnan(x), 0.0, weight[:, None])
    filled = np.nan_to_num(x)
    total = mass.sum(axis=0)
    whole = np.where(total > 0, total, 1.0)
    mean = (mass * filled).sum(axis=0) / whole
    return total, mean, (mass * (filled - mean) ** 2).sum(axis=0) / whole


def _added(var: Floats, power: Ints, smoothing: float) -> Floats:
    """That share of the largest variance of any column, in the unit of each."""
    if not smoothing or not var.any():
        return np.zeros_like(var)
    with np.errstate(divide="ignore"):
        largest = (np.log2(var) + 2 * power).max() + np.log2(smoothing)
    return np.asarray(np.exp2(np.minimum(largest - 2 * power, np.log2(_WIDEST))), np.float64)


def _log_shares(column: Ints, member: Floats, levels: int, alpha: float) -> Floats:
    """For each class the logarithms of the smoothed shares of the levels."""
    known = column >= 0
    n = np.array([np.bincount(column[known], c[known], levels) for c in member.T]) + alpha
    return np.asarray(np.log(n) - np.log(n.sum(axis=1, keepdims=True)), np.float64)
