"""Several score-weighted ROC curves of the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scorewise.columns import Rows
from scorewise.show.shown import Shown
from scorewise.show.words import Document
from scorewise.tallies import Tally
from scorewise.tallies.smroc import Rule
from scorewise.weighted_roc.curve import SmRoc
from scorewise.weighted_roc.document import document


class SmRocs(Shown, Mapping[str, SmRoc]):
    """The curve of each model by its name; prints as a page of all of them."""

    def __init__(self, curves: Mapping[str, SmRoc], threshold: float = 0.5) -> None:
        self._curves, self.threshold = dict(curves), threshold

    def __getitem__(self, name: str) -> SmRoc:
        return self._curves[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._curves)

    def __len__(self) -> int:
        return len(self._curves)

    def to_dict(self) -> Document:
        """The document that every view renders."""
        return document(self._curves, self.threshold)

    def plot(self, ax: Any = None, **options: Any) -> Any:
        """Draw all curves on one plot with matplotlib."""
        from scorewise.displays import SmRocDisplay

        options = {"segments": False} | options
        for name, curve in self._curves.items():
            display = SmRocDisplay(curve, name=name).plot(ax=ax, **options)
            ax = display.ax_
        return display


def curves_of(
    rows: Rows,
    sources: tuple[str, ...] = (),
    *,
    midpoint: Rule | float | Mapping[str, Tally] = "mean",
    threshold: float = 0.5,
    level: float = 0.95,
    seed: int = 0,
) -> SmRocs:
    """The curves of all scores among checked rows; a midpoint may be learned for each by its name."""
    made = {}
    for name in rows.scores:
        rule = midpoint[name] if isinstance(midpoint, Mapping) else midpoint
        tally = Tally.of_rows(rows, name, sources)
        made[name] = SmRoc(tally, midpoint=rule, level=level, seed=seed, rows=rows)
    return SmRocs(made, threshold)
