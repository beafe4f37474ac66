"""A forest and what is done to its posterior, with the seconds of processor time it takes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import RandomForestClassifier

import scorewise as sw

Array = NDArray[np.float64]
RIVALS = ("forest", "isotonic, 5-fold", "temperature", "kernel density forest")


@dataclass(frozen=True)
class Rival:
    """A posterior, and how long it took to fit (beyond the forest) against the forest's fit."""

    predict: Callable[[Array], Array]
    extra: float


def rivals(x: Array, y: Any, *, trees: int, seed: int) -> dict[str, Rival]:
    """The forest; isotonic maps of 5 folds; a temperature from out-of-bag rows; the kernel forest."""
    plain = RandomForestClassifier(trees, random_state=seed)
    alone = timed(lambda: plain.fit(x, y))
    isotonic = CalibratedClassifierCV(
        RandomForestClassifier(trees, random_state=seed), method="isotonic", cv=5
    )
    kernel = sw.models.KernelDensityForest(plain, random_state=seed)
    slow, quick = timed(lambda: isotonic.fit(x, y)), timed(lambda: kernel.fit(x, y))
    made = (
        Rival(plain.predict_proba, 0.0),
        Rival(isotonic.predict_proba, slow / alone),
        Rival(_cooled(plain, x, y), 0.0),
        Rival(kernel.predict_proba, quick / alone),
    )
    return dict(zip(RIVALS, made, strict=True))


def timed(work: Callable[[], Any]) -> float:
    """Seconds of processor time, which other users of the machine do not change."""
    start = time.process_time()
    work()
    return time.process_time() - start


def _cooled(forest: Any, x: Array, y: Any) -> Callable[[Array], Array]:
    """The posterior at the temperature that suits out-of-bag rows, half a tree from 0 and 1."""
    oob = copy(forest).set_params(oob_score=True, warm_start=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # no new trees are asked for
        oob.fit(x, y)
    scores = oob.oob_decision_function_
    known = np.isfinite(scores).all(axis=1) & (scores.sum(axis=1) > 0)
    map_ = sw.Recalibrator("temperature", clip=0.5 / len(forest.estimators_))
    if len(forest.classes_) == 2:
        map_.fit(scores[known, 1], np.asarray(y)[known] == forest.classes_[1])

        def two(x: Array) -> Array:
            p = np.asarray(map_.transform(forest.predict_proba(x)[:, 1]))
            return np.column_stack([1 - p, p])

        return two
    map_.fit(scores[known], np.asarray(y)[known])
    return lambda x: np.asarray(map_.transform(forest.predict_proba(x)))
