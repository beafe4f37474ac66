"""Rows that come in clusters: intervals allow for what the rows of one share."""

import json
import math

import numpy as np
import polars as pl
import pytest

import scorewise as sw
from scorewise.cli import run

MEASURES = ("auroc", "sensitivity", "brier", "calibration_intercept", "average_precision")


def patients(rng, number, size, icc):
    """Rows of patients who are alike: each has a tendency to be ill, and one to be scored high."""
    u, v = (np.repeat(rng.normal(size=number), size) for _ in range(2))
    latent = math.sqrt(icc) * u + math.sqrt(1 - icc) * rng.normal(size=number * size)
    x = latent + math.sqrt(icc) * v + math.sqrt(1 - icc) * rng.normal(size=number * size)
    return latent > 0.5, 1 / (1 + np.exp(1 - 1.5 * x)), np.repeat(np.arange(number), size)


def obuchowski(y, s, cluster):
    """Standard error of the AUROC of clustered rows (Obuchowski 1997, eq. 2), by loops."""
    pos, neg = s[y], s[~y]
    v10 = np.array([np.mean((neg < a) + 0.5 * (neg == a)) for a in pos])
    v01 = np.array([np.mean((pos > b) + 0.5 * (pos == b)) for b in neg])
    area, names = v10.mean(), np.unique(cluster)
    i10 = sum(any(cluster[y] == c) for c in names)
    i01 = sum(any(cluster[~y] == c) for c in names)
    s10 = s01 = s11 = 0.0
    for c in names:
        a, b = v10[cluster[y] == c], v01[cluster[~y] == c]
        left, right = (a - area).sum(), (b - area).sum()
        s10, s01, s11 = s10 + left**2, s01 + right**2, s11 + left * right
    m, n, i = len(pos), len(neg), len(names)
    s10 *= i10 / ((i10 - 1) * m)
    s01 *= i01 / ((i01 - 1) * n)
    s11 *= i / (i - 1)
    return math.sqrt(s10 / m + s01 / n + 2 * s11 / (m * n))


def test_auroc_is_about_that_of_obuchowski():
    rng = np.random.default_rng(0)
    y, p, cluster = patients(rng, 120, 5, 0.6)
    alone, together = sw.evaluate(y, p).auroc, sw.evaluate(y, p, cluster=cluster).auroc
    grown = (together.high - together.low) / (alone.high - alone.low)
    delong = obuchowski(y, p, np.arange(len(y)))
    assert together.value == alone.value
    assert "by cluster" in together.method
    assert grown == pytest.approx(obuchowski(y, p, cluster) / delong, rel=0.05)
    assert grown > 1.1


@pytest.mark.parametrize(("number", "size", "icc"), [(60, 5, 0.5), (100, 10, 0.7)])
def test_intervals_of_clustered_rows_hold(number, size, icc):
    """Few runs and wide bounds; as if rows were independent, most of these hold 60 to 90 %."""
    rng, runs = np.random.default_rng(number), 60
    big = sw.evaluate(*patients(np.random.default_rng(1), 60_000, 5, icc)[:2], threshold=0.4)
    held = dict.fromkeys(MEASURES, 0)
    for _ in range(runs):
        y, p, cluster = patients(rng, number, size, icc)
        e = sw.evaluate(y, p, cluster=cluster, threshold=0.4, positive=True)
        for name in MEASURES:
            held[name] += e[name].low <= big[name].value <= e[name].high
    assert min(held.values()) / runs > 0.83, held


def test_single_rows_as_clusters_change_hardly_anything():
    y, p, _ = patients(np.random.default_rng(2), 200, 1, 0.5)
    alone, together = sw.evaluate(y, p), sw.evaluate(y, p, cluster=np.arange(200))
    for name in MEASURES:
        a, b = alone[name], together[name]
        assert (b.value, b.low, b.high) == pytest.approx((a.value, a.low, a.high), abs=0.03)


def test_differences_of_models_know_clusters():
    rng = np.random.default_rng(3)
    y, p, cluster = patients(rng, 80, 6, 0.7)
    shifted = np.clip(p + np.repeat(rng.normal(0, 0.1, 80), 6), 0.01, 0.99)
    scores = {"a": p, "b": shifted}
    alone, together = (
        sw.compare(y, scores, cluster=c).difference("brier") for c in (None, cluster)
    )
    assert together.value == alone.value
    assert together.high - together.low > 1.2 * (alone.high - alone.low)


def test_names_of_the_cluster_do_not_matter_and_files_have_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    y, p, cluster = patients(np.random.default_rng(4), 50, 4, 0.5)
    words = np.array([f"patient {c}" for c in cluster])
    named, numbered = (sw.evaluate(y, p, cluster=c).auroc for c in (words, cluster))
    assert named.low == pytest.approx(numbered.low, rel=1e-12)
    pl.DataFrame({"y": y.astype(int), "p": p, "patient": words}).write_csv("a.csv")
    assert run(["evaluate", "a.csv", "--cluster", "patient", "--json", "a.json"]) == 0
    assert "in 50 clusters, the largest of 4 rows" in " ".join(capsys.readouterr().out.split())
    doc = json.loads((tmp_path / "a.json").read_text())
    assert doc["clusters"] == {"number": 50, "largest": 4}
    found = {m["name"]: m for m in doc["models"][0]["measures"]}
    assert found["auroc"]["low"] == pytest.approx(sw.evaluate(y, p, cluster=cluster).auroc.low)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (
            {"cluster": np.zeros(20)},
            "cluster is the same in all 20 rows; intervals need two or more",
        ),
        ({"cluster": "patient"}, "names a column of files and frames; pass the column"),
        ({"cluster": [None, *range(19)]}, "cluster is missing in 1 row"),
        ({"cluster": range(7)}, "label has 20 rows and cluster has 7"),
        ({"cluster": range(20), "predicted": range(20)}, "belongs to several classes"),
    ],
)
def test_bad_clusters_are_refused(options, sentence):
    with pytest.raises(sw.BadInput, match=sentence):
        sw.evaluate([0, 1] * 10, np.linspace(0, 1, 20), **options)


def test_groups_of_clustered_rows_have_the_intervals_of_their_own_evaluation():
    rng = np.random.default_rng(6)
    y, p, cluster = patients(rng, 200, 5, 0.6)
    ward = np.array(["north", "south", "west"])[cluster % 3]  # patients stay in a ward
    e = sw.evaluate(y, p, by={"ward": ward}, cluster=cluster)
    alone = sw.evaluate(y, p, by={"ward": ward})
    mine = ward == "west"
    direct = sw.evaluate(y[mine], p[mine], cluster=cluster[mine])
    wider = 0
    for group, other in zip(e.groups.record.groups, alone.groups.record.groups, strict=True):
        for m, n in zip(group.measures, other.measures, strict=True):
            assert m.value == n.value
            wider += (m.difference_high - m.difference_low) > (n.difference_high - n.difference_low)
            if group.name == "west":
                assert (m.low, m.high) == pytest.approx((direct[m.name].low, direct[m.name].high))
                assert e.groups["west"][m.name].low == pytest.approx(m.low)
    assert wider > 25


def test_a_cluster_in_two_groups_makes_them_vary_together():
    """Group means of the same patients: their difference is that of paired rows, as loops have it."""
    rng = np.random.default_rng(7)
    y, p, cluster = patients(rng, 300, 6, 0.9)
    visit = np.where(np.arange(len(y)) % 2, "first", "second")
    e = sw.evaluate(y, p, by={"visit": visit}, cluster=cluster)
    brier = next(m for m in e.groups.record.groups[0].measures if m.name == "brier")
    loss = (
        (y - p) ** 2 / 2 if sw.evaluate(y, p).brier.value < ((y - p) ** 2).mean() else (y - p) ** 2
    )
    means = [loss[visit == v].mean() for v in ("first", "second")]
    sums = np.zeros(300)
    for c, v, x in zip(cluster, visit, loss, strict=True):
        k = ("first", "second").index(v)
        sums[c] += (1 - 2 * k) * (x - means[k]) / (visit == v).sum()
    reach = 1.97 * math.sqrt((sums**2).sum() * 300 / 299)
    found = (brier.difference_high - brier.difference_low) / 2
    assert found == pytest.approx(reach, rel=0.12)


def test_groups_of_one_cluster_are_shown_and_not_judged():
    y, p, cluster = patients(np.random.default_rng(8), 40, 30, 0.3)
    site = np.where(cluster == 0, "alone", "others")
    e = sw.evaluate(y, p, by={"site": site}, cluster=cluster)
    alone = e.groups.record.groups[0]
    assert {m.low for m in alone.measures} == {None}
    assert {m.p for m in alone.measures} == {None}
    assert "single cluster" in e.groups["alone"].brier.method


def test_small_groups_with_shared_clusters():
    rng = np.random.default_rng(9)
    y, p, cluster = patients(rng, 200, 10, 0.6)
    kind = rng.integers(0, 40, len(y))
    e = sw.evaluate(y, p, by={"kind": kind}, cluster=cluster)
    p_values = [m.p for g in e.groups.record.groups for m in g.measures if m.name == "auroc"]
    assert np.mean(np.array([x for x in p_values if x is not None]) < 0.05) < 0.2
    assert not any(c.finding == "worse group" for c in e.brief().verdict)


def test_the_p_value_of_ece_knows_clusters():
    """Calibrated forecasts of which all rows of a cluster share the outcome: 5 % are seldom exceeded."""
    rng, small, alone = np.random.default_rng(10), 0, 0
    for _ in range(60):
        p = rng.uniform(0.2, 0.8, 60)
        y = np.repeat(rng.random(60) < p, 8)
        cluster = np.repeat(np.arange(60), 8)
        near = np.repeat(p, 8)
        small += sw.evaluate(y, near, cluster=cluster, positive=True).ece.p <= 0.05
        alone += sw.evaluate(y, near, positive=True).ece.p <= 0.05
    assert small <= 8
    assert alone > 30
    y, p, cluster = patients(rng, 100, 5, 0.3)
    assert sw.evaluate(y, p**3, cluster=cluster).ece.p < 0.01


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--cluster", "one"], "one is the same in all 20 rows; intervals need two or more"),
        (
            ["--cluster", "gaps"],
            "gaps is missing in 1 row, row 1 of a.csv; drop it or pass --missing drop",
        ),
        (["--cluster", "y"], "column 'y' is given as label and as cluster"),
        (["--cluster", "p"], "column 'p' is given as score and as cluster"),
        (["--cluster", "ids"], "there is no column 'ids'; did you mean 'id'"),
        (["--by", "one"], "all rows are in one group by 'one', 'x'"),
        (
            ["--by", "gaps"],
            "gaps is missing in 1 row, row 1 of a.csv; drop it or pass --missing drop",
        ),
        (["--by", "id", "--min-rows", "0"], "--min-rows must be a positive integer"),
        (["--by", "id", "--by", "id"], "column 'id' is given twice as group"),
    ],
)
def test_bad_groups_and_clusters_are_one_sentence(words, sentence, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    columns = {"y": [0, 1] * 10, "p": np.linspace(0, 1, 20), "id": [f"i{k % 5}" for k in range(20)]}
    columns |= {"one": ["x"] * 20, "gaps": [None, *(f"g{k % 4}" for k in range(19))]}
    pl.DataFrame(columns).write_csv("a.csv")
    assert run(["evaluate", "a.csv", "--label", "y", "--score", "p", *words]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1


def test_values_beside_a_frame_are_one_sentence():
    frame = pl.DataFrame({"y": [0, 1] * 10, "p": np.linspace(0, 1, 20), "site": ["a", "b"] * 10})
    for role, own in (("cluster", np.arange(20)), ("weight", np.ones(20)), ("by", frame["site"])):
        with pytest.raises(sw.BadInput, match="was given as values, but rows are read from"):
            sw.evaluate(frame, label="y", score="p", **{role: own})
    assert sw.evaluate(frame, label="y", score="p", by=np.array(["site"])).groups


def test_a_group_of_one_class_has_what_can_be_had(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    y = np.array([0, 1] * 30 + [0] * 30)
    columns = {"y": y, "p": np.linspace(0.1, 0.9, 90), "site": np.repeat(["a", "b", "c"], 30)}
    pl.DataFrame(columns).write_csv("a.csv")
    assert run(["evaluate", "a.csv", "--by", "site", "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    found = {m["name"]: m for m in doc["groups"][0]["groups"][2]["measures"]}
    assert found["auroc"]["value"] is None
    assert found["auroc"]["why"]
    assert found["specificity"]["value"] < found["specificity"]["high"]
