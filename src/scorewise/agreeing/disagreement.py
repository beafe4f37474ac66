"""Where raters agree and where they differ: by category, by pair of raters, by rater and by item."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias

import numpy as np
from msgspec import Meta

from scorewise.arrays import Floats
from scorewise.checks import check
from scorewise.columns.rating_codes import RatingList
from scorewise.columns.ratings import RatingRows
from scorewise.estimate import Estimate
from scorewise.inference.agreement_weights import Disagreement, Weights, disagreement
from scorewise.inference.disagreement import Compared, apart, compared, too_many
from scorewise.inference.paired import holm
from scorewise.inference.shares import share_over_items
from scorewise.measures.agreement import cohen_kappa
from scorewise.show.estimates import EstimateField
from scorewise.show.fields import Count, OfTwo, Record, Share, means
from scorewise.tallies import Ratings
from scorewise.tallies.rating_patterns import Counted, distinct, summed

SHOWN = 45  # pairs that are looked at
WIDE = 64  # categories beyond which there is no table of a pair
ENOUGH = 10  # items with disagreement from which on a rater is told from the others
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
    agreement: EstimateField = means("Where one says it, the chance that another does.")


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
    at, category, said = (x[order] for x in (r.counted.at, r.counted.code, r.counted.times))
    others = said * (r.rated[at] - 1)
    weight, weight2 = r.weight[at], r.weight2[at]
    times = np.bincount(category, weight * said, len(r.categories))
    total = float(times.sum())
    ends = np.searchsorted(category, np.arange(len(r.categories) + 1))
    made = []
    for k, name in enumerate(r.categories):
        its = slice(ends[k], ends[k + 1])
        share = float(times[k]) / total if total else 0.0
        if not its.stop > its.start:
            e = Estimate.undefined("nobody said it", level)
        elif not others[its].any():
            e = Estimate.undefined("no item that it was said of has a second rating", level)
        else:
            pairs = said[its] * (said[its] - 1)
            e = share_over_items(pairs, others[its], weight[its], weight2[its], level=level)
        made.append(CategoryAgreement(category=name, share=share, agreement=e))
    return made


# Which raters agree least, two by two.


class Pair(OfTwo):
    """Two raters."""

    items: Amount = means("Items that both rated, or their weight.")
    agreement: EstimateField = means("Share of items on which they agree, in part by the weights.")
    kappa: EstimateField = means("Cohen's kappa, with the same weights.")
    table: list[list[Amount]] | None = means(
        "What both said, a row for each category of the first; null where it would be large."
    )


class Pairs(Record):
    """Each two raters."""

    number: Count = means("Pairs of raters who share an item.", default=0)
    why: str = means("Why none were looked at; empty where they were.", default="")
    rows: list[Pair] = means("The pairs that agree least, in that order.")


def pairs(r: Ratings, *, weights: Weights = None, most: int = SHOWN, level: float = 0.95) -> Pairs:
    """The pairs of raters who agree least, at most so many, least agreement first.

    >>> r = Ratings.of({"ann": [1, 0, 1, 1], "bob": [1, 0, 0, 1], "cay": [0, 1, 0, None]})
    >>> for p in pairs(r).rows:
    ...     print(p.first, p.second, p.items, p.agreement, p.table)
    ann cay 3 0.000 [0.000, 0.561] [[0, 1], [2, 0]]
    bob cay 3 0.333 [0.061, 0.792] [[1, 1], [1, 0]]
    ann bob 4 0.750 [0.301, 0.954] [[1, 0], [1, 2]]
    """
    if r.raters is None:
        return Pairs(rows=[], why="it is not known which rater gave which rating")
    if why := too_many(r.rated):
        return Pairs(rows=[], why=why)
    found = disagreement(r, weights)
    if isinstance(found, str):
        return Pairs(rows=[], why=found)
    many = len(r.raters)
    number, kept = 0, np.empty((3, 0))
    for c in compared(r.listed, r.weight, None, len(r.categories), many):
        block = _shares(c, found)
        number += block.shape[1]
        block[0] += c.lowest * many
        kept = np.concatenate((kept, block), axis=1)
        cell, share, both = kept
        kept = kept[:, np.lexsort((cell, -both, -share))[:most]]
    made = []
    for cell in kept[0]:
        two = r.only(list(divmod(int(cell), many)))
        names, both = two.raters or (), two.rated == 2
        a, b = two.codes[both].T
        w, near = two.weight[both], 1 - found.between(a, b)
        pair = Pair(
            first=names[0],
            second=names[1],
            items=amount(w.sum()),
            agreement=share_over_items(near, np.ones(len(a)), w, two.weight2[both], level=level),
            kappa=cohen_kappa(two, weights=weights, level=level),
            table=two.pair(0, 1).weight.tolist() if len(r.categories) <= WIDE else None,
        )
        made.append(pair)
    return Pairs(rows=made, number=number)


def _shares(c: Compared, d: Disagreement) -> Floats:
    """The pairs of raters who share an item, their disagreement, and the weight of these items."""
    if c.cells > 4 * len(c.cell):  # most pairs share none
        pair, place = np.unique(c.cell, return_inverse=True)
    else:
        pair, place = np.arange(c.cells), c.cell
    apart, both = (
        summed(place, w, len(pair)) for w in (c.weight * d.between(c.first, c.second), c.weight)
    )
    used = both > 0
    # rounded, so that rounding does not decide between equals
    return np.stack([pair[used], (apart[used] / both[used]).round(12), both[used]])


# On which items raters differ most.


class DisputedItem(Record):
    """An item on which raters differ."""

    row: Count = means(
        "Its row, or the first of them: from 1 after the header in files, from 0 in arrays."
    )
    file: str | None
    id: str | None = means("Its name, if it has one.")
    disagreement: Share = means("Mean disagreement of two of its ratings.")
    said: tuple[str | None, ...] = means(
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
    d = disagreement(r, weights)
    if isinstance(d, str) or not top:
        return []
    if isinstance(rows.given, RatingList):
        found = apart(Counted.of(rows.given), d)
    else:
        codes, place = distinct(rows.given, len(rows.categories))
        blocks = (codes[k : k + BLOCK] for k in range(0, len(codes), BLOCK))
        each = [apart(Counted.of(block), d) for block in blocks]
        found = np.concatenate([np.empty(0), *each])[place]
    for none in (rows.count, rows.weight):
        if none is not None:
            found[none == 0] = 0.0
    found = found.round(12)  # so that rounding does not decide between equals
    worst = np.flatnonzero(found > 0)
    if len(worst) > top:
        least = np.partition(found[worst], len(worst) - top)[len(worst) - top]
        worst = worst[found[worst] >= least]
    items = []
    for at in worst[np.lexsort((worst, -found[worst]))][:top].tolist():
        file, number = rows.place.number(at if rows.first is None else int(rows.first[at]))
        said = tuple(rows.categories[c] if c >= 0 else None for c in _codes(rows, at))
        name = None if rows.items is None else rows.items[at]
        items.append(
            DisputedItem(row=number, file=file, id=name, disagreement=float(found[at]), said=said)
        )
    return items


def _codes(rows: RatingRows, at: int) -> list[int]:
    """What each rater said of an item, -1 where nothing; in order where it is not known who."""
    if isinstance(rows.given, RatingList):
        its = slice(*np.searchsorted(rows.given.item, (at, at + 1)))
        line = np.full(rows.given.shape[1], -1, np.int32)
        line[rows.given.rater[its]] = rows.given.code[its]
    else:
        line = rows.given[at]
    return line.tolist() if rows.raters is not None else sorted(line[line >= 0].tolist())


# Which raters differ most from the others.


class RaterAgreement(Record):
    """A rater beside the others, on the items that the rater rated."""

    rater: str = means("Name of the rater.")
    items: Amount
    others: EstimateField = means("Mean agreement with each other rater.")
    majority: EstimateField = means(
        "Share of items on which they say what most others say, where one category has most."
    )


def differing(r: Ratings, *, weights: Weights = None, level: float = 0.95) -> list[RaterAgreement]:
    """How far each rater agrees with the others, the one who differs most first.

    Nothing where raters are not known. Wilson's interval, with the variance over items.

    >>> r = Ratings.of({"ann": [1, 0, 1, 1], "bob": [1, 0, 0, 1], "cay": [0, 1, 0, None]})
    >>> for row in differing(r):
    ...     print(row.rater, row.items, row.others, row.majority)
    cay 3 0.167 [0.007, 0.851] 0.000 [0.000, 0.658]
    ann 4 0.500 [0.104, 0.896] 0.500 [0.095, 0.905]
    bob 4 0.625 [0.263, 0.886] 1.000 [0.207, 1.000]
    """
    d = disagreement(r, weights)
    if r.raters is None or isinstance(d, str) or not len(r):
        return []
    said, ratings = r.counted, r.listed
    rated = r.rated[said.at]
    close = np.where(rated > 1, 1 - d.within(said) / np.maximum(rated - 1, 1), -1.0)
    judged, right = _majority(said)
    key = said.at * len(r.categories) + said.code
    place = np.searchsorted(key, ratings.item * len(r.categories) + ratings.code)
    order, start, length = r.by_rater
    made = []
    for name, first, many in zip(r.raters, start.tolist(), length.tolist(), strict=True):
        its = order[first : first + many]
        here, items = place[its], ratings.item[its]
        w, w2 = r.weight[items], r.weight2[items]
        others = majority = Estimate.undefined("no item that they rated has another rating", level)
        if (shared := close[here] > -0.5).any():  # -1 where there is no other, and rounding
            others = share_over_items(np.maximum(close[here], 0.0), shared, w, w2, level=level)
            why = "the others have no majority on any item that they rated"
            majority = Estimate.undefined(why, level)
            if judged[here].any():
                majority = share_over_items(right[here], judged[here], w, w2, level=level)
        row = RaterAgreement(rater=name, items=amount(w.sum()), others=others, majority=majority)
        made.append(row)
    # rounded, so that rounding does not decide between equals
    return sorted(made, key=lambda row: (not row.others.defined, round(row.others.value, 12)))


@dataclass(frozen=True)
class Outlier:
    """A rater on items that at least two others rated: agreement with them, and of them with one another.

    `p` is the chance of agreeing so much less than the others if it did not matter who said what,
    adjusted for the number of raters (Holm).
    """

    rater: str
    items: int
    own: float
    rest: float
    p: float


def raters_tested(r: Ratings, *, weights: Weights = None) -> list[Outlier]:
    """The raters with enough items to be told from the others, the least likely to be like them first.

    By chance, the ratings of an item are dealt out anew among those who rated it. That gives the mean,
    the variance and the skewness of the difference; its tail is the normal one, corrected for skewness
    (Cornish and Fisher 1938).

    >>> ann = [1, 0] * 20
    >>> r = Ratings.of({"ann": ann, "bob": ann, "cay": [1] * 40, "dan": ann})
    >>> [(row.rater, row.own, row.rest) for row in raters_tested(r) if row.p < 0.05]
    [('cay', 0.5, 1.0)]
    """
    from scipy.special import ndtr

    d = disagreement(r, weights)
    if r.raters is None or len(r.raters) < 3 or isinstance(d, str) or not len(r):
        return []
    said, ratings = r.counted, r.listed
    k = r.rated[said.at].astype(np.float64)
    judged = k > 2
    within = np.where(judged, d.within(said), 0.0)  # disagreement of one rating with all others
    both = said.total(within * said.times)[said.at] / 2
    own, rest = (
        within / np.maximum(k - 1, 1),
        (both - within) / np.maximum((k - 1) * (k - 2) / 2, 1),
    )
    gap = np.where(judged, own - rest, 0.0)
    second, third = (said.total(said.times * gap**j)[said.at] / np.maximum(k, 1) for j in (2, 3))
    key = said.at * len(r.categories) + said.code
    place = np.searchsorted(key, ratings.item * len(r.categories) + ratings.code)
    weight, squares = (x.astype(np.float64) for x in (r.weight, r.weight2))
    order, start, length = r.by_rater
    found = []
    for name, first, many in zip(r.raters, start.tolist(), length.tolist(), strict=True):
        its = order[first : first + many]
        its = its[judged[place[its]]]
        here, items = place[its], ratings.item[its]
        w, w2 = weight[items], squares[items]
        number = w * w / w2  # of items
        if number[second[here] > 1e-12].sum() < ENOUGH:
            continue
        error = float(np.sqrt((w2 * second[here]).sum()))
        z = float((w * gap[here]).sum()) / error
        skew = float((w2 * w2 / w * third[here]).sum()) / error**3
        z -= skew * (z * z - 1) / 6 if z > 1 else 0.0
        with_others, of_others = (1 - float((w * x[here]).sum() / w.sum()) for x in (own, rest))
        p = float(ndtr(-z))
        found.append(Outlier(name, round(number.sum()), with_others, of_others, p))
    adjusted = zip(found, holm([row.p for row in found]), strict=True)
    return sorted((replace(row, p=p) for row, p in adjusted), key=lambda row: (row.p, row.own))


def _majority(said: Counted) -> tuple[Any, Any]:
    """Of each category said of an item: without one of its ratings, whether the rest have a majority.

    And whether it is this category that has it.
    """
    at, times = said.at, said.times
    order = np.lexsort((-times, at))
    most, second = np.zeros((2, len(said.rated)), np.int64)
    several = said.length > 1
    most[said.length > 0] = times[order[said.start[said.length > 0]]]
    second[several] = times[order[said.start[several] + 1]]
    tops, seconds = (
        said.total((times == x[at]).astype(np.int64)).astype(np.int64) for x in (most, second)
    )
    leads = (times == most[at]) & (tops[at] == 1)
    rival = np.where(leads, second[at], most[at])
    rivals = np.where(leads, seconds[at], tops[at] - (times == most[at]))
    own = times - 1
    right = own > rival
    judged = right | ((rival > own) & (rivals == 1))
    return judged, right
