"""Naive Bayes and the probability tree on hard input: sane probabilities, or one clear sentence."""

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.naive_bayes import GaussianNB

import scorewise as sw
from scorewise.models import NaiveBayes, ProbabilityTree

X, Y = [[1.0, 5.0], [2.0, 6.0], [3.0, 9.0], [4.0, 7.0]], [0, 0, 1, 1]
MODELS = [NaiveBayes(), ProbabilityTree(min_samples_leaf=1)]


def two_classes():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 100)
    return rng.normal(size=(100, 2)) + y[:, None], y


@pytest.mark.parametrize("value", [1e3, 1e8, 1e150, 1e308])
def test_far_away_probabilities_sum_to_1(value):
    x, y = two_classes()
    rows = np.array([[value, 0.0], [-value, value], [value, np.nan]])
    for model in (NaiveBayes(), NaiveBayes(var_smoothing=1e-9)):
        p = model.fit(x, y).predict_proba(rows)
        np.testing.assert_allclose(p.sum(axis=1), 1, rtol=0, atol=1e-12)
        np.testing.assert_array_equal(model.predict(rows), p.argmax(axis=1))


@pytest.mark.parametrize("value", [1e3, 1e8, 1e150, 1e308])
def test_classes_of_the_same_density_keep_their_shares_far_away(value):
    model = NaiveBayes().fit([[0.0], [1.0]] * 3, [0, 0, 1, 1, 1, 1])
    assert model.predict_proba([[value]])[0] == pytest.approx([1 / 3, 2 / 3], rel=1e-12)


@pytest.mark.parametrize("unit", [1e-310, 1e-200, 1e160, 1e307, (1e-200, 1e160)])
def test_numbers_count_alike_in_any_unit(unit):
    x, y = two_classes()
    model, scaled = NaiveBayes().fit(x, y), NaiveBayes().fit(x * unit, y)
    plain = GaussianNB(var_smoothing=0).fit(x, y)
    np.testing.assert_allclose(scaled.predict_proba(x * unit), plain.predict_proba(x), rtol=1e-9)
    np.testing.assert_allclose(scaled.theta_, model.theta_ * unit, rtol=1e-9)
    shift = model.predict_joint_log_proba(x) - scaled.predict_joint_log_proba(x * unit)
    np.testing.assert_allclose(shift, np.log(np.broadcast_to(unit, 2)).sum(), rtol=1e-9)


@pytest.mark.parametrize("smoothing", [1e-9, 0.1])
def test_the_variance_that_is_added_is_that_of_the_widest_column(smoothing):
    x, y = two_classes()
    x = x * [1e-3, 1e3]
    theirs = GaussianNB(var_smoothing=smoothing).fit(x, y)
    ours = NaiveBayes(var_smoothing=smoothing).fit(x, y)
    np.testing.assert_allclose(ours.var_, theirs.var_, rtol=1e-9)
    wide = NaiveBayes(var_smoothing=smoothing).fit(x * [1, 1e157], y).predict_proba(x * [1, 1e157])
    alone = GaussianNB(var_smoothing=smoothing).fit(x[:, 1:], y).predict_proba(x[:, 1:])
    np.testing.assert_allclose(wide, alone, rtol=1e-4)


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_one_weight_for_all_rows_is_checked_as_many_are(model):
    plain = model.fit(X, Y).predict_proba(X)
    many = model.fit(X, Y, sample_weight=[2.0] * 4).predict_proba(X)
    for two in (2, 2.0, np.int64(2), np.float32(2)):
        np.testing.assert_array_equal(model.fit(X, Y, sample_weight=two).predict_proba(X), many)
    if isinstance(model, NaiveBayes):
        np.testing.assert_allclose(many, plain)
    with pytest.raises(sw.BadInput, match="sample_weight is negative in 4 rows, first at row 0"):
        model.fit(X, Y, sample_weight=-1)
    with pytest.raises(sw.BadInput, match="sample_weight is zero in every row"):
        model.fit(X, Y, sample_weight=0)
    with pytest.raises(sw.BadInput, match="sample_weight holds words"):
        model.fit(X, Y, sample_weight="a")
    with pytest.raises(ValueError, match="sample_weight contains NaN"):
        model.fit(X, Y, sample_weight=float("nan"))


def test_a_class_whose_rows_all_weigh_0_stays_and_gets_nothing():
    for model in (NaiveBayes(), ProbabilityTree(smoothing="m"), ProbabilityTree(smoothing=None)):
        model.fit([*X, [9.0, 9.0]], [*Y, 2], sample_weight=[1, 1, 1, 1, 0])
        assert model.classes_.tolist() == [0, 1, 2]
        p = model.predict_proba([*X, [9.0, 9.0], [1e9, 1e9]])
        assert (p[:, 2] == 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
    laplace = ProbabilityTree().fit([*X, [9.0, 9.0]], [*Y, 2], sample_weight=[1, 1, 1, 1, 0])
    assert laplace.predict_proba(X)[0] == pytest.approx([3 / 5, 1 / 5, 1 / 5])


@pytest.mark.parametrize(
    ("nominal", "said"),
    [
        ([True, False], r"nominal holds True; .*flatnonzero"),
        (np.array([False, True]), r"nominal holds (np\.)?False"),
        ([1.5], "nominal holds 1.5; pass the names of columns or their places"),
        ([None], "nominal holds None"),
        (np.array(1), "is not a list"),
        (np.array([[1]]), "is not a list"),
    ],
)
def test_nominal_columns_are_names_or_places(nominal, said):
    for model in (NaiveBayes(nominal=nominal), ProbabilityTree(nominal=nominal)):
        with pytest.raises(sw.BadInput, match=said):
            model.fit(X, Y)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (NaiveBayes(alpha="a"), "alpha='a' is not positive and finite"),
        (NaiveBayes(alpha=np.inf), "alpha=inf is not positive and finite"),
        (NaiveBayes(alpha=None), "alpha=None is not positive and finite"),
        (NaiveBayes(var_smoothing="a"), "var_smoothing='a' is not a finite number from 0 up"),
        (NaiveBayes(var_smoothing=np.inf), "var_smoothing=inf is not a finite number"),
        (ProbabilityTree(smoothing="m", m="a"), "m='a' is not positive and finite"),
        (ProbabilityTree(smoothing="m", m=np.inf), "m=inf is not positive and finite"),
        (ProbabilityTree(smoothing="x"), 'pass smoothing="laplace" or "m" or None'),
    ],
    ids=repr,
)
def test_settings_without_a_meaning_are_refused(model, said):
    with pytest.raises(sw.BadInput, match=said):
        model.fit(X, Y)
