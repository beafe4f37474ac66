"""The page of a recalibration: what was chosen and why, before and after."""

from __future__ import annotations

from scorewise.show.pages.section import Section, hints, section
from scorewise.show.words import Document, data_facts, interval, percent, shown, value


def calibrate(doc: Document) -> list[Section]:
    """Data, the map, the methods that were tried, and before and after."""
    sections = [section(facts=[*data_facts(doc, str, str), *_facts(doc)]), _tried(doc)]
    rows = {row["method"]: row for row in doc["table"]}
    if "identity" in rows and doc["chosen"] != "identity":
        sections.append(_change(rows["identity"], rows[doc["chosen"]], doc))
    return [*sections, *hints(doc["hints"])]


def _facts(doc: Document) -> list[tuple[str, str]]:
    m = doc["map"]
    single = [f"{k} {shown(v)}" for k, v in m["parameters"].items() if not isinstance(v, list)]
    facts = [
        ("Scores", f"{m['kind']}, from {shown(m['low'])} to {shown(m['high'])}"),
        ("Chosen", f"{doc['chosen']}: {doc['reason']}"),
        ("Map", doc["meaning"] + (f"; {', '.join(single)}" if single else "")),
    ]
    if doc["chosen"] != "identity":
        facts.append(("Beyond", f"scores outside that range are {doc['outside']}"))
    return facts


def _tried(doc: Document) -> Section:
    """The methods that were tried, best first."""
    ordered = sorted(doc["table"], key=lambda row: row["log_loss"]["value"])
    rows = [
        (
            row["method"],
            value(row["log_loss"]),
            interval(row["log_loss"]),
            value(row["brier"]),
            "" if row["method"] == "identity" else value(row["gain"]),
            "" if row["method"] == "identity" else interval(row["gain"]),
        )
        for row in ordered
    ]
    level = percent(doc["settings"]["level"])
    head = ("Method", "Log loss", level, "Brier", "Saved", f"{level} ")
    said = [f"On rows not seen in fitting ({doc['settings']['folds']} folds)."]
    if any(row["gain"]["value"] is not None for row in ordered):
        said[0] += " Saved: log loss of the scores as they are, less that of the method; paired."
    return section("Tried", head=head, rows=rows, words=frozenset({"Method"}), lines=said)


NAMES = {
    "log_loss": "Log loss",
    "brier": "Brier score",
    "in_the_large": "Calibration in the large",
    "slope": "Calibration slope",
}


def _change(first: Document, second: Document, doc: Document) -> Section:
    rows = [
        (title, value(first[key]), interval(first[key]), value(second[key]), interval(second[key]))
        for key, title in NAMES.items()
    ]
    level = percent(doc["settings"]["level"])
    head = ("", "Before", level, "After", f"{level} ")
    said = ["Calibrated are 0 in the large and slope 1; a slope below 1 is too bold."]
    return section("Before and after", head=head, rows=rows, words=frozenset({""}), lines=said)
