"""Square tables whose cells are shaded: classes against decisions, raters against raters."""

from __future__ import annotations

from collections.abc import Sequence

from scorewise.colours import BLUE
from scorewise.figures.svg import Drawing, element, said

Share = float | None
DARKEST = 0.72  # opacity up to which dark words on blue are easy to read


def heat_map(
    drawing: Drawing,
    names: Sequence[str],
    shares: Sequence[Sequence[Share]],
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
