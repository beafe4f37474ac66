"""Sections of a page as HTML: lists, tables, matrices and figures; legible without style or script."""

from __future__ import annotations

import html as markup
import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

from scorewise.errors import plain
from scorewise.show.document import evaluation_in, page_of
from scorewise.show.page import Column, Figure, Heading, Matrix, Page, Section, Table
from scorewise.show.words import Sentence, count, sentence, spans

SIZES = re.compile(r'(<svg\b[^>]*?) width="([\d.]+)" height="([\d.]+)"')
SCALE, SCALE_OF_THREE = 0.98, 0.83  # of drawings: three in a row fit on a screen 1,200 px wide
WIDE = 540  # px of a drawing, from which on it is moved sideways on a phone
FIGURE_ROWS = 16  # of the table of a figure, from which on it is thinned
# letters of scripts that run from right to left, with what stands between them but our own words
_LEFTWARD = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff"
LEFTWARD = re.compile(rf"[{_LEFTWARD}](?:[^\dA-Za-z'<>&;]*[{_LEFTWARD}])*")
HOOKS = re.compile(r' (?:class|data-[a-z-]+)="[^"]*"')  # for style sheets and scripts


def fragment(doc: Any) -> str:
    """The page as plain headings, lists and tables: no style, no script, nothing that a host may strip."""
    page = page_of(doc)
    parts: list[str] = [f"<h4>scorewise {escaped(page.command)}</h4>"]
    for s in page.sections:
        parts += [f"<h5>{escaped(s.title)}</h5>"] if s.title else []
        parts += [bullets(s.verdict)] if s.verdict else []
        parts += section_body(s, "", page, plainly=True)
    return HOOKS.sub("", "\n".join(parts).replace(' class="n"', ' align="right"'))


# Words that are not ours, made harmless.


def escaped(text: object) -> str:
    """Text as HTML shows it, within elements and within attributes; controls are shown as escapes.

    >>> escaped('<b title="x">&')
    '&lt;b title=&quot;x&quot;&gt;&amp;'
    """
    return markup.escape(plain(text))


def name_html(text: object) -> str:
    """A name of the user, whose letters may run in either direction."""
    return f'<bdi class="sw-name">{escaped(text)}</bdi>'


def _words(text: object) -> str:
    """Text around names; letters that run from right to left do not turn the numbers beside them.

    >>> _words("kappa of 'a' 0.5") == escaped("kappa of 'a' 0.5")
    True
    """
    return LEFTWARD.sub(r"<bdi>\g<0></bdi>", escaped(text))


def sentence_html(text: Sentence) -> str:
    """A sentence, its names marked off from our words."""
    return sentence(text, name_html, _words)


# Parts of a section.


def section_body(s: Section, title: str, page: Page, plainly: bool = False) -> list[str]:
    """What stands below the title of a section; `plainly` leaves out figures, and hooks of scripts."""
    parts = []
    if s.figures and not plainly:  # all of a row to one scale, so that their words have one size
        scale = SCALE if len(s.figures) < 3 else SCALE_OF_THREE
        parts += ['<div class="sw-figures">', *(_figure(f, scale) for f in s.figures), "</div>"]
    parts += [fact_list(s.facts)] if s.facts else []
    if s.matrices:
        tables = [_matrix(m, i, page) for i, m in enumerate(s.matrices)]
        parts += tables if plainly else ['<div class="sw-matrices">', *tables, "</div>"]
    if s.table:
        table = _table(s.table, title, plainly, s.anchor == "slices")
        parts.append(table if plainly else _scroll(table, title))
        if notes := s.table.remarks("*"):
            parts.append(f'<p class="sw-note">{escaped(" ".join(notes))}</p>')
    return [*parts, bullets(s.lines)] if s.lines else parts


def _scroll(table: str, title: str) -> str:
    """A table that is moved sideways where it is wider than the page, by keys too."""
    return f'<div class="sw-scroll" role="group" aria-label="{escaped(title)}" tabindex="0">{table}</div>'


def bullets(lines: Iterable[Sentence]) -> str:
    """Sentences as a list."""
    return "<ul>" + "".join(f"<li>{sentence_html(line)}</li>" for line in lines) + "</ul>"


def fact_list(facts: Sequence[tuple[str, Sentence]]) -> str:
    """A list of keys and sentences; what has no key goes on below the one before."""
    lines: list[str] = []
    for key, fact in facts:
        head = f"<dt>{escaped(key)}</dt>" if key or not lines else ""
        lines.append(f"{head}<dd>{sentence_html(fact)}</dd>")
    return "\n".join(["<dl>", *lines, "</dl>"])


def _figure(f: Figure, scale: float) -> str:
    data = ""
    if f.table:
        table = _table(_thinned(f.table), f.title, plainly=True).replace(' class="n"', "")
        # all are numbers, and there are many of them
        table = re.sub('<th scope="row">(.*?)</th>', r"<td>\1</td>", table)
        data = f"<details><summary>Data as a table</summary>{_scroll(table, f.title)}</details>"
    caption = f"<figcaption><b>{_words(f.title)}.</b> {_words(f.description)}</figcaption>"

    def sized(found: re.Match[str]) -> str:
        wide, high = (scale * float(x) for x in found.group(2, 3))
        return f'{found[1]} width="{wide:.0f}" height="{high:.0f}"'

    svg = f.svg()
    drawn = SIZES.sub(sized, svg)
    size = SIZES.search(svg)
    if size and float(size[2]) > WIDE:
        drawn = _scroll(drawn, f.title).replace("sw-scroll", "sw-scroll sw-wide", 1)
    return f'<figure data-kind="{escaped(f.kind)}">{drawn}{caption}{data}</figure>'


def _thinned(table: Table) -> Table:
    """Every other row of a long table and the last: the figure itself shows them all."""
    if len(table.rows) <= FIGURE_ROWS:
        return table
    rows: list[Sequence[Any] | Heading] = []
    for title, part in table.groups():
        rows += [Heading(title)] if title else []
        rows += part[::2] if len(part) % 2 else [*part[::2], part[-1]]
    return replace(table, rows=rows)


def _matrix(m: Matrix, at: int, page: Page) -> str:
    """Labels against decisions; the threshold moves the counts."""
    settings = getattr(evaluation_in(page.document), "settings", None)
    threshold = getattr(settings, "threshold", None)
    cut = "" if threshold is None else f' at <span data-threshold-value="">{threshold:g}</span>'
    names = ["—" if c is None else name_html(c) for c in m.classes]
    lines = [
        f'<table class="sw-matrix"><caption>Decisions of {name_html(m.model)}{cut}</caption>',
        f'<thead><tr><td></td><th scope="col">called {names[0]}</th>',
        f'<th scope="col">called {names[1]}</th></tr></thead>',
        "<tbody>",
    ]
    for name, line, cells in zip(names, m.counts, (("tp", "fn"), ("fp", "tn")), strict=True):
        counts = "".join(
            f'<td data-cell="{cell}" data-model="{at}">{count(x)}</td>'
            for cell, x in zip(cells, line, strict=True)
        )
        lines.append(f'<tr><th scope="row">is {name}</th>{counts}</tr>')
    return "".join([*lines, "</tbody></table>"])


# Tables.


def _table(table: Table, title: str, plainly: bool = False, grouped: bool = False) -> str:
    """A table with a body for each group of rows; texts left, numbers right.

    `grouped` says that each row is a group of the data, which can be picked out.
    """
    table = table.printed()
    columns, rates = table.columns, iter(table.rates)
    caption = f"<caption>{escaped(title)}</caption>" if title else ""
    heads = "".join(
        f'<th scope="col"{_side(c)}>{sentence_html(c.title)}</th>' if c.title else "<td></td>"
        for c in columns
    )
    sortable = "" if plainly or table.rates else " data-sortable"
    lines = [f"<table{sortable}>{caption}", f"<thead><tr>{heads}</tr></thead>"]
    for head, rows in table.groups():
        lines.append("<tbody>")
        if head:
            across = f'<th scope="rowgroup" colspan="{len(columns)}">{escaped(head)}</th>'
            lines.append(f"<tr>{across}</tr>" if plainly else f'<tr class="sw-group">{across}</tr>')
        for row in rows:
            rate = next(rates, "")
            cells = [
                _cell(x, c, k, rate, plainly)
                for k, (x, c) in enumerate(zip(row, columns, strict=True))
            ]
            named = grouped and columns[0].format == "name"
            of = f' data-group="{escaped(row[0])}"' if named else ""
            lines.append(f"<tr{of}>{''.join(cells)}</tr>")
        lines.append("</tbody>")
    return "\n".join([*lines, "</table>"])


def _side(c: Column) -> str:
    """Numbers are set right."""
    return "" if c.left and c.format != "compared" else ' class="n"'


def _cell(cell: Any, c: Column, at: int, rate: str, plainly: bool) -> str:
    """A cell, with its number for sorting, and with the rate that it has of which model."""
    kind, _, name = rate.rpartition("@")
    text = _cell_text(cell, c, plainly)
    if at == 0:
        if kind:  # the prevalence is the last word
            before, _, share = text.rpartition(" ")
            text = f'{before} <span data-prevalence-value="">{share}</span>'
        return f'<th scope="row"{_side(c)}>{text}</th>'
    hooks = ""
    if rate:
        hooks = f' data-{kind or "rate"}="{name}" data-model="{at - 1}"'
    elif not plainly and (number := _number(cell, c)) is not None:
        hooks = f' data-value="{number:.6g}"'
    return f"<td{hooks or _side(c)}>{text}</td>"  # what has hooks is set right


INTERVAL = re.compile(r"\[[^\]]*\]")  # which is not broken into lines
VALUE_AND_INTERVAL = re.compile(r"^(\S+?\*?) ?(\[[^\]]*\].*)$")


def _cell_text(cell: Any, c: Column, plainly: bool) -> str:
    """A cell as text: a winner in bold, an interval apart from its value, a reason in italics."""

    def styled(text: str, style: str) -> str:
        if style == "best":
            return f"<b>{escaped(text)}*</b>"
        if style == "reason":
            return f"<em>{escaped(text)}</em>"
        if style == "interval" and text and not plainly:
            return f'<span class="ci">{escaped(text)}</span>'
        return escaped(text)

    pieces = spans(cell, c.format)
    if pieces[0][1]:
        return " ".join(styled(*piece) for piece in pieces)
    text = pieces[0][0].rstrip()
    if c.format == "name":
        return name_html(text)
    if INTERVAL.fullmatch(text):
        return styled(text, "interval")
    if found := VALUE_AND_INTERVAL.match(text):
        return f"{escaped(found[1])} {styled(found[2], 'interval')}"
    return escaped(text)


SORTED_BY = {"interval": "low", "baseline": "baseline", "skill": "skill"}  # else by the value


def _number(cell: Any, c: Column) -> float | None:
    """The number that a cell is sorted by."""
    if isinstance(cell, str):
        found = re.match(r"[<≤]?(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)", cell)
        return float(found[1].replace(",", "")) if found and not c.left else None
    cell = getattr(cell, "estimate", cell)
    x = getattr(cell, SORTED_BY.get(c.format, "value"), cell)
    return float(x) if isinstance(x, int | float) and x == x else None
