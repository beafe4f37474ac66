"""What scikit-learn expects of every model: features, labels and weights checked, names remembered."""

from __future__ import annotations

from inspect import signature
from math import inf
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
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
from scorewise.models.features import columns_of

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
