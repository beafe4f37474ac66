"""Every study is listed, and runs on settings small enough for a test."""

import doctest
import sys
from dataclasses import replace
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
import studies.__main__ as command
from studies import _coverage, _tools

from beside import beside

ROOT = Path(__file__).parents[1]


def few(study, keep, many=2000):
    """The settings that `keep` picks, with a truth of fewer rows."""
    return [replace(s, many=many) for s in study.SETTINGS if keep(s)]


def two_clouds(name):
    rng = np.random.default_rng(0)
    y = rng.random(100) < 0.4
    return rng.normal(size=(100, 3)) + 3 * y[:, None], y


def three_classes():
    rng = np.random.default_rng(0)
    p = rng.dirichlet([1, 1, 1], 1600)
    scores = import_module("studies.recalibration").Scores
    return {"made up": scores(p, (p.cumsum(1) < rng.random((1600, 1))).sum(1).clip(0, 2))}


def one_score():
    p = np.random.default_rng(0).random(1600)
    return {"made up": (p, (np.random.default_rng(1).random(1600) < p**2).astype(int))}


SMALL = {
    "auc": {"SETTINGS": lambda m: dict(list(m.SETTINGS.items())[:2])},
    "calibration": {"SIZES": (60,), "HUGE": 500, "PARTS": 2},
    "class_calibration": {"COLUMNS": [(3, 60)], "PARTS": 1},
    "clusters": {"SETTINGS": lambda m: few(m, lambda s: s.name.startswith("60 x 5")), "FOLDED": 1},
    "cost": {},
    "coverage": {
        "SETTINGS": lambda m: few(m, lambda s: "raters, .9" in s.name or "pictures" in s.name)
    },
    "coverage_agreement": {"SIZES": (20,), "REPLICATES": 20, "SETTINGS": lambda m: few(m, bool)},
    "coverage_classes": {"SETTINGS": lambda m: few(m, lambda s: s.n == 100)},
    "coverage_two_classes": {"SETTINGS": lambda m: few(m, lambda s: s.name == "n = 50, 0.5")},
    "differences": {"SETTINGS": lambda m: few(m, lambda s: "equal, n = 200, 0.9" in s.name)},
    "drift": {"ROWS": 100, "PARTS": 1, "POOLS": lambda m: {"simulated": m.simulated}},
    "false_alarms": {
        "BINARY": lambda m: dict(list(m.BINARY.items())[3:4]),
        "CLASSES": lambda m: dict(list(m.CLASSES.items())[:1]),
        "WEIGHTED": lambda m: list(m.BINARY)[3:4],
    },
    "gates": {"SIZES": (100,), "PLANS": lambda m: m.PLANS[:1]},
    "labels": {
        "SETS": ("a",),
        "UNSEEN": ("b",),
        "MODELS": ("logistic",),
        "DATA": ROOT,
        "features": lambda m: two_clouds,
    },
    "recalibration": {
        "DATA": ROOT,
        "SIZES": (100,),
        "data_sets": lambda m: one_score,
        "class_sets": lambda m: three_classes,
    },
    "streaming": {"PROCESSES": 2},
    "thresholds": {"SETTINGS": lambda m: [s for s in m.SETTINGS if s.rows == 500]},
    "selective": {"KINDS": [(1.0, 1.0, True)], "SIZES": (50,), "MANY": 2000},
    "validation": {"CASES": lambda m: m.CASES[:1], "SITES": lambda m: m.SITES[:1]},
    "verdicts": {"SETTINGS": lambda m: {name: m.SETTINGS[name] for name in QUICK}},
}
QUICK = ("evaluate, n 300", "agree, four raters, n 100", "smroc of chance, n 200")
ON_DATA = ("answers", "judges")
FOLDERS = ("kdg", "smroc")  # with tests of their own
ON_FILES = ("billion", "kills")


def test_every_study_is_listed_with_a_sentence(capsys):
    command.main([])
    lines = capsys.readouterr().out.splitlines()
    names = [line.split()[0] for line in lines]
    assert names == sorted({*SMALL, *ON_DATA, *FOLDERS, *ON_FILES})
    assert all(line.endswith((".", "?")) for line in lines)


def test_a_study_that_does_not_exist_is_refused_with_the_known_ones():
    with pytest.raises(SystemExit, match=r"there is no study colour; known: answers, auc"):
        command.main(["colour"])


@pytest.mark.parametrize("name", SMALL)
def test_studies_run_and_write_their_tables(name, tmp_path, monkeypatch, capsys):
    study = import_module(f"studies.{name}")
    for key, value in SMALL[name].items():
        monkeypatch.setattr(study, key, value(study) if callable(value) else value)
    more = ["--draws", "1"] if name == "recalibration" else []
    command.main([name, "2", "--out", str(tmp_path), "--processes", "1", *more])
    assert (tmp_path / f"{name}.md").read_text() in capsys.readouterr().out
    for file in tmp_path.iterdir():
        text = file.read_text()
        tables = [part.splitlines() for part in text.split("\n\n") if part.startswith("|")]
        assert tables
        assert all(len(rows) > 2 for rows in tables)
        assert all(len({line.count("|") for line in rows}) == 1 for rows in tables)


def test_rules_of_other_packages_are_theirs():
    import torch
    from sklearn.metrics import roc_auc_score
    from torchmetrics.classification import BinaryAUROC

    study = import_module("studies.auc")
    # the example in Keras' documentation
    assert study.keras(np.array([0, 0, 1, 1]) == 1, np.array([0, 0.5, 0.3, 0.9]), 3) == 0.75
    y, p = study.draw("calibrated, 0.5 % positive", 20_000)
    theirs = BinaryAUROC(thresholds=101)
    theirs.update(torch.tensor(p), torch.tensor(y.astype(int)))
    assert study.equal_bins(y, p, 100) == pytest.approx(theirs.compute().item(), abs=1e-6)
    # each is exact where it need not put scores together
    few = p.round(3)
    exact = roc_auc_score(y, few)
    assert len(np.unique(few)) < 400
    for value in (study.h2o(y, few), study.spark(y, few)[0], study.xgboost(y, few, 1)):
        assert value == pytest.approx(exact, abs=1e-12)


def test_rules_of_other_packages_give_what_the_packages_gave():
    """Keras 3.15.1, Spark 4.3.0, H2O 3.46.0.12 and XGBoost 3.2.0 (two workers) on the same rows."""
    study = import_module("studies.auc")
    y, p = study.draw("overconfident, 0.5 % positive", 200_000)
    assert study.keras(y, p) == pytest.approx(0.5143457651138306, abs=1e-6)
    assert study.spark(y, p) == pytest.approx((0.8500020820305437, 0.06119477761578125), rel=1e-12)
    # H2O deals rows out to threads before it puts bins together
    assert study.h2o(y, p) == pytest.approx(0.7244991162599788, abs=0.01)
    y, p = study.draw("scores drift from worker to worker", 100_000)
    assert study.xgboost(y, p, 2) == pytest.approx(0.83876206739523096, abs=1e-7)


@pytest.mark.parametrize("name", ON_DATA)
def test_studies_on_data_give_the_tables_of_the_documentation(name, tmp_path):
    beside("data")
    command.main([name, "--out", str(tmp_path)])
    kept = (_tools.TABLES / f"{name}.md").read_text()
    assert (tmp_path / f"{name}.md").read_text() == kept


@pytest.mark.parametrize("name", [*ON_DATA, "labels", "recalibration"])
def test_studies_whose_data_are_absent_are_left_out(name, tmp_path, monkeypatch, capsys):
    study = import_module(f"studies.{name}")
    monkeypatch.setattr(study, "DATA", tmp_path / "absent")
    command.main([name, "--out", str(tmp_path)])
    assert capsys.readouterr().out.startswith(f"left out: this study needs {tmp_path}")
    assert not list(tmp_path.iterdir())


def test_settings_of_coverage_can_be_picked_and_need_their_data(tmp_path, monkeypatch, capsys):
    study = import_module("studies.coverage")
    monkeypatch.setattr(_coverage, "DATA", tmp_path)
    command.main(
        ["coverage", "4", "two raters, .9", "real", "--processes", "1", "--out", str(tmp_path)]
    )
    out = capsys.readouterr().out
    assert out.count("left out: real: ") == sum("real" in s.name for s in study.SETTINGS)
    assert "| two raters, .9/.1, n 50 | cohen_kappa |" in out
    assert not list(tmp_path.iterdir())


def test_the_side_of_the_truth_is_counted_with_and_without_a_caution():
    import scorewise as sw

    sure, unsure = sw.Estimate(0.5, 0.4, 0.6), sw.Estimate(0.5, 0.4, 0.6)
    object.__setattr__(unsure, "caution", "few rows")
    none = sw.Estimate.undefined("no rows")
    truth = {"below": 0.3, "inside": 0.5, "above": 0.7}
    samples = [dict.fromkeys(truth, e) for e in (sure, sure, unsure, none)]
    seen = _coverage.count(samples, truth)
    assert seen["below"].tolist() == [[2, 0, 0], [1, 0, 0]]
    assert seen["inside"].tolist() == [[0, 2, 0], [0, 1, 0]]
    assert seen["above"].tolist() == [[0, 0, 2], [0, 0, 1]]
    assert _coverage.held(seen["inside"]) == 1


@pytest.mark.parametrize(("name", "folder"), [("kdg", "CC18"), ("smroc", "UCI")])
def test_large_studies_whose_data_are_absent_are_left_out(
    name, folder, tmp_path, monkeypatch, capsys
):
    study = import_module(f"studies.{name}")
    monkeypatch.setattr(study, folder, tmp_path / "absent")
    study.main(["--results", str(tmp_path)])
    assert capsys.readouterr().out.startswith(f"left out: this study needs {tmp_path}")


MODULES = (
    "_tools",
    "_coverage",
    "_comparisons",
    "smroc.tables",
    "kdg.runs",
    "kdg.scale",
    "kdg.summary",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    found = doctest.testmod(import_module(f"studies.{name}"))
    assert found.attempted
    assert not found.failed


def test_costs_of_the_network_stand_in_one_table(tmp_path, monkeypatch, capsys):
    networks = pytest.importorskip("benchmarks.networks")
    monkeypatch.setattr(networks, "KNOWN", (60, 120))
    monkeypatch.setattr(networks, "ASKED", 40)
    monkeypatch.setattr(networks, "OUT", tmp_path / "networks.md")
    networks.main()
    lines = (tmp_path / "networks.md").read_text().splitlines()
    assert capsys.readouterr().out.splitlines() == lines
    assert len({line.count("|") for line in lines}) == 1
    assert [line.split("|")[1].strip() for line in lines[2:]] == ["60", "120"]
    for page in ("networks.md", "study-kdg.md"):
        assert '--8<-- "tables/networks.md"' in (ROOT / "docs" / page).read_text()


def test_shards_are_timed_beside_duckdb(tmp_path, monkeypatch):
    pytest.importorskip("duckdb")
    from studies import billion

    monkeypatch.setattr(billion, "SHARD", 3000)
    command.main(
        ["billion", "--rows", "5000", "--folder", str(tmp_path / "x"), "--out", str(tmp_path)]
    )
    lines = (tmp_path / "billion.md").read_text().splitlines()
    assert [line.split("|")[1].strip() for line in lines[2:6]] == ["grid", "grid", "exact", "exact"]
    assert "5,000 rows in 2 parquet shards" in " ".join(lines)


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGKILL")
def test_runs_that_are_ended_are_counted(tmp_path, monkeypatch):
    from studies import kills

    monkeypatch.setattr(kills, "SHARDS", 2)
    monkeypatch.setattr(kills, "ROWS", 500)
    command.main(["kills", "3", "--out", str(tmp_path)])
    lines = (tmp_path / "kills.md").read_text().splitlines()[2:5]
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines]
    assert [c[0] for c in cells] == ["tally", "merge", "report"]
    assert all(c[2] == "1" for c in cells)  # one of three each
    assert all(c[3:5] == ["0", "0"] for c in cells)  # nothing broken, nothing other
