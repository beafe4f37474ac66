"""The command `drift`, end to end."""

import json

import jsonschema
import pytest
from rich.cells import cell_len

from drift_cases import draw
from schemas import check_described
from scorewise.cli import run
from scorewise.show.document import schema as document_schema


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Two files of scores, a third without labels, and one of a whole year."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    days = [f"2025-{1 + k // 100:02}-{1 + k % 28:02}" for k in range(600)]
    samples = {
        "jan.csv": draw(1, 400),
        "feb.csv": draw(2, 400, prevalence=0.6),
        "year.csv": draw(3, 600),
    }
    for name, (y, p) in samples.items():
        lines = [
            f"{'ill' if a else 'well'},{b:.4f},{d}" for a, b, d in zip(y, p, days, strict=False)
        ]
        (tmp_path / name).write_text("\n".join(["outcome,risk,date", *lines]) + "\n")
    scores = "\n".join(f"{x:.4f}" for x in draw(4, 300)[1])
    (tmp_path / "late.csv").write_text(f"risk\n{scores}\n")
    return tmp_path


COLUMNS = ["--label", "outcome", "--score", "risk", "--positive", "ill"]


def printed(capsys, *args):
    assert run(["drift", *args]) == 0
    out, err = capsys.readouterr()
    assert all(cell_len(line) <= 80 for line in out.splitlines())
    return out, err


def test_two_files(files, capsys):
    out, err = printed(capsys, "jan.csv", "feb.csv", *COLUMNS)
    assert "Prior shift: the share of positives has changed" in out
    assert "KS distance" in out
    assert err == ""


def test_rows_without_labels_have_a_way_out(files, capsys):
    assert run(["drift", "late.csv", "late.csv", "--score", "risk"]) == 2
    assert "or --labels none if the rows have no labels" in capsys.readouterr().err
    assert "No sign of drift" in printed(capsys, "late.csv", "late.csv", "--labels", "none")[0]


def test_guesses_are_told(files, capsys):
    _, err = printed(capsys, "jan.csv", "feb.csv", "--positive", "ill", "--replicates", "39")
    assert err.splitlines() == [
        "note: label: column 'outcome' (not named; taken because of its name)",
        "note: score: column 'risk' (not named; taken because of its name)",
    ]


def test_json_follows_its_schema(files, capsys):
    assert run(["drift", "jan.csv", "feb.csv", *COLUMNS, "--json", "-", "--seed", "3"]) == 0
    doc = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(document_schema("drift")).validate(doc)
    assert doc["command"] == "drift"
    assert doc["settings"]["seed"] == 3
    assert doc["windows"][0]["sources"] == ["feb.csv"]
    assert doc["drift"] is True


def test_schema_is_printed_and_described(capsys):
    assert run(["schema", "drift"]) == 0
    check_described(json.loads(capsys.readouterr().out))


def test_labels_that_come_late(files, capsys):
    out, _ = printed(
        capsys, "jan.csv", "late.csv", *COLUMNS, "--labels", "reference", "--replicates", "39"
    )
    assert "Prevalence (EM)" in out
    assert "no labels in the current sample" in " ".join(out.split())


@pytest.mark.parametrize("how", [["--windows", "3"], ["--every", "month"], []])
def test_windows(files, capsys, how):
    out, _ = printed(capsys, "year.csv", "--time", "date", *how, *COLUMNS, "--replicates", "1499")
    assert "── Windows" in out
    assert "reference" in out
    assert ("by month" in out) == ("month" in how)
    assert out.count(" none seen") == {"3": 2}.get(how[-1] if how else "", 5)


def test_markdown_file(files, capsys):
    printed(capsys, "jan.csv", "feb.csv", *COLUMNS, "--md", "drift.md", "--replicates", "39")
    text = (files / "drift.md").read_text()
    assert text.startswith("### scorewise drift")
    assert "| KS distance |" in text


REFUSED = {
    ("jan.csv",): "the current sample is missing; pass reference and current, or --time to cut one",
    ("jan.csv", "feb.csv", "--windows", "3"): "--windows cuts time into windows; pass --time",
    ("jan.csv", "nowhere.csv"): "there is no file nowhere.csv",
    (
        "jan.csv",
        "late.csv",
    ): "there is no column 'outcome' in late.csv; name another label, or pass --labels",
    ("jan.csv", "feb.csv", "--level", "2"): "level must lie between 0 and 1, such as 0.95; got 2",
    (
        "jan.csv",
        "feb.csv",
        "--midpoint",
        "middle",
    ): "--midpoint must be mean, balanced, median, crossing or a number from 0 to 1; got middle",
    ("year.csv", "--time", "dat"): "did you mean 'date'",
    ("jan.csv", "feb.csv", "--json", "jan.csv"): "would overwrite an input",
    ("jan.csv", "feb.csv", "--every", "eon"): "--help",
}


@pytest.mark.parametrize("args", REFUSED)
def test_refusals_are_one_line(files, capsys, args):
    assert run(["drift", *args, *COLUMNS]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert REFUSED[args] in err
