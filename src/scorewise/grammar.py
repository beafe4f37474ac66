"""Comparisons in words, such as "recall >= 0.9 and alert_rate <= 2%": of thresholds, gates and plans."""

from __future__ import annotations

import re
from typing import NamedTuple

# what measures of decisions are called, by the name that they have here
WORDS = {
    "sensitivity": ("recall", "tpr", "sensitivity", "true_positive_rate", "hit_rate"),
    "fnr": ("fnr", "miss_rate", "false_negative_rate"),
    "specificity": ("specificity", "tnr", "true_negative_rate", "selectivity"),
    "fpr": ("fpr", "false_positive_rate", "false_alarm_rate", "fall_out"),
    "alert_rate": ("alert_rate", "alerts", "flag_rate", "positive_rate"),
    "precision": ("precision", "ppv", "positive_predictive_value"),
    "fdr": ("fdr", "false_discovery_rate"),
    "npv": ("npv", "negative_predictive_value"),
    "accuracy": ("accuracy",),
    "balanced_accuracy": ("balanced_accuracy",),
    "f1": ("f1", "f_score"),
    "f2": ("f2",),
    "youden": ("youden", "informedness"),
    "kappa": ("kappa", "cohen_kappa"),
    "mcc": ("mcc",),
}
NAMES = {word: name for name, words in WORDS.items() for word in words}
_COMPARISON = re.compile(
    r"\s*([A-Za-z][\w .-]*?)\s*(>=|<=|≥|≤|>|<)\s*(-?[0-9]*\.?[0-9]+(?:[eE]-?\d+)?)\s*(%?)\s*"
)
_AND = re.compile(r"\band\b|[,;&]", re.IGNORECASE)


class Comparison(NamedTuple):
    """A measure as it was written, and what it has to be at least (>=, >) or at most (<=, <)."""

    word: str
    sign: str
    value: float


def conjuncts(text: str) -> list[str]:
    """The parts that all have to hold.

    >>> conjuncts("recall >= 0.9 and alerts <= 2%, f1 >= 0.5")
    ['recall >= 0.9 ', ' alerts <= 2%', ' f1 >= 0.5']
    """
    return _AND.split(text)


def comparison(text: str) -> Comparison | None:
    """The comparison that a text is; None where it is none.

    >>> comparison("alert rate ≤ 2%")
    Comparison(word='alert rate', sign='<=', value=0.02)
    """
    match = _COMPARISON.fullmatch(text)
    if match is None:
        return None
    word, sign, number, percent = match.groups()
    value = float(number) / (100 if percent else 1)
    return Comparison(word.strip(), {"≥": ">=", "≤": "<="}.get(sign, sign), value)


def spelled(word: str) -> str:
    """A name as it is looked up: in small letters, its parts joined by underscores.

    >>> spelled("Alert rate")
    'alert_rate'
    """
    return re.sub(r"[\s.-]+", "_", word.strip().lower())
