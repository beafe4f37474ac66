"""Make what the documentation generates: pictures, the table of measures, the outputs of examples.

`python docs/make.py` writes what has changed; `python docs/make.py --check` only says what would. Figures
of matplotlib differ from version to version, so they are drawn where absent, and anew with `--figures`.
"""

from __future__ import annotations

import math
import sys
from functools import cache
from pathlib import Path
from typing import Any

from _examples import refreshed
from _pictures import FIGURES, PICTURES, evaluation, png

from scorewise.evaluation.page import TITLES
from scorewise.registry import CLASS_MEASURES, MEASURES, RATER_MEASURES, Measure

DOCS = Path(__file__).resolve().parent
ROOT = DOCS.parent
BEGIN, END = "<!-- measures: begin -->", "<!-- measures: end -->"


def pages() -> list[Path]:
    """Every page with examples: the documentation and the files beside it."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.glob("*.md"))]


@cache
def pictures() -> dict[str, str]:
    """Every picture under its file name."""
    return {name: draw() for name, draw in PICTURES.items()}


def table() -> str:
    """The table of all measures, by group, from the register."""
    e = evaluation()
    parts = []
    for group, title in TITLES.items():
        mine = [m for m in MEASURES.values() if m.group == group]
        lines = [_line(m, f" {e[m.name].method} |") for m in mine]
        parts.append("\n".join([f"## {title}", "", *_head(" Interval |", "---|"), *lines]))
    several = [_line(m) for m in CLASS_MEASURES.values()]
    said = "`sw.evaluate(y, table)` gives these, see [Several classes](classes.md)."
    parts.append("\n".join(["## Several classes", "", said, "", *_head(), *several]))
    raters = [_line(m) for m in RATER_MEASURES.values()]
    said = "`sw.agree(ratings)` gives these, see [Agreement of raters](agreement.md)."
    parts.append("\n".join(["## Raters", "", said, "", *_head(), *raters]))
    return "\n\n".join(parts)


def _head(more: str = "", rule: str = "") -> list[str]:
    return [
        "| Measure | Name | Meaning | Better | From, to |" + more,
        "|---|---|---|---|---|" + rule,
    ]


def _line(m: Measure, more: str = "") -> str:
    ends = ", ".join(_end(x) for x in m.bounds)
    meaning = m.meaning.replace("|", "\\|")
    return f"| {m.title} | `{m.name}` | {meaning} | {m.better} | {ends} |{more}"


def _end(x: float) -> str:
    return ("-∞" if x < 0 else "∞") if math.isinf(x) else f"{x:g}"


def with_table(page: str) -> str:
    """The page of measures with its table as it is now."""
    before, _, rest = page.partition(BEGIN)
    after = rest.partition(END)[2]
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def made() -> dict[Path, str]:
    """Every generated file with its text."""
    texts: dict[Path, str] = {DOCS / "img" / name: text for name, text in pictures().items()}
    for path in pages():
        page = path.read_text()
        texts[path] = refreshed(with_table(page) if BEGIN in page else page)
    return texts


def main(args: list[str]) -> Any:
    """Write what has changed, or with --check only say it; the exit code."""
    stale = 0
    for path, text in made().items():
        if path.exists() and path.read_text() == text:
            continue
        stale += 1
        sys.stdout.write(f"{path.relative_to(ROOT)} has changed\n")
        if "--check" not in args:
            path.write_text(text)
    for name in FIGURES:
        path = DOCS / "figures" / name
        if "--check" not in args and ("--figures" in args or not path.exists()):
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(png(name))
    return int("--check" in args and stale > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
