"""The page of `drift`: the verdict, the samples, and each change against chance."""

from __future__ import annotations

from scorewise.estimate import number
from scorewise.show.pages.section import Section, absent, hints
from scorewise.show.words import Document, amount, interval, percent, shown, value

DASH = "—"


def drift(doc: Document) -> list[Section]:
    """The page of one comparison, or of windows of time."""
    windows = doc["windows"]
    parts = [Section(facts=_facts(doc))]
    if len(windows) == 1:
        parts += [_samples([doc["reference"], windows[0]]), *_changes(windows[0], doc)]
    else:
        parts += [_overview(doc), *_seen(windows), *_absent(windows)]
    return [*parts, *hints(doc["hints"])]


def _facts(doc: Document) -> list[tuple[str, str]]:
    facts = [("Verdict", doc["verdict"])]
    sources = list(dict.fromkeys([*doc["reference"]["sources"], *doc["windows"][0]["sources"]]))
    if sources:
        facts.append(("Data", ", ".join(f"'{s}'" for s in sources)))
    if doc["time"]:
        cut = doc["time"]["every"]
        how = f"by {cut}" if cut else "into windows of about equal numbers of rows"
        facts.append(
            ("Time", f"'{doc['time']['column']}', {how}; reference: {doc['reference']['name']}")
        )
    labelled = [s for s in (doc["reference"], *doc["windows"]) if s["labelled"]]
    positive = f"; positive is '{labelled[0]['positive']}'" if labelled else ""
    facts.append(("Scores", f"{doc['kind']}{positive}"))
    if dropped := sum(s["dropped"] for s in (doc["reference"], *doc["windows"])):
        facts.append(("Dropped", f"{amount(dropped)} rows with missing values"))
    return facts


def _samples(samples: list[Document]) -> Section:
    rows = [
        ("Rows", *(amount(s["rows"]) for s in samples)),
        ("Share of positives", *(_or_dash(s["prevalence"]) for s in samples)),
        ("Midpoint of the scores", *(_or_dash(s["midpoint"]) for s in samples)),
        ("Balance by label", *(_balance(s["prevalence"]) for s in samples)),
        ("Balance by score", *(_balance(s["high"]) for s in samples)),
        ("Rotation (degrees)", *(_or_dash(s["rotation"], 2) for s in samples)),
        ("AUROC", *(_or_dash(s["auroc"]) for s in samples)),
    ]
    head = ("", *(s["name"].capitalize() for s in samples))
    return Section("Samples", head=head, rows=rows, words=frozenset({""}))


def _or_dash(x: float | None, digits: int = 3) -> str:
    return DASH if x is None else number(x, digits)


def _balance(share: float | None) -> str:
    """Positives to negatives, or high to low scores, in a hundred."""
    if share is None:
        return DASH
    return f"{100 * share:.1f} : {100 * (1 - share):.1f}"


def _changes(window: Document, doc: Document) -> list[Section]:
    known = [c for c in window["changes"] if not c["why"]]
    head = ("Change", "Value", percent(doc["settings"]["level"]), "Chance", "p", "Holm")
    rows = [
        (c["title"], value(c), interval(c), shown(c["by_chance"]), _p(c["p"]), _p(c["p_adjusted"]))
        for c in known
    ]
    said = [
        f"Chance: what {percent(doc['settings']['level'])} of "
        f"{amount(doc['settings']['replicates'])} random splits of the same rows stay within. "
        f"Holm: p adjusted for {len(known)} tests."
    ]
    parts = [Section("Changes", head=head, rows=rows, words=frozenset({"Change"}), lines=said)]
    return [*parts, *_absent([window])]


def _absent(windows: list[Document]) -> list[Section]:
    """What has no value, by the reason."""
    changes = (c for window in windows for c in window["changes"])
    return absent(((c["why"], c["title"]) for c in changes), "Not defined")


def _p(p: float | None) -> str:
    return DASH if p is None else f"{p:.3f}" if p >= 0.001 else f"{p:.1g}"


SHOWN = (("prevalence", "Positive"), ("midpoint", "Midpoint"), ("auroc", "AUROC"))


def _overview(doc: Document) -> Section:
    """One line for each window, the reference first."""
    rows = []
    for s in (doc["reference"], *doc["windows"]):
        ks = [_or_dash(c["value"]) for c in s.get("changes", ()) if c["name"] == "ks"]
        facts = (_or_dash(s[name]) for name, _ in SHOWN)
        drift = s.get("drift", "reference")
        rows.append((s["name"], amount(s["rows"]), *facts, *(ks or [""]), drift))
    return Section(
        "Windows",
        head=("Window", "Rows", *(title for _, title in SHOWN), "KS", "Drift"),
        rows=rows,
        words=frozenset({"Window", "Drift"}),
        lines=[
            "Positive: share of positives. KS: distance of the scores from the reference. p-values are "
            "adjusted for all tests in all windows (Holm)."
        ],
    )


def _seen(windows: list[Document]) -> list[Section]:
    """The evidence window by window, and once what each kind of drift means."""
    moved = [w for w in windows if w["evidence"]]
    facts = [(w["name"], f"{w['drift']}: {w['evidence']}") for w in moved]
    said: dict[str, list[str]] = {}
    for w in moved:
        said.setdefault(w["verdict"].partition(" Strongest evidence:")[0], []).append(w["name"])
    lines = [f"{', '.join(names)}: {text}" for text, names in said.items()]
    return [Section("What was seen", facts=facts, lines=lines)] if facts else []
