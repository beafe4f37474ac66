"""The pages of `inspect` and `raters`."""

from __future__ import annotations

from collections.abc import Sequence

from scorewise.estimate import number
from scorewise.show.pages.section import Section, hints, section
from scorewise.show.words import (
    Document,
    amount,
    counted,
    data_facts,
    percent,
    plain,
    quoted,
    same_decisions,
    whole_percent,
)

LONGEST_ID = 16
LONGEST_FILE = 20
SUCCESSES = 5  # a taste of them; the document has more
WORDS = frozenset({"id", "set", "why", "cut", "pair", "score of", "rows", "decisions and scores"})

READING = [
    (
        "Suspicion",
        "share of rows scored alike that have the other label, by the hull of the ROC curve. Scores should"
        " be out of fold: a model that saw a wrong label may have learned it.",
    ),
    (
        "Hard success",
        "a label that its score speaks for, though not by much.",
    ),
    (
        "Gap",
        "every threshold in it decides alike; times as wide as the gaps around it; stable: share of"
        " resamples in which it keeps its rank.",
    ),
]


def inspect_page(doc: Document) -> list[Section]:
    """The data, each model's rows and gaps, and how far models agree."""
    sections = [section(facts=data_facts(doc, quoted, plain))]
    for model in doc["models"]:
        sections += _model(model, len(doc["models"]) > 1, len(doc["data"]["sources"]) > 1)
    if doc["agreement"] is not None:
        sections += _agreement(doc["agreement"], doc["data"], "model")
    return [*sections, section("How to read this", facts=READING), *hints(doc["hints"])]


def raters_page(doc: Document) -> list[Section]:
    """What was compared, and how far raters agree."""
    data = doc["data"]
    against = "known labels" if data["truth"] else "each rater's own decisions"
    facts = [("Data", ", ".join(map(quoted, data["sources"])))] if data["sources"] else []
    facts += [
        ("Rows", amount(data["rows"])),
        ("Positive", f"{quoted(data['positive'])} ({data['rule']}); negative is "
                     f"{quoted(data['negative'])}"),
        ("Curves", f"against {against}"),
    ]  # fmt: skip
    if data["dropped"]:
        facts.append(("Dropped", f"{counted(data['dropped'], 'row')} with missing values"))
    return [
        section(facts=facts),
        *_agreement(doc["agreement"], data, "rater"),
        *hints(doc["hints"]),
    ]


def _model(model: Document, several: bool, files: bool) -> list[Section]:
    of = f" of {quoted(model['name'])}" if several else ""
    by = f" by {quoted(model['name'])}" if several else ""
    sections = []
    if not model["why"]:
        sections += [
            *([section(f"Scores{of}", facts=_scores(model))] if model["sets"] else []),
            _suspects(f"Labels to check{by}", model["suspicious"], files),
            _suspects(f"Hard successes{of}", model["successes"][:SUCCESSES], files),
        ]
    return [*sections, _gaps(model, of)]


def _scores(model: Document) -> list[tuple[str, str]]:
    rows = {s["set"]: amount(s["rows"]) for s in model["sets"]}
    return [
        (
            "Midpoint",
            f"{number(model['midpoint'])} ({model['rule']}); from here on a score is high",
        ),
        ("High", f"{rows['high positive']} positives, {rows['high negative']} negatives"),
        ("Low", f"{rows['low positive']} positives, {rows['low negative']} negatives"),
    ]


def _suspects(title: str, rows: Sequence[Document], files: bool) -> Section:
    if not rows:
        return section(title, lines=["none"])
    named = any(row["id"] is not None for row in rows)
    head = ["row", *(["id"] if named else []), "suspicion", "why"]
    table = [
        [
            _place(row, files),
            *([_id(row)] if named else []),
            number(row["suspicion"]),
            row["reason"],
        ]
        for row in rows
    ]
    return section(title, head=head, rows=table, words=WORDS)


def _place(row: Document, files: bool) -> str:
    """The number of a row, with its file where there are several."""
    return f"{_end(row['file'])}:{row['row']}" if files else str(row["row"])


def _end(text: object) -> str:
    word = plain(text)
    return word if len(word) <= LONGEST_FILE else "…" + word[1 - LONGEST_FILE :]


def _id(row: Document) -> str:
    text = "" if row["id"] is None else plain(row["id"])
    return text if len(text) <= LONGEST_ID else text[: LONGEST_ID - 1] + "…"


def _gaps(model: Document, of: str) -> Section:
    title = f"Gaps between scores{of}"
    if not model["gaps"]:
        return section(title, lines=["no gap is three times as wide as those around it"])
    head = ["cut", "times as wide", "rows above", "precision", "recall", "stable"]
    table = [
        [
            same_decisions({**gap, "threshold": gap["upto"]}),
            f"{gap['ratio']:.1f}",
            amount(gap["rows"]),
            number(gap["precision"]),
            "—" if gap["recall"] is None else number(gap["recall"]),
            whole_percent(gap["stability"]),
        ]
        for gap in model["gaps"]
    ]
    return section(title, head=head, rows=table, words=WORDS)


def _agreement(a: Document, data: Document, who: str) -> list[Section]:
    n = a["numbers"]
    near = f"within {a['tolerance']:g}"
    files = len(data["sources"]) > 1
    facts = [
        ("Decisions", f"the same on {_share(a['same_decisions'])} of the rows"),
        ("Scores", f"{near} of each other on {_share(a['within_tolerance'])} of the rows"),
        (
            "Agree",
            f"{counted(n['both'] + n['apparent'], 'row')}: scores {near}; of these "
            f"{amount(n['apparent'])} with other decisions, which only look like disagreement",
        ),
        ("Differ", f"{counted(n['hidden'], 'row')}: same decision, but scores further apart"),
        ("Disagree", f"{counted(n['real'], 'row')}: other decisions, and scores further apart"),
    ]
    curves = [
        [quoted(r["name"]), number(r["midpoint"]) if r["midpoint"] is not None else "—",
         number(r["smauc"]) if r["smauc"] is not None else "—", r["why"]]
        for r in a["raters"]
    ]  # fmt: skip
    pairs = [
        [f"{quoted(p['first'])}, {quoted(p['second'])}",
         "—" if p["distance"] is None else number(p["distance"]),
         _share(p["same_decisions"]), _share(p["within_tolerance"])]
        for p in a["pairs"]
    ]  # fmt: skip
    unclear = any(r["why"] for r in a["raters"])
    return [
        section(f"Agreement of {who}s", facts=facts),
        section(
            "smROC curves",
            head=["score of", "midpoint", "smAUC", *(["why"] if unclear else [])],
            rows=[line if unclear else line[:3] for line in curves],
            words=WORDS,
        ),
        section(
            "",
            head=["pair", "area between curves", "same decision", near],
            rows=pairs,
            words=WORDS,
        ),
        *_instances("Rows that only look like disagreement", a["apparent"], data, files),
        *_instances("Rows on which they disagree", a["real"], data, files),
        *_instances("Rows with one decision, but scores apart", a["hidden"], data, files),
    ]


def _instances(title: str, rows: Sequence[Document], data: Document, files: bool) -> list[Section]:
    if not rows:
        return []
    named = any(row["id"] is not None for row in rows)
    head = ["row", *(["id"] if named else []), "apart", "decisions and scores"]
    table = [
        [_place(row, files), *([_id(row)] if named else []), number(row["apart"]), _said(row, data)]
        for row in rows
    ]
    return [section(title, head=head, rows=table, words=WORDS)]


def _said(row: Document, data: Document) -> str:
    words = [
        f"{r['name']}: {data['positive' if r['positive'] else 'negative']} at {r['score']:.3g}"
        for r in row["ratings"]
    ]
    return "; ".join(words)


def _share(share: float | None) -> str:
    return "—" if share is None else percent(share)
