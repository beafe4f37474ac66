"""What all displays share: where they draw, and in which colours, dashes and words."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from textwrap import fill
from typing import Any

from scorewise.errors import BadInput
from scorewise.estimate import Estimate

# Okabe and Ito (2008): told apart by colour-blind readers
BLUE, ORANGE, GREEN, VERMILION = "#0072B2", "#E69F00", "#009E73", "#D55E00"
SKY, PURPLE, GREY = "#56B4E9", "#CC79A7", "#7F7F7F"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY)
# and by those who print in grey
DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (6, 1.5, 1, 1.5)), (0, (9, 2)))
CURVE, CHANCE = "scorewise curve", "scorewise chance"  # how a plot knows what is on it already
_WIDE = 48  # letters of a line in a legend


def panels(ax: Any, wanted: int, size: tuple[float, float], rows: int = 1) -> list[Any]:
    """The axes to draw on: those given, one or several of the `wanted`, or those of a new figure."""
    if ax is None:
        _, made = _pyplot().subplots(
            rows, wanted // rows, figsize=size, squeeze=False, layout="constrained"
        )
        return list(made.flat)
    several = ax.flat if hasattr(ax, "flat") else ax if isinstance(ax, Sequence) else (ax,)
    given = list(several)
    if not 1 <= len(given) <= wanted:
        raise BadInput(f"{len(given)} axes were given for {wanted} panels; pass 1 to {wanted}")
    return given


def _pyplot() -> Any:
    try:
        from matplotlib import pyplot
    except ImportError as e:
        raise BadInput("drawing needs matplotlib: pip install 'scorewise[plot]'") from e
    return pyplot


def ink(ax: Any) -> Any:
    """The colour in which the user's style writes."""
    return ax.xaxis.label.get_color()


def unit_square(
    ax: Any, x: str, y: str, width: float = 1.0, height: float = 1.0, *, chance: bool = True
) -> None:
    """A square from (0, 0) to (1, 1), or another rectangle, with its diagonal, which may be chance."""
    over_grid(ax, x, y)
    ax.set_aspect("equal", adjustable="box")
    if not _drawn(ax, CHANCE):
        far = [x if isfinite(x) else 0.0 for x in ax.dataLim.max]  # infinite where nothing is drawn
        right, top = max(width, far[0]), max(height, far[1])
        ax.set_xlim(-0.02 * right, 1.02 * right)
        ax.set_ylim(-0.02 * top, 1.02 * top)
        # a name that begins with _ has no place in the legend
        label = "chance" if chance else "_diagonal"
        ax.plot([0, width], [0, height], ":", color=GREY, lw=1, zorder=1, gid=CHANCE, label=label)


def over_grid(ax: Any, x: str, y: str) -> None:
    """Axes in words, over a light grid."""
    ax.set_xlabel(literal(x))
    ax.set_ylabel(literal(y))
    ax.grid(True, alpha=0.3, lw=0.6)
    ax.set_axisbelow(True)


def legend(ax: Any, where: str, columns: int = 1) -> Any:
    """A small legend of everything on the axes that has a name; chance comes last.

    Where is a corner, or "above" the axes, there in columns.
    """
    handles, labels = ax.get_legend_handles_labels()
    order = sorted(range(len(labels)), key=lambda i: labels[i] == "chance")
    place: dict[str, Any] = {"loc": where}
    if where == "above":
        place = {"loc": "lower left", "bbox_to_anchor": (0, 1.01), "frameon": False}
    return ax.legend(
        [handles[i] for i in order],
        [literal(fill(labels[i], _WIDE)) for i in order],
        fontsize="small",
        ncols=columns,
        **{"framealpha": 0.85} | place,
    )


def free_corner(area: float) -> str:
    """The corner of the unit square that a curve of such an area leaves free."""
    return "upper left" if area < 0.5 else "lower right"


def next_look(ax: Any) -> dict[str, Any]:
    """Colour and dash of the next curve on the axes."""
    n = len(_drawn(ax, CURVE))
    return {"color": COLOURS[n % len(COLOURS)], "ls": DASHES[n % len(DASHES)], "gid": CURVE}


def styled(look: dict[str, Any], given: dict[str, Any]) -> dict[str, Any]:
    """A look, and over it what the user gives, whichever of matplotlib's names either goes by."""
    from matplotlib.cbook import normalize_kwargs
    from matplotlib.lines import Line2D

    full: dict[str, Any] = normalize_kwargs(look, Line2D) | normalize_kwargs(given, Line2D)
    return full


def _drawn(ax: Any, gid: str) -> list[Any]:
    return [line for line in ax.get_lines() if line.get_gid() == gid]


def named(name: str | None, text: str) -> str:
    """What a legend says of one of several."""
    return f"{name}: {text}" if name else text


def literal(text: str) -> str:
    r"""Text in which a $ of a user's words begins no formula.

    >>> print(literal("a$b"))
    a\$b
    """
    return text.replace("$", r"\$")


def area_text(title: str, area: Estimate) -> str:
    """An area with its interval, short enough for a legend.

    >>> area_text("smAUC", Estimate(0.8433, 0.379, 0.979))
    'smAUC 0.843 [0.379, 0.979]'
    >>> area_text("smAUC", Estimate.undefined("no positives"))
    'smAUC undefined: no positives'
    """
    return f"{title} {area}"


def percent(level: float) -> str:
    """A level as it is said.

    >>> percent(0.95), percent(0.999)
    ('95 %', '99.9 %')
    """
    return f"{100 * level:.6g} %"
