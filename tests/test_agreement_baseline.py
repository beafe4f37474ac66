"""Kappa beside the error of guessing and beside its kin, against shuffles and published tables."""

import math

import numpy as np
import pytest
from scipy import stats

from agreement_cases import distance, scales, tables
from scorewise import BadInput, Ratings
from scorewise.agreeing.interpretation import baseline, paradox

# baselines


def test_worked_example():
    b = baseline(Ratings.of_table([[25, 10], [15, 20]]))
    assert round(1 - b.error, 4) == 0.6429
    assert 1 - b.by_margins == pytest.approx(0.5)
    assert round(b.kappa, 4) == 0.2857
    assert b.by_permutation == pytest.approx(0.5, abs=0.01)


def test_cats_and_dogs():
    for cats in (0, 2, 10):  # whatever the cells, the margins decide
        b = baseline(Ratings.of_table([[cats, 10 - cats], [20 - cats, 70 + cats]]))
        assert b.by_margins == pytest.approx(0.26)
        assert b.by_permutation == pytest.approx(0.26, abs=0.01)


@scales
def test_permutation_is_that_of_shuffled_ratings(scale):
    for rows in tables(3, scale=scale, missing=0.0, raters=2):
        apart, rng = distance(rows), np.random.default_rng(8)
        a, b = rows.codes.T
        table = np.array([[apart(i, j) for j in range(b.max() + 1)] for i in range(a.max() + 1)])
        shuffled = np.array([table[a, rng.permutation(b)].mean() for _ in range(4000)])
        found = baseline(Ratings.of_rows(rows), draws=4000)
        error = table[a, b].mean()
        assert found.error == pytest.approx(error)
        assert found.by_margins == pytest.approx(table[a][:, b].mean())
        assert found.by_permutation == pytest.approx(shuffled.mean(), abs=5 * shuffled.std() / 60)
        assert found.spread == pytest.approx(shuffled.std(), rel=0.08)
        as_good = np.mean(shuffled <= error + 1e-12)
        assert found.p == pytest.approx(as_good, abs=5 * math.sqrt(0.25 / 4000))


def test_permutation_of_many_categories_shuffles():
    rng = np.random.default_rng(9)
    a = rng.normal(size=300)
    r = Ratings.of({"a": a, "b": a + rng.normal(size=300)}, scale="interval")
    found = baseline(r, draws=500)
    assert found.by_permutation == pytest.approx(found.by_margins, rel=0.02)
    assert found.p == 1 / 501
    assert baseline(r, draws=500) == found


def test_permutation_p_is_fisher_exact():
    table = [[8, 2], [3, 7]]
    found = baseline(Ratings.of_table(table), draws=20_000)
    exact = stats.fisher_exact(table, alternative="greater").pvalue
    assert found.p == pytest.approx(exact, abs=0.006)


def test_own_weights_and_what_is_not_known():
    table, own = [[8, 2, 1], [3, 7, 2], [0, 4, 9]], [[1, 0.5, 0], [0.5, 1, 0.25], [0, 0.25, 1]]
    b = baseline(Ratings.of_table(table), weights=own, draws=10)
    assert b.error == pytest.approx((np.array(table) * (1 - np.array(own))).sum() / 36)
    weighed = baseline(Ratings.of({"a": [1, 2, 2], "b": [1, 2, 1]}, weight=[0.5, 1, 2]))
    assert weighed.why == "items have weights; random tables need counts"
    assert weighed.kappa == pytest.approx(1 - (2 / 3.5) / weighed.by_margins)
    assert math.isnan(weighed.kappa_permuted)
    constant = baseline(Ratings.of({"a": [1, 1], "b": [1, 1]}))
    assert (constant.error, constant.by_margins) == (0, 0)
    assert math.isnan(constant.kappa)
    for r, why in (
        (Ratings.of({"a": [1, 2], "b": [1, 2], "c": [1, 2]}), "there are 3 raters; this is of two"),
        (Ratings.of({"a": [1, None], "b": [None, 2]}), "no item is rated by both"),
        (Ratings.of_counts({"x": [1], "y": [1]}), "it is not known which rater gave which rating"),
    ):
        assert baseline(r).why == why
    with pytest.raises(BadInput, match=r"draws must be .* got -1"):
        baseline(weighed_ratings(), draws=-1)


def weighed_ratings():
    return Ratings.of({"a": [1, 2, 2], "b": [1, 2, 1]})


def test_large_tables_are_fast_and_exact():
    r = Ratings.of_table(np.array([[400_000, 100_000], [200_000, 300_000]]))
    found = baseline(r, draws=200)
    assert found.by_permutation == pytest.approx(found.by_margins, abs=5e-4)
    # Mantel's variance of a cell: the other cells follow
    n, a, b = 1_000_000, 500_000, 600_000
    sd = 2 * math.sqrt(a * (n - a) * b * (n - b) / (n**2 * (n - 1))) / n
    assert found.spread == pytest.approx(sd, rel=0.2)


# paradoxes

FEINSTEIN = {  # table: agreement, kappa, prevalence, bias
    "balanced": ([[40, 9], [6, 45]], 0.85, 0.70, False, False),
    "prevalence": ([[80, 10], [5, 5]], 0.85, 0.32, True, False),
    "symmetric": ([[45, 15], [25, 15]], 0.60, 0.13, False, False),
    "bias": ([[25, 35], [5, 35]], 0.60, 0.26, False, True),
}


@pytest.mark.parametrize("name", FEINSTEIN)
def test_feinstein_and_cicchetti_1990(name):
    table, agree, kappa, prevalence, bias = FEINSTEIN[name]
    found = paradox(Ratings.of_table(table))
    assert found.estimates["percent_agreement"].value == pytest.approx(agree)
    assert round(found.estimates["cohen_kappa"].value, 2) == kappa
    assert (found.prevalence, found.bias) == (prevalence, bias)
    assert len(found.sentences) == prevalence + bias


def test_the_panel_has_the_indices():
    found = paradox(Ratings.of_table([[80, 10], [5, 5]]))
    assert found.estimates["prevalence_index"].value == pytest.approx(0.75)
    assert found.estimates["bias_index"].value == pytest.approx(0.05)
    assert found.shift == pytest.approx(0.05)
    assert found.estimates["brennan_prediger"].value == pytest.approx(0.7)  # 2 po - 1
    assert found.estimates["kappa_max"].value == pytest.approx((0.95 - 0.78) / 0.22)
    assert (found.commonest, found.share) == ("0", pytest.approx(0.875))
    assert '87.5% of all ratings are "0"' in found.sentences[0]


def test_many_raters_and_constant_ratings():
    rng = np.random.default_rng(10)
    x = (rng.random((4, 200)) < 0.03).astype(int)
    found = paradox(Ratings.of(dict(zip("abcd", x, strict=True))))
    assert found.prevalence
    assert found.shift is None
    assert set(found.estimates) == {
        "percent_agreement", "fleiss_kappa", "gwet_ac", "brennan_prediger",
    }  # fmt: skip
    constant = paradox(Ratings.of({"a": [1, 1], "b": [1, 1]}))
    assert constant.sentences == []
    assert constant.estimates["cohen_kappa"].why
    nobody = paradox(Ratings.of({"a": [None], "b": [None]}))
    assert nobody.commonest is None
    assert nobody.sentences == []
