"""What displays of agreement draw, against scikit-learn and the estimates given."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from sklearn.metrics import cohen_kappa_score

import scorewise as sw
from figures import closed  # noqa: F401
from scorewise import BadInput, Estimate, Ratings, displays
from scorewise.inference.agreement import BANDS


def said(raters=4, n=80, seed=0):
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, 3, n)
    return {
        f"r{k}": np.where(rng.random(n) < 0.9 - 0.2 * k, truth, rng.integers(0, 3, n))
        for k in range(raters)
    }


def test_pairs_are_kappas_of_scikit_learn():
    columns = said()
    d = displays.PairsDisplay.from_ratings(Ratings.of(columns))
    drawn = d.image_.get_array()
    for i, first in enumerate(d.order_):
        for k, second in enumerate(d.order_):
            if i == k:
                assert drawn.mask[i, k]
                continue
            kappa = cohen_kappa_score(columns[first], columns[second])
            assert drawn[i, k] == pytest.approx(kappa)
    texts = {t.get_position(): t.get_text() for t in d.texts_}
    kappa = cohen_kappa_score(columns[d.order_[0]], columns[d.order_[1]])
    assert texts[1, 0] == f"{kappa:.2f}"
    assert len(texts) == 12


def test_pairs_are_ordered_by_their_mean():
    d = displays.PairsDisplay.from_ratings(Ratings.of(said()))
    table = np.ma.filled(d.image_.get_array(), np.nan)
    means = np.nanmean(table, axis=1)
    assert (np.diff(means) <= 0).all()
    labels = [t.get_text() for t in d.ax_.get_yticklabels()]
    assert labels[0] == f"{d.order_[0]} ({means[0]:.2f})"


def test_pairs_that_share_no_item_are_grey():
    r = Ratings.of({"a": [1, 2, 1, None], "b": [1, 2, 2, None], "$c$": [None, None, None, 2]})
    d = displays.PairsDisplay.from_ratings(r)
    assert d.order_ == ["a", "b", "$c$"]
    assert [t.get_text() for t in d.texts_].count("—") == 4


def test_many_raters_have_no_numbers_and_too_many_no_picture():
    names = [f"rater {k}" for k in range(30)]
    assert displays.PairsDisplay(names, np.full((30, 30), 0.5)).plot().texts_ == []
    with pytest.raises(BadInput, match="61 raters; 2 to 60 can be drawn"):
        displays.PairsDisplay.from_ratings(Ratings.of({str(k): [0, 1] for k in range(61)}))
    with pytest.raises(BadInput, match="this has shape"):
        displays.PairsDisplay(["a", "b"], [[1]])
    with pytest.raises(BadInput, match="not known which rater"):
        displays.PairsDisplay.from_ratings(Ratings.of_counts({"x": [1], "y": [1]}))


def test_coefficients_are_the_estimates():
    r = Ratings.of(said())
    d = displays.CoefficientsDisplay.from_ratings(r, names=["fleiss_kappa", "gwet_ac"], level=0.9)
    e = sw.measures.fleiss_kappa(r, level=0.9)
    title = next(iter(d.dots_))
    assert d.dots_[title].get_xydata().tolist() == [[e.value, 0]]
    assert d.lines_[title].get_xydata().tolist() == [[e.low, 0], [e.high, 0]]
    assert "90 %" in d.ax_.get_xlabel()
    with pytest.raises(BadInput, match="no measure of raters is named 'kappa'"):
        displays.CoefficientsDisplay.from_ratings(r, names=["kappa"])


def test_bands_lie_beside_each_other():
    d = displays.CoefficientsDisplay({"kappa": Estimate(0.4, 0.2, 0.6)}).plot()
    spans = [b.get_extents().transformed(d.ax_.transData.inverted()) for b in d.bands_.values()]
    edges = [float(edge) for edge in BANDS.values()][:-1]
    assert [round(s.x1, 9) for s in spans[:-1]] == edges
    assert [round(s.x0, 9) for s in spans[1:]] == edges
    greys = [np.mean(mpl.colors.to_rgb(b.get_facecolor())) for b in d.bands_.values()]
    assert (np.diff(greys) < 0).all()
    two, more = (displays.CoefficientsDisplay.from_ratings(Ratings.of(said(k))) for k in (2, 3))
    assert "Cohen's kappa" in two.dots_
    assert "Cohen's kappa" not in more.dots_
    assert len(more.lines_) == len(more.dots_) == 5


def test_undefined_and_negative_coefficients():
    d = displays.CoefficientsDisplay(
        {"pi": Estimate.undefined("all ratings are $1"), "kappa": Estimate(-0.3, -0.6, 0.1)}
    ).plot()
    assert "undefined: all ratings are" in d.dots_["pi"].get_text()
    assert d.ax_.get_xlim()[0] < -0.6
    assert list(d.lines_) == ["kappa"]
    with pytest.raises(BadInput, match="no coefficients"):
        displays.CoefficientsDisplay({})
