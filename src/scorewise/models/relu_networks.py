"""What a ReLU network makes of rows, layer by layer: scikit-learn's `MLPClassifier`, or a torch module."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import has_fit_parameter

from scorewise.arrays import Floats
from scorewise.checks import is_integer
from scorewise.errors import BadInput
from scorewise.models.network_kernel import Patterns
from scorewise.models.validation import is_fitted, listed

BATCH = 1024
SMOOTH = ("CELU", "ELU", "GELU", "Hardswish", "Mish", "SELU", "Sigmoid", "SiLU", "Softplus", "Tanh")
RELUS = ("LeakyReLU", "PReLU", "ReLU", "ReLU6")  # a unit is on where its output is positive
_WHY_MODULES = "since torch.nn.functional.relu cannot be seen from outside"
_OVERFLOWN = 1e300  # in place of activations that are no floats
# activations of each ReLU layer, the logits, and activations of the layer named, if any
Activations: TypeAlias = tuple[list[Floats], Floats, Floats | None]


class ForwardPass(NamedTuple):
    """What a network makes of rows: their patterns, points in the density's space, log posteriors."""

    patterns: Patterns
    points: Floats
    log_posterior: Floats


@dataclass(frozen=True)
class ReluNetwork:
    """A network (None: two layers of 64 units), and what of it the density graph is made of.

    `layers` are the ReLU layers whose patterns count (all if None); the points are the activations of
    the layer `features`, or the rows themselves, flattened, if None.
    """

    model: Any
    layers: Sequence[int] | None = None
    features: int | str | None = None

    @property
    def is_torch(self) -> bool:
        """Whether it is a torch module; torch is asked for only where it is loaded already."""
        torch = sys.modules.get("torch")
        return torch is not None and isinstance(self.model, torch.nn.Module)

    @property
    def _model(self) -> Any:
        return MLPClassifier((64, 64), max_iter=300) if self.model is None else self.model

    @property
    def is_ready(self) -> bool:
        """Whether it has learned already; of a torch module this is taken for granted."""
        return self.model is not None and (self.is_torch or is_fitted(self.model))

    def propagate(self, x: Floats) -> ForwardPass:
        """Pass rows through the fitted network in batches, and keep what the density graph needs."""
        bits, points, posteriors = [], [], []
        for start in range(0, len(x), BATCH):
            batch = x[start : start + BATCH]
            hidden, logits, named = self._forward(batch)
            counted = hidden
            if self.layers is not None:
                asked = f"layers is {list(self.layers)}"
                counted = [_layer(hidden, layer, asked) for layer in self.layers]
            bits.append([layer > 0 for layer in counted])
            points.append(self._points(batch, hidden, named))
            posteriors.append(log_posterior(logits))
        on = [np.concatenate(layer) for layer in zip(*bits, strict=True)]
        return ForwardPass(Patterns.of(on), np.concatenate(points), np.concatenate(posteriors))

    def fitted(self, x: Floats, y: Any, weight: Floats | None, seed: int) -> Any:
        """A copy of the network, fitted to rows with a seed."""
        network = clone(self._model)
        network.set_params(random_state=seed)
        if weight is not None and not has_fit_parameter(network, "sample_weight"):
            raise BadInput(
                "sample_weight needs an MLPClassifier of scikit-learn 1.7 or later; update it"
            )
        weights = {} if weight is None else {"sample_weight": weight}
        with warnings.catch_warnings():
            if self.model is None:  # its number of iterations is a choice
                warnings.simplefilter("ignore", ConvergenceWarning)
            return network.fit(x, y, **weights)

    def seeds(self, count: int, random: np.random.Generator) -> list[int]:
        """Seeds for copies, which differ, drawn with the network's own seed if it has one."""
        own = getattr(self.model, "random_state", None)
        if own is not None:
            random = np.random.default_rng(check_random_state(own).randint(2**31 - 1))
        return [int(seed) for seed in random.integers(2**31, size=count)]

    def check(self) -> None:
        """Refuse what is not a ReLU network, and layers that are not integers."""
        layers, features = () if self.layers is None else self.layers, self.features
        is_list = hasattr(layers, "__len__") and not isinstance(layers, str)
        if not is_list or not all(map(is_integer, layers)):
            raise BadInput(
                f"layers is {layers!r}; pass a list of numbers of ReLU layers, such as [0, 1], or None "
                "for all"
            )
        if self.layers is not None and not len(layers):
            raise BadInput("layers is empty; pass the numbers of ReLU layers, or None for all")
        if not (features is None or isinstance(features, str) or is_integer(features)):
            raise BadInput(
                f"features is {features!r}; pass the number or the name of a layer, or None"
            )
        if self.is_torch:
            _check_module(self.model, features)
        else:
            _check_mlp(self._model, features)

    def check_suits(self, x: Floats, classes: Any) -> None:
        """Refuse a fitted network that knows other columns or classes, or makes no numbers of a row."""
        wide = getattr(self.model, "n_features_in_", x.shape[1])
        if wide != x.shape[1]:
            raise BadInput(
                f"the network was fitted to {wide} columns and X has {x.shape[1]}; give the same columns"
            )
        own = getattr(self.model, "classes_", classes)
        if len(own) != len(classes) or (own != classes).any():
            raise BadInput(
                f"y has the classes {listed(classes)}, the network was fitted to {listed(own)}; "
                "give rows of the same classes"
            )
        try:
            logits, count = self._forward(x[:1])[1], self.propagate(x[:1]).log_posterior.shape[1]
        except BadInput:
            raise
        except (RuntimeError, TypeError, ValueError, IndexError) as why:
            reason = (str(why).splitlines() or [type(why).__name__])[0]
            raise BadInput(
                f"the network cannot take rows of shape {x.shape[1:]} ({reason}); give rows of the "
                "shape that it was trained on"
            ) from why
        if count != len(classes):
            raise BadInput(
                f"the network tells {count} classes apart, y has {len(classes)} ({listed(classes)}); "
                "give rows of each class"
            )
        if np.isnan(logits).any():
            raise BadInput(
                "the network says NaN of row 0, counting from 0; its weights are NaN, or X is out of "
                "their range: train it again, or scale X"
            )

    def _forward(self, batch: Floats) -> Activations:
        """Activations of each ReLU layer, the logits, and activations of the layer named, if any."""
        if self.is_torch:
            return _forward_torch(self.model, batch, self.features)
        hidden: list[Floats] = []
        values = batch
        *inner, last = zip(self.model.coefs_, self.model.intercepts_, strict=True)
        for weights, bias in inner:
            values = np.maximum(values @ weights + bias, 0.0)
            hidden.append(values)
        return hidden, values @ last[0] + last[1], None

    def _points(self, batch: Floats, hidden: list[Floats], named: Floats | None) -> Floats:
        if self.features is None:
            return batch.reshape(len(batch), -1)
        asked = f"features is {self.features}"
        points = _layer(hidden, int(self.features), asked) if named is None else named
        return np.nan_to_num(points, nan=_OVERFLOWN, posinf=_OVERFLOWN, neginf=-_OVERFLOWN)


def log_posterior(logits: Floats) -> Floats:
    """Log of the class probabilities; one column of logits is that of the second of two classes.

    A row so far away that its logits overflow leaves all classes as likely.

    >>> np.exp(log_posterior(np.array([[0.0, 0.0], [np.inf, np.inf], [np.nan, 3.0]]))).tolist()
    [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]]
    """
    if logits.shape[1] == 1:
        logits = np.hstack([np.zeros_like(logits), logits])
    with np.errstate(invalid="ignore"):
        logs = np.asarray(log_softmax(logits, axis=1))
    logs[np.isnan(logs).any(axis=1)] = -np.log(logits.shape[1])
    return logs


def _layer(hidden: list[Floats], layer: int, asked: str) -> Floats:
    if not -len(hidden) <= layer < len(hidden):
        raise BadInput(
            f"{asked}; the network has {len(hidden)} ReLU layers, counted from 0 to {len(hidden) - 1}"
        )
    return hidden[layer]


def _check_mlp(network: Any, features: int | str | None) -> None:
    if not isinstance(network, MLPClassifier):
        raise BadInput(
            f"network is of type {type(network).__name__}; give an MLPClassifier or a torch module"
        )
    if network.activation != "relu":
        raise BadInput(
            f"the network's activation is {network.activation}, which does not cut the space into "
            "polytopes; use activation='relu'"
        )
    sizes = network.coefs_[1:] if is_fitted(network) else np.atleast_1d(network.hidden_layer_sizes)
    if not len(sizes):
        raise BadInput(
            "the network has no hidden layer, so that all rows would be alike; give it "
            "hidden_layer_sizes, such as (64, 64)"
        )
    if isinstance(features, str):
        raise BadInput(
            f"features is {features!r}; the layers of an MLPClassifier have numbers, from 0"
        )


def _check_module(module: Any, features: int | str | None) -> None:
    kinds = [type(part).__name__ for part in module.modules()]
    if smooth := [kind for kind in kinds if kind in SMOOTH]:
        raise BadInput(
            f"the module has a {smooth[0]} layer, which does not cut the space into polytopes; "
            "use a network with ReLU"
        )
    if not any(kind in RELUS for kind in kinds):
        raise BadInput(
            f"the module has no ReLU layer; make them with torch.nn.ReLU, {_WHY_MODULES}"
        )
    names = [name for name, _ in module.named_modules() if name]
    if isinstance(features, str) and features not in names:
        raise BadInput(f"features is {features!r}; the module has {', '.join(names)}")


def _forward_torch(module: Any, batch: Floats, features: int | str | None) -> Activations:
    """A module in evaluation mode, its layers seen by hooks; its own mode is put back afterwards."""
    import torch

    hidden: list[Floats] = []
    named: list[Floats] = []

    def watch(part: Any, into: list[Floats], source: str) -> Any:
        return part.register_forward_hook(lambda _, __, out: into.append(_rows(out, source)))

    bent = [part for part in module.modules() if type(part).__name__ in RELUS]
    hooks = [watch(part, hidden, "a ReLU layer") for part in bent]
    if isinstance(features, str):
        hooks.append(watch(module.get_submodule(features), named, f"layer {features!r}"))
    training, first = module.training, next(module.parameters(), torch.zeros(()))
    module.eval()
    try:
        with torch.no_grad():
            tensor = torch.as_tensor(batch, dtype=first.dtype, device=first.device)
            logits = _rows(module(tensor), "the module")
    finally:
        module.train(training)
        for hook in hooks:
            hook.remove()
    if not hidden:
        raise BadInput(
            f"the module has ReLU layers but calls none of them; call them in its forward, {_WHY_MODULES}"
        )
    if isinstance(features, str) and not named:
        raise BadInput(f"features is {features!r}, which the module does not call; name another")
    return hidden, logits, named[-1] if named else None


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
