"""What figures share: measures in words, tables of few rows, frames of one or several panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from scorewise.colours import BLUE, GREY
from scorewise.figures.scale import LOGIT_ENDS, Kind, Scale
from scorewise.figures.svg import DASHES, INK, Axes, Drawing, Key, element, legend, look, said
from scorewise.show.page import Column, Figure, Heading, Table
from scorewise.show.words import Format, interval, named, percent, quoted, value

ROWS = 24  # of a table beside a figure
NAMED = 4  # models in a sentence
BANDED = 2  # models up to which bands are drawn: those of more hide one another
WIDE, LEFT, RIGHT = 440.0, 60.0, 420.0  # of a figure of panels
DARKEST = 0.72  # opacity up to which dark words on blue are easy to read
SIDE = 360.0  # of a square one


def measure(record: Any, name: str) -> Any | None:
    """The row of a measure that has a value."""
    found = (m for m in record.measures if m.name == name)
    return next((m for m in found if m.value is not None), None)


def estimate(m: Any | None) -> str:
    """A value with its interval in words; nothing where there is none."""
    return "" if m is None else f"{value(m)} {interval(m)}".rstrip()


def level(x: float) -> str:
    """A confidence level in words.

    >>> level(0.95)
    '95%'
    """
    return percent(x)


def by_model(names: Sequence[str], texts: Sequence[str]) -> str:
    """What holds of each model, in a sentence: named where there are several.

    >>> by_model(["a", "b"], ["0.8", "0.7"]), by_model(["a"], ["0.8"])
    ("'a': 0.8; 'b': 0.7", '0.8')
    """
    if len(names) > 1:
        pairs = zip(names, texts, strict=True)
        texts = [f"{quoted(shortened(name))}: {text}" for name, text in pairs if text]
    rest = len(texts) - NAMED
    return "; ".join(texts[:NAMED]) + (f"; and {rest} more" if rest > 0 else "")


def shortened(name: str, most: int = 60) -> str:
    """A name within a sentence, cut in its middle where it is long."""
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-most // 2 :]}"


def called(names: Sequence[str], most: int = 3) -> str:
    """The first of several names within a sentence, and how many more there are."""
    return named([quoted(shortened(name, 30)) for name in names], most)


def some(size: int, most: int) -> list[int]:
    """At most so many places of a list, evenly spread, its ends among them.

    >>> some(10, 4), some(3, 5)
    ([0, 3, 6, 9], [0, 1, 2])
    """
    if size <= most:
        return [*range(size)]
    return sorted({round(i * (size - 1) / (most - 1)) for i in range(most)})


def rows_of(record: Any, *names: str) -> list[tuple[Any, ...]]:
    """The lists of a record side by side, as rows."""
    return [*zip(*(getattr(record, name) for name in names), strict=True)]


def table(
    columns: dict[str, Format], blocks: Sequence[tuple[str, Sequence[Sequence[Any]]]]
) -> Table:
    """The data of a figure: some rows of each block, under its name where there are several."""
    each = max(2, ROWS // max(len(blocks), 1))
    rows: list[Any] = []
    for name, block in blocks:
        rows += [Heading(name)] if len(blocks) > 1 else []
        rows += [block[i] for i in some(len(block), each)]
    return Table([Column(title, how) for title, how in columns.items()], rows)


def model_keys(drawn: Sequence[tuple[int, Any]], texts: Sequence[str] | None = None) -> list[Key]:
    """A line of the legend for each model, by its place among all and its curves."""
    words = texts or ["" for _ in drawn]
    return [Key(c.model, t, **look(i), model=i) for (i, c), t in zip(drawn, words, strict=True)]


def threshold_key(threshold: float) -> Key:
    """The line at the threshold, whose number may move."""
    moving = {"data_threshold_value": ""}
    return Key("threshold", f"{threshold:.4g}", INK, "5 3", value=moving)


def square(
    kind: str,
    title: str,
    description: str,
    keys: Sequence[Key],
    titles: tuple[str, str],
    *,
    scale: Kind = "linear",
    below: float = 0.0,
    **attributes: Any,
) -> tuple[Drawing, Axes]:
    """A square panel from 0 to 1 under its legend, with so much room below."""
    words, top = legend(keys, LEFT - 44, 0, LEFT + SIDE)
    top = round(top + 10)
    ends: Any = (0.0, 1.0) if scale == "linear" else LOGIT_ENDS
    axes = Axes(
        Scale(scale, ends, (LEFT, LEFT + SIDE)),
        Scale(scale, ends, (top + SIDE, top)),
    )
    known = {"data_x": str(axes.x), "data_y": str(axes.y), **attributes}
    drawing = Drawing(kind, title, description, LEFT + SIDE + 20, top + SIDE + 52 + below, known)
    drawing.add(words, axes.frame(*titles))
    return drawing, axes


def panels(
    kind: str,
    title: str,
    description: str,
    keys: Sequence[Key],
    names: Sequence[str],
    x: tuple[float, float],
    ys: Sequence[tuple[float, float]],
    x_title: str,
    y_title: str,
    *,
    high: float = 120.0,
    y_ticks: bool = True,
) -> tuple[Drawing, list[Axes]]:
    """Panels one below the other over one axis, each under its name, and a legend above them all."""
    words, top = legend(keys, LEFT - 44, 0, RIGHT)
    named = any(names)
    gap = 26.0 if named else 14.0
    made, drawn = [], [words]
    for i, (name, ends) in enumerate(zip(names, ys, strict=True)):
        start = top + 8 + i * (high + gap) + (gap - 8 if named else 0)
        axes = Axes(Scale("linear", x, (LEFT, RIGHT)), Scale("linear", ends, (start + high, start)))
        last = i == len(names) - 1
        drawn.append(
            axes.frame(
                x_title if last else "", across=last, many=(6, 4), y_ticks=None if y_ticks else ()
            )
        )
        if name:
            drawn.append(said(LEFT, start - 8, name, room=RIGHT - LEFT, font_weight="600"))
        made.append(axes)
    foot, first = made[-1].y.range[0], made[0].y.range[1]
    if y_title:
        middle = (foot + first) / 2
        turned = f"rotate(-90 16 {middle:.0f})"
        drawn.append(said(16, middle, y_title, anchor="middle", size=14, transform=turned))
    attributes = {"data_x": str(made[0].x), "data_y": str(made[0].y)}
    drawing = Drawing(kind, title, description, WIDE, foot + 52, attributes)
    drawing.add(*drawn)
    return drawing, made


def grey_line(axes: Axes, x: tuple[float, float], y: tuple[float, float]) -> str:
    """A dotted line to compare with: chance, prevalence, calibration."""
    return axes.line(x, y, GREY, dash=DASHES[2], width=1.5)


def figure(
    kind: str, title: str, description: str, draw: Callable[[], Drawing], data: Table | None
) -> Figure:
    """A figure that is drawn when it is asked for."""
    return Figure(kind, title, description, lambda: str(draw()), data)


def heat_map(
    drawing: Drawing,
    names: Sequence[str],
    shares: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    titles: tuple[str, str] = ("", ""),
) -> Drawing:
    """Draw names down and across, and cells shaded by shares from 0 to 1 (none: left empty)."""
    many = len(names)
    side = 58.0 if many <= 6 else 44.0 if many <= 12 else 34.0
    left, top = 130.0, 96.0 if titles[0] else 80.0
    drawing.wide, drawing.high = left + many * side + 56, top + many * side + 14
    cells: dict[str, list[str]] = {}
    words = []
    for r, (line, said_there) in enumerate(zip(shares, texts, strict=True)):
        for k, (share, text) in enumerate(zip(line, said_there, strict=True)):
            x, y = left + k * side, top + r * side
            if share is not None:
                # the root tells small shares apart, which are most
                opacity = f"{0.04 + (DARKEST - 0.04) * min(max(share, 0.0), 1.0) ** 0.5:.2f}"
                edge = f"{side - 1:g}"
                cells.setdefault(opacity, []).append(f"M{x:g} {y:g}h{edge}v{edge}h-{edge}z")
            if text:
                words.append(element("text", text, x=x + side / 2, y=y + side / 2 + 4.5))
    drawing.add(
        *(element("path", d="".join(d), fill=BLUE, fill_opacity=o) for o, d in cells.items())
    )
    size = 13 if side > 40 else 11
    drawing.add(element("g", "".join(words), text_anchor="middle", font_size=size))
    for i, name in enumerate(names):
        drawing.add(said(left - 8, top + (i + 0.5) * side + 4, name, room=left - 36, anchor="end"))
        x, y = left + (i + 0.5) * side + 3, top - 8
        drawing.add(said(x, y, name, room=84, transform=f"rotate(-40 {x:.1f} {y:.1f})"))
    across, down = titles
    if across:
        drawing.add(said(left + many * side / 2, 14, across, anchor="middle", size=14))
    if down:
        middle = top + many * side / 2
        turned = f"rotate(-90 14 {middle:.0f})"
        drawing.add(said(14, middle, down, anchor="middle", size=14, transform=turned))
    return drawing
