"""A forest whose posterior is calibrated near its training data and falls to the prior far away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, Self

import numpy as np
import sklearn
from joblib import Parallel, delayed, effective_n_jobs
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import at_least, is_finite
from scorewise.columns.numbers import Place
from scorewise.columns.vectors import Coded
from scorewise.errors import BadInput
from scorewise.models import forest_kernel as kernel
from scorewise.models.features import Columns, Encoding
from scorewise.models.forest_kernel import InBag, Int32s, Leaves, Training, TuningRows
from scorewise.models.kernel_density import (
    KernelDensityClassifier,
    Neighbourhood,
    background,
    nearest,
)
from scorewise.models.validation import (
    class_codes,
    features,
    is_fitted,
    listed,
    weights,
)

EXPONENTS = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
_BLOCK = 16_384  # rows whose leaves are looked for together, at most
_PART = 2048  # of these, rows that are weighed together
_BEYOND = 100.0  # how far beyond the background a row lies that has a new level
_MAX_SETTING = 1e6  # and of its inverse
_MAX_POWER = 100  # of 2, beyond which weights are extreme
_GAPS_STRAY = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 8)


class KernelDensityForest(KernelDensityClassifier):
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
        self.forest, self.n_estimators, self.nominal = forest, n_estimators, nominal
        self.exponent, self.smoothing, self.temperature = exponent, smoothing, temperature
        self.neighbours, self.members = neighbours, members
        self.n_jobs, self.random_state = n_jobs, random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Fit the forest, unless it is, then its kernel."""
        self._check_settings()
        columns = features(self, X, y=y)
        classes, codes = class_codes(y, columns)
        words = self.nominal is not None or any(isinstance(c, Coded) for _, c in columns)
        self.encoding_ = Encoding.learn(columns, self.nominal, unseen=0.0, booleans=words)
        x, labels = self._rows(columns)[0], classes[codes]
        kernel.as_float32(x)
        weight = None if sample_weight is None else weights(sample_weight, len(x))
        if weight is not None and abs(size := int(np.frexp(weight.max())[1])) >= _MAX_POWER:
            weight = np.ldexp(
                weight, -size
            )  # which trees can square; a power of 2 keeps the digits
        ready = self.forest is not None and is_fitted(self.forest)
        if weight is not None and not ready:  # rows of no weight might as well be absent
            x, labels, weight = x[weight > 0], labels[weight > 0], weight[weight > 0]
        self.classes_, codes = np.unique(labels, return_inverse=True)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        if ready:
            _check_same_training(self.forest, x, self.classes_)
            self.forest_ = self.forest
        else:
            forest, settings = self._unfitted(), {"random_state": seed, "n_jobs": self.n_jobs}
            forest.set_params(**{k: v for k, v in settings.items() if getattr(forest, k) is None})
            self.forest_ = forest.fit(x, labels, sample_weight=weight)
        leaves = np.concatenate(self._blocks(lambda rows: kernel.leaves_of(self.forest_, rows), x))
        balance, rng = _balanced(self.forest_, labels, weight), np.random.default_rng(seed)
        training = Training(self.forest_, x, labels, weight, balance > 0, self.members, rng)
        _check_own_rows(self.forest_, x, leaves, codes, training.in_bag)
        self._leaves = Leaves.of(training, leaves, codes)
        self._neighbourhood, self._count = Neighbourhood.of(x), min(self.neighbours, len(x))
        self._classes = kernel.indicator(codes, len(self.classes_))
        self._tune(training.tuning_rows(self._leaves, leaves), x, codes, balance)
        return self

    def _posterior_and_nearness(self, X: Any) -> tuple[Floats, Floats]:  # noqa: N803
        check_is_fitted(self)
        x, new = self._rows(features(self, X, reset=False))
        parts = self._blocks(self._look_at, x)
        near = np.concatenate([n for _, n in parts])
        near[new] = np.minimum(near[new], self.background_ - _BEYOND)
        return np.concatenate([p for p, _ in parts]), near

    def _look_at(self, x: Floats) -> tuple[Floats, Floats]:
        """The same for a block of rows."""
        # rows that share leaves follow one another: trees then take the same turns again and again, and
        # what belongs to a leaf is read once
        narrow = kernel.as_float32(x)
        order = np.lexsort([tree.tree_.apply(narrow) for tree in self.forest_.estimators_[:3]])
        x = x[order]
        leaves = kernel.leaves_of(self.forest_, x)
        inside, near = np.empty((len(x), len(self.classes_))), np.empty((len(x), 2))
        for at in range(0, len(x), _PART):
            part = slice(at, at + _PART)
            w = self._leaves.weights(leaves[part])
            sums = kernel.class_sums(w, self._classes, self.exponent_)
            sharpness = 1 / self.temperature_
            inside[order[part]] = kernel.smoothed(sums, self.prior_, self.smoothing_, sharpness)
            near[order[part]] = self._neighbourhood.nearness(x[part], *nearest(w, self._count))
        return inside, near

    def _rows(self, columns: Columns) -> tuple[Floats, Bools]:
        """Rows as numbers, and which hold a word that was not met."""
        x, new = self.encoding_.matrix(columns)
        if not takes_missing(self._unfitted()) and (missing := np.isnan(x)).any():
            at = missing.any(axis=0).argmax()
            raise BadInput(
                f"{self.encoding_.names[at]} is missing {Place().rows(missing[:, at])}, which the forest "
                "has no use for; fill the gaps (NaN), or pass a RandomForestClassifier"
            )
        return x, new

    def _blocks(self, work: Callable[[Floats], Any], x: Floats) -> list[Any]:
        """The work done on blocks of rows, one for each thread at least."""
        step = min(_BLOCK, -(-len(x) // effective_n_jobs(self.n_jobs)))
        parts = (x[at : at + step] for at in range(0, len(x), step))
        return list(Parallel(self.n_jobs, require="sharedmem")(delayed(work)(p) for p in parts))

    def _unfitted(self) -> Any:
        if self.forest is None:
            return RandomForestClassifier(self.n_estimators)
        return clone(self.forest)

    def _tune(self, tuning: TuningRows, x: Floats, codes: Ints, weight: Floats) -> None:
        """Choose what was left to choose, and the background."""
        rows, stand_for, w, self.tuned_on_ = tuning
        # above 0 also for classes without weight
        total = np.maximum(np.bincount(codes, weight), 1e-12 * weight.sum())
        self.prior_ = total / total.sum()
        exponents = EXPONENTS if self.exponent == "auto" else (float(self.exponent),)
        tuned = kernel.tune(
            {k: kernel.class_sums(w, self._classes, k) for k in exponents},
            codes[rows],
            self.prior_,
            weight[rows] * stand_for,
            smoothings=kernel.SMOOTHINGS if self.smoothing == "auto" else (float(self.smoothing),),
            sharpness=None if self.temperature == "auto" else 1 / float(self.temperature),
        )
        self.exponent_, self.smoothing_ = tuned.exponent, tuned.smoothing
        self.temperature_ = 1 / tuned.sharpness
        near = self._neighbourhood.nearness(x[rows], *nearest(w, self._count))
        self.background_ = background(near, stand_for)

    def _check_settings(self) -> None:
        if self.forest is not None:
            _check_forest(self.forest)
        for name in ("exponent", "temperature", "smoothing"):
            value = getattr(self, name)
            least = 0.0 if name == "smoothing" else 1 / _MAX_SETTING
            auto = isinstance(value, str) and value == "auto"
            if not auto and not (is_finite(value) and least <= value <= _MAX_SETTING):
                raise BadInput(
                    f"{name} is {value!r}; pass a number from {least:g} to {_MAX_SETTING:g}, or 'auto'"
                )
        at_least(1, 10, neighbours=self.neighbours)
        at_least(1, 2, members=self.members)

    def _input_tags(self) -> dict[str, bool]:
        return {"allow_nan": takes_missing(self._unfitted()), "categorical": True, "string": True}


def takes_missing(forest: Any) -> bool:
    """Whether the forest has a use for missing values."""
    try:
        from sklearn.utils import get_tags
    except ImportError:  # scikit-learn 1.5
        return bool(forest._get_tags()["allow_nan"])
    return bool(get_tags(forest).input_tags.allow_nan)


def _check_forest(forest: Any) -> None:
    """Refuse what is not a forest of classification trees."""
    parts = ("bootstrap", "class_weight", "n_estimators", "max_depth")
    if not (all(hasattr(forest, part) for part in parts) and is_classifier(forest)):
        raise BadInput(
            f"forest is {forest!r}; pass a RandomForestClassifier or an ExtraTreesClassifier"
        )
    shares = forest.class_weight.values() if isinstance(forest.class_weight, dict) else ()
    if not all(is_finite(share) and share >= 0 for share in shares):
        raise BadInput(
            f"the forest's class_weight is {forest.class_weight}; weights are numbers from 0 up"
        )


def _check_same_training(forest: Any, x: Floats, classes: NDArray[Any]) -> None:
    """Refuse columns, a number of rows or classes other than those that a forest was fitted to."""
    if (wide := forest.n_features_in_) != x.shape[1]:
        raise BadInput(
            f"the forest was fitted on {wide} columns and {x.shape[1]} were given (words make one for "
            "each level); pass its training rows as it had them"
        )
    if (own := getattr(forest, "_n_samples", len(x))) != len(x):
        raise BadInput(
            f"the forest was fitted on {own} rows and {len(x)} were given; pass its training rows"
        )
    if not np.array_equal(forest.classes_, classes):
        raise BadInput(
            f"the forest was fitted to the classes {listed(forest.classes_)}, and the labels are "
            f"{listed(classes)}; pass the labels that it was fitted to"
        )


def _check_own_rows(forest: Any, x: Floats, leaves: Int32s, codes: Ints, in_bag: InBag) -> None:
    """Refuse rows or labels that a fitted forest was not trained on, seen by its first and last tree.

    Before scikit-learn 1.8, rows with gaps may end in other leaves than in training.
    """
    gaps = np.asarray(np.isnan(x).any(axis=1)) & _GAPS_STRAY
    for at in (0, -1):
        tree, leaf = forest.estimators_[at].tree_, leaves[:, at]
        own = in_bag(at % len(forest.estimators_)) > 0
        held = np.bincount(leaf[own], minlength=tree.node_count)
        ends = tree.children_left == -1
        strays = np.abs(held - tree.n_node_samples)[ends].sum() / 2
        right = (tree.value[leaf[own], 0, codes[own]] > 0) | gaps[own]
        if strays > gaps[own].sum() or not right.all():
            raise BadInput(
                "the forest was fitted on other rows than these, or with other labels; pass its own "
                "training rows in their order, or an unfitted forest"
            )


def _balanced(forest: Any, labels: Any, weight: Any) -> Floats:
    """Weight of each row, times that of its class in the forest; 1 on average."""
    weights = np.ones(len(labels)) if weight is None else weight
    if forest.class_weight is not None:
        wish = "balanced" if forest.class_weight == "balanced_subsample" else forest.class_weight
        weights = weights * compute_sample_weight(wish, labels)
    return np.asarray(weights / weights.mean())
