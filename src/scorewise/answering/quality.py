"""Text brought to a form in which answers that mean the same are the same."""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import compress
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import one_of
from scorewise.columns.texts import plain
from scorewise.errors import BadInput, Option

Normalise: TypeAlias = Literal["plain", "squad", "none"]
Form: TypeAlias = Callable[[str], str | None]

UNANSWERABLE = (
    "unanswerable",
    "not answerable",
    "no answer",
    "cannot be answered",
    "cannot answer",
)
_ARTICLES = re.compile(r"\b(a|an|the)\b")
_HYPHENS = re.compile(r"[-_]")


def squad(text: str) -> str:
    """Plain text without punctuation and without the articles a, an and the.

    As in the evaluation of SQuAD (Rajpurkar et al. 2016), where punctuation is that of ASCII; here that of
    Unicode is left out too, as in MLQA (Lewis et al. 2020).

    >>> squad("The U.S.A., “a land”")
    'usa land'
    """
    return _bald(plain(text))


def _bald(folded: str) -> str:
    return " ".join(_ARTICLES.sub(" ", folded.translate(_PUNCTUATION)).split())


def former(normalise: Normalise, unanswerable: Iterable[str]) -> Form:
    """The function that gives the form in which a text is compared, None if it says "no answer".

    That is any blank text, and those words for it; case, hyphens and a full stop do not matter there.

    >>> form = former("squad", UNANSWERABLE)
    >>> form("The end."), form(" "), form("Not-answerable."), form("none")
    ('end', None, None, 'none')
    """
    one_of("normalise", normalise, get_args(Normalise))
    if isinstance(unanswerable, str) or not isinstance(unanswerable, Iterable):
        raise BadInput(
            Option("unanswerable", unanswerable),
            " is not a list; pass words that say there is no answer",
        )  # fmt: skip
    unanswerable = list(unanswerable)
    if other := [word for word in unanswerable if not isinstance(word, str)]:
        raise BadInput(Option("unanswerable"), f" has {other[0]!r}, which is not text; pass words")
    none = {_bare(word) for word in unanswerable} - {""}
    beginnings = tuple({word[:3].rstrip() for word in none})  # tells most answers apart at once

    def form(text: str) -> str | None:
        folded = plain(text)
        if not folded or (folded.startswith(beginnings) and _bare(folded) in none):
            return None
        if normalise == "plain":
            return folded
        return text if normalise == "none" else _bald(folded)

    return form


def _bare(text: str) -> str:
    return " ".join(_HYPHENS.sub(" ", plain(text)).split()).removesuffix(".")


class _Punctuation(dict[int, str | int]):
    """For `str.translate`: nothing in place of punctuation, other characters as they are."""

    def __missing__(self, code: int) -> str | int:
        mark = chr(code)
        is_mark = mark in string.punctuation or unicodedata.category(mark).startswith("P")
        kept = self[code] = "" if is_mark else code
        return kept


_PUNCTUATION = _Punctuation()


# How good is an answer in text? Its likeness to the gold answers: pure functions of text.
#
# A gold answer is a text, a list of texts that are accepted alike, or a list of such lists: items that
# all have to be named, in any order. A prediction is a text or a list of them. Gold answers that are
# blank, empty lists or one of the words for it ("unanswerable") say that there is no answer: then a
# prediction that says so too has quality 1 and any other 0; a prediction that says so where there is an
# answer has quality 0.


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
        raise BadInput(
            Option("threshold", threshold), " is not in (0, 1]; pass a number such as 0.5"
        )

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
                f"an answer of {len(other):,} letters and a gold answer of {len(one):,} are too ",
                f"long for ANLS, which compares each letter with each and takes {MOST_LETTERS:,}; ",
                "shorten them, or pass ", Option("quality", "f1"),
            )  # fmt: skip


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


# All texts of an answer against all that are accepted: the best match, item by item.


Lists: TypeAlias = Literal["variants", "items"]
Pairs: TypeAlias = Callable[[list[str], list[str]], Floats]
Items: TypeAlias = list[list[str]]


CASES = ("unanswerable", "said unanswerable", "empty", "several gold", "lists")


class Compared(NamedTuple):
    """The quality of each answer, and how many are special in which way."""

    quality: Floats
    cases: dict[str, int]


class Row(NamedTuple):
    """What one answer has to name, whether "no answer" is accepted, and what it names."""

    items: Items
    none: bool
    said: list[str]


def compare(
    gold: Sequence[Any], predicted: Sequence[Any], score: Pairs, form: Form, lists: Lists
) -> Compared:
    """The quality of each answer, from the scores of all pairs of its texts at once.

    >>> found = compare([["4", "four"], "x", ""], ["Four", "", " "], same, former("plain", ()), "variants")
    >>> found.quality, found.cases["unanswerable"], found.cases["said unanswerable"]
    (array([1., 0., 1.]), 1, 2)
    """
    one_of("lists", lists, get_args(Lists))
    flat = [
        type(p) is str and (type(g) is str or (lists == "variants" and {*map(type, g)} <= {str}))
        for g, p in zip(gold, predicted, strict=True)
    ]
    if all(flat):
        return _variants(gold, predicted, score, form)
    among = np.array(flat)
    listed = [not f for f in flat]
    said = list(compress(predicted, listed))
    rows = [
        Row(*_wanted(g, lists, form), _said(p, form))
        for g, p in zip(compress(gold, listed), said, strict=True)
    ]
    several = _rows(rows, said, score)
    single = _variants(list(compress(gold, flat)), list(compress(predicted, flat)), score, form)
    quality = np.empty(len(gold))
    quality[among], quality[~among] = single.quality, several.quality
    return Compared(quality, {k: n + single.cases[k] for k, n in several.cases.items()})


def _variants(gold: Sequence[Any], predicted: Sequence[str], score: Pairs, form: Form) -> Compared:
    """One text against those accepted, which is most of what there is, without lists for each row."""
    size = np.fromiter((1 if type(g) is str else len(g) for g in gold), np.int64, len(gold))
    owner = np.repeat(np.arange(len(gold)), size)
    left: list[Any] = [form(t) for g in gold for t in ((g,) if type(g) is str else g)]
    right: list[Any] = [form(p) for p in predicted]
    text, answer = (
        np.fromiter((t is not None for t in side), bool, len(side)) for side in (left, right)
    )
    texts = np.bincount(owner[text], minlength=len(gold))
    quality = ((texts < size) | (size == 0)).astype(np.float64) * ~answer
    pairs = text & answer[owner]
    if pairs.any():
        of = owner[pairs]
        first = np.flatnonzero(np.diff(of, prepend=-1))
        scores = score(list(compress(left, pairs)), [right[i] for i in of.tolist()])
        quality[of[first]] = np.maximum.reduceat(scores, first)
    counts = (
        int(np.count_nonzero(texts == 0)),
        int(np.count_nonzero(~answer)),
        sum(not p or p.isspace() for p in predicted),
        int(np.count_nonzero(texts > 1)),
        0,
    )
    return Compared(quality, dict(zip(CASES, counts, strict=True)))


def _rows(rows: Sequence[Row], predicted: Sequence[Any], score: Pairs) -> Compared:
    """Several texts for an answer, or in it."""
    left, right, ends = _pairs(rows)
    bounds = np.array([0, *ends])
    start, size = bounds[:-1], bounds[1:] - bounds[:-1]
    scores = score(left, right)
    quality = np.fromiter((r.none and not r.said for r in rows), np.float64, len(rows))
    if len(scores):
        quality[size > 0] = np.maximum.reduceat(scores, start[size > 0])
    listed = [i for i, r in enumerate(rows) if len(r.items) > 1 or len(r.said) > 1]
    for i in listed:
        quality[i] = _assigned(rows[i], scores[start[i] : start[i] + size[i]])
    counts = (
        sum(not r.items for r in rows),
        sum(not r.said for r in rows),
        sum(not (p if isinstance(p, str) else "".join(p)).strip() for p in predicted),
        sum(any(len(item) > 1 for item in r.items) for r in rows),
        len(listed),
    )
    return Compared(quality, dict(zip(CASES, counts, strict=True)))


def _wanted(cell: str | Sequence[Any], lists: Lists, form: Form) -> tuple[Items, bool]:
    """The items to name, each with the texts accepted for it, and whether "no answer" is accepted."""
    if isinstance(cell, str):
        only = form(cell)
        return ([], True) if only is None else ([[only]], False)
    nested = lists == "items" or any(not isinstance(part, str) for part in cell)
    groups = (
        [[part] if isinstance(part, str) else part for part in cell] if nested else [list(cell)]
    )
    items = [[tidy for text in group if (tidy := form(text)) is not None] for group in groups]
    named = [item for item in items if item]
    blank = len(groups) == 1 and len(items[0]) < len(groups[0])
    return named, blank or not named


def _said(cell: str | Sequence[str], form: Form) -> list[str]:
    if isinstance(cell, str):
        only = form(cell)
        return [] if only is None else [only]
    return [tidy for text in cell if (tidy := form(text)) is not None]


def _pairs(rows: Sequence[Row]) -> tuple[list[str], list[str], list[int]]:
    """Every accepted text beside every text said, row after row, and where each row ends."""
    left: list[str] = []
    right: list[str] = []
    ends: list[int] = []
    for items, _, said in rows:
        for item in items:
            for text in item:
                left += [text] * len(said)
                right += said
        ends.append(len(left))
    return left, right, ends


def _assigned(row: Row, scores: Floats) -> float:
    """The greatest sum of scores when each item is matched once, over the length of the longer list."""
    if not len(scores):
        return 0.0
    sizes = np.array([len(item) for item in row.items])
    table = np.maximum.reduceat(scores.reshape(-1, len(row.said)), np.cumsum(sizes) - sizes)
    if min(table.shape) == 1:
        return float(table.max() / max(table.shape))
    from scipy.optimize import linear_sum_assignment

    best = linear_sum_assignment(table, maximize=True)
    return float(table[best].sum() / max(table.shape))
