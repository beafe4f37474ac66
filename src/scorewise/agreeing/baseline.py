"""Kappa beside the error of guessing by the margins, and beside the coefficients that differ from it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scorewise.arrays import Floats, Ints
from scorewise.checks import at_least
from scorewise.errors import BadInput
from scorewise.estimate import Estimate, number
from scorewise.inference.agreement_parts import Rated, against, conger
from scorewise.inference.agreement_weights import Disagreement, Weights, disagreement
from scorewise.measures.raters.marginals import why_no_table
from scorewise.registry import RATER_MEASURES
from scorewise.show.page import percent
from scorewise.tallies import Ratings

DRAWS = 1000
ITEMS = 10**8  # beyond which random tables take too long, or overflow
TABLES = 1 << 22  # cells of tables drawn together
COMMON = 0.75  # share of one category from which prevalence matters: a prevalence index of 0.5
GAP = 0.2  # of AC1 and kappa
SHIFT = 0.2  # of margins from which bias matters
TWO = (
    "percent_agreement", "cohen_kappa", "gwet_ac", "brennan_prediger", "kappa_max",
    "prevalence_index", "bias_index",
)  # fmt: skip
MANY = ("percent_agreement", "fleiss_kappa", "gwet_ac", "brennan_prediger")


@dataclass(frozen=True)
class Baseline:
    """The error of two raters (or of predictions against gold labels) beside that of guessing.

    `error` is the mean disagreement, 1 - weighted agreement; `by_margins` that of raters who say each
    category as often but independently, in closed form; `by_permutation` its mean over `draws` random
    tables with the same margins, `spread` their standard deviation, and `p` the share of them (the one
    seen included) that agree as much as was seen. `kappa` is 1 - error / by_margins, `kappa_permuted`
    1 - error / by_permutation. What is not known is NaN, and `why` says why.
    """

    error: float
    by_margins: float
    by_permutation: float = math.nan
    spread: float = math.nan
    p: float = math.nan
    draws: int = 0
    why: str = ""

    @property
    def kappa(self) -> float:
        """The share of the error of guessing by the margins that is avoided."""
        return _avoided(self.error, self.by_margins)

    @property
    def kappa_permuted(self) -> float:
        """The same of the mean error of random tables."""
        return _avoided(self.error, self.by_permutation)


def _avoided(error: float, baseline: float) -> float:
    share = 1 - error / baseline if baseline > 0 else math.nan
    return 0.0 if abs(share) < 1e-12 else share


def baseline(r: Ratings, *, weights: Weights = None, draws: int = DRAWS, seed: int = 0) -> Baseline:
    """The error of two raters and of guessing with the same margins.

    >>> b = baseline(Ratings.of_table([[25, 10], [15, 20]]))
    >>> round(1 - b.error, 4), round(1 - b.by_margins, 4), round(b.kappa, 4)
    (0.6429, 0.5, 0.2857)
    >>> round(b.by_permutation, 2), round(b.p, 2)
    (0.5, 0.02)
    """
    at_least(0, DRAWS, draws=draws)
    d = disagreement(r, weights)
    if why := why_no_table(r) or (d if isinstance(d, str) else ""):
        return Baseline(math.nan, math.nan, why=why)
    assert not isinstance(d, str)
    both = r.rated == 2
    codes, weight = r.codes[both], r.weight[both]
    parts = against(conger)(Rated.of(r, d).only(both))
    error, expected = float(parts.observed), float(parts.chance)
    if weight.dtype.kind != "i":
        why = "items have weights; random tables need counts"
        return Baseline(error, expected, why=why)
    if float(weight.sum()) > ITEMS:
        return Baseline(error, expected, why=f"more than {ITEMS:,} items; random tables take fewer")
    if not draws:
        return Baseline(error, expected, why="no random tables were asked for")
    drawn = _permuted(codes, weight, d, len(r.categories), draws, np.random.default_rng(seed))
    # a hair, so that rounding does not tell equal tables apart
    as_good = int((drawn <= error + 1e-12).sum())
    spread, p = float(drawn.std()), (1 + as_good) / (1 + draws)
    spread = spread if spread > 1e-12 else 0.0
    return Baseline(error, expected, float(drawn.mean()), spread, p, draws)


def margin_error(
    first: Sequence[float], second: Sequence[float], disagreements: Floats | None = None
) -> float:
    """The error of guessing independently, when each of two raters says the categories so often.

    Ten cats and ninety dogs, of which a guess calls twenty cats, at random:

    >>> round(margin_error([10, 90], [20, 80]), 2)
    0.26
    """
    a, b = (np.asarray(x, np.float64) for x in (first, second))
    if a.shape != b.shape or a.ndim != 1 or not (a.sum() > 0 and b.sum() > 0):
        raise BadInput("margins are two lists of the same length that each add up to more than 0")
    a, b = a / a.sum(), b / b.sum()
    if disagreements is None:
        return float((a * (1 - b)).sum())
    return float((a[:, None] * b * disagreements).sum())


def _permuted(
    codes: NDArray[np.int32], weight: Ints, d: Disagreement, many: int, draws: int,
    rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """The errors of random tables with the margins of these items, as of shuffled ratings."""
    margins = [np.bincount(codes[:, k], weight, many).astype(np.int64) for k in (0, 1)]
    rows, columns = (np.flatnonzero(m) for m in margins)
    items = int(weight.sum())
    if len(rows) * len(columns) <= max(items, TABLES >> 10):
        return _tables(margins, rows, columns, d, draws, rng) / items
    first, second = (codes[:, k].repeat(weight) for k in (0, 1))
    return np.array([float(d.between(first, rng.permutation(second)).mean()) for _ in range(draws)])


def _tables(
    margins: list[Ints], rows: Ints, columns: Ints, d: Disagreement, draws: int,
    rng: np.random.Generator,
) -> Floats:  # fmt: skip
    """The summed disagreement of random tables (Patefield 1981, Boyett 1979)."""
    from scipy.stats import random_table

    i, j = (x.ravel().astype(np.int32) for x in np.meshgrid(rows, columns, indexing="ij"))
    apart = np.asarray(d.between(i, j), np.float64).reshape(len(rows), len(columns))
    made = random_table(margins[0][rows], margins[1][columns])
    step = max(1, TABLES // apart.size)
    parts = []
    for done in range(0, draws, step):
        drawn = made.rvs(size=min(step, draws - done), random_state=rng)
        parts.append((drawn.reshape(-1, *apart.shape) * apart).sum((1, 2)))
    return np.concatenate(parts)


# Why kappa is low though raters agree: coefficients side by side, and what drives them apart.


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
    Kappa is 0.318 though 85% agree and AC1 is 0.808: 87.5% of all ratings are "0", so that kappa
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


def _shares(r: Ratings, rater: int | None) -> Floats:
    """How often each category is said: by all, or by one of two raters on the items of both."""
    weight, many = r.weight.astype(np.float64), len(r.categories)
    if rater is None:
        said = np.bincount(r.counted.code, weight[r.counted.at] * r.counted.times, many)
    else:
        both = r.rated == 2
        said = np.bincount(r.said_by(rater)[both], weight[both], many)
    shares: Floats = said / (float(said.sum()) or 1.0)
    return shares


def _of_prevalence(
    found: dict[str, Estimate], kappa: Estimate, commonest: str, share: float
) -> str:
    agree = found["percent_agreement"].value
    return (
        f"Kappa is {number(kappa.value)} though {percent(agree)} agree and AC1 is "
        f'{number(found["gwet_ac"].value)}: {percent(share)} of all ratings are "{commonest}", so that '
        f"kappa expects much agreement by chance; report both."
    )


def _of_bias(r: Ratings, most: Estimate, shift: float, kappa: Estimate, level: float) -> str:
    pi = RATER_MEASURES["scott_pi"](r, level=level, weights="identity")
    reach = f" can be {number(most.value)} at most and" if most.defined else ""
    return (
        f"The two raters use the categories differently often ({percent(shift)} of one's ratings would "
        f"have to move): kappa{reach} is {number(kappa.value)}, while Scott's pi, which takes the raters "
        f"as one, is {number(pi.value)}."
    )
