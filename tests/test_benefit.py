"""Net benefit, cost, gain and lift against their formulas, published numbers and loops over cuts."""

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest

import scorewise as sw
from scorewise.curves import cost_curve, decision_curve, gain, lift, net_benefit_difference
from scorewise.figures import figures_of

mpl.use("Agg")


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


RNG = np.random.default_rng(0)
P = RNG.beta(1, 3, 400).round(3)
Y = (RNG.random(400) < P).astype(int)
Q = np.clip(P + RNG.normal(0, 0.15, 400), 0.01, 0.99)
T = sw.Tally.of(Y, P)


def test_net_benefits_are_those_that_dcurves_publishes():
    """Its example: 105 of 750 patients have cancer; 24 of them and 91 others have a family history."""
    y = np.repeat([1, 0], [105, 645])
    history = np.concatenate([np.repeat([1.0, 0.0], [24, 81]), np.repeat([1.0, 0.0], [91, 554])])
    curve = decision_curve(
        sw.Tally.of(y, history, kind="probability"), [0.05, 0.1, 0.15, 0.2, 0.25]
    )
    all_ = [0.09473684, 0.04444444, -0.01176471, -0.075, -0.14666667]
    model = [0.02561404, 0.01851852, 0.01058824, 0.00166667, -0.00844444]
    np.testing.assert_allclose(curve.treat_all, all_, atol=5e-9)
    np.testing.assert_allclose(curve.net_benefit, model, atol=5e-9)


def test_below_every_score_all_are_alerts():
    t = sw.Tally.of([1] * 105 + [0] * 645, np.linspace(0.01, 0.99, 750))
    assert decision_curve(t, [0.001]).net_benefit == decision_curve(t, [0.001]).treat_all


def test_net_benefit_is_its_formula():
    curve = decision_curve(T)
    for p, found in zip(curve.threshold, curve.net_benefit, strict=True):
        alert = p <= P
        tp, fp = (alert & (Y == 1)).sum(), (alert & (Y == 0)).sum()
        assert found == pytest.approx((tp - fp * p / (1 - p)) / 400)


def test_limits_of_net_benefit_are_those_of_a_mean():
    curve = decision_curve(T, [0.2, 0.4])
    for p, low, high in zip(curve.threshold, curve.low, curve.high, strict=True):
        worth = (p <= P) * np.where(Y == 1, 1.0, -p / (1 - p))
        half = 1.959964 * worth.std() / 20
        np.testing.assert_allclose(
            [low, high], [worth.mean() - half, worth.mean() + half], rtol=1e-6
        )


def test_weights_repeat_rows():
    times = RNG.integers(1, 4, 400)
    heavy = decision_curve(sw.Tally.of(Y, P, weight=times * 1.0), [0.3])
    many = decision_curve(sw.Tally.of(Y.repeat(times), P.repeat(times)), [0.3])
    assert heavy.net_benefit == pytest.approx(many.net_benefit)
    assert heavy.high - heavy.low > many.high - many.low


def test_logits_are_cut_at_their_probability():
    odds = np.log(P.clip(0.001, 0.999) / (1 - P.clip(0.001, 0.999)))
    at = [0.1234, 0.3456]  # no score lies there
    one, other = decision_curve(T, at), decision_curve(sw.Tally.of(Y, odds, kind="logit"), at)
    np.testing.assert_allclose(one.net_benefit, other.net_benefit)


def test_the_difference_is_paired():
    at = np.array([0.1, 0.3, 0.5])
    both = net_benefit_difference(Y, P, Q, at)
    one, other = (decision_curve(sw.Tally.of(Y, s), at) for s in (P, Q))
    np.testing.assert_allclose(both.net_benefit, one.net_benefit - other.net_benefit, atol=1e-12)
    apart = np.hypot(one.high - one.low, other.high - other.low)
    assert ((both.high - both.low) < apart).all()
    assert not net_benefit_difference(Y, P, P, at).high.any()


def test_clusters_of_one_row_are_no_clusters_and_doubled_rows_are():
    at = [0.2, 0.4]
    alone = net_benefit_difference(Y, P, Q, at)
    each = net_benefit_difference(Y, P, Q, at, cluster=np.arange(400))
    np.testing.assert_allclose(each.high, alone.high, rtol=1e-2, atol=1e-4)
    twice = [np.repeat(x, 2) for x in (Y, P, Q)]
    told = net_benefit_difference(*twice, at, cluster=np.repeat(np.arange(400), 2))
    np.testing.assert_allclose(told.high, each.high)
    assert (net_benefit_difference(*twice, at).high < told.high).all()


def test_the_cost_curve_is_the_least_of_all_cuts():
    curve = cost_curve(T, 21)
    for x, y in zip(curve.x, curve.y, strict=True):
        costs = [
            x * (cut > P)[Y == 1].mean() + (1 - x) * (cut <= P)[Y == 0].mean()
            for cut in [*np.unique(P), np.inf]
        ]
        assert y == pytest.approx(min(costs))
    assert (curve.y <= np.minimum(curve.x, 1 - curve.x) + 1e-12).all()


def test_gain_and_lift_count_from_the_highest_score_down():
    g, up = gain(T), lift(T)
    order = np.argsort(-P, kind="stable")
    found = Y[order].cumsum() / Y.sum()
    for x, y in zip(g.x[1:], g.y[1:], strict=True):
        assert y == pytest.approx(found[round(x * 400) - 1])
    np.testing.assert_allclose(up.y * up.x, g.y[1:])
    assert up.y[-1] == 1


def test_they_are_drawn():
    d = sw.displays.DecisionCurveDisplay.from_predictions(Y, P, name="p")
    np.testing.assert_array_equal(d.line_.get_ydata(), d.curve.net_benefit)
    assert d.band_ is not None
    second = sw.displays.DecisionCurveDisplay.from_predictions(Y, Q, name="q", ax=d.ax_, band=False)
    labels = [text.get_text() for text in second.ax_.get_legend().get_texts()]
    assert "p: alert by the scores" in labels
    assert "q: alert by the scores" in labels
    assert labels.count("alert all") == 1
    d = sw.displays.DecisionCurveDisplay.from_difference(Y, P, Q, at=[0.2, 0.4, 0.6])
    assert len(d.line_.get_xdata()) == 3
    for name, curve in (("Cost", cost_curve(T)), ("Gain", gain(T)), ("Lift", lift(T))):
        kind = getattr(sw.displays, "CostCurveDisplay" if name == "Cost" else f"{name}Display")
        d = kind.from_tally(T, color="k")
        np.testing.assert_array_equal(d.line_.get_ydata(), curve.y)
        assert d.line_.get_color() == "k"


def test_a_rule_is_drawn_with_its_cuts():
    rule = sw.threshold(Y, P, at="recall >= 0.7")
    d = rule.plot()
    assert set(d.cuts_) == {"guaranteed", "plain"}
    assert list(d.cuts_["guaranteed"].get_xdata()) == [rule.threshold] * 2
    assert set(d.lines_) == {"sensitivity", "precision", "alert_rate"}


def test_both_cuts_of_a_rule_with_reviews_are_drawn():
    rule = sw.threshold(Y, P, cost=3, review=0.3)
    ends = rule.document().reject.low, rule.document().reject.high
    review = rule.plot().review_
    assert review.get_x() == ends[0]
    assert review.get_width() == pytest.approx(ends[1] - ends[0])
    (drawn,) = figures_of(rule.document())["threshold"]
    for word, at in zip(("clear below", "alert from"), ends, strict=True):
        assert f">{word}</text>" in drawn.svg()
        assert f">{at:.4g}</text>" in drawn.svg()


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: decision_curve(T, [0.5, 1.0]), "between 0 and 1, but 1.0 is given"),
        (lambda: decision_curve(T, ["a"]), "between 0 and 1, but 'a' is given"),
        (
            lambda: decision_curve(sw.Tally.of([1, 1], [0.2, 0.3])),
            "no decision curve: no negatives",
        ),
        (
            lambda: decision_curve(sw.Tally.of([0, 1], [0.2, 3.0])),
            "but thresholds are probabilities",
        ),
        (
            lambda: net_benefit_difference([0, 1], [0.2, 3.0], [0.1, 0.2]),
            r"first is outside \[0, 1\]",
        ),
        (lambda: cost_curve(sw.Tally.of([0, 0], [0.2, 0.3])), "no cost curve: no positives"),
        (lambda: gain(sw.Tally.of([0, 0], [0.2, 0.3])), "no gain: no positives"),
    ],
)
def test_bad_input_is_told(call, sentence):
    with pytest.raises(sw.BadInput, match=sentence):
        call()
