"""Agreement in words: bands decided exactly, and how likely each is."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

import scorewise.measures
from scorewise.errors import BadInput
from scorewise.estimate import Estimate, number
from scorewise.inference.agreement import Coefficient, coefficient
from scorewise.inference.agreement_exact import exact
from scorewise.inference.agreement_weights import Weights
from scorewise.inference.bands import BANDS
from scorewise.inference.shares import share_over_items
from scorewise.registry import RATER_MEASURES
from scorewise.tallies import Ratings

assert scorewise.measures  # fills the register
NEAR = 1e-9  # of an edge, where the exact value decides
_ROUNDING = Fraction(1, 10**12)  # of weights and numbers that are not whole


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


# On which categories raters agree: the specific agreement of each.


@dataclass(frozen=True)
class CategoryAgreement:
    """A category, the share of all ratings that say it, and how often another rating then does too."""

    category: str
    share: float
    agreement: Estimate


def specific_agreement(r: Ratings, *, level: float = 0.95) -> list[CategoryAgreement]:
    """Given that one rater says a category, the chance that another says it of the same item.

    sum m (m - 1) / sum m (k - 1) over items with m of k ratings in the category; for two raters
    2 n_cc / (n_c. + n_.c) (Fleiss 1981, Cicchetti and Feinstein 1990; positive and negative agreement
    where there are two categories). Wilson's interval, with the variance over items.

    >>> for row in specific_agreement(Ratings.of_table([[80, 10], [5, 5]])):
    ...     print(row.category, row.share, row.agreement)
    0 0.875 0.914 [0.860, 0.949]
    1 0.125 0.400 [0.188, 0.658]
    """
    order = np.argsort(r.counted.code, kind="stable")
    at, category, said = (x[order] for x in (r.counted.at, r.counted.code, r.counted.times))
    others = said * (r.rated[at] - 1)
    weight, weight2 = r.weight[at], r.weight2[at]
    times = np.bincount(category, weight * said, len(r.categories))
    total = float(times.sum())
    ends = np.searchsorted(category, np.arange(len(r.categories) + 1))
    made = []
    for k, name in enumerate(r.categories):
        its = slice(ends[k], ends[k + 1])
        share = float(times[k]) / total if total else 0.0
        if not its.stop > its.start:
            e = Estimate.undefined("nobody said it", level)
        elif not others[its].any():
            e = Estimate.undefined("no item that it was said of has a second rating", level)
        else:
            pairs = said[its] * (said[its] - 1)
            e = share_over_items(pairs, others[its], weight[its], weight2[its], level=level)
        made.append(CategoryAgreement(name, share, e))
    return made


# Why kappa is low though raters agree: coefficients side by side, and what drives them apart.


COMMON = 0.75  # share of one category from which prevalence matters: a prevalence index of 0.5
GAP = 0.2  # of AC1 and kappa
SHIFT = 0.2  # of margins from which bias matters
TWO = (
    "percent_agreement", "cohen_kappa", "gwet_ac", "brennan_prediger", "kappa_max",
    "prevalence_index", "bias_index",
)  # fmt: skip
MANY = ("percent_agreement", "fleiss_kappa", "gwet_ac", "brennan_prediger")


@dataclass(frozen=True)
class Paradox:
    """Coefficients by name, the commonest category and its share, and what drives them apart.

    `shift` is half the sum of the differences of two raters' shares: for two categories the size of the
    bias index (None for more raters). `sentences` are empty where nothing drives the coefficients
    apart.
    """

    estimates: dict[str, Estimate]
    commonest: str | None
    share: float
    shift: float | None
    prevalence: bool
    bias: bool
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
    Kappa is 0.318 though 85.0 % agree and AC1 is 0.808: 87.5 % of all ratings are "0", so that kappa
    expects much agreement by chance; report both.
    """
    two = r.raters is not None and len(r.raters) == 2
    names = TWO if two else MANY
    found = {
        n: RATER_MEASURES[n].under({"level": level, "weights": "identity"}, r) for n in names
    }  # those that know no weights get none
    said = _shares(r, None)
    share = float(said.max(initial=0.0))
    commonest = r.categories[int(said.argmax())] if share > 0 else None
    shift = float(np.abs(_shares(r, 0) - _shares(r, 1)).sum()) / 2 if two else None
    kappa = found["cohen_kappa" if two else "fleiss_kappa"]
    apart = kappa.defined and found["gwet_ac"].value - kappa.value >= GAP - 1e-12
    prevalence = apart and share >= COMMON - 1e-12
    bias = kappa.defined and shift is not None and shift >= SHIFT - 1e-12
    sentences = []
    if prevalence:
        sentences.append(_of_prevalence(found, kappa, str(commonest), share))
    if bias:
        assert shift is not None
        sentences.append(_of_bias(r, found["kappa_max"], shift, kappa, level))
    return Paradox(found, commonest, share, shift, prevalence, bias, sentences)


def _shares(r: Ratings, rater: int | None) -> NDArray[np.float64]:
    """How often each category is said: by all, or by one of two raters on the items of both."""
    weight, many = r.weight.astype(np.float64), len(r.categories)
    if rater is None:
        said = np.bincount(r.counted.code, weight[r.counted.at] * r.counted.times, many)
    else:
        both = r.rated == 2
        said = np.bincount(r.said_by(rater)[both], weight[both], many)
    shares: NDArray[np.float64] = said / (float(said.sum()) or 1.0)
    return shares


def _of_prevalence(
    found: dict[str, Estimate], kappa: Estimate, commonest: str, share: float
) -> str:
    agree = found["percent_agreement"].value
    return (
        f"Kappa is {number(kappa.value)} though {100 * agree:.1f} % agree and AC1 is "
        f'{number(found["gwet_ac"].value)}: {100 * share:.1f} % of all ratings are "{commonest}", so that '
        f"kappa expects much agreement by chance; report both."
    )


def _of_bias(r: Ratings, most: Estimate, shift: float, kappa: Estimate, level: float) -> str:
    pi = RATER_MEASURES["scott_pi"](r, level=level, weights="identity")
    reach = f" can be {number(most.value)} at most and" if most.defined else ""
    return (
        f"The two raters use the categories differently often ({100 * shift:.1f} % of one's ratings would "
        f"have to move): kappa{reach} is {number(kappa.value)}, while Scott's pi, which takes the raters "
        f"as one, is {number(pi.value)}."
    )
