"""One model on rows from where it learned and on rows from elsewhere: how sure it is, and of what."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.columns.classes import take_classes
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.scales import mean_score
from scorewise.measures import auroc
from scorewise.measures.classes.calibration import ece
from scorewise.measures.classes.decisions import accuracy
from scorewise.measures.classes.probability import log_loss
from scorewise.measures.classes.selective import aurc
from scorewise.models.document import SHOWN, InAndOutDocument, in_and_out_document
from scorewise.models.input import is_finite
from scorewise.models.neighbourhood import at_radius
from scorewise.show.document import Estimated, record_of
from scorewise.show.shown import Shown
from scorewise.tallies import ClassTally, Tally


class Sets(NamedTuple):
    """Rows in distribution with their labels, rows out of it, and points at radii of the data."""

    X: Any
    y: Any
    out: Any
    at: dict[float, Floats]
    level: float
    seed: int
    clip: float | None


class FarAndNear(Mapping[str, Estimate]):
    """One model, in and out of distribution: each measure by name, `at` the confidence by radius."""

    def __init__(self, model: Any, sets: Sets) -> None:
        self._level, self._seed, self._clip = sets.level, sets.seed, sets.clip
        p = np.asarray(model.predict_proba(sets.X), dtype=float)
        self.classes = list(model.classes_)
        self.tally = ClassTally.of(sets.y, p, classes=self.classes)
        self._right = _right(sets.y, self.classes, p)
        self._sure, self._sure_out = p.max(axis=1), _confidence(model, sets.out)
        self.novelty_by, (self._odd, self._odd_out) = _oddness(model, sets.X, sets.out)
        self.at = {radius: self._mean(_confidence(model, x)) for radius, x in sets.at.items()}

    @cached_property
    def largest_share(self) -> float:
        """The share of the commonest class in distribution: a confidence that knows nothing."""
        counts = self.tally.confusion.weight.sum(axis=1)
        return float(counts.max() / counts.sum())

    @cached_property
    def by_novelty(self) -> Tally | None:
        """All rows, least novel surest: right, or wrong, as all rows out of distribution are."""
        return None if self._odd is None else self._kept(-self._odd, -self._odd_out)

    @cached_property
    def by_confidence(self) -> Tally | None:
        """The same, the highest posterior surest."""
        return None if self._sure_out is None else self._kept(self._sure, self._sure_out)

    def __getitem__(self, name: str) -> Estimate:
        if name not in SHOWN:
            raise KeyError(f"no measure {name}; there are {', '.join(SHOWN)}")
        return self._estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(SHOWN)

    def __len__(self) -> int:
        return len(SHOWN)

    @cached_property
    def _estimates(self) -> dict[str, Estimate]:
        level = self._level
        return {
            "accuracy": accuracy(self.tally, level=level),
            "log_loss": log_loss(self.tally, clip=self._clip, level=level),
            "ece": ece(self.tally, level=level, seed=self._seed),
            "confidence_in": self._mean(self._sure),
            "confidence_out": self._mean(self._sure_out),
            "auroc_novelty": self._told(self._odd, self._odd_out),
            "auroc_confidence": self._told(-self._sure, _minus(self._sure_out)),
            "aurc_novelty": self._area(self.by_novelty),
            "aurc_confidence": self._area(self.by_confidence),
        }

    def _mean(self, sure: Floats | None) -> Estimate:
        if sure is None:
            return Estimate.undefined("no rows out of distribution", self._level)
        t = Tally.of(np.zeros(len(sure), int), sure, positive=1, kind="score")
        mean = mean_score(t, level=self._level)
        low, high = max(mean.low, 0.0), min(mean.high, 1.0)
        return Estimate(
            mean.value, low, high, mean.level, mean.method, mean.why, baseline=self.largest_share
        )

    def _told(self, inside: Floats | None, out: Floats | None) -> Estimate:
        """How well a number tells rows out of distribution from rows in it."""
        if why := self._lacking(inside):
            return Estimate.undefined(why, self._level)
        return auroc(_tally(inside, out), level=self._level)

    def _area(self, t: Tally | None) -> Estimate:
        if t is None:
            return Estimate.undefined(self._lacking(self._odd), self._level)
        return aurc(t, level=self._level)

    def _lacking(self, odd: Floats | None) -> str:
        if self._sure_out is None:
            return "no rows out of distribution"
        return "the model has no score_samples or novelty" if odd is None else ""

    def _kept(self, sure: Floats, sure_out: Floats | None) -> Tally:
        assert sure_out is not None
        right = np.concatenate([self._right, np.zeros(len(sure_out), bool)])
        return Tally.of(
            right.astype(int), np.concatenate([sure, sure_out]), positive=1, kind="score"
        )


def _tally(inside: Any, out: Any) -> Tally:
    y = np.repeat([0, 1], [len(inside), len(out)])
    return Tally.of(y, np.concatenate([inside, out]), positive=1, kind="score")


def _minus(x: Floats | None) -> Floats | None:
    return None if x is None else -x


def _right(y: Any, classes: list[Any], p: Floats) -> Any:
    """Which rows are called what they are, however their labels are spelled."""
    rows = take_classes(y, p, classes=classes)
    return rows.scores.argmax(axis=1) == rows.y


def _confidence(model: Any, X: Any) -> Any:  # noqa: N803
    """The highest posterior of each row; none where there are no rows."""
    return None if X is None else np.asarray(model.predict_proba(X), dtype=float).max(axis=1)


def _oddness(model: Any, X: Any, out: Any) -> tuple[str | None, tuple[Any, Any]]:  # noqa: N803
    """How novel rows are: minus the log density, which has fewer ties than its novelty; and its name."""
    if out is None:
        return None, (None, None)
    if hasattr(model, "score_samples"):
        odd, out_odd = (np.nan_to_num(-np.asarray(model.score_samples(x), float)) for x in (X, out))
        return "score_samples", (odd, out_odd)
    if hasattr(model, "novelty"):
        return "novelty", (np.asarray(model.novelty(X)), np.asarray(model.novelty(out)))
    return None, (None, None)


def check_model(name: str, model: Any) -> None:
    """Refuse what gives no posteriors of named classes."""
    lacking = {
        "predict_proba": "give a classifier that has chances for its classes",
        "classes_": "fit it first",
    }
    for part, way_out in lacking.items():
        if not hasattr(model, part):
            raise BadInput(
                f"{name or 'model'} is of type {type(model).__name__}, without {part}; {way_out}"
            )


# Models judged together on rows from where they learned and on rows from elsewhere.


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
    for name, one in models.items():
        check_model(str(name), one)
    if len({str(name) for name in models}) < len(models):
        raise BadInput("two models have the same name; names that look alike are the same")
    if not (is_finite(level) and 0 < level < 1):
        raise BadInput(f"level is {level!r}; it must lie between 0 and 1, such as 0.95")
    if clip is not None and not (is_finite(clip) and 0 < clip < 0.5):
        raise BadInput(f"clip is {clip!r}; it must lie between 0 and 0.5, such as 1e-15")
    if not isinstance(radii, Iterable):
        raise BadInput(f"radii is {radii!r}; pass several, such as (1, 2, 3)")
    at = {float(r): at_radius(X, r, points, random_state=seed) for r in radii}
    sets = Sets(X, y, X_out, at, level, seed, clip)
    return InAndOut(
        {str(name): FarAndNear(one, sets) for name, one in models.items()}, sets, points
    )


class InAndOut(Mapping[str, FarAndNear], Shown):
    """Models in and out of distribution; `r["forest"]["ece"]`, or `r.ece` if there is one. A table."""

    def __init__(self, models: Mapping[str, FarAndNear], sets: Sets, points: int) -> None:
        self._models, self._sets, self._points = dict(models), sets, points

    def __getitem__(self, name: str) -> FarAndNear:
        if name not in self._models:
            raise KeyError(f"no model {name}; there are {', '.join(self)}")
        return self._models[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._models)

    def __len__(self) -> int:
        return len(self._models)

    def __getattr__(self, name: str) -> Estimate:
        if name not in SHOWN:
            raise AttributeError(f"no measure {name}; there are {', '.join(SHOWN)}")
        if len(self) > 1:
            raise AttributeError(f"there are {len(self)} models; ask one of {', '.join(self)}")
        return next(iter(self.values()))[name]

    def document(self) -> InAndOutDocument:
        """What is written and shown; `scorewise schema in-and-out` prints its schema."""
        return self._document

    @cached_property
    def _document(self) -> InAndOutDocument:
        return in_and_out_document(self, self._sets, self._points)

    def to_frame(self) -> Any:
        """One row for each model and measure, and for each radius, as a polars frame."""
        import polars as pl

        lines = [
            {
                "model": name,
                "measure": measure,
                "radius": None,
                **vars(record_of(Estimated, one[measure])),
            }
            for name, one in self.items()
            for measure in one
        ] + [
            {
                "model": name,
                "measure": "confidence",
                "radius": radius,
                **vars(record_of(Estimated, found)),
            }
            for name, one in self.items()
            for radius, found in one.at.items()
        ]
        return pl.DataFrame(lines, infer_schema_length=None)

    __repr__ = Shown.__repr__
