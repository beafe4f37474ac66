"""The tally of several classes: its parts, merging, what the door refuses, and reasons."""

import operator
from fractions import Fraction
from functools import reduce

import numpy as np
import pandas as pd
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import confusion_matrix

import scorewise as sw
import scorewise.measures as sm
from class_cases import Case, cases, drawn, shards
from scorewise import BadInput, ClassTally, Tally
from scorewise.columns.classes import class_rows
from scorewise.tallies.joint import MAX_ROWS, Joint
from scorewise.tallies.losses import CLASS_LOSSES

tries = settings(max_examples=60, deadline=None)


def assert_same(a: ClassTally, b: ClassTally, exact: bool = True) -> None:
    """Equal parts, and equal sums of losses up to rounding."""
    if exact:
        assert a == b
    np.testing.assert_allclose(a.confusion.weight, b.confusion.weight, rtol=1e-12)
    np.testing.assert_allclose(a.confusion.weight2, b.confusion.weight2, rtol=1e-12)
    for mine, theirs in zip(a.each, b.each, strict=True):
        np.testing.assert_array_equal(mine.score, theirs.score)
        np.testing.assert_array_equal(mine.true, theirs.true)
        np.testing.assert_allclose(mine.weight, theirs.weight, rtol=1e-12)
    np.testing.assert_array_equal(a.joint.scores, b.joint.scores)
    np.testing.assert_allclose(a.joint.weight2, b.joint.weight2, rtol=1e-12)
    for loss in CLASS_LOSSES:
        np.testing.assert_allclose(a.losses[loss], b.losses[loss], rtol=1e-12, atol=1e-12)


# parts


def test_parts_say_what_the_rows_say():
    c = drawn(0, 80, 4, digits=1)
    t = c.tally
    called = c.p.argmax(1)
    np.testing.assert_array_equal(t.confusion.weight, confusion_matrix(c.y, called))
    assert t.top == Tally.of(called == c.y, c.p.max(1), positive=True)
    for k in range(4):
        assert t.one(k) == Tally.of(c.y == k, c.p[:, k], positive=True)
        other = (k + 1) % 4
        two = np.isin(c.y, (k, other))
        assert t.pair(k, other) == Tally.of(c.y[two] == k, c.p[two, k], positive=True)
        won = [((c.p[c.y == k, k][:, None] > c.p[c.y == b, k]).sum()
                + (c.p[c.y == k, k][:, None] == c.p[c.y == b, k]).sum() / 2) for b in range(4)]  # fmt: skip
        won[k] = 0
        np.testing.assert_array_equal(t.wins[k], won)
    assert t.joint.whole
    assert t.rows == 80


def test_decisions_for_one_class_are_the_table_of_that_class():
    c = drawn(1, 60, 3, "broken")
    for k in range(3):
        expected = confusion_matrix(c.y == k, c.p.argmax(1) == k, sample_weight=c.weight)
        np.testing.assert_allclose(c.tally.decided(k).weight, expected, rtol=1e-12)
        squares = confusion_matrix(c.y == k, c.p.argmax(1) == k, sample_weight=c.weight**2)
        np.testing.assert_allclose(c.tally.decided(k).weight2, squares, rtol=1e-12)


def test_of_equal_scores_the_first_class_is_called():
    t = ClassTally.of([0, 1, 2], np.full((3, 3), 1 / 3), kind="probability")
    assert t.confusion.weight.tolist() == [[1, 0, 0], [1, 0, 0], [1, 0, 0]]


def test_an_unknown_class_is_named():
    t = drawn(2, 20, 3).tally
    for ask in (t.one, t.decided):
        with pytest.raises(BadInput, match="no class is named '7'; there are 0, 1, 2"):
            ask(7)


def test_small_losses_keep_their_digits():
    """Against exact arithmetic, where 1 - 2 p + p^2 would leave nothing but rounding."""
    tiny = Fraction(1, 2**40)
    p = np.array([[1 - float(tiny), float(tiny) / 2, float(tiny) / 2]])
    t = ClassTally.of([0], p, classes=range(3))
    assert sm.brier(t).value == pytest.approx(float(tiny**2 + tiny**2 / 2), rel=1e-12)
    assert sm.spherical(t).value == pytest.approx(float(tiny**2 / 4), rel=1e-11)
    assert sm.rps(t).value == pytest.approx(float((tiny**2 + tiny**2 / 4) / 2), rel=1e-3)


# merging


@tries
@given(data=st.data())
def test_merged_parts_equal_the_whole(data):
    case = data.draw(cases())
    parts = [p.tally for p in data.draw(shards(case))]
    assert_same(reduce(operator.add, parts), case.tally, exact=case.weight is None)
    assert_same(reduce(operator.add, parts[::-1]), case.tally, exact=case.weight is None)


@tries
@given(data=st.data())
def test_row_order_does_not_matter(data):
    case = data.draw(cases(weighted=False))
    order = np.array(data.draw(st.permutations(range(len(case)))), int)
    assert_same(case.rows(order).tally, case.tally)


@tries
@given(data=st.data())
def test_count_equals_repetition(data):
    case = data.draw(cases(weighted=False))
    n = len(case)
    count = np.array(data.draw(st.lists(st.integers(0, 4), min_size=n, max_size=n)), int)
    counted = Case(case.y, case.p, None, count).tally
    assert_same(counted, case.rows(np.repeat(np.arange(n), count)).tally)


WORDS = ["high", "low", "mid"] * 4
SORTED = np.random.default_rng(0).dirichlet([1, 1, 1], 12)


@pytest.mark.parametrize(
    ("make", "ordered"),
    [
        (lambda: ClassTally.of(WORDS, SORTED), False),
        (lambda: ClassTally.of(WORDS, dict(zip(("low", "mid", "high"), SORTED.T, strict=True))), False),
        (lambda: ClassTally.of(WORDS, SORTED, classes=["low", "mid", "high"]), True),
        (lambda: ClassTally.of([0, 1, 2] * 4, SORTED), True),
        (lambda: ClassTally.of([1, 5, 10] * 4, SORTED), True),
        (lambda: ClassTally.of(["no", "yes"] * 6, SORTED[:, :2] / SORTED[:, :2].sum(1)[:, None]), True),
        (lambda: of_columns("p_*"), False),
        (lambda: of_columns("low=p_low,mid=p_mid,high=p_high"), True),
        (lambda: of_columns({"low": "p_low", "mid": "p_mid", "high": "p_high"}), True),
        (lambda: sw.class_tally({"y": [3, 4, 5], "p3": [1, 0, 0], "p4": [0, 1, 0], "p5": [0, 0, 1]},
                                label="y", classes="p*"), True),
    ],
)  # fmt: skip
def test_ranked_scores_need_classes_whose_order_is_known(make, ordered, tmp_path):
    """Numbers have one, and so have classes that are listed; sorted words do not."""
    t = make()
    t.save(tmp_path / "t.parquet")
    for tally in (t, t + t, ClassTally.load(tmp_path / "t.parquet")):
        e = sw.evaluate(tally).rps
        assert e.defined == ordered
        if not ordered:
            assert e.why == (
                "the classes have no known order; list them from the lowest to the highest"
            )


def of_columns(classes):
    columns = {
        f"p_{name}": column for name, column in zip(("high", "low", "mid"), SORTED.T, strict=True)
    }
    return sw.class_tally({"y": WORDS, **columns}, label="y", classes=classes)


def test_merging_refuses_other_classes_and_other_kinds():
    c = drawn(3, 20, 3)
    with pytest.raises(BadInput, match="make them with the same classes="):
        c.tally + ClassTally.of(c.y, c.p, classes=["0", "2", "1"])
    with pytest.raises(BadInput, match="different kinds"):
        c.tally + ClassTally.of(c.y, np.log(c.p), kind="logit")


def test_samples_of_parts_merge_to_the_sample_of_the_whole():
    c = drawn(4, 3 * MAX_ROWS, 3)
    whole = c.tally.joint
    assert (len(whole.y), whole.whole, whole.total) == (MAX_ROWS, False, 3 * MAX_ROWS)
    parts = [c.rows(slice(i, None, 5)).tally.joint for i in range(5)]
    assert reduce(operator.add, parts) == whole
    # a sample is like the whole: class shares within four standard errors
    share = np.bincount(whole.y) / MAX_ROWS
    np.testing.assert_allclose(share, np.bincount(c.y) / len(c), atol=4 * (0.25 / MAX_ROWS) ** 0.5)


def test_equal_rows_are_kept_once_in_the_sample():
    p = np.tile([[0.5, 0.25, 0.25], [0.25, 0.25, 0.5]], (20_000, 1))
    joint = ClassTally.of(np.tile([0, 1], 20_000), p, classes=range(3)).joint
    assert sorted(joint.weight.tolist()) == [20_000, 20_000]
    assert joint.whole
    assert isinstance(joint, Joint)


# the door


def test_classes_come_from_a_mapping_a_frame_or_a_list():
    p = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.2, 0.5, 0.3]]
    y, names = ["a", "b", "b"], ["a", "b", "c"]
    expected = ClassTally.of(y, p, classes=names)
    columns = dict(zip(names, np.transpose(p), strict=True))
    given = (columns, pd.DataFrame(columns), pl.DataFrame(columns))
    for table in given:
        assert ClassTally.of(y, table) == expected
    assert (
        ClassTally.of(pd.Series(y), torch.tensor(p, dtype=torch.float64), classes=names) == expected
    )
    turned = pl.DataFrame(columns).select("c", "a", "b")
    assert ClassTally.of(y, turned).classes == ("c", "a", "b")
    assert sm.log_loss(ClassTally.of(y, turned)).value == pytest.approx(
        sm.log_loss(expected).value, rel=1e-15
    )


def test_labels_that_are_column_numbers_need_no_list():
    t = ClassTally.of([2, 0], [[0.1, 0.2, 0.7], [0.6, 0.2, 0.2]])
    assert t.classes == ("0", "1", "2")
    assert t.weight.tolist() == [1, 0, 1]


GOOD = [[0.7, 0.2, 0.1], [0.3, 0.3, 0.4]]


@pytest.mark.parametrize(
    ("y", "scores", "options", "message"),
    [
        (["a", "d"], GOOD, {"classes": "abc"}, r"label is not among the classes in 1 row.*'d'.*a, b, c"),
        (["a", "b"], GOOD, {}, "2 distinct values .* scores for 3 classes; pass classes="),
        ([0, 1], [[0.7, 0.2, 0.2], [0.3, 0.3, 0.4]], {}, "do not add up to 1 in 1 row.*1.1.*divide"),
        ([0, 1], [[1.7, -0.9, 0.2], [0.3, 0.3, 0.4]], {}, 'outside .0, 1. in 1 row.*kind="logit"'),
        ([0, 1], [0.7, 0.3], {}, r"shape \(2,\); several classes need one row of K scores"),
        ([0, 1], [[0.7], [0.3]], {}, "need two or more"),
        ([0, 1, 2], GOOD, {}, "label has 3 rows and score of class 0 has 2"),
        ([0, 1], GOOD, {"classes": "ab"}, "names 2 classes, but there are scores for 3"),
        ([0, 1], GOOD, {"classes": "aab"}, "names 'a' twice"),
        ([0, None], GOOD, {}, "label is missing in 1 row, row 1.*missing="),
        ([0, 1], [[0.7, 0.2, np.nan], [0.3, 0.3, 0.4]], {}, "score of class 2 is missing in 1 row"),
        ([0, 1], GOOD, {"kind": "score"}, 'kind="score" is not known'),
        ([0, 1], GOOD, {"weight": [1, -1]}, "weight is negative in 1 row"),
        ([0, 1], GOOD, {"count": [1, 0.5]}, "count is not whole in 1 row"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_the_way_out(y, scores, options, message):
    with pytest.raises(BadInput, match=message):
        ClassTally.of(y, scores, **options)


def test_missing_rows_are_dropped_when_asked_for():
    p = [[0.7, 0.2, 0.1], [0.3, np.nan, 0.4], [0.2, 0.5, 0.3], [0.2, 0.5, 0.3]]
    with pytest.warns(match="2 rows left out: 1 without label, 1 without score of 1"):
        t = ClassTally.of([0, 1, None, 1], p, classes=range(3), missing="drop")
    assert (t.rows, t.top.origin.dropped) == (2, 2)
    assert t == ClassTally.of([0, 1], [p[0], p[3]], classes=range(3))


def test_rows_may_miss_one_by_a_hundredth_and_are_used_as_given():
    rows = class_rows(None, label=[0], score=[[0.5, 0.3, 0.205]], classes=range(3))
    assert rows.scores.tolist() == [[0.5, 0.3, 0.205]]


def test_logits_without_rounding():
    """The log loss of logits is exact where the probability itself is 0 as a float."""
    t = ClassTally.of(
        [0, 1], [[0.0, 900.0, 0.0], [0.0, 900.0, 0.0]], kind="logit", classes=range(3)
    )
    assert sm.log_loss(t).value == pytest.approx(450.0, rel=1e-12)


# absent classes and other reasons


def test_classes_that_do_not_occur_are_left_out_and_said_so():
    y, p = [0, 0, 1, 1], [[0.8, 0.1, 0.1], [0.3, 0.2, 0.5], [0.3, 0.6, 0.1], [0.6, 0.4, 0.0]]
    t = ClassTally.of(y, p)
    assert sm.balanced_accuracy(t).value == 0.5
    assert sm.balanced_accuracy(t).method == "score, mean of the 2 of 3 classes that occur in truth"
    assert sm.macro_precision(t).value == pytest.approx((1 / 2 + 1 + 0) / 3)
    assert sm.macro_f1(t).value == pytest.approx((1 / 2 + 2 / 3 + 0) / 3)
    assert sm.macro_auroc(t).value == pytest.approx((0.625 + 1) / 2)
    assert sm.macro_auroc(t).method == "DeLong, logit, the 2 of 3 classes that occur"


def test_a_class_that_is_never_called_has_no_precision():
    t = ClassTally.of([0, 1, 2], [[0.8, 0.1, 0.1], [0.3, 0.6, 0.1], [0.6, 0.3, 0.1]])
    e = sm.macro_precision(t)
    assert e.value == pytest.approx((0.5 + 1) / 2)
    assert e.method == "score, mean of the 2 of 3 classes that are called"


def test_reasons():
    one = ClassTally.of(["a", "a"], GOOD, classes="abc")
    for name in ("balanced_accuracy", "mcc", "macro_auroc", "hand_till", "macro_average_precision"):
        assert getattr(sm, name)(one).why == "all rows are of one class, a"
    same = ClassTally.of(["a"], [GOOD[0]], classes="abc")
    assert sm.kappa(same).why == "labels and decisions are one and the same constant"
    sure = ClassTally.of([0, 1, 2], [[1, 0, 0], [1, 0, 0], [0, 1, 0]], weight=[1, 2, 0.5])
    assert "in rows of weight 2.5; a clip of 1e-15" in sm.log_loss(sure).why
    assert sm.log_loss(sure, clip=1e-15).value == pytest.approx(-np.log(1e-15) * 2.5 / 3.5)
    with pytest.raises(BadInput, match=r"clip must lie between 0 and 0.5, such as 1e-15; got 0\.7"):
        sm.log_loss(sure, clip=0.7)
    with pytest.raises(BadInput, match='pass "sum" or "half"'):
        sm.brier(sure, convention="mean")
