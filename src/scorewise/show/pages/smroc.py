"""The page of score-weighted ROC curves."""

from __future__ import annotations

from scorewise.show.pages.section import Section, hints, section
from scorewise.show.words import (
    Document,
    amount,
    data_facts,
    interval,
    percent,
    quoted,
    shown,
    value,
)

SETS = (
    ("high_positive", "high", "positive", "appropriate"),
    ("low_negative", "low", "negative", "appropriate"),
    ("high_negative", "high", "negative", "inappropriate"),
    ("low_positive", "low", "positive", "inappropriate"),
)


def smroc(doc: Document) -> list[Section]:
    """Data, areas, the four sets, the tables and the remarks."""
    several = len(doc["curves"]) > 1
    sections = [section(facts=data_facts(doc, quoted, str))]
    if several:
        sections.append(_areas(doc))
    for curve in doc["curves"]:
        name = f"{quoted(curve['name'])}: " if several else ""
        sections += [
            section(f"{name}Curve", facts=_facts(curve)),
            _sets(curve, f"{name}Scores against labels"),
            _tables(curve, doc["settings"]["threshold"], f"{name}Scores against decisions"),
        ]
    return [*sections, *hints(doc["hints"])]


def _areas(doc: Document) -> Section:
    rows = [
        [
            quoted(c["name"]),
            value(c["area"]),
            interval(c["area"]),
            shown(c["area"]["baseline"]),
            shown(c["auroc"]),
        ]
        for c in doc["curves"]
    ]
    lines = [
        f"{quoted(d['first'])} and {quoted(d['second'])} are {shown(d['distance'])} apart"
        for d in doc["distances"]
    ]
    level = percent(doc["settings"]["level"])
    head = ["model", "smAUC", f"{level} interval", "at random", "AUROC"]
    return section("Areas", head=head, rows=rows, words=frozenset(["model", head[2]]), lines=lines)


def _facts(c: Document) -> list[tuple[str, str]]:
    area, after = c["area"], c["recalibrated"]
    said = f"{value(area)} {interval(area)}" if area["value"] is not None else area["why"]
    label = c["sets"]["high_positive"]["weight"] + c["sets"]["low_positive"]["weight"]
    total = sum(part["weight"] for part in c["sets"].values())
    high = c["sets"]["high_positive"]["weight"] + c["sets"]["high_negative"]["weight"]
    return [
        ("smAUC", f"{said}; at random {shown(area['baseline'])}; AUROC {shown(c['auroc'])}"),
        (
            "Midpoint",
            f"{shown(c['midpoint']['value'])} ({c['midpoint']['rule']}); over all midpoints smAUC lies "
            f"between {shown(c['areas']['lowest'])} and {shown(c['areas']['highest'])}",
        ),
        (
            "Rectangle",
            f"{c['height']:,.1f} high (climbs) by {c['width']:,.1f} wide (runs)",
        ),
        (
            "Balance",
            f"{amount(label)} positive to {amount(total - label)} negative, {amount(high)} high to "
            f"{amount(total - high)} low: turned by {c['rotation']:.1f} degrees",
        ),
        (
            "Hull",
            f"{shown(c['gap'])} above the curve; after recalibration smAUC is {shown(after['value'])} "
            f"({shown(after['baseline'])} at random)",
        ),
    ]


def _sets(c: Document, title: str) -> Section:
    rows = []
    total = sum(part["weight"] for part in c["sets"].values())
    for key, side, label, kind in SETS:
        part = c["sets"][key]
        rows.append(
            [
                f"{side} on a {label}",
                amount(part["weight"]),
                percent(part["weight"] / total),
                shown(part["mean"]),
                kind,
            ]
        )
    head = ["score", "rows", "share", "mean score", "which is"]
    return section(title, head=head, rows=rows, words=frozenset(["score", "which is"]))


def _tables(c: Document, threshold: float, title: str) -> Section:
    cells = (("tp", "positive"), ("fn", "negative"), ("fp", "positive"), ("tn", "negative"))
    rows = []
    for i, label in enumerate(("positive", "negative")):
        line = [label]
        for kind in ("appropriate", "inappropriate"):
            line += [amount(c["tables"][kind][key]) for key, _ in cells[2 * i : 2 * i + 2]]
        rows.append(line)
    head = ["label", "appropriate: yes", "no", "inappropriate: yes", "no "]
    legend = f"yes: decided positive, because the score is {threshold:g} or more"
    return section(title, head=head, rows=rows, words=frozenset(["label"]), lines=[legend])
