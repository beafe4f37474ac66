"""The page of a report: the sections of any document in one order, with its figures and moving numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from scorewise.inference.scales import z
from scorewise.show.page import Figure, Page, Section
from scorewise.show.words import Name

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


TOLD = ("forest_", "differences", "suspects")  # figures whose data the table below them has
LEFT = ("confusion", "threshold_curves")  # figures of what a report has as tables that move
BESIDE = ("recalibration", "forest_calibration_slope")  # figures that many others leave no room for


@dataclass(frozen=True)
class Part:
    """A section of the report, and what stands in it."""

    anchor: str
    title: str
    sections: Sequence[Section]


def report_parts(page: Page) -> list[Part]:
    """The sections of the report of what a page shows, in their order; those with nothing are left out."""
    doc = page.document
    page = page if doc is None else doc.report()
    home = HOMES.get(page.command.partition(" ")[0], "results")
    found: dict[str, list[Section]] = {}
    for section in page.sections:
        anchor = section.anchor or ("data" if _is_opening(section) else home)
        found.setdefault(anchor, []).append(section)
    titles = SECTIONS
    classes = getattr(getattr(doc, "evaluation", doc), "classes", None)
    if isinstance(classes, list) and classes:  # of several, the highest score decides
        titles = SECTIONS | {"threshold": "Decisions"}
    figures: dict[str, list[Figure]] = {}
    for anchor, drawn in figures_of(doc).items():
        at = "threshold" if anchor == "slices" and anchor not in found and classes else anchor
        figures.setdefault(at, []).extend(drawn)
    for at, drawn in figures.items():
        found.setdefault(at, []).insert(0, Section(figures=drawn))
    return [Part(a, title, found[a]) for a, title in titles.items() if a in found]


def _is_opening(s: Section) -> bool:
    """Whether it says what was judged: facts without a title."""
    return bool(s.facts) and not (s.title or s.table or s.lines or s.matrices)


def figures_of(doc: Any) -> dict[str, list[Figure]]:
    """The figures that a document yields, by the section that they stand in."""
    if doc is None:
        return {}
    draw = import_module("scorewise.figures").figures_of  # by name: no view depends on another
    found: dict[str, list[Figure]] = draw(doc)
    several = hasattr(doc, "others") and any(doc.others())
    left: tuple[str, ...] = (*LEFT, *BESIDE) if several else LEFT
    if getattr(getattr(doc, "evaluation", doc), "classes", None):
        left = tuple(kind for kind in left if kind != "confusion")  # of several, shades show more
    kept = {
        home: [
            replace(f, table=None) if f.kind.startswith(TOLD) else f
            for f in drawn
            if f.kind not in left
        ]
        for home, drawn in found.items()
    }
    return {home: drawn for home, drawn in kept.items() if drawn}


def evidence(about: str, there: Sequence[str]) -> str:
    """The section of those there are that a sentence rests on; empty where it has none."""
    return next((anchor for anchor in EVIDENCE.get(about, ()) if anchor in there), "")


# where neither models nor files have names
TITLES = {
    "agree": "Agreement of raters",
    "answers": "Answers and their confidence",
    "drift": "Drift of the current sample",
    "judge": "Judges beside humans",
}


def heading(doc: Any, page: Page) -> list[str]:
    """What the report is about, in a few words: whose scores, on which files."""
    of = getattr(doc, "evaluation", None) or doc
    names = [m.name for m in getattr(of, "models", ()) if of.command in ("evaluate", "compare")]
    samples = [getattr(of, "reference", None), *getattr(of, "windows", ())]
    sources = getattr(getattr(of, "data", None), "sources", None) or [
        path for sample in samples for path in getattr(sample, "sources", ())
    ]
    models = [part for name in names[:3] for part in (", ", Name(name))][1:]
    models += [f" and {len(names) - 3} more"] if len(names) > 3 else []
    last = [Name(path.replace("\\", "/").rpartition("/")[2]) for path in sources[:2]]
    files = [part for name in last for part in (", ", name)][1:]
    files += [f" and {len(sources) - 2} more"] if len(sources) > 2 else []
    return [*models, *([" on "] if models and files else []), *files] or [
        TITLES.get(page.command, page.command)
    ]


def payload(doc: Any) -> dict[str, Any]:
    """What moves with the threshold: the counts of each model over thresholds, where there are curves."""
    of = getattr(doc, "evaluation", None) or doc
    curves = getattr(of, "curves", None) or []
    found: dict[str, Any] = {"version": 1, "models": [], "groups": []}
    if getattr(of, "command", "") != "evaluate" or not curves or of.classes:
        return found
    data, s = of.data, of.settings
    up, down = data.weight_positives or 0.0, data.weight_negatives or 0.0
    kinds = {model.name: model.kind for model in of.models}
    counted = data.weight is None and of.clusters is None
    found |= {
        "level": s.level,
        "z": z(s.level),
        "threshold": s.threshold,
        "prevalence": up / (up + down) if up + down else None,
        "positive": str(data.positive),
    }
    found["models"] = [
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
    found["groups"] = [g.name for g in of.groups[0].groups] if of.groups else []
    return found
