"""What a grid leaves open: the bounds contain the exact value, in random and in hostile cases."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, roc_auc_score

from scorewise import measures as m
from scorewise.tallies import Tally
from scorewise.tallies.coarse import probability_edges

MEASURES = ("auroc", "average_precision", "ks", "smauc", "ece")
TINY = 5e-324


def rare(rng, rows):
    y = rng.random(rows) < rng.choice([0.5, 3, 20]) / rows
    return y, rng.beta(0.5, 30, rows), "probability"


def overconfident(rng, rows):
    y = rng.random(rows) < 0.3
    return y, 1 / (1 + np.exp(-8 * (rng.normal(size=rows) + y - 0.5))), "probability"


def one_cell(rng, rows):
    edges = probability_edges()
    k = rng.integers(2, len(edges) - 2)
    inside = edges[k] + (edges[k + 1] - edges[k]) * rng.random(rows)
    return rng.random(rows) < 0.4, np.minimum(inside, np.nextafter(edges[k + 1], 0)), "probability"


def on_edges(rng, rows):
    near = rng.choice(probability_edges(), rows)
    way = rng.integers(-1, 2, rows)
    moved = np.where(way < 0, np.nextafter(near, 0), np.where(way > 0, np.nextafter(near, 1), near))
    return rng.random(rows) < 0.5, moved, "probability"


def denormal(rng, rows):
    return rng.random(rows) < 0.5, rng.integers(0, 50, rows) * TINY, "probability"


def huge_logits(rng, rows):
    y = rng.random(rows) < 0.4
    scale = 10.0 ** rng.integers(-300, 300)
    return y, (rng.normal(size=rows) + y) * scale, "logit"


def any_scores(rng, rows):
    y = rng.random(rows) < 0.4
    return y, rng.standard_cauchy(rows) * 10.0 ** rng.integers(-3, 4) + y, "score"


def tied(rng, rows):
    y = rng.random(rows) < 0.3
    return y, np.round(rng.random(rows) * 0.6 + 0.3 * y, rng.integers(1, 7)), "probability"


CASES = (rare, overconfident, one_cell, on_edges, denormal, huge_logits, any_scores, tied)


@pytest.mark.parametrize("case", CASES, ids=lambda f: f.__name__)
def test_bounds_contain_the_exact_value(case):
    """500 cases in all, in each of three ways of being merged from shards."""
    compared = dict.fromkeys(MEASURES, 0)
    for seed in range(-(-500 // len(CASES))):
        rng = np.random.default_rng([seed, CASES.index(case)])
        rows = int(rng.choice([4, 30, 400, 3000]))
        y, s, kind = case(rng, rows)
        weight = rng.exponential(size=rows) if seed % 3 == 2 else None
        t = Tally.of(
            y, s, positive=1 if y.any() and not y.all() else None, kind=kind, weight=weight
        )
        cut = rows // 3
        parts = [
            Tally.of(
                y[at], s[at], kind=kind, weight=None if weight is None else weight[at]
            ).coarsen()
            for at in (slice(cut), slice(cut, None))
        ]
        coarse = parts[0] + parts[1]
        for name in MEASURES:
            measure = getattr(m, name)
            exact, near = measure(t), measure(coarse)
            if not (exact.defined and near.defined):
                continue
            compared[name] += 1
            assert abs(near.value - exact.value) <= near.bound + 1e-12, (name, seed)
            assert near.bound >= 0
        if y.any() and not y.all():
            area = m.auroc(coarse)
            assert abs(area.value - roc_auc_score(y, s, sample_weight=weight)) <= area.bound + 1e-9
            ap = m.average_precision(coarse)
            outside = average_precision_score(y, s, sample_weight=weight)
            assert abs(ap.value - outside) <= ap.bound + 1e-9
    assert compared["auroc"] > 30
    if case not in (any_scores,):
        assert compared["ece"] > 30


def test_a_bound_that_is_too_narrow_is_seen():
    y, s, _ = one_cell(np.random.default_rng(1), 400)
    exact, near = m.auroc(Tally.of(y, s)), m.auroc(Tally.of(y, s).coarsen())
    assert near.bound > 0.4
    assert abs(exact.value - near.value) > 1e-6
