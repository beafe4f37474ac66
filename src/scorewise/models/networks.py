"""Rows and labels for networks: numbers alone, of the shape that they had in fitting."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from scorewise.arrays import Floats
from scorewise.columns.numbers import Place
from scorewise.errors import BadInput
from scorewise.models.input import check_numbers, complete, is_fitted, is_whole, named, validated
from scorewise.models.patterns import Patterns


def rows_of(model: Any, *given: Any, images: bool) -> Any:
    """Rows, and labels when fitting, as scikit-learn checks them; images may have more dimensions."""
    X, *labels = given  # noqa: N806
    check_numbers(
        X,
        "and a network takes numbers alone; encode words, as with "
        "sklearn.preprocessing.OneHotEncoder, or use a KernelDensityForest",
    )
    labels = [y if y is None else complete(y) for y in labels]
    fitting = len(given) > 1
    found = validated(
        model, X, *labels, finite=False, dtype=np.float64, allow_nd=images, reset=fitting
    )
    check_finite(found[0] if labels else found)
    return found


def check_finite(X: Floats) -> None:  # noqa: N803
    """Refuse rows with values that are missing or infinite."""
    bad = np.asarray(~np.isfinite(X).reshape(len(X), -1).all(axis=1))
    if bad.any():
        raise BadInput(
            f"X has NaN (missing) or inf {Place().rows(bad)}; a network takes neither: fill "
            "them, as with sklearn.impute.SimpleImputer, or use KernelDensityForest, which takes NaN"
        )


def check_shape(X: Floats, shape: tuple[int, ...]) -> None:  # noqa: N803
    """Refuse rows of another shape than those of fitting, such as images of another size."""
    if X.shape[1:] != shape:
        raise BadInput(
            f"each row of X has shape {X.shape[1:]}, in fitting it had {shape}; pass that"
        )


# What a ReLU network makes of rows, layer by layer: of scikit-learn's `MLPClassifier`, or any.


BATCH = 1024
_FAR = 1e300  # where activations are that are no floats


@dataclass(frozen=True)
class Seen:
    """Rows as the network sees them: their patterns, points in the density's space, log posteriors."""

    patterns: Patterns
    points: Floats
    log_posterior: Floats

    def __len__(self) -> int:
        return len(self.points)

    def __getitem__(self, rows: Any) -> Seen:
        return Seen(self.patterns[rows], self.points[rows], self.log_posterior[rows])


@dataclass(frozen=True)
class Passed:
    """One batch through a network: the activations after each ReLU layer, named ones, and the logits."""

    hidden: list[Floats]
    logits: Floats
    named: dict[str, Floats]


Pass = Callable[[Floats], Passed]


def see(
    passing: Pass,
    X: Floats,  # noqa: N803
    layers: Sequence[int] | None,
    features: int | str | None,
) -> Seen:
    """Pass rows through a network in batches, and keep of each what the density graph needs.

    `layers` are the ReLU layers whose patterns count (all if None); the points are the activations of
    the layer `features`, or the rows themselves, flattened, if None.
    """
    bits: list[list[NDArray[np.bool_]]] = []
    points, posteriors = [], []
    for start in range(0, len(X), BATCH):
        batch = X[start : start + BATCH]
        passed = passing(batch)
        kept = _chosen(passed.hidden, layers)
        bits.append([layer > 0 for layer in kept])
        points.append(_points(batch, passed, features))
        posteriors.append(log_posterior(passed.logits))
    on = [np.concatenate(layer) for layer in zip(*bits, strict=True)]
    return Seen(Patterns.of(on), np.concatenate(points), np.concatenate(posteriors))


def log_posterior(logits: Floats) -> Floats:
    """Log of the class probabilities; one column of logits is that of the second of two classes.

    A row so far away that its logits are no floats leaves all classes as likely.

    >>> np.exp(log_posterior(np.array([[0.0, 0.0], [np.inf, np.inf], [np.nan, 3.0]]))).tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    """
    if logits.shape[1] == 1:
        logits = np.hstack([np.zeros_like(logits), logits])
    with np.errstate(invalid="ignore"):
        said = np.asarray(log_softmax(logits, axis=1))
    said[np.isnan(said).any(axis=1)] = -np.log(logits.shape[1])
    return said


def mlp_pass(network: Any) -> Pass:
    """The forward pass of a fitted `MLPClassifier`."""

    def passing(batch: Floats) -> Passed:
        hidden: list[Floats] = []
        values = batch
        *inner, last = zip(network.coefs_, network.intercepts_, strict=True)
        for weights, bias in inner:
            values = np.maximum(values @ weights + bias, 0.0)
            hidden.append(values)
        return Passed(hidden, values @ last[0] + last[1], {})

    return passing


def check_layers(layers: Any, features: Any) -> None:
    """Refuse what are no numbers of layers, before any network is there to count them."""
    listed = layers is None or (hasattr(layers, "__len__") and not isinstance(layers, str))
    if not listed or not all(is_whole(layer) for layer in (() if layers is None else layers)):
        raise BadInput(
            f"layers is {layers!r}; pass a list of numbers of ReLU layers, such as [0, 1], or None for all"
        )
    if not (features is None or isinstance(features, str) or is_whole(features)):
        raise BadInput(f"features is {features!r}; pass the number or the name of a layer, or None")


def _chosen(hidden: list[Floats], layers: Sequence[int] | None) -> list[Floats]:
    if layers is None:
        return hidden
    if not len(layers):
        raise BadInput("layers is empty; pass the numbers of ReLU layers, or None for all")
    return [_layer(hidden, layer, f"layers is {list(layers)}") for layer in layers]


def _layer(hidden: list[Floats], layer: int, asked: str) -> Floats:
    if not -len(hidden) <= layer < len(hidden):
        raise BadInput(
            f"{asked}; the network has {len(hidden)} ReLU layers, counted from 0 to {len(hidden) - 1}"
        )
    return hidden[layer]


def _points(batch: Floats, passed: Passed, features: int | str | None) -> Floats:
    if features is None:
        return batch.reshape(len(batch), -1)
    if isinstance(features, str):
        points = passed.named[features]
    else:
        points = _layer(passed.hidden, features, f"features is {features}")
    return np.nan_to_num(points, nan=_FAR, posinf=_FAR, neginf=-_FAR)


# The ReLU layers of a torch module, seen by hooks while rows pass through it.


SMOOTH = ("CELU", "ELU", "GELU", "Hardswish", "Mish", "SELU", "Sigmoid", "SiLU", "Softplus", "Tanh")
BENT = ("LeakyReLU", "PReLU", "ReLU", "ReLU6")  # a unit is on where its output is positive


def is_torch(network: Any) -> bool:
    """Whether it is a torch module; torch is asked for only where it is loaded already."""
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(network, torch.nn.Module)


def check_module(module: Any, features: int | str | None) -> None:
    """Refuse modules without ReLU layers, with smooth activations, or without the layer named."""
    kinds = [type(part).__name__ for part in module.modules()]
    if smooth := [kind for kind in kinds if kind in SMOOTH]:
        raise BadInput(
            f"the module has a {smooth[0]} layer, which does not cut the space into polytopes; "
            "use a network with ReLU"
        )
    if not any(kind in BENT for kind in kinds):
        raise BadInput(
            "the module has no ReLU layer; make them with torch.nn.ReLU, since "
            "torch.nn.functional.relu cannot be seen from outside"
        )
    names = [name for name, _ in module.named_modules() if name]
    if isinstance(features, str) and features not in names:
        raise BadInput(f"features is {features!r}; the module has {', '.join(names)}")


def torch_pass(module: Any, features: int | str | None) -> Pass:
    """The forward pass of a module in evaluation mode; its own mode is put back afterwards."""
    import torch

    first = next(module.parameters(), torch.zeros(()))

    def passing(batch: Floats) -> Passed:
        hidden: list[Floats] = []
        named: dict[str, Floats] = {}

        def watch(_: Any, __: Any, output: Any) -> None:
            hidden.append(_rows(output, "a ReLU layer"))

        def keep(_: Any, __: Any, output: Any) -> None:
            named[str(features)] = _rows(output, f"layer {features!r}")

        bent = [part for part in module.modules() if type(part).__name__ in BENT]
        hooks = [part.register_forward_hook(watch) for part in bent]
        if isinstance(features, str):
            hooks.append(module.get_submodule(features).register_forward_hook(keep))
        training = module.training
        module.eval()
        try:
            with torch.no_grad():
                given = torch.as_tensor(batch, dtype=first.dtype, device=first.device)
                logits = _rows(module(given), "the module")
        finally:
            module.train(training)
            for hook in hooks:
                hook.remove()
        _check_seen(hidden, named, features)
        return Passed(hidden, logits, named)

    return passing


def _check_seen(hidden: list[Floats], named: dict[str, Floats], features: int | str | None) -> None:
    """Refuse a module whose ReLU layers, or the layer that is named, are there but not called."""
    if not hidden:
        raise BadInput(
            "the module has ReLU layers but calls none of them; call them in its forward, since "
            "torch.nn.functional.relu cannot be seen from outside"
        )
    if isinstance(features, str) and features not in named:
        raise BadInput(f"features is {features!r}, which the module does not call; name another")


def _rows(output: Any, source: str) -> Floats:
    """A tensor as rows of floats; a copy, since later layers may work in place."""
    import torch

    if not isinstance(output, torch.Tensor):
        raise BadInput(
            f"{source} returns a {type(output).__name__}; wrap the module in one whose layers return "
            "tensors, the last of them the logits"
        )
    values = output.detach().cpu().to(torch.float64, copy=True).numpy()
    return np.asarray(values.reshape(len(values), -1))


# Which networks can carry a kernel density network, and what they must have for it.


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
