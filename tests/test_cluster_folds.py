"""Recalibration of rows that come in clusters: whole clusters are dealt into folds."""

import json

import numpy as np
import polars as pl
import pytest
from scipy.special import ndtr

import scorewise as sw
from scorewise.cli import run
from scorewise.columns import binary_rows
from scorewise.inference.folds import deal_clusters, fold_cells
from scorewise.inference.means import cluster_difference


def games(seed, number=401, moments=24):
    """Calibrated forecasts in the course of games: one outcome, and a forecast at each moment."""
    rng = np.random.default_rng(seed)
    left = 1 - np.arange(1, moments + 1) / (moments + 1)
    ahead = rng.normal(0, 0.7, (number, 1)) + np.cumsum(
        rng.normal(size=(number, moments)) / np.sqrt(moments + 1), axis=1
    )
    y = ahead[:, -1] + np.sqrt(left[-1]) * rng.normal(size=number) > 0
    p = np.clip(ndtr(ahead / np.sqrt(left)), 1e-4, 1 - 1e-4)
    return np.repeat(y, moments), p.ravel(), np.repeat(np.arange(number), moments)


def log_loss(y, p):
    p = np.clip(p, 1e-7, 1 - 1e-7)
    return -np.where(y, np.log(p), np.log1p(-p)).mean()


def test_repair_of_calibrated_forecasts_is_not_shown_to_help_by_game():
    """By row, chance makes a map shown to help that then does harm."""
    claimed, harmed, by_game = 0, 0, 0
    new_y, new_p, _ = games(99, 4000)
    for seed in range(6):
        y, p, game = games(seed)
        by_row = sw.Recalibrator().fit(p, y)
        claimed += by_row.chosen != "identity"
        harmed += log_loss(new_y, by_row.transform(new_p)) > log_loss(new_y, new_p)
        by_game += sw.Recalibrator().fit(p, y, cluster=game).chosen != "identity"
    assert claimed >= 3
    assert harmed == claimed
    assert by_game == 0


def test_the_verdict_of_evaluate_does_not_claim_repair_by_game():
    claims = {None: [], "game": []}
    for seed in range(4):
        y, p, game = games(seed)
        for key, cluster in ((None, None), ("game", game)):
            doc = sw.evaluate(y, p, cluster=cluster).brief()
            claims[key] += [c.finding for c in doc.verdict if c.about == "repair"]
    assert "helps" in claims[None]
    assert "helps" not in claims["game"]


def test_a_flaw_of_all_clusters_is_still_repaired():
    y, p, game = games(0, 300)
    wrong = p**3 / (p**3 + (1 - p) ** 3)
    r = sw.Recalibrator().fit(wrong, y, cluster=game)
    assert r.chosen != "identity"
    gain = next(row.gain for row in r.table if row.method == r.chosen)
    assert "by cluster" in gain.method
    assert any(c.finding == "helps" for c in sw.evaluate(y, wrong, cluster=game).brief().verdict)


def test_the_gain_is_the_t_interval_of_sums_by_cluster():
    """Against statsmodels' cluster-robust standard error of a mean."""
    api = pytest.importorskip("statsmodels.api")
    rng = np.random.default_rng(1)
    cluster = rng.integers(0, 40, 500)
    gap = rng.normal(size=500) + rng.normal(size=40)[cluster]
    known = {"groups": cluster, "use_correction": False}
    fit = api.OLS(gap, np.ones(500)).fit(cov_type="cluster", cov_kwds=known, use_t=True)
    found = cluster_difference(gap, np.ones(500), cluster, 0.95)
    half = (found.high - found.low) / 2
    from scipy import stats

    assert found.value == pytest.approx(fit.params[0])
    error = half / stats.t.ppf(0.975, 39)
    assert error == pytest.approx(fit.bse[0] * np.sqrt(40 / 39), rel=1e-9)


def test_clusters_stay_whole_and_weights_are_kept():
    y, p, game = games(3, 30, 5)
    fold = deal_clusters(game, 5, 0)
    assert all(len(set(fold[game == g])) == 1 for g in range(30))
    assert np.bincount(fold[::5]).tolist() == [6] * 5
    rows = binary_rows(
        None, label=y, score={"score": p}, weight=np.linspace(1, 2, len(y)), cluster=game
    )
    t = sw.Tally.of_rows(rows, "score")
    dealt = fold_cells(rows, t, np.arange(len(t.score)), fold)
    assert dealt.weight.sum(1)[1] == pytest.approx(t.pos)
    assert dealt.square.sum(1)[0] == pytest.approx(t.neg2)
    loops = np.zeros(5)
    for k, w in zip(fold, rows.mass(), strict=True):
        loops[k] += w
    assert dealt.weight.sum((0, 2)) == pytest.approx(loops)


def test_several_classes_in_clusters():
    rng = np.random.default_rng(4)
    cluster = np.repeat(np.arange(60), 20)
    lean = np.repeat(rng.normal(size=(60, 3)), 20, axis=0)
    logits = lean + rng.normal(size=(1200, 3))
    p = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    y = np.repeat([rng.choice(3, p=p[k * 20 : (k + 1) * 20].mean(0)) for k in range(60)], 20)
    by_row, whole = (sw.Recalibrator().fit(p, y, cluster=c) for c in (None, cluster))
    gains = [{row.method: row.gain for row in r.table} for r in (by_row, whole)]
    widths = [g["temperature"].high - g["temperature"].low for g in gains]
    assert widths[1] > 1.5 * widths[0]
    assert whole.document().clusters.number == 60


def test_the_command_deals_clusters(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    y, p, game = games(5, 60, 6)
    pl.DataFrame({"y": y.astype(int), "p": p, "game": game}).write_csv("a.csv")
    told = ["calibrate", "fit", "a.csv", "--label", "y", "--score", "p", "--cluster", "game"]
    assert run([*told, "-o", "map.json"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "60 clusters, the largest of 6 rows" in shown
    assert "5 folds of whole clusters" in shown
    assert json.loads((tmp_path / "map.json").read_text())["clusters"]["number"] == 60
    assert sw.Recalibrator.load("map.json").document().clusters.largest == 6
    assert run([*told, "--folds", "70"]) == 2
    assert "pass --folds 60" in " ".join(capsys.readouterr().err.split())


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cluster": np.zeros(20)}, "cluster is the same in all 20 rows"),
        ({"cluster": "game"}, "names a column of files and frames; pass the column"),
        ({"cluster": [0, None] * 10}, "cluster is missing in 10 rows, first at row 1"),
        ({"cluster": [0, 1] * 10}, "2 clusters cannot be dealt into 5 folds, whole as they are"),
        ({"cluster": range(19)}, "cluster has 19"),
    ],
)
def test_bad_clusters_are_refused(options, sentence):
    with pytest.raises(sw.BadInput, match=sentence):
        sw.Recalibrator().fit(np.linspace(0.1, 0.9, 20), [0, 1] * 10, **options)


def test_a_tally_has_no_clusters():
    with pytest.raises(sw.BadInput, match="a tally knows no single rows"):
        sw.Recalibrator().fit(sw.Tally.of([0, 1], [0.2, 0.7]), cluster=[0, 1])
