"""What the verdict on drift claims."""

import numpy as np

import scorewise as sw


def test_what_would_go_unseen_is_larger_than_all_that_was_not_seen():
    """Some are beyond chance, but not beyond chance among thirteen tests."""
    rng = np.random.default_rng(5)

    def sample(prevalence):
        y = rng.random(500) < prevalence
        return y, 1 / (1 + np.exp(-(rng.normal(size=500) + 1.5 * y - 2.5)))

    unseen = 0
    for _ in range(12):
        d = sw.drift(sample(0.12), sample(0.175))
        c = d["prevalence"]
        assert c.by_chance <= c.needed
        if d.kind == "none seen":
            unseen += 1
            assert abs(c.value) <= c.needed + 1e-9
            assert f"share of positives {c.needed:.3f}" in d.verdict
    assert unseen
