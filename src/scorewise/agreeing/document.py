"""What `agree` writes and shows: coefficients in words, what drives them apart, where raters differ."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from scorewise.agreeing.agreement import Settings, group_wording
from scorewise.agreeing.disagreement import (
    Amount,
    CategoryAgreement,
    DisputedItem,
    Pair,
    Pairs,
    RaterAgreement,
    amount,
)
from scorewise.agreeing.interpretation import Baseline, ParadoxRecord
from scorewise.agreeing.verdict import hints, verdict
from scorewise.columns.rating_codes import RatingList
from scorewise.errors import plain
from scorewise.registry import RATER_MEASURES
from scorewise.show.data import ClusterRecord
from scorewise.show.document import JudgedDocument, with_cautions
from scorewise.show.page import Column, Section, section, undefined
from scorewise.show.records import Count, MeasureRow, Record, Share, field, record_of
from scorewise.show.words import (
    Format,
    count,
    formatted,
    interval,
    is_smallest_p,
    listed,
    p_value,
    percent,
    plural,
    quoted,
    truncated,
)
from scorewise.subgroups import GroupsRecord, group_section

if TYPE_CHECKING:
    from scorewise.agreeing.agreement import Agreement

MAX_CATEGORIES = 1000  # that are listed
MIN_ITEMS = 5  # that a pair has in common, to be worth showing
CATEGORIES, RATERS, PAIRS = 30, 20, 15  # rows of a table at most
WEIGHTED_TITLES = {"gwet_ac": "Gwet's AC2", "percent_agreement": "Weighted agreement"}
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
TWO_ALIKE = "Of two raters, Fleiss' kappa is Scott's pi, and Conger's and Light's are Cohen's."
SIDE_BY_SIDE = {
    "percent_agreement": "Agreement", "cohen_kappa": "Kappa", "fleiss_kappa": "Fleiss' kappa",
    "gwet_ac": "AC1", "brennan_prediger": "PABAK", "kappa_max": "Maximum kappa",
    "prevalence_index": "Prevalence", "bias_index": "Bias",
}  # fmt: skip


class CategoryRecord(Record):
    """A category."""

    name: str
    ratings: Amount = field("Ratings that say it, or their weight.")


class DataRecord(Record):
    """The ratings that were judged."""

    sources: list[str]
    items: Amount = field("Items with a rating, or their weight.")
    unrated: Count = field("Items without any rating, which count for nothing.")
    single: Amount = field("Items with one rating, or their weight.")
    ratings: Amount = field("Ratings, or their weight.")
    missing: Amount | None = field("Ratings that are missing; null where raters are not known.")
    raters: list[str] | None = field("The raters; null where it is not known who said what.")
    most: Count = field("Most ratings of an item.")
    distinct: Count = field("Categories in all.")
    categories: list[CategoryRecord] = field("The categories in order, at most 1,000.")
    weighted: bool

    @classmethod
    def of(cls, a: Agreement) -> DataRecord:
        """The record of the ratings."""
        r, unrated = a.ratings, 0
        if a.rows is not None:
            given = a.rows.given
            there = (
                given.item if isinstance(given, RatingList) else np.flatnonzero((given >= 0).any(1))
            )
            unrated = len(a.rows) - len(np.unique(there))
        ratings = float((r.weight * r.rated).sum())
        raters = None if r.raters is None else list(r.raters)
        return cls(
            sources=list(a.sources),
            items=amount(r.items),
            unrated=unrated,
            single=amount(r.weight[r.rated == 1].sum()),
            ratings=amount(ratings),
            missing=None if raters is None else amount(max(r.items * len(raters) - ratings, 0.0)),
            raters=raters,
            most=int(r.rated.max(initial=0)),
            distinct=len(r.categories),
            categories=[
                CategoryRecord(name=c, ratings=amount(w))
                for c, w in zip(r.categories[:MAX_CATEGORIES], r.said, strict=False)
            ],
            weighted=r.weighted,
        )


class AgreementRow(MeasureRow):
    """One measure of agreement with its estimate."""

    band: str | None = field("The coefficient in words; null where it has none.")
    chances: dict[str, Share] | None = field(
        "Probability that the true value lies in each band; null where there are none."
    )

    @classmethod
    def of_agreement(cls, a: Agreement, name: str) -> AgreementRow:
        """The row of a measure, and the word for it."""
        e, m, (band, chances) = a[name], RATER_MEASURES[name], a.bands.get(name, (None, None))
        title = m.title
        if a.settings.weights != "identity":
            title = WEIGHTED_TITLES.get(name, title)
        more = {"title": title, "band": band, "chances": chances}
        return record_of(cls, e, m, skill=m.skill(e), **more)


class AgreeDocument(JudgedDocument, command="agree"):
    """Raters of the same items, and how far they agree."""

    settings: Settings
    data: DataRecord
    clusters: ClusterRecord | None
    measures: list[AgreementRow] = field("Every measure of agreement.", min_length=1)
    paradox: ParadoxRecord
    baseline: Baseline
    categories: list[CategoryAgreement] = field("Agreement on each category; none beyond 1,000.")
    pairs: Pairs
    raters: list[RaterAgreement] = field("Each rater, who differs most first.")
    disputed: list[DisputedItem] = field("The items with most disagreement.")
    groups: list[GroupsRecord]

    @classmethod
    def of(cls, a: Agreement) -> AgreeDocument:
        """The document of an agreement."""
        doc = record_of(
            cls,
            a,
            data=DataRecord.of(a),
            clusters=ClusterRecord.of(a.cluster),
            verdict=verdict(a),
            measures=[AgreementRow.of_agreement(a, name) for name in a],
            paradox=record_of(ParadoxRecord, a.paradox),
            categories=a.categories if len(a.ratings.categories) <= MAX_CATEGORIES else [],
            disputed=[replace(i, id=None if i.id is None else str(i.id)) for i in a.disputed],
            groups=[a.groups.record] if a.groups else [],
            hints=list(hints(a)),
        )
        return with_cautions(doc)

    def sections(self) -> list[Section]:
        """Coefficients in words, beside each other and beside guessing, and where raters differ."""
        lacking = [(m.why, plain(m.title)) for m in self.measures]
        if self.data.raters is not None:  # else the measures say so
            lacking.append((self.pairs.why, "Each two raters"))
        parts = (
            _measures, _groups, _side_by_side, _baseline, _categories, _raters, _pairs, _disputed,
        )  # fmt: skip
        shown = [s for part in parts for s in part(self)]
        return [Section(facts=_facts(self)), *shown, *undefined(lacking)]


def _facts(doc: AgreeDocument) -> list[tuple[str, str]]:
    data, s = doc.data, doc.settings
    items = count(data.items)
    items += f"; {count(data.unrated)} more without a rating" if data.unrated else ""
    items += f"; {count(data.single)} with one rating only" if data.single else ""
    who = f"not known; up to {data.most} of an item"
    if data.raters is not None:
        who = f"{len(data.raters)}: {listed([quoted(r) for r in data.raters], 6)}"
    gaps = f", {count(data.missing)} missing" if data.missing else ""
    total = data.ratings
    shares = [
        f"{quoted(c.name)} {formatted(c.ratings / total if total else None, 'percent')}"
        for c in data.categories
    ]
    how = "the matrix given" if s.weights == "own" else f"{s.weights} weights"
    near = f"by {how}; alpha has its own {s.scale} metric, not to be compared with them"
    facts = [
        ("Data", listed([quoted(x) for x in data.sources])),
        ("Items", items),
        *(doc.clusters.facts("item") if doc.clusters is not None else []),
        ("Raters", f"{who}; {count(data.ratings)} ratings{gaps}"),
        ("Categories", f"{data.distinct:,}, {s.scale}: {listed(shares, 8)}"),
        ("Near misses", f"count in part, {near}" if s.weights != "identity" else ""),
        ("Weights", "items are weighted" if data.weighted else ""),
    ]
    return [(name, text) for name, text in facts if text]


def _level(doc: AgreeDocument) -> dict[str, Format]:
    """The column of intervals, or of the reason why there is none."""
    return {f"{percent(doc.settings.level)} interval": "text"}


def _measures(doc: AgreeDocument) -> list[Section]:
    """The measures that have a value, each with its band."""
    two = doc.data.raters is not None and len(doc.data.raters) == 2
    same = ("fleiss_kappa", "conger_kappa", "light_kappa") if two else ()
    known = [m for m in doc.measures if not m.why and m.name not in same]
    rows = []
    for m in known:
        # to whole percent: it is rough
        words = m.band and m.chances and f"{m.band} ({percent(round(m.chances[m.band], 2))})"
        rows.append((m.title, m, interval(m), "" if m.p is None else m.p, words or ""))
    tested = {m.name for m in known if m.p is not None}
    lines = [BANDS] if any(m.band for m in known) else []
    if tested:
        lines.append(INDEPENDENT + (MARGINS if tested & {"stuart_maxwell", "bowker"} else "") + ".")
    lines += [TWO_ALIKE] if two else []
    columns: dict[str, Format] = {"": "text", "Value": "value", **_level(doc)}
    columns |= {"p": "p", "In words": "text"}
    return section("Agreement", columns, rows, lines) or [Section("Agreement", lines=lines)]


def _groups(doc: AgreeDocument) -> list[Section]:
    how = group_wording(doc.data.raters)
    made = (group_section(g, doc.settings.level, how, "Groups") for g in doc.groups)
    return [replace(s, anchor="slices") for s in made]


def _side_by_side(doc: AgreeDocument) -> list[Section]:
    """Coefficients without weights; the hints say what drives them apart."""
    known = [m for m in doc.paradox.measures if not m.why]
    many = len(doc.data.categories) > 2
    names = SIDE_BY_SIDE | ({"brennan_prediger": "Brennan-Prediger"} if many else {})
    rows = [[m.value for m in known]] if len(known) > 2 else []
    columns = [Column(names[m.name]) for m in known]
    return section("Side by side, without weights", columns, rows)


def _baseline(doc: AgreeDocument) -> list[Section]:
    """Kappa as the share of the error of guessing that is avoided."""
    b = doc.baseline
    if not b.by_margins or math.isnan(b.by_margins):
        return []
    rows: list[tuple[object, ...]] = [("by margins", b.error, b.by_margins, b.kappa, "")]
    if b.draws:
        spread = " ± ".join(formatted(x, "number") for x in (b.by_permutation, b.spread))
        p = p_value(b.p, least=is_smallest_p(b.p, b.draws))
        rows.append(("by permutation", b.error, spread, b.kappa_permuted, p))
    ratio = "1 - error / its error"
    columns: dict[str, Format] = {"Guessing": "text", "Error": "number", "Its error": "number"}
    return section("Error beside guessing", columns | {ratio: "number", "p": "p"}, rows)


def _categories(doc: AgreeDocument) -> list[Section]:
    rows = [
        (_short(c.category), c.share, c.agreement, interval(c.agreement) or c.agreement.why)
        for c in doc.categories[:CATEGORIES]
    ]
    more = len(doc.categories) - len(rows)
    lines = [f"{more:,} further categories are in the document"] if more else []
    columns: dict[str, Format] = {"Category": "text", "Of all ratings": "percent"}
    columns |= {"Another says it too": "value", **_level(doc)}
    return section("Each category", columns, rows, lines)


def _raters(doc: AgreeDocument) -> list[Section]:
    """Who differs most; nothing to tell where there are two."""
    if len(doc.raters) < 3:
        return []
    rows = [
        (_short(r.rater), r.items, r.others, interval(r.others), r.majority)
        for r in doc.raters[:RATERS]
    ]
    more = len(doc.raters) - len(rows)
    lines = [f"{plural(more, 'further rater')} in the document"] if more else []
    columns: dict[str, Format] = {"Rater": "text", "Items": "count", "Agrees with others": "value"}
    columns |= {**_level(doc), "With their majority": "value"}
    return section("Each rater, who differs most first", columns, rows, lines)


def _pairs(doc: AgreeDocument) -> list[Section]:
    pairs = doc.pairs.rows
    enough = [p for p in pairs if p.items >= MIN_ITEMS] or pairs
    if len(pairs) < 2:
        return _said_by_both("What both said", doc, enough)
    rows = [
        (_short(p.first), _short(p.second), p.items, p.agreement.value, p.kappa,
         interval(p.kappa) or p.kappa.why)
        for p in enough[:PAIRS]
    ]  # fmt: skip
    more = doc.pairs.number - len(rows)
    few = f" or share fewer than {MIN_ITEMS} items" if len(enough) < len(pairs) else ""
    lines = [f"{plural(more, 'further pair')} who agree more{few}"] if more > 0 else []
    columns: dict[str, Format] = {"First": "text", "Second": "text", "Items": "count"}
    columns |= {"Agreement": "number", "Cohen's kappa": "value", **_level(doc)}
    return [
        *section("Each two raters", columns, rows, lines),
        *_said_by_both("What the pair that agrees least said", doc, enough),
    ]


def _said_by_both(title: str, doc: AgreeDocument, pairs: Sequence[Pair]) -> list[Section]:
    """What the first pair said, where the table is small."""
    names = [_short(c.name, 10) for c in doc.data.categories]
    if not pairs or pairs[0].table is None or len(names) > 8 or pairs[0].items < MIN_ITEMS:
        return []
    corner = f"{_short(pairs[0].first, 12)} \\ {_short(pairs[0].second, 12)}"
    columns = [Column(corner, "text"), *(Column(n, "count") for n in names)]
    rows = [(n, *line) for n, line in zip(names, pairs[0].table, strict=True)]
    return section(title, columns, rows)


def _disputed(doc: AgreeDocument) -> list[Section]:
    """What each rater said, or how many said what where raters are many or not known."""
    several = len({i.file for i in doc.disputed}) > 1
    ids = any(i.id is not None for i in doc.disputed)
    rows: list[tuple[object, ...]] = []
    for i in doc.disputed:
        place = (f"{plain(i.file)}: " if several else "") + str(i.row)
        said = [f"{n} x {quoted(word)}" for word, n in i.counts.items()]
        if doc.data.raters is not None and sum(word is not None for word in i.said) <= 4:
            pairs = zip(doc.data.raters, i.said, strict=True)
            said = [f"{plain(r)} {quoted(word)}" for r, word in pairs if word is not None]
        row = _short(i.id or ""), place, i.disagreement, ", ".join(said)
        rows.append(row[0 if ids else 1 :])
    columns: dict[str, Format] = {"Item": "text"} if ids else {}
    columns |= {"Row": "number", "Disagreement": "number", "Ratings": "text"}
    line = (
        "Disagreement: share of pairs of ratings that differ (in part, where categories are ordered). "
        f"Rows count from {1 if doc.data.sources else 0}."
    )
    return section("Items with most disagreement", columns, rows, [line])


def _short(name: str, most: int = 24) -> str:
    return truncated(plain(name), most)
