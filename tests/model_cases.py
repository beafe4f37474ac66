"""Rows of several kinds for models: numbers and words, with gaps; and scikit-learn's checks."""

import numpy as np
import pytest


def mixed(rows=300, seed=0, gaps=0.15):
    """Two numbers and two nominal features, of which some are missing, and three classes."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b", "c"], rows, p=[0.5, 0.3, 0.2])
    place = np.searchsorted(["a", "b", "c"], y)
    numbers = rng.normal(size=(rows, 2)) + place[:, None] * [1.0, -0.5]
    words = np.where(
        rng.random((rows, 2)) < 0.6,
        np.array(["red", "green", "blue"])[place][:, None],
        rng.choice(["red", "green", "blue"], (rows, 2)),
    ).astype(object)
    numbers[rng.random((rows, 2)) < gaps] = np.nan
    words[rng.random((rows, 2)) < gaps] = None
    return numbers, words, y


def columns(numbers, words):
    named = {"x": numbers[:, 0], "z": numbers[:, 1], "hue": words[:, 0], "tint": words[:, 1]}
    return {name: list(values) for name, values in named.items()}


def frames(numbers, words):
    """The same rows as the libraries hold them, words also as categories."""
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    given = columns(numbers, words)
    frame = pd.DataFrame(given)
    polars = pl.DataFrame(given).with_columns(pl.col("x", "z").fill_nan(None))
    return {
        "pandas": frame,
        "pandas categories": frame.astype({"hue": "category", "tint": "category"}),
        "polars": polars,
        "polars categories": polars.with_columns(pl.col("hue", "tint").cast(pl.Categorical)),
        "arrow": pa.table(given),
        "objects": np.concatenate([numbers.astype(object), words], axis=1),
    }


def checks(*models, reasons=None):
    """scikit-learn's checks as parameters; those with a reason are expected to fail."""
    checking = pytest.importorskip("sklearn.utils.estimator_checks")
    pytest.importorskip("sklearn", minversion="1.6")
    return checking.parametrize_with_checks(
        models, expected_failed_checks=lambda model: (reasons or {}).get(repr(model), {})
    )
