"""Words that say by themselves which side of a two-class problem they name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from scorewise.arrays import Bools, Ints
from scorewise.columns.numbers import Place
from scorewise.columns.vectors import (
    Coded,
    Numbers,
    Vector,
    as_numeric,
    distinct,
    factorize,
    of_torch,
    plain,
    rows_with,
)
from scorewise.errors import BadInput, Option, short


def _pairs(text: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in text.split(", "))


# each positive word with its counterpart
_PAIRS = _pairs(
    "yes:no, true:false, positive:negative, pos:neg, case:control, event:no event, malignant:benign, "
    "spam:ham, fraud:legitimate, abnormal:normal, anomaly:normal, diseased:healthy, sick:healthy, "
    "ill:well, churn:stay, churned:stayed, default:paid, fail:pass, failed:passed, failure:ok, "
    "dead:alive, died:survived, present:absent, toxic:nontoxic, hit:miss, on:off"
)
# these mean something only beside their counterpart: f may be false or female
_SHORT = {"y": "n", "t": "f", "p": "n", "+": "-", "1": "0", "1.0": "0.0", "+1": "-1"}
_NEGATIVE = frozenset(_PAIRS.values()) | {"controls", "legit", "none"}
_PREFIXES = ("non", "not", "no")


def _fold(word: str) -> str:
    return word.strip().casefold()


def positive_of(a: str, b: str) -> str | None:
    """Which of two words names the positive class; None when they do not say.

    >>> positive_of("benign", "malignant"), positive_of("Negative", "covid"), positive_of("f", "m")
    ('malignant', 'covid', None)
    """
    first, second = _fold(a), _fold(b)
    if _SHORT.get(first) == second or _denies(second, first) or (first, second) == ("1", "-1"):
        return a
    if _SHORT.get(second) == first or _denies(first, second) or (second, first) == ("1", "-1"):
        return b
    sides = [(word in _PAIRS) - (word in _NEGATIVE) for word in (first, second)]
    return None if sides[0] == sides[1] else a if sides[0] > sides[1] else b


def _denies(folded: str, other: str) -> bool:
    """Whether a word is another one with no, not or non before it."""
    return len(other) > 1 and any(
        folded.startswith(p) and folded[len(p) :].lstrip("-_ ") == other for p in _PREFIXES
    )


def pair_of(word: str) -> tuple[str, str] | None:
    """The (positive, negative) pair that a single word belongs to, in its own spelling of case.

    >>> pair_of("No"), pair_of("MALIGNANT"), pair_of("blue")
    (('Yes', 'No'), ('MALIGNANT', 'BENIGN'), None)
    """
    folded = _fold(word)
    upper = len(word) > 1 and word.isupper()
    for pair in (*_PAIRS.items(), *_SHORT.items()):
        if folded in pair:
            cased = (
                w.upper() if upper else w.capitalize() if word[:1].isupper() else w for w in pair
            )
            positive, negative = (
                word if w == folded else c for w, c in zip(pair, cased, strict=True)
            )
            return positive, negative
    return None


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
    column, positive, note = as_numeric(column), plain(positive), ""
    if not len(column):
        given = positive is not None
        none = Labels(text(positive) if given else "", "", "given" if given else "no rows")
        return np.zeros(0, dtype=bool), none
    if isinstance(column, Coded):
        column, note = _folded(column)
    found = distinct(column)
    if positive is None and len(found) > 2:
        raise _too_many(column, found, name)
    if isinstance(column, Coded):
        times = Counter(map(text, found))
        if len(times) < len(found):
            word = short(times.most_common(1)[0][0])
            raise BadInput(
                f"{name} has {word} as values of two types, such as text and bytes or numbers; write it "
                f"as one"
            )
    if positive is None:
        top, labels = _guessed(column, found, name)
    else:
        top, labels = _given(column, found, name, positive)
    return rows_with(column, [top]), replace(labels, note=note)


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


def word_codes(column: Vector) -> tuple[Ints, list[str]]:
    """Codes into a list of words: declared categories in their order, others sorted; -1 is missing."""
    values, codes = factorize(column)
    words = [text(v) for v in values]
    if isinstance(column, Numbers) or column.declared:
        return codes.astype(np.int64, copy=False), words
    order = sorted(range(len(words)), key=words.__getitem__)
    rank = np.full(len(words) + 1, -1)
    rank[order] = np.arange(len(words))
    return rank[codes], [words[i] for i in order]


def named_once(values: Any, option: str, noun: str) -> list[str]:
    """The names that are listed, two or more, each once."""
    values = of_torch(values, option)
    values = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(values, Iterable):
        raise BadInput(Option(option, values), " is not a list; name all of them in order")
    words = [text(v) for v in values]
    if len(twice := Counter(words)) < len(words):
        word = short(twice.most_common(1)[0][0])
        raise BadInput(Option(option), f" names {word} twice; name each once")
    if len(words) < 2:
        raise BadInput(
            Option(option), f" names {len(words)} {noun}; two or more are needed, in order"
        )
    return words


def places_among(
    known: Sequence[str], codes: Ints, words: Sequence[str], name: str, nouns: str, place: Place
) -> Ints:
    """The place of each row's word among those that are known; -1 stays."""
    at = {word: k for k, word in enumerate(known)}
    found: Ints = np.array([*(at.get(word, -2) for word in words), -1])[codes]
    if (outside := found == -2).any():
        first = words[codes[outside.argmax()]]
        models = nouns == "classes" and len(words) == 2 and bool(outside.all())
        raise BadInput(
            f"{name} is not among the {nouns} {place.rows(outside)} ({first!r}); the {nouns} are "
            f"{listed(known)}" + "; to compare models, use compare" * models
        )
    return found


# which of the values that occur is the positive one, None if it does not occur; and both classes


def _guessed(column: Vector, found: list[Any], name: str) -> tuple[Any, Labels]:
    words, kind = [text(v) for v in found], type(found[0])
    if isinstance(column, Numbers):
        for down, up in ((0, 1), (-1, 1)):
            if {*found} <= {down, up}:
                one, other = text(kind(up)), text(kind(down))
                return kind(up), Labels(one, other, f"{one} of {other} and {one}")
    declared = isinstance(column, Coded) and column.declared
    if len(words) == 1:
        pair, rule = None if isinstance(column, Numbers) else pair_of(words[0]), "known word"
        if pair is None and isinstance(column, Coded) and declared and len(column.values) == 2:
            pair, rule = (text(column.values[1]), text(column.values[0])), "last category"
        if pair is None:
            raise BadInput(
                f"{name} has one value only ({words[0]}), and it does not say whether it is the positive "
                "class; pass ", Option("positive"),
            )  # fmt: skip
        return found[0] if pair[0] == words[0] else None, Labels(*pair, rule)
    known = None if isinstance(column, Numbers) else positive_of(*words)
    order: Any = found if all(isinstance(v, int | float) for v in found) else words
    top, rule = order.index(max(order)), "last in sort order"
    if known is not None:
        top, rule = words.index(known), "known word"
    elif declared:
        top, rule = 1, "last category"
    return found[top], Labels(words[top], words[1 - top], rule)


def _given(column: Vector, found: list[Any], name: str, positive: Any) -> tuple[Any, Labels]:
    words = [text(v) for v in found]
    if isinstance(column, Numbers):
        is_bool = column.values.dtype == bool
        wanted = _as_number(positive, is_bool)
        # of floats of 32 bits, too, 0.1 is 0.1; truth values do not compare with large integers
        same = (column.values.view(np.int8) if is_bool else column.values) == wanted
        if wanted is not None and same.any():
            top = column.values[same.argmax()].item()
            return top, _against(text(top), [text(v) for v in found if v != top])
        if len(found) == 1 and {wanted, found[0]} in ({0, 1}, {-1, 1}):
            return None, Labels(text(bool(wanted) if is_bool else wanted), words[0], "given")
    else:
        word, known = text(positive), [text(v) for v in column.values]
        alike = [w for w in known if _fold(w) == _fold(word)]
        chosen = word if word in known else alike[0] if len(alike) == 1 else None
        if chosen in words:
            at = words.index(chosen)
            return found[at], _against(chosen, words[:at] + words[at + 1 :])
        if chosen is not None and column.declared:
            return None, _against(chosen, words)
        if len(words) == 1 and word.casefold() in map(str.casefold, pair_of(words[0]) or ()):
            return None, Labels(word, words[0], "given")
    raise BadInput(
        f"{name} is never {text(positive)!r}, given as ", Option("positive"),
        f"; its values are {listed(words)}",
    )  # fmt: skip


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


def _against(positive: str, others: list[str]) -> Labels:
    """The positive class that was given, and what is left."""
    if len(others) > 1:
        return Labels(positive, REST, f"given, against the {len(others)} other values")
    return Labels(positive, others[0] if others else f"not {positive}", "given")


def distinct_words(column: Vector) -> list[str]:
    """The values that occur in a column, in order, as texts.

    >>> from scorewise.columns.vectors import vector
    >>> distinct_words(vector(["svm", None, "nn", "svm"], "model"))
    ['nn', 'svm']
    """
    words = [text(v) for v in distinct(column)]
    return words if isinstance(column, Numbers) else sorted(words)


def listed(words: Sequence[str], between: str = ", ", most: int = 8) -> str:
    """The first words, and how many more there are."""
    more = len(words) - most
    return between.join(words[:most]) + (f" and {more} more" if more > 0 else "")


def _too_many(column: Vector, found: list[Any], name: str) -> BadInput:
    if isinstance(column, Numbers) and (len(found) > 20 or any(v != np.floor(v) for v in found)):
        first = np.sort(np.unique(column.values, return_index=True)[1])[:2]
        seen = ", ".join(text(v) for v in column.values[first])
        return BadInput(
            f"{name} has {len(found)} distinct values, such as {seen}: it looks like a score; swap label "
            f"and score?"
        )
    return BadInput(
        f"{name} has {len(found)} distinct values ({listed([text(v) for v in found])}), not two; pass ",
        Option("positive"), " to set one of them against the rest, or evaluate all of them with ",
        Option("classes"),
    )  # fmt: skip
