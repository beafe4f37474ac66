"""Frames with words: the kernel density forest on them against the same rows as numbers."""

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

import scorewise as sw
from model_cases import frames, mixed


def _model(**settings):
    return sw.models.KernelDensityForest(RandomForestClassifier(30), random_state=0, **settings)


@pytest.mark.parametrize("kind", ["pandas", "pandas categories", "polars", "polars categories"])
def test_words_are_as_columns_of_0_and_1(kind):
    pd = pytest.importorskip("pandas")
    numbers, words, y = mixed(gaps=0.0)
    x = frames(numbers, words)[kind]
    model = _model().fit(x, y)
    flags = pd.get_dummies(frames(numbers, words)["pandas"][["hue", "tint"]]).to_numpy(float)
    plain = np.column_stack([numbers, flags])
    same = _model().fit(plain, y)
    assert np.array_equal(model.predict_proba(x), same.predict_proba(plain))
    assert np.array_equal(model.score_samples(x), same.score_samples(plain))
    assert model.encoding_.names[:3] == ["x", "z", "hue=blue"]
    if hasattr(model, "feature_names_in_") or "pandas" in kind:  # scikit-learn 1.5 reads no polars
        assert list(model.feature_names_in_) == ["x", "z", "hue", "tint"]


def test_frames_of_all_libraries_say_the_same_with_gaps():
    numbers, words, y = mixed()
    kinds = frames(numbers, words)
    del kinds["objects"]
    found = {name: _model().fit(x, y).predict_proba(x) for name, x in kinds.items()}
    for p in found.values():
        np.testing.assert_array_equal(p, found["pandas"])


def test_codes_may_be_called_nominal():
    pd = pytest.importorskip("pandas")
    numbers, words, y = mixed(gaps=0.0)
    codes = pd.factorize(words[:, 0], sort=True)[0]
    x = np.column_stack([numbers, codes])
    named = pd.DataFrame({"x": numbers[:, 0], "z": numbers[:, 1], "hue": words[:, 0]})
    model = _model(nominal=[2]).fit(x, y)
    np.testing.assert_array_equal(
        model.predict_proba(x), _model().fit(named, y).predict_proba(named)
    )
    assert not np.array_equal(model.predict_proba(x), _model().fit(x, y).predict_proba(x))


def test_a_word_that_was_not_met_is_news():
    pd = pytest.importorskip("pandas")
    numbers, words, y = mixed(gaps=0.0)
    x = pd.DataFrame({"x": numbers[:, 0], "z": numbers[:, 1], "hue": words[:, 0]})
    model = _model().fit(x, y)
    odd = x.assign(hue="ultraviolet")
    assert (model.novelty(odd) > 0.99).all()
    assert (model.novelty(x) < 0.5).all()
    np.testing.assert_allclose(model.predict_proba(odd), np.tile(model.prior_, (len(x), 1)))


def test_new_words_are_no_news_where_they_are_the_rule():
    pd = pytest.importorskip("pandas")
    numbers, _, y = mixed(gaps=0.0)
    name = [f"person {i}" for i in range(len(y))]
    x = pd.DataFrame({"x": numbers[:, 0], "z": numbers[:, 1], "name": name})
    model = _model().fit(x[:200], y[:200])
    assert (model.novelty(x[200:]) > 0.5).mean() < 0.1


def test_arrays_of_words_are_as_frames():
    numbers, words, y = mixed()
    x = frames(numbers, words)
    a = _model().fit(x["objects"], y).predict_proba(x["objects"])
    np.testing.assert_array_equal(a, _model().fit(x["pandas"], y).predict_proba(x["pandas"]))


def test_other_columns_than_the_fitted_forest_had_are_refused():
    numbers, words, y = mixed(gaps=0.0)
    forest = RandomForestClassifier(5, random_state=0).fit(numbers, y)
    with pytest.raises(sw.BadInput, match="fitted on 2 columns and 1 were given"):
        sw.models.KernelDensityForest(forest).fit(numbers[:, :1], y)
    with pytest.raises(sw.BadInput, match="fitted on 2 columns and 8 were given"):
        sw.models.KernelDensityForest(forest).fit(frames(numbers, words)["polars"], y)


def test_gaps_are_refused_where_the_forest_takes_none(monkeypatch):
    numbers, words, y = mixed()
    from scorewise.models import kernel_density_forest

    monkeypatch.setattr(kernel_density_forest, "takes_missing", lambda forest: False)
    model = sw.models.KernelDensityForest(ExtraTreesClassifier(5))
    with pytest.raises(sw.BadInput, match=r"x is missing in \d+ rows.*fill the gaps"):
        model.fit(frames(numbers, words)["polars"], y)


def test_lazy_frames_and_dates_are_refused():
    pl = pytest.importorskip("polars")
    numbers, words, y = mixed(gaps=0.0)
    frame = frames(numbers, words)["polars"]
    with pytest.raises(sw.BadInput, match="lazy frame"):
        _model().fit(frame.lazy(), y)
    with pytest.raises(sw.BadInput, match="day holds dates"):
        _model().fit(frame.with_columns(day=pl.date(2020, 1, 1)), y)
