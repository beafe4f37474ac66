"""How far raters agree: coefficients, the words for them, and all that is known besides, as one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from math import nan, sqrt
from typing import TYPE_CHECKING, Any, get_args

import numpy as np

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.agreeing.disagreement import (
    CategoryAgreement,
    DisputedItem,
    Pairs,
    RaterAgreement,
    disputed,
    pairs,
    rater_agreement,
    specific_agreement,
)
from scorewise.agreeing.interpretation import (
    Banded,
    Baseline,
    Paradox,
    banded,
    baseline,
    paradox,
    reported,
)
from scorewise.agreeing.reading import read_ratings
from scorewise.arrays import Floats, Ints
from scorewise.checks import check, one_of
from scorewise.columns.grouping import grouping
from scorewise.columns.layouts import Form
from scorewise.columns.ratings import RatingRows, Scale
from scorewise.columns.reader import group_columns
from scorewise.errors import BadInput, Option
from scorewise.estimate import Estimate
from scorewise.inference.agreement import COEFFICIENTS, coefficient
from scorewise.inference.agreement_intervals import Interval
from scorewise.inference.agreement_weights import weights_name
from scorewise.inference.means import cluster_variance, widened_test
from scorewise.registry import RATER_MEASURES, Measured
from scorewise.show.records import Count, Repeatable, field
from scorewise.show.result import Pictures, Result
from scorewise.subgroups import ComparedGroups, GroupWording
from scorewise.tallies import ClassTally, Confusion, Ratings, RowTally, Tally, TallySet
from scorewise.tallies.merging import is_saved, ratings_of, sum_of_saved
from scorewise.tallies.ratings import take_items

if TYPE_CHECKING:
    from scorewise.agreeing.document import AgreeDocument

FIRST = (
    "percent_agreement", "cohen_kappa", "scott_pi", "fleiss_kappa", "conger_kappa", "light_kappa",
    "krippendorff_alpha", "gwet_ac", "brennan_prediger", "kappa_max", "prevalence_index", "bias_index",
)  # fmt: skip


GROUP_TITLES = {
    "percent_agreement": "Agreement",
    "cohen_kappa": "Cohen",
    "fleiss_kappa": "Fleiss",
    "krippendorff_alpha": "Alpha",
    "gwet_ac": "AC",
}


class Settings(Repeatable):
    """The settings that the numbers depend on."""

    scale: Scale = field("What kind of categories there are.")
    weights: str = field("How near misses count; own: by a matrix.")
    interval: Interval = field("How intervals were made.", default="formula")
    top: Count = field("Items listed at most.", default=10)


class Agreement(Result, Measured):
    """Each measure of agreement as an attribute and by its name: `a.fleiss_kappa`, `a["fleiss_kappa"]`.

    `a.groups["north"]` is the agreement on the items of a group, where columns of groups were named (`by`).

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
        min_rows: int = 20,
        **settings: Any,
    ) -> None:
        self.ratings, self.weights, self.rows, self._given = ratings, weights, rows, settings
        self.notes = () if rows is None else (*rows.guesses, *rows.notes)
        self.sources = () if rows is None else rows.place.sources
        self.cluster = None if rows is None else rows.cluster
        self.settings = Settings(
            scale=ratings.scale, weights=weights_name(ratings, weights), **settings
        )
        register = {n: RATER_MEASURES[n] for n in dict.fromkeys((*FIRST, *RATER_MEASURES))}
        super().__init__(register, {**vars(self.settings), "weights": weights})
        self.groups = Groups(self, min_rows)

    def part(self, at: Ints, level: float) -> Agreement:
        """The agreement on some of the items, at that level."""
        assert self.rows is not None
        some = take_items(self.rows, at)
        given = self._given | {"level": level}
        return Agreement(Ratings.of_rows(some), self.weights, some, **given)

    def _make(self, name: str) -> Estimate:
        e = RATER_MEASURES[name].under(self._options, self.ratings)
        if self.cluster is None or not e.defined:
            return e
        if name not in COEFFICIENTS:
            method = "none: items are in clusters" if e.high > e.low else e.method
            return replace(e, low=nan, high=nan, p=None, method=method)
        return widened_test(e, *self._variances(name), RATER_MEASURES[name].bounds)

    def _variances(self, name: str) -> tuple[float, float, int]:
        """The variance of a coefficient by cluster and by item, and the number of clusters."""
        assert self.cluster is not None
        r, used = self._items
        slope = coefficient(r, name, self.weights).influence
        variance, _, many = cluster_variance(r.weight * slope, self.cluster[used])
        return variance, float((r.weight2 * slope**2).sum()), many

    @cached_property
    def _items(self) -> tuple[Ratings, Any]:
        """The ratings item by item, and which rows these are."""
        assert self.rows is not None
        return Ratings.of_items(self.rows)

    def influence(self, name: str) -> Floats:
        """What each item does to a coefficient, times its weight."""
        r, used = self._items
        assert self.rows is not None
        moved = np.zeros(len(self.rows))
        slope = coefficient(r, name, self.weights).influence
        if len(slope):
            moved[used] = r.weight * slope
        return moved

    @cached_property
    def bands(self) -> dict[str, Banded]:
        """Each coefficient in words, with the probability that the true value lies in each band."""
        by_name = {}
        for name in COEFFICIENTS:
            if name == "percent_agreement" or not self[name].defined:
                continue
            variance, own, _ = (1.0, 1.0, 0) if self.cluster is None else self._variances(name)
            widening = sqrt(max(variance / own, 1.0)) if own > 0 else 1.0
            if (b := banded(self.ratings, name, self.weights, widening)) is not None:
                by_name[name] = b
        return by_name

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
        return rater_agreement(self.ratings, weights=self.weights, level=self.settings.level)

    @cached_property
    def disputed(self) -> list[DisputedItem]:
        """The items with most disagreement; none where rows are not items, as in a table."""
        if self.rows is None or self.rows.count is not None:  # a row stands for several items
            return []
        return disputed(self.rows, self.ratings, weights=self.weights, top=self.settings.top)

    def pictures(self) -> Pictures:
        """The coefficients over the bands, each two raters ("pairs") and, where there are some, groups."""
        from scorewise.displays import CoefficientsDisplay, ForestDisplay, PairsDisplay

        options = {name: getattr(self.settings, name) for name in ("interval", "level", "seed")}
        r, weights = self.ratings, self.weights
        kinds: dict[str, Any] = {
            "coefficients": partial(
                CoefficientsDisplay.from_ratings, r, weights=weights, **options
            ),
            "pairs": partial(PairsDisplay.from_ratings, r, weights=weights),
        }
        if not self.groups:
            return Pictures(kinds, ("coefficients",))
        kinds["groups"] = partial(ForestDisplay.from_groups, {"": self}, reported(r.raters))
        return Pictures(kinds, ("coefficients", "groups"))

    def document(self) -> AgreeDocument:
        """What is written and shown; `scorewise schema agree` prints its schema."""
        from scorewise.agreeing.document import AgreeDocument

        return AgreeDocument.of(self)


class Groups(ComparedGroups[Agreement]):
    """The agreement on the items of each group, by its name, made when it is first asked for.

    `groups["north"]` of one column, `groups["north", "f"]` or `groups["north / f"]` of two.
    """

    def __init__(self, of: Agreement, min_rows: int) -> None:
        rows = of.rows
        if rows is None:
            super().__init__(grouping({}, min_rows))
        else:
            super().__init__(grouping(rows.groups, min_rows, mass=rows.mass(), times=rows.count))
            self.mass, self.cluster = rows.mass(), rows.cluster
        self.overall, self.level = of, of.settings.level
        self.wording = group_wording(of.ratings.raters)
        self.measures = [*self.wording.titles]

    def estimates(self, k: int, inside: bool, level: float) -> Agreement:
        """The agreement on the items of a group, or on all others."""
        assert self.overall is not None
        return self.overall.part(self.row_places(k, inside), level)

    def influence(self, of: Agreement, measure: str) -> Floats:
        """What each item does to a coefficient, times its weight."""
        return of.influence(measure)

    def _rest(self, *of: Any) -> Floats:
        return np.minimum(super()._rest(*of), 1.0)


def group_wording(raters: Sequence[str] | None) -> GroupWording:
    """How groups of items are told of: by the coefficient to report."""
    name = reported(raters)
    other = "fleiss_kappa" if name == "cohen_kappa" else "cohen_kappa"
    return GroupWording(
        better=dict.fromkeys(GROUP_TITLES, "high"),
        sentences={name: ("Raters agree less on {}", "Raters agree more on {}")},
        titles={n: t for n, t in GROUP_TITLES.items() if n != other},
        names={name: RATER_MEASURES[name].title},
        noun="item",
    )


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
    cluster: Any = None,
    by: Any | Sequence[str] = None,
    min_rows: int = 20,
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
    it. `cluster` says which items belong together, such as sentences of a text: intervals of coefficients
    then allow for what items of one cluster share. Files of text are in UTF-8, or in `encoding`.

    `by` names columns of groups of items, or is a column or a mapping to columns: the document then has
    coefficients in each group beside the rest of the items, and `a.groups["north"]` is the agreement on
    one. Groups of several columns are those combinations that occur. Groups of fewer than `min_rows` items
    are shown and not judged.

    >>> a = agree([[25, 10], [15, 20]])
    >>> a.cohen_kappa
    0.286 [0.054, 0.501]
    """
    check(level=level, seed=seed, top=top, min_rows=min_rows)
    one_of("interval", interval, get_args(Interval))
    raters = [raters] if isinstance(raters, str) else raters
    if rating is not None and raters and rater is None:  # the one column of who rated
        if len(raters) > 1:
            raise BadInput(
                Option("raters"), f" names {len(raters)} columns; with ", Option("rating"),
                ", name the one column of who rated",
            )  # fmt: skip
        rater, raters = next(iter(raters)), ()
    settings: dict[str, Any] = {
        "interval": interval, "level": float(level), "seed": int(seed), "top": top,
    }  # fmt: skip
    if other is None and is_saved(ratings):
        ratings = sum_of_saved(ratings)
    if isinstance(ratings, RowTally | Tally | ClassTally | TallySet):
        return agree(
            **ratings_of(ratings, by), scale=scale, categories=categories, weights=weights,
            min_rows=min_rows, **settings,
        )  # fmt: skip
    if other is not None:
        ratings = {"first": ratings, "second": other}
        by = group_columns(by, "ratings")
    if isinstance(ratings, Ratings | Confusion):
        if cluster is not None or by is not None:
            raise BadInput(
                Option("by" if cluster is None else "cluster"),
                " needs single items, which a table of ratings has not; pass a column for each rater",
            )
        if isinstance(ratings, Confusion):
            words = ratings.classes if categories is None else tuple(map(str, categories))
            ratings = Ratings.of_confusion(replace(ratings, classes=words), scale=scale)
        return Agreement(ratings, weights, **settings)
    columns = {"raters": raters, "item": item, "rater": rater, "rating": rating, "counts": counts}
    of_items = {"weight": weight, "count": count, "cluster": cluster, "items": items}
    rows = read_ratings(
        ratings, columns, of_items, by, form=form, scale=scale, categories=categories,
        encoding=encoding,
    )  # fmt: skip
    return Agreement(Ratings.of_rows(rows), weights, rows, min_rows, **settings)
