"""Which class is positive, and how that was decided."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from scorewise import BadInput
from scorewise.columns import Labels
from scorewise.columns.labels import read_labels, word_codes
from scorewise.columns.vectors import vector


def read(labels, positive=None):
    y, found = read_labels(vector(labels, "label"), "label", positive)
    assert y.dtype == bool
    return y.tolist(), found


CHOSEN = [
    # labels, positive, y, positive class, negative class, rule
    ([0, 1], None, "01", "1", "0", "1 of 0 and 1"),
    ([1.0, 0.0], None, "10", "1", "0", "1 of 0 and 1"),
    ([False, True], None, "01", "True", "False", "True of False and True"),
    ([-1, 1, -1], None, "010", "1", "-1", "1 of -1 and 1"),
    ([-1.0, 1.0], None, "01", "1", "-1", "1 of -1 and 1"),
    ([1, 2], None, "01", "2", "1", "last in sort order"),
    ([0.5, 0.25], None, "10", "0.5", "0.25", "last in sort order"),
    ([Decimal(0), Decimal(1)], None, "01", "1", "0", "1 of 0 and 1"),
    (["yes", "no"], None, "10", "yes", "no", "known word"),
    (["Y", "N"], None, "10", "Y", "N", "known word"),
    (["0", "1"], None, "01", "1", "0", "known word"),
    (["1", "-1"], None, "10", "1", "-1", "known word"),
    (["-1", "1"], None, "01", "1", "-1", "known word"),
    (["malignant", "benign"], None, "10", "malignant", "benign", "known word"),
    (["zero event", "event"], None, "01", "event", "zero event", "known word"),
    (["no risk", "risk"], None, "01", "risk", "no risk", "known word"),
    (["risk", "non-risk"], None, "10", "risk", "non-risk", "known word"),
    (["covid", "negative"], None, "10", "covid", "negative", "known word"),
    (["m", "f"], None, "10", "m", "f", "last in sort order"),
    (["yes", "true"], None, "10", "yes", "true", "last in sort order"),
    (["a", "b"], None, "01", "b", "a", "last in sort order"),
    ([b"a", b"b"], None, "01", "b", "a", "last in sort order"),
    ([1, "a"], None, "01", "a", "1", "last in sort order"),
    (pd.Categorical(["lo", "hi"], ["hi", "lo"], ordered=True), None, "10", "lo", "hi",
     "last category"),
    (pd.Categorical(["lo", "hi"], ["hi", "lo"]), None, "10", "lo", "hi", "last in sort order"),
    (pd.Categorical([0, 1], [1, 0], ordered=True), None, "01", "1", "0", "1 of 0 and 1"),
    (pl.Series(["z", "a"], dtype=pl.Enum(["z", "a"])), None, "01", "a", "z", "last category"),
    (pl.Series(["z", "a"], dtype=pl.Enum(["z", "a", "q"])), None, "01", "a", "z", "last category"),
    (pl.Series(["no", "yes"], dtype=pl.Enum(["yes", "no"])), None, "01", "yes", "no", "known word"),
    ([datetime.date(2020, 1, 2), datetime.date(2020, 1, 1)], None, "10", "2020-01-02", "2020-01-01",
     "last in sort order"),
    # given
    ([0, 1], 0, "10", "0", "1", "given"),
    ([0, 1], "1", "01", "1", "0", "given"),
    ([0.0, 1.0], "1", "01", "1", "0", "given"),
    ([0, 1], "1.0", "01", "1", "0", "given"),
    ([0, 1], True, "01", "1", "0", "given"),
    ([False, True], "true", "01", "True", "False", "given"),
    ([False, True], "False", "10", "False", "True", "given"),
    ([False, True], "1", "01", "True", "False", "given"),
    ([True, False], np.int64(0), "01", "False", "True", "given"),
    (["0", "1"], 1, "01", "1", "0", "given"),
    (["True", "False"], "true", "10", "True", "False", "given"),
    (["a", "A"], "A", "01", "A", "a", "given"),
    ([1, 2, 3], 2, "010", "2", "the rest", "given, against the 2 other values"),
    (["a", "b", "c"], "b", "010", "b", "the rest", "given, against the 2 other values"),
    (np.array(list("abcdefghijk")), "k", "0" * 10 + "1", "k", "the rest",
     "given, against the 10 other values"),
    # one value
    ([1, 1], None, "11", "1", "0", "1 of 0 and 1"),
    ([0], None, "0", "1", "0", "1 of 0 and 1"),
    ([-1.0], None, "0", "1", "-1", "1 of -1 and 1"),
    ([True], None, "1", "True", "False", "True of False and True"),
    ([False], None, "0", "True", "False", "True of False and True"),
    (["No"], None, "0", "Yes", "No", "known word"),
    (["SPAM"], None, "1", "SPAM", "HAM", "known word"),
    (pl.Series(["z"], dtype=pl.Enum(["z", "a"])), None, "0", "a", "z", "last category"),
    (["a", "a"], "a", "11", "a", "not a", "given"),
    ([7], 7, "1", "7", "not 7", "given"),
    ([0, 0], "1", "00", "1", "0", "given"),
    ([-1], 1, "0", "1", "-1", "given"),
    ([False], "true", "0", "True", "False", "given"),
    (["no"], "yes", "0", "yes", "no", "given"),
    (pl.Series(["z"], dtype=pl.Enum(["z", "a"])), "a", "0", "a", "z", "given"),
    # no rows
    ([], None, "", "", "", "no rows"),
    ([], "yes", "", "yes", "", "given"),
]  # fmt: skip


@pytest.mark.parametrize(("labels", "positive", "y", "top", "bottom", "rule"), CHOSEN)
def test_positive_class(labels, positive, y, top, bottom, rule):
    assert read(labels, positive) == ([c == "1" for c in y], Labels(top, bottom, rule))


SENTENCES = [
    (
        ["a"],
        None,
        "label has one value only (a), and it does not say whether it is the positive class; "
        "pass positive=",
    ),
    (
        [2.0, 2.0],
        None,
        "label has one value only (2), and it does not say whether it is the positive class; "
        "pass positive=",
    ),
    (
        ["a", "b", "c"],
        None,
        "label has 3 distinct values (a, b, c), not two; "
        "pass positive= to set one of them against the rest, or evaluate all of them with classes=",
    ),
    (
        [-1, 0, 1],
        None,
        "label has 3 distinct values (-1, 0, 1), not two; "
        "pass positive= to set one of them against the rest, or evaluate all of them with classes=",
    ),
    (
        list(range(10)),
        None,
        "label has 10 distinct values (0, 1, 2, 3, 4, 5, 6, 7 and 2 more), not two; "
        "pass positive= to set one of them against the rest, or evaluate all of them with classes=",
    ),
    (
        [0, 0.5, 1],
        None,
        "label has 3 distinct values, such as 0, 0.5: it looks like a score; swap label and score?",
    ),
    (
        [0.13, 0.07] + [i / 128 for i in range(111)],
        None,
        "label has 113 distinct values, such as 0.13, 0.07: it looks like a score; "
        "swap label and score?",
    ),
    (
        list(range(21)),
        None,
        "label has 21 distinct values, such as 0, 1: it looks like a score; swap label and score?",
    ),
    ([0, 1], "yes", "label is never 'yes', given as positive=; its values are 0, 1"),
    ([0, 1], 2, "label is never '2', given as positive=; its values are 0, 1"),
    (["a", "b"], "c", "label is never 'c', given as positive=; its values are a, b"),
    (["a", "A"], "á", "label is never 'á', given as positive=; its values are a, A"),
    (
        ["Ab", "aB", "c", "d"],
        "ab",
        "label is never 'ab', given as positive=; its values are Ab, aB, c, d",
    ),
    ([True], 2, "label is never '2', given as positive=; its values are True"),
    (["no"], "maybe", "label is never 'maybe', given as positive=; its values are no"),
    (
        np.array([], dtype=np.int64).reshape(0, 2),
        None,
        "label has shape (0, 2); pass one column of it, such as label[:, 1]",
    ),
    (
        np.eye(3),
        None,
        "label has shape (3, 3); one-hot labels of several classes need a score for each of them",
    ),
    (
        np.ones((3, 3)),
        None,
        "label has shape (3, 3); pass one column of it, such as label[:, 1]",
    ),
    (
        [1, "1", 1],
        None,
        "label has '1' as values of two types, such as text and bytes or numbers; write it as one",
    ),
    (
        np.array([b"a", "a", b"a"], dtype=object),
        "a",
        "label has 'a' as values of two types, such as text and bytes or numbers; write it as one",
    ),
]


@pytest.mark.parametrize(("labels", "positive", "sentence"), SENTENCES)
def test_refused_in_one_sentence(labels, positive, sentence):
    with pytest.raises(BadInput) as problem:
        read(labels, positive)
    assert str(problem.value) == sentence


NUMBER_BOXES = {
    "list": list,
    "tuple": tuple,
    "generator": lambda v: (x for x in v),
    "numpy": np.array,
    "object": lambda v: np.array(v, dtype=object),
    "pandas": pd.Series,
    "pandas index": pd.Index,
    "pandas nullable": lambda v: pd.Series(v).convert_dtypes(),
    "pandas arrow": lambda v: pd.Series(v).convert_dtypes(dtype_backend="pyarrow"),
    "category": lambda v: pd.Series(v, dtype="category"),
    "polars": pl.Series,
    "arrow": pa.array,
    "arrow chunks": lambda v: pa.chunked_array([v[:1], v[1:]]),
    "arrow dictionary": lambda v: pa.array(v).dictionary_encode(),
}
TEXT_BOXES = NUMBER_BOXES | {
    "pandas object": lambda v: pd.Series(v, dtype=object),
    "polars categorical": lambda v: pl.Series(v, dtype=pl.Categorical),
}
pattern = st.lists(st.booleans(), min_size=1, max_size=8).map(lambda v: [True, False, *v])
words = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=6)


@pytest.mark.parametrize("box", TEXT_BOXES)
@settings(max_examples=40)
@given(rows=pattern, pair=st.tuples(words, words).filter(lambda p: p[0] != p[1]))
def test_any_two_words_come_back_from_any_container(box, rows, pair):
    column = TEXT_BOXES[box]([pair[0] if r else pair[1] for r in rows])
    assert read(column, pair[0]) == (rows, Labels(*pair, "given"))


@pytest.mark.parametrize("box", NUMBER_BOXES)
@settings(max_examples=40)
@given(
    rows=pattern,
    pair=st.one_of(
        st.tuples(st.integers(-(2**63), 2**63 - 1), st.integers(-(2**63), 2**63 - 1)),
        st.tuples(st.floats(-1e6, 1e6, width=32), st.floats(-1e6, 1e6, width=32)),
        st.permutations([True, False]).map(tuple),
    ).filter(lambda p: p[0] != p[1]),
)
def test_the_larger_of_any_two_numbers_is_positive_in_any_container(box, rows, pair):
    y, labels = read(NUMBER_BOXES[box]([pair[0] if r else pair[1] for r in rows]))
    assert y == (rows if pair[0] > pair[1] else [not r for r in rows])
    assert labels.rule in (
        "last in sort order",
        "1 of 0 and 1",
        "1 of -1 and 1",
        "True of False and True",
    )


@pytest.mark.parametrize(
    "dtype", [torch.bool, torch.int8, torch.int64, torch.float32, torch.bfloat16]
)
def test_tensors(dtype):
    assert read(torch.tensor([0, 1, 1]).to(dtype))[0] == [False, True, True]


def test_boolean_labels_are_not_copied():
    y = np.array([True, False])
    assert np.shares_memory(read_labels(vector(y, "label"), "label")[0], y)


def test_integers_beyond_those_with_a_sign_are_told_apart():
    large = np.array([2**63 + 7, 2**63 + 5, 2**63 + 7], np.uint64)
    codes, words = word_codes(vector(large, "id"))
    assert codes.tolist() == [1, 0, 1]
    assert words == [str(2**63 + 5), str(2**63 + 7)]


def test_a_positive_class_beyond_all_integers_is_refused():
    with pytest.raises(BadInput, match=f"label is never '{10**30}', given as positive="):
        read([True, False], 10**30)


@pytest.mark.parametrize("box", [pa.array, pl.Series, np.array, list], ids=lambda b: b.__name__)
@pytest.mark.parametrize("positive", ["ill", b"ill"])
def test_text_in_binary_is_text(box, positive):
    assert read(box([b"ill", b"well", b"ill"]), positive)[0] == [True, False, True]
