"""Groups as a sample of places: the mean over them and the interval of a new one."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.stats import t as student
from statsmodels.stats.meta_analysis import combine_effects

import scorewise as sw
from scorewise.displays import ForestDisplay
from scorewise.subgroups.pooling import between, pooled, pooled_record

mpl.use("agg")

# trials of the BCG vaccine (Colditz and others 1994), log relative risks, as metafor's dat.bcg has them
BCG = np.array([
    -0.8893, -1.5854, -1.3481, -1.4416, -0.2175, -0.7861, -1.6209, 0.0120, -0.4694, -1.3713, -0.3394,
    0.4459, -0.0173,
])  # fmt: skip
VARIANCE = np.array([
    0.3256, 0.1946, 0.4154, 0.0200, 0.0512, 0.0069, 0.2230, 0.0040, 0.0564, 0.0730, 0.0124, 0.5325, 0.0714,
])  # fmt: skip


def test_published_figures_of_the_bcg_trials():
    """metafor (Viechtbauer 2010): REML tau^2 .3132, estimate -.7145, Q 152.23, I^2 92.2 %."""
    found = pooled(BCG, VARIANCE, 0.95)
    assert found.tau2 == pytest.approx(0.3132, abs=3e-4)
    assert found.value == pytest.approx(-0.7145, abs=2e-4)
    assert found.q == pytest.approx(152.23, abs=0.6)  # of values with four decimals
    assert found.i2 == pytest.approx(0.922, abs=5e-4)


@pytest.mark.parametrize("seed", range(5))
def test_an_independent_loop_and_statsmodels(seed):
    rng = np.random.default_rng(seed)
    many = int(rng.integers(3, 15))
    variance = rng.uniform(0.01, 0.2, many)
    value = 0.3 + rng.normal(0, rng.choice([0.0, 0.3]), many) + rng.normal(0, np.sqrt(variance))

    def restricted(tau2):
        w = 1 / (variance + tau2)
        mean = np.average(value, weights=w)
        return (np.log(variance + tau2) + w * (value - mean) ** 2).sum() + np.log(w.sum())

    tau2 = between(value, variance)
    best = minimize_scalar(restricted, bounds=(0, 3), method="bounded", options={"xatol": 1e-10})
    assert restricted(tau2) <= best.fun + 1e-9
    # of the same tau^2, the interval of Hartung and Knapp is that of statsmodels
    found = pooled(value, variance, 0.9)
    peer = combine_effects(value, variance + tau2, method_re="chi2", use_t=True)
    half = student.ppf(0.95, many - 1) * peer.sd_eff_w_fe_hksj
    assert found.value == pytest.approx(peer.mean_effect_fe)
    assert (found.low, found.high) == pytest.approx((found.value - half, found.value + half))
    assert found.new_low <= found.low <= found.high <= found.new_high
    assert found.q == pytest.approx(combine_effects(value, variance).q)


def test_new_places_are_within_the_prediction_interval():
    """Also where tau^2 is small beside what a single place tells, and so often found to be 0."""
    for many, tau in ((5, 0.2), (12, 0.1), (30, 0.05)):
        rng, held = np.random.default_rng(many), 0
        for _ in range(150):
            variance = 0.02 * rng.uniform(0.5, 2, many)
            true = rng.normal(0, tau, many + 1)
            found = pooled(true[:-1] + rng.normal(0, np.sqrt(variance)), variance, 0.95)
            held += found.new_low <= true[-1] <= found.new_high
        assert 0.89 <= held / 150 <= 0.99


def test_with_many_like_places_it_is_the_interval_of_a_normal():
    """As Higgins, Thompson and Spiegelhalter (2009) have it, where tau^2 is known well."""
    rng = np.random.default_rng(0)
    true = rng.normal(0, 1, 400)
    found = pooled(true, np.full(400, 0.01), 0.95)
    far = 1.966 * np.sqrt(found.tau2)
    assert (found.new_low, found.new_high) == pytest.approx(
        (found.value - far, found.value + far), abs=0.08
    )


def sample(sites=8, n=3000, apart=0.5, seed=0):
    rng = np.random.default_rng(seed)
    site = rng.integers(0, sites, n)
    shift = rng.normal(0, apart, sites)
    x = rng.normal(-0.8, 1.2, n)
    return rng.random(n) < 1 / (1 + np.exp(-x - shift[site])), 1 / (1 + np.exp(-x)), site


def test_the_document_has_each_measure_on_its_scale():
    y, p, site = sample()
    e = sw.evaluate(y, p, by={"site": site})
    record = e.document().groups[0]
    found = {r.measure: r for r in record.summary}
    assert {r.measure: r.scale for r in record.summary} == {
        "auroc": "logit", "calibration_slope": "identity", "oe_ratio": "log",
    }  # fmt: skip
    each = [e.groups[name].oe_ratio for name in e.groups]
    logs = np.log([[x.value, x.low, x.high] for x in each])
    error = (logs[:, 2] - logs[:, 1]) / (2 * student.ppf(0.975, 1e9))
    want = pooled(logs[:, 0], error**2, 0.95)
    oe = found["oe_ratio"]
    ends = [oe.value, oe.low, oe.high, oe.prediction_low, oe.prediction_high]
    np.testing.assert_allclose(np.log(ends), want[:5], rtol=1e-9)
    assert (oe.tau2, oe.i2) == pytest.approx((want.tau2, want.i2))
    assert oe.i2 > 0.8
    assert found["calibration_slope"].i2 < 0.5
    told = [c for c in e.document().verdict if c.finding == "new group"]
    assert "Over 8 groups by 'site'" in told[0].sentence
    assert f"O/E {oe.value:.3f}, in a new one {oe.prediction_low:.3f}" in told[0].sentence
    assert "Over groups" in str(e)
    assert "tau²" in e.to_markdown()
    assert "Over groups" in e.to_latex()


def test_the_forest_plot_ends_in_the_mean_and_a_new_group():
    y, p, site = sample(5)
    e = sw.evaluate(y, p, by={"site": site})
    shown = ForestDisplay.from_groups(e, "oe_ratio")
    names = [x.get_text() for x in shown.ax_.get_yticklabels()]
    assert names[-2:] == ["mean of groups", "a new group"]
    r = next(r for r in e.document().groups[0].summary if r.measure == "oe_ratio")
    np.testing.assert_allclose(
        shown.intervals_[-1].get_xdata(), [r.prediction_low, r.prediction_high]
    )


def test_few_groups_have_no_mean():
    y, p, site = sample(2)
    record = sw.evaluate(y, p, by={"site": site}).document().groups[0]
    assert {r.why for r in record.summary} == {"fewer than three groups have an interval"}
    perfect = [sw.Estimate(1.0, 0.9, 1.0)] * 4
    assert pooled_record("auroc", perfect, 0.95).value is None


def test_a_group_that_is_known_far_better_than_all_others_has_the_mean():
    fit = pooled(np.array([0.5, 0.4, 0.6]), np.array([1e-17, 0.2, 0.3]), 0.95)
    assert (fit.value, fit.tau2, fit.i2) == pytest.approx((0.5, 0, 0))
    assert fit.new_low <= fit.low <= fit.value <= fit.high <= fit.new_high


def test_groups_that_are_all_the_same_have_a_mean():
    fit = pooled(np.full(3, 0.5), np.full(3, 0.04), 0.95)
    assert fit[:6] == pytest.approx((0.5, 0.5, 0.5, 0.5, 0.5, 0))
