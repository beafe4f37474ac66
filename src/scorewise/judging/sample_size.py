"""How many items make an interval as narrow as wanted."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from scorewise.arrays import Floats
from scorewise.checks import check, is_integer, is_number
from scorewise.columns.rows import one_of
from scorewise.errors import BadInput
from scorewise.inference.scales import z
from scorewise.inference.shares import matched_difference, wilson_of
from scorewise.judging.kappas import sloped

Of: TypeAlias = Literal["kappa", "share", "accuracy", "difference"]
MOST = 10**12


def items_needed(
    width: float,
    of: Of = "kappa",
    *,
    kappa: float = 0.6,
    prevalence: float | Sequence[float] = 0.5,
    raters: int = 2,
    share: float = 0.5,
    difference: float = 0.0,
    discordant: float | None = None,
    level: float = 0.95,
) -> int:
    """How many items an interval of that width takes, for what is expected to be seen.

    of="kappa": raters who all use the categories as often as `prevalence` says (of the second of two, or
    of each) and whose kappa is as given; by the standard error of Fleiss, Cohen and Everitt (1969). With
    more than two raters it is the mean kappa of their pairs, where they either all know an item or all
    guess. of="share" or "accuracy": the Wilson interval of a share. of="difference": the interval of
    Tango for the accuracy of two judges on the same items, of which on a share `discordant` one is right
    and the other wrong.

    >>> items_needed(0.2, kappa=0.6, prevalence=0.5)
    246
    >>> items_needed(0.1, "share", share=0.8), items_needed(0.1, "difference", discordant=0.3)
    (245, 466)
    """
    check(width=width)
    one_of("of", of, get_args(Of))
    if of == "kappa":
        return needed_for_error(width, _kappa_error(kappa, prevalence, raters), level)
    if of in ("share", "accuracy"):
        _between("share", share, 0, 1)
        return needed_for_share(width, share, level)
    if discordant is None:
        raise BadInput(
            "discordant= is not given: the share of items on which one judge is right and the other wrong, "
            "such as 0.3"
        )
    _between("discordant", discordant, 0, 1)
    _between("difference", difference, -discordant, discordant)
    return needed_for_difference(width, difference, discordant, level)


def needed_for_error(width: float, error: float, level: float) -> int:
    """Items for a normal interval, from the standard error of one item."""
    root = 2 * z(level) * error / width
    if not root * root <= MOST:
        raise BadInput(f"width is {width:g}; it would take more than {MOST:.0e} items")
    return max(2, math.ceil(root * root * (1 - 1e-12)))


def needed_for_share(width: float, share: float, level: float) -> int:
    """Items for a Wilson interval."""

    def found(n: int) -> float:
        _, low, high = wilson_of(share, n, level)
        return high - low

    return _least(found, width)


def needed_for_difference(width: float, difference: float, discordant: float, level: float) -> int:
    """Items for Tango's interval of a difference."""
    first, second = (discordant + difference) / 2, (discordant - difference) / 2

    def found(n: int) -> float:
        low, high = matched_difference(first * n, max(second, 0.0) * n, n, level)
        return high - low

    return _least(found, width)


def _least(found: Callable[[int], float], width: float) -> int:
    """The fewest items whose interval is no wider."""
    high = 2
    while found(high) > width:
        high *= 2
        if high > MOST:
            raise BadInput(f"width is {width:g}; it would take more than {MOST:.0e} items")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if found(middle) > width else (low, middle)
    return high


def _kappa_error(kappa: float, prevalence: Any, raters: int) -> float:
    """The standard error of the mean kappa of pairs, for one item."""
    _between("kappa", kappa, 0, 1)
    if kappa == 1:
        raise BadInput(
            "kappa is 1; raters who never differ have no spread, so expect less, such as 0.95"
        )
    if not is_integer(raters, 2, 10**6):
        raise BadInput(f"raters must be an integer from 2 to 1,000,000; got {raters}")
    p = _margins(prevalence)
    chance = p[:, None] * p[None, :]
    table = (1 - kappa) * chance + kappa * np.diag(p)
    _, slope = sloped(np.eye(len(p)))(table)
    known = kappa * float((p * slope.diagonal() ** 2).sum())
    guess = (slope * p).sum(1)
    one = known + (1 - kappa) * float((p * guess**2).sum())
    none = known + (1 - kappa) * float((p * guess).sum()) ** 2
    pairs = raters * (raters - 1) / 2
    same = float((table * slope**2).sum())
    apart = (raters - 2) * (raters - 3) / 2
    return math.sqrt((same + 2 * (raters - 2) * one + apart * none) / pairs)


def _margins(prevalence: Any) -> Floats:
    """The shares of the categories, which add up to 1."""
    if isinstance(prevalence, int | float | np.number):
        _between("prevalence", prevalence, 0, 1)
        shares = np.array([1 - prevalence, prevalence], np.float64)
    else:
        try:
            shares = np.asarray(prevalence, np.float64)
        except (TypeError, ValueError):
            shares = np.empty(0)
    if (
        shares.ndim != 1
        or len(shares) < 2
        or not (shares > 1e-9).all()
        or not np.isfinite(shares).all()
    ):
        raise BadInput(
            f"prevalence is {prevalence}; give a share between 0 and 1, or one above 0 for each category"
        )
    if abs(shares.sum() - 1) > 1e-6:
        raise BadInput(
            f"prevalence adds up to {shares.sum():g}; the shares of categories add up to 1"
        )
    whole: Floats = shares / shares.sum()
    return whole


def _between(name: str, given: Any, low: float, high: float) -> None:
    if not is_number(given) or not low <= given <= high:
        raise BadInput(f"{name} must lie between {low:g} and {high:g}; got {given}")
