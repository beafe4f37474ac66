"""Agreement and answers where items come in clusters: sentences of a text, answers to one question."""

import json
import math

import numpy as np
import polars as pl
import pytest
from scipy import stats

import scorewise as sw
from scorewise.cli import run


def texts(seed, number=60, size=8, alike=0.8):
    """Two raters of sentences whose texts are clear or hard, so that agreement differs by text."""
    rng = np.random.default_rng(seed)
    cluster = np.repeat(np.arange(number), size)
    hard = (rng.random(number) < 0.5)[cluster]
    first = rng.integers(0, 2, number * size)
    same = rng.random(number * size) < np.where(hard, 1 - alike, alike)
    return first, np.where(same, first, 1 - first), cluster


def test_percent_agreement_is_that_of_sums_by_cluster():
    first, second, cluster = texts(0)
    alone, whole = (sw.agree(first, second, cluster=c).percent_agreement for c in (None, cluster))
    same = (first == second).astype(float)
    sums = np.zeros(60)
    for c, x in zip(cluster, same, strict=True):
        sums[c] += x - same.mean()
    by_cluster = math.sqrt((sums**2).sum() * 60 / 59)
    by_item = math.sqrt(((same - same.mean()) ** 2).sum() * 480 / 479)
    grown = (whole.high - whole.low) / (alone.high - alone.low)
    want = by_cluster / by_item * stats.t.ppf(0.975, 59) / stats.norm.ppf(0.975)
    assert whole.value == alone.value
    assert grown == pytest.approx(want, rel=0.02)


def test_kappa_is_about_that_of_a_bootstrap_of_clusters():
    first, second, cluster = texts(1)
    whole = sw.agree(first, second, cluster=cluster).cohen_kappa
    rng, drawn = np.random.default_rng(0), []
    tables = np.zeros((60, 2, 2))
    np.add.at(tables, (cluster, first, second), 1)
    for _ in range(4000):
        t = tables[rng.integers(0, 60, 60)].sum(0) / 480
        chance = (t.sum(0) * t.sum(1)).sum()
        drawn.append((np.trace(t) - chance) / (1 - chance))
    want = np.std(drawn) * stats.t.ppf(0.975, 59)
    assert (whole.high - whole.low) / 2 == pytest.approx(want, rel=0.1)
    assert "by cluster" in whole.method


def test_items_by_themselves_change_hardly_anything():
    first, second, _ = texts(2)
    alone, whole = (sw.agree(first, second, cluster=c) for c in (None, np.arange(480)))
    for name in ("cohen_kappa", "krippendorff_alpha", "gwet_ac", "fleiss_kappa"):
        a, b = alone[name], whole[name]
        assert (b.value, b.low, b.high) == pytest.approx((a.value, a.low, a.high), abs=0.004)


def test_p_values_and_what_is_left_out():
    first, second, cluster = texts(3, alike=0.7)
    alone, whole = (sw.agree(first, second, cluster=c) for c in (None, cluster))
    assert whole.cohen_kappa.p > alone.cohen_kappa.p
    assert whole.prevalence_index.value == alone.prevalence_index.value
    assert math.isnan(whole.prevalence_index.low)
    assert whole.bands["cohen_kappa"].name == alone.bands["cohen_kappa"].name
    assert "raters" not in {c.about for c in whole.document().verdict}


def test_files_have_clusters(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, second, cluster = texts(4)
    wide = pl.DataFrame({"ann": first, "bob": second, "text": cluster})
    wide.write_csv("a.csv")
    told = ["agree", "a.csv", "--rater", "ann", "--rater", "bob", "--cluster", "text"]
    assert run([*told, "--json", "a.json"]) == 0
    assert "60, the largest of 8 items" in " ".join(capsys.readouterr().out.split())
    assert json.loads((tmp_path / "a.json").read_text())["clusters"]["number"] == 60
    long = pl.concat(
        pl.DataFrame({"item": np.arange(480), "who": who, "said": said, "text": cluster})
        for who, said in (("ann", first), ("bob", second))
    )
    a = sw.agree(long, item="item", rater="who", rating="said", cluster="text")
    assert a.cohen_kappa.low == pytest.approx(
        sw.agree(first, second, cluster=cluster).cohen_kappa.low
    )
    mixed = long.with_columns(text=pl.Series(np.arange(960) % 7))
    with pytest.raises(sw.BadInput, match="text differs among ratings of one item in"):
        sw.agree(mixed, item="item", rater="who", rating="said", cluster="text")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cluster": np.zeros(480)}, "cluster is the same in all 480 rows"),
        ({"cluster": [None, *range(479)]}, "cluster is missing in 1 row"),
        ({"cluster": range(7)}, "cluster has 7"),
    ],
)
def test_bad_clusters_are_refused(options, sentence):
    first, second, _ = texts(5)
    with pytest.raises(sw.BadInput, match=sentence):
        sw.agree(first, second, **options)


def test_tables_have_no_clusters():
    with pytest.raises(sw.BadInput, match="does not go with a table of two raters"):
        sw.agree([[25, 10], [15, 20]], cluster=[0, 1])
    with pytest.raises(sw.BadInput, match="needs single items"):
        sw.agree(sw.Ratings.of_table([[25, 10], [15, 20]]), cluster=[0, 1])


def answered(seed, number=80, models=10):
    """Answers of several models to one question, which is easy for all or for none."""
    rng = np.random.default_rng(seed)
    easy = np.repeat(rng.normal(size=number), models)
    right = easy + rng.normal(size=number * models) > 0
    sure = 1 / (1 + np.exp(-easy - rng.normal(size=number * models)))
    return right.astype(float), sure, np.repeat(np.arange(number), models)


def test_answers_to_one_question():
    right, sure, question = answered(0)
    alone, whole = (sw.answers(confidence=sure, quality=right, cluster=c) for c in (None, question))
    sums = np.bincount(question, right - right.mean())
    by_cluster = math.sqrt((sums**2).sum() * 80 / 79) / 800
    reach = (whole.accuracy.high - whole.accuracy.low) / 2
    assert reach == pytest.approx(stats.t.ppf(0.975, 79) * by_cluster, rel=0.03)
    for name in ("accuracy", "mean_confidence", "brier", "auroc", "selective_accuracy", "aurc"):
        assert whole[name].value == alone[name].value
        assert "by cluster" in whole[name].method
    assert whole.document().clusters.number == 80
    with pytest.raises(sw.BadInput, match="names a column of files and frames"):
        sw.answers(confidence=sure, quality=right, cluster="question")


def test_answers_of_a_file_in_clusters(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    right, sure, question = answered(1, 30, 4)
    pl.DataFrame({"ok": right, "p": sure, "question": question}).write_csv("a.csv")
    told = ["answers", "a.csv", "--quality", "ok", "--confidence", "p", "--cluster"]
    assert run([*told, "question"]) == 0
    assert "30 clusters, the largest of 4 rows" in " ".join(capsys.readouterr().out.split())
    assert run([*told, "queston"]) == 2
    assert "question" in capsys.readouterr().err
