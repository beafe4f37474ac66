"""Models on rows from where they learned, on rows from elsewhere and on points at a distance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import narwhals as nw
import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import check
from scorewise.columns.classes import take_classes
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.scales import mean_score
from scorewise.measures import accuracy, aurc, auroc, ece, log_loss
from scorewise.models.document import (
    SHOWN,
    InAndOutDocument,
    SettingsRecord,
    in_and_out_document,
)
from scorewise.models.validation import as_frame, check_number, check_numeric
from scorewise.registry import Lazy
from scorewise.show.shown import Shown
from scorewise.tallies import ClassTally, Tally

if TYPE_CHECKING:
    from scorewise.displays.overview import Pictures

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
    return InAndOut({str(name): FarAndNear(one, sets) for name, one in models.items()}, sets)


class Sets(NamedTuple):
    """Rows in distribution with their labels, rows out of it, and points at radii of the data."""

    X: Any
    y: Any
    out: Any
    at: dict[float, Floats]
    settings: SettingsRecord


class FarAndNear(Lazy[Estimate]):
    """One model, in and out of distribution: each measure by name, `at` the confidence by radius."""

    def __init__(self, model: Any, sets: Sets) -> None:
        super().__init__(SHOWN)
        self._settings = sets.settings
        p = np.asarray(model.predict_proba(sets.X), dtype=float)
        self.classes = list(model.classes_)
        self.tally = ClassTally.of(sets.y, p, classes=self.classes)
        rows = take_classes(sets.y, p, classes=self.classes)  # however labels are spelled
        self._right = rows.scores.argmax(axis=1) == rows.y
        self._sure, self._sure_out = p.max(axis=1), _confidence(model, sets.out)
        self.novelty_by, self._familiar = _familiar(model, sets.X, sets.out)
        self.at = {radius: self._mean(_confidence(model, x)) for radius, x in sets.at.items()}

    @cached_property
    def largest_share(self) -> float:
        """The share of the commonest class in distribution: a confidence that knows nothing."""
        counts = self.tally.confusion.weight.sum(axis=1)
        return float(counts.max() / counts.sum())

    @cached_property
    def by_novelty(self) -> Tally | None:
        """All rows, least novel surest: right, or wrong, as all rows out of distribution are."""
        return None if self._familiar is None else self._kept(*self._familiar)

    @cached_property
    def by_confidence(self) -> Tally | None:
        """The same, the highest posterior surest."""
        return None if self._sure_out is None else self._kept(self._sure, self._sure_out)

    def _unknown(self, name: str) -> str:
        return f"no measure {name}; there are {', '.join(SHOWN)}"

    def _make(self, name: str) -> Estimate:
        asked, both = self._settings, (self._sure, self._sure_out)
        level = asked.level
        made: dict[str, Callable[[], Estimate]] = {
            "accuracy": lambda: accuracy(self.tally, level=level),
            "log_loss": lambda: log_loss(self.tally, clip=asked.clip, level=level),
            "ece": lambda: ece(self.tally, level=level, seed=asked.seed),
            "confidence_in": lambda: self._mean(self._sure),
            "confidence_out": lambda: self._mean(self._sure_out),
            "auroc_novelty": lambda: self._told(self._familiar),
            "auroc_confidence": lambda: self._told(both),
            "aurc_novelty": lambda: self._area(self.by_novelty),
            "aurc_confidence": lambda: self._area(self.by_confidence),
        }
        return made[name]()

    def _mean(self, sure: Floats | None) -> Estimate:
        if sure is None:
            return self._undefined()
        t = Tally.of(np.zeros(len(sure), int), sure, positive=1, kind="score")
        mean = mean_score(t, level=self._settings.level)
        low, high = max(mean.low, 0.0), min(mean.high, 1.0)
        return replace(mean, low=low, high=high, baseline=self.largest_share)

    def _told(self, sure: tuple[Any, Any] | None) -> Estimate:
        """How well a number tells rows out of distribution, where it is low, from rows in it."""
        if sure is None or self._sure_out is None:
            return self._undefined()
        y = np.repeat([0, 1], [len(part) for part in sure])
        return auroc(
            Tally.of(y, -np.concatenate(sure), positive=1, kind="score"), level=self._settings.level
        )

    def _area(self, t: Tally | None) -> Estimate:
        return self._undefined() if t is None else aurc(t, level=self._settings.level)

    def _undefined(self) -> Estimate:
        out = self._sure_out is not None
        why = "the model has no score_samples or novelty" if out else "no rows out of distribution"
        return Estimate.undefined(why, self._settings.level)

    def _kept(self, sure: Floats, sure_out: Floats) -> Tally:
        right = np.concatenate([self._right, np.zeros(len(sure_out), bool)]).astype(int)
        return Tally.of(right, np.concatenate([sure, sure_out]), positive=1, kind="score")


def _confidence(model: Any, X: Any) -> Any:  # noqa: N803
    """The highest posterior of each row; none where there are no rows."""
    return None if X is None else np.asarray(model.predict_proba(X), dtype=float).max(axis=1)


def _familiar(model: Any, *sets: Any) -> tuple[str | None, tuple[Any, ...] | None]:
    """What tells how familiar rows are, and how familiar each set is.

    The log density has fewer ties than minus the novelty, and goes first.
    """
    if sets[-1] is None:
        return None, None
    if hasattr(model, "score_samples"):
        found = [np.nan_to_num(np.asarray(model.score_samples(x), float)) for x in sets]
        return "score_samples", tuple(found)
    if hasattr(model, "novelty"):
        return "novelty", tuple(-np.asarray(model.novelty(x)) for x in sets)
    return None, None


class InAndOut(Lazy[FarAndNear], Shown):
    """Models in and out of distribution; `r["forest"]["ece"]`, or `r.ece` if there is one. A table."""

    def __init__(self, models: Mapping[str, FarAndNear], sets: Sets) -> None:
        super().__init__(models)
        self._models, self._sets = models, sets

    def _make(self, name: str) -> FarAndNear:
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
        return self._document

    @cached_property
    def _document(self) -> InAndOutDocument:
        return in_and_out_document(self, self._sets)

    def pictures(self) -> Pictures:
        """The confidence in and out of distribution, and at radii of the data."""
        from scorewise.displays import ConfidenceDisplay
        from scorewise.displays.overview import Pictures

        return Pictures({"confidence": ConfidenceDisplay(self).plot}, ("confidence",))

    __repr__ = Shown.__repr__


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
    check_number("radius", radius, 0, such_as=5, whole=False)
    check_number("n", n, 1, such_as=500)
    random = np.random.default_rng(random_state)
    frame = as_frame(X)
    if frame is None:
        check_numeric(X, "an array must hold numbers; pass words in a frame")
        rows = np.asarray(X, dtype=float)
        if rows.ndim < 2 or not rows.size:
            raise BadInput(f"X has the shape {rows.shape}; it must have rows and columns")
        points = _around(rows.reshape(len(rows), -1), radius, n, random)
        return points.reshape(n, *rows.shape[1:])
    columns = list(frame.iter_columns())
    numeric = [column.dtype.is_numeric() for column in columns]
    if not any(numeric):
        raise BadInput("X has no column of numbers; give some")
    told = [c.cast(nw.Float64).to_numpy() for c, own in zip(columns, numeric, strict=True) if own]
    moved = iter(_around(np.column_stack(told).astype(float), radius, n, random).T)
    drawn = random.integers(len(frame), size=n).tolist()
    made = {}
    for at, (column, own) in enumerate(zip(columns, numeric, strict=True)):
        values, kind = (
            (next(moved), nw.Float64()) if own else (column[drawn].to_list(), column.dtype)
        )
        made[str(at)] = nw.new_series(str(at), values, kind, backend=frame.implementation)
    found = nw.from_dict(made)
    if frame.implementation.is_pandas_like():  # where names need not be words
        native = found.to_native()
        native.columns = frame.to_native().columns
        return native
    return found.rename(dict(zip(found.columns, frame.columns, strict=True))).to_native()


def _around(flat: Floats, radius: float, n: int, random: np.random.Generator) -> Floats:
    """Points around the centre of rows, of which some values may be missing."""
    if endless := int(np.isinf(flat).any(axis=1).sum()):
        raise BadInput(f"X is infinite in {endless:,} rows; leave them out")
    known = ~np.isnan(flat)
    count = np.maximum(known.sum(axis=0), 1)
    low = np.where(known, flat, np.inf).min(axis=0)
    varies = low < np.where(known, flat, -np.inf).max(axis=0)
    low = np.where(np.isinf(low), 0.0, low)  # of a column without any value
    centre = low + np.where(known, flat - low, 0).sum(axis=0) / count  # exact where it is constant
    away = np.where(known, flat - centre, 0)
    most = np.abs(away).max(axis=0)
    size = np.where(most > 0, most, 1.0)  # what is squared stays near 1
    spread = np.where(varies, np.sqrt(((away / size) ** 2).sum(axis=0) / count) * size, 0.0)
    unit = np.where(spread > 0, spread, 1.0)
    reach = np.sqrt(((away / unit) ** 2).sum(axis=1)).max()
    directions = random.normal(size=(n, flat.shape[1])) * (spread > 0)
    length = np.sqrt((directions**2).sum(axis=1, keepdims=True))
    directions /= np.where(length > 0, length, 1.0)
    return np.asarray(centre + radius * reach * directions * spread)
