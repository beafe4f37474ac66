"""What the display of answers draws."""

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt

import scorewise as sw
from scorewise import BadInput
from scorewise.displays import AnswersDisplay


@pytest.fixture(autouse=True)
def _closed():
    yield
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


def some(levels=None, **options):
    rng = np.random.default_rng(0)
    n = 120
    q = rng.random(n) if levels is None else rng.choice(levels, n)
    c = np.clip(q * 0.7 + 0.3 * rng.random(n), 0, 1)
    by = {"model": rng.choice(["a$b", "c"], n)}
    other = np.where(by["model"] == "c", c**2, np.nan)
    confidence = {"stated": c, "token": other}
    return sw.answers(confidence=confidence, quality=q, by=by, missing="drop", **options)


@pytest.mark.parametrize("measure", ["ece", "auroc", "overconfidence", "accuracy", "aurc"])
def test_over_tau_draws_the_curve(measure):
    a = some(tau=0.3)
    d = AnswersDisplay.over_tau(a, measure)
    for name in ("stated", "token"):
        curve = a[name].curve(measure)
        assert d.lines_[name].get_xdata().tolist() == curve.tau.tolist()
        np.testing.assert_array_equal(d.lines_[name].get_ydata(), curve.value)
        (path,) = d.bands_[name].get_paths()
        known = np.isfinite(curve.low)
        assert path.vertices[:, 1].min() == pytest.approx(curve.low[known].min())
        assert path.vertices[:, 1].max() == pytest.approx(curve.high[known].max())
    assert [t.get_text() for t in d.ax_.get_legend().get_texts()] == [
        "stated, 95 % band", "token, 95 % band", "tau 0.3",
    ]  # fmt: skip


def test_few_qualities_are_drawn_as_steps_up_to_1():
    d = AnswersDisplay.over_tau(some([0.0, 0.4, 1.0]))
    assert d.lines_["stated"].get_drawstyle() == "steps-post"
    assert d.lines_["stated"].get_xdata().tolist() == [0.0, 0.4, 1.0]


def test_by_group_draws_values_and_what_is_expected():
    a = some()
    d = AnswersDisplay.by_group(a)
    stated = [part["stated"].ece for part in a.groups.values()]
    assert d.points_["stated"].get_xdata().tolist() == [e.value for e in stated]
    assert list(d.expected_["stated"].get_xdata()) == [e.expected for e in stated]
    assert len(d.points_["token"].get_xdata()) == 1
    assert [t.get_text() for t in d.ax_.get_yticklabels()] == [r"a\$b", "c"]
    assert d.ax_.get_xlim()[0] == 0
    assert sum("expected" in t.get_text() for t in d.ax_.get_legend().get_texts()) == 1


def test_what_may_be_negative_is_drawn_with_its_zero():
    d = AnswersDisplay.by_group(some(tau=0.1), "overconfidence")
    assert d.expected_ == {}
    assert d.ax_.get_xlim()[0] < 0


def test_one_axes_can_be_given():
    _, ax = plt.subplots()
    assert AnswersDisplay.by_group(some(), "auroc", ax=ax).ax_ is ax


def test_no_groups_no_picture():
    a = sw.answers(confidence=[0.5, 0.6], quality=[1.0, 0.0])
    with pytest.raises(BadInput, match="no groups to draw; pass by="):
        AnswersDisplay.by_group(a)
