"""Several score-weighted ROC curves of the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from scorewise.door import Rows
from scorewise.scoring.document import document
from scorewise.scoring.smroc import SmRoc
from scorewise.tallies import Tally
from scorewise.views.shown import Shown
from scorewise.views.words import Document


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
    rows: Rows, sources: tuple[str, ...] = (), *, threshold: float = 0.5, **options: Any
) -> SmRocs:
    """The curves of all scores among checked rows."""
    made = {
        name: SmRoc(Tally.of_rows(rows, name, sources), rows=rows, **options)
        for name in rows.scores
    }
    return SmRocs(made, threshold)
