"""Words that say by themselves which side of a two-class problem they name."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Bools, Ints
from scorewise.columns.vectors import Coded, Numbers, Vector, occurring, spread, spreadable
from scorewise.errors import BadInput, Option, short

# each positive word with its counterpart
_PAIRS = {
    "yes": "no",
    "true": "false",
    "positive": "negative",
    "pos": "neg",
    "case": "control",
    "event": "no event",
    "malignant": "benign",
    "spam": "ham",
    "fraud": "legitimate",
    "abnormal": "normal",
    "anomaly": "normal",
    "diseased": "healthy",
    "sick": "healthy",
    "ill": "well",
    "churn": "stay",
    "churned": "stayed",
    "default": "paid",
    "fail": "pass",
    "failed": "passed",
    "failure": "ok",
    "dead": "alive",
    "died": "survived",
    "present": "absent",
    "toxic": "nontoxic",
    "hit": "miss",
    "on": "off",
}
# these mean something only beside their counterpart: f may be false or female
_SHORT = {"y": "n", "t": "f", "p": "n", "+": "-", "1": "0", "1.0": "0.0", "+1": "-1"}
_POSITIVE = frozenset(_PAIRS)
_NEGATIVE = frozenset(_PAIRS.values()) | {"controls", "legit", "none"}
_PREFIXES = ("non", "not", "no")


def _fold(word: str) -> str:
    return word.strip().casefold()


def positive_of(a: str, b: str) -> str | None:
    """Which of two words names the positive class; None when they do not say.

    >>> positive_of("benign", "malignant"), positive_of("Negative", "covid"), positive_of("f", "m")
    ('malignant', 'covid', None)
    """
    one, two = _fold(a), _fold(b)
    if _SHORT.get(one) == two or _denies(two, one) or (one, two) == ("1", "-1"):
        return a
    if _SHORT.get(two) == one or _denies(one, two) or (two, one) == ("1", "-1"):
        return b
    difference = _side(one) - _side(two)
    return None if difference == 0 else a if difference > 0 else b


def pair_of(word: str) -> tuple[str, str] | None:
    """The (positive, negative) pair that a single word belongs to, in its own spelling of case.

    >>> pair_of("No"), pair_of("MALIGNANT"), pair_of("blue")
    (('Yes', 'No'), ('MALIGNANT', 'BENIGN'), None)
    """
    folded = _fold(word)
    for positive, negative in (*_PAIRS.items(), *_SHORT.items()):
        if folded == positive:
            return word, _cased(negative, word)
        if folded == negative:
            return _cased(positive, word), word
    return None


def _side(folded: str) -> int:
    return (folded in _POSITIVE) - (folded in _NEGATIVE)


def _denies(folded: str, other: str) -> bool:
    """Whether a word is another one with no, not or non before it."""
    return len(other) > 1 and any(
        folded.startswith(p) and folded[len(p) :].lstrip("-_ ") == other for p in _PREFIXES
    )


def _cased(word: str, like: str) -> str:
    if len(like) > 1 and like.isupper():
        return word.upper()
    return word.capitalize() if like[:1].isupper() else word


# Which rows are positive: labels of any two values, and how the positive class was chosen.


REST = "the rest"  # what the negative class is called when several others make it up


@dataclass(frozen=True)
class Labels:
    """The two classes as text, and the rule by which the positive one was chosen.

    `note` says which spellings were taken for one word, if any.
    """

    positive: str
    negative: str
    rule: str
    note: str = field(default="", repr=False, compare=False)


def read_labels(column: Vector, name: str, positive: Any = None) -> tuple[Bools, Labels]:
    """True where the label is the positive class. The column has no missing values.

    The positive class is the one given; else 1 of 0/1 and of -1/1, True of False/True, the word
    that means it (yes, positive, case, malignant, ...), the last of declared categories, or the
    last in sort order. Words that differ in case or in blanks around them are one where that leaves two.

    >>> from scorewise.columns.vectors import vector
    >>> read_labels(vector(["no", "yes", "no"], "y"), "y")
    (array([False,  True, False]), Labels(positive='yes', negative='no', rule='known word'))
    """
    if isinstance(column, Coded) and column.values and spreadable(column.values):
        column = spread(column)
    if not len(column):
        given = positive is not None
        return np.zeros(0, dtype=bool), Labels(
            text(positive) if given else "", "", "given" if given else "no rows"
        )
    if isinstance(column, Numbers):
        return _of_numbers(column.values, name, positive)
    column, note = _folded(column)
    y, labels = _of_values(column, name, positive)
    return y, replace(labels, note=note)


def _folded(column: Coded) -> tuple[Coded, str]:
    """The same column with spellings of a word as one, where that leaves two words; and a note.

    >>> _folded(Coded(np.array([0, 1, 2, 2]), ["Yes ", "no", "yes"]))[1]
    "'Yes ' is read as 'yes'"
    """
    used = np.flatnonzero(np.bincount(column.codes, minlength=len(column.values)))
    forms: dict[str, list[int]] = {}
    for code in used.tolist():
        forms.setdefault(_fold(text(column.values[code])), []).append(code)
    if len(forms) != 2 or len(used) == 2:
        return column, ""
    counts = np.bincount(column.codes)
    of = {c: max(codes, key=lambda k: counts[k]) for codes in forms.values() for c in codes}
    kept = sorted(set(of.values()))
    at = np.array([kept.index(of.get(c, kept[0])) for c in range(len(column.values))])
    spelled = [(text(column.values[c]), text(column.values[k])) for c, k in of.items() if c != k]
    note = ", ".join(f"{short(word)} is read as {short(form)}" for word, form in spelled)
    return Coded(at[column.codes], [column.values[k] for k in kept], column.declared), note


def text(value: Any) -> str:
    """A label as shown: whole floats as integers, so that 1.0 and 1 are the same class.

    >>> text(1.0), text(True), text("yes"), text(0.5)
    ('1', 'True', 'yes', '0.5')
    """
    if isinstance(value, np.generic) and not isinstance(value, np.datetime64 | np.timedelta64):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, int) and abs(value) >= 10**40:
        return short(value)
    return str(value)


def coded(column: Vector) -> tuple[Ints, list[str]]:
    """Codes into a list of words: declared categories in their order, others sorted."""
    if isinstance(column, Coded):
        words = [text(v) for v in column.values]
        if column.declared:
            return column.codes.astype(np.int64), words
        order = sorted(range(len(words)), key=lambda i: words[i])
        rank = np.empty(len(words), np.int64)
        rank[order] = np.arange(len(words))
        used = rank[column.codes] if len(words) else column.codes.astype(np.int64)
        return used, [words[i] for i in order]
    assert isinstance(column, Numbers)
    values = column.values
    if values.dtype.kind in "iu" and len(values):
        low, high = int(values.min()), int(values.max())
        if high - low < len(values):  # few enough to be counted, which is faster than sorting
            at = values.astype(np.int64) - low
            there = np.bincount(at, minlength=high - low + 1) > 0
            return (there.cumsum() - 1)[at], [str(low + k) for k in np.flatnonzero(there).tolist()]
    distinct, codes = np.unique(values, return_inverse=True)
    return codes.astype(np.int64), [text(v) for v in distinct]


# numbers


def _of_numbers(values: NDArray[Any], name: str, positive: Any) -> tuple[Bools, Labels]:
    low, high = values.min().item(), values.max().item()
    if positive is not None:
        return _given_number(values, name, positive, low, high)
    if not _only(values, low, high):
        raise _too_many_numbers(values, name)
    for down, up in ((0, 1), (-1, 1)):
        if {low, high} <= {down, up}:
            one, other = _shown(up, values), _shown(down, values)
            y = values if values.dtype == bool else values == up
            return y, Labels(one, other, f"{one} of {other} and {one}")
    if low == high:
        raise _one_only(name, text(low))
    return values == high, Labels(text(high), text(low), "last in sort order")


def _only(values: NDArray[Any], low: float, high: float) -> bool:
    """Whether nothing lies between the least and the greatest value."""
    if values.dtype.kind in "biu" and high - low <= 1:
        return True
    ends = np.count_nonzero(values == low)
    if high != low:
        ends += np.count_nonzero(values == high)
    return bool(ends == len(values))


def _too_many_numbers(values: NDArray[Any], name: str) -> BadInput:
    distinct, first = np.unique(values, return_index=True)
    seen = [text(v) for v in values[np.sort(first)[:3]]]
    whole = bool((distinct == np.floor(distinct)).all())
    if not whole or len(distinct) > 20:
        return BadInput(
            f"{name} has {len(distinct)} distinct values, such as {', '.join(seen[:2])}: "
            f"it looks like a score; swap label and score?"
        )
    return _too_many(name, [text(v) for v in distinct])


def _given_number(
    values: NDArray[Any], name: str, positive: Any, low: float, high: float
) -> tuple[Bools, Labels]:
    wanted = _as_number(positive, values.dtype == bool)
    y = np.zeros(len(values), dtype=bool) if wanted is None else values == wanted
    if y.any():
        return y, _given_labels(text(values[y.argmax()]), _others(values, y, low, high))
    if low == high and {wanted, low} in ({0, 1}, {-1, 1}):
        return y, Labels(_shown(wanted, values), _shown(low, values), "given")
    raise _absent(name, positive, [_shown(v, values) for v in np.unique(values)])


def _shown(value: Any, values: NDArray[Any]) -> str:
    return text(bool(value)) if values.dtype == bool else text(value)


def _as_number(positive: Any, is_bool: bool) -> float | None:
    if isinstance(positive, np.generic):
        positive = positive.item()
    if isinstance(positive, bool | int | float):
        return positive
    word = str(positive).strip()
    if is_bool and word.casefold() in ("true", "false"):
        return word.casefold() == "true"
    for number in (int, float):
        with suppress(ValueError):
            return number(word)
    return None


def _others(values: NDArray[Any], y: Bools, low: float, high: float) -> list[str]:
    """The values besides the positive one; sorts only when they are more than one."""
    if values.dtype == bool or _only(values, low, high):
        rest = [v for v in {low, high} if values[y.argmax()] != v]
        return [_shown(v, values) for v in rest]
    return [text(v) for v in np.unique(values[~y])]


# values of any other kind


def _of_values(column: Coded, name: str, positive: Any) -> tuple[Bools, Labels]:
    counts = np.bincount(column.codes, minlength=len(column.values))
    present = [int(i) for i in np.flatnonzero(counts)]
    words = [text(v) for v in column.values]
    if positive is not None:
        return _given_value(column, name, positive, present, words)
    if len(present) == 1:
        return _one_value(column, name, present[0], words)
    if len(present) > 2:
        raise _too_many(name, [words[i] for i in present])
    a, b = present
    known = positive_of(words[a], words[b])
    if known is not None:
        top, rule = (a if known == words[a] else b), "known word"
    elif column.declared:
        top, rule = b, "last category"
    else:
        order = column.values if all(isinstance(v, int) for v in column.values) else words
        top, rule = max(present, key=lambda i: order[i]), "last in sort order"
    return column.codes == top, Labels(words[top], words[a + b - top], rule)


def _one_value(column: Coded, name: str, only: int, words: list[str]) -> tuple[Bools, Labels]:
    pair = pair_of(words[only])
    if pair is not None:
        labels = Labels(*pair, "known word")
    elif column.declared and len(words) == 2:
        labels = Labels(words[1], words[0], "last category")
    else:
        raise _one_only(name, words[only])
    return np.full(len(column), labels.positive == words[only]), labels


def _given_value(
    column: Coded, name: str, positive: Any, present: list[int], words: list[str]
) -> tuple[Bools, Labels]:
    wanted = text(positive)
    exact = [i for i, w in enumerate(words) if w == wanted]
    alike = [i for i, w in enumerate(words) if w.strip().casefold() == wanted.strip().casefold()]
    found = exact or (alike if len(alike) == 1 else [])
    if found and (found[0] in present or column.declared):
        others = [words[i] for i in present if i != found[0]]
        return column.codes == found[0], _given_labels(words[found[0]], others)
    if len(present) == 1:
        pair = pair_of(words[present[0]])
        if pair is not None and wanted.casefold() in (pair[0].casefold(), pair[1].casefold()):
            return np.zeros(len(column), dtype=bool), Labels(wanted, words[present[0]], "given")
    raise _absent(name, positive, [words[i] for i in present])


# sentences


def _given_labels(positive: str, others: list[str]) -> Labels:
    if len(others) > 1:
        return Labels(positive, REST, f"given, against the {len(others)} other values")
    return Labels(positive, others[0] if others else f"not {positive}", "given")


def distinct_words(column: Vector) -> list[str]:
    """The values that occur in a column, in order, as texts.

    >>> from scorewise.columns.vectors import vector
    >>> distinct_words(vector(["svm", None, "nn", "svm"], "model"))
    ['nn', 'svm']
    """
    values, codes = occurring(column)
    there = [values[k] for k in np.unique(codes[codes >= 0])]
    return [text(v) for v in there] if isinstance(column, Numbers) else sorted(map(text, there))


def listed(words: list[str]) -> str:
    """Up to eight words, and how many more there are."""
    if len(words) > 8:
        return ", ".join(words[:8]) + f" and {len(words) - 8} more"
    return ", ".join(words)


def _one_only(name: str, word: str) -> BadInput:
    doubt = "and it does not say whether it is the positive class; pass "
    return BadInput(f"{name} has one value only ({word}), {doubt}", Option("positive"))


def _too_many(name: str, words: list[str]) -> BadInput:
    return BadInput(
        f"{name} has {len(words)} distinct values ({listed(words)}), not two; pass ",
        Option("positive"), " to set one of them against the rest, or evaluate with ",
        Option("classes"), " a score for each",
    )  # fmt: skip


def _absent(name: str, positive: Any, words: list[str]) -> BadInput:
    return BadInput(
        f"{name} is never {text(positive)!r}, given as ", Option("positive"),
        f"; its values are {listed(words)}",
    )  # fmt: skip
