"""One kappa: of two classes, of several, and of two raters the same value and the same interval."""

import numpy as np
import pytest

import scorewise as sw
from scorewise import ClassTally, Confusion, Ratings, Tally
from scorewise import measures as m
from scorewise.curves import thresholds
from scorewise.statistics import formulas
from scorewise.statistics.formulas import kappa_slope
from scorewise.statistics.formulas import table_kappa as kappa

TABLES = [
    (25, 10, 15, 20),
    (0, 5, 30, 965),
    (150, 1, 1, 148),
    (3, 1, 40, 200),
    (7, 8, 9, 10),
    (5, 0, 0, 9),
]


def same(a, b):
    for name in ("value", "low", "high", "caution"):
        x, y = getattr(a, name), getattr(b, name)
        assert x == (y if isinstance(y, str) else pytest.approx(y, rel=1e-12, abs=1e-12)), name


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_two_classes_are_two_raters(table):
    tp, fp, fn, tn = table
    found = m.kappa(Confusion.counts(tp=tp, fp=fp, fn=fn, tn=tn))
    same(found, m.cohen_kappa(Ratings.of_table([[tn, fp], [fn, tp]])))
    labels, called = np.repeat([1, 0, 1, 0], table), np.repeat([1, 1, 0, 0], table)
    same(found, sw.agree({"labels": labels, "decisions": called}).cohen_kappa)


@pytest.mark.parametrize("weighted", [False, True])
def test_several_classes_are_two_raters(weighted):
    rng = np.random.default_rng(0)
    y, p = rng.integers(0, 3, 80), rng.dirichlet(np.ones(3), 80)
    weight = rng.lognormal(size=80) if weighted else None
    found = m.kappa(ClassTally.of(y, p, weight=weight))
    same(found, sw.agree({"labels": y, "decisions": p.argmax(1)}, weight=weight).cohen_kappa)


def test_weighted_rows_of_two_classes_are_two_raters():
    rng = np.random.default_rng(1)
    y, s, w = rng.random(90) < 0.3, rng.random(90), rng.lognormal(size=90)
    found = m.kappa(Tally.of(y, s, weight=w).confusion(0.6))
    same(found, sw.agree({"labels": y, "decisions": s >= 0.6}, weight=w).cohen_kappa)


def test_decisions_without_a_true_positive_are_not_worse_than_chance():
    e = m.kappa(Confusion.counts(tp=0, fp=5, fn=30, tn=965))
    assert e.low < -0.02
    assert e.high > 0.02


def test_kappa_of_decisions_by_chance_holds():
    rng, inside = np.random.default_rng(2), 0
    for _ in range(400):
        y, called = rng.random(1000) < 0.03, rng.random(1000) < 0.0125
        table = [(y & called).sum(), (~y & called).sum(), (y & ~called).sum(), (~y & ~called).sum()]
        e = m.kappa(Confusion.counts(**dict(zip(("tp", "fp", "fn", "tn"), table, strict=True))))
        inside += e.low <= 0 <= e.high
    assert inside >= 0.9 * 400


def test_one_formula_takes_replicates_weights_and_two_by_two():
    rng = np.random.default_rng(3)
    tables = rng.integers(1, 30, (4, 5, 3, 3)) * 1.0
    apart = np.abs(np.subtract.outer(np.arange(3), np.arange(3))) / 2
    each = np.array([[kappa(x, apart) for x in row] for row in tables])
    np.testing.assert_allclose(kappa(tables, apart), each, rtol=1e-12)
    found = m.cohen_kappa(Ratings.of_table(tables[0, 0], scale="ordinal"), weights="linear").value
    assert each[0, 0] == pytest.approx(found, rel=1e-12)
    t = Tally.of(rng.random(50) < 0.4, rng.random(50))
    table = thresholds(t)
    cells = [x.astype(float) for x in (table.tp, table.fp, table.fn, table.tn)]
    by_row = [kappa(np.array([[tn, fp], [fn, tp]])) for tp, fp, fn, tn in zip(*cells, strict=True)]
    np.testing.assert_allclose(formulas.DECISIONS["kappa"](*cells), by_row, rtol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_the_slope_is_the_derivative(k):
    rng = np.random.default_rng(k)
    table, apart = rng.integers(1, 20, (k, k)) * 1.0, rng.random((k, k))
    step = 1e-6
    moved = np.zeros((k, k))
    for i, j in np.ndindex(k, k):
        more, less = table.copy(), table.copy()
        more[i, j] += step
        less[i, j] -= step
        moved[i, j] = (kappa(more, apart) - kappa(less, apart)) / (2 * step)
    np.testing.assert_allclose(kappa_slope(table, apart), moved, atol=1e-8)
