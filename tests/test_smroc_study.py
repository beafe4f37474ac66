"""The smROC study runs on a small case, stops and goes on, and gives the same numbers twice."""

import doctest
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

metrics = pytest.importorskip("sklearn.metrics")
sys.path.insert(0, str(Path(__file__).parents[1]))
study = pytest.importorskip("experiments.smroc_study")

from experiments import code_mark, data_sets, smroc_runs  # noqa: E402
from experiments.smroc_report import markdown  # noqa: E402
from experiments.smroc_runs import Job, judged, run_all, runs, splits  # noqa: E402
from experiments.smroc_summary import summary  # noqa: E402

SETS = ["iris", "wine"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return run_all(None, SETS, 1, tmp_path_factory.mktemp("results"), 1)


def test_runs_judge_rows_that_were_not_learned_from():
    y = data_sets.load(None, "wine").y
    for scheme, share in (("cv", 0.1), ("sub", 0.6)):
        pairs = list(splits(y, Job(None, "wine", scheme, 0)))
        assert len(pairs) == 10
        for learn, judge in pairs:
            assert not set(learn) & set(judge)
            assert len(learn) + len(judge) == len(y)
            assert len(judge) / len(y) == pytest.approx(share, abs=0.02)
            assert y[judge].mean() == pytest.approx(y.mean(), abs=0.05)
    folds = [judge for _, judge in splits(y, Job(None, "wine", "cv", 0))]
    assert sorted(np.concatenate(folds)) == list(range(len(y)))


def test_areas_are_those_of_other_packages():
    rng = np.random.default_rng(0)
    y = rng.random(80) < 0.4
    p = np.clip(0.3 * y + 0.6 * rng.random(80), 0, 1).round(2)
    said = judged(y, p)
    assert said["auc"] == pytest.approx(metrics.roc_auc_score(y, p))
    # smAUC is the AUC of climbs against runs, each row being some of both
    for area, m in (("sm_mean", p.mean()), ("sm_fixed", 0.5)):
        v = np.where((p >= m) == y, p, 1 - p)
        twice = np.repeat([True, False], 80), np.tile(p, 2), np.concatenate([v, 1 - v])
        by_weight = metrics.roc_auc_score(twice[0], twice[1], sample_weight=twice[2])
        assert said[area] == pytest.approx(by_weight)


def test_a_study_from_scratch_gives_the_same_numbers(found, tmp_path):
    again = run_all(None, SETS, 1, tmp_path, 1)
    assert all(again[name].equals(found[name]) for name in SETS)
    assert found["wine"].height == 2 * 10 * 2


def test_a_study_that_was_stopped_goes_on(tmp_path, monkeypatch):
    first = run_all(None, ["iris"], 1, tmp_path, 1)["iris"]
    changed = first.with_columns(auc=pl.lit(0.123))  # so that what is taken up can be told
    about = smroc_runs.settings(None, "iris", 1)
    smroc_runs.store(tmp_path / "iris.parquet", changed.to_dicts(), about)
    both = run_all(None, SETS, 1, tmp_path, 1)
    assert (both["iris"]["auc"] == 0.123).all()
    assert both["wine"]["auc"].n_unique() > 1
    monkeypatch.setattr(smroc_runs, "code_mark", lambda *_: "another")
    assert run_all(None, ["iris"], 1, tmp_path, 1)["iris"].equals(first)


def test_the_mark_of_code_changes_with_what_it_does_only(tmp_path, monkeypatch):
    monkeypatch.setattr(code_mark, "HERE", tmp_path)
    made = []
    for name, text in {"a": "x = 1", "b": "'Says.'\nx = 1  # one", "c": "x = 2"}.items():
        (tmp_path / f"{name}.py").write_text(text)
        made.append(code_mark.code_mark((), (name,)))
    assert made[0] == made[1] != made[2]
    assert code_mark.code_mark(("models",), ("a",)) != made[0]


def test_runs_of_other_rows_are_not_taken_up(tmp_path):
    marks = []
    for rows in (3, 4):
        pl.DataFrame({"y": [0] * rows}).write_parquet(tmp_path / "one.parquet")
        marks.append(smroc_runs.settings(tmp_path, "one", 1))
    assert marks[0] != marks[1] == smroc_runs.settings(tmp_path, "one", 1)
    assert marks[1] != smroc_runs.settings(tmp_path, "one", 2)


@pytest.mark.parametrize("sets", [1, 2, 3, 5])
def test_any_folder_of_the_same_layout_will_do(tmp_path, capsys, sets):
    pytest.importorskip("matplotlib")
    rng, names = np.random.default_rng(0), ("one", "two", "three", "four", "five")[:sets]
    for seed, name in enumerate(names):
        y = np.random.default_rng(seed).random(60) < 0.4
        hue = np.where(rng.random(60) < 0.7, np.where(y, "red", "blue"), None)
        frame = {"x": rng.normal(size=60) + y, "hue": hue.tolist(), "class": y, "y": y.astype(int)}
        pl.DataFrame(frame).write_parquet(tmp_path / f"{name}.parquet")
    kept = tmp_path / "kept"
    given = ["--data", str(tmp_path), "--results", str(kept), "--repeats", "1", "--processes", "1"]
    study.main(given)
    page = capsys.readouterr().out
    assert "**The answers**" in page
    assert all(f"| {name} | 60 |" in page for name in names)
    few = "cannot be told: 1 set is" if sets == 1 else f"cannot be told: {sets} sets are"
    assert " ".join(page.split()).count(f"{few} too few") == 6
    assert "nan" not in page
    folder = kept / f"smroc-{tmp_path.name}"
    assert (folder / "smroc_study.csv").is_file()
    assert len(list(folder.glob("*.parquet"))) == sets
    assert len(list(folder.glob("smroc_study_*.png"))) == 4


def test_summary_is_of_the_runs(found):
    table = summary(found)
    line = table.filter((pl.col("set") == "wine") & (pl.col("scheme") == "cv")).row(0, named=True)
    own = found["wine"].filter((pl.col("scheme") == "cv") & (pl.col("model") == "tree"))
    assert line["mean_auc_tree"] == pytest.approx(own["auc"].mean())
    assert line["sd_sm_mean_tree"] == pytest.approx(own["sm_mean"].std())
    assert line["diff_auc"] == pytest.approx(line["mean_auc_bayes"] - line["mean_auc_tree"])
    assert line["rows"] == 178


def test_examples_of_the_mark_run():
    assert doctest.testmod(code_mark) == (0, 1)


def test_the_page_is_what_the_command_writes_from_its_numbers():
    tables = Path(__file__).parents[1] / "docs" / "tables"
    table = pl.read_csv(tables / "smroc_study.csv", infer_schema_length=None)
    assert markdown(table, 10) == (tables / "smroc_study.md").read_text()


def test_runs_of_one_job_are_repeatable():
    assert runs(Job(None, "iris", "sub", 3)) == runs(Job(None, "iris", "sub", 3))
