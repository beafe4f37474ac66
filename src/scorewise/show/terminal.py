"""The document as a table in the terminal."""

from __future__ import annotations

import io
from collections.abc import Sequence

from rich.cells import cell_len
from rich.console import Console, Group
from rich.text import Text

from scorewise import __version__
from scorewise.show import words
from scorewise.show.layout import (
    GAP,
    Column,
    aligned,
    beside,
    cells,
    fold,
    headings,
    pairs,
    row,
    rule,
    spread,
)
from scorewise.show.page import Page, Table
from scorewise.show.pages import page_of
from scorewise.show.words import Document, plain, quoted

WIDTH = 80
BAR = 8
LONGEST_LABEL = 12
BASELINE = "Baseline: what chance or the best constant prediction would get."
CALIBRATED = "Under Calibration: what calibrated scores would get on average."


def print_document(doc: Document, console: Console) -> None:
    """Print the document over the width of the console."""
    console.print(table(doc, console.width))


def text(doc: Document, width: int = WIDTH) -> str:
    """The table as plain text."""
    console = Console(file=io.StringIO(), width=width, color_system=None, highlight=False)
    with console.capture() as capture:
        print_document(doc, console)
    return capture.get().rstrip("\n")


def table(doc: Document, width: int | None = None) -> Group:
    """The document as lines that fit the width (80 unless told): data, measures, hints."""
    width = width or WIDTH
    if page := page_of(doc):
        lines = page_lines(page, width)
    else:
        body = _single(doc, width) if len(doc["models"]) == 1 else _several(doc, width)
        lines = [
            *_header(doc, width),
            Text(),
            *body,
            *_differences(doc, width),
            *_hints(doc, width),
        ]
    # whatever made them, no line leaves with a control in it
    return Group(*(x if x.plain.isprintable() else Text(plain(x.plain)) for x in lines))


def page_lines(page: Page, width: int) -> list[Text]:
    """The sections below each other, at most so wide."""
    title = Text.assemble(("scorewise", "bold"), f" {plain(__version__)} {plain(page.command)}")
    lines = [title]
    for section in page.sections:
        lines += [Text(), *([rule(plain(section.title), width)] if section.title else [])]
        lines += pairs([(plain(key), plain(fact)) for key, fact in section.facts], width)
        lines += _table_lines(section.table, width) if section.table else []
        lines += pairs([("•", plain(line)) for line in section.lines], width, "yellow")
    return lines


def _table_lines(table: Table, width: int) -> list[Text]:
    """The table; a row of one cell heads those below, across all columns."""
    texts = [[plain(cell) for cell in line] for line in table.texts()]
    body = [line for line in texts if len(line) == len(table.columns)]
    columns = [
        Column([plain(c.title)], cells([line[i] for line in body]), right=c.format != "text")
        for i, c in enumerate(table.columns)
    ]
    over = spread([c.width for c in columns]) - width
    long = max((i for i, c in enumerate(columns) if not c.right), default=None)
    if over <= 0 or long is None:
        top = headings(columns, "dim")
        blocks = [[row(columns, [c.cells[k] for c in columns])] for k in range(len(body))]
    else:
        top, blocks = _folded(columns, long, max(columns[long].width - over, 12))
    lines, rest = top, iter(blocks)
    for line in texts:
        headed = len(line) < len(columns)
        lines += [Text(part) for part in fold(line[0], width)] if headed else next(rest)
    return lines


def _folded(columns: list[Column], long: int, room: int) -> tuple[list[Text], list[list[Text]]]:
    """The headings and rows of a table with one column folded to the room that is left."""
    parts = [fold(cell.plain.rstrip(), room) or [""] for cell in columns[long].cells]
    narrow = list(columns)
    widest = max(cell_len(part) for folded in parts for part in folded)
    heading = [h[:room] for h in columns[long].heading]
    narrow[long] = Column(heading, cells([" " * max(widest, 1)]))
    start = sum(c.width + GAP for c in narrow[:long])
    blocks = []
    for k, (first, *rest) in enumerate(parts):
        whole = [Text(first) if i == long else c.cells[k] for i, c in enumerate(columns)]
        blocks.append([row(narrow, whole), *(Text(" " * start + part) for part in rest)])
    return headings(narrow, "dim"), blocks


def _header(doc: Document, width: int) -> list[Text]:
    models = doc["models"]
    facts = words.data_facts(doc, quoted, plain)
    for model in models:
        scores, decision = words.model_facts(model)
        name = quoted(model["name"]) + ": "
        facts += [("Model" if model is models[0] else "", name + scores[1]), ("", decision[1])]
    boxes = [_matrix(doc, model, named=len(models) > 1) for model in models]
    title = Text.assemble(("scorewise", "bold"), f" {plain(doc['scorewise'])} {doc['command']}")
    return [title, Text(), *pairs(facts, width), Text(), *beside(boxes, width)]


def _matrix(doc: Document, model: Document, named: bool) -> list[Text]:
    """The confusion matrix, small: truth down the side, decision across."""
    labels = [_label(doc["data"], side) for side in ("positive", "negative")]
    table = model["confusion"]
    counts = [[words.amount(table[k]) for k in line] for line in (("tp", "fn"), ("fp", "tn"))]
    wide = max(cell_len(text) for text in [*labels, *counts[0], *counts[1]])
    side = max(map(cell_len, labels))
    line = "─" * (wide + 2)
    above = "   ".join(" " * (wide - cell_len(text)) + text for text in labels)
    lines = [
        Text(" " * (side + 9) + "decided", "dim"),
        Text(f"{'true':<6}", "dim") + Text(" " * (side + 3) + above, "not dim"),
        Text(" " * (side + 7) + f"┌{line}┬{line}┐", "dim"),
    ]
    for label, (left, right) in zip(labels, counts, strict=True):
        cell = Text(" " * (6 + side - cell_len(label)) + label + " ")
        cell.append("│", "dim").append(f" {left:>{wide}} ").append("│", "dim")
        lines.append(cell.append(f" {right:>{wide}} ").append("│", "dim"))
    lines.append(Text(" " * (side + 7) + f"└{line}┴{line}┘", "dim"))
    title = [Text(part, "bold") for part in fold(plain(model["name"]), side + 2 * wide + 14)]
    return [*title, *lines] if named else lines


def _label(data: Document, side: str) -> str:
    label = side if data[side] is None else plain(data[side])
    return label if 0 < cell_len(label) <= LONGEST_LABEL else side


def _single(doc: Document, width: int) -> list[Text]:
    """One row a measure: value, interval, baseline, skill, and the method where there is room."""
    model = doc["models"][0]
    groups = words.grouped([model])
    measures = [m for _, ms in groups for m in ms]
    optional = [
        Column(["baseline"], cells(aligned([words.baseline(m) for m in measures])), True),
        Column(["skill"], [_skill(m, 0) for m in measures]),
        Column(["skill"], [_skill(m, BAR) for m in measures]),
        Column(["method"], cells([plain(m["method"]) for m in measures], "dim")),
    ]
    columns = [
        Column([""], cells(_names(measures, width))),
        Column(["value"], cells(aligned([words.value(m) for m in measures]), "bold"), True),
        Column([f"{words.percent(doc['settings']['level'])} interval"], _intervals(measures)),
    ]
    for extras in ((0, 2, 3), (0, 2), (0, 1), (0,)):
        fuller = columns + [optional[i] for i in extras]
        if spread([c.width for c in fuller]) <= width:
            columns = fuller
            break
    used = min(width, max(spread([c.width for c in columns]), WIDTH))
    lines = headings(columns, "dim")
    at = 0
    for title, ms in groups:
        lines.append(rule(title, used))
        for measure in ms:
            lines += _line(columns, at, measure["why"], used)
            at += 1
    skill = "Skill: share of the way from there to the best value."
    calibrated = [CALIBRATED] if any(m.get("expected") is not None for m in measures) else []
    return [*lines, *_legend(doc, width, BASELINE, *calibrated, skill)]


def _line(columns: Sequence[Column], at: int, why: str, width: int) -> list[Text]:
    """A row; where there is no value, its reason takes the room of the interval and beyond."""
    if not why:
        return [row(columns, [c.cells[at] for c in columns])]
    start = spread([c.width for c in columns[:2]]) + 2
    first, *rest = fold(plain(why), width - start)
    head = row(columns[:2], [c.cells[at] for c in columns[:2]])
    head.append(" " * (start - head.cell_len)).append(first, "dim")
    return [head, *(Text(" " * start + part, "dim") for part in rest)]


def _several(doc: Document, width: int) -> list[Text]:
    """Models side by side, as many as fit, then continued in a further table."""
    models = doc["models"]
    groups = words.grouped(models)
    measures = [m for _, ms in groups for m in ms]
    names = Column([""], cells(_names(measures, width)))
    bests = {m["name"]: words.best(models, m["name"]) for m in measures}
    columns = [_model_column(model, i, measures, bests) for i, model in enumerate(models)]
    common = words.baselines(models, measures)
    base = [Column(["baseline"], cells(aligned(common), "dim"), right=True)] if common else []
    level = words.percent(doc["settings"]["level"])
    legend = ["*: the best point value.", f"Brackets: {level} interval."]
    lines: list[Text] = []
    start = 0
    while start < len(columns):
        stop = start + 1
        while stop < len(columns) and _fits(names, columns[start : stop + 1], width):
            stop += 1
        chunk = [names, *columns[start:stop]]
        if base and _fits(names, [*columns[start:stop], *base], width):
            chunk += base
            legend[2:] = [BASELINE]
        used = min(width, max(spread([c.width for c in chunk]), WIDTH))
        lines += [Text()] if lines else []
        lines += _rows(chunk, groups, models[start:stop], used)
        start = stop
    return [*lines, *_legend(doc, width, *legend)]


def _rows(
    columns: Sequence[Column],
    groups: Sequence[tuple[str, list[Document]]],
    models: Sequence[Document],
    width: int,
) -> list[Text]:
    lines = headings(columns, "bold")
    at = 0
    for title, ms in groups:
        lines.append(rule(title, width))
        for measure in ms:
            lines.append(row(columns, [c.cells[at] for c in columns]))
            lines += _remarks(models, measure["name"], width)
            at += 1
    return lines


def _remarks(models: Sequence[Document], name: str, width: int) -> list[Text]:
    """Why models lack a value, and what coarsening left open; each said once."""
    remarks: dict[str, list[str]] = {}
    for model in models:
        measure = words.find(model, name)
        remark = plain(measure["why"]) or words.bound(measure) if measure is not None else ""
        if remark:
            remarks.setdefault(remark, []).append(plain(model["name"]))
    texts = [f"{', '.join(who)}: {remark}" for remark, who in remarks.items()]
    return [Text("   " + part, "dim") for text in texts for part in fold(text, width - 3)]


def _fits(names: Column, columns: Sequence[Column], width: int) -> bool:
    return spread([c.width for c in (names, *columns)]) <= width


def _model_column(
    model: Document, at: int, measures: Sequence[Document], bests: dict[str, int | None]
) -> Column:
    found = [words.find(model, m["name"]) for m in measures]
    values = aligned([words.value(m) if m else "" for m in found])
    texts = []
    for measure, value in zip(found, values, strict=True):
        mine = measure is not None and bests[measure["name"]] == at
        text = Text(value, "bold" if mine else "").append("*" if mine else " ")
        texts.append(text + Text(f" {words.interval(measure)}" if measure else "", "none"))
    wide = max(text.cell_len for text in texts)
    return Column(fold(plain(model["name"]), max(wide, 12)), texts)


def _names(measures: Sequence[Document], width: int) -> list[str]:
    # our own titles are short; of a longer one from elsewhere the beginning must do
    most = max(8, width // 2 - 8)
    titles = [plain(m["title"]) for m in measures]
    return [" " + (t if len(t) <= most else t[: most - 1] + "…") for t in titles]


def _intervals(measures: Sequence[Document]) -> list[Text]:
    texts = []
    for measure in measures:
        text = Text(words.interval(measure))
        half = words.bound(measure)
        texts.append(text.append(f" {half}" if half else "", "dim"))
    return texts


def _skill(measure: Document, bar: int) -> Text:
    """A small bar and the percentage; the p-value of a measure of calibration."""
    skill, p = measure["skill"], measure.get("p")
    if skill is None:
        return Text("" if p is None else words.chance(p))
    full = round(bar * min(max(skill, 0.0), 1.0))
    text = Text.assemble(("━" * full, "cyan"), ("─" * (bar - full), "dim"))
    gap = " " if bar else ""
    return text.append(f"{gap}{words.whole_percent(skill):>5}", "not dim")


def _differences(doc: Document, width: int) -> list[Text]:
    if not doc["differences"]:
        return []
    lines = [("•", line) for line in words.differences(doc, quoted)]
    return [Text(), Text("Differences, on the same rows", "bold"), *pairs(lines, width)]


def _hints(doc: Document, width: int) -> list[Text]:
    if not doc["hints"]:
        return []
    hints = [("•", plain(hint)) for hint in doc["hints"]]
    return [Text(), Text("Hints", "bold"), *pairs(hints, width, "yellow")]


def _legend(doc: Document, width: int, *said: str) -> list[Text]:
    if not all(model["exact"] for model in doc["models"]):
        said += ("±: certified half-width left by coarsening; the interval contains it.",)
    return [Text(), *cells(fold(" ".join(said), width), "dim")]
