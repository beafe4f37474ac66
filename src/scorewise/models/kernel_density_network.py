"""A ReLU network whose posteriors are calibrated near its data and fall to the prior far away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from scorewise.errors import BadInput
from scorewise.models.held_out import check_validation, splits
from scorewise.models.kernel_posterior import Array, background, far, mixed
from scorewise.models.pattern_kernel import Around, KnownRows, thinned
from scorewise.models.pooling import EXPONENTS, Pool, tune_pool
from scorewise.models.relu_layers import Seen, see
from scorewise.models.relu_networks import (
    check_classes,
    check_network,
    check_outputs,
    fitted,
    is_ready,
    passing_of,
    plain,
    rows_of,
    unwrapped,
)
from scorewise.models.torch_layers import is_torch

HELD_OUT = 2_000  # rows held out that tuning looks at, in all, at most
SMALL = 1_000  # rows below which tuning holds out five folds instead of one share


class KernelDensityNetwork(ClassifierMixin, BaseEstimator):
    """Posteriors of a ReLU network, calibrated near its data, falling to the class prior far from it.

    `network` is an `MLPClassifier` or a torch module with `torch.nn.ReLU` layers that ends in logits. An
    unfitted one (None: two layers of 64) is fitted to part of the rows, tuned by log loss on rows held
    out (`validation`: a share, or a number of folds; None: five folds below 1,000 rows, otherwise a
    fifth), and refitted to all. A fitted one stays as it is: give `fit` rows that it has not seen.
    Columns are standardised for a network that is fitted here, unless `scale=False`.

    Two rows are alike by the product over `layers` (None: all) of 1 - the share of units of which one
    is on and the other off. The posterior near the data pools the network's with that of the rows alike;
    the density is normal around the ten most alike, in the inputs or in the activations of the layer
    `features` (a number, or a torch module's name). `novelty` is the share of the background in it. At
    most `max_patterns` rows are kept, drawn within classes. `tuned_on_` says how it was tuned, `pool_`
    what was found.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelDensityNetwork(random_state=0).fit(X, y)
    >>> far_away = X[:1] + 100
    >>> model.predict_proba(far_away).round(3).tolist(), model.novelty(far_away).tolist()
    ([[0.333, 0.333, 0.333]], [1.0])
    """

    def __init__(
        self,
        network: Any = None,
        *,
        layers: Sequence[int] | None = None,
        features: int | str | None = None,
        scale: bool = True,
        validation: float | int | None = None,
        max_patterns: int = 10_000,
        random_state: Any = None,
    ) -> None:
        self.network, self.layers, self.features = network, layers, features
        self.scale, self.validation = scale, validation
        self.max_patterns, self.random_state = max_patterns, random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Fit the network unless it is fitted, tune the pool, and keep the patterns of the rows."""
        network = self._checked()
        X, y = rows_of(self, X, y, images=is_torch(network))  # noqa: N806
        check_classification_targets(y)
        weight = None
        if sample_weight is not None:
            weight = _check_sample_weight(sample_weight, X, dtype=np.float64)
            X, y, weight = _weighing(X, y, weight)  # noqa: N806
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise BadInput("y has one class only; a classifier needs rows of two classes at least")
        ready = network is not None and is_ready(network)
        self._learn_scale(X, self.scale and not ready)
        rows = _Rows(self._scaled(X), y, codes, weight)
        self.prior_ = np.bincount(codes, rows.weights) / rows.weights.sum()
        if ready:
            self._keep(network, rows)
        else:
            self._train(network, rows)
        return self

    def predict_proba(self, X: Any) -> Array:  # noqa: N803
        """The posterior of each class, the prior where a row is far from all that is known."""
        seen, around = self._around(X)
        inside = self.pool_.posterior(seen.log_posterior, around.sums[0], self.prior_)
        return mixed(inside, self.prior_, far(around.log_density, self.log_background_))

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The class with the highest posterior."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def score_samples(self, X: Any) -> Array:  # noqa: N803
        """Log density of each row around the rows of the most similar patterns."""
        return self._around(X)[1].log_density

    def novelty(self, X: Any) -> Array:  # noqa: N803
        """0 amid the known rows, 1 far from them: the share of the prior in the posterior."""
        return far(self.score_samples(X), self.log_background_)

    def _checked(self) -> Any:
        """The network that is given, if it and the settings can be used."""
        check_validation(self.validation)
        if self.max_patterns < 1:
            raise BadInput(f"max_patterns is {self.max_patterns}; it must be a number from 1 up")
        network = unwrapped(self.network)
        check_network(plain() if network is None else network, self.features)
        return network

    def _train(self, network: Any, rows: _Rows) -> None:
        """Tune on rows held out of copies of the network, then fit it to all rows."""
        random = self._random()
        seed = int(random.integers(2**31))
        validation = self.validation or (5 if len(rows) < SMALL else 0.2)
        tried, parts = [], list(splits(rows.codes, validation, random))
        for inside, held in parts:
            part = rows[inside]
            trained = fitted(network, part.X, part.y, part.weight, seed)
            known = self._known(self._see(trained, part.X), part, random)
            asked, stand_for = _some(rows, held, HELD_OUT // len(parts), random)
            seen = self._see(trained, rows.X[asked])
            tried.append(_Tried.of(known, seen, rows[asked], stand_for))
        self.network_ = fitted(network, rows.X, rows.y, rows.weight, seed)
        seen = self._see(self.network_, rows.X)
        self.known_ = self._known(seen, rows, random)
        self.tuned_on_ = f"{_said(validation, tried)}; the network was then refitted to all rows"
        self._tune(tried, seen)

    def _keep(self, network: Any, rows: _Rows) -> None:
        """Take a fitted network as it is, and tune on folds of rows held out of the known ones."""
        check_classes(network, self.classes_)
        self.network_ = network
        random = self._random()
        seen = self._see(network, rows.X)
        check_outputs(seen.log_posterior, self.classes_)
        validation = self.validation or 5
        tried, parts = [], list(splits(rows.codes, validation, random))
        for inside, held in parts:
            known = self._known(seen[inside], rows[inside], random)
            asked, stand_for = _some(rows, held, HELD_OUT // len(parts), random)
            tried.append(_Tried.of(known, seen[asked], rows[asked], stand_for))
        self.known_ = self._known(seen, rows, random)
        self.tuned_on_ = f"{_said(validation, tried)}; the network stays as it was given"
        self._tune(tried, seen)

    def _known(self, seen: Seen, rows: _Rows, random: np.random.Generator) -> KnownRows:
        places, stand_for = thinned(rows.codes, self.max_patterns, random)
        weight = rows.weights[places] * stand_for
        return KnownRows.of(seen[places], rows.codes[places], weight, len(self.classes_))

    def _tune(self, tried: list[_Tried], seen: Seen) -> None:
        """The pool and the background, from rows held out; the usual pool where there are none."""
        if not tried:
            self.pool_ = Pool()
            self.log_background_ = background(self.known_.around(seen, ()).log_density)
            return
        sums = np.concatenate([part.around.sums for part in tried], axis=1)
        log_network, codes, weight = (
            np.concatenate([getattr(part, name) for part in tried])
            for name in ("log_network", "codes", "weight")
        )
        self.pool_ = tune_pool(log_network, sums, codes, self.prior_, weight)
        density = np.concatenate([part.around.log_density for part in tried])
        self.log_background_ = background(density)

    def _around(self, X: Any) -> tuple[Seen, Around]:  # noqa: N803
        check_is_fitted(self)
        X = rows_of(self, X, images=is_torch(self.network_))  # noqa: N806
        seen = self._see(self.network_, self._scaled(X))
        return seen, self.known_.around(seen, (self.pool_.exponent,))

    def _see(self, network: Any, X: Array) -> Seen:  # noqa: N803
        return see(passing_of(network, self.features), X, self.layers, self.features)

    def _learn_scale(self, X: Array, scale: bool) -> None:  # noqa: N803
        """Centre and inverse spread of the columns; a constant column is left out by a 0."""
        self.centre_ = X.mean(axis=0) if scale else np.zeros(X.shape[1:])
        varies = X.min(axis=0) < X.max(axis=0)
        spread = np.where(varies, X.std(axis=0), 1.0)
        self.slope_ = varies / np.where(spread > 0, spread, 1.0) if scale else np.ones(X.shape[1:])

    def _scaled(self, X: Array) -> Array:  # noqa: N803
        return np.asarray((X - self.centre_) * self.slope_)

    def _random(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))


@dataclass(frozen=True)
class _Rows:
    """Rows with their labels, class codes and weights (None if all count alike)."""

    X: Array
    y: Any
    codes: NDArray[np.int64]
    weight: Array | None

    @property
    def weights(self) -> Array:
        """The weights, 1 on average."""
        return np.ones(len(self)) if self.weight is None else self.weight / self.weight.mean()

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, places: Any) -> _Rows:
        weight = None if self.weight is None else self.weight[places]
        return _Rows(self.X[places], self.y[places], self.codes[places], weight)


@dataclass(frozen=True)
class _Tried:
    """Rows held out: what lies around them, what the network says, what they are."""

    around: Around
    log_network: Array
    codes: NDArray[np.int64]
    weight: Array

    @classmethod
    def of(cls, known: KnownRows, seen: Seen, rows: _Rows, stand_for: Array) -> _Tried:
        """What known rows and the network say of rows, of which each stands for several."""
        around = known.around(seen, EXPONENTS)
        return cls(around, seen.log_posterior, rows.codes, rows.weights * stand_for)


def _some(
    rows: _Rows, held: NDArray[np.int64], most: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], Array]:
    """Places of rows held out, `most` or so, and how many each stands for."""
    places, stand_for = thinned(rows.codes[held], most, random)
    return held[places], stand_for


def _said(validation: float | int, tried: list[_Tried]) -> str:
    """What the pool was tuned on."""
    if not tried:
        return "nothing: too few rows to hold any out"
    return f"{validation:.3g} of the rows" if validation < 1 else f"{validation} folds"


def _weighing(X: Array, y: Any, weight: Array) -> tuple[Array, Any, Array]:  # noqa: N803
    """The rows with a weight; those of weight 0 might as well be absent."""
    if (weight < 0).any():
        first = int(np.flatnonzero(weight < 0)[0])
        raise BadInput(
            f"sample_weight is negative in {(weight < 0).sum():,} rows, first at row {first}; "
            "weights must be 0 or more"
        )
    counts = weight > 0
    return X[counts], y[counts], weight[counts]
