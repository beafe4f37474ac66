"""Comparisons in words, such as "recall >= 0.9 and alert_rate <= 2%": of thresholds, gates and plans."""

from __future__ import annotations

import re
from dataclasses import dataclass

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
COMPLEMENTS = {"fnr": "sensitivity", "fpr": "specificity", "fdr": "precision"}  # 1 less these
_COMPARISON = re.compile(
    r"\s*([A-Za-z][\w .-]*?)\s*(>=|<=|≥|≤|>|<)\s*(-?[0-9]*\.?[0-9]+(?:[eE]-?\d+)?)\s*(%?)\s*"
)
_AND = re.compile(r"\band\b|[,;&]", re.IGNORECASE)


@dataclass(frozen=True)
class Comparison:
    """A measure as it was written, and what it has to be at least (>=, >) or at most (<=, <)."""

    word: str
    sign: str
    limit: float

    @property
    def text(self) -> str:
        """As it would be written, such as recall >= 0.9."""
        return f"{self.word} {self.sign} {self.limit:g}"

    @property
    def upward(self) -> bool:
        """Whether it asks for at least something."""
        return self.sign[0] == ">"

    def contradicts(self, other: Comparison) -> bool:
        """Whether no number keeps both, of the same measure, where the other asks for at most something."""
        return self.upward and not other.upward and self.limit > other.limit


def conjuncts(text: str) -> list[str]:
    """The parts that all have to hold.

    >>> conjuncts("recall >= 0.9 and alerts <= 2%, f1 >= 0.5")
    ['recall >= 0.9 ', ' alerts <= 2%', ' f1 >= 0.5']
    """
    return _AND.split(text)


def comparison(text: str) -> Comparison | None:
    """The comparison that a text is; None where it is none.

    >>> comparison("alert rate ≤ 2%")
    Comparison(word='alert rate', sign='<=', limit=0.02)
    """
    match = _COMPARISON.fullmatch(text)
    if match is None:
        return None
    word, sign, number, percent = match.groups()
    limit = float(number) / (100 if percent else 1)
    return Comparison(word.strip(), {"≥": ">=", "≤": "<="}.get(sign, sign), limit)


def percent_hint(limit: float) -> str:
    """A question whether a limit was meant in percent.

    >>> percent_hint(90), percent_hint(1.5)
    ('; did you mean 90%?', '')
    """
    return f"; did you mean {limit:g}%?" if 2 <= limit <= 100 else ""


def spelled(word: str) -> str:
    """A name as it is looked up: in small letters, its parts joined by underscores.

    >>> spelled("Alert rate")
    'alert_rate'
    """
    return re.sub(r"[\s.-]+", "_", word.strip().lower())
