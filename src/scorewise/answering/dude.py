"""The layout of DUDE: gold answers in one JSON file, a submission in another, joined by question.

Van Landeghem et al. (2023), Document Understanding Dataset and Evaluation.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from scorewise.columns import Missing, Place
from scorewise.columns.csv_files import Table
from scorewise.columns.files import Opened
from scorewise.errors import BadInput, Option, short
from scorewise.show.words import counted

GOLD, PREDICTED, CONFIDENCE = "gold", "predicted", "answers_confidence"
_GOLD_FIELDS = ("answer_type", "answers_variants")


class Joined(NamedTuple):
    """Columns of questions that both files have, notes, and how many questions one of them lacks."""

    opened: Opened
    notes: list[str]
    dropped: int


def _is_dude(files: Sequence[Table]) -> bool:
    """Whether these are gold answers and a submission; refuses several submissions."""
    if not all(f.records and {"questionId", "answers"} <= {*f.columns} for f in files):
        return False
    gold = [f for f in files if _holds_gold(f)]
    if len(gold) == 1 and len(files) > 2:
        raise BadInput(
            f"{gold[0].name} holds gold answers and {len(files) - 1} other files submissions; "
            f"pass one of them"
        )
    return len(gold) == 1 and len(files) == 2


def join_dude(files: Sequence[Table], missing: Missing) -> Joined | None:
    """Gold answers, predictions, confidence and the fields of each question, in the order of the gold.

    Several `answers` are items that all have to be named; `answers_variants` are accepted for a single one.
    Of several confidences the first is taken, as in the evaluation by the authors. None where the files are
    not such a pair.
    """
    if not _is_dude(files):
        return None
    gold, submission = sorted(files, key=_holds_gold, reverse=True)
    asked, told = _by_id(gold), _by_id(submission)
    dropped = _absent(asked, told, gold, submission, missing)
    dropped += _absent(told, asked, submission, gold, missing)
    kept = [key for key in asked if key in told]
    if not kept:
        raise BadInput(
            f"{gold.name} and {submission.name} have no questionId in common; do they belong together?"
        )
    questions, answers = [asked[k] for k in kept], [told[k] for k in kept]
    sure = [a.get(CONFIDENCE) for a in answers]
    columns: dict[str, list[Any]] = {
        name: [q.get(name) for q in questions] for name in gold.columns if _scalar(questions, name)
    }
    columns[GOLD] = [_gold(q) for q in questions]
    columns[PREDICTED] = [a.get("answers") for a in answers]
    columns[CONFIDENCE] = [(c[0] if c else None) if isinstance(c, list) else c for c in sure]
    place = Place(files=tuple((f.name, len(asked) * (f is gold)) for f in files))
    if len(kept) < len(asked):
        place = place.keep(np.array([key in told for key in asked]))
    opened = Opened(list(columns), lambda wanted, _: ({c: columns[c] for c in wanted}, place))
    return Joined(opened, _notes(gold, submission, questions, sure), dropped)


def _holds_gold(file: Table) -> bool:
    return any(name in file.columns for name in _GOLD_FIELDS)


def _by_id(file: Table) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(file.records() if file.records else (), start=1):
        if row.get("questionId") is None:
            raise BadInput(f"questionId is missing in row {number} of {file.name}; give it one")
        key = str(row["questionId"])
        if key in found:
            raise BadInput(
                f"{file.name} has the questionId {short(key)} twice, again in row {number}; leave one out"
            )
        found[key] = row
    return found


def _absent(
    here: dict[str, Any], there: dict[str, Any], one: Table, other: Table, missing: Missing
) -> int:
    lost = [key for key in here if key not in there]
    if lost and missing == "refuse":
        raise BadInput(
            f"{other.name} lacks {counted(len(lost), 'question')} of {one.name}, first ",
            f"{short(lost[0])}; add what is lacking or pass ", Option("missing", "drop"),
        )  # fmt: skip
    return len(lost)


def _gold(question: dict[str, Any]) -> Any:
    """The gold answers as items with the texts accepted for each; none where it cannot be answered."""
    kind = str(question.get("answer_type", "")).replace("-", " ").casefold()
    answers = question.get("answers")
    if kind == "not answerable":
        return []
    if not isinstance(answers, list):
        return answers
    if len(answers) == 1:
        variants = question.get("answers_variants") or []
        return [[*answers, *(variants if isinstance(variants, list) else [str(variants)])]]
    return [[answer] for answer in answers]


def _scalar(questions: Sequence[dict[str, Any]], name: str) -> bool:
    values = (q.get(name) for q in questions)
    return all(v is None or isinstance(v, str | int | float) for v in values)


def _notes(
    gold: Table, submission: Table, questions: Sequence[dict[str, Any]], sure: Sequence[Any]
) -> list[str]:
    notes = [
        f"layout: gold answers of {gold.name} and the submission {submission.name}, by questionId"
    ]
    unused = sum(
        len(q["answers"]) > 1 and bool(q.get("answers_variants"))
        for q in questions
        if isinstance(q.get("answers"), list)
    )
    if unused:
        notes.append(
            f"answers_variants: not used for {counted(unused, 'list')}, as they do not say which item they "
            f"stand for"
        )
    several = sum(isinstance(c, list) and len(c) > 1 for c in sure)
    if several:
        notes.append(f"{CONFIDENCE}: the first of several for {counted(several, 'answer')}")
    return notes
