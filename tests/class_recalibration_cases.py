"""Rows of several classes whose probabilities are wrong in a known way."""

import numpy as np


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def draw_classes(seed, rows, many=3, slope=1.0, shift=0.0, spread=1.5):
    """Probabilities p, and labels drawn from softmax(slope log p + shift x class number)."""
    rng = np.random.default_rng(seed)
    p = softmax(rng.normal(size=(rows, many)) * spread)
    q = softmax(slope * np.log(p) + shift * np.arange(many))
    y = (rng.random((rows, 1)) > q.cumsum(1)[:, :-1]).sum(1)
    return p, y


def losses(p, y):
    return -np.log(p[np.arange(len(y)), y])
