"""Words that say by themselves which side of a two-class problem they name."""

from __future__ import annotations

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
