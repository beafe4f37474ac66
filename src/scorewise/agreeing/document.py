"""The document of how far raters agree."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from scorewise.agreeing.baseline import Baseline
from scorewise.agreeing.items import DisputedItem, Pair, RaterAgreement
from scorewise.agreeing.words import COMMON, Paradox
from scorewise.columns.rating_codes import RatingList, spelled_alike
from scorewise.columns.ratings import RatingRows
from scorewise.inference.agreement_weights import named as weights_named
from scorewise.registry import RATER_MEASURES
from scorewise.show.documents import documented, estimate_of, finite, measure_row
from scorewise.show.words import Document, counted, named, quoted

if TYPE_CHECKING:
    from scorewise.agreeing.agreement import Agreement

FEW = 20  # items below which intervals are rough
MOST = 1000  # categories that are listed
LEAST = 5  # items on which raters agree on a rarer category
LIKE_COLUMNS = 10  # times as many raters as items


def agreement_document(a: Agreement) -> Document:
    """All of it; `items` are listed where rows are known."""
    s = a.settings
    return documented(
        "agree",
        {
            "settings": {
                "scale": a.ratings.scale,
                "weights": weights_named(a.ratings, s.weights),
                "interval": s.interval,
                "level": s.level,
                "seed": s.seed,
                "top": s.top,
            },
            "data": _data(a),
            "measures": [_measure(a, name) for name in a],
            "paradox": _paradox(a.paradox),
            "baseline": _baseline(a.baseline),
            "categories": [
                {"category": c.category, "share": c.share, "agreement": estimate_of(c.agreement)}
                for c in (a.categories if len(a.ratings.categories) <= MOST else ())
            ],
            "pairs": {
                "number": a.pairs.number,
                "why": a.pairs.why,
                "rows": [_pair(p) for p in a.pairs.rows],
            },
            "raters": [_rater(r) for r in a.raters],
            "disputed": [_item(i) for i in a.disputed],
            "hints": list(_hints(a)),
        },
    )


def _data(a: Agreement) -> Document:
    r, rows = a.ratings, a.rows
    ratings = float((r.weight * r.rated).sum())
    said = np.bincount(r.counted.code, r.weight[r.counted.at] * r.counted.times, len(r.categories))
    known = None if r.raters is None else list(r.raters)
    unrated = 0 if rows is None else _unrated(rows)
    return {
        "sources": list(a.sources),
        "items": _number(r.items),
        "unrated": unrated,
        "single": _number(r.weight[r.rated == 1].sum()),
        "ratings": _number(ratings),
        "missing": None if known is None else _number(max(r.items * len(known) - ratings, 0.0)),
        "raters": known,
        "most": int(r.rated.max(initial=0)),
        "distinct": len(r.categories),
        "categories": [
            {"name": c, "ratings": _number(w)}
            for c, w in zip(r.categories[:MOST], said, strict=False)
        ],
        "weighted": r.weighted,
    }


def _unrated(rows: RatingRows) -> int:
    """How many items have no rating."""
    if isinstance(rows.given, RatingList):
        return len(rows) - len(np.unique(rows.given.item))
    return int(np.count_nonzero((rows.given < 0).all(1)))


def _measure(a: Agreement, name: str) -> Document:
    b = a.bands.get(name)
    plain = weights_named(a.ratings, a.settings.weights) == "identity"
    weighted = {} if plain or name not in WEIGHTED else {"title": WEIGHTED[name]}
    return {
        **measure_row(RATER_MEASURES[name], a[name]),
        **weighted,
        "band": None if b is None else b.name,
        "chances": None if b is None else dict(b.chances),
    }


WEIGHTED = {"gwet_ac": "Gwet's AC2", "percent_agreement": "Weighted agreement"}


def _number(x: float) -> float:
    """A count as a whole number, a sum of weights as it is."""
    return int(x) if float(x).is_integer() else float(x)


def _paradox(p: Paradox) -> Document:
    return {
        "measures": [
            {"name": n, "title": RATER_MEASURES[n].title, "value": finite(e.value), "why": e.why}
            for n, e in p.estimates.items()
        ],
        "commonest": p.commonest,
        "share": p.share,
        "shift": p.shift,
        "prevalence": p.prevalence,
        "bias": p.bias,
    }


def _baseline(b: Baseline) -> Document:
    numbers = ("error", "by_margins", "by_permutation", "spread", "p", "kappa", "kappa_permuted")
    return {**{n: finite(getattr(b, n)) for n in numbers}, "draws": b.draws, "why": b.why}


def _pair(p: Pair) -> Document:
    return {
        "first": p.first,
        "second": p.second,
        "items": _number(p.items),
        "agreement": estimate_of(p.agreement),
        "kappa": estimate_of(p.kappa),
        "table": None if p.table is None else p.table.weight.tolist(),
    }


def _rater(r: RaterAgreement) -> Document:
    return {
        "rater": r.rater,
        "items": _number(r.items),
        "others": estimate_of(r.others),
        "majority": estimate_of(r.majority),
    }


def _item(i: DisputedItem) -> Document:
    return {
        "row": i.row,
        "file": i.file,
        "id": None if i.id is None else str(i.id),
        "disagreement": i.disagreement,
        "said": list(i.said),
    }


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
    yield from _alike(a)
    yield from _rare(a)
    if r.raters is not None and len(r.raters) > LIKE_COLUMNS * max(r.items, 1):
        yield (
            f"{len(r.raters):,} raters of {counted(round(r.items), 'item')}: if these are two columns of "
            f"ratings, pass them by name"
        )
    if 1 < r.effective < FEW:
        yield f"{counted(round(r.effective), 'item')} are few; intervals are rough"


def _alike(a: Agreement) -> Iterator[str]:
    """Categories that are one word spelled in two ways, or a word for nothing."""
    for first, second in spelled_alike(a.ratings.categories)[:3]:
        yield f"{quoted(first)} and {quoted(second)} count as two categories; are they one?"


def _rare(a: Agreement) -> Iterator[str]:
    """Kappa and alpha lean on the categories that are not the commonest."""
    share, common = a.paradox.share, a.paradox.commonest
    if common is None or share < COMMON or len(a.ratings.categories) > MOST:
        return
    r = a.ratings
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
