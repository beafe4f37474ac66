"""Corners that random cases found: each was quietly wrong, or no sentence, before it came here."""

import math

import numpy as np
import pytest
import torch

import scorewise.measures
from scorewise import BadInput, ClassTally, Ratings, Tally
from scorewise.measures import (
    accuracy,
    calibration_intercept,
    h_measure,
    icc_1_1,
    icc_1_k,
    icc_3_k,
    mcc,
    smauc,
    spherical,
    spiegelhalter,
    stuart_maxwell,
)

assert scorewise.measures
P = [0.1, 0.6, 0.3, 0.9]
Y = [0, 1, 0, 1]


# regression of labels on log-odds


@pytest.mark.parametrize("kind", ["probability", "logit"])
def test_intercept_of_probabilities_that_are_far_too_low(kind):
    """Newton's first step leads to where the likelihood is flat."""
    p = np.repeat([1e-2, 2.4e-5, 1.5e-6], [12, 20, 8])
    y = np.ones(40, bool)
    y[[2, 5, 7, 11]] = False
    x = np.log(p) - np.log1p(-p)
    e = calibration_intercept(Tally.of(y, p if kind == "probability" else x, kind=kind))
    chance = 1 / (1 + np.exp(-x - e.value))
    assert chance.sum() == pytest.approx(y.sum(), abs=1e-8)
    assert e.low < e.value < e.high


def test_spiegelhalter_of_logits_keeps_the_digits_of_certain_ones():
    z = np.array([36.0, 36.0, 0.0, 0.5])
    y = np.array([0, 1, 1, 0])
    p, q = 1 / (1 + np.exp(-z)), 1 / (1 + np.exp(z))
    above = (np.where(y, q, -p) * (q - p)).sum()
    expected = above / math.sqrt(((q - p) ** 2 * p * q).sum())
    e = spiegelhalter(Tally.of(y, z, kind="logit"))
    assert e.value == pytest.approx(expected, rel=1e-12)
    alone = spiegelhalter(Tally.of([1, 0], [36.0, 36.0], kind="logit"))
    assert alone.value == pytest.approx((p - q)[0] / math.sqrt(2 * p[0] * q[0]), rel=1e-12)


# smAUC


@pytest.mark.parametrize("unit", [0.1, 0.3, 7.0, 1e30])
def test_interval_of_smauc_does_not_depend_on_the_unit_of_weights(unit):
    """The midpoint, 0.6875, is a score."""
    y, s = [0, 0, 1, 1, 1, 1], [0.8125, 0.6875, 0.8125, 0.5, 0.625, 0.6875]
    a, b = (smauc(Tally.of(y, s, weight=np.full(6, w))) for w in (3.0, 3.0 * unit))
    assert (a.value, a.low, a.high) == pytest.approx((b.value, b.low, b.high), rel=1e-9)


def test_baseline_of_smauc_is_a_number_or_none():
    e = smauc(Tally.of([0, 1, 1], [0.0, 0.0, 0.0], weight=[1e-40, 1.0, 1e40], kind="score"))
    assert e.baseline is None or math.isfinite(e.baseline)


# bounds


def test_shares_and_losses_stay_within_their_bounds():
    far = [[-99975.0, -100024.0, -100012.0, -99966.0], [-99965.0, -99991.0, -100014.0, -99955.0]]
    t = ClassTally.of([2, 2], far, kind="logit", weight=[2.86033414, 0.03568391], classes=range(4))
    assert spherical(t).value <= 1
    weight = [1e30, 1e-20, 1e12, 1e5]
    for unit in (1.0, 3.0, 0.7):
        e = accuracy(
            ClassTally.of([0, 1, 0, 1], np.eye(2)[[0, 1, 0, 0]], weight=np.array(weight) * unit)
        )
        assert e.low <= e.value <= e.high


def test_h_measure_of_a_class_that_all_but_vanishes():
    """The loss that could be saved is less than the rounding of losses."""
    y, s = [0, 1, 0, 1], [0.9, 0.8, 0.2, 0.1]
    for apart in (1e-15, 1e-25, 1e-40):
        e = h_measure(Tally.of(y, s, weight=[apart, 1.0, apart / 3, 2.0]), costs=(0.5, 3.0))
        assert e.why == "a class is too rare for floating point"


# raters


def test_means_of_items_that_do_not_differ():
    """Rounding is no variance: 7/3 is the mean of both items."""
    r = Ratings.of({"a": [1, 3], "b": [4, 3], "c": [2, 1]}, scale="interval")
    for measure in (icc_1_k, icc_3_k):
        assert measure(r).why == "the items do not differ"


def test_icc_of_uneven_weights_is_at_most_1():
    x = {
        "a": [4, 1, None, 5, None],
        "b": [None, None, None, None, 2],
        "c": [None, None, 3, None, 4],
    }
    weight = [3.6e35, 1.8e26, 7.8e45, 1.9e33, 1.3e37]
    e = icc_1_1(Ratings.of(x, scale="ordinal", categories=[1, 2, 3, 4, 5], weight=weight))
    assert not e.defined or e.low <= e.value <= e.high <= 1


def test_stuart_maxwell_of_weights_far_apart_has_a_value_or_a_reason():
    x = {"a": [0, 1, 2, 0, 1, 2], "b": [1, 2, 0, 2, 0, 1]}
    for apart in (1e8, 1e16, 1e40):
        weight = apart ** np.array([0.0, 1.0, -1.0, 0.5, -0.5, 0.0])
        e = stuart_maxwell(Ratings.of(x, weight=weight))
        assert math.isfinite(e.value) != bool(e.why)


# containers


class Raises:
    """A column that raises as soon as it is looked at."""

    def __init__(self, error):
        self.error = error

    def __len__(self):
        raise self.error

    def __iter__(self):
        raise self.error


class Touchy:
    """A value that raises when it is compared and hashed."""

    def __eq__(self, other):
        raise RuntimeError("not to be compared")

    def __hash__(self):
        return 7


UNREADABLE = {
    "sparse": lambda: torch.tensor(P).to_sparse(),
    "meta": lambda: torch.empty(4, device="meta"),
    "raises": lambda: Raises(RuntimeError("gone")),
    "raises a key": lambda: Raises(KeyError("x")),
    "touchy": lambda: [0.5, 0.5, 0.5, Touchy()],
}


@pytest.mark.parametrize("role", ["y", "s", "weight", "count"])
@pytest.mark.parametrize("name", UNREADABLE)
def test_columns_that_cannot_be_read_are_refused(name, role):
    given = {"y": Y, "s": P, role: UNREADABLE[name]()}
    with pytest.raises(BadInput) as problem:
        Tally.of(**given)
    assert "\n" not in str(problem.value)
    assert {"y": "label", "s": "score"}.get(role, role) in str(problem.value)


@pytest.mark.parametrize("name", ["sparse", "meta"])
def test_tables_that_cannot_be_read_are_refused(name):
    table = {"sparse": torch.eye(4).to_sparse(), "meta": torch.empty(4, 4, device="meta")}[name]
    with pytest.raises(BadInput, match="scores"):
        ClassTally.of([0, 1, 2, 3], table)


@pytest.mark.parametrize("option", ["kind", "missing"])
@pytest.mark.parametrize(
    "given", [np.zeros(3), np.zeros((3, 2)), torch.eye(3), [1] * 99, Touchy()], ids="abcde"
)
def test_options_that_are_no_words_are_refused_in_one_line(option, given):
    with pytest.raises(BadInput) as problem:
        Tally.of(Y, P, **{option: given})
    assert "\n" not in str(problem.value)
    assert len(str(problem.value)) < 200


# rounding


@pytest.mark.parametrize("seed", range(20))
def test_mcc_of_rows_that_are_all_right_has_an_interval_in_any_unit_of_weights(seed):
    """The share of right rows was a hair below 1, and the interval of no width."""
    weight = np.random.default_rng(seed).uniform(0.1, 5, 16)
    y = np.repeat([0, 1, 2, 3], 4)
    made = [
        mcc(ClassTally.of(y, np.eye(4)[y], classes=range(4), weight=weight * unit))
        for unit in (1.0, 10.0, 1e-7)
    ]
    assert [e.value for e in made] == pytest.approx([1, 1, 1])
    assert [e.low for e in made] == pytest.approx([made[0].low] * 3)
    assert 0.5 < made[0].low < 0.95


def test_sums_that_end_next_to_a_tie_are_saved(tmp_path):
    """What is left of the first term is half a step, and a little that is only in the next."""
    t = Tally.of([1, 1, 1, 0], [0.5] * 4, weight=[1.0, 2.0**-53, 2.0**-120, 1.0])
    t.save(tmp_path / "x.tally")
    assert Tally.load(tmp_path / "x.tally") == t
