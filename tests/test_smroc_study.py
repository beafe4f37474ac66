"""The smROC study runs on a small case, stops and goes on, gives the same numbers twice, and tests well."""

import doctest
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from scipy import stats

metrics = pytest.importorskip("sklearn.metrics")
sys.path.insert(0, str(Path(__file__).parents[1]))
study = pytest.importorskip("experiments.smroc_study")

from experiments import data_sets, paired_tests, smroc_runs  # noqa: E402
from experiments.paired_tests import corrected_t, shift, spearman  # noqa: E402
from experiments.smroc_claims import claims  # noqa: E402
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
    smroc_runs.store(tmp_path, "iris", 1, changed.to_dicts())
    both = run_all(None, SETS, 1, tmp_path, 1)
    assert (both["iris"]["auc"] == 0.123).all()
    assert both["wine"]["auc"].n_unique() > 1
    monkeypatch.setattr(smroc_runs, "VERSION", -1)  # results of another version are made anew
    assert run_all(None, ["iris"], 1, tmp_path, 1)["iris"].equals(first)


def test_any_folder_of_the_same_layout_will_do(tmp_path, capsys):
    rng = np.random.default_rng(0)
    for seed, name in enumerate(("one", "two", "three", "four", "five")):
        y = np.random.default_rng(seed).random(60) < 0.4
        hue = np.where(rng.random(60) < 0.7, np.where(y, "red", "blue"), None)
        frame = {"x": rng.normal(size=60) + y, "hue": hue.tolist(), "class": y, "y": y.astype(int)}
        pl.DataFrame(frame).write_parquet(tmp_path / f"{name}.parquet")
    kept = tmp_path / "kept"
    given = ["--data", str(tmp_path), "--results", str(kept), "--repeats", "1", "--processes", "1"]
    study.main(given)
    page = capsys.readouterr().out
    assert "**The answers**" in page
    assert all(f"| {name} | 60 |" in page for name in ("one", "two", "three", "four", "five"))
    folder = kept / f"smroc-{tmp_path.name}"
    assert (folder / "smroc_study.csv").is_file()
    assert len(list(folder.glob("*.parquet"))) == 5


def test_summary_is_of_the_runs(found):
    table = summary(found)
    line = table.filter((pl.col("set") == "wine") & (pl.col("scheme") == "cv")).row(0, named=True)
    own = found["wine"].filter((pl.col("scheme") == "cv") & (pl.col("model") == "tree"))
    assert line["mean_auc_tree"] == pytest.approx(own["auc"].mean())
    assert line["sd_sm_mean_tree"] == pytest.approx(own["sm_mean"].std())
    assert line["diff_auc"] == pytest.approx(line["mean_auc_bayes"] - line["mean_auc_tree"])
    assert line["rows"] == 178


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
    said = markdown(made_up(factor=0.5), 3)
    said = " ".join(said.split())
    assert "varies less for the same model: holds as a plain sd" in said
    assert "Relative to its own range: holds**, in 8 of 8 cases" in said
    assert "smAUC is lower than AUC: holds." in said


def test_claims_are_found_false_where_they_are_not():
    table = made_up(factor=1.5, gap=-0.02)
    said = " ".join(markdown(table, 3).split())
    assert "varies less for the same model: does not hold" in said
    assert "Relative to its own range: does not hold" in said
    assert "smAUC is lower than AUC: does not hold" in said
    for case in claims(table).steadier:
        assert np.exp(case.plain.middle) == pytest.approx(1.5, rel=1e-6)


def test_a_smaller_spread_that_is_scale_is_told_as_such():
    rng = np.random.default_rng(1)
    table = made_up(factor=1.0, gap=0.0)
    for model in ("tree", "bayes"):  # halve all distances from chance
        for area in ("sm_mean", "sm_fixed"):
            mean, sd = pl.col(f"mean_auc_{model}"), pl.col(f"sd_auc_{model}")
            wobble = pl.Series(1 + 0.05 * rng.normal(size=table.height))
            halved = {
                f"mean_{area}_{model}": 0.25 + mean / 2,
                f"sd_{area}_{model}": sd / 2 * wobble,
            }
            table = table.with_columns(**halved)
    said = " ".join(markdown(table, 3).split())
    assert "varies less for the same model: holds as a plain sd" in said
    assert "Relative to its own range: does not hold" in said
    assert "Most of the smaller spread is scale" in said


def test_the_interval_of_a_shift_is_what_wilcoxon_does_not_refuse():
    d = np.random.default_rng(0).normal(0.3, 1, 40)
    s = shift(d)
    assert s.p == pytest.approx(stats.wilcoxon(d).pvalue)
    assert s.low < s.middle < s.high
    for end, inside in ((s.low, s.low + 0.05), (s.high, s.high - 0.05)):
        assert stats.wilcoxon(d - inside).pvalue > 0.05
        assert stats.wilcoxon(d - end).pvalue == pytest.approx(0.05, abs=0.02)
    assert shift(d[:5]).high == np.inf
    assert np.isfinite(shift(d[:6]).high)
    assert shift(-d).middle == pytest.approx(-s.middle)
    assert shift(np.append(d, np.inf)).middle == pytest.approx(s.middle, abs=0.2)


def test_the_corrected_t_is_student_s_without_overlap():
    d = np.random.default_rng(0).normal(0.1, 1, 30)
    plain = stats.ttest_1samp(d, 0)
    ours = corrected_t(d, 1, 0)
    assert (ours.t, ours.p) == pytest.approx((plain.statistic, plain.pvalue))
    assert (ours.low, ours.high) == pytest.approx(tuple(plain.confidence_interval()))
    wider = corrected_t(d, 90, 10)
    assert wider.t == pytest.approx(plain.statistic / np.sqrt(1 + 30 * 10 / 90))


def test_the_corrected_t_keeps_its_level_where_student_s_does_not():
    """Two learners of the same worth, whose runs share rows: how often is there said to be a difference?"""
    rng = np.random.default_rng(0)
    said = {"plain": 0, "corrected": 0}
    for _ in range(200):
        shared = rng.normal(size=300)  # the difference of two models on each row
        runs_ = [rng.permutation(300)[:30] for _ in range(40)]
        d = np.array([shared[rows].mean() for rows in runs_])
        said["plain"] += corrected_t(d, 1, 0).p < 0.05
        said["corrected"] += corrected_t(d, 270, 30).p < 0.05
    assert said["corrected"] <= 0.08 * 200 < said["plain"]


def test_spearman_covers():
    rng = np.random.default_rng(0)
    x = rng.normal(size=500)
    found = spearman(x, x + rng.normal(size=500))
    assert found.value == pytest.approx(stats.spearmanr(x, x).statistic * 0.69, abs=0.08)
    assert found.low < 0.69 < found.high


def test_runs_of_one_job_are_repeatable():
    assert runs(Job(None, "iris", "sub", 3)) == runs(Job(None, "iris", "sub", 3))


def test_examples_of_the_tests_run():
    assert doctest.testmod(paired_tests) == (0, 3)


def test_with_ties_wilcoxon_s_p_is_that_of_the_normal_distribution():
    d = np.array([1.0, 1, 2, 2, 3, -1, 4, 5, 5, 6, -2, 7, 8, 8, 9, 10])
    theirs = stats.wilcoxon(d, method="approx", correction=False)
    assert shift(d).p == pytest.approx(theirs.pvalue)
