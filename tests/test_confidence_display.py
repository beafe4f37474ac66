"""Confidence near the data and far from it, as it is drawn."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression

import scorewise as sw

mpl.use("Agg")


@pytest.fixture(scope="module")
def result():
    x, y = load_iris(return_X_y=True)
    line = LogisticRegression(max_iter=1000).fit(x[::2], y[::2])
    kernel = sw.models.KernelDensityForest(n_estimators=30, random_state=0).fit(x[::2], y[::2])
    models = {"line$": line, "kernel": kernel}
    return sw.models.in_and_out(models, x[1::2], y[1::2], x[:, ::-1], radii=(1, 3, 9), points=50)


def test_curves_are_those_of_the_result(result):
    d = sw.displays.ConfidenceDisplay.from_result(result)
    for name, one in result.items():
        x, y = d.lines_[name].get_data()
        assert x.tolist() == [1.0, 3.0, 9.0]
        assert y.tolist() == [found.value for found in one.at.values()]
        sides = d.points_[name].get_ydata().tolist()
        assert sides == [one["confidence_in"].value, one["confidence_out"].value]
    (chance,) = [line for line in d.ax_.get_lines() if line.get_gid() == "scorewise chance"]
    assert chance.get_ydata()[0] == result["kernel"].largest_share
    assert d.lines_["line$"].get_ydata()[-1] > 0.9
    assert d.lines_["kernel"].get_ydata()[-1] == pytest.approx(1 / 3, abs=0.01)
    assert d.lines_["kernel"].get_color() != d.lines_["line$"].get_color()
    ticks = [t.get_text() for t in d.ax_.get_xticklabels()]
    assert ticks == ["rows\nin", "rows\nout", "1", "3", "9"]
    d.figure_.canvas.draw()


def test_without_other_rows_only_the_radii_are_drawn(result):
    x, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(x, y)
    r = sw.models.in_and_out(model, x, y, radii=(2,), points=20)
    d = sw.displays.ConfidenceDisplay(r).plot(lw=4)
    assert d.lines_["model"].get_linewidth() == 4
    assert np.isnan(d.points_["model"].get_ydata()[1])


def test_no_radii_are_refused():
    x, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(x, y)
    with pytest.raises(sw.BadInput, match="no radii"):
        sw.displays.ConfidenceDisplay(sw.models.in_and_out(model, x, y, radii=()))
