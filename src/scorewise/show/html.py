"""A page as one self-contained HTML file: it reads without style sheet, script and network."""

from __future__ import annotations

import base64
import gzip
import hashlib
import html as markup
import json
import platform
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from scorewise import __version__
from scorewise.errors import plain
from scorewise.show.document import page_of, to_dict
from scorewise.show.names import cut_names, told_whole
from scorewise.show.page import Column, Figure, Heading, Matrix, Page, Section, Table
from scorewise.show.report import Part, evidence, heading, payload, report_parts
from scorewise.show.words import Sentence, count, limits, sentence, value, written

SIZES = re.compile(r'(<svg\b[^>]*?) width="([\d.]+)" height="([\d.]+)"')
SCALE, ABREAST = 0.98, 0.83  # of drawings: three in a row fit on a screen 1,200 px wide
WIDE = 540  # px of a drawing, from which on it is moved sideways on a phone
# letters of scripts that run from right to left, with what stands between them but our own words
_LEFTWARD = "\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff"
LEFTWARD = re.compile(rf"[{_LEFTWARD}](?:[^\dA-Za-z'<>&;]*[{_LEFTWARD}])*")
HOOKS = re.compile(r' (?:class|data-[a-z-]+)="[^"]*"')  # for style sheets and scripts
# commands and calls within a sentence on what comes next
STEP = re.compile(r"(?:^|(?<=then ))scorewise .*$|(?:^|(?<= ))\w+(?:[.]\w+|\([^()]*\))*\([^()]*\)")
# findings that take words of the field, in those of everyday
PLAIN = {
    (
        "probabilities",
        "overconfident",
    ): "It is too sure of itself: its high probabilities should be lower, its low ones higher.",
    ("probabilities", "underconfident"): "It is not sure enough: its high probabilities should be "
    "higher, its low ones lower.",
    ("probabilities", "too low"): "What it predicts happens more often than it says.",
    ("probabilities", "too high"): "What it predicts happens less often than it says.",
    (
        "repair",
        "helps",
    ): "A map learnt from rows with known outcomes corrects the probabilities; no "
    "new model is needed.",
}
DOUBTED = (
    "Scores that are too sure contradict many labels: recalibrate before you doubt the labels."
)
ABOUT = {"models": "Models", "repair": "Repair", "next": "Next", "data": "Data"}


def html(doc: Any) -> str:
    """The report of a document: its sentences, then its sections with figures, tables and methods."""
    page = page_of(doc)
    short, names = cut_names(page.document)
    page = page_of(short) if names else page
    parts = report_parts(page)
    title = heading(page.document, page)
    script = asset("report.js")
    own = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{own}'; img-src data:; "
        f"base-uri 'none'; form-action 'none'"
    )
    return "\n".join(
        [
            "<!doctype html>",
            '<html lang="en">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            '<meta name="color-scheme" content="light dark">',
            f'<meta name="generator" content="scorewise {__version__}">',
            f"<title>{escaped(sentence(title, str))} · scorewise {escaped(page.command)}</title>",
            f"<style>\n{style()}</style>",
            "</head>",
            '<body class="sw-page">',
            '<a class="sw-skip" href="#scorewise">Skip to the report</a>',
            '<header class="sw-head">',
            f'<p class="sw-brand">scorewise {escaped(page.command)}</p>',
            f"<h1>{_sentence(title)}</h1>",
            "</header>",
            _contents(parts),
            main(page, parts, names),
            f'<script type="application/json" id="scorewise-data">{_json(payload(page.document))}</script>',
            f"<script>{script}</script>",
            "</body>",
            "</html>",
            "",
        ]
    )


def main(page: Page, parts: Sequence[Part], names: Mapping[str, str] = MappingProxyType({})) -> str:
    """The sections, in the element that the script brings to life."""
    there = [*(part.anchor for part in parts), "methods"]
    last = [s for part in parts if part.anchor == "methods" for s in part.sections]
    return "\n".join(
        [
            '<main id="scorewise" tabindex="-1">',
            *(_part(part, there, page) for part in parts if part.anchor != "methods"),
            _methods(page, last, names),
            "</main>",
        ]
    )


def style() -> str:
    """The style sheet: what the script adds first, then the page's own; without needless spaces."""
    return re.sub(r"\s*([\n{};,])\s*", r"\1", asset("bar.css") + asset("report.css")).replace(
        "\n", ""
    )


def fragment(doc: Any) -> str:
    """The page as plain headings, lists and tables: no style, no script, nothing that a host may strip."""
    page = page_of(doc)
    parts: list[str] = [f"<h4>scorewise {escaped(page.command)}</h4>"]
    for s in page.sections:
        parts += [f"<h5>{escaped(s.title)}</h5>"] if s.title else []
        parts += [_list(s.verdict)] if s.verdict else []
        parts += _body(s, "", page, plainly=True)
    return HOOKS.sub("", "\n".join(parts).replace(' class="n"', ' align="right"'))


def asset(name: str) -> str:
    """The style sheet or the script that ships with the package."""
    return files("scorewise.show").joinpath("assets", name).read_text("utf-8")


# Words that are not ours, made harmless.


def escaped(text: object) -> str:
    """Text as HTML shows it, within elements and within attributes; controls are shown as escapes.

    >>> escaped('<b title="x">&')
    '&lt;b title=&quot;x&quot;&gt;&amp;'
    """
    return markup.escape(plain(text))


def _name(text: object) -> str:
    return f'<bdi class="sw-name">{escaped(text)}</bdi>'


def _words(text: object) -> str:
    """Text around names; letters that run from right to left do not turn the numbers beside them.

    >>> _words("kappa of 'a' 0.5") == escaped("kappa of 'a' 0.5")
    True
    """
    return LEFTWARD.sub(r"<bdi>\g<0></bdi>", escaped(text))


def _sentence(text: Sentence) -> str:
    return sentence(text, _name, _words)


def _json(item: Any) -> str:
    """JSON that no parser of HTML takes for markup."""
    text = json.dumps(to_dict(item), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for mark in "<>&\u2028\u2029":
        text = text.replace(mark, f"\\u{ord(mark):04x}")
    return text


# Parts of the page.


def _contents(parts: Sequence[Part]) -> str:
    titles = {part.anchor: part.title for part in parts} | {"methods": "Methods"}
    links = "".join(f'<li><a href="#{a}">{escaped(title)}</a></li>' for a, title in titles.items())
    return f'<nav class="sw-nav" aria-label="Sections"><ul>{links}</ul></nav>'


def _part(part: Part, there: Sequence[str], page: Page) -> str:
    lines = [f'<section id="{part.anchor}" aria-labelledby="{part.anchor}-title">']
    lines.append(f'<h2 id="{part.anchor}-title">{escaped(part.title)}</h2>')
    for s in part.sections:
        lines += [_verdict(s.verdict, there)] if s.verdict else []
        lines += _titled(s, part.title, page)
    return "\n".join([*lines, "</section>"])


def _titled(s: Section, within: str, page: Page) -> list[str]:
    """A section below its title, closed where it may be; without a title, a part of the one around."""
    body = _body(s, s.title or within, page)
    if s.folded and body:
        return ["<details>", f"<summary>{escaped(s.title)}</summary>", *body, "</details>"]
    return [*([f"<h3>{escaped(s.title)}</h3>"] if s.title not in ("", within) else []), *body]


def _verdict(claims: Sequence[Sentence], there: Sequence[str]) -> str:
    """The sentences, each beside a link to what it rests on; commands as code."""
    lines: list[str] = []
    found = [(getattr(c, "about", ""), getattr(c, "finding", "")) for c in claims]
    sure = ("probabilities", "overconfident") in found
    doubted = {("labels", "more than expected"): DOUBTED} if sure else {}
    for claim, what in zip(claims, found, strict=True):
        about, _ = what
        word = escaped(ABOUT.get(about, about.capitalize()))
        if about == "next" and isinstance(claim, str):
            said = _step(claim.removeprefix("Next: "))
        else:
            said = _sentence(claim)
        if to := evidence(about, there):
            word = f'<a href="#{to}">{word}</a>'
        label = f'<span class="sw-about">{word}</span> ' if word else ""
        words = (PLAIN | doubted).get(what, "") if found.index(what) == len(lines) else ""
        plainly = f' <span class="sw-plain">{words}</span>' if words else ""
        lines.append(
            f'<li class="sw-{about or "claim"}">{label}'
            f'<span class="sw-said">{said}</span>{plainly}</li>'
        )
    return "\n".join(['<ul class="sw-verdict">', *lines, "</ul>"])


def _step(text: str) -> str:
    """What comes next: commands and calls as code, prose as prose.

    >>> print(_step("save it with -o x.json, then scorewise show x.json"))
    save it with -o x.json, then <code>scorewise show x.json</code>
    >>> print(_step("sw.Recalibrator().fit(s, y) repairs it"))
    <code>sw.Recalibrator().fit(s, y)</code> repairs it
    """
    lines, at = [], 0
    for found in STEP.finditer(text):
        lines += [escaped(text[at : found.start()]), f"<code>{escaped(found[0])}</code>"]
        at = found.end()
    return "".join([*lines, escaped(text[at:])])


def _body(s: Section, title: str, page: Page, plainly: bool = False) -> list[str]:
    """What stands below the title of a section."""
    parts = [] if plainly else [_figures(s.figures)] if s.figures else []
    parts += [_facts(s.facts)] if s.facts else []
    if s.matrices:
        made = [_matrix(m, i, page) for i, m in enumerate(s.matrices)]
        parts += made if plainly else ['<div class="sw-matrices">', *made, "</div>"]
    if s.table:
        shown = _table(s.table, title, plainly, s.anchor == "slices")
        parts += [shown] if plainly else [_scroll(shown, title)]
        parts += [_notes(remarks)] if (remarks := s.table.remarks("*")) else []
    parts += [_list(s.lines)] if s.lines else []
    return parts


def _scroll(table: str, title: str) -> str:
    """A table that is moved sideways where it is wider than the page, by keys too."""
    return f'<div class="sw-scroll" role="group" aria-label="{escaped(title)}" tabindex="0">{table}</div>'


def _list(lines: Iterable[Sentence]) -> str:
    return "<ul>" + "".join(f"<li>{_sentence(line)}</li>" for line in lines) + "</ul>"


def _notes(lines: Sequence[str]) -> str:
    return f'<p class="sw-note">{escaped(" ".join(lines))}</p>'


def _facts(facts: Sequence[tuple[str, Sentence]]) -> str:
    """A list of keys and sentences; what has no key goes on below the one before."""
    lines: list[str] = []
    for key, fact in facts:
        head = f"<dt>{escaped(key)}</dt>" if key or not lines else ""
        lines.append(f"{head}<dd>{_sentence(fact)}</dd>")
    return "\n".join(["<dl>", *lines, "</dl>"])


def _figures(figures: Sequence[Figure]) -> str:
    scale = SCALE if len(figures) < 3 else ABREAST
    drawn = (_figure(f, scale) for f in figures)
    return "\n".join(['<div class="sw-figures">', *drawn, "</div>"])


def _figure(f: Figure, scale: float) -> str:
    data = ""
    if f.table:
        table = _table(_thinned(f.table), f.title, plainly=True)
        # all are numbers, and there are many of them
        table = re.sub(
            '<th scope="row">(.*?)</th>', r"<td>\1</td>", table.replace(' class="n"', "")
        )
        data = f"<details><summary>Data as a table</summary>{_scroll(table, f.title)}</details>"
    caption = f"<figcaption><b>{_words(f.title)}.</b> {_words(f.description)}</figcaption>"
    svg = f.svg()
    drawn = SIZES.sub(partial(_sized, scale=scale), svg)
    size = SIZES.search(svg)
    if size and float(size[2]) > WIDE:
        drawn = _scroll(drawn, f.title).replace("sw-scroll", "sw-scroll sw-wide", 1)
    return f'<figure data-kind="{escaped(f.kind)}">{drawn}{caption}{data}</figure>'


def _sized(found: re.Match[str], scale: float) -> str:
    """The size of a drawing; those of a row are all to one scale, so that their words have one size."""
    wide, high = (scale * float(x) for x in found.group(2, 3))
    return f'{found[1]} width="{wide:.0f}" height="{high:.0f}"'


def _thinned(table: Table) -> Table:
    """The same, of a long one every other row and the last: the figure itself shows them all."""
    if len(table.rows) <= ROWS:
        return table
    rows: list[Sequence[Any] | Heading] = []
    for title, part in table.groups():
        rows += [Heading(title)] if title else []
        rows += part[::2] if len(part) % 2 else [*part[::2], part[-1]]
    return replace(table, rows=rows)


def _matrix(m: Matrix, at: int, page: Page) -> str:
    """Labels against decisions; the threshold moves the counts."""
    settings = getattr(getattr(page.document, "evaluation", page.document), "settings", None)
    threshold = getattr(settings, "threshold", None)
    cut = "" if threshold is None else f' at <span data-threshold-value="">{threshold:g}</span>'
    names = ["—" if c is None else _name(c) for c in m.classes]
    lines = [
        f'<table class="sw-matrix"><caption>Decisions of {_name(m.model)}{cut}</caption>',
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


def _table(table: Table, title: str, plainly: bool = False, grouped: bool = False) -> str:
    """A table with a body for each group of rows; texts left, numbers right.

    `grouped` says that each row is a group of the data, which can be picked out.
    """
    at = table.apart
    columns = [table.columns[i] for i in at]
    sortable = "" if plainly or table.rates else " data-sortable"
    lines = [
        f"<table{sortable}><caption>{escaped(title)}</caption>" if title else f"<table{sortable}>"
    ]
    heads = "".join(
        f'<th scope="col"{_side(c)}>{_sentence(c.title)}</th>' if c.title else "<td></td>"
        for c in columns
    )
    lines.append(f"<thead><tr>{heads}</tr></thead>")
    rates = iter(table.rates)
    for head, rows in table.groups():
        lines.append("<tbody>")
        if head:
            across = f'<th scope="rowgroup" colspan="{len(columns)}">{escaped(head)}</th>'
            lines.append(
                f'<tr class="sw-group">{across}</tr>' if not plainly else f"<tr>{across}</tr>"
            )
        for row in rows:
            moves = next(rates, "")
            cells = [
                _cell(row[i] if i < len(row) else "", table.columns[i], k, moves, plainly)
                for k, i in enumerate(at)
            ]
            of = (
                f' data-group="{escaped(row[0])}"'
                if grouped and table.columns[0].format == "name"
                else ""
            )
            lines.append(f"<tr{of}>{''.join(cells)}</tr>")
        lines.append("</tbody>")
    return "\n".join([*lines, "</table>"])


def _side(c: Column) -> str:
    """Numbers are set right."""
    return "" if c.left and c.format != "compared" else ' class="n"'


def _cell(cell: Any, c: Column, at: int, moves: str, plainly: bool) -> str:
    """A cell, with its number for sorting, and with what it shows of which model where it moves."""
    kind, _, rate = moves.rpartition("@")
    if at == 0:
        shown = _shown(cell, c, plainly)
        if kind:  # the prevalence is the last word
            before, _, share = shown.rpartition(" ")
            shown = f'{before} <span data-prevalence-value="">{share}</span>'
        return f'<th scope="row"{_side(c)}>{shown}</th>'
    hooks = ""
    if moves:
        hooks = f' data-{kind or "rate"}="{rate}" data-model="{at - 1}"'
    elif not plainly and (number := _number(cell, c)) is not None:
        hooks = f' data-value="{number:.6g}"'
    return f"<td{hooks or _side(c)}>{_shown(cell, c, plainly)}</td>"  # what has hooks is set right


ALONE = re.compile(r"\[[^\]]*\]")  # an interval, which is not broken into lines
BEHIND = re.compile(r"^(\S+?\*?) ?(\[[^\]]*\].*)$")  # a value, and its interval


def _shown(cell: Any, c: Column, plainly: bool) -> str:
    """A cell as text: a winner in bold, an interval apart from its value, a reason in italics."""
    if c.format == "interval or reason" and not isinstance(cell, str | None):
        return _limits(cell, plainly)
    if c.format == "compared" and not isinstance(cell, str | None):
        e = cell.estimate
        shown = f"<b>{escaped(value(e))}*</b>" if cell.best else escaped(value(e))
        return f"{shown} {_limits(e, plainly)}".rstrip()
    text = written(cell, c.format).rstrip()
    if c.format == "name":
        return _name(text)
    if ALONE.fullmatch(text):
        return _interval(text, plainly)
    if parts := BEHIND.match(text):
        return f"{escaped(parts[1])} {_interval(parts[2], plainly)}"
    return escaped(text)


def _limits(e: Any, plainly: bool) -> str:
    return f"<em>{escaped(e.why)}</em>" if e.why else _interval(limits(e), plainly)


def _interval(text: str, plainly: bool) -> str:
    return escaped(text) if plainly or not text else f'<span class="ci">{escaped(text)}</span>'


def _number(cell: Any, c: Column) -> float | None:
    """The number that a cell is sorted by."""
    if isinstance(cell, str):
        found = re.match(r"[<≤]?(-?[\d,]*\.?\d+(?:e[+-]?\d+)?)", cell)
        return float(found[1].replace(",", "")) if found and not c.left else None
    cell = getattr(cell, "estimate", cell)
    x = getattr(
        cell,
        {"interval": "low", "baseline": "baseline", "skill": "skill"}.get(c.format, "value"),
        cell,
    )
    return float(x) if isinstance(x, int | float) and x == x else None


def _methods(page: Page, sections: Sequence[Section], names: Mapping[str, str]) -> str:
    """What the numbers depend on, how to cite, and the document itself."""
    doc = page.document
    lines = [
        '<section id="methods" aria-labelledby="methods-title">',
        '<h2 id="methods-title">Methods</h2>',
    ]
    lines += [line for s in sections for line in _titled(s, "Methods", page)]
    lines += [_list(page.footnotes)] if page.footnotes else []
    if names:
        told = "".join(
            f"<dt>{_name(short)}</dt><dd>{_name(whole)}</dd>" for short, whole in told_whole(names)
        )
        lines.append(f"<h3>Names that are cut on this page</h3>\n<dl>{told}</dl>")
    if doc is not None:
        text, packed = _packed(doc)
        left = "the points of the curves"
        if len(packed) > HEAVY:
            text, packed = _packed(doc, SEVERAL)
            left += f" and lists of more than {SEVERAL} groups, classes or pairs"
        seal = hashlib.sha256(text.encode()).hexdigest()
        lines.append(
            f'<p><a download="scorewise-{escaped(page.command)}.json.gz" '
            f'href="data:application/gzip;base64,{packed}">Download the numbers as JSON</a> '
            f"(compressed; to {CARRIED} digits, without {left}, which --json has; "
            f"SHA-256 {seal}). "
            f"<code>scorewise schema {escaped(page.command)}</code> says what its fields mean.</p>"
        )
    told = f"scorewise {getattr(doc, 'scorewise', __version__)}, Python {platform.python_version()}"
    made = f"{told}, numpy {version('numpy')}, scipy {version('scipy')}"
    cite = f"The scorewise developers. scorewise (version {__version__}). Software, Apache-2.0."
    lines.append(_facts([("Made by", made), ("To cite", cite)]))
    return "\n".join([*lines, "</section>"])


CARRIED = 5  # digits of the numbers that a report carries along
ROWS = 16  # of the table of a figure, from which on it is thinned
POINTS = 50  # numbers in a row from which on they are the points of a curve
HEAVY, SEVERAL = 100_000, 50  # bytes carried, from which on lists longer than this are left out


def _packed(doc: Any, most: int | None = None) -> tuple[str, str]:
    """A document as JSON, and compressed for a link."""
    text = json.dumps(_carried(to_dict(doc), most), ensure_ascii=False, allow_nan=False)
    return text, base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _carried(item: Any, most: int | None = None) -> Any:
    """A document as JSON has it, small: curves are drawn, and digits beyond use are left out."""
    if isinstance(item, dict):
        return {key: _carried(x, most) for key, x in item.items()}
    if isinstance(item, list):
        long = len(item) > POINTS and _is_number(item[-1])
        long = long or (most is not None and len(item) > most and isinstance(item[-1], dict))
        return [] if long else [_carried(x, most) for x in item]
    return float(f"{item:.{CARRIED}g}") if isinstance(item, float) else item


def _is_number(x: Any) -> bool:
    return isinstance(x, int | float)
