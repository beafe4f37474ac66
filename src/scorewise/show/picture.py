"""The terminal table as an SVG picture."""

from __future__ import annotations

import io
from typing import Any

from rich.console import Console

from scorewise.errors import plain
from scorewise.show.document import page_of
from scorewise.show.terminal import WIDTH, print_document

# rich's own frame asks a font server for its font; this one takes what the reader has
FRAME = """\
<svg class="rich-terminal" viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg"
 role="img" aria-label="Table printed by scorewise">
<style>
.{unique_id}-matrix {{
font-family: "Fira Code", ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace;
font-size: {char_height}px; line-height: {line_height}px; font-variant-east-asian: full-width;
}}
.{unique_id}-title {{ font-size: 18px; font-weight: bold; font-family: sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""


def svg(doc: Any, width: int = WIDTH) -> str:
    """The table as one SVG file that asks for nothing from elsewhere."""
    console = Console(
        record=True, width=width, file=io.StringIO(), force_terminal=True, color_system="truecolor"
    )
    page = page_of(doc)
    print_document(page, console)
    title = f"scorewise {plain(page.command)}"
    return console.export_svg(title=title, code_format=FRAME, unique_id="scorewise")
