"""JSON as records: one object for each row, with whatever is nested in it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from scorewise.columns import Missing, Place
from scorewise.columns.csv_files import Table, start_of
from scorewise.columns.decoding import broken, check_encoding
from scorewise.columns.files import (
    is_file,
    is_packed,
    open_bytes,
    open_table_of,
    piped,
    read_shards,
    readable,
    text_of,
)
from scorewise.columns.formats import TEXTS, lines_of, sniff
from scorewise.columns.load import open_source
from scorewise.columns.paths import expand, format_of, names_of
from scorewise.columns.vectors import short
from scorewise.errors import BadInput

_NO_RECORDS = (
    'a list of objects, one for each answer, is wanted, or {"data": [...]} with such a list'
)


@dataclass(frozen=True)
class Records:
    """The rows of a JSON file, each a mapping from columns to values."""

    name: str
    rows: list[dict[str, Any]]

    @cached_property
    def columns(self) -> list[str]:
        """The columns of all rows, in the order in which they first appear."""
        return list(dict.fromkeys(key for row in self.rows for key in row))


def open_records(path: Path, name: str, encoding: str | None = None) -> Records | Table:
    """The records in a file of JSON or of lines of JSON; a file of another format as a table."""
    with readable(name):
        if not is_file(path):
            data = piped(path)
            if sniff(data) in TEXTS:
                data = start_of(text_of(data, name, "json", is_packed(data), encoding), -1)
                encoding = None
            return records_of(data, name) if _is_json(data) else open_bytes(data, name, encoding)
        plain = path.name.lower().removesuffix(".gz")
        if not plain.endswith(".json") and format_of(path)[0] != "jsonl":
            return open_table_of(path, name, encoding)
        text = text_of(path, name, "json", plain != path.name.lower(), encoding)
        return records_of(start_of(text, -1), name)


def _is_json(data: bytes) -> bool:
    return data.lstrip().startswith((b"{", b"["))


def records_of(data: bytes, name: str) -> Records:
    """The records in JSON: a list of objects, {"data": such a list}, or an object in each line.

    >>> records_of(b'{"data": [{"answer": ["a", "b"]}]}', "x.json").rows
    [{'answer': ['a', 'b']}]
    """
    if not data.strip():
        raise BadInput(f"{name} is empty ({len(data)} bytes)")
    try:
        whole = json.loads(data.decode())
    except RecursionError:
        raise BadInput(f"{name} is nested too deeply; leave out the field that is") from None
    except ValueError as problem:
        if isinstance(problem, UnicodeError):
            raise BadInput(broken(data, name, "json") or f"{name} is not JSON") from None
        if _named_json(name):
            where = (
                f" in line {problem.lineno}" if isinstance(problem, json.JSONDecodeError) else ""
            )
            raise BadInput(f"{name} is not JSON{where}; {_NO_RECORDS}") from None
        return Records(name, lines_of(data, name))
    return Records(name, _rows(whole, name))


def _rows(whole: Any, name: str) -> list[dict[str, Any]]:
    rows = whole.get("data") if isinstance(whole, dict) else whole
    if isinstance(whole, dict) and not isinstance(rows, list) and not _named_json(name):
        rows = [whole]  # a single line
    if not isinstance(rows, list):
        raise BadInput(f"{name} holds no list of records; {_NO_RECORDS}")
    if not rows:
        raise BadInput(f"{name} has no rows")
    wrong = next((i for i, row in enumerate(rows) if not isinstance(row, dict)), None)
    if wrong is not None:
        kind = type(rows[wrong]).__name__
        raise BadInput(f"{name} has a value of type {kind} as record {wrong + 1}; {_NO_RECORDS}")
    if "paragraphs" in rows[0]:
        raise BadInput(
            f"{name} is nested as SQuAD is (data, paragraphs, qas), which is not read; write one object "
            f"for each answer with its gold answers, prediction and confidence"
        )
    return rows


def _named_json(name: str) -> bool:
    return name.lower().removesuffix(".gz").endswith(".json")


def read_records(files: Sequence[Records], wanted: Sequence[str]) -> tuple[dict[str, Any], Place]:
    """The columns of all files, one below the other, None where a record lacks one."""
    for file in files:
        lacks = next((c for c in wanted if c not in file.columns), None)
        if lacks is not None:
            raise BadInput(
                f"{file.name} has no column '{lacks}', which {files[0].name} has; give it one"
            )
    place = Place(files=tuple((file.name, len(file.rows)) for file in files))
    return {c: [row.get(c) for file in files for row in file.rows] for c in wanted}, place


# The layout of DUDE: gold answers in one JSON file, a submission in another, joined by question.
#
# Van Landeghem et al. (2023), Document Understanding Dataset and Evaluation.


GOLD, PREDICTED, CONFIDENCE = "gold", "predicted", "answers_confidence"
_GOLD_FIELDS = ("answer_type", "answers_variants")


class Joined(NamedTuple):
    """Columns of questions that both files have, notes, and how many questions one of them lacks."""

    columns: dict[str, list[Any]]
    place: Place
    notes: list[str]
    dropped: int


def is_dude(files: Sequence[Records]) -> bool:
    """Whether these are gold answers and a submission; refuses several submissions.

    >>> gold = Records("gt.json", [{"questionId": "1", "answers": ["x"], "answer_type": "extractive"}])
    >>> is_dude([gold, Records("sub.json", [{"questionId": "1", "answers": ["x"]}])])
    True
    """
    if not all({"questionId", "answers"} <= {*f.columns} for f in files):
        return False
    gold = [f for f in files if _holds_gold(f)]
    if len(gold) == 1 and len(files) > 2:
        raise BadInput(
            f"{gold[0].name} holds gold answers and {len(files) - 1} other files submissions; "
            f"pass one of them"
        )
    return len(gold) == 1 and len(files) == 2


def join_dude(files: Sequence[Records], missing: Missing) -> Joined:
    """Gold answers, predictions, confidence and the fields of each question, in the order of the gold.

    Several `answers` are items that all have to be named; `answers_variants` are accepted for a single one.
    Of several confidences the first is taken, as in the evaluation by the authors.
    """
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
    place = Place(files=((gold.name, len(gold.rows)),))
    if len(kept) < len(gold.rows):
        place = _kept(place, [key in told for key in asked])
    return Joined(columns, place, _notes(gold, submission, questions, sure), dropped)


def _holds_gold(file: Records) -> bool:
    return any(name in file.columns for name in _GOLD_FIELDS)


def _by_id(file: Records) -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for number, row in enumerate(file.rows, start=1):
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
    here: dict[str, Any], there: dict[str, Any], one: Records, other: Records, missing: Missing
) -> int:
    lost = [key for key in here if key not in there]
    if lost and missing == "refuse":
        raise BadInput(
            f"{other.name} lacks {_count(len(lost), 'question')} of {one.name}, first {short(lost[0])}; "
            f'add what is lacking or pass missing="drop"'
        )
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


def _kept(place: Place, rows: list[bool]) -> Place:
    import numpy as np

    return place.keep(np.array(rows))


def _notes(
    gold: Records, submission: Records, questions: Sequence[dict[str, Any]], sure: Sequence[Any]
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
            f"answers_variants: not used for {_count(unused, 'list')}, as they do not say which item they "
            f"stand for"
        )
    several = sum(isinstance(c, list) and len(c) > 1 for c in sure)
    if several:
        notes.append(f"{CONFIDENCE}: the first of several for {_count(several, 'answer')}")
    return notes


def _count(number: int, thing: str) -> str:
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


# Files and frames of answers as columns: texts and nested lists as they stand.


Read: TypeAlias = Callable[[list[str], list[str]], tuple[dict[str, Any], Place]]


@dataclass(frozen=True)
class AnswerSource:
    """The names of columns, a function that reads those of text and others, and where they come from.

    `joined` says that gold answers and predictions come from two files, whose questions were matched;
    `dropped` is the number of those that one file lacks.
    """

    names: list[str]
    read: Read
    sources: tuple[str, ...]
    notes: list[str] = field(default_factory=list)
    joined: bool = False
    dropped: int = 0


def open_answers(source: Any, missing: Missing, encoding: str | None = None) -> AnswerSource:
    """Answers in files of any kind, in a frame or in a dict of columns.

    >>> opened = open_answers({"gold": ["a"], "predicted": [["a", "b"]]}, "refuse")
    >>> opened.names, opened.read(["gold"], [])[0]
    (['gold', 'predicted'], {'gold': ['a']})
    """
    paths = [source] if isinstance(source, str | os.PathLike) else source
    if not isinstance(paths, list | tuple) or not all(
        isinstance(p, str | os.PathLike) for p in paths
    ):
        names, get, sources = open_source(source, encoding)
        return AnswerSource(names, lambda texts, others: get(_each_once(texts, others)), sources)
    check_encoding(encoding)
    found = expand(paths)
    files = [open_records(p, n, encoding) for p, n in zip(found, names_of(found), strict=True)]
    sources = tuple(f.name for f in files)
    tables = [f for f in files if isinstance(f, Table)]
    records = [f for f in files if isinstance(f, Records)]
    if tables and records:
        raise BadInput(
            f"{tables[0].name} is a table and {records[0].name} is JSON; pass files of one kind"
        )
    if tables:
        return AnswerSource(tables[0].columns, lambda t, o: _read_tables(tables, t, o), sources)
    if is_dude(records):
        columns, place, notes, dropped = join_dude(records, missing)
        return AnswerSource(
            list(columns),
            lambda texts, others: ({c: columns[c] for c in (*texts, *others)}, place),
            sources, notes, True, dropped,
        )  # fmt: skip
    return AnswerSource(
        records[0].columns, lambda t, o: read_records(records, _each_once(t, o)), sources
    )


def _each_once(texts: list[str], others: list[str]) -> list[str]:
    return list(dict.fromkeys([*texts, *others]))


def _read_tables(
    tables: list[Table], texts: list[str], others: list[str]
) -> tuple[dict[str, Any], Place]:
    """Columns of tables, in which text is not read as numbers or as missing."""
    plain = [replace(t, read=t.texts or t.read) for t in tables]
    read, place = read_shards(plain, texts) if texts else ({}, Place())
    rest = [c for c in dict.fromkeys(others) if c not in texts]
    more, place = read_shards(tables, rest) if rest else ({}, place)
    return {**read, **more}, place
