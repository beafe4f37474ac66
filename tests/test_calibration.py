"""Calibration errors: published figures, loops over rows, and what chance does to them."""

import math

import numpy as np
import pytest
from scipy import stats

import calibration_loops as loops
from scorewise import Tally
from scorewise.errors import BadInput
from scorewise.measures import (
    ce_l2_debiased,
    ce_variational,
    ecce_mad,
    ecce_range,
    ece,
    ece_sweep,
    max_ce,
    skce,
    smece,
)
from scorewise.registry import MEASURES
from test_reference import frame

CALIBRATION = {
    name: m for name, m in MEASURES.items() if m.group == "calibration" and name in globals()
}
every_error = pytest.mark.parametrize("m", CALIBRATION.values(), ids=CALIBRATION)


def rows(seed, n=300, bend=1.0, digits=15):
    """Labels and probabilities; the true chance of a row is its probability to that power."""
    rng = np.random.default_rng(seed)
    p = rng.beta(1.2, 1.5, n).round(digits)
    return (rng.random(n) < p**bend).astype(int), p


def tally(y, p, **more):
    return Tally.of(y, p, positive=1, kind="probability", **more)


# published figures


def test_torchmetrics_example():
    t = Tally.of([0, 0, 1, 1, 1], [0.25, 0.25, 0.55, 0.75, 0.75])
    assert ece(t, bins=2).value == pytest.approx(0.29, abs=1e-12)
    assert ece(t, bins=2, norm=2).value == pytest.approx(0.2918, abs=5e-5)
    assert max_ce(t, bins=2).value == pytest.approx(0.3167, abs=5e-5)
    assert smece(t, convention="relplot").value == pytest.approx(0.198962, abs=1e-6)


def test_one_bin_for_each_value():
    p = [0.5, 0.5, 0.5, 0.6, 0.5, 0.6, 0.6, 0.6, 0.6]
    t = Tally.of([0, 1, 0, 1, 0, 1, 1, 1, 0], p)
    assert ece(t, binning="value").value == pytest.approx(0.222222, abs=1e-6)
    assert ece(t, binning="value", norm=2).value == pytest.approx(0.223607, abs=1e-6)
    assert ce_l2_debiased(t, binning="value", squared=True).value == pytest.approx(0, abs=1e-12)


def test_niamey():
    data = frame("precip_niamey_2016")
    assert smece(Tally.of(data["obs"], data["EMOS"])).value == pytest.approx(0.05948, abs=1e-4)


# loops


@pytest.mark.parametrize("seed", range(12))
def test_bins_of_equal_mass_and_any_norm(seed):
    y, p = rows(seed, n=80, bend=1.3, digits=1 + seed % 3)
    w = None if seed % 2 else np.random.default_rng(seed).uniform(0.2, 3, len(y))
    t, ones = tally(y, p, weight=w), loops.ones(y, w)
    for bins in (1, 4, 15, 40):
        index = loops.equal_mass(p, ones, bins)
        for norm in (1.0, 1.5, 2.0, math.inf):
            found = ece(t, bins=bins, binning="mass", norm=norm).value
            assert found == pytest.approx(loops.binned_error(y, p, ones, index, norm), rel=1e-10)
        squared = ce_l2_debiased(t, bins=bins, binning="mass", squared=True).value
        assert squared == pytest.approx(loops.debiased(y, p, ones, index), abs=1e-12)


@pytest.mark.parametrize("width", [0.02, 0.25, 2.0])
def test_kernel_of_any_width(width):
    y, p = rows(0, n=40, digits=2)
    w = np.random.default_rng(1).uniform(0.2, 3, 40)
    expected = loops.kernel_error(y, p, w, width)
    assert skce(tally(y, p, weight=w), width=width).value == pytest.approx(expected, abs=1e-13)


@pytest.mark.parametrize("seed", range(10))
def test_smooth_error_agrees_with_relplot(seed):
    relplot = pytest.importorskip("relplot")
    y, p = rows(seed, n=int(10 ** (2 + seed / 4)), bend=1 + seed % 4 / 4)
    assert smece(tally(y, p)).value == pytest.approx(relplot.smECE(p, y), abs=1e-3)


def test_smooth_error_by_dense_quadrature():
    y, p = rows(3, n=60, bend=1.4)
    found = smece(tally(y, p)).value
    assert loops.smoothed_size(y, p, np.ones(60), found, points=4000) == pytest.approx(
        found, abs=2e-7
    )


def test_many_scores_change_nothing_but_time():
    """Beyond 65,536 distinct scores cells are joined; the values stay those of all rows."""
    y, p = rows(5, n=90_000, bend=1.1)
    t = tally(y, p)
    path = np.append(0, np.cumsum((y - p)[np.argsort(p)])) / len(y)
    assert ecce_mad(t).value == pytest.approx(np.abs(path).max(), rel=1e-10)
    assert ecce_range(t).value == pytest.approx(np.ptp(path), rel=1e-10)
    relplot = pytest.importorskip("relplot")
    assert smece(t).value == pytest.approx(relplot.smECE(p, y), abs=1e-3)


# what chance does


@every_error
def test_calibrated_scores_get_what_is_expected(m):
    found = [m(tally(*rows(seed, n=400))) for seed in range(60)]
    values, expected = (np.array([getattr(e, k) for e in found]) for k in ("value", "expected"))
    error = values.std(ddof=1) / math.sqrt(len(values))
    assert abs((values - expected).mean()) < 3.5 * error + 0.02 * abs(expected.mean())
    p = np.array([e.p for e in found])
    assert stats.kstest(p, "uniform").pvalue > 1e-3
    assert sum(max(0.0, e.low) > 0 for e in found) <= 6


@every_error
def test_miscalibrated_scores_are_seen(m):
    e = m(tally(*rows(1, n=4000, bend=1.4)))
    assert e.p < 0.01
    assert e.low > 0
    assert e.value > 2 * max(e.expected, 0)


@every_error
def test_interval_reaches_zero_as_the_test_says(m):
    for seed in range(12):
        e = m(tally(*rows(seed, n=300, bend=1 + seed / 30)))
        assert (e.low <= 0) == (e.p >= 0.025)
        assert 1 / 1001 <= e.p <= 1


@every_error
def test_seed_moves_the_interval_only(m):
    t = tally(*rows(2, bend=1.2))
    a, b = m(t, seed=0), m(t, seed=1)
    assert (a.low, a.high) != (b.low, b.high)
    if m.name != "ce_variational":  # whose folds are dealt by the seed
        assert a.value == b.value
        assert a.high == pytest.approx(b.high, rel=0.25)


@pytest.mark.usefixtures("few_draws")
def test_debiased_error_is_unbiased():
    """Of bins whose shares are .1 off, the plain error is too large, the debiased one is not."""
    rng = np.random.default_rng(0)
    p = np.repeat([0.25, 0.45, 0.65], 20)
    found = [
        ce_l2_debiased(Tally.of(rng.random(60) < p + 0.1, p, positive=True), squared=True).value
        for _ in range(400)
    ]
    error = np.std(found) / 20
    assert np.mean(found) == pytest.approx(0.01, abs=3.5 * error)
    t = tally(*rows(1, bend=1.3))
    both = [ce_l2_debiased(t, squared=s) for s in (True, False)]
    assert both[1].value == pytest.approx(math.sqrt(both[0].value))
    assert both[1].high == pytest.approx(math.sqrt(both[0].high), rel=0.02)


def test_asymptotic_p_value_of_the_cumulative_error():
    """sigma-scaled, the largest gap is that of Brownian motion."""
    y, p = rows(4, n=4000)
    e = ecce_mad(tally(y, p))
    x = e.value / (math.sqrt((p * (1 - p)).sum()) / len(p))
    k = np.arange(50)
    below = (
        4 / np.pi * (-1.0) ** k / (2 * k + 1) * np.exp(-(((2 * k + 1) * np.pi / x) ** 2) / 8)
    ).sum()
    assert e.p == pytest.approx(1 - below, abs=0.08)


@pytest.mark.parametrize("m", [ece, max_ce, ece_sweep, smece, ecce_mad, ecce_range])
def test_unequal_weights_leave_more_to_chance(m):
    """Kish: they are worth fewer rows, here 200 / 1.81."""
    y, p = rows(6, n=200)
    equal, unequal = (m(tally(y, p, weight=w)) for w in (np.ones(200), np.tile([0.1, 1.9], 100)))
    assert 1.15 < unequal.expected / equal.expected < 1.6


# input


@pytest.mark.parametrize(
    ("measure", "options", "words"),
    [
        (skce, {"width": 0.0}, "width must be at least 0.002, such as 0.25; got 0"),
        (ce_variational, {"folds": 1}, "folds must be an integer from 2 up, such as 5; got 1"),
        (ece_sweep, {"level": 1.5}, "level"),
        (ce_l2_debiased, {"bins": -1}, "bins must be a positive integer, such as 15; got -1"),
    ],
)
def test_bad_options_are_refused(measure, options, words):
    with pytest.raises(BadInput, match=words):
        measure(Tally.of([0, 1], [0.2, 0.8]), **options)


@every_error
def test_scores_that_are_no_probabilities(m):
    assert "are not probabilities" in m(Tally.of([0, 1, 1], [-1.0, 2.0, 3.0])).why


def test_one_row_makes_no_pair():
    assert skce(Tally.of([1], [0.3])).why == "one row makes no pair"
