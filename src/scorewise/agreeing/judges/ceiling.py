"""How well humans agree with one another, and whether a judge agrees with them as well."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, TypeAlias

import numpy as np

from scorewise.agreeing.judges.against import Against, against
from scorewise.agreeing.judges.kappas import why_no_kappa
from scorewise.agreeing.judges.panel import Panel
from scorewise.agreeing.judges.resampling import Term, combined
from scorewise.agreeing.judges.taking import Codes
from scorewise.estimate import Estimate

Columns: TypeAlias = Sequence[tuple[Codes, Codes]]


@dataclass(frozen=True)
class HumanPair:
    """Two humans on the items that both rated."""

    first: str
    second: str
    found: Against


@dataclass(frozen=True)
class Ceiling:
    """The pairs of humans, and the mean of their kappas; `columns` are the pairs that have one."""

    pairs: tuple[HumanPair, ...]
    mean: Estimate
    columns: Columns


@dataclass(frozen=True)
class BesideHumans:
    """A judge where each human stood: against the humans one by one, and against most of the others.

    `single` is the mean kappa of the judge with each human, `single_gap` that minus the mean kappa of two
    humans. `human` is the mean kappa of each human with most of the others, `judge` that of the judge with
    the same, on the same items; `gap` is judge minus human.
    """

    single: Estimate
    single_gap: Estimate
    human: Estimate
    judge: Estimate
    gap: Estimate


def ceiling(panel: Panel, draws: dict[str, Any]) -> Ceiling | None:
    """How well humans agree with one another; None where there is one of them."""
    if len(panel.humans) < 2:
        return None
    pairs = tuple(
        HumanPair(a, b, against(panel, a, panel.humans[a], panel.humans[b], draws["level"]))
        for a, b in combinations(panel.humans, 2)
    )
    columns = [
        (panel.humans[p.first], panel.humans[p.second]) for p in pairs if p.found.kappa.defined
    ]
    return Ceiling(pairs, _mean(panel, columns, draws), columns)


def beside_humans(
    panel: Panel, judge: Codes, between: Columns, draws: dict[str, Any]
) -> BesideHumans:
    """A judge against the ceiling: each item resampled for humans and judge together."""
    single = _defined(panel, [(judge, codes) for codes in panel.humans.values()])
    human, own = [], []
    for name, codes in panel.humans.items():
        rest = panel.others(name)
        shared = np.where((codes >= 0) & (judge >= 0), rest, -1).astype(np.int32)
        if len(_defined(panel, [(shared, codes), (shared, judge)])) == 2:
            human.append((shared, codes))
            own.append((shared, judge))
    return BesideHumans(
        _mean(panel, single, draws),
        _gap(panel, single, between, draws),
        _mean(panel, human, draws),
        _mean(panel, own, draws),
        _gap(panel, own, human, draws),
    )


def _defined(panel: Panel, pairs: Columns) -> Columns:
    """Those pairs that have a kappa."""
    return [pair for pair in pairs if not why_no_kappa(panel.confusion(*pair), panel.agreement)]


def _terms(pairs: Columns, sign: float) -> list[Term]:
    return [Term(sign / len(pairs), a, b) for a, b in pairs]


def _mean(panel: Panel, pairs: Columns, draws: dict[str, Any]) -> Estimate:
    if not pairs:
        return Estimate.undefined("no two have a kappa", draws["level"])
    return combined(panel, _terms(pairs, 1.0), **draws, tested=False)


def _gap(panel: Panel, first: Columns, second: Columns, draws: dict[str, Any]) -> Estimate:
    if not first or not second:
        return Estimate.undefined("no two have a kappa", draws["level"])
    return combined(panel, [*_terms(first, 1.0), *_terms(second, -1.0)], **draws)
