"""How far raters agree: coefficients, the words for them, and all that is known besides, as one result."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, get_args

from scorewise import measures as _measures  # noqa: F401  (fills the register)
from scorewise.agreeing.baseline import Baseline, Paradox, baseline, paradox
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
from scorewise.agreeing.reading import read_ratings
from scorewise.checks import check
from scorewise.columns.layouts import Form
from scorewise.columns.ratings import RatingRows, Scale
from scorewise.columns.rows import one_of
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.inference.agreement import COEFFICIENTS, Coefficient, coefficient
from scorewise.inference.agreement_exact import BANDS, exact
from scorewise.inference.agreement_limits import Interval
from scorewise.inference.agreement_weights import Weights
from scorewise.registry import RATER_MEASURES
from scorewise.show.shown import Shown
from scorewise.tallies import Confusion, Ratings

if TYPE_CHECKING:
    from scorewise.agreeing.document import AgreeDocument

FIRST = (
    "percent_agreement", "cohen_kappa", "scott_pi", "fleiss_kappa", "conger_kappa", "light_kappa",
    "krippendorff_alpha", "gwet_ac", "brennan_prediger", "kappa_max", "prevalence_index", "bias_index",
)  # fmt: skip
NEAR = 1e-9  # of an edge, where the exact value decides
_ROUNDING = Fraction(1, 10**12)  # of weights and numbers that are not whole
IN_WORDS = tuple(name for name in COEFFICIENTS if name != "percent_agreement")


# Coefficients in words: bands decided exactly, and how likely each is.


class Banded(NamedTuple):
    """The band of a coefficient, and the probability that the true value lies in each band.

    >>> banded(Ratings.of_table([[20, 5], [10, 15]]), "cohen_kappa").name
    'fair'
    """

    name: str
    chances: dict[str, float]


def band(x: Fraction | float) -> str:
    """The word for a coefficient: upper ends belong to the band below.

    >>> band(0.4), band(Fraction(2, 5)), band(0.41), band(-0.1)
    ('fair', 'fair', 'moderate', 'none')
    """
    if not x <= 1:
        raise BadInput(f"a coefficient of agreement is {x}; it is 1 at most")
    # a float is compared with the float of the edge: 0.4 means two fifths
    return next(w for w, e in BANDS.items() if x <= (e if isinstance(x, Fraction) else float(e)))


def banded(r: Ratings, name: str, weights: Weights = None) -> Banded | None:
    """The band of a coefficient of these ratings and the probability of each; None where it is undefined.

    Within 1e-9 of an edge the value is taken in rational arithmetic. Of weights or numbers that are not
    whole, it counts as on the edge within 1e-12, because these are rounded themselves. Probabilities
    are those of the t distribution (normal for Cohen's kappa) around the value, cut to the
    coefficient's range (Gwet 2014, chapter 6); where all items agree alike, so that there is no standard
    error, those of the observed disagreement by Jeffreys' beta distribution.
    """
    c = coefficient(r, name, weights)
    if c.why:
        return None
    word = band(_decided(r, name, weights, c.value))
    if c.se < 1e-12:
        return Banded(word, _alike(c))
    return Banded(word, chances(c.value, c.se, c.df, RATER_MEASURES[name].bounds))


def _decided(r: Ratings, name: str, weights: Weights, value: float) -> Fraction | float:
    edge = min(BANDS.values(), key=lambda e: abs(float(e) - value))
    if abs(value - float(edge)) > NEAR:
        return min(value, 1.0)
    found = exact(r, name, weights)
    if found is None:
        found = Fraction(value)
    elif _whole(r, weights):
        return found
    return edge if abs(found - edge) < _ROUNDING else found


def _whole(r: Ratings, weights: Weights) -> bool:
    """Whether all numbers that count are whole, so that nothing was rounded."""
    own = weights is not None and not isinstance(weights, str)
    return not own and r.weight.dtype.kind == "i" and bool((r.values == r.values.round()).all())


def _alike(c: Coefficient) -> dict[str, float]:
    """The probability of each band when all items disagree by the same share."""
    from scipy.special import betaincc

    apart, room = min(max(1 - c.observed, 0.0), 1.0), 1 - c.expected
    a, b = apart * c.items + 0.5, (1 - apart) * c.items + 0.5
    ends = [0.0, *(float(betaincc(a, b, min((1 - float(e)) * room, 1.0))) for e in BANDS.values())]
    return {w: high - low for w, low, high in zip(BANDS, ends[:-1], ends[1:], strict=True)}


def chances(
    value: float, se: float, df: float, bounds: tuple[float, float] = (-1.0, 1.0)
) -> dict[str, float]:
    """The probability of each band, by the t distribution around the value within the bounds.

    >>> {w: round(p, 3) for w, p in chances(0.4, 0.1, math.inf).items()}["fair"]
    0.477
    """
    from scipy.special import ndtr, stdtr

    def below(x: float) -> float:
        at = (min(max(x, bounds[0]), bounds[1]) - value) / se
        return float(ndtr(at) if math.isinf(df) else stdtr(df, at))

    start, stop = below(bounds[0]), below(bounds[1])
    ends = [start, *(below(float(e)) for e in BANDS.values())]
    return {
        w: (high - low) / (stop - start)
        for w, low, high in zip(BANDS, ends[:-1], ends[1:], strict=True)
    }


# The result, and how to get it.


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

    Prints as tables. `bands` says each coefficient in words, `paradox` why some are far apart,
    `baseline` the error of two raters beside that of guessing; `categories`, `pairs`, `raters` and
    `disputed` tell where they disagree. All is made when it is first asked for, from `a.ratings`.
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
            self._estimates[name] = RATER_MEASURES[name].under(vars(self.settings), self.ratings)
        return self._estimates[name]

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*FIRST, *RATER_MEASURES)))

    def __len__(self) -> int:
        return len(RATER_MEASURES)

    def __getattr__(self, name: str) -> Estimate:
        if name not in RATER_MEASURES:
            raise AttributeError(_unknown(name))
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *RATER_MEASURES]

    @cached_property
    def bands(self) -> dict[str, Banded]:
        """Each coefficient in words, with the probability that the true value lies in each band."""
        found = {n: banded(self.ratings, n, self.settings.weights) for n in IN_WORDS}
        return {name: b for name, b in found.items() if b is not None}

    @cached_property
    def paradox(self) -> Paradox:
        """Coefficients without weights side by side, and what drives them apart."""
        return paradox(self.ratings, level=self.settings.level)

    @cached_property
    def baseline(self) -> Baseline:
        """The error of two raters beside that of guessing by the margins, and by permutation."""
        return baseline(self.ratings, weights=self.settings.weights, seed=self.settings.seed)

    @cached_property
    def categories(self) -> list[CategoryAgreement]:
        """How often a category, if one says it, is said by another."""
        return specific_agreement(self.ratings, level=self.settings.level)

    @cached_property
    def pairs(self) -> Pairs:
        """The pairs of raters who agree least."""
        return pairs(self.ratings, weights=self.settings.weights, level=self.settings.level)

    @cached_property
    def raters(self) -> list[RaterAgreement]:
        """How far each rater agrees with the others, the one who differs most first."""
        return differing(self.ratings, weights=self.settings.weights, level=self.settings.level)

    @cached_property
    def disputed(self) -> list[DisputedItem]:
        """The items with most disagreement; none where rows are not items, as in a table."""
        if self.rows is None or self.rows.count is not None:  # a row stands for several items
            return []
        s = self.settings
        return disputed(self.rows, self.ratings, weights=s.weights, top=s.top)

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
            self.ratings, ax=ax, weights=s.weights, interval=s.interval, level=s.level, seed=s.seed
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
    check(level=level, seed=seed, top=top)
    one_of("interval", interval, get_args(Interval))
    settings = Settings(weights, interval, float(level), int(seed), top)
    raters = [raters] if isinstance(raters, str) else raters
    if rating is not None and raters and rater is None:  # the one column of who rated
        if len(raters) > 1:
            raise BadInput(
                f"raters= names {len(raters)} columns; with rating=, name the one column of who rated"
            )
        rater, raters = next(iter(raters)), ()
    if other is not None:
        ratings = {"first": ratings, "second": other}
    if isinstance(ratings, Ratings):
        return Agreement(ratings, settings)
    if isinstance(ratings, Confusion):
        words = ratings.classes if categories is None else tuple(str(c) for c in categories)
        table = replace(ratings, classes=words)
        return Agreement(Ratings.of_confusion(table, scale=scale), settings)
    layout = {"raters": raters, "item": item, "rater": rater, "rating": rating, "counts": counts}
    amounts = {
        k: v for k, v in (("weight", weight), ("count", count), ("items", items)) if v is not None
    }
    rows = read_ratings(
        ratings, layout, form=form, scale=scale, categories=categories, amounts=amounts,
        encoding=encoding,
    )  # fmt: skip
    notes = [*rows.guesses, *rows.notes]
    return Agreement(Ratings.of_rows(rows), settings, rows, notes, rows.place.sources)


def _unknown(name: str) -> str:
    return f"no measure of agreement is named {name}; there are {', '.join(sorted(RATER_MEASURES))}"
