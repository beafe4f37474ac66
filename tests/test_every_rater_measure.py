"""What holds for every registered measure of raters, whatever the ratings."""

import math
import operator
from dataclasses import replace
from functools import reduce

import numpy as np
import pytest
from hypothesis import strategies as st

import scorewise.measures
from laws import check_defined_or_explained, check_nested, counts, law_of, orders
from rater_cases import RaterCase, rater_case, rater_cases, rater_shards
from rater_oracles import RATER_ORACLES
from rater_part_oracles import OF_NUMBERS
from scorewise import Estimate
from scorewise.registry import RATER_MEASURES

assert scorewise.measures
NEAR = 1e-7
every_measure = pytest.mark.parametrize("m", RATER_MEASURES.values(), ids=RATER_MEASURES)
every_law = law_of(RATER_MEASURES)


def assert_same(a: Estimate, b: Estimate, rel: float = NEAR) -> None:
    """Value, interval, method and reason agree; to rounding unless told."""
    assert (a.method, a.level, a.why) == (b.method, b.level, b.why)
    numbers = [(x.value, x.low, x.high, x.p or 0.0) for x in (a, b)]
    np.testing.assert_allclose(*numbers, rtol=rel, atol=rel)


# against others


def test_every_measure_has_an_oracle():
    assert set(RATER_MEASURES) == set(RATER_ORACLES), (
        "say in tests/rater_oracles.py what a measure is checked against"
    )


@pytest.mark.parametrize("name", RATER_ORACLES)
def test_measure_agrees_with_its_oracle(name):
    compared = 0
    for seed in range(24):
        case = rater_case(seed, 12 + 2 * seed, 2 + seed % 2 * (seed % 5), 2 + seed % 4)
        case = replace(case, scale="interval" if name in OF_NUMBERS else "nominal")
        e = RATER_MEASURES[name](case.ratings)
        if e.defined:
            assert e.value == pytest.approx(RATER_ORACLES[name](case), rel=1e-9, abs=1e-9)
            compared += 1
    assert compared >= 6


# defined or explained


@every_law
def test_defined_or_explained_and_within_bounds(m, data):
    case = data.draw(rater_cases())
    check_defined_or_explained(m, m(case.ratings))


@every_measure
def test_no_items_is_the_reason(m):
    e = m(RaterCase(np.empty((0, 2)), 2).ratings)
    assert math.isnan(e.value)
    assert e.why == "no items"


@every_law
def test_wider_level_contains_the_narrower(m, data):
    case = data.draw(rater_cases(least=2))
    check_nested(*(m(case.ratings, level=level) for level in (0.8, 0.95, 0.99)))


# what must not matter


@every_law
def test_merged_parts_equal_the_whole(m, data):
    case = data.draw(rater_cases())
    merged = reduce(operator.add, [part.ratings for part in data.draw(rater_shards(case))])
    assert_same(m(merged), m(case.ratings))


@every_law
def test_order_of_items_does_not_matter(m, data):
    case = data.draw(rater_cases())
    order = data.draw(orders(len(case)))
    assert_same(m(case.ratings), m(case.rows(order).ratings))


@every_law
def test_count_equals_repetition(m, data):
    case = data.draw(rater_cases())
    n = len(case)
    count = data.draw(counts(n))
    again = case.rows(np.repeat(np.arange(n), count))
    assert_same(m(replace(case, count=count).ratings), m(again.ratings))


@every_law
def test_unit_of_weight_does_not_matter(m, data):
    case = data.draw(rater_cases(least=1, weighted=True))
    factor = data.draw(st.sampled_from((10.0, 0.1, 1e110, 1e-110)))
    assert_same(m(case.ratings), m(replace(case, weight=case.weight * factor).ratings))


@every_law
def test_equal_weights_equal_no_weights(m, data):
    case = data.draw(rater_cases(least=1, weighted=False))
    assert_same(m(case.ratings), m(replace(case, weight=np.full(len(case), 3.0)).ratings))


@every_law
def test_order_of_raters_does_not_matter(m, data):
    case = data.draw(rater_cases())
    order = data.draw(st.permutations(range(case.x.shape[1])))
    if m.name == "bias_index":
        return  # a signed difference of two raters turns round
    one, other = m(case.ratings), m(replace(case, x=case.x[:, order]).ratings)
    assert bool(one.why) == bool(other.why)  # a reason may name raters
    assert_same(replace(one, why=""), replace(other, why=""))


@every_measure
def test_register_says_what_is_true(m):
    assert m.bounds[0] < m.bounds[1]
    assert m.group == "agreement"
    assert m.title
    assert m.meaning.endswith((".", ")")), "the first line of the docstring is the meaning"
    assert "level" in m.options
    r = rater_case(1, 20, 2, 3).ratings
    assert_same(getattr(scorewise.measures, m.name)(r), m(r), rel=0.0)


@every_measure
def test_seed_and_bootstrap(m):
    if "replicates" not in m.options:
        return
    r = rater_case(3, 60, 2, 3, missing=0.0).ratings
    one, again, other = (m(r, interval="bootstrap", seed=s) for s in (0, 0, 1))
    formula = m(r)
    assert_same(one, again, rel=0.0)
    assert (one.low, one.high) != (other.low, other.high)
    assert one.value == formula.value
    assert one.high - one.low == pytest.approx(formula.high - formula.low, rel=0.2)
