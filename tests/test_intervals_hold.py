"""Intervals hold where they are hard to make: heavy weights, few positives, few errors, maxima.

Small seeded simulations of 95 % intervals; the whole range is in the study of coverage. The truths were
found by 6 million rows.
"""

import math

import numpy as np
import pytest
from scipy import stats

from scorewise import Tally
from scorewise import measures as m


def normal(prevalence, apart):
    """Calibrated probabilities of two normal classes so many standard deviations apart."""

    def draw(rng, n):
        y = rng.random(n) < prevalence
        z = rng.normal(size=n) + apart * y
        odds = apart * z - apart**2 / 2 + math.log(prevalence / (1 - prevalence))
        return y, 1 / (1 + np.exp(-odds))

    return draw


def flipped(rng, n):
    """Two classes that a threshold tells apart, but for 5 labels of 1,000."""
    high = rng.random(n) < 0.5
    s = np.where(high, 1 - rng.random(n) / 2, rng.random(n) / 2)
    return high ^ (rng.random(n) < 0.005), s


def chance(rng, n):
    return rng.random(n) < 0.03, rng.random(n)


def hold(measure, draw, n, truth, *, runs, threshold=None, weights=0.0, **options):
    """The share of runs whose interval contains the truth, of those that have an interval."""
    rng, inside = np.random.default_rng(12), []
    for _ in range(runs):
        y, s = draw(rng, n)
        weight = rng.lognormal(0, weights, n) if weights else None
        t = Tally.of(y, s, weight=weight, positive=True)
        e = measure(t if threshold is None else t.confusion(threshold), **options)
        if e.defined:
            inside.append(e.low <= truth <= e.high)
    return np.mean(inside)


RIGHT = stats.norm.cdf(0.6)  # sensitivity and specificity of the middle threshold, 1.2 apart
TRUE = {
    "sensitivity": RIGHT,
    "specificity": RIGHT,
    "precision": 0.1 * RIGHT / (0.1 * RIGHT + 0.9 * (1 - RIGHT)),
    "npv": 0.9 * RIGHT / (0.9 * RIGHT + 0.1 * (1 - RIGHT)),
    "balanced_accuracy": RIGHT,
    "lr_minus": (1 - RIGHT) / RIGHT,
    "dor": (RIGHT / (1 - RIGHT)) ** 2,
}


@pytest.mark.parametrize("name", TRUE)
def test_decisions_on_rows_of_very_uneven_weight(name):
    found = hold(
        getattr(m, name), normal(0.1, 1.2), 300, TRUE[name], runs=300, threshold=0.1, weights=1.2
    )
    assert found >= 0.91


def test_weights_of_classes_leave_intervals_as_narrow_as_they_are():
    """Each class has a weight of its own: that is no chance, and says no less of the rows."""
    rng = np.random.default_rng(0)
    y, s = normal(0.3, 1.2)(rng, 300)
    plain, by_class = (
        Tally.of(y, s, weight=w).confusion(0.3) for w in (None, np.where(y, 5.0, 1.0))
    )
    for name in ("sensitivity", "specificity", "youden", "lr_plus", "dor"):
        a, b = (getattr(m, name)(c) for c in (plain, by_class))
        assert (b.low, b.high) == pytest.approx((a.low, a.high), rel=1e-9)
    # of precision, the odds are 5 times those without weights
    odds = [[x / (1 - x) for x in (e.low, e.high)] for e in map(m.precision, (plain, by_class))]
    assert odds[1] == pytest.approx([5 * x for x in odds[0]], rel=0.05)


@pytest.mark.parametrize("weights", [0.0, 1.2])
def test_ks_of_scores_by_chance_and_of_uneven_weights(weights):
    assert hold(m.ks, chance, 1000, 0.0, runs=150, weights=weights) >= 0.91
    assert hold(m.ks, normal(0.3, 1.2), 300, 2 * RIGHT - 1, runs=150, weights=weights) >= 0.92


def test_ks_reaches_0_exactly_where_the_test_of_kolmogorov_and_smirnov_allows_it():
    rng, agree = np.random.default_rng(1), 0
    for shift in np.linspace(0, 0.6, 60):
        y = np.arange(400) % 2
        s = rng.normal(size=400) + shift * y
        p = stats.ks_2samp(s[y == 1], s[y == 0]).pvalue
        agree += (m.ks(Tally.of(y, s)).low == 0) == (p > 0.025)
    assert agree >= 54


def test_f_beta_with_hardly_an_error():
    truth = 0.995
    for beta in (0.5, 2.0, 4.0):
        found = hold(m.f_beta, flipped, 300, truth, runs=300, threshold=0.5, beta=beta)
        assert found >= 0.93


def test_f_beta_of_1_is_f1():
    c = Tally.of(*flipped(np.random.default_rng(3), 300)).confusion(0.5)
    assert m.f_beta(c, beta=1 + 1e-9).low == pytest.approx(m.f1(c).low, abs=1e-6)


@pytest.mark.parametrize(
    ("name", "truth"),
    [("calibration_slope", 7.5976), ("average_precision", 0.9935), ("pr_trapezoid", 0.9935)],
)
def test_measures_that_a_few_rows_decide(name, truth):
    assert hold(getattr(m, name), flipped, 300, truth, runs=300) >= 0.93


@pytest.mark.parametrize(
    ("name", "truth", "threshold"), [("mcc", 0.0891, 0.02), ("partial_auroc", 0.0307, None)]
)
def test_measures_of_ten_positives(name, truth, threshold):
    draw = normal(0.005, 1.2)
    assert hold(getattr(m, name), draw, 2000, truth, runs=300, threshold=threshold) >= 0.93


def test_empty_part_of_the_curve_still_says_how_full_it_may_be():
    y, s = np.arange(200) < 20, np.arange(200)
    e = m.partial_auroc(Tally.of(y, s))
    assert (e.value, e.low, e.method) == (0, 0, "Wilson")
    assert e.high == pytest.approx(
        0.1 * stats.norm.ppf(0.975) ** 2 / (20 + stats.norm.ppf(0.975) ** 2)
    )


@pytest.mark.parametrize(
    ("draw", "n", "weights", "truth"),
    [
        (normal(0.1, 1.2), 50, 0.0, 0.1826),
        (normal(0.3, 1.2), 300, 1.2, 0.2704),
        (normal(0.2, 4.0), 300, 0.0, 0.9253),
    ],
    ids=["few rows", "uneven weights", "near 1"],
)
def test_h_measure_does_not_flatter(draw, n, weights, truth):
    assert hold(m.h_measure, draw, n, truth, runs=80, weights=weights) >= 0.9
