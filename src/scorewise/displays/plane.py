"""Two features as a plane to draw on, and the models that are asked about it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from math import isfinite
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.columns.numbers import Place
from scorewise.columns.vectors import Coded, vector
from scorewise.errors import BadInput


class Plane(NamedTuple):
    """Rows of two numbers, their names if they have any, and the library that held them."""

    rows: Floats
    names: tuple[str, ...] | None
    library: Any

    @classmethod
    def of(cls, x: Any) -> Plane:
        """From a frame or an array of two columns."""
        frame = nw.from_native(x, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            raise BadInput("the rows are a lazy frame, which has none yet; pass its .collect()")
        named = isinstance(frame, nw.DataFrame)
        rows = _numbers(frame.to_numpy() if named else x)
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise BadInput(f"the rows have shape {rows.shape}; a plane has two features")
        if not len(rows):
            raise BadInput("there are no rows; pass at least one to draw around")
        bad = np.asarray(~np.isfinite(rows).all(axis=1))
        if bad.any():
            raise BadInput(
                f"x is NaN (missing) or infinite {Place().rows(bad)}; leave such rows out"
            )
        return (
            cls(rows, tuple(frame.columns), frame.implementation)
            if named
            else cls(rows, None, None)
        )

    def line(self, column: int, reach: float, points: int) -> Floats:
        """Places along one feature, beyond the rows by `reach` times their range, or by 1 if it is 0."""
        low, high = self.rows[:, column].min(), self.rows[:, column].max()
        beyond = reach * (high - low) if high > low else max(1.0, 1e-9 * abs(low))
        return np.linspace(low - beyond, high + beyond, points)

    def asked(self, places: Floats, model: Any, name: str) -> Any:
        """Places as the model knows its features: a frame with its names, or an array."""
        known, library = getattr(model, "feature_names_in_", None), self.library or _loaded()
        if known is None or library is None:
            return places
        names = [str(word) for word in known]
        own = names if self.names is None else list(self.names)
        if set(own) != set(names):
            raise BadInput(
                f"{_called(name)} was fitted to the features {', '.join(names)}, x has "
                f"{', '.join(own)}; pass these two columns"
            )
        columns = dict(zip(own, places.T, strict=True))
        return nw.from_dict({word: columns[word] for word in names}, backend=library).to_native()

    def labels(self, y: Any, classes: NDArray[Any]) -> NDArray[Any]:
        """The class of each row, among those of the models, by value or else by spelling."""
        given = vector(y, "y")
        if len(given) != len(self.rows):
            raise BadInput(
                f"x has {len(self.rows):,} rows and y has {len(given):,}; pass one label for each row"
            )
        if (gone := given.missing()) is not None:
            raise BadInput(f"y is missing {Place().rows(gone)}; leave such rows out")
        if isinstance(given, Coded):
            values, codes = list(given.values), given.codes
        else:
            found, codes = np.unique(given.values, return_inverse=True)
            values = found.tolist()
        known = classes.tolist()
        spelled = {str(c): i for i, c in enumerate(known)} | {c: i for i, c in enumerate(known)}
        place = np.array([spelled.get(v, spelled.get(str(v), -1)) for v in values])[codes]
        if (other := place < 0).any():
            raise BadInput(
                f"y is {values[codes[other.argmax()]]!r}, none of the models' classes "
                f"({', '.join(map(repr, known))}), {Place().rows(other)}; pass labels of these"
            )
        return np.asarray(classes[place])


def _numbers(x: Any) -> Floats:
    try:
        return np.asarray(x, dtype=float)
    except (TypeError, ValueError):
        raise BadInput(
            "x holds something other than numbers; pass two columns of numbers"
        ) from None


def _loaded() -> Any:
    """A library of frames that is there already, as one is where a model knows names."""
    return next((name for name in ("pandas", "polars") if name in sys.modules), None)


def named_models(models: Any) -> dict[str, Any]:
    """Models by name, fitted to two features and the same classes."""
    named = dict(models) if isinstance(models, Mapping) else {"": models}
    if not named:
        raise BadInput("no models were given; pass one, or {name: model}")
    for name, model in named.items():
        if not hasattr(model, "predict_proba"):
            raise BadInput(
                f"{_called(name)}, a {type(model).__name__}, has no predict_proba; pass one that gives "
                "probabilities"
            )
        if not hasattr(model, "classes_"):
            raise BadInput(f"{_called(name)} is not fitted; fit it first")
        if (wide := getattr(model, "n_features_in_", 2)) != 2:
            raise BadInput(f"{_called(name)} was fitted to {wide} features; a plane has two")
    (first, one), *others = named.items()
    for name, model in others:
        if list(model.classes_) != list(one.classes_):
            raise BadInput(
                f"{_called(first)} and {_called(name)} know other classes ({_listed(one)}; "
                f"{_listed(model)}); draw them apart, or fit them to the same labels"
            )
    return named


def check_plane(reach: Any, points: Any) -> None:
    """Refuse a reach or a number of points that makes no plane."""
    if not (isinstance(reach, int | float) and isfinite(reach) and reach >= 0):
        raise BadInput(f"reach={reach!r} is not a finite number from 0 up; 1 is the data's range")
    if not (isinstance(points, int | np.integer) and points >= 2):
        raise BadInput(f"points={points!r} is not a whole number from 2 up, such as 150")


def _called(name: str) -> str:
    return f"model {name!r}" if name else "the model"


def _listed(model: Any) -> str:
    return ", ".join(repr(c) for c in np.asarray(model.classes_).tolist())
