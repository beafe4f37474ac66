"""The confusion of several classes, drawn."""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from scorewise.displays.canvas import ink, literal, panels
from scorewise.displays.display import Display
from scorewise.errors import BadInput
from scorewise.tallies import ClassTally, Confusion

WRITTEN = 20  # classes up to which the numbers are written into the cells


class ConfusionDisplay(Display):
    """Truth down the side, decisions across, each row shaded by its shares.

    After `plot`: `image_` and `texts_`, the numbers, which are absent where classes are many.
    """

    image_: Any
    texts_: list[Any]

    def __init__(self, c: Confusion) -> None:
        if not c.weight.any():
            raise BadInput("no confusion to draw: no rows")
        self.confusion = c

    @classmethod
    def from_predictions(cls, y: Any, p: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw labels `y` and scores `p` of each class; the options are those of `ClassTally.of`."""
        return cls(ClassTally.of(y, p, **options).confusion).plot(ax=ax)

    @classmethod
    def from_tally(cls, t: ClassTally, *, ax: Any = None, **options: Any) -> Self:
        """Draw the decisions of a tally of several classes; the options are those of `plot`."""
        return cls(t.confusion).plot(ax=ax, **options)

    def plot(self, ax: Any = None, *, cmap: str = "Blues") -> Self:
        """Draw the table."""
        names = [literal(name) for name in self.confusion.classes]
        side = min(2.5 + 0.42 * len(names), 12.0)
        (ax,) = panels(ax, 1, (side, side))
        weight = self.confusion.weight.astype(np.float64)
        rows = weight.sum(1, keepdims=True)
        share = np.divide(weight, rows, out=np.zeros_like(weight), where=rows > 0)
        self.image_ = ax.imshow(share, cmap=cmap, vmin=0, vmax=1)
        at = range(len(names))
        ax.set_xticks(at, names, rotation=90 if max(map(len, names)) > 3 else 0)
        ax.set_yticks(at, names)
        ax.set_xlabel("decided")
        ax.set_ylabel("true")
        self.texts_ = []
        if len(names) <= WRITTEN:
            self.texts_ = [
                ax.text(
                    j, i, f"{weight[i, j]:.4g}", ha="center", va="center", fontsize="small",
                    color="white" if share[i, j] > 0.5 else ink(ax),
                )
                for i in at for j in at if weight[i, j]
            ]  # fmt: skip
        return self._drew([ax])
