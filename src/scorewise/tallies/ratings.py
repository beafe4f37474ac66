"""What raters said of items, as distinct patterns of ratings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from scorewise.arrays import EqualByFields, Floats, Ints
from scorewise.columns.grouping import members
from scorewise.columns.rating_codes import Codes, RatingList, category_values, is_number
from scorewise.columns.ratings import RatingRows, Scale, rating_rows, table_ratings
from scorewise.errors import BadInput
from scorewise.tallies.confusion import Confusion
from scorewise.tallies.rating_patterns import (
    CategoryCounts,
    distinct_patterns,
    sums_at,
    take_patterns,
    take_rows,
)
from scorewise.tallies.sorting import Numbers, total_weight

MAX_TABLE = 1 << 26  # cells of patterns x categories
UNNAMED = "it is not known which rater gave which rating"


@dataclass(frozen=True, eq=False, repr=False)
class Ratings(EqualByFields):
    """Distinct patterns of ratings with the weight of the items that have each; `a + b` merges.

    `listed` has the ratings one by one; `codes` are patterns x raters: places in `categories`, -1 where a
    rater said nothing. `weight` and `weight2` are the sums of the items' weights and of their squares (both
    are counts without weights). `values` are the numbers of the categories. `raters` is None where it is
    not known who said what.

    >>> r = Ratings.of({"ann": ["yes", "no", "yes"], "bob": ["yes", "yes", "yes"]})
    >>> r.codes.tolist(), r.weight.tolist(), r.categories
    ([[0, 1], [1, 1]], [1, 2], ('no', 'yes'))
    >>> (r + r).weight.tolist()
    [2, 4]
    """

    listed: RatingList
    weight: Numbers
    weight2: Numbers
    categories: tuple[str, ...]
    values: Floats
    scale: Scale
    raters: tuple[str, ...] | None
    declared: bool = False
    weighted: bool = False
    _identity = ("categories", "scale", "raters", "weight", "weight2", "values", "listed")

    @classmethod
    def of(
        cls,
        columns: Mapping[str, Any],
        *,
        scale: Scale = "nominal",
        categories: Sequence[Any] | None = None,
        weight: Any = None,
        count: Any = None,
    ) -> Ratings:
        """A column for each rater and a row for each item; what is missing was not rated."""
        return cls.of_rows(
            rating_rows(
                raters=columns, scale=scale, categories=categories, weight=weight, count=count
            )
        )

    @classmethod
    def of_table(
        cls, table: Any, *, scale: Scale = "nominal", categories: Sequence[Any] | None = None
    ) -> Ratings:
        """The square table of two raters.

        >>> Ratings.of_table([[20, 5], [10, 15]]).items
        50
        """
        return cls.of_rows(table_ratings(table, scale=scale, categories=categories))

    @classmethod
    def of_confusion(cls, c: Confusion, *, scale: Scale = "nominal") -> Ratings:
        """Labels and decisions as what two raters said, with the weights of the rows.

        >>> Ratings.of_confusion(Confusion.counts(tp=15, fp=5, fn=10, tn=20)).items
        50
        """
        at = np.nonzero(c.weight)
        values = category_values(list(c.classes), scale, declared=True)
        return cls(
            RatingList.of(np.stack(at, axis=1).astype(np.int32)), c.weight[at], c.weight2[at],
            c.classes, values, scale, ("first", "second"), True,
            not np.array_equal(c.weight, c.weight2),
        )  # fmt: skip

    @classmethod
    def of_counts(
        cls, table: Mapping[str, Any], *, scale: Scale = "nominal", weight: Any = None
    ) -> Ratings:
        """How many raters chose each category, a row for each item."""
        return cls.of_rows(rating_rows(counts=table, scale=scale, weight=weight))

    @classmethod
    def of_rows(cls, rows: RatingRows) -> Ratings:
        """Checked rows, folded into patterns."""
        return cls.of_items(rows, fold=True)[0]

    @classmethod
    def of_items(cls, rows: RatingRows, *, fold: bool = False) -> tuple[Ratings, Ints]:
        """Checked rows that say something, each a pattern by itself unless folded; and which these are."""
        ratings = rows.given
        if rows.raters is None:  # the ratings of each item in one order
            if isinstance(ratings, RatingList):
                order = np.lexsort((-ratings.code, ratings.item))
                ratings = ratings._replace(code=ratings.code[order])
            else:
                ratings = -np.sort(-ratings, axis=1)
        w: Any = rows.count
        w2: Any = w
        if rows.weight is not None:
            each = 1 if w is None else w
            w, w2 = each * rows.weight, each * rows.weight**2
        if fold:
            ratings, w, w2 = distinct_patterns(ratings, w, w2, len(rows.categories))
        elif w is None:
            w = w2 = np.ones(len(rows), np.int64)
        listed = RatingList.of(ratings)
        used = np.flatnonzero((w > 0) & (np.bincount(listed.item, minlength=len(w)) > 0))
        folded = cls(
            take_patterns(listed, used), w[used], w2[used], rows.categories, rows.values, rows.scale,
            rows.raters, rows.declared, rows.weight is not None,
        )  # fmt: skip
        return folded, used

    @classmethod
    def of_long(
        cls,
        item: Any,
        rater: Any,
        rating: Any,
        *,
        scale: Scale = "nominal",
        categories: Sequence[Any] | None = None,
    ) -> Ratings:
        """A row for each rating: of which item, by whom (None where that is not known), and what.

        >>> r = Ratings.of_long([1, 1, 2], ["ann", "bob", "ann"], ["yes", "no", "no"])
        >>> r.codes.tolist(), r.raters
        ([[0, -1], [1, 0]], ('ann', 'bob'))
        """
        return cls.of_rows(
            rating_rows(item=item, rater=rater, rating=rating, scale=scale, categories=categories)
        )

    def __len__(self) -> int:
        """How many patterns there are."""
        return len(self.weight)

    @cached_property
    def codes(self) -> Codes:
        """Patterns x raters."""
        return self.listed.table()

    @property
    def items(self) -> float:
        """The weight of the items that have a rating."""
        return total_weight(self.weight)

    @property
    def effective(self) -> float:
        """How many items of equal weight the items are worth."""
        squares = float(self.weight2.sum())
        return float(self.weight.sum()) ** 2 / squares if squares else 0.0

    @cached_property
    def counted(self) -> CategoryCounts:
        """The categories that were said of each pattern, and how often."""
        return CategoryCounts.of(self.listed)

    @property
    def rated(self) -> Ints:
        """How many ratings each pattern has."""
        return self.counted.rated

    @cached_property
    def said(self) -> Floats:
        """The weight of the ratings that say each category."""
        c = self.counted
        return sums_at(c.code, self.weight[c.at] * c.times, len(self.categories))

    @cached_property
    def counts(self) -> Ints:
        """Patterns x categories: how many raters chose each."""
        categories = len(self.categories)
        if len(self) * categories > MAX_TABLE:
            raise BadInput(
                f"{len(self):,} patterns of {categories:,} categories are too many for a table"
            )
        table = np.zeros((len(self), categories), np.int64)
        table[self.counted.at, self.counted.code] = self.counted.times
        return table

    @cached_property
    def by_rater(self) -> list[Ints]:
        """The places in the list of the ratings of each rater."""
        return members(self.listed.rater, self.listed.shape[1])

    def said_by(self, rater: int | str) -> Codes:
        """What a rater said of each pattern, -1 where nothing."""
        its = self.by_rater[self.at(rater)]
        codes = np.full(len(self), -1, np.int32)
        codes[self.listed.item[its]] = self.listed.code[its]
        return codes

    def pair(self, first: int | str, second: int | str) -> Confusion:
        """The table of two raters, over the items that both rated."""
        a, b = (self.said_by(r).astype(np.int64) for r in (first, second))
        both = (a >= 0) & (b >= 0)
        weights = self.weight[both], self.weight2[both]
        return Confusion.of(a[both], b[both], *weights, self.categories)

    def at(self, rater: int | str) -> int:
        """The column of a rater."""
        if self.raters is None:
            raise BadInput(f"{UNNAMED}: the ratings are counts")
        if isinstance(rater, str):
            if rater not in self.raters:
                raise BadInput(f"no rater is named {rater!r}; there are {', '.join(self.raters)}")
            return self.raters.index(rater)
        if not 0 <= rater < len(self.raters):
            raise BadInput(
                f"there is no rater {rater}; there are {len(self.raters)}, counted from 0"
            )
        return rater

    def only(self, raters: Sequence[int | str]) -> Ratings:
        """The ratings of those raters alone."""
        codes = np.stack([self.said_by(r) for r in raters], axis=1)
        assert self.raters is not None
        used = (codes >= 0).any(1)
        ratings, w, w2 = distinct_patterns(
            codes[used], self.weight[used], self.weight2[used], len(self.categories)
        )
        names = tuple(self.raters[self.at(r)] for r in raters)
        return replace(self, listed=RatingList.of(ratings), weight=w, weight2=w2, raters=names)

    def __radd__(self, other: object) -> Ratings:
        """So that `sum` takes ratings: it begins with 0."""
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __add__(self, other: Ratings) -> Ratings:
        """The ratings of the items of both, by the same raters."""
        if not isinstance(other, Ratings):
            return NotImplemented
        if self.raters != other.raters or self.scale != other.scale:
            first, second = (
                "unknown raters" if r.raters is None else ", ".join(r.raters) for r in (self, other)
            )
            raise BadInput(
                f"cannot merge ratings of {first} ({self.scale}) and of {second} ({other.scale})"
                f"; parts have the same raters and scale, so bring the ratings of each item together first"
            )
        words, values = _joined(self, other)
        w, w2 = (
            np.concatenate((getattr(self, k), getattr(other, k))) for k in ("weight", "weight2")
        )
        ratings, w, w2 = distinct_patterns(_joined_lists(self, other, words), w, w2, len(words))
        return replace(
            self, listed=RatingList.of(ratings), weight=w, weight2=w2, categories=words,
            values=values, weighted=self.weighted or other.weighted,
        )  # fmt: skip

    def __repr__(self) -> str:
        who = "unknown" if self.raters is None else len(self.raters)
        return f"Ratings(items={self.items:g}, raters={who}, categories={self.categories})"


def take_items(rows: RatingRows, at: Ints) -> RatingRows:
    """Some of the items, in no groups; clusters are numbered anew.

    >>> rows = rating_rows(raters={"ann": ["yes", "no", None], "bob": ["yes", "yes", "no"]})
    >>> take_items(rows, np.array([0, 2])).codes.tolist()
    [[1, 1], [-1, 0]]
    """
    some = rows.at(at)
    return replace(
        some, given=take_rows(rows.given, at), groups={},
        items=None if rows.items is None else [rows.items[k] for k in at.tolist()],
        place=some.place if rows.first is None else rows.place,
    )  # fmt: skip


def _joined(a: Ratings, b: Ratings) -> tuple[tuple[str, ...], Floats]:
    """The categories of both."""
    if a.categories == b.categories:
        return a.categories, a.values
    if a.declared or b.declared:
        raise BadInput(
            f"cannot merge ratings in the categories {a.categories} and {b.categories}; give both the "
            f"same list"
        )
    both = dict(zip((*a.categories, *b.categories), (*a.values, *b.values), strict=True))
    numbers = all(map(is_number, both))
    words = sorted(both, key=float) if numbers else sorted(both)
    places = not numbers or a.scale == "ordinal"
    return tuple(words), np.array([k if places else both[w] for k, w in enumerate(words)], float)


def _joined_lists(a: Ratings, b: Ratings, words: tuple[str, ...]) -> RatingList:
    """The ratings of both, those of the second after those of the first."""
    place = {w: k for k, w in enumerate(words)}
    codes = [np.array([place[w] for w in r.categories], np.int32)[r.listed.code] for r in (a, b)]
    return RatingList(
        np.concatenate((a.listed.item, b.listed.item + len(a))),
        np.concatenate((a.listed.rater, b.listed.rater)),
        np.concatenate(codes),
        (len(a) + len(b), max(r.listed.shape[1] for r in (a, b))),
    )
