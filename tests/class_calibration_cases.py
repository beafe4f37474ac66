"""Rows of several classes whose calibration is known."""

import numpy as np


def rows(rng, n, classes, sharper=1.0, spread=2.0):
    """Labels and probabilities; calibrated, or as if the logits were `sharper` times as large."""
    z = spread * rng.normal(size=(n, classes))
    y = np.array([rng.choice(classes, p=p) for p in softmax(z)])
    return y, softmax(sharper * z)


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)
