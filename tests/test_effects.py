"""What single rows do to measures, and paired differences made of it."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

import scorewise as sw
from scorewise.columns import binary_rows
from scorewise.estimate import Estimate
from scorewise.inference.correlation import correlation_of_models
from scorewise.inference.differences import mover_difference
from scorewise.inference.influence import deal_groups, left_out, row_influence
from scorewise.registry import MEASURES
from scorewise.tallies import Tally

assert sw.measures
SETTINGS = {"threshold": 0.5, "level": 0.95, "seed": 0, "clip": None}
ABOUT = {  # whose bins, kernels or folds are others than those of the effects
    "ce_l2_debiased": 0.99, "ece_sweep": 0.9, "smece": 0.9, "ce_variational": 0.85, "mcb_crossfit": 0.85,
    "ici": 0.95, "e50": 0.4, "e90": 0.5,  # of quantiles of the gaps, those of their mean
}  # fmt: skip


def rows_of(n=120, seed=3, scale=1.2):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    s = 1 / (1 + np.exp(-(rng.normal(size=n) + scale * y - 0.5)))
    return binary_rows(
        None, label=y, score={"p": s.round(2)}, weight=rng.random(n) + 0.5, positive=True
    )


def value(m, rows, name="p"):
    t = Tally.of_rows(rows, name)
    return m.under(SETTINGS, t.confusion(0.5) if m.group == "decisions" else t).value


def known():
    rows = rows_of()
    t = Tally.of_rows(rows, "p")
    return [m.name for m in MEASURES.values() if row_influence(m, rows, t, SETTINGS) is not None]


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("name", known())
def test_effects_are_the_slopes_along_weights(name):
    m, rows = MEASURES[name], rows_of(300 if name in ABOUT else 120)
    some = range(0, len(rows), 3)
    found, slopes = row_influence(m, rows, Tally.of_rows(rows, "p"), SETTINGS)[some], []
    for i in some:
        ends = []
        for move in (1e-4, -1e-4):
            weight = rows.weight.copy()
            weight[i] += move
            ends.append(value(m, replace(rows, weight=weight)))
        slopes.append((ends[0] - ends[1]) / 2e-4)
    if name in ABOUT:
        assert np.corrcoef(found, slopes)[0, 1] > ABOUT[name]
    else:
        assert found == pytest.approx(np.array(slopes), abs=0.005 * np.abs(slopes).max())


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize("name", [m.name for m in MEASURES.values() if m.replicated])
def test_values_of_replicates_are_those_without_a_group(name):
    m, rows = MEASURES[name], rows_of(400)
    group = deal_groups(rows)
    quick = left_out(m, rows, "p", SETTINGS, group)
    slow = left_out(replace(m, replicated=None), rows, "p", SETTINGS, group)
    assert np.ptp(slow) > 0
    assert quick == pytest.approx(slow, abs=0.01 * np.ptp(slow))


def test_every_measure_but_tests_and_what_models_share_has_effects_or_groups():
    assert {*MEASURES} - {*known()} == {
        "h_measure", "skce", "unc", "spiegelhalter", "hosmer_lemeshow",
    }  # fmt: skip


def test_no_correlation_adds_variances():
    first, second = Estimate(0.8, 0.7, 0.9), Estimate(0.6, 0.5, 0.7)
    d = mover_difference(first, second, 0.0, 0.95)
    assert (d.value, d.low, d.high) == pytest.approx(
        (0.2, 0.2 - math.hypot(0.1, 0.1), 0.2 + math.hypot(0.1, 0.1))
    )
    assert d.p == pytest.approx(
        2 * stats.norm.sf(0.2 / (math.hypot(0.1, 0.1) / stats.norm.ppf(0.975)))
    )
    assert mover_difference(first, second, 1.0, 0.95).low == pytest.approx(0.2)


def test_the_difference_of_paired_shares_is_newcombe_s():
    """Squares of Wilson's distances are added, less what phi of the table says they share (1998)."""
    both, first, second, none = 36, 12, 2, 0
    y = np.ones(50, bool)
    a = np.repeat([1.0, 1.0, 0.0, 0.0], [both, first, second, none])
    b = np.repeat([1.0, 0.0, 1.0, 0.0], [both, first, second, none])
    scores = {"a": np.append(a, 0.0), "b": np.append(b, 0.0)}
    rows = binary_rows(None, label=np.append(y, False), score=scores, positive=True)
    tallies = [Tally.of_rows(rows, name) for name in "ab"]
    phi = np.corrcoef(a, b)[0, 1]
    assert correlation_of_models(MEASURES["sensitivity"], rows, tallies, SETTINGS) == pytest.approx(
        phi, abs=1e-6
    )
    c = sw.compare(rows.y, {"a": rows.scores["a"], "b": rows.scores["b"]}, positive=True)
    d = c.difference("sensitivity")
    l1, u1 = _wilson(48, 50)
    l2, u2 = _wilson(38, 50)
    down = math.sqrt((0.96 - l1) ** 2 - 2 * phi * (0.96 - l1) * (u2 - 0.76) + (u2 - 0.76) ** 2)
    up = math.sqrt((u1 - 0.96) ** 2 - 2 * phi * (u1 - 0.96) * (0.76 - l2) + (0.76 - l2) ** 2)
    assert (d.value, d.low, d.high) == pytest.approx((0.2, 0.2 - down, 0.2 + up), abs=1e-6)


def _wilson(k, n):
    z = stats.norm.ppf(0.975)
    middle = (k + z * z / 2) / (n + z * z)
    half = z * math.sqrt(k * (n - k) / n + z * z / 4) / (n + z * z)
    return middle - half, middle + half


@pytest.mark.parametrize(
    "name", ["average_precision", "brier", "log_loss", "f1", "calibration_slope", "ece"]
)
@pytest.mark.parametrize("shared", [0.0, 0.9])
def test_intervals_of_differences_hold(name, shared):
    """Two models that are equally good; few runs, so the bounds are wide. The study has more."""
    rng, held, runs = np.random.default_rng(1), 0, 60
    for _ in range(runs):
        y, scores = two_models(rng, 250, shared)
        d = sw.compare(y, scores, threshold=0.3, positive=True).difference(name)
        held += d.low <= 0 <= d.high
    assert held / runs > 0.86


def two_models(rng, n, shared):
    y = rng.random(n) < 0.3
    common = rng.normal(size=n)
    x = [math.sqrt(shared) * common + math.sqrt(1 - shared) * rng.normal(size=n) for _ in "ab"]
    return y, {
        k: 1 / (1 + np.exp(-(1.2 * (z + 1.2 * y) - 0.72 + math.log(3 / 7))))
        for k, z in zip("ab", x, strict=True)
    }


def test_groups_left_out_stand_in_for_effects():
    """How two models vary together, by groups of rows left out, is about what effects say."""
    y, scores = two_models(np.random.default_rng(0), 600, 0.8)
    rows = binary_rows(None, label=y, score=scores, positive=True)
    tallies = [Tally.of_rows(rows, name) for name in "ab"]
    m = MEASURES["auroc"]
    by_effects = correlation_of_models(m, rows, tallies, SETTINGS)
    by_groups = correlation_of_models(replace(m, name="another"), rows, tallies, SETTINGS)
    assert by_groups == pytest.approx(by_effects, abs=0.25)
    assert 0.4 < by_effects < 0.95
