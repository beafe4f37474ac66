"""What displays draw: the artists' data against the curves, counts by hand and outside references."""

import subprocess
import sys
from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.colors import to_hex
from sklearn import metrics as sk
from sklearn.isotonic import IsotonicRegression

import scorewise as sw
from figures import closed  # noqa: F401
from scorewise import BadInput, Tally, displays
from scorewise.colours import BLUE, ORANGE, VERMILION
from scorewise.curves import roc
from scorewise.curves.smroc import sensitivity
from scorewise.statistics.smroc import midpoint
from scorewise.weighted_roc import SmRocs

SIX = [1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]
OF_PREDICTIONS = [
    displays.RocDisplay,
    displays.SmRocDisplay,
    displays.MidpointDisplay,
    displays.SensitivityDisplay,
    displays.HullDisplay,
    displays.DensityDisplay,
]
WITH_WIDTHS = displays.MidpointDisplay, displays.DensityDisplay  # kernels narrow with more rows
each = pytest.mark.parametrize("display", OF_PREDICTIONS, ids=lambda d: d.__name__)


def rows(n=80, seed=0, shift=1.2):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.4
    return y, 1 / (1 + np.exp(-rng.normal(0, 1.2, n) - shift * (2 * y - 1)))


def words(ax):
    return [t.get_text() for t in ax.get_legend().get_texts()]


def xy(line):
    return np.asarray(line.get_xydata())


def test_roc_is_that_of_scikit_learn():
    y, s = rows()
    d = displays.RocDisplay.from_predictions(y, s, name="mine", hull=True)
    fpr, tpr, _ = sk.roc_curve(y, s, drop_intermediate=False)
    np.testing.assert_allclose(xy(d.line_), np.column_stack([fpr, tpr]))
    assert f"mine: AUROC {sw.measures.auroc(Tally.of(y, s))}" in words(d.ax_)
    hull = roc(Tally.of(y, s)).hull()
    np.testing.assert_array_equal(xy(d.hull_), np.column_stack([hull.x, hull.y]))
    assert d.ax_.get_aspect() == 1
    assert "chance" in words(d.ax_)


def test_bands_hold_their_curve():
    for d in (displays.RocDisplay, displays.SmRocDisplay):
        pointwise, whole = (
            d.from_predictions(*rows(), band=band) for band in ("pointwise", "simultaneous")
        )
        paths = [one.band_.get_paths()[0] for one in (pointwise, whole)]
        sizes = [np.abs(_area(path.vertices)) for path in paths]
        assert 0 < sizes[0] < sizes[1] < 1
        inside = [[x, y] for x, y in xy(pointwise.line_) if 0.2 < x < 0.8]
        assert paths[1].contains_points(inside, radius=0.01).all()
        assert any("95 % band, simultaneous" in w for w in words(whole.ax_))
    with pytest.raises(BadInput, match='band="wide" is not known'):
        displays.RocDisplay.from_predictions(*rows(), band="wide")


def _area(points):
    x, y = np.asarray(points).T
    return float((x * np.roll(y, -1) - y * np.roll(x, -1)).sum()) / 2


def test_segments_are_coloured_by_hand_count():
    d = displays.SmRocDisplay.from_predictions(*SIX)
    curve = sw.smroc(*SIX)
    np.testing.assert_array_equal(xy(d.line_), np.column_stack([curve.x, curve.y]))
    drawn = {}
    for collection in d.segments_:
        for (x0, _), _ in collection.get_segments():
            drawn[round(x0, 9)] = to_hex(collection.get_color()[0]).upper()
    # rows from the highest score down: only the third, a negative at 0.6, is inappropriate
    by_hand = [BLUE, BLUE, VERMILION, BLUE, BLUE, BLUE]
    assert [drawn[round(x, 9)] for x in curve.x[:-1]] == by_hand
    assert {"appropriate scores", "inappropriate scores"} <= set(words(d.ax_))
    assert f"smAUC {curve.area}" in words(d.ax_)
    widths = {float(c.get_linewidth()[0]) for c in d.segments_}
    assert len(widths) == len(d.segments_)  # told apart in grey, too


def test_ties_of_both_classes_are_a_colour_of_their_own():
    d = displays.SmRocDisplay.from_predictions([1, 0, 1, 0], [0.9, 0.9, 0.8, 0.1])
    counts = {to_hex(c.get_color()[0]).upper(): len(c.get_segments()) for c in d.segments_}
    assert counts == {BLUE: 2, ORANGE: 1}


def test_many_segments_are_pooled():
    y, s = rows(5000)
    d = displays.SmRocDisplay.from_predictions(y, s)
    m = s.mean()
    right = (s >= m) == y
    assert sum(len(c.get_segments()) for c in d.segments_) == len(d.parts) <= 400
    np.testing.assert_allclose(d.parts.appropriate.mean(), right.mean(), atol=0.01)
    order = np.argsort(-s)
    first = right[order][: 5000 // 400 * 40].mean()
    np.testing.assert_allclose(d.parts.appropriate[:40].mean(), first, atol=0.02)
    assert "95 % or more appropriate" in words(d.ax_)


def test_rectangle_and_roc_beside_it():
    y, s = rows()
    curve = sw.smroc(y, s)
    d = curve.plot(rectangle=True, roc=True, hull=True)
    whole = curve.rectangle()
    np.testing.assert_array_equal(xy(d.line_), np.column_stack([whole.x, whole.y]))
    np.testing.assert_allclose(xy(d.roc_)[-1], [(~y).sum(), y.sum()])
    np.testing.assert_allclose(xy(d.hull_)[-1], [curve.curve.width, curve.curve.height])
    assert d.ax_.get_xlim()[1] > (~y).sum()
    plain = displays.SmRocDisplay.from_predictions(y, s, roc=True, level=0.8)
    area = sw.measures.auroc(curve.tally, level=0.8)
    assert f"ROC of the same rows: AUROC {area}" in [w.replace("\n", " ") for w in words(plain.ax_)]
    np.testing.assert_array_equal(xy(plain.roc_), np.column_stack([curve.roc().x, curve.roc().y]))
    assert any(f"convex hull, gap {curve.gap:.3f}" in w for w in words(d.ax_))


def test_any_object_of_that_shape_can_be_drawn():
    curve = sw.smroc(*SIX)
    like = SimpleNamespace(
        tally=curve.tally, midpoint=curve.midpoint, area=curve.area, curve=curve.curve
    )
    d = displays.SmRocDisplay(like, name="like").plot()
    assert f"like: smAUC {curve.area}" in words(d.ax_)


def test_several_curves_share_one_plot():
    curves = SmRocs({name: sw.smroc(*rows(seed=k)) for k, name in enumerate("abc")})
    _, ax = plt.subplots()
    d = curves.plot(ax=ax)
    assert d.ax_ is ax
    lines = [line for line in ax.get_lines() if line.get_label() != "_diagonal"]
    for line, curve in zip(lines, curves.values(), strict=True):
        np.testing.assert_array_equal(xy(line), np.column_stack([curve.x, curve.y]))
    assert len({line.get_color() for line in lines}) == 3
    assert len({str(line.get_linestyle()) + str(line._dash_pattern) for line in lines}) == 3
    assert not any("chance" in word for word in words(ax))  # which is no diagonal for smROC
    assert curves.plot(segments=True).segments_


def test_chance_is_the_curve_of_scores_dealt_out_at_random():
    """The mean of curves of shuffled scores, and its area the baseline."""
    y, s = rows(200, seed=1)
    s = s * 0.3  # far from 0.5, where chance is far from the diagonal
    curve = sw.smroc(y, s)
    line = curve.plot(name="low").chance_
    assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(curve.area.baseline)
    rng = np.random.default_rng(0)
    shuffled = [sw.smroc(y, rng.permutation(s)).area.value for _ in range(300)]
    assert np.mean(shuffled) == pytest.approx(curve.area.baseline, abs=0.01)
    assert any(
        "low: same scores at random" in word.replace("\n", " ")
        for word in words(curve.plot(name="low").ax_)
    )


def test_no_curve_says_why():
    d = displays.SmRocDisplay.from_predictions([1, 0], [0.0, 1.0], midpoint=0.0)
    assert any("undefined" in w and "extreme" in w.replace("\n", " ") for w in words(d.ax_))
    with pytest.raises(BadInput, match="no positives"):
        displays.SmRocDisplay.from_predictions([0, 0], [0.1, 0.2], positive=1)
    with pytest.raises(BadInput, match="outside"):
        displays.MidpointDisplay.from_predictions([0, 1], [0.1, 3.0])


def test_midpoint_is_where_it_is():
    y, s = rows()
    t = Tally.of(y, s)
    d = displays.MidpointDisplay.from_tally(t, midpoint="balanced")
    by_hand = (s[y].mean() + s[~y].mean()) / 2
    np.testing.assert_allclose(xy(d.midpoint_)[:, 0], by_hand)
    assert d.rules_.keys() == {"mean", "median", "crossing"}
    for rule, mark in d.rules_.items():
        np.testing.assert_allclose(xy(mark)[:, 0], midpoint(t, rule).value)
    for line in (d.negatives_, d.positives_):
        assert np.trapezoid(line.get_ydata(), line.get_xdata()) == pytest.approx(1, abs=1e-3)
    low = np.minimum(d.negatives_.get_ydata(), d.positives_.get_ydata())
    shared = np.trapezoid(low, d.negatives_.get_xdata())
    assert abs(_area(d.overlap_.get_paths()[0].vertices)) == pytest.approx(shared, rel=1e-6)
    assert not displays.MidpointDisplay(t).plot(rules=False, overlap=False).rules_


def test_a_class_has_one_colour_in_all_displays():
    d = displays.MidpointDisplay.from_predictions(*rows())
    both = displays.DensityDisplay.from_predictions(*rows()).lines_.values()
    assert [line.get_color() for line in both] == [BLUE, VERMILION]
    assert [d.negatives_.get_color(), d.positives_.get_color()] == [BLUE, VERMILION]


def test_densities_of_classes_and_of_samples():
    y, s = rows()
    d = displays.DensityDisplay.from_predictions(y, s, name="mine", bandwidth="silverman")
    found = sw.Density.of(Tally.of(y, s), bandwidth="silverman")
    assert words(d.ax_) == ["mine: negatives (False)", "mine: positives (True)"]
    for line, one in zip(d.lines_.values(), found, strict=True):
        np.testing.assert_array_equal(xy(line), np.column_stack([one.x, one.y]))
    assert d.ax_.get_xlim() == (0, 1)
    assert d.ax_.get_xlabel() == "score"
    samples = {"old": s[:40], "new": 2 * s[40:]}
    both = displays.DensityDisplay.from_samples(samples, kernel="biweight", ax=d.ax_)
    assert list(both.lines_) == ["old", "new"]
    assert len({line.get_color() for line in d.ax_.get_lines()}) == 4
    assert d.ax_.get_xlim()[0] < 0
    assert d.ax_.get_xlim()[1] > 1
    alone = sw.density(s).plot(name="scores", lw=3)
    assert words(alone.ax_) == ["scores"]
    assert alone.line_.get_linewidth() == 3
    assert sw.density(s).plot().ax_.get_legend() is None
    with pytest.raises(BadInput, match="no densities were given"):
        displays.DensityDisplay({})


def test_sensitivity_steps_up_to_each_midpoint():
    t = Tally.of(*SIX)
    d = displays.SensitivityDisplay.from_tally(t)
    assert d.line_.get_drawstyle() == "steps-pre"
    x, y = xy(d.line_).T
    for at in (0.0, 0.1, 0.2, 0.3, 0.55, 0.6, 0.96):
        held = y[max(1, int(np.searchsorted(x, at, side="left")))]
        assert held == pytest.approx(sw.smroc(*SIX, midpoint=at).area.value)
    assert xy(d.point_)[0] == pytest.approx([midpoint(t).value, sw.smroc(*SIX).area.value])
    np.testing.assert_array_equal(y[1:], sensitivity(t).area)


@pytest.mark.parametrize("of", ["roc", "smroc"])
def test_gap_of_the_hull_is_filled(of):
    y, s = rows()
    d = displays.HullDisplay.from_predictions(y, s, of=of)
    assert d.gap > 0
    assert abs(_area(d.gap_.get_paths()[0].vertices[:-1])) == pytest.approx(d.gap, rel=1e-9)
    assert any(f"gap {d.gap:.3f}" in w for w in words(d.ax_))
    assert len(d.axes_) == 2


def test_slopes_are_isotonic_regression():
    y, s = rows()
    d = displays.HullDisplay.from_predictions(y, s)
    fit = IsotonicRegression().fit(s, y)
    at, value = xy(d.slopes_).T
    held = value[np.searchsorted(at, s, side="right") - 1]
    np.testing.assert_allclose(held, fit.predict(s), atol=1e-12)
    assert d.slopes_.get_drawstyle() == "steps-post"
    smooth = displays.HullDisplay.from_predictions(y, s, of="smroc", midpoint=0.5)
    climb = np.where((s >= 0.5) == y, s, 1 - s)
    at, value = xy(smooth.slopes_).T
    held = value[np.searchsorted(at, s, side="right") - 1]
    np.testing.assert_allclose(held, IsotonicRegression().fit(s, climb).predict(s), atol=1e-12)


def test_raters_are_marked_row_by_row():
    ann = ["no", "yes", "yes", "no", "yes"], [0.60, 0.90, 0.80, 0.10, 0.95]
    bob = ["yes", "yes", "no", "no", "yes"], [0.52, 0.85, 0.30, 0.15, 0.55]
    d = displays.AgreementDisplay.from_raters({"ann": ann, "bob": bob})
    points = {label: np.asarray(p.get_offsets()).tolist() for label, p in d.points_.items()}
    assert points == {
        "agree": [[0.9, 0.85], [0.1, 0.15]],
        "same decision, scores apart": [[0.95, 0.55]],
        "only look like disagreement": [[0.6, 0.52]],
        "really disagree": [[0.8, 0.3]],
    }
    assert "agree (2)" in words(d.axes_[1])
    curve = sw.smroc(*ann, positive="yes")
    np.testing.assert_array_equal(xy(d.lines_["ann"]), np.column_stack([curve.x, curve.y]))
    truth = ["no", "yes", "yes", "no", "no"]
    judged = displays.AgreementDisplay.from_raters({"ann": ann, "bob": bob}, y=truth)
    curve = sw.smroc(truth, bob[1])
    np.testing.assert_array_equal(xy(judged.lines_["bob"]), np.column_stack([curve.x, curve.y]))


def test_tolerance_and_pairs_of_raters():
    raters = {name: rows(seed=k) for k, name in enumerate("abc")}
    d = displays.AgreementDisplay.from_raters(raters, pair=("c", "a"), tolerance=1)
    assert set(d.points_) == {"agree", "only look like disagreement"}
    assert d.axes_[1].get_xlabel() == "score of c"
    always = np.ones(80, bool), raters["a"][1]
    d = displays.AgreementDisplay.from_raters(raters | {"yes": always})
    assert "yes: no curve, no negatives" in words(d.ax_)


@pytest.mark.parametrize(
    ("raters", "said"),
    [
        ({"a": ([1], [0.5])}, "at least two raters by name"),
        ({"a": ([1, 0], [0.5, 0.1]), "b": ([1], [0.5])}, "decision of a has 2 rows and decision"),
        ({"a": ([1, 0], [0.5, 0.1]), "b": ([1, None], [0.5, 0.2])}, "decision of b is missing"),
        ({"a": ([1, 0], [0.5, 0.1]), "b": ([1, 0], [0.5])}, "score of b has 1"),
        ({"a": ([1, 0], [0.5, 0.1]), "b": ([1, 0], [0.5, 7])}, "score of b: scores from"),
    ],
)
def test_bad_raters(raters, said):
    with pytest.raises(BadInput, match=said):
        displays.AgreementDisplay(raters)


def test_drift_lays_both_samples_over_each_other():
    (y, s), (v, r) = rows(500), rows(300, 1, 0.4)
    a, b = Tally.of(y, s), Tally.of(v, r)
    windows = [("may", b), ("june", a), ("july", Tally.of([0, 0], [0.1, 0.3], positive=1))]
    d = displays.DriftDisplay.from_tallies(a, b, windows, names=("then", "now"))
    assert len(d.axes_) == 4
    for line, (labels, scores) in zip(d.lines_, ((y, s), (v, r)), strict=True):
        curve = sw.smroc(labels, scores)
        np.testing.assert_array_equal(xy(line), np.column_stack([curve.x, curve.y]))
    for line, mean in zip(d.midpoints_, (s.mean(), r.mean()), strict=True):
        np.testing.assert_allclose(xy(line)[:, 0], mean)
    for drawn, scores in zip(d.histograms_, (s, r), strict=True):
        values, edges, _ = drawn.get_data()
        np.testing.assert_allclose(values, np.histogram(scores, edges)[0] / len(scores))
    areas = d.areas_[0].get_ydata()
    np.testing.assert_allclose(areas[:2], [sw.smroc(v, r).area.value, sw.smroc(y, s).area.value])
    assert np.isnan(areas[2])
    np.testing.assert_allclose(d.means_[0].get_ydata(), [r.mean(), s.mean(), 0.2])


def test_drift_without_labels_or_unit_scores():
    y, s = rows()
    a, b = Tally.of(y, 5 * s - 2), Tally.of(np.zeros(80), 5 * s - 3, positive=1)
    d = displays.DriftDisplay.from_tallies(a, b)
    fpr, tpr, _ = sk.roc_curve(y, s, drop_intermediate=False)
    np.testing.assert_allclose(xy(d.lines_[0]), np.column_stack([fpr, tpr]))
    assert "current: no curve, no positives" in words(d.axes_[1])
    with pytest.raises(BadInput, match="'current' has no rows"):
        displays.DriftDisplay(a, Tally.empty())


@each
def test_given_axes_are_used(display):
    figure, ax = plt.subplots()
    d = display.from_predictions(*SIX, ax=ax)
    assert (d.ax_, d.figure_) == (ax, figure)
    assert plt.get_fignums() == [figure.number]
    display.from_predictions(*SIX)
    assert len(plt.get_fignums()) == 2
    with pytest.raises(BadInput, match="axes were given"):
        display.from_predictions(*SIX, ax=[ax] * 5)


@each
def test_weights_tallies_logits_and_coarse_tallies(display):
    y, s = rows()
    t = Tally.of(y, s)
    by_count = display.from_predictions(y, s, count=np.full(80, 3))
    weighted = display.from_predictions(y, s, weight=np.full(80, 0.5))
    logits = display.from_predictions(y, np.log(s / (1 - s)), kind="logit")
    plain = display.from_tally(t)
    for one, two in zip(weighted.ax_.get_lines(), plain.ax_.get_lines(), strict=True):
        np.testing.assert_allclose(xy(one), xy(two), atol=1e-9)
    if display not in WITH_WIDTHS:
        np.testing.assert_allclose(xy(by_count.line_), xy(plain.line_), atol=1e-9)
    coarse = display.from_tally(t.coarsen())
    for drawn in (logits, coarse):
        np.testing.assert_allclose(drawn.ax_.get_xlim(), weighted.ax_.get_xlim(), atol=1e-2)


@each
def test_many_rows(display):
    t = Tally.of(*rows(200_000))
    d = display.from_tally(t)
    assert sum(len(line.get_xdata()) for line in d.ax_.get_lines()) < 1_000_000


@each
def test_lines_take_options_and_any_style(display):
    with plt.style.context("dark_background"):
        d = display.from_predictions(*SIX)
        if display is not displays.MidpointDisplay:
            line = display.from_predictions(*SIX, c="pink", linestyle=":", lw=7).line_
            assert (line.get_color(), line.get_linestyle(), line.get_linewidth()) == (
                "pink",
                ":",
                7,
            )
        d.figure_.canvas.draw()


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BadInput, match=r"pip install 'scorewise\[plot\]'"):
        sw.smroc(*SIX).plot()


def test_displays_are_imported_without_matplotlib():
    code = (
        "import scorewise, sys; scorewise.displays.RocDisplay; print('matplotlib' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_recalibration_shows_the_map_and_both_reliabilities():
    from recalibration_cases import draw

    p, y = draw(1, 600, 0.5)
    r = sw.Recalibrator("platt").fit(p, y)
    drawn = r.plot()
    x, q = drawn.map_.get_data()
    assert q == pytest.approx(r.transform(x))
    for line, values in ((drawn.before_, p), (drawn.after_, r.transform(p))):
        at, share = line.get_data()
        order = np.argsort(values)
        bins = np.array_split(order, 15)
        assert at == pytest.approx([values[b].mean() for b in bins], abs=0.01)
        assert share == pytest.approx([y[b].mean() for b in bins], abs=0.03)
    scores = sw.Recalibrator("platt").fit(10 * p - 3, y)
    assert sw.displays.RecalibrationDisplay.from_recalibrator(scores).before_ is None
