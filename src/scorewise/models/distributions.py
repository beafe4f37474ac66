"""Models on rows from where they learned, on rows from elsewhere and on points at a distance."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import at_least, check, is_finite, refused
from scorewise.columns.classes import class_rows
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.means import mean_score
from scorewise.measures import aurc, auroc
from scorewise.models.document import SHOWN, InAndOutDocument, SettingsRecord, in_and_out_document
from scorewise.models.validation import as_frame, check_numeric
from scorewise.registry import CLASS_MEASURES, Lazy
from scorewise.show.result import Pictures, Result
from scorewise.tallies import ClassTally, Tally

RADII = (1, 2, 3, 4, 5)


def in_and_out(
    model: Any,
    X: Any,  # noqa: N803
    y: Any,
    X_out: Any = None,  # noqa: N803
    *,
    radii: Sequence[float] = RADII,
    points: int = 500,
    clip: float | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> InAndOut:
    """How right and sure a fitted classifier is in distribution, and how sure out of it.

    `model` is one, or a mapping from names to several. `X` and `y` are rows like those that it learned
    from, but not the same; `X_out` rows of another kind, which have no label. At each of the `radii`,
    `points` points lie in random directions from the centre (`at_radius`). Log loss is infinite where
    something happened that had probability 0, unless `clip=1e-15` (or another) holds it away from 0.

    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000).fit(X[::2], y[::2])
    >>> r = in_and_out(model, X[1::2], y[1::2], X[:, ::-1])
    >>> r.accuracy, r.confidence_out
    (0.960 [0.889, 0.986], 0.967 [0.955, 0.979])
    """
    models = dict(model) if isinstance(model, Mapping) else {"model": model}
    if not models:
        raise BadInput(
            "there is no model; give a fitted classifier, or a mapping from names to some"
        )
    needed = {
        "predict_proba": "give a classifier that has chances for its classes",
        "classes_": "fit it first",
    }
    for (name, one), (part, way_out) in product(models.items(), needed.items()):
        if not hasattr(one, part):
            kind = type(one).__name__
            raise BadInput(f"{str(name) or 'model'} is of type {kind}, without {part}; {way_out}")
    if len({str(name) for name in models}) < len(models):
        raise BadInput("two models have the same name; names that look alike are the same")
    check(level=level, clip=clip)
    if not isinstance(radii, Iterable):
        raise BadInput(f"radii is {radii!r}; pass several, such as (1, 2, 3)")
    at = {float(r): at_radius(X, r, points, random_state=seed) for r in radii}
    settings = SettingsRecord(points=points, clip=clip, level=level, seed=seed)
    sets = Sets(X, y, X_out, at, settings)
    return InAndOut({str(name): ModelInAndOut(one, sets) for name, one in models.items()}, sets)


class Sets(NamedTuple):
    """Rows in distribution with their labels, rows out of it, and points at radii of the data."""

    X: Any
    y: Any
    out: Any
    at: dict[float, Floats]
    settings: SettingsRecord


class ModelInAndOut(Lazy[Estimate]):
    """One model, in and out of distribution: each measure by name, `at` the confidence by radius."""

    def __init__(self, model: Any, sets: Sets) -> None:
        super().__init__(SHOWN)
        self._settings = sets.settings
        p = np.asarray(model.predict_proba(sets.X), dtype=float)
        # however labels are spelled
        rows = class_rows(None, label=sets.y, score=p, classes=list(model.classes_))
        self.tally = ClassTally.of_rows(rows)
        counts = self.tally.confusion.weight.sum(axis=1)
        # of the commonest class in distribution: a confidence that knows nothing
        self.largest_share = float(counts.max() / counts.sum())
        self._correct = rows.scores.argmax(axis=1) == rows.y
        self._confidence = p.max(axis=1)
        self.novelty_by: Any = None
        # how familiar rows in distribution are, and rows out of it, by confidence and by novelty
        self._familiarity: dict[str, tuple[Floats, Floats]] = {}
        if sets.out is not None:
            self._familiarity["confidence"] = self._confidence, _confidence(model, sets.out)
            # the log density has fewer ties than minus the novelty, and goes first
            names = ("score_samples", "novelty")
            self.novelty_by = next((name for name in names if hasattr(model, name)), None)
        if self.novelty_by is not None:
            sign = -1.0 if self.novelty_by == "novelty" else 1.0
            scores = (getattr(model, self.novelty_by)(x) for x in (sets.X, sets.out))
            inside, outside = (sign * np.nan_to_num(np.asarray(x, float)) for x in scores)
            self._familiarity["novelty"] = inside, outside
        self.at = {r: self._mean(_confidence(model, x)) for r, x in sets.at.items()}

    @property
    def by_novelty(self) -> Tally | None:
        """All rows, least novel surest: right, or wrong, as all rows out of distribution are."""
        return self._correct_by("novelty")

    @property
    def by_confidence(self) -> Tally | None:
        """The same, the highest posterior surest."""
        return self._correct_by("confidence")

    def _correct_by(self, name: str) -> Tally | None:
        if name not in self._familiarity:
            return None
        inside, outside = self._familiarity[name]
        return _tally(np.append(self._correct, np.zeros(len(outside))), inside, outside)

    def _unknown(self, name: str) -> str:
        return f"no measure {name}; there are {', '.join(SHOWN)}"

    def _make(self, name: str) -> Estimate:
        level, measure, by = self._settings.level, *name.partition("_")[::2]
        if name in CLASS_MEASURES:
            return CLASS_MEASURES[name].under(vars(self._settings), self.tally)
        if name == "confidence_in":
            return self._mean(self._confidence)
        familiarity = self._familiarity.get("confidence" if measure == "confidence" else by)
        if familiarity is None:
            why = "the model has no score_samples or novelty"
            return Estimate.undefined(
                why if self._familiarity else "no rows out of distribution", level
            )
        inside, outside = familiarity
        if measure == "confidence":
            return self._mean(outside)
        if measure == "auroc":  # rows out of distribution are told by low numbers
            y = np.repeat([0, 1], [len(inside), len(outside)])
            return auroc(_tally(y, -inside, -outside), level=level)
        return aurc(self._correct_by(by), level=level)

    def _mean(self, confidence: Floats) -> Estimate:
        t = _tally(np.zeros(len(confidence)), confidence)
        mean = mean_score(t, level=self._settings.level)
        low, high = max(mean.low, 0.0), min(mean.high, 1.0)
        return replace(mean, low=low, high=high, baseline=self.largest_share)


def _tally(y: Any, *scores: Floats) -> Tally:
    """The tally of numbers of any scale, in distribution and out of it; 1 is positive."""
    return Tally.of(y.astype(int), np.concatenate(scores), positive=1, kind="score")


def _confidence(model: Any, X: Any) -> Floats:  # noqa: N803
    """The highest posterior of each row."""
    p: Floats = np.asarray(model.predict_proba(X), dtype=float).max(axis=1)
    return p


class InAndOut(Lazy[ModelInAndOut], Result):
    """Models in and out of distribution; `r["forest"]["ece"]`, or `r.ece` if there is one. A table."""

    def __init__(self, models: Mapping[str, ModelInAndOut], sets: Sets) -> None:
        super().__init__(models)
        self._models, self._sets = models, sets

    def _make(self, name: str) -> ModelInAndOut:
        return self._models[name]

    def _unknown(self, name: str) -> str:
        return f"no model {name}; there are {', '.join(self)}"

    def __getattr__(self, name: str) -> Estimate:
        if name not in SHOWN:
            raise AttributeError(f"no measure {name}; there are {', '.join(SHOWN)}")
        if len(self) > 1:
            raise AttributeError(f"there are {len(self)} models; ask one of {', '.join(self)}")
        return next(iter(self.values()))[name]

    def document(self) -> InAndOutDocument:
        """What is written and shown; `scorewise schema in-and-out` prints its schema."""
        return in_and_out_document(self, self._sets)

    def pictures(self) -> Pictures:
        """The confidence in and out of distribution, and at radii of the data."""
        from scorewise.displays import ConfidenceDisplay

        return Pictures({"confidence": ConfidenceDisplay(self).plot}, ("confidence",))

    __repr__ = Result.__repr__


def at_radius(X: Any, radius: float, n: int = 500, *, random_state: int = 0) -> Any:  # noqa: N803
    """`n` points in random directions from the centre of the rows, at `radius` times their reach.

    Columns are measured in their standard deviations, so that no unit counts more than another; the
    reach is the largest distance of a row from the mean of all, its gaps left out. Constant columns
    stay as they are. Of a frame comes a frame, in which words are those of rows drawn at random.

    >>> X = np.array([[0.0, 10.0], [2.0, 30.0], [4.0, 20.0]])
    >>> at_radius(X, 2, n=2).round(1)
    array([[ 5.9, -0.5],
           [ 7.6, 24.6]])
    """
    if not (is_finite(radius) and radius >= 0):
        raise refused("radius", "be a number from 0 up, such as 5", radius)
    at_least(1, 500, n=n)
    random = np.random.default_rng(random_state)
    frame = as_frame(X)
    if frame is None:
        check_numeric(X, "an array must hold numbers; pass words in a frame")
        rows = np.asarray(X, dtype=float)
        if rows.ndim < 2 or not rows.size:
            raise BadInput(f"X has the shape {rows.shape}; it must have rows and columns")
        points = _around(rows.reshape(len(rows), -1), radius, n, random)
        return points.reshape(n, *rows.shape[1:])
    numeric = [column for column in frame.iter_columns() if column.dtype.is_numeric()]
    if not numeric:
        raise BadInput("X has no column of numbers; give some")
    values = np.column_stack([column.cast(nw.Float64).to_numpy() for column in numeric])
    points = _around(values.astype(float), radius, n, random)
    drawn = nw.maybe_reset_index(frame[random.integers(len(frame), size=n).tolist()])
    backend = frame.implementation
    moved = (
        nw.new_series(column.name, new, nw.Float64(), backend=backend)
        for column, new in zip(numeric, points.T, strict=True)
    )
    return drawn.with_columns(*moved).to_native()


def _around(flat: Floats, radius: float, n: int, random: np.random.Generator) -> Floats:
    """Points around the centre of rows, of which some values may be missing."""
    if endless := int(np.isinf(flat).any(axis=1).sum()):
        raise BadInput(f"X is infinite in {endless:,} rows; leave them out")
    there = ~np.isnan(flat)
    count = np.maximum(there.sum(axis=0), 1)
    low = np.where(there, flat, np.inf).min(axis=0)
    varies = low < np.where(there, flat, -np.inf).max(axis=0)
    low = np.where(np.isinf(low), 0.0, low)  # of a column without any value
    centre = low + np.where(there, flat - low, 0).sum(axis=0) / count  # exact where it is constant
    distance = np.where(there, flat - centre, 0)
    farthest = np.abs(distance).max(axis=0)
    size = np.where(farthest > 0, farthest, 1.0)  # what is squared stays near 1
    spread = np.where(varies, np.sqrt(((distance / size) ** 2).sum(axis=0) / count) * size, 0.0)
    unit = np.where(spread > 0, spread, 1.0)
    reach = np.sqrt(((distance / unit) ** 2).sum(axis=1)).max()
    directions = random.normal(size=(n, flat.shape[1])) * (spread > 0)
    length = np.sqrt((directions**2).sum(axis=1, keepdims=True))
    directions /= np.where(length > 0, length, 1.0)
    return np.asarray(centre + radius * reach * directions * spread)
