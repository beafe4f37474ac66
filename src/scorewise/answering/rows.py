"""Answers in text: how good each is, and how sure it was said, checked once, from any source."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from scorewise.answering.quality import RULES, UNANSWERABLE, Compared, Lists, Normalise
from scorewise.arrays import Floats
from scorewise.columns import Missing, Place, read
from scorewise.columns.decoding import check_encoding
from scorewise.columns.files import Opened, open_files, open_source, open_tables
from scorewise.columns.labels import listed
from scorewise.columns.numbers import in_range
from scorewise.columns.rows import CheckedRows
from scorewise.columns.sources import is_files
from scorewise.columns.tables import Table
from scorewise.columns.texts import Texts, check_flat
from scorewise.columns.vectors import Numbers
from scorewise.errors import BadInput, Option, short
from scorewise.show.words import plural

MAX_MARK = 10  # the most that a scale of marks has; beyond are percentages
_KNOWN = ' is not known; pass "anls", "exact", "f1" or a column of qualities'


@dataclass(frozen=True, kw_only=True)
class AnswerRows(CheckedRows):
    """Checked answers: how good each is, how sure it was said, and what it belongs to.

    Quality `y` is in [0, 1] and made by `rule`: "anls", "exact", "f1", or "own" for the user's `column`.
    `confidence` is in [0, 1], by name, and NaN where it is missing and was to be dropped. `cases` counts
    what is special about gold answers and predictions. `normalise` is how texts were brought into one form,
    None where quality is the user's own; so are `gold` and `predicted`.
    """

    y: Floats
    confidence: dict[str, Floats]
    rule: str
    column: str | None = None
    cases: dict[str, int] = field(default_factory=dict)
    normalise: Normalise | None = None
    gold: Texts | None = None
    predicted: Texts | None = None
    _values: ClassVar[tuple[str, ...]] = ("y", "confidence")

    @property
    def quality(self) -> Floats:
        """How good each answer is."""
        return self.y


def answer_rows(
    source: Any,
    *,
    quality: Any = "anls",
    missing: Missing = "refuse",
    normalise: Normalise | None = None,
    lists: Lists = "variants",
    unanswerable: Sequence[str] = UNANSWERABLE,
    encoding: str | None = None,
    **roles: Any,
) -> AnswerRows:
    """Answers, the confidence in each, and what they belong to: by the names of columns in a source.

    `roles` name the columns: `gold`, `predicted`, `confidence`, `weight`, `group` and `cluster`. Of files
    (csv, jsonl, json, parquet, arrow), a data frame or a dict of columns, those that are not named are
    taken where a single one suggests itself. Text in csv is taken as it stands: only an empty cell is
    missing. Gold answers and a submission in the layout of DUDE, two json files, are joined by question.
    Where the source is None, the columns themselves are given; `confidence` and `group` are then one or
    several by name.

    `quality` is a rule, "anls", "exact" or "f1", or your own column: numbers in [0, 1], booleans or
    words for those; `gold` and `predicted` are then not needed. Text is normalised as "plain" for ANLS, as
    "squad" for exact match and F1, unless said. A missing value is refused; with missing="drop", an answer
    without gold, prediction, quality, group or weight is left out and counted, and a confidence that is
    missing is NaN.

    >>> gold, said = ["1894", ["Yes", "It is"], ""], ["1884", "yes", "no answer"]
    >>> rows = answer_rows(None, gold=gold, predicted=said, confidence=[0.9, 0.8, 0.3])
    >>> rows.quality, rows.confidence["confidence"], rows.cases["unanswerable"]
    (array([0.75, 1.  , 1.  ]), array([0.9, 0.8, 0.3]), 1)
    >>> table = {"answers": [["4", "four"], ["5"]], "output": ["Four", "6"], "p": [0.9, 0.4]}
    >>> rows = answer_rows(table)
    >>> rows.quality, rows.notes[0]
    (array([1., 0.]), "gold: column 'answers' (not named; taken because of its name)")
    """
    notes: Sequence[str] = ()
    lost, note, column = 0, "", None
    rule = quality if isinstance(quality, str) and quality in RULES else "own"
    if source is None:
        _check_columns(quality, rule, roles)
    else:
        source, notes, lost = _opened(source, missing, encoding)
        if notes:
            roles |= {role: roles.get(role) or name for role, name in DUDE.items()}
        if rule != "own" and rule in source.names:
            note = f"quality: the rule {quality}, not the column of that name"
        elif rule == "own":
            _check_name(quality, source.names)
    of_quality = ("quality",) if rule == "own" else ("gold", "predicted")
    given = {"quality": quality, **roles}
    asked = {role: given.get(role) for role in (*of_quality, "weight", "group", "confidence")}
    asked |= {"cluster": roles["cluster"]} if roles.get("cluster") is not None else {}
    found = read(source, asked, missing=missing)
    if not len(found.column("confidence")):
        left = "every answer misses something; none is left to judge"
        raise BadInput(left if found.dropped else "no answers were given; pass at least one")
    place, gold, predicted = found.place, found.column("gold"), found.column("predicted")
    if rule == "own":
        column = found.name("quality")
        compared, normalise = Compared(in_unit(found.column("quality"), column, place), {}), None
    else:
        normalise = normalise or RULES[rule].normalise
        check_flat(predicted, found.name("predicted"), place)
        compared = RULES[rule].compared(
            gold.values, predicted.values, normalise=normalise, lists=lists,
            unanswerable=unanswerable,
        )  # fmt: skip
    checked = found.checked(note)
    checked |= {"dropped": found.dropped + lost, "notes": (*notes, *checked["notes"])}
    return AnswerRows(
        y=compared.quality, rule=rule, column=column, cases=compared.cases, normalise=normalise,
        confidence={n: in_unit(c, n, place) for n, c in found["confidence"].items()},
        gold=gold, predicted=predicted, **checked,
    )  # fmt: skip


def _check_columns(quality: Any, rule: str, roles: dict[str, Any]) -> None:
    """Refuse columns that do not say how good answers are, or how sure."""
    if quality is None:
        raise BadInput(
            Option("quality"), ' is None; pass "anls", "exact", "f1" or a column of qualities'
        )
    if rule == "own" and isinstance(quality, str):
        raise BadInput(Option("quality", quality), _KNOWN)
    lacking = [role for role in ("gold", "predicted") if roles.get(role) is None]
    if rule != "own" and lacking:
        raise BadInput(
            f"{lacking[0]} is not given and {quality} needs it; pass it, or a column of your own ",
            "as ", Option("quality"),
        )  # fmt: skip
    confidence = roles.get("confidence")
    if confidence is None or (isinstance(confidence, Mapping) and not confidence):
        raise BadInput("no confidence was given; pass a column of it, or several by name")


def _check_name(quality: Any, names: Sequence[str]) -> None:
    """Refuse a quality that is neither a rule nor the name of a column."""
    if not isinstance(quality, str):
        raise BadInput(
            Option("quality"), ' is not text; pass "anls", "exact", "f1" or the name of a column'
        )
    if quality not in names:
        raise BadInput(
            Option("quality", quality),
            f" is neither anls, exact or f1 nor a column; the columns are {listed(list(names))}",
        )  # fmt: skip


def in_unit(column: Numbers, name: str, place: Place) -> Floats:
    """Numbers in [0, 1], NaN where one is missing.

    >>> in_unit(Numbers(np.array([True, False]), np.array([False, True])), "correct", Place())
    array([ 1., nan])
    """
    values = column.values.astype(np.float64)
    if column.null is not None:
        values[column.null] = np.nan
    there = np.nan_to_num(values, nan=0.0, posinf=np.inf, neginf=-np.inf)
    low, high = in_range(there, name, place)
    if low < 0 or high > 1:
        remedy = f"divide it by the most that it can be, such as {high:g}"
        if low < 0 or high > 100 or np.nanmedian(values) <= 1:
            remedy = "bring it to that range"
        elif high > MAX_MARK:
            remedy = "divide percentages by 100"
        outside = (there < 0) | (there > 1)
        raise BadInput(
            f"{name} is outside [0, 1] {place.rows(outside)} ({there[outside.argmax()]:.6g}); {remedy}"
        )
    return values


# The layout of DUDE: gold answers in one JSON file, a submission in another, joined by question
# (Van Landeghem et al. 2023, Document Understanding Dataset and Evaluation).


DUDE = {"gold": "gold", "predicted": "predicted", "confidence": "answers_confidence"}
_GOLD_FIELDS = {"answer_type", "answers_variants"}


def _opened(
    source: Any, missing: Missing, encoding: str | None
) -> tuple[Opened, Sequence[str], int]:
    """The source; of a gold file beside a submission also notes, and how many questions are lost."""
    if not is_files(source):
        return open_source(source, encoding), (), 0
    check_encoding(encoding)
    tables = open_files(source if isinstance(source, list | tuple) else [source], encoding)
    nested = [t for t in tables if t.records is not None]
    if nested and (flat := [t for t in tables if t.records is None]):
        raise BadInput(
            f"{flat[0].name} is a table and {nested[0].name} is JSON; pass files of one kind"
        )
    dude = nested and all({"questionId", "answers"} <= {*t.columns} for t in nested)
    gold = [t for t in nested if _GOLD_FIELDS & {*t.columns}]
    if not dude or len(gold) != 1 or len(nested) < 2:
        return open_tables(tables), (), 0
    if len(nested) > 2:
        raise BadInput(
            f"{gold[0].name} holds gold answers and {len(nested) - 1} other files submissions; "
            f"pass one of them"
        )
    return join_dude(gold[0], next(t for t in nested if t is not gold[0]), missing)


def join_dude(
    gold: Table, submission: Table, missing: Missing
) -> tuple[Opened, Sequence[str], int]:
    """Gold answers, predictions, confidence and the fields of each question, in the order of the gold.

    Several `answers` are items that all have to be named; `answers_variants` are accepted for a single one.
    Of several confidences the first is taken, as in the evaluation by the authors. With notes, and how many
    questions one of the files lacks.
    """
    by_id, answered = _by_id(gold), _by_id(submission)
    lost = 0
    for here, there, lacking, whole in (
        (by_id, answered, submission, gold), (answered, by_id, gold, submission),
    ):  # fmt: skip
        left = [key for key in here if key not in there]
        if left and missing == "refuse":
            raise BadInput(
                f"{lacking.name} lacks {plural(len(left), 'question')} of {whole.name}, first ",
                f"{short(left[0])}; add what is lacking or pass ", Option("missing", "drop"),
            )  # fmt: skip
        lost += len(left)
    both = [key for key in by_id if key in answered]
    if not both:
        raise BadInput(
            f"{gold.name} and {submission.name} have no questionId in common; do they belong together?"
        )
    questions, answers = [by_id[k] for k in both], [answered[k] for k in both]
    columns = {name: [q.get(name) for q in questions] for name in gold.columns}
    scalar = (str, int, float, type(None))
    columns = {n: c for n, c in columns.items() if all(isinstance(v, scalar) for v in c)}
    confidence = [a.get(DUDE["confidence"]) for a in answers]
    columns |= {
        DUDE["gold"]: [_gold(q) for q in questions],
        DUDE["predicted"]: [a.get("answers") for a in answers],
        DUDE["confidence"]: [next(iter(c), None) if isinstance(c, list) else c for c in confidence],
    }
    place = Place(files=tuple((f.name, len(by_id) * (f is gold)) for f in (gold, submission)))
    if len(both) < len(by_id):
        place = place.keep(np.array([key in answered for key in by_id]))
    notes = [
        f"layout: gold answers of {gold.name} and the submission {submission.name}, by questionId"
    ]
    lists = (q.get("answers") for q in questions if q.get("answers_variants"))
    if unused := sum(isinstance(a, list) and len(a) > 1 for a in lists):
        notes.append(
            f"answers_variants: not used for {plural(unused, 'list')}, as they do not say which item they "
            f"stand for"
        )
    if several := sum(isinstance(c, list) and len(c) > 1 for c in confidence):
        name, many = DUDE["confidence"], plural(several, "answer")
        notes.append(f"{name}: the first of several for {many}")
    opened = Opened([*columns], lambda wanted, _: ({c: columns[c] for c in wanted}, place))
    return opened, notes, lost


def _by_id(table: Table) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(table.records() if table.records else (), start=1):
        if row.get("questionId") is None:
            raise BadInput(f"questionId is missing in row {number} of {table.name}; give it one")
        key = str(row["questionId"])
        if key in found:
            raise BadInput(
                f"{table.name} has the questionId {short(key)} twice, again in row {number}; leave one "
                f"out"
            )
        found[key] = row
    return found


def _gold(question: dict[str, Any]) -> Any:
    """The gold answers as items with the texts accepted for each; none where it cannot be answered."""
    kind = str(question.get("answer_type", "")).replace("-", " ").casefold()
    answers, variants = question.get("answers"), question.get("answers_variants") or []
    if kind == "not answerable":
        return []
    if isinstance(answers, list) and len(answers) == 1:
        return [[*answers, *(variants if isinstance(variants, list) else [str(variants)])]]
    return [[answer] for answer in answers] if isinstance(answers, list) else answers
