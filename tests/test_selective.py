"""Selective prediction against loops over rows, permutations and scikit-learn; confidence against scipy."""

import math
from itertools import permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp, softmax
from scipy.stats import entropy
from sklearn.metrics import roc_auc_score

import scorewise as sw
from scorewise import BadInput, ClassTally, Tally
from scorewise.measures import augrc, aurc, excess_aurc
from scorewise.measures.selective import (
    _area_influence,
    _excess_influence,
    _generalised_influence,
    harmonic,
)
from scorewise.tallies.joint import confidence

AREAS = (aurc, excess_aurc, augrc)


def tally(right, sure, **options):
    """Of correct (1) or wrong (0) rows; also where all are of one kind."""
    return Tally.of(np.asarray(right, int), sure, positive=1, **options)


def mean_risk(wrong):
    """The mean over k of the share wrong among the first k rows."""
    return sum(sum(wrong[:k]) / k for k in range(1, len(wrong) + 1)) / len(wrong)


def orders(right, sure):
    """Every order of the rows from the surest down, as lists of wrong (1) or right (0)."""
    groups = [[1 - r for r, s in zip(right, sure, strict=True) if s == c] for c in sorted({*sure})]
    for parts in product(*(permutations(g) for g in reversed(groups))):
        yield [w for part in parts for w in part]


rows = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=6)


@given(rows)
def test_area_is_the_mean_over_all_orders_of_ties(drawn):
    right, sure = zip(*drawn, strict=True)
    found = [mean_risk(wrong) for wrong in orders(right, sure)]
    t = tally(right, sure)
    assert aurc(t).value == pytest.approx(np.mean(found), rel=1e-12, abs=1e-15)
    best = mean_risk(sorted(1 - r for r in right))
    assert excess_aurc(t).value == pytest.approx(np.mean(found) - best, rel=1e-9, abs=1e-12)


def draw(seed, n, ties=False):
    rng = np.random.default_rng(seed)
    sure = rng.normal(size=n)
    right = rng.random(n) < 1 / (1 + np.exp(-(1.5 + 1.2 * sure)))
    return right, np.round(2 * sure) / 2 if ties else sure


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("n", [7, 300, 40_000])
def test_generalised_area_is_that_of_the_roc_curve(n, ties):
    right, sure = draw(n, n, ties)
    a = right.mean()
    by_roc = (1 - roc_auc_score(right, sure)) * a * (1 - a) + (1 - a) ** 2 / 2
    assert augrc(tally(right, sure)).value == pytest.approx(by_roc, rel=1e-12)


def test_area_of_many_rows_is_that_of_the_loop():
    right, sure = draw(1, 100_000)
    wrong = ~right[np.argsort(-sure)]
    loop = np.mean(wrong.cumsum() / np.arange(1, len(wrong) + 1))
    assert aurc(tally(right, sure)).value == pytest.approx(loop, rel=1e-12)


def test_curve_keeps_rows_of_equal_confidence_together():
    right, sure = draw(2, 60, ties=True)
    curve = sw.curves.risk_coverage(tally(right, sure))
    levels = sorted({*sure.tolist()}, reverse=True)
    assert curve.threshold.tolist() == levels
    for x, y, level in zip(curve.x, curve.y, levels, strict=True):
        kept = sure >= level
        assert (x, y) == pytest.approx((kept.mean(), 1 - right[kept].mean()), rel=1e-12)
    assert curve.at(1.0) == pytest.approx(1 - right.mean())
    # half of the first ties: on average as often wrong as all of them
    assert curve.at(curve.x[0] / 2) == pytest.approx(curve.y[0])
    with pytest.raises(sw.BadInput, match="coverage"):
        curve.at(0)


@pytest.mark.parametrize("m", AREAS)
@pytest.mark.parametrize("ties", [False, True])
def test_counts_repeat_rows_and_weights_have_no_unit(m, ties):
    right, sure = draw(3, 80, ties)
    times = np.random.default_rng(0).integers(0, 4, 80)
    counted = m(tally(right, sure, count=times))
    repeated = m(tally(np.repeat(right, times), np.repeat(sure, times)))
    assert (counted.value, counted.low, counted.high) == pytest.approx(
        (repeated.value, repeated.low, repeated.high), rel=1e-12
    )
    plain = m(tally(right, sure))
    for unit in (1.0, 8.0, 1e-3):
        same = m(tally(right, sure, weight=np.full(80, unit)))
        assert (same.value, same.low, same.high) == pytest.approx(
            (plain.value, plain.low, plain.high), rel=1e-9
        )


def test_weighted_area_is_the_weighted_mean_of_risks():
    right, sure = draw(4, 50)
    w = np.random.default_rng(1).uniform(0.2, 3, 50)
    order = np.argsort(-sure)
    wrong, kept = (w * ~right)[order].cumsum(), w[order].cumsum()
    want = np.average(wrong / kept, weights=w[order])
    assert aurc(tally(right, sure, weight=w)).value == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("m", AREAS)
def test_order_of_rows_and_shards_do_not_matter(m):
    right, sure = draw(5, 200, ties=True)
    whole = tally(right, sure)
    parts = tally(right[:70], sure[:70]) + tally(right[70:], sure[70:])
    assert m(parts) == m(whole) == m(tally(right[::-1], sure[::-1]))


@pytest.mark.parametrize("m", AREAS)
def test_coarse_tally_is_certified(m):
    right, sure = draw(6, 100_000)
    p = 1 / (1 + np.exp(-sure))
    exact, coarse = m(tally(right, p)), m(tally(right, p).coarsen())
    assert 0 < coarse.bound < 1e-3
    assert abs(coarse.value - exact.value) <= coarse.bound
    assert coarse.low <= exact.value <= coarse.high


@pytest.mark.parametrize("m", AREAS)
def test_degenerate_rows(m):
    assert m(Tally.empty()).why == "no rows"
    for right in (0, 1):
        e = m(tally([right] * 20, np.linspace(0, 1, 20)))
        assert not e.why
        assert 0 <= e.low <= e.value <= e.high <= 1
    assert m(tally([1] * 20, np.linspace(0, 1, 20))).value == 0
    assert m(tally([1], [0.5])).value == 0


def test_baseline_is_confidence_without_meaning():
    right, _ = draw(7, 500)
    constant = tally(right, np.zeros(500))
    for m in AREAS:
        e = m(constant)
        assert e.value == pytest.approx(e.baseline, rel=1e-12)
    shuffled = [
        mean_risk((~right[np.random.default_rng(i).permutation(500)]).tolist()) for i in range(40)
    ]
    assert np.mean(shuffled) == pytest.approx(aurc(constant).baseline, abs=0.01)


FORMS = {aurc: _area_influence, excess_aurc: _excess_influence, augrc: _generalised_influence}


@pytest.mark.parametrize("m", AREAS)
@pytest.mark.parametrize("ties", [False, True])
def test_influence_is_the_derivative(m, ties):
    right, sure = draw(8, 40_000, ties)
    t = tally(right, sure)
    by_wrong, by_right = FORMS[m](t)
    step = 40  # rows that are added, one in a thousand
    # among the surest few, 40 more rows are no small step
    inside = np.searchsorted((t.neg + t.pos).cumsum(), 0.95 * 40_000)
    for at in np.linspace(0, inside, 9).astype(int):
        for up, known in ((0, by_wrong), (1, by_right)):
            times = np.ones(40_001, int)
            times[-1] = step
            more = tally([*right, up], [*sure, t.score[at]], count=times)
            slope = (m(more).value - m(t).value) * 40_000 / step
            assert slope == pytest.approx(known[at], rel=0.02, abs=0.005)


def test_interval_is_as_wide_as_the_bootstrap_of_rows():
    right, sure = draw(9, 1500)
    rng = np.random.default_rng(0)
    e = aurc(tally(right, sure))
    again = []
    for _ in range(300):
        at = rng.integers(0, 1500, 1500)
        again.append(aurc(tally(right[at], sure[at])).value)
    scale = e.value * (1 - e.value)
    width = math.log(e.high / (1 - e.high)) - math.log(e.low / (1 - e.low))
    assert width / (2 * 1.96) * scale == pytest.approx(np.std(again), rel=0.15)


@pytest.mark.parametrize("m", AREAS)
@pytest.mark.parametrize("ties", [False, True])
def test_intervals_cover(m, ties):
    truth = m(tally(*draw(10, 1_000_000, ties))).value
    hits = 0
    for i in range(200):
        e = m(tally(*draw(1000 + i, 250, ties)))
        hits += e.low <= truth <= e.high
    assert 0.90 <= hits / 200 <= 0.99


def test_harmonic_sums():
    for x, m in ((1.0, 5), (1.0, 2000), (63.0, 3), (64.0, 400), (1e6, 1000)):
        want = math.fsum(1 / (x + i) for i in range(m))
        assert harmonic(np.array([x]), np.array([float(m)]))[0] == pytest.approx(want, rel=1e-13)


# confidence


def logits(seed=0, n=200, k=5):
    return np.random.default_rng(seed).normal(scale=3, size=(n, k))


def test_confidence_is_that_of_scipy():
    z = logits()
    p = softmax(z, axis=1)
    ranked = np.sort(p, 1)
    want = {
        "max": ranked[:, -1],
        "margin": ranked[:, -1] - ranked[:, -2],
        "entropy": -entropy(p, axis=1),
        "energy": logsumexp(z, axis=1),
    }
    for rule, values in want.items():
        np.testing.assert_allclose(confidence(z, "logit", rule)[0], values, rtol=1e-12, atol=1e-14)
        if rule != "energy":
            found = confidence(p, "probability", rule)[0]
            np.testing.assert_allclose(found, values, rtol=1e-12, atol=1e-14)


def test_confidence_at_the_ends():
    certain = np.array([[1.0, 0.0, 0.0]])
    assert [confidence(certain, "probability", r)[0][0] for r in ("max", "margin", "entropy")] == [
        1,
        1,
        0,
    ]
    huge = np.array([[1e4, -1e4, 0.0]])
    assert confidence(huge, "logit", "energy")[0][0] == 1e4
    assert confidence(huge, "logit", "entropy")[0][0] == 0
    with pytest.raises(BadInput, match="energy needs logits"):
        confidence(certain, "probability", "energy")
    with pytest.raises(BadInput, match="margin"):
        confidence(certain, "probability", "best")


@pytest.mark.parametrize("rule", ["max", "margin", "entropy", "energy"])
def test_tally_is_ranked_by_the_rule(rule):
    z = logits(1)
    y = np.random.default_rng(2).integers(0, 5, 200)
    t = ClassTally.of(y, z, kind="logit", confidence=rule)
    sure = confidence(z, "logit", rule)[0]
    assert t.ranked == tally(z.argmax(1) == y, sure, kind=t.ranked.kind)
    assert aurc(t) == aurc(t.ranked)
    assert t.ranked.origin.score == rule


# drawn


def test_display_draws_the_curve():
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    right, sure = draw(11, 300, ties=True)
    t = tally(right, sure)
    d = sw.displays.RiskCoverageDisplay.from_tally(t, name="a$b")
    x, y = d.line_.get_data()
    assert (x[-1], y[-1]) == pytest.approx((1, 1 - right.mean()))
    for at in (0.01, 0.3, 0.77):
        assert np.interp(at, x, y) == pytest.approx(d.curve.at(at), abs=2e-3)
    assert str(d.area) in d.ax_.get_legend().get_texts()[0].get_text()
    z = logits(3)
    labels = np.random.default_rng(4).integers(0, 5, 200)
    second = sw.displays.RiskCoverageDisplay.from_predictions(labels, z, kind="logit", ax=d.ax_)
    assert second.ax_ is d.ax_
    assert second.line_.get_color() != d.line_.get_color()
    with pytest.raises(BadInput, match="no rows"):
        sw.displays.RiskCoverageDisplay.from_tally(Tally.empty())
    pyplot.close("all")


def test_display_of_the_confusion():
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    z = logits(5)
    y = np.random.default_rng(6).integers(0, 5, 200)
    d = sw.displays.ConfusionDisplay.from_predictions(y, z, kind="logit", classes=range(5))
    table = np.zeros((5, 5), int)
    for true, decided in zip(y, z.argmax(1), strict=True):
        table[true, decided] += 1
    np.testing.assert_allclose(d.image_.get_array(), table / table.sum(1, keepdims=True))
    assert len(d.texts_) == (table > 0).sum()
    assert d.ax_.get_ylabel() == "true"
    pyplot.close("all")
