"""What scikit-learn expects of every model: features, labels, weights and settings are checked."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, time, timedelta
from inspect import signature
from math import inf
from numbers import Real
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
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
from scorewise.columns.vectors import Vector, array, is_float, vector
from scorewise.errors import BadInput

_DATES = (date, time, timedelta, np.datetime64, np.timedelta64)
# the name that the option has had since 1.6, and before
_FINITE = next(name for name in signature(check_array).parameters if name.endswith("all_finite"))


class Classifier(ClassifierMixin, BaseEstimator):
    """A classifier of scikit-learn that is known by its probabilities."""

    classes_: NDArray[Any]

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The likeliest class of each row; the first of several."""
        best = self.predict_proba(X).argmax(axis=1)
        return np.asarray(self.classes_[best])

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """The probability of each class, in the order of `classes_`."""
        raise NotImplementedError

    def _input_tags(self) -> dict[str, bool]:
        """Tags of scikit-learn that say which features the model takes."""
        return {}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        for name, value in self._input_tags().items():
            setattr(tags.input_tags, name, value)
        return tags

    def _more_tags(self) -> dict[str, bool]:  # before scikit-learn 1.6
        return {k: v for k, v in self._input_tags().items() if k == "allow_nan"}


def features(model: Any, x: Any, **more: Any) -> list[tuple[str, Vector]]:
    """The columns of a frame or array; the model remembers (or with reset=False, holds to) their names."""
    frame = as_frame(x)
    if frame is None:
        x = array(x) if isinstance(x, list | tuple) else x
        x = check_array(x, dtype=None, estimator=model, **{_FINITE: False})
    _validated(model, x, untouched=True, **more)
    if frame is None:
        named = ((f"column {i}", column) for i, column in enumerate(x.T))
    else:
        named = ((str(c.name), c.to_native()) for c in frame.iter_columns())
    return [(name, vector(column, name)) for name, column in named]


def numeric_rows(model: Any, *given: Any, finite: bool | str, way_out: str, **more: Any) -> Any:
    """Rows as float64, and labels if given, in fitting; words are refused with the `way_out`.

    `finite` is False or "allow-nan" where values may be missing or infinite.
    """
    x, *labels = given
    check_numeric(x, way_out)
    labels = [y if y is None else _complete(y) for y in labels]
    more |= {_FINITE: finite, "dtype": np.float64, "reset": len(given) > 1}
    return _validated(model, x, *labels, **more)


def _validated(model: Any, *given: Any, untouched: bool = False, **asked: Any) -> Any:
    """Rows, and labels, as scikit-learn checks them; of rows left `untouched` only the names."""
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


def check_numeric(x: Any, way_out: str) -> None:
    """Refuse words and dates; scikit-learn refuses other values that are not numbers."""
    for name, values in _not_numeric(x):
        check_no_dates(values, name)
        for value in values:
            if isinstance(value, str | bytes) and not is_float(value):
                raise BadInput(f"{name} holds {value!r}, and {way_out}")


def check_no_dates(values: list[Any], name: str) -> None:
    """Refuse a column with dates or times."""
    if any(isinstance(value, _DATES) for value in values):
        raise BadInput(f"{name} holds dates or times; pass numbers, such as days since the first")


def has_words(x: Any) -> bool:
    """Whether a frame or array has columns that are not numeric."""
    columns = _not_numeric(x)
    if as_frame(x) is not None:
        return any(True for _ in columns)
    return any(isinstance(v, str | np.bytes_) for _, values in columns for v in values)


def _not_numeric(x: Any) -> Iterator[tuple[str, list[Any]]]:
    """The columns whose type allows for something other than numbers, by name."""
    frame = as_frame(x)
    if frame is not None:
        for column in frame.iter_columns():
            if not (column.dtype.is_numeric() or column.dtype == nw.Boolean):
                yield str(column.name), column.to_list()
    elif isinstance(x, list | tuple | np.ndarray):
        try:
            values = np.asarray(x)
        except ValueError:  # lists of several lengths, which scikit-learn refuses
            return
        if values.dtype.kind in "OUSMm" and values.size:
            for i, cells in enumerate(values.reshape(len(values), -1).T):
                yield f"column {i}", list(cells)


def class_codes(y: Any, columns: list[tuple[str, Vector]]) -> tuple[Any, Ints]:
    """The classes in order, and the class of each row."""
    y = _complete(y)
    check_consistent_length(columns[0][1], y)
    check_classification_targets(check_array(y, ensure_2d=False, dtype=None))
    classes, codes = np.unique(y, return_inverse=True)
    return classes, codes.astype(np.int64)


def _complete(y: Any) -> Any:
    """Labels as one array, if none is missing."""
    y = column_or_1d(y, warn=True)
    gone = vector(y, "y").missing()
    if gone is not None:
        raise BadInput(f"y is missing (NaN) {Place().rows(gone)}; leave such rows out")
    return y


def weights(given: Any, rows: int) -> Floats:
    """The weight of each row, 1 if None is given. A weight of 2 is worth the row twice."""
    if given is None:
        return np.ones(rows)
    if isinstance(given, Real):
        given = np.full(rows, float(given))
    if np.asarray(given).dtype.kind in "US":
        raise BadInput("sample_weight holds words; pass one number for each row")
    found: Floats = check_array(
        given, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
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
        if np.isinf(found.sum()):
            raise BadInput(
                "sample_weight adds up to more than a number can hold; divide all weights"
            )
    return found


def is_number(setting: Any, *, whole: bool = False) -> bool:
    """Whether a setting is a finite number, or an integer; booleans are neither.

    >>> [is_number(value) for value in (1, np.float32(0.5), np.inf, True, "a", None)]
    [True, True, False, False, False, False]
    >>> is_number(1, whole=True), is_number(1.0, whole=True)
    (True, False)
    """
    kinds = int | np.integer if whole else int | float | np.integer | np.floating
    return (
        isinstance(setting, kinds) and not isinstance(setting, bool) and bool(-inf < setting < inf)
    )


def check_number(name: str, setting: Any, least: int, such_as: int, *, whole: bool = True) -> None:
    """Refuse a setting that is not a number from `least` up."""
    if not (is_number(setting, whole=whole) and setting >= least):
        kind = ", a whole one" if whole else ""
        raise BadInput(
            f"{name} is {setting!r}; it must be a number from {least} up{kind}, such as {such_as}"
        )


def is_fitted(model: Any) -> bool:
    """Whether a model was fitted."""
    try:
        check_is_fitted(model)
    except NotFittedError:
        return False
    return True


def listed(classes: Any) -> str:
    """The first classes by name.

    >>> listed(["a", "b"]), listed(range(9))
    ("'a', 'b'", '0, 1, 2, 3, 4, ...')
    """
    shown = ", ".join(repr(value) for value in np.asarray(classes).tolist()[:5])
    return shown + (", ..." if len(classes) > 5 else "")
