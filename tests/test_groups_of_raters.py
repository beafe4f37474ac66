"""Groups in agree: equal to the agreement on their items, corrected, and never claimed without cause."""

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


def sample(n: int, groups: int, raters: int = 2, seed: int = 0, worse: int = -1) -> tuple[Any, Any]:
    """Ratings of three categories, and groups that have nothing to do with them but for one."""
    rng = np.random.default_rng(seed)
    truth, group = rng.integers(0, 3, n), rng.integers(0, groups, n)
    noise = np.where(group == worse, 0.8, 0.3)
    rate = {
        name: np.where(rng.random(n) < noise, rng.integers(0, 3, n), truth)
        for name in ("ann", "bob", "cid", "dee")[:raters]
    }
    return rate, group


def part(ratings: Any, at: Any) -> Any:
    return {name: column[at] for name, column in ratings.items()}


@pytest.mark.parametrize(
    ("raters", "options"),
    [
        (2, {}),
        (3, {"scale": "ordinal"}),
        (2, {"weights": "linear", "scale": "ordinal"}),
        (4, {"interval": "bootstrap"}),
        (3, {"weight": True}),
    ],
)
def test_values_and_intervals_are_those_of_the_items_of_the_group(
    raters: int, options: dict[str, Any]
) -> None:
    ratings, g = sample(400, 5, raters, seed=raters)
    weight = np.random.default_rng(0).gamma(2, 1, 400) if options.pop("weight", False) else None
    options["categories"] = [0, 1, 2]
    a = sw.agree(ratings, by=g, weight=weight, **options)
    for group in a.document().groups[0].groups:
        at = g == int(group.name)
        mine, rest = (
            sw.agree(part(ratings, i), weight=None if weight is None else weight[i], **options)
            for i in (at, ~at)
        )
        assert group.rows == at.sum()
        assert group.positives is None
        for m in group.measures:
            e = mine[m.name]
            assert_allclose([m.value, m.low, m.high], [e.value, e.low, e.high], err_msg=m.name)
            assert m.rest == pytest.approx(rest[m.name].value)
            assert m.difference == pytest.approx(e.value - rest[m.name].value)
            assert m.difference_low < m.difference < m.difference_high
        assert a.groups[group.name].krippendorff_alpha == mine.krippendorff_alpha


def test_the_rest_of_small_groups_is_that_of_the_other_items() -> None:
    ratings, g = sample(3000, 60, 3, seed=3)
    record = sw.agree(ratings, by=g).document().groups[0]
    for group in record.groups[:10]:
        rest = sw.agree(part(ratings, g != int(group.name)))
        for m in group.measures:
            assert abs(m.rest - rest[m.name].value) < 0.01 * (m.high - m.low), m.name


def test_correction_and_heterogeneity() -> None:
    multitest = pytest.importorskip("statsmodels.stats.multitest")
    ratings, g = sample(1500, 6, seed=4, worse=2)
    record = sw.agree(ratings, by=g).document().groups[0]
    assert record.correction == "Holm"
    for k, h in enumerate(record.heterogeneity):
        found = [group.measures[k] for group in record.groups]
        assert_allclose(
            [m.p_adjusted for m in found],
            multitest.multipletests([m.p for m in found], method="holm")[1],
        )
        weight = np.array([((m.high - m.low) / (2 * 1.959963984540054)) ** -2 for m in found])
        value = np.array([m.value for m in found])
        q = (weight * (value - (weight * value).sum() / weight.sum()) ** 2).sum()
        assert (h.q, h.p) == (pytest.approx(q), pytest.approx(chi2.sf(q, 5)))
        assert h.worst == "2"


def test_clusters_widen_the_intervals_of_groups_and_differences() -> None:
    rng = np.random.default_rng(5)
    ratings, g = sample(120, 2, seed=5)
    again = np.repeat(np.arange(120), 5)  # each item five times over is a cluster
    alone, clustered = (
        sw.agree(part(ratings, again), by=g[again], cluster=c).document().groups[0]
        for c in (None, again)
    )
    once = sw.agree(ratings, by=g).document().groups[0]
    crossed = sw.agree(part(ratings, again), by=rng.integers(0, 2, 600), cluster=again)
    for k, group in enumerate(clustered.groups):
        wide, narrow, fair = (x.groups[k].measures[1] for x in (clustered, alone, once))
        assert wide.value == pytest.approx(narrow.value)
        assert wide.high - wide.low > 2 * (narrow.high - narrow.low)
        ratio = (wide.difference_high - wide.difference_low) / (
            fair.difference_high - fair.difference_low
        )
        assert 0.8 < ratio < 1.25, group.name
    # clusters that are in both groups cost the difference little
    m = crossed.document().groups[0].groups[0].measures[1]
    wide = clustered.groups[0].measures[1]
    assert m.difference_high - m.difference_low < wide.difference_high - wide.difference_low


def test_the_verdict_names_the_group_and_stays_silent_without_cause() -> None:
    ratings, g = sample(1200, 4, seed=6, worse=3)
    names = np.array(["north", "east", "south", "west"])[g]
    a = sw.agree(ratings, by={"site": names})
    said = [c.sentence for c in a.document().verdict if c.about == "groups"]
    assert len(said) == 1
    assert said[0].startswith("Raters agree less on 'west': Cohen's kappa 0.")
    assert "── Groups" in repr(a)
    assert "west" in a.to_markdown()
    claimed = 0
    for seed in range(30):
        ratings, g = sample(400, 5, seed=100 + seed)
        verdict = sw.agree(ratings, by=g).document().verdict
        claimed += any(c.about == "groups" and c.finding != "not told apart" for c in verdict)
    assert claimed <= 3


def test_intervals_of_differences_cover() -> None:
    """Two groups drawn alike but for noise; the true difference comes from many items."""
    many, g = sample(200_000, 2, seed=7, worse=1)
    kappa = [sw.agree(part(many, g == k)).cohen_kappa.value for k in (1, 0)]
    held = 0
    for seed in range(80):
        ratings, g = sample(300, 2, seed=1000 + seed, worse=1)
        m = sw.agree(ratings, by=g).document().groups[0].groups[1].measures[1]
        held += m.difference_low <= kappa[0] - kappa[1] <= m.difference_high
    assert 0.88 <= held / 80 <= 0.99


def test_small_groups_and_several_columns() -> None:
    ratings, g = sample(300, 2, seed=8)
    site = np.where(np.arange(300) < 5, "tiny", np.where(g == 1, "a", "b"))
    sex = np.where(np.arange(300) % 2, "f", "m")
    a = sw.agree({**ratings, "site": site, "sex": sex}, by=["site", "sex"], raters=["ann", "bob"])
    record = a.document().groups[0]
    assert record.by == ["site", "sex"]
    assert a.groups["a", "f"] is a.groups["a / f"]
    assert [x.judged for x in record.groups] == [True] * 4 + [False] * 2
    assert all(m.p is None for m in record.groups[-1].measures)
    assert "2 groups of fewer than 20 items: shown, not judged." in " ".join(repr(a).split())
    with pytest.raises(KeyError, match="no group is named x"):
        a.groups["x"]


def test_a_group_of_one_category_has_a_reason() -> None:
    ratings, g = sample(300, 3, seed=9)
    ratings = {name: np.where(g == 1, 2, column) for name, column in ratings.items()}
    found = {m.name: m for m in sw.agree(ratings, by=g).document().groups[0].groups[1].measures}
    assert found["percent_agreement"].value == 1
    assert found["cohen_kappa"].value is None
    assert found["cohen_kappa"].why


def test_long_and_counted_ratings_have_groups() -> None:
    ratings, g = sample(200, 2, seed=10)
    wide = sw.agree(ratings, by=g).document().groups[0].groups
    rows = {
        "item": np.tile(np.arange(200), 2),
        "rater": np.repeat(["ann", "bob"], 200),
        "rating": np.concatenate(list(ratings.values())),
        "site": np.tile(g, 2),
    }
    long = sw.agree(rows, item="item", rater="rater", rating="rating", by="site")
    assert [x.rows for x in long.document().groups[0].groups] == [x.rows for x in wide]
    values = [x.groups["0"].fleiss_kappa.value for x in (long, sw.agree(ratings, by=g))]
    assert values[0] == pytest.approx(values[1])
    counts = {str(k): sum((c == k).astype(int) for c in ratings.values()) for k in range(3)}
    counted = sw.agree(counts, form="counts", by=g)
    assert counted.groups["0"].fleiss_kappa.value == pytest.approx(values[0])
    rows["site"][0] = 1 - rows["site"][0]
    with pytest.raises(sw.BadInput, match="site differs among ratings of one item in 1 row"):
        sw.agree(rows, item="item", rater="rater", rating="rating", by="site")


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"by": "sit"}, "there is no column 'sit'; did you mean 'site'"),
        ({"by": "ann"}, "column 'ann' is given as rater and as group; name a different"),
        ({"by": ["site", "site"]}, "column 'site' is given twice as group; name each once"),
        ({"by": "one"}, "all rows are in one group by 'one', 'x'; name a column of two or more"),
        ({"by": "gap"}, "gap is missing in 1 row, row 0, counting from 0; give each item one"),
        ({"by": "site", "min_rows": 0}, "min_rows must be a positive integer, such as 20; got 0"),
        ({"by": {"site": [1, 2]}}, "by= is the name of a column where ratings are a file"),
    ],
)
def test_what_is_refused(options: dict[str, Any], sentence: str) -> None:
    ratings, g = sample(60, 2)
    table = {**ratings, "site": g, "one": ["x"] * 60, "gap": [None, *map(str, g[1:])]}
    with pytest.raises(sw.BadInput) as error:
        sw.agree(table, raters=["ann", "bob"], **options)
    assert sentence in str(error.value)


def test_what_does_not_go_with_groups() -> None:
    ratings, g = sample(60, 2)
    with pytest.raises(sw.BadInput, match="by= does not go with a table of two raters"):
        sw.agree([[5, 2], [1, 9]], by=["a", "b"])
    with pytest.raises(sw.BadInput, match="by= needs single items"):
        sw.agree(sw.Ratings.of_table([[5, 2], [1, 9]]), by=["a", "b"])
    with pytest.raises(sw.BadInput, match='by="site" names a column, but ratings were given as'):
        sw.agree(ratings["ann"], ratings["bob"], by="site")
    with pytest.raises(sw.BadInput, match="ann has 60 rows and group has 5"):
        sw.agree(ratings, by=g[:5])


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ratings, g = sample(200, 2, seed=11)
    lines = [
        "ann,bob,site",
        *(f"{a},{b},s{s}" for a, b, s in zip(*ratings.values(), g, strict=True)),
    ]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(lines) + "\n")
    named = ["agree", str(path), "--rater", "ann", "--rater", "bob"]
    assert run([*named, "--by", "site", "--min-rows", "150", "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    assert doc["groups"][0]["by"] == ["site"]
    assert doc["groups"][0]["min_rows"] == 150
    assert not any(x["judged"] for x in doc["groups"][0]["groups"])
    assert run([*named, "--by", "ward"]) == 2
    assert "there is no column 'ward'" in capsys.readouterr().err
    picture = tmp_path / "groups.png"
    assert run([*named, "--by", "site", "--plot", str(picture)]) == 0
    assert picture.stat().st_size > 1000


def test_pandalm_by_task_equals_its_parts() -> None:
    import polars as pl

    frame = pl.read_csv(agreement("pandalm_human_llm_judges.csv"))
    by = next(c for c in frame.columns if c in ("cmp_key", "task", "app", "motivation_app"))
    raters = [c for c in frame.columns if c.startswith("annotator")]
    a = sw.agree(frame, raters=raters, by=by)
    for name in [*a.groups][:3]:
        alone = sw.agree(frame.filter(pl.col(by).cast(pl.String) == name), raters=raters)
        assert a.groups[name].krippendorff_alpha.value == pytest.approx(
            alone.krippendorff_alpha.value
        )
