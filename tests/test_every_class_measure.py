"""What holds for every registered measure of several classes, whatever the rows."""

import math
import operator
from functools import reduce

import numpy as np
import pytest
from hypothesis import strategies as st

import scorewise.measures
from class_cases import Case, cases, drawn, shards
from class_oracles import CLASS_ORACLES, OPTIONS, WITHIN
from laws import check_defined_or_explained, check_nested, counts, law_of, orders
from scorewise import ClassTally, Estimate
from scorewise.registry import CLASS_MEASURES, Measure

assert scorewise.measures
pytestmark = pytest.mark.usefixtures("few_draws_throughout")
NEAR = 1e-8
every_measure = pytest.mark.parametrize("m", CLASS_MEASURES.values(), ids=CLASS_MEASURES)
every_law = law_of(CLASS_MEASURES)


def assert_same(a: Estimate, b: Estimate, rel: float = NEAR) -> None:
    """Value, interval, baseline, method and reason agree; to rounding unless told."""
    assert (a.method, a.level, bool(a.why)) == (b.method, b.level, bool(b.why))
    numbers = [(x.value, x.low, x.high, x.bound, x.baseline or 0.0) for x in (a, b)]
    if rel:
        np.testing.assert_allclose(*numbers, rtol=rel, atol=rel / 100)
    else:
        np.testing.assert_array_equal(*numbers)


def assert_alike(m: Measure, t: ClassTally, case: Case) -> None:
    """The same as of a case, whose rows or classes are written otherwise.

    That changes which labels are drawn for measures of calibration, and the order in which rows are dealt
    to folds: of these the value is the same, if every row is a fold.
    """
    options = OPTIONS[m.name](case.y, case.p, case.weight) if m.name in OPTIONS else {}
    a, b = m(t, **options), m(case.tally, **options)
    if m.group != "calibration":
        assert_same(a, b)
    assert a.value == pytest.approx(b.value, rel=NEAR, abs=NEAR)


# against others


def test_every_measure_has_an_oracle():
    assert set(CLASS_MEASURES) == set(CLASS_ORACLES), (
        "say in tests/class_oracles.py what a measure is checked against"
    )


@pytest.mark.parametrize("name", CLASS_ORACLES)
def test_measure_agrees_with_its_oracle(name):
    for seed in range(12):
        weighted = ("no", "whole", "broken")[seed % 3]
        c = drawn(seed, 20 + 2 * seed, 2 + seed % 4, weighted, digits=(1, 15)[seed % 2])
        case = c.y, c.p, c.weight
        expected, near = CLASS_ORACLES[name](*case), WITHIN.get(name, 1e-12)
        options = OPTIONS[name](*case) if name in OPTIONS else {}
        got = CLASS_MEASURES[name](c.tally, **options)
        assert got.value == pytest.approx(expected, rel=near, abs=near)


# defined or explained


@every_law
def test_defined_or_explained_and_within_bounds(m, data):
    case = data.draw(cases())
    check_defined_or_explained(m, m(case.tally))


@every_measure
def test_no_rows_is_the_reason(m):
    e = m(ClassTally.of([], np.empty((0, 3))))
    assert math.isnan(e.value)
    assert e.why == "no rows"


@every_law
def test_wider_level_contains_the_narrower(m, data):
    case = data.draw(cases(least=1))
    narrow, usual, wide = (m(case.tally, level=level) for level in (0.8, 0.95, 0.99))
    check_nested(narrow, usual, wide)
    # an error of calibration may be known to be anything that its probabilities allow
    exact = math.isnan(usual.low) or usual.method == "no loss at all" or m.group == "calibration"
    if not exact and (narrow.low, narrow.high) != m.bounds:
        assert (wide.low, wide.high) != (narrow.low, narrow.high)


# what must not matter


@every_law
def test_merged_parts_equal_the_whole(m, data):
    case = data.draw(cases())
    merged = reduce(operator.add, [part.tally for part in data.draw(shards(case))])
    assert_same(m(merged), m(case.tally))


@every_law
def test_row_order_does_not_matter(m, data):
    case = data.draw(cases())
    order = data.draw(orders(len(case)))
    assert_same(m(case.tally), m(case.rows(order).tally))


@every_law
def test_count_equals_repetition(m, data):
    case = data.draw(cases())
    n = len(case)
    count = data.draw(counts(n))
    again = case.rows(np.repeat(np.arange(n), count))
    if case.weight is not None and not again.weight.any():
        return
    assert_same(m(Case(case.y, case.p, case.weight, count).tally), m(again.tally))


@every_law
def test_unit_of_weight_does_not_matter(m, data):
    case = data.draw(cases(least=1, weighted=True))
    factor = data.draw(st.sampled_from((10.0, 0.1)))
    scaled = Case(case.y, case.p, case.weight * factor)
    assert_same(m(case.tally), m(scaled.tally))


@every_law
def test_equal_weights_equal_no_weights(m, data):
    case = data.draw(cases(least=1, weighted=False))
    weighted = Case(case.y, case.p, np.full(len(case), 3.0))
    a, b = m(case.tally), m(weighted.tally)
    if m.group == "calibration":  # weights are drawn otherwise than counts
        assert a.value == pytest.approx(b.value, rel=NEAR, abs=NEAR, nan_ok=True)
        return
    assert_same(a, b)


@every_measure
def test_logits_are_judged_as_their_softmax(m):
    for seed, weighted in enumerate(("no", "broken")):
        c = drawn(seed, 60, 4, weighted)
        shift = np.random.default_rng(seed).normal(size=(60, 1))
        t = ClassTally.of(c.y, np.log(c.p) + shift, kind="logit", weight=c.weight)
        assert_alike(m, t, c)


@every_measure
def test_names_of_classes_do_not_matter(m):
    c = drawn(3, 50, 4)
    names = np.array(["south", "east", "west", "north"])
    assert_same(m(ClassTally.of(names[c.y], c.p, classes=names)), m(c.tally), rel=0.0)


@pytest.mark.parametrize("name", sorted(set(CLASS_MEASURES) - {"rps"}))
def test_order_of_classes_does_not_matter(name):
    c, order = drawn(4, 50, 4), np.array([2, 0, 3, 1])
    assert_alike(CLASS_MEASURES[name], ClassTally.of(np.argsort(order)[c.y], c.p[:, order]), c)


@every_measure
def test_huge_and_tiny_weights_do_not_matter(m):
    c = drawn(5, 40, 3, "broken")
    for factor in (1e-110, 1e110):
        assert_same(m(Case(c.y, c.p, c.weight * factor).tally), m(c.tally))


# those that are means over all classes, or whose kernel knows how many there are
OF_ALL = {"rps", "log_loss", "micro_auroc", "classwise_ece", "canonical_ce"}


@pytest.mark.parametrize("name", sorted(set(CLASS_MEASURES) - OF_ALL))
def test_a_class_that_does_not_occur_changes_no_value(name):
    c = drawn(6, 60, 3)
    wider = ClassTally.of(c.y, np.c_[c.p, np.zeros(60)], classes=range(4))
    options = OPTIONS[name](c.y, c.p, c.weight) if name in OPTIONS else {}
    a, b = (CLASS_MEASURES[name](t, **options) for t in (wider, c.tally))
    assert a.value == pytest.approx(b.value)


# what the ends and the baseline mean


@every_measure
@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 0.5, 3.0, 0.1] * 6])
def test_perfect_scores_reach_the_better_end(m, weight):
    y = np.tile([0, 0, 1, 1, 2], 6)  # each has others like it
    best = 0.0 if m.group == "calibration" else m.best  # unbiased ones may be below 0
    value = m(ClassTally.of(y, np.eye(3)[y], weight=weight)).value
    assert value == pytest.approx(best, abs=1e-9 if m.name == "calibration_gain" else 1e-15)


@every_measure
def test_baseline_is_reached_without_knowledge(m):
    y = np.repeat([0, 1, 2], [25, 15, 10])
    constant = m(ClassTally.of(y, np.tile([0.5, 0.3, 0.2], (50, 1))))
    if m.name == "mcc":  # of a constant there is no correlation
        assert constant.why == "all rows are called 0"
        called = np.tile([0, 0, 1, 1, 2], 10)  # the same mixture for every class
        constant = m(ClassTally.of(y, np.eye(3)[called]))
    if m.group == "calibration":  # what calibrated scores get stands in the place of a baseline
        assert constant.baseline is None
        assert constant.expected is not None
        return
    assert constant.value == pytest.approx(constant.baseline, abs=1e-12)


@every_measure
def test_register_says_what_is_true(m):
    assert m.bounds[0] < m.bounds[1]
    assert m.title
    assert m.meaning.endswith((".", ")")), "the first line of the docstring is the meaning"
    assert "level" in m.options
    c = drawn(7, 40, 3).tally
    assert_same(getattr(scorewise.measures, m.name)(c), m(c), rel=0.0)


def test_stored_tally_gives_identical_values(tmp_path):
    for seed, weighted in enumerate(("no", "broken")):
        t = drawn(seed, 50, 4, weighted).tally
        t.save(tmp_path / "t.parquet")
        for m in CLASS_MEASURES.values():
            assert_same(m(ClassTally.load(tmp_path / "t.parquet")), m(t), rel=0.0)
