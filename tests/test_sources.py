"""Every verb takes columns, and the names of columns in a file, a frame or a mapping, with one result."""

import duckdb
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest

import scorewise as sw
from scorewise.recalibrating import calibrate

KINDS = ("file", "files", "polars", "lazy", "pandas", "mapping", "narwhals", "duckdb")


@pytest.fixture
def columns(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(3)
    y = rng.random(60) < 0.5
    p = np.clip(rng.normal(0.35 + 0.3 * y, 0.2), 0.01, 0.99).round(3)
    q = np.clip(rng.normal(0.4 + 0.2 * y, 0.2), 0.01, 0.99).round(3)
    made = {"sick": y.astype(int), "p": p, "q": q, "name": [f"n{i}" for i in range(60)]}
    made |= {"ann": np.where(p > 0.5, "yes", "no"), "bob": np.where(q > 0.5, "yes", "no")}
    frame = pl.DataFrame(made)
    frame.write_csv("a.csv")
    frame[:25].write_parquet("one.parquet")
    frame[25:].write_parquet("two.parquet")
    return made


def source(kind, columns):
    frame = pl.DataFrame(columns)
    return {
        "file": "a.csv",
        "files": ["one.parquet", "two.parquet"],
        "polars": frame,
        "lazy": frame.lazy(),
        "pandas": pd.DataFrame(columns),
        "mapping": columns,
        "narwhals": nw.from_native(frame),
        "duckdb": duckdb.from_arrow(frame.to_arrow()),
    }[kind]


NAMED = {"label": "sick", "score": "p"}


@pytest.mark.parametrize("kind", KINDS)
def test_smroc(columns, kind):
    curve = sw.smroc(source(kind, columns), **NAMED, midpoint="balanced", threshold=0.4)
    want = sw.smroc(columns["sick"], columns["p"], midpoint="balanced", threshold=0.4)
    assert curve.area == want.area
    assert curve.document().curves[0].tables == want.document().curves[0].tables
    frame = curve.to_frame()
    np.testing.assert_allclose(frame["p_climb"], want.segments[:, 0])
    assert ("file" in frame.columns) == (kind == "files")


def test_smroc_of_several_scores_and_a_midpoint_of_other_rows(columns):
    both = sw.smroc(columns, label="sick", score=["p", "q"], learn="one.parquet")
    assert list(both) == ["p", "q"]
    learned = sw.smroc(columns["sick"], columns["q"], midpoint=sw.Tally.of(
        columns["sick"][:25], columns["q"][:25]))  # fmt: skip
    assert both["q"].midpoint == learned.midpoint
    assert both["q"].rule == "learned"


@pytest.mark.parametrize("kind", KINDS)
def test_inspect(columns, kind):
    found = sw.inspect(source(kind, columns), **NAMED, ids="name", top=3)
    want = sw.inspect(columns["sick"], columns["p"], ids=columns["name"], top=3)
    assert [row.id for row in found.suspicious] == [row.id for row in want.suspicious]


@pytest.mark.parametrize("kind", KINDS)
def test_raters(columns, kind):
    names = {"decisions": ["ann", "bob"], "scores": ["p", "q"], "label": "sick", "ids": "name"}
    if kind == "lazy":
        names = {name: given for name, given in names.items() if name != "label"}
    else:
        names["positive"] = "yes"
        columns["sick"] = np.where(columns["sick"] == 1, "yes", "no")
        pl.DataFrame(columns).write_csv("a.csv")
        pl.DataFrame(columns)[:25].write_parquet("one.parquet")
        pl.DataFrame(columns)[25:].write_parquet("two.parquet")
    found = sw.raters(source(kind, columns), **names).agreement
    pairs = {"ann": (columns["ann"], columns["p"]), "bob": (columns["bob"], columns["q"])}
    want = sw.raters(pairs).agreement
    assert (found.decisions, found.within) == (want.decisions, want.within)
    assert [row.scores for row in found.real] == [row.scores for row in want.real]
    assert all(row.id for row in found.real)


@pytest.mark.parametrize("kind", KINDS)
def test_recalibrator(columns, kind):
    made = sw.Recalibrator("platt").fit(source(kind, columns), **NAMED)
    want = sw.Recalibrator("platt").fit(columns["p"], columns["sick"])
    np.testing.assert_allclose(made.transform([0.2, 0.8]), want.transform([0.2, 0.8]))
    again = calibrate(source(kind, columns), **NAMED, method="platt")
    np.testing.assert_array_equal(again.transform([0.2]), made.transform([0.2]))


def test_a_map_is_applied_to_files(columns):
    made = sw.Recalibrator("platt").fit("a.csv", **NAMED)
    with pytest.warns(UserWarning, match="score: column 'p'"):
        done = made.apply_files("a.csv", "out.parquet")
    assert done.rows == 60
    assert done.notes[0].startswith("score: column 'p'")
    want = made.transform(columns["p"])
    np.testing.assert_array_equal(pl.read_parquet("out.parquet")["p_calibrated"], want)
    with pytest.raises(sw.BadInput, match="classes= does not fit the map, which is for one score"):
        made.apply_files("a.csv", "out.parquet", classes="p_*")


def test_what_was_guessed_is_a_warning_and_a_note(columns):
    few = {"label": columns["sick"], "p": columns["p"]}
    for verb in (sw.smroc, sw.inspect, sw.Recalibrator("platt").fit):
        with pytest.warns(UserWarning, match="label: column 'label'"):
            found = verb(few, score="p")
        assert any("label: column 'label'" in note for note in found.notes)


def test_what_was_guessed_of_other_rows_is_forgotten(columns):
    made = sw.Recalibrator("platt")
    with pytest.warns(UserWarning, match="label: column 'label'"):
        made.fit({"label": columns["sick"], "p": columns["p"]}, score="p")
    assert made.notes
    assert made.fit(columns["p"], columns["sick"]).notes == ()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda c: sw.smroc(c["sick"], c["p"], label="sick"), "label= belongs to files and frames"),
        (lambda c: sw.smroc(c, **NAMED, midpoint=0.5, learn=c), "exclude each other"),
        (lambda c: sw.inspect(c["sick"]), "scores are missing"),
        (lambda c: sw.inspect(c["sick"], c["p"], score="p"), "score= belongs to files and frames"),
        (
            lambda c: sw.raters(c, decisions=["ann"], scores=["p"]),
            "1 decisions= and 1 scores= were",
        ),
        (lambda c: sw.raters("a.csv"), "0 decisions= and 0 scores= were given"),
        (lambda c: sw.raters(5), "raters takes decisions and scores"),
        (
            lambda c: sw.Recalibrator().fit(c["p"], c["sick"], label="sick"),
            "label= belongs to files",
        ),
        (lambda c: calibrate("a.csv", score="p", classes="p_*"), "score= is for one score a row"),
        (lambda c: sw.judge("a.csv", judges=["ann"]), "no humans= was given"),
    ],
)
def test_what_does_not_go_together_is_refused(columns, call, sentence):
    with pytest.raises(sw.BadInput, match=sentence):
        call(columns)
