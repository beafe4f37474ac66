"""A forest, a network, and what is done to their posteriors, with the processor time it takes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from copy import copy
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.neural_network import MLPClassifier

import scorewise as sw

Array = NDArray[np.float64]
FAMILIES = {
    "forest": ("forest", "forest + isotonic", "forest + temperature", "kernel density forest"),
    "network": ("network", "network + isotonic", "network + temperature", "kernel density network"),
}
RIVALS = tuple(name for family in FAMILIES.values() for name in family)
FOLDS = 5
HIDDEN, EPOCHS = (64, 64), 200


class Rival(NamedTuple):
    """A posterior, and the time that it takes once the plain model is fitted, divided by that fit's."""

    predict: Callable[[Array], Array]
    extra: float


def forests(x: Array, y: Any, *, trees: int, seed: int) -> dict[str, Rival]:
    """The forest; isotonic maps of 5 folds; a temperature from out-of-bag rows; the kernel forest."""
    plain = forest(trees, seed)
    alone = timed(lambda: plain.fit(x, y))
    isotonic = _isotonic(forest(trees, seed), seed)
    kernel = sw.models.KernelDensityForest(plain, random_state=seed)
    slow, quick = timed(lambda: isotonic.fit(x, y)), timed(lambda: kernel.fit(x, y))
    start = time.process_time()
    scores, known = _out_of_bag(plain, x, y)
    cooled = _cooled(plain, scores[known], y[known], 0.5 / trees)  # half a tree from 0 and 1
    cooling = time.process_time() - start
    made = (
        Rival(plain.predict_proba, 0.0),
        Rival(isotonic.predict_proba, slow / alone),
        Rival(cooled, cooling / alone),
        Rival(kernel.predict_proba, quick / alone),
    )
    return dict(zip(FAMILIES["forest"], made, strict=True))


def networks(x: Array, y: Any, *, seed: int) -> dict[str, Rival]:
    """The network; isotonic maps of 5 folds; a temperature from rows held out; the kernel network."""
    plain, isotonic = network(seed), _isotonic(network(seed), seed)
    kernel = sw.models.KernelDensityNetwork(network(seed), scale=False, random_state=seed)
    with warnings.catch_warnings():
        warnings.filterwarnings(
            "ignore", "Stochastic Optimizer"
        )  # the number of epochs is a choice
        alone = timed(lambda: plain.fit(x, y))
        slow, whole = timed(lambda: isotonic.fit(x, y)), timed(lambda: kernel.fit(x, y))
        start = time.process_time()
        folds = _folds(seed)
        scores = cross_val_predict(network(seed), x, y, cv=folds, method="predict_proba")
    cooled = _cooled(plain, scores, y, 1e-6)
    cooling = time.process_time() - start
    made = (
        Rival(plain.predict_proba, 0.0),
        Rival(isotonic.predict_proba, slow / alone),
        Rival(cooled, cooling / alone),
        Rival(kernel.predict_proba, whole / alone),
    )
    return dict(zip(FAMILIES["network"], made, strict=True))


def forest(trees: int, seed: int) -> Any:
    return RandomForestClassifier(trees, random_state=seed)


def network(seed: int) -> Any:
    return MLPClassifier(HIDDEN, max_iter=EPOCHS, random_state=seed)


def timed(work: Callable[[], Any]) -> float:
    """Seconds of processor time, which other users of the machine do not change."""
    start = time.process_time()
    work()
    return time.process_time() - start


@cache
def warm_up() -> None:
    """Load what is loaded at first use, so that no time has that in it."""
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(60, 2)), np.arange(60) % 2
    forests(x, y, trees=5, seed=0)
    networks(x, y, seed=0)


def _folds(seed: int) -> StratifiedKFold:
    return StratifiedKFold(FOLDS, shuffle=True, random_state=seed)


def _isotonic(model: Any, seed: int) -> Any:
    return CalibratedClassifierCV(model, method="isotonic", cv=_folds(seed))


def _out_of_bag(plain: Any, x: Array, y: Any) -> tuple[Array, NDArray[np.bool_]]:
    """What the trees say of rows that they did not see, and which rows have such trees."""
    oob = copy(plain).set_params(oob_score=True, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no new trees are asked for
        oob.fit(x, y)
    scores = oob.oob_decision_function_
    return scores, np.isfinite(scores).all(axis=1) & (scores.sum(axis=1) > 0)


def _cooled(model: Any, scores: Array, y: Any, clip: float) -> Callable[[Array], Array]:
    """The posterior of a model at the temperature that suits scores of rows it did not learn from."""
    map_ = sw.Recalibrator("temperature", clip=clip)
    if scores.shape[1] > 2:
        map_.fit(scores, y)
        return lambda x: np.asarray(map_.transform(model.predict_proba(x)))
    map_.fit(scores[:, 1], y == model.classes_[1])

    def two(x: Array) -> Array:
        p = np.asarray(map_.transform(model.predict_proba(x)[:, 1]))
        return np.column_stack([1 - p, p])

    return two
