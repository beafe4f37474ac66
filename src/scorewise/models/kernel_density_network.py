"""Networks, each with rows of known class that it was not fitted to, asked together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from scorewise.arrays import Floats, Ints
from scorewise.errors import BadInput
from scorewise.models.input import is_whole, weights
from scorewise.models.neighbourhood import Neighbourhood, background, far, score
from scorewise.models.networks import (
    Seen,
    check_classes,
    check_layers,
    check_network,
    check_outputs,
    check_shape,
    check_width,
    fitted,
    is_ready,
    is_torch,
    passing_of,
    plain,
    rows_of,
    see,
    seeds_of,
    unwrapped,
)
from scorewise.models.patterns import EXPONENTS, Around, KnownRows, Pool, tune_pool
from scorewise.models.posterior import check_folds, mixed, some, splits

NEIGHBOURS = 10  # known rows that the density is made of, of all networks together


@dataclass(frozen=True)
class Group:
    """Known rows of one network, in the order of their classes."""

    X: Floats
    codes: Ints
    weight: Floats

    def __len__(self) -> int:
        return len(self.codes)


@dataclass(frozen=True)
class Heard:
    """What a committee says of rows: log posteriors and kernel sums by network, one nearness."""

    log_network: Floats
    sums: Floats
    nearness: Floats


@dataclass(frozen=True)
class Committee:
    """Networks, the patterns of the rows that each knows, and the points of all of these."""

    networks: tuple[Any, ...]
    known: tuple[KnownRows, ...]
    near: Neighbourhood
    layers: Sequence[int] | None
    features: int | str | None

    @classmethod
    def of(
        cls,
        networks: Sequence[Any],
        groups: Sequence[Group],
        classes: int,
        layers: Sequence[int] | None,
        features: int | str | None,
    ) -> Committee:
        """From networks, each with a group of rows."""
        known, points = [], []
        for place, group in enumerate(groups):
            seen = [_see(network, group.X, layers, features) for network in networks]
            patterns = seen[place].patterns
            known.append(KnownRows.of(patterns, group.codes, group.weight, classes))
            points.append(_points(seen, features))
        near = Neighbourhood.of(np.concatenate(points))
        return cls(tuple(networks), tuple(known), near, layers, features)

    def hear(self, X: Floats, exponent: float) -> Heard:  # noqa: N803
        """What is said of rows that no network was fitted to."""
        seen, around = self._around(X, [(exponent,)] * len(self.known), None)
        sums = np.stack([part.sums[0] for part in around])
        log_network = np.stack([part.log_posterior for part in seen])
        return Heard(log_network, sums, self._nearness(seen, around))

    def hear_left_out(
        self,
        member: int,
        X: Floats,  # noqa: N803
        own: Ints,
        exponents: Sequence[float],
    ) -> Heard:
        """What one network says of rows that it knows, at the places `own`, if each were not known.

        The kernel sums are those of all exponents; the density is that of the whole committee.
        """
        wanted = [exponents if place == member else () for place in range(len(self.known))]
        seen, around = self._around(X, wanted, (member, own))
        near = self._nearness(seen, around)
        return Heard(seen[member].log_posterior, around[member].sums, near)

    def _around(
        self,
        X: Floats,  # noqa: N803
        exponents: Sequence[Sequence[float]],
        left_out: tuple[int, Ints] | None,
    ) -> tuple[list[Seen], list[Around]]:
        seen = [_see(network, X, self.layers, self.features) for network in self.networks]
        count = -(-NEIGHBOURS // len(self.known))
        around = [
            known.around(
                seen[place].patterns,
                exponents[place],
                count,
                left_out[1] if left_out and left_out[0] == place else None,
            )
            for place, known in enumerate(self.known)
        ]
        return seen, around

    def _nearness(self, seen: Sequence[Seen], around: Sequence[Around]) -> Floats:
        starts = np.cumsum([0, *(len(known) for known in self.known)])
        places = np.hstack(
            [part.places + start for part, start in zip(around, starts, strict=False)]
        )
        likeness = np.hstack([part.likeness for part in around])
        with np.errstate(over="ignore"):  # as far as can be: the log density is -inf
            return self.near.nearness(_points(seen, self.features), places, likeness)


def _see(
    network: Any,
    X: Floats,  # noqa: N803
    layers: Sequence[int] | None,
    features: int | str | None,
) -> Seen:
    return see(passing_of(network, features), X, layers, features)


def _points(seen: Sequence[Seen], features: int | str | None) -> Floats:
    """The rows themselves, or the activations of a layer, those of all networks side by side."""
    if features is None:
        return seen[0].points
    return np.hstack([part.points for part in seen])


# A ReLU network whose posteriors are calibrated near its data and fall to the prior far away.


ASKED = 2_000  # known rows that tuning looks at, in all, at most
FEWEST = 10  # rows in a fold; below twice as many nothing is tuned
NOTHING = "nothing"


class KernelDensityNetwork(ClassifierMixin, BaseEstimator):
    """Posteriors of a ReLU network, calibrated near its data, falling to the class prior far from it.

    `network` is an `MLPClassifier` or a torch module with `torch.nn.ReLU` layers that ends in logits. Of
    an unfitted one (None: two layers of 64) copies are fitted, each to all rows but one of `folds`, which
    are then the rows that it knows. A fitted one stays as it is: give `fit` rows that it has not seen.
    Columns are standardised for networks that are fitted here, unless `scale=False`.

    Two rows are alike by the product over `layers` (None: all) of 1 - the share of units of which one
    is on and the other off. The posterior near the data pools, over all networks, what they say, what the
    known rows alike are, and the prior; the pool is tuned by log loss, each known row left out in turn.
    The density is normal around the ten most alike, in the inputs or in the activations of the layer
    `features` (a number, or a torch module's name). `novelty` is the share of the background in it. At
    most `max_patterns` rows are known, drawn within classes. `tuned_on_` says how it was tuned, `pool_`
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
        folds: int = 5,
        max_patterns: int = 5_000,
        random_state: Any = None,
    ) -> None:
        self.network, self.layers, self.features = network, layers, features
        self.scale, self.folds = scale, folds
        self.max_patterns, self.random_state = max_patterns, random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        """Fit networks unless one is fitted, keep the patterns of the rows, and tune the pool."""
        network = self._checked()
        X, y = rows_of(self, X, y, images=is_torch(network))  # noqa: N806
        check_classification_targets(y)
        weight = None
        if sample_weight is not None:
            weight = weights(sample_weight, len(X))
            counts = weight > 0  # rows of weight 0 might as well be absent
            X, y, weight = X[counts], y[counts], weight[counts] / weight.max()  # noqa: N806
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise BadInput("y has one class only; a classifier needs rows of two classes at least")
        ready = network is not None and is_ready(network)
        self._learn_scale(X, self.scale and not ready)
        rows = _Rows(self._scaled(X), y, codes, weight)
        self.prior_ = np.bincount(codes, rows.weights) / rows.weights.sum()
        random = self._random()
        if ready:
            self._keep(network, rows)
            held = [np.arange(len(rows))]
        else:
            held = self._train(network, rows, random)
        groups = self._groups(rows, held, random)
        self.committee_ = Committee.of(
            self.networks_, groups, len(self.classes_), self.layers, self.features
        )
        self._tune(groups, random)
        return self

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """The posterior of each class, the prior where a row is far from all that is known."""
        heard = self._hear(X)
        inside = self.pool_.posterior(heard.log_network, heard.sums, self.prior_)
        return mixed(inside, self.prior_, far(heard.nearness, self.background_))

    def predict(self, X: Any) -> Any:  # noqa: N803
        """The class with the highest posterior."""
        best = self.predict_proba(X).argmax(axis=1)
        return self.classes_[best]

    def score_samples(self, X: Any) -> Floats:  # noqa: N803
        """Log density of each row amid those of the most similar patterns; lower if one feature is far."""
        return score(self._hear(X).nearness, self.background_)

    def novelty(self, X: Any) -> Floats:  # noqa: N803
        """0 amid the known rows, 1 far from them: the share of the prior in the posterior."""
        return far(self._hear(X).nearness, self.background_)

    def _checked(self) -> Any:
        """The network that is given, if it and the settings can be used."""
        check_folds(self.folds)
        if not (is_whole(self.max_patterns) and self.max_patterns >= 1):
            raise BadInput(f"max_patterns is {self.max_patterns!r}; it must be a number from 1 up")
        check_layers(self.layers, self.features)
        network = unwrapped(self.network)
        check_network(plain() if network is None else network, self.features)
        return network

    def _train(
        self, network: Any, rows: _Rows, random: np.random.Generator
    ) -> list[NDArray[np.int64]]:
        """Fit copies of the network, and give the places of the rows that each was not fitted to.

        Where rows are too few to leave any out, one network is fitted to all, and knows all.
        """
        folds = min(self.folds, len(rows) // FEWEST)
        self.tuned_on_ = f"{folds} folds, each by the network that was not fitted to it"
        parts = list(splits(rows.codes, folds, random)) if folds > 1 else []
        if not parts or min(len(held) for _, held in parts) < 2:
            self.tuned_on_ = f"{NOTHING}: too few rows to hold any out"
            parts = [(np.arange(len(rows)),) * 2]
        seeds = seeds_of(network, len(parts), random)
        learned = [rows[inside] for inside, _ in parts]
        self.networks_ = [
            fitted(network, part.X, part.y, part.weight, seed)
            for part, seed in zip(learned, seeds, strict=True)
        ]
        return [held for _, held in parts]

    def _keep(self, network: Any, rows: _Rows) -> None:
        """Take a fitted network as it is, if it knows the classes."""
        check_width(network, rows.X)
        check_classes(network, self.classes_)
        check_outputs(network, rows.X, self.classes_, self.layers, self.features)
        self.networks_ = [network]
        few = len(rows) < 2 * FEWEST
        self.tuned_on_ = f"{NOTHING}: too few rows" if few else "each row given, left out in turn"

    def _groups(
        self, rows: _Rows, held: list[NDArray[np.int64]], random: np.random.Generator
    ) -> list[Group]:
        """The rows that each network knows, so many as may be kept."""
        groups = []
        most = max(2, self.max_patterns // len(held))  # one is left to compare the other with
        for places in held:
            kept, stand_for = _by_class(rows.codes[places], most, random)
            part = rows[places[kept]]
            groups.append(Group(part.X, part.codes, rows.weights[places[kept]] * stand_for))
        return groups

    def _tune(self, groups: list[Group], random: np.random.Generator) -> None:
        """The pool and the background, each known row left out in turn; of few rows the usual pool."""
        asked, heard, each = [], [], []
        for member, group in enumerate(groups):
            own, stand_for = _by_class(group.codes, ASKED // len(groups), random)
            each.append(stand_for)
            asked.append(Group(group.X[own], group.codes[own], group.weight[own] * stand_for))
            heard.append(self.committee_.hear_left_out(member, asked[-1].X, own, EXPONENTS))
        near = np.concatenate([part.nearness for part in heard])
        self.background_ = background(near, np.concatenate(each))
        self.pool_ = Pool()
        if self.tuned_on_.startswith(NOTHING):
            return
        self.pool_ = tune_pool(
            np.concatenate([part.log_network for part in heard]),
            np.concatenate([part.sums for part in heard], axis=1),
            np.concatenate([part.codes for part in asked]),
            self.prior_,
            np.concatenate([part.weight for part in asked]),
        )

    def _hear(self, X: Any) -> Heard:  # noqa: N803
        check_is_fitted(self)
        X = rows_of(self, X, images=is_torch(self.networks_[0]))  # noqa: N806
        check_shape(X, self.centre_.shape)
        return self.committee_.hear(self._scaled(X), self.pool_.exponent)

    def _learn_scale(self, X: Floats, scale: bool) -> None:  # noqa: N803
        """Centre and inverse spread of the columns; a constant column is left out by a 0."""
        if not scale:
            self.centre_, self.slope_ = np.zeros(X.shape[1:]), np.ones(X.shape[1:])
            return
        low, high = X.min(axis=0), X.max(axis=0)
        reach = np.where(high > low, high - low, 1.0)
        above = (X - low) / reach  # exactly 0 in a constant column, however large it is
        self.centre_ = low + above.mean(axis=0) * reach
        spread = above.std(axis=0)
        self.slope_ = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0) / reach

    def _scaled(self, X: Floats) -> Floats:  # noqa: N803
        return np.asarray((X - self.centre_) * self.slope_)

    def _random(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))


@dataclass(frozen=True)
class _Rows:
    """Rows with their labels, class codes and weights (None if all count alike)."""

    X: Floats
    y: Any
    codes: NDArray[np.int64]
    weight: Floats | None

    @property
    def weights(self) -> Floats:
        """The weights, 1 on average."""
        return np.ones(len(self)) if self.weight is None else self.weight / self.weight.mean()

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, places: Any) -> _Rows:
        weight = None if self.weight is None else self.weight[places]
        return _Rows(self.X[places], self.y[places], self.codes[places], weight)


def _by_class(
    codes: NDArray[np.int64], most: int, random: np.random.Generator
) -> tuple[NDArray[np.int64], Floats]:
    """Places of some rows in the order of their classes, and how many rows each stands for."""
    places, stand_for = some(codes, most, random)
    order = np.argsort(codes[places], kind="stable")
    return places[order], stand_for[order]
