"""Coefficients of agreement beyond chance: values, standard errors, and how they vary by chance alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.inference import agreement_parts as parts
from scorewise.inference.agreement_parts import Parts, Rated, mean_cohen
from scorewise.inference.agreement_weights import (
    Disagreement,
    Identity,
    Linear,
    Quadratic,
    Weights,
    all_or_nothing,
    disagreement,
    named,
    unit,
)
from scorewise.inference.scales import one_row
from scorewise.tallies.formulas import mid_ranks
from scorewise.tallies.ratings import Ratings
from scorewise.tallies.sorting import kept

Lone = Callable[[Rated, float], Floats]
Said = tuple[Floats, Floats]  # shares of the categories, and the mean disagreement with each
_ROUNDING = 1e-14
_TABLE = 64  # categories of which every pair is looked at
NAN = math.nan
TWO_RATERS = ("cohen_kappa", "scott_pi")
PAIRED = (*TWO_RATERS, "krippendorff_alpha", "percent_agreement")  # without single ratings
SHARES = ("percent_agreement", "brennan_prediger")  # of which the interval is Wilson's own
BY_RATER = (*TWO_RATERS, "conger_kappa", "light_kappa")
Formula = Callable[[Rated], Parts]
_FORMULAS: dict[str, Formula] = {
    "percent_agreement": parts.against(parts.none),
    "fleiss_kappa": parts.against(parts.fleiss),
    "scott_pi": parts.against(parts.fleiss),
    "conger_kappa": parts.against(parts.conger),
    "cohen_kappa": parts.against(parts.conger),
    "gwet_ac": parts.against(parts.gwet),
    "brennan_prediger": parts.against(parts.brennan),
    "krippendorff_alpha": parts.alpha,
}
TESTED = ("cohen_kappa", "scott_pi", "fleiss_kappa", "conger_kappa", "krippendorff_alpha")
COEFFICIENTS = (*_FORMULAS, "light_kappa")
MIDRANKS = "midranks"  # weights of Krippendorff's alpha alone
FEW = 10  # items that decide chance, below which intervals with weights do not hold
METRICS = {"nominal": "identity", "ordinal": MIDRANKS, "interval": "quadratic", "ratio": "ratio"}


class Null(NamedTuple):
    """The standard error if raters were independent, and how much an item moves chance then.

    `guessed` is the mean square of an item's lean (see `Parts`) where raters are independent, `agreed`
    where all of them say the same of it.
    """

    error: float
    guessed: float
    agreed: float


def null_of_two(x: Rated, chance: float) -> Null:
    """Of Cohen's kappa, each rater with their own shares (Fleiss, Cohen and Everitt 1969)."""
    a, b = x.by_rater()
    of_a, of_b = x.kernel.spread(b), x.kernel.spread(a)
    error = math.sqrt(_variance(x.kernel, (a, of_a), (b, of_b)) / x.worth) / chance
    alone = _spread(a, of_a) + _spread(b, of_b)
    both = _spread((a + b) / 2, of_a + of_b)
    return Null(error, 1 + alone / chance**2, 1 + both / chance**2)


def null_of_many(x: Rated, chance: float, *, ranks: bool = False, lone: Lone | None = None) -> Null:
    """Of the others, with the shares of all raters together (Fleiss, Nee and Landis 1979).

    An item with m ratings says 2 / (m (m - 1)) times as much of chance as one pair. `ranks` says that the
    disagreement is that of mid-ranks, and `lone` how single ratings count where agreement is seen on
    other items than the shares.
    """
    paired = x.rated >= 2
    m = x.rated[paired].astype(np.float64)
    times = m if lone is None else np.ones(len(m))  # alpha weighs items by their ratings
    each = x.weight[paired] * times
    total = float(each.sum())
    p = x.shares(np.where(paired, x.weight, 0.0))
    p = p / p.sum()
    kernel: Disagreement = x.kernel
    if ranks:
        assert isinstance(x.kernel, Quadratic)
        kernel = Quadratic(mid_ranks(p, x.kernel.values))
    pairs = float((x.weight2[paired] * times**2 * 2 / (m * (m - 1))).sum()) / total**2
    said = kernel.spread(p)
    variance = _variance(kernel, (p, said), (p, said)) * pairs
    own = _spread(p, said)
    if lone is not None:
        counted = lone(x, total)
        variance += own * float((x.weight2[x.listed.item] * counted**2).sum())
    moved = 4 * own / chance**2
    return Null(
        math.sqrt(variance) / chance, 1 + moved * float((each / m).sum()) / total, 1 + moved
    )


def together(x: Rated, total: float) -> Floats:
    """How each rating counts in observed less expected agreement, where raters share one distribution."""
    seen = np.where(x.rated >= 2, 1 / total, 0.0)
    each = 2 / x.rated * (seen - 1 / float(x.weight.sum()))
    return each[x.listed.item]


def by_rater(x: Rated, total: float) -> Floats:
    """The same where each rater keeps their own."""
    item, rater = x.listed.item, x.listed.rater
    rated = np.bincount(rater, x.weight[item], x.listed.shape[1])
    used = rated > 0
    each = np.where(x.rated >= 2, 2 / (x.rated * total), 0.0)
    expected = np.where(used, 2 / (np.count_nonzero(used) * np.where(used, rated, 1.0)), 0.0)
    return each[item] - expected[rater]


def _variance(d: Disagreement, first: Said, second: Said) -> float:
    """Of the disagreement of two independent ratings, beyond what either of them says alone."""
    (a, of_a), (b, of_b) = first, second
    if (
        len(a) <= _TABLE
    ):  # a sum of squares, which cancels nothing where a rater hardly ever differs
        every = np.arange(len(a), dtype=np.int32)
        left = d.between(every[:, None], every) - of_a[:, None] - of_b + float((a * of_a).sum())
        found = float(a @ (left * left) @ b)
        return found if found > _ROUNDING**2 else 0.0
    alone = float((a * of_a * of_a).sum() + (b * of_b * of_b).sum())
    found = d.squares(a, b) + float((a * of_a).sum()) ** 2 - alone
    return found if found > _ROUNDING else 0.0


def _spread(share: Floats, values: Floats) -> float:
    """The variance of numbers of the categories."""
    return max(0.0, float((share * values * values).sum()) - float((share * values).sum()) ** 2)


def most_kappa(r: Ratings, weights: Weights = None) -> float | str:
    """The largest Cohen's kappa of a table with these margins, or why it is not known.

    >>> round(most_kappa(Ratings.of_table([[25, 10], [15, 20]])), 4)
    0.8571
    """
    found = subject(r, "cohen_kappa", weights)
    if isinstance(found, str):
        return found
    parts = found.formula(found.rated)
    if why := constant(r, found.rated, parts):
        return why
    least = _least(found.rated)
    if least is None:
        return "the largest kappa is known for identity, linear and quadratic weights"
    return 1 - least / float(parts.chance)


def _least(x: Rated) -> float | None:
    """The least disagreement of two raters with these margins."""
    a, b = x.by_rater()
    if isinstance(x.kernel, Identity):
        return float(np.maximum(a - b, 0.0).sum())
    if isinstance(x.kernel, Linear | Quadratic):
        far = _coupled(a, b, x.kernel.values)
        return float(far[0] if isinstance(x.kernel, Linear) else far[1])
    return None


def _coupled(first: Floats, second: Floats, values: Floats) -> tuple[float, float]:
    """Mean distance and squared distance of the numbers when both raters put items in one order."""
    order = np.argsort(values, kind="stable")
    v = values[order]
    ends = [p[order].cumsum() for p in (first, second)]
    cuts = np.sort(np.concatenate(ends))
    mass = np.diff(cuts, prepend=0.0)
    middle = cuts - mass / 2
    a, b = (v[np.minimum(np.searchsorted(e, middle), len(v) - 1)] for e in ends)
    return float((mass * np.abs(a - b)).sum()), float((mass * (a - b) ** 2).sum())


_LONE = {"scott_pi": together, "fleiss_kappa": together, "conger_kappa": by_rater}


class Moments(NamedTuple):
    """Mean squares over items, divided by their number, from which variances at other values follow.

    An item moves the value k by (1 - k) * lean - own (see `Parts`). `guessed` and `agreed` are the squares
    of lean where raters are independent, and where all agree. `skew` is the ratio of the third to the
    second moment of own, divided by the number of items. `whole` says that own is all or nothing.
    """

    lean2: float
    both: float
    own2: float
    guessed: float
    agreed: float
    skew: float
    whole: bool


class Coefficient(NamedTuple):
    """An agreement coefficient: (observed - expected) / (1 - expected).

    `df` is what its standard error is known with (infinite where the error is that of a large sample),
    `items` the number of equal items that it rests on, `null` the standard error if raters were
    independent (NaN for coefficients whose chance is another, AC1 and Brennan-Prediger). `slope` says
    how each pattern of the ratings moves the value: the variance is the sum of weight2 * slope**2, times
    n / (n - 1) where df is n - 1. `moments` are what the score interval is made from, and `caution` says
    why that is unreliable. Without a value, `why` is the reason.
    """

    value: float
    se: float = NAN
    df: float = NAN
    observed: float = NAN
    expected: float = NAN
    items: float = 0.0
    null: float = NAN
    slope: Floats = np.empty(0)
    moments: Moments | None = None
    caution: str = ""
    why: str = ""


class Subject(NamedTuple):
    """What a coefficient is made from: its formula, the ratings it uses, and where these are."""

    formula: Formula
    rated: Rated
    used: NDArray[np.bool_]


def coefficient(r: Ratings, name: str, weights: Weights = None) -> Coefficient:
    """The coefficient of that name (see COEFFICIENTS) with those weights of partial agreement.

    >>> c = coefficient(Ratings.of_table([[20, 5], [10, 15]]), "cohen_kappa")
    >>> round(c.value, 4), round(c.se, 4), round(c.null, 4), round(c.expected, 4)
    (0.4, 0.127, 0.1386, 0.5)
    """
    if name == "light_kappa":
        plain = isinstance(weights, str | None)  # a table of one's own has no name to keep it under
        return kept(r, (name, weights), lambda: _light(r, weights)) if plain else _light(r, weights)
    found = subject(r, name, weights)
    return Coefficient(NAN, why=found) if isinstance(found, str) else _measured(r, name, found)


def subject(r: Ratings, name: str, weights: Weights) -> Subject | str:
    """The formula and the ratings it uses, or why there is no such coefficient."""
    if name not in _FORMULAS:
        raise BadInput(f"no coefficient is named {name}; there are {', '.join(COEFFICIENTS)}")
    if why := _lacking(r, name):
        return why
    formula = _FORMULAS[name]
    weights = chosen(r, name, weights)
    if isinstance(weights, str) and weights == MIDRANKS:
        formula, kernel = parts.alpha_of_ranks, Quadratic(unit(r.values))
    else:
        kernel = disagreement(r, weights)  # type: ignore[assignment]
    if isinstance(kernel, str):
        return kernel
    used = np.ones(len(r), np.bool_)
    if name in PAIRED:
        used = r.rated >= 2
    x = Rated.of(r, kernel)
    x = x if used.all() else x.only(used)
    return "one item" if one_row(x.worth) else Subject(formula, x, used)


def chosen(r: Ratings, name: str, weights: Weights) -> Weights:
    """The weights; those of alpha are, unless told, its metric for the scale."""
    if name != "krippendorff_alpha":
        return named(r, weights) if isinstance(weights, str | None) else weights
    return METRICS[r.scale] if weights is None else weights


def _lacking(r: Ratings, name: str) -> str:
    """Why the ratings do not suffice, or nothing."""
    if not len(r):
        return "no items"
    if name in BY_RATER and r.raters is None:
        return "it is not known which rater said what"
    if name in TWO_RATERS and r.given.shape[1] != 2:
        return f"{r.given.shape[1]} raters; this needs two"
    if not (r.rated >= 2).any():
        raters = len(np.unique(r.listed.rater))
        return "one rater" if raters < 2 else "no item has two ratings"
    if len(r.categories) < 2 and name != "percent_agreement":
        return f"all ratings are {r.categories[0]}"
    return ""


def _measured(r: Ratings, name: str, s: Subject) -> Coefficient:
    x = s.rated
    found = s.formula(x)
    if why := constant(r, x, found):
        return Coefficient(NAN, why=why)
    own, lean = found.own(), found.lean()
    moved = found.observed / found.chance * lean - own
    large = name in TWO_RATERS
    factor = 1.0 if large else x.worth / (x.worth - 1)
    se = math.sqrt(factor * float((x.weight2 * moved * moved).sum()))
    slope = np.zeros(len(r))
    slope[s.used] = moved / float(r.weight[s.used].sum())
    cohen = name == "cohen_kappa"
    null = _null(name, x, s, float(found.chance))
    moments = _moments(x, own, lean, null, skewed=name not in SHARES)
    return Coefficient(
        value=_zeroed(float(found.value)),
        se=se,
        df=math.inf if cohen else x.worth - 1,
        observed=float(1 - found.observed),
        expected=float(1 - found.chance),
        items=x.worth,
        null=null.error,
        slope=slope,
        moments=moments,
        caution=_few(x, moments) if name in TESTED else "",
    )


def _moments(x: Rated, own: Floats, lean: Floats, null: Null, *, skewed: bool = True) -> Moments:
    square, cube = (float((x.weight2 * own**k).sum()) for k in (2, 3))
    share = 1 / x.worth
    apart = x.apart[x.rated >= 2]
    return Moments(
        lean2=float((x.weight2 * lean * lean).sum()),
        both=float((x.weight2 * lean * own).sum()),
        own2=square,
        guessed=null.guessed * share,
        agreed=null.agreed * share,
        skew=max(cube / square * share, 0.0) if skewed and square > 0 else 0.0,
        whole=bool(((apart == 0) | (apart == 1)).all()),
    )


def _zeroed(value: float) -> float:
    """What is 0 but for rounding is 0."""
    return 0.0 if abs(value) < 1e-12 else value


def constant(r: Ratings, x: Rated, found: Parts) -> str:
    """Why chance leaves no room for disagreement, or nothing."""
    if found.chance > 1e-14:
        return ""
    said = np.unique(x.said.code)
    if len(said) == 1:
        return f"all ratings are {r.categories[int(said[0])]}"
    if found.chance > 0:
        return "all categories but one are too rare for floating point"
    return "by chance alone all ratings would agree"


def _null(name: str, x: Rated, s: Subject, chance: float) -> Null:
    """How it varies if raters were independent; NaN where chance means something else."""
    if name == "cohen_kappa":
        return null_of_two(x, chance)
    if name not in TESTED:
        return Null(NAN, NAN, NAN)
    ranks = s.formula is parts.alpha_of_ranks
    return null_of_many(x, chance, ranks=ranks, lone=_LONE.get(name))


def _light(r: Ratings, weights: Weights) -> Coefficient:
    """The mean of Cohen's kappa over all pairs of raters."""
    if why := _lacking(r, "light_kappa"):
        return Coefficient(NAN, why=why)
    kernel = disagreement(r, weights)
    if isinstance(kernel, str):
        return Coefficient(NAN, why=kernel)
    x = Rated.of(r, kernel)
    if one_row(x.worth):
        return Coefficient(NAN, why="one item")
    found = mean_cohen(x, r.raters or ())
    if isinstance(found, str):
        return Coefficient(NAN, why=found)
    moved = found.slope
    variance = float((x.weight2 * moved * moved).sum()) * x.worth / (x.worth - 1)
    null = null_of_many(x, 1 - found.expected, lone=_alone)
    # what items do to chance, of all pairs at once
    lean = _FORMULAS["conger_kappa"](x).lean()
    moments = _moments(x, (1 - found.value) * lean - moved, lean, null)
    return Coefficient(
        value=_zeroed(found.value),
        se=math.sqrt(variance),
        df=found.items - 1,
        observed=found.observed,
        expected=found.expected,
        items=found.items,
        null=null.error,
        slope=moved / float(r.weight.sum()),
        moments=moments,
        caution=_few(x, moments),
    )


def _few(x: Rated, m: Moments) -> str:
    """Why too few items decide chance, where disagreement is of degrees: rare categories far away."""
    items = 1 / m.lean2
    if items >= FEW or all_or_nothing(x.kernel, x.many):
        return ""
    return f"chance rests on about {max(round(items), 1)} of {round(x.worth)} items"


def _alone(x: Rated, total: float) -> Floats:
    """Each pair is judged by the shares on its own items, so that single ratings say nothing."""
    return np.zeros(len(x.listed.item))


def cohen_pairs(r: Ratings, weights: Weights) -> Iterator[Subject]:
    """Cohen's kappa of each pair of raters, where Light's kappa exists."""
    kernel = disagreement(r, weights)
    assert not isinstance(kernel, str)
    x = Rated.of(r, kernel)
    for k, j in combinations(range(r.given.shape[1]), 2):
        both = (r.said_by(k) >= 0) & (r.said_by(j) >= 0)
        yield Subject(_FORMULAS["cohen_kappa"], x.only(both, (k, j)), both)
