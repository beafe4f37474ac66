"""Maps of several classes against optimisers that this project did not write."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize, minimize_scalar

import scorewise as sw
from class_recalibration_cases import draw_classes, losses, softmax
from scorewise.columns.classes import class_rows
from scorewise.recalibrating import CLASS_METHODS, multinomial
from scorewise.recalibrating.maps import Table
from scorewise.recalibrating.multinomial import Linear, Parts, likeliest

CASES = [(1, 400, 3, 0.5, 0.3), (2, 900, 4, 1.7, -0.2), (3, 150, 2, 0.7, 0.0)]


def table(seed, rows, many, slope, shift, weight=None):
    p, y = draw_classes(seed, rows, many, slope, shift)
    return Table.of(class_rows(None, label=y, score=p, weight=weight), 1e-7)


def objective(t, parts):
    """The penalised loss of a flat vector of those parts that are free, in the order of `Parts`."""
    k = len(t.classes)

    def unpack(theta):
        at, made = 0, []
        for held, size in zip((parts.slope, parts.slopes, parts.mixing, parts.intercepts),
                              (1, k, k * k, k), strict=True):  # fmt: skip
            if held is None:
                made.append(np.zeros(size))
            else:
                made.append(theta[at : at + size])
                at += size
        return made

    def loss(theta):
        slope, slopes, mixing, intercepts = unpack(theta)
        w = (1 + slope[0]) * np.eye(k) + np.diag(slopes) + mixing.reshape(k, k) * (1 - np.eye(k))
        q = softmax(t.x @ w.T + intercepts)
        held = (parts.slope, parts.slopes, parts.mixing, parts.intercepts)
        pulls = (slope, slopes, mixing, intercepts)
        prior = sum((h or 0) * (v**2).sum() for h, v in zip(held, pulls, strict=True))
        return (t.w * losses(q, t.y)).sum() + t.row * prior / 2

    size = sum(
        n for h, n in zip((parts.slope, parts.slopes, parts.mixing, parts.intercepts),
                          (1, k, k * k, k), strict=True) if h is not None
    )  # fmt: skip
    return loss, size


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize(
    "parts",
    [
        Parts(slope=1.0),
        Parts(slopes=1.0, intercepts=1.0),
        Parts(slopes=1.0, mixing=30.0, intercepts=10.0),
        Parts(slope=1.0, slopes=10.0, mixing=30.0, intercepts=10.0),
    ],
    ids=["temperature", "vector", "dirichlet", "structured"],
)
@pytest.mark.parametrize("dense", [True, False], ids=["dense", "conjugate"])
def test_the_fit_is_the_least_that_scipy_finds(case, parts, dense, monkeypatch):
    monkeypatch.setattr(multinomial, "_DENSE", 1100 if dense else 0)
    t = table(*case)
    model = Linear(parts, t.x, t.seen, t.row)
    theta, found = likeliest(model, t.y, t.w)
    assert found
    loss, size = objective(t, parts)
    best = minimize(loss, np.zeros(size), method="BFGS", options={"gtol": 1e-7})
    held = [
        np.full(n, h is not None)
        for h, n in zip((parts.slope, parts.slopes, parts.mixing, parts.intercepts),
                        (1, len(t.classes), len(t.classes)**2, len(t.classes)), strict=True)
    ]  # fmt: skip
    mine = theta[np.concatenate(held)]
    assert loss(mine) <= best.fun + 1e-9 * abs(best.fun)
    assert mine == pytest.approx(best.x, abs=2e-4)
    gradient = [(loss(mine + e) - loss(mine - e)) / 2e-5 for e in 1e-5 * np.eye(size)]
    assert np.abs(gradient).max() < 1e-4


def test_temperature_is_the_best_of_a_grid():
    p, y = draw_classes(5, 5000, 4, 0.6)
    slope = sw.Recalibrator("temperature").fit(p, y).map_.parameters["slope"]
    x = np.log(p)
    best = minimize_scalar(lambda a: losses(softmax(a * x), y).sum() + (a - 1) ** 2 / 2)
    assert slope == pytest.approx(best.x, abs=1e-6)


@pytest.mark.parametrize("case", CASES[:2], ids=str)
def test_without_pull_it_is_multinomial_regression(case):
    linear = pytest.importorskip("sklearn.linear_model")
    t = table(*case)
    parts = Parts(slopes=1e-9, mixing=1e-9, intercepts=1e-9)
    model = Linear(parts, t.x, t.seen)
    theta, _ = likeliest(model, t.y, t.w)
    mine = softmax(t.x + model.forward(theta))
    theirs = linear.LogisticRegression(C=1e12, tol=1e-12, max_iter=10_000, solver="newton-cg")
    assert mine == pytest.approx(theirs.fit(t.x, t.y).predict_proba(t.x), abs=1e-5)


@pytest.mark.parametrize("method", ["temperature", "vector", "dirichlet", "structured"])
def test_weights_are_rows(method):
    p, y = draw_classes(6, 300, 3, 0.5)
    times = np.random.default_rng(0).integers(0, 4, 300)
    counted = sw.Recalibrator(method).fit(p, y, count=times)
    again = np.repeat(np.arange(300), times)
    repeated = sw.Recalibrator(method).fit(p[again], y[again])
    assert counted.transform(p) == pytest.approx(repeated.transform(p), abs=1e-12)
    twice = sw.Recalibrator("temperature").fit(p, y, sample_weight=np.full(300, 7.0))
    once = sw.Recalibrator("temperature").fit(p, y)
    assert twice.transform(p) == pytest.approx(once.transform(p), abs=1e-8)


@pytest.mark.parametrize("method", ["temperature", "vector", "dirichlet", "structured"])
def test_classes_that_can_be_told_apart_leave_finite_maps(method):
    p = np.full((60, 3), 0.1) + 0.7 * np.eye(3)[np.arange(60) % 3]
    r = sw.Recalibrator(method).fit(p, np.arange(60) % 3)
    q = r.transform(p)
    assert np.isfinite(q).all()
    assert 0.8 < q.max() < 1 - 1e-6


@pytest.mark.parametrize("method", ["vector", "dirichlet", "structured"])
def test_a_class_without_rows_stays_as_it_is_and_is_named(method):
    p, y = draw_classes(7, 600, 4, 0.6)
    kept = y != 2
    r = sw.Recalibrator(method).fit(p[kept], y[kept], classes=[0, 1, 2, 3])
    assert r.map_.absent == ("2",)
    assert r.map_.parameters["intercepts"][2] == 0
    if method == "vector":
        assert r.map_.parameters["slopes"][2] == 1
    assert "No row has the class 2" in r.to_dict()["hints"][0]


def test_labels_turned_round_give_a_flat_map():
    p, y = draw_classes(8, 500, 3, -1.0)
    r = sw.Recalibrator("temperature").fit(p, y)
    assert r.map_.parameters["slope"] == 0
    assert r.transform(p) == pytest.approx(1 / 3)


def test_logits_and_their_probabilities_give_one_map(monkeypatch):
    """Of one strength: folds are dealt by the content of rows, and may prefer different ones."""
    one = replace(CLASS_METHODS["dirichlet"], strengths=(10.0,))
    monkeypatch.setitem(CLASS_METHODS, "dirichlet", one)
    p, y = draw_classes(9, 400, 3, 0.5)
    shifted = np.log(p) + np.random.default_rng(0).normal(size=(400, 1)) * 100
    for method in ("temperature", "dirichlet"):
        a = sw.Recalibrator(method).fit(p, y).transform(p)
        b = sw.Recalibrator(method, kind="logit").fit(shifted, y).transform(shifted)
        assert a == pytest.approx(b, abs=1e-9)
