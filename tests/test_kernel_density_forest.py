"""The kernel density forest against scikit-learn's forest and against plain loops."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import (
    load_breast_cancer,
    load_digits,
    load_iris,
    load_wine,
    make_classification,
    make_moons,
)
from sklearn.ensemble import (
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss, roc_auc_score

import scorewise as sw
from scorewise.models.forest_kernel import Training, class_sums, leaves_of
from scorewise.models.kernel_density import stratified_sample
from scorewise.models.kernel_density_forest import takes_missing

PLAIN = {"exponent": 1.0, "smoothing": 0.0, "temperature": 1.0}


def _data(n=200, classes=3, seed=0):
    return make_classification(
        n, 6, n_informative=4, n_classes=classes, flip_y=0.1, random_state=seed
    )


def _model(trees=40, **settings):
    return sw.models.KernelDensityForest(n_estimators=trees, random_state=0, **settings)


def _near(model, x):
    """The posterior without the background."""
    return model._posterior_and_nearness(x)[0]


@pytest.mark.parametrize("members", [2, 10_000])
@pytest.mark.parametrize(
    "forest",
    [
        RandomForestClassifier(12, random_state=1),
        RandomForestClassifier(12, random_state=1, max_depth=2, class_weight="balanced"),
        RandomForestClassifier(12, random_state=1, max_samples=0.4, min_samples_leaf=7),
        RandomForestClassifier(12, random_state=1, class_weight="balanced_subsample"),
        ExtraTreesClassifier(12, random_state=1, max_leaf_nodes=9),
        ExtraTreesClassifier(12, random_state=1, bootstrap=True, criterion="entropy"),
    ],
    ids=str,
)
@pytest.mark.parametrize("weighted", [False, True])
def test_exponent_one_gives_back_the_forest(forest, members, weighted):
    x, y = _data()
    weight = np.random.default_rng(0).integers(0, 4, len(y)) + 0.5 if weighted else None
    model = sw.models.KernelDensityForest(forest, members=members, random_state=0, **PLAIN)
    model.fit(x, y, sample_weight=weight)
    new = _data(seed=1)[0]
    expected = clone(forest).fit(x, y, sample_weight=weight).predict_proba(new)
    np.testing.assert_allclose(_near(model, new), expected, atol=1e-12)


def test_weights_are_those_of_a_loop_over_pairs_and_trees():
    x, y = _data(40)
    forest = RandomForestClassifier(7, random_state=0, min_samples_leaf=2).fit(x, y)
    model = sw.models.KernelDensityForest(forest, members=1000, random_state=0).fit(x, y)
    new = _data(9, seed=3)[0]
    expected = np.zeros((len(new), len(x)))
    for tree, drawn in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        own, asked = tree.apply(x.astype(np.float32)), tree.apply(new.astype(np.float32))
        for a in range(len(new)):
            sharing = [i for i in drawn if own[i] == asked[a]]
            for i in sharing:
                expected[a, i] += 1 / len(sharing) / len(forest.estimators_)
    w = model._leaves.weights(leaves_of(forest, new)).toarray()
    np.testing.assert_allclose(w, expected, atol=1e-12)


def test_out_of_bag_weights_give_the_out_of_bag_posterior_of_the_forest():
    x, y = _data()
    forest = RandomForestClassifier(60, random_state=0, oob_score=True).fit(x, y)
    model = sw.models.KernelDensityForest(forest, members=4, random_state=0, **PLAIN).fit(x, y)
    found = leaves_of(forest, x)
    rows = np.ones(len(y), bool)
    unseen = Training(forest, x, y, None, rows, 4, np.random.default_rng(0)).out_of_bag(
        model._leaves, found
    )
    sums = class_sums(unseen.weights, np.eye(3)[y], 1.0)
    np.testing.assert_allclose(sums, forest.oob_decision_function_[unseen.rows], atol=1e-12)


@pytest.mark.parametrize("of", [RandomForestClassifier, ExtraTreesClassifier])
def test_far_rows_get_the_prior_and_near_ones_do_not(of):
    x, y = make_moons(600, noise=0.2, random_state=0)
    kept = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)[:100]])
    x, y = x[kept], y[kept]
    model = sw.models.KernelDensityForest(of(60), random_state=0).fit(x, y)
    angle = np.linspace(0, 2 * np.pi, 50)
    away = 5 * np.abs(x).max() * np.column_stack([np.cos(angle), np.sin(angle)])
    np.testing.assert_allclose(model.predict_proba(away), np.tile([0.75, 0.25], (50, 1)), atol=1e-3)
    assert (model.novelty(away) > 0.99).all()
    assert model.novelty(x).mean() < 0.02
    assert model.score(*make_moons(600, noise=0.2, random_state=1)) > 0.9
    novel = np.r_[np.zeros(len(x)), np.ones(50)]
    assert roc_auc_score(novel, -model.score_samples(np.r_[x, away])) == 1.0


def test_posteriors_are_better_than_those_of_the_forest():
    x, y = make_moons(1600, noise=0.35, random_state=0)
    model = _model(150).fit(x[:600], y[:600])
    forest = model.forest_
    mine = log_loss(y[600:], model.predict_proba(x[600:]))
    assert mine < log_loss(y[600:], forest.predict_proba(x[600:])) - 0.02


def test_threads_change_nothing():
    x, y = _data(5000)
    a, b = (_model(12, n_jobs=jobs).fit(x, y) for jobs in (1, 2))
    assert np.array_equal(a.predict_proba(x), b.predict_proba(x))
    assert np.array_equal(a.score_samples(x), b.score_samples(x))
    c = _model(12, n_jobs=2).fit(x, y)
    assert np.array_equal(b.predict_proba(x), c.predict_proba(x))


def test_each_row_is_judged_by_itself():
    x, y = load_digits(return_X_y=True)
    model = _model(30).fit(x[::2], y[::2])
    new = 1.5 * x[1:400:2]
    near = model.score_samples(new)
    assert np.array_equal(model.score_samples(new[::-1]), near[::-1])
    for row in range(0, 200, 20):
        assert model.score_samples(new[[row]])[0] == pytest.approx(near[row], rel=1e-12)


def test_a_copy_says_the_same():
    x, y = _data()
    model = _model().fit(x, y)
    kept = pickle.loads(pickle.dumps(model))
    again = clone(model).fit(x, y)
    assert np.array_equal(model.predict_proba(x), kept.predict_proba(x))
    assert np.array_equal(model.predict_proba(x), again.predict_proba(x))


def test_whole_weights_are_repetitions():
    x, y = _data(60, classes=2)
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    forest = RandomForestClassifier(5, bootstrap=False, max_features=None, random_state=0)
    settings = {"members": 1000, "exponent": 2.0, "smoothing": 0.1, "temperature": 1.5}
    a = sw.models.KernelDensityForest(forest, random_state=0, **settings)
    a.fit(x, y, sample_weight=weight)
    x2, y2 = np.repeat(x, weight, axis=0), np.repeat(y, weight)
    forest = RandomForestClassifier(5, bootstrap=False, max_features=None, random_state=0)
    b = sw.models.KernelDensityForest(forest, random_state=0, **settings | {"exponent": 1.0})
    a1 = clone(a).set_params(exponent=1.0).fit(x, y, sample_weight=weight)
    b.fit(x2, y2)
    new = _data(60, classes=2, seed=5)[0]
    np.testing.assert_allclose(_near(a1, new), _near(b, new), atol=1e-9)
    assert not np.allclose(_near(a, new), _near(a1, new))


def test_the_forest_may_be_fitted_already():
    x, y = _data()
    forest = RandomForestClassifier(40, random_state=3).fit(x, y)
    model = sw.models.KernelDensityForest(forest, random_state=0).fit(x, y)
    assert model.forest_ is forest
    assert model.tuned_on_ == "out of bag"
    with pytest.raises(sw.BadInput, match="fitted on other rows"):
        sw.models.KernelDensityForest(forest).fit(x[::-1], y[::-1])
    with pytest.raises(sw.BadInput, match="or with other labels"):
        sw.models.KernelDensityForest(forest).fit(x, np.roll(y, 1))
    with pytest.raises(sw.BadInput, match="fitted on 200 rows and 150"):
        sw.models.KernelDensityForest(forest).fit(x[:150], y[:150])
    with pytest.raises(sw.BadInput, match="fitted to the classes 0, 1, 2, and the labels are"):
        sw.models.KernelDensityForest(forest).fit(x, y + 1)


def test_a_rare_class_is_expected_as_often_as_it_comes():
    x, y = make_classification(
        12_000, 10, n_informative=5, weights=[0.995], flip_y=0, class_sep=0.7, random_state=0
    )
    model = _model(60).fit(x[:6000], y[:6000])
    p = model.predict_proba(x[6000:])[:, 1]
    assert p.mean() == pytest.approx(y[6000:].mean(), rel=0.4)
    assert log_loss(y[6000:], p) < log_loss(y[6000:], np.full(6000, y[:6000].mean())) - 0.003


def test_rows_to_tune_on_stand_for_all():
    y = np.repeat(["a", "b", "c"], [5000, 3, 800])
    rows, stand_for = stratified_sample(y, 1000, np.random.default_rng(0))
    assert len(rows) == 1000
    assert np.array_equal(np.unique(rows), rows)
    for name, count in (("a", 5000), ("b", 3), ("c", 800)):
        assert stand_for[y[rows] == name].sum() == pytest.approx(count)
    assert (y[rows] == "b").sum() == 3
    every, ones = stratified_sample(y, 10_000, np.random.default_rng(0))
    assert len(every) == len(y)
    assert (ones == 1).all()


def test_trees_without_a_bootstrap_are_tuned_on_folds():
    x, y = _data()
    model = sw.models.KernelDensityForest(ExtraTreesClassifier(40), random_state=0).fit(x, y)
    assert model.tuned_on_ == "4 folds"


def test_labels_keep_their_names():
    x, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = _model().fit(x, names)
    assert set(model.predict(x)) == set(names)
    assert model.score(x, names) > 0.9


RNG = np.random.default_rng(0)
X, Y = _data(150)
HOLES = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
HOLES[0] = np.nan
ODD = {
    "constant column": (X * [0, 1, 1, 1, 1, 1] + 7, Y),
    "duplicated column": (X[:, [0, 0, 1, 2, 3, 4, 5]], Y),
    "one row of each class": (X[:4], np.arange(4)),
    "one class": (X, 0 * Y),
    "1,000 features": (np.column_stack([X, RNG.normal(size=(150, 994))]), Y),
    "scaled by 1e12": (X * [1, 1e12, 1, 1, 1, 1], Y),
    "scaled by 1e-12": (X * [1, 1e-12, 1, 1, 1, 1], Y),
    "missing": (HOLES, Y),
    "column all missing": (X * [1, 1, np.nan, 1, 1, 1], Y),
    "all rows alike": (0 * X + 1, Y),
    "codes": (RNG.integers(0, 3, X.shape) * 1.0, Y),
    "a rare class": (X, (np.arange(150) < 2).astype(int)),
}


@pytest.mark.parametrize("of", [RandomForestClassifier, ExtraTreesClassifier])
@pytest.mark.parametrize("name", ODD)
def test_odd_data_gives_sane_posteriors(name, of):
    x, y = ODD[name]
    if np.isnan(x).any() and not takes_missing(of()):
        pytest.skip("this scikit-learn has such forests without missing values")
    model = sw.models.KernelDensityForest(of(25), random_state=0).fit(x, y)
    spread = np.nan_to_num(x).std(axis=0)
    away = np.where(np.isnan(x), 0, x) + 1e3 * np.where(spread > 0, spread, 0)
    for rows in (x, away):
        p = model.predict_proba(rows)
        assert np.isfinite(p).all()
        assert (p >= 0).all()
        np.testing.assert_allclose(p.sum(axis=1), 1)
        assert np.isfinite(model.score_samples(rows)).all()
    if name not in ("all rows alike", "one row of each class"):
        assert (model.predict(x) == y).mean() > 0.8 or name in ("codes", "missing")
        np.testing.assert_allclose(
            model.predict_proba(away)[1:], [model.prior_] * (len(x) - 1), atol=0.02
        )


def test_scale_and_shift_of_features_do_not_matter():
    x, y = _data()
    scale, shift = np.array([1, 8, 64, 0.5, 2, 1 / 16]), np.array([0, 8, -16, 0, 4, 0])
    a, b = _model().fit(x, y), _model().fit(x * scale, y)
    np.testing.assert_allclose(a.predict_proba(x), b.predict_proba(x * scale), atol=1e-9)
    c = _model().fit(x + shift, y)
    assert np.abs(c.novelty(x + shift) - a.novelty(x)).max() < 0.05


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"exponent": 0}, "exponent is 0"),
        ({"temperature": -1}, "temperature is -1"),
        ({"smoothing": -0.1}, "smoothing is -0.1"),
        ({"exponent": None}, "exponent is None"),
        ({"exponent": "x"}, "exponent is 'x'"),
        ({"temperature": np.inf}, "temperature is inf"),
        ({"neighbours": 0}, "neighbours must be an integer from 1 up, such as 10; got 0"),
        ({"neighbours": 2.5}, "neighbours must be an integer from 1 up, such as 10; got 2.5"),
        ({"members": None}, "members must be an integer from 1 up, such as 2; got None"),
        ({"forest": RandomForestRegressor()}, "forest is RandomForestRegressor"),
        ({"members": 0}, "members must be an integer from 1 up, such as 2; got 0"),
        ({"forest": load_iris}, "forest is"),
    ],
)
def test_settings_without_a_meaning_are_refused(settings, told):
    with pytest.raises(sw.BadInput, match=told):
        sw.models.KernelDensityForest(**settings).fit(*_data())


def test_values_that_trees_cannot_hold_are_refused():
    x, y = _data()
    model = _model(5).fit(x, y)
    x[3, 1] = 1e300
    for ask in (model.predict_proba, lambda rows: model.fit(rows, y)):
        with pytest.raises(sw.BadInput, match="1 rows have infinite values"):
            ask(x)


def test_models_say_what_they_need(monkeypatch):
    monkeypatch.setitem(sys.modules, "scorewise.models.kernel_density_forest", None)
    with pytest.raises(ModuleNotFoundError):
        _ = sw.models.KernelDensityForest
    monkeypatch.delitem(sys.modules, "scorewise.models.kernel_density_forest")
    monkeypatch.setitem(sys.modules, "sklearn.ensemble", None)
    with pytest.raises(sw.BadInput, match=r"pip install 'scorewise\[sklearn\]'"):
        _ = sw.models.KernelDensityForest
    with pytest.raises(AttributeError, match=r"it has .*KernelDensityForest"):
        _ = sw.models.Oracle


@pytest.mark.parametrize("of", [RandomForestClassifier, ExtraTreesClassifier])
def test_rows_of_no_weight_might_as_well_be_absent(of):
    x, y = load_iris(return_X_y=True)
    odd = np.random.default_rng(0).normal(size=(10, 4)) * 1e6
    weight = np.r_[np.ones(150), np.zeros(10)]
    a = sw.models.KernelDensityForest(of(20), random_state=0)
    a.fit(np.r_[x, odd], np.r_[y, [0] * 10], sample_weight=weight)
    b = sw.models.KernelDensityForest(of(20), random_state=0).fit(x, y, sample_weight=np.ones(150))
    assert np.array_equal(a.predict_proba(x), b.predict_proba(x))
    assert (a.novelty(x + np.array([1000, 0, 0, 0])) > 0.99).all()
    few = np.r_[np.ones(4), np.zeros(42), np.ones(4), np.zeros(100)]
    c = sw.models.KernelDensityForest(of(20), random_state=0).fit(x, y, sample_weight=few)
    assert np.isfinite(c.predict_proba(x)).all()


def test_the_unit_of_weights_does_not_matter():
    x, y = _data()
    weight = np.random.default_rng(0).random(len(y)) + 0.1
    forest = ExtraTreesClassifier(20, random_state=0)
    a, b = (
        sw.models.KernelDensityForest(forest, random_state=0).fit(x, y, sample_weight=k * weight)
        for k in (1.0, 2.0**60)
    )
    np.testing.assert_allclose(a.predict_proba(x), b.predict_proba(x), rtol=1e-9)


@pytest.mark.parametrize("of", [RandomForestClassifier, ExtraTreesClassifier])
def test_weights_without_a_meaning_are_refused(of):
    x, y = _data()
    model = sw.models.KernelDensityForest(of(5))
    with pytest.raises(sw.BadInput, match="sample_weight is negative in 1 row"):
        model.fit(x, y, sample_weight=np.r_[-1, np.ones(len(y) - 1)])
    with pytest.raises(sw.BadInput, match="zero in every row"):
        model.fit(x, y, sample_weight=np.zeros(len(y)))


def test_a_class_that_weighs_nothing_is_never_expected():
    x, y = _data()
    forest = ExtraTreesClassifier(20, class_weight={0: 0, 1: 1, 2: 1})
    p = sw.models.KernelDensityForest(forest, random_state=0).fit(x, y).predict_proba(x)
    assert p[:, 0].max() < 1e-3


@pytest.mark.parametrize(("load", "least"), [(load_breast_cancer, 0.7), (load_wine, 1.0)])
def test_a_row_far_in_one_feature_is_new(load, least):
    x, y = load(return_X_y=True)
    model = _model(100).fit(x[::2], y[::2])
    assert (model.novelty(x[1::2]) > 0.5).mean() < 0.03
    flagged = []
    for feature in range(x.shape[1]):
        odd = x[1:20:2].copy()
        odd[:, feature] = x[:, feature].max() + 10 * x[:, feature].std()
        flagged.append((model.novelty(odd) > 0.5).mean())
    assert np.mean(flagged) >= least


def test_there_are_no_more_neighbours_than_rows():
    x, y = _data(60)
    model = _model(10, neighbours=10**9).fit(x, y)
    same = _model(10, neighbours=60).fit(x, y)
    assert np.array_equal(model.score_samples(x), same.score_samples(x))
    model.set_params(neighbours=1)
    assert np.array_equal(model.score_samples(x), same.score_samples(x))


def test_an_unfitted_model_says_so():
    with pytest.raises(NotFittedError):
        _model().novelty([[1.0]])


def test_frames_with_names_raise_no_warning():
    pd = pytest.importorskip("pandas")
    x, y = _data()
    frame = pd.DataFrame(x, columns=list("abcdef"))
    model = _model().fit(frame, y)
    assert list(model.feature_names_in_) == list("abcdef")
    np.testing.assert_array_equal(model.predict_proba(frame), _model().fit(x, y).predict_proba(x))
    forest = RandomForestClassifier(20, random_state=0).fit(frame, y)
    sw.models.KernelDensityForest(forest, random_state=0).fit(frame, y).predict(frame)
