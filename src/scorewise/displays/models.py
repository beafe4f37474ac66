"""Models: their posteriors over a plane of two features, and their confidence far from the data."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.checks import is_finite, is_integer
from scorewise.colours import COLOURS, GREY
from scorewise.columns.numbers import Place
from scorewise.columns.vectors import factorize, vector
from scorewise.displays import canvas
from scorewise.displays.canvas import CHANCE
from scorewise.errors import BadInput

if TYPE_CHECKING:
    from scorewise.models import InAndOut


class PosteriorDisplay(canvas.Display):
    """Posteriors of models at each point of a plane, beside one another, with the data on top.

    Each class has a colour; the paler a point, the less sure the model is, and where all classes
    are as likely it is white. `posteriors` maps a name to chances of the classes over the grid (rows of
    `y`, columns of `x`, classes). After `plot`: `images_` by name and `points_`.
    """

    def __init__(
        self,
        x: Floats,
        y: Floats,
        posteriors: Mapping[str, Floats],
        classes: Any,
        points: tuple[Any, Any] | None = None,
    ) -> None:
        if not posteriors:
            raise BadInput("no posteriors were given; pass {name: posterior}")
        if len(classes) > len(COLOURS):
            raise BadInput(
                f"{len(classes)} classes were given; colours tell {len(COLOURS)} apart, join some"
            )
        self.x, self.y, self.posteriors = x, y, dict(posteriors)
        self.classes, self.points = list(classes), points

    @classmethod
    def from_models(
        cls, models: Any, x: Any, y: Any, *, reach: float = 1.0, points: int = 150, ax: Any = None
    ) -> Self:
        """Draw one fitted model or several by name, for the two features of `x`.

        The plane goes beyond the data by `reach` times their range on each side, and is asked for
        at `points` by `points` places. Models that know names of features are asked with a frame.
        Labels are matched to the classes of the models by value, or else by spelling.
        """
        named = _named_models(models)
        if not (is_finite(reach) and reach >= 0):
            raise BadInput(
                f"reach={reach!r} is not a finite number from 0 up; 1 is the data's range"
            )
        if not is_integer(points, 2):
            raise BadInput(f"points={points!r} is not a whole number from 2 up, such as 150")
        plane = Plane.of(x)
        classes = np.asarray(next(iter(named.values())).classes_)
        labels = plane.labels(y, classes)
        first, second = (plane.line(column, reach, points) for column in (0, 1))
        grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
        posteriors = {}
        for name, model in named.items():
            p = model.predict_proba(plane.for_model(grid, model, name))
            posteriors[name] = np.reshape(p, (points, points, -1))
        return cls(first, second, posteriors, classes, (plane.rows, labels)).plot(ax=ax)

    def plot(self, ax: Any = None, **scatter: Any) -> Self:
        """Draw a panel for each model; `scatter` goes to matplotlib's `scatter`, such as `s=10`."""
        wide = len(self.posteriors)
        axes = self._axes(ax, (4.2 * wide, 4.0), wide)
        if len(axes) < wide:
            raise BadInput(f"{len(axes)} axes were given for {wide} models; pass {wide}")
        self.images_, self.points_ = dict[str, Any](), []
        around = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        look = {"extent": around, "origin": "lower", "aspect": "auto", "interpolation": "nearest"}
        for panel, (name, p) in zip(axes, self.posteriors.items(), strict=True):
            self.images_[name] = panel.imshow(colours(p), **look)
            panel.set_title(canvas.literal(name))
            if self.points is not None:
                self._scatter(panel, *self.points, scatter)
        if self.points is not None:
            axes[0].legend(loc="upper left", fontsize="small")
        return self

    def _scatter(self, ax: Any, rows: Any, labels: Any, scatter: dict[str, Any]) -> None:
        for label, colour in zip(self.classes, COLOURS, strict=False):
            look = {"s": 8, "color": colour, "edgecolors": canvas.ink(ax), "linewidths": 0.3}
            look |= {"label": canvas.literal(str(label))} | scatter
            self.points_.append(ax.scatter(*rows[labels == label].T, **look))


def colours(p: Floats) -> Floats:
    """Colours of posteriors: white where all classes are as likely, a class's own where it is sure.

    >>> colours(np.array([[0.5, 0.5], [1.0, 0.0]])).round(2)
    array([[1.  , 1.  , 1.  ],
           [0.  , 0.45, 0.7 ]])
    """
    pure = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in COLOURS])
    classes = p.shape[-1]
    even = 1 / classes
    certainty = np.maximum(p - even, 0) / max(1 - even, 1e-9)
    tint = (certainty[..., None] * (pure[:classes] - 1)).sum(axis=-2)
    return np.asarray(np.clip(1 + tint, 0, 1))


class Plane(NamedTuple):
    """Rows of two numbers, their names if they have any, and the library that held them."""

    rows: Floats
    names: tuple[str, ...] | None = None
    library: Any = None

    @classmethod
    def of(cls, x: Any) -> Plane:
        """From a frame or an array of two columns."""
        frame = nw.from_native(x, pass_through=True)
        if isinstance(frame, nw.LazyFrame):
            raise BadInput("the rows are a lazy frame, which has none yet; pass its .collect()")
        named = isinstance(frame, nw.DataFrame)
        try:
            rows = np.asarray(frame.to_numpy() if named else x, dtype=float)
        except (TypeError, ValueError):
            raise BadInput(
                "x holds something other than numbers; pass two columns of numbers"
            ) from None
        if rows.ndim != 2 or rows.shape[1] != 2:
            raise BadInput(f"the rows have shape {rows.shape}; a plane has two features")
        if not len(rows):
            raise BadInput("there are no rows; pass at least one to draw around")
        bad = np.asarray(~np.isfinite(rows).all(axis=1))
        if bad.any():
            where = Place().rows(bad)
            raise BadInput(f"x is NaN (missing) or infinite {where}; leave such rows out")
        return cls(rows, tuple(frame.columns), frame.implementation) if named else cls(rows)

    def line(self, column: int, reach: float, points: int) -> Floats:
        """Places along one feature, beyond the rows by `reach` times their range, or by 1 if it is 0."""
        low, high = self.rows[:, column].min(), self.rows[:, column].max()
        beyond = reach * (high - low) if high > low else max(1.0, 1e-9 * abs(low))
        return np.linspace(low - beyond, high + beyond, points)

    def for_model(self, places: Floats, model: Any, name: str) -> Any:
        """Places as the model knows its features: a frame with its names, or an array."""
        known = getattr(model, "feature_names_in_", None)
        # where a model knows names, a library of frames is there already
        loaded = (name for name in ("pandas", "polars") if name in sys.modules)
        library = self.library or next(loaded, None)
        if known is None or library is None:
            return places
        names = [str(word) for word in known]
        own = names if self.names is None else list(self.names)
        if set(own) != set(names):
            raise BadInput(
                f"{_model_name(name)} was fitted to the features {', '.join(names)}, x has "
                f"{', '.join(own)}; pass these two columns"
            )
        columns = dict(zip(own, places.T, strict=True))
        return nw.from_dict({word: columns[word] for word in names}, backend=library).to_native()

    def labels(self, y: Any, classes: NDArray[Any]) -> NDArray[Any]:
        """The class of each row, among those of the models, by value or else by spelling."""
        column = vector(y, "y")
        if len(column) != len(self.rows):
            sizes = f"x has {len(self.rows):,} rows and y has {len(column):,}"
            raise BadInput(f"{sizes}; pass one label for each row")
        if (gone := column.missing()) is not None:
            raise BadInput(f"y is missing {Place().rows(gone)}; leave such rows out")
        values, codes = factorize(column)
        names = classes.tolist()
        spelled = {str(c): i for i, c in enumerate(names)} | {c: i for i, c in enumerate(names)}
        place = np.array([spelled.get(v, spelled.get(str(v), -1)) for v in values])[codes]
        if (other := place < 0).any():
            raise BadInput(
                f"y is {values[codes[other.argmax()]]!r}, none of the models' classes "
                f"({', '.join(map(repr, names))}), {Place().rows(other)}; pass labels of these"
            )
        return np.asarray(classes[place])


def _named_models(models: Any) -> dict[str, Any]:
    """Models by name, fitted to two features and the same classes."""
    named = dict(models) if isinstance(models, Mapping) else {"": models}
    if not named:
        raise BadInput("no models were given; pass one, or {name: model}")
    for name, model in named.items():
        if not hasattr(model, "predict_proba"):
            raise BadInput(
                f"{_model_name(name)}, a {type(model).__name__}, has no predict_proba; pass one that gives "
                "probabilities"
            )
        if not hasattr(model, "classes_"):
            raise BadInput(f"{_model_name(name)} is not fitted; fit it first")
        if (wide := getattr(model, "n_features_in_", 2)) != 2:
            raise BadInput(f"{_model_name(name)} was fitted to {wide} features; a plane has two")
    (first, one), *others = named.items()
    for name, model in others:
        if list(model.classes_) != list(one.classes_):
            raise BadInput(
                f"{_model_name(first)} and {_model_name(name)} know other classes ({_class_list(one)}; "
                f"{_class_list(model)}); draw them apart, or fit them to the same labels"
            )
    return named


def _model_name(name: str) -> str:
    return f"model {name!r}" if name else "the model"


def _class_list(model: Any) -> str:
    return ", ".join(repr(c) for c in np.asarray(model.classes_).tolist())


SIDES = {"in": 0.0, "out": 0.5}  # where the rows in and out of distribution stand


class ConfidenceDisplay(canvas.Display):
    """The mean confidence of models on rows in and out of distribution, and at radii of the data.

    Points on the left are the rows that were passed, the curve to the right of them is of points in
    random directions, with intervals; the dotted line is the share of the commonest class, which is
    all that can be known far from the data. After `plot`: `lines_`, `points_` and `bands_` by name.
    """

    def __init__(self, result: InAndOut) -> None:
        self.result = result
        self.radii = np.array(list(next(iter(result.values())).at))
        if not len(self.radii):
            ask = "ask in_and_out for some, such as radii=(1, 5)"
            raise BadInput(f"there are no radii to draw; {ask}")

    @classmethod
    def from_result(cls, result: InAndOut, *, ax: Any = None, **line: Any) -> Self:
        """Draw the result of `sw.models.in_and_out`."""
        return cls(result).plot(ax=ax, **line)

    def plot(self, ax: Any = None, **line: Any) -> Self:
        """Draw a curve for each model; `line` goes to matplotlib's `plot`, such as `lw=3`."""
        (ax,) = self._axes(ax, (6.4, 4.2))
        self.lines_, self.points_, self.bands_ = {}, {}, {}
        sides = self.radii.min() - 1.5 + np.array(list(SIDES.values()))
        for name, one in self.result.items():
            low, value, high = _ends(one.at.values())
            drawn = canvas.curve(ax, self.radii, value, name, line, marker=".")
            self.lines_[name], colour = drawn, drawn.get_color()
            self.bands_[name] = canvas.shade(ax, self.radii, low, high, colour)
            low, value, high = _ends(one[f"confidence_{side}"] for side in SIDES)
            (self.points_[name],) = ax.plot(sides, value, "o", color=colour, ms=6)
            ax.vlines(sides, low, high, color=colour, lw=1.4)
        share = next(iter(self.result.values())).largest_share
        look = {"ls": ":", "color": GREY, "lw": 1, "zorder": 1, "gid": CHANCE}
        ax.axhline(share, **look, label="commonest class")
        ticks = [*(f"rows\n{side}" for side in SIDES), *(f"{x:g}" for x in self.radii)]
        ax.set_xticks([*sides, *self.radii], ticks)
        columns = min(3, len(self.result) + 1)
        canvas.frame(ax, "radii of the data", "mean confidence", "above", columns, ylim=(0, 1.03))
        return self


def _ends(estimates: Any) -> Floats:
    """Lower ends, values and upper ends; a value whose interval is a point stands for its ends."""
    ends = canvas.intervals(estimates)
    return np.where(np.isnan(ends), ends[1], ends)
