"""All that is known of the agreement of raters, as one result."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.agreeing.reading import Form, read_ratings
from scorewise.door.columns import one_of
from scorewise.door.ratings import RatingRows, Scale
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.registry import RATER_MEASURES
from scorewise.tallies import Confusion, Ratings
from scorewise.views.shown import Shown
from scorewise.views.words import Document

Interval = Literal["formula", "bootstrap"]


@dataclass(frozen=True)
class Settings:
    """What the numbers depend on besides the ratings."""

    weights: Any = None
    interval: Interval = "formula"
    level: float = 0.95
    seed: int = 0
    top: int = 10


class Agreement(Shown, Mapping[str, Estimate]):
    """Each measure of agreement as an attribute and by its name: `a.fleiss_kappa`, `a["fleiss_kappa"]`.

    Prints as tables. All is made when it is first asked for. The ratings are in `a.ratings`.
    """

    ratings: Ratings
    settings: Settings

    def __init__(
        self,
        ratings: Ratings,
        settings: Settings,
        rows: RatingRows | None = None,
        notes: Sequence[str] = (),
        sources: tuple[str, ...] = (),
    ) -> None:
        self.ratings, self.settings, self.rows = ratings, settings, rows
        self.notes, self.sources = tuple(notes), sources
        self._estimates: dict[str, Estimate] = {}

    def __getitem__(self, name: str) -> Estimate:
        if name not in RATER_MEASURES:
            raise KeyError(_unknown(name))
        if name not in self._estimates:
            s = self.settings
            self._estimates[name] = RATER_MEASURES[name](
                self.ratings, weights=s.weights, interval=s.interval, level=s.level, seed=s.seed
            )
        return self._estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(RATER_MEASURES)

    def __len__(self) -> int:
        return len(RATER_MEASURES)

    def __getattr__(self, name: str) -> Estimate:
        if name not in RATER_MEASURES:
            raise AttributeError(_unknown(name))
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *RATER_MEASURES]

    @cached_property
    def _document(self) -> Document:
        from scorewise.agreeing.document import agreement_document

        return agreement_document(self)

    def to_dict(self) -> Document:
        """The document that every view renders; `scorewise schema agree` has its schema."""
        from copy import deepcopy

        return deepcopy(self._document)


def agree(
    ratings: Any,
    *,
    form: Form | None = None,
    scale: Scale = "nominal",
    categories: Sequence[Any] | None = None,
    weights: Any = None,
    interval: Interval = "formula",
    raters: Sequence[str] = (),
    item: str | None = None,
    rater: str | None = None,
    rating: str | None = None,
    counts: str | Mapping[str, str] | None = None,
    weight: Any = None,
    count: Any = None,
    items: Any = None,
    level: float = 0.95,
    seed: int = 0,
    top: int = 10,
) -> Agreement:
    """How far raters agree beyond chance, in numbers and words, and where they do not.

    `ratings` are a column for each rater by name (a dict, a frame, files), items x raters, the square
    table of two raters, counts of items x categories with form="counts", or `Ratings`. Of frames and
    files, `raters=` names the columns of raters, or `item=`, `rater=`, `rating=` those of one rating in
    each row, or `counts=` those of counts. What is missing was not rated. `weights` say how much near
    misses count: "linear", "quadratic", ... or a matrix; by default what suits the scale.

    >>> a = agree([[25, 10], [15, 20]])
    >>> a.cohen_kappa
    0.286 [0.064, 0.508]
    """
    if not 0 < level < 1:
        raise BadInput(f"level={level:g} is not between 0 and 1; 0.95 is usual")
    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise BadInput(f"top={top!r} is no number of rows; pass 0 or more")
    if isinstance(seed, bool) or not isinstance(seed, int) or seed < 0:
        raise BadInput(f"seed={seed!r} is no seed; pass a whole number from 0 up")
    one_of("interval", interval, ("formula", "bootstrap"))
    settings = Settings(weights, interval, level, seed, top)
    if isinstance(ratings, Ratings):
        return Agreement(ratings, settings)
    if isinstance(ratings, Confusion):
        table = {"categories": ratings.classes if categories is None else categories}
        found = Ratings.of_table(ratings.weight, scale=scale, **table)
        return Agreement(found, settings)
    layout = {"raters": raters, "item": item, "rater": rater, "rating": rating, "counts": counts}
    amounts = {
        k: v for k, v in (("weight", weight), ("count", count), ("items", items)) if v is not None
    }
    read = read_ratings(
        ratings, layout, form=form, scale=scale, categories=categories, amounts=amounts
    )
    return Agreement(Ratings.of_rows(read.rows), settings, read.rows, read.notes, read.sources)


def _unknown(name: str) -> str:
    return f"no measure of agreement is named {name}; there are {', '.join(sorted(RATER_MEASURES))}"
