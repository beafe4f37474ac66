"""The page of `agree`: data, coefficients in words, what drives them apart, and where raters differ."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from scorewise.errors import plain
from scorewise.show.page import (
    Column,
    Page,
    Section,
    Table,
    count,
    counted,
    hints,
    interval,
    is_least,
    named,
    p_value,
    percent,
    quoted,
    undefined,
    written,
)

if TYPE_CHECKING:
    from scorewise.agreeing.disagreement import DisputedItem, Pair
    from scorewise.agreeing.document import AgreeDocument, AgreementRow

ENOUGH = 5  # common items of a pair that is worth showing
LONGEST = 24  # letters of a name in a table
CATEGORIES, RATERS, PAIRS = 30, 20, 15  # rows of a table at most
BANDS = (
    "In words: up to 0 none, to 0.2 slight, 0.4 fair, 0.6 moderate, 0.8 substantial, 1 almost "
    "perfect; in brackets roughly how probable it is, by the standard error, that the true value "
    "lies there."
)
INDEPENDENT = "p: the chance of a value as far from 0, on either side, if raters were independent"
MARGINS = (
    "; of Stuart-Maxwell, if both used all categories alike; of Bowker, if they disagreed in both "
    "directions alike"
)
SIDE_BY_SIDE = {
    "percent_agreement": "Agreement",
    "cohen_kappa": "Kappa",
    "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac": "AC1",
    "brennan_prediger": "PABAK",
    "kappa_max": "Maximum kappa",
    "prevalence_index": "Prevalence",
    "bias_index": "Bias",
}


def agree_page(doc: AgreeDocument) -> Page:
    """Coefficients in words, beside each other and beside guessing, and where raters differ."""
    sections = [
        Section(facts=_facts(doc)),
        _measures(doc),
        *_side_by_side(doc),
        *_baseline(doc),
        *_categories(doc),
        *_raters(doc),
        *_pairs(doc),
        *_disputed(doc),
    ]
    lacking = [(m.why, plain(m.title)) for m in doc.measures]
    if doc.data.raters is not None:  # else the measures say so
        lacking.append((doc.pairs.why, "Each two raters"))
    return Page(doc.command, [*sections, *undefined(lacking), *hints(doc.hints)])


def _facts(doc: AgreeDocument) -> list[tuple[str, str]]:
    data, s = doc.data, doc.settings
    facts = [("Data", named([quoted(x) for x in data.sources]))] if data.sources else []
    items = [count(data.items)]
    items += [f"{count(data.unrated)} more without a rating"] if data.unrated else []
    items += [f"{count(data.single)} with one rating only"] if data.single else []
    facts.append(("Items", "; ".join(items)))
    gaps = f", {count(data.missing)} missing" if data.missing else ""
    if data.raters is None:
        who = f"not known; up to {data.most} of an item"
    else:
        who = f"{len(data.raters)}: {named([quoted(r) for r in data.raters], 6)}"
    facts.append(("Raters", f"{who}; {count(data.ratings)} ratings{gaps}"))
    total = data.ratings
    shares = [
        f"{quoted(c.name)} {written(c.ratings / total if total else None, 'percent')}"
        for c in data.categories
    ]
    facts.append(("Categories", f"{data.distinct:,}, {s.scale}: {named(shares, 8)}"))
    if s.weights != "identity":
        how = "the matrix given" if s.weights == "own" else f"{s.weights} weights"
        metric = f"; alpha has its own {s.scale} metric, not to be compared with them"
        facts.append(("Near misses", f"count in part, by {how}{metric}"))
    if data.weighted:
        facts.append(("Weights", "items are weighted"))
    return facts


def _measures(doc: AgreeDocument) -> Section:
    """The measures that have a value, each with its band."""
    two = doc.data.raters is not None and len(doc.data.raters) == 2
    same = ("fleiss_kappa", "conger_kappa", "light_kappa") if two else ()
    known = [m for m in doc.measures if not m.why and m.name not in same]
    columns = [
        Column("", "text"),
        Column("Value", "value"),
        _level(doc),
        Column("p", "p"),
        Column("In words", "text"),
    ]
    rows = [(m.title, m, interval(m), "" if m.p is None else m.p, _in_words(m)) for m in known]
    tested = {m.name for m in known if m.p is not None}
    lines = [BANDS] if any(m.band for m in known) else []
    if tested:
        lines.append(INDEPENDENT + (MARGINS if tested & {"stuart_maxwell", "bowker"} else "") + ".")
    if two:
        lines.append(
            "Of two raters, Fleiss' kappa is Scott's pi, and Conger's and Light's are Cohen's."
        )
    return Section("Agreement", table=Table(columns, rows) if rows else None, lines=lines)


def _level(doc: AgreeDocument) -> Column:
    """The column of intervals, or of the reason why there is none."""
    return Column(f"{percent(doc.settings.level)} interval", "text")


def _in_words(m: AgreementRow) -> str:
    # to whole percent: it is rough
    return f"{m.band} ({percent(round(m.chances[m.band], 2))})" if m.band and m.chances else ""


def _side_by_side(doc: AgreeDocument) -> list[Section]:
    """Coefficients without weights; the hints say what drives them apart."""
    known = [m for m in doc.paradox.measures if not m.why]
    if len(known) < 3:
        return []
    many = len(doc.data.categories) > 2
    names = SIDE_BY_SIDE | ({"brennan_prediger": "Brennan-Prediger"} if many else {})
    table = Table([Column(names[m.name]) for m in known], [[m.value for m in known]])
    return [Section("Side by side, without weights", table=table)]


def _baseline(doc: AgreeDocument) -> list[Section]:
    """Kappa as the share of the error of guessing that is avoided."""
    b = doc.baseline
    if not b.by_margins or math.isnan(b.by_margins):
        return []
    columns = [
        Column("Guessing", "text"),
        Column("Error"),
        Column("Its error"),
        Column("1 - error / its error"),
        Column("p", "p"),
    ]
    rows: list[tuple[object, ...]] = [("by margins", b.error, b.by_margins, b.kappa, "")]
    if b.draws:
        spread = " ± ".join(written(x, "number") for x in (b.by_permutation, b.spread))
        p = p_value(b.p, least=is_least(b.p, b.draws))
        rows.append(("by permutation", b.error, spread, b.kappa_permuted, p))
    return [Section("Error beside guessing", table=Table(columns, rows))]


def _categories(doc: AgreeDocument) -> list[Section]:
    if not doc.categories:
        return []
    columns = [
        Column("Category", "text"),
        Column("Of all ratings", "percent"),
        Column("Another says it too", "value"),
        _level(doc),
    ]
    rows = [
        (_short(c.category), c.share, c.agreement, interval(c.agreement) or c.agreement.why)
        for c in doc.categories[:CATEGORIES]
    ]
    more = len(doc.categories) - len(rows)
    lines = [f"{more:,} further categories are in the document"] if more else []
    return [Section("Each category", table=Table(columns, rows), lines=lines)]


def _raters(doc: AgreeDocument) -> list[Section]:
    """Who differs most; nothing to tell where there are two."""
    if len(doc.raters) < 3:
        return []
    columns = [
        Column("Rater", "text"),
        Column("Items", "count"),
        Column("Agrees with others", "value"),
        _level(doc),
        Column("With their majority", "value"),
    ]
    rows = [
        (_short(r.rater), r.items, r.others, interval(r.others), r.majority)
        for r in doc.raters[:RATERS]
    ]
    more = len(doc.raters) - len(rows)
    lines = [f"{counted(more, 'further rater')} in the document"] if more else []
    return [Section("Each rater, who differs most first", table=Table(columns, rows), lines=lines)]


def _pairs(doc: AgreeDocument) -> list[Section]:
    pairs = doc.pairs.rows
    enough = [p for p in pairs if p.items >= ENOUGH] or pairs
    if len(pairs) < 2:
        return _said_by_both("What both said", doc, enough)
    columns = [
        Column("First", "text"),
        Column("Second", "text"),
        Column("Items", "count"),
        Column("Agreement"),
        Column("Cohen's kappa", "value"),
        _level(doc),
    ]
    rows = [
        (_short(p.first), _short(p.second), p.items, p.agreement.value, p.kappa,
         interval(p.kappa) or p.kappa.why)
        for p in enough[:PAIRS]
    ]  # fmt: skip
    more = doc.pairs.number - len(rows)
    few = f" or share fewer than {ENOUGH} items" if len(enough) < len(pairs) else ""
    lines = [f"{counted(more, 'further pair')} who agree more{few}"] if more > 0 else []
    each = Section("Each two raters", table=Table(columns, rows), lines=lines)
    return [each, *_said_by_both("What the pair that agrees least said", doc, enough)]


def _said_by_both(title: str, doc: AgreeDocument, pairs: list[Pair]) -> list[Section]:
    """What the first pair said, where the table is small."""
    names = [_short(c.name, 10) for c in doc.data.categories]
    if not pairs or pairs[0].table is None or len(names) > 8 or pairs[0].items < ENOUGH:
        return []
    corner = f"{_short(pairs[0].first, 12)} \\ {_short(pairs[0].second, 12)}"
    columns = [Column(corner, "text"), *(Column(n, "count") for n in names)]
    rows = [(n, *line) for n, line in zip(names, pairs[0].table, strict=True)]
    return [Section(title, table=Table(columns, rows))]


def _disputed(doc: AgreeDocument) -> list[Section]:
    if not doc.disputed:
        return []
    several = len({i.file for i in doc.disputed}) > 1
    ids = any(i.id is not None for i in doc.disputed)
    columns = [Column("Row"), Column("Disagreement"), Column("Ratings", "text")]
    rows: list[tuple[object, ...]] = []
    for i in doc.disputed:
        place = (f"{plain(i.file)}: " if several else "") + str(i.row)
        rows.append((*([_short(i.id or "")] if ids else []), place, i.disagreement, _said(doc, i)))
    start = 1 if doc.data.sources else 0
    lines = [
        f"Disagreement: share of pairs of ratings that differ (in part, where categories are ordered). "
        f"Rows count from {start}."
    ]
    table = Table([*([Column("Item", "text")] if ids else []), *columns], rows)
    return [Section("Items with most disagreement", table=table, lines=lines)]


def _said(doc: AgreeDocument, item: DisputedItem) -> str:
    """What each rater said, or how many said what where raters are many or not known."""
    raters = doc.data.raters
    if raters is not None and sum(word is not None for word in item.said) <= 4:
        pairs = zip(raters, item.said, strict=True)
        return ", ".join(f"{plain(r)} {quoted(word)}" for r, word in pairs if word is not None)
    return ", ".join(f"{n} x {quoted(word)}" for word, n in item.counts.items())


def _short(name: str, most: int = LONGEST) -> str:
    word = plain(name)
    return word if len(word) <= most else word[: most - 1] + "…"
