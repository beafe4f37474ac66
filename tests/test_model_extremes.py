"""Models where rows, weights or settings are extreme, or are not what they should be."""

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.utils.validation import has_fit_parameter

import scorewise as sw
from network_cases import quietly, small
from scorewise.models import (
    KernelDensityForest,
    KernelDensityNetwork,
    NaiveBayes,
    ProbabilityTree,
    at_radius,
    in_and_out,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = (X[:, 0] > 0).astype(int)
FRAME = pl.DataFrame(X, schema=["a", "b", "c"])


def forest(**options):
    return RandomForestClassifier(10, random_state=0, **options)


@pytest.mark.skipif(
    tuple(map(int, sklearn.__version__.split(".")[:2])) < (1, 8),
    reason="before scikit-learn 1.8 rows with gaps may end in other leaves than in training",
)
@pytest.mark.parametrize("of", [RandomForestClassifier, ExtraTreesClassifier])
def test_other_rows_than_those_of_the_forest_are_refused_also_with_gaps(of):
    x, other = X.copy(), RNG.normal(size=X.shape)
    x[:, 2] = other[:, 2] = np.nan
    fitted = of(20, random_state=0).fit(x, Y)
    assert KernelDensityForest(fitted, random_state=0).fit(x, Y).score(x, Y) > 0.9
    wrong = [(x, 1 - Y), (other, Y)]
    if fitted.bootstrap:  # without it the order of rows is all the same
        wrong.append((x[::-1], Y[::-1]))
    for rows, labels in wrong:
        with pytest.raises(sw.BadInput, match="fitted on other rows"):
            KernelDensityForest(fitted, random_state=0).fit(rows, labels)


@pytest.mark.parametrize("of", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("rows", [1, 5])
def test_rows_of_a_class_without_weight_tune_nothing(of, rows):
    y = np.repeat([0, 1], [120 - rows, rows])
    model = KernelDensityForest(of(30, random_state=0, class_weight={0: 0, 1: 1}), random_state=0)
    p = model.fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p, np.tile([0.0, 1.0], (120, 1)), atol=1e-9)


@pytest.mark.parametrize("of", [RandomForestClassifier, ExtraTreesClassifier])
def test_a_fitted_forest_of_few_rows_with_weight(of):
    weight = np.zeros(120)
    weight[[np.flatnonzero(Y == 0)[0], np.flatnonzero(Y == 1)[0]]] = 1
    fitted = of(20, random_state=0).fit(X, Y, sample_weight=weight)
    model = KernelDensityForest(fitted, random_state=0).fit(X, Y, sample_weight=weight)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


@pytest.mark.parametrize("unit", [1e300, 1e155, 1e-12, 1e-200])
def test_a_network_bears_columns_of_any_unit(unit):
    x = X * [unit, 1, 1]
    network = small((8,))
    model = quietly(KernelDensityNetwork(network, random_state=0), x, Y)
    assert model.score(x, Y) > 0.85
    assert (model.novelty(100 * x[:2]) > 0.99).all()
    far, same = (at_radius(rows, 3, 5) / u for rows, u in ((x, [unit, 1, 1]), (X, 1)))
    np.testing.assert_allclose(far, same, rtol=1e-9)


@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_the_unit_of_weights_does_not_matter(unit):
    weight = RNG.random(120)
    trees = KernelDensityForest(ExtraTreesClassifier(20, random_state=0), random_state=0)
    usual, extreme = (trees.fit(X, Y, weight * u).predict_proba(X) for u in (1, unit))
    np.testing.assert_allclose(usual, extreme, atol=0.01)


@pytest.mark.skipif(
    not has_fit_parameter(MLPClassifier(), "sample_weight"), reason="scikit-learn 1.7 brought them"
)
@pytest.mark.parametrize("unit", [1e300, 1e-300])
def test_the_unit_of_weights_does_not_matter_to_networks(unit):
    weight = RNG.random(120)
    network = KernelDensityNetwork(small((8,)), random_state=0)
    a, b = (quietly(network, X, Y, sample_weight=weight * u).predict_proba(X) for u in (1.0, unit))
    np.testing.assert_allclose(a, b, atol=1e-6)


DATE = datetime.date(1970, 1, 2)
FITTED = KernelDensityForest(forest(), random_state=0).fit(FRAME, Y)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: FITTED.predict(FRAME.lazy()), "a lazy frame"),
        (lambda: FITTED.predict(FRAME.with_columns(a=pl.lit(DATE))), "a holds dates or times"),
        (
            lambda: FITTED.predict(FRAME.with_columns(b=pl.lit("x"))),
            "b holds 'x', but the model was fitted to numbers",
        ),
        (lambda: KernelDensityForest(forest()).fit((X * 9).astype("M8[D]"), Y), "holds dates"),
        (lambda: KernelDensityForest(forest()).fit(X, ["a", None] * 60), "y is missing"),
        (lambda: KernelDensityForest(exponent=1e308).fit(X, Y), "exponent is 1e.308"),
        (lambda: KernelDensityForest(exponent=10**400).fit(X, Y), "exponent is 1000"),
        (lambda: KernelDensityForest(exponent=np.ones(2)).fit(X, Y), "exponent is array"),
        (lambda: KernelDensityForest(temperature=1e-310).fit(X, Y), "temperature is 1e-310"),
        (
            lambda: KernelDensityForest(members=True).fit(X, Y),
            "members must be an integer from 1 up, such as 2; got True",
        ),
        (
            lambda: KernelDensityForest(forest(class_weight={0: -1, 1: 1})).fit(X, Y),
            "class_weight is {0: -1, 1: 1}",
        ),
        (lambda: ProbabilityTree().fit(X, Y, np.full(120, 1.7e308)), "more than a number"),
        (lambda: at_radius(FRAME.lazy(), 1), "a lazy frame"),
        (lambda: at_radius([["a", "b"]], 1), "an array must hold numbers"),
        (lambda: at_radius(X[:, :0], 1), "must have rows and columns"),
        (lambda: at_radius(X, "a"), "radius must be a number from 0 up, such as 5; got a"),
        (lambda: at_radius(X, 1, 2.5), "n must be an integer from 1 up, such as 500; got 2.5"),
        (lambda: in_and_out(FITTED, FRAME, Y, radii=3), "radii is 3"),
        (
            lambda: in_and_out(FITTED, FRAME, Y, level="a"),
            "level must lie between 0 and 1, such as 0.95; got a",
        ),
        (lambda: in_and_out({1: FITTED, "1": FITTED}, FRAME, Y), "the same name"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_sentence(call, said):
    with pytest.raises(sw.BadInput, match=said):
        call()


@pytest.mark.parametrize(
    "model", [KernelDensityForest(), KernelDensityNetwork(), ProbabilityTree(), NaiveBayes()]
)
def test_frames_without_columns_or_with_names_twice_are_refused(model):
    with pytest.raises(sw.BadInput, match="two columns of the features are called a"):
        model.fit(pd.DataFrame(X, columns=["a", "b", "a"]), Y)
    with pytest.raises(sw.BadInput, match=r"shape \(120, 0\)"):
        model.fit(FRAME.to_pandas()[[]], Y)
