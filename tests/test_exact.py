"""Exact sums against fractions and math.fsum, and tallies that are equal bit for bit in any order."""

import math
from fractions import Fraction

import numpy as np
import polars as pl
import pytest

import scorewise as sw
from scorewise import BadInput, Tally
from scorewise.tallies import TallySet, exact

KINDS = {
    "uniform": lambda g, n: g.random(n),
    "far apart": lambda g, n: np.ldexp(g.standard_normal(n), g.integers(-300, 300, n)),
    "whole": lambda g, n: g.integers(0, 5, n).astype(float),
    "denormal": lambda g, n: np.ldexp(g.random(n), g.integers(-1074, -1000, n)),
    "powers": lambda g, n: np.ldexp(g.choice([1.0, -1.0], n), -g.integers(0, 120, n)),
    "ties": lambda g, n: g.choice([1.0, 2.0**-53, -(2.0**-53), 2.0**-54, 2.0**-106, 2.0**-200], n),
}


def total(sums, k):
    terms = (sums.value[k], *sums.rest[:, k])
    return sum((Fraction(float(t)) for t in terms), Fraction())


@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_runs_are_exact_and_have_one_form(kind):
    g = np.random.default_rng(1)
    for _ in range(40):
        n = int(g.integers(1, 60))
        values = KINDS[kind](g, n)
        start = np.unique(np.append(0, g.integers(0, n, 4)))
        sums = exact.sum_runs(values, start)
        for k, (a, b) in enumerate(zip(start, [*start[1:], n], strict=True)):
            wanted = sum(map(Fraction, values[a:b].tolist()), Fraction())
            assert total(sums, k) == wanted
            assert sums.value[k] == math.fsum(values[a:b])
            for term in (sums.value[k], *sums.rest[:, k]):  # each is the rest so far, rounded
                assert float(wanted) == term
                wanted -= Fraction(float(term))


@pytest.mark.parametrize("kind", KINDS)
def test_sums_of_parts_are_the_sum_of_all(kind):
    g = np.random.default_rng(2)
    here = np.array([0])
    for _ in range(40):
        values = KINDS[kind](g, 50)
        cuts = np.sort(g.integers(1, 50, 3))
        whole = exact.sum_runs(values, here)
        parts = [exact.sum_runs(v, here) for v in np.split(values, cuts) if len(v)]
        g.shuffle(parts)
        at_once = exact.add(1, [(x, here) for x in parts])
        one_by_one = parts[0]
        for x in parts[1:]:
            one_by_one = exact.add(1, [(one_by_one, here), (x, here)])
        for found in (at_once, one_by_one):
            assert found.value == whole.value
            assert np.array_equal(found.rest, whole.rest)


def test_digits_that_an_engine_sums_give_the_same():
    g = np.random.default_rng(3)
    w = np.exp(g.normal(0, 3, 20_000))
    start = np.arange(0, 20_000, 40)
    for values in (w, w * w):
        digits, left = [], values
        for _ in range(4):
            digits.append(np.floor(left))
            left = (left - digits[-1]) * 2.0**exact.BITS
        sums = np.add.reduceat(digits, start, axis=1)
        found, wanted = exact.from_digits(sums, 1), exact.sum_runs(values, start)
        assert np.array_equal(found.value, wanted.value)
        assert np.array_equal(found.rest, wanted.rest)


def test_counted_sums_are_those_of_the_rows():
    g = np.random.default_rng(4)
    p, many = g.random(300) ** 9, g.integers(0, 4, 300)
    start = np.arange(0, 300, 30)
    found = exact.from_digits(*exact.run_digits(p, start, many))
    for k, a in enumerate(start):
        rows = np.repeat(p[a : a + 30], many[a : a + 30])
        assert found.value[k] == math.fsum(rows)


def test_sums_beyond_the_largest_float_are_infinite_and_stay_so():
    here = np.array([0])
    huge = exact.sum_runs(np.array([1e308, 1e308]), here)
    assert huge.value[0] == math.inf
    assert exact.add(1, [(huge, here), (exact.as_exact([1.0]), here)]).value[0] == math.inf


def rows(g, n, ties):
    s = g.random(n) if not ties else np.round(g.random(n), 2)
    return g.random(n) < s, s, np.exp(g.normal(0, 2, n))


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("grid", [None, "probability", "relative"])
def test_weighted_shards_add_up_bit_for_bit_in_any_order(ties, grid):
    g = np.random.default_rng(5)
    y, s, w = rows(g, 3000, ties)

    def made(at):
        t = Tally.of(y[at], s[at], weight=w[at], positive=True)
        return t if grid is None else t.coarsen(grid)

    whole = made(np.arange(3000))
    parts = [made(at) for at in np.array_split(g.permutation(3000), 7)]
    left = sum(parts[1:], parts[0])
    right = parts[-1]
    for part in parts[-2::-1]:
        right = part + right
    assert left == whole
    assert right == whole
    if grid is not None:
        exact_days = sum(
            (
                Tally.of(y[at], s[at], weight=w[at], positive=True)
                for at in (slice(0, 1000), slice(1000, None))
            ),
            Tally.empty(),
        )
        assert exact_days.coarsen(grid) == whole
    k = int(np.argmax(whole.neg))
    inside = (
        s == whole.score[k]
        if whole.coarse is None
        else (s >= whole.coarse.low[0, k]) & (s <= whole.coarse.high[0, k])
    )
    assert whole.neg[k] == math.fsum(w[inside & ~y])
    assert whole.neg2[k] == math.fsum((w * w)[inside & ~y])


def test_one_weight_changed_in_its_last_bit_is_seen():
    g = np.random.default_rng(6)
    y, s, w = rows(g, 400, True)
    a = Tally.of(y, s, weight=w)
    w[7] = np.nextafter(w[7], 9)
    assert a != Tally.of(y, s, weight=w)


def test_sums_of_scores_of_counted_rows_are_exact():
    g = np.random.default_rng(7)
    y, s, _ = rows(g, 5000, False)
    parts = [
        Tally.of(y[at], s[at], positive=True).coarsen() for at in np.array_split(np.arange(5000), 6)
    ]
    whole = Tally.of(y, s).coarsen()
    together = sum(parts, Tally.empty())
    assert together == whole
    assert np.array_equal(together.coarse.sum, whole.coarse.sum)
    cell = np.searchsorted(whole.coarse.low.min(0), s, "right") - 1
    for k in range(0, len(whole.score), 50):
        assert whole.coarse.sum[0, k] == math.fsum(s[(cell == k) & ~y])


@pytest.mark.parametrize("coarse", [False, True])
def test_what_is_exact_is_saved_with_it(tmp_path, coarse):
    g = np.random.default_rng(8)
    y, s, w = rows(g, 3000, True)
    halves = []
    for k, at in enumerate((slice(0, 1500), slice(1500, None))):
        t = Tally.of(y[at], s[at], weight=w[at], positive=True)
        (t.coarsen() if coarse else t).save(tmp_path / f"{k}.tally")
        halves.append(Tally.load(tmp_path / f"{k}.tally"))
    whole = Tally.of(y, s, weight=w)
    assert halves[0] + halves[1] == (whole.coarsen() if coarse else whole)


def test_sets_of_tallies_add_up_and_are_saved(tmp_path):
    g = np.random.default_rng(9)
    y, s, w = rows(g, 2000, True)
    site = g.choice(["north", "south", "west"], 2000)

    def made(at):
        parts = {
            (word,): Tally.of(y[at][here], s[at][here], weight=w[at][here], positive=True)
            for word in np.unique(site[at])
            if (here := site[at] == word).any()
        }
        return TallySet(("site",), parts)

    whole = made(np.arange(2000))
    some = site != "west"
    first, rest = np.flatnonzero(some)[:500], np.delete(np.arange(2000), np.flatnonzero(some)[:500])
    made(first).save(tmp_path / "a.tally")
    made(rest).save(tmp_path / "b.tally")
    together = TallySet.load(tmp_path / "b.tally") + TallySet.load(tmp_path / "a.tally")
    assert together == whole
    assert together.whole == Tally.of(y, s, weight=w)
    with pytest.raises(BadInput, match="one tally is by site and the other by clinic"):
        together + TallySet(("clinic",), {})
    with pytest.raises(BadInput, match=r"not a saved tally; read it with sw\.tally"):
        Tally.load(tmp_path / "a.tally")


def test_groups_of_which_some_have_sums_that_floats_hold_are_stored(tmp_path):
    """Beside others of as many scores, whose sums of weights leave a rest."""
    rows = pl.DataFrame({
        "y": [0, 1, 0, 1] * 3, "p": [0.1, 0.2, 0.3, 0.4] * 3, "g": ["a"] * 4 + ["b"] * 8,
        "w": [1.0] * 4 + [0.1, 0.2, 0.3, 1e-9] + [0.3, 0.1, 0.7, 1e9],
    })  # fmt: skip
    t = sw.tally(rows, label="y", score="p", by="g", weight="w")
    assert t["a",].rest is None
    t.save(tmp_path / "t.tally")
    again = TallySet.load(tmp_path / "t.tally")
    for key in t:
        assert again[key].pos.tolist() == t[key].pos.tolist()
    assert again["a",].rest is None
    assert again["b",].rest.tolist() == t["b",].rest.tolist()
