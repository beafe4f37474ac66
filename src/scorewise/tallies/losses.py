"""What proper scores charge: for a score on a negative or a positive, and for a row of probabilities."""

from __future__ import annotations

import math
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.columns import Kind
from scorewise.computing import inner
from scorewise.tallies.sorting import Numbers

Loss = Literal["log", "log clipped", "brier", "spherical"]
LOSSES: tuple[Loss, ...] = ("log", "log clipped", "brier", "spherical")
CLIP = 1e-15
ClassLoss = Literal["log", "log clipped", "brier", "spherical", "ranked"]
CLASS_LOSSES: tuple[ClassLoss, ...] = ("log", "log clipped", "brier", "spherical", "ranked")


class Moments(NamedTuple):
    """Sums over rows of weight x loss, weight^2 x loss and weight^2 x loss^2; or arrays of such sums."""

    first: float
    square: float
    second: float

    def __add__(self, other: object) -> Moments:
        assert isinstance(other, Moments)
        return Moments(*(a + b for a, b in zip(self, other, strict=True)))

    @classmethod
    def of(
        cls, loss: NDArray[np.float64], w: Numbers | None = None, w2: Numbers | None = None
    ) -> Moments:
        """Moments of the finite losses of cells, or of rows that count once each."""
        with np.errstate(over="ignore"):  # sums of huge losses are infinite, and said to be
            finite = math.isfinite(loss.sum())
            charge = loss if finite else np.where(np.isfinite(loss), loss, 0.0)
            weighted = charge if w is None else w * charge
            first = float(weighted.sum())
            if w2 is None or w2 is w:
                return cls(first, first, inner(weighted, charge))
            squares = w2 * charge
            return cls(first, float(squares.sum()), inner(squares, charge))

    def about(self, mean: Any, squares: Any) -> Any:
        """Sum over rows of weight^2 x (loss - mean)^2, given the sum of squared weights."""
        variance = self.second - 2 * mean * self.square + mean * mean * squares
        # what rounding leaves when all losses are equal is no spread
        positive = np.where(variance > 1e-12 * mean * mean * squares, variance, 0.0)
        return np.where(np.isfinite(variance), positive, np.inf)


NO_LOSS = Moments(0.0, 0.0, 0.0)


def add_losses(a: Any, b: Any) -> Any:
    """The moments of losses over the rows of both, class by class."""
    return {
        loss: tuple(x + y for x, y in zip(a[loss], b[loss], strict=True)) for loss in a if loss in b
    }


def expit(z: NDArray[np.floating]) -> NDArray[np.float64]:
    """Probability of a logit, without overflow.

    >>> expit(np.array([-1000.0, 0.0, 1000.0]))
    array([0. , 0.5, 1. ])
    """
    e = np.exp(-np.abs(z.astype(np.float64)))
    return np.where(z >= 0, 1.0, e) / (1.0 + e)


def expit_of(z: float) -> float:
    """The same of one number, ten times as fast."""
    e = math.exp(-abs(z))
    return (1.0 if z >= 0 else e) / (1.0 + e)


def logit(p: Any) -> Any:
    """The log-odds of probabilities, infinite at 0 and 1.

    >>> logit(np.array([0.0, 0.5, 0.75])).round(4)
    array([  -inf, 0.    , 1.0986])
    """
    with np.errstate(divide="ignore"):
        return np.log(p) - np.log1p(-p)


def unit(score: NDArray[np.floating], kind: Kind) -> NDArray[np.float64]:
    """Scores on [0, 1]: as they are, or the probabilities of logits."""
    return expit(score) if kind == "logit" else score.astype(np.float64, copy=False)


def score_losses(
    score: NDArray[np.floating], kind: Kind, loss: Loss, clip: float | None = None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The loss of each score on a negative and on a positive; `clip` is that of log loss.

    >>> score_losses(np.array([0.0, 0.5]), "probability", "log")
    (array([0.        , 0.69314718]), array([       inf, 0.69314718]))
    """
    if clip is not None:
        loss = "log clipped" if loss == "log" else loss
    at = CLIP if clip is None else clip
    return score_loss(score, kind, loss, False, at), score_loss(score, kind, loss, True, at)


def score_loss(
    score: NDArray[np.floating], kind: Kind, loss: Loss, positive: bool, clip: float = CLIP
) -> NDArray[np.float64]:
    """The loss of each score on a row of one class."""
    s = score.astype(np.float64, copy=False)
    if loss == "brier":
        p = expit(s) if kind == "logit" else s
        miss = 1.0 - p if positive else p
        return miss * miss
    if loss == "spherical":
        p, q = (expit(s), expit(-s)) if kind == "logit" else (s, 1.0 - s)
        hit, miss = (p, q) if positive else (q, p)
        size = np.sqrt(p * p + q * q)
        # 1 - hit / size, without losing the digits of a small miss
        return miss * (miss / (size * (size + hit)))
    if kind == "logit":
        loss_of_score = np.logaddexp(0.0, -s if positive else s)
    else:
        # log is several times faster than log1p, and as exact where scores are not small
        small = not positive and len(s) and s.min() < 1e-3
        with np.errstate(divide="ignore"):
            loss_of_score = np.log1p(-s) if small else np.log(s if positive else 1.0 - s)
        np.subtract(0.0, loss_of_score, out=loss_of_score)  # not -0.0
    return clipped(loss_of_score, clip) if loss == "log clipped" else loss_of_score


def clipped(log: Floats, clip: float = CLIP) -> Floats:
    """Log losses as if probabilities were held so far away from 0 and 1."""
    return np.clip(log, -np.log1p(-clip), -np.log(clip))


def uncertainty(share: NDArray[np.float64], loss: Loss) -> NDArray[np.float64]:
    """The mean loss of a share of positives on the rows that it is the share of.

    >>> [uncertainty(np.array([0.5]), loss).round(4).item() for loss in ("log", "brier", "spherical")]
    [0.6931, 0.25, 0.2929]
    """
    rest = 1.0 - share
    if loss == "brier":
        return share * rest
    if loss == "spherical":
        size = np.sqrt(share * share + rest * rest)
        # 1 - size, without losing the digits of a small uncertainty
        return 2 * share * rest / (1.0 + size)
    from scipy.special import entr

    return np.asarray(entr(share) + entr(rest))


def softmax(z: Floats) -> Floats:
    """Probabilities of rows of logits, without overflow.

    >>> softmax(np.array([[1000.0, 1000.0, -1000.0]]))
    array([[0.5, 0.5, 0. ]])
    """
    e = np.exp(z - z.max(1, keepdims=True))
    return np.asarray(e / e.sum(1, keepdims=True))


def class_probabilities(scores: Floats, kind: str) -> Floats:
    """Scores of several classes as probabilities: as they are, or those of rows of logits."""
    return softmax(scores) if kind == "logit" else scores


def log_of_truth(y: NDArray[np.int64], scores: Floats, kind: str) -> Floats:
    """The logarithm of the probability given to what happened; of logits without rounding to 0."""
    at = scores[np.arange(len(y)), y]
    if kind == "logit":
        top = scores.max(1)
        return np.asarray(at - top - np.log(np.exp(scores - top[:, None]).sum(1)))
    with np.errstate(divide="ignore"):
        return np.log(at)


def class_losses(y: NDArray[np.int64], p: Floats, log: Floats, loss: ClassLoss) -> Floats:
    """The loss of each row, given its probabilities and the log of that of the truth.

    `brier` is the sum over classes of squares, from 0 to 2; `spherical` is 1 - p_truth / |p|; `ranked`
    the sum over the K - 1 cuts of squares of cumulative probabilities, divided by K - 1.

    >>> y, p = np.array([0]), np.array([[0.5, 0.3, 0.2]])
    >>> [class_losses(y, p, np.log(p[:, 0]), loss).round(4).item() for loss in CLASS_LOSSES]
    [0.6931, 0.6931, 0.38, 0.1889, 0.145]
    """
    if loss == "log":
        return -log + 0.0
    if loss == "log clipped":
        return clipped(-log)
    if loss in ("brier", "spherical"):
        at = p[np.arange(len(y)), y]
        wrong = np.where(np.arange(p.shape[1]) == y[:, None], 0.0, p)
        rest = (wrong * wrong).sum(1)
        if loss == "brier":
            return np.asarray((1 - at) ** 2 + rest)
        # 1 - at / norm, without the loss of digits when that is close to 0
        norm = np.sqrt(at * at + rest)
        return np.asarray(rest / (norm * (norm + at)))
    below = np.cumsum(p, 1)[:, :-1]
    happened = np.arange(p.shape[1] - 1) >= y[:, None]
    return np.asarray(((below - happened) ** 2).sum(1) / (p.shape[1] - 1))
