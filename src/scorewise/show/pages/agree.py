"""The page of `agree`: data, coefficients in words, what drives them apart, and where raters differ."""

from __future__ import annotations

from scorewise.show.pages.section import Section, absent, hints, section
from scorewise.show.words import (
    Document,
    amount,
    chance_digits,
    counted,
    interval,
    named,
    percent,
    plain,
    quoted,
    shown,
    value,
    whole_percent,
)

ENOUGH = 5  # common items of a pair that is worth showing
LONGEST = 24  # letters of a name in a table
WORDS = "In words"


def agree(doc: Document) -> list[Section]:
    """The page of the raters of the same items."""
    return [
        section(facts=_facts(doc)),
        _measures(doc),
        *_panel(doc),
        *_baseline(doc),
        *_categories(doc),
        *_raters(doc),
        *_pairs(doc),
        *_items(doc),
        *absent(_without(doc)),
        *hints(doc["hints"]),
    ]


def _without(doc: Document) -> list[tuple[str, str]]:
    """What has no value, and why; raters who are not known are told of by the measures."""
    found = [(m["why"], plain(m["title"])) for m in doc["measures"]]
    known = doc["data"]["raters"] is not None
    return [*found, (doc["pairs"]["why"], "Each two raters")] if known else found


def _facts(doc: Document) -> list[tuple[str, str]]:
    data, s = doc["data"], doc["settings"]
    facts = [("Data", named([quoted(x) for x in data["sources"]]))] if data["sources"] else []
    rest = []
    if data["unrated"]:
        rest.append(f"{amount(data['unrated'])} more without a rating")
    if data["single"]:
        rest.append(f"{amount(data['single'])} with one rating only")
    facts.append(("Items", "; ".join([amount(data["items"]), *rest])))
    gaps = f", {amount(data['missing'])} missing" if data["missing"] else ""
    if data["raters"] is None:
        who = f"not known; up to {data['most']} of an item"
    else:
        who = f"{len(data['raters'])}: {named([quoted(r) for r in data['raters']], 6)}"
    facts.append(("Raters", f"{who}; {amount(data['ratings'])} ratings{gaps}"))
    total = data["ratings"]
    shares = [
        f"{quoted(c['name'])} {_share(c['ratings'] / total) if total else '—'}"
        for c in data["categories"]
    ]
    facts.append(("Categories", f"{data['distinct']:,}, {s['scale']}: {named(shares, 8)}"))
    if s["weights"] != "identity":
        how = "the matrix given" if s["weights"] == "own" else f"{s['weights']} weights"
        metric = f"; alpha has its own {s['scale']} metric, not to be compared with them"
        facts.append(("Near misses", f"count in part, by {how}{metric}"))
    if data["weighted"]:
        facts.append(("Weights", "items are weighted"))
    return facts


def _measures(doc: Document) -> Section:
    """The measures that have a value, each with its band."""
    found = [m for m in doc["measures"] if not m["why"] and m["name"] not in _same(doc)]
    rows = [
        (
            plain(m["title"]), value(m), interval(m), _chance(m["p"]),
            _in_words(m),
        )
        for m in found
    ]  # fmt: skip
    head = ("", "Value", f"{percent(doc['settings']['level'])} interval", "p", WORDS)
    lines = []
    if any(m["band"] for m in found):
        lines.append(
            "In words: up to 0 none, to 0.2 slight, 0.4 fair, 0.6 moderate, 0.8 substantial, 1 almost "
            "perfect; in brackets roughly how probable it is, by the standard error, that the true value "
            "lies there."
        )
    if any(m["p"] is not None for m in found):
        tested = [m["name"] for m in found if m["p"] is not None]
        margins = {"stuart_maxwell", "bowker"} & {*tested}
        also = (
            "; of Stuart-Maxwell, if both used all categories alike; of Bowker, if they disagreed in both "
            "directions alike"
        )
        lines.append(
            "p: the chance of a value as far from 0, on either side, if raters were independent"
            + (also if margins else "")
            + "."
        )
    if _same(doc):
        lines.append(
            "Of two raters, Fleiss' kappa is Scott's pi, and Conger's and Light's are Cohen's."
        )
    words = frozenset({"", head[2], WORDS})
    return section("Agreement", head=head, rows=rows, words=words, lines=lines)


def _share(x: float) -> str:
    return f"{100 * x:.1f}%"


def _same(doc: Document) -> tuple[str, ...]:
    """Coefficients that are those of two raters under other names."""
    two = doc["data"]["raters"] is not None and len(doc["data"]["raters"]) == 2
    return ("fleiss_kappa", "conger_kappa", "light_kappa") if two else ()


def _chance(p: float | None) -> str:
    return "" if p is None else "<0.001" if p < 0.001 else chance_digits(p)


def _in_words(m: Document) -> str:
    if m["band"] is None:
        return ""
    return f"{m['band']} ({whole_percent(m['chances'][m['band']])})"


PANEL = {
    "percent_agreement": "Agreement",
    "cohen_kappa": "Kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac": "AC1",
    "brennan_prediger": "PABAK",
    "kappa_max": "Maximum kappa",
    "prevalence_index": "Prevalence",
    "bias_index": "Bias",
}


def _panel(doc: Document) -> list[Section]:
    """Coefficients side by side; the hints say what drives them apart."""
    found = [m for m in doc["paradox"]["measures"] if m["value"] is not None]
    if len(found) < 3:
        return []
    many = len(doc["data"]["categories"]) > 2
    names = PANEL | ({"brennan_prediger": "Brennan-Prediger"} if many else {})
    row = [shown(m["value"]) for m in found]
    return [
        section("Side by side, without weights", head=[names[m["name"]] for m in found], rows=[row])
    ]


def _baseline(doc: Document) -> list[Section]:
    """Kappa as the share of the error of guessing that is avoided."""
    b = doc["baseline"]
    if b["error"] is None or not b["by_margins"]:
        return []
    rows = [("by margins", shown(b["error"]), shown(b["by_margins"]), shown(b["kappa"]), "")]
    if b["draws"]:
        spread = f"{shown(b['by_permutation'])} ± {shown(b['spread'])}"
        rows.append(
            ("by permutation", shown(b["error"]), spread, shown(b["kappa_permuted"]), _chance(b["p"]))
        )  # fmt: skip
    head = ("Guessing", "Error", "Its error", "1 - error / its error", "p")
    return [section("Error beside guessing", head=head, rows=rows, words=frozenset({"Guessing"}))]


def _categories(doc: Document) -> list[Section]:
    rows = [
        (
            _short(c["category"]), _share(c["share"]), value(c["agreement"]),
            interval(c["agreement"]) or c["agreement"]["why"],
        )
        for c in doc["categories"][:30]
    ]  # fmt: skip
    if not rows:
        return []
    level = f"{percent(doc['settings']['level'])} interval"
    head = ("Category", "Of all ratings", "Another says it too", level)
    more = len(doc["categories"]) - len(rows)
    lines = [f"{more:,} further categories are in the document"] if more else []
    words = frozenset({"Category", level})
    return [section("Each category", head=head, rows=rows, words=words, lines=lines)]


def _raters(doc: Document) -> list[Section]:
    """Who differs most; nothing to tell where there are two."""
    if len(doc["raters"]) < 3:
        return []
    rows = [
        (
            _short(r["rater"]), amount(r["items"]), value(r["others"]), interval(r["others"]),
            value(r["majority"]),
        )
        for r in doc["raters"][:20]
    ]  # fmt: skip
    level = f"{percent(doc['settings']['level'])} interval"
    head = ("Rater", "Items", "Agrees with others", level, "With their majority")
    words = frozenset({"Rater", level})
    more = len(doc["raters"]) - len(rows)
    lines = [f"{counted(more, 'further rater')} in the document"] if more else []
    return [
        section(
            "Each rater, who differs most first", head=head, rows=rows, words=words, lines=lines
        )
    ]


def _pairs(doc: Document) -> list[Section]:
    found = doc["pairs"]["rows"]
    if not found:
        return []
    sections = []
    enough = [p for p in found if p["items"] >= ENOUGH] or found
    if len(found) > 1:
        rows = [
            (
                _short(p["first"]), _short(p["second"]), amount(p["items"]), shown(p["agreement"]["value"]),
                value(p["kappa"]), interval(p["kappa"]) or p["kappa"]["why"],
            )
            for p in enough[:15]
        ]  # fmt: skip
        level = f"{percent(doc['settings']['level'])} interval"
        head = ("First", "Second", "Items", "Agreement", "Cohen's kappa", level)
        words = frozenset({"First", "Second", level})
        more = doc["pairs"]["number"] - len(rows)
        few = f" or share fewer than {ENOUGH} items" if len(enough) < len(found) else ""
        lines = [f"{counted(more, 'further pair')} who agree more{few}"] if more > 0 else []
        sections.append(section("Each two raters", head=head, rows=rows, words=words, lines=lines))
    return [*sections, *_confusion(doc, enough[0])]


def _confusion(doc: Document, pair: Document) -> list[Section]:
    """What the pair that disagrees most said, where the table is small."""
    names = [_short(c["name"], 10) for c in doc["data"]["categories"]]
    if pair["table"] is None or len(names) > 8 or pair["items"] < ENOUGH:
        return []
    corner = f"{_short(pair['first'], 12)} \\ {_short(pair['second'], 12)}"
    rows = [(n, *map(amount, line)) for n, line in zip(names, pair["table"], strict=True)]
    titles = [n if n != corner else f"{n} " for n in names]
    title = "What both said"
    if len(doc["pairs"]["rows"]) > 1:
        title = "What the pair that agrees least said"
    return [section(title, head=(corner, *titles), rows=rows, words=frozenset({corner}))]


def _items(doc: Document) -> list[Section]:
    if not doc["disputed"]:
        return []
    several = len({i["file"] for i in doc["disputed"]}) > 1
    named_items = any(i["id"] is not None for i in doc["disputed"])
    rows = [
        (
            *([_short(i["id"] or "")] if named_items else []),
            (f"{plain(i['file'])}: " if several else "") + str(i["row"]),
            shown(i["disagreement"]),
            _said(doc, i["said"]),
        )
        for i in doc["disputed"]
    ]
    head = (*(["Item"] if named_items else []), "Row", "Disagreement", "Ratings")
    start = 1 if doc["data"]["sources"] else 0
    lines = [
        f"Disagreement: share of pairs of ratings that differ (in part, where categories are ordered). "
        f"Rows count from {start}."
    ]
    words = frozenset({"Item", "Ratings"})
    return [section("Items with most disagreement", head=head, rows=rows, words=words, lines=lines)]


def _said(doc: Document, words: list[str | None]) -> str:
    """What each rater said, or how many said what where raters are many or not known."""
    raters = doc["data"]["raters"]
    if raters is not None and sum(w is not None for w in words) <= 4:
        pairs = zip(raters, words, strict=True)
        return ", ".join(f"{plain(r)} {quoted(w)}" for r, w in pairs if w is not None)
    counts: dict[str, int] = {}
    for w in words:
        if w is not None:
            counts[w] = counts.get(w, 0) + 1
    most = sorted(counts.items(), key=lambda pair: -pair[1])
    return ", ".join(f"{n} x {quoted(w)}" for w, n in most)


def _short(name: str, most: int = LONGEST) -> str:
    word = plain(name)
    return word if len(word) <= most else word[: most - 1] + "…"
