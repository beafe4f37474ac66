"""A ReLU network whose posteriors are calibrated near its data and fall to the prior far away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from scorewise.arrays import Floats, Ints
from scorewise.checks import at_least
from scorewise.columns.numbers import Place
from scorewise.errors import BadInput
from scorewise.models.kernel_density import (
    KernelDensityClassifier,
    Neighbourhood,
    background,
    stratified_folds,
    stratified_sample,
)
from scorewise.models.network_kernel import EXPONENTS, Pool, ReferenceRows, tune_pool
from scorewise.models.relu_networks import ForwardPass, ReluNetwork
from scorewise.models.validation import numeric_rows, weights

NEIGHBOURS = 10  # reference rows that the density is made of, of all networks together
MAX_TUNING_ROWS = 2_000  # reference rows that tuning looks at
MIN_FOLD = 10  # rows in a fold; below twice as many nothing is tuned
NOTHING = "nothing"


class KernelDensityNetwork(KernelDensityClassifier):
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
        x, y = self._rows(X, y, images=network.is_torch)
        check_classification_targets(y)
        weight = None
        if sample_weight is not None:
            weight = weights(sample_weight, len(x))
            counts = weight > 0  # rows of weight 0 might as well be absent
            x, y, weight = x[counts], y[counts], weight[counts] / weight.max()
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise BadInput("y has one class only; a classifier needs rows of two classes at least")
        self._learn_scale(x, self.scale and not network.is_ready)
        each = np.ones(len(x)) if weight is None else weight / weight.mean()
        rows = _Rows(self._scaled(x), codes, each)
        self.prior_ = np.bincount(codes, each) / each.sum()
        random = np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))
        if network.is_ready:
            network.check_suits(rows.x, self.classes_)
            self.networks_, held = [network.model], [np.arange(len(x))]
            self.tuned_on_ = "each row given, left out in turn"
            if len(x) < 2 * MIN_FOLD:
                self.tuned_on_ = f"{NOTHING}: too few rows"
        else:
            held = self._train(network, rows, y, weight, random)
        most = max(2, self.max_patterns // len(held))  # one is left to compare the other with
        groups = [rows[places].sample(most, random)[0] for places in held]
        networks = [replace(network, model=fitted) for fitted in self.networks_]
        self.committee_ = Committee.of(networks, groups, len(self.classes_))
        self._tune(groups, random)
        return self

    def _posterior_and_nearness(self, X: Any) -> tuple[Floats, Floats]:  # noqa: N803
        check_is_fitted(self)
        x = self._rows(X, images=self.committee_.networks[0].is_torch)
        if x.shape[1:] != (shape := self.centre_.shape):
            raise BadInput(
                f"each row of X has shape {x.shape[1:]}, in fitting it had {shape}; pass that"
            )
        logs, sums, near = self.committee_.respond(self._scaled(x), [self.pool_.exponent])
        return self.pool_.posterior(logs, sums[0], self.prior_), near

    def _checked(self) -> ReluNetwork:
        """The network that is given, if it and the settings can be used."""
        at_least(2, 5, folds=self.folds)
        at_least(1, 5000, max_patterns=self.max_patterns)
        frozen = type(self.network).__name__ == "FrozenEstimator"  # of scikit-learn
        model = self.network.estimator if frozen else self.network
        network = ReluNetwork(model, self.layers, self.features)
        network.check()
        return network

    def _rows(self, *xy: Any, images: bool) -> Any:
        """Finite rows, and labels when fitting; images may have more dimensions."""
        way_out = (
            "a network takes numbers alone; encode words, as with "
            "sklearn.preprocessing.OneHotEncoder, or use a KernelDensityForest"
        )
        checked = numeric_rows(self, *xy, way_out=way_out, allow_nd=images)
        x = checked[0] if len(xy) > 1 else checked
        bad = np.asarray(~np.isfinite(x).reshape(len(x), -1).all(axis=1))
        if bad.any():
            raise BadInput(
                f"X has NaN (missing) or inf {Place().rows(bad)}; a network takes neither: fill them, "
                "as with sklearn.impute.SimpleImputer, or use KernelDensityForest, which takes NaN"
            )
        return checked

    def _train(
        self, network: ReluNetwork, rows: _Rows, y: Any, weight: Floats | None, random: Any
    ) -> list[Ints]:
        """Fit copies of the network, and give the places of the rows that each was not fitted to.

        Where rows are too few to leave any out, one network is fitted to all, and knows all.
        """
        folds = min(self.folds, len(rows) // MIN_FOLD)
        self.tuned_on_ = f"{folds} folds, each by the network that was not fitted to it"
        parts = list(stratified_folds(rows.codes, folds, random)) if folds > 1 else []
        if not parts or min(len(held) for _, held in parts) < 2:
            self.tuned_on_ = f"{NOTHING}: too few rows to hold any out"
            parts = [(np.arange(len(rows)),) * 2]
        self.networks_ = []
        for (inside, _), seed in zip(parts, network.seeds(len(parts), random), strict=True):
            own = None if weight is None else weight[inside]
            self.networks_.append(network.fitted(rows.x[inside], y[inside], own, seed))
        return [held for _, held in parts]

    def _tune(self, groups: list[_Rows], random: np.random.Generator) -> None:
        """The pool and the background, each reference row left out in turn; of few rows the usual pool."""
        most = MAX_TUNING_ROWS // len(groups)
        drawn, places, stand_for = zip(*(g.sample(most, random) for g in groups), strict=True)
        respond = self.committee_.respond
        responses = (respond(d.x, EXPONENTS, k, places[k]) for k, d in enumerate(drawn))
        logs, sums, near = zip(*responses, strict=True)
        self.background_ = background(np.concatenate(near), np.concatenate(stand_for))
        self.pool_ = Pool()
        if self.tuned_on_.startswith(NOTHING):
            return
        self.pool_ = tune_pool(
            np.concatenate(logs, axis=1)[0],
            np.concatenate(sums, axis=2)[:, 0],
            np.concatenate([part.codes for part in drawn]),
            self.prior_,
            np.concatenate([part.weight for part in drawn]),
        )

    def _learn_scale(self, x: Floats, scale: bool) -> None:
        """Centre and inverse spread of the columns; a constant column is left out by a 0."""
        if not scale:
            self.centre_, self.slope_ = np.zeros(x.shape[1:]), np.ones(x.shape[1:])
            return
        low, high = x.min(axis=0), x.max(axis=0)
        reach = np.where(high > low, high - low, 1.0)
        above = (x - low) / reach  # exactly 0 in a constant column, however large it is
        self.centre_ = low + above.mean(axis=0) * reach
        spread = above.std(axis=0)
        self.slope_ = np.divide(1.0, spread, out=np.zeros_like(spread), where=spread > 0) / reach

    def _scaled(self, x: Floats) -> Floats:
        return np.asarray((x - self.centre_) * self.slope_)


@dataclass(frozen=True)
class _Rows:
    """Rows with their class codes and weights."""

    x: Floats
    codes: Ints
    weight: Floats

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, places: Any) -> _Rows:
        return _Rows(self.x[places], self.codes[places], self.weight[places])

    def sample(self, most: int, random: np.random.Generator) -> tuple[_Rows, Ints, Floats]:
        """Some rows in the order of their classes, with their places and how many each stands for."""
        places, stand_for = stratified_sample(self.codes, most, random)
        order = np.argsort(self.codes[places], kind="stable")
        places, stand_for = places[order], stand_for[order]
        part = self[places]
        return replace(part, weight=part.weight * stand_for), places, stand_for


@dataclass(frozen=True)
class Committee:
    """Networks, reference rows that each was not fitted to, and the neighbourhood of all of these."""

    networks: tuple[ReluNetwork, ...]
    references: tuple[ReferenceRows, ...]
    neighbourhood: Neighbourhood

    @classmethod
    def of(
        cls, networks: Sequence[ReluNetwork], groups: Sequence[_Rows], classes: int
    ) -> Committee:
        """From networks, each with a group of rows that it was not fitted to."""
        references, points = [], []
        for place, group in enumerate(groups):
            passes = [network.propagate(group.x) for network in networks]
            patterns = passes[place].patterns
            references.append(ReferenceRows.of(patterns, group.codes, group.weight, classes))
            points.append(_points(networks, passes))
        neighbourhood = Neighbourhood.of(np.concatenate(points))
        return cls(tuple(networks), tuple(references), neighbourhood)

    def respond(
        self,
        x: Floats,
        exponents: Sequence[float],
        member: int | None = None,
        left_out: Ints | None = None,
    ) -> tuple[Floats, Floats, Floats]:
        """Log posteriors by network, kernel sums by exponent and network, and one nearness, of rows.

        All networks speak of rows that none was fitted to, or one, the `member`, of its reference rows at
        the places `left_out`, each left out in turn; the density is that of the whole committee.
        """
        members = range(len(self.references)) if member is None else [member]
        passes = [network.propagate(x) for network in self.networks]
        count = -(-NEIGHBOURS // len(self.references))
        around = [
            rows.neighbours(
                passes[k].patterns,
                exponents if k in members else (),
                count,
                left_out if k == member else None,
            )
            for k, rows in enumerate(self.references)
        ]
        starts = np.cumsum([0, *(len(rows) for rows in self.references[:-1])])
        places = np.hstack([part.places + at for part, at in zip(around, starts, strict=True)])
        similarity = np.hstack([part.similarity for part in around])
        points = _points(self.networks, passes)
        with np.errstate(over="ignore"):  # as far as can be: the log density is -inf
            near = self.neighbourhood.nearness(points, places, similarity)
        logs = np.stack([passes[k].log_posterior for k in members])
        return logs, np.stack([around[k].sums for k in members], axis=1), near


def _points(networks: Sequence[ReluNetwork], passes: Sequence[ForwardPass]) -> Floats:
    """The rows themselves, or the activations of a layer, those of all networks side by side."""
    if networks[0].features is None:
        return passes[0].points
    return np.hstack([part.points for part in passes])
