"""Records: frozen dataclasses whose fields carry type, limits and a sentence.

    folds: Count = means("Folds of the cross-fitting.")

A name that many records have means the same in all of them: its sentence is in `MEANINGS`, and the field is
declared by its type alone, as in `seed: Count`. What is more special says so by `means`.
"""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field
from typing import Annotated, Any, TypeAlias, TypeVar, dataclass_transform

from msgspec import Meta

Json = dict[str, Any]
AnyRecord = TypeVar("AnyRecord")
Count: TypeAlias = Annotated[int, Meta(ge=0)]
Share: TypeAlias = Annotated[float, Meta(ge=0, le=1)]
Level: TypeAlias = Annotated[float, Meta(gt=0, lt=1)]
Word: TypeAlias = Annotated[str, Meta(min_length=1)]
Weight: TypeAlias = Annotated[float, Meta(ge=0)]
Number: TypeAlias = float | None  # null where it is not finite
PValue: TypeAlias = Share | None


# what fields of these names mean in every record
MEANINGS = {
    "above": "The highest score below; null when there is none.",
    "alert_rate": "Share of rows with an alert.",
    "apparent": "Rows with different decisions, but scores within the tolerance.",
    "auroc": "Area under the ROC curve.",
    "brier": "Brier score.",
    "by": "Columns of the groups.",
    "category": "Name of the category.",
    "clusters": "The clusters of rows; null where each row stands alone.",
    "density": "How the scores of each class are spread; null where a class has no rows.",
    "difference_high": "Upper end of the interval of the difference.",
    "difference_low": "Lower end of the interval of the difference.",
    "dropped": "Rows left out because a value was missing.",
    "ece": "Calibration error in bins.",
    "exact": "False when scores were coarsened into cells.",
    "expected": "What calibrated scores get on average; null if not asked.",
    "file": "The file that it is in; null when given as arrays.",
    "fn": "Weight of positives predicted negative.",
    "fp": "Weight of negatives predicted positive.",
    "groups": "Group by group; empty where none were asked for.",
    "hidden": "Rows with one decision, but scores apart; where they are listed, the furthest first.",
    "high": "Upper end of the interval; null when there is none.",
    "hints": "Remarks for the reader.",
    "items": "Number of items, or their weight.",
    "kappa": "Cohen's kappa.",
    "kind": "What the scores are said to be.",
    "level": "Confidence level of the intervals.",
    "log_loss": "Log loss.",
    "looks": "Looks at the same rows that the level is shared among.",
    "low": "Lower end of the interval; null when there is none.",
    "meaning": "What the value says, in a sentence.",
    "measure": "Name of the measure.",
    "measures": "The measures with their values.",
    "method": "Name of the method.",
    "model": "Name of the model.",
    "name": "Its name; of scores, usually their column.",
    "npv": "Share of rows without an alert that are negative.",
    "only_first": "How many, or what share, only the first gets right.",
    "only_second": "How many, or what share, only the second gets right.",
    "p": "P-value; null where there is no test.",
    "p_adjusted": "P-value, adjusted for the number of tests (Holm).",
    "positives": "Rows of the positive class; null where they are not known.",
    "precision": "Share of alerts that are right (PPV).",
    "real": "Rows with different decisions and scores apart; where they are listed, the furthest first.",
    "rotation": "Degrees from the balance by label to the balance by score.",
    "row": "Its row: from 1 after the header in a file, from 0 in arrays.",
    "rows": "Number of rows, without those dropped.",
    "same_decisions": "Share of rows on which all decide the same.",
    "score": "Name of the scores, usually their column.",
    "seed": "Seed of the random draws.",
    "sensitivity": "Share of positives with an alert (recall).",
    "sentence": "The sentence, as every view shows it.",
    "set": "Whether the score is high or low, and the class; null without midpoint.",
    "sha256": "Fingerprint of all other fields.",
    "share": "Its share of all ratings.",
    "size": "Its size in bytes.",
    "smece": "Calibration error, smoothed.",
    "sources": "Files read; empty when given as arrays.",
    "specificity": "Share of negatives without an alert.",
    "statistic": "Chi-square; null where the kind of test has none.",
    "strength": "Rows that the pull towards simpler maps is worth.",
    "threshold": "A score at or above this is a positive decision.",
    "title": "Name of the measure, as shown.",
    "tn": "Weight of negatives predicted negative.",
    "tp": "Weight of positives predicted positive.",
    "upto": "The lowest score at or above; null when there is none.",
    "value": "The value; null when undefined or infinite.",
    "verdict": "What the numbers mean, in sentences.",
    "weighted": "Whether items have weights.",
    "within_tolerance": "Share of rows on which all scores are within tolerance.",
    "why": "Why there is no result; empty when there is one.",
}


def says(sentence: str) -> Meta:
    """What all fields of a type mean; the other part of an `Annotated`."""
    return Meta(description=sentence)


def means(
    sentence: str, *, default: Any = MISSING, default_factory: Any = MISSING, **limits: Any
) -> Any:
    """A field of a record: what it means, and limits such as `ge=0` or `min_length=1`."""
    known = {"default": default, "default_factory": default_factory}
    return field(**known, metadata={"meaning": Meta(description=sentence, **limits)})


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(means, field))
class Record:
    """A frozen dataclass with named arguments only, whose types carry what its fields mean."""

    def __init_subclass__(cls) -> None:
        """Make a dataclass of it."""
        for name, hint in cls.__annotations__.items():
            known = getattr(vars(cls).get(name), "metadata", {})
            if "meaning" in known:
                cls.__annotations__[name] = Annotated[hint, known["meaning"]]
            elif name in MEANINGS:
                cls.__annotations__[name] = Annotated[hint, says(MEANINGS[name])]
        dataclass(frozen=True, kw_only=True)(cls)


class OfTwo(Record):
    """What is said of two."""

    first: str = means("Name of the one.")
    second: str = means("Name of the other.")
