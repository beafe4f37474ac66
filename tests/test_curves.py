"""Curves against scikit-learn, the hull against scipy, the best cut against a slow loop."""

import math

import numpy as np
import pytest
from scipy.optimize import isotonic_regression
from scipy.spatial import ConvexHull
from sklearn import metrics as sk
from sklearn.isotonic import IsotonicRegression

from scorewise import Tally
from scorewise.curves import best_cut, hull, precision_recall, roc, thresholds
from scorewise.statistics.formulas import DECISIONS
from scorewise.tallies.runs import add_runs

seeds = pytest.mark.parametrize("seed", range(25))


def rows(seed):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(10, 200))
    y = rng.random(n) < rng.uniform(0.2, 0.8)
    y[:2] = False, True
    s = np.round(rng.normal(0, 1, n) + y, int(rng.choice([1, 2, 12])))
    w = (None, rng.uniform(0.2, 4, n))[seed % 2]
    return y, s, w


@seeds
def test_roc(seed):
    y, s, w = rows(seed)
    fpr, tpr, at = sk.roc_curve(y, s, sample_weight=w, drop_intermediate=False)
    curve = roc(Tally.of(y, s, weight=w))
    np.testing.assert_allclose(curve.x, fpr, atol=1e-12)
    np.testing.assert_allclose(curve.y, tpr, atol=1e-12)
    np.testing.assert_array_equal(curve.threshold, at)
    assert curve.area == pytest.approx(sk.roc_auc_score(y, s, sample_weight=w), rel=1e-12)


@seeds
def test_precision_recall(seed):
    y, s, w = rows(seed)
    precision, recall, at = sk.precision_recall_curve(y, s, sample_weight=w)
    curve = precision_recall(Tally.of(y, s, weight=w))
    np.testing.assert_allclose(curve.y, precision[::-1], atol=1e-12)
    np.testing.assert_allclose(curve.x, recall[::-1], atol=1e-12)
    np.testing.assert_array_equal(curve.threshold[1:], at[::-1])


@seeds
def test_table_of_thresholds(seed):
    y, s, w = rows(seed)
    t = Tally.of(y, s, weight=w)
    table = thresholds(t)
    for i, at in enumerate(table.threshold):
        (tn, fp), (fn, tp) = sk.confusion_matrix(y, s >= at, sample_weight=w)
        cells = [getattr(table, cell)[i] for cell in ("tp", "fp", "fn", "tn")]
        np.testing.assert_allclose(cells, [tp, fp, fn, tn], atol=1e-10)
        np.testing.assert_allclose(cells, t.confusion(at).table, atol=1e-10)


@seeds
def test_hull(seed):
    y, s, w = rows(seed)
    curve = roc(Tally.of(y, s, weight=w)).hull()
    points = roc(Tally.of(y, s, weight=w))
    xy = np.column_stack([points.x, points.y])
    # the corner below makes the lower side of the whole trivial
    corners = np.vstack([xy, [1.0, 0.0]])
    whole = ConvexHull(corners)
    above = {tuple(np.round(corners[i], 12)) for i in whole.vertices} - {(1.0, 0.0)}
    ours = {tuple(np.round(p, 12)) for p in np.column_stack([curve.x, curve.y])}
    assert above <= ours
    # what else we keep lies on the hull's edges
    inside = whole.equations[:, :2] @ np.column_stack([curve.x, curve.y]).T
    gap = (inside + whole.equations[:, 2:]).max(0)
    np.testing.assert_allclose(gap, 0.0, atol=1e-9)


def test_a_hull_that_takes_many_passes_is_isotonic_regression_too():
    """Each pass joins one more cell to a run at the end: an ascent before one share of almost 0."""
    pos = np.arange(1.0, 401.0)
    neg = 401.0 - pos
    neg[-1] = 1e5
    t = Tally.of(
        np.repeat([0, 1], 400), np.tile(np.linspace(0.1, 0.9, 400), 2), weight=np.append(neg, pos)
    )
    found = isotonic_regression(t.pos / (t.neg + t.pos), weights=t.neg + t.pos)
    assert len(found.blocks) < 300
    np.testing.assert_allclose(hull.calibrated(t), found.x)


@seeds
def test_hull_is_isotonic_regression(seed):
    y, s, w = rows(seed)
    t = Tally.of(y, s, weight=w)
    start = hull.pav_blocks_of(t)
    neg, pos = add_runs(t.neg, start), add_runs(t.pos, start)
    fitted = np.repeat(pos / (neg + pos), np.diff(start, append=len(t.score)))
    peer = IsotonicRegression().fit(s, y.astype(float), sample_weight=w)
    np.testing.assert_allclose(fitted, peer.predict(t.score), atol=1e-9)


def test_hull_in_parts_is_the_hull_of_all():
    rng = np.random.default_rng(0)
    s = np.arange(150_000) / 150_000
    y = rng.random(150_000) < s
    t = Tally.of(y, s)
    whole = isotonic_regression(t.pos / (t.neg + t.pos), weights=t.neg + t.pos).blocks
    np.testing.assert_array_equal(hull.pav_blocks_of(t), whole[:-1])


@seeds
@pytest.mark.parametrize("formula", [DECISIONS[name] for name in ("youden", "mcc", "accuracy")])
def test_best_cut(seed, formula):
    y, s, w = rows(seed)
    t = Tally.of(y, s, weight=w)
    cut, value = best_cut(t, formula)
    tried = {}
    for at in [*t.score, math.inf]:
        tp, fp, fn, tn = t.confusion(float(at)).table
        with np.errstate(invalid="ignore", divide="ignore"):
            tried[at] = formula(tp, fp, fn, tn)
    most = np.nanmax(list(tried.values()))
    assert value == pytest.approx(most, rel=1e-12)
    assert tried[cut.threshold] == pytest.approx(most, rel=1e-12)
    higher = [v for at, v in tried.items() if at > cut.threshold]
    assert not any(v > most - 1e-12 for v in higher) or w is not None
    for at in (cut.upto, np.nextafter(cut.above, math.inf)):
        assert t.confusion(float(at)) == t.confusion(cut.threshold)


@pytest.mark.parametrize("y", [[], [1, 1], [0, 0]])
def test_curves_of_one_class_or_no_rows(y):
    t = Tally.of(y, [0.2, 0.7][: len(y)])
    assert len(roc(t).x) == len(thresholds(t).threshold) == len(y) + 1
    assert len(precision_recall(t).x) == len(y) + 1
    cut, value = best_cut(t)
    assert math.isnan(cut.threshold)
    assert math.isnan(value)


@pytest.mark.parametrize("seed", range(5))
def test_best_cut_of_logits_is_a_probability_that_gives_the_same_decisions(seed):
    rng = np.random.default_rng(seed)
    y, z = rng.integers(0, 2, 40), rng.normal(-1, 2, 40)
    t = Tally.of(y + 0, z, kind="logit", positive=1)
    plain = Tally.of(y + 0, z, kind="score", positive=1)
    cut, value = best_cut(t)
    expected = best_cut(plain)
    assert value == expected[1]
    assert 0 <= cut.threshold <= 1
    found, wanted = t.confusion(cut.threshold), plain.confusion(expected[0].threshold)
    assert (found.tp, found.fp, found.fn, found.tn) == (wanted.tp, wanted.fp, wanted.fn, wanted.tn)
