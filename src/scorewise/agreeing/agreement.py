"""How far raters agree: coefficients, the words for them, and all that is known besides, as one result."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, get_args

import numpy as np

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.agreeing.disagreement import (
    CategoryAgreement,
    DisputedItem,
    Pairs,
    RaterAgreement,
    differing,
    disputed,
    pairs,
    specific_agreement,
)
from scorewise.agreeing.interpretation import Banded, Baseline, Paradox, banded, baseline, paradox
from scorewise.columns.files import open_frame
from scorewise.columns.load_ratings import LoadedRatings, load_ratings
from scorewise.columns.ratings import RatingRows, Scale, take_counts, take_ratings, take_table
from scorewise.columns.roles import Form, Layout
from scorewise.columns.rows import one_of
from scorewise.columns.vectors import of_torch
from scorewise.errors import BadInput
from scorewise.inference.agreement import COEFFICIENTS
from scorewise.inference.agreement_limits import Interval
from scorewise.inference.agreement_weights import named
from scorewise.registry import RATER_MEASURES, Measure, Measured
from scorewise.show.document import Count, Level, says
from scorewise.show.shown import Shown
from scorewise.tallies import Confusion, Ratings

if TYPE_CHECKING:
    from scorewise.agreeing.document import AgreeDocument

FIRST = (
    "percent_agreement", "cohen_kappa", "scott_pi", "fleiss_kappa", "conger_kappa", "light_kappa",
    "krippendorff_alpha", "gwet_ac", "brennan_prediger", "kappa_max", "prevalence_index", "bias_index",
)  # fmt: skip
SQUARE = 'a square of whole numbers is read as the table of two raters; form="items" reads items x raters'


@dataclass(frozen=True, kw_only=True)
class Settings:
    """The settings that the numbers depend on."""

    scale: Annotated[Scale, says("What kind of categories there are.")]
    weights: Annotated[str, says("How near misses count; own: by a matrix.")]
    interval: Annotated[Interval, says("How intervals were made.")] = "formula"
    level: Annotated[Level, says("Confidence level of the intervals.")] = 0.95
    seed: Annotated[Count, says("Seed of the random draws.")] = 0
    top: Annotated[Count, says("Items listed at most.")] = 10


class Agreement(Shown, Measured):
    """Each measure of agreement as an attribute and by its name: `a.fleiss_kappa`, `a["fleiss_kappa"]`.

    Prints as tables. `bands` says each coefficient in words, `paradox` why some are far apart,
    `baseline` the error of two raters beside that of guessing; `categories`, `pairs`, `raters` and
    `disputed` tell where they disagree. All is made when it is first asked for, from `a.ratings`.
    """

    _what = "measure of agreement"

    def __init__(
        self,
        ratings: Ratings,
        weights: Any = None,
        rows: RatingRows | None = None,
        notes: Sequence[str] = (),
        sources: tuple[str, ...] = (),
        **settings: Any,
    ) -> None:
        self.ratings, self.weights, self.rows = ratings, weights, rows
        self.notes, self.sources = tuple(notes), sources
        self.settings = Settings(scale=ratings.scale, weights=named(ratings, weights), **settings)
        register = {n: RATER_MEASURES[n] for n in dict.fromkeys((*FIRST, *RATER_MEASURES))}
        super().__init__(register, {**vars(self.settings), "weights": weights})

    def _statistic(self, m: Measure) -> Ratings:
        return self.ratings

    @cached_property
    def bands(self) -> dict[str, Banded]:
        """Each coefficient in words, with the probability that the true value lies in each band."""
        names = (name for name in COEFFICIENTS if name != "percent_agreement")
        found = {name: banded(self.ratings, name, self.weights) for name in names}
        return {name: b for name, b in found.items() if b is not None}

    @cached_property
    def paradox(self) -> Paradox:
        """Coefficients without weights side by side, and what drives them apart."""
        return paradox(self.ratings, level=self.settings.level)

    @cached_property
    def baseline(self) -> Baseline:
        """The error of two raters beside that of guessing by the margins, and by permutation."""
        return baseline(self.ratings, weights=self.weights, seed=self.settings.seed)

    @cached_property
    def categories(self) -> list[CategoryAgreement]:
        """How often a category, if one says it, is said by another."""
        return specific_agreement(self.ratings, level=self.settings.level)

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs of raters who agree least."""
        return pairs(self.ratings, weights=self.weights, level=self.settings.level)

    @cached_property
    def raters(self) -> list[RaterAgreement]:
        """How far each rater agrees with the others, the one who differs most first."""
        return differing(self.ratings, weights=self.weights, level=self.settings.level)

    @cached_property
    def disputed(self) -> list[DisputedItem]:
        """The items with most disagreement; none where rows are not items, as in a table."""
        if self.rows is None or self.rows.count is not None:  # a row stands for several items
            return []
        return disputed(self.rows, self.ratings, weights=self.weights, top=self.settings.top)

    def to_frame(self) -> Any:
        """One row for each measure, as a polars frame."""
        import polars as pl

        from scorewise.agreeing.document import measure_rows
        from scorewise.show.document import to_dict

        frame = pl.DataFrame(to_dict(measure_rows(self)), infer_schema_length=None).drop("chances")
        first = ["name", "value", "low", "high", "p", "band"]
        return frame.select(*first, pl.exclude(first))

    def plot(self, ax: Any = None) -> Any:
        """Draw the coefficients over the bands; `displays.PairsDisplay` draws each two raters."""
        from scorewise.displays import CoefficientsDisplay

        s = self.settings
        return CoefficientsDisplay.from_ratings(
            self.ratings,
            ax=ax,
            weights=self.weights,
            interval=s.interval,
            level=s.level,
            seed=s.seed,
        )

    def document(self) -> AgreeDocument:
        """What is written and shown; `scorewise schema agree` prints its schema."""
        from scorewise.agreeing.document import agree_document

        return agree_document(self)


def agree(
    ratings: Any,
    other: Any = None,
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
    encoding: str | None = None,
) -> Agreement:
    """How far raters agree beyond chance, in numbers and words, and where they do not.

    `agree(first, second)` takes the columns of two raters. Else `ratings` are a column for each rater by
    name (a dict, a frame, files), an array of items x raters, the square table of two raters, or
    `Ratings`. A square array of whole numbers is the table; `form` says what else it is: "items" (x
    raters), "table", or "counts" of items x categories. Of frames and files, `raters=` names the columns
    of raters, or `item=`, `rater=`, `rating=` those of one rating in each row, or `counts=` those of
    counts. What is missing was not rated. `weights` say how much near misses count: "linear",
    "quadratic", ... or a matrix; by default what suits the scale. `interval` is "formula" (which holds
    for few items and rare categories, too), "bootstrap" of items, or "published", as other packages give
    it. Files of text are in UTF-8, or in `encoding`.

    >>> a = agree([[25, 10], [15, 20]])
    >>> a.cohen_kappa
    0.286 [0.054, 0.501]
    """
    if isinstance(level, bool | str) or not 0 < level < 1:
        raise BadInput(f"level={level!r} is not between 0 and 1; 0.95 is usual")
    if isinstance(top, bool) or not isinstance(top, int) or top < 0:
        raise BadInput(f"top={top!r} is no number of rows; pass 0 or more")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
        raise BadInput(f"seed={seed!r} is no seed; pass a whole number from 0 up")
    one_of("interval", interval, get_args(Interval))
    settings: dict[str, Any] = {"interval": interval, "level": float(level), "seed": int(seed)}
    settings["top"] = top
    if other is not None:
        ratings = {"first": ratings, "second": other}
    if isinstance(ratings, Ratings):
        return Agreement(ratings, weights, **settings)
    if isinstance(ratings, Confusion):
        words = ratings.classes if categories is None else tuple(str(c) for c in categories)
        table = replace(ratings, classes=words)
        return Agreement(Ratings.of_confusion(table, scale=scale), weights, **settings)
    read = read_ratings(
        ratings,
        {
            "raters": [raters] if isinstance(raters, str) else raters,
            "item": item, "rater": rater, "rating": rating, "counts": counts,
        },
        form=form, scale=scale, categories=categories,
        amounts={"weight": weight, "count": count, "items": items}, encoding=encoding,
    )  # fmt: skip
    notes = [*read.notes, *read.rows.notes]
    return Agreement(
        Ratings.of_rows(read.rows), weights, read.rows, notes, read.sources, **settings
    )


# Ratings in any of the forms that `agree` takes, as checked rows.


def read_ratings(
    ratings: Any,
    columns: Mapping[str, Any],
    *,
    form: Form | None,
    scale: Scale,
    categories: Sequence[Any] | None,
    amounts: Mapping[str, Any],
    encoding: str | None = None,
) -> LoadedRatings:
    """Ratings of a file, a frame, columns or an array; a note says where a square is taken for a table.

    >>> found = read_ratings(
    ...     [[2, 1], [1, 2]], {}, form=None, scale="nominal", categories=None, amounts={}
    ... )
    >>> found.rows.count, found.rows.notes == (SQUARE,)
    (array([2, 1, 1, 2]), True)
    """
    one_of("form", form, (None, *get_args(Form)))
    named = {k: v for k, v in columns.items() if v not in (None, ())}
    amounts = {k: v for k, v in amounts.items() if v is not None}
    square = form is None and not named and _square(ratings)
    mapping = isinstance(ratings, Mapping)
    in_columns = _in_files(ratings) or (_in_columns(ratings) and (named or not mapping))
    if in_columns and not square:
        if given := next((k for k, v in amounts.items() if not isinstance(v, str)), None):
            raise BadInput(f"{given}= is the name of a column where ratings are a file or a frame")
        layout = Layout(**named, **amounts, form=form)
        return load_ratings(ratings, layout, scale=scale, categories=categories, encoding=encoding)
    if named:
        raise BadInput(
            f"{next(iter(named))}= names a column; pass a frame, a dict of columns or a file"
        )
    if square or form == "table":
        rows = _table(ratings, scale, categories, amounts)
    elif form == "counts":
        rows = _counts(ratings, scale, categories, amounts)
    else:
        by_rater = _by_name(ratings) if mapping else _by_number(ratings)
        rows = take_ratings(by_rater, scale=scale, categories=categories, **amounts)
    return LoadedRatings(replace(rows, notes=(*rows.notes, SQUARE)) if square else rows, [], ())


def _in_files(ratings: Any) -> bool:
    listed = isinstance(ratings, list | tuple) and len(ratings) > 0
    return all(isinstance(r, str | os.PathLike) for r in (ratings if listed else [ratings]))


def _in_columns(ratings: Any) -> bool:
    # of the type: a lazy frame would work out its columns
    return isinstance(ratings, Mapping) or hasattr(type(ratings), "columns")


def _square(ratings: Any) -> bool:
    """Whether it is a square of whole numbers from 0 up, whose columns are not named as raters are.

    A pandas frame is, if its rows and columns have the same names.
    """
    if _in_columns(ratings):
        if not all(hasattr(type(ratings), name) for name in ("index", "columns", "dtypes")):
            return False
        if [str(i) for i in ratings.index] != [str(c) for c in ratings.columns]:
            return False
    elif _in_files(ratings):
        return False
    try:
        array = np.asarray(of_torch(ratings, "the table of ratings"))
    except ValueError:  # rows that differ in length
        return False
    if array.ndim != 2 or array.shape[0] != array.shape[1] or len(array) < 2:
        return False
    if array.dtype.kind == "O":
        numeric = all(isinstance(x, int | float | np.number) for x in array.flat)
        if not numeric or any(isinstance(x, bool) for x in array.flat):
            return False
        array = array.astype(np.float64)
    # NaN is no whole number
    whole = array.dtype.kind in "iuf" and (array >= 0) & (array == np.floor(array))
    return bool(np.all(whole))


def _by_name(ratings: Any) -> dict[str, Any]:
    names, get = open_frame(ratings)
    return get(names)


def _array(ratings: Any) -> np.ndarray:
    try:
        array = np.asarray(of_torch(ratings, "the table of ratings"))
    except ValueError:
        raise BadInput(
            "the rows of the ratings differ in length; each item needs one for each rater"
        ) from None
    if array.ndim != 2:
        raise BadInput(
            f"ratings have shape {array.shape}; pass items x raters, a table of two raters, or a column "
            f"for each rater by name"
        )
    return array


def _by_number(ratings: Any) -> dict[str, Any]:
    array = _array(ratings)
    # a column by itself is read as what it is: numbers stay numbers beside words
    rows = isinstance(ratings, list | tuple)
    return {
        f"rater {k + 1}": [row[k] for row in ratings] if rows else array[:, k]
        for k in range(array.shape[1])
    }


def _table(
    ratings: Any, scale: Scale, categories: Sequence[Any] | None, amounts: Mapping[str, Any]
) -> RatingRows:
    if given := next(iter(amounts), None):
        raise BadInput(
            f'{given}= does not go with a table of two raters; form="items" reads items x raters'
        )
    if isinstance(ratings, Mapping):
        categories = list(ratings) if categories is None else categories
        ratings = np.stack([np.asarray(c) for c in ratings.values()], axis=1)
    return take_table(_array(ratings), scale=scale, categories=categories)


def _counts(
    ratings: Any, scale: Scale, categories: Sequence[Any] | None, amounts: Mapping[str, Any]
) -> RatingRows:
    if "count" in amounts:
        raise BadInput("count= does not go with counts of ratings; leave it out")
    by_name = _by_name(ratings) if isinstance(ratings, Mapping) else None
    columns = list(_array(ratings).T if by_name is None else by_name.values())
    words = list(range(len(columns)) if by_name is None else ratings)
    words = words if categories is None else list(categories)
    if len(words) != len(columns):
        raise BadInput(
            f"categories= names {len(words)} categories, and there are counts of {len(columns)}"
        )
    named = {str(word): column for word, column in zip(words, columns, strict=True)}
    return take_counts(named, scale=scale, **amounts)
