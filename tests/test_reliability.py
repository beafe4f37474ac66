"""The reliability curve, its bands and its picture."""

import matplotlib as mpl
import numpy as np
import pytest
from scipy.stats import binomtest
from sklearn.isotonic import IsotonicRegression

import scorewise as sw
from scorewise import Tally
from scorewise.curves import decompose, reliability
from scorewise.displays import ReliabilityDisplay
from scorewise.statistics import probabilities as joining
from test_proper import bold

mpl.use("agg")


@pytest.mark.parametrize("weighted", [False, True])
def test_the_curve_is_isotonic_regression(weighted):
    y, p = bold(seed=4)
    p = p.round(2)
    w = np.random.default_rng(0).uniform(0.5, 2, len(y)) if weighted else None
    curve = reliability(Tally.of(y, p, weight=w))
    fit = IsotonicRegression().fit(p, y, sample_weight=w)
    np.testing.assert_allclose(curve.y, fit.predict(curve.x), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(curve.x, np.unique(p), rtol=1e-12)
    assert curve.mass.sum() == pytest.approx(len(y) if w is None else w.sum())


def truth(x, slope, shift):
    return 1 / (1 + np.exp(-(slope * np.log(x / (1 - x)) + shift)))


def test_curves_of_calibrated_scores_lie_in_the_consistency_band():
    made = [
        [reliability(Tally.of(*bold(250, seed, 1.0, 0.0)), simultaneous=whole, seed=seed)
         for whole in (False, True)]
        for seed in range(50)
    ]  # fmt: skip
    assert np.mean([one.outside for one, _ in made]) == pytest.approx(0.05, abs=0.025)
    held = np.mean([whole.outside == 0 for _, whole in made])
    assert 0.84 <= held <= 1.0
    # at each point by itself is not along the whole curve
    assert np.mean([one.outside == 0 for one, _ in made]) < held


def test_curves_of_bold_scores_leave_the_consistency_band():
    curve = reliability(Tally.of(*bold(2000)), simultaneous=True)
    assert curve.outside > 0.3


@pytest.mark.parametrize(("slope", "shift"), [(1.0, 0.0), (0.5, -0.4)])
@pytest.mark.parametrize("simultaneous", [False, True])
def test_the_confidence_band_holds_the_true_curve(slope, shift, simultaneous):
    held = []
    for seed in range(40):
        t = Tally.of(*bold(400, seed, slope, shift))
        c = reliability(t, bands="confidence", simultaneous=simultaneous)
        right = truth(c.x, slope, shift)
        held.append(((c.low <= right) & (right <= c.high)).mean())
        assert (c.low <= c.y).all()
        assert (c.y <= c.high).all()
    assert np.mean(np.array(held) == 1 if simultaneous else held) >= 0.95


def test_limits_are_exact_intervals_of_stretches():
    """Clopper and Pearson's, of scipy: the level is shared by two lengths, and by the cells."""
    t = Tally.of(np.repeat([1, 0, 1, 0], [1, 9, 8, 2]), np.repeat([0.2, 0.7], 10))
    for simultaneous, shared in ((False, 2), (True, 4)):
        c = reliability(t, bands="confidence", simultaneous=simultaneous)

        def exact(hits, rows, level=1 - 0.05 / shared):
            return binomtest(hits, rows).proportion_ci(level, "exact")

        high = min(exact(1, 10).high, exact(9, 20).high), exact(8, 10).high
        low = exact(1, 10).low, max(exact(8, 10).low, exact(9, 20).low)
        np.testing.assert_allclose(c.high, high, rtol=1e-9)
        np.testing.assert_allclose(c.low, low, rtol=1e-9)


def test_bands_narrow_with_rows_and_widen_with_the_level():
    few, many = (Tally.of(*bold(n)) for n in (200, 5000))
    for bands in ("consistency", "confidence"):
        widths = [
            np.mean(c.high - c.low)
            for c in (
                reliability(few, bands=bands, level=0.99),
                reliability(few, bands=bands),
                reliability(many, bands=bands),
            )
        ]
        assert widths[0] > widths[1] > 1.5 * widths[2]


def test_many_scores_are_joined(monkeypatch):
    y, p = bold(3000)
    exact = reliability(Tally.of(y, p))
    monkeypatch.setattr(joining, "MAX_CELLS", 1000)
    near = reliability(Tally.of(y, p))
    assert len(near.x) <= len(exact.x)
    assert np.abs(np.interp(exact.x, near.x, near.y) - exact.y).mean() < 0.01


def test_scores_that_are_no_probabilities_have_no_curve():
    with pytest.raises(sw.BadInput, match="no reliability curve: scores from -3 to 2"):
        reliability(Tally.of([0, 1], [-3.0, 2.0]))
    with pytest.raises(sw.BadInput, match='pass "consistency" or "confidence"'):
        reliability(Tally.of([0, 1], [0.3, 0.2]), bands="both")


@pytest.mark.parametrize("axis", ["linear", "logit"])
def test_the_picture_shows_curve_band_parts_and_scores(axis):
    y, p = bold()
    d = ReliabilityDisplay.from_predictions(y, p, axis=axis, name="a")
    np.testing.assert_array_equal(d.line_.get_ydata(), d.curve.y)
    assert d.ax_.get_xscale() == axis
    assert d.line_.get_label() == "a: isotonic fit"
    assert d.band_.get_label() == "95 % band if calibrated"
    assert d.text_.get_text().split()[1] == f"{decompose(d.tally).mcb:.4f}"
    assert sum(bar.get_height() for bar in d.histogram_) == len(y)
    d.figure_.canvas.draw()


def test_the_picture_goes_where_it_is_told():
    from matplotlib import pyplot as plt

    _, ax = plt.subplots()
    d = ReliabilityDisplay.from_tally(Tally.of(*bold()), ax=ax, band=False, color="k")
    assert d.ax_ is ax
    assert (d.band_, d.histogram_, d.line_.get_color()) == (None, None, "k")
    again = ReliabilityDisplay.from_tally(Tally.of(*bold(seed=1)), ax=ax)
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels.count("calibrated") == 1
    assert again.line_.get_color() != "k"
    plt.close("all")


@pytest.mark.parametrize("axis", ["linear", "logit"])
def test_curve_and_histogram_stand_on_one_axis(axis):
    pytest.importorskip("matplotlib").use("Agg")
    rng = np.random.default_rng(0)
    p = rng.beta(0.5, 3, 200)
    drawn = sw.displays.ReliabilityDisplay.from_predictions(rng.random(200) < p, p, axis=axis)
    above, below = drawn.line_.axes, drawn.histogram_[0].axes
    assert above.get_xlim() == below.get_xlim()


def test_parts_of_several_curves_do_not_lie_on_each_other():
    plt = pytest.importorskip("matplotlib.pyplot")
    _, ax = plt.subplots()
    rng = np.random.default_rng(0)
    p = rng.random(100)
    draw = sw.displays.ReliabilityDisplay.from_predictions
    texts = [draw(rng.random(100) < p, p, ax=ax).text_ for _ in range(3)]
    heights = [text.get_position()[1] for text in texts]
    assert heights == sorted(set(heights))
    plt.close("all")
