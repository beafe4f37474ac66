"""The probability estimating tree: leaves counted again by hand, splits as scikit-learn grows them."""

import pickle

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.model_selection import cross_val_predict
from sklearn.tree import DecisionTreeClassifier

import scorewise as sw
from model_cases import checks, frames, mixed
from scorewise.models import ProbabilityTree

LEAST = (
    "min_samples_leaf counts rows, as in scikit-learn's trees: a row of weight 2 is one row there"
)
REASONS = {
    "ProbabilityTree()": {"check_sample_weight_equivalence_on_dense_data": LEAST},
    "ProbabilityTree(min_samples_leaf=1)": {},
}


@checks(ProbabilityTree(), ProbabilityTree(min_samples_leaf=1), reasons=REASONS)
def test_conventions_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", ["laplace", "m", None])
def test_leaves_are_those_of_scikit_learn_smoothed(smoothing, weighted):
    x, y = load_iris(return_X_y=True)
    w = np.random.default_rng(0).random(150) + 0.1 if weighted else np.ones(150)
    ours = ProbabilityTree(smoothing=smoothing, m=4, random_state=0)
    p = ours.fit(x, y, sample_weight=w).predict_proba(x)
    theirs = DecisionTreeClassifier(criterion="entropy", min_samples_leaf=2, random_state=0)
    leaves = theirs.fit(x, y, sample_weight=w).apply(x)
    for i in range(150):
        there = leaves == leaves[i]
        n = np.array([w[there & (y == c)].sum() for c in range(3)])
        share = np.array([w[y == c].sum() for c in range(3)]) / w.sum()
        by_hand = {
            "laplace": (n + 1) / (n.sum() + 3),
            "m": (n + 4 * share) / (n.sum() + 4),
            None: theirs.predict_proba(x[[i]])[0],
        }
        assert p[i] == pytest.approx(by_hand[smoothing])


def test_smoothing_gives_better_probabilities_than_none():
    x, y = load_breast_cancer(return_X_y=True)
    score = {}
    for smoothing in ("laplace", None):
        model = ProbabilityTree(smoothing=smoothing, random_state=0)
        p = cross_val_predict(model, x, y, method="predict_proba")[:, 1]
        score[smoothing] = sw.evaluate(y, p)
    assert score["laplace"].auroc.value > score[None].auroc.value
    assert score["laplace"].brier.value < score[None].brier.value


def test_a_split_asks_for_one_level():
    hue = np.array([["red"], ["green"], ["blue"]] * 20)
    y = (hue[:, 0] == "green").astype(
        int
    )  # between the others, in any order of the alphabet or not
    model = ProbabilityTree(random_state=0).fit(hue, y)
    assert model.estimator_.get_depth() == 1
    assert model.predict_proba([["red"], ["green"]])[:, 1] == pytest.approx([1 / 42, 21 / 22])


def test_missing_words_are_a_level():
    x = np.array([["red"], ["blue"], [None]] * 10, dtype=object)
    y = np.array([0, 0, 1] * 10)
    model = ProbabilityTree(random_state=0).fit(x, y)
    missing = np.array([[None]], dtype=object)
    assert model.predict_proba(missing)[0, 1] == pytest.approx(11 / 12)


def test_unseen_words_go_where_more_rows_went():
    x = np.array([["red"]] * 20 + [["blue"]] * 10)
    y = np.array([0] * 20 + [1] * 10)
    model = ProbabilityTree(random_state=0).fit(x, y)
    for word in ("green", None):  # nothing was missing in training, so that missing is unseen too
        given = np.array([[word]], dtype=object)
        assert model.predict_proba(given)[0, 1] == pytest.approx(1 / 22)


def test_missing_numbers_go_where_they_belong():
    rng = np.random.default_rng(0)
    x = rng.random((200, 1))
    y = (x[:, 0] > 0.5).astype(int)
    lost = rng.random(200) < 0.3
    x[lost & (y == 1)] = np.nan  # only positives are missing
    model = ProbabilityTree(random_state=0).fit(x, y)
    assert model.predict_proba([[np.nan]])[0, 1] > 0.95


def test_all_libraries_hold_the_same_rows():
    numbers, words, y = mixed()
    model = ProbabilityTree(random_state=0)
    found = {n: clone(model).fit(f, y).predict_proba(f) for n, f in frames(numbers, words).items()}
    for name, p in found.items():
        np.testing.assert_array_equal(p, found["pandas"], err_msg=name)


def test_rows_of_no_weight_leave_no_trace():
    numbers, words, y = mixed()
    x = frames(numbers, words)["objects"]
    w = np.ones(len(y))
    w[:100], x[0, 2] = 0, "purple"
    one = ProbabilityTree(random_state=0).fit(x, y, sample_weight=w)
    other = ProbabilityTree(random_state=0).fit(x[100:], y[100:])
    np.testing.assert_array_equal(one.predict_proba(x), other.predict_proba(x))


@pytest.mark.filterwarnings("error")
def test_awkward_features_leave_sane_probabilities():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    good = rng.normal(size=100) + 2 * y
    plain = ProbabilityTree(random_state=0).fit(good[:, None], y).predict_proba(good[:, None])
    awkward = np.stack([good * 1e12, np.full(100, 0.1), np.full(100, np.nan)], axis=1)
    found = ProbabilityTree(random_state=0).fit(awkward, y).predict_proba(awkward)
    np.testing.assert_allclose(found, plain, atol=0.2)  # trees see 32 bits of each number
    assert (found.argmax(axis=1) == plain.argmax(axis=1)).mean() > 0.97
    huge = ProbabilityTree().fit([[1e300], [-1e300], [2.0], [-3.0]], [1, 0, 1, 0])
    assert list(huge.predict([[1e200], [-1e200]])) == [1, 0]
    one_each = ProbabilityTree(min_samples_leaf=1).fit([[0.0], [1.0]], [0, 1])
    assert one_each.predict_proba([[0.0], [1.0]])[:, 1] == pytest.approx([1 / 3, 2 / 3])


def test_bad_input_is_refused_in_a_sentence():
    x, y = [[1.0], [2.0], [3.0]], [0, 1, 1]
    with pytest.raises(sw.BadInput, match="smoothing='lidstone' is not known; pass smoothing=\"la"):
        ProbabilityTree(smoothing="lidstone").fit(x, y)
    with pytest.raises(sw.BadInput, match="m=0 is not positive"):
        ProbabilityTree(smoothing="m", m=0).fit(x, y)
    with pytest.raises(sw.BadInput, match="infinite in 1 row, row 2"):
        ProbabilityTree().fit(x, y).predict([[1.0], [2.0], [np.inf]])


def test_it_can_be_cloned_and_pickled():
    numbers, words, y = mixed()
    x = frames(numbers, words)["polars"]
    model = ProbabilityTree(smoothing="m", random_state=3).fit(x, y)
    kept = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(kept.predict_proba(x), model.predict_proba(x))
    np.testing.assert_array_equal(clone(model).fit(x, y).predict_proba(x), model.predict_proba(x))
    assert list(model.feature_names_in_) == ["x", "z", "hue", "tint"]
