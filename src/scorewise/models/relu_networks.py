"""Which networks can carry a kernel density network, and what they must have for it."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.models.checking import is_fitted, named
from scorewise.models.relu_layers import Pass, mlp_pass, see
from scorewise.models.torch_layers import check_module, is_torch, torch_pass


def plain() -> Any:
    """The network that is used where none is given."""
    return MLPClassifier(hidden_layer_sizes=(64, 64), max_iter=300)


def unwrapped(network: Any) -> Any:
    """What scikit-learn's `FrozenEstimator` holds; anything else as it is."""
    return network.estimator if type(network).__name__ == "FrozenEstimator" else network


def check_network(network: Any, features: int | str | None) -> None:
    """Refuse what is no ReLU network."""
    if is_torch(network):
        return check_module(network, features)
    if not isinstance(network, MLPClassifier):
        raise BadInput(
            f"network is of type {type(network).__name__}; give an MLPClassifier or a torch module"
        )
    if network.activation != "relu":
        raise BadInput(
            f"the network's activation is {network.activation}, which does not cut the space into "
            "polytopes; use activation='relu'"
        )
    sizes = network.coefs_[1:] if is_ready(network) else np.atleast_1d(network.hidden_layer_sizes)
    if not len(sizes):
        raise BadInput(
            "the network has no hidden layer, so that all rows would be alike; give it "
            "hidden_layer_sizes, such as (64, 64)"
        )
    if isinstance(features, str):
        raise BadInput(
            f"features is {features!r}; the layers of an MLPClassifier have numbers, from 0"
        )
    return None


def is_ready(network: Any) -> bool:
    """Whether it has learned already; of a torch module this is taken for granted."""
    return is_torch(network) or is_fitted(network)


def passing_of(network: Any, features: int | str | None) -> Pass:
    """The forward pass of a fitted network."""
    return torch_pass(network, features) if is_torch(network) else mlp_pass(network)


def check_width(network: Any, X: Floats) -> None:  # noqa: N803
    """Refuse rows with another number of columns than a fitted `MLPClassifier` knows."""
    known = getattr(network, "n_features_in_", X.shape[1])
    if known != X.shape[1]:
        raise BadInput(
            f"the network was fitted to {known} columns and X has {X.shape[1]}; give the same columns"
        )


def check_classes(network: Any, classes: Any) -> None:
    """Refuse rows whose classes are not those that a fitted `MLPClassifier` knows."""
    known = getattr(network, "classes_", classes)
    if len(known) != len(classes) or (known != classes).any():
        raise BadInput(
            f"y has the classes {named(classes)}, the network was fitted to {named(known)}; "
            "give rows of the same classes"
        )


def check_outputs(
    network: Any,
    X: Floats,  # noqa: N803
    classes: Any,
    layers: Sequence[int] | None,
    features: int | str | None,
) -> None:
    """Refuse a network that cannot take the first row, or does not give each class a number."""
    try:
        passing = passing_of(network, features)
        logits = passing(X[:1]).logits
        said = see(passing, X[:1], layers, features).log_posterior
    except BadInput:
        raise
    except (RuntimeError, TypeError, ValueError, IndexError) as why:
        reason = (str(why).splitlines() or [type(why).__name__])[0]
        raise BadInput(
            f"the network cannot take rows of shape {X.shape[1:]} ({reason}); give rows of the shape "
            "that it was trained on"
        ) from why
    if said.shape[1] != len(classes):
        raise BadInput(
            f"the network tells {said.shape[1]} classes apart, y has {len(classes)} "
            f"({named(classes)}); give rows of each class"
        )
    if np.isnan(logits).any():
        raise BadInput(
            "the network says NaN of row 0, counting from 0; its weights are NaN, or X is out of their "
            "range: train it again, or scale X"
        )


def seeds_of(network: Any, count: int, random: np.random.Generator) -> list[int]:
    """Seeds for copies of a network, which differ, drawn with its own seed if it has one."""
    own = getattr(network, "random_state", None)
    if own is not None:
        random = np.random.default_rng(check_random_state(own).randint(2**31 - 1))
    return [int(seed) for seed in random.integers(2**31, size=count)]


def fitted(network: Any, X: Floats, y: Any, weight: Floats | None, seed: int) -> Any:  # noqa: N803
    """A copy of a network, or the plain one for None, fitted to rows with a seed."""
    model = plain() if network is None else clone(network)
    model.set_params(random_state=seed)
    if weight is not None and not has_fit_parameter(model, "sample_weight"):
        raise BadInput(
            "sample_weight needs an MLPClassifier of scikit-learn 1.7 or later; update it"
        )
    weights = {} if weight is None else {"sample_weight": weight}
    with warnings.catch_warnings():
        if network is None:  # its number of iterations is a choice
            warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **weights)
