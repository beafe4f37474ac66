"""Drawings as SVG: elements, escaped words, paths, axes and legends.

Colours, dashes and sizes are attributes, so that a drawing reads without any style sheet; the classes
`sw-ink` (words and axes), `sw-faint` (grid) and `sw-paper` (background) let one change them.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from html import escape
from itertools import accumulate, pairwise, takewhile
from typing import Any, TypeAlias

from scorewise.colours import COLOURS
from scorewise.figures.scale import Scale, tick_texts

INK, FAINT, PAPER, QUIET = "#222222", "#E4E4E4", "#FFFFFF", "#595959"
FONT = "Inter, 'Helvetica Neue', Helvetica, Arial, 'DejaVu Sans', sans-serif"
SIZE = 13  # of words, in px
DASHES = ("", "7 3", "2 2.4", "9 3 2 3", "14 4")
MAX_TITLE = 300  # characters of a cut word that are kept where a pointer rests on it
Point: TypeAlias = tuple[float, float]
Points: TypeAlias = Iterable[Point]
_REFUSED = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # by XML


def escaped(word: object) -> str:
    """A word of anybody as text or attribute of XML, which it cannot leave.

    >>> escaped("</script><img onerror='x'>"), escaped("a" + chr(0) + "b") == "a" + chr(0xFFFD) + "b"
    ('&lt;/script&gt;&lt;img onerror=&#x27;x&#x27;&gt;', True)
    """
    return escape(_REFUSED.sub("\ufffd", str(word)), quote=True)


def attribute(x: Any) -> str:
    """The value of an attribute: numbers to a tenth of a px.

    >>> attribute(3.14159), attribute(2.0), attribute("a<b")
    ('3.1', '2', 'a&lt;b')
    """
    if isinstance(x, float):
        return _short(x)
    return escaped(x)


def element(tag: str, content: str = "", /, **attributes: Any) -> str:
    """An element; content is XML already. An attribute that is None is left out, _ stands for -.

    >>> element("line", x1=1.23, stroke_width=2, fill=None)
    '<line x1="1.2" stroke-width="2"/>'
    """
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{attribute(x)}"'
        for name, x in attributes.items()
        if x is not None
    )
    return f"<{tag}{named}>{content}</{tag}>" if content else f"<{tag}{named}/>"


# Words


def width(text: str, size: float = SIZE) -> float:
    """About how wide a text is drawn, in a wide font: none is asked.

    >>> round(width("AUROC 0.859")), round(width("risk"))
    (89, 26)
    """
    return size * sum(map(_em, text))


def _em(letter: str) -> float:
    if letter in "ilj.,:;'|!I":
        return 0.33
    if letter in "tfr()[] ":
        return 0.4
    if letter in "mwMW%@—…<>=+&":
        return 0.95
    if unicodedata.east_asian_width(letter) in "WF" or ord(letter) > 0x1F000:
        return 1.05
    if unicodedata.combining(letter):
        return 0.0
    return 0.72 if letter.isupper() else 0.62


def fitted(text: str, room: float, size: float = SIZE) -> str:
    """A text cut in its middle to so many px.

    >>> fitted("abcdefghijklmnopqrstuvwxyz", 80), fitted("short", 80)
    ('abcd…xyz', 'short')
    """
    if width(text[:400], size) <= room and len(text) <= 400:
        return text
    half = (room - width("…", size)) / 2
    head, tail = _upto(text, half, size), _upto(text[::-1], half, size)[::-1]
    return f"{head.rstrip()}…{tail.lstrip()}"


def _upto(letters: str, room: float, size: float) -> str:
    used = accumulate(_em(letter) * size for letter in letters[:400])
    return letters[: sum(1 for _ in takewhile(room.__ge__, used))]


def label(
    x: float,
    y: float,
    text: str,
    *,
    room: float | None = None,
    anchor: str | None = None,
    size: float = SIZE,
    ink: str = INK,
    **more: Any,
) -> str:
    """Words at a place; what does not fit into the room is cut, and told whole where the pointer rests."""
    one_line = " ".join(text.split()) if any(c in text for c in "\n\r\t") else text
    heavy = 1.1 if "font_weight" in more else 1.0
    short = one_line if room is None else fitted(one_line, room / heavy, size)
    full = element("title", escaped(text[:MAX_TITLE])) if short != one_line else ""
    look = {"font_size": None if size == SIZE else size, "text_anchor": anchor}
    faded = {"class_": "sw-quiet", "fill": ink} if ink == QUIET else {}
    return element("text", full + escaped(short), x=float(x), y=float(y), **look, **faded, **more)


def vertical_label(x: float, middle: float, title: str) -> str:
    """A title that is read upwards."""
    turned = f"rotate(-90 {x:g} {middle:.0f})"
    return label(x, middle, title, anchor="middle", size=14, transform=turned)


# Lines and areas


def path(points: Points, closed: bool = False) -> str:
    """The path through points, without those that a fifth of a px (of areas half a px) makes needless.

    >>> path([(0, 0), (1, 1), (2, 2), (3, 0)])
    'M0 0l2 2l1-2'
    """
    tenths = [(round(x, 1), round(y, 1)) for x, y in points]
    if not tenths:
        return ""
    parts = [f"M{_short(tenths[0][0])} {_short(tenths[0][1])}"]
    for (ax, ay), (bx, by) in pairwise(_simplified(tenths, 0.5 if closed else 0.2)):
        dx, dy = _short(bx - ax), _short(by - ay)
        slant = f"l{dx}{'' if dy[0] == '-' else ' '}{dy}"
        parts.append(f"v{dy}" if dx == "0" else f"h{dx}" if dy == "0" else slant)
    return "".join(parts) + ("z" if closed else "")


def _short(x: float) -> str:
    text = f"{x:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def _simplified(points: list[Point], within: float) -> list[Point]:
    """Fewer points, from whose line no other is farther (Douglas and Peucker 1973)."""
    keep, open_ = {0, len(points) - 1}, [(0, len(points) - 1)]
    while open_:
        a, b = open_.pop()
        (ax, ay), (bx, by) = points[a], points[b]
        dx, dy = bx - ax, by - ay
        square = dx * dx + dy * dy
        worst, at = within * within, 0
        for i in range(a + 1, b):
            px, py = points[i][0] - ax, points[i][1] - ay
            along = min(max((px * dx + py * dy) / square, 0.0), 1.0) if square else 0.0
            off = (px - along * dx) ** 2 + (py - along * dy) ** 2
            if off > worst:
                worst, at = off, i
        if at:
            keep.add(at)
            open_ += [(a, at), (at, b)]
    return [points[i] for i in sorted(keep)]


def line(points: Points, colour: str, **more: Any) -> str:
    """A line through points."""
    return stroke(path(points), colour, **more)


def stroke(d: str, colour: str, *, dash: str = "", width: float = 2.0, **more: Any) -> str:
    """A path drawn as a line."""
    look = {"stroke": colour, "stroke_width": f"{width:g}", "stroke_dasharray": dash or None}
    return element("path", d=d, fill="none", stroke_linejoin="round", **look, **more)


def _runs(points: Sequence[Point], low: float, high: float) -> Iterator[list[Point]]:
    """The parts of a line that lie between two heights, up to where it crosses them."""
    run: list[Point] = []
    for i, (x, y) in enumerate(points):
        if i and not low <= points[i - 1][1] <= high and low <= y <= high:
            run = [_crossing(points[i - 1], (x, y), low if points[i - 1][1] < low else high)]
        if low <= y <= high:
            run.append((x, y))
        elif run:
            yield [*run, _crossing(run[-1], (x, y), low if y < low else high)]
            run = []
    if run:
        yield run


def _crossing(a: Point, b: Point, y: float) -> Point:
    return a[0] + (b[0] - a[0]) * (y - a[1]) / (b[1] - a[1]), y


def area(points: Points, colour: str, *, opacity: float = 0.16, **more: Any) -> str:
    """A filled shape."""
    return element("path", d=path(points, closed=True), fill=colour, fill_opacity=opacity, **more)


def axis_line(left: float, right: float, foot: float) -> str:
    """The line that a panel stands on."""
    d = f"M{_short(left)} {_short(foot)}H{_short(right)}"
    return element("path", d=d, stroke=QUIET, class_="sw-axis")


def model_style(i: int) -> dict[str, Any]:
    """Colour and dash of the i-th model."""
    return {"colour": COLOURS[i % len(COLOURS)], "dash": DASHES[i % len(DASHES)]}


@dataclass
class Axes:
    """A panel: two scales, and what is drawn on them."""

    x: Scale
    y: Scale

    def points(self, xs: Iterable[float | None], ys: Iterable[float | None]) -> Points:
        """The places of pairs of values that are both known, pinned to the ends of the axes."""
        return [
            (self.x.inside(a), self.y.inside(b))
            for a, b in zip(xs, ys, strict=True)
            if a is not None and b is not None and math.isfinite(a) and math.isfinite(b)
        ]

    def line(self, xs: Any, ys: Any, colour: str, **more: Any) -> str:
        """A line through values, which leaves the panel where they do."""
        low, high = sorted(self.y.domain) if self.y.kind == "linear" else (-math.inf, math.inf)
        defined = [(a, b) for a, b in zip(xs, ys, strict=True) if a is not None and b is not None]
        parts = [
            path((self.x.inside(a), self.y.place(b)) for a, b in run)
            for run in _runs(defined, low, high)
        ]
        return stroke("".join(parts), colour, **more)

    def vertical_line(self, x: float, *, dash: str = "5 3", **more: Any) -> str:
        """A dashed line upwards at a value, hidden where it is not on the axis."""
        at, hidden = self.x.inside(x), None if self.x.holds(x) else "none"
        ends = {"x1": at, "x2": at, "y1": float(self.y.range[0]), "y2": float(self.y.range[1])}
        look = {"stroke": INK, "stroke_width": 1.5, "stroke_dasharray": dash or None}
        return element("line", **ends, **look, class_="sw-line", display=hidden, **more)

    def band(self, xs: Sequence[float], low: Any, high: Any, colour: str, **more: Any) -> str:
        """The area between two lines."""
        return area([*self.points(xs, high), *reversed([*self.points(xs, low)])], colour, **more)

    def frame(
        self,
        x_title: str = "",
        y_title: str = "",
        *,
        across: bool = True,
        up: bool = True,
        many: tuple[int, int] = (5, 5),
    ) -> str:
        """Grid, ticks with their numbers, and titles; `across` writes those of x, `up` has those of y."""
        (left, right), (foot, top) = self.x.range, self.y.range
        xs, ys = self.x.ticks(many[0]), self.y.ticks(many[1]) if up else []
        ups = "".join(f"M{_short(self.x.place(t))} {_short(top)}V{_short(foot)}" for t in xs)
        overs = "".join(f"M{_short(left)} {_short(self.y.place(t))}H{_short(right)}" for t in ys)
        words = [element("path", d=ups + overs, stroke=FAINT, class_="sw-faint")]
        if across:
            words += [
                label(self.x.place(t), foot + 18, text, anchor="middle")
                for t, text in zip(xs, tick_texts(xs, self.x.kind), strict=True)
            ]
        words += [
            label(left - 8, self.y.place(t) + 4.5, text, anchor="end")
            for t, text in zip(ys, tick_texts(ys, self.y.kind), strict=True)
        ]
        words.append(axis_line(left, right, foot))
        if x_title:
            words.append(label((left + right) / 2, foot + 40, x_title, anchor="middle", size=14))
        if y_title:
            words.append(vertical_label(16, (foot + top) / 2, y_title))
        return "".join(words)


@dataclass
class Key:
    """A line of the legend: a sample, a name of the user's (may be cut), and words of ours."""

    name: str
    text: str = ""
    colour: str = INK
    dash: str = ""
    shape: str = "line"  # or "band", "mark", "bar"
    model: int | None = None
    value: Mapping[str, Any] = field(default_factory=dict)  # attributes of the words, if they move


def dot(name: str, colour: str, model: int | None = None) -> Key:
    """A mark of the legend."""
    return Key(name, colour=colour, shape="mark", model=model)


@dataclass
class Drawing:
    """A whole drawing, put together from parts."""

    wide: float
    high: float
    attributes: dict[str, Any] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)

    def add(self, *parts: str) -> None:
        """Draw over what is there."""
        self.parts += parts

    @contextmanager
    def group(self, **attributes: Any) -> Iterator[None]:
        """What is drawn inside goes into one group."""
        outer, self.parts = self.parts, []
        try:
            yield
        finally:
            outer.append(element("g", "".join(self.parts), **attributes))
            self.parts = outer

    def each_model(self, drawn: Sequence[tuple[int, Any]]) -> Iterator[tuple[Any, dict[str, Any]]]:
        """Each model, by its place among all, with its look; what is drawn meanwhile is its group."""
        for i, model in drawn:
            with self.group(data_model=i):
                yield model, model_style(i)

    def svg(self, kind: str, title: str, description: str, **more: Any) -> str:
        """The drawing as a whole element."""
        wide, high = float(self.wide), float(self.high)
        paper = element("rect", width=wide, height=high, fill=PAPER, class_="sw-paper")
        body = element(
            "g", "".join(self.parts), font_family=FONT, font_size=SIZE, fill=INK, class_="sw-ink"
        )
        titles = element("title", escaped(title)) + element("desc", escaped(description))
        return element(
            "svg", titles + paper + body, xmlns="http://www.w3.org/2000/svg", data_figure=kind,
            viewBox=f"0 0 {_short(wide)} {_short(high)}", width=wide, height=high, role="img",
            **self.attributes, **more,
        )  # fmt: skip


def legend(keys: Sequence[Key], left: float, top: float, right: float) -> tuple[str, float]:
    """The legend, as many keys in a row as there is room for, and where it ends."""
    words, x, y = [], left, top + 14
    for key in keys:
        room = right - left - 34
        tail = width(key.text) + (10 if key.text else 0)
        name = fitted(key.name, max(room - tail, 60))
        wide = 34 + width(name) + tail + 16
        if x > left and x + wide - 16 > right:
            x, y = left, y + 20
        drawn = [_swatch(key, x, y - 4.5), label(x + 30, y, key.name, room=max(room - tail, 60))]
        if key.text:
            drawn.append(label(x + 30 + width(name) + 10, y, key.text, ink=QUIET, **key.value))
        part = "".join(drawn)
        words.append(part if key.model is None else element("g", part, data_model=key.model))
        x += wide
    return "".join(words), y + 8


def _swatch(key: Key, x: float, y: float) -> str:
    if key.shape == "line":
        return line([(x, y), (x + 24, y)], key.colour, dash=key.dash)
    if key.shape == "mark":
        return element("circle", cx=x + 12, cy=y, r=4.5, fill=key.colour)
    opacity = 0.25 if key.shape == "band" else 0.6
    return element("rect", x=x, y=y - 6, width=24, height=12, fill=key.colour, fill_opacity=opacity)
