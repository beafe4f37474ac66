"""Kernel densities against scipy, scikit-learn, statsmodels, KDEpy and sums over all pairs."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from scipy import integrate, stats
from sklearn.neighbors import KernelDensity
from statsmodels.nonparametric.kde import KDEUnivariate

import scorewise as sw
from density_cases import normals, two_peaks
from scorewise import BadInput, Density, Tally
from scorewise.statistics.kernels import KERNELS

# half-widths of the kernels on [-1, 1], as a share of their standard deviations
HALF = {
    "gaussian": 1.0,
    "epanechnikov": math.sqrt(5),
    "biweight": math.sqrt(7),
    "triweight": 3.0,
    "triangular": math.sqrt(6),
    "uniform": math.sqrt(3),
    "cosine": 1 / math.sqrt(1 - 8 / math.pi**2),
}
OF_SKLEARN = {"uniform": "tophat", "triangular": "linear"} | {
    name: name for name in ("gaussian", "epanechnikov", "cosine")
}
OF_STATSMODELS = {
    "gaussian": "gau",
    "epanechnikov": "epa",
    "biweight": "biw",
    "triweight": "triw",
    "triangular": "tri",
    "uniform": "uni",
}
every_kernel = pytest.mark.parametrize("kernel", KERNELS)
both_sizes = pytest.mark.parametrize("n", [300, 6000])


def close(found, wanted, n):
    """Sums over a few values are exact; those over a grid nearly so."""
    np.testing.assert_allclose(found, wanted, atol=(1e-12 if n <= 2048 else 2e-5) * wanted.max())


@both_sizes
def test_gaussian_kernels_are_those_of_scipy(n):
    x, w = normals(n), np.random.default_rng(1).uniform(0, 3, n)
    at = np.linspace(-8, 10, 200)
    for weight in (None, w):
        theirs = stats.gaussian_kde(x, weights=weight)
        width = math.sqrt(float(theirs.covariance[0, 0]))
        ours = sw.density(x, weight=weight, bandwidth=width)
        close(ours(at), theirs(at), n)
        below = np.array([theirs.integrate_box_1d(-np.inf, a) for a in at[::20]])
        close(ours.cdf(at[::20]), below, n)


@both_sizes
@pytest.mark.parametrize("kernel", OF_SKLEARN)
def test_kernels_are_those_of_scikit_learn(kernel, n):
    x, w = normals(n), np.random.default_rng(1).uniform(0.1, 3, n)
    at = np.linspace(-6, 8, 101)
    fit = KernelDensity(kernel=OF_SKLEARN[kernel], bandwidth=0.7 * HALF[kernel], rtol=1e-12)
    fit.fit(x[:, None], sample_weight=w)
    theirs = np.exp(fit.score_samples(at[:, None]))
    ours = sw.density(x, weight=w, kernel=kernel, bandwidth=0.7)
    if kernel == "uniform" and n > 2048:  # whose jumps a grid rounds off
        np.testing.assert_allclose(ours(at), theirs, atol=2e-3 * theirs.max())
    else:
        close(ours(at), theirs, n)


@both_sizes
@pytest.mark.parametrize("kernel", OF_STATSMODELS)
def test_kernels_are_those_of_statsmodels(kernel, n):
    x = normals(n)
    fit = KDEUnivariate(x)
    fit.fit(kernel=OF_STATSMODELS[kernel], bw=0.7 * HALF[kernel], fft=False, gridsize=128, cut=1)
    ours = sw.density(x, kernel=kernel, bandwidth=0.7)
    if kernel == "uniform" and n > 2048:
        np.testing.assert_allclose(ours(fit.support), fit.density, atol=2e-3 * fit.density.max())
    else:
        close(ours(fit.support), fit.density, n)


@every_kernel
def test_kernels_have_area_and_variance_one(kernel):
    k = KERNELS[kernel]

    def at(z):
        return float(k.pdf(np.array([z]))[0])

    moments = [
        integrate.quad(lambda z, p=p: z**p * at(z), -k.reach, k.reach, points=[0])[0]
        for p in (0, 1, 2)
    ]
    assert moments == pytest.approx([1, 0, 1], abs=1e-9)
    left = integrate.quad(at, -k.reach, 0.6, points=[0])[0]
    assert left == pytest.approx(float(k.below(np.array([0.6]))[0]), abs=1e-9)


@pytest.mark.parametrize("n", [1000, 20_000])
def test_fast_transform_is_that_of_kdepy(n):
    from KDEpy import FFTKDE

    x = two_peaks(n)
    at, theirs = FFTKDE(kernel="gaussian", bw=0.3).fit(x).evaluate(1 << 14)
    ours = sw.density(x, bandwidth=0.3)(at)
    np.testing.assert_allclose(ours, theirs, atol=1e-4 * theirs.max())


def coarseness(found):
    """How far trapezoids may be off: uniform kernels jump between points, and others bend."""
    step = (found.x[1] - found.x[0]) / found.bandwidth
    return 1e-6 + (step if found.kernel == "uniform" else step * step)


samples = st.lists(st.floats(-50, 50) | st.sampled_from((0.0, 1.0, 1.5)), min_size=1, max_size=40)


@given(samples, st.sampled_from(tuple(KERNELS)), st.floats(0.05, 20))
@example([0.0], "gaussian", 1.0)
def test_every_density_has_area_one(x, kernel, width):
    found = sw.density(x, kernel=kernel, bandwidth=width, points=16_384)
    assert np.trapezoid(found.y, found.x) == pytest.approx(1, abs=coarseness(found))
    ends = found.cdf([found.x[0] - 1, found.x[0], found.x[-1], found.x[-1] + 9 * width])
    np.testing.assert_allclose(ends, [0, 0, 1, 1], atol=1e-6)
    assert (np.diff(found.cdf(found.x)) >= -1e-12).all()


@given(
    st.lists(st.floats(0, 1), min_size=2, max_size=40),
    st.sampled_from(tuple(KERNELS)),
    st.floats(0.02, 1.0),
)
def test_mirrored_densities_have_area_one_on_the_support(x, kernel, width):
    found = sw.density(x, kernel=kernel, bandwidth=width, support=(0, 1), points=8192)
    assert (found.x[0], found.x[-1]) == (0, 1)
    assert np.trapezoid(found.y, found.x) == pytest.approx(1, abs=coarseness(found))
    assert found.cdf(1.0) == pytest.approx(1, abs=1e-9)
    assert found([-0.1, 1.1]).tolist() == [0, 0]
    assert found.cdf([-0.1, 1.1]).tolist() == [0, 1]


@every_kernel
@pytest.mark.parametrize("support", [(0, 1), (0, None), (None, 1), None])
def test_grid_and_single_kernels_agree(kernel, support):
    x = np.random.default_rng(0).beta(0.8, 1.5, 2000)
    # each value twice, each time half as heavy, is the same density by another way
    twice = sw.density(np.tile(x, 2), kernel=kernel, bandwidth=0.08, support=support)
    once = sw.density(x, kernel=kernel, bandwidth=0.08, support=support)
    at = np.linspace(0, 1, 301)
    rough = 2e-3 if kernel == "uniform" else 1e-4
    np.testing.assert_allclose(twice(at), once(at), atol=rough * once.y.max())
    np.testing.assert_allclose(twice.cdf(at), once.cdf(at), atol=1e-5)
    np.testing.assert_allclose(twice.y, once.y, atol=rough * once.y.max())


@pytest.mark.parametrize("n", [1500, 50_000])
def test_no_dip_at_the_edges(n):
    x = np.random.default_rng(0).random(n)
    plain, mirrored = (sw.density(x, bandwidth=0.08, support=s) for s in (None, (0, 1)))
    ends = np.array([0.0, 1.0])
    assert (plain(ends) < 0.6).all()
    np.testing.assert_allclose(mirrored(ends), 1, atol=0.12)
    slope = np.diff(mirrored([0, 1e-4]))[0] / 1e-4
    assert abs(slope) < 0.5  # mirrored curves arrive level


def test_wide_kernels_are_mirrored_more_than_once():
    x = np.array([0.1, 0.35])
    found = sw.density(x, bandwidth=0.9, support=(0, 1))
    at = np.linspace(0, 1, 11)
    shifts = 2.0 * np.arange(-40, 41)
    around = np.concatenate([sign * x[:, None] + shifts for sign in (1, -1)]).ravel()
    wanted = stats.norm.pdf(at[:, None], around, 0.9).sum(1) / 2
    np.testing.assert_allclose(found(at), wanted, rtol=1e-12)


@given(st.lists(st.tuples(st.floats(-5, 5), st.integers(1, 4)), min_size=2, max_size=30))
def test_weights_are_repetitions_and_order_is_nothing(rows):
    x, times = (np.array(column) for column in zip(*rows, strict=True))
    at = np.linspace(-7, 7, 41)
    weighted = sw.density(x, weight=times, bandwidth=0.5)
    repeated = sw.density(np.repeat(x, times), bandwidth=0.5)
    np.testing.assert_allclose(weighted(at), repeated(at), atol=1e-12)
    backwards = sw.density(x[::-1], weight=times[::-1], bandwidth=0.5)
    np.testing.assert_allclose(backwards(at), weighted(at), atol=1e-14)


def test_any_column_and_any_float():
    x = normals(3000).astype(np.float32)
    import pandas as pd
    import polars as pl

    plain = sw.density(x.astype(np.float64))
    for column in (x, x.tolist(), pd.Series(x), pl.Series(x)):
        np.testing.assert_allclose(sw.density(column).y, plain.y, rtol=1e-9, atol=1e-12)
    gaps = sw.density([0.1, None, 0.4, 0.7], missing="drop")
    assert (gaps.dropped, gaps.rows) == (1, 3)
    assert isinstance(plain(0.5), float)
    assert plain([[0.1, 0.2]]).shape == (1, 2)
    assert np.isnan(plain(np.nan))
    assert sw.density(np.arange(9), points=17).x.shape == (17,)


@pytest.mark.parametrize("kind", ["probability", "logit", "score"])
def test_classes_of_a_tally(kind):
    rng = np.random.default_rng(0)
    y = rng.random(3000) < 0.4
    logit = rng.normal(size=3000) + 2 * y - 1
    p = 1 / (1 + np.exp(-logit))
    given_scores = p if kind == "probability" else logit
    found = Density.of(Tally.of(y, given_scores, kind=kind))
    shown = logit if kind == "score" else p
    support = None if kind == "score" else (0, 1)
    for side, ours in zip((~y, y), found, strict=True):
        alone = sw.density(shown[side], support=support)
        assert ours.bandwidth == pytest.approx(alone.bandwidth, rel=1e-6)
        np.testing.assert_allclose(ours.y, alone.y, rtol=1e-6, atol=1e-9)
    assert 0 < found.overlap < 1
    coarse = Density.of(Tally.of(y, given_scores, kind=kind).coarsen())
    assert coarse.overlap == pytest.approx(found.overlap, abs=0.01)


def test_a_class_of_equal_scores_has_a_density():
    t = Tally.of([0, 0, 1, 1], [0.1, 0.2, 0.7, 0.7])
    assert Density.of(t).pos.bandwidth == 0.005
    with pytest.raises(BadInput, match="the score of the positives is 7 in every row"):
        Density.of(Tally.of([0, 0, 1], [1.0, 2.0, 7.0]))
    with pytest.raises(BadInput, match="no densities of two classes: no positives"):
        Density.of(Tally.of([0, 0], [0.1, 0.2], positive=1))


@pytest.mark.parametrize(
    ("x", "options", "said"),
    [
        ([0.1, math.nan, math.nan], {}, "x is missing in 2 rows, first at row 1"),
        ([0.1, math.inf], {}, "x is infinite in 1 row, row 1"),
        ([], {}, "x has no rows"),
        (["a", "b"], {}, "x is not a number"),
        ([0.5, 0.5], {}, "x is 0.5 in every row"),
        ([0.1, 0.2], {"bandwidth": 0}, "bandwidth=0 is not a number above 0"),
        ([0.1, 0.2], {"bandwidth": -1.0}, "bandwidth=-1.0 is not a number above 0"),
        ([0.1, 0.2], {"bandwidth": math.nan}, "bandwidth=nan is not a number above 0"),
        ([0.1, 0.2], {"bandwidth": "best"}, "bandwidth='best' is not known; pass \"isj\""),
        ([1e6, 1e6 + 2], {"bandwidth": 1e-6}, "the bandwidth 1e-06 is too narrow"),
        ([0.1, 0.2], {"bandwidth": 3.0, "support": (0, 1)}, "wider than the support from 0 to 1"),
        ([0.1, 0.2], {"kernel": "box"}, 'kernel="box" is not known; pass "gaussian", '),
        ([0.1, 1.2, 1.3], {"support": (0, 1)}, r"outside the support \[0, 1\] in 2 rows, first"),
        ([0.1, 0.2], {"support": (1, 0)}, "is empty; pass"),
        ([0.1, 0.2], {"support": (0, 1, 2)}, "is not a pair"),
        ([0.1, 0.2], {"points": 1}, "points must be an integer from 2 up, such as 512; got 1"),
        ([0.1, 0.2], {"weight": [1.0]}, "x has 2 rows and weight has 1"),
        ([0.1, 0.2], {"weight": [1.0, -1.0]}, "weight is negative in 1 row"),
        ([0.1, 0.2], {"weight": [0.0, 0.0]}, "weight is zero in every row"),
        ([1e16, 1e16 + 2], {}, "differs in its last digits only"),
        ([-1e308, 1e308], {}, "from -1e\\+308 to 1e\\+308 is too wide"),
        (np.append(np.zeros(3000), 1.0), {"bandwidth": 1e-9}, "the bandwidth 1e-09 is too narrow"),
    ],
)
def test_bad_input(x, options, said):
    with pytest.raises(BadInput, match=said):
        sw.density(x, **options)
