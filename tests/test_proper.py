"""Proper scores and their parts, tests of calibration and Cox's line, against outside references."""

import numpy as np
import pytest
from scipy import stats
from sklearn.isotonic import IsotonicRegression
from sklearn.metrics import log_loss as sk_log_loss
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

import scorewise as sw
from oracles import spherical_loss
from recalibration_cases import sandwich_df
from scorewise import Tally
from scorewise import measures as m
from scorewise.curves import decompose, murphy
from scorewise.curves import hull as hulls
from scorewise.registry import MEASURES, measure
from scorewise.show import terminal
from scorewise.tallies.losses import LOSSES
from test_reference import frame


def bold(n=300, seed=0, slope=0.5, shift=-0.4):
    """Scores whose log-odds are to be multiplied and shifted."""
    rng = np.random.default_rng(seed)
    z = 1.5 * rng.normal(size=n)
    return rng.random(n) < 1 / (1 + np.exp(-(slope * z + shift))), 1 / (1 + np.exp(-z))


# parts of losses


@pytest.mark.parametrize("loss", ["brier", "log", "spherical"])
def test_parts_are_losses_of_the_isotonic_fit_and_add_up(loss):
    y, p = bold()
    w = np.random.default_rng(1).uniform(0.5, 2, len(y))
    fit = IsotonicRegression().fit(p, y, sample_weight=w).predict(p).clip(0, 1)
    constant = np.full(len(y), np.average(y, weights=w))
    mean = {
        "brier": lambda q: np.average((q - y) ** 2, weights=w),
        "log": lambda q: sk_log_loss(y, q, sample_weight=w),
        "spherical": lambda q: spherical_loss(y, q, w, 0),
    }[loss]
    parts = decompose(Tally.of(y, p, weight=w), loss=loss)
    score, recalibrated, unc = mean(p), mean(fit), mean(constant)
    expected = score, score - recalibrated, unc - recalibrated, unc, 0.0
    assert tuple(parts) == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert parts.mcb - parts.dsc + parts.unc == pytest.approx(parts.score, rel=1e-14)
    t = Tally.of(y, p, weight=w)
    values = [MEASURES[name](t, loss=loss).value for name in ("mcb", "dsc", "unc")]
    assert values == list(parts[1:4])


@pytest.mark.parametrize(
    ("forecast", "parts"),
    [("EMOS", (0.232025, 0.018283, 0.030469)), ("ENS", (0.266168, 0.066072, 0.044115))],
)
def test_parts_of_the_niamey_forecasts(forecast, parts):
    """Dimitriadis, Gneiting and Jordan (2021)."""
    data = frame("precip_niamey_2016")
    t = Tally.of(data["obs"], data[forecast])
    assert tuple(decompose(t)) == pytest.approx((*parts, 0.244211, 0.0), abs=5e-7)


def test_spiegelhalter_of_the_niamey_forecast():
    data = frame("precip_niamey_2016")
    e = m.spiegelhalter(Tally.of(data["obs"], data["EMOS"]))
    assert e.value == pytest.approx(-0.3712, abs=5e-5)
    assert e.p == pytest.approx(2 * stats.norm.sf(0.3712), abs=5e-5)


def test_murphy_on_the_probabilities_themselves_is_the_brier_score():
    y, p = bold(seed=2)
    t = Tally.of(y, p.round(1))
    rel, res, unc = murphy(t, bins=None, debias=False)
    assert rel - res + unc == pytest.approx(m.brier(t).value, rel=1e-12)
    debiased = murphy(t, bins=None)
    assert debiased.unc == pytest.approx(np.var(y, ddof=1), rel=1e-12)
    assert debiased.rel - debiased.res + debiased.unc == pytest.approx(rel - res + unc, rel=1e-12)


def test_infinite_log_loss_has_infinite_miscalibration():
    t = Tally.of([1, 0, 1, 0], [0.0, 0.2, 0.6, 0.9])
    assert m.mcb(t, loss="log").why.startswith("a certain prediction was wrong in 1 row")
    assert np.isfinite(m.mcb(t, loss="log", clip=1e-3).value)
    assert np.isfinite(m.dsc(t, loss="log").value)


def test_the_isotonic_fit_is_made_once(monkeypatch):
    calls = []
    pav_blocks = hulls.pav_blocks
    monkeypatch.setattr(hulls, "pav_blocks", lambda *w: calls.append(1) or pav_blocks(*w))
    t = Tally.of(*bold())
    decompose(t)
    decompose(t, loss="log")
    m.h_measure(t)
    assert len(calls) == 1


def test_brier_of_both_conventions():
    t = Tally.of(*bold())
    one, both = m.brier(t), m.brier(t, convention="sum")
    for name in ("value", "low", "high", "baseline"):
        assert getattr(both, name) == 2 * getattr(one, name)
    with pytest.raises(sw.BadInput, match="convention"):
        m.brier(t, convention="twice")


def test_coarse_tallies_keep_every_loss_exact():
    y, p = bold(seed=3)
    near = Tally.of(y, p).coarsen()
    assert set(near.coarse.losses) == set(LOSSES)
    assert m.spherical(near).value == pytest.approx(spherical_loss(y, p, None, 0), rel=1e-12)


def test_the_spherical_loss_keeps_the_digits_of_small_losses():
    e = m.spherical(Tally.of([0, 0, 0], [1e-9, 1e-9, 2e-9]))
    assert e.value == pytest.approx((1e-18 + 1e-18 + 4e-18) / 6, rel=1e-6)


# miscalibration, as a test


def test_p_values_of_calibrated_scores_are_spread_evenly():
    p = [m.mcb(Tally.of(*bold(150, seed, 1.0, 0.0)), seed=seed).p for seed in range(60)]
    assert stats.kstest(p, "uniform").pvalue > 0.01


def test_miscalibration_is_found_and_its_interval_holds_the_truth():
    rng = np.random.default_rng(9)
    z = 1.5 * rng.normal(size=1_000_000)
    q, p = 1 / (1 + np.exp(-(0.5 * z - 0.4))), 1 / (1 + np.exp(-z))
    truth = np.mean((p - q) ** 2)
    found = [m.mcb(Tally.of(*bold(400, seed))) for seed in range(30)]
    assert sum(e.low <= truth <= e.high for e in found) >= 26
    assert sum(e.p < 0.01 for e in found) >= 28
    assert np.mean([e.value - truth for e in found]) > 0  # on the same rows it is too large
    # what the fit costs on rows not seen has to be earned first: more rows are needed
    crossed = [m.mcb_crossfit(Tally.of(*bold(1000, seed))) for seed in range(30)]
    assert np.mean([e.value - truth for e in crossed]) < 0
    assert np.mean([e.low > 0 for e in crossed]) > 0.7


def test_cross_fitting_saves_nothing_of_calibrated_scores():
    found = [m.mcb_crossfit(Tally.of(*bold(400, seed, 1.0, 0.0))) for seed in range(30)]
    assert np.mean([e.value for e in found]) < 0
    assert np.mean([e.low > 0 for e in found]) < 0.1
    assert np.isfinite(m.mcb_crossfit(Tally.of(*bold()), loss="log").value)
    assert m.mcb_crossfit(Tally.of(*bold(19))).why == "fewer than 20 rows, for 10 folds"


# Cox's line


def glm(y, x, offset=None):
    return GLM(y.astype(float), x, Binomial(), offset=offset).fit(tol=1e-14, cov_type="HC0")


@pytest.mark.parametrize("seed", range(3))
def test_intercept_and_slope_have_the_intervals_of_statsmodels(seed):
    y, p = bold(seed=seed)
    t, x = Tally.of(y, p), np.log(p / (1 - p))
    line = glm(y, np.column_stack([np.ones(len(y)), x]))
    student = stats.t(sandwich_df(line, y))
    e, value, error = m.calibration_slope(t), line.params[1], line.bse[1]
    reach = student.ppf(0.975) * error
    assert (e.low, e.high) == pytest.approx((value - reach, value + reach), rel=1e-7)
    assert e.p == pytest.approx(2 * student.sf(abs(value - 1) / error), rel=1e-6)
    large = glm(y, np.ones((len(y), 1)), x)
    e, student = m.calibration_intercept(t), stats.t(sandwich_df(large, y))
    reach = student.ppf(0.975) * large.bse.item()
    want = large.params.item() - reach, large.params.item() + reach
    assert (e.low, e.high) == pytest.approx(want, rel=1e-7)
    assert e.p == pytest.approx(2 * student.sf(abs(large.tvalues.item())), rel=1e-6)


def test_a_line_that_does_not_exist_says_why():
    perfect = Tally.of([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9])
    for t in (perfect, Tally.of([1, 1, 0, 0], [0.1, 0.2, 0.8, 0.9])):
        assert "tells the classes apart" in m.calibration_slope(t).why
    assert m.calibration_intercept(perfect).defined
    certain = Tally.of([0, 1, 0, 1], [0.0, 0.4, 0.6, 0.7])
    for found in (m.calibration_slope, m.calibration_intercept):
        assert found(certain).why == (
            "a probability is 0 or 1 in 1 row; a clip of 0.005 bounds its log-odds"
        )
        assert found(certain, clip=1e-6).defined
    # half as far from 0 and 1 as the nearest other score
    fine = Tally.of([0, 1, 0, 1], [0.0, 0.0004, 0.6, 0.7])
    assert "a clip of 0.0002 bounds" in m.calibration_slope(fine).why
    assert m.calibration_slope(Tally.of([0, 1], [0.3, 0.3])).why == "all scores are equal"


def test_joining_many_scores_hardly_moves_the_line():
    y, p = bold(150_000)
    x = np.log(p / (1 - p))
    e = m.calibration_slope(Tally.of(y, p))
    exact = GLM(y.astype(float), np.column_stack([np.ones(len(y)), x]), Binomial()).fit(tol=1e-12)
    assert e.value == pytest.approx(exact.params[1], abs=1e-4 * (e.high - e.low))


# tests


def test_joining_many_scores_hardly_moves_spiegelhalter():
    y, p = bold(100_000, slope=1.0, shift=0.0)
    above = ((y - p) * (1 - 2 * p)).sum()
    expected = above / np.sqrt(((1 - 2 * p) ** 2 * p * (1 - p)).sum())
    assert m.spiegelhalter(Tally.of(y, p)).value == pytest.approx(expected, rel=1e-7)


def test_hosmer_lemeshow_says_how_its_p_value_was_made():
    """Labels are drawn where a group expects fewer than five rows of a class."""
    y, p = bold(2000, 3, 1.0, 0.0)
    rare = np.where(p < np.quantile(p, 0.3), p / 1000, p)
    assert m.hosmer_lemeshow(Tally.of(y, p)).method == "chi-squared"
    assert m.hosmer_lemeshow(Tally.of(y, rare)).method == "1,000 draws of labels"
    told = "p-values of Hosmer-Lemeshow are not comparable: "
    told += "'a' by chi-squared, 'b' by 1,000 draws of labels"
    assert told in sw.compare(y, {"a": p, "b": rare}).to_dict()["hints"]
    alike = sw.compare(y, {"a": p, "b": p**1.1}).to_dict()["hints"]
    assert not any("not comparable" in hint for hint in alike)


def test_hosmer_lemeshow_is_chi_squared_with_as_many_degrees_as_groups():
    found = [m.hosmer_lemeshow(Tally.of(*bold(500, s, 1.0, 0.0))) for s in range(200)]
    assert {e.expected for e in found} == {10.0}
    assert stats.kstest([e.value for e in found], stats.chi2(10).cdf).pvalue > 0.01
    t = Tally.of(*bold())
    new, old = m.hosmer_lemeshow(t), m.hosmer_lemeshow(t, rows="training")
    assert old.p == pytest.approx(stats.chi2.sf(new.value, 8))
    assert new.p == pytest.approx(stats.chi2.sf(new.value, 10), abs=0.01)  # drawn, for few expected
    many = m.hosmer_lemeshow(Tally.of(*bold(5000, 1, 1.0, 0.0)))
    assert many.p == pytest.approx(stats.chi2.sf(many.value, 10))


def test_groups_split_no_ties():
    y, p = np.array([0, 1] * 30), np.repeat([0.2, 0.4, 0.7], [5, 50, 5])
    e = m.hosmer_lemeshow(Tally.of(y, p), groups=2)
    assert e.expected in (1.0, 2.0)
    shares = [(y[p == x].sum() - (p == x).sum() * x) ** 2 / ((p == x).sum() * x * (1 - x))
              for x in np.unique(p)]  # fmt: skip
    assert m.hosmer_lemeshow(Tally.of(y, p), groups=3).value == pytest.approx(sum(shares))


def test_spiegelhalter_is_normal_for_calibrated_scores():
    found = [m.spiegelhalter(Tally.of(*bold(300, s, 1.0, 0.0))).value for s in range(200)]
    assert stats.kstest(found, "norm").pvalue > 0.01
    assert m.spiegelhalter(Tally.of(*bold(1000))).value > 3  # too bold
    assert m.spiegelhalter(Tally.of(*bold(1000, slope=2.0, shift=0.0))).value < -3


# measures that are best near a value


def test_near_repeats_its_target_as_what_is_expected():
    t = Tally.of(*bold())
    near = {name: x for name, x in MEASURES.items() if x.better == "near"}
    assert {"calibration_slope", "calibration_intercept", "spiegelhalter"} <= set(near)
    for x in near.values():
        assert x(t).expected == x.target == x.best


def test_tables_star_only_what_is_compared_in_pairs():
    y, p = bold(2000)
    x = np.log(p / (1 - p))
    models = {name: 1 / (1 + np.exp(-k * x)) for name, k in (("bold", 1), ("right", 0.5))}
    models["noise"] = 1 / (1 + np.exp(-np.roll(x, 1)))
    found = sw.evaluate({"y": y, **models}, label="y", score=[*models])
    lines = terminal.text(found.document(), 200).splitlines()
    apart = {
        (d.title, frozenset((d.first, d.second)))
        for d in found.document().differences
        if d.low is not None and d.high is not None and (d.low > 0 or d.high < 0)
    }
    starred = {line.split("  ")[0].strip() for line in lines if "* " in line}
    assert {"smAUC", "Brier score", "Log loss"} <= starred
    assert not starred & {"AUROC", "Average precision"}  # two models rank the rows alike
    for title in starred:  # the best differs from both others
        assert max(sum((title, frozenset((a, b))) in apart for b in found) for a in found) == 2


def test_a_target_goes_with_near_only():
    for better, target in (("low", 1.0), ("near", np.nan)):
        with pytest.raises(ValueError, match="target"):
            measure(group="calibration", better=better, target=target)


def test_cross_fitting_does_not_depend_on_the_unit_of_weights():
    rng = np.random.default_rng(2)  # cells worth two and a half rows, but for rounding
    y, p, weight = rng.integers(0, 2, 240), rng.random(240).round(2), rng.integers(1, 4, 240)
    units = [1, 3, 0.37, 1e-3, 1e5, 1 / 3]
    found = [m.mcb_crossfit(Tally.of(y, p, weight=weight * u)).value for u in units]
    assert found == pytest.approx([found[0]] * len(units), rel=1e-12)
