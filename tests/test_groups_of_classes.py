"""Groups in evaluate of several classes: equal to the evaluation of their rows, and corrected."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2

import scorewise as sw
from beside import predictions
from scorewise.cli import run
from scorewise.evaluation.document import FIRST_OF_CLASSES

NAMES = np.array(["ash", "birch", "cedar"])


def sample(n: int, groups: int = 4, seed: int = 0, worse: int = -1) -> tuple[Any, Any, Any]:
    """Labels, probabilities of three classes, and groups; in one of them the scores say little."""
    rng = np.random.default_rng(seed)
    g, y = rng.integers(0, groups, n), rng.integers(0, 3, n)
    z = rng.normal(size=(n, 3)) + np.where(g == worse, 0.2, 1.5)[:, None] * np.eye(3)[y]
    p = np.exp(z)
    return NAMES[y], p / p.sum(1, keepdims=True), g


def evaluated(y: Any, p: Any, at: Any = slice(None), **options: Any) -> Any:
    return sw.evaluate(y[at], p[at], classes=list(NAMES), **options)


@pytest.mark.parametrize("weights", [False, True])
def test_values_rest_and_differences_are_those_of_the_rows(weights: bool) -> None:
    y, p, g = sample(500, seed=1)
    w = np.random.default_rng(0).gamma(2, 1, 500) if weights else None
    e = evaluated(y, p, by=g, weight=w)
    (record,) = e.document().groups
    for group in record.groups:
        at = g == int(group.name)
        mine, rest = (evaluated(y, p, i, weight=None if w is None else w[i]) for i in (at, ~at))
        assert (group.rows, group.positives) == (at.sum(), None)
        assert tuple(m.name for m in group.measures) == FIRST_OF_CLASSES
        for m in group.measures:
            known, other = mine[m.name], rest[m.name]
            assert_allclose([m.value, m.low, m.high], [known.value, known.low, known.high])
            assert_allclose([m.rest, m.difference], [other.value, known.value - other.value])
        assert e.groups[group.name].macro_auroc == mine.macro_auroc


def test_scikit_learn_by_group() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    y, p, g = sample(600, seed=2)
    for group in evaluated(y, p, by=g).document().groups[0].groups:
        at = g == int(group.name)
        found = {m.name: m.value for m in group.measures}
        called = NAMES[p[at].argmax(1)]
        assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y[at], called))
        assert found["macro_f1"] == pytest.approx(metrics.f1_score(y[at], called, average="macro"))
        assert found["log_loss"] == pytest.approx(metrics.log_loss(y[at], p[at], labels=NAMES))
        area = metrics.roc_auc_score(y[at], p[at], multi_class="ovr", labels=NAMES)
        assert found["macro_auroc"] == pytest.approx(area)


def test_correction_and_heterogeneity() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    y, p, g = sample(1000, 5, seed=3, worse=2)
    (record,) = evaluated(y, p, by=g).document().groups
    for k, h in enumerate(record.heterogeneity):
        found = [group.measures[k] for group in record.groups]
        adjusted = multitest.multipletests([m.p for m in found], method="holm")[1]
        assert_allclose([m.p_adjusted for m in found], adjusted)
        if h.measure == "ece":
            assert h.p is None
            continue
        weight = np.array([((m.high - m.low) / (2 * 1.959963984540054)) ** -2 for m in found])
        value = np.array([m.value for m in found])
        q = (weight * (value - (weight * value).sum() / weight.sum()) ** 2).sum()
        assert (h.q, h.p, h.worst) == (pytest.approx(q), pytest.approx(chi2.sf(q, 4)), "2")


def test_the_verdict_names_the_group_and_stays_silent_without_cause() -> None:
    y, p, g = sample(1200, seed=4, worse=1)
    e = evaluated(y, p, by={"site": g})
    said = [c.sentence for c in e.document().verdict if c.about == "groups"]
    assert said[0].startswith("Ranking is worse within '1': macro AUROC 0.")
    assert said[1].startswith("Decisions in '1' are right less often: accuracy ")
    assert "── Groups" in repr(e)
    claimed = 0
    for seed in range(20):
        y, p, g = sample(400, seed=100 + seed)
        verdict = evaluated(y, p, by=g).brief().verdict
        claimed += any(c.about == "groups" and c.finding != "not told apart" for c in verdict)
    assert claimed <= 3


def test_decisions_with_one_confidence_have_groups() -> None:
    y, p, g = sample(300, 2, seed=5)
    called, sure = NAMES[p.argmax(1)], p.max(1)
    e: Any = sw.evaluate(y, sure, predicted=called, by=g)
    part: Any = sw.evaluate(y[g == 1], sure[g == 1], predicted=called[g == 1])
    assert e.groups["1"].accuracy == part.accuracy
    assert e.groups["1"].ece == part.ece


def test_two_classes_by_name_are_two_classes() -> None:
    y, p, g = sample(300, 2, seed=6)
    table = {"y": np.where(y == "ash", "no", "yes"), "p_no": p[:, 0], "p_yes": 1 - p[:, 0], "g": g}
    e: Any = sw.evaluate(table, label="y", classes="p_*", by="g")
    assert e.groups["1"].auroc.value == pytest.approx(
        sw.evaluate(table["y"][g == 1] == "yes", table["p_yes"][g == 1]).auroc.value  # type: ignore[union-attr]
    )


def test_small_groups_several_columns_and_absent_classes() -> None:
    y, p, g = sample(300, 2, seed=7)
    sex = np.where(np.arange(300) < 12, "x", np.where(np.arange(300) % 2, "f", "m"))
    e = evaluated(y, p, by={"site": g, "sex": sex})
    assert e.groups["0", "f"] is e.groups["0 / f"]
    record = e.document().groups[0]
    assert [x.judged for x in record.groups] == [True, True, False] * 2
    assert "2 groups of fewer than 20 rows: shown, not judged." in " ".join(repr(e).split())
    y = np.where(g == 1, "ash", y)
    found = {m.name: m for m in evaluated(y, p, by=g).document().groups[0].groups[1].measures}
    assert found["accuracy"].value is not None
    assert found["macro_auroc"].value is None
    assert found["macro_auroc"].why


@pytest.mark.parametrize(
    ("by", "sentence"),
    [
        ("sit", "there is no column 'sit'; did you mean 'site'"),
        ("y", "column 'y' is given as label and as group; name a different"),
        ("p_ash", "column 'p_ash' is given as score and as group; name a different"),
        (["site", "site"], "column 'site' is given twice as group; name each once"),
        ("one", "all rows are in one group by 'one', 'x'; name a column of two or more"),
        ("gap", 'gap is missing in 1 row, row 0, counting from 0; drop it or pass missing="drop"'),
        ("id", "'id' makes 210 groups, more than the 200 that are judged"),
    ],
)
def test_what_is_refused(by: Any, sentence: str) -> None:
    y, p, g = sample(210)
    table = {"y": y, **{f"p_{name}": p[:, k] for k, name in enumerate(NAMES)}, "site": g}
    table |= {"one": ["x"] * 210, "gap": [None, *map(str, g[1:])], "id": np.arange(210)}
    with pytest.raises(sw.BadInput) as error:
        sw.evaluate(table, label="y", classes="p_*", by=by)
    assert sentence in str(error.value)


def test_clusters_still_belong_to_two_classes() -> None:
    y, p, g = sample(60)
    with pytest.raises(sw.BadInput, match="and clusters to two"):
        evaluated(y, p, by=g, cluster=g)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    y, p, g = sample(200, 2, seed=8)
    path = tmp_path / "flowers.csv"
    lines = [
        f"{a},{b!r},{c!r},{d!r},s{k}" for a, (b, c, d), k in zip(y, p.tolist(), g, strict=True)
    ]
    path.write_text("\n".join(["y,p_ash,p_birch,p_cedar,site", *lines]) + "\n")
    named = ["evaluate", str(path), "--label", "y", "--classes", "p_*"]
    assert run([*named, "--by", "site", "--min-rows", "30", "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    assert doc["groups"][0]["by"] == ["site"]
    assert doc["groups"][0]["min_rows"] == 30
    picture = tmp_path / "groups.png"
    assert run([*named, "--by", "site", "--plot", str(picture)]) == 0
    assert picture.stat().st_size > 1000
    capsys.readouterr()
    assert run([*named, "--by", "ward"]) == 2
    assert "there is no column 'ward'" in capsys.readouterr().err


def test_hpc_by_fold_equals_its_parts() -> None:
    import polars as pl

    frame = pl.read_parquet(predictions("yardstick_hpc_cv.parquet"))
    by = "Resample"
    e: Any = sw.evaluate(frame, label="obs", classes={c: c for c in ("VF", "F", "M", "L")}, by=by)
    first = next(iter(e.groups))
    part = frame.filter(pl.col(by).cast(pl.String) == first)
    alone: Any = sw.evaluate(part, label="obs", classes={c: c for c in ("VF", "F", "M", "L")})
    assert e.groups[first].macro_auroc.value == pytest.approx(alone.macro_auroc.value)
