"""Answers in text: how good each is, and how sure it was said, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.door.columns import Missing
from scorewise.door.place import Place

Floats: TypeAlias = NDArray[np.float64]
Groups: TypeAlias = NDArray[np.object_]


@dataclass(frozen=True)
class AnswerNames:
    """What the columns are called in messages and reports."""

    gold: str = "gold"
    predicted: str = "predicted"
    quality: str = "quality"
    weight: str = "weight"


@dataclass(frozen=True)
class AnswerRows:
    """Checked answers: how good each is, how sure it was said, and what it belongs to.

    `quality` is in [0, 1] and made by `rule`: "anls", "exact", "f1", or "own" for a column of one's own.
    `confidence` is in [0, 1], by name, and NaN where it is missing and was to be dropped. `groups` are
    words, by column. `cases` counts what is special about gold answers and predictions.
    """

    quality: Floats
    confidence: dict[str, Floats]
    rule: str
    groups: dict[str, Groups]
    weight: Floats | None
    place: Place = field(default_factory=Place)
    dropped: int = 0
    names: AnswerNames = field(default_factory=AnswerNames)
    cases: dict[str, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.quality)


def take_answers(
    gold: Any,
    predicted: Any,
    confidence: Any,
    *,
    quality: Any = "anls",
    groups: Mapping[str, Any] | None = None,
    weight: Any = None,
    missing: Missing = "refuse",
    normalise: str | None = None,
    lists: str = "variants",
    none: Sequence[str] | None = None,
    gold_name: str = "gold",
    predicted_name: str = "predicted",
    confidence_name: str = "confidence",
    quality_name: str = "quality",
    weight_name: str = "weight",
    place: Place | None = None,
) -> AnswerRows:
    """Check answers, the confidence in each, and what they belong to."""
    raise NotImplementedError
