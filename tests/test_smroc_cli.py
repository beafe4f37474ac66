"""The command smroc, from the file to the page, the document, the picture and the table of steps."""

import json
import sys

import jsonschema
import numpy as np
import polars as pl
import pytest

import scorewise as sw
from scorewise.cli import run
from scorewise.show.document import dumps
from scorewise.show.document import schema as document_schema
from scorewise.show.markdown import markdown
from scorewise.show.terminal import text


@pytest.fixture
def rows(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.random(80) < 0.5
    p = 1 / (1 + np.exp(-(rng.normal(size=80) + 2 * y - 1)))
    frame = pl.DataFrame(
        {"y": y.astype(int), "p": p.round(3), "q": (0.5 + 0.4 * (p - 0.5)).round(3)}
    )
    frame.write_csv(tmp_path / "rows.csv")
    frame.head(40).write_csv(tmp_path / "validation.csv")
    monkeypatch.chdir(tmp_path)
    return frame


def document(capsys, *args):
    assert run(["smroc", "rows.csv", "--label", "y", *args, "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    jsonschema.validate(doc, document_schema("smroc"))
    return doc


def test_document_says_what_python_says(rows, capsys):
    (found,) = document(capsys, "--score", "p", "--midpoint", "balanced")["curves"]
    curve = sw.smroc(rows["y"], rows["p"], midpoint="balanced")
    assert found["area"]["value"] == curve.area.value
    assert found["area"]["low"] == curve.area.low
    assert found["midpoint"] == {"value": curve.midpoint, "rule": "balanced"}
    assert found["auroc"] == pytest.approx(sw.evaluate(rows["y"], rows["p"]).auroc.value)
    np.testing.assert_array_equal(found["curve"]["x"], curve.x)
    assert found["curve"]["threshold"][0] is None
    assert found["rotation"] == curve.sets.rotation
    assert found["gap"] == curve.gap
    assert found["recalibrated"]["value"] == curve.recalibrated().area.value


def test_several_curves_and_their_distance(rows, capsys):
    doc = document(capsys, "--score", "p", "--score", "q")
    assert [c["name"] for c in doc["curves"]] == ["p", "q"]
    (gap,) = doc["distances"]
    curves = [sw.smroc(rows["y"], rows[name]) for name in "pq"]
    assert gap["distance"] == pytest.approx(curves[0].distance(curves[1]))


def test_midpoint_is_learned_from_another_file(rows, capsys):
    (found,) = document(capsys, "--score", "p", "--learn", "validation.csv")["curves"]
    assert found["midpoint"]["rule"] == "learned"
    assert found["midpoint"]["value"] == pytest.approx(rows["p"].head(40).mean())
    (fixed,) = document(capsys, "--score", "p", "--midpoint", "0.4")["curves"]
    assert fixed["midpoint"] == {"value": 0.4, "rule": "fixed"}


def test_page_fits_and_markdown_is_written(rows, capsys):
    assert (
        run(["smroc", "rows.csv", "--label", "y", "--score", "p", "--score", "q", "--md", "a.md"])
        == 0
    )
    out, err = capsys.readouterr()
    assert max(map(len, out.splitlines())) <= 80
    assert "high on a positive" in out
    assert err == "wrote a.md\n"
    with open("a.md") as file:  # noqa: PTH123
        assert "| high on a positive |" in file.read()


@pytest.mark.parametrize("ending", ["png", "svg", "pdf"])
def test_picture_is_drawn(rows, capsys, tmp_path, ending):
    args = ["smroc", "rows.csv", "--label", "y", "--score", "p", "--plot", f"curve.{ending}"]
    assert run(args) == 0
    begins = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}[ending]
    assert (tmp_path / f"curve.{ending}").read_bytes().startswith(begins)


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_steps_of_rows_are_written(rows, capsys, tmp_path, ending):
    assert (
        run(["smroc", "rows.csv", "--label", "y", "--score", "p", "--segments", f"s.{ending}"]) == 0
    )
    path = tmp_path / f"s.{ending}"
    steps = pl.read_csv(path) if ending == "csv" else pl.read_parquet(path)
    curve = sw.smroc(rows["y"], rows["p"])
    np.testing.assert_allclose(steps["p_climb"], curve.segments[:, 0])
    np.testing.assert_array_equal(steps["p_appropriate"], curve.appropriate)
    assert steps["positive"].to_list() == (rows["y"] == 1).to_list()


def test_without_matplotlib_the_extra_is_named_and_nothing_written(
    rows, capsys, monkeypatch, tmp_path
):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    args = [
        "smroc",
        "rows.csv",
        "--label",
        "y",
        "--score",
        "p",
        "--plot",
        "a.png",
        "--json",
        "a.json",
    ]
    assert run(args) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "scorewise[plot]" in err
    assert not (tmp_path / "a.json").exists()


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (["--plot", "curve.gif"], "--plot curve.gif has to end in .png, .svg, .pdf"),
        (["--segments", "s.xlsx"], "--segments s.xlsx has to end in .csv, .parquet"),
        (
            ["--midpoint", "middle"],
            "--midpoint must be mean, balanced, median, crossing or a number from 0 to 1; got middle",
        ),
        (
            ["--midpoint", "1.2"],
            "--midpoint must be mean, balanced, median, crossing or a number from 0 to 1; got 1.2",
        ),
        (["--midpoint", "0.4", "--learn", "validation.csv"], "exclude each other"),
        (["--learn", "absent.csv"], "there is no file absent.csv"),
        (["--plot", "rows.csv"], "--plot rows.csv"),
        (["--segments", "rows.csv"], "would overwrite an input"),
        (["--segments", "validation.csv", "--learn", "validation.csv"], "would overwrite an input"),
        (["--level", "95"], "--level must lie between 0 and 1, such as 0.95; got 95"),
        (
            ["--kind", "logit", "--threshold", "nan"],
            "--threshold must be a finite number, such as 0.5; got nan",
        ),
    ],
)
def test_what_means_nothing_is_refused(rows, capsys, tmp_path, args, sentence):
    before = sorted(tmp_path.iterdir())
    assert run(["smroc", "rows.csv", "--label", "y", "--score", "p", *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert sorted(tmp_path.iterdir()) == before


def test_scores_of_any_scale_are_refused_with_the_way_out(rows, capsys, tmp_path):
    (tmp_path / "logits.csv").write_text("y,z\n1,3.5\n0,-2\n1,0.5\n0,1\n")
    assert run(["smroc", "logits.csv", "--label", "y", "--score", "z"]) == 2
    said = capsys.readouterr().err
    assert (
        "scores from -2 to 3.5 lie outside [0, 1]; rescale them to it, or declare their kind as logit"
        in said
    )
    assert run(["smroc", "logits.csv", "--label", "y", "--score", "z", "--kind", "logit"]) == 0


def test_undefined_area_and_hostile_names_are_shown_safely():
    rows = sw.smroc([1, 0, 1, 0], [1.0, 0.0, 1.0, 0.0], midpoint=0.0).to_dict()
    jsonschema.validate(json.loads(dumps(rows)), document_schema("smroc"))
    assert "nothing climbs" in text(rows)
    rows["curves"][0]["name"] = "a|b\x1b[31m<script>\n"
    assert "\x1b" not in text(rows)
    assert "<script>" not in markdown(rows)


def test_steps_name_row_and_file_and_never_two_columns_alike(rows, capsys, tmp_path):
    (tmp_path / "a.csv").write_text("y,p\n1,0.9\n0,\n0,0.2\n")
    (tmp_path / "b.csv").write_text("y,p\n1,0.7\n0,0.4\n")
    common = ["--label", "y", "--score", "p", "--segments", "s.csv"]
    assert run(["smroc", "a.csv", "b.csv", *common, "--missing", "drop"]) == 0
    steps = pl.read_csv(tmp_path / "s.csv")
    places = list(zip(steps["file"], steps["row"], steps["p"], strict=True))
    assert places == [("a.csv", 1, 0.9), ("a.csv", 3, 0.2), ("b.csv", 1, 0.7), ("b.csv", 2, 0.4)]
    (tmp_path / "c.csv").write_text("y,positive\n1,0.9\n0,0.4\n")
    args = ["smroc", "c.csv", "--label", "y", "--score", "positive", "--segments", "t.csv"]
    assert run(args) == 2
    assert "two columns named 'positive'; rename the column 'positive'" in capsys.readouterr().err
    assert not (tmp_path / "t.csv").exists()


def test_names_in_any_script_are_drawn_without_a_warning(rows, capsys, tmp_path):
    (tmp_path / "cjk.csv").write_text("y,中$x\n1,0.9\n0,0.4\n1,0.3\n0,0.1\n")
    assert run(["smroc", "cjk.csv", "--label", "y", "--score", "中$x", "--plot", "a.png"]) == 0
    assert capsys.readouterr().err == "wrote a.png\n"
