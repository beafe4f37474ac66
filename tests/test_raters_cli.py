"""The command raters, from the file to the document."""

import json

import jsonschema
import pytest

from scorewise.cli import run
from scorewise.show.document import schema as document_schema

FILMS = """film,ann,ann_sure,bob,bob_sure,good
Alpha,no,0.60,yes,0.52,yes
Beta,yes,0.9,yes,0.85,yes
Gamma,yes,0.8,no,0.3,no
Delta,no,0.1,no,0.15,no
"""
BOTH = ["--decision", "ann", "--score", "ann_sure", "--decision", "bob", "--score", "bob_sure"]


@pytest.fixture
def films(tmp_path, monkeypatch):
    (tmp_path / "films.csv").write_text(FILMS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def document(capsys, *args):
    assert run(["raters", "films.csv", *BOTH, *args, "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    jsonschema.validate(doc, document_schema("raters"))
    return doc


def test_a_no_at_60_and_a_yes_at_52_do_agree(films, capsys):
    found = document(capsys, "--id", "film")["agreement"]
    assert [(r["row"], r["id"]) for r in found["apparent"]] == [(1, "Alpha")]
    assert [(r["row"], r["id"]) for r in found["real"]] == [(3, "Gamma")]
    assert (found["same_decisions"], found["within_tolerance"]) == (0.5, 0.75)
    closer = document(capsys, "--tolerance", "0.07")["agreement"]
    assert closer["apparent"] == []


def test_rows_are_those_of_their_file_where_others_were_dropped(films, capsys):
    (films / "more.csv").write_text(FILMS.replace("Alpha,no,0.60", "Alpha,,0.60"))
    found = document(capsys, "more.csv", "--id", "film", "--missing", "drop")["agreement"]
    assert [(r["file"], r["row"], r["id"]) for r in found["real"]] == [
        ("films.csv", 3, "Gamma"),
        ("more.csv", 3, "Gamma"),
    ]


def test_a_reason_that_raters_share_is_told_once(tmp_path, monkeypatch, capsys):
    lines = ["a,a_sure,b,b_sure,c,c_sure", *("yes,0.9,yes,0.8,no,0.1" for _ in range(3))]
    (tmp_path / "films.csv").write_text("\n".join(lines) + "\n")
    monkeypatch.chdir(tmp_path)
    named = [x for r in "abc" for x in ("--decision", r, "--score", f"{r}_sure")]
    assert run(["raters", "films.csv", *named]) == 0
    printed = capsys.readouterr().out
    assert "'a', 'b': no negatives" in printed
    assert printed.count("no negatives") == 1


def test_labels_give_curves_against_the_truth(films, capsys):
    assert document(capsys, "--label", "good")["data"]["truth"]
    assert not document(capsys)["data"]["truth"]


def test_scores_that_say_how_sure_one_is_are_noticed(films, capsys):
    """A sure no at 0.9 is no score for yes."""
    sure = FILMS.replace("Delta,no,0.1", "Delta,no,0.99").replace("Alpha,no,0.60", "Alpha,no,0.95")
    (films / "films.csv").write_text(sure)
    (hint,) = document(capsys)["hints"]
    assert "high scores of 'ann' do not go with 'yes' (AUROC 0 against the rater's own" in hint
    assert document(capsys, "--positive", "no")["hints"][0].startswith("high scores of 'bob'")


def test_table_and_markdown(films, capsys):
    assert run(["raters", "films.csv", *BOTH, "--md", "films.md"]) == 0
    out = capsys.readouterr().out
    assert "ann: no at 0.6; bob: yes at 0.52" in out
    assert max(map(len, out.splitlines())) <= 80
    assert "Rows that only look like disagreement" in (films / "films.md").read_text()


def test_rows_of_the_file_are_named_when_some_are_left_out(films, capsys):
    (films / "films.csv").write_text(FILMS.replace("Alpha,no", "Zero,,0.5,no,0.5,no\nAlpha,no"))
    assert run(["raters", "films.csv", *BOTH]) == 2
    said = capsys.readouterr().err
    assert "ann is missing in 1 row, row 1 of films.csv" in said
    found = document(capsys, "--missing", "drop")["agreement"]
    assert [r["row"] for r in found["apparent"]] == [2]


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        (BOTH[:-2], "2 --decision and 1 --score were given; name both for each"),
        (BOTH[:4], "1 --decision and 1 --score were given"),
        ([], "0 --decision and 0 --score were given"),
        ([*BOTH[:-1], "ann_sure"], "column 'ann_sure' is given twice; name one for each rater"),
        ([*BOTH[:-1], "bob_shure"], "there is no column 'bob_shure'; did you mean 'bob_sure'"),
        (
            [*BOTH, "--tolerance", "-1"],
            "--tolerance must be 0 or a positive number, such as 0.1; got -1",
        ),
        (
            [*BOTH, "--midpoint", "middle"],
            "--midpoint must be mean, balanced, median, crossing or a number from 0 to 1; got middle",
        ),
        ([*BOTH, "--json", "films.csv"], "would overwrite an input"),
    ],
)
def test_what_means_nothing_is_refused(films, capsys, args, sentence):
    assert run(["raters", "films.csv", *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert sentence in err
