"""Cuts against outside references: scipy's beta and binomial, scikit-learn's curves, loops over cuts."""

import copy
import json
import pickle

import jsonschema
import numpy as np
import pytest
from scipy.stats import beta, binom
from sklearn.metrics import cohen_kappa_score, fbeta_score, precision_recall_curve, roc_curve

import scorewise as sw
from schemas import check_described
from scorewise.cli import run
from scorewise.figures import figures_of
from scorewise.registry import MEASURES
from scorewise.show.document import schema
from scorewise.thresholds.cuts import grid
from scorewise.thresholds.goals import parse_constraints


def drawn(n=2000, prevalence=0.1, seed=0, digits=None):
    """Calibrated binormal scores."""
    rng = np.random.default_rng(seed)
    y = rng.random(n) < prevalence
    x = rng.normal(size=n) + 1.8 * y
    p = 1 / (1 + np.exp(-(np.log(prevalence / (1 - prevalence)) + 1.8 * x - 1.62)))
    return y.astype(int), p if digits is None else p.round(digits)


Y, S = drawn()


def rate(rule, y, s):
    return rule(s)[y == 1].mean()


# Plain cuts


@pytest.mark.parametrize("digits", [None, 2])
@pytest.mark.parametrize("target", [0.5, 0.8, 0.95, 1.0])
def test_plain_recall_is_the_highest_cut_of_the_roc_curve(digits, target):
    y, s = drawn(500, digits=digits)
    fpr, tpr, cuts = roc_curve(y, s, drop_intermediate=False)
    rule = sw.threshold(y, s, at=f"recall >= {target}", guarantee=0)
    best = cuts[np.argmax(tpr >= target)]
    np.testing.assert_array_equal(rule(s), s >= best)
    if target < 1:  # the most recall, and the fewest alerts that have it
        rule = sw.threshold(y, s, at=f"fpr <= {1 - target:g}", guarantee=0)
        most = tpr[fpr <= 1 - target + 1e-12].max()
        np.testing.assert_array_equal(rule(s), s >= cuts[np.argmax(tpr >= most)])


@pytest.mark.parametrize("target", [0.3, 0.6, 0.8])
def test_plain_precision_has_the_most_recall(target):
    precision, recall, _ = precision_recall_curve(Y, S)
    rule = sw.threshold(Y, S, at=f"precision >= {target}", guarantee=0)
    assert rate(rule, Y, S) == recall[:-1][precision[:-1] >= target].max()
    assert Y[rule(S)].mean() >= target


@pytest.mark.parametrize(
    ("best", "value"),
    [
        ("youden", lambda y, d: d[y == 1].mean() - d[y == 0].mean()),
        ("f1", lambda y, d: fbeta_score(y, d, beta=1, zero_division=0)),
        ("f2", lambda y, d: fbeta_score(y, d, beta=2, zero_division=0)),
        ("kappa", cohen_kappa_score),
        ("cost", lambda y, d: -(7 * (y & ~d).sum() + (~y.astype(bool) & d).sum())),
    ],
)
def test_best_is_the_largest_of_a_loop_over_all_cuts(best, value):
    y, s = drawn(300, 0.3, digits=2)
    rule = sw.threshold(y, s, best=best, cost=7 if best == "cost" else None)
    most = max(value(y, s >= cut) for cut in np.unique(s))
    assert value(y, rule(s)) == pytest.approx(most)
    near = rule.document().cuts[0].near
    assert near.low <= rule.document().cuts[0].cut.upto <= near.high


def test_cost_at_another_prevalence_is_that_of_weighted_rows():
    y, s = drawn(400, 0.3, digits=2)
    weight = np.where(y == 1, 0.02 / y.mean(), 0.98 / (1 - y.mean()))
    one = sw.threshold(y, s, cost=20, prevalence=0.02)
    other = sw.threshold(y, s, cost=20, weight=weight)
    np.testing.assert_array_equal(one(s), other(s))


def test_several_constraints_are_kept_by_the_cut():
    rule = sw.threshold(Y, S, at=["recall >= 0.6", "alert_rate <= 20%"], guarantee=0)
    alerts = rule(S)
    assert alerts[Y == 1].mean() >= 0.6
    assert alerts.mean() <= 0.2


# Guaranteed cuts


@pytest.mark.parametrize("digits", [None, 2])
@pytest.mark.parametrize(("target", "sure"), [(0.9, 0.95), (0.8, 0.99), (0.95, 0.9)])
def test_guaranteed_recall_is_the_order_statistic_of_wilks(digits, target, sure):
    y, s = drawn(digits=digits)
    up = np.sort(s[y == 1])
    m = len(up)
    k = max(k for k in range(m) if beta.ppf(1 - sure, m - k, k + 1) >= target)
    rule = sw.threshold(y, s, at=f"recall >= {target}", guarantee=sure)
    assert rule.guaranteed
    np.testing.assert_array_equal(rule(s), s >= up[k])
    assert rule.threshold <= up[k]


@pytest.mark.parametrize("at", ["fpr <= 5%", "specificity >= 0.95"])
def test_guaranteed_specificity_is_the_order_statistic_of_the_negatives(at):
    down = np.sort(S[Y == 0])[::-1]
    n = len(down)
    k = max(k for k in range(n) if beta.ppf(0.95, k + 1, n - k) <= 0.05)
    rule = sw.threshold(Y, S, at=at)
    assert rule.guaranteed
    assert rule.threshold > down[k]
    # of the cuts that keep it the most recall, with the fewest alerts
    assert rule(S)[Y == 0].sum() <= k
    assert rate(rule, Y, S) == (down[k] < S)[Y == 1].mean()


def test_guaranteed_alert_rate_counts_all_rows():
    n = len(S)
    k = max(k for k in range(n) if beta.ppf(0.95, k + 1, n - k) <= 0.1)
    rule = sw.threshold(Y, S, at="alert_rate <= 0.1")
    assert rule(S).sum() <= k
    assert rule(S)[Y == 1].sum() == Y[np.argsort(-S)[:k]].sum()


def test_guaranteed_precision_is_the_end_of_a_sequence_of_exact_tests():
    y, s = drawn(5000)
    cuts = grid(sw.Tally.of(y, s))
    need, last, begun = 6, None, False  # 0.6 ** 6 <= 0.05
    for cut in cuts:
        alerts = s >= cut
        begun = begun or alerts.sum() >= need
        if not begun:
            continue
        if binom.sf(y[alerts].sum() - 1, alerts.sum(), 0.6) > 0.05:
            break
        last = cut
    rule = sw.threshold(y, s, at="precision >= 0.6")
    assert rule.threshold == last
    assert rule.document().cuts[0].method == "fixed sequence of exact tests"


def test_the_grid_does_not_look_at_the_data():
    a, b = (grid(sw.Tally.of(*drawn(100, prevalence))) for prevalence in (0.02, 0.4))
    np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(np.log(a / (1 - a)), np.arange(12, -12.1, -0.25), atol=0.006)
    assert (np.diff(a) < 0).all()


def test_of_constraints_that_pull_apart_each_has_half_of_the_error():
    y, s = drawn(5000)
    rule = sw.threshold(y, s, at="recall >= 0.7 and fpr <= 0.3")
    up, m = np.sort(s[y == 1]), int(y.sum())
    k = max(k for k in range(m) if beta.ppf(0.025, m - k, k + 1) >= 0.7)
    np.testing.assert_array_equal(rule(s), s >= up[k])  # the fewest alerts
    both = sw.threshold(y, s, at="recall >= 0.6 and precision >= 0.2")
    assert both.guaranteed
    assert "half of the error" in both.document().cuts[0].method


def test_guaranteed_recall_is_seldom_broken_and_plain_recall_often():
    """Binormal scores, whose recall at any cut is known."""
    from scipy.stats import norm

    broken = np.zeros(2)
    for seed in range(80):
        rng = np.random.default_rng(seed)
        y = np.arange(300) < 100
        s = rng.normal(size=300) + y
        for i, sure in enumerate((0, 0.95)):
            cut = sw.threshold(y, s, at="recall >= 0.9", guarantee=sure).threshold
            broken[i] += norm.sf(cut - 1) < 0.9
    assert broken[0] > 25
    assert broken[1] <= 10  # 4 are expected at most, and 10 are beyond chance


def test_the_price_is_told():
    doc = sw.threshold(Y, S, at="recall >= 0.9").document()
    sure, plain = doc.cuts
    assert (sure.name, plain.name) == ("guaranteed", "plain")
    assert sure.alert_rate.value > plain.alert_rate.value
    text = doc.verdict[0].sentence
    assert "recall is at least 90%, with 95% confidence" in text
    assert f"{round(100 * plain.alert_rate.value)}%" in text
    assert doc.verdict[0].finding == "guaranteed"


def test_prices_that_are_near_each_other_are_told_apart():
    y, s = np.repeat([1, 0], 20_000), np.linspace(1, 0, 40_000) ** 2
    sure, plain = (cut := sw.threshold(y, s, at="recall >= 0.9").document()).cuts
    rates = [f"{100 * c.alert_rate.value:.3g}%" for c in (sure, plain)]
    assert rates[0] != rates[1]
    assert f"That flags {rates[0]} of rows; the plain cut" in cut.verdict[0].sentence
    assert cut.verdict[0].sentence.endswith(f"flags {rates[1]}.")


def test_too_few_positives_are_said_or_refused():
    y, s = drawn(200)
    n = int(y.sum())
    rule = sw.threshold(y, s, at="recall >= 0.95")
    assert not rule.guaranteed
    why = f"recall >= 0.95 cannot be guaranteed with 95% confidence: there are {n} positives, and"
    assert f"{why} it takes 59" in rule.document().verdict[0].sentence
    with pytest.raises(sw.BadInput, match="it takes 59 at least; the cut that keeps it"):
        sw.threshold(y, s, at="recall >= 0.95", guarantee=0.95)
    assert 0.95**59 <= 0.05 < 0.95**58


def test_the_cut_at_which_recall_is_truly_so_has_an_exact_interval():
    up, m = np.sort(S[Y == 1]), int(Y.sum())
    near = sw.threshold(Y, S, at="recall >= 0.8", guarantee=0).document().cuts[0].near
    inside = [
        k
        for k in range(m)
        if binom.cdf(m - k, m, 0.8) > 0.025 and binom.sf(m - k - 1, m, 0.8) > 0.025
    ]
    assert near.high == up[inside[-1]]
    assert up[inside[0] - 1] < near.low <= up[inside[0]]


@pytest.mark.parametrize("kind", ["logit", "score"])
def test_cuts_of_other_scales(kind):
    odds = np.log(S / (1 - S))
    one, other = (
        sw.threshold(Y, S, at="recall >= 0.9"),
        sw.threshold(Y, odds, at="recall >= 0.9", kind=kind),
    )
    np.testing.assert_array_equal(one(S), other(odds))
    rule = sw.threshold(Y, odds, at="precision >= 0.5", kind=kind)
    assert rule.guaranteed is (kind == "logit")
    if kind == "score":
        assert (
            "these scores are not probabilities; calibrate" in rule.document().verdict[0].sentence
        )


def test_tallies_counts_and_32_bits_give_the_same_cut():
    rule = sw.threshold(Y, S, at="recall >= 0.9")
    assert sw.threshold(sw.Tally.of(Y, S), at="recall >= 0.9").threshold == rule.threshold
    y, s = drawn(300, 0.3, digits=2)
    count = np.random.default_rng(0).integers(1, 4, 300)
    one = sw.threshold(y, s, at="recall >= 0.8", count=count)
    assert (
        one.threshold
        == sw.threshold(y.repeat(count), s.repeat(count), at="recall >= 0.8").threshold
    )
    short = S.astype(np.float32)
    rule = sw.threshold(Y, short, at="recall >= 0.9")
    assert rate(rule, Y, short) == rule.document().cuts[0].sensitivity.value


# The operating point


def test_operating_points_are_those_of_evaluate():
    rule = sw.threshold(Y, S, at="recall >= 0.9")
    e, point = sw.evaluate(Y, S, threshold=rule.threshold), rule.document().cuts[0]
    for name in ("sensitivity", "specificity", "precision", "npv"):
        ours, theirs = getattr(point, name), e[name]
        assert (ours.value, ours.low, ours.high) == (theirs.value, theirs.low, theirs.high)
    assert point.alert_rate.value == rule(S).mean()


def test_points_hold_every_cut_with_its_interval():
    y, s = drawn(200, 0.3, digits=2)
    points = sw.threshold(y, s, best="youden").points
    assert points["threshold"].to_list() == sorted(set(s), reverse=True)
    for row in points.iter_rows(named=True):
        e = sw.evaluate(y, s, threshold=row["threshold"])
        for name in ("sensitivity", "specificity", "precision"):
            assert row[name] == pytest.approx(e[name].value)
            assert row[f"{name}_low"] == pytest.approx(e[name].low)
            assert row[f"{name}_high"] == pytest.approx(e[name].high)
        break


def test_thinned_points_are_within_the_stated_error():
    y, s = drawn(3000)
    rule = sw.threshold(y, s, best="youden")
    kept, every = rule.document().points, rule.points
    assert kept.cuts == 3000
    assert len(kept.threshold) <= 103
    assert 0 < kept.error < 0.05
    cut = np.array(kept.threshold)
    for name in ("sensitivity", "specificity"):
        at = np.searchsorted(-cut, -every["threshold"].to_numpy(), side="right") - 1
        off = np.abs(np.array(getattr(kept, name))[at] - every[name].to_numpy())
        assert off.max() <= kept.error + 1e-12


def test_ppv_and_npv_elsewhere_are_those_of_bayes():
    rule = sw.threshold(Y, S, best="youden", prevalence=0.01)
    point, there = rule.document().cuts[0], rule.document().elsewhere
    a, b = point.sensitivity.value, point.specificity.value
    assert there.ppv.value == pytest.approx(a * 0.01 / (a * 0.01 + (1 - b) * 0.99))
    assert there.npv.value == pytest.approx(b * 0.99 / (b * 0.99 + (1 - a) * 0.01))
    assert there.ppv.low < there.ppv.value < there.ppv.high
    assert there.alert_rate == pytest.approx(a * 0.01 + (1 - b) * 0.99)
    assert "Where 1% of rows are positive" in rule.document().verdict[2].sentence + str(rule)


def test_two_cuts_with_reviews_are_the_best_of_all_pairs():
    y, s = drawn(200, 0.3, digits=1)
    cuts = [*np.unique(s), 2.0]
    cost = {
        (a, b): 8 * y[s < a].sum() + (1 - y)[s >= b].sum() + 0.3 * ((s >= a) & (s < b)).sum()
        for a in cuts for b in cuts if a <= b
    }  # fmt: skip
    rule = sw.threshold(y, s, cost=8, review=0.3)
    found = rule.document().reject
    assert found.cost == pytest.approx(min(cost.values()) / 200)
    assert found.alone == pytest.approx(min(c for (a, b), c in cost.items() if a == b) / 200)
    assert found.reviewed == rule.review(s).mean()
    assert sw.threshold(y, s, cost=8, review=5).document().reject is None


def test_scores_that_rank_backwards_are_noticed():
    assert (
        "is the right class positive?" in sw.threshold(Y, 1 - S, best="youden").document().hints[0]
    )
    assert sw.threshold(Y, S, best="youden").document().hints == []


# Clusters


def test_clusters_make_the_guarantee_and_the_intervals_wider():
    rng = np.random.default_rng(3)
    who = np.repeat(np.arange(150), 8)
    latent = rng.normal(size=150)[who] + 0.4 * rng.normal(size=1200)
    y, s = latent > 0.6, latent + 1.2 * rng.normal(size=150)[who] + 0.3 * rng.normal(size=1200)
    alone, told = (sw.threshold(y, s, at="recall >= 0.8", cluster=c) for c in (None, who))
    assert told.guaranteed
    assert told.threshold < alone.threshold
    widths = [r.document().cuts[1].sensitivity for r in (alone, told)]
    assert widths[1].high - widths[1].low > 1.5 * (widths[0].high - widths[0].low)
    assert "approximate" in told.document().cuts[0].method


def test_clusters_of_one_row_are_no_clusters():
    alone = sw.threshold(Y, S, at="recall >= 0.9").document().cuts[0].sensitivity
    each = sw.threshold(Y, S, at="recall >= 0.9", cluster=np.arange(len(Y))).document().cuts[0]
    assert each.sensitivity.value == pytest.approx(alone.value, abs=0.01)


# The rule, saved and applied


def test_a_saved_rule_decides_alike(tmp_path):
    rule = sw.threshold(Y, S, at="recall >= 0.9", cost=9, review=0.2)
    rule.save(tmp_path / "rule.json")
    again = sw.ThresholdRule.load(tmp_path / "rule.json")
    np.testing.assert_array_equal(again(S), rule(S))
    np.testing.assert_array_equal(again.review(S), rule.review(S))
    assert again.to_dict() == rule.to_dict()
    assert str(again) == str(rule)
    assert again.positive == "1"
    with pytest.raises(sw.BadInput, match="thinned points only"):
        _ = again.points


def test_an_edited_rule_is_refused(tmp_path):
    path = tmp_path / "rule.json"
    sw.threshold(Y, S, at="recall >= 0.9").save(path)
    doc = json.loads(path.read_text())
    doc["rule"]["threshold"] = 0.5
    path.write_text(json.dumps(doc))
    with pytest.raises(
        sw.BadInput, match=r"rule.json is damaged or was edited; choose the threshold again"
    ):
        sw.ThresholdRule.load(path)
    for text, said in (
        ("{", "is not JSON"),
        ("{}", "holds no rule"),
        ('{"command": "threshold"}', "format None"),
    ):
        path.write_text(text)
        with pytest.raises(sw.BadInput, match=said):
            sw.ThresholdRule.load(path)
    with pytest.raises(sw.BadInput, match="cannot be read"):
        sw.ThresholdRule.load(tmp_path / "absent.json")


def test_documents_conform_to_their_schema():
    made = schema("threshold")
    check_described(made)
    for options in ({"at": "recall >= 0.9"}, {"cost": 9, "review": 0.2, "prevalence": 0.01}):
        doc = json.loads(sw.threshold(Y, S, **options).to_json())
        jsonschema.Draft202012Validator(made).validate(doc)
    assert "Operating point" in sw.threshold(Y, S, best="f1").to_markdown()


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        f"{i},{'ill' if y else 'well'},{s!r}"
        for i, (y, s) in enumerate(zip(Y, S.tolist(), strict=True))
    ]
    (tmp_path / "a.csv").write_text("\n".join(["id,outcome,risk", *rows]) + "\n")


def test_the_command_writes_a_rule_and_applies_it(files, capsys):
    line = ["threshold", "a.csv", "--label", "outcome", "--score", "risk", "--at", "recall >= 90%"]
    assert run([*line, "-o", "rule.json"]) == 0
    assert "recall is at least 90%, with 95% confidence" in " ".join(
        capsys.readouterr().out.split()
    )
    assert (
        run(["threshold", "apply", "rule.json", "a.csv", "--score", "risk", "-o", "out.csv"]) == 0
    )
    import polars as pl

    out = pl.read_csv("out.csv")
    rule = sw.ThresholdRule.load("rule.json")
    assert out.columns == ["id", "outcome", "risk", "risk_alert"]
    np.testing.assert_array_equal(out["risk_alert"].to_numpy() == 1, rule(S))
    assert "wrote out.csv: 2,000 rows" in capsys.readouterr().err


BAD = [
    ([], "no goal of the threshold is given; pass --at 'recall >= 0.9' or --best youden"),
    (["--at", "recall"], "'recall' is not a constraint; write \"recall >= 0.9\""),
    (["--at", "recall > 0.9"], "'recall > 0.9' is not a constraint; write \"recall >= 0.9\""),
    (["--at", "recal >= 0.9"], "'recal' is no measure of a cut; did you mean recall?"),
    (["--at", "auroc >= 0.9"], "'auroc' is no measure of a cut; there are recall, fnr"),
    (["--at", "recall >= 1.2"], "between 0 and 1, but 'recall >= 1.2' is given\n"),
    (["--at", "blue >= 0.9"], "'blue' is no measure of a cut; there are recall, fnr"),
    (["--at", "recall >= 90"], "between 0 and 1, but 'recall >= 90' is given; did you mean 90%?"),
    (["--at", "recall >= 0.9 and recall <= 0.5"], "contradict each other: no cut keeps both"),
    (["--at", "recall >= 0.9 and alert_rate <= 1%"], "with recall >= 0.9, alert_rate is at least 0.4"),
    (["--at", "f1 >= 0.99"], "no cut that flags any row keeps f1 >= 0.99: the highest f1 is"),
    (["--at", "recall >= 0.99", "--guarantee", "0.95"], "and it takes 299 at least; the cut that keeps it"),
    (["--at", "recall >= 1", "--guarantee", "0.95"], "no number of rows shows a share of 0 or 1"),
    (["--at", "f1 >= 0.3", "--guarantee", "0.95"], "f1 >= has no guarantee"),
    (["--at", "recall >= 0.9", "--guarantee", "95"], "--guarantee must lie between 0 and 1, such as 0.95"),
    (["--best", "youden", "--guarantee", "0.95"], "--guarantee 0.95 needs a constraint"),
    (["--best", "cost"], "the cost of a missed positive is missing; pass --cost 10"),
    (["--best", "f1", "--cost", "3"], "--cost 3.0 has no effect here; pass --best cost with it"),
    (["--best", "f1", "--review", "0.2"], "--review 0.2 needs the cost of a missed positive"),
    (["--cost", "-1"], "--cost must be a positive number"),
    (["--best", "f1", "--prevalence", "2"], "--prevalence must lie between 0 and 1"),
    (["--best", "auc"], "'auc'"),
    (["--best", "f1", "-o", "rule.csv"], "--out rule.csv has to end in .json"),
    (["--best", "f1", "--cluster", "nobody"], "there is no column 'nobody'"),
]  # fmt: skip


@pytest.mark.parametrize(("more", "sentence"), BAD, ids=str)
def test_bad_input_is_one_sentence(files, capsys, more, sentence):
    assert run(["threshold", "a.csv", "--label", "outcome", "--score", "risk", *more]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.count("\n") == 1
    assert sentence in err


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: sw.threshold([1, 1], [0.2, 0.3], best="f1"),
            "no negatives; it takes rows of both classes",
        ),
        (lambda: sw.threshold([1, 0], best="f1"), "scores are missing"),
        (lambda: sw.threshold(Y, S, at=0.5), "constraints are text, but 0.5 is given"),
        (lambda: sw.threshold(Y, S, at=[0.5]), "constraints are text, but 0.5 is given"),
        (lambda: sw.threshold(Y, S, best="f1", label="y"), "label= belongs to files and frames"),
        (
            lambda: sw.threshold(Y, S, best="f1", cluster="who"),
            "names a column of files and frames",
        ),
        (lambda: sw.threshold(sw.Tally.of(Y, S), S, best="f1"), "a tally has its scores"),
        (lambda: sw.threshold(Y, S, best="f1")([[0.1, 0.9]]), "pass one column of it"),
        (lambda: sw.threshold(Y, S, best="f1")([0.1, 3.0]), "outside"),
        (
            lambda: sw.threshold(Y, S, best="f1")([0.1, np.nan]),
            "score is missing in 1 row, row 1, counting from 0; leave such rows out first",
        ),
        (lambda: sw.threshold(Y, S, best="f1").review([0.1]), "the rule has one cut"),
        (
            lambda: sw.threshold(Y, S, at="recall >= 0.9", weight=S, guarantee=0.9),
            "rows are weighted",
        ),
    ],
)
def test_bad_calls_are_told(call, sentence):
    with pytest.raises(sw.BadInput, match=sentence):
        call()


def test_constraints_are_read_in_many_spellings():
    for text in (
        "recall >= 0.9",
        "Recall>=90%",
        "sensitivity ≥ 90 %",
        "TPR >= .9",
        "true positive rate >= 0.9",
    ):
        (found,) = parse_constraints(text)
        assert (found.measure, found.sign, found.limit) == ("sensitivity", ">=", 0.9)
    many = parse_constraints(["ppv >= 0.8, npv >= 0.9", "fpr <= 1e-2 AND miss_rate <= 5%"])
    assert [c.measure for c in many] == ["precision", "npv", "fpr", "fnr"]


# The rule around a model


def test_a_model_decides_by_the_rule(tmp_path):
    from sklearn.linear_model import LogisticRegression

    rng = np.random.default_rng(0)
    x = rng.normal(size=(600, 2))
    y = np.where(rng.random(600) < 1 / (1 + np.exp(1 - 2 * x[:, 0])), "ill", "well")
    model = LogisticRegression().fit(x[:300], y[:300])
    p = model.predict_proba(x[300:])[:, 0]  # of ill
    rule = sw.threshold(y[300:], p, at="recall >= 0.8", positive="ill")
    rule.save(tmp_path / "rule.json")
    wrapped = sw.ThresholdClassifier(model, rule)
    np.testing.assert_array_equal(wrapped.predict(x) == "ill", rule(model.predict_proba(x)[:, 0]))
    again = sw.ThresholdClassifier(LogisticRegression(), tmp_path / "rule.json").fit(
        x[:300], y[:300]
    )
    np.testing.assert_array_equal(again.predict(x), wrapped.predict(x))
    np.testing.assert_array_equal(again.predict_proba(x), model.predict_proba(x))
    odds = sw.threshold(
        y[300:], -model.decision_function(x[300:]), at="recall >= 0.8", positive="ill"
    )
    wrapped = sw.ThresholdClassifier(model, odds)
    np.testing.assert_array_equal(wrapped.predict(x), again.predict(x))
    other = sw.threshold(y[300:] == "ill", p, at="recall >= 0.8")
    with pytest.raises(
        sw.BadInput, match="alerts for 'True', but the classes of the model are 'ill' and"
    ):
        sw.ThresholdClassifier(model, other).predict(x)
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        sw.ThresholdClassifier(LogisticRegression(), rule).predict(x)


def test_a_wrapped_model_can_be_cloned_and_cross_validated():
    from sklearn.base import clone
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict

    rng = np.random.default_rng(1)
    x = rng.normal(size=(200, 1))
    y = (rng.random(200) < 1 / (1 + np.exp(-2 * x[:, 0]))).astype(int)
    rule = sw.threshold(y, 1 / (1 + np.exp(-2 * x[:, 0])), at="recall >= 0.8")
    model = clone(sw.ThresholdClassifier(LogisticRegression(), rule))
    found = cross_val_predict(model, x, y)
    assert set(found) == {0, 1}
    assert found[y == 1].mean() > 0.75


# Groups


def wards(n=4000, seed=0):
    """Labels, scores that are too low in ward b, and wards, of which c is small."""
    rng = np.random.default_rng(seed)
    ward = rng.choice(["a", "b", "c"], n, p=[0.6, 0.36, 0.04])
    x = rng.normal(-1, 1.5, n)
    y = (rng.random(n) < 1 / (1 + np.exp(-x))).astype(int)
    return y, 1 / (1 + np.exp(-x)) * np.where(ward == "b", 0.6, 1.0), ward


def test_own_cuts_are_those_of_the_rows_of_the_group():
    y, p, ward = wards()
    rule = sw.threshold(y, p, at="recall >= 0.9", by={"ward": ward})
    assert rule.threshold == sw.threshold(y, p, at="recall >= 0.9").threshold
    found = {g.name: g for g in rule.document().groups}
    for name, g in found.items():
        alone = sw.threshold(y[ward == name], p[ward == name], at="recall >= 0.9")
        assert g.own.cut.threshold == alone.threshold == rule.groups[name]
        assert (g.own.name == "guaranteed") == alone.guaranteed
        at = alone.document().cuts[0]
        assert (g.own.tp, g.own.sensitivity.low) == (at.tp, at.sensitivity.low)
        called = p[ward == name] >= rule.threshold
        assert g.common.tp == (called & (y[ward == name] == 1)).sum()
        # kept exactly where the common cut is at or below the group's own
        assert (g.promise == "kept") == (rule.threshold <= g.own.cut.threshold)
    assert found["a"].promise == "kept"
    assert found["b"].promise == "broken"
    text = str(rule)
    assert "broken in 'b' (recall 8" in " ".join(text.split())
    assert "── By group" in text


def test_groups_that_keep_precision_are_in_their_own_sequence():
    y, p, ward = wards(8000, seed=3)
    rule = sw.threshold(y, p, at="precision >= 0.6", by={"ward": ward})
    assert rule.guaranteed
    for g in rule.document().groups:
        if g.own.name == "guaranteed" and g.promise == "kept":
            assert g.own.cut.threshold <= rule.threshold


def test_a_rule_applies_own_cuts_also_after_saving(tmp_path):
    y, p, ward = wards()
    rule = sw.threshold(y, p, at="recall >= 0.9", by={"ward": ward})
    rule.save(tmp_path / "rule.json")
    for r in (rule, sw.ThresholdRule.load(tmp_path / "rule.json")):
        own = r.predict(p, groups=ward)
        for name, cut in r.groups.items():
            assert (own[ward == name] == (p[ward == name] >= cut)).all()
    with pytest.raises(
        sw.BadInput, match="no cut is known for group 'd' in row 1, counting from 0; there"
    ):
        rule.predict([0.1, 0.2], groups=["a", "d"])
    with pytest.raises(sw.BadInput, match="1 groups do not match 2 scores"):
        rule.predict([0.1, 0.2], groups=["a"])


def test_kept_in_a_group_is_seldom_wrong():
    """A cut that is chosen on all rows, of groups whose true recall at it is known."""
    from scipy.stats import binom, norm

    wrong = own_wrong = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        group = rng.integers(0, 2, 1200)
        y = rng.random(1200) < 0.3
        x = rng.normal(size=1200) + 2.0 * y - 0.25 * group * y
        rule = sw.threshold(y, x, kind="score", at="recall >= 0.9", by={"g": group}, positive=True)
        for g in rule.document().groups:
            shift = 2.0 - 0.25 * int(g.name)
            wrong += g.promise == "kept" and norm.sf(rule.threshold - shift) < 0.9
            own_wrong += g.own.name == "guaranteed" and (norm.sf(g.own.cut.threshold - shift) < 0.9)
    assert wrong <= binom.ppf(0.999, 120, 0.05)
    assert own_wrong <= binom.ppf(0.999, 120, 0.05)


def test_groups_of_one_class_and_too_few_are_said():
    y, p, ward = wards(400)
    ward[:3], y[:3] = "z", 0
    rule = sw.threshold(y, p, at="recall >= 0.95", by={"ward": ward})
    found = {g.name: g for g in rule.document().groups}
    assert found["z"].common is None
    assert "positive" in found["z"].why
    assert "it takes 59 at least" in found["c"].why
    with pytest.raises(sw.BadInput, match="all rows are in one group"):
        sw.threshold(y, p, at="recall >= 0.9", by={"ward": np.full(400, "a")})
    with pytest.raises(sw.BadInput, match="a tally has none"):
        sw.threshold(sw.Tally.of(y, p), at="recall >= 0.9", by=ward)


def test_a_guarantee_by_cluster_says_that_it_is_approximate():
    y, p, ward = wards(3000)
    rule = sw.threshold(y, p, at="recall >= 0.9", cluster=np.arange(3000) // 3, by={"ward": ward})
    said = [c.sentence for c in rule.document().verdict]
    assert "with about 95% confidence (approximate, by cluster)" in said[0]
    assert any("with about 95% confidence each" in x for x in said)


def test_the_command_takes_groups(tmp_path, capsys):
    y, p, ward = wards(1500)
    lines = "\n".join(f"{a},{b},{c}" for a, b, c in zip(y, p, ward, strict=True))
    (tmp_path / "w.csv").write_text(f"y,p,ward\n{lines}\n")
    at = ["--label", "y", "--score", "p", "--at", "recall >= 0.9"]
    assert run(["threshold", str(tmp_path / "w.csv"), *at, "--by", "ward"]) == 0
    assert "By group" in capsys.readouterr().out
    assert run(["threshold", str(tmp_path / "w.csv"), *at, "--by", "p"]) == 2
    assert "as score and as group" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("at", "name", "limit"),
    [
        ("fnr <= 10%", "sensitivity", 0.9),
        ("precision >= 0.5", "precision", 0.5),
        ("f1 >= 0.5", "sensitivity", None),
    ],
)
def test_the_common_cut_in_each_group_is_drawn_beside_what_is_asked(at, name, limit, tmp_path):
    y, p, ward = wards(1500)
    rule = sw.threshold(y, p, at=at, by={"ward": ward})
    (drawn,) = figures_of(rule.document())["slices"]
    text = drawn.svg()
    assert drawn.title == f"{MEASURES[name].title} at the common cut, by ward"
    assert (">asked<" in text) == (limit is not None)
    for g, row in zip(rule.document().groups, drawn.table.rows, strict=True):
        assert row[0] == g.name
        assert row[1].startswith(f"{getattr(g.common, name).value:.3f} [")
    rule.report(tmp_path / "rule.html")
    assert "at the common cut" in (tmp_path / "rule.html").read_text("utf-8")


@pytest.mark.parametrize("goal", [
    {"at": "recall >= 0.7"}, {"at": "precision >= 0.6"}, {"best": "youden"}, {"best": "kappa"},
    {"best": "f1"}, {"cost": 4}, {"cost": 4, "review": 0.2},
])  # fmt: skip
def test_a_rule_goes_through_pickle_with_its_points(goal):
    rng = np.random.default_rng(0)
    p = rng.random(200)
    rule = sw.threshold(rng.random(200) < p, p, **goal)
    for again in (copy.deepcopy(rule), pickle.loads(pickle.dumps(rule))):
        assert again.to_json() == rule.to_json()
        assert again.predict(p).tolist() == rule.predict(p).tolist()
        assert again.points.equals(rule.points)
