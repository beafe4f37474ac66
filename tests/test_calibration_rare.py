"""Calibration of rare events, very sure scores and very many bins: p-values and intervals that hold."""

import tracemalloc
import warnings

import numpy as np
import pytest

from scorewise import ClassTally, Tally
from scorewise.measures import (
    calibration_intercept,
    ce_l2_debiased,
    ce_variational,
    dsc,
    ecce_mad,
    ece,
    ece_sweep,
    max_ce,
    mcb,
    mcb_crossfit,
    smece,
)
from scorewise.registry import CLASS_MEASURES, MEASURES

BINNED = (ece, max_ce, ce_l2_debiased, smece)
RARE = {
    "1e-5 to 1e-4": np.linspace(1e-5, 1e-4, 60),
    "1e-4 to 5e-4": np.linspace(1e-4, 5e-4, 300),
    ".001 to .01": np.linspace(0.001, 0.01, 200),
    ".995 to .9999": np.linspace(0.995, 0.9999, 200),
}
every_binned = pytest.mark.parametrize("m", BINNED, ids=lambda m: m.__name__)
every_scores = pytest.mark.parametrize("p", RARE.values(), ids=RARE)


def tally(y, p, **more):
    return Tally.of(np.asarray(y, int), p, positive=1, kind="probability", **more)


def surprised(p, rows):
    """Labels that are the likely ones, but in these rows."""
    y = p > 0.5
    y[list(rows)] ^= True
    return y


def count_chances(p):
    """The distribution of the number of rows that get the less likely label, by convolution."""
    chance = np.ones(1)
    for q in np.minimum(p, 1 - p):
        chance = np.append(chance, 0.0) * (1 - q) + np.append(0.0, chance) * q
    return chance


# p-values


@every_binned
@every_scores
def test_what_usually_happens_is_no_sign_of_error(m, p):
    """No surprise at all, the likeliest number of them."""
    e = m(tally(surprised(p, ()), p))
    assert e.p >= min(0.99, 0.9 * count_chances(p)[0])
    assert e.low == 0


@every_scores
@pytest.mark.parametrize("events", [1, 2])
def test_p_of_few_events_is_exact(p, events):
    """All rows are in one bin, so the error is a function of the number of events."""
    chance, mean = count_chances(p), np.minimum(p, 1 - p).sum()
    far = np.abs(np.arange(len(chance)) - mean)
    exact = min(chance[far >= far[events] - 1e-9].sum(), 1.0)
    e = ece(tally(surprised(p, range(5, 5 + events)), p))
    assert e.p == pytest.approx(exact, abs=0.001 + 4 * np.sqrt(exact * (1 - exact) / 1000))


@pytest.mark.parametrize("m", [ece, ce_l2_debiased, mcb], ids=lambda m: m.__name__)
def test_rows_that_are_sure_either_way_are_not_those_of_their_mean(m):
    """Half of the rows at .02, half at .98: one bin of 100 rows, with a variance of 2 and not of 25."""
    p = np.repeat([0.02, 0.98], 50)
    rng = np.random.default_rng(0)
    found = [m(tally(rng.random(100) < p, p), seed=k, **options(m)).p for k in range(100)]
    assert np.mean(np.array(found) <= 0.2) == pytest.approx(0.2, abs=0.17)
    assert np.mean(np.array(found) <= 0.05) <= 0.12


def options(m):
    return {} if m is mcb else {"bins": 1}


@pytest.mark.parametrize("name", ["ece", "ce_l2_debiased", "smece", "skce", "ce_variational"])
def test_weighted_rare_events_raise_no_false_alarms(name):
    rng = np.random.default_rng(3)
    p = RARE[".001 to .01"]
    found = []
    for k in range(40):
        w = rng.lognormal(0, 1.2, len(p))
        found.append(MEASURES[name](tally(rng.random(len(p)) < p, p, weight=w), seed=k))
    assert np.mean([e.p <= 0.05 for e in found]) <= 0.15
    assert np.mean([e.low <= 0 for e in found]) >= 0.9


def test_p_of_weighted_rows_is_that_of_rows_drawn_one_by_one():
    rng = np.random.default_rng(1)
    p = RARE[".001 to .01"]
    w = rng.lognormal(0, 1.2, len(p))
    y = surprised(p, [int(np.argsort(w)[-20])])
    drawn = (rng.random((4000, len(p))) < p) @ w
    mean = (w * p).sum()
    exact = np.mean(np.abs(drawn - mean) >= abs((w * y).sum() - mean) - 1e-9)
    assert ece(tally(y, p, weight=w)).p == pytest.approx(exact, abs=0.06)


# several classes


def sure_rows(n, seed=0):
    """Rows whose first class has a probability of at least .9999."""
    rng = np.random.default_rng(seed)
    rare = rng.uniform(1e-5, 1e-4, n)
    second = rare * rng.random(n)
    return np.stack((1 - rare, second, rare - second), axis=1)


@pytest.mark.parametrize("name", ["ece", "classwise_ece", "canonical_ce", "skce"])
@pytest.mark.parametrize("n", [500, 5000])
def test_sure_rows_that_are_right_are_no_sign_of_error(name, n):
    e = CLASS_MEASURES[name](ClassTally.of(np.zeros(n, int), sure_rows(n), classes=range(3)))
    assert e.p > 0.5
    assert e.low <= 0 <= e.high


@pytest.mark.parametrize("name", ["ece", "classwise_ece"])
def test_one_surprise_among_sure_rows_is_as_likely_as_it_is(name):
    n = 5000
    p = sure_rows(n)
    y = np.zeros(n, int)
    y[7] = 1
    exact = 1 - np.prod(p[:, 0])
    e = CLASS_MEASURES[name](ClassTally.of(y, p, classes=range(3)))
    assert exact / 3 < e.p < exact * 1.4  # in one class of two, or in any


def test_intervals_of_several_classes_end_where_the_measure_does():
    t = ClassTally.of(
        [1, 2, 0], [[1, 0, 0], [0, 1, 0], [0, 0, 1]], classes=range(3), count=[2, 3, 1]
    )
    for m in CLASS_MEASURES.values():
        e = m(t)
        if np.isfinite(e.low):
            assert m.bounds[0] <= e.low <= e.high <= m.bounds[1], m.name


def test_few_surprises_make_the_intervals_of_pairs_unreliable():
    p = sure_rows(400)
    e = CLASS_MEASURES["skce"](ClassTally.of(np.zeros(400, int), p, classes=range(3)))
    assert e.caution == "0 rows of a class that was not the likeliest"
    p = np.random.default_rng(0).dirichlet([1, 1, 1], 400)
    assert not CLASS_MEASURES["skce"](ClassTally.of(p.argmax(1), p, classes=range(3))).caution


# intervals


@pytest.mark.parametrize("m", [ece, smece, ecce_mad, ece_sweep], ids=lambda m: m.__name__)
def test_no_event_still_hides_a_higher_rate(m):
    """Rule of three: none of 60 leaves rates up to some 5 % possible, and not up to 20 %."""
    e = m(tally(np.zeros(60), RARE["1e-5 to 1e-4"]))
    assert 0.03 < e.high < 0.2


@pytest.mark.parametrize("factor", [0.2, 1, 4])
def test_intervals_of_rare_events_contain_the_error(factor):
    rng = np.random.default_rng(0)
    p = RARE[".001 to .01"]
    truth = abs(factor - 1) * p.mean()
    found = [ece(tally(rng.random(200) < factor * p, p), seed=k) for k in range(60)]
    assert np.mean([e.low <= truth <= e.high for e in found]) > 0.87


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def too_sure(rng, n):
    """Ten classes whose logits are twice as large as they should be."""
    z = 3 * rng.normal(size=(n, 10))
    p = softmax(z)
    return (p.cumsum(1) < rng.random((n, 1))).sum(1).clip(0, 9), softmax(2 * z)


@pytest.mark.parametrize("n", [400, 1500])
def test_intervals_of_class_wise_errors_contain_them(n):
    rng = np.random.default_rng(5)
    measure = CLASS_MEASURES["classwise_ece"]
    truth = measure(ClassTally.of(*too_sure(rng, 400_000), classes=range(10))).value
    found = [measure(ClassTally.of(*too_sure(rng, n), classes=range(10))) for _ in range(30)]
    assert np.mean([e.low <= truth <= e.high for e in found]) > 0.84


def test_the_largest_error_may_be_in_the_bin_of_few_rows():
    """A bin of one row at .97 may have any rate; the others, of 500 rows, are known well."""
    rng = np.random.default_rng(0)
    p = np.append(np.repeat([0.1, 0.3, 0.5], 500), 0.97)
    e = max_ce(tally(rng.random(len(p)) < p, p))
    assert e.high > 0.9
    assert max_ce(tally(rng.random(1500) < p[:-1], p[:-1])).high < 0.15


def test_the_interval_of_the_largest_error_contains_it():
    """Three bins off by .05, .1 and .2: what is farthest is not what many bins would show by chance."""
    rng = np.random.default_rng(1)
    p = np.repeat(np.arange(1, 15) / 15 + 0.03, 60)
    rate = np.where(p > 0.8, p - 0.2, np.where(p > 0.6, p - 0.1, p))
    found = [max_ce(tally(rng.random(len(p)) < rate, p), seed=k) for k in range(60)]
    assert np.mean([e.low <= 0.2 <= e.high for e in found]) > 0.87


def test_discrimination_of_weighted_rows_is_contained():
    rng = np.random.default_rng(2)

    def drawn(n, spread):
        p = rng.beta(1, 1.5, n)
        w = rng.lognormal(0, spread, n) if spread else None
        return tally(rng.random(n) < 1 / (1 + ((1 - p) / p) ** 0.6), p, weight=w)

    truth = dsc(drawn(500_000, 0)).value
    found = [dsc(drawn(300, 1.2)) for _ in range(200)]
    assert np.mean([e.low <= truth <= e.high for e in found]) > 0.91


# direction


def test_an_error_that_no_slope_corrects_is_seen():
    """Too high in the middle, too low at both ends: shift and slope of the log-odds see nothing of it."""
    rng = np.random.default_rng(0)
    p = rng.uniform(0.2, 0.8, 20_000)
    rate = p + np.where(np.abs(p - 0.5) < 0.15, 0.1, -0.1)
    e = ce_variational(tally(rng.random(len(p)) < rate, p))
    assert e.value > 0.08
    assert e.low < 0.1 < e.high


# very many bins


@pytest.mark.parametrize("n", [65_536, 65_537])
def test_a_bin_for_each_value_is_exact_whatever_their_number(n):
    rng = np.random.default_rng(0)
    p = rng.permutation(n + 1)[:n] / (n + 1)
    y = rng.random(n) < p
    e = ece(tally(y, p), binning="value")
    assert e.value == pytest.approx(np.abs(y - p).mean(), rel=1e-12)
    assert e.method == f"inverted consistency test, {n:,} bins in blocks"


def test_the_noise_of_many_bins_is_that_of_all_of_them():
    """Cells drawn by blocks have the mean and the p-value of cells drawn at once: 3,000 single rows."""
    rng = np.random.default_rng(4)
    p = rng.random(3000)
    y = rng.random(3000) < p
    e = ece(tally(y, p), binning="value")
    error, mean = np.abs(y - p).mean(), (2 * p * (1 - p)).mean()
    spread = np.sqrt((p * (1 - p) * (1 - 2 * p) ** 2).sum()) / 3000
    assert e.expected == pytest.approx(mean, abs=spread / 4)
    drawn = np.abs((rng.random((2000, 3000)) < p) - p).mean(1)
    assert e.p == pytest.approx(np.mean(drawn >= error), abs=0.08)


def test_a_million_bins_take_little_memory():
    rng = np.random.default_rng(0)
    t = tally(rng.random(70_000) < 0.5, rng.random(70_000))
    tracemalloc.start()
    for m in (ece, ce_l2_debiased):
        assert "bins in blocks" in m(t, bins=10**6).method
    assert tracemalloc.get_traced_memory()[1] < 1.5e8
    tracemalloc.stop()


def test_too_many_bins_have_a_value_and_say_why_no_interval():
    n = (1 << 20) + 1
    p = np.arange(n) / n
    e = ece(tally(np.arange(n) % 2, p), binning="value")
    assert e.value == pytest.approx(np.abs(np.arange(n) % 2 - p).mean(), rel=1e-12)
    assert e.method == "none: 1,048,577 bins are too many to draw labels for"
    assert np.isnan(e.low)


@pytest.mark.parametrize("norm", [1, 2, np.inf])
def test_cells_of_a_coarse_tally_bound_the_error_of_single_values(norm):
    rng = np.random.default_rng(0)
    p = (0.3 + 1e-7 * np.arange(400)).round(9)
    t = tally(rng.random(400) < p, p)
    exact, e = (ece(x, binning="value", norm=norm) for x in (t, t.coarsen()))
    assert abs(e.value - exact.value) <= e.bound + 1e-12
    assert "leave it open" in ce_l2_debiased(t.coarsen(), binning="value").why


# the smallest numbers


@pytest.mark.parametrize("tiny", [5e-324, 1e-310, 2.3e-308])
def test_denormal_probabilities_make_no_noise(tiny):
    p = tiny * np.arange(1, 61)
    t = tally(np.arange(60) % 20 == 0, p)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = {name: m(t) for name, m in MEASURES.items() if m.group == "calibration"}
    for name, e in found.items():
        assert e.defined or e.why, name
    assert found["mcb_crossfit"].defined
    assert mcb_crossfit(t).value == pytest.approx(0.0, abs=0.02)
    assert calibration_intercept(t).value == pytest.approx(-np.log(tiny), rel=0.02)


def test_no_warning_where_the_variance_is_too_small_for_floats():
    weight = [0.00984703714117322, 0.23453051122470517]
    t = Tally.of([0, 1], [5e-324, 1 - 2**-53], weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert calibration_intercept(t).value == pytest.approx(1.066, abs=1e-3)
