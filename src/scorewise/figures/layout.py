"""What figures share: measures in words, tables of few rows, frames of one or several panels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from scorewise.colours import BLUE, GREY
from scorewise.figures.scale import LOGIT_ENDS, Kind, Scale
from scorewise.figures.svg import (
    DASHES,
    INK,
    Axes,
    Drawing,
    Key,
    element,
    label,
    legend,
    model_style,
    vertical_label,
)
from scorewise.show.page import Figure, Heading, Heads, Table, columns
from scorewise.show.verdict import with_ci
from scorewise.show.words import listed, quoted

MAX_TABLE_ROWS = 24  # of a table beside a figure
MAX_NAMED = 4  # models in a sentence
MAX_BANDED = 2  # models up to which bands are drawn: those of more hide one another
WIDE, LEFT, RIGHT = 440.0, 60.0, 420.0  # of a figure of panels
SIDE = RIGHT - LEFT  # of a panel
DARKEST = 0.72  # opacity up to which dark words on blue are easy to read


def defined_measure(record: Any, name: str) -> Any | None:
    """The row of a measure that has a value."""
    rows = (m for m in record.measures if m.name == name)
    return next((m for m in rows if m.value is not None), None)


def ci_text(m: Any | None) -> str:
    """A value with its interval in words; nothing where there is none."""
    return "" if m is None else with_ci(m)


def by_model(names: Sequence[str], texts: Sequence[str]) -> str:
    """What holds of each model, in a sentence: named where there are several.

    >>> by_model(["a", "b"], ["0.8", "0.7"]), by_model(["a"], ["0.8"])
    ("'a': 0.8; 'b': 0.7", '0.8')
    """
    if len(names) > 1:
        pairs = zip(names, texts, strict=True)
        texts = [f"{quoted_name(name)}: {text}" for name, text in pairs if text]
    rest = len(texts) - MAX_NAMED
    return "; ".join(texts[:MAX_NAMED]) + (f"; and {rest} more" if rest > 0 else "")


def shortened(name: str, most: int = 60) -> str:
    """A name within a sentence, cut in its middle where it is long."""
    return name if len(name) <= most else f"{name[: most // 2]}…{name[-most // 2 :]}"


def quoted_name(name: str, most: int = 60) -> str:
    """A name within a sentence in quotes, cut in its middle where it is long."""
    return quoted(shortened(name, most))


def listed_quoted(names: Sequence[str], most: int = 3) -> str:
    """The first of several names within a sentence, and how many more there are."""
    return listed([quoted_name(name, 30) for name in names], most)


def evenly_spaced(size: int, most: int) -> list[int]:
    """At most so many places of a list, evenly spread, its ends among them.

    >>> evenly_spaced(10, 4), evenly_spaced(3, 5)
    ([0, 3, 6, 9], [0, 1, 2])
    """
    if size <= most:
        return [*range(size)]
    return sorted({round(i * (size - 1) / (most - 1)) for i in range(most)})


def columns_as_rows(record: Any, *names: str) -> list[tuple[Any, ...]]:
    """The lists of a record side by side, as rows."""
    return [*zip(*(getattr(record, name) for name in names), strict=True)]


def figure(
    kind: str,
    title: str,
    description: str,
    heads: Heads,
    blocks: Sequence[tuple[str, Sequence[Sequence[Any]]]],
    draw: Callable[[], Drawing],
    **others: Callable[[], Drawing],
) -> Figure:
    """A figure that is drawn when it is asked for, and its data in columns of these heads.

    The data are some rows of each block, under its name where there are several. `others` are drawings
    that are hidden until they are asked for by their word.
    """
    each = max(2, MAX_TABLE_ROWS // max(len(blocks), 1))
    rows: list[Any] = []
    for name, block in blocks:
        rows += [Heading(name)] if len(blocks) > 1 else []
        rows += [block[i] for i in evenly_spaced(len(block), each)]

    def svg(draw: Callable[[], Drawing], **more: Any) -> str:
        return draw().svg(kind, title, description, **more)

    drawings = {kind: draw, **{f"{kind}_{word}": other for word, other in others.items()}}
    svgs = {name: partial(svg, drawing) for name, drawing in drawings.items()}
    return Figure(kind, title, description, svgs, Table(columns(heads), rows))


def model_keys(names: Sequence[tuple[int, str]], texts: Sequence[str] | None = None) -> list[Key]:
    """A line of the legend for each model, by its place among all and its name."""
    words = texts or ["" for _ in names]
    return [
        Key(name, t, **model_style(i), model=i) for (i, name), t in zip(names, words, strict=True)
    ]


def threshold_key(threshold: float) -> Key:
    """The line at the threshold, whose number may move."""
    moving = {"data_threshold_value": ""}
    return Key("threshold", f"{threshold:.4g}", INK, "5 3", value=moving)


def reference_key(name: str, text: str = "") -> Key:
    """A dotted line to compare with."""
    return Key(name, text, GREY, DASHES[2])


def band_key(name: str) -> Key:
    """A band in the legend."""
    return Key(name, colour=GREY, shape="band")


def unit_square(
    keys: Sequence[Key],
    titles: tuple[str, str],
    *,
    scale: Kind = "linear",
    below: float = 0.0,
    **attributes: Any,
) -> tuple[Drawing, Axes]:
    """A square panel from 0 to 1 under its legend, with so much room below."""
    ends = (0.0, 1.0) if scale == "linear" else LOGIT_ENDS
    look: Any = {"high": SIDE, "scale": scale, "lead": 10.0, "ticks": (5, 5)}
    drawing, (axes,) = panels(keys, [""], ends, [ends], titles, **look)
    drawing.high += below
    drawing.attributes |= attributes
    return drawing, axes


def panels(
    keys: Sequence[Key],
    names: Sequence[str],
    x: tuple[float, float],
    ys: Sequence[tuple[float, float]],
    titles: tuple[str, str] = ("", ""),
    *,
    high: float = 120.0,
    up: bool = True,
    scale: Kind = "linear",
    lead: float = 8.0,
    ticks: tuple[int, int] = (6, 4),
) -> tuple[Drawing, list[Axes]]:
    """Panels one below the other over one axis, each under its name, and a legend above them all."""
    words, top = legend(keys, LEFT - 44, 0, RIGHT)
    gap = 26.0 if any(names) else 14.0
    top += gap if any(names) else lead
    tops = [top + i * (high + gap) for i in range(len(names))]
    axes_of = [
        Axes(Scale(scale, x, (LEFT, RIGHT)), Scale(scale, y, (start + high, start)))
        for start, y in zip(tops, ys, strict=True)
    ]
    foot = tops[-1] + high
    drawing = Drawing(WIDE, foot + 52, {"data_x": str(axes_of[0].x), "data_y": str(axes_of[0].y)})
    drawing.add(words)
    for start, axes, name in zip(tops, axes_of, names, strict=True):
        last = start == tops[-1]
        drawing.add(axes.frame(titles[0] if last else "", across=last, up=up, many=ticks))
        if name:
            drawing.add(label(LEFT, start - 8, name, room=SIDE, font_weight="600"))
    if titles[1]:
        drawing.add(vertical_label(16, (foot + top) / 2, titles[1]))
    return drawing, axes_of


def reference_line(axes: Axes, x: Sequence[float], y: Sequence[float]) -> str:
    """A dotted line to compare with: chance, prevalence, calibration."""
    return axes.line(x, y, GREY, dash=DASHES[2], width=1.5)


def heat_map(
    names: Sequence[str],
    shares: Sequence[Sequence[float | None]],
    texts: Sequence[Sequence[str]],
    titles: tuple[str, str] = ("", ""),
) -> Drawing:
    """Names down and across, and cells shaded by shares from 0 to 1 (none: left empty)."""
    many = len(names)
    side = 58.0 if many <= 6 else 44.0 if many <= 12 else 34.0
    left, top = 130.0, 96.0 if titles[0] else 80.0
    drawing = Drawing(left + many * side + 56, top + many * side + 14)
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
        drawing.add(label(left - 8, top + (i + 0.5) * side + 4, name, room=left - 36, anchor="end"))
        x, y = left + (i + 0.5) * side + 3, top - 8
        drawing.add(label(x, y, name, room=84, transform=f"rotate(-40 {x:.1f} {y:.1f})"))
    across, down = titles
    if across:
        drawing.add(label(left + many * side / 2, 14, across, anchor="middle", size=14))
    if down:
        drawing.add(vertical_label(14, top + many * side / 2, down))
    return drawing
