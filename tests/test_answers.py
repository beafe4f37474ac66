"""Judged answers: measures called directly, loops, sklearn, and what must not matter."""

import json
import math
from dataclasses import replace

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sk

import scorewise as sw
from scorewise import BadInput, Tally
from scorewise.answering.measures import (
    ALL_MEASURES,
    PAGE_MEASURES,
    Sample,
    overconfidence,
    selective_accuracy,
    soft_brier,
)
from scorewise.show.document import schema as document_schema

TALLIED = ["ece", "smece", "brier", "mcb", "dsc", "unc", "auroc", "aurc", "log_loss", "augrc"]


def soft(n=200, seed=0):
    """Qualities as ANLS gives them, and a confidence that goes along with them."""
    rng = np.random.default_rng(seed)
    part = np.where(rng.random(n) < 0.6, 1.0, 0.5 + rng.random(n) / 2)
    q = np.where(rng.random(n) < 0.4, 0.0, part)
    return q, np.clip(0.5 * q + rng.random(n) * 0.6, 0, 1).round(3)


def judged(q, c, **options):
    return sw.answers(confidence=c, quality=q, **options)


def same(a, b):
    """Equal estimates, NaN being equal to NaN."""
    return repr(a) == repr(b) and a.method == b.method


@pytest.mark.parametrize("tau", [0.0, 0.5, 0.8])
@pytest.mark.parametrize("name", TALLIED)
def test_measures_are_those_of_the_tally(name, tau):
    q, c = soft()
    a = judged(q, c, tau=tau, seed=3)
    options = {"seed": 3} if name in ("ece", "smece", "mcb", "dsc") else {}
    direct = getattr(sw.measures, name)(Tally.of(q > tau, c), **options)
    assert a[name] == direct
    assert getattr(a, name) == direct


def test_values_against_sklearn():
    q, c = soft()
    a = judged(q, c, tau=0.7)
    y = q > 0.7
    assert a.accuracy.value == pytest.approx(y.mean())
    assert a.auroc.value == pytest.approx(sk.roc_auc_score(y, c))
    assert a.brier.value == pytest.approx(sk.brier_score_loss(y, c))
    assert a.mean_confidence.value == pytest.approx(c.mean())
    assert a.overconfidence.value == pytest.approx(c.mean() - y.mean())
    assert a.mean_quality.value == pytest.approx(q.mean())
    assert a.soft_brier.value == pytest.approx(sk.mean_squared_error(q, c))
    assert a.soft_brier.baseline == pytest.approx(q.var())
    assert a.mcb.value - a.dsc.value + a.unc.value == pytest.approx(a.brier.value)


def test_texts_can_be_given_in_order_or_by_name():
    gold, said, sure = (
        ["Paris", ["Rome", "Roma"], "Oslo"],
        ["paris", "roma", "Bergen"],
        [0.9, 0.8, 0.7],
    )
    a = sw.answers(gold, said, sure)
    b = sw.answers(gold=gold, predicted=said, confidence=sure)
    with pytest.warns(UserWarning, match="gold: column 'answers'"):
        c = sw.answers({"answers": gold, "said": said, "p": sure}, "said", "p")
    assert (
        a.rows.quality.tolist() == [1, 1, 0] == b.rows.quality.tolist() == c.rows.quality.tolist()
    )
    assert a.ece == b.ece == c.ece
    assert sw.answers(gold, said, sure, by=["x", "y", "x"]).groups.by == ("group",)


def test_correct_is_strictly_above_tau():
    a = judged([0.5, 0.5, 1.0, 0.4], [0.1, 0.2, 0.9, 0.3])
    assert a.accuracy.value == 0.25
    assert a.at(math.nextafter(0.5, 0)).accuracy.value == 0.75


def test_bins_and_level_are_passed_on():
    q, c = soft()
    a = judged(q, c, bins=7, level=0.8)
    assert a.ece == sw.measures.ece(Tally.of(q > 0.5, c), bins=7, level=0.8)
    assert {e.level for e in a["confidence"].values()} == {0.8}
    assert next(m for m in a.to_dict()["confidences"][0]["measures"] if m["name"] == "ece")[
        "title"
    ] == ("ECE, 7 bins")


qualities = st.lists(
    st.tuples(
        st.sampled_from([0.0, 0.25, 0.6, 0.75, 1.0]),
        st.sampled_from([0.0, 0.1, 0.5, 0.9, 1.0]),
        st.integers(1, 4),
    ),
    min_size=1,
    max_size=25,
)


@given(qualities)
def test_soft_brier_is_a_loop(rows):
    q, c, w = (np.array(x, float) for x in zip(*rows, strict=True))
    total = sum(wi * (ci - qi) ** 2 for qi, ci, wi in zip(q, c, w, strict=True))
    assert soft_brier(Sample(q, c, w)).value == pytest.approx(total / w.sum())


@settings(max_examples=12)
@given(qualities)
def test_order_of_the_answers_does_not_matter(rows):
    q, c, _ = (np.array(x, float) for x in zip(*rows, strict=True))
    forth, back = judged(q, c), judged(q[::-1], c[::-1])
    assert all(forth[m].value == pytest.approx(back[m].value, nan_ok=True) for m in PAGE_MEASURES)


@given(qualities)
def test_weights_times_ten_change_nothing(rows):
    q, c, w = (np.array(x, float) for x in zip(*rows, strict=True))
    a, b = judged(q, c, weight=w), judged(q, c, weight=10 * w)
    for name in ("accuracy", "mean_quality", "overconfidence", "soft_brier", "selective_accuracy"):
        ends = [(e.value, e.low, e.high) for e in (a[name], b[name])]
        assert ends[0] == pytest.approx(ends[1], nan_ok=True), name


@settings(max_examples=12)
@given(qualities)
def test_values_of_weights_are_those_of_repeated_answers(rows):
    q, c, w = (np.array(x, float) for x in zip(*rows, strict=True))
    a = judged(q, c, weight=w)
    n = w.astype(int)
    b = judged(np.repeat(q, n), np.repeat(c, n))
    for name in PAGE_MEASURES:
        if name != "aurc":  # of weights, the expected order within ties is another
            assert a[name].value == pytest.approx(b[name].value, nan_ok=True), name


@settings(max_examples=12)
@given(qualities)
def test_intervals_contain_their_values(rows):
    q, c, _ = (np.array(x, float) for x in zip(*rows, strict=True))
    for name, e in judged(q, c)["confidence"].items():
        if e.defined and math.isfinite(e.low):
            assert e.low - 1e-12 <= e.value <= e.high + 1e-12, name


def test_of_yes_and_no_soft_brier_is_brier_and_quality_accuracy():
    q, c = soft()
    a = judged((q > 0.5).astype(float), c)
    assert (a.soft_brier.low, a.soft_brier.high) == pytest.approx((a.brier.low, a.brier.high))
    assert a.mean_quality == a.accuracy


def test_of_yes_and_no_tau_does_not_matter():
    q, c = soft()
    a = judged(q > 0.5, c)
    for tau in (0.0, 0.3, 0.99):
        assert all(same(a.at(tau)[name], a[name]) for name in PAGE_MEASURES)
    assert a.curve("ece").tau.tolist() == [0.0]
    assert a.to_dict()["confidences"][0]["over_tau"] == []


@pytest.mark.parametrize("name", ["accuracy", "ece", "smece", "auroc", "brier", "mcb", "aurc"])
def test_curve_is_single_calls(name):
    q, c = soft()
    curve = judged(q, c).curve(name)
    assert curve.tau.tolist() == [i / 20 for i in range(20)]
    for tau, e in zip(curve.tau, curve.estimates, strict=True):
        assert same(e, judged(q, c, tau=float(tau))[name])
    assert curve.value.tolist() == [e.value for e in curve.estimates]
    assert (curve.low <= curve.value).all()
    assert (curve.value <= curve.high).all()


def test_curve_on_few_qualities_and_own_thresholds():
    a = judged([0.0, 0.4, 0.4, 0.8, 1.0], [0.1, 0.5, 0.2, 0.9, 0.8])
    curve = a.curve("accuracy")
    assert curve.tau.tolist() == [0.0, 0.4, 0.8]
    assert curve.value.tolist() == [0.8, 0.4, 0.2]
    assert curve.exact
    own = a.curve("accuracy", [0.1, 0.9])
    assert own.value.tolist() == [0.8, 0.2]
    assert not own.exact


def test_a_threshold_that_makes_all_or_none_correct_says_so():
    a = judged([0.6, 0.7, 0.8], [0.5, 0.6, 0.7])
    found = a.curve("auroc", [0.1, 0.65, 0.9]).estimates
    assert [e.why for e in found] == ["every answer is correct", "", "no answer is correct"]
    assert "every answer is correct at tau 0.5" in " ".join(a.to_dict()["hints"])


def test_neighbouring_thresholds_are_computed_once(monkeypatch):
    q, c = soft()
    a, calls = judged(q, c), []
    real = ALL_MEASURES["ece"]
    counting = replace(real, function=lambda t, **o: calls.append(t) or real.function(t, **o))
    monkeypatch.setitem(ALL_MEASURES, "ece", counting)
    a.curve("ece")
    assert len(calls) == len({(q > tau).sum() for tau in np.arange(20) / 20}) < 20


def grouped(n=300, seed=1):
    q, c = soft(n, seed)
    rng = np.random.default_rng(seed)
    model, task = rng.choice(["a", "b"], n), rng.choice(["x", "y", "z"], n)
    other = np.where((model == "a") & (task != "y"), c**2, np.nan)
    return q, {"stated": c, "token": other}, {"model": model, "task": task}


def test_a_group_is_filtering_first():
    q, c, by = grouped()
    a = judged(q, c, by=by, missing="drop")
    keys = sorted(set(zip(by["model"], by["task"], strict=True)))
    assert list(a.groups) == [f"{model} / {task}" for model, task in keys]
    for (model, task), part in zip(keys, a.groups.values(), strict=True):
        assert part is a.groups[model, task]
        at = (by["model"] == model) & (by["task"] == task)
        alone = judged(q[at], c["stated"][at])
        assert part["stated"].answers == at.sum()
        assert all(same(part["stated"][name], alone[name]) for name in PAGE_MEASURES)
    assert sum(p["stated"].answers for p in a.groups.values()) == len(q)


def test_a_confidence_that_is_missing_is_left_out_where_it_is_missing():
    q, c, by = grouped()
    a = judged(q, c, by=by, missing="drop")
    there = ~np.isnan(c["token"])
    assert a["token"].answers == there.sum()
    assert a["stated"].answers == len(q)
    assert same(a["token"].ece, judged(q[there], c["token"][there]).ece)
    assert {key for key, part in a.groups.items() if "token" in part} == {"a / x", "a / z"}
    doc = a.to_dict()["confidences"]
    assert [d["missing"] for d in doc] == [0, int((~there).sum())]


def test_groups_without_end_are_not_listed():
    ids = np.arange(2001)
    with pytest.raises(BadInput, match="'id' makes 2,001 groups, more than the 2,000"):
        judged(np.ones(2001), np.full(2001, 0.9), by={"id": ids})


def test_groups_of_one_column_are_found_by_word():
    q, c, by = grouped()
    a = judged(q, c["stated"], by={"model": by["model"]})
    assert a.groups["a"] is a.groups[("a",)]
    assert a.groups["a"].ece == a.groups["a"]["confidence"].ece
    with pytest.raises(KeyError, match="no group is named c; there are a, b"):
        a.groups["c"]


def test_several_confidences_are_to_be_chosen_from():
    q, c, _ = grouped()
    a = judged(q, c, missing="drop")
    with pytest.raises(AttributeError, match="2 confidences, stated, token; choose one"):
        a.ece  # noqa: B018
    with pytest.raises(BadInput, match="choose one"):
        a.curve("ece")
    with pytest.raises(AttributeError, match="no measure of answers is named eec"):
        a.eec  # noqa: B018
    with pytest.raises(KeyError, match="no confidence or measure is named spoken"):
        a["spoken"]


def test_overconfidence_where_all_are_correct_has_wilsons_interval():
    t = Tally.of([1] * 20, [0.9] * 20, positive=1)
    e, right = overconfidence(t), judged([1] * 20, [0.9] * 20).accuracy
    assert (e.low, e.high) == pytest.approx((0.9 - 1, 0.9 - right.low))


def test_overconfidence_of_many_answers_is_students_of_the_differences():
    rng = np.random.default_rng(0)
    c = rng.random(5000)
    y = rng.random(5000) < c**2
    e = overconfidence(Tally.of(y, c), level=0.9)
    ends = stats.ttest_1samp(c - y, 0).confidence_interval(0.9)
    assert (e.low, e.high) == pytest.approx(tuple(ends), abs=2e-4)


def test_mean_quality_of_many_answers_is_students():
    q, c = soft(5000)
    e = judged(q, c, level=0.9).mean_quality
    ends = stats.ttest_1samp(q, 0).confidence_interval(0.9)
    assert (e.low, e.high) == pytest.approx(tuple(ends), abs=2e-4)


def test_overconfidence_covers_what_is_true():
    rng = np.random.default_rng(0)
    hit = 0
    for _ in range(400):
        c = rng.beta(8, 2, 60)
        e = overconfidence(Tally.of(rng.random(60) < c * 0.8, c, positive=True))
        hit += e.low <= 0.16 <= e.high
    assert 0.92 <= hit / 400 <= 0.98


@given(qualities, st.sampled_from([0.2, 0.5, 0.8, 1.0]))
def test_selective_accuracy_is_a_loop_over_the_surest(rows, coverage):
    q, c, _ = (np.array(x, float) for x in zip(*rows, strict=True))
    left, right = coverage * len(q), 0.0
    for value in sorted(set(c.tolist()), reverse=True):
        at = c == value
        kept = min(at.sum(), left)
        right += kept * (q[at] > 0.5).mean()
        left -= kept
    e = selective_accuracy(Tally.of(q > 0.5, c, positive=True), coverage=coverage)
    assert e.value == pytest.approx(right / (coverage * len(q)))


def test_selective_accuracy_covers_what_is_true():
    rng = np.random.default_rng(0)
    # p uniform, correct with chance p: of the surest four in five, 1 - 0.4
    hit = 0
    for _ in range(400):
        c = rng.random(100)
        e = selective_accuracy(Tally.of(rng.random(100) < c, c, positive=True))
        hit += e.low <= 0.6 <= e.high
    assert 0.92 <= hit / 400 <= 0.98


def test_selective_accuracy_spreads_as_the_bootstrap_does():
    rng = np.random.default_rng(0)
    c = rng.random(1000)
    y = c > 0.5
    e = selective_accuracy(Tally.of(y, c))
    drawn = []
    for _ in range(2000):
        at = rng.integers(0, 1000, 1000)
        surest = np.argsort(-c[at])[:800]
        drawn.append(y[at][surest].mean())
    assert (e.high - e.low) / 3.92 == pytest.approx(np.std(drawn), rel=0.06)
    assert e.baseline == y.mean()


def test_selective_accuracy_refuses_no_coverage():
    with pytest.raises(BadInput, match="coverage must lie above 0 and be at most 1"):
        selective_accuracy(Tally.of([1, 0], [0.5, 0.6]), coverage=0)


def test_document_conforms_to_its_schema():
    q, c, by = grouped()
    for a in (
        judged(q, c, by=by, missing="drop"),
        judged([1.0], [1.0]),
        judged([0.0, 0.0], [0.5, 0.5], weight=[1.0, 2.5]),
    ):
        doc = json.loads(a.to_json())
        jsonschema.Draft202012Validator(document_schema("answers")).validate(doc)
        assert doc == a.to_dict()


def test_frame_has_a_row_for_each_group_confidence_and_measure():
    q, c, by = grouped()
    a = judged(q, c, by=by, missing="drop")
    frame = a.to_frame()
    assert len(frame) == len(PAGE_MEASURES) * (2 + sum(len(part) for part in a.groups.values()))
    row = frame.filter(model="a", task="x", confidence="token", name="ece")
    assert row["value"].item() == a.groups["a", "x"]["token"].ece.value
    assert frame["model"][0] is None


def test_page_is_80_wide_with_long_names_of_groups_of_two_columns():
    q, c, by = grouped()
    long = np.array(["a model of a very long name indeed, longer than any table", "b"])
    by["model"] = long[(by["model"] == "b").astype(int)]
    text = repr(judged(q, c, by=by, missing="drop"))
    assert max(map(len, text.splitlines())) <= 80
    assert "model / task" in text
    assert "\nb / x " in text
    assert "Groups: token" in text


def hints_of(q, c, **options):
    return " ".join(judged(q, c, **options).to_dict()["hints"])


def claims_of(q, c, **options):
    return " ".join(claim.sentence for claim in judged(q, c, **options).document().verdict)


@pytest.mark.parametrize("n", [3, 5])
def test_few_answers_are_seldom_called_overconfident_for_nothing(n):
    rng = np.random.default_rng(n)
    sure = rng.uniform(0.5, 1, (400, n))
    right = rng.random((400, n)) < sure  # calibrated
    gaps = [judged(q, c)["overconfidence"] for q, c in zip(right, sure, strict=True)]
    assert np.mean([e.low > 0 or e.high < 0 for e in gaps]) <= 0.08


def test_two_answers_do_not_show_overconfidence():
    assert "cannot be told with 2 answers" in claims_of([1, 0], [0.9, 0.8])


def test_hints_and_claims():
    n = 100
    right = np.arange(n) < 60
    over, under = (claims_of(right, [p] * n) for p in (0.9, 0.1))
    assert "is overconfident by 0.300 [0.2" in over
    assert "mean confidence 90%, accuracy 60%" in over
    assert "is underconfident by 0.500 [0.4" in under
    assert "takes only 1 value" in hints_of(right, [0.6] * n)
    assert "is never below 0.800" in hints_of(right, np.linspace(0.8, 1, n))
    assert "higher where the answer is wrong" in claims_of(right, np.where(right, 0.3, 0.9))
    few = hints_of(right, np.linspace(0, 1, n), by={"g": np.where(np.arange(n) < 9, "s", "m")})
    assert "fewer than 50 answers: 's' (9)" in few


def test_calm_confidence_has_no_hint():
    rng = np.random.default_rng(0)
    c = rng.random(4000)
    assert judged(rng.random(4000) < c, c).to_dict()["hints"] == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"tau": 1.0}, "tau must be at least 0 and below 1, such as 0.5; got 1"),
        ({"tau": -0.1}, "tau must be at least 0 and below 1, such as 0.5; got -0.1"),
        ({"tau": math.nan}, "tau must be at least 0 and below 1, such as 0.5; got nan"),
        ({"tau": "half"}, "tau must be at least 0 and below 1, such as 0.5; got half"),
        ({"bins": 0}, "bins must be a positive integer, such as 15; got 0"),
        ({"level": 1.5}, "level must lie between 0 and 1, such as 0.95; got 1.5"),
        ({"seed": -1}, "seed must be an integer from 0 up, such as 0; got -1"),
        ({"by": "model"}, 'by="model" names a column, but the answers were given as columns'),
    ],
)
def test_bad_settings_are_refused(options, said):
    with pytest.raises(BadInput, match=said.replace("(", r"\(")):
        judged([1.0, 0.0], [0.9, 0.2], **options)


def test_other_bad_calls_are_refused():
    with pytest.raises(BadInput, match="confidence is missing"):
        sw.answers(quality=[1.0])
    with pytest.raises(BadInput, match="confidence is missing"):
        sw.answers(["Paris"], ["Rome"])
    with pytest.raises(BadInput, match="gold is given twice"):
        sw.answers(["a"], ["a"], [0.5], gold=["a"])
    with pytest.raises(BadInput, match="no answers"):
        judged([], [])
    with pytest.raises(BadInput, match="none is left to judge"):
        judged([None, None], [0.5, 0.6], missing="drop")
    with pytest.raises(BadInput, match="no measure of answers is named eec"):
        judged([1.0, 0.0], [0.9, 0.2]).curve("eec")
    with pytest.raises(BadInput, match="taus is empty"):
        judged([1.0, 0.0], [0.9, 0.2]).curve("ece", [])
    with pytest.raises(BadInput, match="tau must be at least 0 and below 1"):
        judged([1.0, 0.0], [0.9, 0.2]).curve("ece", [0.5, 2])


def test_answers_without_weight_say_nothing():
    said = [0.1, 0.2, 0.3, 0.4]
    whole = sw.answers(
        ["a"] * 4, ["a", "b"] * 2, said, weight=[0, 0, 1, 1], by=["x", "x", "y", "z"]
    )
    part = sw.answers(["a"] * 2, ["a", "b"], said[2:])
    assert whole.accuracy == part.accuracy
    (groups,) = whole.to_dict()["groups"]
    assert [g["words"] for g in groups["groups"]] == [["y"], ["z"]]
    with pytest.raises(BadInput, match="all rows are in one group by 'group', 'y'"):
        sw.answers(["a"] * 4, ["a"] * 4, said, weight=[0, 0, 1, 1], by=["x", "x", "y", "y"])


def test_weights_far_apart_survive():
    a = sw.answers(
        ["Paris", "Rome", "Oslo", "x"], ["paris", "Rom", "Bergen", "x"], [0.9, 0.8, 0.7, 0.2],
        weight=[1e100, 1e-100, 1, 1],
    )  # fmt: skip
    assert a.accuracy.value == pytest.approx(1)
    assert a.to_json()
