"""What `agree` writes: coefficients in words, what drives them apart, and where raters differ."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np
from msgspec import Meta

from scorewise.agreeing.baseline import COMMON
from scorewise.agreeing.disagreement import (
    Amount,
    CategoryAgreement,
    DisputedItem,
    Pairs,
    RaterAgreement,
    amount,
)
from scorewise.agreeing.page import agree_page
from scorewise.columns.rating_codes import RatingList, spelled_alike
from scorewise.columns.ratings import RatingRows, Scale
from scorewise.inference.agreement_limits import Interval
from scorewise.inference.agreement_weights import named as weights_named
from scorewise.registry import RATER_MEASURES
from scorewise.show.document import (
    COMMAND,
    Count,
    Document,
    Hints,
    Level,
    MeasureRow,
    Number,
    Share,
    Word,
    cautions,
    record_of,
    says,
)
from scorewise.show.page import Page, counted, named, quoted

if TYPE_CHECKING:
    from scorewise.agreeing.agreement import Agreement

FEW = 20  # items below which intervals are rough
MOST = 1000  # categories that are listed
LEAST = 5  # items on which raters agree on a rarer category
LIKE_COLUMNS = 10  # times as many raters as items
WEIGHTED = {"gwet_ac": "Gwet's AC2", "percent_agreement": "Weighted agreement"}


@dataclass(frozen=True, kw_only=True)
class SettingsRecord:
    """The settings that the numbers depend on."""

    scale: Annotated[Scale, says("What kind of categories there are.")]
    weights: Annotated[str, says("How near misses count; own: by a matrix.")]
    interval: Annotated[Interval, says("How intervals were made.")]
    level: Annotated[Level, says("Confidence level of the intervals.")]
    seed: Annotated[Count, says("Seed of the random draws.")]
    top: Annotated[Count, says("Items listed at most.")]


@dataclass(frozen=True, kw_only=True)
class CategoryRecord:
    """A category."""

    name: Annotated[str, says("Its name.")]
    ratings: Annotated[Amount, says("Ratings that say it, or their weight.")]


@dataclass(frozen=True, kw_only=True)
class DataRecord:
    """The ratings that were judged."""

    sources: Annotated[list[str], says("Files read; empty when given as arrays.")]
    items: Annotated[Amount, says("Items with a rating, or their weight.")]
    unrated: Annotated[Count, says("Items without any rating, which count for nothing.")]
    single: Annotated[Amount, says("Items with one rating, or their weight.")]
    ratings: Annotated[Amount, says("Ratings, or their weight.")]
    missing: Annotated[
        Amount | None, says("Ratings that are missing; null where raters are not known.")
    ]
    raters: Annotated[
        list[str] | None, says("The raters; null where it is not known who said what.")
    ]
    most: Annotated[Count, says("Most ratings of an item.")]
    distinct: Annotated[Count, says("Categories in all.")]
    categories: Annotated[list[CategoryRecord], says("The categories in order, at most 1,000.")]
    weighted: Annotated[bool, says("Whether items are weighted.")]


@dataclass(frozen=True, kw_only=True)
class AgreementRow(MeasureRow):
    """One measure of agreement with its estimate."""

    band: Annotated[str | None, says("The coefficient in words; null where it has none.")]
    chances: Annotated[
        dict[str, Share] | None,
        says("Probability that the true value lies in each band; null where there are none."),
    ]


@dataclass(frozen=True, kw_only=True)
class CoefficientRecord:
    """A coefficient without weights."""

    name: Annotated[Word, says("Name, as in the Python library.")]
    title: Annotated[Word, says("Name, as shown.")]
    value: Annotated[Number, says("The value; null when undefined.")]
    why: Annotated[str, says("Why there is no value; empty when there is one.")]


@dataclass(frozen=True, kw_only=True)
class ParadoxRecord:
    """Coefficients without weights side by side, and what drives them apart."""

    measures: Annotated[list[CoefficientRecord], says("The coefficients.")]
    commonest: Annotated[str | None, says("The category said most often.")]
    share: Annotated[Share, says("Its share of all ratings.")]
    shift: Annotated[Amount | None, says("Share of one rater's ratings that would have to move.")]
    prevalence: Annotated[bool, says("Whether the commonest category drives kappa down.")]
    bias: Annotated[bool, says("Whether two raters use the categories differently often.")]


@dataclass(frozen=True, kw_only=True)
class BaselineRecord:
    """The error of two raters beside that of guessing; null where not known."""

    error: Annotated[Number, says("Mean disagreement of two raters.")]
    by_margins: Annotated[Number, says("The same of raters who guess by the margins.")]
    by_permutation: Annotated[Number, says("The same, as the mean over random tables.")]
    spread: Annotated[Number, says("Standard deviation over random tables.")]
    p: Annotated[Share | None, says("Share of random tables that agree as much.")]
    kappa: Annotated[Number, says("1 - error / by_margins.")]
    kappa_permuted: Annotated[Number, says("1 - error / by_permutation.")]
    draws: Annotated[Count, says("Random tables drawn.")]
    why: Annotated[str, says("Why something is not known; empty where all is.")]


@dataclass(frozen=True, kw_only=True)
class AgreeDocument(Document):
    """Raters of the same items, and how far they agree."""

    command: Annotated[Literal["agree"], says(COMMAND)] = "agree"
    settings: SettingsRecord
    data: DataRecord
    measures: Annotated[list[AgreementRow], Meta(min_length=1), says("Every measure of agreement.")]
    paradox: ParadoxRecord
    baseline: BaselineRecord
    categories: Annotated[
        list[CategoryAgreement], says("Agreement on each category; none beyond 1,000.")
    ]
    pairs: Pairs
    raters: Annotated[list[RaterAgreement], says("Each rater, who differs most first.")]
    disputed: Annotated[list[DisputedItem], says("The items with most disagreement.")]
    hints: Hints

    def page(self) -> Page:
        """Coefficients in words, beside each other and beside guessing, and where raters differ."""
        return agree_page(self)


def agree_document(a: Agreement) -> AgreeDocument:
    """The document of an agreement."""
    r, s = a.ratings, a.settings
    side_by_side = [
        CoefficientRecord(name=n, title=RATER_MEASURES[n].title, value=e.value, why=e.why)
        for n, e in a.paradox.estimates.items()
    ]
    made = AgreeDocument(
        settings=record_of(SettingsRecord, s, scale=r.scale, weights=weights_named(r, s.weights)),
        data=_data(a),
        measures=measure_rows(a),
        paradox=record_of(ParadoxRecord, a.paradox, measures=side_by_side),
        baseline=record_of(BaselineRecord, a.baseline),
        categories=a.categories if len(r.categories) <= MOST else [],
        pairs=a.pairs,
        raters=a.raters,
        disputed=[replace(i, id=None if i.id is None else str(i.id)) for i in a.disputed],
        hints=list(_hints(a)),
    )
    return replace(made, hints=[*made.hints, *cautions(made)])


def measure_rows(a: Agreement) -> list[AgreementRow]:
    """Every measure, and the word for it."""
    weighted = weights_named(a.ratings, a.settings.weights) != "identity"
    rows = []
    for name in a:
        row, band = vars(MeasureRow.of(RATER_MEASURES[name], a[name])), a.bands.get(name)
        if weighted and name in WEIGHTED:
            row = {**row, "title": WEIGHTED[name]}
        word, chances = (None, None) if band is None else band
        rows.append(AgreementRow(**row, band=word, chances=chances))
    return rows


def _data(a: Agreement) -> DataRecord:
    r = a.ratings
    ratings = float((r.weight * r.rated).sum())
    said = np.bincount(r.counted.code, r.weight[r.counted.at] * r.counted.times, len(r.categories))
    raters = None if r.raters is None else list(r.raters)
    return DataRecord(
        sources=list(a.sources),
        items=amount(r.items),
        unrated=0 if a.rows is None else _unrated(a.rows),
        single=amount(r.weight[r.rated == 1].sum()),
        ratings=amount(ratings),
        missing=None if raters is None else amount(max(r.items * len(raters) - ratings, 0.0)),
        raters=raters,
        most=int(r.rated.max(initial=0)),
        distinct=len(r.categories),
        categories=[
            CategoryRecord(name=c, ratings=amount(w))
            for c, w in zip(r.categories[:MOST], said, strict=False)
        ],
        weighted=r.weighted,
    )


def _unrated(rows: RatingRows) -> int:
    """How many items have no rating."""
    if isinstance(rows.given, RatingList):
        return len(rows) - len(np.unique(rows.given.item))
    return int(np.count_nonzero((rows.given < 0).all(1)))


def _hints(a: Agreement) -> Iterator[str]:
    """What a reader should be told in words."""
    r = a.ratings
    yield from a.rows.notes if a.rows is not None else ()
    yield from a.paradox.sentences
    if r.raters is not None:
        order, start, length = r.by_rater
        for name, first, many in zip(r.raters, start.tolist(), length.tolist(), strict=True):
            said = r.listed.code[order[first : first + many]]
            if many and (said == said[0]).all() and len(r.categories) > 1:
                yield f"{quoted(name)} says {quoted(r.categories[said[0]])} of every item that they rated"
            if not many:
                yield f"{quoted(name)} rated nothing"
    never = np.setdiff1d(np.arange(len(r.categories)), r.counted.code)
    if len(never):
        yield f"no rater ever says {named([quoted(r.categories[k]) for k in never])}"
    if r.scale == "nominal" and len(r.categories) > 2 and _numbers(r.categories):
        yield (
            'the categories are numbers; if they have an order, scale="ordinal" or scale="interval" counts '
            "near misses for less than other differences"
        )
    # one word spelled in two ways, or a word for nothing
    for one, other in spelled_alike(r.categories)[:3]:
        yield f"{quoted(one)} and {quoted(other)} count as two categories; are they one?"
    yield from _rare(a)
    if r.raters is not None and len(r.raters) > LIKE_COLUMNS * max(r.items, 1):
        yield (
            f"{len(r.raters):,} raters of {counted(round(r.items), 'item')}: if these are two columns of "
            f"ratings, pass them by name"
        )
    if 1 < r.effective < FEW:
        yield f"{counted(round(r.effective), 'item')} are few; intervals are rough"


def _rare(a: Agreement) -> Iterator[str]:
    """Kappa and alpha lean on the categories that are not the commonest."""
    share, common, r = a.paradox.share, a.paradox.commonest, a.ratings
    if common is None or share < COMMON or len(r.categories) > MOST:
        return
    k = r.categories.index(common)
    again = np.unique(r.counted.at[(r.counted.code != k) & (r.counted.times >= 2)])
    both = float(r.weight[again].sum())
    if both < LEAST and not r.weighted:
        yield (
            f"on {counted(round(both), 'item')} only raters agree on another category than "
            f"{quoted(common)}: too few for the intervals and words of kappa and alpha to be relied on"
        )


def _numbers(words: tuple[str, ...]) -> bool:
    try:
        return all(np.isfinite(float(w)) for w in words)
    except ValueError:
        return False
