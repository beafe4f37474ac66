"""Rows and labels for networks: numbers alone, of the shape that they had in fitting."""

from __future__ import annotations

from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns.numbers import Place
from scorewise.errors import BadInput
from scorewise.models.checking import complete, validated
from scorewise.models.numbers_only import check_numbers


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
