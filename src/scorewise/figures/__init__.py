"""Figures of documents as SVG: pure functions of what a command wrote.

`figures_of` knows which figures a document yields; the modules beside have one function for each. Notebooks
show each figure, and it can be saved as SVG or PNG.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

from scorewise.errors import BadInput, plain
from scorewise.figures import agreement, comparisons, decisions, probabilities, ranking
from scorewise.show.page import Figure
from scorewise.writing import write

Draws: TypeAlias = Callable[[Any], Iterator[Figure]]
# the figures of the document of each command, by the section of a report that they belong to
_OF_COMMAND: dict[str, dict[str, tuple[Draws, ...]]] = {
    "agree": {
        "agreement": (agreement.coefficients, agreement.pairs),
        "slices": (comparisons.groups,),
    },
    "answers": {
        "probabilities": (agreement.confidence, agreement.over_tau),
        "slices": (comparisons.groups,),
    },
    "calibrate": {"recalibration": (probabilities.recalibration,)},
    "calibrate-classes": {"recalibration": (probabilities.recalibration,)},
    "compare": {"comparison": (comparisons.differences,)},
    "drift": {"drift": (comparisons.changes, comparisons.windows)},
    "evaluate": {
        "scores": (probabilities.densities,),
        "ranking": (ranking.ranking,),
        "probabilities": (probabilities.reliability,),
        "threshold": (decisions.confusion, decisions.threshold_curves, decisions.decision_curve),
        "slices": (comparisons.groups,),
        "comparison": (comparisons.differences,),
    },
    "evaluate classes": {
        "ranking": (ranking.ranking,),
        "threshold": (decisions.confusion,),
        "slices": (comparisons.classes, comparisons.groups),
    },
    "inspect": {"instances": (probabilities.suspects,)},
    "judge": {
        "agreement": (agreement.ceilings, agreement.accuracies),
        "slices": (comparisons.groups,),
    },
    "smroc": {"ranking": (ranking.smroc,)},
    "threshold": {"threshold": (decisions.chosen_cuts,), "slices": (comparisons.promised,)},
}
DRAWN = {*_OF_COMMAND, "report"}  # commands whose documents have figures
ZOOM = 2.0  # px of a PNG for each of the drawing: sharp on paper and on good screens
XML = '<?xml version="1.0" encoding="UTF-8"?>\n'
ENDINGS = (".svg", ".png")


def figures_of(document: Any) -> dict[str, list[Figure]]:
    """The figures that a document yields, by the section of a report that they belong to.

    >>> import scorewise as sw
    >>> e = sw.evaluate([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0])
    >>> found = figures_of(e.document())
    >>> [f.kind for f in found["ranking"]]
    ['roc', 'smroc', 'precision_recall']
    """
    command = getattr(document, "command", "")
    if command == "report":
        by_section: dict[str, list[Figure]] = {}
        for home, _, other in document.others():
            by_section.setdefault(home, []).extend(figures_of(other).get(home, ()))
        # rather than those that the evaluation has of the same
        return figures_of(document.evaluation) | {
            at: drawn for at, drawn in by_section.items() if drawn
        }
    several = command == "evaluate" and document.classes
    sections = _OF_COMMAND.get("evaluate classes" if several else command, {})
    drawings = {
        home: [f for draw in draws for f in draw(document)] for home, draws in sections.items()
    }
    return {home: drawn for home, drawn in drawings.items() if drawn}


@dataclass(frozen=True)
class SavedFigure(Figure):
    """A figure that notebooks show, and that `save` writes.

    >>> import scorewise as sw
    >>> roc = sw.evaluate([1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]).figures()["roc"]
    >>> roc.title, roc.svg()[:25]
    ('ROC curve', '<svg xmlns="http://www.w3')
    """

    def _repr_svg_(self) -> str:
        return self.svg()

    def save(self, path: str | Path) -> None:
        """Write it as .svg, or as .png where resvg-py is installed (`pip install 'scorewise[figures]'`)."""
        ending = Path(path).suffix.lower()
        if ending not in ENDINGS:
            raise BadInput(f"{plain(path)} has to end in {' or '.join(ENDINGS)}")
        write(path, XML + self.svg() if ending == ".svg" else png(self.svg()))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.kind}: {self.title}>"


def has_png() -> bool:
    """Whether drawings can be made into pixels."""
    return find_spec("resvg_py") is not None


def png(svg: str) -> bytes:
    """A drawing as PNG."""
    if not has_png():
        raise BadInput("PNG needs resvg-py: pip install 'scorewise[figures]'; or save as .svg")
    from resvg_py import svg_to_bytes

    return bytes(svg_to_bytes(svg_string=svg, zoom=ZOOM))


def saved_figures(document: Any) -> dict[str, SavedFigure]:
    """The figures of a document by their kind; those of two kinds of axes are one for each."""
    saved: dict[str, SavedFigure] = {}
    for f in (f for figures in figures_of(document).values() for f in figures):
        for name, svg in f.drawings.items():
            free = (name if k == 1 else f"{name}_{k}" for k in count(1))
            alone = SavedFigure(f.kind, f.title, f.description, {name: svg}, f.table)
            saved[next(n for n in free if n not in saved)] = alone
    return saved


def figure_files(document: Any, folder: str) -> dict[str, bytes]:
    """What to write into a folder: each figure as SVG and, where that can be made, as PNG."""
    figures = saved_figures(document)
    if not figures:
        command = getattr(document, "command", "this")
        raise BadInput(f"{command} found nothing that could be drawn; leave out the figures")
    files = {}
    for name, figure in figures.items():
        svg = figure.svg()
        files[str(Path(folder) / f"{name}.svg")] = (XML + svg).encode()
        if has_png():
            files[str(Path(folder) / f"{name}.png")] = png(svg)
    return files
