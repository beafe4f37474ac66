"""What all displays share: their base classes, and the look of axes, curves, bands and legends."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from inspect import signature
from math import isfinite
from textwrap import fill
from typing import Any, Literal, Self, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import one_of
from scorewise.colours import GREY, colour_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.registry import unknown
from scorewise.statistics.smroc import Rule
from scorewise.tallies import ClassTally, Tally

# colours are told apart by colour-blind readers, dashes by those who print in grey
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (9, 2)))
MARKERS = "osD^v<>"
CURVE, CHANCE = "scorewise curve", "scorewise chance"  # how a plot knows what is on it already
ROC_AXES = ("false positive rate", "true positive rate")
SMROC_AXES = ("share of all runs", "share of all climbs")
UNIT = (-0.02, 1.02)  # an axis from 0 to 1 with a margin
EQUAL: dict[str, Any] = {"aspect": "equal", "adjustable": "box"}  # axes of one scale
_LEGEND_WIDTH = 48  # characters of a line
SIDE = 4.4  # inches of a panel of several
WIDE = ("differences", "groups")  # pictures that are no squares
_NUMBERED = 20  # rows of a table up to which the numbers are written into the cells

BandName: TypeAlias = Literal["pointwise", "simultaneous"]
AnyMidpoint: TypeAlias = Rule | float | Tally
Sides: TypeAlias = tuple[float, float]


class Display:
    """A picture: once drawn, `figure_` is the figure, `axes_` its panels and `ax_` the first of them."""

    figure_: Any
    axes_: list[Any]
    ax_: Any
    name: str | None = None
    plot: Any  # each draws with options of its own
    lines_: Any
    bands_: Any
    points_: Any
    dots_: Any
    expected_: Any
    intervals_: Any

    @classmethod
    def _plotted(cls, *data: Any, ax: Any = None, **options: Any) -> Self:
        """Make a display of data and plot it; options that the class does not take go to `plot`."""
        drawn: Self = cls(*data, **take_options(cls, options)).plot(ax=ax, **options)
        return drawn

    def _axes(self, ax: Any, size: Sides, wanted: int = 1, rows: int = 1) -> Any:
        """The axes to draw on: one or several of the `wanted` that are passed, or new ones."""
        if ax is None:
            shape, look = (rows, wanted // rows), {"squeeze": False, "layout": "constrained"}
            ax = pyplot().subplots(*shape, figsize=size, **look)[1]
        axes = list(ax.flat if hasattr(ax, "flat") else ax if isinstance(ax, Sequence) else (ax,))
        if not 1 <= len(axes) <= wanted:
            raise BadInput(f"{len(axes)} axes were given for {wanted} panels; pass 1 to {wanted}")
        self.axes_, self.ax_, self.figure_ = axes, axes[0], axes[0].figure
        return axes

    def _panels(self, ax: Any, size: Sides, *draw: Callable[[Any], None], rows: int = 1) -> Self:
        """Draw each panel on its axes; where fewer axes are passed, only the first panels."""
        for one, panel in zip(self._axes(ax, size, len(draw), rows), draw, strict=False):
            panel(one)
        return self

    def _named(self, text: str) -> str:
        """Text of the legend, which begins with the name of the display if it has one."""
        return f"{self.name}: {text}" if self.name else text


class PredictionDisplay(Display):
    """A picture of labels and scores: `from_predictions(y, s)` or `from_tally(t)` draws it."""

    tally_type: type[Tally] | type[ClassTally] = Tally

    @classmethod
    def from_predictions(cls, y: Any, s: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw labels `y` and scores `s`, of each class where there are several.

        The options are those of `Tally.of` (of several classes: `ClassTally.of`) and of `from_tally`.
        """
        of = cls.tally_type.of
        return cls.from_tally(of(y, s, **take_options(of, options)), ax=ax, **options)

    @classmethod
    def from_tally(cls, t: Any, *, ax: Any = None, **options: Any) -> Self:
        """Draw a tally; the options are those of the class, such as `name=`, and of `plot`."""
        return cls._plotted(t, ax=ax, **options)


def take_options(function: Callable[..., Any], options: dict[str, Any]) -> dict[str, Any]:
    """Take out of the options those that a function or class has parameters for.

    >>> options = {"seed": 1, "color": "k"}
    >>> take_options(lambda level=0.95, seed=0: None, options), options
    ({'seed': 1}, {'color': 'k'})
    """
    return {name: options.pop(name) for name in signature(function).parameters if name in options}


def pyplot() -> Any:
    """The module that makes figures, which the extra `plot` brings."""
    try:
        from matplotlib import pyplot as found
    except ImportError as e:
        raise BadInput("drawing needs matplotlib: pip install 'scorewise[plot]'") from e
    return found


# Curves, bands and tables


def series_style(n: int) -> dict[str, Any]:
    """Colour and dash of the n-th curve of a plot."""
    return {"color": colour_of(n), "ls": DASHES[n % len(DASHES)]}


def styled(look: dict[str, Any], line: dict[str, Any]) -> dict[str, Any]:
    """A look, and over it the user's, whichever of matplotlib's names either goes by."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    full: dict[str, Any] = normalize_kwargs(look, Line2D) | normalize_kwargs(line, Line2D)
    return full


def curve(
    ax: Any, x: Any, y: Any, label: str | None, line: dict[str, Any] | None = None, **own: Any
) -> Any:
    """Draw the next curve of the axes; over its `own` look goes the `line` of the user."""
    first = series_style(len(marked_lines(ax, CURVE))) | {"gid": CURVE, "lw": 1.8, "label": label}
    return ax.plot(x, y, **styled(first | own, line or {}))[0]


def marked_lines(ax: Any, gid: str) -> list[Any]:
    """The lines on the axes that are marked as CURVE or as CHANCE."""
    return [line for line in ax.get_lines() if line.get_gid() == gid]


def dotted(ax: Any, x: Any, y: Any, label: str | None, **own: Any) -> Any:
    """A dotted grey line to compare with."""
    return ax.plot(x, y, ":", color=GREY, lw=1, label=label, **own)[0]


def shade(
    ax: Any, x: Any, low: Any, high: Any, colour: Any, label: str | None = None, **own: Any
) -> Any:
    """A band between two curves."""
    return ax.fill_between(x, low, high, color=colour, alpha=0.18, lw=0, label=label, **own)


def curve_band(
    ax: Any, find: Any, which: BandName | None, colour: Any, sides: Sides = (1.0, 1.0)
) -> Any:
    """Shade the band, if any, that `find(simultaneous=...)` finds, scaled to a rectangle of these sides."""
    if which is None:
        return None
    one_of("band", which, get_args(BandName))
    b = find(simultaneous=which == "simultaneous")
    label = f"{percent(b.level)} band, {which}"
    return shade(ax, b.x * sides[0], b.low * sides[1], b.high * sides[1], colour, label)


def intervals(estimates: Iterable[Estimate]) -> Floats:
    """Lower ends, values and upper ends of estimates, one row each."""
    ends = [(e.low, e.value, e.high) for e in estimates]
    return np.array(ends, np.float64).reshape(-1, 3).T


def table(
    ax: Any,
    shares: Floats,
    texts: Sequence[Sequence[str]],
    columns: Sequence[str],
    rows: Sequence[str],
    *,
    cmap: str,
    dark: float,
) -> tuple[Any, list[Any]]:
    """Cells shaded by shares, white on those above `dark` their texts, unless cells are many.

    Returns the image and the texts drawn.
    """
    image = ax.imshow(np.ma.masked_invalid(shares), vmin=0, vmax=1, cmap=cmap)
    at = range(len(rows))
    narrow = max(map(len, columns)) * len(columns) > 30 or len(columns) > 10
    upright = narrow and max(map(len, columns)) > 3
    ax.set_xticks(at, columns, rotation=90 if upright else 0)
    ax.set_yticks(at, rows)
    if len(rows) > _NUMBERED:
        return image, []
    look = {"ha": "center", "va": "center", "fontsize": "medium" if len(rows) <= 4 else "small"}
    return image, [
        ax.text(
            j, i, texts[i][j], **look, color="white" if x > dark else GREY if x != x else ink(ax)
        )
        for (i, j), x in np.ndenumerate(shares)
        if texts[i][j]
    ]


# Axes and legends


def frame(ax: Any, x: str, y: str, where: str | None = None, columns: int = 1, **own: Any) -> None:
    """Name the axes, over a light grid, with a small legend in a corner or "above" the axes.

    "above foot" is the lower right corner, over a histogram. The legend holds everything on the axes that
    has a name; chance comes last. Further properties, such as limits, go to `ax.set`.
    """
    ax.set(xlabel=literal(x), ylabel=literal(y), **own)
    ax.grid(True, alpha=0.3, lw=0.6)
    ax.set_axisbelow(True)
    if where is None:
        return
    entries = list(zip(*ax.get_legend_handles_labels(), strict=True))
    entries.sort(key=lambda entry: getattr(entry[0], "get_gid", str)() == CHANCE)
    place: dict[str, Any] = {"loc": where, "framealpha": 0.85}
    if where == "above foot":
        place |= {"loc": "lower right", "bbox_to_anchor": (1, 0.16)}
    if where == "above":
        place |= {"loc": "lower left", "bbox_to_anchor": (0, 1.01), "frameon": False}
    labels = [literal(fill(label, _LEGEND_WIDTH)) for _, label in entries]
    ax.legend([handle for handle, _ in entries], labels, fontsize="small", ncols=columns, **place)


def unit_square(
    ax: Any, words: tuple[str, str], where: str, sides: Sides = (1.0, 1.0), *, chance: bool = True
) -> None:
    """A square from (0, 0) to (1, 1), or another rectangle, with its diagonal, which may be chance."""
    if not marked_lines(ax, CHANCE):
        far = [x if isfinite(x) else 0.0 for x in ax.dataLim.max]  # infinite where nothing is drawn
        right, top = max(sides[0], far[0]), max(sides[1], far[1])
        ax.set(xlim=(-0.02 * right, 1.02 * right), ylim=(-0.02 * top, 1.02 * top))
        # a name that begins with _ has no place in the legend
        label = "chance" if chance else "_diagonal"
        dotted(ax, [0, sides[0]], [0, sides[1]], label, zorder=1, gid=CHANCE)
    frame(ax, *words, where, **EQUAL)


def free_corner(area: float) -> str:
    """The corner of the unit square that a curve of such an area leaves free."""
    return "upper left" if area < 0.5 else "lower right"


def ink(ax: Any) -> Any:
    """The colour in which the user's style writes."""
    return ax.xaxis.label.get_color()


def literal(text: str) -> str:
    r"""Text in which a $ of a user's words begins no formula.

    >>> print(literal("a$b"))
    a\$b
    """
    return text.replace("$", r"\$")


def percent(level: float) -> str:
    """A confidence level as a percentage.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:.6g} %"


def class_names(t: Tally) -> list[str]:
    """Negatives and positives, with their labels where these are known.

    >>> class_names(Tally.of(["no", "yes"], [0.2, 0.7], positive="yes"))
    ['negatives (no)', 'positives (yes)']
    """
    labels = {"negatives": t.origin.negative, "positives": t.origin.positive}
    return [f"{word} ({label})" if label else word for word, label in labels.items()]


# Several pictures in one figure.


def draw(pictures: Any, kind: Any, ax: Any, options: dict[str, Any]) -> Any:
    """Draw the picture that is named, or those that people expect, in one figure."""
    if kind is not None and not isinstance(kind, str):
        kind, ax = None, kind
    first = [kind] if kind is not None else list(pictures.first)
    if kind is not None and kind not in pictures.kinds:
        raise BadInput(unknown(kind, pictures.kinds, "picture"))
    if len(first) == 1:
        return pictures.kinds[first[0]](ax=ax, **options)
    return Overview({name: pictures.kinds[name] for name in first}).plot(ax=ax, **options)


class Overview(Display):
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
                one.text(0.5, 0.5, literal(fill(str(why), 36)), color=GREY, **look)
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
        figure = pyplot().figure(figsize=size, layout="constrained")
        parts = figure.subfigures(len(rows), 1, squeeze=False)[:, 0]
        axes = []
        for part, row in zip(parts, rows, strict=True):
            row = row if wide or len(row) == columns else [*row, columns - len(row)]
            axes += list(part.subplots(1, len(row), width_ratios=row, squeeze=False)[0])
        for extra in axes[len(self.pictures) :]:
            extra.remove()
        return figure, axes[: len(self.pictures)]
