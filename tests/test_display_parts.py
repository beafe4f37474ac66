"""Densities, segments, steps of the hull and mean scores against scipy and scikit-learn."""

from itertools import pairwise

import numpy as np
import pytest
from scipy import stats
from sklearn.isotonic import IsotonicRegression

from scorewise import Density, Tally
from scorewise.curves.hull import calibrated
from scorewise.curves.smroc import segments, smooth_roc
from scorewise.inference.means import mean_score
from scorewise.statistics.smroc import kernel_widths, midpoint

seeds = pytest.mark.parametrize("seed", range(10))


def rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(20, 300))
    y = rng.random(n) < rng.uniform(0.2, 0.8)
    y[:2] = False, True
    s = np.round(rng.beta(1 + y, 2 - y), int(rng.choice([1, 2, 12])))
    return y, s, (None, rng.uniform(0.2, 4, n))[seed % 2]


@seeds
def test_densities_are_reflected_kernels(seed):
    y, s, w = rows(seed)
    t = Tally.of(y, s, weight=w)
    found = Density.of(t, bandwidth="silverman", points=513)
    for side, width, ours in zip((~y, y), kernel_widths(t), found, strict=True):
        weight = np.ones(side.sum()) if w is None else w[side]
        mirrored = np.concatenate([sign * s[side] + k for sign in (1, -1) for k in (-2, 0, 2)])
        each = stats.norm.pdf(ours.x[:, None], mirrored, width) * np.tile(weight, 6)
        np.testing.assert_allclose(ours.y, each.sum(1) / weight.sum(), rtol=1e-9, atol=1e-12)
    lower = np.minimum(found.neg.y, found.pos.y)
    assert found.overlap == pytest.approx(np.trapezoid(lower, found.neg.x))


def test_densities_cross_at_the_crossing():
    y, s, _ = rows(3)
    t = Tally.of(y, s)
    found, at = Density.of(t, bandwidth="silverman"), midpoint(t, "crossing").value
    left, right = (found.pos(at + side) - found.neg(at + side) for side in (-0.001, 0.001))
    assert left < 0 < right


def test_binned_densities_are_nearly_those_of_all_rows():
    rng = np.random.default_rng(1)
    y = rng.random(20_000) < 0.5
    s = rng.beta(2 + y, 3 - y)
    t = Tally.of(y, s)
    found = Density.of(t, bandwidth="silverman")
    for side, width, ours in zip((~y, y), kernel_widths(t), found, strict=True):
        assert ours.bandwidth == pytest.approx(width, rel=1e-3)
        kernels = stats.gaussian_kde(s[side], bw_method=ours.bandwidth / s[side].std(ddof=1))
        inside = (ours.x > 0.2) & (ours.x < 0.8)
        np.testing.assert_allclose(ours.y[inside], kernels(ours.x[inside]), rtol=1e-5)


@seeds
def test_segments_share_out_appropriate_rows(seed):
    y, s, w = rows(seed)
    t = Tally.of(y, s, weight=w)
    m = float(s.mean())
    weight = np.ones(len(y)) if w is None else w
    right = (s >= m) == y
    found = segments(t, smooth_roc(t, m), m)
    for share, at in zip(found.appropriate, np.unique(s)[::-1], strict=True):
        tied = s == at
        assert share == pytest.approx(weight[tied & right].sum() / weight[tied].sum())
    few = segments(t, smooth_roc(t, m), m, most=7)
    curve = smooth_roc(t, m)
    assert len(few) <= 7
    assert (few.x[0], few.y[0]) == (0, 0)
    assert (few.x[-1], few.y[-1]) == (curve.x[-1], curve.y[-1])
    # each piece holds the rows whose scores lie between its ends
    points = list(zip(curve.x, curve.y, strict=True))
    ends = [points.index(end) for end in zip(few.x, few.y, strict=True)]
    scores = np.unique(s)[::-1]
    for share, (first, last) in zip(few.appropriate, pairwise(ends), strict=True):
        inside = np.isin(s, scores[first:last])
        by_hand = weight[inside & right].sum() / weight[inside].sum()
        assert share == pytest.approx(by_hand)


@seeds
def test_calibrated_scores_are_isotonic_regression(seed):
    y, s, w = rows(seed)
    t = Tally.of(y, s, weight=w)
    fit = IsotonicRegression().fit(s, y, sample_weight=w)
    np.testing.assert_allclose(calibrated(t), fit.predict(t.score), atol=1e-12)


@seeds
def test_mean_score_has_students_interval(seed):
    y, s, _ = rows(seed)
    found = mean_score(Tally.of(y, s), level=0.9)
    low, high = stats.ttest_1samp(s, 0).confidence_interval(0.9)
    assert (found.value, found.low, found.high) == pytest.approx((s.mean(), low, high))
    times = np.random.default_rng(seed).integers(1, 4, len(s))
    counted = mean_score(Tally.of(y, s, count=times))
    repeated = mean_score(Tally.of(np.repeat(y, times), np.repeat(s, times)))
    assert (counted.low, counted.high) == pytest.approx((repeated.low, repeated.high))
    once, tenfold = (mean_score(Tally.of(y, s, weight=k * times)) for k in (1, 10))
    assert (once.low, once.high) == pytest.approx((tenfold.low, tenfold.high))


def test_mean_score_of_nothing_and_of_one_row():
    assert mean_score(Tally.empty()).why == "no rows"
    alone = mean_score(Tally.of([1], [0.3], positive=1))
    assert alone.value == pytest.approx(0.3)
    assert np.isnan(alone.low)
