"""Models judged together on rows from where they learned and on rows from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.models.checking import is_finite
from scorewise.models.far_and_near import SHOWN, FarAndNear, Sets, check_model
from scorewise.models.radius import at_radius
from scorewise.views.documents import documented, estimate_of, finite
from scorewise.views.shown import Shown
from scorewise.views.words import Document

RADII = (1, 2, 3, 4, 5)
SURE = 0.1  # above the largest class share, out of distribution


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

    @cached_property
    def _document(self) -> Document:
        return _document(self, self._sets, self._points)

    def to_dict(self) -> Document:
        """The document that every view renders; `scorewise schema in-and-out` has its schema."""
        from copy import deepcopy

        return deepcopy(self._document)

    def to_frame(self) -> Any:
        """One row for each model and measure, and for each radius, as a polars frame."""
        import polars as pl

        lines = [
            {"model": name, "measure": measure, "radius": None, **estimate_of(one[measure])}
            for name, one in self.items()
            for measure in one
        ] + [
            {"model": name, "measure": "confidence", "radius": radius, **estimate_of(found)}
            for name, one in self.items()
            for radius, found in one.at.items()
        ]
        return pl.DataFrame(lines, infer_schema_length=None)

    __repr__ = Shown.__repr__


def _document(r: InAndOut, sets: Sets, points: int) -> Document:
    first = next(iter(r.values()))
    shape = np.shape(sets.X)
    return documented(
        "in-and-out",
        {
            "settings": {
                "points": int(points),
                "clip": None if sets.clip is None else float(sets.clip),
                "level": float(sets.level),
                "seed": int(sets.seed),
            },
            "data": {
                "rows": int(shape[0]),
                "rows_out": None if sets.out is None else len(sets.out),
                "columns": int(np.prod(shape[1:])),
                "classes": [str(c) for c in first.tally.classes],
                "largest_share": first.largest_share,
            },
            "models": [_model(name, one) for name, one in r.items()],
            "hints": [hint for name, one in r.items() for hint in _hints(name, one)],
        },
    )


def _model(name: str, one: FarAndNear) -> Document:
    return {
        "name": name,
        "novelty": one.novelty_by,
        "measures": [
            {"name": key, "title": title, "of": of, **estimate_of(one[key])}
            for key, (title, of) in SHOWN.items()
        ],
        "radii": [
            {"radius": finite(radius), **estimate_of(found)} for radius, found in one.at.items()
        ],
    }


def _hints(name: str, one: FarAndNear) -> Iterator[str]:
    """Where a model stays sure of what it cannot know."""
    share = one.largest_share
    places = {"out of distribution": one["confidence_out"]}
    places |= {f"at radius {radius:g}": found for radius, found in list(one.at.items())[-1:]}
    for place, found in places.items():
        least = found.value if math.isnan(found.low) else found.low
        if found.defined and least > share + SURE:
            yield (
                f"'{name}' is {found.value:.2f} sure {place} on average, where the share of the "
                f"commonest class is {share:.2f}"
            )
