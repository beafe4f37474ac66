"""Posteriors over a plane, as they are drawn."""

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression, RidgeClassifier

import scorewise as sw
from scorewise.displays import PosteriorDisplay

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


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame}


@pytest.mark.parametrize("library", FRAMES)
def test_a_model_that_knows_names_is_asked_with_them(three, library):
    x, y, model = three
    frame = FRAMES[library]({"a": x[:, 0], "b": x[:, 1]})
    named = LogisticRegression(C=100.0).fit(frame, y)
    turned = LogisticRegression(C=100.0).fit(frame[["b", "a"]], y)
    models = {"array": model, "named": named, "turned": turned}
    for given in (frame, x):  # the array has the features in the order that the model knows
        # scikit-learn before 1.6 does not see the names of polars
        known = given is frame and hasattr(turned, "feature_names_in_")
        chosen = {k: m for k, m in models.items() if k != "turned" or known}
        d = PosteriorDisplay.from_models(chosen, given, y, points=9)
        for p in d.posteriors.values():
            np.testing.assert_allclose(p, d.posteriors["array"], atol=1e-3)
    if hasattr(named, "feature_names_in_"):
        with pytest.raises(
            sw.BadInput, match="model 'named' was fitted to the features a, b, x has "
        ):
            PosteriorDisplay.from_models({"named": named}, pd.DataFrame(x, columns=["a", "c"]), y)


def test_labels_are_matched_by_value_and_else_by_spelling(three):
    x, y, _ = three
    codes = np.searchsorted(["a", "b", "c$"], y)
    model = LogisticRegression().fit(x, codes)
    for given in (codes, codes.astype(float), codes.astype(str), codes.astype(str).tolist()):
        d = PosteriorDisplay.from_models(model, x, given, points=9)
        assert [len(drawn.get_offsets()) for drawn in d.points_] == [30, 30, 30]


@pytest.mark.parametrize("value", [0.0, 7.5, 1e15])
def test_a_feature_of_one_value_gets_a_plane_around_it(three, value):
    x, y, _ = three
    x = np.stack([x[:, 0], np.full(90, value)], axis=1)
    d = PosteriorDisplay.from_models(LogisticRegression().fit(x, y), x, y, points=9)
    assert d.y[0] < value < d.y[-1]
    if value < 1e9:
        assert (d.y[0], d.y[-1]) == (value - 1, value + 1)


def test_what_cannot_be_asked_is_refused_in_a_sentence(three):
    x, y, model = three
    codes = np.searchsorted(["a", "b", "c$"], y)
    other = LogisticRegression().fit(x, codes)
    gap = x.copy()
    gap[[4, 7], 1] = np.nan
    unknown = np.where(np.arange(90) < 88, y, "z")
    missing = y.astype(object)
    missing[3] = None
    wide = LogisticRegression().fit(np.hstack([x, x]), y)
    cases = [
        ({"one": model, "two": other}, x, y, "'one' and model 'two' know other classes"),
        (other, x, y, "y is 'a', none of the models' classes .0, 1, 2., in 90 rows"),
        (model, x, unknown, "y is 'z', none of .* in 2 rows, first at row 88"),
        (model, x, missing, "y is missing in 1 row, row 3"),
        (model, x, y[:5], "x has 90 rows and y has 5"),
        (model, gap, y, "x is NaN .missing. or infinite in 2 rows, first at row 4"),
        (model, x[:0], y[:0], "there are no rows"),
        (model, x.astype(str).astype(object) + "m", y, "other than numbers"),
        (model, pl.DataFrame(x).lazy(), y, "lazy frame"),
        (RidgeClassifier().fit(x, y), x, y, "a RidgeClassifier, has no predict_proba"),
        (LogisticRegression(), x, y, "the model is not fitted"),
        (wide, x, y, "fitted to 4 features"),
    ]
    for given, rows, labels, said in cases:
        with pytest.raises(sw.BadInput, match=said):
            PosteriorDisplay.from_models(given, rows, labels)
    for option in (
        {"reach": "a"},
        {"reach": np.inf},
        {"reach": -1},
        {"points": 1},
        {"points": 2.5},
    ):
        with pytest.raises(sw.BadInput, match=f"{next(iter(option))}=.* is not a"):
            PosteriorDisplay.from_models(model, x, y, **option)
