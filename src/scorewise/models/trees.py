"""A decision tree that is grown for its probabilities: not pruned, its leaves smoothed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.models.features import Encoding
from scorewise.models.input import (
    balanced,
    check_own_rows,
    check_same_classes,
    check_same_shape,
    check_settings,
    checked,
    encoded,
    encoding_of,
    features,
    is_finite,
    is_fitted,
    labels,
    moderate,
    takes_missing,
    weights,
)
from scorewise.models.leaves import (
    MOST,
    Leaves,
    Unseen,
    as_trees_see,
    bags,
    held_out,
    leaves_of,
    out_of_bag,
    some_of,
    together,
)
from scorewise.models.neighbourhood import Neighbourhood, background, far, nearest, score
from scorewise.models.posterior import (
    SMOOTHINGS,
    class_sums,
    indicator,
    mixed,
    prior_of,
    smoothed,
    tune,
)

Smoothing: TypeAlias = Literal["laplace", "m"] | None


class ProbabilityTree(ClassifierMixin, BaseEstimator):
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
        self._check()
        columns = features(self, X, y=y)
        self.classes_, codes = labels(y, columns)
        weight = weights(sample_weight, len(codes))
        used = weight > 0  # rows that do not count must not be counted in leaves either
        self.encoding_ = Encoding.learn(columns, self.nominal, used)
        x = _narrow(self.encoding_.encode(columns))
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
        shares: Floats = n / n.sum(axis=1, keepdims=True)
        return shares

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The likeliest class of each row; the first of several."""
        likeliest = self.predict_proba(X).argmax(axis=1)
        named: NDArray[Any] = self.classes_[likeliest]
        return named

    def apply(self, X: Any) -> NDArray[np.int64]:  # noqa: N803
        """The number of the leaf that each row falls into."""
        check_is_fitted(self)
        columns = features(self, X, reset=False)
        leaves: NDArray[np.int64] = self.estimator_.apply(_narrow(self.encoding_.encode(columns)))
        return leaves

    def _check(self) -> None:
        if self.smoothing not in ("laplace", "m", None):
            raise BadInput(
                f'smoothing={self.smoothing!r} is not known; pass smoothing="laplace" or "m" or None'
            )
        if self.smoothing == "m" and not (is_finite(self.m) and self.m > 0):
            raise BadInput(f"m={self.m!r} is not positive and finite; it is worth that many rows")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.categorical = tags.input_tags.string = True
        return tags

    def _more_tags(self) -> dict[str, Any]:  # before scikit-learn 1.6
        return {"allow_nan": True}


def _narrow(x: Floats) -> NDArray[np.float32]:
    """With the 32 bits that trees see; larger numbers as the largest that these hold."""
    far = np.finfo(np.float32).max
    return np.clip(x, -far, far).astype(np.float32)


# A forest whose posterior is calibrated near its training data and falls to the prior far away.


EXPONENTS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
_BLOCK = 16_384  # rows whose leaves are looked for together, at most
_PART = 2048  # of these, rows that are weighed together
_STRANGE = 100.0  # how far beyond the background a row with a word lies that was not met


class KernelDensityForest(ClassifierMixin, BaseEstimator):
    """Posterior from the training rows that share leaves with a row, weighted by a kernel around it.

    w(x, i) is the weight of training row i in the forest's answer for x, so that the forest says
    sum_i w(x, i) [y_i = y]. Here the sum is of w^exponent, drawn towards the prior (`smoothing`) and
    flattened (`temperature`); the three are chosen by log loss on rows that trees did not see: out
    of bag, or where trees draw no bootstrap sample, from smaller forests of 4 folds. An exponent
    other than 1, the forest's, is taken where it lowers the loss by a standard error. Then

        posterior = (1 - novelty) that + novelty prior,   novelty = sigmoid(log b - log density),

    with the density of x amid its nearest training rows under w and a background b below that of
    almost all training rows; a row far from these in one feature alone is new, too. Without `forest`
    one of `n_estimators` trees is grown; a fitted one is used as it is and needs its own training
    rows. Of a leaf at most `members` rows of a class are kept, drawn at random, to stand for the
    others. Words and categories in frames, and columns that `nominal` names or counts, get a column
    for each level.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelDensityForest(n_estimators=50, random_state=0).fit(X, y)
    >>> model.novelty([X[0], 100 * X[0]]).round(2)
    array([0., 1.])
    >>> model.predict_proba([100 * X[0]]).round(2)
    array([[0.33, 0.33, 0.33]])
    """

    classes_: NDArray[Any]
    encoding_: Encoding | None
    forest_: Any
    prior_: Floats
    exponent_: float
    smoothing_: float
    temperature_: float
    background_: Floats
    tuned_on_: str

    def __init__(
        self,
        forest: Any = None,
        *,
        n_estimators: int = 500,
        exponent: float | Literal["auto"] = "auto",
        smoothing: float | Literal["auto"] = "auto",
        temperature: float | Literal["auto"] = "auto",
        neighbours: int = 10,
        members: int = 2,
        nominal: Sequence[str | int] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.forest = forest
        self.n_estimators = n_estimators
        self.exponent = exponent
        self.smoothing = smoothing
        self.temperature = temperature
        self.neighbours = neighbours
        self.members = members
        self.nominal = nominal
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Fit the forest, unless it is, then its kernel."""
        check_settings(self)
        self.encoding_ = encoding_of(self, X, y, self.nominal)
        x, labels = self._rows(X, y)
        check_classification_targets(labels)
        as_trees_see(x)
        weight = None if sample_weight is None else moderate(weights(sample_weight, len(x)))
        if weight is not None and not self._is_ready():  # rows of no weight might as well be absent
            x, labels, weight = x[weight > 0], labels[weight > 0], weight[weight > 0]
        self.classes_, codes = np.unique(labels, return_inverse=True)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.forest_ = self._grown(x, labels, weight, seed)
        found = self._leaves_of(x)
        balance = balanced(self.forest_, labels, weight)
        inside = bags(self.forest_, len(x), weight, balance > 0)
        check_own_rows(self.forest_, x, found, codes, inside)
        rng = np.random.default_rng(seed)
        self._leaves = Leaves.of(self.forest_, found, codes, inside, self.members, rng)
        self._neighbourhood, self._count = Neighbourhood.of(x), min(self.neighbours, len(x))
        self._classes = indicator(codes, len(self.classes_))
        unseen = self._unseen(x, labels, weight, balance > 0, found, inside, rng)
        self._tune(unseen, x, codes, balance)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """Chance of each class, in the order of `classes_`."""
        inside, near = self._look(X)
        return mixed(inside, self.prior_, far(near, self.background_))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The likeliest class."""
        chances = self.predict_proba(X)
        return np.asarray(self.classes_[np.argmax(chances, axis=1)])

    def score_samples(self, X: Any) -> Floats:  # noqa: N803
        """Log density of each row amid the training rows; lower if one feature is far from them."""
        return score(self._look(X)[1], self.background_)

    def novelty(self, X: Any) -> Floats:  # noqa: N803
        """How far each row is from all training data: 0 amid it, 1 where only the prior is left."""
        return far(self._look(X)[1], self.background_)

    def _look(self, given: Any) -> tuple[Floats, Floats]:
        """The posterior near the data, and how near that is, of each row."""
        check_is_fitted(self)
        x, strange = self._rows(given)
        parts = self._blocks(self._look_at, x)
        near = np.concatenate([n for _, n in parts])
        near[strange] = np.minimum(near[strange], self.background_ - _STRANGE)
        return np.concatenate([p for p, _ in parts]), near

    def _rows(self, *given: Any) -> Any:
        """Rows as numbers, with labels in fitting; later, with those that hold a word that was not met."""
        missing = self._takes_missing()
        if self.encoding_ is None:
            x = checked(self, *given, missing=missing)
            return x if len(given) > 1 else (x, np.zeros(len(x), bool))
        return encoded(self, self.encoding_, *given, missing=missing)

    def _look_at(self, x: Floats) -> tuple[Floats, Floats]:
        order = together(self.forest_, x)
        x = x[order]
        own = self._leaves.reached(self.forest_, x)
        inside, near = np.empty((len(x), len(self.classes_))), np.empty((len(x), 2))
        for at in range(0, len(x), _PART):
            part = slice(at, at + _PART)
            w = self._leaves.weights_of(np.ascontiguousarray(own[:, part].T))
            sums = class_sums(w, self._classes, self.exponent_)
            inside[order[part]] = smoothed(
                sums, self.prior_, self.smoothing_, 1 / self.temperature_
            )
            near[order[part]] = self._neighbourhood.nearness(x[part], *nearest(w, self._count))
        return inside, near

    def _leaves_of(self, x: Floats) -> NDArray[np.int32]:
        return np.concatenate(self._blocks(lambda rows: leaves_of(self.forest_, rows), x))

    def _blocks(self, work: Any, x: Floats) -> list[Any]:
        """The work done on blocks of rows, one for each thread at least."""
        step = min(_BLOCK, -(-len(x) // effective_n_jobs(self.n_jobs)))
        parts = (x[at : at + step] for at in range(0, len(x), step))
        return list(Parallel(self.n_jobs, require="sharedmem")(delayed(work)(p) for p in parts))

    def _grown(self, x: Floats, labels: Any, weight: Any, seed: int) -> Any:
        """The forest, fitted."""
        if self._is_ready():
            check_same_shape(self.forest, x)
            check_same_classes(self.forest, self.classes_)
            return self.forest
        forest = self._forest()
        settings = {"random_state": seed, "n_jobs": self.n_jobs}
        free = {k: v for k, v in settings.items() if getattr(forest, k) is None}
        return forest.set_params(**free).fit(x, labels, sample_weight=weight)

    def _is_ready(self) -> bool:
        return self.forest is not None and is_fitted(self.forest)

    def _forest(self) -> Any:
        if self.forest is None:
            return RandomForestClassifier(self.n_estimators)
        return clone(self.forest)

    def _takes_missing(self) -> bool:
        return takes_missing(self._forest())

    def _unseen(
        self, x: Floats, labels: Any, weight: Any, counts: Any, found: Any, inside: Any, rng: Any
    ) -> Unseen:
        """Training rows with weights from trees that did not see them, as far as there are any."""
        if self.forest_.bootstrap:
            unseen = out_of_bag(self._leaves, found, labels, inside, counts, rng)
        else:
            unseen = held_out(self.forest_, x, labels, weight, counts, self.members, rng)
        if unseen is None:
            rows, stand_for = some_of(counts, labels, MOST, rng)
            return Unseen(rows, stand_for, self._leaves.weights(found[rows]), "training rows")
        return unseen

    def _tune(self, unseen: Unseen, x: Floats, codes: NDArray[np.int64], weight: Floats) -> None:
        """Choose what was left to choose, and the background."""
        rows, w, stand_for = unseen.rows, unseen.weights, unseen.stand_for
        self.prior_ = prior_of(codes, weight, len(self.classes_))
        exponents = EXPONENTS if self.exponent == "auto" else (float(self.exponent),)
        tuned = tune(
            {k: class_sums(w, self._classes, k) for k in exponents},
            codes[rows],
            self.prior_,
            weight[rows] * stand_for,
            smoothings=SMOOTHINGS if self.smoothing == "auto" else (float(self.smoothing),),
            sharpness=None if self.temperature == "auto" else 1 / float(self.temperature),
        )
        self.exponent_, self.smoothing_ = tuned.exponent, tuned.smoothing
        self.temperature_ = 1 / tuned.sharpness
        self.tuned_on_ = unseen.how
        near = self._neighbourhood.nearness(x[rows], *nearest(w, self._count))
        self.background_ = background(near, stand_for)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._takes_missing()
        return tags

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn 1.5
        return {"allow_nan": self._takes_missing()}
