"""Agreement of many raters, of many workers who rate few items each, and in many categories."""

import json
import time
import tracemalloc

import numpy as np
import pytest

import scorewise as sw
from scorewise import Ratings
from scorewise.columns import rating_codes
from scorewise.inference import rater_pairs
from scorewise.tallies.rating_patterns import sequence_ranks


def crowd(workers, items, each=3, gold=0, seed=0, categories=3):
    """Each item is rated by some workers, the first ones (`gold`) by all."""
    rng = np.random.default_rng(seed)
    who = [
        rng.choice(workers, workers if i < gold else int(rng.integers(1, each + 1)), replace=False)
        for i in range(items)
    ]
    item = np.repeat(np.arange(items), [len(w) for w in who])
    truth = rng.integers(0, categories, items)[item]
    said = np.where(rng.random(len(item)) < 0.7, truth, rng.integers(0, categories, len(item)))
    mixed = rng.permutation(len(item))
    return {
        "item": item[mixed],
        "rater": np.char.add("w", np.concatenate(who).astype(str))[mixed],
        "rating": said[mixed].astype(float),
    }


def of_long(columns, **options):
    return sw.agree(columns, item="item", rater="rater", rating="rating", **options)


def peak(make):
    """The most memory in use at a time, in MB; what is imported first does not count."""
    str(sw.agree({"a": [1, 2, 1], "b": [1, 2, 2]}))
    tracemalloc.start()
    try:
        make()
        return tracemalloc.get_traced_memory()[1] / 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("workers", "items", "gold"), [(800, 4000, 0), (800, 4000, 4), (5000, 5000, 0)]
)
def test_memory_grows_with_the_ratings_not_with_items_times_workers(workers, items, gold):
    columns = crowd(workers, items, gold=gold)

    def look():
        a = of_long(columns)
        return a.fleiss_kappa, a.conger_kappa, a.light_kappa, a.disputed, a.pairs

    assert peak(look) < 60


def test_memory_does_not_grow_with_the_square_of_categories():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2000, 4000)
    two = {k: np.where(rng.random(4000) < 0.7, truth, rng.integers(0, 2000, 4000)) for k in "ab"}
    assert peak(lambda: str(sw.agree(two))) < 25


def test_many_raters_of_few_items_are_compared_in_no_time():
    rng = np.random.default_rng(0)
    a = sw.agree({f"r{k}": rng.integers(0, 3, 20) for k in range(400)})
    start = time.process_time()
    assert a.pairs.number == 400 * 399 // 2
    assert len(a.raters) == 400
    assert time.process_time() - start < 4


@pytest.mark.parametrize("scale", ["nominal", "ordinal", "interval"])
@pytest.mark.parametrize("gold", [0, 2])
@pytest.mark.parametrize("known", [True, False])
def test_ratings_one_by_one_are_those_of_the_table(monkeypatch, scale, gold, known):
    columns = crowd(30, 80, each=4, gold=gold)
    if not known:
        del columns["rater"]
    made = []
    for full in (0, 10**9):
        monkeypatch.setattr(rating_codes, "FULL", full)
        rater = "rater" if known else None
        a = sw.agree(columns, item="item", rater=rater, rating="rating", scale=scale)
        assert isinstance(a.rows.given, rating_codes.RatingList) == (full == 0)
        made.append(a)
    listed, table = made
    assert listed.ratings == table.ratings
    assert listed.ratings.codes.tolist() == table.ratings.codes.tolist()
    assert (listed.ratings + listed.ratings) == (table.ratings + table.ratings)
    assert json.loads(listed.to_json()) == json.loads(table.to_json())
    if known:
        assert listed.ratings.only(["w1", "w2"]) == table.ratings.only(["w1", "w2"])
        assert listed.ratings.pair(0, 1).weight.tolist() == table.ratings.pair(0, 1).weight.tolist()


def test_bootstrap_draws_the_same_of_ratings_one_by_one(monkeypatch):
    columns = crowd(12, 40, each=5, gold=1)
    ends = []
    for full in (0, 10**9):
        monkeypatch.setattr(rating_codes, "FULL", full)
        a = of_long(columns, interval="bootstrap")
        ends.append([(a[n].low, a[n].high) for n in ("fleiss_kappa", "conger_kappa", "gwet_ac")])
    assert ends[0] == ends[1]


@pytest.mark.parametrize("categories", [2, 40])
def test_kappa_of_each_two_raters_is_that_of_the_two_alone(categories):
    """Whether equal pairs of ratings are summed up first or not, and in blocks."""
    rng = np.random.default_rng(3)
    x = rng.integers(0, categories, (400, 7)).astype(float)
    x[rng.random(x.shape) < 0.2] = np.nan
    r = Ratings.of({f"r{k}": x[:, k] for k in range(7)}, weight=rng.random(400))
    kappas = [sw.measures.cohen_kappa(r.only([j, k])).value for k in range(7) for j in range(k)]
    assert sw.measures.light_kappa(r).value == pytest.approx(np.mean(kappas), abs=1e-12)


@pytest.mark.parametrize("block", [1, 100])
def test_blocks_of_raters_change_nothing(monkeypatch, block):
    columns = crowd(12, 60, each=9)
    whole = of_long(columns)
    expected = whole.light_kappa, [(p.first, p.second) for p in whole.pairs.rows]
    monkeypatch.setattr(rater_pairs, "_BLOCK", block)
    monkeypatch.setattr(rater_pairs, "_CELLS", block)
    parts = of_long(columns)
    assert [(p.first, p.second) for p in parts.pairs.rows] == expected[1]
    assert parts.light_kappa.why == expected[0].why
    assert parts.light_kappa.value == pytest.approx(expected[0].value, abs=1e-12, nan_ok=True)


def test_too_many_pairs_of_ratings_are_told(monkeypatch):
    monkeypatch.setattr(rater_pairs, "MAX_PAIRS", 5)
    a = sw.agree({k: [1, 2, 1] for k in "abc"})
    why = "6 pairs of ratings of an item are too many to compare; 5 are taken"
    assert a.light_kappa.why == a.pairs.why == why
    page = " ".join(str(a).split())
    assert f"Light's kappa, Each two raters: {why}" in page
    assert a.fleiss_kappa.value == 1


def test_sequences_are_ranked_as_python_sorts_them():
    rng = np.random.default_rng(0)
    words = [rng.integers(0, 3, rng.integers(0, 5)).tolist() for _ in range(200)]
    length = np.array([len(w) for w in words])
    found = sequence_ranks(np.concatenate(words).astype(int), length.cumsum() - length, length)
    assert found.tolist() == [sorted(words).index(w) for w in words]


def test_margins_of_many_categories_equal_those_of_the_full_table():
    """The sparse solution, against the formula spelled out."""
    rng = np.random.default_rng(1)
    many, items = 600, 900
    a = rng.integers(0, many, items)
    b = np.where(rng.random(items) < 0.3, a, rng.integers(0, many, items))
    r = Ratings.of({"a": a, "b": b})
    table = r.pair(0, 1).weight.astype(float)
    spread = -(table + table.T)
    np.fill_diagonal(spread, 0)
    np.fill_diagonal(spread, -spread.sum(1))
    gap = table.sum(1) - table.sum(0)
    value = gap @ np.linalg.pinv(spread) @ gap
    assert sw.measures.stuart_maxwell(r).value == pytest.approx(value, rel=1e-9)
    upper = np.triu_indices(len(table), 1)
    both, apart = (table + table.T)[upper], (table - table.T)[upper]
    assert sw.measures.bowker(r).value == pytest.approx(
        (apart[both > 0] ** 2 / both[both > 0]).sum()
    )
    assert sw.measures.bowker(r).expected == (both > 0).sum()
