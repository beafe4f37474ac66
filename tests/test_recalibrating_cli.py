"""The commands `calibrate fit` and `calibrate apply`, end to end."""

import json
import os

import jsonschema
import numpy as np
import polars as pl
import pytest
from rich.cells import cell_len

import scorewise as sw
from recalibration_cases import draw
from scorewise.cli import run
from scorewise.show.document import schema as document_schema
from view_documents import names

ROWS = 1500


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Scores with labels, and a map fitted to them."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    p, y = draw(1, ROWS, 0.5, -0.3)
    ids = [f'a,"{i}"' if i % 7 else "" for i in range(ROWS)]
    frame = pl.DataFrame({"id": ids, "y": y, "p": p.round(6), "code": ["007"] * ROWS})
    frame.write_csv("old.csv")
    frame.write_parquet("old.parquet")
    frame.write_ndjson("old.jsonl")
    assert (
        run(["calibrate", "fit", "old.csv", "--label", "y", "--score", "p", "-o", "map.json"]) == 0
    )
    return tmp_path


def test_fit_prints_a_page_and_writes_the_map(files, capsys):
    capsys.readouterr()
    assert (
        run(["calibrate", "fit", "old.csv", "--label", "y", "--score", "p", "-o", "map.json"]) == 0
    )
    out, err = capsys.readouterr()
    assert all(cell_len(line) <= 80 for line in out.splitlines())
    assert "Chosen" in out
    assert "Before and after" in out
    assert err == "wrote map.json\n"
    doc = json.loads((files / "map.json").read_text())
    jsonschema.validate(doc, document_schema("calibrate"))
    assert doc["data"]["sources"] == ["old.csv"]
    assert doc["map"]["rows"] == ROWS


@pytest.mark.parametrize("ending", ["csv", "parquet", "jsonl"])
@pytest.mark.parametrize("to", ["csv", "parquet"])
def test_apply_adds_one_column_and_keeps_the_rest(files, capsys, ending, to):
    capsys.readouterr()
    source, out = f"old.{ending}", f"new.{to}"
    assert run(["calibrate", "apply", "map.json", source, "--score", "p", "-o", out]) == 0
    assert capsys.readouterr() == ("", f"wrote {out}: 1,500 rows\n")
    made = pl.read_csv(out, schema_overrides={"code": str}) if to == "csv" else pl.read_parquet(out)
    assert made.columns == ["id", "y", "p", "code", "p_calibrated"]
    old = pl.read_parquet("old.parquet")
    assert made["p"].to_list() == old["p"].to_list()
    want = sw.Recalibrator.load("map.json").transform(old["p"])
    assert made["p_calibrated"].to_numpy().tobytes() == want.tobytes()
    assert made["code"].to_list() == old["code"].to_list()
    assert not [n for n in names(files) if n.endswith(".part")]


def test_fields_of_csv_stay_as_they_are(files):
    assert run(["calibrate", "apply", "map.json", "old.csv", "--score", "p", "-o", "new.csv"]) == 0
    before, after = ((files / n).read_text().splitlines() for n in ("old.csv", "new.csv"))
    assert all(new.startswith(f"{old},") for old, new in zip(before, after, strict=True))


def test_several_files_are_one_table(files, capsys):
    old = pl.read_csv("old.csv")
    old[:700].write_csv("a.csv")
    old[700:].write_csv("b.csv")
    args = ["a.csv", "b.csv", "--score", "p", "--name", "q", "-o", "new.parquet"]
    assert run(["calibrate", "apply", "map.json", *args]) == 0
    made = pl.read_parquet("new.parquet")
    assert made["p"].to_list() == old["p"].to_list()
    assert "q" in made.columns


def test_many_batches_keep_their_order(files):
    p = np.random.default_rng(0).random(400_000)
    pl.DataFrame({"n": np.arange(len(p)), "p": p}).write_parquet("big.parquet", row_group_size=9000)
    args = ["map.json", "big.parquet", "--score", "p", "-o", "out.parquet"]
    assert run(["calibrate", "apply", *args]) == 0
    made = pl.read_parquet("out.parquet")
    assert (made["n"].to_numpy() == np.arange(len(p))).all()
    want = sw.Recalibrator.load("map.json").transform(p)
    assert made["p_calibrated"].to_numpy().tobytes() == want.tobytes()


def test_scores_beyond_those_seen_are_counted(files, capsys):
    capsys.readouterr()
    pl.DataFrame({"p": [0.0, 0.5, 1.0]}).write_csv("new.csv")
    assert run(["calibrate", "apply", "map.json", "new.csv", "-o", "out.csv"]) == 0
    err = capsys.readouterr().err
    assert "note: score: column 'p'" in err
    assert "note: 2 scores lie outside" in err
    assert "they are extrapolated" in err


def test_missing_scores(files, capsys):
    (files / "new.csv").write_text("p,x\n0.5,1\nNA,2\n,3\n0.7,4\n")
    args = ["calibrate", "apply", "map.json", "new.csv", "--score", "p", "-o", "out.csv"]
    assert run(args) == 2
    assert "p is missing in 2 rows, first at row 2 of new.csv; drop them" in capsys.readouterr().err
    assert "out.csv" not in names(files)
    assert run([*args, "--missing", "drop"]) == 0
    assert "2 rows without a score were left out" in capsys.readouterr().err
    assert pl.read_csv("out.csv")["x"].to_list() == [1, 4]


@pytest.mark.parametrize(
    ("args", "why"),
    [
        (["map.json", "old.csv", "-o", "old.csv"], "would overwrite an input"),
        (["map.json", "old.csv", "-o", "map.json"], "would overwrite an input"),
        (["map.json", "old.csv", "--score", "p", "-o", "x.txt"], "has to end in .csv or .parquet"),
        (["map.json", "old.csv", "--score", "p", "--name", "y", "-o", "x.csv"], "'y' already"),
        (["map.json", "old.csv", "--score", "q", "-o", "x.csv"], "there is no column 'q'"),
        (["map.json", "bad.csv", "--score", "p", "-o", "x.csv"], "is outside [0, 1] in 1 row"),
        (["old.csv", "old.csv", "--score", "p", "-o", "x.csv"], "old.csv is not JSON"),
    ],
    ids=str,
)
def test_bad_input_is_told_and_nothing_is_written(files, capsys, args, why):
    (files / "bad.csv").write_text("p\n0.5\n1.5\n")
    before = names(files)
    assert run(["calibrate", "apply", *args]) == 2
    assert why in capsys.readouterr().err
    assert names(files) == before


def test_a_write_that_fails_leaves_the_old_file(files, capsys, monkeypatch):
    (files / "out.csv").write_text("old")

    def fail(*args, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    args = ["map.json", "old.csv", "--score", "p", "-o", "out.csv"]
    assert run(["calibrate", "apply", *args]) == 2
    assert "No space left" in capsys.readouterr().err
    assert (files / "out.csv").read_text() == "old"
    assert not [n for n in names(files) if n.endswith(".part")]


def test_fit_with_a_method_and_weights(files, capsys):
    args = ["old.csv", "--label", "y", "--score", "p", "--weight", "p", "--method", "beta"]
    assert run(["calibrate", "fit", *args]) == 2
    assert "column 'p' is given" in capsys.readouterr().err
    args = ["old.csv", "--label", "y", "--score", "p", "--method", "beta", "--json", "-"]
    assert run(["calibrate", "fit", *args]) == 0
    assert json.loads(capsys.readouterr().out)["chosen"] == "beta"
