"""The curves in the document of `evaluate`: few points, exact counts, and a stated error that holds."""

import json
import math

import numpy as np
import pytest

import scorewise as sw
from scorewise.curves import operating, precision_recall, reliability, roc
from scorewise.curves.density import Density
from scorewise.curves.operating import operating_points
from scorewise.curves.smroc import smooth_roc
from scorewise.evaluation.curves import CurvesRecord
from scorewise.measures.order import auroc
from scorewise.show.document import to_dict
from scorewise.statistics.smroc import midpoint
from scorewise.tallies import Tally


def simulated(n, shift=-1.0, ties=None, weights=False, seed=0):
    rng = np.random.default_rng(seed)
    p = 1 / (1 + np.exp(-rng.normal(shift, 1.5, n)))
    y = rng.random(n) < p
    if ties:
        p = (p * ties).round() / ties
    return y, p, rng.gamma(0.4, 2, n) if weights else None


CASES = {
    "small": {"n": 60, "shift": 0.0},
    "a few thousand": {"n": 4000},
    "rare": {"n": 60_000, "shift": -8.0},
    "ties": {"n": 30_000, "ties": 700},
    "weights": {"n": 9_000, "weights": True},
    "many": {"n": 120_000},
    "many, weights": {"n": 40_000, "weights": True},
}


def farthest(curve, x, y):
    """The largest distance of points of a curve from a line, segment by segment, the slow way."""
    a, b = np.stack([x[:-1], y[:-1]], 1), np.stack([x[1:], y[1:]], 1)
    along, length = b - a, np.maximum(((b - a) ** 2).sum(1), 1e-300)
    found = 0.0
    for point in np.stack([curve.x, curve.y], 1):
        share = np.clip(((point - a) * along).sum(1) / length, 0, 1)
        found = max(found, np.sqrt(((point - a - share[:, None] * along) ** 2).sum(1)).min())
    return found


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_no_point_of_the_whole_curves_is_farther_from_the_drawn_ones_than_stated(case):
    y, p, w = simulated(**case)
    t = Tally.of(y, p, weight=w)
    points = operating_points(t, 0.5)
    assert len(points.cells) <= operating.MAX_POINTS
    tpr, fpr = points.tp / t.positives, points.fp / t.negatives
    with np.errstate(invalid="ignore"):
        precision = np.where(points.tp + points.fp > 0, points.tp / (points.tp + points.fp), 1.0)
    some = slice(None, None, max(1, len(t.score) // 3000))  # the slow way takes its time
    for curve, x, height in ((roc(t), fpr, tpr), (precision_recall(t), tpr, precision)):
        whole = type("Curve", (), {"x": curve.x[some], "y": curve.y[some]})
        assert farthest(whole, x, height) <= points.error + 1e-9
    assert points.error < 0.02
    assert (points.error > 0) == (len(t.score) >= operating.MAX_POINTS)


def test_the_stated_error_is_the_largest_deviation_where_all_cuts_are_seen():
    y, p, _ = simulated(3000)
    t = Tally.of(y, p)
    points = operating_points(t, most=100)
    tpr, fpr = points.tp / t.positives, points.fp / t.negatives
    recall = precision_recall(t)
    drawn = recall.y[points.cells]
    both = [farthest(roc(t), fpr, tpr), farthest(recall, tpr, drawn)]
    assert max(both) <= points.error <= 2.5 * max(both)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
@pytest.mark.parametrize("threshold", [0.5, 0.123])
def test_counts_at_the_points_are_those_of_their_thresholds(case, threshold):
    y, p, w = simulated(**case)
    e = sw.evaluate(y, p, weight=w, threshold=threshold)
    record = CurvesRecord.of("model", e)
    assert record.threshold[0] is None
    assert record.tp[0] == record.fp[0] == 0
    assert (record.tp[-1], record.fp[-1]) == pytest.approx((e.tally.positives, e.tally.negatives))
    falling = record.threshold[1:]
    assert falling == sorted(set(falling), reverse=True)
    assert threshold in falling or (p < threshold).all()
    mass = np.ones(len(y)) if w is None else w
    for k in range(1, len(falling) + 1, 7):
        called = p >= record.threshold[k]
        assert record.tp[k] == pytest.approx(mass[called & y].sum(), rel=1e-9)
        assert record.fp[k] == pytest.approx(mass[called & ~y].sum(), rel=1e-9)


def test_scores_that_differ_in_late_digits_keep_thresholds_apart():
    p = np.array([0.12345670001, 0.12345670002, 0.5, 0.7])
    record = CurvesRecord.of("m", sw.evaluate([0, 1, 0, 1], p))
    for threshold, tp, fp in list(zip(record.threshold, record.tp, record.fp, strict=True))[1:]:
        assert (tp, fp) == (
            ((p >= threshold) & [0, 1, 0, 1]).sum(),
            ((p >= threshold) & [1, 0, 1, 0]).sum(),
        )


def test_32_bits_and_logits_have_thresholds_as_users_say_them():
    y = np.array([0, 1, 0, 1])
    f = CurvesRecord.of("m", sw.evaluate(y, np.array([0.1, 0.7, 0.3, 0.9], np.float32)))
    assert f.threshold == [None, 0.9, 0.5, 0.3, 0.1]
    z = np.array([-2.0, 0.5, -0.3, 3.0])
    e = sw.evaluate(y, z, kind="logit", threshold=0.6)
    record = CurvesRecord.of("m", e)
    assert 0.6 in record.threshold
    assert record.threshold[1] == pytest.approx(1 / (1 + math.exp(-3)), rel=1e-5)
    assert record.tp[record.threshold.index(0.6)] == e.confusion.tp


@pytest.mark.parametrize("weights", [False, True])
def test_the_band_is_the_interval_of_sensitivity_at_each_threshold(weights):
    y, p, w = simulated(900, weights=weights)
    e = sw.evaluate(y, p, weight=w)
    record = CurvesRecord.of("m", e)
    for k in (3, 40, 200, record.threshold.index(0.5), len(record.tp) - 1):
        s = sw.evaluate(e.tally, threshold=record.threshold[k]).sensitivity
        assert (record.tpr_low[k], record.tpr_high[k]) == pytest.approx((s.low, s.high), rel=1e-5)


def test_smroc_at_the_points_is_that_of_the_whole_curve():
    y, p, _ = simulated(20_000)
    e = sw.evaluate(y, p)
    record, whole = CurvesRecord.of("m", e), smooth_roc(e.tally, midpoint(e.tally).value)
    cells = operating_points(e.tally, 0.5).cells
    assert record.smroc_x == pytest.approx(whole.x[cells], rel=1e-5)
    assert record.smroc_y == pytest.approx(whole.y[cells], rel=1e-5)


def test_density_reliability_and_benefit_are_those_of_the_curves():
    y, p, _ = simulated(3000)
    e = sw.evaluate(y, p)
    record = CurvesRecord.of("m", e)
    assert len(record.density.x) <= 200
    both = Density.of(e.tally)
    for name, d in zip(("negative", "positive"), both, strict=True):
        assert getattr(record.density, name) == pytest.approx(
            d(record.density.x), rel=1e-2, abs=1e-3
        )
    r, curve = record.reliability, reliability(e.tally)
    assert len(r.x) <= 200
    at = [int(np.abs(curve.x - x).argmin()) for x in r.x]
    assert r.y == pytest.approx(curve.y[at], abs=1e-5)
    assert np.abs(np.interp(curve.x, r.x, r.y) - curve.y).max() < 0.02
    assert np.abs(np.interp(curve.x, r.x, r.low) - curve.low).max() < 0.02
    assert sum(r.positives) == y.sum()
    assert sum(r.positives) + sum(r.negatives) == len(y)
    where = (p >= r.edges[3]) & (p < r.edges[4])
    assert r.mean_x[3] == pytest.approx(p[where].mean(), rel=1e-5)
    assert record.benefit.value == pytest.approx(
        sw.curves.decision_curve(e.tally).net_benefit, rel=1e-5
    )


def test_what_is_undefined_is_empty_or_null():
    one = to_dict(sw.evaluate([1, 1, 1], [0.2, 0.5, 0.9]).document())["curves"][0]
    assert one["density"] is None
    assert one["benefit"] is None
    assert one["smroc_x"] == []
    assert one["tp"] == [0, 1, 2, 3]
    scores = sw.evaluate([0, 1, 0, 1], [-3.0, 8.0, 1.0, 2.0]).document().curves[0]
    assert scores.reliability is None
    assert scores.benefit is None
    assert scores.density is not None
    none = sw.evaluate(Tally.empty()).document().curves[0]
    assert none.threshold == [None]
    clusters = sw.evaluate([0, 1, 0, 1], [0.1, 0.8, 0.4, 0.3], cluster=[0, 0, 1, 1]).document()
    assert clusters.curves[0].tpr_low == []


def test_a_coarse_tally_has_the_decisions_at_its_threshold():
    y, p, _ = simulated(5000)
    e = sw.evaluate(Tally.of(y, p).coarsen(), threshold=float(np.sort(p)[2500]) + 1e-9)
    record = CurvesRecord.of("m", e)
    at = record.threshold.index(e.settings.threshold)
    assert (record.tp[at], record.fp[at]) == pytest.approx((e.confusion.tp, e.confusion.fp))
    assert record.tp == sorted(record.tp)
    assert len(record.tp) == len(record.smroc_x) == len(record.tpr_low)


def test_curves_are_small_and_only_in_the_whole_document():
    y, p, _ = simulated(50_000)
    e = sw.evaluate(y, p)
    assert e.brief().curves == []
    assert len(json.dumps(to_dict(e.document())["curves"])) < 50_000


def test_classes_have_curves_against_the_rest():
    rng = np.random.default_rng(1)
    p = rng.dirichlet(np.ones(12), 200)
    y = p.argmax(1)
    e = sw.evaluate(y, p)
    curves = e.document().curves
    area = {name: auroc(e.tally.one(name)).value for name in e.classes}
    lowest = sorted(area, key=lambda name: area[name])[:10]
    assert [c.model for c in curves] == [str(c) for c in e.classes if c in lowest]
    one = e.tally.one(curves[2].model)
    assert curves[2].tp[-1] == one.positives
    cells = operating_points(one).cells
    assert np.array(curves[2].fp) / one.negatives == pytest.approx(roc(one).x[cells])
