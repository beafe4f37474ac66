"""Figures one by one: to look at in a notebook, and to save as SVG or PNG."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from scorewise.errors import BadInput, plain
from scorewise.figures import figures_of
from scorewise.show.page import Figure
from scorewise.writing import write

ZOOM = 2.0  # px of a PNG for each of the drawing: sharp on paper and on good screens
_HEAD = '<?xml version="1.0" encoding="UTF-8"?>\n'
_WHOLE = re.compile(r"<svg\b.*?</svg>", re.DOTALL)
_AXIS = re.compile(r'<svg\b[^>]* data-axis="(\w+)"')
ENDINGS = (".svg", ".png")


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
        write(path, _HEAD + self.svg() if ending == ".svg" else png(self.svg()))

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
    made: dict[str, SavedFigure] = {}
    for figure in (f for figures in figures_of(document).values() for f in figures):
        for name, alone in _apart(figure).items():
            free = (name if k == 1 else f"{name}_{k}" for k in range(1, 1000))
            made[next(n for n in free if n not in made)] = alone
    return made


def _apart(figure: Figure) -> Mapping[str, SavedFigure]:
    """A figure that holds several drawings, of which all but one are hidden, as one for each."""
    if figure.kind != "reliability":
        return {figure.kind: SavedFigure(**vars(figure))}
    drawn = {_AXIS.match(svg)[1]: svg for svg in _WHOLE.findall(figure.svg())}  # type: ignore[index]
    return {
        figure.kind if axis == "linear" else f"{figure.kind}_{axis}": SavedFigure(
            figure.kind, figure.title, figure.description, _shown(svg), figure.table
        )
        for axis, svg in drawn.items()
    }


def _shown(svg: str) -> Any:
    head, gap, rest = svg.partition(">")
    return lambda: head.replace(' display="none"', "") + gap + rest


def figure_files(document: Any, folder: str) -> dict[str, bytes]:
    """What to write into a folder: each figure as SVG and, where that can be made, as PNG."""
    found = saved_figures(document)
    if not found:
        command = getattr(document, "command", "this")
        raise BadInput(f"{command} found nothing that could be drawn; leave out the figures")
    files = {}
    for name, figure in found.items():
        svg = figure.svg()
        files[str(Path(folder) / f"{name}.svg")] = (_HEAD + svg).encode()
        if has_png():
            files[str(Path(folder) / f"{name}.png")] = png(svg)
    return files
