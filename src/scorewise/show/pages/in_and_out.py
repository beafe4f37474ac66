"""The page of models in and out of distribution: how right they are, and how sure, where."""

from __future__ import annotations

from scorewise.show.pages.section import Section, absent, hints, section
from scorewise.show.words import Document, amount, interval, percent, quoted, shown, value

TITLES = {"in": "In distribution", "out": "Out of distribution"}


def in_and_out(doc: Document) -> list[Section]:
    """Facts, the measures in and out of distribution, and the confidence at radii of the data."""
    parts = [section(facts=_facts(doc)), *(_measures(doc, of) for of in TITLES), _radii(doc)]
    return [part for part in parts if part.facts or part.table] + _absent(doc) + hints(doc["hints"])


def _facts(doc: Document) -> list[tuple[str, str]]:
    data = doc["data"]
    facts = [("In", f"{amount(data['rows'])} rows of {len(data['classes'])} classes")]
    if data["rows_out"] is not None:
        facts.append(("Out", f"{amount(data['rows_out'])} rows"))
    share = shown(data["largest_share"])
    return [*facts, ("Prior", f"the commonest class has a share of {share}")]


def _measures(doc: Document, of: str) -> Section:
    titles = {m["name"]: m["title"] for m in doc["models"][0]["measures"] if m["of"] == of}
    rows = [
        (titles[m["name"]], quoted(model["name"]), value(m), interval(m))
        for name in titles
        for model in doc["models"]
        for m in model["measures"]
        if m["name"] == name and not m["why"]
    ]
    head = ("Measure", "Model", "Value", f"{percent(doc['settings']['level'])} interval")
    return section(TITLES[of], head=head, rows=rows, words=frozenset({"Measure", "Model"}))


def _absent(doc: Document) -> list[Section]:
    """What has no value, by the reason, unless it could not have: no rows, or no novelty, to ask for."""
    found = []
    for model in doc["models"]:
        for m in model["measures"]:
            asked = m["of"] == "in" or doc["data"]["rows_out"] is not None
            told = model["novelty"] is not None or not m["name"].endswith("novelty")
            if asked and told:
                found.append((m["why"], f"{m['title']} of {quoted(model['name'])}"))
    return absent(found)


def _radii(doc: Document) -> Section:
    """The mean confidence, one row for each radius and a column for each model."""
    models = doc["models"]
    rows = [
        (f"{at[0]['radius']:g}", *(shown(found["value"]) for found in at))
        for at in zip(*(model["radii"] for model in models), strict=True)
    ]
    return section(
        "Mean confidence at radii of the data",
        head=("Radius", *(quoted(model["name"]) for model in models)),
        rows=rows,
        lines=[
            f"{amount(doc['settings']['points'])} points in random directions, at multiples of the "
            "largest distance of a row from the centre."
        ]
        if rows
        else [],
    )
