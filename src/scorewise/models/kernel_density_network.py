"""A ReLU network whose posteriors are calibrated near its data and fall to the prior far away."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from scorewise.arrays import Floats, Ints
from scorewise.columns.numbers import Place
from scorewise.errors import BadInput
from scorewise.models.kernel_density import (
    KernelDensityClassifier,
    Neighbourhood,
    background,
    stratified_folds,
    stratified_sample,
)
from scorewise.models.network_kernel import EXPONENTS, Around, KnownRows, Pool, tune_pool
from scorewise.models.relu_networks import ReluNetwork, Seen
from scorewise.models.validation import check_number, numeric_rows, weights

NEIGHBOURS = 10  # known rows that the density is made of, of all networks together
ASKED = 2_000  # known rows that tuning looks at, in all, at most
FEWEST = 10  # rows in a fold; below twice as many nothing is tuned
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
            few = len(x) < 2 * FEWEST
            self.tuned_on_ = (
                f"{NOTHING}: too few rows" if few else "each row given, left out in turn"
            )
        else:
            held = self._train(network, rows, y, weight, random)
        most = max(2, self.max_patterns // len(held))  # one is left to compare the other with
        groups = [rows[places].sample(most, random)[0] for places in held]
        networks = [replace(network, model=one) for one in self.networks_]
        self.committee_ = Committee.of(networks, groups, len(self.classes_))
        self._tune(groups, random)
        return self

    def _look(self, X: Any) -> tuple[Floats, Floats]:  # noqa: N803
        check_is_fitted(self)
        x = self._rows(X, images=self.committee_.networks[0].is_torch)
        if x.shape[1:] != (shape := self.centre_.shape):
            raise BadInput(
                f"each row of X has shape {x.shape[1:]}, in fitting it had {shape}; pass that"
            )
        heard = self.committee_.hear(self._scaled(x), self.pool_.exponent)
        return self.pool_.posterior(heard.log_network, heard.sums, self.prior_), heard.nearness

    def _checked(self) -> ReluNetwork:
        """The network that is given, if it and the settings can be used."""
        check_number("folds", self.folds, 2, such_as=5)
        check_number("max_patterns", self.max_patterns, 1, such_as=5000)
        frozen = type(self.network).__name__ == "FrozenEstimator"  # of scikit-learn
        given = self.network.estimator if frozen else self.network
        network = ReluNetwork(given, self.layers, self.features)
        network.check()
        return network

    def _rows(self, *given: Any, images: bool) -> Any:
        """Finite rows, and labels when fitting; images may have more dimensions."""
        way_out = (
            "a network takes numbers alone; encode words, as with "
            "sklearn.preprocessing.OneHotEncoder, or use a KernelDensityForest"
        )
        found = numeric_rows(self, *given, finite=False, way_out=way_out, allow_nd=images)
        x = found[0] if len(given) > 1 else found
        bad = np.asarray(~np.isfinite(x).reshape(len(x), -1).all(axis=1))
        if bad.any():
            raise BadInput(
                f"X has NaN (missing) or inf {Place().rows(bad)}; a network takes neither: fill them, "
                "as with sklearn.impute.SimpleImputer, or use KernelDensityForest, which takes NaN"
            )
        return found

    def _train(
        self, network: ReluNetwork, rows: _Rows, y: Any, weight: Floats | None, random: Any
    ) -> list[Ints]:
        """Fit copies of the network, and give the places of the rows that each was not fitted to.

        Where rows are too few to leave any out, one network is fitted to all, and knows all.
        """
        folds = min(self.folds, len(rows) // FEWEST)
        self.tuned_on_ = f"{folds} folds, each by the network that was not fitted to it"
        parts = list(stratified_folds(rows.codes, folds, random)) if folds > 1 else []
        if not parts or min(len(held) for _, held in parts) < 2:
            self.tuned_on_ = f"{NOTHING}: too few rows to hold any out"
            parts = [(np.arange(len(rows)),) * 2]
        seeds = network.seeds(len(parts), random)
        self.networks_ = [
            network.fitted(
                rows.x[inside], y[inside], None if weight is None else weight[inside], seed
            )
            for (inside, _), seed in zip(parts, seeds, strict=True)
        ]
        return [held for _, held in parts]

    def _tune(self, groups: list[_Rows], random: np.random.Generator) -> None:
        """The pool and the background, each known row left out in turn; of few rows the usual pool."""
        asked, heard, stands_for = [], [], []
        for member, group in enumerate(groups):
            part, own, each = group.sample(ASKED // len(groups), random)
            asked.append(part)
            stands_for.append(each)
            heard.append(self.committee_.hear_left_out(member, part.x, own, EXPONENTS))
        near = np.concatenate([part.nearness for part in heard])
        self.background_ = background(near, np.concatenate(stands_for))
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


class Heard(NamedTuple):
    """What a committee says of rows: log posteriors and kernel sums by network, one nearness."""

    log_network: Floats
    sums: Floats
    nearness: Floats


@dataclass(frozen=True)
class Committee:
    """Networks, the patterns of the rows that each knows, and the points of all of these."""

    networks: tuple[ReluNetwork, ...]
    known: tuple[KnownRows, ...]
    near: Neighbourhood

    @classmethod
    def of(
        cls, networks: Sequence[ReluNetwork], groups: Sequence[_Rows], classes: int
    ) -> Committee:
        """From networks, each with a group of rows that it was not fitted to."""
        known, points = [], []
        for place, group in enumerate(groups):
            seen = [network.see(group.x) for network in networks]
            patterns = seen[place].patterns
            known.append(KnownRows.of(patterns, group.codes, group.weight, classes))
            points.append(_points(networks, seen))
        return cls(tuple(networks), tuple(known), Neighbourhood.of(np.concatenate(points)))

    def hear(self, x: Floats, exponent: float) -> Heard:
        """What is said of rows that no network was fitted to."""
        seen, around, near = self._around(x, [(exponent,)] * len(self.known))
        sums = np.stack([part.sums[0] for part in around])
        return Heard(np.stack([part.log_posterior for part in seen]), sums, near)

    def hear_left_out(self, member: int, x: Floats, own: Ints, exponents: Sequence[float]) -> Heard:
        """What one network says of rows that it knows, at the places `own`, if each were not known.

        The kernel sums are those of all exponents; the density is that of the whole committee.
        """
        wanted = [exponents if place == member else () for place in range(len(self.known))]
        seen, around, near = self._around(x, wanted, {member: own})
        return Heard(seen[member].log_posterior, around[member].sums, near)

    def _around(
        self, x: Floats, exponents: Sequence[Sequence[float]], own: Mapping[int, Ints] | None = None
    ) -> tuple[list[Seen], list[Around], Floats]:
        """Rows as each network sees them, the known rows around them, and how near these are."""
        seen = [network.see(x) for network in self.networks]
        count = -(-NEIGHBOURS // len(self.known))
        around = [
            known.around(seen[place].patterns, exponents[place], count, (own or {}).get(place))
            for place, known in enumerate(self.known)
        ]
        starts = np.cumsum([0, *(len(known) for known in self.known[:-1])])
        places = np.hstack([part.places + at for part, at in zip(around, starts, strict=True)])
        likeness = np.hstack([part.likeness for part in around])
        with np.errstate(over="ignore"):  # as far as can be: the log density is -inf
            near = self.near.nearness(_points(self.networks, seen), places, likeness)
        return seen, around, near


def _points(networks: Sequence[ReluNetwork], seen: Sequence[Seen]) -> Floats:
    """The rows themselves, or the activations of a layer, those of all networks side by side."""
    if networks[0].features is None:
        return seen[0].points
    return np.hstack([part.points for part in seen])
