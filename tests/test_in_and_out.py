"""Models in and out of distribution, against scikit-learn and plain loops."""

import jsonschema
import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

import scorewise as sw
from model_cases import frames, mixed
from scorewise.models import at_radius, in_and_out
from scorewise.show.document import schema as document_schema

X, Y = load_iris(return_X_y=True)
OUT = np.random.default_rng(0).normal(6, 3, (80, 4))


class Novel:
    """A classifier that also tells how novel rows are, by their distance from the mean."""

    def __init__(self, asked="score_samples"):
        self.model = LogisticRegression(max_iter=1000).fit(X[::2], Y[::2])
        self.classes_ = self.model.classes_
        setattr(self, asked, self.nearness if asked == "score_samples" else self.distance)

    def predict_proba(self, x):
        return self.model.predict_proba(x)

    def distance(self, x):
        return ((np.asarray(x) - X.mean(0)) ** 2).sum(1)

    def nearness(self, x):
        return -self.distance(x)


@pytest.fixture(scope="module")
def result():
    models = {"novel": Novel(), "bayes": GaussianNB().fit(X[::2], Y[::2])}
    return in_and_out(models, X[1::2], Y[1::2], OUT, points=50)


def test_values_equal_those_of_scikit_learn(result):
    p = Novel().predict_proba(X[1::2])
    found = result["novel"]
    assert found["accuracy"].value == pytest.approx((p.argmax(1) == Y[1::2]).mean())
    assert found["log_loss"].value == pytest.approx(log_loss(Y[1::2], p))
    out = Novel().predict_proba(OUT).max(1)
    assert found["confidence_out"].value == pytest.approx(out.mean())
    truth = np.repeat([0, 1], [75, 80])
    odd = Novel().distance(np.vstack([X[1::2], OUT]))
    assert found["auroc_novelty"].value == pytest.approx(roc_auc_score(truth, odd))
    unsure = 1 - np.concatenate([p.max(1), out])
    assert found["auroc_confidence"].value == pytest.approx(roc_auc_score(truth, unsure))


def test_confidence_has_the_interval_of_student(result):
    from scipy import stats

    out = Novel().predict_proba(OUT).max(1)
    e = result["novel"]["confidence_out"]
    want = stats.t.interval(0.95, 79, out.mean(), stats.sem(out))
    # the population's variance, where scipy has the sample's
    np.testing.assert_allclose([e.low, e.high], want, atol=1e-3)


def test_rejecting_counts_rows_out_of_distribution_as_wrong(result):
    p = Novel().predict_proba(X[1::2])
    right = np.concatenate([p.argmax(1) == Y[1::2], np.zeros(80, bool)])
    odd = Novel().distance(np.vstack([X[1::2], OUT]))
    order = np.argsort(odd, kind="stable")
    risks = np.cumsum(~right[order]) / np.arange(1, 156)
    assert result["novel"]["aurc_novelty"].value == pytest.approx(risks.mean(), abs=1e-3)
    curve = sw.curves.risk_coverage(result["novel"].by_novelty)
    assert curve.at(1.0) == pytest.approx(1 - right.mean())


def test_novelty_serves_where_there_is_no_density(result):
    r = in_and_out(Novel("novelty"), X[1::2], Y[1::2], OUT, radii=())
    assert r.auroc_novelty.value == result["novel"]["auroc_novelty"].value
    assert r.to_dict()["models"][0]["novelty"] == "novelty"


def test_what_is_absent_says_why(result):
    assert result["bayes"]["auroc_novelty"].why == "the model has no score_samples or novelty"
    alone = in_and_out(Novel(), X[1::2], Y[1::2], points=10)
    for name in ("confidence_out", "auroc_novelty", "auroc_confidence", "aurc_confidence"):
        assert alone["model"][name].why == "no rows out of distribution"
    assert alone["model"].by_confidence is None


def test_radii_are_those_of_the_helper(result):
    far = at_radius(X[1::2], 5, 50)
    want = Novel().predict_proba(far).max(1).mean()
    assert result["novel"].at[5.0].value == pytest.approx(want)
    assert list(result["novel"].at) == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("radius", [0, 1, 5])
def test_points_lie_at_the_radius(radius):
    data = np.random.default_rng(1).normal(size=(40, 3)) * [1e-6, 1, 1e12] + [0, 5, 1e12]
    data = np.hstack([data, np.full((40, 1), 0.1)])
    z = (data[:, :3] - data[:, :3].mean(0)) / data[:, :3].std(0)
    reach = max(np.sqrt(sum(v * v for v in row)) for row in z)
    points = at_radius(data, radius, 20)
    moved = (points[:, :3] - data[:, :3].mean(0)) / data[:, :3].std(0)
    np.testing.assert_allclose(np.linalg.norm(moved, axis=1), radius * reach, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(points[:, 3], 0.1)


def test_points_keep_the_shape_of_a_row_and_the_seed():
    images = np.random.default_rng(2).random((10, 1, 4, 4))
    points = at_radius(images, 2, 7, random_state=3)
    assert points.shape == (7, 1, 4, 4)
    assert (points == at_radius(images, 2, 7, random_state=3)).all()
    assert (points != at_radius(images, 2, 7, random_state=4)).any()


@pytest.mark.parametrize("kind", ["pandas", "pandas categories", "polars", "arrow"])
def test_of_a_frame_comes_a_frame_whose_words_stay(kind):
    numbers, words, y = mixed()
    x = frames(numbers, words)[kind]
    points = at_radius(x, 3, 30, random_state=1)
    assert type(points) is type(x)
    told = nw.from_native(points)
    moved = np.column_stack([told["x"].to_numpy(), told["z"].to_numpy()])
    mean, spread = np.nanmean(numbers, axis=0), np.nanstd(numbers, axis=0)
    reach = np.sqrt((np.nan_to_num((numbers - mean) / spread) ** 2).sum(axis=1)).max()
    np.testing.assert_allclose(np.linalg.norm((moved - mean) / spread, axis=1), 3 * reach)
    assert set(told["hue"].to_list()) <= {"red", "green", "blue", None, np.nan}
    model = sw.models.KernelDensityForest(n_estimators=20, random_state=0).fit(x, y)
    assert in_and_out(model, x, y)["model"].at[5.0].value == pytest.approx(model.prior_.max())


def test_columns_of_pandas_may_be_numbers():
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(X)
    points = at_radius(frame, 3, 40, random_state=1)
    assert list(points.columns) == [0, 1, 2, 3]
    np.testing.assert_allclose(points.to_numpy(), at_radius(X, 3, 40, random_state=1))
    model = LogisticRegression(max_iter=1000).fit(frame, Y)
    assert in_and_out(model, frame, Y, points=20)["model"].at[1.0].defined


def test_labels_may_be_spelled_otherwise(result):
    model = Novel()
    a, b = (in_and_out(model, X[1::2], y, OUT, points=10) for y in (Y[1::2], Y[1::2].astype(str)))
    for name in ("accuracy", "aurc_novelty", "aurc_confidence"):
        assert a["model"][name].value == b["model"][name].value


def test_the_document_conforms_and_is_shown(result):
    doc = result.to_dict()
    jsonschema.validate(doc, document_schema("in-and-out"))
    text = repr(result)
    assert max(map(len, text.splitlines())) <= 80
    assert "AUROC of novelty" in text
    assert "Out of distribution" in result.to_markdown()
    frame = result.to_frame()
    assert isinstance(frame, pl.DataFrame)
    assert len(frame) == 2 * (9 + 5)


def test_an_infinite_log_loss_is_told_and_can_be_bounded(result):
    sure = DecisionTreeClassifier(random_state=0).fit(X[::2], Y[::2])
    r = in_and_out({"sure": sure, "novel": Novel()}, X[1::2], Y[1::2], OUT, points=10)
    assert "Without a value" not in repr(result)
    assert "Log loss of 'sure': what happened had probability 0" in repr(r)
    bounded = in_and_out(sure, X[1::2], Y[1::2], points=10, clip=1e-15)
    assert bounded.log_loss.value == pytest.approx(
        log_loss(Y[1::2], np.clip(sure.predict_proba(X[1::2]), 1e-15, 1 - 1e-15))
    )
    assert bounded.to_dict()["settings"]["clip"] == 1e-15


def test_hints_name_a_model_that_stays_sure(result):
    said = " ".join(result.to_dict()["hints"])
    assert "'bayes' is 1.00 sure at radius 5 on average" in said


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_frames_keep_their_names(kind):
    names = list("abcd")
    frame = pd.DataFrame(X, columns=names) if kind == "pandas" else pl.DataFrame(X, schema=names)
    model = GaussianNB().fit(frame, Y)
    r = in_and_out(model, frame, Y, points=5)
    assert r.accuracy.value == pytest.approx((model.predict(frame) == Y).mean())


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: in_and_out({}, X, Y), "there is no model"),
        (lambda: in_and_out(GaussianNB(), X, Y), "without classes_; fit it first"),
        (lambda: in_and_out(LinearSVC().fit(X, Y), X, Y), "without predict_proba; give"),
        (
            lambda: in_and_out(Novel(), X, Y, clip=0.7),
            "clip must lie between 0 and 0.5, such as 1e-15; got 0.7",
        ),
        (
            lambda: in_and_out(Novel(), X, Y, level=1),
            "level must lie between 0 and 1, such as 0.95; got 1",
        ),
        (lambda: at_radius(X, -1), "radius must be a number from 0 up, such as 5; got -1"),
        (lambda: at_radius([1, 2], 1), "must have rows and columns"),
        (lambda: at_radius(np.full((3, 2), np.inf), 1), "infinite in 3 rows"),
        (lambda: at_radius(pl.DataFrame({"a": ["x"]}), 1), "no column of numbers"),
        (lambda: at_radius(pl.DataFrame({"a": []}), 1), r"shape \(0, 1\)"),
    ],
)
def test_bad_input(call, said):
    with pytest.raises(sw.BadInput, match=said):
        call()


def test_unknown_measures_are_told(result):
    with pytest.raises(AttributeError, match="2 models"):
        _ = result.accuracy
    with pytest.raises(AttributeError, match="no measure"):
        _ = result.accuracies
    with pytest.raises(KeyError, match="no measure"):
        _ = result["novel"]["accuracies"]
    with pytest.raises(KeyError, match="no model old; there are novel, bayes"):
        _ = result["old"]
