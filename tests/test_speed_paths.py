"""Ways that are taken for speed alone give what the plain ways give."""

import os
import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from scorewise import Tally
from scorewise.computing import on_threads, product
from scorewise.curves import hull
from scorewise.curves.reliability import SPAN, _width
from scorewise.inference import ranking
from scorewise.inference.inversion import Noise
from scorewise.inference.logistic import fitted_lines, logistic
from scorewise.statistics.probabilities import probability_cells
from scorewise.tallies.coarse import loss_moments, pool, pooled_at
from scorewise.tallies.runs import quantile_cells


def tallies(n: int, kind: str) -> tuple[Tally, Tally]:
    """The same distinct scores twice, the second not known to be distinct."""
    rng = np.random.default_rng(n)
    y = np.arange(n) % 3 == 0
    s = rng.permutation(n) / n
    if kind == "good":
        s = np.where(y, s**0.61, s)
    elif kind == "perfect":
        s = np.where(y, s + 1, s)
    elif kind == "reversed":
        s = np.where(y, s, s + 1)
    t = Tally.of(y, s / max(1.0, s.max() * 1.01))
    other = Tally(t.score, t.neg, t.pos, t.neg, t.pos, t.kind, t.origin)
    other.__dict__["distinct"] = False
    assert t.distinct
    return t, other


@pytest.mark.parametrize("kind", ["noise", "good", "perfect", "reversed"])
@pytest.mark.parametrize("n", [2, 3, 41, 100_000])
def test_distinct_scores_are_ranked_as_cells_are(n, kind):
    t, plain = tallies(n, kind)
    area = ranking.auroc_value(t)
    assert_allclose(area, ranking.auroc_value(plain), rtol=1e-14)
    got, wanted = ranking.auroc_variance(t, area), ranking.auroc_variance(plain, area)
    assert_allclose(got.variance, wanted.variance, rtol=1e-11, atol=1e-30)
    assert_allclose(ranking.ks_gaps(t), ranking.ks_gaps(plain), rtol=1e-14, atol=1e-15)
    for trapezoid in (False, True):
        found = [ranking.precision_area(x, trapezoid) for x in (t, plain)]
        assert_allclose(*found, rtol=1e-13)


@pytest.mark.parametrize("n", [2, 41, 100_000])
def test_distinct_scores_have_the_same_hull_pools_and_losses(n):
    t, plain = tallies(n, "good")
    assert_array_equal(hull.pav_blocks_of(t), hull.pav_blocks_of(plain))
    for cells in (2, 7, 1000):
        if n > cells:
            assert pool(t, cells) == pooled_at(t, quantile_cells(cells, t.neg, t.pos))
    for loss in ("log", "brier", "spherical"):
        assert_allclose(*(loss_moments(x, [loss])[loss] for x in (t, plain)), rtol=1e-12)


def test_windows_hold_three_quarters_of_the_rows():
    rng = np.random.default_rng(0)
    x, mass = np.sort(rng.random(60)), rng.random(60)
    mass /= mass.sum()
    for at, width in zip(x, _width(x, mass), strict=True):
        far = np.abs(x - at)
        assert mass[far <= width].sum() >= SPAN - 1e-9
        assert mass[far < width].sum() < SPAN


def test_lines_of_folds_are_those_of_single_fits():
    rng = np.random.default_rng(1)
    x = np.sort(rng.normal(size=200)) * 3 - 5
    y, fold = rng.random(200) < 1 / (1 + np.exp(-x - 4)), rng.integers(0, 5, 200)
    used = fold != np.arange(5)[:, None]
    neg, pos = (used & ~y).astype(float), (used & y).astype(float)
    single = [logistic([np.ones(200), x], *both).coef for both in zip(neg, pos, strict=True)]
    for near in (np.zeros(2), np.array([40.0, -30.0])):  # from afar, one by one
        assert_allclose(fitted_lines(x, neg, pos, near), single, rtol=1e-8)
    apart = (x > 0).astype(float)[None]
    assert fitted_lines(x, 1 - apart, apart, np.zeros(2)) is None


def test_products_in_parts_are_products():
    a, b = np.random.default_rng(0).random((2, 700, 700))
    assert_allclose(product(a, b[:, :600]), a @ b[:, :600])
    assert product(np.ones((0, 3)), b[:3]).shape == (0, 700)


def test_threads_may_be_asked_for_on_threads():
    names, cores = set(), len(os.sched_getaffinity(0))
    together = threading.Barrier(min(cores, 2))

    def twice(k: int) -> list[int]:
        names.add(threading.current_thread().name)
        if k < min(cores, 2):
            together.wait(timeout=60)  # for another thread, which the first alone cannot pass
        return on_threads(lambda x: 2 * x, [k, -k], enough=1)

    assert on_threads(twice, range(8), enough=1) == [[2 * k, -2 * k] for k in range(8)]
    assert len(names) >= min(cores, 2)


def test_noise_is_drawn_once_whichever_threads_ask_for_it():
    rng = np.random.default_rng(0)
    p = rng.random(20_000)
    cells = probability_cells(Tally.of(rng.random(20_000) < p, p)).at_most(100)
    steps = (0.5, 2.0)
    alone = [Noise(cells, 300, 0).at(step) for step in steps]
    for _ in range(20):
        noise = Noise(cells, 300, 0)
        assert_array_equal(on_threads(noise.at, steps, enough=1), alone)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_threads_work_after_a_fork():
    on_threads(abs, [-1, 2, -3], enough=1)
    child = os.fork()
    if not child:
        os._exit(0 if on_threads(abs, [-1, 2, -3], enough=1) == [1, 2, 3] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
