"""Bands of agreement decided exactly, whatever the floats do."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from rater_cases import rater_case
from scorewise import BadInput, Ratings
from scorewise.agreeing.interpretation import banded, chances, exact
from scorewise.inference.agreement import BANDS, COEFFICIENTS, band, coefficient

EDGES = [Fraction(k, 5) for k in range(5)]
NAMES = list(BANDS)


def kappa(a, b, c, d):
    """Cohen's kappa of a table of two categories, as a fraction."""
    n = a + b + c + d
    by_chance = (a + b) * (a + c) + (c + d) * (b + d)
    rest = n * n - by_chance
    return Fraction(n * (a + d) - by_chance, rest) if rest else None


ON_EDGES = [(t, k) for t in product(range(1, 13), repeat=4) if (k := kappa(*t)) in EDGES]


def test_tables_on_the_edges_are_many():
    assert len(ON_EDGES) > 300
    assert {k for _, k in ON_EDGES} == set(EDGES)
    floats = [
        coefficient(Ratings.of_table(np.reshape(t, (2, 2))), "cohen_kappa").value
        for t, _ in ON_EDGES
    ]
    above = [x > float(k) for x, (_, k) in zip(floats, ON_EDGES, strict=True)]
    assert any(above), "floats alone would have decided all of these rightly"


@pytest.mark.parametrize("factor", [1, 7, 1000, 0.7, 1 / 3, 1e5 / 7])
def test_a_table_on_an_edge_is_in_the_band_below(factor):
    for cells, k in ON_EDGES[:: 1 if factor == 1 else 5]:
        r = Ratings.of_table(np.reshape(cells, (2, 2)) * factor)
        assert banded(r, "cohen_kappa").name == NAMES[EDGES.index(k)], cells


def test_one_item_more_or_less_decides():
    n = 10**6
    for cells, word in (
        ((20 * n, 5 * n, 10 * n, 15 * n), "fair"),
        ((20 * n + 1, 5 * n, 10 * n, 15 * n), "moderate"),
        ((20 * n - 1, 5 * n, 10 * n, 15 * n), "fair"),
        ((20 * n, 5 * n + 1, 10 * n, 15 * n), "fair"),
    ):
        assert banded(Ratings.of_table(np.reshape(cells, (2, 2))), "cohen_kappa").name == word


def test_repeated_broken_weights_on_an_edge():
    cells = np.repeat([(0, 0), (0, 1), (1, 0), (1, 1)], [20, 5, 10, 15], axis=0)
    for weight in (0.1, 0.3, 1 / 7):
        r = Ratings.of({"a": cells[:, 0], "b": cells[:, 1]}, weight=np.full(50, weight))
        assert banded(r, "cohen_kappa").name == "fair"


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize("weights", ["identity", "linear", "quadratic", "ordinal", "ratio", "own"])
def test_exact_equals_float(name, weights):
    raters = 2 if name in ("cohen_kappa", "scott_pi") else 4
    for seed in range(5):
        case = rater_case(seed, 20, raters, 4)
        own = (
            np.ones((4, 4))
            - 0.25 * (1 - np.eye(4))
            - 0.5 * (np.abs(np.subtract.outer(range(4), range(4))) > 1)
        )
        given = own if weights == "own" else weights
        c = coefficient(case.ratings, name, given)
        assert float(exact(case.ratings, name, given)) == pytest.approx(
            c.value, rel=1e-12, abs=1e-13
        )


def test_exact_alpha_of_every_scale_and_of_weights():
    for seed, scale in enumerate(("nominal", "ordinal", "interval", "ratio")):
        case = rater_case(seed, 25, 3, 4, scale=scale)
        weight = np.random.default_rng(seed).uniform(0.1, 2, len(case))
        columns = {str(k): case.x[:, k] for k in range(3)}
        for r in (case.ratings, Ratings.of(columns, scale=scale, weight=weight)):
            c = coefficient(r, "krippendorff_alpha")
            assert float(exact(r, "krippendorff_alpha")) == pytest.approx(c.value, rel=1e-12)


def test_exact_where_there_is_none():
    assert exact(Ratings.of_table([[3, 0], [0, 0]]), "cohen_kappa") is None
    assert exact(rater_case(1, 20, 3, 3).ratings, "fleiss_kappa", "radical") is None
    assert exact(rater_case(1, 20, 3, 3).ratings, "cohen_kappa") is None
    assert banded(rater_case(1, 20, 3, 3).ratings, "cohen_kappa") is None
    assert banded(rater_case(1, 20, 3, 3).ratings, "fleiss_kappa", "radical").name in BANDS


def test_fleiss_on_an_edge():
    """Two raters with equal margins: all chance-corrected values are those of kappa."""
    for cells, k in ON_EDGES:
        if cells[1] != cells[2]:
            continue
        r = Ratings.of_table(np.reshape(cells, (2, 2)))
        for name in ("fleiss_kappa", "conger_kappa", "scott_pi", "light_kappa"):
            assert exact(r, name) == k
            assert banded(r, name).name == NAMES[EDGES.index(k)]


def test_words():
    for edge, word in zip((*EDGES, Fraction(1)), NAMES, strict=True):
        assert band(edge) == band(float(edge)) == word
    for edge, word in zip(EDGES, NAMES[1:], strict=True):
        assert band(edge + Fraction(1, 10**30)) == word
        assert band(math.nextafter(float(edge), 1)) == word
    assert band(-0.3) == band(Fraction(-1)) == "none"
    for wrong in (1.5, math.nan):
        with pytest.raises(BadInput):
            band(wrong)


# probabilities of bands


@pytest.mark.parametrize(("value", "se"), [(0.67, 0.15), (0.4, 0.127), (0.95, 0.04), (0.05, 0.2)])
def test_chances_against_irrcac(value, se):
    benchmark = pytest.importorskip("irrCAC.benchmark")
    theirs = benchmark.Benchmark(coeff=value, se=se).landis_koch()
    ours = chances(value, se, math.inf)
    total = 0.0
    for (low, high), wanted in zip(theirs["scale"], theirs["CumProb"], strict=True):
        total += sum(
            p for p, e in zip(ours.values(), BANDS.values(), strict=True) if low < float(e) <= high
        )
        assert total == pytest.approx(wanted, abs=2e-5)


def test_chances_add_up_and_follow_the_sample():
    for factor in (1, 4, 100):
        found = banded(Ratings.of_table(np.array([[40, 4], [6, 30]]) * factor), "cohen_kappa")
        assert sum(found.chances.values()) == pytest.approx(1)
        assert list(found.chances) == NAMES
    assert found.name == "substantial"
    assert found.chances["substantial"] > 0.99


def test_chances_of_full_agreement_are_not_certain():
    few, many = (banded(Ratings.of_table(np.diag([n, n])), "cohen_kappa") for n in (3, 300))
    assert few.name == many.name == "almost perfect"
    assert 0.5 < few.chances["almost perfect"] < 0.9
    assert many.chances["almost perfect"] > 0.99
    assert sum(few.chances.values()) == pytest.approx(1)
