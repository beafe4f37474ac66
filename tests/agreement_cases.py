"""Random ratings, and how far apart two of them are by definition."""

import numpy as np
import pytest

from scorewise.columns.ratings import rating_rows


def random_rows(rng, missing=0.2, scale="nominal", raters=None):
    n, k, q = int(rng.integers(5, 25)), raters or int(rng.integers(2, 6)), int(rng.integers(2, 5))
    truth = rng.integers(0, q, (n, 1))
    x = np.where(rng.random((n, k)) < 0.6, truth, rng.integers(0, q, (n, k))).astype(float)
    x[rng.random((n, k)) < missing] = np.nan
    return rating_rows(raters={f"r{j}": x[:, j] for j in range(k)}, scale=scale)


def tables(number, **more):
    rng = np.random.default_rng(0)
    for _ in range(number):
        yield random_rows(rng, **more)


def distance(rows):
    """The disagreement of two codes, by the definition of each scale."""
    v = rows.values
    wide = (v.max() - v.min()) or 1.0
    return {
        "nominal": lambda a, b: float(a != b),
        "ordinal": lambda a, b: abs(v[a] - v[b]) / wide,
        "interval": lambda a, b: (v[a] - v[b]) ** 2 / wide**2,
    }[rows.scale]


scales = pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
