"""Models compared: tests of the field against others' numbers, joins, ties in words, and bad input."""

import json
import math

import jsonschema
import numpy as np
import polars as pl
import pytest
from scipy import stats
from statsmodels.stats.multitest import multipletests

import scorewise as sw
from beside import beside, predictions
from schemas import check_described
from scorewise.cli import run
from scorewise.cli.demo import screening_csv
from scorewise.inference.differences import holm, joint_areas, mcnemar, rows_needed
from scorewise.show.document import schema

LONG = ["--label", "y", "--score", "p"]


@pytest.fixture(scope="module")
def screening(tmp_path_factory):
    """The demonstration as columns, as a file for each model, and as a long file."""
    folder = tmp_path_factory.mktemp("compare")
    (folder / "wide.csv").write_text(screening_csv(400))
    wide = pl.read_csv(folder / "wide.csv").rename({"outcome": "y"})
    wide.write_csv(folder / "wide.csv")
    parts = [wide.select("id", "site", "y", p=m, model=pl.lit(m)) for m in ("risk", "sharp")]
    parts[0].drop("model").write_csv(folder / "risk.csv")
    shuffled = parts[1].sample(fraction=1, shuffle=True, seed=1)
    shuffled.drop("model").write_csv(folder / "sharp.csv")
    shuffled[40:].drop("model").write_parquet(folder / "fewer.parquet")
    pl.concat([parts[0], shuffled]).write_csv(folder / "long.csv")
    return folder


def scores(n, seed=0, models=3, noise=1.0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    x = rng.normal(size=n) + 1.5 * y
    return y, {f"m{k}": expit(x + noise * rng.normal(size=n) - 1) for k in range(models)}


def expit(x):
    return 1 / (1 + np.exp(-x))


def loops(y, models):
    """Covariance of AUROCs by the definition of DeLong et al., pair by pair."""
    up, down = np.flatnonzero(y), np.flatnonzero(~y)
    by = [
        np.array([[(s[i] > s[j]) + (s[i] == s[j]) / 2 for j in down] for i in up]) for s in models
    ]
    ten = np.cov([x.mean(1) for x in by]) / len(up)
    one = np.cov([x.mean(0) for x in by]) / len(down)
    return np.array([x.mean() for x in by]), ten + one


def test_the_joint_test_is_that_of_loops():
    y, models = scores(90)
    models["m2"] = np.round(models["m2"], 1)  # ties
    areas, covariance = loops(y, list(models.values()))
    contrast = np.array([[1, -1, 0], [0, 1, -1]])  # another basis of the same contrasts
    d = contrast @ areas
    expected = d @ np.linalg.inv(contrast @ covariance @ contrast.T) @ d
    found = sw.compare(y, models, positive=True).joint
    assert found.statistic == pytest.approx(expected, rel=1e-9)
    assert found.df == 2
    assert found.p == pytest.approx(stats.chi2.sf(expected, 2), rel=1e-9)


def test_the_joint_test_of_two_is_the_square_of_the_paired_one():
    y, models = scores(200, models=2)
    c = sw.compare(y, models, positive=True)
    areas, covariance = loops(y, list(models.values()))
    z = (areas[0] - areas[1]) / math.sqrt(
        covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    )
    found = joint_areas(c.models.rows, {n: e.tally for n, e in c.items()}, True)
    assert found.statistic == pytest.approx(z * z, rel=1e-9)


def test_models_that_repeat_each_other_cost_a_degree_of_freedom():
    y, models = scores(200, models=2)
    c = sw.compare(y, {**models, "again": models["m0"]}, positive=True)
    assert c.joint.df == 1
    same = sw.compare(y, dict.fromkeys("abc", models["m0"]), positive=True)
    assert same.joint.p == 1.0
    assert "rank the rows alike" in same.brief().verdict[0].sentence


def test_published_values_of_asah():
    known = json.loads(beside("vectors/reference.json").read_text())
    known = next(v for k, v in known.items() if k.startswith("asah"))
    frame = pl.read_parquet(predictions("asah.parquet"))
    c = sw.compare(frame, label="y", score=["wfns", "s100b", "ndka"])
    for name, auc in known["auc"].items():
        assert c[name].auroc.value == pytest.approx(auc, rel=1e-12)
    # the joint test, which they do not have, by the definition
    areas, covariance = loops(frame["y"].to_numpy() == 1, [frame[m].to_numpy() for m in c])
    contrast = np.array([[1, -1, 0], [0, 1, -1]])
    gap, spread = contrast @ areas, contrast @ covariance @ contrast.T
    assert c.joint.statistic == pytest.approx(gap @ np.linalg.solve(spread, gap), rel=1e-9)
    d = c.difference("auroc", "wfns", "s100b")
    # they take the normal quantile, here it is Student's
    error = (d.high - d.low) / 2
    theirs = (known["paired wfns-s100b"]["ci"][1] - known["paired wfns-s100b"]["ci"][0]) / 2
    assert error == pytest.approx(theirs, rel=0.03)
    assert d.p == pytest.approx(known["paired wfns-s100b"]["p"], abs=0.004)
    long = pl.concat(
        [frame.select("y", p=pl.col(m).cast(float), m=pl.lit(m)) for m in ("wfns", "s100b")]
    )
    apart = sw.compare(long, label="y", score="p", model="m", unpaired=True).difference("auroc")
    assert apart.method == "DeLong, unpaired"
    assert apart.p == pytest.approx(known["unpaired wfns-s100b"]["p"], abs=0.002)


def test_the_joint_test_of_three_curves_is_the_published_one():
    """Ovarian cancer of DeLong, DeLong and Clarke-Pearson 1988: albumin, total protein, K-G score, benefit.

    SAS/STAT (PROC LOGISTIC, Comparing Receiver Operating Characteristic Curves) prints chi-square 2.5340,
    2 degrees of freedom, p 0.2817.
    """
    rows = """
    3.0 5.8 10 0  3.2 6.3 5 1  3.9 6.8 3 1  2.8 4.8 6 0  3.2 5.8 3 1  0.9 4.0 5 0  2.5 5.7 8 0  1.6 5.6 5 1
    3.8 5.7 5 1  3.7 6.7 6 1  3.2 5.4 4 1  3.8 6.6 6 1  4.1 6.6 5 1  3.6 5.7 5 1  4.3 7.0 4 1  3.6 6.7 4 0
    2.3 4.4 6 1  4.2 7.6 4 0  4.0 6.6 6 0  3.5 5.8 6 1  3.8 6.8 7 1  3.0 4.7 8 0  4.5 7.4 5 1  3.7 7.4 5 1
    3.1 6.6 6 1  4.1 8.2 6 1  4.3 7.0 5 1  4.3 6.5 4 1  3.2 5.1 5 1  2.6 4.7 6 1  3.3 6.8 6 0  1.7 4.0 7 0
    3.7 6.1 5 1  3.3 6.3 7 1  4.2 7.7 6 1  3.5 6.2 5 1  2.9 5.7 9 0  2.1 4.8 7 1  2.8 6.2 8 0  4.0 7.0 7 1
    3.3 5.7 6 1  3.7 6.9 5 1  3.6 6.6 5 1
    """
    albumin, protein, score, benefit = np.array(rows.split(), float).reshape(-1, 4).T
    models = {"albumin": -albumin, "protein": -protein, "K-G": score}
    found = sw.compare(benefit == 0, models, positive=True).joint
    assert (round(found.statistic, 4), found.df, round(found.p, 4)) == (2.5340, 2, 0.2817)


@pytest.mark.parametrize("seed", range(4))
def test_mcnemar_is_that_of_statsmodels(seed):
    from statsmodels.stats.contingency_tables import mcnemar as theirs

    rng = np.random.default_rng(seed)
    a, b = rng.random((2, 60)) < [[0.8], [0.65]]
    table = np.array([[(a & b).sum(), (a & ~b).sum()], [(~a & b).sum(), (~a & ~b).sum()]])
    assert mcnemar(a, b, "exact").p == pytest.approx(theirs(table, exact=True).pvalue)
    corrected = theirs(table, exact=False, correction=True)
    assert mcnemar(a, b, "corrected").p == pytest.approx(corrected.pvalue)
    assert mcnemar(a, b, "corrected").statistic == pytest.approx(corrected.statistic)
    twice = mcnemar(a, b, "exact", np.full(60, 2))
    assert (twice.only_first, twice.only_second) == (2 * table[0, 1], 2 * table[1, 0])


@pytest.mark.parametrize(
    ("kind", "p"), [("mid-p", 0.0391), ("exact", 0.0703), ("corrected", 0.0771)]
)
def test_mcnemar_of_a_published_table(kind, p):
    """Fagerland, Lydersen and Laake 2013: children before and after transplantation, 1, 1, 7 and 12."""
    before = np.repeat([True, True, False, False], [1, 1, 7, 12])
    after = np.repeat([True, False, True, False], [1, 1, 7, 12])
    assert mcnemar(before, after, kind).p == pytest.approx(p, abs=5e-5)


def test_rows_needed_are_those_of_statsmodels():
    from statsmodels.stats.power import NormalIndPower

    d, n, sd = 0.02, 300, 0.4
    reach = stats.norm.ppf(0.975) * sd / math.sqrt(n)
    found = rows_needed(sw.Estimate(d, d - reach, d + reach), n)
    expected = NormalIndPower(ddof=0).solve_power(d / sd, alpha=0.05, power=0.8, ratio=0)
    assert found == pytest.approx(expected, rel=1e-3)
    assert rows_needed(sw.Estimate(0.0, -0.1, 0.1), n) == math.inf


def test_a_margin_is_held_against_the_lower_end():
    y, models = scores(2000, models=2, noise=0.3)
    d = sw.compare(y, models, positive=True).difference("auroc", "m1", "m0")
    worst = max(-d.low, d.high, 1e-6)
    near = sw.compare(y, models, positive=True, margin=worst * 1.01).noninferiority[0]
    assert (near.model, near.baseline, near.finding) == ("m1", "m0", "non-inferior")
    tight = sw.compare(y, models, positive=True, margin=1e-6).noninferiority[0]
    assert tight.finding in ("cannot be told", "non-inferior") if d.high > 0 else "inferior"
    rng = np.random.default_rng(0)
    noise = {"good": models["m0"], "noise": rng.random(2000)}
    bad = sw.compare(y, noise, positive=True, margin=0.02)
    assert bad.noninferiority[0].finding == "inferior"
    good = sw.compare(y, noise, positive=True, margin=0.02, baseline="noise", measure="brier")
    assert good.noninferiority[0].superior
    told = [x.sentence for x in good.brief().verdict if x.finding == "non-inferior"]
    assert "two-sided 95% interval" in told[0]
    assert "shown to be better" in told[0]


def test_columns_files_and_a_long_file_say_the_same(screening):
    wide = sw.compare(
        str(screening / "wide.csv"), label="y", score=["risk", "sharp"], positive="ill"
    )
    options = {"label": "y", "score": "p", "positive": "ill"}
    files = [str(screening / f) for f in ("risk.csv", "sharp.csv")]
    long = str(screening / "long.csv")
    frames = {m: pl.read_csv(screening / f"{m}.csv") for m in ("risk", "sharp")}
    named = dict(zip(("risk", "sharp"), files, strict=True))
    for c in (
        sw.compare(files, key="id", **options),
        sw.compare(named, key="id", **options),
        sw.compare(frames, key="id", **options),
        sw.compare({m: f.to_pandas() for m, f in frames.items()}, key=["site", "id"], **options),
        sw.compare(long, model="model", key="id", **options),
        sw.compare(pl.read_csv(long), model="model", key="id", **options),
    ):
        assert list(c) == ["risk", "sharp"]
        assert c.models.joined == {"risk": (400, 400), "sharp": (400, 400)}
        for name in ("auroc", "brier", "sensitivity", "calibration_slope"):
            d, same = c.difference(name), wide.difference(name)
            assert (d.value, d.low, d.high) == pytest.approx((same.value, same.low, same.high))
        assert c.mcnemar("risk", "sharp") == wide.mcnemar("risk", "sharp")


def test_rows_that_do_not_join_are_told(screening, capsys):
    with pytest.warns(match="40 of 400 rows of 'risk' did not join on 'id'"):
        c = sw.compare(
            [str(screening / f) for f in ("risk.csv", "fewer.parquet")],
            key="id", label="y", score="p", positive="ill",
        )  # fmt: skip
    assert c.brief().joined[0].joined == 360
    assert "Left out" in repr(c)
    assert "40 of 400 rows of 'risk', which did not join" in " ".join(repr(c).split())


def test_models_on_different_rows(screening):
    options = {"label": "y", "score": "p", "positive": "ill"}
    long = pl.read_csv(screening / "long.csv")
    apart = long.filter((pl.col("id") % 2 == 0) == (pl.col("model") == "risk"))
    with pytest.warns(match="no value of 'id' occurs in two models"):
        c = sw.compare(apart, model="model", key="id", **options)
    assert not c.paired
    d = c.difference("brier")
    assert d.method == "MOVER, unpaired"
    sides = [(e.high - e.low) / 2 for e in (c[m].brier for m in c)]
    assert (d.high - d.low) / 2 == pytest.approx(math.hypot(*sides), rel=0.02)
    by_file = sw.compare(apart, model="model", unpaired=True, **options)
    assert by_file.difference("auroc") == c.difference("auroc")
    assert not c.brief().mcnemar
    with pytest.raises(sw.BadInput, match="different rows"):
        c.mcnemar("risk", "sharp")
    assert "Unpaired" in repr(c)


def test_without_a_key_rows_are_matched_where_labels_agree():
    y, models = scores(80, models=2)
    long = pl.concat([pl.DataFrame({"y": y, "p": p, "model": m}) for m, p in models.items()])
    with pytest.warns(match="matched by their order"):
        c = sw.compare(long, label="y", score="p", model="model")
    assert c.difference("auroc") == sw.compare(y, models).difference("auroc")


@pytest.mark.parametrize("apart", [True, False])
def test_rows_are_not_matched_by_their_order_where_ids_come_in_another_one(apart):
    y, models = scores(80, models=2)
    first = pl.DataFrame({"id": np.arange(80), "y": np.sort(y)})
    other = pl.concat([part.reverse() for part in first.partition_by("y", maintain_order=True)])
    tables = [t.with_columns(p=p) for t, p in zip((first, other), models.values(), strict=True)]
    given = dict(zip("ab", tables, strict=True))
    long = pl.concat([t.with_columns(model=pl.lit(m)) for m, t in given.items()])
    options = {"label": "y", "score": "p"} | ({} if apart else {"model": "model"})
    with pytest.raises(sw.BadInput, match="'id' has the same values in another one"):
        sw.compare(given if apart else long, **options)
    joined = sw.compare(given if apart else long, key="id", **options)
    assert joined.models.joined == dict.fromkeys(given, (80, 80))
    numbered = {
        m: t.with_columns(id=np.arange(80) + 80 * k) for k, (m, t) in enumerate(given.items())
    }
    with pytest.warns(match="matched by their order"):  # numbers of rows, which tell nothing
        sw.compare(numbered, label="y", score="p")


@pytest.mark.parametrize("several", [False, True])
def test_differences_depend_neither_on_the_order_of_rows_nor_on_how_they_are_counted(several):
    y, models = three_classes(150) if several else scores(150, models=2)
    rng = np.random.default_rng(2)
    order, count, weight = rng.permutation(150), rng.integers(1, 4, 150), rng.uniform(1, 2, 150)
    repeated = np.repeat(np.arange(150), count)

    def found(at=slice(None), swap=False, **further):
        names = sorted(models, reverse=swap)
        return found_ends(sw.compare(y[at], {n: models[n][at] for n in names}, **further))

    same(found(), found(order))
    same(found(), found(swap=True), swapped=True)
    same(found(count=count), found(repeated))
    same(found(weight=weight), found(order, weight=weight[order] * 0.37))


def found_ends(c):
    register = sw.registry.CLASS_MEASURES if c.several else sw.registry.MEASURES
    made = [c.difference(name) for name in register]
    return [(d.value, d.low, d.high) for d in made]


def same(found, other, swapped=False):
    if swapped:
        other = [(-v, -high, -low) for v, low, high in other]
    assert np.array(found) == pytest.approx(np.array(other), abs=1e-9, nan_ok=True)


def test_one_screen_and_a_valid_document(screening, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    words = [
        "compare",
        str(screening / "wide.csv"),
        "--label",
        "y",
        "--score",
        "risk",
        "--score",
        "sharp",
    ]
    assert run([*words, "--positive", "ill"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80
    assert run([*words, "--positive", "ill", "--json", "-"]) == 0
    doc = json.loads(capsys.readouterr().out)
    check_described(schema("compare"))
    jsonschema.validate(doc, schema("compare"))
    assert {d["measure"] for d in doc["differences"]} >= {"auroc", "f1", "ece", "h_measure"}
    stars = [
        d for d in doc["differences"] if d["low"] is not None and not d["low"] <= 0 <= d["high"]
    ]
    assert stars


def test_ties_in_words():
    y, models = scores(300, models=2, noise=0.5)
    rng = np.random.default_rng(1)
    c = sw.compare(y, {**models, "noise": rng.random(300)}, positive=True)
    brief = c.brief()
    claims = [x for x in brief.verdict if x.about == "models"]
    better = next(x for x in claims if x.finding == "better")
    assert "ranks better than" in better.sentence
    assert "'noise'" in better.sentence
    tie = next(x for x in claims if x.finding == "not told apart")
    assert "more rows would be needed" in tie.sentence
    pair = next(p for p in brief.ranking if p.finding == "not told apart")
    gap = sw.Estimate(pair.value, pair.low, pair.high)
    assert pair.rows_missing == pytest.approx(rows_needed(gap, 300) - 300)
    adjusted = [d for d in brief.differences if d.measure == "auroc"]
    assert [d.p_adjusted for d in adjusted] == pytest.approx(holm([d.p for d in adjusted]))


def test_with_a_baseline_only_pairs_with_it_are_tested():
    y, models = scores(200, models=4)
    c = sw.compare(y, models, positive=True, baseline="m2")
    assert c.pairs == [("m0", "m2"), ("m1", "m2"), ("m3", "m2")]
    assert {d.second for d in c.brief().differences} == {"m2"}


def three_classes(n=600, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.choice(3, n, p=(0.5, 0.3, 0.2))
    z = rng.normal(size=(n, 3)) + 1.3 * np.eye(3)[y]
    made = {}
    for name, noise in (("a", 0.3), ("b", 0.8)):
        e = np.exp(1.2 * (z + noise * rng.normal(size=z.shape)))
        made[name] = e / e.sum(1, keepdims=True)
    return y, made


def test_several_classes():
    y, models = three_classes()
    c = sw.compare(y, models)
    right = {m: p.argmax(1) == y for m, p in models.items()}
    d = c.difference("accuracy")
    assert d.value == pytest.approx(right["a"].mean() - right["b"].mean())
    gap = right["a"].astype(float) - right["b"]
    assert (d.high - d.low) / 2 == pytest.approx(1.96 * gap.std() / math.sqrt(len(y)), rel=0.03)
    assert c.mcnemar("a", "b") == mcnemar(right["a"], right["b"])
    jsonschema.validate(json.loads(c.to_json()), schema("compare"))
    assert {r.name for r in c.brief().models[0].measures} >= {"accuracy", "macro_auroc", "ece"}


@pytest.mark.parametrize(
    "measure", ["macro_auroc", "log_loss", "brier", "balanced_accuracy", "macro_f1", "ece", "kappa"]
)
def test_differences_of_classes_vary_as_a_paired_bootstrap(measure):
    y, models = three_classes(400, 1)
    d = sw.compare(y, models).difference(measure)
    rng, drawn = np.random.default_rng(0), []
    for _ in range(60):
        at = rng.integers(0, len(y), len(y))
        found = [sw.ClassTally.of(y[at], p[at], classes=[0, 1, 2]) for p in models.values()]
        values = [sw.registry.CLASS_MEASURES[measure](t).value for t in found]
        drawn.append(values[0] - values[1])
    width = (d.high - d.low) / 2
    assert width == pytest.approx(1.96 * np.std(drawn), rel=0.4)


def test_several_classes_from_a_long_file_and_with_gaps(tmp_path):
    y, models = three_classes(90)
    parts = [
        pl.DataFrame(
            {"id": np.arange(90), "y": y, "model": m, **{f"p_{k}": p[:, k] for k in range(3)}}
        )
        for m, p in models.items()
    ]
    pl.concat(parts).write_csv(tmp_path / "long.csv")
    c = sw.compare(str(tmp_path / "long.csv"), model="model", key="id", label="y", classes="p_*")
    assert c.difference("brier").value == pytest.approx(
        sw.compare(y, models).difference("brier").value
    )
    gaps = {
        m: np.where(np.arange(90)[:, None] == k, np.nan, p)
        for k, (m, p) in enumerate(models.items())
    }
    with pytest.warns(match="1 row left out"):
        left = sw.compare(y, gaps, missing="drop")
    assert [len(r) for r in left.models.rows.values()] == [88, 88]
    assert left["a"].accuracy.value == pytest.approx((models["a"].argmax(1) == y)[2:].mean())


@pytest.mark.parametrize("option", ["by", "cluster", "positive"])
def test_what_belongs_to_two_classes_is_refused_of_several(option):
    y, models = three_classes(30)
    columns = {"i": np.arange(30), "y": y, "g": y}
    named = {m: columns | dict(zip("abc", p.T, strict=True)) for m, p in models.items()}
    for give in (
        lambda: sw.compare(y, models, **{option: y}),
        lambda: sw.compare(named, key="i", label="y", classes="a,b,c", **{option: "g"}),
    ):
        with pytest.raises(sw.BadInput, match=f"^{option}= belongs to two classes; leave it out"):
            give()


def test_a_group_of_one_cluster_has_no_joint_test():
    rng = np.random.default_rng(0)
    y, site = rng.random(60) < 0.5, np.repeat(["north", "south"], 30)
    c = sw.compare(y, {m: rng.random(60) for m in "abc"}, by={"site": site}, cluster=site)
    assert c.groups["north"].joint.why.endswith("all rows one cluster")


def test_groups_have_one_correction(screening):
    c = sw.compare(
        str(screening / "wide.csv"), label="y", score=["risk", "sharp"], positive="ill", by="site"
    )
    groups = c.brief().groups
    assert {g.name for g in groups} == {*c.groups}
    frame = pl.read_csv(screening / "wide.csv").filter(pl.col("site") == groups[0].name)
    alone = sw.compare(frame["y"], {m: frame[m] for m in ("risk", "sharp")}, positive="ill")
    for measure in ("auroc", "brier", "sensitivity"):
        of = [next(d for d in g.differences if d.measure == measure) for g in groups]
        assert of[0].value == pytest.approx(alone.difference(measure).value)
        adjusted = holm([d.p for d in of])
        assert [d.p_adjusted for d in of] == pytest.approx(adjusted)
    assert "Groups: 'risk' - 'sharp'" in repr(c)


def test_clusters_widen_differences():
    y, models = scores(300, models=2)
    twice = {m: np.repeat(p, 3) for m, p in models.items()}
    who = np.repeat(np.arange(300), 3)
    wide = sw.compare(np.repeat(y, 3), twice, cluster=who, positive=True)
    alone = sw.compare(y, models, positive=True)
    for name in ("auroc", "brier"):
        d, one = wide.difference(name), alone.difference(name)
        assert (d.high - d.low) == pytest.approx(one.high - one.low, rel=0.1)
    with pytest.raises(sw.BadInput, match="clusters"):
        wide.mcnemar("m0", "m1")


@pytest.fixture
def bad(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ids, y = list(range(8)), [0, 1] * 4
    good = pl.DataFrame({"id": ids, "y": y, "p": [k / 10 for k in ids], "q": [k / 9 for k in ids]})
    good.write_csv("a.csv")
    good.write_csv("b.csv")
    good.write_parquet("a.parquet")
    good.with_columns(id=pl.col("id") + 100).write_csv("other.csv")
    good.with_columns(y=1 - pl.col("y")).write_csv("turned.csv")
    sites = good.with_columns(site=pl.lit("north"))
    sites.write_csv("north.csv")
    moved = pl.when(pl.col("id") > 5).then(pl.lit("south")).otherwise("site")
    sites.with_columns(site=moved).write_csv("moved.csv")
    pl.concat([good, good[:3]]).write_csv("twice.csv")
    good.with_columns(id=pl.when(pl.col("id") > 5).then(None).otherwise("id")).write_csv("gaps.csv")
    parts = [good.with_columns(model=pl.lit(m)) for m in ("a", "b")]
    pl.concat([parts[0], parts[1][::-1]]).write_csv("long.csv")
    parts[0].write_csv("alone.csv")


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["a.csv", "other.csv", "--key", "id"], "no value of 'id' occurs in every model: 'a' has '0'"),
        (["a.csv", "gaps.csv", "--key", "id"], "id is missing in 2 rows, first at row 7 of gaps.csv"),
        (["a.csv", "twice.csv", "--key", "id"], "names 3 rows of 'twice' more than once, first '0'"),
        (["a.csv", "turned.csv", "--key", "id"], "y differs between 'a' and 'turned' in 8 rows"),
        (["north.csv", "moved.csv", "--key", "id", "--by", "site"],
         "site differs between 'north' and 'moved' in 2 rows, first at row 7 of north.csv"),
        (["a.csv", "b.csv", "--key", "patient"], "there is no column 'patient'"),
        (["a.csv", "a.csv", "--key", "id"], "a.csv is given twice"),
        (["a.csv", "a.parquet", "--key", "id"], "two files are named 'a'"),
        (["a.csv"], "compare takes two or more models"),
        (["alone.csv", "--model", "model"], "column 'model' names one model only, 'a'"),
        (["long.csv", "--model", "model"], "no common order of rows"),
        (["a.csv", "--score", "q", "--baseline", "z"], "--baseline z is not a model; the models are p, q"),
        (["a.csv", "--score", "q", "--margin", "-0.1"], "--margin must be a positive number"),
        (["a.csv", "--score", "q", "--measure", "f7"], "no measure is named f7"),
        (["a.csv", "--score", "q", "--measure", "calibration_slope"], "neither better high nor low"),
        (["long.csv", "--score", "q", "--model", "model"], "--model goes with one column of scores"),
        (["a.csv", "--score", "q", "--key", "id"], "--key goes with one column of scores"),
        (["a.csv", "--key", "id"], "--key belongs to several files"),
        (["a.csv", "--unpaired"], "--unpaired belongs to several files"),
        (["a.csv", "--score", "p"], "column 'p' is given twice as score"),
        (["a.csv", "--score", "q", "--by", "y", "--cluster", "id"], "is given as label and as group"),
        (["a.csv", "--score", "q", "--by", "id"], "no group by 'id' has 20 rows"),
    ],
)  # fmt: skip
def test_bad_input_is_one_sentence(bad, words, sentence, capsys):
    files = [w for w in words if w.endswith(("csv", "parquet"))]
    rest = words[len(files) :]
    assert run(["compare", *files, *LONG, *rest]) == 2
    err = capsys.readouterr().err
    assert sentence in err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda y, p: sw.compare(y, {"a": p}), "two or more models"),
        (lambda y, p: sw.compare(y, p), "scores by name"),
        (lambda y, p: sw.compare(y), "scores are missing"),
        (lambda y, p: sw.compare(y, {"a": p, "b": p}, label="y"), "belongs to files and frames"),
        (
            lambda y, p: sw.compare(y, {"a": p, "b": p}, mcnemar="yates"),
            'mcnemar="yates" is not known',
        ),
        (lambda y, p: sw.compare(y, {"a": p, "b": p[:-1]}), "they have to match row by row"),
    ],
)
def test_bad_arguments(call, sentence):
    with pytest.raises(sw.BadInput, match=sentence):
        call([0, 1, 1, 0], [0.1, 0.8, 0.6, 0.3])


# Keys, columns and choices that do not go together.


def test_whole_numbers_that_floats_do_not_tell_apart_are_no_key():
    large = 2**53
    frames = {
        name: pl.DataFrame({"id": ids, "y": [0, 1, 0, 1], "p": [0.1, 0.9, 0.2, 0.8]})
        for name, ids in (("a", [large + 1, 2, 3, 4]), ("b", [float(large), 2.0, 3.0, 4.0]))
    }
    with pytest.raises(sw.BadInput, match="not told apart as floats"):
        sw.compare(frames, key="id", label="y", score="p")


def test_choices_that_would_be_ignored_are_refused():
    rng = np.random.default_rng(0)
    tables = {name: rng.dirichlet([1, 1, 1], 40) for name in "ab"}
    y = rng.integers(0, 3, 40)
    with pytest.raises(sw.BadInput, match=r"interval=.* and classes=.* do not go together"):
        sw.compare(y, tables, interval="bootstrap")
    frame = pl.DataFrame({"y": y % 2, "id": range(40), **{n: t[:, 0] for n, t in tables.items()}})
    with pytest.raises(sw.BadInput, match="given as label and as group"):
        sw.compare(frame, label="y", score=["a", "b"], by="y")
    with pytest.raises(sw.BadInput, match="given as label and as cluster"):
        sw.evaluate(frame, label="y", score="a", cluster="y")
    each = {name: frame.select("id", "y", p=name) for name in "ab"}
    with pytest.raises(sw.BadInput, match="key= and unpaired= do not go together"):
        sw.compare(each, label="y", score="p", key="id", unpaired=True)


def test_models_of_several_classes_are_drawn_by_their_differences():
    rng = np.random.default_rng(0)
    tables = {name: rng.dirichlet([1, 1, 1], 40) for name in "ab"}
    c = sw.compare(rng.integers(0, 3, 40), tables)
    drawn = c.plot()
    assert len(drawn.bars) == 5
    assert drawn.bars[0].estimate.value == c.difference("accuracy").value


def test_labels_spelled_otherwise_in_one_file_are_refused(tmp_path):
    pl.DataFrame({"id": [1, 2, 3], "y": [0, 1, 1], "p": [0.1, 0.7, 0.9]}).write_csv(
        tmp_path / "a.csv"
    )
    words = {"id": [1, 2, 3], "y": ["no", "yes", "yes"], "p": [0.2, 0.6, 0.8]}
    pl.DataFrame(words).write_csv(tmp_path / "b.csv")
    files = [tmp_path / "a.csv", tmp_path / "b.csv"]
    told = "y is 0, 1 for 'a' and no, yes for 'b'; spell the labels alike"
    with pytest.raises(sw.BadInput, match=told):
        sw.compare(files, label="y", score="p", key="id")


def test_files_of_one_name_are_told_apart_by_their_folders(tmp_path):
    for folder, high in (("old", 0.6), ("new", 0.9)):
        (tmp_path / folder).mkdir()
        rows = {"id": [1, 2, 3, 4], "y": [0, 1, 0, 1], "p": [0.1, high, 0.3, 0.4]}
        pl.DataFrame(rows).write_csv(tmp_path / folder / "scores.csv")
    files = [tmp_path / folder / "scores.csv" for folder in ("old", "new")]
    shown = repr(sw.compare(files, label="y", score="p", key="id"))
    assert "4 of 'old/scores.csv', 'new/scores.csv':" in shown
    assert "4 of 'old/scores.csv':" in repr(sw.compare(files, label="y", score="p", unpaired=True))


def test_models_given_to_evaluate_are_pointed_to_compare():
    p = np.array([0.1, 0.7, 0.9, 0.3])
    with pytest.raises(sw.BadInput, match="the classes are a, b; to compare models, use compare"):
        sw.evaluate(["no", "yes", "yes", "no"], {"a": p, "b": 1 - p})
    with pytest.raises(sw.BadInput, match="or use compare for scores of several models"):
        sw.evaluate([0, 1, 1, 0], {"a": p, "b": p**2})


def test_groups_of_clusters_are_compared_as_their_rows_are():
    rng = np.random.default_rng(12)
    patient = np.repeat(np.arange(120), 5)
    level, site = rng.normal(0, 1.5, 120)[patient], (patient % 2).astype(str)
    y = (rng.random(600) < 1 / (1 + np.exp(-level))).astype(int)
    slips = rng.normal(0, 1.5, 120)[patient]  # which the rows of a patient share
    table = {"y": y, "a": level + 0.3 * rng.normal(size=600), "b": level + slips, "site": site}
    table["patient"] = patient
    options = {"label": "y", "score": ["a", "b"]}
    found = sw.compare(table, **options, by="site", cluster="patient")
    plain = sw.compare(table, **options, by="site")
    for name, group in found.groups.items():
        part = {k: v[site == name] for k, v in table.items()}
        alone = sw.compare(part, **options, cluster="patient")
        for measure in ("auroc", "brier", "sensitivity"):
            e, want = group.difference(measure), alone.difference(measure)
            assert (e.value, e.low, e.high) == (want.value, want.low, want.high)
        e, narrow = group.difference("auroc"), plain.groups[name].difference("auroc")
        assert e.high - e.low > 1.05 * (narrow.high - narrow.low)
    doc = found.document()
    assert doc.clusters.number == 120
    assert [g.name for g in doc.groups] == ["0", "1"]


def test_a_group_of_one_cluster_has_no_interval():
    rng = np.random.default_rng(13)
    y = np.arange(90) % 2
    cluster = np.where(np.arange(90) < 30, 0, np.arange(90))
    site = np.where(np.arange(90) < 30, "one", "many")
    scores = {"a": y + rng.normal(size=90), "b": rng.normal(size=90)}
    found = sw.compare(y, scores, by={"site": site}, cluster=cluster)
    assert math.isnan(found.groups["one"].difference("auroc").low)
    assert not math.isnan(found.groups["many"].difference("auroc").low)
    assert found.document().groups


@pytest.mark.parametrize(
    ("both", "first", "second", "neither", "kind", "p"),
    [
        (9945, 25, 15, 15, "corrected", 0.154728923485),
        (9959, 11, 1, 29, "exact", 0.00634765625),
        (101, 121, 59, 33, "corrected", 5.4500948254271171e-06),
        (101, 121, 59, 33, "exact", 4.4344492637555101e-06),
    ],
)
def test_mcnemar_is_that_of_mlxtend(both, first, second, neither, kind, p):
    """Values printed in mlxtend's user guide and held by its tests."""
    sizes = [both, first, second, neither]
    a = np.repeat([True, True, False, False], sizes)
    b = np.repeat([True, False, True, False], sizes)
    assert mcnemar(a, b, kind).p == pytest.approx(p, rel=1e-9)


def test_loss_and_errors_of_two_models_are_adjusted_for_each_other():
    """A difference that only one of the two p-values shows is told, with what adjusting makes of it."""
    seen = set()
    for seed in (0, 5, 9, 10):
        rng = np.random.default_rng(seed)
        x = rng.normal(size=150)
        y = (rng.random(150) < 1 / (1 + np.exp(-x))).astype(int)
        noise = {"a": 0.5, "b": 1.0}
        models = {n: 1 / (1 + np.exp(-x - s * rng.normal(size=150))) for n, s in noise.items()}
        c = sw.compare(y, models, positive=1)
        loss, errors = c.difference("brier").p, c.mcnemar("a", "b").p
        adjusted = multipletests([loss, errors], method="holm")[1]
        claims = {
            q.about: q for q in c.brief().verdict if q.about in ("probabilities", "decisions")
        }
        for about, raw, p, shown in (
            ("probabilities", loss, adjusted[0], "lower loss"),
            ("decisions", errors, adjusted[1], "fewer errors"),
        ):
            assert (claims[about].finding == shown) == (p <= 0.05)
            held = raw <= 0.05 < p
            assert ("once adjusted for loss and errors" in claims[about].sentence) == held
            seen.add((about, held, p <= 0.05))
    assert {("probabilities", True, False), ("probabilities", False, True)} <= seen
