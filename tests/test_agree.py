"""What `agree` says of raters, whatever the ratings come in."""

import json

import jsonschema
import numpy as np
import pandas as pd
import polars as pl
import pytest
from typer.testing import CliRunner

import scorewise as sw
from schemas import check_described
from scorewise import cli
from scorewise.cli import app
from scorewise.registry import RATER_MEASURES
from scorewise.show.document import schema as document_schema
from scorewise.show.markdown import markdown
from scorewise.show.terminal import text as table

TABLE = [[25, 10], [15, 20]]


def spelled(table):
    """The same ratings as two columns."""
    pairs = [(i, j) for i, row in enumerate(table) for j, n in enumerate(row) for _ in range(n)]
    first, second = map(list, zip(*pairs, strict=True))
    return {"first": first, "second": second}


def three():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 3, 200)
    columns = {}
    for name, right in (("ann", 0.9), ("bob", 0.8), ("cay", 0.4)):
        said = np.where(rng.random(200) < right, truth, rng.integers(0, 3, 200))
        columns[name] = np.array(["low", "mid", "high"], object)[said]
        columns[name][rng.random(200) < 0.1] = None
    return columns


ORDER = ["low", "mid", "high"]


def test_the_worked_example_of_two_raters():
    a = sw.agree(TABLE)
    assert a.percent_agreement.value == pytest.approx(45 / 70)
    assert a.cohen_kappa.value == pytest.approx(2 / 7)
    assert a.bands["cohen_kappa"].name == "fair"
    assert sum(a.bands["cohen_kappa"].chances.values()) == pytest.approx(1)
    assert a.baseline.by_margins == pytest.approx(0.5)
    assert a.baseline.kappa == pytest.approx(2 / 7)


@pytest.mark.parametrize("table", [TABLE, [[20, 5], [10, 15]], [[3, 1, 0], [0, 4, 2], [1, 0, 5]]])
def test_all_forms_give_the_same(table):
    first = sw.agree(table)
    wide = spelled(table)
    n = len(wide["first"])
    long = {
        "item": list(range(n)) * 2,
        "rater": ["first"] * n + ["second"] * n,
        "rating": wide["first"] + wide["second"],
    }
    frames = [wide, pd.DataFrame(wide), pl.DataFrame(wide), sw.Ratings.of(wide)]
    others = [sw.agree(f) for f in frames]
    others.append(sw.agree(np.array(list(zip(*wide.values(), strict=True))), form="items"))
    others.append(sw.agree(long, item="item", rater="rater", rating="rating"))
    others.append(
        sw.agree(sw.Confusion(np.array(table), np.array(table), tuple("012"[: len(table)])))
    )
    for a in others:
        for name in RATER_MEASURES:
            assert a[name].value == pytest.approx(first[name].value, nan_ok=True), name
            assert a[name].why == first[name].why


def test_counts_know_what_needs_no_names():
    wide = three()
    whole = sw.agree({k: np.where(pd.isna(v), "low", v) for k, v in wide.items()})
    rows = list(
        zip(*({k: np.where(pd.isna(v), "low", v) for k, v in wide.items()}).values(), strict=True)
    )
    counts = np.array([[row.count(c) for c in ORDER] for row in rows])
    a = sw.agree(counts, form="counts", categories=ORDER)
    for name in ("fleiss_kappa", "krippendorff_alpha", "gwet_ac", "brennan_prediger"):
        assert a[name].value == pytest.approx(whole[name].value)
        assert a[name].low == pytest.approx(whole[name].low)
    assert a.conger_kappa.why == "it is not known which rater gave which rating"
    assert a.raters == []
    assert "not known; up to 3 of an item" in str(a)


def test_who_differs_most_and_where():
    a = sw.agree(three(), scale="ordinal", categories=ORDER, top=3)
    assert a.raters[0].rater == "cay"
    assert {(p.first, p.second) for p in a.pairs.rows} == {
        ("ann", "bob"),
        ("ann", "cay"),
        ("bob", "cay"),
    }
    assert len(a.disputed) == 3
    words = [{w for w in i.said if w} for i in a.disputed]
    assert all({"low", "high"} <= w for w in words)
    assert a.disputed[0].disagreement >= a.disputed[2].disagreement > 0


def test_the_document_fits_its_schema_and_the_page_fits_80_columns():
    for a in (
        sw.agree(TABLE),
        sw.agree(three(), scale="ordinal", categories=ORDER),
        sw.agree({"a": [1, 1], "b": [1, 1]}),
        sw.agree({"a": [None, None], "b": [1, 2]}),
        sw.agree(
            {f"r{k}": np.random.default_rng(k).normal(size=30) for k in range(3)}, scale="interval"
        ),
        sw.agree(np.random.default_rng(0).integers(0, 5, (40, 30)), form="counts"),
    ):
        doc = json.loads(a.to_json())
        jsonschema.validate(doc, document_schema("agree"))
        assert max(len(line) for line in str(a).splitlines()) <= 80
        assert "# " in a.to_markdown()
        # what was written shows as what was found
        assert (table(doc), markdown(doc)) == (str(a), a.to_markdown())


def test_the_schema_describes_every_field():
    check_described(document_schema("agree"))


def test_constant_raters_are_told():
    a = sw.agree({"ann": ["x", "x", "x"], "bob": ["x", "y", "x"]})
    assert "'ann' says 'x' of every item that they rated" in a.to_dict()["hints"]
    b = sw.agree({"ann": [1, 1, 1], "bob": [1, 1, 1]})
    assert b.cohen_kappa.why == "all ratings are 1"


def test_bootstrap_intervals_depend_on_the_seed_alone():
    wide = three()
    one, two, three_ = (sw.agree(wide, interval="bootstrap", seed=s) for s in (1, 1, 2))
    assert one.fleiss_kappa == two.fleiss_kappa
    assert one.fleiss_kappa.low != three_.fleiss_kappa.low
    formula = sw.agree(wide).fleiss_kappa
    assert one.fleiss_kappa.low == pytest.approx(formula.low, abs=0.02)


def test_weights_are_titled():
    titles = {
        m["title"]
        for m in sw.agree(three(), weights="quadratic", categories=ORDER).to_dict()["measures"]
    }
    assert "Gwet's AC2" in titles
    assert "Gwet's AC1" in {m["title"] for m in sw.agree(three()).to_dict()["measures"]}


def run(*args):
    return CliRunner().invoke(app, ["agree", *map(str, args)])


def test_the_command_prints_what_python_says(tmp_path):
    file = tmp_path / "films.csv"
    pl.DataFrame({"film": range(200), **{k: list(v) for k, v in three().items()}}).write_csv(file)
    out = tmp_path / "out.json"
    done = run(
        file, "--rater", "ann", "--rater", "bob", "--rater", "cay", "--item", "film",
        "--scale", "ordinal", "--categories", "low, mid, high", "--json", out,
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "Krippendorff's alpha" in done.stdout
    doc = json.loads(out.read_text())
    jsonschema.validate(doc, document_schema("agree"))
    a = sw.agree(three(), scale="ordinal", categories=ORDER)
    values = {m["name"]: m["value"] for m in doc["measures"]}
    assert values["krippendorff_alpha"] == pytest.approx(a.krippendorff_alpha.value)
    assert doc["disputed"][0]["id"] is not None


def test_the_command_reads_long_counts_and_tables(tmp_path):
    wide = pl.DataFrame({"film": list(range(200)), **{k: list(v) for k, v in three().items()}})
    long = wide.unpivot(index="film", variable_name="who", value_name="stars")
    long.write_parquet(tmp_path / "long.parquet")
    done = run(
        tmp_path / "long.parquet",
        "--item",
        "film",
        "--rater",
        "who",
        "--rating",
        "stars",
        "--json",
        "-",
    )
    value = {m["name"]: m["value"] for m in json.loads(done.stdout)["measures"]}
    assert value["fleiss_kappa"] == pytest.approx(sw.agree(three()).fleiss_kappa.value)
    (tmp_path / "table.csv").write_text("no,yes\n25,10\n15,20\n")
    done = run(tmp_path / "table.csv", "--form", "table", "--json", "-")
    value = {m["name"]: m["value"] for m in json.loads(done.stdout)["measures"]}
    assert value["cohen_kappa"] == pytest.approx(2 / 7)
    (tmp_path / "counts.csv").write_text("n_no,n_yes\n3,0\n1,2\n0,3\n2,1\n")
    done = run(tmp_path / "counts.csv", "--counts", "n_*", "--json", "-")
    assert json.loads(done.stdout)["data"]["raters"] is None


GOOD = "item,ann,bob\n1,yes,no\n2,no,no\n3,yes,yes\n"


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (
            GOOD,
            ["--rater", "ann"],
            "there are ratings of 1 rater; agreement needs a column for each of two",
        ),
        (GOOD, ["--rater", "ann", "--rater", "bop"], "no column 'bop'"),
        (GOOD, ["--rater", "ann", "--rater", "ann"], "column 'ann' is given twice"),
        (
            GOOD,
            ["--scale", "ordinal"],
            "the order of the categories no, yes is not known; pass --categories",
        ),
        (GOOD, ["--scale", "interval"], "which is not a number"),
        (
            GOOD,
            ["--categories", "no,maybe"],
            "is not among the categories in 2 rows, first at row 1 of",
        ),
        (GOOD, ["--weights", "cubic"], "cubic"),
        (GOOD, ["--weights", "linear"], "--weights linear needs categories in an order"),
        (GOOD, ["--rating", "ann"], "goes with --item"),
        (GOOD, ["--level", "2"], "--level must lie between 0 and 1, such as 0.95; got 2"),
        (GOOD, ["--top", "-1"], "--top must be an integer from 0 up, such as 10; got -1"),
        (GOOD, ["--counts", "n_*"], "--counts 'n_*' stands for no column"),
        (GOOD, ["--form", "table"], "ann is not a number in 3 rows"),
        (
            GOOD,
            ["--rater", "ann", "--rater", "bob", "--weight", "item", "--count", "item"],
            "given twice",
        ),
        ("item,ann\n1,yes\n", [], "no two can be raters"),
        (
            "film,worker,stars\nf,w,3\nf,v,4\n",
            [],
            "column 'film' has no value in common with the others",
        ),
        (
            "a,b\n2,1\n1,2\n3,0\n",
            [],
            "the numbers of each row add up to 3: counts (--form counts) or a column for each rater",
        ),
        (
            "a,b\n5,1\n1,3\n",
            [],
            "the table of two raters (--form table) or a column for each rater (--form items)?",
        ),
        (GOOD, ["--form", "counts", "--rater", "ann"], "ratings come in one of these ways"),
        (GOOD, ["--form", "items", "--rating", "ann"], "ratings come in one of these ways"),
        (GOOD, ["--form", "table", "--weight", "item"], "--weight does not go with a table"),
        ("n_a,n_b\n1,-1\n", ["--counts", "n_*"], "the count of b is negative in 1 row"),
        ("item,rater,rating\n1,a,x\n1,a,y\n2,b,x\n", [], "a rates 1 again in 1 row, row 2 of"),
        ("", [], "empty"),
    ],
)
def test_malformed_ratings_get_one_sentence(tmp_path, capsys, text, options, words):
    file, out = tmp_path / "in.csv", tmp_path / "out.json"
    file.write_text(text)
    assert cli.run(["agree", str(file), *options, "--json", str(out)]) == 2
    said = [x for x in capsys.readouterr().err.splitlines() if not x.startswith("note:")]
    assert len(said) == 1
    assert said[0].startswith("scorewise: ")
    assert words in said[0]
    assert not out.exists()


def test_the_plot_shows_the_coefficients():
    from matplotlib import pyplot as plt

    a = sw.agree(three(), interval="bootstrap")
    drawn = a.plot()
    assert drawn.dots_["Fleiss' kappa"].get_xdata()[0] == a.fleiss_kappa.value
    ends = drawn.lines_["Fleiss' kappa"].get_xdata().tolist()
    assert ends == [a.fleiss_kappa.low, a.fleiss_kappa.high]
    plt.close(drawn.figure_)


NOTE = "a square of whole numbers is read as the table of two raters; the form items reads items x raters"


@pytest.mark.parametrize(
    "square",
    [
        [[2, 1], [1, 2]],
        [[3, 1], [1, 3]],
        [[0, 1], [1, 0]],
        np.array([[2.0, 1.0], [1.0, 2.0]]),
        np.array([[2, 1], [1, 2]], np.uint8),
        np.array([[2, 1], [1, 2]], object),
        [[10, 0, 3], [2, 7, 1], [0, 4, 9]],
        pd.DataFrame([[2, 1], [1, 2]]),
        pd.DataFrame([[2, 1], [1, 2]], index=["no", "yes"], columns=["no", "yes"]),
    ],
)
def test_a_square_of_whole_numbers_is_the_table_of_two_raters(square):
    """The size of its numbers does not decide."""
    a = sw.agree(square)
    assert a.ratings.items == np.asarray(square, float).sum()
    assert a.ratings.raters == ("first", "second")
    assert NOTE in a.notes
    assert NOTE in a.to_dict()["hints"]
    assert "the form items reads items x raters" in " ".join(str(a).split())
    assert "the form items reads items x raters" in a.to_markdown()
    assert NOTE not in sw.agree(square, form="table").to_dict()["hints"]


@pytest.mark.parametrize(
    "square",
    [
        [[2, 1], [1, 2]],
        [[10, 0, 3], [2, 7, 1], [0, 4, 9]],
        pd.DataFrame([[2, 1], [1, 2]]),
        pl.DataFrame({"ann": [5, 1], "bob": [1, 3]}),
    ],
)
def test_form_items_reads_a_square_as_items_by_raters(square):
    a = sw.agree(square, form="items")
    assert a.ratings.items == len(square)
    assert a.ratings.codes.shape == (len(square), len(square))
    assert NOTE not in a.to_dict()["hints"]


@pytest.mark.parametrize(
    "ratings",
    [
        [[2, 1], [1, 2], [1, 1]],
        [[1, 2.5], [2, 1]],
        [[1, -2], [2, 1]],
        [[1, None], [2, 1]],
        [[1, np.nan], [2, 1]],
        [["2", "1"], ["1", "2"]],
        [[True, False], [False, True]],
        {"ann": [2, 1], "bob": [1, 2]},
    ],
)
def test_what_is_no_square_of_whole_numbers_is_items_by_raters(ratings):
    a = sw.agree(ratings)
    assert a.ratings.items == (2 if isinstance(ratings, dict) else len(ratings))
    assert a.to_dict()["hints"] == sw.agree(ratings, form="items").to_dict()["hints"]


def test_weights_of_items_say_how_to_read_a_square():
    with pytest.raises(sw.BadInput, match="the form items reads items x raters"):
        sw.agree([[2, 1], [1, 2]], weight=[1.0, 2.0])
    assert sw.agree([[2, 1], [1, 2]], weight=[1.0, 2.0], form="items").ratings.items == 3


def test_the_form_of_frames_and_files(tmp_path):
    """Names of columns are kept whatever the form."""
    square = pl.DataFrame({"no": [25, 10], "yes": [10, 20]})
    table = sw.agree(square, form="table")
    assert table.ratings.categories == ("no", "yes")
    assert table.ratings.items == 65
    assert sw.agree(dict(square.to_dict()), form="table").ratings == table.ratings
    counts = sw.agree(square, form="counts")
    assert counts.ratings.categories == ("no", "yes")
    assert counts.ratings.items == 2
    square.write_csv(tmp_path / "square.csv")
    for form, items in (("table", 65), ("counts", 2), ("items", 2)):
        done = run(tmp_path / "square.csv", "--form", form, "--json", "-")
        assert json.loads(done.stdout)["data"]["items"] == items, form


def test_two_columns_are_two_raters():
    wide = spelled(TABLE)
    assert sw.agree(wide["first"], wide["second"]).cohen_kappa == sw.agree(TABLE).cohen_kappa


def test_a_crosstab_is_a_table():
    wide = pd.DataFrame(spelled(TABLE))
    crossed = pd.crosstab(wide["first"], wide["second"])
    assert sw.agree(crossed).cohen_kappa == sw.agree(TABLE).cohen_kappa


def test_a_table_in_a_file_may_name_its_rows(tmp_path):
    (tmp_path / "table.csv").write_text("said,no,yes\nno,25,10\nyes,15,20\n")
    done = run(tmp_path / "table.csv", "--form", "table", "--json", "-")
    value = {m["name"]: m["value"] for m in json.loads(done.stdout)["measures"]}
    assert value["cohen_kappa"] == pytest.approx(2 / 7)


def test_patterns_stand_for_raters(tmp_path):
    (tmp_path / "wide.csv").write_text("task,ann1,ann2\nx,yes,no\ny,no,no\nx,yes,yes\n")
    done = run(tmp_path / "wide.csv", "--rater", "ann*", "--json", "-")
    assert json.loads(done.stdout)["data"]["raters"] == ["ann1", "ann2"]


def test_frames_that_are_lazy_are_read():
    lazy = pl.DataFrame(spelled(TABLE)).lazy()
    assert sw.agree(lazy).cohen_kappa == sw.agree(TABLE).cohen_kappa


def test_counts_by_name_keep_their_names():
    a = sw.agree({"yes": [1, 2], "no": [2, 1]}, form="counts")
    assert a.ratings.categories == ("yes", "no")


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
def test_nothing_rated_is_told(scale):
    a = sw.agree({"a": [None] * 5, "b": [None] * 5}, scale=scale)
    assert a.fleiss_kappa.why == "no items"
    assert "no items" in str(a)


def test_very_many_items_need_no_random_tables():
    a = sw.agree([[3 * 10**9, 10**9], [10**9, 3 * 10**9]], form="table")
    assert a.baseline.kappa == pytest.approx(0.5)
    assert "more than 100,000,000 items" in a.baseline.why
    assert "Cohen's kappa" in str(a)


def test_bootstrap_knows_neither_order_nor_unit_of_weights():
    rng = np.random.default_rng(3)
    h = rng.integers(0, 3, 30)
    k = np.where(rng.random(30) < 0.7, h, rng.integers(0, 3, 30))
    w, p = rng.random(30), rng.permutation(30)

    def ends(at, unit):
        a = sw.agree({"a": h[at], "b": k[at]}, weight=w[at] * unit, interval="bootstrap")
        return a.fleiss_kappa.low, a.fleiss_kappa.high

    first = ends(np.arange(30), 1.0)
    assert ends(p, 1.0) == pytest.approx(first, abs=1e-9)
    assert ends(p, 1.1) == pytest.approx(first, abs=1e-9)
    wild = np.where(np.arange(30) % 2, 1e100, 1e-100)
    assert sw.agree({"a": h, "b": k}, weight=wild, interval="bootstrap").fleiss_kappa.defined


def test_own_weights_that_differ_by_rounding_are_the_same():
    own = [[1, 0.1 + 0.2, 0], [0.3, 1, 0], [0, 0, 1]]
    table = [[3, 1, 0], [0, 4, 2], [1, 0, 5]]
    assert sw.agree(table, form="table", weights=own).cohen_kappa.defined


def test_hints_of_spelling_and_of_what_is_rare():
    a = sw.agree({"a": ["yes", "no"] * 9, "b": ["Yes ", "no"] * 9})
    assert any("'Yes ' and 'yes' count as two categories" in h for h in a.to_dict()["hints"])
    rare = sw.agree([[90, 5], [5, 0]])
    assert any(
        h.startswith("on 0 items only raters agree on another") for h in rare.to_dict()["hints"]
    )


def test_few_categories_of_many_are_listed():
    rng = np.random.default_rng(0)
    a = sw.agree({"a": rng.random(1500), "b": rng.random(1500)}, scale="interval")
    doc = a.to_dict()
    assert doc["data"]["distinct"] == 3000
    assert len(doc["data"]["categories"]) == 1000
    assert doc["categories"] == []


def test_a_frame_of_measures():
    frame = sw.agree(TABLE).to_frame()
    row = frame.row(by_predicate=pl.col("name") == "cohen_kappa", named=True)
    assert row["value"] == pytest.approx(2 / 7)
    assert row["band"] == "fair"


def test_parts_of_items_in_a_table_are_counts():
    """A cell of 20.5 is not one item."""
    whole, part = (
        sw.agree(np.array([[40, 10], [20, 30]]) / k, form="table", interval="published")
        for k in (1, 4)
    )
    assert part.cohen_kappa.value == pytest.approx(whole.cohen_kappa.value)
    width = [a.cohen_kappa.high - a.cohen_kappa.low for a in (whole, part)]
    assert width[1] == pytest.approx(2 * width[0])


def test_a_confusion_brings_its_weights():
    rng = np.random.default_rng(0)
    y, said, w = rng.integers(0, 2, 80), rng.integers(0, 2, 80), rng.random(80)
    cells = [np.bincount(2 * y + said, x, 4).reshape(2, 2) for x in (w, w * w)]
    found = sw.agree(sw.Confusion(*cells, ("0", "1")))
    rows = sw.agree({"y": y, "said": said}, weight=w)
    for name in ("cohen_kappa", "krippendorff_alpha", "gwet_ac"):
        assert (found[name].low, found[name].high) == pytest.approx(
            (rows[name].low, rows[name].high)
        )
    named = sw.agree(sw.Confusion(*cells, ("0", "1")), categories=["no", "yes"])
    assert named.ratings.categories == ("no", "yes")
