"""The command judge, from the file to the document."""

import copy
import json

import jsonschema
import numpy as np
import pytest

import scorewise as sw
from beside import agreement
from judge_cases import panel
from schemas import check_described, short
from scorewise.cli import run
from scorewise.show.document import schema as document_schema
from scorewise.show.markdown import markdown
from scorewise.show.terminal import text

ANSWERS = """item,ann,bob,cid,gpt,again,other,flipped,w
1,A,A,B,A,B,A,A,1
2,B,B,B,B,A,A,B,2
3,tie,A,tie,A,A,tie,tie,1
4,A,A,A,A,A,B,A,1
5,B,A,,B,A,B,,1
6,A,A,A,?,B,A,B,3
7,,,,A,B,A,B,1
8,,,,B,B,A,A,1
"""
HUMANS = ["--human", "ann", "--human", "bob", "--human", "cid"]
ALL = [*HUMANS, "--judge", "gpt", "--ignore", "?"]


@pytest.fixture
def answers(tmp_path, monkeypatch):
    (tmp_path / "answers.csv").write_text(ANSWERS)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def document(capsys, *args):
    assert run(["judge", "answers.csv", *args, "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    jsonschema.validate(doc, document_schema("judge"))
    return doc


def test_a_file_of_ratings(answers, capsys):
    doc = document(capsys, *ALL)
    data = doc["data"]
    assert (data["items"], data["labelled"], data["tied"], data["unlabelled"]) == (8, 5, 1, 2)
    assert data["sources"] == ["answers.csv"]
    (judge,) = doc["judges"]
    assert (judge["items"], judge["silent"]) == (4, 1)
    assert judge["accuracy"]["value"] == 0.75
    assert {(c["truth"], c["judge"]): c["weight"] for c in judge["confusion"]} == {
        ("A", "A"): 2,
        ("B", "B"): 1,
        ("tie", "A"): 1,
    }
    assert [p["category"] for p in judge["prevalence"]] == ["A", "B", "tie"]


def test_the_command_says_what_the_library_says(answers, capsys):
    doc = document(capsys, *ALL, "--judge", "other", "--no-answer", "wrong", "--width", "0.2")
    rows = [line.split(",") for line in ANSWERS.splitlines()]
    columns = {name: [row[k] or None for row in rows[1:]] for k, name in enumerate(rows[0])}
    humans, judges = (
        {n: columns[n] for n in names} for names in (["ann", "bob", "cid"], ["gpt", "other"])
    )
    found = sw.judge(humans, judges, ignore=["?"], no_answer="wrong", width=0.2).to_dict()
    found["data"]["sources"] = ["answers.csv"]
    *_, call = found["verdict"]
    *_, command = doc["verdict"]  # what comes next differs
    assert (call["about"], command["about"]) == ("next", "next")
    found["verdict"][-1] = command
    assert json.loads(json.dumps(found)) == doc


def test_positions_exchanged(answers, capsys):
    (judge,) = document(capsys, *ALL, "--swapped", "again", "--swap", "A=B")["judges"]
    assert judge["swap"]["items"] == 7
    assert judge["swap"]["leaning"] == [2, 1]
    guessed = document(capsys, *ALL, "--swapped", "again")["judges"][0]
    assert guessed == judge


def test_positions_exchanged_by_the_name_of_the_judge(answers, capsys):
    two = [*ALL, "--judge", "other"]
    by_order = document(capsys, *two, "--swapped", "again", "--swapped", "flipped")["judges"]
    by_name = document(capsys, *two, "--swapped", "other=flipped", "--swapped", "gpt=again")
    assert by_name["judges"] == by_order
    gpt, other = document(capsys, *two, "--swapped", "gpt=again")["judges"]
    assert (gpt["swap"], other["swap"]) == (by_order[0]["swap"], None)


def test_a_column_whose_name_has_a_sign_is_a_column(answers, capsys):
    table = (answers / "answers.csv").read_text()
    (answers / "answers.csv").write_text(table.replace("again", "gpt=again"))
    (judge,) = document(capsys, *ALL, "--swapped", "gpt=again")["judges"]
    assert judge["swap"]["items"] == 7


def test_options_reach_the_numbers(answers, capsys):
    plain = document(capsys, *ALL)
    heavy = document(capsys, *ALL, "--weight", "w")
    assert heavy["data"]["weighted"]
    assert heavy["judges"][0]["accuracy"]["value"] == 0.8 != plain["judges"][0]["accuracy"]["value"]
    ranked = document(capsys, *ALL, "--scale", "ordinal", "--categories", "B,tie,A")
    assert ranked["settings"]["weights"] == "linear"
    assert ranked["data"]["categories"] == ["B", "tie", "A"]
    assert ranked["judges"][0]["kappa"]["value"] != plain["judges"][0]["kappa"]["value"]
    sharp = document(capsys, *ALL, "--level", "0.5", "--seed", "3", "--replicates", "500")
    assert sharp["judges"][0]["accuracy"]["high"] < plain["judges"][0]["accuracy"]["high"]


def test_table_and_markdown(answers, capsys):
    options = ["--judge", "other", "--swapped", "again", "--swapped", "flipped", "--width", "0.3"]
    assert run(["judge", "answers.csv", *ALL, *options, "--md", "answers.md"]) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    for title in [
        "Against the truth",
        "One by one",
        "Human level",
        "Judges compared on the same items",
        "Positions exchanged",
        "Categories of 'gpt'",
        "Shares of votes on all items, with 'other'",
        "Items with a truth for an interval 0.3 wide",
        "Hints",
    ]:
        assert title in out
        assert title in (answers / "answers.md").read_text()
    assert "with no answer as wrong they count as errors" in " ".join(out.split())


@pytest.mark.parametrize("categories", [2, 5, 12])
@pytest.mark.parametrize("judges", [1, 4])
def test_pages_stay_narrow(categories, judges):
    people, machines = panel(1, judges=judges, categories=categories, unlabelled=0.3)
    long = {f"{name} with a name of many letters": c for name, c in machines.items()}
    swap = ",".join(f"c{2 * k}=c{2 * k + 1}" for k in range(categories // 2))
    swapped = {name: column[::-1] for name, column in long.items()}
    found = sw.judge(people, long, swapped=swapped, swap=swap, width=0.1, replicates=100)
    doc = json.loads(found.to_json())
    jsonschema.validate(doc, document_schema("judge"))
    # what was written shows as what was found
    assert (text(doc), markdown(doc)) == (str(found), found.to_markdown())
    assert max(map(len, str(found).splitlines())) <= 80


def test_the_schema_describes_every_field():
    check_described(document_schema("judge"))


def test_hostile_names_stay_words(capsys):
    people, machines = panel(2)
    nasty = "\x1b[31m|<b>\n`"
    found = sw.judge(people, {nasty: machines["j0"]}, replicates=100).to_dict()
    assert "\x1b" not in text(found)
    assert "<b>" not in markdown(found)


def places(node, path=()):
    """Every field of the document, by the way to it, one of each list."""
    if isinstance(node, dict):
        for key, value in node.items():
            yield (*path, key)
            yield from places(value, (*path, key))
    elif isinstance(node, list) and node:
        yield from places(node[0], (*path, 0))


def test_the_schema_wants_every_field_and_no_other():
    people, machines = panel(3, unlabelled=0.3)
    swapped = {"j0": machines["j1"]}
    found = sw.judge(
        people, machines, swapped=swapped, swap="c0=c1", width=0.1, replicates=100, scale="ordinal",
        categories=["c0", "c1", "c2"],
    )  # fmt: skip
    doc = json.loads(found.to_json())
    check = jsonschema.Draft202012Validator(document_schema("judge"))
    check.validate(doc)
    doc = short(doc)
    check.validate(doc)
    fields = list(places(doc))
    assert len(fields) > 200
    for path in fields:
        less = copy.deepcopy(doc)
        node = less
        for key in path[:-1]:
            node = node[key]
        kept = node.pop(path[-1])
        assert not check.is_valid(less), path
        node[path[-1]] = {"not": "this"} if not isinstance(kept, dict) else "not this"
        assert not check.is_valid(less), path
        node[path[-1]] = kept
        node["surprise"] = 1
        assert not check.is_valid(less), path


@pytest.mark.parametrize(
    ("args", "sentence"),
    [
        ([], "no --human was given"),
        (HUMANS, "no --judge was given"),
        ([*HUMANS, "--judge", "ann"], "'ann' is named as a human and as a judge"),
        ([*ALL, "--judge", "gpt"], "column 'gpt' is given twice"),
        ([*ALL, "--judge", "gbt"], "there is no column 'gbt'; did you mean 'gpt'"),
        (
            [*ALL, "--swapped", "again", "--swapped", "other"],
            "--swapped has 2 and there is 1 of judges",
        ),
        (
            [*ALL, "--swapped", "again", "--swap", "A=C"],
            "--swap names 'C', which is not a category",
        ),
        (
            [*ALL, "--judge", "other", "--swapped", "gpt=again", "--swapped", "flipped"],
            "--swapped names judges for some columns and not for others",
        ),
        ([*ALL, "--swapped", "gpt=agian"], "there is no column 'agian'; did you mean 'again'"),
        ([*ALL, "--categories", "A,B"], "is not among the categories in"),
        ([*ALL, "--scale", "ordinal"], "pass --categories with all of them"),
        ([*ALL, "--scale", "interval"], "which is not a number; --scale interval needs numbers"),
        ([*ALL, "--weights", "linear"], "--weights linear needs categories in an order"),
        (
            [*ALL, "--weight", "item", "--level", "2"],
            "level must lie between 0 and 1, such as 0.95; got 2",
        ),
        ([*ALL, "--width", "-1"], "width must lie between 0 and 2, such as 0.1; got -1"),
        (
            [*ALL, "--replicates", "1"],
            "--replicates must be an integer from 100 up, such as 2000; got 1",
        ),
        ([*ALL, "--weight", "ann"], "column 'ann' is given as human and as weight; name"),
        (["--human", "ann", "--judge", "gpt", "--weight", "bob"], "bob is not a number in 6 rows"),
        (["--human", "none", "--judge", "gpt"], "no item is labelled"),
        (["--human", "ann", "--judge", "none"], "judge 'none' gives no answer on any of 8 items"),
    ],
)
def test_bad_input_is_told_in_one_sentence(answers, capsys, args, sentence):
    rows = ANSWERS.splitlines()
    table = [rows[0] + ",none", *(row + "," for row in rows[1:])]
    (answers / "answers.csv").write_text("\n".join(table) + "\n")
    assert run(["judge", "answers.csv", *args]) == 2
    out, err = capsys.readouterr()
    assert sentence in err
    assert err.count("\n") == 1
    assert not out


@pytest.mark.parametrize("rows", [0, 1])
def test_too_few_items(answers, capsys, rows):
    (answers / "answers.csv").write_text("".join(ANSWERS.splitlines(keepends=True)[: rows + 1]))
    assert run(["judge", "answers.csv", *ALL]) == 2
    said = "at least two are needed" if rows else "has no rows"
    assert said in capsys.readouterr().err


def test_absent_file(answers, capsys):
    assert run(["judge", "nothing.csv", *ALL]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_pandalm(capsys):
    path = agreement("pandalm_human_llm_judges.csv")
    names = [f"--human=annotator{k}" for k in (1, 2, 3)]
    args = ["judge", str(path), *names, "--judge", "gpt35", "--judge", "pandalm7b"]
    assert run([*args, "--ignore=-1", "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    kappas = [p["kappa"]["value"] for p in doc["ceiling"]["pairs"]]
    assert np.round(kappas, 2).tolist() == [0.85, 0.88, 0.86]
    said = " ".join(doc["hints"])
    assert "'gpt35' says '0' less often than the humans: 3.9% against 9.45%" in said
    assert "'gpt35' gives no answer on 25 of 999 items" in said
    assert [c["finding"] for c in doc["verdict"] if c["about"] == "trust"] == ["no", "no"]
