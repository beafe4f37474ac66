"""The smROC study runs on a small case, stops and goes on, and its tables say what the numbers say."""

import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import studies.smroc as study
from sklearn import metrics
from studies import _tools
from studies._comparisons import Correlation, Shift, shift
from studies.smroc.claims import claims, summary
from studies.smroc.runs import Job, judged, load, run_all, runs, settings, splits
from studies.smroc.tables import correlation, counted, markdown, ratio, signed

SETS = ["iris", "wine"]


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    return run_all(None, SETS, 1, tmp_path_factory.mktemp("results"), 1)


def test_runs_judge_rows_that_were_not_learned_from():
    y = load(None, "wine").y
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
    about = settings(None, "iris", 1)
    _tools.store(tmp_path / "iris.parquet", changed.to_dicts(), about)
    both = run_all(None, SETS, 1, tmp_path, 1)
    assert (both["iris"]["auc"] == 0.123).all()
    assert both["wine"]["auc"].n_unique() > 1
    changed_now = time.time() + 60
    monkeypatch.setattr(_tools, "code_time", lambda: changed_now)
    assert run_all(None, ["iris"], 1, tmp_path, 1)["iris"].equals(first)


def test_runs_of_other_rows_are_not_taken_up(tmp_path):
    marks = []
    for rows in (3, 4):
        pl.DataFrame({"y": [0] * rows}).write_parquet(tmp_path / "one.parquet")
        marks.append(settings(tmp_path, "one", 1))
    assert marks[0] != marks[1] == settings(tmp_path, "one", 1)
    assert marks[1] != settings(tmp_path, "one", 2)


@pytest.mark.parametrize("sets", [1, 2, 3])
def test_any_folder_of_the_same_layout_will_do(tmp_path, capsys, sets):
    pytest.importorskip("matplotlib")
    rng, names = np.random.default_rng(0), ("one", "two", "three")[:sets]
    for seed, name in enumerate(names):
        y = np.random.default_rng(seed).random(60) < 0.4
        hue = np.where(rng.random(60) < 0.7, np.where(y, "red", "blue"), None)
        frame = {"x": rng.normal(size=60) + y, "hue": hue.tolist(), "class": y, "y": y.astype(int)}
        pl.DataFrame(frame).write_parquet(tmp_path / f"{name}.parquet")
    kept = tmp_path / "kept"
    given = ["--data", str(tmp_path), "--results", str(kept), "--repeats", "1", "--processes", "1"]
    study.main(given)
    page = capsys.readouterr().out
    assert all(f"| {name} | 60 |" in page for name in names)
    assert "**The same scores: smAUC against AUC**" in page
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


def test_the_page_is_what_the_command_writes_from_its_numbers():
    tables = Path(__file__).parents[1] / "docs" / "tables"
    table = pl.read_csv(tables / "smroc_study.csv", infer_schema_length=None)
    assert markdown(table, 10) == (tables / "smroc_study.md").read_text()


def test_runs_of_one_job_are_repeatable():
    assert runs(Job(None, "iris", "sub", 3)) == runs(Job(None, "iris", "sub", 3))


def made_up(*, factor=1.0, gap=0.02, sets=12, seed=0):
    """A table in which smAUC's sd is `factor` times AUC's, and smAUC is lower by `gap`."""
    rng = np.random.default_rng(seed)
    frames = {}
    for i in range(sets):
        rows, centre = [], 0.75 + 0.015 * i
        for scheme in ("cv", "sub"):
            for run in range(30):
                for model in ("tree", "bayes"):
                    noise = 0.02 * rng.normal()
                    sm = centre - gap + factor * noise
                    rows.append(
                        {"scheme": scheme, "repeat": 0, "run": run, "model": model}
                        | {"learned": 90, "judged": 10, "auc": centre + noise}
                        | {"sm_mean": sm, "sm_fixed": sm, "boldness": 0.5 + rng.random() / 9}
                        | {"sm_mean_chance": 0.5, "sm_fixed_chance": 0.5, "brier": rng.random()}
                    )
        frames[f"set{i}"] = pl.DataFrame(rows)
    return summary(frames)


def test_claims_are_found_true_where_they_are_made_so():
    found = claims(made_up(factor=0.5))
    for case in found.steadier:
        assert np.exp(case.plain.middle) == pytest.approx(0.5, rel=1e-6)
        assert max(case.plain.p, case.relative.p) < 0.001
    for case in found.lower:
        assert case.gap.middle == pytest.approx(-0.02, abs=0.005)
        assert case.gap.p < 0.001


def test_the_reverse_is_found_where_it_is_made_so():
    table = made_up(factor=1.5, gap=-0.02)
    found = claims(table)
    for case in found.steadier:
        assert np.exp(case.plain.middle) == pytest.approx(1.5, rel=1e-6)
        assert case.relative.middle > 0
    assert all(case.gap.middle > 0 and case.gap.p < 0.001 for case in found.lower)
    line = next(
        x for x in markdown(table, 3).splitlines() if x.startswith("| cross-validation | mean")
    )
    assert line.startswith(
        "| cross-validation | mean | tree | 0 of 12 | 1.500 [1.500, 1.500] | +1.00 |"
    )


def test_p_values_are_adjusted_over_the_cases_of_a_table():
    table = made_up(factor=0.5)
    line = next(
        x for x in markdown(table, 3).splitlines() if x.startswith("| cross-validation | mean")
    )
    p = claims(table).steadier[0].plain.p
    assert p == pytest.approx(2 / 2**12)  # all sets are on one side
    assert line.split(" | ")[6:8] == ["< 0.001", f"{8 * p:.3f}"]


def test_equal_areas_are_ties_and_have_no_test():
    page = markdown(made_up(factor=1.0, gap=0.0), 3)
    assert "| 0 of 0 (12 equal left out) | undefined |  |  |  |" in page


@pytest.mark.parametrize(("gap", "sides"), [(0.02, "none, 0."), (-0.02, ", none")])
def test_sets_on_one_side_have_nothing_to_compare_with(gap, sides):
    lines = [x.split(" | ") for x in markdown(made_up(gap=gap), 3).splitlines()]
    cells = [x[11] for x in lines if len(x) == 14 and "runs" not in x[0]]
    assert len([x for x in cells if sides in x]) == 8


def test_sets_at_chance_are_counted_aloud():
    table = made_up(factor=0.5)
    low = pl.col("set").is_in(["set1", "set2", "set3"])
    at = pl.when(low).then(0.49).otherwise(pl.col("mean_auc_tree"))
    assert "9 of 9 (3 at chance left out)" in markdown(table.with_columns(mean_auc_tree=at), 3)


def test_areas_without_a_value_are_plain_words():
    table = made_up(factor=0.5)
    nothing = [c for c in table.columns if "sm_mean" in c and not c.startswith("undefined")]
    page = markdown(table.with_columns(**{c: pl.lit(float("nan")) for c in nothing}), 3)
    assert "0 of 0 (12 undefined left out) | undefined" in page
    assert "nan" not in page


def test_an_infinite_t_is_no_large_number():
    table = made_up().with_columns(t_sm_mean=pl.lit(float("inf")))
    page = markdown(table, 3)
    assert "+infinite [+infinite, +infinite]" in page
    both = made_up().with_columns(t_sm_mean=pl.lit(float("inf")), t_auc=pl.lit(-float("inf")))
    assert claims(both).separates[0].strength.ties == 12


def test_an_end_of_an_interval_is_told_from_no_difference():
    shown = Shift(np.log(0.99), np.log(0.98), np.log(1.0002), -0.3, 0.1, 18, 26)
    assert ratio(shown) == "0.9900 [0.9800, 1.0002]"
    assert ratio(shown._replace(high=np.log(1.005))) == "0.990 [0.980, 1.005]"
    assert ratio(shown._replace(high=0.0)) == "0.990 [0.980, 1.000]"
    assert ratio(shown._replace(high=1e-9)) == "0.990000 [0.980000, 1.000000]"
    assert signed(shown._replace(middle=-0.01, low=-0.02, high=-0.00004)).endswith("-0.00004]")
    assert correlation(Correlation(0.4, 0.004, 0.6, 0.04, 26)) == "+0.400 [+0.004, +0.600]"
    assert correlation(Correlation(1.0, np.nan, np.nan, np.nan, 3)) == "+1.00, no interval"
    assert counted(shift(np.array([-1.0, 0, np.nan]))) == "1 of 1 (1 equal, 1 undefined left out)"
