"""The measures of drift against others' implementations and plain loops."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ks_2samp, wasserstein_distance
from sklearn.metrics import roc_auc_score
from statsmodels.stats.proportion import confint_proportions_2indep

import scorewise as sw
from drift_cases import draw, tally
from scorewise.curves.thresholds import Curve, distance
from scorewise.drifting import measures
from scorewise.drifting import split as thinning
from scorewise.drifting.split import pool, split
from scorewise.statistics.smroc import cell_climbs, midpoint
from strategies import cases

FAST = {"replicates": 99}
SEEDS = range(8)


def found(a, b, **options):
    return sw.drift(a, b, **FAST, **options)


def values(d):
    return {name: c.value for name, c in d.window.items()}


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("seed", SEEDS)
def test_distances_of_scores_are_those_of_scipy(seed, digits):
    (_, p), (_, q) = draw(seed, 70, digits=digits), draw(seed + 99, 50, shift=0.3, digits=digits)
    d = found(p, q)
    assert d["ks"].value == pytest.approx(ks_2samp(p, q).statistic, abs=1e-12)
    assert d["wasserstein"].value == pytest.approx(wasserstein_distance(p, q), abs=1e-12)


def psi_by_hand(p, q):
    """Each score looked up among the tenths of the reference; shares at least 0.0001."""
    bins = [[0, 0] for _ in range(10)]
    for which, sample in enumerate((p, q)):
        for s in sample:
            below = sum(other < s for other in p)
            bins[min(9, 10 * below // len(p))][which] += 1 / len(sample)
    total = 0.0
    for a, b in bins:
        a, b = max(a, 1e-4), max(b, 1e-4)
        total += (b - a) * math.log(b / a)
    return total


@pytest.mark.parametrize("digits", [None, 1])
@pytest.mark.parametrize("seed", SEEDS)
def test_psi_by_hand(seed, digits):
    (_, p), (_, q) = draw(seed, 70, digits=digits), draw(seed + 9, 50, shift=0.5, digits=digits)
    x = split(
        *(tally(s, n, shift=k, digits=digits) for s, n, k in ((seed, 70, 0), (seed + 9, 50, 0.5)))
    )
    assert float(measures.psi(x)) == pytest.approx(psi_by_hand(p, q), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_areas_midpoints_and_prevalence(seed):
    (y, p), (v, q) = draw(seed, 80, digits=1), draw(seed + 9, 60, prevalence=0.5, digits=1)
    d = found((y, p), (v, q))
    assert d["auroc"].value == pytest.approx(roc_auc_score(v, q) - roc_auc_score(y, p), abs=1e-12)
    assert d["prevalence"].value == pytest.approx(v.mean() - y.mean(), abs=1e-12)
    assert d["midpoint"].value == pytest.approx(q.mean() - p.mean(), abs=1e-12)
    ends = confint_proportions_2indep(
        v.sum(), len(v), y.sum(), len(y), method="newcomb", compare="diff"
    )
    e = d["prevalence"].estimate
    assert (e.low, e.high) == pytest.approx(ends, abs=1e-6)


@pytest.mark.parametrize("rule", ["mean", "balanced", "median", 0.4])
@pytest.mark.parametrize("seed", SEEDS)
def test_smroc_is_made_of_climbs_and_runs(seed, rule):
    a, b = tally(seed, 40, digits=1), tally(seed + 9, 30, shift=0.4, digits=1)
    x = split(a, b, midpoint=rule)
    points = []
    for t, m in zip((a, b), x.midpoints, strict=True):
        assert float(m) == pytest.approx(midpoint(t, rule).value, abs=1e-12)
        climb, run = (part[::-1] / part.sum() for part in cell_climbs(t, float(m)))
        points.append([np.append(0, part.cumsum()) for part in (run, climb)])
    areas = [np.trapezoid(climb, run) for run, climb in points]
    assert float(measures.smauc_change(x)) == pytest.approx(areas[1] - areas[0], abs=1e-12)
    grid = (np.arange(200_000) + 0.5) / 200_000
    first, second = (np.interp(grid, *pair) for pair in points)
    between = float(measures.smroc_distance(x))
    assert between == pytest.approx(np.abs(first - second).mean(), abs=2e-5)


def test_smroc_distance_where_curves_jump():
    step = [np.array([0.0, 0.0, 1.0]), np.array([0.0, 1.0, 1.0])]
    line = [np.array([0.0, 1.0]), np.array([0.0, 1.0])]
    cross = [np.array([0.0, 0.5, 0.5, 1.0]), np.array([0.0, 0.0, 1.0, 1.0])]
    step, line, cross = (Curve(*points, points[0]) for points in (step, line, cross))
    assert distance(step, line) == pytest.approx(0.5)
    assert distance(cross, line) == pytest.approx(0.25)


def test_rotation_of_the_worked_example():
    y, p = [1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]
    doc = found((y, p), (y, [0.95, 0.7, 0.1, 0.51, 0.2, 0.0])).to_dict()
    assert doc["reference"]["rotation"] == pytest.approx(18.434948822922, abs=1e-9)
    assert (doc["reference"]["high"], doc["reference"]["prevalence"]) == pytest.approx((4 / 6, 0.5))
    change = next(c for c in doc["windows"][0]["changes"] if c["name"] == "rotation")
    assert change["value"] == pytest.approx(-18.434948822922, abs=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_prevalence_without_labels_is_where_em_ends(seed):
    """Saerens and others (2002), iterated as they wrote it."""
    (_, p), (_, q) = draw(seed, 400), draw(seed + 9, 300, prevalence=0.5)
    prior = share = p.mean()
    for _ in range(5000):
        up, down = q * share / prior, (1 - q) * (1 - share) / (1 - prior)
        share = (up / (up + down)).mean()
    d = found(draw(seed, 400), q, labels="reference")
    assert d["estimated_prevalence"].value == pytest.approx(share - prior, abs=1e-7)
    assert "prevalence" in d.window
    assert d["prevalence"].estimate.why == "no labels in the current sample"


def test_prevalence_without_labels_finds_a_prior_shift():
    d = found(draw(1, 20_000), draw(2, 20_000, prevalence=0.5)[1])
    e = d["estimated_prevalence"].estimate
    assert e.low < 0.2 < e.high
    assert e.high - e.low < 0.1
    assert d.kind == "scores"


def test_prevalence_at_its_ends():
    p, one = np.array([0.2, 0.8]), np.array([1.0, 1.0])
    assert measures.likeliest_share(p, np.array([1.0, 0.0]), np.array(0.5)) == pytest.approx(0.0)
    assert measures.likeliest_share(p, np.array([0.0, 1.0]), np.array(0.5)) == pytest.approx(1.0)
    assert measures.likeliest_share(p, one, np.array(0.5)) == pytest.approx(0.5)


@pytest.mark.parametrize("seed", SEEDS)
def test_calibration_by_hand(seed):
    a, b = tally(seed, 300), tally(seed + 9, 200, noise=0.2)
    x = measures.strata(split(a, b))
    assert len(x.score) == 25
    gaps, weights = [], []
    for k in range(len(x.score)):
        (n, m), (p, q) = x.rows[:, k], x.weight[:, 1, k]
        if n and m:
            gaps.append(q / m - p / n)
            weights.append(n * m / (n + m))
        else:
            gaps.append(0.0)
            weights.append(0.0)
    mean = np.average(gaps, weights=weights)
    assert float(measures.calibration_shift(x)) == pytest.approx(mean, abs=1e-12)
    line = np.polyfit(x.unit, gaps, 1, w=np.sqrt(weights))
    assert float(measures.calibration_slope(x)) == pytest.approx(line[0], abs=1e-9)
    bins = [[k for k in range(25) if 4 * k // 25 == b] for b in range(4)]
    sizes = [sum(weights[k] for k in ks) for ks in bins]
    means = [np.average([gaps[k] for k in ks], weights=[weights[k] for k in ks]) for ks in bins]
    root = math.sqrt(np.average(np.square(means), weights=sizes))
    assert float(measures.calibration_distance(x)) == pytest.approx(root, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_class_distance_by_scipy(seed):
    (y, p), (v, q) = draw(seed, 90), draw(seed + 9, 70, shift=0.3)
    squares = sizes = 0.0
    for side in (True, False):
        first, second = p[y == side], q[v == side]
        size = len(first) * len(second) / (len(first) + len(second))
        squares += size * ks_2samp(first, second).statistic ** 2
        sizes += size
    expected = math.sqrt(squares / sizes)
    assert found((y, p), (v, q))["class_distance"].value == pytest.approx(expected, abs=1e-12)


SIGNED = [s.name for s in measures.STATISTICS if s.signed]


@pytest.mark.parametrize("seed", SEEDS)
def test_swapping_the_samples_flips_signs_and_keeps_distances(seed):
    a, b = tally(seed, 80, digits=1), tally(seed + 9, 60, shift=0.5, digits=1)
    there, back = values(found(a, b)), values(found(b, a))
    for name, value in there.items():
        if name == "psi":  # its bins are those of the reference
            continue
        expected = -back[name] if name in SIGNED else back[name]
        assert value == pytest.approx(expected, abs=1e-12), name


def same(one, other, tolerance=1e-12):
    for name, c in one.window.items():
        o = other[name]
        assert (c.estimate.why, c.estimate.method) == (o.estimate.why, o.estimate.method)
        numbers = [(c.value, c.p, c.by_chance, c.estimate.low, c.estimate.high)]
        numbers += [(o.value, o.p, o.by_chance, o.estimate.low, o.estimate.high)]
        assert numbers[0] == pytest.approx(numbers[1], abs=tolerance, nan_ok=True), name


@given(cases(weighted=False), cases(weighted=False), st.randoms(use_true_random=False))
def test_order_of_rows_merging_and_counts_do_not_matter(a, b, random):
    if a.kind != b.kind or a.s.dtype != b.s.dtype:
        b = replace(b, kind=a.kind, s=np.abs(np.sin(b.s.astype(float))).astype(a.s.dtype))
    shuffled = [random.sample(range(len(c)), len(c)) for c in (a, b)]
    plain = sw.drift(a.tally, b.tally, replicates=19)
    mixed = [c.rows(np.array(order, int)).tally for c, order in zip((a, b), shuffled, strict=True)]
    same(plain, sw.drift(*mixed, replicates=19))
    halves = [c.rows(slice(0, 5)).tally + c.rows(slice(5, None)).tally for c in (a, b)]
    same(plain, sw.drift(*halves, replicates=19))
    repeated = [c.rows(np.repeat(np.arange(len(c)), 2)).tally for c in (a, b)]
    counted = [replace(c, count=np.full(len(c), 2)).tally for c in (a, b)]
    same(sw.drift(*repeated, replicates=19), sw.drift(*counted, replicates=19))


@given(cases(weighted=True, least=1), cases(weighted=True, least=1))
def test_weights_have_no_scale(a, b):
    if a.kind != b.kind or a.s.dtype != b.s.dtype:
        b = replace(b, kind=a.kind, s=np.abs(np.sin(b.s.astype(float))).astype(a.s.dtype))
    one = sw.drift(a.tally, b.tally, replicates=19)
    ten = sw.drift(a.tally, replace(b, weight=8.0 * b.weight).tally, replicates=19)
    same(one, ten, 1e-9)
    assert all(c.estimate.why or math.isfinite(c.value) for c in one.window.values())


def test_equal_weights_give_the_values_of_counts():
    (y, p), (v, q) = draw(1, 80), draw(2, 60)
    weighted = [sw.Tally.of(*rows, weight=np.full(len(rows[0]), 0.1)) for rows in ((y, p), (v, q))]
    one, other = found((y, p), (v, q)), found(*weighted)
    for name in one.window:
        assert one[name].value == pytest.approx(other[name].value, abs=1e-9), name
        assert one[name].p == pytest.approx(other[name].p, abs=0.25), name


def test_logits_are_read_as_probabilities_where_those_are_needed():
    (y, p), (v, q) = draw(1, 200), draw(2, 200, shift=0.3)
    logits = [
        sw.Tally.of(labels, np.log(s / (1 - s)), kind="logit") for labels, s in ((y, p), (v, q))
    ]
    one, other = found((y, p), (v, q)), found(*logits)
    for name in ("midpoint", "smroc_distance", "smauc", "auroc", "rotation", "ks", "psi"):
        assert one[name].value == pytest.approx(other[name].value, abs=1e-9), name


def test_pooled_cells_keep_mass_and_order():
    x = split(tally(1, 5000), tally(2, 4000))
    few = pool(x, 100)
    assert 90 <= len(few.score) <= 100
    assert (np.diff(few.score) > 0).all()
    assert few.mass.sum() == x.mass.sum()
    assert few.mass.max() <= 91
    assert (few.mass * few.score).sum() == pytest.approx((x.mass * x.score).sum())


def test_very_many_scores_are_tied_on_small_cells(monkeypatch):
    a, b = tally(1, 20_000), tally(2, 10_000, shift=0.2)
    exact = values(found(a, b))
    monkeypatch.setattr(thinning, "MAX_SCORES", 1 << 12)
    thin = found(a, b)
    assert len(split(a, b).score) < 3000
    for name, value in values(thin).items():
        assert value == pytest.approx(exact[name], abs=1.0 if name == "rotation" else 3e-3), name


def test_coarse_tallies_are_close_to_exact_ones():
    a, b = tally(1, 3000), tally(2, 3000, shift=0.2)
    exact = values(found(a, b))
    both, one = found(a.coarsen(), b.coarsen()), found(a.coarsen(), b)
    for name, value in values(both).items():
        assert value == pytest.approx(exact[name], abs=0.1 if name == "rotation" else 2e-3), name
    assert values(one) == values(both)
    assert any("coarsened" in hint for hint in both.to_dict()["hints"])
