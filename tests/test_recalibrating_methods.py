"""Each map against something that others wrote, or against a plain loop."""

import warnings

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import minimize_scalar
from scipy.special import logit

from recalibration_cases import draw, expit, sandwich_df
from scorewise import Recalibrator, Tally
from scorewise.errors import BadInput
from scorewise.measures import calibration_intercept, calibration_slope
from scorewise.recalibrating import METHODS

CASES = [draw(1, 400, 0.6, -0.5), draw(2, 3000, 1.7, 0.4, digits=2), draw(3, 200, 0.3)]
NEW = np.linspace(0.0, 1.0, 301)
NAMES = [m for m in METHODS if m != "identity"]


def fitted(method, p, y, **options):
    return Recalibrator(method).fit(p, y, **options).map_


def glm(features, y, weights=None):
    """Statsmodels' logistic regression."""
    sm = pytest.importorskip("statsmodels.api")
    x = np.column_stack([np.ones(len(y)), *features])
    return sm.GLM(y, x, sm.families.Binomial(), freq_weights=weights).fit(tol=1e-14, maxiter=200)


@pytest.mark.parametrize(("p", "y"), CASES)
def test_platt_is_logistic_regression_on_logits(p, y):
    found = fitted("platt", p, y).parameters
    assert [found["intercept"], found["slope"]] == pytest.approx(
        glm([logit(p)], y).params, rel=1e-8, abs=1e-8
    )


@pytest.mark.parametrize(("p", "y"), CASES)
def test_platt_weighted(p, y):
    w = np.random.default_rng(5).integers(1, 6, len(y))
    found = fitted("platt", p, y, sample_weight=w).parameters
    assert [found["intercept"], found["slope"]] == pytest.approx(
        glm([logit(p)], y, w).params, rel=1e-8, abs=1e-8
    )


def test_platt_on_scores_of_any_scale():
    p, y = draw(1, 500, 0.6, -0.5)
    linear = pytest.importorskip("sklearn.linear_model")
    score = 1e6 + 300 * logit(p)
    near = np.array([[-1.0], [0.0], [2.0]])
    model = linear.LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky", max_iter=500)
    model.fit(((score - 1e6) / 300)[:, None], y)
    got = Recalibrator("platt").fit(score, y).transform(1e6 + 300 * near[:, 0])
    assert got == pytest.approx(model.predict_proba(near)[:, 1], abs=1e-7)


@pytest.mark.parametrize(("p", "y"), CASES)
def test_temperature_by_search(p, y):
    z = logit(p)

    def loss(slope):
        return np.logaddexp(0, np.where(y == 1, -1, 1) * slope * z).sum()

    best = minimize_scalar(loss, bracket=(0.1, 1.0), tol=1e-12).x
    assert fitted("temperature", p, y).parameters["slope"] == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize(("p", "y"), CASES)
def test_beta_is_logistic_regression_on_two_logs(p, y):
    found = fitted("beta", p, y)
    want = glm([np.log(p), -np.log1p(-p)], y).params
    if (want[1:] >= 0).all():
        got = [found.parameters[k] for k in "cab"]
        assert got == pytest.approx(want, rel=1e-6, abs=1e-6)
    betacal = pytest.importorskip("betacal")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = betacal.BetaCalibration("abm").fit(p[:, None], y).predict(NEW[1:-1, None])
    assert found(NEW[1:-1]) == pytest.approx(theirs, abs=2e-3)  # their optimiser stops early


def test_beta_without_a_negative_coefficient():
    """Where the free fit wants a negative one, it is that of the other feature alone."""
    rng = np.random.default_rng(3)
    p = rng.uniform(0.01, 0.99, 4000)
    y = (rng.random(4000) < expit(-2 - 0.5 * np.log(p) - 2 * np.log1p(-p))).astype(int)
    assert glm([np.log(p), -np.log1p(-p)], y).params[1] < 0
    want = glm([-np.log1p(-p)], y).params
    found = fitted("beta", p, y).parameters
    assert found["a"] == 0
    assert [found["c"], found["b"]] == pytest.approx(want, rel=1e-7)


@pytest.mark.parametrize(("p", "y"), CASES)
def test_quadratic_is_logistic_regression_on_squares(p, y):
    z = logit(p)
    want = glm([z, z * z], y).params
    slopes = want[1] + 2 * want[2] * np.array([z.min(), z.max()])
    found = fitted("quadratic", p, y)
    if (slopes >= 0).all():
        expected = expit(want[0] + want[1] * z + want[2] * z * z)
        assert found(p) == pytest.approx(expected, abs=1e-8)
    else:
        assert min(found.parameters["first"], found.parameters["last"]) == 0


@pytest.mark.parametrize(("p", "y"), CASES)
@pytest.mark.parametrize("weighted", [False, True])
def test_isotonic_is_that_of_sklearn(p, y, weighted):
    isotonic = pytest.importorskip("sklearn.isotonic")
    w = np.random.default_rng(5).random(len(y)) + 0.1 if weighted else None
    theirs = isotonic.IsotonicRegression(out_of_bounds="clip").fit(p, y, sample_weight=w)
    found = fitted("isotonic", p, y, sample_weight=w)
    assert np.abs(found(NEW) - theirs.predict(NEW)).max() < 1e-12


def one_more(p, y, at, label):
    """Isotonic regression of the rows and one more, at its score."""
    isotonic = pytest.importorskip("sklearn.isotonic")
    x, z = np.append(p, at), np.append(y, label)
    return isotonic.IsotonicRegression().fit(x, z).predict([at])[0]


@pytest.mark.parametrize(("p", "y"), CASES)
def test_venn_abers_by_adding_the_row(p, y):
    r = Recalibrator("venn_abers").fit(p, y)
    at = np.concatenate([NEW[::20], p[:15]])
    low, high = r.predict_interval(at).T
    assert low == pytest.approx([one_more(p, y, x, 0) for x in at], abs=1e-12)
    assert high == pytest.approx([one_more(p, y, x, 1) for x in at], abs=1e-12)
    assert r.transform(at) == pytest.approx(high / (1 - low + high), abs=1e-15)


def test_venn_abers_package():
    package = pytest.importorskip("venn_abers")
    p, y = CASES[0]
    va = package.VennAbers()
    va.fit(np.column_stack([1 - p, p]), y)
    merged, _ = va.predict_proba(np.column_stack([1 - NEW, NEW]))
    assert fitted("venn_abers", p, y)(NEW) == pytest.approx(merged[:, 1], abs=1e-4)  # they round


@pytest.mark.parametrize(("p", "y"), CASES)
def test_histogram_by_a_loop(p, y):
    found = fitted("histogram", p, y)
    edges = np.append(found.parameters["edges"], np.inf)
    sizes = []
    for low, high, value in zip(edges[:-1], edges[1:], found.parameters["values"], strict=True):
        inside = (p >= low) & (p < high)
        sizes.append(inside.sum())
        assert value == pytest.approx((y[inside].sum() + 1) / (inside.sum() + 2))
    assert sum(sizes) == len(p)
    ties = max(np.unique(p, return_counts=True)[1])
    assert max(sizes) - min(sizes) <= 2 * ties + 1


def test_spline_bends_where_the_truth_does():
    rng = np.random.default_rng(0)
    z = rng.normal(size=40_000) * 2
    truth = expit(z + 1.5 * np.tanh(z / 1.5))
    y = (rng.random(len(z)) < truth).astype(int)
    p = expit(z)
    error = {m: np.abs(fitted(m, p, y)(p) - truth).mean() for m in ("platt", "spline")}
    assert error["spline"] < 0.35 * error["platt"]


def test_a_spline_that_is_hardly_penalised_is_that_of_statsmodels():
    patsy = pytest.importorskip("patsy")
    rng = np.random.default_rng(0)
    z = rng.normal(size=20_000)
    y = (rng.random(len(z)) < expit(2 * z + 2 * np.tanh(2 * z))).astype(int)
    found = fitted("spline", expit(z), y)
    knots = found.parameters["knots"]
    options = {"z": z, "inner": knots[1:-1], "low": knots[0], "high": knots[-1]}
    inside = (z > knots[0]) & (z < knots[-1])
    x = np.asarray(
        patsy.dmatrix("cr(np.clip(z, low, high), knots=inner, lower_bound=low, upper_bound=high) - 1",
                      {**options, "np": np})
    )  # fmt: skip
    beyond = [np.minimum(z - knots[0], 0), np.maximum(z - knots[-1], 0)]
    free = glm([*x.T[1:], *beyond], y).predict()
    assert np.abs(found(expit(z)) - free)[inside].mean() < 0.004


@pytest.mark.parametrize("method", [m for m in NAMES if m not in ("histogram", "venn_abers")])
@pytest.mark.parametrize("case", range(len(CASES)))
def test_maps_that_promise_it_never_fall(method, case):
    assert (np.diff(fitted(method, *CASES[case])(NEW)) >= 0).all()


@pytest.mark.parametrize("case", range(len(CASES)))
def test_venn_abers_falls_by_no_more_than_rounding(case):
    assert (np.diff(fitted("venn_abers", *CASES[case])(NEW)) >= -1e-14).all()


@pytest.mark.parametrize("method", [m for m in NAMES if m not in ("histogram", "venn_abers")])
def test_scores_the_wrong_way_round_are_not_flipped(method):
    p, y = draw(1, 1000, -1.0)
    values = fitted(method, p, y)(NEW)
    assert (np.diff(values) >= -1e-15).all()
    assert np.ptp(values[20:-20]) < 0.2


@pytest.mark.parametrize("case", range(len(CASES)))
def test_the_strict_variant_rises_and_is_never_certain(case):
    values = fitted("isotonic_strict", *CASES[case])(NEW)
    assert (np.diff(values) > 0).all()
    assert 0 < values[0] < values[-1] < 1


@pytest.mark.parametrize("method", NAMES)
def test_counts_are_repetition(method):
    p, y = CASES[0]
    times = np.random.default_rng(8).integers(1, 4, len(y))
    once = Recalibrator(method).fit(p, y, count=times).transform(NEW)
    again = Recalibrator(method).fit(p.repeat(times), y.repeat(times)).transform(NEW)
    assert once == pytest.approx(again, abs=1e-9)


@pytest.mark.parametrize("method", NAMES)
def test_weights_have_no_unit(method):
    p, y = CASES[0]
    w = np.random.default_rng(8).random(len(y)) + 0.5
    a, b = (fitted(method, p, y, sample_weight=k * w)(NEW) for k in (1, 1000))
    assert a == pytest.approx(b, abs=1e-8)


@pytest.mark.parametrize("method", NAMES)
def test_row_order_does_not_matter(method):
    p, y = CASES[0]
    order = np.random.default_rng(9).permutation(len(y))
    assert (fitted(method, p, y)(NEW) == fitted(method, p[order], y[order])(NEW)).all()


@pytest.mark.parametrize("method", [m for m in NAMES if METHODS[m].likely])
def test_logits_are_probabilities(method):
    p, y = CASES[0]
    z = logit(p)
    one = Recalibrator(method).fit(p, y).transform(p)
    assert Recalibrator(method, kind="logit").fit(z, y).transform(z) == pytest.approx(one, abs=1e-7)


@pytest.mark.parametrize("method", ["temperature", "platt", "beta", "quadratic"])
def test_a_planted_shift_is_undone(method):
    p, y = draw(4, 200_000, 0.5, 0.0)
    truth = expit(0.5 * logit(p))
    assert np.abs(fitted(method, p, y)(p) - truth).mean() < 0.005


def test_separable_rows_are_smoothed_as_platt_did():
    calibration_of = pytest.importorskip("sklearn.calibration")
    z = np.array([-3.0, -2.0, -1.0, 0.5, 1.0, 2.5])
    y = np.array([0, 0, 0, 1, 1, 1])
    r = Recalibrator("platt", kind="logit").fit(z, y)
    theirs = calibration_of._SigmoidCalibration().fit(z, y)
    assert r.transform(z) == pytest.approx(theirs.predict(z), abs=1e-5)
    assert "smoothed" in r.to_dict()["hints"][0]


def test_many_cells_are_fitted_exactly():
    """Beyond 131,072 cells the fit starts from fewer, and ends where one from nothing ends."""
    linear = pytest.importorskip("sklearn.linear_model")
    p, y = draw(6, 150_000, 0.7, 0.3)
    found = fitted("platt", p, y).parameters
    model = linear.LogisticRegression(C=np.inf, tol=1e-12, solver="newton-cholesky")
    model.fit(logit(p)[:, None], y)
    want = [model.intercept_[0], model.coef_[0, 0]]
    assert [found["intercept"], found["slope"]] == pytest.approx(want, rel=1e-7)


@pytest.mark.parametrize(("p", "y"), CASES)
def test_calibration_slope_and_in_the_large(p, y):
    sm = pytest.importorskip("statsmodels.api")
    t = Tally.of(y, p)
    z = logit(p)
    slope = sm.GLM(y, sm.add_constant(z), sm.families.Binomial()).fit(cov_type="HC0", tol=1e-12)
    large = sm.GLM(y, np.ones(len(y)), sm.families.Binomial(), offset=z).fit(cov_type="HC0")
    for got, want in (
        (calibration_slope(t, clip=1e-7), slope),
        (calibration_intercept(t, clip=1e-7), large),
    ):
        assert got.value == pytest.approx(want.params[-1], abs=1e-6)
        reach = stats.t(sandwich_df(want, y)).ppf(0.975) * want.bse[-1]
        assert [got.low, got.high] == pytest.approx(
            [got.value - reach, got.value + reach], abs=1e-5
        )


@pytest.mark.parametrize("method", ["identity", "temperature", "beta"])
def test_methods_that_need_log_odds_refuse_other_scores(method):
    with pytest.raises(BadInput, match='needs probabilities or logits; pass kind="logit"'):
        Recalibrator(method).fit([-1.0, 2.0, 3.0], [0, 1, 0])


@pytest.mark.parametrize("method", ["temperature", "platt", "beta", "quadratic", "spline"])
def test_many_cells_are_fitted_as_exactly_as_few(method, monkeypatch):
    from scorewise.inference import logistic

    p, y = draw(12, 9000, 0.6, -0.3)
    whole = Recalibrator(method).fit(p, y).map_.parameters
    monkeypatch.setattr(logistic, "_MANY", 1 << 10)
    monkeypatch.setattr(logistic, "_CHUNK", 1 << 9)
    parts = Recalibrator(method).fit(p, y).map_.parameters
    for name, value in whole.items():
        assert parts[name] == pytest.approx(value, abs=1e-10), name
