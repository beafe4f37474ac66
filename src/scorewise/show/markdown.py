"""The document as GitHub-flavoured Markdown."""

from __future__ import annotations

from collections.abc import Sequence

from scorewise import __version__
from scorewise.show import words
from scorewise.show.page import Page, Table
from scorewise.show.pages import page_of
from scorewise.show.words import Document, code, escape, plain


def markdown(doc: Document) -> str:
    """Tables for a pull request: the data, the measures by group, hints and conventions."""
    page = page_of(doc)
    parts = _evaluated(doc) if page is None else page_parts(page)
    # whatever made them, no line leaves with a control in it
    return "\n".join(map(plain, "\n\n".join(parts).split("\n"))) + "\n"


def page_parts(page: Page) -> list[str]:
    """The paragraphs of a page."""
    parts = [f"### scorewise {page.command}"]
    for section in page.sections:
        parts += [f"**{escape(section.title)}**"] if section.title else []
        facts = [f"- {escape(key)}: {escape(fact)}" for key, fact in section.facts]
        lines = [f"- {escape(line)}" for line in section.lines]
        table = _table(section.table) if section.table else []
        parts += ["\n".join(some) for some in (facts, table, lines) if some]
    return [*parts, f"<sub>scorewise {escape(__version__)}</sub>"]


def _table(table: Table) -> list[str]:
    width = len(table.columns)
    head = [escape(c.title) for c in table.columns]
    sides = ["---" if c.format == "text" else "--:" for c in table.columns]
    rows = [[escape(cell) for cell in row] + [""] * (width - len(row)) for row in table.texts()]
    return [f"| {' | '.join(line)} |" for line in (head, sides, *rows)]


def _evaluated(doc: Document) -> list[str]:
    models = doc["models"]
    parts = [f"### scorewise {doc['command']}", "\n".join(_facts(doc))]
    for title, measures in words.grouped(models):
        rows = _single(doc, measures) if len(models) == 1 else _several(doc, measures)
        parts += [f"**{escape(title)}**", "\n".join(rows)]
    if doc["differences"]:
        lines = words.differences(doc, code)
        said = (f"- {line}" for line in lines)
        parts.append("\n".join(["**Differences, on the same rows**", "", *said]))
    if doc["hints"]:
        parts.append("\n".join(["**Hints**", "", *(f"- {escape(hint)}" for hint in doc["hints"])]))
    return [*parts, _footnote(doc)]


def _facts(doc: Document) -> list[str]:
    lines = [f"- {key}: {sentence}" for key, sentence in words.data_facts(doc, code, escape)]
    for model in doc["models"]:
        (_, scores), (_, decision) = words.model_facts(model)
        counts = model["confusion"]
        said = ", ".join(f"{words.amount(counts[k])} {k.upper()}" for k in ("tp", "fp", "fn", "tn"))
        lines.append(f"- Model {code(model['name'])}: {scores}; {decision}: {said}")
    return lines


def _single(doc: Document, measures: Sequence[Document]) -> list[str]:
    level = words.percent(doc["settings"]["level"])
    rows = [f"| Measure | Value | {level} interval | Baseline | Skill |", "|---|--:|---|--:|--:|"]
    for m in measures:
        ends = f"*{escape(m['why'])}*" if m["why"] else _ends(m)
        base = words.baseline(m)
        p = "" if m.get("p") is None else words.chance(m["p"])
        skill = p if m["skill"] is None else words.whole_percent(m["skill"])
        rows.append(f"| {escape(m['title'])} | {words.value(m)} | {ends} | {base} | {skill} |")
    return rows


def _several(doc: Document, measures: Sequence[Document]) -> list[str]:
    models = doc["models"]
    heads = " | ".join(code(model["name"]) for model in models)
    common = words.baselines(models, measures)
    head, line = ("", "") if common is None else (" Baseline |", "--:|")
    rows = [f"| Measure | {heads} |{head}", "|---|" + "---|" * len(models) + line]
    for at, measure in enumerate(measures):
        best = words.best(models, measure["name"])
        texts = [_cell(model, measure["name"], i == best) for i, model in enumerate(models)]
        texts += [] if common is None else [common[at]]
        rows.append(f"| {escape(measure['title'])} | {' | '.join(texts)} |")
    return rows


def _cell(model: Document, name: str, best: bool) -> str:
    measure = words.find(model, name)
    if measure is None:
        return ""
    if measure["why"]:
        return f"— *{escape(measure['why'])}*"
    value = words.value(measure)
    return f"{f'**{value}**' if best else value} {_ends(measure)}".strip()


def _ends(measure: Document) -> str:
    return " ".join(filter(None, (words.interval(measure), words.bound(measure))))


def _footnote(doc: Document) -> str:
    methods: dict[str, dict[str, None]] = {}
    for measure in (m for model in doc["models"] for m in model["measures"] if m["method"]):
        methods.setdefault(measure["method"], {})[measure["title"]] = None
    said = [f"{escape(how)} ({escape(', '.join(whom))})" for how, whom in methods.items()]
    settings = doc["settings"]
    clip = "" if settings["clip"] is None else f" Log loss clips at {settings['clip']:g}."
    bold = "" if len(doc["models"]) == 1 else " Bold: the best point value."
    coarse = any(not model["exact"] for model in doc["models"])
    half = " ±: certified half-width left by coarsening." if coarse else ""
    return (
        f"<sub>{words.percent(settings['level'])} intervals: {'; '.join(said) or 'none'}."
        f" Seed {settings['seed']}.{clip}{bold}{half} Ties count half; row order does not matter."
        " Baseline: what chance or the best constant prediction would get; skill: share of the way"
        f" from there to the best value. scorewise {escape(doc['scorewise'])}</sub>"
    )
