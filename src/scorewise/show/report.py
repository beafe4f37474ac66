"""The report of a document: one self-contained HTML file, legible without style sheet, script and network.

It has the sections of any document in one order, with figures, moving numbers and the document itself.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import json
import platform
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from types import MappingProxyType
from typing import Any

from scorewise import __version__
from scorewise.errors import BadInput
from scorewise.inference.scales import normal_quantile
from scorewise.show.document import cut_names, evaluation_in, full_names, page_of, to_dict
from scorewise.show.html import bullets, escaped, fact_list, name_html, section_body, sentence_html
from scorewise.show.page import Figure, Page, Section
from scorewise.show.words import Sentence, listed_names, sentence

# the sections in their order, and their titles
SECTIONS = {
    "verdict": "Verdict",
    "data": "Data",
    "summary": "Summary",
    "scores": "Scores",
    "ranking": "Ranking",
    "probabilities": "Probabilities",
    "threshold": "Threshold",
    "slices": "Groups",
    "comparison": "Comparison",
    "instances": "Instances",
    "drift": "Drift",
    "agreement": "Agreement",
    "recalibration": "Recalibration",
    "results": "Results",
    "missing": "Not in this report",
    "methods": "Methods",
}
# where what a command found stands, if its sections have no anchors
HOMES = {
    "agree": "agreement",
    "answers": "probabilities",
    "calibrate": "recalibration",
    "calibrate-classes": "recalibration",
    "compare": "comparison",
    "drift": "drift",
    "inspect": "instances",
    "judge": "agreement",
    "raters": "agreement",
    "smroc": "ranking",
    "threshold": "threshold",
}
# where the evidence of a sentence is, the first of those that there are
EVIDENCE = {
    "data": ("data",),
    "ranking": ("ranking", "summary"),
    "decisions": ("threshold", "summary"),
    "probabilities": ("probabilities", "summary"),
    "repair": ("recalibration", "probabilities"),
    "models": ("comparison", "summary"),
    "agreement": ("agreement",),
    "coefficient": ("agreement",),
    "raters": ("agreement",),
    "trust": ("probabilities", "agreement"),
    "groups": ("slices", "agreement", "drift"),
    "change": ("drift",),
    "labels": ("instances",),
}
DATA_BELOW = ("forest_", "differences", "suspects")  # figures whose data the table below them has
# figures of what a report has as tables that move, and those that many others leave no room for
TABLE_INSTEAD = ("confusion", "threshold_curves")
IF_ALONE = ("recalibration", "forest_calibration_slope")
# commands and calls within a sentence on what comes next
STEP = re.compile(r"(?:^|(?<=then ))scorewise .*$|(?:^|(?<= ))\w+(?:[.]\w+|\([^()]*\))*\([^()]*\)")
# findings that take words of the field, in those of everyday
PLAIN = {
    ("probabilities", "overconfident"):
        "It is too sure of itself: its high probabilities should be lower, its low ones higher.",
    ("probabilities", "underconfident"):
        "It is not sure enough: its high probabilities should be higher, its low ones lower.",
    ("probabilities", "too low"): "What it predicts happens more often than it says.",
    ("probabilities", "too high"): "What it predicts happens less often than it says.",
    ("repair", "helps"):
        "A map learnt from rows with known outcomes corrects the probabilities; no new model is needed.",
}  # fmt: skip
DOUBTED = (
    "Scores that are too sure contradict many labels: recalibrate before you doubt the labels."
)
ABOUT = {"models": "Models", "repair": "Repair", "next": "Next", "data": "Data"}
# where neither models nor files have names
TITLES = {
    "agree": "Agreement of raters",
    "answers": "Answers and their confidence",
    "drift": "Drift of the current sample",
    "judge": "Judges beside humans",
}
DIGITS = 5  # of the numbers in the document that a report has
POINTS = 50  # numbers in a row from which on they are the points of a curve
# bytes of that document from which on lists of more items are left out
MAX_BYTES, MAX_ITEMS = 100_000, 50


@dataclass(frozen=True)
class Part:
    """A section of the report, and what stands in it."""

    anchor: str
    title: str
    sections: Sequence[Section]


def html(doc: Any) -> str:
    """The report of a document: its sentences, then its sections with figures, tables and methods."""
    page = page_of(doc)
    short, names = cut_names(to_dict(page.document))
    page = page_of(short) if names else page
    parts = report_parts(page)
    title = heading(page.document, page)
    script = asset("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; img-src data:; "
        f"base-uri 'none'; form-action 'none'"
    )
    moving = json.dumps(
        to_dict(payload(page.document)), ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    for mark in "<>&\u2028\u2029":  # which a parser of HTML takes for markup
        moving = moving.replace(mark, f"\\u{ord(mark):04x}")
    links = "".join(f'<li><a href="#{p.anchor}">{escaped(p.title)}</a></li>' for p in parts)
    return f"""\
<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="scorewise {__version__}">
<title>{escaped(sentence(title, str))} · scorewise {escaped(page.command)}</title>
<style>
{style()}</style>
</head>
<body class="sw-page">
<a class="sw-skip" href="#scorewise">Skip to the report</a>
<header class="sw-head">
<p class="sw-brand">scorewise {escaped(page.command)}</p>
<h1>{sentence_html(title)}</h1>
</header>
<nav class="sw-nav" aria-label="Sections"><ul>{links}</ul></nav>
{main(page, parts, names)}
<script type="application/json" id="scorewise-data">{moving}</script>
<script>{script}</script>
</body>
</html>
"""


def main(page: Page, parts: Sequence[Part], names: Mapping[str, str] = MappingProxyType({})) -> str:
    """The sections, in the element that the script brings to life."""
    anchors, lines = [part.anchor for part in parts], []
    for part in parts:
        lines.append(f'<section id="{part.anchor}" aria-labelledby="{part.anchor}-title">')
        lines.append(f'<h2 id="{part.anchor}-title">{escaped(part.title)}</h2>')
        for s in part.sections:
            lines += [_verdict(s.verdict, anchors)] if s.verdict else []
            lines += _titled(s, part.title, page)
        lines += _methods(page, names) if part.anchor == "methods" else []
        lines.append("</section>")
    return "\n".join(['<main id="scorewise" tabindex="-1">', *lines, "</main>"])


def style() -> str:
    """The style sheet: what the script adds first, then the page's own; without needless spaces."""
    css = asset("bar.css") + asset("report.css")
    return re.sub(r"\s*([\n{};,])\s*", r"\1", css).replace("\n", "")


def asset(name: str) -> str:
    """The style sheet or the script that ships with the package."""
    return files("scorewise.show").joinpath("assets", name).read_text("utf-8")


# What stands where.


def report_parts(page: Page) -> list[Part]:
    """The sections of the report of what a page shows, in their order; those with nothing are left out."""
    doc = page.document
    page = page if doc is None else doc.report()
    home = HOMES.get(page.command.partition(" ")[0], "results")
    by_anchor: dict[str, list[Section]] = {}
    for section in page.sections:
        # what was judged comes first: facts without a title
        opening = section.facts and not (
            section.title or section.table or section.lines or section.matrices
        )
        by_anchor.setdefault(section.anchor or ("data" if opening else home), []).append(section)
    titles, classes = SECTIONS, getattr(evaluation_in(doc), "classes", None)
    if isinstance(classes, list) and classes:  # of several, the highest score decides
        titles = SECTIONS | {"threshold": "Decisions"}
    figures: dict[str, list[Figure]] = {}
    for anchor, drawn in figures_of(doc).items():
        at = "threshold" if anchor == "slices" and anchor not in by_anchor and classes else anchor
        figures.setdefault(at, []).extend(drawn)
    for at, drawn in figures.items():
        by_anchor.setdefault(at, []).insert(0, Section(figures=drawn))
    by_anchor.setdefault("methods", [])  # which every report tells
    return [Part(a, title, by_anchor[a]) for a, title in titles.items() if a in by_anchor]


def figures_of(doc: Any) -> dict[str, list[Figure]]:
    """The figures that a document yields, by the section that they stand in."""
    if doc is None:
        return {}
    draw = import_module("scorewise.figures").figures_of  # by name: no view depends on another
    several = hasattr(doc, "others") and any(doc.others())
    omitted = {*TABLE_INSTEAD, *(IF_ALONE if several else ())}
    if getattr(evaluation_in(doc), "classes", None):
        omitted.discard("confusion")  # of several classes, shades show more
    shown: dict[str, list[Figure]] = {}
    for home, f in ((home, f) for home, drawn in draw(doc).items() for f in drawn):
        if f.kind not in omitted:
            f = replace(f, table=None) if f.kind.startswith(DATA_BELOW) else f
            shown.setdefault(home, []).append(f)
    return shown


def heading(doc: Any, page: Page) -> list[str]:
    """What the report is about, in a few words: whose scores, on which files."""
    of = evaluation_in(doc)
    models = [m.name for m in getattr(of, "models", ()) if of.command in ("evaluate", "compare")]
    samples = [getattr(of, "reference", None), *getattr(of, "windows", ())]
    sources = getattr(getattr(of, "data", None), "sources", None) or [
        path for sample in samples for path in getattr(sample, "sources", ())
    ]
    files = [path.replace("\\", "/").rpartition("/")[2] for path in sources]
    on = [" on "] if models and files else []
    title = [*listed_names(models), *on, *listed_names(files, 2)]
    return title or [TITLES.get(page.command, page.command)]


def payload(doc: Any) -> dict[str, Any]:
    """What moves with the threshold: the counts of each model over thresholds, where there are curves."""
    of = evaluation_in(doc)
    curves = getattr(of, "curves", None) or []
    moving: dict[str, Any] = {"version": 1, "models": [], "groups": []}
    if getattr(of, "command", "") != "evaluate" or not curves or of.classes:
        return moving
    data, s = of.data, of.settings
    up, down = data.weight_positives or 0.0, data.weight_negatives or 0.0
    kinds = {model.name: model.kind for model in of.models}
    counted = data.weight is None and of.clusters is None
    moving |= {
        "level": s.level,
        "z": normal_quantile(s.level),
        "threshold": s.threshold,
        "prevalence": up / (up + down) if up + down else None,
        "positive": str(data.positive),
    }
    moving["models"] = [
        {
            "name": c.model,
            "kind": kinds.get(c.model),
            "positives": up,
            "negatives": down,
            "intervals": counted,
            **{key: getattr(c, key) for key in ("threshold", "tp", "fp")},
            **{key: [round(x, 4) for x in getattr(c, key)] for key in ("smroc_x", "smroc_y")},
        }
        for c in curves
    ]
    moving["groups"] = [g.name for g in of.groups[0].groups] if of.groups else []
    return moving


# Parts of the page.


def _titled(s: Section, within: str, page: Page) -> list[str]:
    """A section below its title, closed where it may be; without a title, a part of the one around."""
    body = section_body(s, s.title or within, page)
    if s.folded and body:
        return ["<details>", f"<summary>{escaped(s.title)}</summary>", *body, "</details>"]
    return [*([f"<h3>{escaped(s.title)}</h3>"] if s.title not in ("", within) else []), *body]


def _verdict(claims: Sequence[Sentence], anchors: Sequence[str]) -> str:
    """The sentences, each beside a link to what it rests on; commands as code."""
    lines: list[str] = []
    kinds = [(getattr(c, "about", ""), getattr(c, "finding", "")) for c in claims]
    overconfident = ("probabilities", "overconfident") in kinds
    plain = PLAIN | ({("labels", "more than expected"): DOUBTED} if overconfident else {})
    for claim, what in zip(claims, kinds, strict=True):
        about, _ = what
        word = escaped(ABOUT.get(about, about.capitalize()))
        if about == "next" and isinstance(claim, str):
            text = _step(claim.removeprefix("Next: "))
        else:
            text = sentence_html(claim)
        if to := next((a for a in EVIDENCE.get(about, ()) if a in anchors), ""):
            word = f'<a href="#{to}">{word}</a>'
        label = f'<span class="sw-about">{word}</span> ' if word else ""
        words = plain.get(what, "") if kinds.index(what) == len(lines) else ""
        plainly = f' <span class="sw-plain">{words}</span>' if words else ""
        lines.append(
            f'<li class="sw-{about or "claim"}">{label}'
            f'<span class="sw-said">{text}</span>{plainly}</li>'
        )
    return "\n".join(['<ul class="sw-verdict">', *lines, "</ul>"])


def _step(text: str) -> str:
    """What comes next: commands and calls as code, prose as prose.

    >>> print(_step("save it with -o x.json, then scorewise show x.json"))
    save it with -o x.json, then <code>scorewise show x.json</code>
    >>> print(_step("sw.Recalibrator().fit(s, y) repairs it"))
    <code>sw.Recalibrator().fit(s, y)</code> repairs it
    """
    parts, at = [], 0
    for found in STEP.finditer(text):
        parts += [escaped(text[at : found.start()]), f"<code>{escaped(found[0])}</code>"]
        at = found.end()
    return "".join([*parts, escaped(text[at:])])


def _methods(page: Page, names: Mapping[str, str]) -> list[str]:
    """What the numbers depend on, how to cite, and the document itself."""
    doc = page.document
    lines = [bullets(page.footnotes)] if page.footnotes else []
    if names:
        pairs = "".join(
            f"<dt>{name_html(short)}</dt><dd>{name_html(name)}</dd>"
            for short, name in full_names(names)
        )
        lines.append(f"<h3>Names that are cut on this page</h3>\n<dl>{pairs}</dl>")
    if doc is not None:
        text, packed = _packed(doc)
        omitted = "the points of the curves"
        if len(packed) > MAX_BYTES:
            text, packed = _packed(doc, MAX_ITEMS)
            omitted += f" and lists of more than {MAX_ITEMS} groups, classes or pairs"
        digest = hashlib.sha256(text.encode()).hexdigest()
        lines.append(
            f'<p><a download="scorewise-{escaped(page.command)}.json.gz" '
            f'href="data:application/gzip;base64,{packed}">Download the numbers as JSON</a> '
            f"(compressed; to {DIGITS} digits, without {omitted}, which --json has; "
            f"SHA-256 {digest}). "
            f"<code>scorewise schema {escaped(page.command)}</code> says what its fields mean.</p>"
        )
    versions = (
        f"scorewise {getattr(doc, 'scorewise', __version__)}, Python {platform.python_version()}, "
        f"numpy {version('numpy')}, scipy {version('scipy')}"
    )
    cite = f"The scorewise developers. scorewise (version {__version__}). Software, Apache-2.0."
    return [*lines, fact_list([("Made by", versions), ("To cite", cite)])]


def _packed(doc: Any, most: int | None = None) -> tuple[str, str]:
    """A document as JSON, and compressed for a link."""
    text = json.dumps(_carried(to_dict(doc), most), ensure_ascii=False, allow_nan=False)
    return text, base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def _carried(item: Any, most: int | None) -> Any:
    """A document as JSON has it, small: curves are drawn, and digits beyond use are left out."""
    if isinstance(item, dict):
        return {key: _carried(x, most) for key, x in item.items()}
    if isinstance(item, list):
        curve = len(item) > POINTS and isinstance(item[-1], int | float)
        many = most is not None and len(item) > most and isinstance(item[-1], dict)
        return [] if curve or many else [_carried(x, most) for x in item]
    return float(f"{item:.{DIGITS}g}") if isinstance(item, float) else item


def widget(doc: Any) -> Any:
    """The report of a document as a widget; its `threshold` follows the page, and the page follows it."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise BadInput("the widget needs anywidget: pip install 'scorewise[widget]'") from None

    class Report(anywidget.AnyWidget):
        """The sections of a report, brought to life by the script that its file has."""

        _esm = asset("widget.js")
        _css = f".sw-widget {{ {style()} }}"  # nothing of the notebook around it is styled
        html = traitlets.Unicode().tag(sync=True)
        payload = traitlets.Dict().tag(sync=True)
        threshold = traitlets.Float(None, allow_none=True).tag(sync=True)

    page, moving = page_of(doc), to_dict(payload(doc))
    sections = main(page, report_parts(page))
    return Report(
        html=f'<div class="sw-widget"><div class="sw-page">{sections}</div></div>',
        payload=moving,
        threshold=moving.get("threshold"),
    )
