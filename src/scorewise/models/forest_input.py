"""Input of models as scikit-learn checks it, in the versions that are allowed."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import is_classifier

from scorewise.arrays import Floats
from scorewise.columns.numbers import Place
from scorewise.errors import BadInput
from scorewise.models.checking import (
    as_frame,
    complete,
    features,
    is_finite,
    is_whole,
    labels,
    named,
    validated,
)
from scorewise.models.encoding import Encoding
from scorewise.models.numbers_only import check_numbers

_GAPS_STRAY = tuple(int(part) for part in sklearn.__version__.split(".")[:2]) < (1, 8)
_EXTREME = 1e6  # what a setting and its inverse may be at most


def checked(model: Any, *given: Any, missing: bool) -> Any:
    """Rows as float64, their features as they were in fitting; labels are given when fitting only."""
    x, *labels = given
    check_numbers(
        x, "and the forest was fitted to numbers; pass the columns that it had in fitting"
    )
    finite = "allow-nan" if missing else True
    labels = [y if y is None else complete(y) for y in labels]
    return validated(model, x, *labels, dtype=np.float64, reset=len(given) > 1, finite=finite)


def encoding_of(model: Any, x: Any, y: Any, nominal: Any) -> Encoding | None:
    """How the words of a frame, and what `nominal` names, become numbers; None if all are numbers."""
    if nominal is None and not _has_words(x):
        return None
    return Encoding.learn(features(model, x, y=y), nominal, unseen=0.0)


def encoded(model: Any, encoding: Encoding, *given: Any, missing: bool) -> Any:
    """As `checked`, for frames with words; and which rows hold a word that was not met."""
    columns = features(model, given[0], reset=len(given) > 1)
    x, strange = encoding.read(columns)
    if not missing and (gone := np.isnan(x)).any():
        at = gone.any(axis=0).argmax()
        raise BadInput(
            f"{encoding.names[at]} is missing {Place().rows(gone[:, at])}, which the forest has no use "
            "for; fill the gaps, or pass a RandomForestClassifier"
        )
    if len(given) == 1:
        return x, strange
    classes, codes = labels(given[1], columns)
    return x, classes[codes]


def _has_words(x: Any) -> bool:
    """Whether a frame or array holds columns that are no numbers."""
    frame = as_frame(x)
    if frame is None:
        array = np.asarray(x) if isinstance(x, list | tuple) else x
        kind = array.dtype.kind if isinstance(array, np.ndarray) else ""
        return kind in "US" or (kind == "O" and any(isinstance(v, str) for v in array.flat))
    kinds = frame.schema.values()
    return not all(kind.is_numeric() or isinstance(kind, nw.Boolean) for kind in kinds)


def takes_missing(forest: Any) -> bool:
    """Whether the forest has a use for missing values."""
    try:
        from sklearn.utils import get_tags
    except ImportError:  # scikit-learn 1.5
        return bool(forest._get_tags()["allow_nan"])
    return bool(get_tags(forest).input_tags.allow_nan)


def check_own_rows(
    forest: Any, x: Floats, leaves: NDArray[np.int32], codes: NDArray[np.int64], inside: Any
) -> None:
    """Refuse rows or labels that a fitted forest was not trained on, seen by its first and last tree.

    Before scikit-learn 1.8, rows with gaps may end in other leaves than in training.
    """
    gaps = np.asarray(np.isnan(x).any(axis=1)) & _GAPS_STRAY
    for at in (0, -1):
        tree, leaf = forest.estimators_[at].tree_, leaves[:, at]
        own = inside(at % len(forest.estimators_)) > 0
        held = np.bincount(leaf[own], minlength=tree.node_count)
        ends = tree.children_left == -1
        strays = np.abs(held - tree.n_node_samples)[ends].sum() / 2
        known = (tree.value[leaf[own], 0, codes[own]] > 0) | gaps[own]
        if strays > gaps[own].sum() or not known.all():
            raise BadInput(
                "the forest was fitted on other rows than these, or with other labels; pass its own "
                "training rows in their order, or an unfitted forest"
            )


def check_same_classes(forest: Any, classes: NDArray[Any]) -> None:
    """Refuse labels whose classes are not those of a fitted forest."""
    if not np.array_equal(forest.classes_, classes):
        raise BadInput(
            f"the forest was fitted to the classes {named(forest.classes_)}, and the labels are "
            f"{named(classes)}; pass the labels that it was fitted to"
        )


def balanced(forest: Any, labels: Any, weight: Any) -> Floats:
    """Weight of each row, times that of its class in the forest; 1 on average."""
    from sklearn.utils.class_weight import compute_sample_weight

    given = np.ones(len(labels)) if weight is None else weight
    if forest.class_weight is not None:
        wish = "balanced" if forest.class_weight == "balanced_subsample" else forest.class_weight
        given = given * compute_sample_weight(wish, labels)
    return np.asarray(given / given.mean())


def check_settings(model: Any) -> None:
    """Refuse settings of a kernel density forest without a meaning."""
    if model.forest is not None:
        _check_forest(model.forest)
    for name in ("exponent", "temperature", "smoothing"):
        value = getattr(model, name)
        least = 0.0 if name == "smoothing" else 1 / _EXTREME
        auto = isinstance(value, str) and value == "auto"
        if not auto and not (is_finite(value) and least <= value <= _EXTREME):
            raise BadInput(
                f"{name} is {value!r}; pass a number from {least:g} to {_EXTREME:g}, or 'auto'"
            )
    for name in ("neighbours", "members"):
        value = getattr(model, name)
        if not is_whole(value) or value < 1:
            raise BadInput(f"{name} is {value!r}; pass a whole number from 1")


def _check_forest(forest: Any) -> None:
    """Refuse what is not a forest of classification trees."""
    parts = ("bootstrap", "class_weight", "n_estimators", "max_depth")
    if not (all(hasattr(forest, part) for part in parts) and is_classifier(forest)):
        raise BadInput(
            f"forest is {forest!r}; pass a RandomForestClassifier or an ExtraTreesClassifier"
        )
    shares = forest.class_weight.values() if isinstance(forest.class_weight, dict) else ()
    if not all(is_finite(share) and share >= 0 for share in shares):
        raise BadInput(
            f"the forest's class_weight is {forest.class_weight}; weights are numbers from 0 up"
        )


def check_same_shape(forest: Any, x: Floats) -> None:
    """Refuse a number of rows or columns on which a fitted forest was not trained."""
    if (wide := forest.n_features_in_) != x.shape[1]:
        raise BadInput(
            f"the forest was fitted on {wide} columns and {x.shape[1]} were given (words make one for "
            "each level); pass its training rows as it had them"
        )
    rows = len(x)
    own = getattr(forest, "_n_samples", rows)
    if own != rows:
        raise BadInput(
            f"the forest was fitted on {own} rows and {rows} were given; pass its training rows"
        )
