"""`scorewise answers`, end to end."""

import json
from pathlib import Path

import jsonschema
import numpy as np
import polars as pl
import pytest
from rich.cells import cell_len

import scorewise as sw
from beside import predictions
from scorewise.cli import run
from scorewise.show.document import schema as document_schema

CITIES = ["Paris", "Rome", "Oslo", "Bern", "Wien"]


@pytest.fixture
def table(tmp_path, monkeypatch):
    """Questions on capitals, answered by two models, as csv, jsonl and parquet."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    rng = np.random.default_rng(0)
    n = 120
    gold = rng.choice(CITIES, n)
    said = np.where(rng.random(n) < 0.7, gold, rng.choice(CITIES, n))
    said = [
        word[:-1] if slip else word for word, slip in zip(said, rng.random(n) < 0.2, strict=True)
    ]
    sure = np.clip(0.5 + 0.5 * rng.random(n), 0, 1).round(3)
    frame = pl.DataFrame(
        {
            "gold": gold,
            "said": said,
            "sure": sure,
            "token": np.where(rng.random(n) < 0.5, sure**2, None).astype(float),
            "good": (gold == np.array(said)).astype(float),
            "model": rng.choice(["alpha", "beta"], n),
            "task": rng.choice(["x", "y"], n),
            "w": rng.uniform(0.5, 2, n),
        }
    )
    frame = frame.with_columns(pl.col("token").fill_nan(None))
    frame.write_csv("qa.csv")
    frame.write_parquet("qa.parquet")
    lines = [
        json.dumps({**row, "gold": [row["gold"], row["gold"].upper()]}) for row in frame.to_dicts()
    ]
    Path("qa.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return frame


TEXTS = ["--gold", "gold", "--predicted", "said", "--confidence", "sure"]


def document(capsys, *args):
    assert run(["answers", *args, "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(document_schema("answers")).validate(doc)
    return doc


def values(doc):
    return {m["name"]: m["value"] for m in doc["confidences"][0]["measures"]}


@pytest.mark.parametrize("file", ["qa.csv", "qa.jsonl", "qa.parquet"])
@pytest.mark.parametrize("quality", ["anls", "exact", "f1"])
def test_document_is_that_of_python(table, capsys, file, quality):
    doc = document(capsys, file, *TEXTS, "--quality", quality, "--tau", "0.6", "--by", "model")
    a = sw.answers(
        table["gold"], table["said"], table["sure"], quality=quality, tau=0.6,
        by={"model": table["model"]},
    )  # fmt: skip
    assert values(doc) == pytest.approx({k: v.value for k, v in a["confidence"].items()})
    groups = doc["groups"][0]["groups"]
    assert [g["words"] for g in groups] == [["alpha"], ["beta"]]
    found = {m["name"]: m for m in groups[1]["measures"]}
    assert found["ece"]["value"] == a.groups["beta"].ece.value
    assert doc["data"]["sources"] == [file]
    assert doc["data"]["quality"] == quality
    assert doc["data"]["normalise"] == ("plain" if quality == "anls" else "squad")


def test_source_form_in_python_is_the_command(table, capsys):
    doc = document(capsys, "qa.csv", *TEXTS, "--by", "model", "--by", "task", "--weight", "w")
    a = sw.answers(
        "qa.csv", gold="gold", predicted="said", confidence="sure", by=["model", "task"], weight="w"
    )
    assert a.to_dict() == doc
    frame = sw.answers(
        table, gold="gold", predicted="said", confidence="sure", by=["model", "task"], weight="w"
    )
    assert values(frame.to_dict()) == values(doc)


OWN = ["--quality", "good", "--confidence", "sure", "--confidence", "token", "--missing", "drop"]


def test_own_quality_and_two_confidences(table, capsys):
    doc = document(capsys, "qa.parquet", *OWN)
    there = table.drop_nulls("token")
    assert [c["answers"] for c in doc["confidences"]] == [len(table), len(there)]
    assert doc["confidences"][1]["missing"] == len(table) - len(there)
    alone = sw.answers(confidence=there["token"], quality=there["good"])
    found = {m["name"]: m["value"] for m in doc["confidences"][1]["measures"]}
    assert found["ece"] == alone.ece.value
    assert doc["data"]["column"] == "good"


@pytest.mark.parametrize("more", [[], ["--by", "model"], ["--by", "model", "--by", "task"]])
def test_page_fits_the_terminal(table, capsys, more):
    assert run(["answers", "qa.jsonl", *TEXTS, *more]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert all(cell_len(line) <= 80 for line in out.splitlines())
    assert "texts without case and extra blanks" in out
    assert "Correct     quality > 0.5" in out
    assert "Where correct is quality > tau" in out
    assert ("Groups" in out) == bool(more)


def test_markdown_and_json_are_written(table, capsys):
    assert run(["answers", "qa.csv", *TEXTS, "--md", "out.md", "--json", "out.json"]) == 0
    assert "| ECE, 15 bins |" in Path("out.md").read_text(encoding="utf-8")
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["command"] == "answers"


BAD = {
    "no such file": (["no.csv", *TEXTS], "no.csv"),
    "tau of 1": (
        ["qa.csv", *TEXTS, "--tau", "1"],
        "tau must be at least 0 and below 1, such as 0.5; got 1",
    ),
    "negative tau": (
        ["qa.csv", *TEXTS, "--tau", "-0.5"],
        "tau must be at least 0 and below 1, such as 0.5; got -0.5",
    ),
    "no bins": (
        ["qa.csv", *TEXTS, "--bins", "0"],
        "--bins must be a positive integer, such as 15; got 0",
    ),
    "level": (
        ["qa.csv", *TEXTS, "--level", "2"],
        "level must lie between 0 and 1, such as 0.95; got 2",
    ),
    "seed": (
        ["qa.csv", *TEXTS, "--seed", "-1"],
        "seed must be an integer from 0 up, such as 0; got -1",
    ),
    "unknown group": (["qa.csv", *TEXTS, "--by", "modle"], "modle"),
    "unknown gold": (["qa.csv", *TEXTS[2:], "--gold", "godl"], "godl"),
    "unknown confidence": (["qa.csv", *TEXTS[:4], "--confidence", "shure"], "shure"),
    "confidence of text": (["qa.csv", *TEXTS[:4], "--confidence", "model"], "model"),
    "confidence missing": (["qa.csv", *TEXTS[:4], "--confidence", "token"], "--missing drop"),
    "quality of text": (["qa.csv", "--quality", "model", "--confidence", "sure"], "model"),
    "unknown quality": (["qa.csv", "--quality", "bleu", "--confidence", "sure"], "bleu"),
    "weights of text": (["qa.csv", *TEXTS, "--weight", "task"], "task"),
    "normalise": (["qa.csv", *TEXTS, "--normalise", "much"], "much"),
    "lists": (["qa.csv", *TEXTS, "--lists", "some"], "some"),
    "missing": (["qa.csv", *TEXTS, "--missing", "guess"], "guess"),
    "one output twice": (["qa.csv", *TEXTS, "--json", "-", "--md", "-"], "--json and --md"),
    "over the input": (["qa.csv", *TEXTS, "--json", "qa.csv"], "would overwrite an input"),
    "empty": (["empty.csv", *TEXTS], "empty.csv"),
    "broken": (["broken.jsonl", *TEXTS], "broken.jsonl"),
}


@pytest.mark.parametrize("kind", BAD)
def test_bad_input_is_one_sentence(table, capsys, kind):
    Path("empty.csv").write_text("gold,said,sure\n")
    Path("broken.jsonl").write_text('{"gold": "a", "said"\n')
    args, said = BAD[kind]
    assert run(["answers", *args]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("scorewise: ")
    assert err.count("\n") == 1
    assert said in err


@pytest.mark.parametrize("kind", ["perfect", "imperfect"])
def test_dude_demo(capsys, monkeypatch, kind):
    demo = predictions("dude_demo")
    files = [str(demo / f"DUDE_demo_{part}.json") for part in ("gt", f"submission_{kind}")]
    doc = document(capsys, *files, "--by", "answer_type")
    assert doc["data"]["answers"] == 11
    found = values(doc)
    assert (found["mean_quality"] == 1) == (kind == "perfect")
    assert (found["accuracy"] == 1) == (kind == "perfect")
    if kind == "perfect":
        assert (found["ece"], found["soft_brier"]) == (0, 0)
    assert sum(g["rows"] for g in doc["groups"][0]["groups"]) == 11


def test_stated_and_token_confidence_of_language_models(capsys):
    words = ["--quality", "correct", "--confidence", "stated_confidence", "--missing", "drop"]
    words += ["--confidence", "chosen_token_confidence", "--by", "llm", "--by", "qset"]
    path = predictions("llm_confidence.parquet")
    doc = document(capsys, str(path), *words)
    rows = {
        (*g["words"], of["model"]): {m["name"]: m for m in g["measures"]}
        for of in doc["groups"]
        for g in of["groups"]
    }
    assert len({g[:2] for g in rows}) == 55
    assert sum(g[2] == "chosen_token_confidence" for g in rows) == 8
    frame = pl.read_parquet(path).with_columns(pl.col("llm", "qset").cast(str))
    part = frame.filter(llm="gpt-4o", qset="sciq_test")
    c, y = part["stated_confidence"].to_numpy(), part["correct"].to_numpy()
    at = np.minimum((c * 15).astype(int), 14)
    gaps = [abs(y[at == b].sum() - c[at == b].sum()) for b in np.unique(at)]
    g = rows["gpt-4o", "sciq_test", "stated_confidence"]
    assert g["ece"]["value"] == pytest.approx(sum(gaps) / len(y))
    assert g["ece"]["low"] <= g["ece"]["value"] <= g["ece"]["high"]
    assert g["accuracy"]["value"] == pytest.approx(y.mean())
