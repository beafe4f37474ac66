"""Parts of the page of `judge`: grades, and shares of votes."""

from __future__ import annotations

from dataclasses import replace

from scorewise.show.pages.section import Section, section
from scorewise.show.words import (
    Document,
    chance_digits,
    interval,
    percent,
    quoted,
    shown,
    value,
    whole_percent,
)


def cell(e: Document) -> str:
    """A value with its interval."""
    return f"{value(e)} {interval(e)}".rstrip()


def grades(doc: Document) -> list[Section]:
    """Judges that grade, against the grades of the truth."""
    found = [(j["name"], j["grades"]) for j in doc["judges"] if j["grades"] is not None]
    if not found:
        return []
    ordinal = doc["settings"]["scale"] == "ordinal"
    rows = []
    for name, g in found:
        step = "one place" if ordinal else f"one step ({shown(g['step'])})"
        higher, lower = (whole_percent(g[k]) for k in ("higher", "lower"))
        rows += [
            (name, "mean of judge - truth", value(g["difference"]), interval(g["difference"]), ""),
            ("", "higher : lower", f"{higher} : {lower}", "", chance_digits(g["p"])),
            ("", f"within {step}", value(g["near"]), interval(g["near"]), ""),
            ("", "rank correlation", value(g["ranks"]), interval(g["ranks"]), ""),
        ]
    unit = "The mean is of places. " if ordinal else ""
    said = (
        f"{unit}Higher : lower: items that the judge grades so, by the sign test. Ranks: Spearman."
    )
    head = ("Judge", "Of", "Value", percent(doc["settings"]["level"]), "p")
    words = frozenset({"Judge", "Of"})
    return [section("Grades", head=head, rows=rows, words=words, lines=[said])]


def prevalence(doc: Document) -> list[Section]:
    """The share of votes of each category, by judge."""
    parts = []
    for j in doc["judges"]:
        rows = [
            (
                p["category"], value(p["judge"]), cell(p["labelled"]), cell(p["tuned"]),
                shown(p["tuning"], 2), value(p["rates"]),
            )
            for p in j["prevalence"][:30]
        ]  # fmt: skip
        if rows:
            parts.append(
                section(
                    f"Shares of votes on all items, with {quoted(j['name'])}",
                    head=("Category", "Judge", "Labelled alone", "Corrected", "Power", "R-G"),
                    rows=rows,
                    words=frozenset({"Category"}),
                )
            )
    if parts:
        said = (
            "The share of human votes: an item counts for a category as the share of its humans who say "
            "it. Judge: its answers, uncorrected. Corrected: prediction-powered (PPI++), the judge "
            "counting with the power beside it. R-G: corrected by sensitivity and specificity "
            "(Rogan-Gladen). These hold where the labelled items are a random part of all."
        )
        parts[-1] = replace(parts[-1], lines=[said])
    return parts
