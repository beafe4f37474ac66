"""Several pictures of one result, and the choice among them by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from textwrap import fill
from typing import Any, NamedTuple, Self

from scorewise.colours import GREY
from scorewise.displays import canvas
from scorewise.errors import BadInput
from scorewise.registry import unknown

SIDE = 4.4  # inches of a panel
WIDE = ("differences", "groups")  # pictures that are no squares


class Pictures(NamedTuple):
    """The pictures that a result has, by name, and those that are drawn where none is named."""

    kinds: Mapping[str, Callable[..., Any]]
    first: Sequence[str]


def draw(pictures: Pictures, kind: Any, ax: Any, options: dict[str, Any]) -> Any:
    """Draw the picture that is named, or those that people expect, in one figure."""
    if kind is not None and not isinstance(kind, str):
        kind, ax = None, kind
    first = [kind] if kind is not None else list(pictures.first)
    if kind is not None and kind not in pictures.kinds:
        raise BadInput(unknown(kind, pictures.kinds, "picture"))
    if len(first) == 1:
        return pictures.kinds[first[0]](ax=ax, **options)
    return Overview({name: pictures.kinds[name] for name in first}).plot(ax=ax, **options)


class Overview(canvas.Display):
    """Pictures beside one another.

    After `plot`: `displays_` by name; of what cannot be drawn, the reason.
    """

    def __init__(self, pictures: Mapping[str, Callable[..., Any]]) -> None:
        self.pictures = dict(pictures)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw a panel for each; of given axes, as many of them as there are."""
        figure = None
        if ax is None:
            figure, ax = self._grid()
        axes = self._axes(ax, (0, 0), len(self.pictures))
        self.figure_ = figure or self.figure_
        self.displays_: dict[str, Any] = {}
        for one, (name, picture) in zip(axes, self.pictures.items(), strict=False):
            try:
                self.displays_[name] = picture(ax=one, **options)
            except BadInput as why:
                self.displays_[name] = str(why)
                look = {"ha": "center", "va": "center", "transform": one.transAxes}
                one.text(0.5, 0.5, canvas.literal(fill(str(why), 36)), color=GREY, **look)
                one.set_axis_off()
            if one.get_aspect() == "auto" and name not in WIDE:
                one.set_box_aspect(1)  # as high as the others
        return self

    def _grid(self) -> tuple[Any, list[Any]]:
        """A figure of rows of squares; what is wide has the rest of the last row."""
        wide = [name for name in self.pictures if name in WIDE]
        squares = len(self.pictures) - len(wide)
        columns = 2 if squares == 4 and not wide else min(squares, 3) or 2
        rows = [[1.0] * min(columns, squares - at) for at in range(0, squares, columns)]
        if wide:
            if not rows or len(rows[-1]) == columns:
                rows.append([])
            rows[-1] += [(columns - len(rows[-1])) / len(wide)] * len(wide)
        size = (SIDE * columns, SIDE * len(rows))
        figure = canvas.pyplot().figure(figsize=size, layout="constrained")
        parts = figure.subfigures(len(rows), 1, squeeze=False)[:, 0]
        axes = []
        for part, row in zip(parts, rows, strict=True):
            row = row if wide or len(row) == columns else [*row, columns - len(row)]
            axes += list(part.subplots(1, len(row), width_ratios=row, squeeze=False)[0])
        for extra in axes[len(self.pictures) :]:
            extra.remove()
        return figure, axes[: len(self.pictures)]
