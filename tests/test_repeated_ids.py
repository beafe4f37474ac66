"""A column of repeated ids draws a hint: rows of one patient may depend on each other."""

import numpy as np
import polars as pl
import pytest

import scorewise as sw
from scorewise.cli import run


def visits(**columns):
    rng = np.random.default_rng(0)
    p = rng.random(400)
    y = (rng.random(400) < p).astype(int)
    return pl.DataFrame({"y": y, "p": p, **columns})


def hints(frame, **options):
    doc = sw.evaluate(frame, label="y", score="p", **options).document()
    return [hint for hint in doc.hints if "as cluster" in hint]


PATIENTS = np.arange(400) // 4


def test_ids_that_are_repeated():
    want = "'patient_id' has 100 values in 400 rows; if rows of one patient depend on each other, name it"
    assert hints(visits(patient_id=PATIENTS)) == [f"{want} as cluster."]
    assert hints(visits(patientId=[f"p{k}" for k in PATIENTS]))
    assert "rows of one depend" in hints(visits(id=PATIENTS))[0]


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("patient_id", np.arange(400)),  # one row for each
        ("patient_id", np.arange(400) % 5),  # few values
        ("age", PATIENTS),  # no id by its name
        ("width", PATIENTS),
    ],
    ids=str,
)
def test_others_draw_none(name, values):
    assert hints(visits(**{name: values})) == []


def test_a_column_in_use_draws_none():
    assert hints(visits(patient=PATIENTS), cluster="patient") == []
    assert hints(visits(patient=PATIENTS), weight="patient") == []


def test_what_rests_on_rows_that_do_not_depend_on_each_other_draws_it():
    frame = visits(patient_id=PATIENTS).with_columns(q=pl.col("p") ** 2)
    columns = {"label": "y", "score": "p"}
    for result in (
        sw.compare(frame, label="y", score=["p", "q"]),
        sw.threshold(frame, **columns, at="recall >= 0.8"),
        sw.gate(frame, **columns, require="auroc >= 0.6"),
    ):
        assert "'patient_id' has 100 values in 400 rows" in result.document().hints[0]
    rule = sw.threshold(frame, **columns, cluster="patient_id", at="recall >= 0.8")
    assert not rule.document().hints


def test_recalibration_draws_it_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    visits(game=PATIENTS).write_csv("a.csv")
    told = ["calibrate", "fit", "a.csv", "--label", "y", "--score", "p", "--method", "platt"]
    assert run(told) == 0
    assert "if rows of one game depend on each other" in " ".join(capsys.readouterr().out.split())
    assert run([*told, "--cluster", "game"]) == 0
    assert "depend on each other" not in capsys.readouterr().out
