"""Why kappa is low though raters agree: coefficients side by side, and what drives them apart."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import scorewise.measures  # noqa: F401 - fills the register
from scorewise.estimate import Estimate, number
from scorewise.registry import RATER_MEASURES
from scorewise.tallies import Ratings

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
        n: RATER_MEASURES[n](r, level=level, weights="identity") for n in names
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
