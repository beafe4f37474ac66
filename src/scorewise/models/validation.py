"""What scikit-learn expects of every model: features, labels, weights and settings are checked."""

from __future__ import annotations

from contextlib import suppress
from inspect import signature
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
from scorewise.columns.numbers import TIMES, Place
from scorewise.columns.vectors import Coded, Vector, array, vector
from scorewise.errors import BadInput

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
    columns = [(name, vector(column, name)) for name, column in named]
    for name, column in columns:
        if isinstance(column, Coded):
            check_no_dates(column.values, name)
    return columns


def numeric_rows(model: Any, *xy: Any, way_out: str, **more: Any) -> Any:
    """Rows as float64, finite or not, and labels too in fitting; words are refused with the `way_out`."""
    x, *labels = xy
    check_numeric(x, way_out)
    labels = [y if y is None else _complete(y) for y in labels]
    more |= {_FINITE: False, "dtype": np.float64, "reset": len(xy) > 1}
    return _validated(model, x, *labels, **more)


def _validated(model: Any, *xy: Any, untouched: bool = False, **options: Any) -> Any:
    """Rows, and labels, as scikit-learn checks them; of rows left `untouched` only the names."""
    try:
        from sklearn.utils.validation import validate_data
    except ImportError:  # before 1.6
        return model._validate_data(*xy, cast_to_ndarray=not untouched, **options)
    return validate_data(model, *xy, skip_check_array=untouched, **options)


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
    frame, doubtful = as_frame(x), []
    if frame is not None:
        doubtful = [
            (str(column.name), column.to_list())
            for column in frame.iter_columns()
            if not (column.dtype.is_numeric() or column.dtype == nw.Boolean)
        ]
    elif isinstance(x, list | tuple | np.ndarray):
        with suppress(ValueError):  # lists of several lengths, which scikit-learn refuses
            cells = np.asarray(x)
            if cells.dtype.kind in "OUSMm" and cells.size:
                columns = cells.reshape(len(cells), -1).T
                doubtful = [(f"column {i}", list(column)) for i, column in enumerate(columns)]
    for name, values in doubtful:
        check_no_dates(values, name)
        for value in values:
            if isinstance(value, str | bytes):
                try:
                    float(value)
                except ValueError:
                    raise BadInput(f"{name} holds {value!r}, and {way_out}") from None


def check_no_dates(values: list[Any], name: str) -> None:
    """Refuse a column with dates or times."""
    if any(isinstance(value, TIMES) for value in values):
        raise BadInput(f"{name} holds dates or times; pass numbers, such as days since the first")


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


def weights(sample_weight: Any, rows: int) -> Floats:
    """The weight of each row, 1 if None is passed. A weight of 2 is worth the row twice."""
    if sample_weight is None:
        return np.ones(rows)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(rows, float(sample_weight))
    if np.asarray(sample_weight).dtype.kind in "US":
        raise BadInput("sample_weight holds words; pass one number for each row")
    weight: Floats = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
    )
    if weight.shape != (rows,):
        raise BadInput(
            f"sample_weight has shape {weight.shape}; pass one weight for each of {rows} rows"
        )
    if (weight < 0).any():
        where = Place().rows(weight < 0)
        raise BadInput(f"sample_weight is negative {where}; weights are 0 or more")
    if not weight.any():
        raise BadInput("sample_weight is zero in every row; at least one has to count")
    with np.errstate(over="ignore"):
        if np.isinf(weight.sum()):
            raise BadInput(
                "sample_weight adds up to more than a number can hold; divide all weights"
            )
    return weight


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
