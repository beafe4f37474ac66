"""What coefficients of agreement mean: in words, beside guessing, and beside each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import at_least
from scorewise.estimate import Estimate, number
from scorewise.inference.agreement import (
    BANDS,
    band,
    coefficient,
    decompose,
    fractions,
    rated_items,
)
from scorewise.inference.agreement_weights import Disagreement, Weights, disagreement_of, of_table
from scorewise.inference.rater_pairs import light_kappa
from scorewise.measures.marginals import why_no_table
from scorewise.registry import RATER_MEASURES
from scorewise.show.records import (
    Count,
    NumberOrNaN,
    Record,
    Share,
    ShareOrNaN,
    Titled,
    Weight,
    field,
)
from scorewise.show.words import percent
from scorewise.tallies import Ratings
from scorewise.tallies.rating_patterns import sums_at

EDGE = 1e-9  # of an edge, where the exact value decides
_ROUNDING = Fraction(1, 10**12)  # of weights and numbers that are not whole
MAX_RATINGS = 1 << 18  # ratings of patterns, of which there are fractions
MAX_CATEGORIES = 1 << 9
_IRRATIONAL = ("radical", "circular", "bipolar")
DRAWS = 1000
MAX_ITEMS = 10**8  # beyond which random tables take too long, or overflow
MAX_CELLS = 1 << 22  # cells of tables drawn together
COMMON = 0.75  # share of one category from which prevalence matters: a prevalence index of 0.5
GAP = 0.2  # of AC1 and kappa
SHIFT = 0.2  # of margins from which bias matters
OF_TWO = (
    "percent_agreement", "cohen_kappa", "gwet_ac", "brennan_prediger", "kappa_max",
    "prevalence_index", "bias_index",
)  # fmt: skip
OF_MORE = ("percent_agreement", "fleiss_kappa", "gwet_ac", "brennan_prediger")


def reported(raters: Sequence[str] | None) -> str:
    """The name of the coefficient to report of these raters; None where they are not known."""
    return "cohen_kappa" if raters is not None and len(raters) == 2 else "krippendorff_alpha"


# Coefficients in words: bands decided exactly, and how likely each is.


class Banded(NamedTuple):
    """The band of a coefficient, and the probability that the true value lies in each band.

    >>> banded(Ratings.of_table([[20, 5], [10, 15]]), "cohen_kappa").name
    'fair'
    """

    name: str
    chances: dict[str, float]


def banded(r: Ratings, name: str, weights: Weights = None, widening: float = 1.0) -> Banded | None:
    """The band of a coefficient of these ratings and the probability of each; None where it is undefined.

    Within 1e-9 of an edge the value is taken in rational arithmetic. Of weights or numbers that are not
    whole, it counts as on the edge within 1e-12, because these are rounded themselves. Probabilities
    are those of the t distribution (normal for Cohen's kappa) around the value, cut to the
    coefficient's range (Gwet 2014, chapter 6); where all items agree alike, so that there is no standard
    error, those of the observed disagreement by Jeffreys' beta distribution. `widening` is how many times
    as large the standard error is where items come in clusters.
    """
    from scipy.special import betaincc

    c = coefficient(r, name, weights)
    if c.why:
        return None
    word = band(_exact_at_edges(r, name, weights, c.value))
    if c.se >= 1e-12:
        return Banded(word, chances(c.value, widening * c.se, c.df, RATER_MEASURES[name].bounds))
    apart, room = min(max(1 - c.observed, 0.0), 1.0), 1 - c.expected
    a, b = apart * c.items + 0.5, (1 - apart) * c.items + 0.5
    below = [float(betaincc(a, b, min((1 - float(e)) * room, 1.0))) for e in BANDS.values()]
    return Banded(word, dict(zip(BANDS, np.diff(below, prepend=0.0).tolist(), strict=True)))


def _exact_at_edges(r: Ratings, name: str, weights: Weights, value: float) -> Fraction | float:
    """The value, exactly where it lies next to the edge of a band."""
    edge = min(BANDS.values(), key=lambda e: abs(float(e) - value))
    if abs(value - float(edge)) > EDGE:
        return min(value, 1.0)
    fraction = exact(r, name, weights)
    whole = r.weight.dtype.kind == "i" and bool((r.values == r.values.round()).all())
    if fraction is not None and whole and isinstance(weights, str | None):  # nothing was rounded
        return fraction
    fraction = Fraction(value) if fraction is None else fraction
    return edge if abs(fraction - edge) < _ROUNDING else fraction


def exact(r: Ratings, name: str, weights: Weights = None) -> Fraction | None:
    """The coefficient as a fraction; None where it does not exist, is not rational or takes too long.

    Weights and numbers of categories that are floats are the fractions that these are.

    >>> exact(Ratings.of_table([[20, 5], [10, 15]]), "cohen_kappa")
    Fraction(2, 5)
    """
    large = math.prod(r.listed.shape) > MAX_RATINGS or len(r.categories) > MAX_CATEGORIES
    if large or coefficient(r, name, weights).why:
        return None
    if isinstance(weights, str) and weights in _IRRATIONAL:
        return None
    values, w, w2 = (fractions(x) for x in (r.values, r.weight, r.weight2))
    x = rated_items(replace(r, values=values, weight=w, weight2=w2), name, weights)
    if not isinstance(weights, str | None):
        kernel = of_table(1 - fractions(weights))
        x = replace(x, kernel=kernel, apart=kernel.mean(x.counts))
    if name == "light_kappa":
        ratio, *_ = light_kappa(x, r.raters or ())
    else:
        observed, chance, *_ = decompose(x, name, influence=False)
        ratio = observed / chance
    fraction: Fraction = 1 - ratio
    return fraction


def chances(
    value: float, se: float, df: float, bounds: tuple[float, float] = (-1.0, 1.0)
) -> dict[str, float]:
    """The probability of each band, by the t distribution around the value within the bounds.

    >>> {w: round(p, 3) for w, p in chances(0.4, 0.1, math.inf).items()}["fair"]
    0.477
    """
    from scipy.special import ndtr, stdtr

    ends = np.array([bounds[0], *map(float, BANDS.values()), bounds[1]])
    at = (np.clip(ends, *bounds) - value) / se
    below = ndtr(at) if math.isinf(df) else stdtr(df, at)
    shares = np.diff(below[:-1]) / (below[-1] - below[0])
    return dict(zip(BANDS, shares.tolist(), strict=True))


# Kappa beside the error of guessing by the margins.


class Baseline(Record):
    """The error of two raters beside that of guessing; null where not known."""

    error: NumberOrNaN = field("Mean disagreement of two raters.", default=math.nan)
    by_margins: NumberOrNaN = field(
        "The same of raters who guess by the margins.", default=math.nan
    )
    by_permutation: NumberOrNaN = field(
        "The same, as the mean over random tables.", default=math.nan
    )
    spread: NumberOrNaN = field("Standard deviation over random tables.", default=math.nan)
    p: ShareOrNaN = field("Share of random tables that agree as much.", default=math.nan)
    kappa: NumberOrNaN = field("1 - error / by_margins.", default=math.nan)
    kappa_permuted: NumberOrNaN = field("1 - error / by_permutation.", default=math.nan)
    draws: Count = field("Random tables drawn.", default=0)
    why: str = field("Why something is not known; empty where all is.", default="")


def baseline(r: Ratings, *, weights: Weights = None, draws: int = DRAWS, seed: int = 0) -> Baseline:
    """The error of two raters (or of predictions against gold labels) and of guessing.

    The error is the mean disagreement, 1 - weighted agreement. Guessing says each category as often, but
    independently: in closed form, and as the mean over random tables with the same margins, of which p is
    the share (the table seen included) that agree as much.

    >>> b = baseline(Ratings.of_table([[25, 10], [15, 20]]))
    >>> round(1 - b.error, 4), round(1 - b.by_margins, 4), round(b.kappa, 4)
    (0.6429, 0.5, 0.2857)
    >>> round(b.by_permutation, 2), round(b.p, 2)
    (0.5, 0.02)
    """
    at_least(0, DRAWS, draws=draws)
    d = disagreement_of(r, weights)
    if why := why_no_table(r):
        return Baseline(why=why)
    if isinstance(d, str):
        return Baseline(why=d)
    both = r.rated == 2
    codes, weight = r.codes[both], r.weight[both]
    total = weight.sum()
    first, second = (sums_at(k, weight, len(r.categories)) / total for k in codes.T)
    error = float((weight * d.between(*codes.T)).sum() / total)
    expected = float((first * d.spread(second)).sum())
    known: dict[str, Any] = {"error": error, "by_margins": expected}
    known["kappa"] = _avoided(error, expected)
    if weight.dtype.kind != "i":
        return Baseline(**known, why="items have weights; random tables need counts")
    if float(weight.sum()) > MAX_ITEMS:
        return Baseline(**known, why=f"more than {MAX_ITEMS:,} items; random tables take fewer")
    if not draws:
        return Baseline(**known, why="no random tables were asked for")
    errors = _permuted(codes, weight, d, draws, np.random.default_rng(seed))
    mean, deviation = float(errors.mean()), float(errors.std())
    return Baseline(
        **known,
        by_permutation=mean,
        spread=deviation if deviation > 1e-12 else 0.0,
        # so that rounding does not tell equal tables apart
        p=(1 + int((errors <= error + 1e-12).sum())) / (1 + draws),
        kappa_permuted=_avoided(error, mean),
        draws=draws,
    )


def _avoided(error: float, baseline: float) -> float:
    """The share of the error of guessing that is avoided."""
    share = 1 - error / baseline if baseline > 0 else math.nan
    return 0.0 if abs(share) < 1e-12 else share


def _permuted(
    codes: Any, weight: Any, d: Disagreement, draws: int, rng: np.random.Generator
) -> Floats:
    """The errors of random tables with the margins of these items (Patefield 1981, Boyett 1979).

    Of very many categories, those of shuffled ratings.
    """
    from scipy.stats import random_table

    items = int(weight.sum())
    (rows, i), (columns, j) = (np.unique(c, return_inverse=True) for c in codes.T)
    if len(rows) * len(columns) > max(items, MAX_CELLS >> 10):
        first, second = (c.repeat(weight) for c in codes.T)
        shuffled = (rng.permutation(second) for _ in range(draws))
        return np.array([float(d.between(first, other).mean()) for other in shuffled])
    apart = np.asarray(d.between(rows[:, None], columns), np.float64)
    margins = [np.bincount(k, weight).astype(np.int64) for k in (i, j)]
    made, step = random_table(*margins), max(1, MAX_CELLS // apart.size)
    errors = []
    for done in range(0, draws, step):
        drawn = made.rvs(size=min(step, draws - done), random_state=rng)
        errors.append((drawn.reshape(-1, *apart.shape) * apart).sum((1, 2)))
    return np.concatenate(errors) / items


# Why kappa is low though raters agree: coefficients side by side, and what drives them apart.


class CoefficientRecord(Titled):
    """A coefficient without weights."""

    value: NumberOrNaN
    why: str


class ParadoxRecord(Record):
    """Coefficients without weights side by side, and what drives them apart."""

    measures: list[CoefficientRecord]
    commonest: str | None = field("The category said most often.")
    share: Share
    shift: Weight | None = field("Share of one rater's ratings that would have to move.")
    prevalence: bool = field("Whether the commonest category drives kappa down.")
    bias: bool = field("Whether two raters use the categories differently often.")


class Paradox(ParadoxRecord):
    """The same with the estimates of the coefficients, and what drives them apart in sentences."""

    estimates: dict[str, Estimate]
    sentences: list[str]


def paradox(r: Ratings, *, level: float = 0.95) -> Paradox:
    """Percent agreement, kappa, AC1, PABAK and what explains their differences (unweighted).

    Of two raters with maximum kappa, prevalence and bias index; of more with Fleiss' kappa. Prevalence
    drives the difference if one category has at least 0.75 of all ratings (a prevalence index of at
    least 0.5 in size) and AC1 exceeds kappa by at least 0.2; bias does, for two raters, if at least 0.2
    of one rater's shares would have to move to be the other's (a bias index of at least 0.2 in size).
    Feinstein and Cicchetti (1990) named both paradoxes.

    >>> found = paradox(Ratings.of_table([[80, 10], [5, 5]]))
    >>> print(found.sentences[0])
    Kappa is 0.318 though 85% agree and AC1 is 0.808: 87.5% of all ratings are "0", so that kappa
    expects much agreement by chance; report both.
    """
    two = r.raters is not None and len(r.raters) == 2
    plain = {"level": level, "weights": "identity"}  # those that know no weights get none
    found = {n: RATER_MEASURES[n].under(plain, r) for n in (OF_TWO if two else OF_MORE)}
    share = float(r.said.max(initial=0.0)) / (float(r.said.sum()) or 1.0)
    commonest = r.categories[int(r.said.argmax())] if share > 0 else None
    shift = None
    if two:
        both = r.rated == 2
        each = (sums_at(r.said_by(k)[both], r.weight[both], len(r.categories)) for k in (0, 1))
        a, b = (said / (float(said.sum()) or 1.0) for said in each)
        shift = float(np.abs(a - b).sum()) / 2
    kappa, ac = found["cohen_kappa" if two else "fleiss_kappa"], found["gwet_ac"].value
    prevalence = kappa.defined and ac - kappa.value >= GAP - 1e-12 and share >= COMMON - 1e-12
    bias = kappa.defined and shift is not None and shift >= SHIFT - 1e-12
    sentences = []
    if prevalence:
        sentences.append(
            f"Kappa is {number(kappa.value)} though {percent(found['percent_agreement'].value)} agree and "
            f'AC1 is {number(ac)}: {percent(share)} of all ratings are "{commonest}", so that kappa '
            f"expects much agreement by chance; report both."
        )
    if bias and shift is not None:
        most, pi = found["kappa_max"], RATER_MEASURES["scott_pi"](r, **plain)
        reach = f" can be {number(most.value)} at most and" if most.defined else ""
        sentences.append(
            f"The two raters use the categories differently often ({percent(shift)} of one's ratings would "
            f"have to move): kappa{reach} is {number(kappa.value)}, while Scott's pi, which takes the "
            f"raters as one, is {number(pi.value)}."
        )
    measures = [
        CoefficientRecord(name=n, title=RATER_MEASURES[n].title, value=e.value, why=e.why)
        for n, e in found.items()
    ]
    return Paradox(
        measures=measures, commonest=commonest, share=share, shift=shift, prevalence=prevalence,
        bias=bias, estimates=found, sentences=sentences,
    )  # fmt: skip
