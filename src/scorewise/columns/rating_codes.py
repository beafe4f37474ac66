"""Ratings of several raters as codes into one list of categories, and what is odd about categories."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Ints
from scorewise.columns.labels import listed, named_once, places_among, text
from scorewise.columns.numbers import Place
from scorewise.columns.texts import plain
from scorewise.columns.vectors import Coded, Numbers, Vector, factorize, factorize_numbers
from scorewise.errors import BadInput, Option

# a sign, a star or a dash beside a number means something: A+, A*, -1, 1-2, 0.5
_DECORATION = re.compile(r"(?<=[^\W\d_])[-_ ](?=[^\W\d_])|[:;!'\"()\[\]\s]|(?<!\d)[.,]|[.,](?!\d)")
_NOTHING = frozenset(("", "n/a", "na", "nan", "none", "null", "#n/a", "<na>"))


def spelled_alike(categories: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of categories that differ only in case, blanks or punctuation; the first seen comes first.

    >>> spelled_alike(["Yes", "no", "yes", "yes.", "non-toxic", "Nontoxic"])
    [('Yes', 'yes'), ('Yes', 'yes.'), ('non-toxic', 'Nontoxic')]
    >>> spelled_alike(["A", "A+", "A-", "1", "-1", "1.5", "15"])
    []
    """
    seen: dict[str, str] = {}
    found = []
    for category in categories:
        form = _DECORATION.sub("", plain(category)) or category
        if (first := seen.setdefault(form, category)) != category:
            found.append((first, category))
    return found


def looks_missing(categories: Iterable[str]) -> list[str]:
    """Categories whose names are words for a missing value.

    >>> looks_missing(["good", "N/A", "nan", " "])
    ['N/A', 'nan', ' ']
    """
    return [category for category in categories if plain(category) in _NOTHING]


Codes = NDArray[np.int32]
MOST_CELLS = 1 << 26  # of items x raters in one table
FULL = 4  # cells of a table for each rating, beyond which ratings are listed one by one


class RatingList(NamedTuple):
    """Ratings one by one, by item and then by rater; `shape` is items x raters.

    >>> RatingList.of(np.array([[0, -1, 2], [-1, 1, -1]], np.int32)).rater
    array([0, 2, 1])
    """

    item: Ints
    rater: Ints
    code: Codes
    shape: tuple[int, int]

    @classmethod
    def of(cls, codes: Codes | RatingList) -> RatingList:
        """The ratings of a table of items x raters, in which -1 is none; a list as it is."""
        if isinstance(codes, RatingList):
            return codes
        item, rater = np.nonzero(codes >= 0)
        return cls(item, rater, codes[item, rater], (codes.shape[0], codes.shape[1]))

    def table(self) -> Codes:
        """Items x raters, -1 where there is no rating."""
        items, raters = self.shape
        if items * raters > MOST_CELLS:
            raise BadInput(f"{items:,} items x {raters:,} raters are too many for one table")
        codes = np.full(self.shape, -1, np.int32)
        codes[self.item, self.rater] = self.code
        return codes

    def compact(self) -> Codes | RatingList:
        """The table, or where most of it would be empty the list in order."""
        items, raters = self.shape
        if items * raters <= min(FULL * len(self.code), MOST_CELLS):
            return self.table()
        order = np.lexsort((self.rater, self.item))
        return RatingList(self.item[order], self.rater[order], self.code[order], self.shape)


class CodedRatings(NamedTuple):
    """Codes (-1 is missing), the categories in order, their numbers, and whether the order was given."""

    codes: Codes
    categories: tuple[str, ...]
    values: NDArray[np.float64]
    declared: bool


def coded_ratings(
    columns: Mapping[str, Vector], scale: str, categories: Sequence[Any] | None, place: Place
) -> CodedRatings:
    """One list of categories for all raters: as given, as declared, by size, or by name."""
    given = None if categories is None else given_categories(categories)
    numbers = {name: c for name, c in columns.items() if isinstance(c, Numbers)}
    if len(numbers) == len(columns):
        codes, words = _of_numbers(numbers, place)
        declared = False
    else:
        codes, words, declared = _of_words(columns, ordinal=scale == "ordinal" and given is None)
    if given is not None:
        placed = [places_among(given, own, words, name, "categories", place)
                  for name, own in zip(columns, codes.T, strict=True)]  # fmt: skip
        codes, words, declared = np.stack(placed, axis=1).astype(np.int32), given, True
    return CodedRatings(codes, tuple(words), category_values(words, scale, declared), declared)


def given_categories(categories: Any) -> list[str]:
    """The names of the categories, each once."""
    if isinstance(categories, str):
        raise BadInput(
            Option("categories", categories), " is not a list; pass all categories in order"
        )
    return named_once(categories, "categories", "category")


def _of_numbers(by_name: Mapping[str, Numbers], place: Place) -> tuple[Codes, list[str]]:
    """Numbers of all columns, by size."""
    found, codes = factorize_numbers([*by_name.values()])
    if found and not np.isfinite((found[0], found[-1])).all():
        name, endless = next((n, e) for n, c in by_name.items() if (e := np.isinf(c.values)).any())
        raise BadInput(f"{name} is infinite {place.rows(endless)}; a rating is a finite number")
    # truth values become 0 and 1
    return codes.T.astype(np.int32, copy=False), [text(v + 0) for v in found]


def _of_words(by_name: Mapping[str, Vector], *, ordinal: bool) -> tuple[Codes, list[str], bool]:
    """Words of all columns; those of declared categories stay in their order."""
    columns = list(by_name.values())
    parts = [(codes, [text(v) for v in values]) for values, codes in map(factorize, columns)]
    declared = [
        w for c, (_, w) in zip(columns, parts, strict=True) if isinstance(c, Coded) and c.declared
    ]
    seen = dict.fromkeys(w for _, words in parts for w in words)
    same = all(d == declared[0] for d in declared)
    if ordinal and not same:
        raise BadInput(
            f"the columns of {listed(list(by_name))} declare their categories in different ",
            "orders; pass ", Option("categories"), " from the lowest to the highest",
        )  # fmt: skip
    if declared and same and set(seen) <= set(declared[0]):
        order, fixed = declared[0], True
    else:
        order, fixed = sorted(seen, key=float if all(map(is_number, seen)) else str), False
    at = {w: k for k, w in enumerate(order)}
    codes = [np.array([*(at[w] for w in words), -1], np.int32)[c] for c, words in parts]
    return np.stack(codes, axis=1), order, fixed


def category_values(words: list[str], scale: str, declared: bool) -> NDArray[np.float64]:
    """The number of each category; their places where they are words or only have an order."""
    places = np.arange(len(words), dtype=np.float64)
    wrong = next((w for w in words if not is_number(w)), None)
    if wrong is not None and scale in ("interval", "ratio"):
        raise BadInput(
            f"a rating is {wrong!r}, which is not a number; ", Option("scale", scale),
            " needs numbers, and words in an order are ", Option("scale", "ordinal"), " with ",
            Option("categories"),
        )  # fmt: skip
    if wrong is not None and scale == "ordinal" and not declared and len(words) > 1:
        raise BadInput(
            f"the order of the categories {listed(words)} is not known; pass ",
            Option("categories"),
            " with all of them from the lowest to the highest",
        )
    if wrong is not None or scale == "ordinal":  # only the order counts
        return places
    values = np.array([float(w) for w in words])
    if scale == "ratio" and len(values) and values.min() < 0:
        raise BadInput(
            f"a rating is {words[int(values.argmin())]}; ", Option("scale", "ratio"),
            " has a true zero and nothing below it, so pass ", Option("scale", "interval"),
        )  # fmt: skip
    return values


def is_number(word: str) -> bool:
    """Whether a category is a finite number."""
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False
