"""One formula for the value, its replicates and very many cells."""

import numpy as np
import pytest
from scipy.stats import ks_2samp
from sklearn.metrics import roc_auc_score

from scorewise.statistics import formulas
from scorewise.statistics.smroc import climbs


def drawn(cells, *replicates, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (2, *replicates, cells)) + (np.arange(cells) == 0)


@pytest.mark.parametrize("formula", [formulas.auroc, formulas.ks], ids=lambda f: f.__name__)
def test_replicates_and_blocks_change_no_value(formula):
    neg, pos = drawn(5000, 3, 2)
    found = formula(neg, pos)
    assert found.shape == (3, 2)
    for at in np.ndindex(3, 2):
        assert formula(neg[at], pos[at]) == pytest.approx(found[at], rel=1e-14)
        assert formula(neg[at] * 0.1, pos[at] * 0.3) == pytest.approx(found[at], rel=1e-12)
    long = drawn(100_000)
    scores = np.repeat(np.tile(np.arange(100_000), 2), np.concatenate(long))
    labels = np.repeat([0, 1], long.sum(1))
    outside = {
        formulas.auroc: lambda: roc_auc_score(labels, scores),
        formulas.ks: lambda: ks_2samp(scores[labels == 0], scores[labels == 1]).statistic,
    }
    assert formula(*long) == pytest.approx(outside[formula](), rel=1e-12)


def test_pairs_beyond_integers_are_counted_in_floats():
    neg, pos = np.array([2**40, 0, 2**40]), np.array([0, 2**41, 0])
    assert formulas.auroc(neg, pos) == 0.5


def test_without_a_class_there_is_no_value():
    none, some = np.zeros((2, 3)), np.ones((2, 3))
    assert np.isnan(formulas.auroc(none, some)).all()
    assert np.isnan(formulas.ks(some, none)).all()
    assert np.isnan(formulas.median(np.arange(3.0), none)).all()


def test_medians_of_replicates():
    rng = np.random.default_rng(1)
    score, weight = np.sort(rng.random(9)), rng.integers(0, 4, (20, 9))
    found = formulas.median(score, weight)
    each = [np.median(np.repeat(score, w)) for w in weight]
    np.testing.assert_allclose(found, each, rtol=1e-14)


def test_each_replicate_climbs_with_its_own_midpoint():
    (neg, pos), s = drawn(9, 4), np.linspace(0, 1, 9)
    middles = np.array([0.2, 0.5, 0.55, 0.9])
    found = climbs(s, neg, pos, middles)
    for k, m in enumerate(middles):
        np.testing.assert_array_equal([part[k] for part in found], climbs(s, neg[k], pos[k], m))
