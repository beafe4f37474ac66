"""How far each two raters agree, drawn."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Self

import numpy as np

from scorewise.displays.canvas import GREY, ink, literal, panels
from scorewise.displays.display import Display
from scorewise.errors import BadInput
from scorewise.inference.agreement_weights import Weights
from scorewise.measures.raters.agreement import cohen_kappa
from scorewise.tallies import Ratings

WRITTEN = 20  # raters up to whom the numbers are written into the cells
MOST = 60


class PairsDisplay(Display):
    """A cell for each two raters, darker where they agree more; raters who agree most come first.

    `values` is a table with a row and a column for each name, NaN where two raters share no item. Grey
    cells have no value. After `plot`: `image_`, `texts_`, the numbers, which are absent where raters are
    many, and `order_`, the names from the top.
    """

    image_: Any
    texts_: list[Any]
    order_: list[str]

    def __init__(self, names: Sequence[str], values: Any, title: str = "Cohen's kappa") -> None:
        self.names, self.title = list(names), title
        self.values = np.array(values, np.float64)
        many = len(self.names)
        if self.values.shape != (many, many):
            raise BadInput(f"{many} raters need a table of that many rows and columns; this has shape "
                f"{self.values.shape}")  # fmt: skip
        if not 2 <= many <= MOST:
            raise BadInput(f"there are {many} raters; 2 to {MOST} can be drawn")
        np.fill_diagonal(self.values, np.nan)

    @classmethod
    def from_ratings(cls, r: Ratings, *, weights: Weights = None, ax: Any = None) -> Self:
        """Draw Cohen's kappa of each two raters; weights as of `measures.cohen_kappa`."""
        if r.raters is None:
            raise BadInput("no pairs to draw: it is not known which rater said what")
        many = len(r.raters)
        values = np.full((many, many), np.nan)
        for i, k in combinations(range(many) if many <= MOST else (), 2):
            e = cohen_kappa(r.only([i, k]), weights=weights)
            values[i, k] = values[k, i] = e.value
        return cls(r.raters, values).plot(ax=ax)

    def plot(self, ax: Any = None, *, cmap: str = "Blues") -> Self:
        """Draw the table."""
        known = np.isfinite(self.values)
        means = np.where(known, self.values, 0.0).sum(1) / np.maximum(known.sum(1), 1)
        means[~known.any(1)] = np.nan
        order = np.lexsort((np.arange(len(means)), np.nan_to_num(-means, nan=np.inf)))
        self.order_ = [self.names[i] for i in order]
        table = self.values[np.ix_(order, order)]
        side = min(2.8 + 0.5 * len(order), 13.0)
        (ax,) = panels(ax, 1, (side + 1.2, side))
        ax.set_facecolor("#E5E5E5")
        self.image_ = ax.imshow(np.ma.masked_invalid(table), cmap=cmap, vmin=0, vmax=1)
        names = [literal(name) for name in self.order_]
        at = range(len(names))
        ax.set_xticks(at, names, rotation=90 if max(map(len, names)) > 3 else 0)
        ax.set_yticks(at, [f"{n} ({_short(means[i])})" for n, i in zip(names, order, strict=True)])
        ax.set_ylabel("rater (mean with the others)")
        bar = ax.figure.colorbar(self.image_, ax=ax, shrink=0.8, extend="min")
        bar.set_label(literal(self.title))
        self.texts_ = []
        if len(names) <= WRITTEN:
            self.texts_ = [self._written(ax, i, j, table[i, j]) for i in at for j in at if i != j]
        return self._drew([ax])

    def _written(self, ax: Any, i: int, j: int, value: float) -> Any:
        known = bool(np.isfinite(value))
        colour = ("white" if value > 0.6 else ink(ax)) if known else GREY
        return ax.text(
            j, i, _short(value), ha="center", va="center", fontsize="small", color=colour
        )  # fmt: skip


def _short(x: float) -> str:
    """Two decimals, or a dash.

    >>> _short(-0.001), _short(float("nan"))
    ('0.00', '—')
    """
    # + 0.0 folds -0.0 into 0.0
    return f"{round(x, 2) + 0.0:.2f}" if np.isfinite(x) else "—"
