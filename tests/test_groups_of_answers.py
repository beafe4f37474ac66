"""Groups in answers: differences to the rest, clusters, correction, and sentences with cause."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.stats import chi2

import scorewise as sw
from scorewise.answering.result import GROUP_MEASURES
from scorewise.cli import run


def sample(n: int, groups: int = 4, seed: int = 0, worse: int = -1) -> tuple[Any, Any, Any]:
    """Right or wrong, a confidence that is somewhat high, and groups; one of them is worse."""
    rng = np.random.default_rng(seed)
    group, sure = rng.integers(0, groups, n), rng.beta(5, 2, n)
    chance = np.where(group == worse, sure - 0.35, sure - 0.05).clip(0.02, 0.98)
    return (rng.random(n) < chance).astype(float), sure.round(3), group


def judged(right: Any, sure: Any, **options: Any) -> Any:
    return sw.answers(confidence=sure, quality=right, **options)


@pytest.mark.parametrize("weights", [False, True])
def test_values_rest_and_differences_are_those_of_the_rows(weights: bool) -> None:
    right, sure, g = sample(800, seed=1)
    w = np.random.default_rng(0).gamma(2, 1, 800) if weights else None
    (record,) = judged(right, sure, by=g, weight=w).document().groups
    assert record.model == "confidence"
    for group in record.groups:
        at = g == int(group.name)
        mine, rest = (
            judged(right[i], sure[i], weight=None if w is None else w[i]) for i in (at, ~at)
        )
        assert (group.rows, group.positives) == (at.sum(), None)
        assert [m.name for m in group.measures] == list(GROUP_MEASURES)
        for m in group.measures:
            e = mine[m.name]
            assert_allclose([m.value, m.low, m.high], [e.value, e.low, e.high])
            assert_allclose(
                [m.rest, m.difference], [rest[m.name].value, e.value - rest[m.name].value]
            )
            assert m.expected == e.expected


def test_the_rest_of_small_groups_is_that_of_the_other_answers() -> None:
    right, sure, g = sample(3000, 60, seed=2)
    (record,) = judged(right, sure, by=g).document().groups
    for group in record.groups[:6]:
        rest = judged(right[g != int(group.name)], sure[g != int(group.name)])
        for m in group.measures:
            exact = m.name in ("accuracy", "mean_confidence", "overconfidence", "brier")
            near = 1e-9 if exact else 0.02 * (m.high - m.low)
            assert abs(m.rest - rest[m.name].value) <= near, m.name


def test_correction_and_heterogeneity() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    right, sure, g = sample(1500, 5, seed=3, worse=2)
    (record,) = judged(right, sure, by=g).document().groups
    for k, h in enumerate(record.heterogeneity):
        found = [group.measures[k] for group in record.groups]
        adjusted = multitest.multipletests([m.p for m in found], method="holm")[1]
        assert_allclose([m.p_adjusted for m in found], adjusted)
        if h.measure == "ece":
            assert (h.p, h.why) == (None, "chance makes it larger in smaller groups")
            continue
        weight = np.array([((m.high - m.low) / (2 * 1.959963984540054)) ** -2 for m in found])
        value = np.array([m.value for m in found])
        q = (weight * (value - (weight * value).sum() / weight.sum()) ** 2).sum()
        assert (h.q, h.p) == (pytest.approx(q), pytest.approx(chi2.sf(q, 4)))
        if h.measure in ("accuracy", "overconfidence"):
            assert h.worst == "2"


def test_the_verdict_names_the_group_and_stays_silent_without_cause() -> None:
    right, sure, g = sample(1600, seed=4, worse=1)
    verdict = judged(right, sure, by={"task": g}).document().verdict
    said = [c.sentence for c in verdict if c.about == "groups"]
    assert said[0].startswith("'confidence' is more overconfident on '1': overconfidence 0.3")
    assert "groups, most in '1'" in said[1]
    claimed = 0
    for seed in range(25):
        right, sure, g = sample(500, 5, seed=100 + seed)
        found = judged(right, sure, by=g).document().verdict
        claimed += any(c.finding in ("worse group", "better group") for c in found)
    assert claimed <= 3


def test_clusters_of_copies_are_single_answers() -> None:
    right, sure, g = sample(150, 2, seed=5)
    again = np.repeat(np.arange(150), 5)
    once, copies, naive = (
        judged(right[i], sure[i], by=g[i], cluster=c).document().groups[0]
        for i, c in ((slice(None), None), (again, again), (again, None))
    )
    for k, name in enumerate(GROUP_MEASURES):
        if name == "ece":
            continue
        fair, wide, narrow = (r.groups[0].measures[k] for r in (once, copies, naive))
        width = wide.difference_high - wide.difference_low
        assert 0.8 < width / (fair.difference_high - fair.difference_low) < 1.25, name
        assert narrow.difference_high - narrow.difference_low < 0.6 * width, name


def test_small_groups_and_a_confidence_that_few_groups_have() -> None:
    right, sure, g = sample(300, 3, seed=6)
    g[:6] = 7
    token = np.where(g == 1, sure, np.nan)
    given = {"stated": sure, "token": token}
    a = sw.answers(confidence=given, quality=right, by={"task": g}, missing="drop")
    stated, other = a.document().groups
    assert [x.judged for x in stated.groups] == [True, True, True, False]
    assert [x.name for x in other.groups] == ["1"]
    assert other.groups[0].measures[0].rest is None
    assert other.groups[0].measures[0].p is None
    assert "1 group of fewer than 20 answers: shown, not judged." in " ".join(repr(a).split())
    right = np.where(g == 1, 1.0, right)
    found = judged(right, sure, by=g).document().groups[0].groups[1].measures
    assert next(m.why for m in found if m.name == "auroc") == "every answer is correct"
    few = judged(right[:30], sure[:30], by=g[:30]).document().verdict
    assert any(c.sentence == "No group has the 20 answers that are asked for." for c in few)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"by": "tas"}, "there is no column 'tas'; did you mean 'task'"),
        ({"by": "p"}, "column 'p' is given as group and as confidence; name a different"),
        ({"by": ["task", "task"]}, "column 'task' is given twice as group; name each once"),
        ({"by": "one"}, "all rows are in one group by 'one', 'x'; name a column of two or more"),
        ({"by": "gap"}, 'gap is missing in 1 row, row 0, counting from 0; drop it or pass missing="drop"'),
        ({"by": "task", "min_rows": 0}, "min_rows must be a positive integer, such as 20; got 0"),
    ],
)  # fmt: skip
def test_what_is_refused(options: dict[str, Any], sentence: str) -> None:
    right, sure, g = sample(60)
    table = {"ok": right, "p": sure, "task": g, "one": ["x"] * 60, "gap": [None, *map(str, g[1:])]}
    with pytest.raises(sw.BadInput) as error:
        sw.answers(table, quality="ok", confidence="p", **options)
    assert sentence in str(error.value)


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right, sure, g = sample(200, 2, seed=7)
    path = tmp_path / "answers.csv"
    lines = [f"{int(r)},{s},t{k},{k % 2}" for r, s, k in zip(right, sure, g, strict=True)]
    path.write_text("\n".join(["ok,p,task,half", *lines]) + "\n")
    named = ["answers", str(path), "--quality", "ok", "--confidence", "p"]
    options = ["--by", "task", "--by", "half", "--min-rows", "150"]
    assert run([*named, *options, "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    assert doc["groups"][0]["by"] == ["task", "half"]
    assert doc["groups"][0]["min_rows"] == 150
    assert run([*named, "--by", "ward"]) == 2
    assert "there is no column 'ward'" in capsys.readouterr().err
