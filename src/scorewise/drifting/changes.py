"""A measure of drift between two samples, with what chance alone would do."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Any, Literal

import numpy as np

from scorewise.arrays import Floats
from scorewise.drifting import chance
from scorewise.drifting import measures as curves
from scorewise.drifting import measures as outcomes
from scorewise.drifting import measures as scores
from scorewise.drifting.chance import Held
from scorewise.drifting.measures import strata
from scorewise.drifting.samples import Sample
from scorewise.drifting.split import Split, pool, split
from scorewise.estimate import Estimate, number
from scorewise.inference.shares import combine, wilson
from scorewise.show.page import rounded_up
from scorewise.tallies import Tally
from scorewise.tallies.smroc import why_not_unit


@dataclass(frozen=True)
class Change:
    """An estimate, its p-value, the same adjusted for the number of tests, and the size of chance.

    `by_chance` is the size that chance alone stays below as often as `level` says, when nothing has
    changed; `needed` is the size from which on a change is seen, given that many things are tested.
    `least` says that no replicate was as large: the p-values are at most what they say.
    """

    statistic: Statistic
    estimate: Estimate
    p: float = math.nan
    p_adjusted: float = math.nan
    by_chance: float = math.nan
    needed: float = math.nan
    least: bool = False

    @property
    def value(self) -> float:
        """The value; NaN where undefined."""
        return self.estimate.value

    @property
    def seen(self) -> bool:
        """Whether the change is more than chance would do, given all the tests made."""
        return self.p_adjusted < 1 - self.estimate.level

    def __repr__(self) -> str:
        if math.isnan(self.p):
            return repr(self.estimate)
        p, adjusted = (rounded_up(x) if self.least else x for x in (self.p, self.p_adjusted))
        sign = "≤" if self.least else "="
        return f"{self.estimate}, p {sign} {number(p)} ({number(adjusted)} adjusted)"


# The measures of drift: what each needs, and what is held when rows are dealt out by chance.


Need = Literal["labels", "classes", "unit", "probability", "moving midpoint", "no labels"]


@dataclass(frozen=True)
class Statistic:
    """A measure of drift.

    `signed` changes have a direction, 0 when nothing has changed, and an interval; the others are
    distances, which chance alone makes larger than 0. `otherwise` is why there may still be no value.
    """

    name: str
    title: str
    of: Callable[[Split], Floats]
    needs: frozenset[Need] = frozenset()
    held: Held = "nothing"
    signed: bool = False
    otherwise: str = ""

    @property
    def meaning(self) -> str:
        """What the value says, in a sentence."""
        return (self.of.__doc__ or "").split("\n")[0]


def _needs(*words: Need) -> frozenset[Need]:
    return frozenset(words)


CERTAIN = "all scores of a sample are 0 or 1, and all right or all wrong"
APART = "no score has rows of both samples near it"

STATISTICS = (
    Statistic(
        "midpoint",
        "Midpoint",
        scores.midpoint_shift,
        _needs("unit", "moving midpoint"),
        signed=True,
    ),
    Statistic(
        "smroc_distance",
        "smROC distance",
        curves.smroc_distance,
        _needs("classes", "unit"),
        otherwise=CERTAIN,
    ),
    Statistic(
        "smauc",
        "smAUC",
        curves.smauc_change,
        _needs("classes", "unit"),
        signed=True,
        otherwise=CERTAIN,
    ),
    Statistic("auroc", "AUROC", curves.auroc_change, _needs("classes"), signed=True),
    Statistic(
        "rotation",
        "Rotation (degrees)",
        curves.rotation_change,
        _needs("labels", "unit"),
        signed=True,
    ),
    Statistic(
        "prevalence", "Prevalence", outcomes.prevalence_change, _needs("labels"), signed=True
    ),
    Statistic(
        "estimated_prevalence",
        "Prevalence (EM)",
        outcomes.estimated_prevalence_change,
        _needs("no labels", "unit", "probability"),
        signed=True,
        otherwise="all scores of the reference are 0, or all are 1",
    ),
    Statistic("psi", "PSI", scores.psi),
    Statistic("ks", "KS distance", scores.ks),
    Statistic("wasserstein", "Wasserstein", scores.wasserstein),
    Statistic(
        "class_distance", "KS within classes", outcomes.class_distance, _needs("classes"), "class"
    ),
    Statistic(
        "calibration",
        "Calibration",
        outcomes.calibration_shift,
        _needs("labels"),
        "score",
        True,
        APART,
    ),
    Statistic(
        "calibration_slope",
        "Calibration slope",
        outcomes.calibration_slope,
        _needs("labels"),
        "score",
        True,
        "all scores near which both samples have rows are the same",
    ),
    Statistic(
        "calibration_distance",
        "Reliability curves",
        outcomes.calibration_distance,
        _needs("labels"),
        "score",
        otherwise=APART,
    ),
)


# From two samples to all changes between them.


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
    for which, (held, group) in enumerate(groupby(by_held, key=lambda s: s.held)):
        members = list(group)
        exact, few = (strata(x),) * 2 if held == "score" else (x, pool(x, settings.cells))
        rng = np.random.default_rng([settings.seed, which])
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
    found = Estimate(value, low, high, level, method)
    return Change(s, found, p, p, by_chance, needed, least=p * (1 + len(null)) < 1.5)


def _newcombe(change: Change, a: Tally, b: Tally, level: float) -> Change:
    """The difference of two shares with Newcombe's (1998) interval."""
    pos, neg = (wilson(t.positives, t.negatives, *t.squares[::-1], level) for t in (b, a))
    rest = type(neg)(1 - neg.value, 1 - neg.high, 1 - neg.low)
    low, high = combine(lambda p, q: p + q - 1, pos, rest)
    estimate = Estimate(change.value, low, high, level, "Newcombe")
    return replace(change, estimate=estimate)
