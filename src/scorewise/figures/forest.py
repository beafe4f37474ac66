"""Forest plots: values with their intervals below each other, of groups, classes, differences, raters."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from scorewise.colours import GREY
from scorewise.figures.layout import WIDE, ci_text, figure
from scorewise.figures.scale import Scale, step, tick_texts
from scorewise.figures.svg import (
    DASHES,
    FAINT,
    INK,
    QUIET,
    Drawing,
    Key,
    element,
    label,
    legend,
    line,
    width,
)
from scorewise.show.page import Figure, Heads

ROW_HEIGHT, DODGE = 28.0, 16.0
MAX_ROWS = 30  # rows; more are a table


@dataclass
class Mark:
    """A value with its interval, in colour or grey; filled where something is shown."""

    value: float | None
    low: float | None = None
    high: float | None = None
    colour: str = INK
    filled: bool = True
    model: int | None = None
    why: str = ""
    caution: str = ""
    label: str = ""

    def __post_init__(self) -> None:
        """What has no value has none, however that is written."""
        for end in ("value", "low", "high"):
            if (x := getattr(self, end)) != x:  # NaN
                setattr(self, end, None)

    @classmethod
    def of(cls, e: Any, colour: str = INK, filled: bool = True, model: int | None = None) -> Mark:
        """The mark of an estimate, if there is one."""
        if e is None:
            return cls(None)
        return cls(e.value, e.low, e.high, colour, filled, model, e.why, getattr(e, "caution", ""))

    @property
    def text(self) -> str:
        """The value and its interval in words."""
        if self.label:
            return self.label
        return (self.why or "—") if self.value is None else ci_text(self)


@dataclass
class Row:
    """A name, a few words on it, and one mark or several below each other."""

    name: str
    marks: Sequence[Mark]
    words: str = ""
    group: str | None = None
    quiet: bool = False


@dataclass
class ReferenceLine:
    """A value to compare with: a dashed line, with what it is."""

    value: float
    word: str = ""
    colour: str = QUIET
    model: int | None = None


@dataclass
class Forest:
    """What a forest plot shows: rows, an axis, lines to compare with, and words below."""

    rows: Sequence[Row]
    x_title: str
    lines: Sequence[ReferenceLine] = ()
    bounds: tuple[float | None, float | None] = (None, None)
    bands: Sequence[tuple[float, float, str]] = ()  # shaded parts of the axis, with their words
    keys: Sequence[Key] = ()
    note: str = ""

    def figure(
        self,
        kind: str,
        title: str,
        description: str,
        heads: Heads = (("", "name"), ("Value", "text")),
        data: Sequence[Sequence[Any]] = (),
    ) -> Figure:
        """The figure of this kind, title and description; its table has the rows, unless other data."""
        rows = data or [
            (f"{r.name}, {k + 1}" if len(r.marks) > 1 else r.name, m.text)
            for r in self.rows
            for k, m in enumerate(r.marks)
        ]
        return figure(kind, title, description, heads, [("", rows)], self.draw)

    def draw(self) -> Drawing:
        """The drawing."""
        names = min(max((width(r.name) for r in self.rows), default=0) + 20, 200.0)
        words = max((width(r.words, 12) for r in self.rows), default=0.0)
        left = 14 + names + (words + 14 if words else 0)
        values = max((width(m.text) for r in self.rows for m in r.marks), default=0.0)
        right = max(WIDE - 28 - values, left + (280 if self.bands else 160))
        wide = right + 28 + values
        keyed, top = legend(self.keys, 16, 0, wide - 16) if self.keys else ("", 0.0)
        top += 10 + (20 if self.bands or any(up.word for up in self.lines) else 0)
        highs = [ROW_HEIGHT + DODGE * (max(len(r.marks), 1) - 1) for r in self.rows]
        foot = top + sum(highs)
        x = Scale("linear", self._ends(), (left, right))
        drawing = Drawing(wide, foot + 50 + (20 if self.note else 0), {"data_x": str(x)})
        drawing.add(keyed)
        self._background(drawing, x, top, foot)
        at, said_last = top, ""
        for row, high in zip(self.rows, highs, strict=True):
            # one name of several rows is said once
            name = "" if row.words and row.name == said_last else row.name
            self._row(drawing, x, replace(row, name=name), at + high / 2, names - 16)
            at, said_last = at + high, row.name
        half = width(self.x_title, 14) / 2 + 8
        middle = max(min((left + right) / 2, wide - half), half)
        drawing.add(label(middle, foot + 40, self.x_title, anchor="middle", size=14))
        if self.note:
            drawing.add(label(14, foot + 62, self.note, room=wide - 20, size=12, ink=QUIET))
        return drawing

    def _ends(self) -> tuple[float, float]:
        """An axis that holds all values, and intervals as far as they do not dwarf the rest."""
        marks = [(m, m.value) for r in self.rows for m in r.marks if m.value is not None]
        values = [x for _, x in marks] + [up.value for up in self.lines]
        if not values:
            return (0.0, 1.0)
        spread = sorted(abs(e - x) for m, x in marks for e in (m.low, m.high) if e is not None)
        usual = 2.5 * spread[len(spread) // 2] if spread else 0.0
        least, most = min(values), max(values)
        reach = max(most - least, usual, 1e-9)
        ends = [x for start, end, _ in self.bands for x in (start, end) if math.isfinite(x)]
        lows = (max(m.low, least - reach) for m, _ in marks if m.low is not None)
        highs = (min(m.high, most + reach) for m, _ in marks if m.high is not None)
        low, high = min([least, *lows, *ends]), max([most, *highs, *ends])
        if not high > low:
            low, high = low - 0.5, high + 0.5
        by = step((high - low) / 5)
        low, high = math.floor(low / by + 1e-9) * by, math.ceil(high / by - 1e-9) * by
        first, last = self.bounds
        return (
            low if first is None else max(low, first),
            high if last is None else min(high, last),
        )

    def _background(self, drawing: Drawing, x: Scale, top: float, foot: float) -> None:
        for k, (start, end, word) in enumerate(self.bands):
            a, b = x.inside(start), x.inside(end)
            if b - a < 1:
                continue
            shade = {"fill": GREY, "fill_opacity": "0.14" if k % 2 else "0.05"}
            drawing.add(element("rect", x=a, y=top, width=b - a, height=foot - top, **shade))
            if width(word, 10) < b - a + 6:
                drawing.add(label((a + b) / 2, top - 6, word, anchor="middle", size=10, ink=QUIET))
        ticks = _spaced_ticks(x)
        ups = "".join(f"M{x.place(t):.1f} {top:.1f}V{foot:.1f}" for t in ticks)
        drawing.add(element("path", d=ups, stroke=FAINT, class_="sw-faint"))
        for t, text in zip(ticks, tick_texts(ticks), strict=True):
            drawing.add(label(x.place(t), foot + 18, text, anchor="middle"))
        for up in self.lines:
            if not x.holds(up.value):
                continue
            at = x.place(up.value)
            look_ = {"class_": "sw-axis"} if up.colour == QUIET else {"opacity": "0.75"}
            with drawing.group(data_model=up.model):
                drawing.add(
                    line([(at, top), (at, foot)], up.colour, dash=DASHES[1], width=1.2, **look_)
                )
            if up.word and not self.bands:
                drawing.add(label(at, top - 6, up.word, anchor="middle", size=12, ink=QUIET))

    def _row(self, drawing: Drawing, x: Scale, row: Row, middle: float, room: float) -> None:
        ink, left = QUIET if row.quiet else INK, x.range[0] - 14
        with drawing.group(data_group=row.group):
            if row.name:
                drawing.add(label(14, middle + 4.5, row.name, room=room, ink=ink))
            if row.words:
                drawing.add(label(left, middle + 4, row.words, anchor="end", size=12, ink=QUIET))
            for k, mark in enumerate(row.marks):
                y = middle + (k - (len(row.marks) - 1) / 2) * DODGE
                colour = GREY if row.quiet else mark.colour
                with drawing.group(data_model=mark.model):
                    drawing.add(self._mark(x, mark, y, colour))
                    drawing.add(label(drawing.wide - 14, y + 4.5, mark.text, anchor="end", ink=ink))

    def _mark(self, x: Scale, mark: Mark, y: float, colour: str) -> str:
        if mark.value is None:
            return ""
        low = mark.value if mark.low is None else mark.low
        high = mark.value if mark.high is None else mark.high
        whiskers = [[(x.inside(low), y), (x.inside(high), y)]]
        for end, way in ((low, -5), (high, 5)):  # an arrow where the interval goes on
            if not x.holds(end):
                at = x.inside(end)
                whiskers.append([(at - way, y - 4), (at, y), (at - way, y + 4)])
        drawn = "".join(line(points, colour, width=2) for points in whiskers)
        if not x.holds(mark.value):
            return drawn
        look = {"fill": colour} if mark.filled else {"fill": "#FFFFFF", "class_": "sw-paper"}
        at = x.place(mark.value)
        return drawn + element("circle", cx=at, cy=y, r=5.0, **look, stroke=colour, stroke_width=2)


def _spaced_ticks(x: Scale) -> list[float]:
    """Ticks whose words stand apart."""
    return next(
        (
            ticks
            for ticks in map(x.ticks, range(6, 1, -1))
            if len(ticks) < 2
            or max(map(width, tick_texts(ticks))) + 8 <= x.place(ticks[1]) - x.place(ticks[0])
        ),
        [*x.domain],
    )
