"""Where raters agree and where they differ: by category, by pair of raters, by rater and by item."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias

import numpy as np
from msgspec import Meta

from scorewise.arrays import Ints
from scorewise.checks import check
from scorewise.columns.rating_codes import RatingList
from scorewise.columns.ratings import RatingRows
from scorewise.estimate import Estimate
from scorewise.inference.agreement_weights import Weights, disagreement_of
from scorewise.inference.differences import holm
from scorewise.inference.rater_pairs import compare_pairs, why_too_many
from scorewise.inference.shares import share_of_items
from scorewise.measures.agreement import cohen_kappa
from scorewise.show.records import Count, EstimateField, PairNames, Record, Share, field
from scorewise.tallies.rating_patterns import CategoryCounts, distinct_rows, sums_at, take_rows
from scorewise.tallies.ratings import UNNAMED, Ratings
from scorewise.tallies.sorting import largest

MAX_PAIRS = 45  # of raters that are listed
MAX_TABLE = 64  # categories beyond which there is no table of a pair
MIN_DISPUTED = 10  # items with disagreement from which on a rater is told from the others
BLOCK = 1 << 17  # items looked at together
Amount: TypeAlias = Annotated[float, Meta(ge=0)]


def amount(x: float) -> float:
    """A count as a whole number, a sum of weights as it is."""
    return int(x) if float(x).is_integer() else float(x)


# On which categories raters agree: the specific agreement of each.


class CategoryAgreement(Record):
    """Agreement on a category."""

    category: str
    share: Share
    agreement: EstimateField = field("Where one says it, the chance that another does.")


def specific_agreement(r: Ratings, *, level: float = 0.95) -> list[CategoryAgreement]:
    """Given that one rater says a category, the chance that another says it of the same item.

    sum m (m - 1) / sum m (k - 1) over items with m of k ratings in the category; for two raters
    2 n_cc / (n_c. + n_.c) (Fleiss 1981, Cicchetti and Feinstein 1990; positive and negative agreement
    where there are two categories). Wilson's interval, with the variance over items.

    >>> for row in specific_agreement(Ratings.of_table([[80, 10], [5, 5]])):
    ...     print(row.category, row.share, row.agreement)
    0 0.875 0.914 [0.860, 0.949]
    1 0.125 0.400 [0.188, 0.658]
    """
    order = np.argsort(r.counted.code, kind="stable")
    item, category, times = (x[order] for x in (r.counted.at, r.counted.code, r.counted.times))
    possible = times * (r.rated[item] - 1)  # pairs with another rating of the item
    agreeing, w, w2 = times * (times - 1), r.weight[item], r.weight2[item]
    total = float(r.said.sum())
    ends = np.searchsorted(category, np.arange(len(r.categories) + 1))
    rows = []
    for k, name in enumerate(r.categories):
        at = slice(ends[k], ends[k + 1])
        if not at.stop > at.start:
            e = Estimate.undefined("nobody said it", level)
        elif not possible[at].any():
            e = Estimate.undefined("no item that it was said of has a second rating", level)
        else:
            e = share_of_items(agreeing[at], possible[at], w[at], w2[at], level=level)
        share = float(r.said[k]) / total if total else 0.0
        rows.append(CategoryAgreement(category=name, share=share, agreement=e))
    return rows


# Which raters agree least, two by two.


class Pair(PairNames):
    """Two raters."""

    items: Amount = field("Items that both rated, or their weight.")
    agreement: EstimateField = field("Share of items on which they agree, in part by the weights.")
    kappa: EstimateField = field("Cohen's kappa, with the same weights.")
    table: list[list[Amount]] | None = field(
        "What both said, a row for each category of the first; null where it would be large."
    )


class Pairs(Record):
    """Each two raters."""

    number: Count = field("Pairs of raters who share an item.", default=0)
    why: str = field("Why none were looked at; empty where they were.", default="")
    rows: list[Pair] = field("The pairs that agree least, in that order.")


def pairs(
    r: Ratings, *, weights: Weights = None, most: int = MAX_PAIRS, level: float = 0.95
) -> Pairs:
    """The pairs of raters who agree least, at most so many, least agreement first.

    >>> r = Ratings.of({"ann": [1, 0, 1, 1], "bob": [1, 0, 0, 1], "cay": [0, 1, 0, None]})
    >>> for p in pairs(r).rows:
    ...     print(p.first, p.second, p.items, p.agreement, p.table)
    ann cay 3 0.000 [0.000, 0.561] [[0, 1], [2, 0]]
    bob cay 3 0.333 [0.061, 0.792] [[1, 1], [1, 0]]
    ann bob 4 0.750 [0.301, 0.954] [[1, 0], [1, 2]]
    """
    if r.raters is None:
        return Pairs(rows=[], why=UNNAMED)
    if why := why_too_many(r.rated):
        return Pairs(rows=[], why=why)
    d = disagreement_of(r, weights)
    if isinstance(d, str):
        return Pairs(rows=[], why=d)
    raters, number, least = len(r.raters), 0, np.empty((3, 0))
    for c in compare_pairs(r.listed, r.weight, None, len(r.categories), raters):
        if c.cells > 4 * len(c.cell):  # most pairs share none
            pair, place = np.unique(c.cell, return_inverse=True)
        else:
            pair, place = np.arange(c.cells), c.cell
        apart = c.weight * d.between(c.first, c.second)
        differing, weight = (sums_at(place, w, len(pair)) for w in (apart, c.weight))
        used = weight > 0
        # rounded, so that rounding does not decide between equals
        share = (differing[used] / weight[used]).round(12)
        block = np.stack([pair[used] + c.lowest * raters, share, weight[used]])
        number += block.shape[1]
        least = np.concatenate((least, block), axis=1)
        cell, share, weight = least
        least = least[:, np.lexsort((cell, -weight, -share))[:most]]
    rows = []
    for cell in least[0]:
        two = r.only(list(divmod(int(cell), raters)))
        names, both = two.raters or (), two.rated == 2
        a, b = two.codes[both].T
        agreement, w, w2 = 1 - d.between(a, b), two.weight[both], two.weight2[both]
        rows.append(
            Pair(
                first=names[0],
                second=names[1],
                items=amount(w.sum()),
                agreement=share_of_items(agreement, np.ones(len(a)), w, w2, level=level),
                kappa=cohen_kappa(two, weights=weights, level=level),
                table=two.pair(0, 1).weight.tolist() if len(r.categories) <= MAX_TABLE else None,
            )
        )
    return Pairs(rows=rows, number=number)


# On which items raters differ most.


class DisputedItem(Record):
    """An item on which raters differ."""

    row: Count = field(
        "Its row, or the first of them: from 1 after the header in files, from 0 in arrays."
    )
    file: str | None
    id: str | None = field("Its name, if it has one.")
    disagreement: Share = field("Mean disagreement of two of its ratings.")
    said: tuple[str | None, ...] = field(
        "What each rater said, null for nothing; by category where raters are not known."
    )

    @property
    def counts(self) -> dict[str, int]:
        """How many raters said each word, the most frequent first."""
        return dict(Counter(w for w in self.said if w is not None).most_common())


def disputed(
    rows: RatingRows, r: Ratings, *, weights: Weights = None, top: int = 10
) -> list[DisputedItem]:
    """The items whose ratings lie furthest apart, of equals the first; none that all agree on.

    The share of pairs of ratings that differ, partly where categories are ordered (1 - weight).
    `r` are the ratings of those rows.

    >>> from scorewise.columns.ratings import rating_rows
    >>> said = {"ann": ["a", "a", "b"], "bob": ["a", "b", "a"], "cay": ["a", "b", "c"]}
    >>> rows = rating_rows(raters=said)
    >>> for item in disputed(rows, Ratings.of_rows(rows)):
    ...     print(item.row, round(item.disagreement, 3), item.said, item.counts)
    2 1.0 ('b', 'a', 'c') {'b': 1, 'a': 1, 'c': 1}
    1 0.667 ('a', 'b', 'b') {'b': 2, 'a': 1}
    """
    check(top=top)
    d = disagreement_of(r, weights)
    if isinstance(d, str) or not top:
        return []
    if isinstance(rows.given, RatingList):
        of_item = d.mean(CategoryCounts.of(rows.given))
    else:
        codes, place = distinct_rows(rows.given, len(rows.categories))
        blocks = (RatingList.of(codes[k : k + BLOCK]) for k in range(0, len(codes), BLOCK))
        each = [d.mean(CategoryCounts.of(block)) for block in blocks]
        of_item = np.concatenate([np.empty(0), *each])[place]
    for amounts in (rows.count, rows.weight):
        if amounts is not None:
            of_item[amounts == 0] = 0.0
    of_item = of_item.round(12)  # so that rounding does not decide between equals
    found, items = largest(of_item > 0, top, of_item), []
    listed = RatingList.of(take_rows(rows.given, found))
    ends = np.searchsorted(listed.item, np.arange(len(found) + 1))
    for at, own in zip(found.tolist(), map(slice, ends, ends[1:]), strict=False):
        file, number = rows.place.number(at if rows.first is None else int(rows.first[at]))
        line = sorted(listed.code[own].tolist())
        if rows.raters is not None:
            by_rater = dict(zip(listed.rater[own].tolist(), listed.code[own].tolist(), strict=True))
            line = [by_rater.get(k, -1) for k in range(len(rows.raters))]
        item = DisputedItem(
            row=number,
            file=file,
            id=None if rows.items is None else rows.items[at],
            disagreement=float(of_item[at]),
            said=tuple(rows.categories[c] if c >= 0 else None for c in line),
        )
        items.append(item)
    return items


# Which raters differ most from the others.


class RaterAgreement(Record):
    """A rater beside the others, on the items that the rater rated."""

    rater: str = field("Name of the rater.")
    items: Amount
    others: EstimateField = field("Mean agreement with each other rater.")
    majority: EstimateField = field(
        "Share of items on which they say what most others say, where one category has most."
    )


def rater_agreement(
    r: Ratings, *, weights: Weights = None, level: float = 0.95
) -> list[RaterAgreement]:
    """How far each rater agrees with the others, the one who differs most first.

    Nothing where raters are not known. Wilson's interval, with the variance over items.

    >>> r = Ratings.of({"ann": [1, 0, 1, 1], "bob": [1, 0, 0, 1], "cay": [0, 1, 0, None]})
    >>> for row in rater_agreement(r):
    ...     print(row.rater, row.items, row.others, row.majority)
    cay 3 0.167 [0.007, 0.851] 0.000 [0.000, 0.658]
    ann 4 0.500 [0.104, 0.896] 0.500 [0.095, 0.905]
    bob 4 0.625 [0.263, 0.886] 1.000 [0.207, 1.000]
    """
    d = disagreement_of(r, weights)
    if r.raters is None or isinstance(d, str) or not len(r):
        return []
    c = r.counted
    more = r.rated[c.at] - 1  # other ratings
    agreement = np.maximum(1 - d.within(c) / np.maximum(more, 1), 0.0)
    decided, right = _majority(c)
    rows = []
    for name, at, items in _by_rater(r):
        w, w2 = r.weight[items], r.weight2[items]
        others = majority = Estimate.undefined("no item that they rated has another rating", level)
        if (shared := more[at] > 0).any():
            others = share_of_items(agreement[at], shared, w, w2, level=level)
            why = "the others have no majority on any item that they rated"
            majority = Estimate.undefined(why, level)
            if decided[at].any():
                majority = share_of_items(right[at], decided[at], w, w2, level=level)
        rows.append(
            RaterAgreement(rater=name, items=amount(w.sum()), others=others, majority=majority)
        )
    # rounded, so that rounding does not decide between equals
    return sorted(rows, key=lambda row: (not row.others.defined, round(row.others.value, 12)))


@dataclass(frozen=True)
class Outlier:
    """A rater on items that at least two others rated: agreement with them, and of them with one another.

    `p` is the chance of agreeing so much less than the others if it did not matter who said what,
    adjusted for the number of raters (Holm).
    """

    rater: str
    items: int
    with_others: float
    among_others: float
    p: float


def outlier_tests(r: Ratings, *, weights: Weights = None) -> list[Outlier]:
    """The raters with enough items to be told from the others, the least likely to be like them first.

    By chance, the ratings of an item are dealt out anew among those who rated it. That gives the mean,
    the variance and the skewness of the difference; its tail is the normal one, corrected for skewness
    (Cornish and Fisher 1938).

    >>> ann = [1, 0] * 20
    >>> r = Ratings.of({"ann": ann, "bob": ann, "cay": [1] * 40, "dan": ann})
    >>> [(t.rater, t.with_others, t.among_others) for t in outlier_tests(r) if t.p < 0.05]
    [('cay', 0.5, 1.0)]
    """
    from scipy.special import ndtr

    d = disagreement_of(r, weights)
    if r.raters is None or len(r.raters) < 3 or isinstance(d, str) or not len(r):
        return []
    c = r.counted
    ratings = r.rated[c.at].astype(np.float64)
    used = ratings > 2
    within = np.where(used, d.within(c), 0.0)  # disagreement of one rating with all others
    total = c.total(within * c.times)[c.at] / 2
    with_others = within / np.maximum(ratings - 1, 1)
    among_others = (total - within) / np.maximum((ratings - 1) * (ratings - 2) / 2, 1)
    gap = np.where(used, with_others - among_others, 0.0)
    second, third = (c.total(c.times * gap**j)[c.at] / np.maximum(ratings, 1) for j in (2, 3))
    weight, squares = (x.astype(np.float64) for x in (r.weight, r.weight2))
    tests = []
    for name, every, items in _by_rater(r):
        at, items = every[used[every]], items[used[every]]
        w, w2 = weight[items], squares[items]
        number = w * w / w2  # of items
        if number[second[at] > 1e-12].sum() < MIN_DISPUTED:
            continue
        error = float(np.sqrt((w2 * second[at]).sum()))
        z = float((w * gap[at]).sum()) / error
        skew = float((w2 * w2 / w * third[at]).sum()) / error**3
        z -= skew * (z * z - 1) / 6 if z > 1 else 0.0
        own, rest = (1 - float((w * x[at]).sum() / w.sum()) for x in (with_others, among_others))
        tests.append(Outlier(name, round(number.sum()), own, rest, float(ndtr(-z))))
    adjusted = zip(tests, holm([t.p for t in tests]), strict=True)
    return sorted((replace(t, p=p) for t, p in adjusted), key=lambda t: (t.p, t.with_others))


def _by_rater(r: Ratings) -> Iterator[tuple[str, Ints, Ints]]:
    """Each rater, where each of the ratings is among what was said of its pattern, and the patterns."""
    many, c, ratings = len(r.categories), r.counted, r.listed
    place = np.searchsorted(c.at * many + c.code, ratings.item * many + ratings.code)
    for name, at in zip(r.raters or (), r.by_rater, strict=True):
        yield name, place[at], ratings.item[at]


def _majority(c: CategoryCounts) -> tuple[Any, Any]:
    """Of each category said of an item: without one of its ratings, whether the rest have a majority.

    And whether it is this category that has it.
    """
    at, times = c.at, c.times
    order = np.lexsort((-times, at))
    first, second = np.zeros((2, len(c.rated)), np.int64)
    first[c.length > 0] = times[order[c.start[c.length > 0]]]
    second[c.length > 1] = times[order[c.start[c.length > 1] + 1]]
    firsts, seconds = (
        c.total((times == x[at]).astype(np.int64)).astype(np.int64) for x in (first, second)
    )
    leads = (times == first[at]) & (firsts[at] == 1)
    rival = np.where(leads, second[at], first[at])
    rivals = np.where(leads, seconds[at], firsts[at] - (times == first[at]))
    right = times - 1 > rival
    return right | ((rival > times - 1) & (rivals == 1)), right
