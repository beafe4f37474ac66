"""Weights of items that are a hundred powers of ten apart: a value or a reason, never a crash."""

import math
import warnings

import numpy as np
import pytest

import scorewise as sw
import scorewise.measures
from scorewise import Ratings
from scorewise.registry import RATER_MEASURES

assert scorewise.measures  # which fill the register
SEEDS = range(12)


def items(seed):
    """Few items of up to three raters and categories, some not rated, with weights far apart."""
    rng = np.random.default_rng(seed)
    n, raters, many = int(rng.integers(2, 12)), 2 + seed % 2, 2 + seed // 2 % 2
    x = rng.integers(0, many, (n, raters)).astype(float)
    x[rng.random(x.shape) < 0.2 * (seed % 3 == 0)] = np.nan
    spread = rng.uniform(-120, 120, n) if seed % 2 else rng.choice([-120, -80, 0, 80, 120], n)
    return {f"r{k}": x[:, k] for k in range(raters)}, list(range(many)), 10.0**spread


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval", "ratio"])
def test_every_measure_of_raters(seed, scale):
    columns, categories, weight = items(seed)
    r = Ratings.of(columns, scale=scale, categories=categories, weight=weight)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for measure in RATER_MEASURES.values():
            for way in ("formula", "published", "bootstrap"):
                e = measure.under({"interval": way, "replicates": 40}, r)
                assert bool(e.why) == (not e.defined), measure.name
                assert math.isnan(e.low) or e.low <= e.value <= e.high, (measure.name, e)


@pytest.mark.parametrize("seed", SEEDS)
def test_documents(seed):
    columns, categories, weight = items(seed)
    judges = {"x": columns["r0"][::-1], "y": np.roll(columns["r1"], 1)}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert "Agreement" in str(sw.agree(columns, categories=categories, weight=weight))
        for scale in ("nominal", "interval"):
            for people in (columns, columns["r0"]):
                found = sw.judge(people, judges, scale=scale, weight=weight, replicates=100)
                assert "Against the truth" in str(found)


def test_one_item_that_outweighs_the_others():
    columns = {"a": [0, 1, 0, 1, 0], "b": [0, 1, 1, 1, 0]}
    weight = [1e80, 1.0, 1e-80, 1.0, 1.0]
    a = sw.agree(columns, weight=weight)
    assert a.cohen_kappa.why == "one item"
    j = sw.judge(columns["a"], {"x": columns["b"], "y": columns["a"]}, weight=weight)
    assert j.judges["x"].kappa.why == j.differences[0].kappa.why == "one item"
    assert j.judges["x"].accuracy.value == pytest.approx(1)
