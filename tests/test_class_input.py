"""Tables of scores that could be misread: told in a sentence, or read as they say."""

from itertools import pairwise

import numpy as np
import pytest

import scorewise as sw
from scorewise import ClassTally, Recalibrator, Tally
from scorewise.errors import BadInput
from scorewise.registry import CLASS_MEASURES

P = np.random.default_rng(1).dirichlet([1, 1, 1], 15)
Y = np.array([0, 1, 2] * 5)


def test_columns_are_found_by_their_names():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(np.eye(3), columns=list("cba"))
    for classes in (None, list("abc"), list("cba")):
        assert sw.evaluate(list("abc"), frame, classes=classes).accuracy.value == 1 / 3
    with pytest.raises(BadInput, match="the columns are c, b, a"):
        sw.evaluate(list("abc"), frame, classes=list("abd"))


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(BadInput, match="the same name"):
        ClassTally.of([0, 1, 1], {0: [1.0, 2, 3], 1: [3.0, 2, 1], "1": [9.0, 9, 9]}, kind="logit")


def test_numbers_as_text_have_no_order_of_their_own():
    p = np.full((12, 12), 1 / 12)
    words = [str(k) for k in range(12)]
    with pytest.raises(BadInput, match="pass classes="):
        ClassTally.of(words, p)
    assert ClassTally.of(words, p, classes=sorted(words)).classes[2] == "10"
    assert ClassTally.of(range(12), p).classes[2] == "2"


def test_what_is_masked_is_missing():
    p = np.ma.masked_array([[0.7, 0.3], [0.4, 0.6]], mask=[[0, 0], [1, 0]])
    with pytest.raises(BadInput, match="missing in 1 row"):
        ClassTally.of([0, 1], p)


def test_logits_without_measure_are_refused():
    with pytest.raises(BadInput, match="logits are beyond"):
        ClassTally.of([0, 1], [[1e308, -1e308], [0, 0]], kind="logit")


def test_other_containers():
    torch = pytest.importorskip("torch")
    pl = pytest.importorskip("polars")
    frame = pl.DataFrame(dict(zip("abc", P.T, strict=True)))
    names = np.array(list("abc"))
    want = ClassTally.of(names[Y], P, classes=names)
    assert ClassTally.of(names[Y], frame.lazy()) == want
    half = torch.tensor([[0.5, 0.5], [0.25, 0.75]]).bfloat16()
    assert ClassTally.of([0, 1], half).top.score.tolist() == [0.5, 0.75]
    with pytest.raises(BadInput, match="not a list"):
        ClassTally.of(Y, P, classes=3)


@pytest.mark.parametrize("power", [20, 30, 32, 40, 46])
@pytest.mark.parametrize("name", list(CLASS_MEASURES))
def test_very_many_rows_leave_little_open(name, power):
    many = CLASS_MEASURES[name](ClassTally.of(Y, P, count=[2**power] * len(Y)))
    one = CLASS_MEASURES[name](ClassTally.of(Y, P, count=[2**14] * len(Y)))
    assert many.value == pytest.approx(one.value, abs=0.1)
    if one.low < one.high and "of 491,520 rows" not in one.method:
        assert many.high - many.low <= 1.5 * (one.high - one.low) + 1e-6


@pytest.mark.parametrize("ratio", [1e17, 1e60, 1e100])
def test_a_class_beyond_floating_point_is_told(ratio):
    t = ClassTally.of(Y, P, weight=np.where(Y == 0, ratio, 1.0))
    for name in ("macro_auroc", "weighted_auroc", "hand_till", "balanced_accuracy", "mcc"):
        assert "less than 1e-12 of all" in CLASS_MEASURES[name](t).why


def test_measures_of_two_classes_say_what_they_take():
    t = ClassTally.of(Y, P)
    for ask in (sw.measures.mcb, sw.curves.reliability, sw.curves.decompose):
        with pytest.raises(BadInput, match="for two classes"):
            ask(t)
    with pytest.raises(TypeError):
        t + 1


def test_options_that_mean_nothing():
    t = ClassTally.of(Y, P)
    for rows in (2.5, "x", 1):
        with pytest.raises(BadInput, match="rows="):
            sw.measures.skce(t, rows=rows)
    for seed in (-1, 2.5, "x"):
        with pytest.raises(BadInput, match="seed must be an integer from 0 up"):
            sw.evaluate(Y, P, seed=seed)
        with pytest.raises(BadInput, match="seed must be an integer from 0 up"):
            Recalibrator(seed=seed).fit(P, Y)
    with pytest.raises(BadInput, match="scores first"):
        Recalibrator().fit(Y, P)
    with pytest.raises(BadInput, match="count adds up"):
        Recalibrator().fit(P, Y, count=[2**33] * len(Y))
    two = Tally.of([0, 1, 0, 1], [0.1, 0.4, 0.6, 0.8])
    for folds in (2.5, float("nan"), 1):
        with pytest.raises(BadInput, match="folds must"):
            sw.measures.mcb_crossfit(two, folds=folds)
    with pytest.raises(BadInput, match="groups must"):
        sw.measures.hosmer_lemeshow(two, groups=2.5)
    with pytest.raises(BadInput, match="bins must"):
        sw.measures.ece(two, bins=10**9)
    for coverage in (0, 2, "x"):
        with pytest.raises(BadInput, match="coverage must"):
            sw.curves.risk_coverage(t).at(coverage)


def test_hints_for_what_is_easily_overlooked():
    names = np.array(["barolo", "grignolino", "barbera"])
    p = np.eye(3)[Y] * 0.7 + 0.1
    swapped = sw.evaluate(names[Y], p).to_dict()["hints"]  # columns are taken in the order of names
    assert any("are the scores in the order of the classes" in hint for hint in swapped)
    right = sw.evaluate(names[Y], p, classes=names).to_dict()["hints"]
    assert not any("order of the classes" in hint for hint in right)
    t = sw.ClassTally.of([0, 1, 1], [[0.9, 0.1], [0.2, 0.8], [0.4, 0.6]])
    two = sw.evaluate(t).to_dict()["hints"]
    assert any("measures of their own" in hint for hint in two)


def test_a_wide_kernel_that_hides_unsure_scores_is_told():
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=(400, 10))
    y = (z + rng.gumbel(size=z.shape)).argmax(1)
    e = sw.evaluate(y, 0.6 * z, kind="logit")
    assert e.canonical_ce.p > 0.95
    assert any("hides scores that are too unsure" in hint for hint in e.to_dict()["hints"])


def test_long_names_differ_where_they_are_cut():
    names = [f"a very long name of class number {k}" for k in range(12)]
    p = np.random.default_rng(0).dirichlet(np.ones(12), 60)
    text = str(sw.evaluate([names[k % 12] for k in range(60)], p, classes=names).all())
    assert names[7] in text.partition("Each class")[0]  # among the confusions, where there is room
    for name in names:
        assert f"…{name[-4:]}" in text.partition("Each class")[2]
    assert max(map(len, text.splitlines())) <= 80


def test_a_folded_table_has_no_empty_lines():
    """An interval too wide for its column is continued below; the others are not padded to it."""
    p = [[1.0, 0, 0], [0, 0, 1.0], [0.3333, 0.3333, 0.3334]]
    lines = str(sw.evaluate(list("abc"), p, classes=list("abc"))).splitlines()
    assert not any(a.strip() == b.strip() == "" for a, b in pairwise(lines))


def test_a_clipped_log_loss_is_bounded_by_its_clip():
    e = sw.measures.log_loss(Tally.of([1, 0, 1, 0], [0.0, 0.2, 0.6, 1.0]), clip=1e-3)
    assert e.high <= -np.log(1e-3)


def test_a_column_may_be_called_as_another_is():
    p, w = [0.1, 0.8, 0.3, 0.6], [1.0, 2.0, 1.0, 1.0]
    y = [0, 1, 1, 0]
    for name in ("weight", "label", "count"):
        found = sw.compare(y, {name: p, "other": p[::-1]}, weight=w)[name]
        assert found.auroc.value == sw.evaluate(y, p, weight=w).auroc.value
