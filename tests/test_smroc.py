"""The score-weighted ROC curve against its definition, loop by loop."""

import math
import operator
from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.isotonic import IsotonicRegression

import scorewise as sw
import smooth_loops as loops
from scorewise import Tally
from scorewise.columns import binary_rows
from scorewise.curves import roc
from scorewise.curves.hull import calibrated
from scorewise.curves.smroc import four_sets, sensitivity, smooth_roc
from scorewise.curves.thresholds import band, distance, roc_steps
from scorewise.inference.differences import smooth_difference
from scorewise.inference.smroc import smauc_influence, smooth_area
from scorewise.statistics.smroc import Midpoint, midpoint, smooth_bounds
from strategies import cases, crowded, shards

WORKED = [1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]
RULES = ("mean", "balanced", "median", "crossing", "fixed", "learned")


# the worked example


def test_worked_example():
    curve = sw.smroc(*WORKED)
    assert curve.midpoint == pytest.approx(0.4933333333333333, abs=1e-12)
    assert curve.area.value == pytest.approx(0.8433082841295402, abs=1e-12)
    points = [
        (0.0154321, 0.3442029),
        (0.1080247, 0.5978261),
        (0.2932099, 0.7427536),
        (0.4444444, 0.9275362),
        (0.6913580, 1),
        (1, 1),
    ]
    np.testing.assert_allclose(np.stack([curve.x, curve.y], 1)[1:], points, atol=5e-8)
    assert np.flatnonzero(~curve.appropriate).tolist() == [2]
    np.testing.assert_allclose(curve.segments[:, 0], [0.95, 0.7, 0.4, 0.51, 0.2, 0.0], atol=1e-15)
    np.testing.assert_allclose(curve.segments.sum(1), 1.0)
    assert (curve.curve.height, curve.curve.width) == pytest.approx((2.76, 3.24), abs=1e-12)
    assert curve.rectangle().x[-1] == pytest.approx(3.24)
    assert curve.rectangle().y[-1] == pytest.approx(2.76)


def test_three_to_three_by_label_is_four_to_two_by_score():
    sets = sw.smroc(*WORKED).sets
    assert sets.by_label == (3, 3)
    assert sets.by_score == (4, 2)
    assert sets.rotation == pytest.approx(math.degrees(math.atan2(4, 2)) - 45, abs=1e-12)
    assert sets.high_positive == (3, pytest.approx(0.72))
    assert sets.high_negative == (1, pytest.approx(0.6))
    assert sets.low_negative == (2, pytest.approx(0.1))
    assert sets.low_positive.weight == 0
    assert math.isnan(sets.low_positive.mean)


# 500 random cases against loops


def random_case(seed):
    """Rows of both classes with ties, whole, broken or no weights, and a midpoint rule."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 40))
    y = rng.random(n) < rng.uniform(0.2, 0.8)
    y[:2] = False, True
    s = 1 / (1 + np.exp(-(rng.normal(rng.uniform(-2, 2), 1.5, n) + 1.5 * (y - 0.5))))
    s = s.round(int(rng.choice([1, 2, 3, 15])))
    w = (None, rng.integers(1, 5, n).astype(float), rng.uniform(0.1, 5, n))[seed % 3]
    return y, s, w, rng


@pytest.mark.parametrize("rule", RULES)
def test_curve_equals_the_loop(rule):
    """At least 84 cases for each of the six rules: more than 500 in all."""
    compared, seed = 0, 1000 * RULES.index(rule)
    while compared < 84:
        seed += 1
        y, s, w, rng = random_case(seed)
        ones = np.ones(len(y)) if w is None else w
        if rule == "fixed":
            m = chosen = round(float(rng.random()), 2)
        elif rule == "learned":
            other_y, other_s, other_w, _ = random_case(seed + 77)
            chosen = Tally.of(other_y, other_s, weight=other_w)
            m = loops.midpoint(
                other_y, other_s, np.ones(len(other_y)) if other_w is None else other_w, "mean"
            )
        else:
            chosen, m = rule, loops.midpoint(y, s, ones, rule)
        if m is None:
            with pytest.raises(sw.BadInput, match="do not cross"):
                sw.smroc(y, s, weight=w, midpoint=chosen)
            continue
        found = sw.smroc(y, s, weight=w, midpoint=chosen)
        assert found.midpoint == pytest.approx(m, abs=1e-9 if rule == "crossing" else 1e-12)
        x, up = loops.curve(y, s, ones, m)
        np.testing.assert_allclose(found.rectangle().x, x, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.rectangle().y, up, rtol=1e-12, atol=1e-12)
        expected = loops.area(y, s, ones, m)
        if math.isnan(expected):
            assert found.area.why
            continue
        np.testing.assert_allclose(found.x, x / x[-1], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(found.y, up / up[-1], rtol=1e-12, atol=1e-12)
        assert found.area.value == pytest.approx(expected, abs=1e-12)
        assert found.curve.area == pytest.approx(expected, abs=1e-12)
        compared += 1


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_zeros_and_ones_give_the_roc_curve_exactly(data):
    n = data.draw(st.integers(2, 30))
    y = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    s = np.array(data.draw(st.lists(st.sampled_from([0.0, 1.0]), min_size=n, max_size=n)))
    if y.all() or not y.any():
        return
    t = Tally.of(y, s)
    curve = sw.smroc(t)
    if not curve.area.defined:
        return
    if 0 < s.mean() < 1:
        plain = roc(t)
        np.testing.assert_array_equal(curve.x, plain.x)
        np.testing.assert_array_equal(curve.y, plain.y)
        assert curve.area.value == sw.measures.auroc(t).value


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_merged_shards_give_the_same_curve(data):
    case = data.draw(cases(kind="probability", weighted=False, least=2))
    parts = [p.tally for p in data.draw(shards(case))]
    merged, whole = reduce(operator.add, parts, Tally.empty()), case.tally
    if whole.why_not_ranked:
        return
    for rule in ("mean", "balanced", "median", 0.4):
        a, b = (sw.smroc(t, midpoint=rule) for t in (merged, whole))
        assert a.midpoint == b.midpoint
        np.testing.assert_array_equal(a.x, b.x)
        np.testing.assert_array_equal(a.y, b.y)


@pytest.mark.parametrize("rule", ["mean", "balanced", "median", 0.5000001, 0.3])
@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_coarse_bounds_hold(rule, data):
    case = data.draw(crowded() | cases(kind="probability", most=40))
    t = case.tally
    if t.why_not_ranked:
        return
    exact = sw.measures.smauc(t, midpoint=rule)
    for grid in ("probability", "relative"):
        coarse = t.coarsen(grid)
        near = sw.measures.smauc(coarse, midpoint=rule)
        if not exact.defined or not near.defined:
            continue
        assert abs(near.value - exact.value) <= near.bound + 1e-12
        least, most = smooth_bounds(coarse, midpoint(coarse, rule))
        assert least - 1e-12 <= exact.value <= most + 1e-12
        if rule in ("mean", "balanced"):
            assert midpoint(coarse, rule).value == pytest.approx(midpoint(t, rule).value, abs=1e-12)


@pytest.mark.parametrize("prevalence", [0.4, 0.005])
def test_coarse_bounds_are_narrow(prevalence):
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < prevalence
    s = 1 / (1 + np.exp(-(rng.normal(size=200_000) + 1.5 * y - 2)))
    near, exact = (sw.measures.smauc(t) for t in (Tally.of(y, s).coarsen(), Tally.of(y, s)))
    assert abs(near.value - exact.value) <= near.bound < 1e-4
    z = np.log(s) - np.log1p(-s)
    near = sw.measures.smauc(Tally.of(y, z, kind="logit").coarsen())
    assert abs(near.value - exact.value) <= near.bound + 1e-12
    assert near.bound < 1e-2


def test_logits_are_their_probabilities():
    for seed in range(20):
        y, s, w, _ = random_case(seed)
        s = s.clip(0.01, 0.99)
        a = sw.smroc(y, np.log(s) - np.log1p(-s), weight=w, kind="logit")
        b = sw.smroc(y, s, weight=w)
        assert a.area.value == pytest.approx(b.area.value, abs=1e-12)
        np.testing.assert_allclose(a.y, b.y, atol=1e-12)


# only magnitudes differ


def test_magnitudes_tell_models_apart_that_ranks_cannot():
    """The second model says the same with less conviction: same ranks, other scores."""
    rng = np.random.default_rng(3)
    y = rng.random(400) < 0.5
    sure = 1 / (1 + np.exp(-2 * (rng.normal(size=400) + 1.2 * (y - 0.5))))
    timid = 0.5 + 0.4 * (sure - 0.5)
    c = sw.compare(y, {"sure": sure, "timid": timid})
    assert c["sure"].auroc.value == c["timid"].auroc.value
    by_name = {d["measure"]: d for d in c.differences}
    ranks, magnitudes = by_name["auroc"], by_name["smauc"]
    assert (ranks["value"], ranks["p"]) == (0.0, 1.0)
    assert 0 < magnitudes["low"] < magnitudes["value"] < magnitudes["high"]
    assert magnitudes["p"] < 1e-6


def test_paired_interval_covers():
    """95 % of 400 intervals, give or take four standard errors."""
    rng = np.random.default_rng(4)

    def models(n):
        y = rng.random(n) < 0.4
        p = 1 / (1 + np.exp(-(rng.normal(size=n) + 1.5 * y - 0.75)))
        q = 1 / (1 + np.exp(-(rng.normal(size=n) + 1.2 * y - 0.75)))
        return {"label": y, "score": {"a": p, "b": (p + q) / 2}}

    def difference(n):
        rows = binary_rows(None, **models(n))
        return smooth_difference(rows, *(Tally.of_rows(rows, name) for name in "ab"))

    truth = difference(400_000).value
    found = [difference(150) for _ in range(400)]
    covered = np.mean([d.low <= truth <= d.high for d in found])
    assert abs(covered - 0.95) < 4 * math.sqrt(0.95 * 0.05 / 400)


# what single rows do


@pytest.mark.parametrize("seed", range(6))
def test_influence_is_the_derivative(seed):
    """One row's weight is raised a little, at a fixed midpoint."""
    y, s, _, _ = random_case(seed)
    t = Tally.of(y, s)
    effect = smauc_influence(t, Midpoint(0.43, "fixed", 0.43, 0.43))
    base = loops.area(y, s, np.ones(len(y)), 0.43)
    for i in range(len(y)):
        w = np.ones(len(y))
        w[i] += 1e-5
        slope = (loops.area(y, s, w, 0.43) - base) / 1e-5
        cell = np.searchsorted(t.score, s[i])
        assert (effect.pos if y[i] else effect.neg)[cell] == pytest.approx(slope, abs=1e-4)


def test_moving_midpoint_is_part_of_the_influence():
    """A row that moves the midpoint moves the area by the slope of the area over midpoints."""
    rng = np.random.default_rng(5)
    y = rng.random(50_000) < 0.3
    t = Tally.of(y, 1 / (1 + np.exp(-(rng.normal(size=50_000) + 0.5 * y - 2))))
    m = midpoint(t)
    moving = smauc_influence(t, m).pos - smauc_influence(t, m._replace(rule="fixed")).pos
    slope = moving * (t.negatives + t.positives) / (t.score - m.value)
    low, high = (smooth_area(t, m.value + step).value for step in (-0.03, 0.03))
    assert abs(high - low) > 0.005
    np.testing.assert_allclose(slope, (high - low) / 0.06, rtol=0.2)


def test_sensitivity_equals_the_loop():
    for seed in range(20):
        y, s, w, _ = random_case(seed)
        t = Tally.of(y, s, weight=w)
        areas = sensitivity(t)
        for m in (0.0, 0.13, 0.5, *s[:5], 0.99, 1.0):
            expected = smooth_area(t, float(m)).value
            loop = loops.area(y, s, np.ones(len(y)) if w is None else w, float(m))
            np.testing.assert_allclose([areas.at(float(m)), expected], loop, atol=1e-12)


# hull, slopes, tables


def test_slopes_of_the_roc_hull_are_isotonic_regression():
    for seed in range(30):
        y, s, w, _ = random_case(seed)
        t = Tally.of(y, s, weight=w)
        fit = IsotonicRegression().fit(s, y, sample_weight=w).predict(t.score)
        np.testing.assert_allclose(calibrated(t), fit, atol=1e-12)


def test_slopes_of_the_smroc_hull_are_isotonic_regression_of_climbs():
    for seed in range(30):
        y, s, w, _ = random_case(seed)
        curve = sw.smroc(y, s, weight=w)
        fit = IsotonicRegression().fit(s, curve.segments[:, 0], sample_weight=w)
        np.testing.assert_allclose(
            curve.curve.slopes(), fit.predict(np.unique(s)[::-1]), atol=1e-12
        )
        hull = curve.hull()
        slope = np.diff(hull.y) / np.diff(hull.x).clip(1e-300)
        assert (np.diff(slope) <= 1e-9 * slope[:-1]).all()
        assert (np.interp(curve.x, hull.x, hull.y) >= curve.y - 1e-9).all()
        assert curve.gap == pytest.approx(
            np.trapezoid(hull.y, hull.x) - curve.area.value, abs=1e-12
        )


def test_recalibrated_scores_are_isotonic_with_even_classes():
    y, s, _, _ = random_case(3)
    even = np.where(y, 1 / y.sum(), 1 / (~y).sum())
    fit = IsotonicRegression().fit(s, y, sample_weight=even).predict(s)
    again = sw.smroc(s=fit, y=y, midpoint=0.5)
    assert sw.smroc(y, s).recalibrated().area.value == pytest.approx(again.area.value, abs=1e-12)


@pytest.mark.parametrize("threshold", [0.0, 0.3, 0.5, 0.7, 1.0])
def test_tables_and_sets_equal_counting(threshold):
    for seed in range(20):
        y, s, w, _ = random_case(seed)
        ones = np.ones(len(y)) if w is None else w
        curve = sw.smroc(y, s, weight=w)
        right, wrong = curve.tables(threshold)
        ok = curve.appropriate
        for table, kept in ((right, ok), (wrong, ~ok)):
            for label in (0, 1):
                for decided in (0, 1):
                    cell = kept & (y == label) & ((s >= threshold) == decided)
                    assert table.weight[label, decided] == pytest.approx(ones[cell].sum())
        sets = four_sets(curve.tally, curve.midpoint)
        high = s >= curve.midpoint - 1e-12
        for part, kept in (
            (sets.high_positive, high & y),
            (sets.low_positive, ~high & y),
            (sets.high_negative, high & ~y),
            (sets.low_negative, ~high & ~y),
        ):
            assert part.weight == pytest.approx(ones[kept].sum())
            if kept.any():
                assert part.mean == pytest.approx(np.average(s[kept], weights=ones[kept]))
        assert sets.appropriate == pytest.approx(ones[ok].sum() / ones.sum())


def test_at_the_midpoint_appropriate_scores_decide_rightly():
    y, s, _, _ = random_case(1)
    curve = sw.smroc(y, s)
    right, wrong = curve.tables(curve.midpoint)
    assert right.weight[0, 1] == right.weight[1, 0] == 0
    assert wrong.weight[0, 0] == wrong.weight[1, 1] == 0


# distance and bands


def test_distance_is_the_integral():
    fine = np.linspace(0, 1, 2_000_001)
    for seed in range(8):
        y, s, _, _ = random_case(seed)
        a, b = smooth_roc(Tally.of(y, s), 0.5), roc(Tally.of(y, s))
        heights = [np.interp(fine, c.x, c.y) for c in (a, b)]
        expected = np.trapezoid(np.abs(heights[0] - heights[1]), fine)
        assert distance(a, b) == pytest.approx(expected, abs=1e-5)
        assert distance(b, a) == pytest.approx(distance(a, b), abs=1e-15)
        assert distance(a, a) == 0


@pytest.mark.parametrize("simultaneous", [False, True])
def test_bands_hold_the_true_curve(simultaneous):
    """In 60 samples of 150 rows: all over x for the one, at most x for the other."""
    rng = np.random.default_rng(6)

    def sample(n):
        y = rng.random(n) < 0.4
        return sw.smroc(y, 1 / (1 + np.exp(-(rng.normal(size=n) + 1.5 * y - 1))))

    truth = sample(300_000)
    held = []
    for _ in range(60):
        b = sample(150).band(simultaneous=simultaneous, replicates=200)
        height = np.interp(b.x, truth.x, truth.y)
        inside = (b.low - 1e-9 <= height) & (height <= b.high + 1e-9)
        held.append(inside.all() if simultaneous else inside.mean())
        assert (b.low <= b.y).all()
        assert (b.y <= b.high).all()
        assert (np.diff(b.low) >= 0).all()
        assert (np.diff(b.high) >= 0).all()
    assert np.mean(held) > (0.88 if simultaneous else 0.9)


def test_bands_of_roc_curves_reach_where_no_row_is():
    """Where a curve has come to the top, resamples alone would leave no band at all."""
    rng = np.random.default_rng(7)

    def sample(n):
        y = rng.random(n) < 0.4
        return Tally.of(y, 1 / (1 + np.exp(-(rng.normal(size=n) + 1.5 * y - 1))))

    truth = roc(sample(300_000))
    held = []
    for _ in range(40):
        t = sample(150)
        b = band(t, roc(t), roc_steps, simultaneous=True, replicates=200)
        height = np.interp(b.x, truth.x, truth.y)
        held.append(((b.low - 1e-9 <= height) & (height <= b.high + 1e-9)).all())
    assert np.mean(held) > 0.85


# what is said and what is refused


def test_separable_classes_are_told():
    said = sw.smroc([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]).cautions
    assert "separable: all negatives score at most 0.200, all positives at least 0.800" in said[0]
    assert "not between" not in said[0]
    assert "not between" in sw.smroc([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9], midpoint=0.05).cautions[0]
    assert "separable" in sw.smroc([1, 1, 0, 0], [0.4, 0.45, 0.5, 0.6]).cautions[0]


def test_midpoint_outside_the_overlap_is_told():
    said = sw.smroc(*WORKED).cautions
    assert len(said) == 1
    assert "the midpoint 0.493 lies outside [0.510, 0.600]" in said[0]


def test_far_midpoint_is_told_with_the_recalibrated_area():
    rng = np.random.default_rng(0)
    y = rng.random(2000) < 0.05
    curve = sw.smroc(y, 1 / (1 + np.exp(-(rng.normal(size=2000) + 2 * y - 4))))
    (said,) = curve.cautions
    assert "Schubert et al. 2012" in said
    assert str(curve.recalibrated().area) in said
    even = rng.random(500) < 0.5
    assert sw.smroc(even, (0.3 * even + 0.7 * rng.random(500)).clip(0, 1)).cautions == []


def test_empty_rectangle_is_told():
    curve = sw.smroc([1, 0, 1, 0], [1.0, 0.0, 1.0, 0.0], midpoint=0.0)
    assert math.isnan(curve.area.value)
    assert "nothing climbs, or nothing runs" in curve.area.why
    assert any("smAUC is undefined" in said for said in curve.cautions)
    assert "smAUC of 'score' is undefined" in str(curve)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ([1, 0], [1.5, 0.2]),
            r"scores from 0.2 to 1.5 lie outside \[0, 1\]; rescale them to it, or",
        ),
        (([1, 0], [-3.0, 4.0]), "declare their kind as logit if they are logits"),
        (([1, 1], [0.5, 0.2]), "no smROC curve: no negatives"),
        (([], []), "no smROC curve: no rows"),
        (([1, 0],), "scores are missing"),
        ((Tally.of([1, 0], [0.5, 0.2]), [0.5, 0.2]), "a tally has its scores and labels already"),
    ],
)
def test_what_has_no_curve_is_refused(arguments, sentence):
    with pytest.raises(sw.BadInput, match=sentence):
        sw.smroc(*arguments)


@pytest.mark.parametrize("rule", ["middle", 1.5, -0.1, float("nan"), None, Tally.of([1], [0.5])])
def test_unknown_midpoint_is_refused(rule):
    with pytest.raises(sw.BadInput, match="midpoint"):
        sw.smroc(*WORKED, midpoint=rule)


def test_scores_of_any_scale_leave_the_measure_undefined():
    e = sw.evaluate([1, 0, 1, 0], [3.0, -1.0, 0.5, 0.2])
    assert "lie outside [0, 1]" in e.smauc.why
    assert sw.evaluate([1, 0, 1, 0], [3.0, -1.0, 0.5, 0.2], kind="logit").smauc.defined
    assert sw.evaluate([1, 0, 1, 0], [0.9, 0.1, 0.5, 0.2], kind="score").smauc.defined


def test_tally_has_no_single_rows():
    curve = sw.smroc(Tally.of(*WORKED))
    assert curve.area.value == sw.smroc(*WORKED).area.value
    with pytest.raises(sw.BadInput, match="a tally has no single rows"):
        _ = curve.appropriate


def test_crossing_that_is_not_there_is_refused():
    with pytest.raises(sw.BadInput, match="do not cross between the class means"):
        sw.smroc([0, 1, 0, 1], [0.5, 0.5, 0.5, 0.5], midpoint="crossing")


def test_a_coarse_tally_does_not_know_where_densities_cross():
    with pytest.raises(sw.BadInput, match="a coarse tally does not know where densities cross"):
        sw.smroc(Tally.of(*WORKED).coarsen(), midpoint="crossing")


def test_sensitivity_at_the_midpoint_is_the_area():
    for seed in range(60):
        y, s, w, _ = random_case(seed)
        for rule in ("mean", "median", "balanced"):
            curve = sw.smroc(y, s, weight=w, midpoint=rule)
            assert curve.sensitivity().at(curve.midpoint) == pytest.approx(
                curve.area.value, abs=1e-12
            )


def test_no_band_without_an_area():
    with pytest.raises(sw.BadInput, match="no band: all scores are extreme"):
        sw.smroc([1, 1, 0, 0], [1.0, 1.0, 0.0, 0.0], midpoint=0.0).band()


def test_a_fixed_midpoint_and_a_threshold_meet_float32_scores_in_their_precision():
    y, s = np.array([1, 0, 1, 0]), np.array([0.7, 0.2, 0.9, 0.7], np.float32)
    curve = sw.smroc(y, s, midpoint=0.7)
    assert curve.appropriate.tolist() == [True, True, True, False]
    right, wrong = curve.tables(0.7)
    assert (right + wrong) == sw.Tally.of(y, s).confusion(0.7)
    assert (right.tp, wrong.fp) == (2, 1)
