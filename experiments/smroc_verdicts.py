"""Whether a claim holds, from the p-values of its cases."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from experiments.paired_tests import Correlation, Shift, spearman
from scorewise.inference.paired import holm

LEVEL = 0.05


class Evidence(NamedTuple):
    """One case of a claim: `side` is 1 if it speaks for the claim, -1 if for the reverse."""

    p: float  # NaN if there is no test
    side: int
    sets: int
    least: float = 0.0  # the smallest p that so many sets can give


class Verdict(NamedTuple):
    """In how many of all cases a claim holds, in how many the reverse, and both in words."""

    hits: int
    reverse: int
    of: int
    said: str


def verdict(cases: Sequence[Evidence]) -> Verdict:
    """Holds, holds in part, the reverse holds, or cannot be told; by p-values adjusted by Holm.

    >>> verdict([Evidence(0.001, 1, 26), Evidence(0.2, 1, 26)]).said
    'holds in part: 1 of 2 cases'
    >>> verdict([Evidence(0.04, 1, 26), Evidence(0.2, -1, 26)]).said
    'cannot be told: none of 2 cases is significant, on 26 sets'
    """
    clear = clear_sides(cases)
    hits, reverse = clear.count(1), clear.count(-1)
    return Verdict(hits, reverse, len(cases), _said(hits, reverse, cases))


def clear_sides(cases: Sequence[Evidence]) -> list[int]:
    """The side of each case if it is significant, or 0; a case without a test is one of the cases, too."""
    adjusted = holm([1.0 if math.isnan(c.p) else c.p for c in cases])
    return [c.side if p < LEVEL else 0 for c, p in zip(cases, adjusted, strict=True)]


def _said(hits: int, reverse: int, cases: Sequence[Evidence]) -> str:
    of = len(cases)
    if of and hits == of:
        return "holds"
    if hits:
        against = f", the reverse in {reverse}" if reverse else ""
        return f"holds in part: {hits} of {of} cases{against}"
    if reverse:
        return "the reverse holds" + (f" in part: {reverse} of {of} cases" if reverse < of else "")
    sets = max((c.sets for c in cases), default=0)
    if all(c.least * of >= LEVEL for c in cases):
        return f"cannot be told: {_sets(sets)} {'is' if sets == 1 else 'are'} too few"
    if all(math.isnan(c.p) for c in cases):
        return f"cannot be told: no test, on {_sets(sets)}"
    return f"cannot be told: none of {of} cases is significant, on {_sets(sets)}"


def _sets(n: int) -> str:
    return "1 set" if n == 1 else f"{n} sets"


def above(s: Shift) -> Evidence:
    """Evidence that differences are positive."""
    sets = s.count + s.ties
    return Evidence(s.p, _sign(s.effect), sets, least_of(sets))


def below(s: Shift) -> Evidence:
    """Evidence that differences are negative."""
    return above(s)._replace(side=-_sign(s.effect))


def rising(r: Correlation) -> Evidence:
    """Evidence that two quantities rise together."""
    order = np.arange(r.count)
    least = spearman(order, order).p
    return Evidence(r.p, _sign(r.value), r.count, 1.0 if math.isnan(least) else least)


def least_of(sets: int) -> float:
    """The p-value of sets that are all on one side."""
    return min(1.0, 2.0 ** (1 - sets))


def _sign(x: float) -> int:
    return 0 if math.isnan(x) else (x > 0) - (x < 0)
