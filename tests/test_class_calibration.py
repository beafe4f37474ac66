"""Calibration of several classes against loops and packages that this project did not write."""

import itertools
import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.stats import dirichlet

import scorewise.measures as m
from beside import predictions
from class_calibration_cases import rows, softmax
from scorewise import BadInput
from scorewise.inference.class_resampling import (
    BANDWIDTHS,
    ClassSample,
    consistency_class_gaps,
    drawn_labels,
)
from scorewise.registry import CLASS_MEASURES
from scorewise.statistics.probabilities import ProbabilityCells
from scorewise.tallies import ClassTally

OURS = ("classwise_ece", "canonical_ce", "skce", "calibration_gain")
TOP = ("ece", "max_ce", "ce_l2_debiased", "smece", "ece_sweep")
ours = pytest.mark.parametrize("name", OURS)
EXACT = {"rel": 1e-9, "abs": 1e-12}


@pytest.fixture(params=[(40, 2), (60, 3), (50, 10)], ids=str)
def case(request):
    n, classes = request.param
    return rows(np.random.default_rng(request.param), n, classes, 1.7)


def judge(name, t, **options):
    return CLASS_MEASURES[name](t, **options)


def same(a, b, rel=1e-9):
    assert a.method == b.method
    got, wanted = ([e.value, e.low, e.high, e.expected, e.p] for e in (a, b))
    np.testing.assert_allclose(got, wanted, rtol=rel, atol=1e-9)


# values


def conditional(y, p, h, at, weight):
    """The shares of classes at a row, by the other rows."""
    total, parts = 0.0, np.zeros(p.shape[1])
    for j in range(len(y)):
        if j != at:
            k = weight[j] * math.exp(dirichlet.logpdf(p[at], p[j] / h + 1))
            total += k
            parts[y[j]] += k
    return parts / total


@pytest.mark.parametrize("norm", [1, 2, 1.5])
def test_canonical_error_is_that_of_a_loop(case, norm):
    y, p = case
    weight = np.random.default_rng(1).integers(1, 5, len(y)) / 2
    far = [np.abs(conditional(y, p, 0.05, i, weight) - p[i]) ** norm for i in range(len(y))]
    wanted = ((weight * np.sum(far, 1)).sum() / weight.sum()) ** (1 / norm)
    t = ClassTally.of(y, p, weight=weight)
    got = m.canonical_ce(t, norm=norm, bandwidth=0.05)
    assert got.value == pytest.approx(wanted, rel=1e-9)


def test_canonical_error_of_smoothed_gaps_is_that_of_a_loop(case):
    y, p = case
    total = 0.0
    for i in range(len(y)):
        k = np.array([dirichlet.pdf(p[i], q / 0.1 + 1) if j != i else 0 for j, q in enumerate(p)])
        gap = (k / k.sum()) @ (np.eye(p.shape[1])[y] - p)
        total += np.abs(gap).sum() / len(y)
    got = m.canonical_ce(ClassTally.of(y, p), bandwidth=0.1, smoothed="gaps")
    assert got.value == pytest.approx(total, rel=1e-9)


def test_the_bandwidth_is_the_likeliest(case):
    y, p = case
    n = len(y)

    def likelihood(h):
        each = np.array([dirichlet.logpdf(p.T, q / h + 1) for q in p]).T
        np.fill_diagonal(each, -np.inf)
        return np.logaddexp.reduce(each, axis=1).sum() - n * math.log(n - 1)

    best = max(BANDWIDTHS, key=likelihood)
    assert f"bandwidth {best:.2g}," in m.canonical_ce(ClassTally.of(y, p)).method


@pytest.mark.parametrize("distance", ["total variation", "euclidean"])
def test_kernel_error_is_that_of_a_loop(case, distance):
    y, p = case
    gap = np.eye(p.shape[1])[y] - p
    far = {
        (i, j): np.abs(p[i] - p[j]).sum() / 2
        if distance == "total variation"
        else math.dist(p[i], p[j])
        for i, j in itertools.combinations(range(len(y)), 2)
    }
    width = np.median(list(far.values()))
    pairs = [math.exp(-d / width) * (gap[i] * gap[j]).sum() for (i, j), d in far.items()]
    e = m.skce(ClassTally.of(y, p), distance=distance)
    assert e.value == pytest.approx(np.mean(pairs), rel=1e-9)


def test_kernel_error_knows_weights():
    y, p = rows(np.random.default_rng(3), 40, 3, 2.0)
    weight = np.random.default_rng(4).random(40) + 0.1
    gap = np.eye(3)[y] - p
    pairs = [
        (weight[i] * weight[j], math.exp(-math.dist(p[i], p[j]) / 0.3) * (gap[i] * gap[j]).sum())
        for i, j in itertools.combinations(range(40), 2)
    ]
    w, h = np.array(pairs).T
    e = m.skce(ClassTally.of(y, p, weight=weight), distance="euclidean", width=0.3)
    assert e.value == pytest.approx((w * h).sum() / w.sum(), rel=1e-9)


@pytest.mark.parametrize(("norm", "name"), [(1, "l1"), (2, "l2"), (math.inf, "max")])
def test_class_wise_and_confidence_errors_are_those_of_torchmetrics(case, norm, name):
    torch = pytest.importorskip("torch")
    functional = pytest.importorskip("torchmetrics.functional.classification")
    y, p = case
    classes = p.shape[1]
    t, probability = ClassTally.of(y, p), torch.tensor(p)
    each = [
        functional.binary_calibration_error(
            probability[:, k].contiguous(), torch.tensor((y == k).astype(int)), n_bins=15, norm=name
        ).item()
        for k in range(classes)
    ]
    wanted = max(each) if name == "max" else np.mean(np.array(each) ** norm) ** (1 / norm)
    got = m.classwise_ece(t, norm=norm, convention="torchmetrics")
    assert got.value == pytest.approx(wanted, rel=1e-6)
    if classes > 2:
        top = functional.multiclass_calibration_error(
            probability, torch.tensor(y), classes, n_bins=15, norm=name
        ).item()
        got = m.ece(t, norm=norm, convention="torchmetrics")
        assert got.value == pytest.approx(top, rel=1e-6)


def test_error_of_the_confidence_is_that_of_netcal():
    metrics = pytest.importorskip("netcal.metrics")
    y, p = rows(np.random.default_rng(8), 200, 4, 1.7)
    got = m.ece(ClassTally.of(y, p), convention="netcal").value
    assert got == pytest.approx(metrics.ECE(15).measure(p, y), rel=1e-9)
    assert m.max_ce(ClassTally.of(y, p), convention="netcal").value == pytest.approx(
        metrics.MCE(15).measure(p, y), rel=1e-9
    )


def test_the_gain_is_that_of_temperatures_fitted_on_the_other_folds(case):
    y, p = case
    t = ClassTally.of(y, p)
    s = ClassSample.of(t, 1000).shuffled(0)
    log = np.log(s.p)

    def loss(b, at):
        return -np.log(softmax(b * log[at])[np.arange(len(at)), s.y[at]])

    folds = np.arange(5) * len(y) // 5
    saved = []
    for low, high in zip(folds, [*folds[1:], len(y)], strict=True):
        own = np.arange(low, high)
        rest = np.setdiff1d(np.arange(len(y)), own)
        fit = minimize_scalar(
            lambda b, at: loss(b, at).sum(), args=(rest,), bounds=(1 / 32, 32), method="bounded",
            options={"xatol": 1e-9},
        )  # fmt: skip
        saved.append(loss(1.0, own) - loss(fit.x, own))
    wanted = np.concatenate(saved)
    e = m.calibration_gain(t)
    assert e.value == pytest.approx(wanted.mean(), rel=1e-5)


def test_top_1_error_of_a_network_on_cifar_10():
    rows = pl.read_parquet(predictions("resnet110_cifar10_logits.parquet")).filter(
        pl.col("split") == "test"
    )
    z = rows.select(pl.selectors.starts_with("logit")).to_numpy()
    t = ClassTally.of(rows["label"].to_numpy(), z, kind="logit")
    assert round(m.ece(t).value, 4) == 0.0475
    assert m.classwise_ece(t).low > 0


# draws


def test_labels_are_drawn_with_the_rows_probabilities():
    p = np.array([[0.5, 0.3, 0.2], [0.0, 1.0, 0.0], [0.1, 0.0, 0.9]])
    drawn = drawn_labels(p, np.random.default_rng(0).random((20_000, 3)))
    shares = [[(drawn[:, i] == k).mean() for k in range(3)] for i in range(3)]
    np.testing.assert_allclose(shares, p, atol=0.015)
    assert (drawn[:, 1] == 1).all()
    assert not (drawn[:, 2] == 1).any()


def test_drawn_gaps_have_the_covariance_of_the_multinomial():
    p = np.random.default_rng(0).dirichlet([1, 1, 1], 50)
    s = ClassSample(p, np.zeros(50, int), np.full(50, 0.02), 5000)
    noise = 100.0 * (p * (1 - p)).sum(0)  # of a hundred times as many rows
    cells = ProbabilityCells(*np.ones((5, 3)), noise)
    drawn = consistency_class_gaps(
        s, np.tile(np.arange(3), (50, 1)), cells, 999, np.random.default_rng(1)
    )
    wanted = 100.0 * (np.diag(p.sum(0)) - p.T @ p)
    np.testing.assert_allclose(np.cov(drawn.T), wanted, atol=0.15 * wanted.max())


# what must not matter


@ours
def test_parts_order_and_counts_do_not_matter(name):
    rng = np.random.default_rng(2)
    y, p = rows(rng, 60, 3, 1.5)
    p = p.round(2)
    p[:, 0] = 1 - p[:, 1] - p[:, 2]
    p = np.abs(p.round(2))
    whole = judge(name, ClassTally.of(y, p))
    same(judge(name, ClassTally.of(y[:25], p[:25]) + ClassTally.of(y[25:], p[25:])), whole)
    order = rng.permutation(60)
    same(judge(name, ClassTally.of(y[order], p[order])), whole)
    count = rng.integers(0, 4, 60)
    again = np.repeat(np.arange(60), count)
    counted = judge(name, ClassTally.of(y, p, count=count))
    same(counted, judge(name, ClassTally.of(y[again], p[again])))


@ours
def test_the_unit_of_weight_does_not_matter(name):
    rng = np.random.default_rng(5)
    y, p = rows(rng, 60, 3, 1.5)
    weight = rng.random(60) + 0.5
    a, b = (judge(name, ClassTally.of(y, p, weight=w * weight)) for w in (1, 10))
    same(a, b, rel=1e-6)


# the folds of the gain go by the hashes of what was given
@pytest.mark.parametrize("name", OURS[:3])
def test_logits_are_read_as_their_probabilities(name):
    y, p = rows(np.random.default_rng(6), 60, 3, 1.5)
    a, b = judge(name, ClassTally.of(y, p)), judge(name, ClassTally.of(y, np.log(p), kind="logit"))
    assert a.value == pytest.approx(b.value, rel=1e-6)


def test_two_classes_have_twice_the_error_of_one():
    y, p = rows(np.random.default_rng(7), 80, 2, 2.0)
    swapped = ClassTally.of(1 - y, p[:, ::-1])
    e = m.canonical_ce(ClassTally.of(y, p), bandwidth=0.05)
    assert e.value == pytest.approx(m.canonical_ce(swapped, bandwidth=0.05).value, rel=1e-9)
    one = [conditional(y, p, 0.05, i, np.ones(80))[1] - p[i, 1] for i in range(80)]
    assert e.value == pytest.approx(2 * np.mean(np.abs(one)), rel=1e-9)


# the ends


@pytest.mark.parametrize("name", [*OURS, *TOP])
def test_undefined_has_a_reason(name):
    empty = judge(name, ClassTally.of([], np.empty((0, 3)), classes=["a", "b", "c"]))
    assert (empty.defined, empty.why) == (False, "no rows")
    one = judge(name, ClassTally.of([1], [[0.2, 0.5, 0.3]], classes=range(3)))
    assert one.defined or "row" in one.why


@ours
def test_confidence_alone_says_nothing_of_the_other_classes(name):
    t = ClassTally.of([1, 0], [[0.2, 0.5, 0.3], [0.6, 0.2, 0.2]])
    e = judge(name, replace(t, each=(), losses=None, joint=None))
    assert e.why == "only the confidence is known, not the other classes"


@st.composite
def few_rows(draw):
    """Up to ten rows, with ties, certainty, counts and weights of any size."""
    classes, n = draw(st.integers(2, 4)), draw(st.integers(1, 10))
    parts = st.lists(st.integers(0, 4), min_size=classes, max_size=classes).filter(any)
    p = np.array(draw(st.lists(parts, min_size=n, max_size=n)), float)
    y = draw(st.lists(st.integers(0, classes - 1), min_size=n, max_size=n))
    masses = st.sampled_from(([1], [0.5, 2.0], [1e-9, 1e9], [0.0, 1.0]))
    mass = st.sampled_from(draw(masses))
    weight = draw(st.lists(mass, min_size=n, max_size=n).filter(any))
    p /= p.sum(1, keepdims=True)
    return ClassTally.of(y, p, weight=weight, classes=range(classes))


@ours
@settings(max_examples=40, deadline=None)
@given(t=few_rows())
def test_defined_or_explained_and_within_bounds(name, t):
    e = judge(name, t)
    assert bool(e.why) == (not e.defined)
    if e.defined:
        least, most = CLASS_MEASURES[name].bounds
        assert least <= e.low <= e.value <= e.high <= most
        assert math.isfinite(e.expected)
        assert 0 < e.p <= 1


@ours
@pytest.mark.parametrize("right", [True, False])
def test_certain_rows(name, right):
    y = np.arange(30) % 3
    p = np.eye(3)[y if right else (y + 1) % 3]
    e = judge(name, ClassTally.of(y, p))
    assert e.defined
    if right:
        assert e.value == pytest.approx(0, abs=1e-9)
        assert e.p == 1
    else:
        assert e.value > 0.1
        assert e.p < 0.02
    assert e.low <= e.value <= e.high


@ours
def test_a_sample_says_so_and_is_near(name):
    y, p = rows(np.random.default_rng(9), 20_000, 3, 1.6)
    t = ClassTally.of(y, p)
    e = judge(name, t)
    assert " rows" in e.method
    assert e.low > 0
    assert e.p < 0.02


@pytest.mark.parametrize("name", ["canonical_ce", "skce"])
def test_rows_that_are_asked_for_are_used(name):
    y, p = rows(np.random.default_rng(12), 120, 3, 1.6)
    t = ClassTally.of(y, p)
    assert "on 50 of 120 rows" in judge(name, t, rows=50).method
    assert " of 120 rows" not in judge(name, t, rows=120).method
    same(judge(name, t, rows=120), judge(name, t))


def test_wide_kernels_hide_scores_that_are_too_unsure_less_so_smoothed_gaps():
    p = np.random.default_rng(1).dirichlet([1, 1, 1], 100)
    t = ClassTally.of(p.argmax(1), p)
    assert m.canonical_ce(t).p > 0.5  # the likeliest bandwidth is 1, and hides it
    assert m.canonical_ce(t, bandwidth=0.2).p > 0.05
    assert m.canonical_ce(t, bandwidth=0.2, smoothed="gaps").p < 0.01
    assert m.canonical_ce(t, bandwidth=0.05).p < 0.01


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("classwise_ece", {"bins": 0}),
        ("classwise_ece", {"norm": 0.5}),
        ("classwise_ece", {"binning": "size"}),
        ("canonical_ce", {"norm": math.inf}),
        ("canonical_ce", {"bandwidth": 0}),
        ("canonical_ce", {"smoothed": "both"}),
        ("canonical_ce", {"rows": 1}),
        ("skce", {"rows": 0}),
        ("skce", {"width": -1.0}),
        ("skce", {"distance": "far"}),
        ("calibration_gain", {"folds": 1}),
        ("skce", {"level": 2}),
    ],
    ids=str,
)
def test_what_means_nothing_is_refused(name, options):
    with pytest.raises(BadInput):
        judge(name, ClassTally.of([0, 1], [[0.5, 0.5], [0.2, 0.8]]), **options)


@ours
def test_a_wider_level_contains_the_narrower(name):
    y, p = rows(np.random.default_rng(10), 100, 3, 1.6)
    t = ClassTally.of(y, p)
    narrow, usual, wide = (judge(name, t, level=level) for level in (0.8, 0.95, 0.99))
    assert wide.low <= usual.low <= narrow.low <= usual.value
    assert usual.value <= narrow.high <= usual.high <= wide.high
    assert wide.high > narrow.low


def test_skce_of_scores_that_are_nearly_all_certain():
    """Half of the pairs are equal, and the width of the kernel is not their median distance of 0."""
    p = np.repeat([[1.0, 0.0, 0.0], [0.5, 0.5, 0.0]], [30, 10], axis=0)
    y = np.repeat([0, 1, 0, 1], [28, 2, 5, 5])
    found = CLASS_MEASURES["skce"](ClassTally.of(y, p, classes=range(3)))
    narrow = CLASS_MEASURES["skce"](ClassTally.of(y, p, classes=range(3)), width=0.05)
    assert found.value == narrow.value
    assert found.defined
