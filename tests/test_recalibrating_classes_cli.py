"""`calibrate fit` and `calibrate apply` with several classes, end to end."""

import json

import jsonschema
import numpy as np
import polars as pl
import pytest
from rich.cells import cell_len

import scorewise as sw
from class_recalibration_cases import draw_classes
from scorewise.cli import run
from scorewise.show.document import schema as document_schema
from view_documents import names

FIT = ["calibrate", "fit", "old.csv", "--label", "pet", "--classes", "p_*", "-o", "map.json"]
NAMES = ["cat", "dog", "eel"]


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    p, y = draw_classes(1, 900, 3, 0.4)
    columns = {f"p_{c}": p[:, k].round(6) for k, c in enumerate(NAMES)}
    frame = pl.DataFrame({"id": np.arange(900), "pet": np.array(NAMES)[y], **columns})
    frame.write_csv("old.csv")
    frame.write_parquet("old.parquet")
    assert run(FIT) == 0
    return tmp_path


def test_fit_prints_a_page_and_writes_the_map(files, capsys):
    capsys.readouterr()
    assert run(FIT) == 0
    out, err = capsys.readouterr()
    assert all(cell_len(line) <= 80 for line in out.splitlines())
    assert "900 of 3 classes" in out
    assert err == "wrote map.json\n"
    doc = json.loads((files / "map.json").read_text())
    jsonschema.validate(doc, document_schema("calibrate-classes"))
    assert [c["column"] for c in doc["data"]["classes"]] == ["p_cat", "p_dog", "p_eel"]
    assert doc["data"]["sources"] == ["old.csv"]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_apply_adds_a_column_for_each_class(files, capsys, ending, to):
    capsys.readouterr()
    assert run(["calibrate", "apply", "map.json", f"old.{ending}", "-o", f"new.{to}"]) == 0
    assert capsys.readouterr() == ("", f"wrote new.{to}: 900 rows\n")
    made = pl.read_csv("new.csv") if to == "csv" else pl.read_parquet("new.parquet")
    old = pl.read_parquet("old.parquet")
    new = [f"calibrated_p_{c}" for c in NAMES]
    assert made.columns == [*old.columns, *new]
    assert made["id"].cast(int).to_list() == old["id"].to_list()  # text, from csv to parquet
    want = sw.Recalibrator.load("map.json").transform(old.select("^p_.*$").to_numpy())
    assert made.select(new).to_numpy() == pytest.approx(want, abs=0)


def test_columns_and_names_may_be_given(files):
    old = pl.read_csv("old.csv").rename({"p_cat": "C", "p_dog": "D", "p_eel": "E"})
    old.select("E", "id", "C", "D").write_csv("other.csv")
    args = ["other.csv", "--classes", "dog=D,cat=C,eel=E", "--name", "q_*", "-o", "new.parquet"]
    assert run(["calibrate", "apply", "map.json", *args]) == 0
    made = pl.read_parquet("new.parquet")
    want = sw.Recalibrator.load("map.json").transform(old.select("C", "D", "E").to_numpy())
    assert (made.select("q_cat", "q_dog", "q_eel").to_numpy() == want).all()


def test_many_batches_keep_their_order(files):
    p, _ = draw_classes(3, 200_000)
    frame = pl.DataFrame(
        {"n": np.arange(len(p)), **{f"p_{c}": p[:, k] for k, c in enumerate(NAMES)}}
    )
    frame.write_parquet("big.parquet", row_group_size=9000)
    assert run(["calibrate", "apply", "map.json", "big.parquet", "-o", "out.parquet"]) == 0
    made = pl.read_parquet("out.parquet")
    assert (made["n"].to_numpy() == np.arange(len(p))).all()
    want = sw.Recalibrator.load("map.json").transform(p)
    assert (made.select("^calibrated_.*$").to_numpy() == want).all()


def test_missing_scores(files, capsys):
    (files / "new.csv").write_text("p_cat,p_dog,p_eel,x\n.5,.3,.2,1\nNA,.3,.2,2\n.1,.1,.8,3\n")
    args = ["calibrate", "apply", "map.json", "new.csv", "-o", "out.csv"]
    assert run(args) == 2
    assert "p_cat is missing in 1 row, row 2 of new.csv; drop it" in capsys.readouterr().err
    assert "out.csv" not in names(files)
    assert run([*args, "--missing", "drop"]) == 0
    assert "1 rows without a score were left out" in capsys.readouterr().err
    assert pl.read_csv("out.csv")["x"].to_list() == [1, 3]


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["old.csv", "--score", "p_cat"], "--score does not fit the map"),
        (["old.csv", "--classes", "p_c*,p_d*"], "there is no column 'p_c*'"),
        (["old.csv", "--classes", "a=p_cat,b=p_dog"], "but the map is for cat, dog, eel"),
        (["old.csv", "--name", "q"], "needs one star"),
        (["old.csv", "--name", "p_*"], "has a column 'p_cat' already"),
        (["apart.csv"], "do not add up to 1 in 1 row, row 2 of apart.csv"),
        (["wrong.csv"], "lie outside [0, 1] in 1 row, row 1 of wrong.csv"),
        (["less.csv"], "there is no column 'p_eel'"),
    ],
    ids=str,
)
def test_bad_input_is_told_and_nothing_is_written(files, capsys, args, why):
    (files / "apart.csv").write_text("p_cat,p_dog,p_eel\n.5,.3,.2\n.5,.3,.9\n")
    (files / "wrong.csv").write_text("p_cat,p_dog,p_eel\n1.5,-.3,-.2\n.5,.3,.2\n")
    (files / "less.csv").write_text("p_cat,p_dog\n.5,.5\n")
    before = names(files)
    assert run(["calibrate", "apply", "map.json", *args, "-o", "x.csv"]) == 2
    assert why in capsys.readouterr().err
    assert names(files) == before


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["--score", "p_cat"], "--score is for one score a row"),
        (["--positive", "cat"], "--positive is for one score a row"),
        (["--method", "platt"], "platt is not a method for several classes"),
        (["--kind", "score"], "--kind score is not known for several classes"),
        (["--weight", "p_cat"], "column 'p_cat' is given as score and as weight"),
    ],
    ids=str,
)
def test_options_that_do_not_go_together_are_told(files, capsys, args, why):
    assert run([*FIT[:-2], *args]) == 2
    assert why in capsys.readouterr().err


def test_a_map_of_one_score_takes_no_classes(files, capsys):
    one = ["old.csv", "--label", "pet", "--score", "p_cat", "--positive", "cat", "-o", "one.json"]
    pl.read_csv("old.csv").filter(pl.col("pet") != "eel").write_csv("old.csv")
    assert run(["calibrate", "fit", *one]) == 0
    assert (
        run(["calibrate", "apply", "one.json", "old.csv", "--classes", "p_*", "-o", "x.csv"]) == 2
    )
    assert "--classes does not fit the map" in capsys.readouterr().err
