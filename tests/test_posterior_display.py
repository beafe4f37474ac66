"""Posteriors over a plane, as they are drawn."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

import scorewise as sw

mpl.use("Agg")


@pytest.fixture
def three():
    rng = np.random.default_rng(0)
    y = np.repeat(["a", "b", "c$"], 30)
    x = rng.normal(size=(90, 2)) + np.repeat([[0, 0], [3, 0], [0, 3]], 30, axis=0)
    return x, y, LogisticRegression(C=100.0).fit(x, y)


def test_each_model_has_a_panel_and_each_class_its_points(three):
    x, y, model = three
    d = sw.displays.PosteriorDisplay.from_models(
        {"one": model, "two": model}, x, y, reach=0.5, points=21
    )
    assert [ax.get_title() for ax in d.axes_] == ["one", "two"]
    assert len(d.points_) == 6
    low, high = x.min(axis=0), x.max(axis=0)
    edge = (1.5 * low - 0.5 * high)[0], (1.5 * high - 0.5 * low)[0]
    assert d.images_["one"].get_extent()[:2] == pytest.approx(edge)
    said = d.posteriors["two"]
    assert said.shape == (21, 21, 3)
    np.testing.assert_allclose(said[4, 17], model.predict_proba([[d.x[17], d.y[4]]])[0])


def test_colours_fade_with_doubt(three):
    x, y, model = three
    d = sw.displays.PosteriorDisplay.from_models(model, x, y, points=40)
    picture = np.asarray(d.images_[""].get_array())
    white = np.linalg.norm(1 - picture, axis=-1)
    sure = d.posteriors[""].max(axis=-1)
    only = d.posteriors[""][..., 0] > 0.4  # one class, one colour
    assert np.corrcoef(white[only], sure[only])[0, 1] > 0.95


def test_what_cannot_be_drawn_is_refused(three):
    x, y, model = three
    draw = sw.displays.PosteriorDisplay.from_models
    with pytest.raises(sw.BadInput, match="a plane has two features"):
        draw(model, x[:, :1], y)
    with pytest.raises(sw.BadInput, match="no models"):
        draw({}, x, y)
    with pytest.raises(sw.BadInput, match="no posteriors"):
        sw.displays.PosteriorDisplay(x[:, 0], x[:, 1], {}, ["a"])
    with pytest.raises(sw.BadInput, match="7 classes"):
        sw.displays.PosteriorDisplay(x[:, 0], x[:, 1], {"": x}, range(7))
