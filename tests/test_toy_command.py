"""A new command takes a verb and one line."""

import json
from pathlib import Path

import pytest

from scorewise.cli import add, app, run
from scorewise.cli.command import Command
from scorewise.cli.options import OPTIONS, Help

TOY = Command(verb="toy_verb:toy", summary="Give middles.", help="Give the middle of each score.")
DATA = "y,p,q\n1,0.9,0.1\n0,0.2,0.4\n1,0.4,0.4\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("a.csv").write_text(DATA)


@pytest.fixture
def toy(monkeypatch):
    """The command, added as the table of commands adds the others."""
    monkeypatch.setitem(OPTIONS, "rule", Help("RULE", "Which middle."))
    add("toy", TOY)
    yield
    app.registered_commands.pop()


def test_the_verb_is_a_command(toy, capsys):
    line = "toy a.csv --label y --score p --score q --level 0.9 --rule median --json -"
    assert run(line.split()) == 0
    doc = json.loads(capsys.readouterr().out)
    assert doc["level"] == 0.9
    assert doc["middles"] == {"p": 0.4, "q": 0.4}


def test_notes_page_and_files(toy, capsys):
    assert run(["toy", "a.csv", "--score", "p", "--md", "a.md"]) == 0
    out, err = capsys.readouterr()
    assert "0.500" in out
    assert err == "note: label: column 'y' (not named; taken because of its name)\nwrote a.md\n"
    assert "| p | 0.500 |" in Path("a.md").read_text()


def test_help_comes_from_the_signature_and_the_table(toy, capsys):
    assert run(["--help"]) == 0
    assert "toy Give middles." in " ".join(capsys.readouterr().out.split())
    assert run(["toy", "-h"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Give the middle of each score." in said
    assert "--label COLUMN Column with the true class." in said
    assert "--score COLUMN Column with scores; repeat it for several." in said
    assert "--rule RULE Which middle. [default: mean]" in said
    assert "--level SHARE Confidence level of the intervals. [default: 0.95]" in said


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("--level 95", "--level must lie between 0 and 1, such as 0.95; got 95"),
        ("--rule mode", "'mode'"),
        ("--levle 0.9", "--levle"),
        ("--score r", "there is no column 'r'; the columns are 'y', 'p', 'q'"),
        ("--json a.csv", "--json a.csv would overwrite an input"),
        ("--json x --md x", "--json and --md both go to the same file"),
    ],
)
def test_refusals_are_one_sentence(toy, capsys, line, sentence):
    assert run(["toy", "a.csv", *line.split()]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
    assert err.count("\n") == 1


def test_an_option_without_a_help_text_is_a_fault(capsys, monkeypatch):
    monkeypatch.delitem(OPTIONS, "rule", raising=False)
    add("toy", TOY)
    try:
        assert run(["toy", "a.csv"]) == 70
    finally:
        app.registered_commands.pop()
    assert "rule has no line in the table of options" in capsys.readouterr().err
