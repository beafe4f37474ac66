"""The figures of the documentation that matplotlib draws, as users would draw them."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import cache
from typing import Any

import _kdg_figures
import _study_figures
import numpy as np

import scorewise as sw


@cache
def tumours() -> tuple[Any, Any]:
    """Labels and out-of-fold scores from two features of the breast cancer data of scikit-learn."""
    from sklearn.datasets import load_breast_cancer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import cross_val_predict
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    data = load_breast_cancer()
    y = data.target_names[data.target]
    model = make_pipeline(StandardScaler(), LogisticRegression(solver="newton-cholesky"))
    return y, cross_val_predict(model, data.data[:, [1, 4]], y, method="predict_proba")[:, 1]


def smroc() -> Any:
    """SmROC beside ROC, with a band."""
    return sw.smroc(*tumours()).plot(roc=True, band="simultaneous")


def midpoint() -> Any:
    """The midpoint on the densities of the classes."""
    return sw.displays.MidpointDisplay.from_predictions(*tumours())


def density() -> Any:
    """The scores of each class."""
    return sw.displays.DensityDisplay.from_predictions(*tumours())


def hull() -> Any:
    """The hull of the ROC curve, and its slopes as calibrated scores."""
    return sw.displays.HullDisplay.from_predictions(*tumours())


def raters() -> Any:
    """Two raters of 60 films, of whom one has a higher threshold."""
    rng = np.random.default_rng(0)
    ann = rng.random(60)
    bob = np.clip(ann + rng.normal(0, 0.15, 60), 0, 1)
    said = {"ann": (ann > 0.62, ann), "bob": (bob > 0.45, bob)}
    return sw.displays.AgreementDisplay.from_raters(said)


def drift() -> Any:
    """A model whose scores have come to mean less."""
    rng = np.random.default_rng(1)

    def sample(rows: int, use: float) -> sw.Tally:
        y = rng.random(rows) < 0.4
        return sw.Tally.of(y, 1 / (1 + np.exp(-(rng.normal(size=rows) + use * (y - 0.4)))))

    return sw.displays.DriftDisplay.from_tallies(sample(3000, 2.0), sample(800, 1.0))


def recalibration() -> Any:
    """Scores that are too bold, put right."""
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=4000)
    y = rng.random(4000) < 1 / (1 + np.exp(-(0.5 * z - 0.5)))
    return sw.Recalibrator("platt").fit(1 / (1 + np.exp(-z)), y).plot()


def reliability() -> Any:
    """Scores that are too bold: their curve, and where that of calibrated scores would lie."""
    rng = np.random.default_rng(0)
    z = 2 * rng.normal(size=1000)
    y = rng.random(1000) < 1 / (1 + np.exp(-(0.5 * z - 0.5)))
    return sw.displays.ReliabilityDisplay.from_predictions(y, 1 / (1 + np.exp(-z)))


@cache
def digits() -> tuple[Any, Any]:
    """Labels and out-of-fold probabilities of naive Bayes on the digits of scikit-learn."""
    from sklearn.datasets import load_digits
    from sklearn.model_selection import cross_val_predict
    from sklearn.naive_bayes import GaussianNB

    data = load_digits()
    model = GaussianNB(var_smoothing=0.01)
    return data.target, cross_val_predict(model, data.data, data.target, method="predict_proba")


def confusion() -> Any:
    """The confusion of ten digits."""
    return sw.displays.ConfusionDisplay.from_predictions(*digits())


def risk_coverage() -> Any:
    """Risk over coverage by two rules of confidence."""
    y, p = digits()
    t = sw.ClassTally.of(y, p)
    drawn = sw.displays.RiskCoverageDisplay.from_tally(t, name="max")
    margin = sw.ClassTally.of(y, p, confidence="margin")
    return sw.displays.RiskCoverageDisplay.from_tally(margin, name="margin", ax=drawn.ax_)


@cache
def readers() -> sw.Ratings:
    """Three models as readers of digits, each taught with other examples, with gaps."""
    from sklearn.datasets import load_digits
    from sklearn.naive_bayes import GaussianNB
    from sklearn.neighbors import KNeighborsClassifier
    from sklearn.tree import DecisionTreeClassifier

    x, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    said = {}
    for name, rows, model in (
        ("ann", slice(0, 400), KNeighborsClassifier(3)),
        ("bob", slice(400, 800), DecisionTreeClassifier(random_state=0)),
        ("cay", slice(800, 900), GaussianNB(var_smoothing=0.01)),
    ):
        said[name] = model.fit(x[rows], y[rows]).predict(x[900:1200]).astype(float)
        said[name][rng.random(300) < 0.1] = np.nan
    return sw.Ratings.of(said)


def agreement() -> Any:
    """Coefficients of three readers over the bands."""
    return sw.agree(readers()).plot()


def pairs() -> Any:
    """The kappa of each two readers."""
    return sw.displays.PairsDisplay.from_ratings(readers())


def answers() -> Any:
    """The calibration error of answers over the threshold of quality."""
    rng = np.random.default_rng(0)
    quality = np.where(rng.random(2000) < 0.3, 0.0, rng.beta(6, 1.5, 2000).round(2))
    confidence = np.clip(0.25 + 0.7 * quality + rng.normal(0, 0.1, 2000), 0.01, 0.99)
    a = sw.answers(confidence=confidence, quality=quality)
    return sw.displays.AnswersDisplay.over_tau(a)


def posterior() -> Any:
    """A forest beside the kernel density forest made of it, over two half moons."""
    from sklearn.datasets import make_moons

    x, y = make_moons(300, noise=0.25, random_state=0)
    model = sw.models.KernelDensityForest(random_state=0).fit(x, y)
    both = {"forest": model.forest_, "kernel density forest": model}
    return sw.displays.PosteriorDisplay.from_models(both, x, y)


def confidence() -> Any:
    """Three models on digits, on inverted digits, and far from both."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.datasets import load_digits

    x, y = load_digits(return_X_y=True)
    model = sw.models.KernelDensityForest(n_estimators=200, random_state=0).fit(x[:900], y[:900])
    isotonic = CalibratedClassifierCV(model.forest_, method="isotonic", cv=5).fit(x[:900], y[:900])
    models = {"forest": model.forest_, "isotonic": isotonic, "kernel density forest": model}
    r = sw.models.in_and_out(models, x[900:], y[900:], 16 - x[900:])
    return sw.displays.ConfidenceDisplay.from_result(r)


FIGURES: dict[str, Callable[[], Any]] = {
    "agreement.png": agreement,
    "answers.png": answers,
    "pairs.png": pairs,
    "posterior.png": posterior,
    "smroc.png": smroc,
    "midpoint.png": midpoint,
    "density.png": density,
    "hull.png": hull,
    "raters.png": raters,
    "drift.png": drift,
    "recalibration.png": recalibration,
    "reliability.png": reliability,
    "confidence.png": confidence,
    "confusion.png": confusion,
    "risk_coverage.png": risk_coverage,
    **_study_figures.FIGURES,
    **_kdg_figures.FIGURES,
}


def png(name: str) -> bytes:
    """One figure as a PNG file."""
    import matplotlib.pyplot as plt

    figure = FIGURES[name]().figure_
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=80, bbox_inches="tight", metadata={"Software": None})
    plt.close(figure)
    return buffer.getvalue()
