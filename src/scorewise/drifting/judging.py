"""From two samples to all changes between them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any

import numpy as np

from scorewise.arrays import Floats
from scorewise.drifting import chance
from scorewise.drifting.change import Change
from scorewise.drifting.outcomes import strata
from scorewise.drifting.sample import Sample
from scorewise.drifting.split import Split, pool, split
from scorewise.drifting.statistics import STATISTICS, Need, Statistic
from scorewise.estimate import Estimate
from scorewise.inference.shares import combine, wilson
from scorewise.tallies import Tally
from scorewise.tallies.smroc import why_not_unit

_DRAWN = 999


@dataclass(frozen=True)
class Settings:
    """What was asked for.

    Windows in which `pilot` replicates show nothing near significance are not given more of them.
    """

    level: float = 0.95
    seed: int = 0
    replicates: int = 999
    midpoint: str | float = "mean"
    cells: int = 1024
    tests: int = 13
    pilot: int = 0


def piloted(a: Sample, b: Sample, settings: Settings, tests: int) -> dict[str, Change]:
    """The changes, with fewer replicates where none of them will be significant among so many tests."""
    if settings.pilot and settings.pilot < settings.replicates:
        found = changes(a, b, replace(settings, replicates=settings.pilot))
        least = min((c.p for c in found.values() if not math.isnan(c.p)), default=1.0)
        if least > max(4 / (settings.pilot + 1), 2 * (1 - settings.level) / tests):
            return found
    return changes(a, b, settings)


def changes(a: Sample, b: Sample, settings: Settings) -> dict[str, Change]:
    """Each change between the samples, with its p-value, not yet adjusted.

    Values are of the scores as they are. P-values and intervals are of the same statistics on at most
    1,024 cells of pooled scores.
    """
    both = a.labelled and b.labelled
    x = split(a.tally, b.tally, labelled=both, midpoint=settings.midpoint)
    why = {s.name: why_not(s, a, b, settings) for s in STATISTICS}
    wanted = [s for s in STATISTICS if not why[s.name] and ("no labels" not in s.needs or not both)]
    found = dict(_tested(x, wanted, settings))
    if "prevalence" in found:
        found["prevalence"] = _newcombe(found["prevalence"], a.tally, b.tally, settings.level)
    return {
        s.name: found.get(s.name) or Change(s, Estimate.undefined(why[s.name], settings.level))
        for s in STATISTICS
        if s in wanted or why[s.name]
    }


def why_not(s: Statistic, a: Sample, b: Sample, settings: Settings) -> str:
    """Why a statistic has no value, or nothing."""
    whys = [_why_not_of(s.needs, side, settings.midpoint) for side in (a, b)]
    if any(whys):
        return next(filter(None, whys))
    fixed = "moving midpoint" in s.needs and not isinstance(settings.midpoint, str)
    return "the midpoint is fixed" if fixed else ""


def _why_not_of(needs: frozenset[Need], side: Sample, midpoint: str | float) -> str:
    t = side.tally
    if not len(t.score):
        return f"no rows in the {side.name} sample"
    if needs & {"labels", "classes"} and not side.labelled:
        return f"no labels in the {side.name} sample"
    if "classes" in needs and t.why_not_ranked:
        return f"{t.why_not_ranked} in the {side.name} sample"
    if "probability" in needs and t.kind == "score":
        return "the scores are no probabilities"
    if "unit" not in needs:
        return ""
    by_class = midpoint in ("balanced", "median") and "no labels" not in needs
    if by_class and (not side.labelled or t.why_not_ranked):
        return f'the midpoint "{midpoint}" needs both classes in the {side.name} sample'
    return why_not_unit(t)


def _tested(x: Split, wanted: list[Statistic], settings: Settings) -> Iterator[tuple[str, Change]]:
    """The changes by what is held: each group with the same replicates."""
    by_held = sorted(wanted, key=lambda s: s.held)
    for number, (held, group) in enumerate(groupby(by_held, key=lambda s: s.held)):
        members = list(group)
        exact, few = (strata(x),) * 2 if held == "score" else (x, pool(x, settings.cells))
        rng = np.random.default_rng([settings.seed, number])
        of = _all(members)
        values, near = of(exact), of(_one(few))
        nulls = chance.in_parts(partial(chance.dealt, few, held, rng=rng), of, settings.replicates)
        signed = [s for s in members if s.signed]
        drawn: Mapping[str, Floats] = {}
        if signed:
            draw = partial(chance.again, few, rng=rng)
            # intervals need no more, however many tests there are
            drawn = chance.in_parts(draw, _all(signed), min(settings.replicates, _DRAWN))
        for s in members:
            value, centre = float(values[s.name]), float(near[s.name][0])
            spread = drawn.get(s.name)
            yield s.name, _change(s, value, centre, nulls[s.name], spread, settings)


def _all(members: list[Statistic]) -> Callable[[Split], dict[str, Any]]:
    return lambda x: {s.name: s.of(x) for s in members}


def _one(x: Split) -> Split:
    """A single replicate: the samples themselves."""
    reference, current = (type(w)(w.neg[None], w.pos[None]) for w in x.sides)
    return x.having(reference, current)


def _change(
    s: Statistic,
    value: float,
    centre: float,
    null: Floats,
    drawn: Floats | None,
    settings: Settings,
) -> Change:
    level = settings.level
    if not math.isfinite(value):
        why = s.otherwise or "the scores are too large"
        return Change(s, Estimate.undefined(why, level))
    low = high = math.nan
    method = ""
    if drawn is not None:
        known = drawn[np.isfinite(drawn)]
        if len(known):
            tails = (1 - level) / 2, (1 + level) / 2
            # replicates are of pooled cells, and moved to where the value is
            low, high = (float(q) for q in np.quantile(known, tails) - centre + value)
            low, high, method = min(low, value), max(high, value), "bootstrap of cells"
            if high - low < 1e-12 * max(1.0, abs(value)):  # what rounding leaves
                low = high = value
    p = chance.p_value(centre, null)
    sizes = np.where(np.isnan(null), np.inf, np.abs(null))
    strict = 1 - (1 - level) / settings.tests  # the level after adjustment for all tests
    by_chance, needed = (float(np.quantile(sizes, q, method="higher")) for q in (level, strict))
    return Change(s, Estimate(value, low, high, level, method), p, p, by_chance, needed)


def _newcombe(change: Change, a: Tally, b: Tally, level: float) -> Change:
    """The difference of two shares with Newcombe's (1998) interval."""
    pos, neg = (wilson(t.positives, t.negatives, *t.squares[::-1], level) for t in (b, a))
    rest = type(neg)(1 - neg.value, 1 - neg.high, 1 - neg.low)
    low, high = combine(lambda p, q: p + q - 1, pos, rest)
    estimate = Estimate(change.value, low, high, level, "Newcombe")
    return replace(change, estimate=estimate)
