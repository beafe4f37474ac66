"""What proper scores charge for a row of probabilities, one for each class."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.tallies.losses import CLIP

ClassLoss = Literal["log", "log clipped", "brier", "spherical", "ranked"]
CLASS_LOSSES: tuple[ClassLoss, ...] = ("log", "log clipped", "brier", "spherical", "ranked")


def softmax(z: Floats) -> Floats:
    """Probabilities of rows of logits, without overflow.

    >>> softmax(np.array([[1000.0, 1000.0, -1000.0]]))
    array([[0.5, 0.5, 0. ]])
    """
    e = np.exp(z - z.max(1, keepdims=True))
    total: Floats = e / e.sum(1, keepdims=True)
    return total


def log_of_truth(y: NDArray[np.int64], scores: Floats, kind: str) -> Floats:
    """The logarithm of the probability given to what happened; of logits without rounding to 0."""
    at = scores[np.arange(len(y)), y]
    if kind == "logit":
        top = scores.max(1)
        rest: Floats = at - top - np.log(np.exp(scores - top[:, None]).sum(1))
        return rest
    with np.errstate(divide="ignore"):
        return np.log(at)


def class_charges(
    y: NDArray[np.int64], p: Floats, log: Floats, loss: ClassLoss, clip: float = CLIP
) -> Floats:
    """The loss of each row, given its probabilities and the log of that of the truth.

    `brier` is the sum over classes of squares, from 0 to 2; `spherical` is 1 - p_truth / |p|; `ranked`
    the sum over the K - 1 cuts of squares of cumulative probabilities, divided by K - 1.

    >>> y, p = np.array([0]), np.array([[0.5, 0.3, 0.2]])
    >>> [class_charges(y, p, np.log(p[:, 0]), loss).round(4).item() for loss in CLASS_LOSSES]
    [0.6931, 0.6931, 0.38, 0.1889, 0.145]
    """
    if loss == "log":
        return -log + 0.0
    if loss == "log clipped":
        return np.clip(-log, -np.log1p(-clip), -np.log(clip))
    if loss in ("brier", "spherical"):
        at = p[np.arange(len(y)), y]
        others = np.where(np.arange(p.shape[1]) == y[:, None], 0.0, p)
        rest = (others * others).sum(1)
        if loss == "brier":
            distance: Floats = (1 - at) ** 2 + rest
            return distance
        # 1 - at / norm, without the loss of digits when that is close to 0
        norm = np.sqrt(at * at + rest)
        angle: Floats = rest / (norm * (norm + at))
        return angle
    below = np.cumsum(p, 1)[:, :-1]
    happened = np.arange(p.shape[1] - 1) >= y[:, None]
    total: Floats = ((below - happened) ** 2).sum(1) / (p.shape[1] - 1)
    return total
