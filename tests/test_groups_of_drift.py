"""Groups in drift: what has changed in each, held against the verb itself, and corrected over groups."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2

import scorewise as sw
from drift_cases import draw
from scorewise.cli import run


def table(seed: int, n: int = 600, groups: int = 3, **changed: Any) -> dict[str, Any]:
    """A sample in groups; what is changed is changed in group 1 alone."""
    rng = np.random.default_rng(1000 + seed)
    site = rng.integers(0, groups, n)
    (y, p), (y1, p1) = draw(seed, n), draw(seed + 500, n, **changed)
    at = site == 1
    return {
        "y": np.where(at, y1, y).astype(int),
        "p": np.where(at, p1, p),
        "site": np.array([f"s{k}" for k in site], object),
        "sex": np.where(np.arange(n) % 2, "f", "m"),
    }


def part(t: dict[str, Any], at: Any) -> tuple[Any, Any]:
    return t["y"][at], t["p"][at]


def by_site(a: Any, b: Any, **options: Any) -> Any:
    return sw.drift(a, b, label="y", score="p", by="site", **options)


def test_changes_are_those_of_the_rows_of_the_group() -> None:
    a, b = table(1), table(2, shift=0.5)
    for t in (a, b):
        t["p"] = t["p"].round(2)  # so few distinct scores that neither pools any
    d = by_site(a, b, replicates=1999)
    for name, window in d.groups.items():
        alone = sw.drift(part(a, a["site"] == name), part(b, b["site"] == name), replicates=1999)
        for key, change in window.items():
            known = alone[key]
            assert change.value == pytest.approx(known.value), key
            assert abs(change.p - known.p) < 0.03, key
            if change.statistic.signed:
                width = known.estimate.high - known.estimate.low
                ends = [change.estimate.low - known.estimate.low]
                ends.append(change.estimate.high - known.estimate.high)
                assert max(map(abs, ends)) < 0.15 * width, key


def test_p_values_are_adjusted_over_all_tests_in_all_groups() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    d = by_site(table(3), table(4, shift=1.0))
    changes = [c for w in d.groups.values() for c in w.values()]
    adjusted = multitest.multipletests([c.p for c in changes], method="holm")[1]
    assert_allclose([c.p_adjusted for c in changes], adjusted)


def test_difference_to_the_rest_and_heterogeneity() -> None:
    a, b = table(5, 1500), table(6, 1500, prevalence=0.6)
    d = by_site(a, b)
    record = d.document().groups[0]
    names = [m.name for m in record.groups[0].measures]
    k = names.index("prevalence")
    for group in record.groups:
        m = group.measures[k]
        own, rest = (
            b["y"][(b["site"] == group.name) == side].mean()
            - a["y"][(a["site"] == group.name) == side].mean()
            for side in (True, False)
        )
        assert_allclose([m.value, m.rest, m.difference], [own, rest, own - rest])
        assert group.rows == (b["site"] == group.name).sum()
        assert group.positives == b["y"][b["site"] == group.name].sum()
    found = [g.measures[k] for g in record.groups]
    weight = np.array([((m.high - m.low) / (2 * 1.959963984540054)) ** -2 for m in found])
    value = np.array([m.value for m in found])
    q = (weight * (value - (weight * value).sum() / weight.sum()) ** 2).sum()
    h = record.heterogeneity[k]
    assert (h.q, h.p, h.worst) == (pytest.approx(q), pytest.approx(chi2.sf(q, 2)), "s1")
    assert found[1].p_adjusted < 0.01


def test_small_groups_have_the_rest_of_the_other_rows() -> None:
    a, b = table(7, 3000, 40), table(8, 3000, 40)
    record = by_site(a, b, replicates=200).document().groups[0]
    for group in record.groups[:4]:
        others = [part(t, t["site"] != group.name) for t in (a, b)]
        rest = sw.drift(*others, replicates=99)
        for m in group.measures:
            assert m.rest == pytest.approx(rest[m.name].value), m.name


def test_the_verdict_names_the_groups_that_changed() -> None:
    d = by_site(table(9, 1500), table(10, 1500, noise=0.4))
    (said,) = [c for c in d.document().verdict if c.about == "groups"]
    assert said.finding == "drift"
    assert said.sentence.startswith("Drift is seen in 1 of 3 groups by 'site', 's1' (concept): ")
    assert d.groups["s1"].kind == "concept"
    assert d.groups["s0"].kind == "none seen"
    text = repr(d)
    assert "── Change by group" in text
    assert "── What was seen in groups" in text


def test_without_change_drift_is_rarely_seen_in_groups() -> None:
    seen = 0
    for seed in range(20):
        d = by_site(table(3 * seed, 240), table(3 * seed + 2000, 240), seed=seed)
        seen += any(w.kind != "none seen" for w in d.groups.values())
    assert seen <= 3  # of 20 at 5 %: 4 or more have a chance of 1.6 %


def test_small_groups_and_several_columns() -> None:
    a, b = table(11, 300), table(12, 300)
    b["site"][:3] = "new"
    d = sw.drift(a, b, label="y", score="p", by=["site", "sex"], replicates=999)
    assert d.groups["s1", "f"] is d.groups["s1 / f"]
    new = d.groups["new", "m"]
    assert new.kind == "untested"
    assert new.verdict == "Nothing could be tested: fewer than 20 rows in one of the samples."
    record = d.document().groups[0]
    assert [g.judged for g in record.groups] == [False] * 2 + [True] * 6
    assert record.groups[0].measures[0].why == "no rows in the reference sample"
    said = " ".join(repr(d).split())
    assert "2 groups of fewer than 20 rows in one of the samples: shown, not judged." in said


def test_a_large_group_that_was_small_before():
    a, b = table(11, 300), table(12, 3000)
    a["site"][:3], b["site"][:1401] = "new", "new"
    d = by_site(a, b, replicates=99)
    said = " ".join(repr(d).split())
    assert "1,401 (few)" in said
    assert "1 group of fewer than 20 rows in one of the samples: shown, not judged." in said


def test_scores_that_are_no_probabilities() -> None:
    a, b = table(21), table(22)
    for t in (a, b):
        t["p"] = np.ceil(10 * t["p"])
    d = by_site(a, b)
    found = {m.name: m for m in d.document().groups[0].groups[0].measures}
    assert found["auroc"].value is not None
    assert found["midpoint"].value is None
    assert d.groups["s0"]["ks"].value is not None


def test_without_labels() -> None:
    a, b = table(13), table(14, shift=1.0)
    d = by_site(a, b, labels="none")
    assert d.groups["s1"].kind == "scores"
    assert d.document().groups[0].groups[0].positives is None


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"by": "sit"}, "there is no column 'sit'; did you mean 'site'"),
        ({"by": "p"}, "column 'p' is given as score and as group; name a different"),
        ({"by": "y"}, "column 'y' is given as label and as group; name a different"),
        ({"by": ["site", "site"]}, "column 'site' is given twice as group; name each once"),
        ({"by": "one"}, "all rows are in one group by 'one', 'x'; name a column of two or more"),
        ({"by": "gap"}, 'gap is missing in 1 row, row 0, counting from 0; drop it or pass missing="drop"'),
        ({"by": "id"}, "'id' makes 300 groups, more than the 200 that are judged"),
        ({"by": "site", "min_rows": 200}, "no group by 'site' has 200 rows in both samples"),
        ({"by": "site", "min_rows": 0.5}, "min_rows must be a positive integer, such as 20"),
    ],
)  # fmt: skip
def test_what_is_refused(options: dict[str, Any], sentence: str) -> None:
    a, b = table(15, 300), table(16, 300)
    for t in (a, b):
        t |= {"one": ["x"] * 300, "gap": [None, *t["sex"][1:]], "id": np.arange(300)}
    with pytest.raises(sw.BadInput) as error:
        sw.drift(a, b, label="y", score="p", **options)
    assert sentence in str(error.value)


def test_what_does_not_go_with_groups() -> None:
    a, b = table(17, 100), table(18, 100)
    with pytest.raises(sw.BadInput, match="by= names columns of files and data frames"):
        sw.drift((a["y"], a["p"]), (b["y"], b["p"]), by="site")
    with pytest.raises(sw.BadInput, match="by= needs two samples; leave it out with time="):
        sw.drift({**a, "day": np.arange(100)}, label="y", score="p", time="day", by="site")


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = []
    for name, t in (("a", table(19, 300)), ("b", table(20, 300))):
        lines = [
            "y,p,site",
            *(f"{y},{p},{s}" for y, p, s in zip(t["y"], t["p"], t["site"], strict=True)),
        ]
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(lines) + "\n")
        paths.append(str(path))
    named = ["drift", *paths, "--label", "y", "--score", "p", "--replicates", "999"]
    assert run([*named, "--by", "site", "--min-rows", "90", "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    assert doc["groups"][0]["min_rows"] == 90
    assert [w["name"] for w in doc["group_windows"]] == ["s0", "s1", "s2"]
    picture = tmp_path / "groups.png"
    assert run([*named, "--by", "site", "--plot", str(picture)]) == 0
    assert picture.stat().st_size > 1000
    capsys.readouterr()
    assert run([*named, "--by", "ward"]) == 2
    assert "there is no column 'ward'" in capsys.readouterr().err


def test_a_process_of_its_own_and_no_means_over_groups_of_changes(tmp_path: Path) -> None:
    """Whatever else is imported; changes of AUROC are not pooled as if they were AUROCs."""
    paths = []
    for name, t in (("a", table(21, 300)), ("b", table(22, 300))):
        rows = zip(t["y"], t["p"], t["site"], strict=True)
        path = tmp_path / f"{name}.csv"
        path.write_text("\n".join(["y,p,site", *(f"{y},{p},{s}" for y, p, s in rows)]) + "\n")
        paths.append(str(path))
    named = [*paths, "--label", "y", "--score", "p", "--by", "site", "--json", "-"]
    done = subprocess.run(
        [sys.executable, "-m", "scorewise", "drift", *named], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["groups"][0]["summary"] == []


@pytest.mark.parametrize("labels", ["both", "none"])
def test_groups_are_drawn_beside_the_samples(labels: str) -> None:
    a, b = table(1, n=300), table(2, n=300, shift=0.5)
    d = by_site(a, b, replicates=99, labels=labels)
    shown = d.plot("groups")
    change = d["auroc" if labels == "both" else "midpoint"]
    assert [label for label, _ in shown.lines.items()] == ["all rows"]
    assert shown.lines["all rows"][0] == change.value
    assert len(d.plot().figure_.axes) > 1
