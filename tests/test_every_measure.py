"""What holds for every registered measure, whatever the rows."""

import inspect
import math
import operator
from dataclasses import replace
from functools import reduce
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import scorewise.measures
import scorewise.tallies.tally
from laws import check_defined_or_explained, check_nested, counts, law_of, orders
from scorewise import Confusion, Tally
from scorewise.estimate import Estimate
from scorewise.registry import MEASURES, Measure
from strategies import Case, cases, crowded, shards

assert scorewise.measures
pytestmark = pytest.mark.usefixtures("few_draws_throughout")
ORDER = {name: m for name, m in MEASURES.items() if m.group == "order"}
NEAR = 1e-8
THRESHOLDS = st.sampled_from((0.5, 0.3, 0.1, 1.0, 0.0))

every_measure = pytest.mark.parametrize("m", MEASURES.values(), ids=MEASURES)
every_law = law_of(MEASURES)


def judge(m: Measure, t: Tally, threshold: float = 0.5, **options) -> Estimate:
    return m(t.confusion(threshold) if m.group == "decisions" else t, **options)


def assert_same(a: Estimate, b: Estimate, rel: float = 0.0) -> None:
    """Value, interval, bound, baseline and reason agree; to the last bit unless told."""
    assert (a.method, a.level) == (b.method, b.level)
    # the reason may name a weight
    assert bool(a.why) == bool(b.why)
    numbers = [(x.value, x.low, x.high, x.bound, x.baseline or 0.0) for x in (a, b)]
    if rel:
        np.testing.assert_allclose(*numbers, rtol=rel, atol=rel / 1000)
    else:
        np.testing.assert_array_equal(*numbers)


# defined or explained


@every_law
def test_defined_or_explained_and_within_bounds(m, data):
    t, threshold = data.draw(cases()).tally, data.draw(THRESHOLDS)
    if data.draw(st.booleans()):
        t = t.coarsen()
    check_defined_or_explained(m, judge(m, t, threshold))


@every_measure
def test_no_rows_is_the_reason(m):
    for t in (Tally.empty(), Tally.empty().coarsen(), Tally.of([], [])):
        e = judge(m, t)
        assert math.isnan(e.value)
        assert e.why == "no rows"


@every_law
def test_wider_level_contains_the_narrower(m, data):
    t, threshold = data.draw(cases(least=1)).tally, data.draw(THRESHOLDS)
    narrow, usual, wide = (judge(m, t, threshold, level=level) for level in (0.8, 0.95, 0.99))
    check_nested(narrow, usual, wide)
    # an error of calibration may be known to be anything that its probabilities allow
    exact = math.isnan(usual.low) or usual.method == "no loss at all" or m.group == "calibration"
    if not exact and (narrow.low, narrow.high) != m.bounds:
        assert (wide.low, wide.high) != (narrow.low, narrow.high)


# what must not matter


@every_law
def test_merged_parts_equal_the_whole(m, data):
    case, threshold = data.draw(cases()), data.draw(THRESHOLDS)
    parts = [p.tally for p in data.draw(shards(case))]
    merged = reduce(operator.add, parts, Tally.empty())
    rel = 0.0 if case.weight is None else NEAR
    assert_same(judge(m, merged, threshold), judge(m, case.tally, threshold), rel)


@every_law
def test_row_order_does_not_matter(m, data):
    case, threshold = data.draw(cases()), data.draw(THRESHOLDS)
    order = data.draw(orders(len(case)))
    rel = 0.0 if case.weight is None else NEAR
    a, b = case.tally, case.rows(order).tally
    assert_same(judge(m, a, threshold), judge(m, b, threshold), rel)


@every_law
def test_count_equals_repetition(m, data):
    case, threshold = data.draw(cases()), data.draw(THRESHOLDS)
    n = len(case)
    count = data.draw(counts(n))
    again = case.rows(np.repeat(np.arange(n), count))
    if case.weight is not None and not again.weight.any():
        return
    counted = Case(case.y, case.s, case.kind, case.weight, count).tally
    rel = 0.0 if case.weight is None else NEAR
    assert_same(judge(m, counted, threshold), judge(m, again.tally, threshold), rel)


@every_law
def test_unit_of_weight_does_not_matter(m, data):
    factor = data.draw(st.sampled_from((10.0, 0.1)))
    case, threshold = data.draw(cases(weighted=True)), data.draw(THRESHOLDS)
    if case.weight is None:  # no rows
        return
    scaled = Case(case.y, case.s, case.kind, case.weight * factor).tally
    # of logits of 800, a slope is known to fewer digits
    assert_same(judge(m, case.tally, threshold), judge(m, scaled, threshold), 10 * NEAR)


@every_law
def test_equal_weights_equal_no_weights(m, data):
    case, threshold = data.draw(cases(weighted=False)), data.draw(THRESHOLDS)
    if not len(case):
        return
    weighted = Case(case.y, case.s, case.kind, np.full(len(case), 3.0)).tally
    if m.group == "calibration" and "seed" in m.options:  # weights are drawn otherwise than counts
        a, b = (judge(m, t, threshold) for t in (case.tally, weighted))
        assert (a.value, a.bound) == pytest.approx((b.value, b.bound), NEAR, NEAR, nan_ok=True)
        return
    assert_same(judge(m, case.tally, threshold), judge(m, weighted, threshold), NEAR)


@law_of(ORDER)
def test_order_survives_increasing_rescaling(m, data):
    case = data.draw(cases())
    _, rank = np.unique(case.s, return_inverse=True)
    ranked = Case(case.y, rank.astype(float) ** 3 - 1e3, "score", case.weight)
    assert_same(m(case.tally), m(ranked.tally))


@every_law
def test_length_of_blocks_does_not_matter(m, data):
    case, threshold = data.draw(cases(most=40)), data.draw(THRESHOLDS)
    whole = judge(m, case.tally, threshold)
    for cells in (1, 3):
        with patch.object(scorewise.tallies.tally, "_BLOCK", cells):
            anew = replace(case).tally  # which has kept nothing
            assert_same(judge(m, anew, threshold), whole, NEAR)


# what the ends and the baseline mean


@every_measure
@pytest.mark.parametrize("weight", [None, [1.0, 2.0, 0.5, 3.0, 0.1]])
def test_perfect_scores_reach_the_better_end(m, weight):
    e = judge(m, Tally.of([0, 0, 1, 1, 1], [0.0, 0.0, 1.0, 1.0, 1.0], weight=weight))
    if m.better in ("near", "neither") or (e.baseline is None and math.isinf(m.best)):
        # what is best is not the end of a scale, or perfect scores leave nothing to be judged
        assert not e.defined or m.better == "neither" or e.value == m.target
        return
    if m.group == "calibration" and m.better == "low" and e.defined:  # unbiased ones may be below 0
        assert e.value == 0
    elif math.isfinite(m.best):
        assert e.value == m.best
    else:
        assert not e.defined or e.value > e.baseline


@every_measure
def test_baseline_is_reached_without_knowledge(m):
    """By a constant, or by decisions that have nothing to do with the labels."""
    y = np.repeat([0, 1], [35, 15])
    constant = Tally.of(y, np.full(50, 0.3))
    if m.group != "decisions":
        e = m(constant)
        reached = [e.value]
    else:
        e = m(Confusion.counts(tp=6, fp=14, fn=9, tn=21))
        reached = [e.value, judge(m, constant, 0.5).value, judge(m, constant, 0.3).value]
    if e.baseline is None:
        assert math.isnan(m.skill(e))
        return
    if (
        m.name == "pr_trapezoid"
    ):  # straight lines flatter a constant; its baseline is a random order
        assert e.baseline == 0.3
        random = Tally.of(
            np.repeat([0, 1], [70_000, 30_000]), np.random.default_rng(0).random(100_000)
        )
        assert abs(m(random).value - 0.3) < 0.005
        return
    assert min(abs(x - e.baseline) for x in reached if math.isfinite(x)) < 1e-12


@every_measure
def test_register_says_what_is_true(m):
    assert m.bounds[0] < m.bounds[1]
    assert m.title
    assert m.meaning.endswith((".", ")")), "the first line of the docstring is the meaning"
    assert "level" in m.options
    assert inspect.unwrap(getattr(scorewise.measures, m.name)) is inspect.unwrap(m.function)


# coarse tallies


def _grids(case: Case) -> tuple[str, ...]:
    return ("probability", "relative") if case.kind == "probability" else ("relative",)


@every_law
def test_coarse_is_as_near_as_it_certifies(m, data):
    case = data.draw(crowded() | cases(most=40))
    threshold = data.draw(THRESHOLDS | st.sampled_from((0.5000002, 0.3000001)))
    exact = judge(m, case.tally, threshold)
    for grid in _grids(case):
        e = judge(m, case.tally.coarsen(grid), threshold)
        if not e.defined or not exact.defined:
            left_open = e.why == "the cells of the coarse tally leave it open"
            assert left_open or bool(e.why) == bool(exact.why)
            continue
        if e.method.endswith("on coarse cells"):  # which says that it is near, not how near
            continue
        assert abs(e.value - exact.value) <= e.bound + 1e-12 * max(1.0, abs(exact.value))
        assert m.group != "probability" or e.bound == 0


@every_law
def test_coarse_is_exact_where_no_cell_holds_two_scores(m, data):
    case = data.draw(cases(kind="probability"))
    apart = Case(case.y, case.s.astype(np.float64).round(1), case.kind, case.weight)
    near, exact = (judge(m, t) for t in (apart.tally.coarsen(), apart.tally))
    assert near.bound == 0
    assert_same(near, exact, NEAR)


@every_law
def test_coarse_shards_equal_the_coarse_whole(m, data):
    case, threshold = data.draw(cases()), data.draw(THRESHOLDS)
    parts = [p.tally for p in data.draw(shards(case))]
    grid = _grids(case)[-1]
    merged = sum((p.coarsen(grid) for p in parts), Tally.empty().coarsen(grid))
    whole = case.tally.coarsen(grid)
    # a percentile of distances is that of a cell: rounding may decide between two that are as near as this
    rel = 1e-5 if m.name in ("e50", "e90") else NEAR
    assert_same(judge(m, merged, threshold), judge(m, whole, threshold), rel)


# stored tallies


@pytest.mark.parametrize("coarse", [False, True])
@settings(max_examples=30)
@given(data=st.data())
def test_stored_tally_gives_identical_values(coarse, data, tmp_path_factory):
    t = data.draw(cases()).tally
    t = t.coarsen() if coarse else t
    path = tmp_path_factory.getbasetemp() / f"stored_{coarse}.parquet"
    t.save(path)
    back = Tally.load(path)
    assert back == t
    assert back.origin == t.origin
    assert back.score.dtype == t.score.dtype
    assert back.neg.dtype == t.neg.dtype
    for m in MEASURES.values():
        assert_same(judge(m, back, 0.3), judge(m, t, 0.3))
