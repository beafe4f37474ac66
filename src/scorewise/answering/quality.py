"""How good is an answer in text: its likeness to gold answers, of which several may be accepted alike.

A gold answer is a text, a list of texts that are accepted alike, or a list of such lists: items that all
have to be named, in any order. A prediction is a text or a list of them. Gold answers that are blank,
empty lists or one of the words for it ("unanswerable") say that there is no answer: then a prediction that
says so too has quality 1 and any other 0; a prediction that says so where there is an answer has quality 0.
"""

from __future__ import annotations

import re
import string
import sys
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache, partial
from itertools import chain
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Bools, Floats, Ints
from scorewise.checks import one_of
from scorewise.columns.texts import plain
from scorewise.errors import BadInput, Option

Normalise: TypeAlias = Literal["plain", "squad", "none"]
Lists: TypeAlias = Literal["variants", "items"]
Score: TypeAlias = Callable[[list[str], list[str]], Floats]  # of pairs of texts

UNANSWERABLE = (
    "unanswerable", "not answerable", "no answer", "cannot be answered", "cannot answer",
)  # fmt: skip
CASES = ("unanswerable", "said unanswerable", "empty", "several gold", "lists")
MAX_LETTERS = 10**6  # of two texts that are compared letter by letter
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_HYPHENS = re.compile(r"[-_]")


@cache
def _punctuation() -> dict[int, None]:
    """The marks of ASCII and of Unicode, for `str.translate` to leave out."""
    every = map(chr, range(sys.maxunicode + 1))
    marks = (c for c in every if unicodedata.category(c).startswith("P"))
    return dict.fromkeys(map(ord, (*string.punctuation, *marks)))


def squad(text: str) -> str:
    """Plain text without punctuation and without the articles a, an and the.

    As in the evaluation of SQuAD (Rajpurkar et al. 2016), where punctuation is that of ASCII; here that of
    Unicode is left out too, as in MLQA (Lewis et al. 2020).

    >>> squad("The U.S.A., “a land”")
    'usa land'
    """
    return _without_marks(plain(text))


def _without_marks(folded: str) -> str:
    return " ".join(_ARTICLES.sub(" ", folded.translate(_punctuation())).split())


def normaliser(normalise: Normalise, unanswerable: Iterable[str]) -> Callable[[str], str | None]:
    """The function that gives the form in which a text is compared, None if it says "no answer".

    That is any blank text, and those words for it; case, hyphens and a full stop do not matter there.

    >>> form = normaliser("squad", UNANSWERABLE)
    >>> form("The end."), form(" "), form("Not-answerable."), form("none")
    ('end', None, None, 'none')
    """
    one_of("normalise", normalise, get_args(Normalise))
    if isinstance(unanswerable, str):
        raise BadInput(
            Option("unanswerable"), " is a single text; pass a list of words that say so"
        )
    if not isinstance(unanswerable, Iterable):
        raise BadInput(
            Option("unanswerable", unanswerable),
            " is not a list; pass words that say there is no answer",
        )  # fmt: skip
    unanswerable = list(unanswerable)
    if other := [word for word in unanswerable if not isinstance(word, str)]:
        raise BadInput(Option("unanswerable"), f" has {other[0]!r}, which is not text; pass words")

    def bare(folded: str) -> str:
        return " ".join(_HYPHENS.sub(" ", folded).split()).removesuffix(".")

    none = {bare(plain(word)) for word in unanswerable} - {""}
    beginnings = tuple({word[:3].rstrip() for word in none})  # tells most answers apart at once

    def form(text: str) -> str | None:
        folded = plain(text)
        if not folded or (folded.startswith(beginnings) and bare(folded) in none):
            return None
        if normalise == "plain":
            return folded
        return text if normalise == "none" else _without_marks(folded)

    return form


# One pair of texts after the other.


def levenshtein_similarity(threshold: float = 0.5) -> Score:
    """Likeness of letters: 1 - NL for each pair of texts, and 0 where NL >= threshold.

    NL is the Levenshtein distance over the length of the longer text, both counted in Unicode characters
    after normalisation (ANLS; Biten et al. 2019, with the threshold that they chose).
    """
    if not 0 < threshold <= 1:
        raise BadInput(
            Option("threshold", threshold), " is not in (0, 1]; pass a number such as 0.5"
        )

    def score(left: list[str], right: list[str]) -> Floats:
        distance = distances(left, right)
        sizes = (np.fromiter(map(len, side), np.float64, len(side)) for side in (left, right))
        # the same float as a threshold written as that fraction
        share = distance / np.maximum(np.maximum(*sizes), 1)
        return np.where(share >= threshold, 0.0, 1 - share)

    return score


def distances(left: list[str], right: list[str]) -> Floats:
    """The Levenshtein distance of each pair of texts, in Unicode characters.

    >>> distances(["kitten"], ["sitting"])
    array([3.])
    """
    try:
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import cpdist
    except ImportError:
        raise BadInput(
            "ANLS needs rapidfuzz, which is not installed; run: pip install 'scorewise[answers]'"
        ) from None
    if not left:
        return np.zeros(0)
    if max(map(len, left)) * max(map(len, right)) > MAX_LETTERS**2:
        for one, other in zip(left, right, strict=True):  # which it would take minutes to compare
            if len(one) * len(other) > MAX_LETTERS**2 and one != other:
                raise BadInput(
                    f"an answer of {len(other):,} letters and a gold answer of {len(one):,} are too ",
                    f"long for ANLS, which compares each letter with each and takes {MAX_LETTERS:,}; ",
                    "shorten them, or pass ", Option("quality", "f1"),
                )  # fmt: skip
    found = cpdist(left, right, scorer=Levenshtein.distance, dtype=np.int64)
    return np.asarray(found, np.float64)


def equal(left: list[str], right: list[str]) -> Floats:
    """1 for each pair of texts that are the same, else 0."""
    return np.fromiter((a == b for a, b in zip(left, right, strict=True)), np.float64, len(left))


def word_f1(left: list[str], right: list[str]) -> Floats:
    """Likeness of words: harmonic mean of their precision and recall; of two texts without words 1.

    Words are what blanks separate after normalisation; one that is said twice counts twice (Rajpurkar et
    al. 2016).

    >>> word_f1(["in the north of france"], ["northern france"]).round(3)
    array([0.286])
    """

    def f1(gold: str, answer: str) -> float:
        if gold == answer:
            return 1.0
        one, other = gold.split(), answer.split()
        if set(one).isdisjoint(other):
            return 0.0
        return 2 * (Counter(one) & Counter(other)).total() / (len(one) + len(other))

    pairs = zip(left, right, strict=True)
    return np.fromiter((f1(a, b) for a, b in pairs), np.float64, len(left))


# All texts of an answer against all that are accepted: the best match, item by item.


class Compared(NamedTuple):
    """The quality of each answer, and how many are special in which way."""

    quality: Floats
    cases: dict[str, int]


class Rule(NamedTuple):
    """How pairs of texts are scored, after which normalisation, and whether parts of an answer count."""

    score: Score
    normalise: Normalise
    whole: bool = False

    def compared(
        self,
        gold: Sequence[Any],
        predicted: Sequence[Any],
        *,
        normalise: Normalise | None = None,
        lists: Lists = "variants",
        unanswerable: Iterable[str] = UNANSWERABLE,
    ) -> Compared:
        """The quality of each answer: of the gold text that is nearest, or of lists as a whole.

        Items of a list are matched so that the sum is greatest, which is then divided by the length of the
        longer list (Van Landeghem et al. 2023; Peer et al. 2024). A whole answer names every item, and
        nothing else, or is worth nothing.

        >>> gold = ["1894", ["Yes", "yes, it is"], [["AF0055"], ["AF1044"]]]
        >>> RULES["anls"].compared(gold, ["1884", "YES", ["AF1044"]]).quality
        array([0.75, 1.  , 0.5 ])
        >>> RULES["exact"].compared(["the Eiffel Tower", ["4", "four"]], ["Eiffel tower.", "five"]).quality
        array([1., 0.])
        >>> found = RULES["exact"].compared([["4", "four"], "x", ""], ["Four", "", " "])
        >>> found.quality, found.cases["unanswerable"], found.cases["said unanswerable"]
        (array([1., 0., 1.]), 1, 2)
        """
        form = normaliser(normalise or self.normalise, unanswerable)
        one_of("lists", lists, get_args(Lists))
        by_row = partial(np.bincount, minlength=len(gold))
        items, row = _flat(gold, lists)
        texts, item = _flat(items)
        sizes = np.bincount(item, minlength=len(items))
        answers, answer_row = _flat(predicted)
        left, is_answer = _formed(texts, form)
        item = item[is_answer]
        right, is_answer = _formed(answers, form)
        silent, answer_row = answer_row[~is_answer], answer_row[is_answer]
        blank = [not answers[i].strip() for i in np.flatnonzero(~is_answer).tolist()]
        accepted = np.bincount(item, minlength=len(items))  # texts for each item
        named, answered = by_row(row[accepted > 0]), by_row(answer_row)
        spoken = answered + by_row(silent[~np.array(blank, np.bool_)])
        # "no answer" is right where there is nothing to name, or a text for the only item says so
        none = (named == 0) | ((by_row(row) == 1) & (by_row(row[accepted < sizes]) > 0))
        quality = (none & (answered == 0)).astype(np.float64)
        # every accepted text beside every text of the answer, row after row
        times = answered[row[item]]
        of = np.repeat(row[item], times)
        start, ends = (np.searchsorted(x, np.arange(len(gold) + 1)) for x in (of, row))
        turn = (np.arange(len(of)) - start[of]) % answered[of]
        first = answered.cumsum() - answered
        scores = self.score(np.repeat(left, times).tolist(), right[first[of] + turn].tolist())
        scored, listed = np.diff(start) > 0, (named > 1) | (answered > 1)
        if len(scores):
            quality[scored] = np.maximum.reduceat(scores, start[:-1][scored])
        for i in np.flatnonzero(listed & scored).tolist():
            table = scores[start[i] : start[i + 1]].reshape(-1, answered[i])
            quality[i] = _assigned(table, accepted[ends[i] : ends[i + 1]])
        several = by_row(row[accepted > 1]) > 0
        cases = (named == 0, answered == 0, spoken == 0, several, listed)
        counts = (int(np.count_nonzero(which)) for which in cases)
        quality = np.floor(quality) if self.whole else quality
        return Compared(quality, dict(zip(CASES, counts, strict=True)))


def _items(cell: Sequence[Any], lists: Lists) -> Sequence[Sequence[str]]:
    """The items to name, each with the texts that are accepted for it."""
    if isinstance(cell, str):
        return ((cell,),)
    kinds = {*map(type, cell)}
    if lists == "variants" and (kinds <= {str} or all(issubclass(kind, str) for kind in kinds)):
        return (cell,)
    return [(part,) if isinstance(part, str) else part for part in cell]


def _flat(cells: Sequence[Any], lists: Lists | None = None) -> tuple[list[Any], Ints]:
    """What all cells hold, a text itself or the items of a list, and the place of the cell of each."""
    if {*map(type, cells)} <= {str}:
        return list(cells), np.arange(len(cells))
    held = [(c,) if type(c) is str else c if lists is None else _items(c, lists) for c in cells]
    sizes = np.fromiter(map(len, held), np.int64, len(held))
    return list(chain.from_iterable(held)), np.repeat(np.arange(len(held)), sizes)


def _formed(texts: Sequence[str], form: Callable[[str], str | None]) -> tuple[Any, Bools]:
    """The forms of texts that are answers, and which texts these are."""
    forms: Any = np.fromiter(map(form, texts), object, len(texts))
    is_answer = forms != None  # noqa: E711 (one by one)
    return forms[is_answer], is_answer


def _assigned(table: Floats, sizes: Ints) -> float:
    """The greatest sum of scores when each item is matched once, over the length of the longer list.

    `table` has a row for each text that is accepted, item after item, and a column for each text answered.
    """
    sizes = sizes[sizes > 0]
    table = np.maximum.reduceat(table, np.cumsum(sizes) - sizes)
    if min(table.shape) == 1:
        return float(table.max() / max(table.shape))
    from scipy.optimize import linear_sum_assignment

    best = linear_sum_assignment(table, maximize=True)
    return float(table[best].sum() / max(table.shape))


RULES = {
    "anls": Rule(levenshtein_similarity(), "plain"),
    "exact": Rule(equal, "squad", whole=True),
    "f1": Rule(word_f1, "squad"),
}
