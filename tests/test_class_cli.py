"""`scorewise evaluate` on several classes, end to end."""

import json

import jsonschema
import numpy as np
import polars as pl
import pytest
from rich.cells import cell_len

import scorewise as sw
from scorewise.cli import run
from scorewise.show.document import schema as document_schema
from view_documents import names

NAMES = np.array(["bird", "cat", "dog"])
ROWS = 240


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A wide file of animals, as csv and in two parquet shards."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, ROWS)
    z = (rng.normal(size=(ROWS, 3)) + 1.5 * np.eye(3)[y]).round(6)
    p = np.exp(z)
    p /= p.sum(1, keepdims=True)
    frame = pl.DataFrame(
        {
            "animal": NAMES[y],
            **{f"p_{c}": p[:, k] for k, c in enumerate(NAMES)},
            **{f"{c}_z": z[:, k] for k, c in enumerate(NAMES)},
            "said": NAMES[p.argmax(1)],
            "sure": p.max(1),
            "w": rng.uniform(0.5, 2, ROWS),
            "n": rng.integers(0, 3, ROWS),
        }
    )
    frame.write_csv("animals.csv")
    frame[:100].write_parquet("day1.parquet")
    frame[100:].write_parquet("day2.parquet")
    return frame


def document(capsys, *args):
    assert run(["evaluate", *args, "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    jsonschema.Draft202012Validator(document_schema("evaluate")).validate(doc)
    return doc


def values(doc):
    return {m["name"]: m["value"] for m in doc["models"][0]["measures"]}


LISTED = "bird=p_bird,cat=p_cat,dog=p_dog"


def test_page_fits_the_terminal(table, capsys):
    assert run(["evaluate", "animals.csv", "--label", "animal", "--classes", "p_*"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert all(cell_len(line) <= 80 for line in out.splitlines())
    assert "true \\ predicted" in out
    assert "240 of 'animals.csv', 3 classes" in out
    assert run(["evaluate", "animals.csv", "--label", "animal", "--classes", "p_*", "--all"]) == 0
    assert "240 of 3 classes in column 'animal'" in capsys.readouterr().out


@pytest.mark.parametrize("classes", ["p_*", LISTED, " bird = p_bird , cat=p_cat,dog=p_dog"])
def test_document_is_that_of_python(table, capsys, classes):
    doc = document(capsys, "animals.csv", "--label", "animal", "--classes", classes)
    e = sw.evaluate(table["animal"], {c: table[f"p_{c}"] for c in NAMES}, classes=NAMES)
    found, expected = values(doc), {k: v.value for k, v in e.items()}
    if classes == "p_*":  # which does not say that the classes are ordered
        assert found.pop("rps") is None
        assert expected.pop("rps") > 0
    assert found == pytest.approx(expected)
    assert doc["models"][0]["confusion"] == e.confusion.weight.tolist()
    assert doc["data"]["sources"] == ["animals.csv"]


def test_shards_are_one_table(table, capsys):
    whole = document(capsys, "animals.csv", "--label", "animal", "--classes", "p_*")
    parts = document(
        capsys, "day1.parquet", "day2.parquet", "--label", "animal", "--classes", "p_*"
    )
    assert values(parts) == pytest.approx(values(whole))
    assert parts["models"][0]["confusion"] == whole["models"][0]["confusion"]


def test_logits_and_rules_of_confidence(table, capsys):
    given = ("animals.csv", "--label", "animal", "--classes", "*_z", "--kind", "logit")
    doc = document(capsys, *given, "--confidence", "energy")
    z = np.column_stack([table[f"{c}_z"] for c in NAMES])
    want = sw.evaluate(table["animal"], z, classes=NAMES, kind="logit", confidence="energy")
    assert values(doc)["aurc"] == pytest.approx(want.aurc.value)
    assert doc["models"][0]["confidence"] == "energy"
    plain = document(capsys, *given)
    own = document(capsys, *given, "--confidence", "sure")
    assert own["models"][0]["confidence"] == "sure"
    assert values(own)["aurc"] == pytest.approx(values(plain)["aurc"], rel=1e-6)


def test_decisions_with_confidence(table, capsys):
    given = ("animals.csv", "--label", "animal")
    doc = document(capsys, *given, "--predicted", "said", "--score", "sure")
    full = document(capsys, *given, "--classes", "p_*")
    assert doc["models"][0]["confusion"] == full["models"][0]["confusion"]
    assert values(doc)["aurc"] == pytest.approx(values(full)["aurc"])
    assert values(doc)["log_loss"] is None
    assert doc["models"][0]["kind"] is None
    named = document(
        capsys, *given, "--predicted", "said", "--score", "sure", "--classes", "dog,cat,bird,cow"
    )
    assert [c["name"] for c in named["classes"]] == ["dog", "cat", "bird", "cow"]


def test_weights_and_counts(table, capsys):
    given = ("animals.csv", "--label", "animal", "--classes", "p_*")
    doc = document(capsys, *given, "--weight", "w")
    right = (table["said"] == table["animal"]).to_numpy()
    assert values(doc)["accuracy"] == pytest.approx(np.average(right, weights=table["w"]))
    assert doc["data"]["weight"] == "w"
    counted = document(capsys, *given, "--count", "n")
    assert counted["data"]["rows"] == table["n"].sum()
    assert values(counted)["accuracy"] == pytest.approx(np.average(right, weights=table["n"]))


def test_missing_rows_are_dropped_when_asked(table, capsys):
    table.with_columns(
        p_cat=pl.when(pl.int_range(ROWS) == 4).then(None).otherwise("p_cat")
    ).write_csv("holes.csv")
    given = ("holes.csv", "--label", "animal", "--classes", "p_*")
    assert run(["evaluate", *given]) == 2
    assert "p_cat is missing in 1 row, row 5 of holes.csv" in capsys.readouterr().err
    assert document(capsys, *given, "--missing", "drop")["data"]["dropped"] == 1


def test_files_are_written(table, tmp_path, capsys):
    given = ["evaluate", "animals.csv", "--label", "animal", "--classes", "p_*"]
    assert run([*given, "--json", "out.json", "--md", "out.md"]) == 0
    assert "wrote out.json" in capsys.readouterr().err
    assert json.loads((tmp_path / "out.json").read_text())["command"] == "evaluate"
    assert "| bird |" in (tmp_path / "out.md").read_text()


def test_guessed_label_is_told(table, capsys):
    table.rename({"animal": "label"}).write_csv("guess.csv")
    assert run(["evaluate", "guess.csv", "--classes", "p_*"]) == 0
    assert capsys.readouterr().err.startswith("note: label: column 'label' (not named")


LABEL = ["--label", "animal"]
WIDE = [*LABEL, "--classes", "p_*"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        ([*LABEL, "--classes", "q_*"], "stands for no column"),
        ([*LABEL, "--classes", "p_cat"], "not a pattern with one star"),
        ([*LABEL, "--classes", "cat=p_cat,dog=p_dgo"], "no column 'p_dgo'; did you mean 'p_dog'"),
        ([*LABEL, "--classes", "cat=p_cat,dog=p_cat"], "names the column 'p_cat' twice"),
        ([*LABEL, "--classes", "cat=p_cat,dog=p_dog"], "animal is not among the classes in"),
        ([*LABEL, "--classes", "a=said,b=sure"], "said is not a number"),
        ([*LABEL, "--classes", ""], "not a pattern"),
        (["--label", "p_cat", "--classes", "p_*"], "column 'p_cat' is given as label and as score"),
        (["--label", "beast", "--classes", "p_*"], "no column 'beast'"),
        ([*LABEL, "--classes", "*_z"], "pass --kind logit"),
        ([*WIDE, "--kind", "score"], "--kind score is not known for several classes"),
        ([*WIDE, "--confidence", "best"], "neither max, margin, entropy or energy nor a column"),
        ([*WIDE, "--confidence", "said"], "said is not a number"),
        ([*WIDE, "--confidence", "energy"], "pass --kind logit"),
        ([*WIDE, "--threshold", "0.2"], "--threshold belongs to two classes"),
        ([*WIDE, "--positive", "cat"], "--positive belongs to two classes"),
        (
            [*WIDE, "--score", "sure"],
            "--score is the confidence in decisions and goes with --predicted",
        ),
        ([*WIDE, "--score", "sure", "--score", "w"], "pass one --score"),
        ([*LABEL, "--confidence", "max"], "--confidence belongs to several classes"),
        ([*LABEL, "--predicted", "said"], "the score column is not named"),
        ([*LABEL, "--predicted", "siad", "--score", "sure"], "did you mean 'said'"),
        ([*LABEL, "--predicted", "animal", "--score", "sure"], "'animal' is given twice"),
        ([*LABEL, "--predicted", "said", "--score", "said"], "'said' is given twice"),
        (
            [*LABEL, "--predicted", "said", "--score", "sure", "--classes", "p_*"],
            "lists the names of",
        ),
        ([*LABEL, "--predicted", "said", "--score", "sure", "--classes", "cat,dog"], "not among"),
        (
            [*LABEL, "--predicted", "said", "--score", "sure", "--confidence", "margin"],
            "--score names",
        ),
        (
            [*LABEL, "--predicted", "said", "--score", "w", "--kind", "probability"],
            "outside [0, 1]",
        ),
    ],
    ids=lambda x: " ".join(x) if isinstance(x, list) else "",
)
def test_bad_input_is_one_sentence(table, tmp_path, capsys, args, said):
    before = names(tmp_path)
    assert run(["evaluate", "animals.csv", *args, "--json", "out.json"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert err.startswith("scorewise: ")
    assert err.count("\n") == 1
    assert names(tmp_path) == before


def test_absent_file(table, capsys):
    assert run(["evaluate", "nowhere.csv", *WIDE]) == 2
    assert "nowhere.csv" in capsys.readouterr().err


def test_schema_is_printed(capsys):
    assert run(["schema", "evaluate"]) == 0
    assert json.loads(capsys.readouterr().out) == document_schema("evaluate")


def test_columns_are_named_once(capsys):
    assert run(["evaluate", "a.csv", "--classes", "p_*", "--classes", "q_*"]) == 2
    assert "--classes is given 2 times; give it once" in capsys.readouterr().err
