"""The page of a recalibration of several classes."""

from __future__ import annotations

from scorewise.show.pages.section import Section, hints, section
from scorewise.show.words import (
    Document,
    amount,
    counted,
    interval,
    named,
    percent,
    plain,
    shown,
    value,
)

_FEW = 5  # classes that are named one by one


def calibrate_classes(doc: Document) -> list[Section]:
    """Data, the map, the methods that were tried, and before and after."""
    sections = [section(facts=[*_data(doc["data"]), *_facts(doc)]), _tried(doc)]
    rows = {row["method"]: row for row in doc["table"]}
    if doc["chosen"] != "identity":
        sections.append(_change(rows["identity"], rows[doc["chosen"]], doc))
    return [*sections, *hints(doc["hints"])]


def _data(data: Document) -> list[tuple[str, str]]:
    facts = [("Data", named([plain(s) for s in data["sources"]]))] if data["sources"] else []
    classes = data["classes"]
    each = [f"{amount(c['rows'])} {plain(c['name'])}" for c in classes]
    if len(classes) > _FEW:
        rows = [c["rows"] for c in classes]
        each = [f"{amount(min(rows))} to {amount(max(rows))} of each"]
    facts.append(("Rows", f"{amount(data['rows'])} of {len(classes)} classes: {', '.join(each)}"))
    if data["dropped"]:
        facts.append(("Dropped", f"{counted(data['dropped'], 'row')} with missing values"))
    if data["weight"] is not None:
        facts.append(("Weights", plain(data["weight"])))
    return facts


def _facts(doc: Document) -> list[tuple[str, str]]:
    m = doc["map"]
    said = doc["meaning"]
    if "slope" in m["parameters"]:
        said += f"; slope {shown(m['parameters']['slope'])}"
    if doc["chosen"] in ("structured", "dirichlet"):
        said += f"; strength {m['strength']:g}"
    return [("Scores", m["kind"]), ("Chosen", f"{doc['chosen']}: {doc['reason']}"), ("Map", said)]


def _tried(doc: Document) -> Section:
    """The methods that were tried, best first."""
    rows = [
        (
            row["method"],
            value(row["log_loss"]),
            interval(row["log_loss"]),
            value(row["accuracy"]),
            "" if row["method"] == "identity" else value(row["gain"]),
            "" if row["method"] == "identity" else interval(row["gain"]),
        )
        for row in sorted(doc["table"], key=lambda row: row["log_loss"]["value"])
    ]
    level = percent(doc["settings"]["level"])
    head = ("Method", "Log loss", level, "Accuracy", "Saved", f"{level} ")
    said = (
        f"On rows not seen in fitting ({doc['settings']['folds']} folds). Saved: log loss of the "
        f"probabilities as they are, less that of the method; paired."
    )
    return section("Tried", head=head, rows=rows, words=frozenset({"Method"}), lines=[said])


def _change(first: Document, second: Document, doc: Document) -> Section:
    names = {"log_loss": "Log loss", "brier": "Brier score", "accuracy": "Accuracy"}
    rows = [
        (title, value(first[key]), interval(first[key]), value(second[key]), interval(second[key]))
        for key, title in names.items()
    ]
    level = percent(doc["settings"]["level"])
    head = ("", "Before", level, "After", f"{level} ")
    return section("Before and after", head=head, rows=rows, words=frozenset({""}))
