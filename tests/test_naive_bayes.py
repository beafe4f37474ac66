"""Naive Bayes: as scikit-learn where that has it, and as a loop where it has not."""

import math
import pickle
from datetime import date

import numpy as np
import polars as pl
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.naive_bayes import CategoricalNB, GaussianNB

import scorewise as sw
from model_cases import checks, columns, frames, mixed
from scorewise.models import NaiveBayes


@checks(NaiveBayes())
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


# with weights only 0: scikit-learn takes the variance that it adds from rows without their weights
@pytest.mark.parametrize(
    ("weighted", "smoothing"), [(False, 0.0), (False, 1e-9), (False, 1e-2), (True, 0.0)]
)
def test_numbers_are_as_with_gaussian_nb(weighted, smoothing):
    rng = np.random.default_rng(1)
    y = rng.integers(0, 3, 200)
    x = rng.normal(size=(200, 4)) * [1, 10, 0.1, 3] + y[:, None]
    w = rng.random(200) + 0.5 if weighted else None
    ours = NaiveBayes(var_smoothing=smoothing).fit(x, y, sample_weight=w)
    theirs = GaussianNB(var_smoothing=smoothing).fit(x, y, sample_weight=w)
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), rtol=1e-6)
    np.testing.assert_allclose(
        ours.predict_joint_log_proba(x), theirs.predict_joint_log_proba(x), rtol=1e-7
    )


def test_the_floor_of_the_spread_does_not_touch_scattered_numbers():
    rng = np.random.default_rng(2)
    y = rng.integers(0, 2, 100)
    x = rng.normal(size=(100, 3)) + y[:, None]
    theirs = GaussianNB(var_smoothing=0).fit(x, y)
    np.testing.assert_allclose(NaiveBayes().fit(x, y).predict_proba(x), theirs.predict_proba(x))


def test_a_class_without_spread_has_a_sixth_of_the_mean_gap():
    model = NaiveBayes().fit([[1.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1])
    assert model.var_[:, 0] == pytest.approx([(1.5 / 6) ** 2, 1.0])


@pytest.mark.parametrize("alpha", [1.0, 0.3])
@pytest.mark.parametrize("weighted", [False, True])
def test_levels_are_as_with_categorical_nb(alpha, weighted):
    rng = np.random.default_rng(3)
    y = rng.integers(0, 3, 300)
    x = (rng.integers(0, 4, (300, 5)) + y[:, None]) % 4
    w = rng.random(300) if weighted else None
    ours = NaiveBayes(alpha=alpha, nominal=range(5)).fit(x, y, sample_weight=w)
    theirs = CategoricalNB(alpha=alpha).fit(x, y, sample_weight=w)
    np.testing.assert_allclose(ours.predict_proba(x), theirs.predict_proba(x), rtol=1e-10)
    words = np.array(["n", "e", "s", "w"])[x]
    told = NaiveBayes(alpha=alpha).fit(words, y, sample_weight=w).predict_proba(words)
    np.testing.assert_allclose(told, theirs.predict_proba(x), rtol=1e-10)


def by_hand(table, y, w, row, classes):
    """The probabilities of one row, value by value; what is missing or unseen is skipped."""
    logs = []
    for c in classes:
        total = math.log(sum(v for v, k in zip(w, y, strict=True) if k == c) / sum(w))
        for name, values in table.items():
            known = [
                (v, u, k)
                for v, u, k in zip(values, w, y, strict=True)
                if v is not None and v == v and u > 0
            ]
            own, value = [(v, u) for v, u, k in known if k == c], row[name]
            if value is None or value != value:
                continue
            mass = sum(u for _, u in own)
            if isinstance(value, str):
                levels = {v for v, _, _ in known}
                if value in levels:
                    hits = sum(u for v, u in own if v == value)
                    total += math.log((hits + 1) / (mass + len(levels)))
                continue
            mean = sum(u * v for v, u in own) / mass
            var = sum(u * (v - mean) ** 2 for v, u in own) / mass
            total -= 0.5 * math.log(2 * math.pi * var) + (value - mean) ** 2 / (2 * var)
        logs.append(total)
    top = max(logs)
    odds = [math.exp(x - top) for x in logs]
    return [x / sum(odds) for x in odds]


@pytest.mark.parametrize("weighted", [False, True])
def test_what_is_missing_is_left_out_as_a_loop_does(weighted):
    numbers, words, y = mixed()
    rng = np.random.default_rng(0)
    w = rng.integers(0, 3, len(y)).astype(float) if weighted else np.ones(len(y))
    table = columns(numbers, words)
    model = NaiveBayes().fit(pl.DataFrame(table), y, sample_weight=w)
    numbers, words, _ = mixed(40, seed=5)
    words[0, 0] = "purple"  # a level that training has not seen
    other = columns(numbers, words)
    found = model.predict_proba(pl.DataFrame(other))
    for i in range(40):
        row = {name: values[i] for name, values in other.items()}
        assert found[i] == pytest.approx(by_hand(table, y, w, row, ["a", "b", "c"]), rel=1e-9)


def test_all_libraries_hold_the_same_rows():
    numbers, words, y = mixed()
    found = {n: NaiveBayes().fit(f, y).predict_proba(f) for n, f in frames(numbers, words).items()}
    for name, p in found.items():
        np.testing.assert_allclose(p, found["pandas"], rtol=1e-12, err_msg=name)


def test_a_row_of_gaps_gets_the_shares_of_the_classes():
    numbers, words, y = mixed()
    model = NaiveBayes().fit(frames(numbers, words)["objects"], y)
    nothing = np.array([[np.nan, np.nan, None, "mauve"]], dtype=object)
    assert model.predict_proba(nothing)[0] == pytest.approx(model.class_prior_)


@pytest.mark.filterwarnings("error")
def test_awkward_features_leave_sane_probabilities():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    good = rng.normal(size=100) + 2 * y
    plain = NaiveBayes().fit(good[:, None], y).predict_proba(good[:, None])
    awkward = np.stack([good * 1e12, np.full(100, 0.1), np.full(100, np.nan)], axis=1)
    np.testing.assert_allclose(NaiveBayes().fit(awkward, y).predict_proba(awkward), plain)
    far = NaiveBayes().fit(awkward, y).predict_proba([[1e300, 7.0, 3.0], [-1e300, 0.1, np.nan]])
    assert np.isfinite(far).all()
    one_each = NaiveBayes().fit([[0.0], [1.0]], [0, 1]).predict_proba([[0.1], [0.5], [0.9]])
    assert one_each[:, 1] == pytest.approx([0, 0.5, 1], abs=1e-4)


def test_a_class_without_a_value_takes_that_of_all_rows():
    x = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, np.nan], [4.0, np.nan]])
    model = NaiveBayes().fit(x, [0, 0, 1, 1])
    assert model.theta_[:, 1] == pytest.approx([5.5, 5.5])
    assert np.isfinite(model.predict_proba(x)).all()


def test_bad_input_is_refused_in_a_sentence():
    x, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
    cases = [
        (lambda: NaiveBayes(alpha=0).fit(x, y), "alpha=0 is not positive"),
        (
            lambda: NaiveBayes(var_smoothing=-1).fit(x, y),
            "var_smoothing=-1 is not a finite number from 0 up",
        ),
        (lambda: NaiveBayes(nominal=["b"]).fit(x, y), "nominal column 'b' is not there"),
        (lambda: NaiveBayes(nominal=[3]).fit(x, y), "nominal column 3 is not there"),
        (lambda: NaiveBayes(nominal="hue").fit(x, y), "pass the names or places"),
        (lambda: NaiveBayes().fit([[1.0], [np.inf], [1.0]], y), "infinite in 1 row, row 1"),
        (lambda: NaiveBayes().fit(x, [0, None, 1]), "y is missing .* in 1 row, row 1"),
        (lambda: NaiveBayes().fit(x, y, sample_weight=[1, -1, 1]), "negative in 1 row, row 1"),
        (lambda: NaiveBayes().fit(x, y, sample_weight=[0, 0, 0]), "zero in every row"),
        (lambda: NaiveBayes().fit(x, y).predict([["red"]]), "'red', but .* fitted to numbers"),
    ]
    rows = pl.DataFrame({"day": [date(2020, 1, i) for i in (1, 2, 3)]})
    cases += [
        (lambda: NaiveBayes().fit(rows, y), "day holds dates"),
        (lambda: NaiveBayes().fit(rows.lazy(), y), "lazy frame"),
        (lambda: NaiveBayes().fit(rows[:0], []), r"shape \(0, 1\)"),
    ]
    for call, sentence in cases:
        with pytest.raises(sw.BadInput, match=sentence):
            call()


def test_it_can_be_cloned_and_pickled():
    numbers, words, y = mixed()
    x = frames(numbers, words)["polars"]
    model = NaiveBayes(alpha=0.5).fit(x, y)
    kept = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(kept.predict_proba(x), model.predict_proba(x))
    assert clone(model).get_params() == model.get_params()
    assert list(model.feature_names_in_) == ["x", "z", "hue", "tint"]
