r"""A page as LaTeX, for a paper: the verdict as text, tables with the rules of booktabs.

It is the body of a document whose preamble has `\usepackage{booktabs}`, for pdfLaTeX and its successors.
"""

from __future__ import annotations

import re
from typing import Any

from scorewise import __version__
from scorewise.errors import plain
from scorewise.show.document import page_of
from scorewise.show.page import Column, Heading, Matrix, Section, Table
from scorewise.show.words import Sentence, formatted, sentence, spans

LONG_TEXT = 36  # characters of a cell from which on the texts of its column are set in lines
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
    title, table = section.title, section.table
    # the command to run next is no part of a paper
    claims = [c for c in section.verdict if not (isinstance(c, str) and c.startswith("Next: "))]
    head = [rf"\paragraph{{{escape(title)}}}"] if title and not table else []
    parts = [
        "\n".join(map(_sentence, claims)),
        *(f"{escape(key)}: " * bool(key) + _sentence(fact) for key, fact in section.facts),
        *map(_matrix, section.matrices),
        _table(table, escape(title)) if table else "",
        "\n".join([*head, *map(_sentence, section.lines)]),
    ]
    return [part for part in parts if part]


def _sentence(text: Sentence) -> str:
    return sentence(text, lambda name: rf"\texttt{{{escape(name)}}}", escape)


def _table(table: Table, caption: str) -> str:
    """A float, its notes behind its caption."""
    shown = table.printed()
    body: list[str] = []
    for row in shown.rows:
        if isinstance(row, Heading):
            body += [r"\addlinespace"] if body else []
            across = rf"\multicolumn{{{len(shown.columns)}}}{{l}}"
            body.append(rf"{across}{{\emph{{{escape(row.title)}}}}}\\")
        else:
            cells = (_cell(x, c).strip() for x, c in zip(row, shown.columns, strict=True))
            body.append(" & ".join(cells) + r"\\")
    caption = ". ".join(filter(None, [caption, " ".join(map(escape, table.remarks("Bold")))]))
    head = " & ".join(escape(c.title) for c in shown.columns) + r"\\"
    sides = "".join(_side(shown, i) for i in range(len(shown.columns)))
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
    texts = (formatted(row[at], column.format) for _, rows in table.groups() for row in rows)
    longest = max(map(len, texts), default=0)
    return r"p{0.4\linewidth}" if longest > LONG_TEXT else "l"


def _cell(cell: Any, column: Column) -> str:
    """A cell; a winner is bold, and a reason in italics."""
    plain_text = column.format in ("text", "name", "title")
    written = []
    for text, style in spans(cell, column.format):
        if style == "reason":
            written.append(rf"\emph{{{escape(text)}}}")
        elif style == "best":
            written.append(rf"\textbf{{{_number(text)}}}")
        else:
            written.append(escape(text) if plain_text else _number(text))
    return " ".join(written)


def _number(text: str) -> str:
    """Numbers, whose hyphens are minus signs."""
    return re.sub(r"(?<![\w.])-(?=[\d.])", "$-$", escape(text))


def _matrix(m: Matrix) -> str:
    words = zip(m.classes, ("positive", "negative"), strict=True)
    names = [word if name is None else name for name, word in words]
    columns = [Column("", "name"), *(Column(name, "count") for name in names)]
    rows = [[name, *line] for name, line in zip(names, m.counts, strict=True)]
    of = rf"Decisions of \texttt{{{escape(m.model)}}}"
    return _table(Table(columns, rows), f"{of}: classes down the side, predictions across.")


def escape(text: object) -> str:
    r"""Text that LaTeX sets as it is.

    >>> print(escape(r"50% of a_b & c^2 #1 {x} \y ~ $"))
    50\% of a\_b \& c\textasciicircum{}2 \#1 \{x\} \textbackslash{}y \textasciitilde{} \$
    >>> print(escape("--all"), escape("[0.1, 0.2]"))
    -{}-all [0.1, 0.2]
    """
    # pairs of hyphens and of quotes would be joined
    return re.sub(
        r"([-'])(?=\1)|.", lambda m: f"{m[1]}{{}}" if m[1] else SPECIAL.get(m[0], m[0]), plain(text)
    )
