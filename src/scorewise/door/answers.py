"""Answers in text: how good each is, and how sure it was said, checked once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.door.answer_columns import AnswerColumns, Groups, read_answers, words
from scorewise.door.columns import Missing, one_of
from scorewise.door.matching import Compared, Lists, compare
from scorewise.door.place import Place
from scorewise.door.quality import RULES, Rule
from scorewise.door.rows import weights
from scorewise.door.texts import Texts, check_flat
from scorewise.door.unit import in_unit
from scorewise.door.wording import UNANSWERABLE, Normalise, former
from scorewise.errors import BadInput


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
    words, by column. `cases` counts what is special about gold answers and predictions. `normalise` is how
    texts were brought into one form, None where quality is one's own; so are `gold` and `predicted`.
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
    normalise: Normalise | None = None
    gold: Texts | None = None
    predicted: Texts | None = None

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
    normalise: Normalise | None = None,
    lists: Lists = "variants",
    unanswerable: Sequence[str] = UNANSWERABLE,
    gold_name: str = "gold",
    predicted_name: str = "predicted",
    confidence_name: str = "confidence",
    quality_name: str = "quality",
    weight_name: str = "weight",
    place: Place | None = None,
) -> AnswerRows:
    """Check answers, the confidence in each, and what they belong to.

    `quality` is a rule or a column of one's own, numbers in [0, 1], booleans or words for those; `gold`
    and `predicted` may then be None. `confidence` is a column, or several by name. Text is normalised
    as "plain" for ANLS, as "squad" for exact match and F1, unless said. A missing value is refused;
    with missing="drop", an answer without gold, prediction, quality, group or weight is left out and
    counted, and a confidence that is missing is NaN.

    >>> rows = take_answers(["1894", ["Yes", "It is"], ""], ["1884", "yes", "no answer"], [0.9, 0.8, 0.3])
    >>> rows.quality, rows.confidence["confidence"], rows.cases["unanswerable"]
    (array([0.75, 1.  , 1.  ]), array([0.9, 0.8, 0.3]), 1)
    """
    one_of("missing", missing, get_args(Missing))
    names = AnswerNames(gold_name, predicted_name, quality_name, weight_name)
    rule = _rule(quality, gold, predicted, names)
    sure = confidence if isinstance(confidence, Mapping) else {confidence_name: confidence}
    if not sure or any(column is None for column in sure.values()):
        raise BadInput("no confidence was given; pass a column of it, or several by name")
    given = read_answers(
        {gold_name: gold, predicted_name: predicted} if rule != "own" else {},
        {str(n): column for n, column in sure.items()},
        {str(n): column for n, column in (groups or {}).items()},
        (quality_name, quality if rule == "own" else None),
        (weight_name, weight),
        place or Place(),
    )
    kept = given.complete(missing)
    good, cases = (
        Compared(in_unit(kept.amounts[quality_name], quality_name, kept.place), {})
        if rule == "own"
        else _judged(kept, names, RULES[rule], normalise, lists, unanswerable)
    )
    return AnswerRows(
        quality=good,
        confidence={n: in_unit(column, n, kept.place) for n, column in kept.sure.items()},
        rule=rule,
        groups={n: words(column) for n, column in kept.groups.items()},
        weight=None
        if weight is None
        else weights(kept.amounts[weight_name], weight_name, kept.place),
        place=kept.place,
        dropped=len(given) - len(kept),
        names=names,
        cases=cases,
        normalise=None if rule == "own" else normalise or RULES[rule].normalise,
        gold=kept.texts.get(gold_name),
        predicted=kept.texts.get(predicted_name),
    )


def _judged(
    given: AnswerColumns,
    names: AnswerNames,
    rule: Rule,
    normalise: Normalise | None,
    lists: Lists,
    unanswerable: Sequence[str],
) -> Compared:
    """The quality of answers by a rule."""
    if isinstance(unanswerable, str):
        raise BadInput("unanswerable= is a single text; pass a list of words that say so")
    gold, predicted = given.texts[names.gold], given.texts[names.predicted]
    check_flat(predicted, names.predicted, given.place)
    form = former(normalise or rule.normalise, unanswerable)
    good, cases = compare(gold.values, predicted.values, rule.score, form, lists)
    return Compared(np.floor(good) if rule.whole else good, cases)


def _rule(quality: Any, gold: Any, predicted: Any, names: AnswerNames) -> str:
    """The rule that quality is made by; "own" where it is a column."""
    if not isinstance(quality, str):
        if quality is None:
            raise BadInput('quality= is None; pass "anls", "exact", "f1" or a column of qualities')
        return "own"
    if quality not in RULES:
        raise BadInput(
            f'quality={quality!r} is not known; pass "anls", "exact", "f1" or a column of qualities'
        )
    for name, column in ((names.gold, gold), (names.predicted, predicted)):
        if column is None:
            raise BadInput(
                f"{name} is not given and {quality} needs it; pass it, or a column of one's own as quality="
            )
    return quality
