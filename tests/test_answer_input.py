"""Answers at the door: what is taken, what is left out, and what is refused in one sentence."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from scorewise.answering.rows import answer_rows
from scorewise.errors import BadInput

GOLD = ["1894", "Yes", "", "AF1044"]
SAID = ["1884", "yes ", "no answer", "Paris"]
SURE = [0.9, 0.8, 0.3, 0.5]
GOOD = [0.75, 1, 1, 0]


def take_answers(gold, predicted, confidence, **how):
    return answer_rows(None, gold=gold, predicted=predicted, confidence=confidence, **how)


def test_answers_are_judged_by_the_rule_said():
    assert take_answers(GOLD, SAID, SURE).quality.tolist() == GOOD
    assert take_answers(GOLD, SAID, SURE, quality="exact").quality.tolist() == [0, 1, 1, 0]
    half = take_answers([[["a1"], ["b2"]]], ["b2"], [1], quality="exact")
    assert half.quality == 0
    assert take_answers(["a b"], ["a c"], [1], quality="f1", normalise="plain").quality == 0.5
    assert take_answers(["a b"], ["b"], [1], quality="f1").quality == 1  # without the article


def words_of(rows, name):
    """The word of each answer in a column of groups."""
    codes, words = rows.groups[name]
    return [words[k] for k in codes]


@pytest.mark.parametrize(
    "column",
    [
        tuple,
        np.array,
        lambda values: np.array(values, dtype=object),
        pd.Series,
        lambda values: pd.Series(values, dtype="string"),
        lambda values: pd.Series(values, dtype="category"),
        pl.Series,
        lambda values: pl.Series(values, dtype=pl.Categorical),
        pa.array,
        lambda values: pa.chunked_array([values[:1], values[1:]]),
        iter,
    ],
)
def test_columns_of_any_library_are_the_same(column):
    rows = take_answers(column(GOLD), column(SAID), SURE, group={"g": column(GOLD)})
    assert rows.quality.tolist() == GOOD
    assert words_of(rows, "g") == GOLD


def test_nested_lists_of_any_library_are_the_same():
    gold = [["1894", "94"], ["Yes"], [], ["AF1044"]]
    for column in (
        gold,
        pl.Series(gold),
        pa.array(gold),
        pd.Series(gold),
        pl.Series(gold).to_arrow(),
    ):
        rows = take_answers(column, SAID, SURE)
        assert rows.quality.tolist() == GOOD
        assert rows.cases == {
            "unanswerable": 1, "said unanswerable": 1, "empty": 0, "several gold": 1, "lists": 0
        }  # fmt: skip
    ragged = pd.Series([np.array(g, dtype=object) for g in gold])
    assert take_answers(ragged, SAID, SURE).quality.tolist() == GOOD
    squad = [{"text": g, "answer_start": [0] * len(g)} for g in gold]
    assert take_answers(squad, SAID, SURE).quality.tolist() == GOOD


def test_cases_are_counted():
    rows = take_answers(
        ["a1", "", [["b1"], ["c1", "c2"]], ["d1", "d2"]],
        ["", "unanswerable", ["b1"], ["", " "]],
        [0.5] * 4,
    )
    assert rows.cases == {
        "unanswerable": 1, "said unanswerable": 3, "empty": 2, "several gold": 2, "lists": 1
    }  # fmt: skip
    assert rows.quality.tolist() == [0, 1, 0.5, 0]


def test_numbers_are_answers_too():
    assert (
        take_answers([42, 1.5, True], ["42", "1.5", "true"], [1, 1, 1]).quality.tolist() == [1] * 3
    )
    assert take_answers(["42", "1"], [42, 1.0], [1, 1]).quality.tolist() == [1, 1]


def test_quality_may_be_ones_own():
    for own in ([True, False], [1, 0], pd.Series([True, False]), pl.Series([1.0, 0.0])):
        rows = take_answers(None, None, [0.9, 0.2], quality=own)
        assert (rows.rule, rows.quality.tolist(), rows.cases) == ("own", [1, 0], {})
    assert take_answers(None, None, [0.9], quality=[0.25]).quality == 0.25


def test_several_confidences_are_kept_by_name_and_one_that_is_missing_is_not_a_number():
    sure = {"stated": [0.9, None, 0.3, 1], "token": pl.Series([None, 0.5, 0.5, 0.5])}
    rows = take_answers(GOLD, SAID, sure, missing="drop")
    np.testing.assert_array_equal(rows.confidence["stated"], [0.9, np.nan, 0.3, 1])
    np.testing.assert_array_equal(rows.confidence["token"], [np.nan, 0.5, 0.5, 0.5])
    assert (rows.dropped, len(rows)) == (0, 4)


def test_an_answer_that_misses_anything_else_is_left_out_and_counted():
    with pytest.warns(match="3 rows left out: 1 without gold, 1 without predicted, 1 without g"):
        rows = take_answers(
            ["a1", None, "c1", "d1", "e1"],
            ["a1", "b1", None, "d1", "x1"],
            [0.9, 0.8, 0.7, 0.6, None],
            group={"g": ["u", "u", "u", None, "v"]},
            weight=[1, 1, 1, 1, 2],
            missing="drop",
        )
    assert (rows.dropped, rows.quality.tolist()) == (3, [1, 0])
    assert words_of(rows, "g") == ["u", "v"]
    assert rows.weight is not None
    assert rows.weight.tolist() == [1, 2]
    np.testing.assert_array_equal(rows.confidence["confidence"], [0.9, np.nan])
    assert [rows.place.position(i) for i in range(2)] == [0, 4]


def test_groups_are_words():
    groups = {
        "n": [2, 1, 2.0, 10],
        "c": pd.Categorical(["b", "a", "b", "a"]),
        "t": [True, False] * 2,
    }
    rows = take_answers(GOLD, SAID, SURE, group=groups)
    assert {n: words_of(rows, n) for n in rows.groups} == {
        "n": ["2", "1", "2", "10"], "c": ["b", "a", "b", "a"], "t": ["True", "False"] * 2
    }  # fmt: skip


NAN = float("nan")
REFUSED = {
    "a confidence is missing": (
        {"confidence": [0.9, None, NAN, 0.5]},
        "confidence is missing in 2 rows, first at row 1, counting from 0; "
        'drop them or pass missing="drop"',
    ),
    "confidence in percent": (
        {"confidence": [90, 80, 30.5, 1]},
        "confidence is outside [0, 1] in 3 rows, first at row 0, counting from 0 (90); "
        "divide percentages by 100",
    ),
    "a negative confidence": (
        {"confidence": [0.9, -1, 0.3, 0.5]},
        "confidence is outside [0, 1] in 1 row, row 1, counting from 0 (-1); bring it to that range",
    ),
    "an infinite confidence": (
        {"confidence": [0.9, np.inf, 0.3, 0.5]},
        "confidence is infinite in 1 row, row 1, counting from 0 (inf); "
        "give it a finite value or leave such rows out",
    ),
    "confidence in words": (
        {"confidence": ["high", "low", "0.3", "0.5"]},
        "confidence is not a number in 2 rows, first at row 0, counting from 0 ('high'); "
        "correct it or leave such rows out",
    ),
    "no confidence": (
        {"confidence": {}},
        "no confidence was given; pass a column of it, or several by name",
    ),
    "too few confidences": (
        {"confidence": [0.9]},
        "gold has 4 rows and confidence has 1; they have to match row by row",
    ),
    "too few predictions": (
        {"predicted": ["x"]},
        "gold has 4 rows and predicted has 1; they have to match row by row",
    ),
    "a gold answer is missing": (
        {"gold": ["1", None, "2", "3"]},
        "gold is missing in 1 row, row 1, counting from 0; drop it or pass missing=\"drop\", "
        "or write an empty text where there is no answer",
    ),
    "a prediction is missing": (
        {"predicted": ["1", None, NAN, "3"]},
        "predicted is missing in 2 rows, first at row 1, counting from 0; drop them or pass "
        "missing=\"drop\", or write an empty text where there is no answer",
    ),
    "nothing within a list": (
        {"gold": ["1", ["2", None], "2", "3"]},
        "gold has a missing value within a list at row 1, counting from 0; leave it out of the list",
    ),
    "lists too deep": (
        {"gold": ["1", [[["2"]]], "2", "3"]},
        "gold holds a list of lists of lists at row 1, counting from 0; "
        "pass a text, a list of texts, or a list of such lists",
    ),
    "objects": (
        {"gold": ["1", {"a": 1}, "2", "3"]},
        "gold holds a dict at row 1, counting from 0; "
        "pass a text, a list of texts, or a list of such lists",
    ),
    "a prediction in nested lists": (
        {"predicted": ["1", [["2"]], "2", "3"]},
        "predicted holds a list within a list at row 1, counting from 0; pass a text or a list of texts",
    ),
    "the name of a column": (
        {"gold": "answers"},
        "gold is a single text; pass a column: one answer per row",
    ),
    "a table": (
        {"gold": np.array([["a", "b"]] * 4)},
        "gold has shape (4, 2); pass a column: one answer per row",
    ),
    "no rows": (
        {"gold": [], "predicted": [], "confidence": []},
        "no answers were given; pass at least one",
    ),
    "an unknown rule": (
        {"quality": "bleu"},
        'quality="bleu" is not known; pass "anls", "exact", "f1" or a column of qualities',
    ),
    "quality outside its range": (
        {"quality": [0.5, 1.5, 0, 1]},
        "quality is outside [0, 1] in 1 row, row 1, counting from 0 (1.5); bring it to that range",
    ),
    "quality is missing": (
        {"quality": [0.5, None, 0, 1]},
        'quality is missing in 1 row, row 1, counting from 0; drop it or pass missing="drop"',
    ),
    "no gold answers": (
        {"gold": None},
        "gold is not given and anls needs it; pass it, or a column of your own as quality=",
    ),
    "a group is missing": (
        {"group": {"set": ["a", None, "a", "b"]}},
        'set is missing in 1 row, row 1, counting from 0; drop it or pass missing="drop"',
    ),
    "a negative weight": (
        {"weight": [1, 1, 1, -1]},
        "weight is negative in 1 row, row 3, counting from 0 (-1); weights are zero or more",
    ),
    "nothing complete": (
        {"gold": [None] * 4, "missing": "drop"},
        "every answer misses something; none is left to judge",
    ),
    "an unknown normalisation": (
        {"normalise": "lower"},
        'normalise="lower" is not known; pass "plain", "squad" or "none"',
    ),
    "an unknown reading of lists": (
        {"lists": "all"},
        'lists="all" is not known; pass "variants" or "items"',
    ),
    "one word for no answer": (
        {"unanswerable": "none"},
        "unanswerable= is a single text; pass a list of words that say so",
    ),
    "pandas columns in other orders": (
        {"gold": pd.Series(GOLD), "predicted": pd.Series(SAID, index=[3, 2, 1, 0])},
        "gold and predicted have the same pandas index in different orders; align them, or "
        "pass .to_numpy() to match them by position",
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_malformed_answers_are_refused_in_one_sentence(what):
    change, sentence = REFUSED[what]
    given = {"gold": GOLD, "predicted": SAID, "confidence": SURE, **change}
    with pytest.raises(BadInput) as refused:
        take_answers(given.pop("gold"), given.pop("predicted"), given.pop("confidence"), **given)
    assert str(refused.value) == sentence


def test_rows_of_files_are_counted_from_1(tmp_path):
    lines = zip(GOLD, SAID, [0.9, 0.8, "", 0.5], strict=True)
    first, *others = [f'"{gold}",{said},{sure}\n' for gold, said, sure in lines]
    for name, part in (("a.csv", [first]), ("b.csv", others)):
        (tmp_path / name).write_text("".join(["gold,said,sure\n", *part]))
    files, columns = [tmp_path / "a.csv", tmp_path / "b.csv"], ("gold", "said", "sure")
    with pytest.raises(BadInput, match=r"in 1 row, row 2 of b\.csv"):
        answer_rows(files, **dict(zip(("gold", "predicted", "confidence"), columns, strict=True)))
