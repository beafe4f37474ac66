"""Groups in evaluate: equal to the measures of their rows, corrected, and never claimed without cause."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose

import scorewise as sw
from beside import predictions
from scorewise.cli import run
from scorewise.evaluation.document import FIRST
from scorewise.show.document import schema


def _sample(n: int, groups: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Labels, scores that are somewhat too sure, and groups that have nothing to do with either."""
    rng = np.random.default_rng(seed)
    x = rng.normal(-0.5, 1.2, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-x))).astype(int)
    return y, 1 / (1 + np.exp(-1.2 * x)), rng.integers(0, groups, n)


def _record(e: Any) -> Any:
    return e.document().groups[0]


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("groups", [4, 60])
@pytest.mark.parametrize("case", ["plain", "ties", "weights", "counts", "logits", "clip"])
def test_values_and_intervals_are_those_of_the_rows_of_the_group(case: str, groups: int) -> None:
    y, s, g = _sample(25 * groups, groups, seed=groups)
    options: dict[str, Any] = {}
    if case in ("ties", "clip"):
        s = s.round(2)
    if case == "clip":
        options["clip"] = 1e-6
    if case == "weights":
        options["weight"] = np.random.default_rng(1).gamma(2, 1, len(y))
    if case == "counts":
        options["count"] = np.random.default_rng(1).integers(0, 4, len(y))
    if case == "logits":
        s, options["kind"] = np.log(s / (1 - s)), "logit"
    e = sw.evaluate(y, s, by=g, **options)
    for group in _record(e).groups[:20]:
        alone = e.groups[group.name]
        assert group.rows == alone.tally.origin.rows
        assert group.positives == alone.tally.origin.positives
        for m in group.measures:
            known = alone[m.name]
            assert m.why == known.why
            ends = ("value",) if m.name == "ece" and groups > 50 else ("value", "low", "high")
            for end in ends:
                want = getattr(known, end)
                found = getattr(m, end)
                assert (found is None) == (not math.isfinite(want)), (m.name, end)
                if found is not None:
                    assert_allclose(found, want, rtol=1e-6, atol=1e-9, err_msg=f"{m.name} {end}")


def test_the_rest_is_that_of_the_other_rows() -> None:
    y, s, g = _sample(3000, 60, seed=3)
    g = np.where(g < 20, 0, g)  # one large group, whose rest is taken row by row, and small ones
    record = _record(sw.evaluate(y, s, by=g))
    for group in record.groups[:8]:
        rest = sw.evaluate(y[g != int(group.name)], s[g != int(group.name)])
        for m in group.measures:
            width = (m.high - m.low) if m.low is not None else 0.5
            exact = group.name == "0" or m.name in ("sensitivity", "brier", "log_loss")
            assert abs(m.rest - rest[m.name].value) <= (1e-9 if exact else 0.01 * width), m.name


def test_differences_and_their_correction() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    y, s, g = _sample(4000, 8, seed=5)
    record = _record(sw.evaluate(y, s, by=g))
    for k, name in enumerate(FIRST):
        found = [group.measures[k] for group in record.groups]
        assert {m.name for m in found} == {name}
        assert_allclose([m.difference for m in found], [m.value - m.rest for m in found])
        adjusted = multitest.multipletests([m.p for m in found], method="holm")[1]
        assert_allclose([m.p_adjusted for m in found], adjusted)
        for (
            m
        ) in found:  # shares no row: distances of limits add up as those of independent samples do
            assert m.difference_low < m.difference < m.difference_high
            assert m.difference - m.difference_low >= 0.99 * (m.value - m.low) - 1e-9


def test_heterogeneity_is_cochrans_q() -> None:
    from scipy.stats import chi2

    y, s, g = _sample(4000, 6, seed=6)
    s = np.where(g == 2, 1 - s, s)  # a group that is ranked backwards
    record = _record(sw.evaluate(y, s, by=g))
    tests = {h.measure: h for h in record.heterogeneity}
    for k, name in enumerate(FIRST):
        if name == "ece":
            assert tests[name].p is None
            continue
        weights, values = [], []
        for group in record.groups:
            m = group.measures[k]
            se = (m.high - m.low) / (2 * 1.959963984540054)
            weights.append(1 / se**2)
            values.append(m.value)
        mean = sum(w * v for w, v in zip(weights, values, strict=True)) / sum(weights)
        q = sum(w * (v - mean) ** 2 for w, v in zip(weights, values, strict=True))
        assert tests[name].q == pytest.approx(q)
        assert tests[name].p == pytest.approx(chi2.sf(q, 5))
    assert tests["auroc"].p < 1e-6


def test_scikit_learn_by_group() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    y, s, g = _sample(2000, 5, seed=7)
    called = (s >= 0.5).astype(int)
    for group in _record(sw.evaluate(y, s, by={"site": g})).groups:
        at = g == int(group.name)
        found = {m.name: m.value for m in group.measures}
        assert found["sensitivity"] == pytest.approx(metrics.recall_score(y[at], called[at]))
        assert found["precision"] == pytest.approx(metrics.precision_score(y[at], called[at]))
        assert found["auroc"] == pytest.approx(metrics.roc_auc_score(y[at], s[at]))
        assert found["brier"] == pytest.approx(metrics.brier_score_loss(y[at], s[at]))
        assert found["log_loss"] == pytest.approx(metrics.log_loss(y[at], s[at]))
        want = metrics.average_precision_score(y[at], s[at])
        assert found["average_precision"] == pytest.approx(want)


def test_fairlearns_metric_frame() -> None:
    fairlearn = pytest.importorskip("fairlearn.metrics")
    metrics = pytest.importorskip("sklearn.metrics")
    y, s, g = _sample(2000, 5, seed=8)
    frame = fairlearn.MetricFrame(
        metrics={"recall": metrics.recall_score, "precision": metrics.precision_score},
        y_true=y, y_pred=(s >= 0.5).astype(int), sensitive_features=g,
    )  # fmt: skip
    for group in _record(sw.evaluate(y, s, by=g)).groups:
        found = {m.name: m.value for m in group.measures}
        assert found["sensitivity"] == pytest.approx(frame.by_group["recall"][int(group.name)])
        assert found["precision"] == pytest.approx(frame.by_group["precision"][int(group.name)])


def test_without_differences_a_worse_group_is_rarely_claimed() -> None:
    claimed = 0
    for seed in range(40):
        y, s, g = _sample(800, 8, seed=1000 + seed)
        e: Any = sw.evaluate(y, s, by=g)
        claimed += any(c.finding != "not told apart" for c in e.groups.claims())
    assert claimed <= 4  # of 40 at 5 %: more than 4 has a chance of 5 %


def test_the_verdict_names_the_group_that_is_worse() -> None:
    y, s, g = _sample(4000, 4, seed=9)
    names = np.array(["north", "east", "south", "west"])[g]
    s = np.where((names == "west") & (y == 1), s * 0.5, s)
    e = sw.evaluate(y, s, by={"site": names})
    said = [c for c in e.document().verdict if c.about == "groups"]
    assert said
    assert all("'west'" in c.sentence and "in the rest" in c.sentence for c in said)
    assert "Positives in 'west' are missed more often: sensitivity" in " ".join(
        c.sentence for c in said
    )
    assert "── Groups" in repr(e)
    assert "*" in e.to_markdown()


def test_several_columns_are_crossed() -> None:
    y, s, g = _sample(1200, 2, seed=10)
    h = np.random.default_rng(0).integers(0, 3, len(y))
    table = {"y": y, "p": s, "sex": np.where(g == 1, "f", "m"), "site": h}
    e: Any = sw.evaluate(table, label="y", score="p", by=["sex", "site"])
    assert list(e.groups) == [f"{a} / {b}" for a in "fm" for b in (0, 1, 2)]
    assert e.groups["f", 1] is e.groups["f / 1"]
    at = (g == 1) & (h == 1)
    assert e.groups["f / 1"].auroc.value == sw.evaluate(y[at], s[at]).auroc.value
    record = e.document().groups[0]
    assert record.by == ["sex", "site"]
    assert record.groups[1].words == ["f", "1"]
    with pytest.raises(KeyError, match="no group is named x"):
        e.groups["x"]


def test_small_groups_are_shown_and_not_judged() -> None:
    y, s, g = _sample(400, 4, seed=11)
    g[:7] = 9
    e = sw.evaluate(y, s, by=g)
    last = _record(e).groups[-1]
    assert (last.name, last.rows, last.judged) == ("9", 7, False)
    assert all(m.p is None and m.difference is None for m in last.measures)
    assert last.measures[3].value is not None
    assert "7 (few)" in repr(e)
    assert "1 group of fewer than 20 rows: shown, not judged" in repr(e)
    assert _record(sw.evaluate(y, s, by=g, min_rows=5)).groups[-1].judged


def test_a_group_of_one_class_has_a_reason() -> None:
    y, s, g = _sample(300, 3, seed=12)
    y = np.where(g == 1, 0, y)
    found = {m.name: m for m in _record(sw.evaluate(y, s, by=g)).groups[1].measures}
    assert found["auroc"].why == found["sensitivity"].why == "no positives"
    assert found["auroc"].p is None
    assert found["specificity"].value is not None


def test_several_models_have_their_groups() -> None:
    y, s, g = _sample(400, 3, seed=13)
    table = {"y": y, "a": s, "b": s**2, "site": g}
    e: Any = sw.evaluate(table, label="y", score=["a", "b"], by="site")
    assert [x.model for x in e.document().groups] == ["a", "b"]
    assert e["b"].groups["1"].brier.value == sw.evaluate(y[g == 1], s[g == 1] ** 2).brier.value


def test_two_columns_of_probabilities() -> None:
    y, s, g = _sample(200, 2, seed=14)
    both: Any = sw.evaluate(y, np.stack([1 - s, s], 1), by=g)
    assert both.groups["1"].auroc.value == sw.evaluate(y[g == 1], s[g == 1]).auroc.value


def test_many_groups_on_the_page() -> None:
    y, s, g = _sample(3000, 70, seed=15)
    text = sw.evaluate(y, s, by=g).render("text")
    assert "the JSON document has all 70" in " ".join(text.split())


def _table() -> dict[str, Any]:
    y, s, g = _sample(60, 2)
    return {"y": y, "p": s, "site": np.where(g == 1, "a", "b"), "one": ["x"] * 60, "id": range(60)}


@pytest.mark.parametrize(
    ("by", "sentence"),
    [
        ("sit", "there is no column 'sit'; did you mean 'site'"),
        ("y", "column 'y' is given as label and as group; name a different column for each"),
        ("p", "column 'p' is given as score and as group; name a different column for each"),
        (["site", "site"], "column 'site' is given twice as group; name each once"),
        (
            "one",
            "all rows are in one group by 'one', 'x'; name a column of two or more values with by=",
        ),
    ],
)
def test_columns_that_are_no_groups(by: Any, sentence: str) -> None:
    with pytest.raises(sw.BadInput, match=r".") as error:
        sw.evaluate(_table(), label="y", score="p", by=by).document()  # type: ignore[union-attr]
    assert sentence in str(error.value)


def test_missing_groups_are_refused_or_dropped() -> None:
    table = _table()
    table["site"] = [None, *table["site"][1:]]
    with pytest.raises(sw.BadInput, match=r'site is missing in 1 row.*missing="drop"'):
        sw.evaluate(table, label="y", score="p", by="site")
    e: Any = sw.evaluate(table, label="y", score="p", by="site", missing="drop")
    assert sum(g.rows for g in _record(e).groups) == 59


def test_what_does_not_go_with_groups() -> None:
    y, s, g = _sample(60, 2)
    with pytest.raises(sw.BadInput, match='by="site" names a column, but labels and scores'):
        sw.evaluate(y, s, by="site")
    with pytest.raises(sw.BadInput, match="and clusters to two"):
        sw.evaluate(_table(), label="y", predicted="p", cluster="site")
    with pytest.raises(sw.BadInput, match="3 classes, and two are needed"):
        sw.evaluate(g + y, np.full((60, 3), 1 / 3), by=g, cluster=g)
    with pytest.raises(sw.BadInput, match="min_rows must be a positive integer, such as 20; got 0"):
        sw.evaluate(y, s, by=g, min_rows=0)
    with pytest.raises(sw.BadInput, match="a tally has its scores and labels already"):
        sw.evaluate(sw.Tally.of(y, s), by=g)
    with pytest.raises(sw.BadInput, match="makes 20,000 groups, more than the 10,000"):
        sw.evaluate(np.arange(20_000) % 2, np.full(20_000, 0.5), by=np.arange(20_000))


def test_on_the_command_line(tmp_path: Any, capsys: Any) -> None:
    import json

    y, s, g = _sample(300, 2, seed=16)
    lines = [
        f"{a},{b!r},{'ab'[c]},{'xyz'[k % 3]}"
        for k, (a, b, c) in enumerate(zip(y.tolist(), s.tolist(), g.tolist(), strict=True))
    ]
    file = tmp_path / "f.csv"
    file.write_text("\n".join(["y,p,site,ward", *lines]))
    asked = ["evaluate", str(file), "--label", "y", "--score", "p"]
    assert run([*asked, "--by", "site", "--by", "ward", "--min-rows", "60", "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    assert [x["name"] for x in doc["groups"][0]["groups"]] == [
        "a / x",
        "a / y",
        "a / z",
        "b / x",
        "b / y",
        "b / z",
    ]
    assert doc["groups"][0]["min_rows"] == 60
    validator = pytest.importorskip("jsonschema").Draft202012Validator
    validator(schema("evaluate")).validate(doc)
    assert run([*asked, "--by", "sites"]) == 2
    assert "did you mean 'site'" in capsys.readouterr().err


# What fairlearn says of the same groups.


def _fairlearn(y: Any, s: Any, by: Any, threshold: float) -> dict[str, dict[str, float]]:
    from fairlearn.metrics import MetricFrame, count, false_positive_rate, selection_rate
    from sklearn.metrics import (
        accuracy_score,
        f1_score,
        precision_score,
        recall_score,
        roc_auc_score,
    )

    def auc(y: Any, s: Any) -> float:
        return float(roc_auc_score(y, s)) if len(np.unique(y)) > 1 else np.nan

    decided = {
        "sensitivity": recall_score,
        "precision": precision_score,
        "accuracy": accuracy_score,
        "f1": f1_score,
        "fpr": false_positive_rate,
        "rate": selection_rate,
        "rows": count,
    }
    at = MetricFrame(
        metrics=decided, y_true=y, y_pred=(s >= threshold) * 1, sensitive_features=by
    ).by_group
    ranked = MetricFrame(metrics={"auroc": auc}, y_true=y, y_pred=s, sensitive_features=by).by_group
    return {
        " / ".join(key) if isinstance(key, tuple) else str(key): {
            **row,
            "auroc": ranked.loc[key, "auroc"],
        }
        for key, row in at.to_dict("index").items()
        if row["rows"] == row["rows"]  # combinations without rows are NaN there
    }


def _same_as_fairlearn(e: Any, theirs: dict[str, dict[str, float]]) -> None:
    ours = {g.name: g for g in e.groups.record.groups}
    assert ours.keys() == theirs.keys()
    for name, row in theirs.items():
        assert ours[name].rows == row["rows"]
        group = e.groups[name]
        row["specificity"] = 1 - row["fpr"]
        for measure in ("sensitivity", "specificity", "precision", "accuracy", "f1", "auroc"):
            if group[measure].defined:  # else fairlearn has 0, or NaN
                assert group[measure].value == pytest.approx(row[measure], abs=1e-12)
                assert group[measure].low <= row[measure] + 1e-12
                assert group[measure].high >= row[measure] - 1e-12
        if row["rows"] >= 12:
            assert group.sensitivity.defined
            assert group.auroc.defined
        c = group.tally.confusion(e.settings.threshold)
        assert (c.tp + c.fp) / row["rows"] == pytest.approx(row["rate"], abs=1e-12)


def test_groups_as_fairlearn_has_them() -> None:
    y, s, g = _sample(1500, 5, seed=3)
    by = np.array(list("abcde"))[np.asarray(g, int)]
    _same_as_fairlearn(sw.evaluate(y, s, by=by), _fairlearn(y, s, by, 0.5))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
def test_compas_by_race_and_sex_as_fairlearn_has_it() -> None:
    import polars as pl

    table = pl.read_parquet(predictions("compas_two_years.parquet")).filter(
        pl.col("days_b_screening_arrest").is_between(-30, 30)
        & (pl.col("is_recid") != -1)
        & (pl.col("c_charge_degree") != "O")
        & (pl.col("score_text") != "N/A")
    )
    assert len(table) == 6172  # as in the analysis of ProPublica
    options = {"label": "two_year_recid", "score": "decile_score", "by": ["race", "sex"]}
    e = sw.evaluate(table, threshold=5, min_rows=1, **options)
    y, s = (table[name].to_numpy() for name in ("two_year_recid", "decile_score"))
    by = table.select("race", "sex").to_pandas()
    _same_as_fairlearn(e, _fairlearn(y, s, by, 5))
