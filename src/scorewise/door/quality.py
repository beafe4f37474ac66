"""How good is an answer in text? Its likeness to the gold answers: pure functions of text.

A gold answer is a text, a list of texts that are accepted alike, or a list of such lists: items that all
have to be named, in any order. A prediction is a text or a list of them. Gold answers that are blank, empty
lists or one of the words for it ("unanswerable") say that there is no answer: then a prediction that says
so too has quality 1 and any other 0; a prediction that says so where there is an answer has quality 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.door.matching import Lists, Pairs, compare
from scorewise.door.wording import UNANSWERABLE, Normalise, former
from scorewise.errors import BadInput

MOST_LETTERS = 10**6  # of two texts that are compared letter by letter


def anls(
    gold: Sequence[Any],
    predicted: Sequence[Any],
    *,
    threshold: float = 0.5,
    normalise: Normalise = "plain",
    lists: Lists = "variants",
    unanswerable: Sequence[str] = UNANSWERABLE,
) -> Floats:
    """Likeness of letters: 1 - NL for the gold text that is nearest, and 0 where NL >= threshold.

    NL is the Levenshtein distance over the length of the longer text, both counted in Unicode characters
    after normalisation (Biten et al. 2019, with the threshold that they chose). Items of a list are matched
    so that the sum is greatest, which is then divided by the length of the longer list (Van Landeghem et
    al. 2023; Peer et al. 2024).

    >>> anls(["1894", ["Yes", "yes, it is"], [["AF0055"], ["AF1044"]]], ["1884", "YES", ["AF1044"]])
    array([0.75, 1.  , 0.5 ])
    """
    form = former(normalise, unanswerable)
    return compare(gold, predicted, alike(threshold), form, lists).quality


def exact_match(
    gold: Sequence[Any],
    predicted: Sequence[Any],
    *,
    normalise: Normalise = "squad",
    lists: Lists = "variants",
    unanswerable: Sequence[str] = UNANSWERABLE,
) -> Floats:
    """1 for an answer that is, once normalised, one of the gold texts; else 0.

    Of a list every item has to be named, and nothing else.

    >>> exact_match(["the Eiffel Tower", ["4", "four"]], ["Eiffel tower.", "five"])
    array([1., 0.])
    """
    form = former(normalise, unanswerable)
    return np.floor(compare(gold, predicted, same, form, lists).quality)


def token_f1(
    gold: Sequence[Any],
    predicted: Sequence[Any],
    *,
    normalise: Normalise = "squad",
    lists: Lists = "variants",
    unanswerable: Sequence[str] = UNANSWERABLE,
) -> Floats:
    """Likeness of words: harmonic mean of their precision and recall, for the gold text that is nearest.

    Words are what blanks separate after normalisation; one that is said twice counts twice (Rajpurkar et
    al. 2016).

    >>> token_f1(["in the north of France"], ["northern France"]).round(3)
    array([0.333])
    """
    form = former(normalise, unanswerable)
    return compare(gold, predicted, shared_words, form, lists).quality


# one pair of texts after the other


def alike(threshold: float = 0.5) -> Pairs:
    """Likeness of pairs of texts by their Levenshtein distance."""
    if not 0 < threshold <= 1:
        raise BadInput(f"threshold={threshold!r} is not in (0, 1]; pass a number such as 0.5")

    def score(left: list[str], right: list[str]) -> Floats:
        distance = distances(left, right)
        sizes = (np.fromiter(map(len, side), np.float64, len(side)) for side in (left, right))
        longer = np.maximum(*sizes)
        far = distance / np.maximum(
            longer, 1
        )  # the same float as a threshold written as that fraction
        return np.where(far >= threshold, 0.0, 1 - far)

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
    if max(map(len, left)) * max(map(len, right)) > MOST_LETTERS**2:
        _refuse_long(left, right)
    found = cpdist(left, right, scorer=Levenshtein.distance, dtype=np.int64)
    return np.asarray(found, np.float64)


def _refuse_long(left: list[str], right: list[str]) -> None:
    """Refuse two texts that it would take minutes to compare."""
    for one, other in zip(left, right, strict=True):
        if len(one) * len(other) > MOST_LETTERS**2 and one != other:
            raise BadInput(
                f"an answer of {len(other):,} letters and a gold answer of {len(one):,} are too long for "
                f"ANLS, which compares each letter with each and takes {MOST_LETTERS:,}; shorten them, or "
                f'pass quality="f1"'
            )


def same(left: list[str], right: list[str]) -> Floats:
    """1 for each pair of texts that are the same, else 0."""
    return np.fromiter((a == b for a, b in zip(left, right, strict=True)), np.float64, len(left))


def shared_words(left: list[str], right: list[str]) -> Floats:
    """The F1 of the words of each pair of texts; of two without words 1."""
    pairs = zip(left, right, strict=True)
    return np.fromiter((_f1(a, b) for a, b in pairs), np.float64, len(left))


def _f1(gold: str, found: str) -> float:
    if gold == found:
        return 1.0
    one, other = gold.split(), found.split()
    if set(one).isdisjoint(other):
        return 0.0
    return 2 * (Counter(one) & Counter(other)).total() / (len(one) + len(other))


class Rule(NamedTuple):
    """How pairs of texts are scored, after which normalisation, and whether parts of an answer count."""

    score: Pairs
    normalise: Normalise
    whole: bool = False


RULES = {
    "anls": Rule(alike(), "plain"),
    "exact": Rule(same, "squad", whole=True),
    "f1": Rule(shared_words, "squad"),
}
