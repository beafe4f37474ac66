"""The changes between two samples, each held against what chance alone would do.

By chance, rows are dealt out anew to the samples. The rows of a cell are alike, so that it is enough to say
how many of each cell go to the reference: a multivariate hypergeometric draw, the cost of which does not
grow with the number of rows. With weights a cell gets a Poisson number of rows, as many and as heavy as
give it the mean and the variance that its rows would give it in each sample.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import Literal

import numpy as np

from scorewise.arrays import Floats
from scorewise.drifting.measures import STATISTICS, Held, Need, Statistic, strata
from scorewise.drifting.samples import Sample
from scorewise.drifting.split import Split, pool, split
from scorewise.estimate import Estimate, number
from scorewise.inference.resampling import resampled, share_beyond
from scorewise.inference.shares import combine, wilson
from scorewise.show.words import rounded_up
from scorewise.tallies.smroc import why_not_unit

_MOST = 10**9  # rows that numpy deals out exactly
_FEW = 40_000  # rows up to which it is faster to shuffle them
_DRAWN = 999  # replicates for intervals, which need no more, however many tests there are
_PART = 256  # replicates at a time


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
    both, level = a.labelled and b.labelled, settings.level
    x = split(a.tally, b.tally, labelled=both, midpoint=settings.midpoint)
    asked = [s for s in STATISTICS if "no labels" not in s.needs or not both]
    why = {s.name: why_not(s.needs, a, b, settings.midpoint) for s in STATISTICS}
    found = dict(_tested(x, [s for s in asked if not why[s.name]], settings))
    if "prevalence" in found:
        change = found["prevalence"]
        found["prevalence"] = replace(change, estimate=_newcombe(change.estimate, a, b))
    return {
        s.name: found.get(s.name) or Change(s, Estimate.undefined(why[s.name], level))
        for s in STATISTICS
        if s in asked or why[s.name]
    }


def signed_changes(
    a: Sample, b: Sample, settings: Settings, intervals: bool = True
) -> dict[str, Estimate]:
    """The changes that have a direction, with intervals or not, and without tests."""
    both, level = a.labelled and b.labelled, settings.level
    wanted = [s for s in STATISTICS if s.signed and ("no labels" not in s.needs or not both)]
    why = {s.name: why_not(s.needs, a, b, settings.midpoint) for s in wanted}
    x = split(a.tally, b.tally, labelled=both, midpoint=settings.midpoint)
    found = {name: Estimate.undefined(reason, level) for name, reason in why.items() if reason}
    known = [s for s in wanted if not why[s.name]]
    for _, few, values in _by_held(x, known, settings.cells):
        resampling = partial(resample, few, rng=np.random.default_rng(settings.seed))
        drawn = _in_parts(resampling, list(values), _DRAWN) if intervals else {}
        for s, (value, centre) in values.items():
            found[s.name] = _bootstrapped(s, value, centre, drawn.get(s.name), level)
    if "prevalence" in found:
        found["prevalence"] = _newcombe(found["prevalence"], a, b)
    return {s.name: found[s.name] for s in wanted}


def why_not(needs: frozenset[Need], a: Sample, b: Sample, midpoint: str | float) -> str:
    """Why a statistic with these needs has no value, or nothing."""
    if why := _why_not_of(needs, a, midpoint) or _why_not_of(needs, b, midpoint):
        return why
    fixed = "moving midpoint" in needs and not isinstance(midpoint, str)
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
        return "the scores are not probabilities"
    if "unit" not in needs:
        return ""
    by_class = midpoint in ("balanced", "median") and "no labels" not in needs
    if by_class and (not side.labelled or t.why_not_ranked):
        return f'the midpoint "{midpoint}" needs both classes in the {side.name} sample'
    return why_not_unit(t)


def _by_held(
    x: Split, wanted: list[Statistic], cells: int
) -> Iterator[tuple[Held, Split, dict[Statistic, tuple[float, float]]]]:
    """Statistics by what is held, with the cells of replicates, their values, and those on such cells."""
    for held, group in groupby(sorted(wanted, key=lambda s: s.held), key=lambda s: s.held):
        members = list(group)
        exact, few = (strata(x),) * 2 if held == "score" else (x, pool(x, cells))
        values = _values(members, exact)
        near = _values(members, few.having(few.weight[:, :, None]))  # as a single replicate
        yield held, few, {s: (float(values[s.name]), float(near[s.name][0])) for s in members}


def _tested(x: Split, wanted: list[Statistic], settings: Settings) -> Iterator[tuple[str, Change]]:
    """The changes by what is held: each group with the same replicates."""
    for which, (held, few, values) in enumerate(_by_held(x, wanted, settings.cells)):
        rng, members = np.random.default_rng([settings.seed, which]), list(values)
        nulls = _in_parts(partial(dealt, few, held, rng=rng), members, settings.replicates)
        signed = [s for s in members if s.signed]
        replicates = min(settings.replicates, _DRAWN) if signed else 0
        drawn = _in_parts(partial(resample, few, rng=rng), signed, replicates)
        for s, (value, centre) in values.items():
            yield s.name, _change(s, value, centre, nulls[s.name], drawn.get(s.name), settings)


def _values(members: list[Statistic], x: Split) -> dict[str, Floats]:
    return {s.name: s.of(x) for s in members}


def _in_parts(
    draw: Callable[[int], Split], members: list[Statistic], replicates: int
) -> dict[str, Floats]:
    """The statistics of many replicates, a few hundred at a time."""
    sizes = [
        len(part) for part in np.array_split(np.arange(replicates), -(-replicates // _PART) or 1)
    ]
    # a sample of few weighted rows may get none; then there is no value, which counts as large
    with np.errstate(divide="ignore", invalid="ignore"):
        parts = [_values(members, draw(size)) for size in sizes if size]
    return {s.name: np.concatenate([part[s.name] for part in parts]) for s in members}


def _change(
    s: Statistic,
    value: float,
    centre: float,
    null: Floats,
    drawn: Floats | None,
    settings: Settings,
) -> Change:
    """The change: `centre` is its value on pooled cells, `null` and `drawn` are replicates of that."""
    level = settings.level
    estimate = _bootstrapped(s, value, centre, drawn, level)
    if not estimate.defined:
        return Change(s, estimate)
    sizes = np.where(np.isnan(null), np.inf, np.abs(null))
    strict = 1 - (1 - level) / settings.tests  # the level after adjustment for all tests
    by_chance, needed = (float(np.quantile(sizes, q, method="higher")) for q in (level, strict))
    p = p_value(centre, sizes)
    least = p * (1 + len(sizes)) < 1.5
    return Change(s, estimate, p, p, by_chance, needed, least=least)


def _bootstrapped(
    s: Statistic, value: float, centre: float, drawn: Floats | None, level: float
) -> Estimate:
    """The value with percentiles of its replicates, which are of pooled cells, moved to where it is."""
    if not math.isfinite(value):
        return Estimate.undefined(s.otherwise, level)
    if drawn is None or not len(known := drawn[np.isfinite(drawn)]):
        return Estimate(value, level=level)
    tails = (1 - level) / 2, (1 + level) / 2
    low, high = (float(q) for q in np.quantile(known, tails) - centre + value)
    low, high = min(low, value), max(high, value)
    if high - low < 1e-12 * max(1.0, abs(value)):  # what rounding leaves
        low = high = value
    return Estimate(value, low, high, level, "bootstrap of cells")


def p_value(value: float, sizes: Floats) -> float:
    """How often chance alone makes a change at least as large, the sample itself counted once.

    (1 + number of replicates with |T*| >= |T|) / (1 + replicates). A replicate without a value counts as
    large.

    >>> p_value(-2.0, np.array([0.5, 1.0, 3.0]))
    0.5
    """
    # a little less, because sums of the same numbers in another order are rounded otherwise
    return share_beyond(sizes, abs(value) * (1 - 1e-9) - 1e-14)


def _newcombe(e: Estimate, a: Sample, b: Sample) -> Estimate:
    """The difference of two shares with Newcombe's (1998) interval."""
    if not e.defined:
        return e
    tallies = (b.tally, a.tally)
    pos, neg = (wilson(t.positives, t.negatives, *t.squares[::-1], e.level) for t in tallies)
    rest = type(neg)(1 - neg.value, 1 - neg.high, 1 - neg.low)
    low, high = combine(lambda p, q: p + q - 1, pos, rest)
    return Estimate(e.value, low, high, e.level, "Newcombe")


def dealt(x: Split, held: Held, replicates: int, rng: np.random.Generator) -> Split:
    """Replicates of the samples if only chance decided which row is in which.

    `held="nothing"`: any row may be in either. "class": among rows of the same class, so that both
    samples keep their prevalence. "score": among rows of the same cell, so that they keep their scores.
    """
    if x.squares is not None or x.mass.sum() >= _MOST:
        return x.having(_dealt_weights(x, held, replicates, rng))
    reference, whole = x.weight[0], x.weight[0] + x.weight[1]
    if held == "nothing":
        drawn = _deal(whole.ravel(), reference.sum(), replicates, rng)
        taken = drawn.reshape(replicates, *whole.shape).swapaxes(0, 1)
    elif held == "class":
        sides = zip(whole, reference, strict=True)
        taken = np.stack([_deal(w, part.sum(), replicates, rng) for w, part in sides])
    else:
        neg, pos, rows = (np.rint(w).astype(np.int64) for w in (*whole, x.rows[0]))
        hit = rng.hypergeometric(pos, neg, rows, (replicates, len(pos))).astype(np.float64)
        taken = np.stack((x.rows[0] - hit, hit))
    return x.having(np.stack((taken, whole[:, None] - taken)))


def _deal(whole: Floats, rows: float, replicates: int, rng: np.random.Generator) -> Floats:
    counts = np.rint(whole).astype(np.int64)
    method: Literal["count", "marginals"] = "count" if counts.sum() <= _FEW else "marginals"
    drawn = rng.multivariate_hypergeometric(counts, round(rows), size=replicates, method=method)
    return np.asarray(drawn, np.float64)


def _dealt_weights(x: Split, held: Held, replicates: int, rng: np.random.Generator) -> Floats:
    """The same for weighted rows: each cell of a sample gets its share of both samples, by chance."""
    if held == "score":
        samples = zip(x.rows, x.spread[:, 0] + x.spread[:, 1], strict=True)
        return np.stack([_outcomes(x, w, w2, replicates, rng) for w, w2 in samples])
    columns = x.weight, x.spread
    axes = (-1,) if held == "class" else (1, -1)
    shares = [w.sum(axes, keepdims=True) / w.sum((0, *axes), keepdims=True) for w in columns]
    means, squares = ((w[0] + w[1]) * share for w, share in zip(columns, shares, strict=True))
    drawn = [
        _counted(mean, square, replicates, rng)
        for mean, square in zip(*(w.reshape(4, -1) for w in (means, squares)), strict=True)
    ]
    return np.reshape(drawn, (2, 2, replicates, -1))


def _counted(weight: Floats, squares: Floats, replicates: int, rng: np.random.Generator) -> Floats:
    """Replicates of the weights of cells as counts of rows: a cell may get none, as when rows are dealt.

    Poisson draws of the rows that the weights are worth, of the mean and variance that these have.
    """
    unit = np.divide(squares, weight, out=np.zeros_like(weight), where=weight > 0)
    rows = np.divide(weight, unit, out=np.zeros_like(weight), where=unit > 0)
    drawn = rng.poisson(rows, (replicates, len(rows))).astype(np.float64)
    drawn *= unit
    return drawn


def _outcomes(
    x: Split, weight: Floats, squares: Floats, replicates: int, rng: np.random.Generator
) -> Floats:
    """One sample with its weight on each cell, and outcomes as in both samples together."""
    hits = x.weight[0, 1] + x.weight[1, 1]
    positive = np.divide(hits, x.mass, out=np.zeros_like(x.mass), where=x.mass > 0)
    pos, neg = (
        _counted(weight * part, squares * part, replicates, rng)
        for part in (positive, 1 - positive)
    )
    total = pos + neg
    hit = weight * np.divide(pos, total, out=np.zeros_like(pos), where=total > 0)
    return np.stack((weight - hit, hit))


def resample(x: Split, replicates: int, rng: np.random.Generator) -> Split:
    """Replicates of both samples, each drawn anew from its own rows: the bootstrap of cells."""
    columns = (w.reshape(4, -1) for w in (x.weight, x.spread))
    drawn = [resampled(w, w2, replicates, rng) for w, w2 in zip(*columns, strict=True)]
    return x.having(np.reshape(drawn, (2, 2, replicates, -1)))
