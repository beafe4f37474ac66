"""What scikit-learn expects of every model: features, labels and weights checked, names remembered."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from inspect import signature
from math import inf
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    check_array,
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
)

from scorewise.arrays import Floats, Ints
from scorewise.columns.numbers import Place
from scorewise.columns.vectors import Vector, vector
from scorewise.errors import BadInput
from scorewise.models.features import Encoding, columns_of

# the name that the option has had since 1.6, and before
_FINITE = next(name for name in signature(check_array).parameters if name.endswith("all_finite"))

_SIZE = 100  # powers of 2 beyond which weights are extreme


def validated(model: Any, *given: Any, untouched: bool = False, **asked: Any) -> Any:
    """Rows, and labels when fitting, as scikit-learn checks them; the model remembers their names.

    `finite` among the options says whether values may be missing or infinite. Rows that are to
    stay `untouched` are not looked at, only their names.
    """
    if "finite" in asked:
        asked[_FINITE] = asked.pop("finite")
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # before 1.6
        return model._validate_data(*given, cast_to_ndarray=not untouched, **asked)
    return validate_data(model, *given, skip_check_array=untouched, **asked)


def as_frame(x: Any) -> nw.DataFrame[Any] | None:
    """The frame that the features are, or None; one without rows or columns is refused."""
    try:
        frame = nw.from_native(x, pass_through=True)
    except nw.exceptions.DuplicateError:
        names = list(x.columns)
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise BadInput(
            f"two columns of the features are called {twice}; rename one of them"
        ) from None
    if isinstance(frame, nw.LazyFrame):
        raise BadInput("the features are a lazy frame, which has no rows yet; pass its .collect()")
    if not isinstance(frame, nw.DataFrame):
        return None
    if not all(frame.shape):
        raise BadInput(
            f"the features have shape {frame.shape}; pass at least one row and one column"
        )
    return frame


def features(model: Any, x: Any, **more: Any) -> list[tuple[str, Vector]]:
    """The columns of a frame or array; the model remembers (or with reset=False, holds to) their names."""
    if as_frame(x) is None:
        x = check_array(_untouched(x), dtype=None, estimator=model, **{_FINITE: False})
    validated(model, x, untouched=True, **more)
    return columns_of(x)


def _untouched(x: Any) -> Any:
    """Lists as they are: numpy would turn numbers beside text into text."""
    if isinstance(x, list | tuple) and np.asarray(x).dtype.kind in "US":
        return np.asarray(x, dtype=object)
    return x


def labels(y: Any, columns: list[tuple[str, Vector]]) -> tuple[Any, Ints]:
    """The classes in order, and the class of each row."""
    y = complete(y)
    check_consistent_length(columns[0][1], y)
    check_classification_targets(check_array(y, ensure_2d=False, dtype=None))
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.int64)


def complete(y: Any) -> Any:
    """Labels as one array, if none is missing."""
    y = column_or_1d(y, warn=True)
    gone = vector(y, "y").missing()
    if gone is not None:
        raise BadInput(f"y is missing (NaN) {Place().rows(gone)}; leave such rows out")
    return y


def weights(given: Any, rows: int) -> Floats:
    """The weight of each row; 1 where nothing is said. A weight of 2 is worth the row twice."""
    if given is None:
        return np.ones(rows)
    if isinstance(given, Real):
        given = np.full(rows, float(given))
    if np.asarray(given).dtype.kind in "US":
        raise BadInput("sample_weight holds words; pass one number for each row")
    found = check_array(given, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if found.shape != (rows,):
        raise BadInput(
            f"sample_weight has shape {found.shape}; pass one weight for each of {rows} rows"
        )
    if (found < 0).any():
        raise BadInput(
            f"sample_weight is negative {Place().rows(found < 0)}; weights are 0 or more"
        )
    if not found.any():
        raise BadInput("sample_weight is zero in every row; at least one has to count")
    with np.errstate(over="ignore"):
        total = found.sum()
    if np.isinf(total):
        raise BadInput("sample_weight adds up to more than a number can hold; divide all weights")
    return np.asarray(found, np.float64)


def moderate(weight: Floats) -> Floats:
    """Weights as they are, unless they are so large or small that trees could not square them.

    Those are divided by a power of 2, which keeps their digits.
    """
    size = int(np.frexp(weight.max())[1])
    return weight if abs(size) < _SIZE else np.asarray(np.ldexp(weight, -size))


def is_finite(setting: Any) -> bool:
    """Whether a setting is a number and finite.

    >>> [is_finite(value) for value in (1, np.float32(0.5), np.inf, True, "a", None)]
    [True, True, False, False, False, False]
    """
    number = isinstance(setting, int | float | np.integer | np.floating)
    return number and not isinstance(setting, bool) and bool(-inf < setting < inf)


def is_whole(setting: Any) -> bool:
    """Whether a setting is a whole number; yes and no are none."""
    return isinstance(setting, int | np.integer) and not isinstance(setting, bool)


def is_fitted(model: Any) -> bool:
    """Whether a model was fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def named(classes: Any) -> str:
    """The first classes by name.

    >>> named(["a", "b"]), named(range(9))
    ("'a', 'b'", '0, 1, 2, 3, 4, ...')
    """
    shown = ", ".join(repr(value) for value in np.asarray(classes).tolist()[:5])
    return shown + (", ..." if len(classes) > 5 else "")


# Features that must be numbers: refuse words, dates and frames without rows, in one sentence.


DATES = (date, time, timedelta, np.datetime64, np.timedelta64)


def check_numbers(X: Any, way_out: str) -> None:  # noqa: N803
    """Refuse words, dates and frames without rows; what else is no number scikit-learn refuses."""
    for name, values in _doubtful(X):
        for value in values:
            if isinstance(value, DATES):
                raise BadInput(
                    f"{name} holds dates or times; pass numbers, such as days since the first"
                )
            if isinstance(value, str | bytes) and not _is_number(value):
                raise BadInput(f"{name} holds {value!r}, {way_out}")


def _doubtful(x: Any) -> Iterator[tuple[str, list[Any]]]:
    """The columns that may hold something other than numbers, with their names."""
    frame = as_frame(x)
    if frame is not None:
        for column in frame.iter_columns():
            if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
                yield str(column.name), column.to_list()
    elif isinstance(x, list | tuple | np.ndarray):
        array = x if isinstance(x, np.ndarray) else _array(x)
        if array.dtype.kind in "OUSMm" and array.size:
            for i, values in enumerate(array.reshape(len(array), -1).T):
                yield f"column {i}", list(values)


def _array(x: Any) -> NDArray[Any]:
    try:
        return np.asarray(x)
    except ValueError:  # lists of several lengths, which scikit-learn refuses
        return np.empty(0)


def _is_number(word: str | bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


# Input of models as scikit-learn checks it, in the versions that are allowed.


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
