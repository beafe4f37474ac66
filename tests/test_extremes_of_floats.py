"""Where squares vanish or overflow, and where digits are lost: what once went wrong stays right."""

import math
from fractions import Fraction
from unittest.mock import patch

import numpy as np
import pytest

import scorewise as sw
from scorewise import Confusion, Tally
from scorewise import measures as m
from scorewise.inference import logistic
from scorewise.statistics.smroc import midpoint
from scorewise.tallies.coarse import pool


@pytest.mark.parametrize(
    ("y", "s", "kind"),
    [
        ([0, 0, 1, 1], [-100, -101, 100, 101], "logit"),
        ([0, 0, 0, 0, 1, 1], [1e-90, 2e-90, 3e-90, 4e-90, 1, 1], None),
        ([0, 1] * 20, [1e150, -1e150] * 10 + [-1, 2] * 10, "logit"),
        ([0, 1] * 20, [1e308, -1e308] * 20, "logit"),
    ],
)
def test_tiny_and_huge_losses_neither_crash_nor_lose_their_reason(y, s, kind):
    for e in sw.evaluate(y, s, kind=kind).values():
        assert bool(e.why) == (not e.defined)


def test_huge_losses_are_said_to_be_infinite():
    e = m.log_loss(Tally.of([0, 1] * 20, [1e308, -1e308] * 20, kind="logit"))
    assert e.value == math.inf
    assert e.why == "infinite: the losses add up beyond the largest number"


@pytest.mark.parametrize("k", [7 * 10**8, 2 * 10**9, 2**40])
def test_ks_of_billions_of_rows(k):
    e = m.ks(Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], count=[3 * k, 2 * k, k, 3 * k]))
    few = m.ks(Tally.of([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], count=[3000, 2000, 1000, 3000]))
    # the width falls with the root of the rows
    assert (e.high - e.low) * math.sqrt(k / 1000) == pytest.approx(few.high - few.low, rel=1e-2)


@pytest.mark.parametrize(
    ("negatives", "positives", "how"),
    [(10**6, 3, "count"), (10**12, 3, "count"), (1e9, 2, "weight")],
)
def test_certified_average_precision_below_a_crowd_of_negatives(negatives, positives, how):
    s = [0.500001, *(0.5000001 + np.arange(positives) * 1e-8)]
    t = Tally.of([0] + [1] * positives, s, **{how: [negatives] + [1] * positives})
    exact, coarse = m.average_precision(t), m.average_precision(t.coarsen())
    assert coarse.value - coarse.bound <= exact.value <= coarse.value + coarse.bound


@pytest.mark.parametrize("w", [1e-15, 1e-16, 1e-30])
def test_lopsided_weights_have_values_or_reasons(w):
    for e in sw.evaluate([0, 1, 0, 1], [0.1, 0.2, 0.3, 0.4], weight=[w, 1, w, 2]).values():
        assert bool(e.why) == (not e.defined)


def test_kappa_keeps_its_digits():
    def kappa(rare):
        weight = [1e6, rare, rare, 1e6]
        return m.kappa(Tally.of([0, 1, 0, 0], [0.1, 0.9, 0.9, 0.1], weight=weight).confusion(0.5))

    assert kappa(1e-3).value == pytest.approx(2 / 3, rel=1e-8)
    for rare in (1e-12, 1e-24):  # at the latter chance is 0 in floats
        assert kappa(rare).why == "all categories but one are too rare for floating point"


@pytest.mark.parametrize("unit", [1e80, 1e-81, 1e-100])
def test_the_unit_of_weight_does_not_matter_however_far(unit):
    y, s, w = [0, 1, 0, 1], [0.1, 0.2, 0.6, 0.7], np.array([1.0, 2.0, 1.0, 3.0])
    one, other = sw.evaluate(y, s, weight=w), sw.evaluate(y, s, weight=w * unit)
    for name, e in one.items():
        numbers = [(x.value, x.low, x.high) for x in (e, other[name])]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-9, nan_ok=True), name


def test_partial_area_trusts_few_rows_within_the_part_little():
    perfect = Tally.of([0] * 20 + [1] * 20, np.r_[np.arange(20) / 100, 0.5 + np.arange(20) / 100])
    e = m.partial_auroc(perfect)
    assert (e.value, e.method) == (pytest.approx(0.1), "Newcombe")
    assert e.low < 0.07  # two negatives lie within the part


def test_delong_is_trusted_from_ten_rows_of_a_class_on():
    rng = np.random.default_rng(0)
    for few, method in ((9, "Newcombe"), (10, "DeLong, logit")):
        y = np.repeat([1, 0], [few, 30])
        assert m.auroc(Tally.of(y, rng.random(len(y)))).method == method


def test_pooling_moves_variances_by_no_more_than_a_hair():
    rng = np.random.default_rng(0)
    y = rng.random(200_000) < 0.05
    t = Tally.of(y, rng.normal(size=len(y)) + y)
    assert len(t.pooled.score) <= 65_536 < len(t.score)
    assert t.pooled.origin == t.origin
    for few in (t.pooled, pool(t, 5000)):
        for name in ("auroc", "average_precision", "pr_trapezoid"):
            widths = [e.high - e.low for e in (getattr(m, name)(x) for x in (t, few))]
            assert widths[0] == pytest.approx(widths[1], rel=0.01), name
    assert (t.pooled.negatives, t.pooled.positives) == (t.negatives, t.positives)


def test_intervals_of_decisions_contain_what_coarsening_leaves_open():
    c = Confusion(np.array([[40.0, 10.0], [5.0, 15.0]]), np.array([[40.0, 10.0], [5.0, 15.0]]))
    loose = Confusion(c.weight, c.weight2, doubt=(4.0, 2.0))
    for name in ("sensitivity", "specificity", "kappa", "f1"):
        exact, e = (getattr(m, name)(x) for x in (c, loose))
        assert e.bound > 0
        assert e.low == pytest.approx(max(0.0, exact.low - e.bound), abs=0.02)
        assert e.high == pytest.approx(min(1.0, exact.high + e.bound), abs=0.02)
        assert e.low <= e.value - e.bound
        assert e.high >= e.value + e.bound


def test_what_lies_below_a_threshold_keeps_its_digits():
    t = Tally.of([1, 1], [0.1, 0.9], weight=[1e-6, 1e12])
    assert sw.curves.thresholds(t).fn[1] == t.confusion(0.5).fn == 1e-6


def test_equality_sees_what_coarse_cells_hold():
    a, b = (Tally.of([0, 1], s).coarsen() for s in ([0.500001, 0.500003], [0.5000015, 0.5000025]))
    assert len(a.score) == len(b.score) == 1
    assert a != b
    with pytest.raises(ValueError, match="read-only"):
        a.coarse.low[0, 0] = 9


def test_losses_equal_but_for_rounding_have_no_interval():
    weight = np.array([1.24101616e-03, 8.00547019e05, 1.34761895e-03])
    for unit in (1.0, 3.7, 1e-5, 7e8):
        t = Tally.of([1, 1, 0], [0.0, 0.0, -0.0], weight=weight * unit, kind="logit")
        for measure in (m.spherical, m.brier, m.log_loss):
            assert measure(t).method == "none: all losses are equal"


def test_a_smooth_curve_of_denormal_scores_does_not_depend_on_the_unit_of_weight():
    w = np.array([0.1, 1, 1, 1, 1])
    one, ten = (
        Tally.of([0, 0, 0, 0, 1], [5e-324, 0, 0, 0, 0], kind="probability", weight=f * w)
        for f in (1, 10)
    )
    for measure in (m.ici, m.e50, m.e90):
        assert measure(ten).value == pytest.approx(measure(one).value, rel=1e-9)


def test_rows_that_a_line_separates_are_soon_given_up():
    """No slope is steep enough; once no step lowers the loss, none of the next does."""
    with patch.object(logistic, "_log_loss", wraps=logistic._log_loss) as loss:
        sw.evaluate([0, 1, 0, 1], [0.2, 0.7, 0.4, 0.9]).brief()
    assert 0 < loss.call_count < 15_000


FAR_APART = [
    (
        [0, 1],
        [3.099757977502125e-306, 0.9999999999999998],
        [1.157217520759749e-08, 184932975.43416795],
    ),
    (
        [1, 0],
        [1.7010212741236495e-16, 0.16428663507458297],
        [227166.47463939167, 1.2152849525879795e-11],
    ),
    (
        [0, 1],
        [0.9999999999999998, 5.894150307786418e-17],
        [11651667.718041705, 4.356241490153119e-09],
    ),
    ([1, 0], [0.9999999704488822, 0.9999999999999999], [0.22569974570834198, 10637505.876226993]),
]


@pytest.mark.parametrize(("y", "s", "w"), FAR_APART)
def test_the_bound_of_smauc_allows_for_sides_that_cancel(y, s, w):
    t = Tally.of(y, s, weight=w)
    middle = midpoint(t).value
    appropriate = [(a >= middle) == bool(c) for a, c in zip(s, y, strict=True)]
    share = [
        Fraction(a) if is_so else 1 - Fraction(a) for a, is_so in zip(s, appropriate, strict=True)
    ]
    climb = [Fraction(b) * up for b, up in zip(w, share, strict=True)]
    run = [Fraction(b) - up for b, up in zip(w, climb, strict=True)]
    low, high = (0, 1) if s[0] < s[1] else (1, 0)
    area = climb[high] * run[low] + (climb[0] * run[0] + climb[1] * run[1]) / 2
    exact = area / (sum(climb) * sum(run))
    found = sw.measures.smauc(t.coarsen())
    assert abs(exact - Fraction(found.value)) <= Fraction(found.bound)


def test_ordinary_bounds_of_smauc_have_no_rounding_in_them():
    rng = np.random.default_rng(0)
    y, s = rng.random(500) < 0.4, rng.random(500).round(2)
    assert sw.measures.smauc(Tally.of(y, s).coarsen()).bound < 1e-13
    assert sw.measures.smauc(Tally.of(y, s, weight=rng.lognormal(size=500)).coarsen()).bound < 1e-13
