"""When a map is shown to help."""

import numpy as np
import pytest
from scipy import stats

from recalibration_cases import draw
from scorewise import Tally
from scorewise.recalibrating.choosing import CellFolds, Sample, verdict

ONES = np.ones(200)
FOLD = np.arange(200) % 5


def noise(seed, mean, spread=1.0):
    """Numbers with exactly that mean and standard deviation."""
    x = np.random.default_rng(seed).normal(size=200)
    return mean + spread * (x - x.mean()) / x.std(ddof=1)


def test_the_interval_is_that_of_the_t_test():
    gap = noise(1, 0.3)
    found = Sample(ONES, ONES, FOLD).paired(gap, 0.99)
    want = stats.ttest_1samp(gap, 0).confidence_interval(0.99)
    assert (found.low, found.high) == pytest.approx((want.low, want.high), rel=1e-9)


def test_evidence_is_the_mean_of_the_likelihood_ratios():
    gap = noise(2, 0.05, 0.1)
    each = [np.exp(gap[k == FOLD].sum()) for k in range(5)]
    assert Sample(ONES, ONES, FOLD).evidence(gap) == pytest.approx(np.log(np.mean(each)))
    heavy = Sample(7 * ONES, 49 * ONES, FOLD).evidence(gap)
    assert heavy == pytest.approx(np.log(np.mean(each)))
    assert Sample(ONES, ONES, FOLD).evidence(1e4 * gap**2) > 700  # without overflow


def test_calibrated_scores_hardly_ever_have_evidence_against_them():
    strong = []
    for seed in range(200):
        p, y = draw(seed, 80, spread=3.0)
        rows = CellFolds(Tally.of(y, p), 5, 0, 1e-7)
        before, after = (rows.losses(rows.unseen(name)[1]) for name in ("identity", "platt"))
        strong.append(rows.sample.evidence(before - after) >= np.log(10))
    assert np.mean(strong) <= 0.1


@pytest.mark.parametrize(
    ("gains", "chosen", "why"),
    [
        ({}, "identity", "too few rows"),
        ({"platt": -0.1}, "identity", "nothing else has a lower log loss"),
        ({"platt": 0.001}, "identity", "not shown to help"),
        ({"platt": 0.5}, "platt", "least log loss"),
        ({"platt": 0.5, "spline": 0.8}, "spline", "least log loss"),
        (
            {"platt": 0.5, "spline": 0.51},
            "platt",
            "as good as spline on rows not seen, and simpler",
        ),
    ],
    ids=str,
)
def test_what_is_taken(gains, chosen, why):
    made = {"identity": np.full(200, 2.0)}
    for seed, (name, gain) in enumerate(gains.items()):
        made[name] = 2.0 - noise(seed, gain)
    name, reason = verdict(made, Sample(ONES, ONES, FOLD), 0.95)
    assert name == chosen
    assert why in reason


def test_few_rows_that_were_certain_and_wrong_are_evidence_enough():
    """The losses are so skewed that the interval of their mean reaches 0."""
    before_ = np.full(200, 0.01)
    before_[:5] = 16.0
    after = np.full(200, 0.1)
    after[:5] = 2.0
    assert Sample(ONES, ONES, FOLD).paired(before_ - after, 0.99).low < 0
    name, why = verdict({"identity": before_, "platt": after}, Sample(ONES, ONES, FOLD), 0.95)
    assert name == "platt"
    assert why == "shown to help, by the likelihood of the rows: least log loss on rows not seen"
