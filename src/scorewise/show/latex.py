r"""A page as LaTeX, for a paper: the verdict as text, tables with the rules of booktabs.

It is the body of a document whose preamble has `\usepackage{booktabs}`, for pdfLaTeX and its successors.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from scorewise import __version__
from scorewise.errors import plain
from scorewise.show.document import page_of
from scorewise.show.page import Column, Heading, Matrix, Section, Table
from scorewise.show.words import Compared, Sentence, count, limits, sentence, value, written

WIDE = 36  # characters of a cell from which on the texts of its column are set in lines
SPECIAL = {
    **{char: f"\\{char}" for char in "&%$#_{}"},
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    '"': r"\symbol{34}",  # which packages for languages make a command
    "`": r"\textasciigrave{}",
    "—": "---",
    "\N{EN DASH}": "--",
    "†": r"\textdagger{}",
    "±": r"$\pm$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "∞": r"$\infty$",
    "·": r"$\cdot$",
    "\N{MINUS SIGN}": "$-$",
}


def latex(doc: Any) -> str:
    """The page of a document as text and tables."""
    page = page_of(doc)
    parts = [rf"% scorewise {plain(page.command)} {__version__}; needs \usepackage{{booktabs}}"]
    for section in page.sections:
        parts += _section(section)
    parts += [f"% {plain(note)}" for note in page.footnotes]
    return "\n\n".join(parts) + "\n"


def _section(section: Section) -> list[str]:
    """Its title, verdict and facts as paragraphs, and its tables."""
    title, parts = section.title, []
    # the command to run next is no part of a paper
    claims = [c for c in section.verdict if not (isinstance(c, str) and c.startswith("Next: "))]
    if claims:
        parts.append("\n".join(map(_sentence, claims)))
    if section.facts:
        facts = [f"{escape(key)}: " * bool(key) + _sentence(fact) for key, fact in section.facts]
        parts += facts
    parts += [_matrix(m) for m in section.matrices]
    if section.table:
        parts.append(_table(section.table, title))
    lines = "\n".join(map(_sentence, section.lines))
    if lines or (title and not section.table):
        head = rf"\paragraph{{{escape(title)}}}" if title and not section.table else ""
        parts.append("\n".join(filter(None, (head, lines))))
    return parts


def _sentence(text: Sentence) -> str:
    return sentence(text, lambda name: rf"\texttt{{{escape(name)}}}", escape)


def _table(table: Table, title: str) -> str:
    """A float with the title and the notes as its caption."""
    shown = table.apart
    columns = [table.columns[i] for i in shown]
    body: list[str] = []
    for row in table.rows:
        if isinstance(row, Heading):
            body += [r"\addlinespace"] if body else []
            body.append(rf"\multicolumn{{{len(shown)}}}{{l}}{{\emph{{{escape(row.title)}}}}}\\")
        else:
            cells = [_cell(row[i], table.columns[i]) if i < len(row) else "" for i in shown]
            body.append(" & ".join(cell.strip() for cell in cells) + r"\\")
    caption = ". ".join(filter(None, [escape(title), " ".join(map(escape, table.remarks("Bold")))]))
    head = " & ".join(escape(c.title) for c in columns) + r"\\"
    return _float(caption, "".join(_side(table, i) for i in shown), head, body)


def _float(caption: str, sides: str, head: str, body: Sequence[str]) -> str:
    # a row that begins with [ or * would be an option of the line before
    rows = [f"{{}}{row}" if row.startswith(("[", "*")) else row for row in body]
    lines = [
        r"\begin{table}",
        r"\centering",
        *([rf"\caption{{{caption}}}"] if caption else []),
        rf"\begin{{tabular}}{{{sides}}}",
        r"\toprule",
        head,
        r"\midrule",
        *rows,
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines)


def _side(table: Table, at: int) -> str:
    """How a column is set: numbers right, texts left, long ones in lines."""
    column = table.columns[at]
    if not column.left:
        return "r"
    texts = [row[at] for _, rows in table.groups() for row in rows if at < len(row)]
    longest = max((len(written(x, column.format)) for x in texts), default=0)
    return r"p{0.4\linewidth}" if longest > WIDE else "l"


def _cell(cell: Any, column: Column) -> str:
    """A cell; a winner is bold, and a reason in italics."""
    if column.format == "compared" and isinstance(cell, Compared):
        e = cell.estimate
        shown = rf"\textbf{{{_number(value(e))}}}" if cell.best else _number(value(e))
        return f"{shown} {_limits(e)}".rstrip()
    if column.format == "interval or reason" and not isinstance(cell, str | None):
        return _limits(cell)
    text = written(cell, column.format)
    return escape(text) if column.format in ("text", "name", "title") else _number(text)


def _limits(e: Any) -> str:
    return rf"\emph{{{escape(e.why)}}}" if e.why else _number(limits(e))


def _number(text: str) -> str:
    """Numbers, whose hyphens are minus signs."""
    return re.sub(r"(?<![\w.])-(?=[\d.])", "$-$", escape(text))


def _matrix(m: Matrix) -> str:
    """Labels against decisions of one model, as a table."""
    words = zip(m.classes, ("positive", "negative"), strict=True)
    names = [escape(word if name is None else name) for name, word in words]
    rows = [
        f"{name} & {' & '.join(_number(count(x)) for x in line)}\\\\"
        for name, line in zip(names, m.counts, strict=True)
    ]
    return _float(
        rf"Decisions of \texttt{{{escape(m.model)}}}: classes down the side, predictions across.",
        "lrr",
        rf" & {' & '.join(names)}\\",
        rows,
    )


def escape(text: object) -> str:
    r"""Text that LaTeX sets as it is.

    >>> print(escape(r"50% of a_b & c^2 #1 {x} \y ~ $"))
    50\% of a\_b \& c\textasciicircum{}2 \#1 \{x\} \textbackslash{}y \textasciitilde{} \$
    >>> print(escape("--all"), escape("[0.1, 0.2]"))
    -{}-all [0.1, 0.2]
    """
    # pairs of hyphens and of quotes would be joined
    return re.sub(
        r"([-'])(?=\1)|.",
        lambda m: f"{m[1]}{{}}" if m[1] else SPECIAL.get(m[0], m[0]),
        plain(text),
    )
