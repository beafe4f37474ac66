"""Ratings in all their forms are the same ratings; parts merge; what is wrong is told in a sentence."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import scorewise as sw
from scorewise import BadInput, Ratings
from scorewise.columns.ratings import rating_rows, table_ratings
from scorewise.tallies import rating_patterns as folding

WORDS = ("a", "b", "c")


@st.composite
def tables(draw):
    raters = draw(st.integers(2, 4))
    items = draw(st.integers(1, 12))
    cell = st.sampled_from([*WORDS, None])
    return [[draw(cell) for _ in range(raters)] for _ in range(items)]


def columns(table):
    return {f"r{k}": [row[k] for row in table] for k in range(len(table[0]))}


def patterns(r):
    """What is said, spelled out."""
    spelled = {}
    for code, w in zip(r.codes.tolist(), r.weight.tolist(), strict=True):
        spelled[tuple(None if c < 0 else r.categories[c] for c in code)] = w
    return spelled


def expected(table):
    found = {}
    for row in table:
        if any(v is not None for v in row):
            found[tuple(row)] = found.get(tuple(row), 0) + 1
    return found


@given(tables())
def test_patterns_are_the_distinct_rows(table):
    assert patterns(Ratings.of(columns(table), categories=WORDS)) == expected(table)


@given(tables(), st.randoms())
def test_long_and_wide_are_the_same(table, random):
    rows = [
        (i, f"r{k}", v) for i, row in enumerate(table) for k, v in enumerate(row) if v is not None
    ]
    # every rater has to be named somewhere
    rows += [(i, f"r{k}", None) for i in range(len(table)) for k in range(len(table[0]))
             if table[i][k] is None]  # fmt: skip
    random.shuffle(rows)
    item, rater, rating = map(list, zip(*rows, strict=True))
    long = Ratings.of_long(item, rater, rating, categories=WORDS)
    assert long == Ratings.of(columns(table), categories=WORDS)


@given(tables())
def test_counts_forget_who_said_what(table):
    said = {w: [row.count(w) for row in table] for w in WORDS}
    r = Ratings.of_counts(said)
    assert r.raters is None
    anonymous = Ratings.of_long(
        [i for i, row in enumerate(table) for v in row if v is not None] or [0],
        None,
        [v for row in table for v in row if v is not None] or [None],
        categories=WORDS,
    )
    assert np.array_equal(r.counts, anonymous.counts)
    assert np.array_equal(r.weight, anonymous.weight)
    rows = sorted(
        tuple(row.count(w) for w in WORDS) for row in table if any(v is not None for v in row)
    )
    spelled = [
        tuple(c)
        for c, w in zip(r.counts.tolist(), r.weight.tolist(), strict=True)
        for _ in range(w)
    ]
    assert sorted(spelled) == rows


@given(tables(), st.integers(0, 12))
def test_parts_merge_to_the_whole(table, cut):
    whole = Ratings.of(columns(table))
    parts = [p for p in (table[:cut], table[cut:]) if p]
    merged = sum((Ratings.of(columns(p)) for p in parts[1:]), Ratings.of(columns(parts[0])))
    assert patterns(merged) == patterns(whole)
    assert merged.categories == whole.categories


@given(tables())
def test_a_count_repeats_an_item(table):
    times = [1 + i % 3 for i in range(len(table))]
    counted = Ratings.of(columns(table), count=times)
    repeated = [row for row, k in zip(table, times, strict=True) for _ in range(k)]
    assert counted == Ratings.of(columns(repeated))


def test_a_table_of_two_raters_is_counted_pairs():
    r = Ratings.of_table([[20, 5], [10, 15]])
    assert patterns(r) == {("0", "0"): 20, ("0", "1"): 5, ("1", "0"): 10, ("1", "1"): 15}
    assert np.array_equal(r.pair(0, 1).weight, [[20, 5], [10, 15]])
    assert r.items == 50


def test_libraries_and_kinds_of_numbers_agree():
    table = np.array([[1, 2, np.nan], [3, 3, 1], [2, 2, 2]])
    wide = {f"r{k}": table[:, k] for k in range(3)}
    first = Ratings.of(wide, scale="ordinal")
    words = {k: [None if np.isnan(v) else str(int(v)) for v in c] for k, c in wide.items()}
    nullable = pd.DataFrame(wide).astype("Int64")
    frames = [pd.DataFrame(wide), pl.DataFrame(wide).fill_nan(None), nullable]
    for other in (words, *frames):
        named = {k: other[k] for k in wide}
        assert Ratings.of(named, scale="ordinal") == first
    assert first.categories == ("1", "2", "3")


@pytest.mark.parametrize("shift", [0.0, 0.5, 1e6])
def test_numbers_are_coded_with_and_without_a_sort(shift):
    rng = np.random.default_rng(0)
    table = rng.integers(0, 50, (300, 3)) * (1 + 2 * (shift == 1e6)) + shift
    table[rng.random(table.shape) < 0.2] = np.nan
    r = rating_rows(raters={f"r{k}": table[:, k] for k in range(3)}, scale="interval")
    spelled = np.where(r.codes < 0, np.nan, r.values[r.codes])
    np.testing.assert_array_equal(spelled, table)


def test_only_the_order_of_ordinal_numbers_counts():
    few, more = {"a": [1, 2, 9], "b": [1, 9, 9]}, {"a": [1, 4], "b": [4, 4]}
    assert Ratings.of(few, scale="ordinal").values.tolist() == [0, 1, 2]
    assert Ratings.of(few, scale="interval").values.tolist() == [1, 2, 9]
    merged = Ratings.of(few, scale="ordinal") + Ratings.of(more, scale="ordinal")
    whole = Ratings.of({k: few[k] + more[k] for k in few}, scale="ordinal")
    assert merged == whole
    with pytest.raises(BadInput, match="'inf', which is not a number"):
        Ratings.of({"a": ["inf", "1"], "b": ["1", "1"]}, scale="interval")


def test_words_that_look_like_numbers_are_words():
    r = Ratings.of({"a": ["nan", "inf", "1"], "b": ["nan", "1", "1"]})
    assert r.categories == ("1", "inf", "nan")
    assert r.values.tolist() == [0, 1, 2]
    assert sw.agree(r).cohen_kappa.defined


def test_declared_orders_have_to_be_one():
    x = pd.Categorical(["lo", "hi"], ["lo", "mid", "hi"], ordered=True)
    y = pd.Categorical(["lo", "mid"], ["hi", "lo", "mid"], ordered=True)
    with pytest.raises(BadInput, match="declare their categories in different orders"):
        Ratings.of({"a": x, "b": y}, scale="ordinal")
    given = Ratings.of({"a": x, "b": y}, scale="ordinal", categories=["lo", "mid", "hi"])
    assert given.codes.tolist() == [[0, 0], [2, 1]]


def test_ratings_can_be_summed():
    r = Ratings.of({"a": [1, 2], "b": [1, 1]})
    assert sum([r, r]) == r + r
    with pytest.raises(TypeError):
        r + 3


def test_many_patterns_are_folded_by_rank(monkeypatch):
    """Keys that grow beyond 64 bits are replaced by their ranks, in the same order."""
    rng = np.random.default_rng(1)
    table = rng.integers(0, 900, (500, 9)).astype(float)
    table = np.concatenate((table, table[:50]))
    long = Ratings.of({f"r{k}": table[:, k] for k in range(9)}, scale="interval")
    assert len(long.codes) == 500
    assert long.weight.sum() == 550
    spelled = long.codes.tolist()
    assert spelled == sorted(spelled)
    few = rng.integers(0, 3, (500, 4)).astype(float)
    named = {f"r{k}": few[:, k] for k in range(4)}
    short = Ratings.of(named)
    monkeypatch.setattr(folding, "_FEW", 1)
    assert Ratings.of(named) == short


def test_some_raters_alone():
    r = Ratings.of({"a": [1, 2, None], "b": [1, 1, None], "c": [2, 2, 2]})
    both = r.only(["a", "b"])
    assert both.raters == ("a", "b")
    assert patterns(both) == {("1", "1"): 1, ("2", "1"): 1}


@pytest.mark.parametrize(
    ("limit", "words"),
    [
        ("MOST_RATERS", "3 raters are too many to tell apart"),
        ("MOST_CELLS", "3 raters of 2 categories are too many to tell apart"),
    ],
)
def test_raters_too_many_to_be_told_apart_are_forgotten(monkeypatch, limit, words):
    from scorewise.columns import ratings as rating_lists

    monkeypatch.setattr(rating_lists, limit, 2)
    rows = rating_rows(item=[1, 1, 2], rater=["x", "y", "z"], rating=["u", "v", "u"])
    assert rows.raters is None
    assert rows.codes.tolist() == [[0, 1], [0, -1]]
    assert words in rows.notes[0]
    long = {"item": [1, 1, 2], "rater": ["x", "y", "z"], "rating": ["u", "v", "u"]}
    assert (
        words in sw.agree(long, item="item", rater="rater", rating="rating").to_dict()["hints"][0]
    )


def test_files_of_every_layout(tmp_path):
    wide = pl.DataFrame({"item": ["x", "y", "z"], "ann": [1, 2, 2], "bob": [1, 1, 2]})
    wide.write_csv(tmp_path / "wide.csv")
    long = wide.unpivot(index="item", variable_name="rater", value_name="rating")
    long.write_parquet(tmp_path / "long.parquet")
    counts = pl.DataFrame({"item": ["x", "y", "z"], "n_1": [2, 1, 0], "n_2": [0, 1, 2]})
    counts.write_csv(tmp_path / "counts.csv")
    first = rating_rows(tmp_path / "wide.csv")
    assert list(first.guesses) == [
        "raters: columns 'ann', 'bob' (not named; 'item' names the items)"
    ]
    second = rating_rows(tmp_path / "long.parquet")
    assert list(second.guesses) == [
        "items, raters and ratings: columns 'item', 'rater', 'rating' (not named)"
    ]
    assert Ratings.of_rows(first) == Ratings.of_rows(second)
    assert second.items == ["x", "y", "z"]
    third = rating_rows(tmp_path / "counts.csv", counts="n_*", item="item")
    assert third.codes.tolist() == [[0, 0], [0, 1], [1, 1]]
    pl.DataFrame({"said": ["p", "q"], "p": [3, 1], "q": [0, 4]}).write_csv(tmp_path / "table.csv")
    fourth = rating_rows(tmp_path / "table.csv", form="table", item="said")
    assert fourth.categories == ("p", "q")
    assert fourth.count.tolist() == [3, 0, 1, 4]


LONG = {"item": [1, 1, 2], "rater": ["a", "b", "a"], "rating": [1, 2, 1]}
WIDE = {"a": [1, 2], "b": [1, 1]}


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (
            lambda: rating_rows(raters={"a": [1, 2]}),
            "ratings of 1 rater; agreement needs a column for each",
        ),
        (
            lambda: rating_rows(raters={"a": [1, 2], "b": [1]}),
            "a has 2 rows and b has 1; they have to match",
        ),
        (lambda: rating_rows(raters={1: [1], "1": [2]}), "two raters have the same name"),
        (lambda: rating_rows(raters=WIDE, scale="odd"), 'scale="odd" is not known'),
        (lambda: rating_rows(raters=WIDE, categories=[1, 1]), "categories= names '1' twice"),
        (
            lambda: rating_rows(raters=WIDE, categories=[1, 3]),
            "a is not among the categories in 1 row, row 1, counting from 0 ('2'); the categories are",
        ),
        (
            lambda: rating_rows(raters={"a": ["x", "y"], "b": ["y", "x"]}, scale="ordinal"),
            "the order of the categories",
        ),
        (
            lambda: rating_rows(raters={"a": ["x", 1], "b": [1, 1]}, scale="interval"),
            "a rating is 'x', which is not a number",
        ),
        (
            lambda: rating_rows(raters={"a": [-1, 1], "b": [1, 1]}, scale="ratio"),
            "has a true zero and nothing below it",
        ),
        (
            lambda: rating_rows(raters={"a": [np.inf, 1], "b": [1, 1]}),
            "a is infinite in 1 row, row 0",
        ),
        (lambda: rating_rows(raters=WIDE, weight=[1, -1]), "weight is negative in 1 row"),
        (
            lambda: rating_rows(raters=WIDE, weight=[1, None]),
            "weight is missing in 1 row, row 1, counting from 0; give each item one",
        ),
        (lambda: rating_rows(raters=WIDE, count=[1]), "a has 2 rows and count has 1"),
        (lambda: rating_rows(raters=WIDE, item=["x"]), "there are 2 items and 1 names of items"),
        (lambda: rating_rows(counts={"x": [1, 2]}), "counts of 1 category"),
        (
            lambda: rating_rows(counts={"x": [1, 2], "y": [1, 0.5]}),
            "the count of y is not whole in 1 row",
        ),
        (
            lambda: rating_rows(counts={"x": [1, 2], "y": [1, None]}),
            "the count of y is missing in 1 row",
        ),
        (
            lambda: rating_rows(counts={"x": [1, 2], "y": [1, -1]}),
            "the count of y is negative in 1 row",
        ),
        (lambda: rating_rows(counts={"x": [10**9, 2], "y": [1, 1]}), "too many to spell out"),
        (
            lambda: table_ratings([[1, 2, 3], [1, 2, 3]]),
            "is square, with a row and a column for each category",
        ),
        (
            lambda: table_ratings([[1, 2], [1, -3]]),
            "the table has -3 in row 1, column 1, counting from 0",
        ),
        (
            lambda: table_ratings([[0.4, 0.1], [0.2, 0.3]]),
            "shares do not say how many items there are",
        ),
        (lambda: table_ratings([[1, 2], [1, np.nan]]), "the table misses 1 of its numbers"),
        (
            lambda: table_ratings([[1, 2], [1, 3]], categories="abc"),
            "names 3 categories, and the table has 2",
        ),
        (
            lambda: rating_rows(item=[1, 1], rater=["a", "a"], rating=[1, 2]),
            "all ratings are by 'a'",
        ),
        (
            lambda: rating_rows(item=[1, 1, 2], rater=["a", "a", "b"], rating=[1, 2, 1]),
            "a rates 1 again in 1 row, row 1",
        ),
        (
            lambda: rating_rows(item=[1, None], rater=["a", "b"], rating=[1, 2]),
            "item is missing in 1 row",
        ),
        (lambda: Ratings.of(WIDE).at("c"), "no rater is named 'c'; there are a, b"),
        (
            lambda: Ratings.of(WIDE) + Ratings.of({"a": [1], "c": [1]}),
            "cannot merge ratings of a, b (nominal) and of a, c",
        ),
        (
            lambda: Ratings.of(WIDE, categories=[1, 2]) + Ratings.of(WIDE, categories=[2, 1]),
            "cannot merge ratings in the categories",
        ),
        (
            lambda: Ratings.of_counts({"x": [1], "y": [1]}).pair(0, 1),
            "not known which rater gave which rating",
        ),
        (lambda: rating_rows(LONG, raters=["a", "item"]), "no column 'a'"),
        (lambda: rating_rows(LONG, rating="rating"), "goes with item="),
        (lambda: rating_rows(LONG, rater="rater"), "goes with rating="),
        (lambda: rating_rows(WIDE, raters=["a", "a"]), "column 'a' is given twice"),
        (
            lambda: rating_rows(WIDE, raters=["a", "b"], counts="*"),
            "were named; ratings come in one of these ways",
        ),
        (lambda: rating_rows({"id": [1], "a": [1]}), "no two can be raters"),
        (lambda: rating_rows(WIDE, counts="n_*"), 'counts="n_*" stands for no column'),
        (lambda: sw.agree([1, 2, 3]), "ratings have shape (3,)"),
        (lambda: sw.agree([[1, 2], [1]]), "differ in length"),
        (lambda: sw.agree([[1, 2], [1, 2]], raters=["a"]), "raters= names a column"),
        (lambda: sw.agree(WIDE, level=2), "level must lie between 0 and 1, such as 0.95; got 2"),
        (
            lambda: sw.agree([[25, 10], [15, 20]], count=[1, 2]),
            "count= does not go with a table of two raters",
        ),
    ],
)
def test_what_is_wrong_is_told(call, words):
    with pytest.raises(BadInput) as caught:
        call()
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
