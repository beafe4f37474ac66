"""All texts of an answer against all that are accepted: the best match, item by item."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import compress
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.door.columns import one_of
from scorewise.door.wording import Form

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

    >>> from scorewise.door.quality import same
    >>> from scorewise.door.wording import former
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
