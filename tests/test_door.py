"""Columns of every library, and each sentence of refusal."""

from __future__ import annotations

import datetime
import subprocess
import sys
from fractions import Fraction

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from scorewise import BadInput
from scorewise.columns import Place, binary_rows, read
from scorewise.columns.rows import rows_of
from scorewise.columns.vectors import Coded, Numbers, factorize_numbers, vector

nan, inf = float("nan"), float("inf")


def take(labels, scores, **options):
    return binary_rows(None, label=labels, score=scores, **options)


FULL = {
    "list": [0.25, 0.5, 1.0],
    "tuple": (0.25, 0.5, 1.0),
    "generator": (x for x in [0.25, 0.5, 1.0]),
    "dict values": {"a": 0.25, "b": 0.5, "c": 1.0}.values(),
    "fractions": [Fraction(1, 4), Fraction(1, 2), 1],
    "text": ["0.25", " 5e-1", "1"],
    "numpy": np.array([0.25, 0.5, 1.0]),
    "numpy text": np.array(["0.25", "0.5", "1"]),
    "numpy strings": np.array(["0.25", "0.5", "1"], dtype=np.dtypes.StringDType()),
    "big endian": np.array([0.25, 0.5, 1.0], dtype=">f8"),
    "strided": np.array([0.25, 0.0, 0.5, 0.0, 1.0])[::2],
    "long double": np.array([0.25, 0.5, 1.0], dtype=np.longdouble),
    "pandas": pd.Series([0.25, 0.5, 1.0], index=[5, 5, 0]),
    "pandas nullable": pd.Series([0.25, 0.5, 1.0], dtype="Float64"),
    "pandas arrow": pd.Series([0.25, 0.5, 1.0], dtype="double[pyarrow]"),
    "pandas text": pd.Series(["0.25", "0.5", "1"]),
    "pandas sparse": pd.Series([0.25, 0.5, 1.0], dtype="Sparse[float]"),
    "pandas category": pd.Series([0.25, 0.5, 1.0], dtype="category"),
    "pandas array": pd.array([0.25, 0.5, 1.0]),
    "polars": pl.Series([0.25, 0.5, 1.0]),
    "polars decimal": pl.Series(["0.25", "0.5", "1"]).cast(pl.Decimal(6, 2)),
    "polars chunks": pl.concat([pl.Series([0.25]), pl.Series([0.5, 1.0])], rechunk=False),
    "arrow": pa.array([0.25, 0.5, 1.0]),
    "arrow chunks": pa.chunked_array([[0.25], [0.5, 1.0]]),
    "arrow decimal": pa.array([0.25, 0.5, 1.0]).cast(pa.decimal128(6, 2)),
    "arrow dictionary": pa.array([0.25, 0.5, 1.0]).dictionary_encode(),
    "narwhals": nw.from_native(pl.Series([0.25, 0.5, 1.0]), series_only=True),
    "torch": torch.tensor([0.25, 0.5, 1.0], dtype=torch.float64),
    "torch with gradient": torch.tensor([0.25, 0.5, 1.0], requires_grad=True) * 1,
    "torch bfloat16": torch.tensor([0.25, 0.5, 1.0], dtype=torch.bfloat16),
    "torch half": torch.tensor([0.25, 0.5, 1.0], dtype=torch.float16),
}
NARROW = {"torch with gradient", "torch bfloat16", "torch half"}


@pytest.mark.parametrize("box", FULL)
def test_scores_of_every_library(box):
    column = FULL[box] if box != "generator" else (x for x in [0.25, 0.5, 1.0])
    rows = take([0, 1, 1], {"p": column})
    assert rows.scores["p"].tolist() == [0.25, 0.5, 1.0]
    assert rows.scores["p"].dtype == (np.float32 if box in NARROW else np.float64)
    assert rows.kinds == {"p": "probability"}


GAPPED = {
    "list": [0.0, None, 1.0],
    "list of integers": [0, None, 1],
    "list with NaN": [0.0, nan, 1.0],
    "list with NA": [0.0, pd.NA, 1.0],
    "text": ["0", None, "1"],
    "text with NaN": ["0", nan, "1"],
    "numpy": np.array([0.0, nan, 1.0]),
    "masked": np.ma.masked_array([0.0, 7.0, 1.0], mask=[0, 1, 0]),
    "masked text": np.ma.masked_array(["0", "x", "1"], mask=[0, 1, 0]),
    "pandas": pd.Series([0.0, None, 1.0]),
    "pandas integers": pd.Series([0, None, 1], dtype="Int64"),
    "pandas floats": pd.Series([0.0, None, 1.0], dtype="Float64"),
    "pandas booleans": pd.Series([False, None, True], dtype="boolean"),
    "pandas arrow": pd.Series([0, None, 1], dtype="int64[pyarrow]"),
    "pandas text": pd.Series(["0", None, "1"], dtype="string"),
    "pandas category": pd.Series([0, None, 1], dtype="category"),
    "polars": pl.Series([0.0, None, 1.0]),
    "polars NaN": pl.Series([0.0, nan, 1.0]),
    "polars integers": pl.Series([0, None, 1]),
    "polars booleans": pl.Series([False, None, True]),
    "polars text": pl.Series(["0", None, "1"]),
    "arrow": pa.array([0.0, None, 1.0]),
    "arrow integers": pa.array([0, None, 1]),
    "arrow booleans": pa.array([False, None, True]),
    "arrow text": pa.array(["0", None, "1"]),
    "arrow dictionary": pa.DictionaryArray.from_arrays([0, 1, 2], pa.array(["0", None, "1"])),
    "torch": torch.tensor([0.0, nan, 1.0]),
}


@pytest.mark.parametrize("role", ["score", "label", "weight", "count"])
@pytest.mark.parametrize("box", GAPPED)
def test_missing_values_of_every_library(box, role):
    columns = {
        "label": [0, 1, 1],
        "score": [0.1, 0.2, 0.3],
        "weight": [1, 1, 1],
        "count": [1, 1, 1],
    }
    columns[role] = GAPPED[box]

    def go(missing):
        rest = {"weight": columns["weight"], "count": columns["count"], "missing": missing}
        return take(columns["label"], {"score": columns["score"]}, **rest)

    with pytest.raises(BadInput) as problem:
        go("refuse")
    assert str(problem.value) == (
        f'{role} is missing in 1 row, row 1, counting from 0; drop it or pass missing="drop"'
    )
    rows = go("drop")
    assert (len(rows), rows.dropped, rows.y.tolist()) == (2, 1, [False, True])
    assert len(rows.scores["score"]) == len(rows.weight) == len(rows.count) == 2


@pytest.mark.parametrize(
    "column", [[None, None], pl.Series([None, None]), pa.array([None, None]), [nan, nan]]
)
def test_nothing_is_left_when_all_is_missing(column):
    rows = take(column, {"p": [1, 2]}, missing="drop")
    assert (len(rows), rows.dropped, rows.labels.rule) == (0, 2, "no rows")
    assert take([0, 1], {"p": column}, missing="drop").scores["p"].tolist() == []


def test_rows_are_dropped_for_all_scores_alike():
    with pytest.warns(match="3 rows left out: 1 without label, 1 without p, 1 without q"):
        rows = take(
            ["a", "b", None, "a", "b"],
            {"p": [0.1, nan, 0.3, 0.4, 0.5], "q": [1, 2, 3, None, 5]},
            weight=[1, 2, 3, 4, 0],
            missing="drop",
        )
    assert rows.dropped == 3
    assert {n: s.tolist() for n, s in rows.scores.items()} == {"p": [0.1, 0.5], "q": [1.0, 5.0]}
    assert (rows.weight.tolist(), rows.y.tolist()) == ([1.0, 0.0], [False, True])
    assert rows.kinds == {"p": "probability", "q": "score"}


@given(st.lists(st.one_of(st.none(), st.floats(0, 1), st.just(nan)), min_size=1))
def test_dropping_is_the_same_as_never_having_had_the_rows(scores):
    kept = [s for s in scores if s is not None and s == s]
    rows = take([1] * len(scores), {"p": scores}, missing="drop")
    assert rows.scores["p"].tolist() == kept
    assert rows.dropped == len(scores) - len(kept)


def sentence(labels, scores, *, place=None, **settings):
    def call():
        if place is None:
            return take(labels, scores, **settings)
        return rows_of(read(None, {"label": labels, "score": scores}, place=place, **settings))

    with pytest.raises(BadInput) as problem:
        call()
    return str(problem.value)


Y = [0, 1, 1, 0]
P = [0.1, 0.2, 0.3, 0.4]
FILES = Place(files=(("day1.csv", 2), ("day2.csv", 2)))
REFUSED = [
    (Y, {"p": P[:3]}, {}, "label has 4 rows and p has 3; they have to match row by row"),
    (Y, {"p": P}, {"weight": [1]},
     "label has 4 rows and weight has 1; they have to match row by row"),
    (Y, {"label": P[:3]}, {}, "label has 4 rows and label has 3; they have to match row by row"),
    (Y, {}, {}, "no scores were given; pass at least one column of scores"),
    (Y, {"p": P}, {"kind": "prob"},
     'kind="prob" is not known; pass "probability", "logit" or "score"'),
    (Y, {"p": P}, {"missing": "skip"},
     'missing="skip" is not known; pass "refuse" or "drop"'),
    (Y, {"p": [0.1, nan, nan, 0]}, {},
     'p is missing in 2 rows, first at row 1, counting from 0; drop them or pass missing="drop"'),
    (Y, {"p": [0.1, 0, nan, 0]}, {"place": FILES},
     'p is missing in 1 row, row 1 of day2.csv; drop it or pass missing="drop"'),
    (Y, {"p": [0.1, inf, 0.2, -inf]}, {},
     "p is infinite in 2 rows, first at row 1, counting from 0 (inf); "
     "give it a finite value or leave such rows out"),
    (Y, {"p": [nan, 0.1, 0.2, -inf]}, {"missing": "drop"},
     "p is infinite in 1 row, row 3, counting from 0 (-inf); "
     "give it a finite value or leave such rows out"),
    (Y, {"p": [nan, 0.1, 0.2, -inf]}, {"missing": "drop", "place": FILES},
     "p is infinite in 1 row, row 2 of day2.csv (-inf); "
     "give it a finite value or leave such rows out"),
    (Y, {"p": ["1", "n/a", "0", "?"]}, {},
     "p is not a number in 2 rows, first at row 1, counting from 0 ('n/a'); "
     "correct it or leave such rows out"),
    (Y, {"p": ["1", "1_0", "0", "1"]}, {},
     "p is not a number in 1 row, row 1, counting from 0 ('1_0'); "
     "correct it or leave such rows out"),
    (Y, {"p": [1, "x" * 50, 0, 1]}, {},
     f"p is not a number in 1 row, row 1, counting from 0 ('{'x' * 36}...); "
     "correct it or leave such rows out"),
    (Y, {"p": [1, 2**53 + 1, 0, 1]}, {},
     "p is an integer beyond 2**53 in 1 row, row 1, counting from 0 (9007199254740993), "
     "which floats cannot tell from its neighbours; scale it down"),
    (Y, {"p": np.array(P) + 1j}, {}, "p holds complex numbers; pass one real number per row"),
    (Y, {"p": pd.date_range("2020", periods=4).as_unit("us")}, {},
     "p holds dates or times, first 2020-01-01T00:00:00.000000; pass one number per row"),
    (Y, {"p": pl.Series([datetime.date(2020, 1, 1)] * 4)}, {},
     "p holds dates or times, first 2020-01-01; pass one number per row"),
    (Y, {"p": pa.array([datetime.timedelta(1)] * 4)}, {},
     "p holds dates or times, first 1 day, 0:00:00; pass one number per row"),
    (Y, {"p": [0.1, 1.75, -2, 0]}, {"kind": "probability"},
     "p is outside [0, 1] in 2 rows, first at row 1, counting from 0 (1.75); "
     'pass kind="logit" for log-odds or kind="score" for scores of any scale'),
    (Y, {"p": P}, {"weight": [1, -2, 1, 1]},
     "weight is negative in 1 row, row 1, counting from 0 (-2); weights are zero or more"),
    (Y, {"p": P}, {"weight": [1, inf, 1, 1]},
     "weight is infinite in 1 row, row 1, counting from 0 (inf); "
     "give it a finite value or leave such rows out"),
    (Y, {"p": P}, {"weight": [1, nan, 1, 1]},
     'weight is missing in 1 row, row 1, counting from 0; drop it or pass missing="drop"'),
    (Y, {"p": P}, {"weight": [0, 0, 0, 0]},
     "weight is zero in every row; give at least one row some weight"),
    (Y, {"p": P}, {"weight": [1, 1e200, 1, 1e-200]},
     "weight is beyond what can be squared in 2 rows, first at row 1, counting from 0 (1e+200); "
     "weights have no unit, so scale them all towards 1"),
    (Y, {"p": P}, {"count": [1, 2.5, 1, 1]},
     "count is not whole in 1 row, row 1, counting from 0 (2.5); "
     "pass fractions as weight= instead"),
    (Y, {"p": P}, {"count": [1, -2, 1, 1]},
     "count is negative in 1 row, row 1, counting from 0 (-2); "
     "counts are whole numbers from zero up"),
    (Y, {"p": P}, {"count": [2.0**52, 2.0**52, 2.0**52, 1]},
     "count adds up to more than 2**53, beyond exact counting; scale it down"),
    ("y", {"p": P}, {}, "label is the text 'y'; pass the values of the column, not its name"),
    (Y, {"p": {1: 2}}, {}, "p is a dict; pass a column: an array, series or list"),
    (Y, {"p": 0.5}, {}, "p is a single value (0.5); pass one value per row"),
    (Y, {"p": torch.tensor(0.5)}, {}, "p is a single value (0.5); pass one value per row"),
    (Y, {"p": np.zeros((4, 2))}, {}, "p has shape (4, 2); pass one column of it, such as p[:, 1]"),
    (Y, {"p": np.zeros((4, 1, 1))}, {},
     "p has shape (4, 1, 1); pass one value per row, a flat array"),
    (Y, {"p": pl.DataFrame({"p": P, "q": P})}, {},
     "p has shape (4, 2); pass one column of it, such as p[:, 1]"),
    (Y, {"p": [[1], [2, 3], 1, 2]}, {},
     "p (list) cannot be read as one column; pass a flat array, series or list"),
    (Y, {"p": [{}, {}, {}, {}]}, {}, "p holds a dict in a row; pass one number or label per row"),
    (Y, {"p": np.zeros(4, dtype=[("a", "f8")])}, {},
     "p is of type [('a', '<f8')]; pass one number or label per row"),
    (Y, {"p": np.zeros(4, dtype="V8")}, {}, "p is of type |V8; pass one number or label per row"),
]  # fmt: skip


@pytest.mark.parametrize(("labels", "scores", "settings", "expected"), REFUSED)
def test_refused_in_one_sentence(labels, scores, settings, expected):
    assert sentence(labels, scores, **settings) == expected


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (np.float64, np.float64),
        (np.float32, np.float32),
        (np.float16, np.float32),
        (np.int64, np.float64),
        (np.uint8, np.float64),
        (bool, np.float64),
    ],
)
def test_width_of_scores(given, kept):
    assert take([0, 1], {"p": np.array([0, 1], dtype=given)}).scores["p"].dtype == kept


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("box", [np.asarray, pd.Series, pl.Series, pa.array, torch.from_numpy])
def test_scores_are_not_copied(box, dtype):
    source = np.linspace(0, 1, 1000, dtype=dtype)
    column = box(source)
    memory = column.to_numpy() if box in (pd.Series, pl.Series) else source
    kept = take([0, 1] * 500, {"p": column}).scores["p"]
    assert np.shares_memory(kept, memory)


@pytest.mark.parametrize(
    ("scores", "kind", "decided"),
    [
        ([0, 1.0], None, "probability"),
        ([0, 1.5], None, "score"),
        ([-0.1, 1.0], None, "score"),
        ([0, 1.0], "score", "score"),
        ([0.2, 0.3], "logit", "logit"),
        ([0, 1.0], "probability", "probability"),
    ],
)
def test_kind(scores, kind, decided):
    assert take([0, 1], {"p": scores}, kind=kind).kinds == {"p": decided}


def test_counts_and_weights_keep_their_zeros():
    rows = take([0, 1], {"p": [1, 2]}, weight=[0, 3], count=[2.0, 0])
    assert rows.weight.tolist() == [0.0, 3.0]
    assert rows.count.tolist() == [2, 0]
    assert (rows.weight.dtype, rows.count.dtype) == (np.float64, np.int64)


def test_no_rows_are_no_error():
    rows = take([], {"p": []}, weight=[], count=[])
    assert (len(rows), rows.kinds) == (0, {"p": "probability"})


def test_positive_and_names_reach_the_rows():
    rows = binary_rows({"truth": ["x", "y"], "p": [1, 2]}, label="truth", score="p", positive="x")
    assert rows.y.tolist() == [True, False]
    assert (rows.labels.positive, rows.names.label) == ("x", "truth")


def test_missing_integers_beyond_exactness_do_not_count():
    column = np.ma.masked_array([1, 2**60, 3], mask=[0, 1, 0])
    assert take([0, 1, 1], {"p": column}, missing="drop").scores["p"].tolist() == [1.0, 3.0]


def test_many_words_are_coded_in_full():
    words = [f"w{i % 50}" for i in range(200)]
    column = vector(np.array(words), "x")
    assert isinstance(column, Coded)
    assert [column.values[c] for c in column.codes] == words


def test_columns_are_called_by_their_names():
    table = {"y": Y, "p": P, "w": [1, inf, 1, 1]}
    with pytest.raises(BadInput, match="w is infinite in 1 row, row 1, counting"):
        binary_rows(table, label="y", score="p", weight="w")


def test_ranges():
    column = vector(range(2, 8, 3), "x")
    assert isinstance(column, Numbers)
    assert column.values.tolist() == [2, 5]


def test_the_door_imports_no_other_library():
    heavy = "{'pandas', 'polars', 'pyarrow', 'torch', 'narwhals', 'scipy'}"
    code = (
        "import sys, scorewise.columns;"
        "scorewise.columns.binary_rows(None, label=['a', 'b'], score={'p': [1, 2]});"
        f"print(sorted({heavy} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_pandas_columns_in_different_orders_are_refused():
    y, p = pd.Series([0, 1, 0, 1]), pd.Series(P)
    with pytest.raises(BadInput, match="the same pandas index in different orders"):
        take(y[::-1], {"p": p})
    for other in (
        p.to_numpy(),
        p.set_axis([7, 8, 9, 10]),
    ):  # by position, when nothing says otherwise
        assert take(y[::-1], {"p": other}).y.tolist() == [True, False, True, False]


@pytest.mark.parametrize(
    ("scores", "said"),
    [
        ([10**400, 2**60 + 1, 3], r"in 2 rows, first at row 0, counting from 0 \(about 1e400\)"),
        ([1, 2, -(2**64)], r"in 1 row, row 2, counting from 0 \(-18446744073709551616\)"),
        (["1", "2", "18446744073709551616"], "in 1 row, row 2, counting from 0"),
    ],
)
def test_integers_of_more_than_64_bits_are_refused(scores, said):
    with pytest.raises(BadInput, match=rf"p is an integer beyond 2\*\*53 {said}"):
        take([0, 1, 1], {"p": scores})


def test_numbers_beyond_floats_are_infinite():
    with pytest.raises(BadInput, match="p is infinite in 1 row, row 0"):
        take([0, 1, 1], {"p": [Fraction(10**400), Fraction(1, 2), Fraction(1, 3)]})


def test_labels_may_be_integers_of_any_size():
    assert take([10**400, 0, 0], {"p": [1, 2, 3]}).y.tolist() == [True, False, False]
    assert take([10**20, 9 * 10**19], {"p": [1, 2]}).y.tolist() == [True, False]
    wide = pl.Series([0, 1, 1], dtype=pl.Int128)
    assert take(wide, {"p": wide}).y.tolist() == [False, True, True]


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "i4", "i1", "u8", "u1"])
@pytest.mark.parametrize(("rows", "low", "step"), [(8, 0, 1), (5, -3, 1), (70_000, 3, 7)])
def test_whole_numbers_get_the_codes_of_any_numbers(dtype, rows, low, step):
    rng = np.random.default_rng(rows)
    whole = (low if dtype[0] != "u" else abs(low)) + step * rng.integers(0, 9, (3, rows))
    columns = [Numbers(x.astype(dtype)) for x in whole]
    columns[1] = Numbers(columns[1].values, null=rng.random(rows) < 0.3)
    if dtype[0] == "f":
        columns[2].values[rng.random(rows) < 0.3] = nan
    others = [Numbers(c.values.astype(float) + 0.5, c.null) for c in columns]  # are sorted
    found, codes = factorize_numbers(columns)
    expected, sorted_codes = factorize_numbers(others)
    assert found == [value - 0.5 for value in expected]
    np.testing.assert_array_equal(codes, sorted_codes)
