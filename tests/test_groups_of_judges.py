"""Groups and clusters in judge: equal to the judgement of their items, and intervals that hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2

import scorewise as sw
from beside import agreement
from scorewise.cli import run


def sample(n: int, groups: int = 4, seed: int = 0, worse: int = -1) -> dict[str, Any]:
    """Two humans and two judges of three categories; a judge slips more in one group."""
    rng = np.random.default_rng(seed)
    truth, site = rng.integers(0, 3, n), rng.integers(0, groups, n)

    def rated(slips: Any) -> Any:
        return np.where(rng.random(n) < slips, rng.integers(0, 3, n), truth)

    return {
        "ann": rated(0.1), "bob": rated(0.1), "gpt": rated(np.where(site == worse, 0.8, 0.3)),
        "llm": rated(0.4), "site": site,
    }  # fmt: skip


def judged(t: dict[str, Any], at: Any = slice(None), **options: Any) -> Any:
    humans, judges = ({k: t[k][at] for k in pair} for pair in (("ann", "bob"), ("gpt", "llm")))
    return sw.judge(humans, judges, categories=[0, 1, 2], **options)


@pytest.mark.parametrize("options", [{}, {"no_answer": "wrong"}, {"scale": "ordinal"}, {"w": 1}])
def test_values_and_intervals_are_those_of_the_items_of_the_group(options: dict[str, Any]) -> None:
    t = sample(600, seed=1)
    w = np.random.default_rng(0).gamma(2, 1, 600) if options.pop("w", 0) else None
    j = judged(t, by=t["site"], weight=w, **options)
    records = j.document().groups
    assert [r.model for r in records] == ["gpt", "llm"]
    for record in records:
        for group in record.groups:
            at = t["site"] == int(group.name)
            mine, rest = (
                judged(t, i, weight=None if w is None else w[i], **options).judges[record.model]
                for i in (at, ~at)
            )
            assert group.rows == (t["ann"] == t["bob"])[at].sum()
            for m in group.measures:
                e, other = getattr(mine, m.name), getattr(rest, m.name)
                assert_allclose([m.value, m.low, m.high], [e.value, e.low, e.high])
                assert_allclose([m.rest, m.difference], [other.value, e.value - other.value])
            assert_allclose(j.groups[group.name].judges[record.model].kappa.value, mine.kappa.value)


def test_correction_and_heterogeneity() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    t = sample(800, 5, seed=2, worse=3)
    record = judged(t, by=t["site"]).document().groups[0]
    for k, h in enumerate(record.heterogeneity):
        found = [group.measures[k] for group in record.groups]
        adjusted = multitest.multipletests([m.p for m in found], method="holm")[1]
        assert_allclose([m.p_adjusted for m in found], adjusted)
        weight = np.array([((m.high - m.low) / (2 * 1.959963984540054)) ** -2 for m in found])
        value = np.array([m.value for m in found])
        q = (weight * (value - (weight * value).sum() / weight.sum()) ** 2).sum()
        assert (h.q, h.p, h.worst) == (pytest.approx(q), pytest.approx(chi2.sf(q, 4)), "3")


def test_the_verdict_names_the_group_and_stays_silent_without_cause() -> None:
    t = sample(1200, seed=3, worse=2)
    j = judged(t, by={"site": t["site"]})
    (said,) = [c.sentence for c in j.document().verdict if c.about == "groups"]
    assert said.startswith("'gpt' agrees with the truth less on '2': kappa 0.")
    assert "── Groups of 'gpt'" in repr(j)
    claimed = 0
    for seed in range(30):
        t = sample(300, seed=100 + seed)
        verdict = [c for c in judged(t, by=t["site"]).document().verdict if c.about == "groups"]
        assert len(verdict) == 1
        claimed += verdict[0].finding != "not told apart"
    assert claimed <= 3


def test_a_cluster_of_copies_is_one_item() -> None:
    t, again = sample(150, seed=4), np.repeat(np.arange(150), 6)
    once, copies = judged(t), judged(t, again, cluster=again)
    naive = judged(t, again)
    pairs: list[tuple[Any, Any, Any]] = []
    for j in (once, naive, copies):
        judge, top, gap = j.judges["gpt"], j.ceiling, j.differences[0]
        pairs.append(
            (judge.accuracy, judge.kappa, judge.ceiling.gap, top.kappa, gap.accuracy, gap.kappa)
        )
    for fair, narrow, wide in zip(*pairs, strict=True):
        assert wide.value == pytest.approx(fair.value)
        ratio = (wide.high - wide.low) / (fair.high - fair.low)
        assert 0.9 < ratio < 1.15
        assert narrow.high - narrow.low < 0.5 * (wide.high - wide.low)
        assert "by cluster" in wide.method
    assert copies.document().clusters.number == 150
    assert any("by cluster" in hint for hint in copies.document().hints)
    p = [j.differences[0].accuracy.p for j in (once, copies)]
    assert p[1] == pytest.approx(p[0], abs=0.05)


def clustered(seed: int, clusters: int = 40) -> tuple[dict[str, Any], Any]:
    """Items of a cluster are easy or hard together."""
    rng = np.random.default_rng(seed)
    by = np.repeat(np.arange(clusters), 8)
    truth = rng.integers(0, 2, len(by))
    slips = np.where(rng.random(clusters) < 0.3, 0.9, 0.2)[by]
    gpt, llm = (
        np.where(rng.random(len(by)) < slips, rng.integers(0, 2, len(by)), truth) for _ in range(2)
    )
    return {"human": truth, "gpt": gpt, "llm": llm}, by


def test_intervals_by_cluster_cover() -> None:
    big, _ = clustered(0, 40_000)
    judges = {k: big[k] for k in ("gpt", "llm")}
    true = sw.judge({"human": big["human"]}, judges).judges["gpt"]
    held: dict[str, int] = dict.fromkeys(["accuracy", "kappa", "naive", "gap"], 0)
    for seed in range(1, 161):
        t, by = clustered(seed)
        given = {"human": t["human"]}, {k: t[k] for k in ("gpt", "llm")}
        wide, narrow = sw.judge(*given, cluster=by), sw.judge(*given)
        for name in ("accuracy", "kappa"):
            e = getattr(wide.judges["gpt"], name)
            held[name] += e.low <= getattr(true, name).value <= e.high
        e = narrow.judges["gpt"].kappa
        held["naive"] += e.low <= true.kappa.value <= e.high
        gap = wide.differences[0].accuracy
        held["gap"] += gap.low <= 0 <= gap.high
    shares = {name: n / 160 for name, n in held.items()}
    assert all(0.90 <= shares[n] <= 0.99 for n in ("accuracy", "kappa", "gap")), shares
    assert shares["naive"] < 0.88


def test_groups_of_clusters() -> None:
    t, by = clustered(5)
    given = {"human": t["human"]}, {"gpt": t["gpt"]}
    site = by % 2  # whole clusters in a group
    crossed = np.arange(len(by)) % 2  # half of each cluster in each group
    apart, both = (sw.judge(*given, cluster=by, by=g).document().groups[0] for g in (site, crossed))
    for k in (0, 1):
        m = apart.groups[k].measures[1]
        part = sw.judge({"human": t["human"][site == k]}, {"gpt": t["gpt"][site == k]},
                        cluster=by[site == k]).judges["gpt"].kappa  # fmt: skip
        assert_allclose([m.value, m.low, m.high], [part.value, part.low, part.high])
    widths = [
        r.groups[0].measures[1].difference_high - r.groups[0].measures[1].difference_low
        for r in (apart, both)
    ]
    assert widths[1] < widths[0]  # what clusters share cancels


def test_small_groups_several_columns_and_one_category() -> None:
    t = sample(300, 2, seed=6)
    sex = np.where(np.arange(300) < 12, "x", np.where(np.arange(300) % 2, "f", "m"))
    j = judged(t, by={"site": t["site"], "sex": sex})
    record = j.document().groups[0]
    assert j.groups["0", "f"] is j.groups["0 / f"]
    assert [g.judged for g in record.groups] == [True, True, False] * 2
    assert "2 groups of fewer than 20 items: shown, not judged." in " ".join(repr(j).split())
    same = {k: np.where(t["site"] == 1, 2, v) if k != "site" else v for k, v in t.items()}
    found = judged(same, by=t["site"]).document().groups[0].groups[1].measures[1]
    assert found.value is None
    assert found.why == "both always say the same one thing"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"by": "sit"}, "there is no column 'sit'; did you mean 'site'"),
        ({"by": "ann"}, "column 'ann' is given as human and as group; name a different"),
        ({"by": ["site", "site"]}, "column 'site' is given twice as group; name each once"),
        ({"by": "one"}, "all rows are in one group by 'one', 'x'; name a column of two or more"),
        ({"by": "gap"}, "gap is missing in 1 row, row 0, counting from 0; give each item one"),
        ({"by": [1, 2]}, "group was given as values, but rows are read from a file or frame; name"),
        (
            {"cluster": [1, 2]},
            "cluster was given as values, but rows are read from a file or frame",
        ),
        ({"cluster": "one"}, "one is the same in all 60 rows; intervals need two or more clusters"),
        ({"cluster": "gap"}, "gap is missing in 1 row, row 0, counting from 0; give each item one"),
        ({"cluster": "site", "interval": "bootstrap"}, "resamples single items; with cluster="),
        ({"by": "site", "min_rows": 0}, "min_rows must be a positive integer, such as 20; got 0"),
    ],
)
def test_what_is_refused(options: dict[str, Any], sentence: str) -> None:
    t = sample(60)
    table = {**t, "one": ["x"] * 60, "gap": [None, *map(str, t["site"][1:])]}
    with pytest.raises(sw.BadInput) as error:
        sw.judge(table, humans=["ann", "bob"], judges=["gpt"], **options)
    assert sentence in str(error.value)


def test_columns_by_place() -> None:
    t = sample(60)
    with pytest.raises(sw.BadInput, match='by="site" names a column, but ratings were given'):
        judged(t, by="site")
    with pytest.raises(sw.BadInput, match='cluster="site" names a column of files'):
        judged(t, cluster="site")
    with pytest.raises(sw.BadInput, match="ann has 60 rows and group has 5"):
        judged(t, by=t["site"][:5])


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    t = sample(200, seed=7)
    rows = zip(*t.values(), strict=True)
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join([",".join(t), *(",".join(map(str, r)) for r in rows)]) + "\n")
    named = ["judge", str(path), "--human", "ann", "--human", "bob", "--judge", "gpt"]
    options = ["--by", "site", "--cluster", "site", "--min-rows", "30"]
    assert run([*named, *options, "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    assert doc["groups"][0]["by"] == ["site"]
    assert doc["clusters"] == {"number": 4, "largest": max(np.bincount(t["site"]))}
    picture = tmp_path / "groups.png"
    assert run([*named, "--by", "site", "--plot", str(picture)]) == 0
    assert picture.stat().st_size > 1000
    capsys.readouterr()
    assert run([*named, "--by", "ward"]) == 2
    assert "there is no column 'ward'" in capsys.readouterr().err


def test_pandalm_by_pair_and_by_task() -> None:
    names = {"humans": ["annotator1", "annotator2", "annotator3"], "judges": ["gpt35", "pandalm7b"]}
    path = agreement("pandalm_human_llm_judges.csv")
    by_pair = sw.judge(path, **names, by="pair")
    assert len(by_pair.groups) == 10
    alone, wide = (sw.judge(path, **names, cluster=c).judges["gpt35"].kappa for c in (None, "task"))
    assert wide.value == alone.value
    assert 1.5 < (wide.high - wide.low) / (alone.high - alone.low) < 2.2


def test_clusters_that_the_judge_left_out_do_not_count() -> None:
    people = {"ann": ["A", "B"] * 30, "bob": ["A", "B", "B"] * 20}
    verdicts = ["A", "B", "B", "B"] * 10
    cluster = [k // 8 for k in range(60)]
    first = sw.judge(people, {"m": [None] * 20 + verdicts}, cluster=cluster).judges["m"]
    few = {name: given[20:] for name, given in people.items()}
    alone = sw.judge(few, {"m": verdicts}, cluster=cluster[20:]).judges["m"]
    for name in ("accuracy", "kappa"):
        got, want = getattr(first, name), getattr(alone, name)
        assert (got.low, got.high, got.method) == (want.low, want.high, want.method)
        assert "by cluster" in got.method
