"""Posteriors over a plane, drawn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np

from scorewise.arrays import Floats
from scorewise.displays.canvas import COLOURS, ink, literal, panels
from scorewise.displays.display import Display
from scorewise.displays.plane import Plane, check_plane, named_models
from scorewise.errors import BadInput


class PosteriorDisplay(Display):
    """What models say of each point of a plane, beside one another, with the data on top.

    Each class has a colour; the paler a point, the less sure the model is, and where all classes
    are as likely it is white. `posteriors` maps a name to chances of the classes over the grid (rows of
    `y`, columns of `x`, classes). After `plot`: `images_` by name and `points_`.
    """

    images_: dict[str, Any]
    points_: list[Any]

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
        cls,
        models: Any,
        x: Any,
        y: Any,
        *,
        reach: float = 1.0,
        points: int = 150,
        ax: Any = None,
    ) -> Self:
        """Draw one fitted model or several by name, for the two features of `x`.

        The plane goes beyond the data by `reach` times their range on each side, and is asked for
        at `points` by `points` places. Models that know names of features are asked with a frame.
        Labels are matched to the classes of the models by value, or else by spelling.
        """
        named = named_models(models)
        check_plane(reach, points)
        plane = Plane.of(x)
        classes = np.asarray(next(iter(named.values())).classes_)
        labels = plane.labels(y, classes)
        first, second = (plane.line(column, reach, points) for column in (0, 1))
        grid = np.stack(np.meshgrid(first, second), axis=-1).reshape(-1, 2)
        said = {
            name: np.reshape(
                model.predict_proba(plane.asked(grid, model, name)), (points, points, -1)
            )
            for name, model in named.items()
        }
        return cls(first, second, said, classes, (plane.rows, labels)).plot(ax=ax)

    def plot(self, ax: Any = None, **scatter: Any) -> Self:
        """Draw a panel for each model; `scatter` goes to matplotlib's `scatter`, such as `s=10`."""
        wide = len(self.posteriors)
        axes = panels(ax, wide, (4.2 * wide, 4.0))
        if len(axes) < wide:
            raise BadInput(f"{len(axes)} axes were given for {wide} models; pass {wide}")
        self.images_, self.points_ = {}, []
        around = (self.x[0], self.x[-1], self.y[0], self.y[-1])
        for panel, (name, p) in zip(axes, self.posteriors.items(), strict=True):
            self.images_[name] = panel.imshow(
                colours(p), extent=around, origin="lower", aspect="auto", interpolation="nearest"
            )
            self._scatter(panel, scatter)
            panel.set_title(literal(name))
        if self.points is not None:
            axes[0].legend(loc="upper left", fontsize="small")
        return self._drew(axes)

    def _scatter(self, ax: Any, given: dict[str, Any]) -> None:
        if self.points is None:
            return
        rows, labels = self.points
        for label, colour in zip(self.classes, COLOURS, strict=False):
            own = rows[labels == label]
            look = {"s": 8, "color": colour, "edgecolors": ink(ax), "linewidths": 0.3}
            label = literal(str(label))
            self.points_.append(ax.scatter(own[:, 0], own[:, 1], label=label, **look | given))


def colours(p: Floats) -> Floats:
    """Colours of posteriors: white where all classes are as likely, a class's own where it is sure.

    >>> colours(np.array([[0.5, 0.5], [1.0, 0.0]])).round(2)
    array([[1.  , 1.  , 1.  ],
           [0.  , 0.45, 0.7 ]])
    """
    own = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in COLOURS])
    classes = p.shape[-1]
    even = 1 / classes
    sure = np.maximum(p - even, 0) / max(1 - even, 1e-9)
    tint = (sure[..., None] * (own[:classes] - 1)).sum(axis=-2)
    return np.asarray(np.clip(1 + tint, 0, 1))
