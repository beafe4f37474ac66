"""Beside other packages: scikit-learn's searches, and runs of MLflow."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import scorewise as sw
from scorewise.mlflow import log, metrics
from scorewise.sklearn import scorer, scorers


@pytest.fixture(scope="module")
def tumours():
    x, y = load_breast_cancer(return_X_y=True)
    return x[:, :4], y


def test_scorers_are_the_measures(tumours):
    x, y = tumours
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(x[::2], y[::2])
    p = model.predict_proba(x[1::2])[:, 1]
    assert scorer("auroc")(model, x[1::2], y[1::2]) == pytest.approx(roc_auc_score(y[1::2], p))
    assert scorer("brier")(model, x[1::2], y[1::2]) == pytest.approx(-brier_score_loss(y[1::2], p))
    weight = np.linspace(1, 2, len(p))
    mine = scorer("brier")(model, x[1::2], y[1::2], sample_weight=weight)
    assert mine == pytest.approx(-brier_score_loss(y[1::2], p, sample_weight=weight))


def test_they_serve_searches_and_validation(tumours):
    x, y = tumours
    model = make_pipeline(StandardScaler(), LogisticRegression())
    found = cross_validate(model, x, y, cv=3, scoring=scorers("auroc", "log_loss"))
    theirs = cross_validate(model, x, y, cv=3, scoring=["roc_auc", "neg_log_loss"])
    assert found["test_auroc"] == pytest.approx(theirs["test_roc_auc"])
    assert found["test_log_loss"] == pytest.approx(theirs["test_neg_log_loss"])
    grid = {"logisticregression__C": [0.01, 1.0]}
    search = GridSearchCV(model, grid, scoring=scorer("brier"), cv=3).fit(x, y)
    assert search.best_params_ == {"logisticregression__C": 1.0}


def test_the_positive_class_may_be_the_first(tumours):
    x, y = tumours
    words = np.where(y == 1, "benign", "malignant")
    model = make_pipeline(StandardScaler(), LogisticRegression()).fit(x, words)
    mine = scorer("average_precision", positive="benign")(model, x, words)
    p = model.predict_proba(x)[:, 0]
    assert mine == sw.evaluate(words, p, positive="benign").average_precision.value


def test_several_classes_and_scores_that_are_no_probabilities(tumours):
    x, y = load_iris(return_X_y=True)
    model = LogisticRegression(max_iter=1000).fit(x, y)
    assert scorer("log_loss")(model, x, y) == pytest.approx(-log_loss(y, model.predict_proba(x)))
    x, y = tumours
    svm = make_pipeline(StandardScaler(), LinearSVC()).fit(x, y)
    assert scorer("auroc")(svm, x, y) == pytest.approx(roc_auc_score(y, svm.decision_function(x)))


def test_a_scorer_is_refused_that_no_search_can_go_by():
    with pytest.raises(sw.BadInput, match="calibration_slope is neither better high nor low"):
        scorer("calibration_slope")
    with pytest.raises(sw.BadInput, match="no measure is named aurok; did you mean auroc"):
        scorer("aurok")
    assert pickle.loads(pickle.dumps(scorer("auroc"))) == scorer("auroc")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    monkeypatch.setenv("MLFLOW_DISABLE_TELEMETRY", "true")
    mlflow = pytest.importorskip("mlflow")
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri((tmp_path / "runs").as_uri())
    yield mlflow
    mlflow.set_tracking_uri(before)


@pytest.mark.filterwarnings("default")
def test_a_run_has_values_limits_and_files(runs):
    y, p = [1, 1, 0, 1, 0, 0], [0.95, 0.7, 0.6, 0.51, 0.2, 0.0]
    e = sw.evaluate({"y": y, "tree/1": p, "bayes": p[::-1]}, label="y", score=["tree/1", "bayes"])
    with runs.start_run() as run:
        logged = log(e, "test.")
    kept = runs.get_run(run.info.run_id).data.metrics
    assert kept == logged
    auroc = e["tree/1"].auroc
    assert kept["test.tree_1.auroc"] == auroc.value
    assert (kept["test.tree_1.auroc.low"], kept["test.tree_1.auroc.high"]) == (
        auroc.low,
        auroc.high,
    )
    files = {f.path for f in runs.artifacts.list_artifacts(run_id=run.info.run_id)}
    assert files == {"test.scorewise.json", "test.scorewise.html"}
    page = runs.artifacts.load_text(f"{run.info.artifact_uri}/test.scorewise.html")
    assert page == e.render("html")


def test_one_model_needs_no_name():
    found = metrics(sw.evaluate([1, 0, 1, 0], [0.9, 0.6, 0.7, 0.2]))
    assert found["auroc"] == 1.0
    assert "brier.low" in found
    assert all(np.isfinite(x) for x in found.values())
