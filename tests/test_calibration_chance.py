"""What chance does to calibration errors: p-values of ties and fixed seeds, limits on one scale."""

import numpy as np
import pytest
from scipy import stats

from scorewise import ClassTally, Tally
from scorewise.measures import (
    calibration_gain,
    calibration_slope,
    ce_l2_debiased,
    ce_variational,
    ecce_mad,
    ecce_range,
    ece,
    hosmer_lemeshow,
    mcb,
    smece,
)


def rows(seed, n, shape=(1.0, 1.5)):
    rng = np.random.default_rng(seed)
    p = rng.beta(*shape, n).clip(1e-6, 1 - 1e-6)
    y = rng.random(n) < p
    if y.all() or not y.any():
        y[:2] = False, True
    return y, p


def test_both_limits_of_the_debiased_error_are_roots():
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    y = rng.random(len(p)) < 0.2 + 0.6 * p
    t = Tally.of(y, p)
    root, square = ce_l2_debiased(t), ce_l2_debiased(t, squared=True)
    assert root.value == pytest.approx(square.value**0.5)
    assert root.low == pytest.approx(square.low**0.5, rel=0.02)
    assert root.high == pytest.approx(square.high**0.5, rel=0.02)
    assert root.low > 0.8 * root.value


@pytest.mark.parametrize("n", [200, 1000])
def test_one_seed_for_all_leaves_p_values_uniform(n):
    found = [ce_variational(Tally.of(*rows(k, n))) for k in range(120)]
    assert stats.kstest([e.p for e in found], "uniform").pvalue > 0.001
    values = np.array([e.value for e in found])
    assert abs(values.mean()) < 4 * values.std() / len(values) ** 0.5


def test_the_gain_of_tied_rows_is_uniform_under_calibration():
    table = np.random.default_rng(5).dirichlet([1, 1, 1], 6)
    found = []
    for k in range(80):
        rng = np.random.default_rng([7, k])
        p = table[rng.integers(6, size=200)]
        y = (p.cumsum(1) < rng.random((200, 1))).sum(1).clip(0, 2)
        found.append(calibration_gain(ClassTally.of(y, p, classes=range(3))))
    assert stats.kstest([e.p for e in found], "uniform").pvalue > 0.001
    gap = np.array([e.value - e.expected for e in found])
    assert abs(gap.mean()) < 4 * gap.std() / len(gap) ** 0.5


@pytest.mark.parametrize("measure", [ece, ecce_mad, smece])
def test_no_gap_at_all_still_hides_one(measure):
    """25 of 50 at 0.5: the exact interval of the share reaches from 0.36 to 0.64."""
    e = measure(Tally.of([0, 1] * 25, [0.5] * 50))
    assert e.value == e.low == 0
    assert 0.1 < e.high < 0.25


@pytest.mark.parametrize("measure", [calibration_slope, hosmer_lemeshow])
def test_few_events_do_not_raise_false_alarms(measure):
    found = [measure(Tally.of(*rows(k, 200, (0.5, 12)))).p for k in range(150)]
    assert np.mean([p <= 0.05 for p in found if p is not None]) < 0.1
    assert np.mean([p <= 0.01 for p in found if p is not None]) < 0.045


@pytest.mark.parametrize("n", [300, 3000])
def test_expected_miscalibration_is_its_mean(n):
    found = [mcb(Tally.of(*rows(k, n)), seed=k) for k in range(40)]
    value, expected = (np.mean([getattr(e, name) for e in found]) for name in ("value", "expected"))
    assert expected == pytest.approx(value, rel=0.12)


@pytest.mark.parametrize("bend", [1.0, 1.02])
def test_the_path_of_very_many_scores_is_followed_to_its_ends(bend):
    rng = np.random.default_rng(3)
    p = rng.random(70_000)
    y = rng.random(len(p)) < p**bend
    order = np.argsort(p)
    path = np.append(0.0, np.cumsum((y - p)[order])) / len(p)
    t = Tally.of(y, p)
    assert len(t.score) > 1 << 16
    assert ecce_mad(t).value == pytest.approx(abs(path).max(), rel=1e-12)
    assert ecce_range(t).value == pytest.approx(np.ptp(path), rel=1e-12)


def test_no_gap_is_made_of_rounding():
    """Two rows that were said to be certain, of which one is wrong: the other has no gap at all."""
    found = {
        (e.value, e.low, e.high)
        for unit in (0.1, 1.0, 3.0, 10.0)
        for e in [ce_variational(Tally.of([0, 0], [0.0, 1.0], weight=[unit, unit], positive=1))]
    }
    assert len(found) == 1
