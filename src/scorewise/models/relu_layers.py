"""What a ReLU network makes of rows, layer by layer: of scikit-learn's `MLPClassifier`, or any."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_softmax

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.models.checking import is_whole
from scorewise.models.patterns import Patterns

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
