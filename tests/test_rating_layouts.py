"""How tables, dicts and files of ratings are read: by the names of rows and columns, or not at all."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import cohen_kappa_score

import scorewise as sw
from scorewise import BadInput
from scorewise.cli import run

ORDER = ["low", "mid", "high"]  # sorted: high, low, mid


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def two_raters():
    rng = np.random.default_rng(0)
    first = rng.choice(ORDER, 80)
    second = np.where(rng.random(80) < 0.7, first, rng.choice(ORDER, 80))
    return pd.Series(first, name="first"), pd.Series(second, name="second")


def quadratic():
    """By scikit-learn, from the places of the categories in their order."""
    codes = [[ORDER.index(word) for word in said] for said in two_raters()]
    return cohen_kappa_score(*codes, weights="quadratic")


def kappa(capsys, *args):
    assert run(["agree", *args, "--json", "-"]) == 0
    measures = json.loads(capsys.readouterr().out)["measures"]
    return next(m["value"] for m in measures if m["name"] == "cohen_kappa")


# tables of two raters


def test_categories_put_the_rows_and_columns_of_a_table_in_order(capsys):
    how = {"scale": "ordinal", "categories": ORDER, "weights": "quadratic"}
    crossed = pd.crosstab(*two_raters())
    assert list(crossed.columns) == ["high", "low", "mid"]
    tables = {
        "crosstab": crossed,
        "shuffled rows": crossed.loc[["mid", "high", "low"]],
        "in order": crossed.loc[ORDER, ORDER],
        "dict": {name: crossed[name].to_list() for name in crossed.columns},
    }
    for what, table in tables.items():
        a = sw.agree(table, form="table", **how)
        assert a.ratings.categories == tuple(ORDER), what
        assert a.cohen_kappa.value == pytest.approx(quadratic(), abs=1e-12), what
    crossed.to_csv("named.csv")
    crossed.to_csv("bare.csv", index=False)
    options = ("--form", "table", "--scale", "ordinal", "--weights", "quadratic")
    for path in ("named.csv", "bare.csv"):
        found = kappa(capsys, path, *options, "--categories", "low,mid,high")
        assert found == pytest.approx(quadratic(), abs=1e-12), path


def test_names_of_rows_say_which_row_is_which(capsys):
    crossed = pd.crosstab(*two_raters())
    right = sw.agree(crossed).cohen_kappa.value
    shuffled = crossed.iloc[[2, 0, 1]]
    assert sw.agree(shuffled, form="table").cohen_kappa.value == pytest.approx(right, abs=1e-12)
    shuffled.to_csv("a.csv")
    found = kappa(capsys, "a.csv", "--form", "table", "--item", "first")
    assert kappa(capsys, "a.csv", "--form", "table") == found
    assert found == pytest.approx(right, abs=1e-12)
    with pytest.raises(BadInput, match="rows of the table are not high, low, mid, as its columns"):
        sw.agree(crossed.rename(index={"mid": "middle"}), form="table")


def test_other_categories_than_those_of_the_table_are_refused():
    crossed = pd.crosstab(*two_raters())
    with pytest.raises(BadInput, match="names a, b, c, and the table has high, low, mid; list"):
        sw.agree(crossed, categories=["a", "b", "c"])
    # numbers from 0 are no names
    bare = pd.DataFrame(crossed.to_numpy())
    assert sw.agree(bare, categories=["a", "b", "c"]).ratings.categories == ("a", "b", "c")


def test_margins_are_no_category(capsys):
    crossed = pd.crosstab(*two_raters(), margins=True)
    for table in (
        crossed,
        crossed.to_numpy(),
        crossed.rename(index={"All": "Z"}, columns={"All": "Z"}),
    ):
        with pytest.raises(BadInput, match="are the sums of the others; leave them out"):
            sw.agree(table, form="table")
    with pytest.raises(BadInput, match=r"of the table \('All'\) are the sums"):
        sw.agree(crossed, categories=ORDER)
    crossed.to_csv("a.csv")
    assert run(["agree", "a.csv", "--form", "table"]) == 2
    assert "('All') are the sums of the others; leave them out" in capsys.readouterr().err
    assert sw.agree(crossed, categories=[*ORDER, "All"]).ratings.items == 4 * 80
    assert sw.agree([[1, 0, 1], [0, 0, 0], [1, 0, 1]]).ratings.items == 4


def test_a_margin_of_one_side_is_no_rater():
    crossed = pd.crosstab(*two_raters())
    for table in (
        crossed.assign(Sum=crossed.sum(axis=1)),
        pd.concat([crossed, crossed[:1].rename({"high": "Sum"})]),
    ):
        with pytest.raises(BadInput, match="high, low, mid, and one side has 'Sum' too"):
            sw.agree(table)
    items = pd.DataFrame({"0": [1, 2], "1": [1, 2], "2": [2, 2]})
    assert sorted(r.rater for r in sw.agree(items).raters) == ["0", "1", "2"]


def test_rows_of_a_file_that_are_named_otherwise_are_said(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.csv").write_text("first,high,low\nhigh,5,2\nlwo,1,6\n")
    assert run(["agree", "a.csv", "--form", "table"]) == 2
    said = "the rows of the table are not high, low, as its columns are, but high, lwo"
    assert said in capsys.readouterr().err


def test_categories_put_counts_in_order():
    counts = {"no": [1, 2, 0], "yes": [2, 1, 3]}
    a = sw.agree(counts, form="counts", categories=["yes", "no"])
    ratings = {c["name"]: c["ratings"] for c in a.to_dict()["data"]["categories"]}
    assert ratings == {"yes": 6, "no": 3}
    with pytest.raises(BadInput, match="names a, b, and there are counts of no, yes"):
        sw.agree(counts, form="counts", categories=["a", "b"])


# which columns are raters


def test_a_dict_of_items_raters_and_ratings_is_read_as_a_frame_is():
    long = {"item": [1, 1, 2, 2], "rater": ["a", "b"] * 2, "rating": ["x", "x", "x", "y"]}
    assert sw.agree(long).ratings == sw.agree(pl.DataFrame(long)).ratings
    assert sw.agree(long).ratings.raters == ("a", "b")
    wide = {"id": [1, 2, 3], "ann": ["x", "y", "x"], "bob": ["x", "y", "y"]}
    assert sw.agree(wide).ratings.raters == ("ann", "bob")
    del wide["id"]
    assert sw.agree(wide).ratings.raters == ("ann", "bob")


@pytest.mark.parametrize(
    ("further", "words"),
    [
        ({"question": [1, 2, 3] * 4}, "'question' may number or name the items"),
        (
            {"nr": range(1, 13)},
            'raters cannot be told; pass (item="nr"|--item nr), or name a column',
        ),
        ({"nr": range(1, 13)}, "'nr' may number or name the items"),
        ({"Freq": [1, 2, 2] * 4}, "'Freq' may say how many items a row stands for"),
        (
            {"Freq": [1, 2, 2] * 4},
            'pass (count="Freq" or weight="Freq"|--count Freq or --weight Freq), or',
        ),
    ],
)
def test_columns_that_are_hardly_raters_are_refused(further, words, capsys):
    wide = pl.DataFrame({"id": range(12), "ann": [1, 2, 1] * 4, "bob": [1, 2, 2] * 4, **further})
    with pytest.raises(BadInput, match=words):
        sw.agree(wide)
    assert sw.agree(wide, raters=["ann", "bob"]).ratings.raters == ("ann", "bob")
    wide.write_csv("a.csv")
    assert run(["agree", "a.csv"]) == 2
    assert re.search(words, capsys.readouterr().err)


def test_a_star_does_not_count_the_column_of_items(capsys):
    counts = pl.DataFrame({"subject": [1, 2, 3, 4], "yes": [2, 3, 1, 0], "no": [1, 0, 2, 3]})
    a = sw.agree(counts, counts="*")
    assert a.ratings.categories == ("yes", "no")
    assert a.notes[0] == "counts: columns 'yes', 'no' (not named; 'subject' names the items)"
    other = counts.rename({"subject": "patient"})
    other.write_csv("a.csv")
    assert run(["agree", "a.csv", "--counts", "*"]) == 2
    assert "column 'patient' does not look like a count of raters" in capsys.readouterr().err
    assert run(["agree", "a.csv", "--counts", "*", "--item", "patient"]) == 0


# where items are


def test_disputed_items_of_long_files_have_the_row_that_they_begin_in(capsys):
    order = [
        ("z", "b", 2),
        ("m", "a", 1),
        ("z", "a", 2),
        ("a", "a", 1),
        ("a", "b", 2),
        ("m", "b", 1),
    ]
    long = pl.DataFrame(order, schema=["item", "rater", "rating"], orient="row")
    long.write_csv("a.csv")
    assert run(["agree", "a.csv", "--json", "-"]) == 0
    (item,) = json.loads(capsys.readouterr().out)["disputed"]
    assert (item["id"], item["row"]) == ("a", 4)
    assert [(i.id, i.row) for i in sw.agree(long).disputed] == [("a", 3)]
