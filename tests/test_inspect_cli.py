"""`scorewise inspect` from end to end: the table, JSON, Markdown, row numbers, one sentence when wrong."""

import gzip
import json
import re
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest
from rich.cells import cell_len

import scorewise as sw
from schemas import check_described
from scorewise.cli import run
from scorewise.cli.demo import screening_csv
from scorewise.show.document import schema as document_schema
from scorewise.show.markdown import markdown
from scorewise.show.terminal import text
from view_documents import NASTY

DATA = (
    "id,y,p,q\na,1,0.95,0.9\nb,1,0.7,0.2\nc,0,0.97,0.3\nd,1,0.51,0.6\ne,0,0.2,0.45\nf,0,0.0,0.52\n"
)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("a.csv").write_text(DATA)
    Path("screening.csv").write_text(screening_csv())


def inspected(capsys, *args):
    """The document, checked against its schema."""
    assert run(["inspect", *args, "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(document_schema("inspect")).validate(doc)
    return doc


def test_rows_of_a_file_count_from_one_after_the_header(capsys):
    doc = inspected(capsys, "a.csv", "--label", "y", "--score", "p", "--id", "id")
    first = doc["models"][0]["suspicious"][0]
    assert (first["row"], first["file"], first["id"], first["label"]) == (3, "a.csv", "c", "0")
    assert first["reason"] == "negative, but scored 0.97, above every positive"


def test_rows_keep_their_numbers_over_files_and_dropped_rows(capsys):
    Path("b.csv").write_text("id,y,p,q\n,,0.5,0.5\n" + DATA.split("\n", 1)[1])
    line = "a.csv b.csv --label y --score p --id id --missing drop --top 2"
    doc = inspected(capsys, *line.split())
    found = [(r["row"], r["file"], r["id"]) for r in doc["models"][0]["suspicious"]]
    assert found == [(3, "a.csv", "c"), (4, "b.csv", "c")]
    assert run(["inspect", *line.split()]) == 0
    assert "b.csv:4" in capsys.readouterr().out


def test_same_as_from_python(capsys):
    doc = inspected(capsys, "screening.csv", "--label", "outcome", "--score", "risk")
    frame = pl.read_csv("screening.csv")
    found = sw.inspect(frame["outcome"], frame["risk"]).to_dict()["models"][0]
    model = doc["models"][0]
    assert [r["row"] - 1 for r in model["suspicious"]] == [r["row"] for r in found["suspicious"]]
    assert model["gaps"] == found["gaps"]
    assert len(model["suspicious"]) == 20


@pytest.mark.parametrize("options", ["--score risk", "--score risk --score sharp --id site"])
def test_table_fits_eighty_columns(capsys, options):
    assert run(["inspect", "screening.csv", "--label", "outcome", *options.split()]) == 0
    out, _ = capsys.readouterr()
    assert max(cell_len(line) for line in out.splitlines()) <= 80
    for title in ("Labels to check", "Hard successes", "Gaps between scores", "How to read this"):
        assert title in out


def test_several_models_are_compared(capsys):
    line = "a.csv --label y --score p --score q --tolerance 0.3 --threshold 0.4"
    doc = inspected(capsys, *line.split())
    assert [m["name"] for m in doc["models"]] == ["p", "q"]
    found = doc["agreement"]
    assert found["numbers"] == {"both": 2, "apparent": 1, "hidden": 0, "real": 3}
    assert [r["row"] for r in found["apparent"]] == [5]
    far = [r["apart"] for r in found["real"]]
    assert far == sorted(far, reverse=True)
    assert found["pairs"][0]["distance"] > 0
    assert run(["inspect", "a.csv", "--label", "y", "--score", "p", "--score", "q"]) == 0
    assert "Rows on which they disagree" in capsys.readouterr().out


def test_one_model_is_compared_with_none(capsys):
    assert inspected(capsys, "a.csv", "--label", "y", "--score", "p")["agreement"] is None


def test_markdown(capsys):
    assert run(["inspect", "a.csv", "--label", "y", "--score", "p", "--md", "-"]) == 0
    out = capsys.readouterr().out
    assert "| row | suspicion | why |" in out
    assert "| 3 | 0.750 | negative, but scored 0.97, above every positive |" in out


def test_options_arrive(capsys):
    line = "--top 1 --midpoint 0.5 --tolerance 0.05 --threshold 0.4 --seed 3"
    doc = inspected(capsys, "a.csv", "--label", "y", "--score", "p", "--score", "q", *line.split())
    assert doc["settings"] == {
        "midpoint": "0.5",
        "top": 1,
        "tolerance": 0.05,
        "threshold": 0.4,
        "seed": 3,
    }
    assert doc["models"][0]["midpoint"] == 0.5
    assert doc["models"][0]["rule"] == "fixed"
    assert len(doc["models"][0]["suspicious"]) == 1


def test_weights_and_counts_arrive(capsys):
    frame = pl.read_csv("a.csv").with_columns(w=pl.lit(2.5), n=pl.Series([1, 2, 3, 4, 5, 6]))
    frame.write_parquet("w.parquet")
    doc = inspected(
        capsys, "w.parquet", "--label", "y", "--score", "p", "--weight", "w", "--count", "n"
    )
    assert doc["data"]["rows"] == 21
    assert doc["data"]["weight_positives"] == 2.5 * 7
    assert sum(s["rows"] for s in doc["models"][0]["sets"]) == 21


def test_standard_formats(capsys):
    Path("a.csv.gz").write_bytes(gzip.compress(DATA.encode()))
    doc = inspected(capsys, "a.csv.gz", "--label", "y", "--score", "p", "--id", "id")
    assert doc["models"][0]["suspicious"][0]["id"] == "c"


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("a.csv --label y --score p --top -1", "--top must be an integer from 0 up, such as 10; got -1"),
        ("a.csv --label y --score p --tolerance nan", "--tolerance must be 0 or a positive number"),
        ("a.csv --label y --score p --threshold inf", "--threshold must be a finite number"),
        ("a.csv --label y --score p --seed -1", "--seed must be an integer from 0 up, such as 0; got -1"),
        ("a.csv --label y --score p --midpoint 1.5", "--midpoint must be mean, balanced"),
        ("a.csv --label y --score p --midpoint mode", "--midpoint must be mean, balanced"),
        ("a.csv --label y --score p --id idd", "there is no column 'idd'; did you mean 'id'"),
        ("a.csv --label y --score p --id p", "column 'p' is given as score and as id"),
        ("a.csv --label y --score id", "id is not a number"),
        ("absent.csv", "there is no file absent.csv"),
        ("a.csv --json a.csv", "--json a.csv would overwrite an input"),
    ],
    ids=str,
)  # fmt: skip
def test_bad_input_is_one_sentence(capsys, line, sentence):
    assert run(["inspect", *line.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("scorewise: ")
    assert err.count("\n") == 1
    assert sentence in err


def test_why_is_worded_for_every_reader(capsys):
    Path("s.csv").write_text("y,p\n1,5\n0,-2\n1,3\n0,4\n")
    doc = inspected(capsys, "s.csv", "--label", "y", "--score", "p")
    assert "declare their kind as logit if they are logits" in doc["hints"][0]
    assert "kind=" not in json.dumps(doc)
    assert "--kind" not in json.dumps(doc)


def test_one_class_prints_why(capsys):
    Path("s.csv").write_text("y,p\n1,0.5\n1,0.2\n")
    assert run(["inspect", "s.csv"]) == 0
    assert "no negatives" in capsys.readouterr().out


def test_no_rows_left(capsys):
    Path("s.csv").write_text("y,p\n1,\n,0.2\n")
    assert run(["inspect", "s.csv", "--label", "y", "--score", "p", "--missing", "drop"]) == 2
    assert "no rows are left to inspect; 2 were dropped" in capsys.readouterr().err


def test_hostile_names_stay_within_their_place():
    rng = np.random.default_rng(0)
    p = rng.random(40)
    y = np.where(rng.random(40) < p, NASTY, "n" * 90)
    found = sw.inspect(y, {NASTY: p, "模型" * 30: p[::-1]}, positive=NASTY, ids=[NASTY * 3] * 40)
    doc = found.to_dict()
    jsonschema.Draft202012Validator(document_schema("inspect")).validate(doc)
    assert "\x1b" not in text(doc)
    assert not re.search(r"(?<!\\)<img", markdown(doc))


@pytest.mark.parametrize("command", ["inspect", "raters"])
def test_schema_is_valid_and_described(command):
    schema = document_schema(command)
    check_described(schema)
    assert sum(len(part["properties"]) for part in schema["$defs"].values()) > 30


def test_rows_of_several_files_always_name_their_file(tmp_path, capsys, monkeypatch):
    """Also where all rows that are listed are in one of them."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("y,p\n1,0.9\n0,0.1\n1,0.8\n0,0.2\n")
    (tmp_path / "b.csv").write_text("y,p\n1,0.95\n0,0.99\n1,0.85\n0,0.15\n")
    assert run(["inspect", "a.csv", "b.csv", "--label", "y", "--score", "p", "--top", "1"]) == 0
    assert "b.csv:2" in capsys.readouterr().out
