"""A new kind of file takes a reader and one line; then every verb and every command reads it."""

import csv
import gzip
import json
from pathlib import Path

import polars as pl
import pytest

import scorewise as sw
from scorewise.cli import run
from scorewise.columns.paths import FORMATS, Format
from test_golden import COMMANDS, GOLDEN, differences, write_inputs

# those that take little time
SOME = ("smroc", "inspect", "raters", "agree", "threshold", "calibrate", "calibrate-classes")


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Inputs of every command as csv and as that kind of file, which is known."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(FORMATS, "toy", Format((".toy",), "toy_source:open_toy", text=True))
    write_inputs(tmp_path)
    for file in tmp_path.glob("*.csv"):
        rows = csv.DictReader(file.read_text().splitlines())
        lines = [";".join(f"{key}={cell}" for key, cell in row.items()) for row in rows]
        file.with_suffix(".toy").write_text("\n".join(lines) + "\n")
        file.unlink()


def test_without_that_line_it_is_not_known(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("a.toy").write_text("y=1;p=0.9\n")
    assert run(["evaluate", "a.toy"]) == 2
    assert "a.toy has no extension known here" in capsys.readouterr().err


def test_what_its_reader_cannot_read_is_one_sentence(folder, capsys):
    Path("a.toy").write_text("y=1;p=0.9\ny=0;p\n")
    assert run(["evaluate", "a.toy"]) == 2
    said = "scorewise: a.toy cannot be read as toy; it is damaged or cut short\n"
    assert capsys.readouterr().err == said


@pytest.mark.parametrize("name", SOME)
def test_commands_say_what_they_say_of_csv(folder, name, capsys):
    words = [word.replace(".csv", ".toy") for word in COMMANDS[name]]
    assert run([*words, "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out.replace(".toy", ".csv"))
    assert not differences(found, json.loads((GOLDEN / f"{name}.json").read_text("utf-8")))


def test_verbs_read_it_and_rows_are_told_by_their_file(folder):
    e = sw.evaluate("screening.toy", label="outcome", score="risk", positive="ill")
    known = json.loads((GOLDEN / "evaluate.json").read_text("utf-8"))["models"][0]["measures"]
    assert e.auroc.value == pytest.approx(next(m["value"] for m in known if m["name"] == "auroc"))
    Path("a.toy").write_text("y=1;p=0.9\ny=0;p=7\n")
    with pytest.raises(sw.BadInput, match=r"row 2 of a\.toy"):
        sw.evaluate("a.toy", label="y", score="p", kind="probability")


def test_parts_patterns_and_gzip_come_by_themselves(folder):
    Path("part1.toy").write_text("y=1;p=0.9\ny=0;p=0.2\n")
    Path("part2.toy.gz").write_bytes(gzip.compress(b"y=1;p=0.4\ny=0;p=0.5\n"))
    t = sw.tally("part*.toy*", label="y", score="p")
    assert t.score.tolist() == [0.2, 0.4, 0.5, 0.9]


def test_a_map_is_applied_to_it(folder):
    assert run([*COMMANDS["calibrate"][:2], "screening.toy", "--label", "outcome", "--score",
                "sharp", "--positive", "ill", "-o", "map.json"]) == 0  # fmt: skip
    line = "calibrate apply map.json later.toy --score sharp -o applied.csv"
    assert run(line.split()) == 0
    found, known = (pl.read_csv(path) for path in ("applied.csv", GOLDEN / "applied.csv"))
    assert found.columns == known.columns
    assert found[:, -1].to_numpy() == pytest.approx(known[:, -1].to_numpy(), rel=1e-6)
