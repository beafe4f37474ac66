"""Patterns of networks and their kernel, against plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_iris

from network_cases import one_thread, quietly, small  # noqa: F401
from scorewise.models.kernel_density import stratified_folds
from scorewise.models.network_kernel import Patterns, ReferenceRows, largest, similarities
from scorewise.models.relu_networks import ReluNetwork


def looped(network, x):
    """Whether each hidden unit is on, one unit at a time."""
    values, on = list(x), []
    for w, b in zip(network.coefs_[:-1], network.intercepts_[:-1], strict=True):
        sums = [sum(v * w[i, j] for i, v in enumerate(values)) + b[j] for j in range(len(b))]
        on.append([s > 0 for s in sums])
        values = [max(s, 0.0) for s in sums]
    return on


def similarity(rows, others):
    """That of all rows to all others, as one array."""
    return np.concatenate([block.copy() for _, block in similarities(rows, others)])


def test_patterns_equal_a_plain_forward_pass():
    X, y = load_iris(return_X_y=True)
    network = quietly(small((7, 70)), X, y)
    seen = ReluNetwork(network).propagate(X[:20])
    for row in range(20):
        on = looped(network, X[row])
        for words, want in zip(seen.patterns.layers, on, strict=True):
            bits = np.unpackbits(words[row : row + 1].view(np.uint8))[: len(want)]
            assert bits.astype(bool).tolist() == want
    np.testing.assert_allclose(np.exp(seen.log_posterior), network.predict_proba(X[:20]))
    assert (seen.points == X[:20]).all()


@given(st.integers(1, 300), st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=40)
def test_hamming_equals_a_loop(width, rows, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.random((rows, width)) < 0.5, rng.random((4, width)) < 0.3
    found = (1 - similarity(Patterns.of([a]), Patterns.of([b]))) * (width + 0.5)
    want = [[sum(u != v for u, v in zip(x, z, strict=True)) for z in b] for x in a]
    np.testing.assert_allclose(found, want, atol=1e-3)


def test_likeness_is_the_product_over_layers():
    rng = np.random.default_rng(0)
    one, two = rng.random((5, 9)) < 0.5, rng.random((5, 300)) < 0.5
    p = Patterns.of([one, two])
    found = similarity(p, p)
    for i in range(5):
        for j in range(5):
            want = 1 - np.sum(one[i] != one[j]) / 9.5
            want *= 1 - np.sum(two[i] != two[j]) / 300.5
            assert found[i, j] == pytest.approx(want, rel=1e-5)


def test_rows_with_nothing_in_common_are_a_little_alike():
    p = Patterns.of([np.array([[True] * 4, [False] * 4])])
    assert similarity(p, p)[0, 1] == pytest.approx(1 / 9)


@pytest.mark.parametrize("cells", [1, 7, 35, 10_000])
def test_blocks_of_any_size_give_the_same(monkeypatch, cells):
    rng = np.random.default_rng(0)
    a, b = (Patterns.of([rng.random((n, 20)) < 0.5, rng.random((n, 70)) < 0.5]) for n in (11, 7))
    monkeypatch.setattr("scorewise.models.network_kernel.MAX_PAIRS", cells)
    parts = [(rows, part.copy()) for rows, part in similarities(a, b)]
    assert [row for rows, _ in parts for row in range(11)[rows]] == list(range(11))
    assert (np.concatenate([part for _, part in parts]) == similarity(a, b)).all()
    assert max(part.size for _, part in parts) <= max(cells, 7)


@given(st.lists(st.integers(0, 4), min_size=4, max_size=30), st.integers(1, 4))
def test_the_largest_are_those_of_a_sort(values, count):
    given_ = np.array([values], np.float32)
    before = given_.copy()
    places, found = largest(given_, count)
    assert found[0].tolist() == sorted(values, reverse=True)[:count]
    assert given_[0, places[0]].tolist() == found[0].tolist()
    assert len(set(places[0].tolist())) == count
    assert (given_ == before).all()


def alike(network, X):
    """Likeness of all pairs of rows, one pair and one layer at a time."""
    on = [looped(network, x) for x in X]
    return np.array(
        [
            [
                np.prod(
                    [
                        1 - np.sum(np.array(u) != v) / (len(u) + 0.5)
                        for u, v in zip(a, b, strict=True)
                    ]
                )
                for b in on
            ]
            for a in on
        ]
    )


@pytest.mark.parametrize("left_out", [False, True])
def test_kernel_sums_equal_a_loop(left_out):
    X, y = load_iris(return_X_y=True)
    network = quietly(small(), X, y)
    X, y = X[::4], y[::4]
    patterns = ReluNetwork(network).propagate(X).patterns
    weight = np.random.default_rng(0).random(len(y)) + 0.5
    w = alike(network, X)
    if left_out:
        np.fill_diagonal(w, 0)
    known = ReferenceRows.of(patterns, y, weight, 4)
    own = np.arange(len(y)) if left_out else None
    found = known.neighbours(patterns, (2.0, 8.0, 512.0), 3, own)
    for place, exponent in enumerate((2, 8, 512)):
        powered = (w / w.max(axis=1, keepdims=True)) ** exponent * weight
        want = [powered[:, y == c].sum(axis=1) for c in range(4)]
        np.testing.assert_allclose(found.sums[place], np.transpose(want), rtol=1e-3, atol=1e-30)
    np.testing.assert_allclose(found.similarity, -np.sort(-w, axis=1)[:, :3], rtol=1e-5)
    np.testing.assert_allclose(
        np.take_along_axis(w, found.places, axis=1), found.similarity, rtol=1e-5
    )


@given(st.lists(st.integers(0, 3), min_size=1, max_size=40), st.integers(2, 6))
def test_folds_hold_rows_out_once_and_leave_some_of_each_class(codes, folds):
    codes = np.array(codes)
    seen = []
    for inside, held in stratified_folds(codes, folds, np.random.default_rng(0)):
        assert sorted([*inside, *held]) == list(range(len(codes)))
        assert set(codes[inside]) == set(codes)
        assert len(held) <= -(-len(codes) // folds)
        seen += held.tolist()
    assert len(seen) == len(set(seen)) == sum(n for n in np.bincount(codes) if n > 1)
