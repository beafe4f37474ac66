"""Changes between two samples with permutation p-values, and the kind of drift that they show."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Literal

import numpy as np

from scorewise.arrays import Floats
from scorewise.drifting.measures import STATISTICS, Statistic, strata
from scorewise.drifting.samples import Sample
from scorewise.drifting.split import Split, bootstrapped, permuted, pool, split
from scorewise.errors import plain
from scorewise.estimate import Estimate, number
from scorewise.inference.differences import holm, mover
from scorewise.inference.resampling import resampling_p
from scorewise.inference.shares import wilson
from scorewise.show.verdict import Claim, claim, figure
from scorewise.show.words import p_phrase, percent, rounded_up
from scorewise.statistics.smroc import why_not_unit

_RESAMPLES = 999  # for intervals, which need no more, however many tests there are
_BATCH = 256  # replicates at a time


Kind = Literal["none seen", "prior", "covariate", "concept", "scores", "unclear", "untested"]
SENTENCES: dict[Kind, str] = {
    "prior": (
        "Prior shift: the share of positives has changed; no change of the scores is seen within the "
        "classes."
    ),
    "covariate": (
        "Covariate shift: the distribution of the scores has changed; no change of the outcomes is seen "
        "at the same score."
    ),
    "concept": "Concept drift: the relation between scores and outcomes has changed.",
    "scores": (
        "The distribution of the scores has changed. Without labels it cannot be told whether the "
        "outcomes have changed too."
    ),
    "unclear": "The samples differ, but the kind of drift cannot be determined.",
}
# signs that a score means something else, that scores within classes or altogether have moved
OUTCOMES = ("calibration", "calibration_slope", "calibration_distance")
WITHIN = ("class_distance", "auroc")
SCORES = ("psi", "ks", "wasserstein", "midpoint")
EVIDENCE: dict[Kind, tuple[str, ...]] = {
    "prior": ("prevalence",),
    "covariate": (*SCORES, *WITHIN),
    "concept": (*OUTCOMES, *WITHIN, "smauc", "smroc_distance"),
}
SIZES = {
    "prevalence": "share of positives",
    "auroc": "AUROC",
    "ks": "KS distance",
    "calibration": "share of positives at the same score",
}


@dataclass(frozen=True)
class Change:
    """A measure of drift with its p-value, plain and adjusted for the number of tests.

    `by_chance` is the quantile, at `level`, of the size in random splits of the rows; `needed` is the size
    from which on a change is significant among so many tests. `least` says that no replicate was as large:
    the p-values are upper limits.
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
        """Whether the change is significant after adjustment for all tests."""
        return self.p_adjusted < 1 - self.estimate.level

    @property
    def clearness(self) -> tuple[float, float]:
        """To sort by: the smallest adjusted p-value first, then the largest size relative to chance."""
        return self.p_adjusted, -abs(self.value) / self.by_chance if self.by_chance else -math.inf

    @property
    def size(self) -> str:
        """The value in words, with its sign where it has a direction."""
        sign = "+" if self.statistic.signed and self.value > 0 else ""
        return f"{sign}{number(self.value)}"

    def in_words(self) -> str:
        """The size, that of random splits, and the p-value, as a sentence."""
        p = p_phrase(self.p_adjusted, least=self.least)
        return (
            f"{self.statistic.title} {self.size}; {percent(self.estimate.level)} of random splits stay "
            f"within {number(self.by_chance)} ({p} after Holm)."
        )

    def __repr__(self) -> str:
        if math.isnan(self.p):
            return repr(self.estimate)
        p, adjusted = (rounded_up(x) if self.least else x for x in (self.p, self.p_adjusted))
        sign = "≤" if self.least else "="
        return f"{self.estimate}, p {sign} {number(p)} ({number(adjusted)} adjusted)"


@dataclass(frozen=True)
class Settings:
    """Settings of tests and intervals.

    Windows in which `pilot` replicates show nothing near significance are not given more of them.
    """

    level: float = 0.95
    seed: int = 0
    replicates: int = 999
    midpoint: str | float = "mean"
    cells: int = 1024
    tests: int = 13
    pilot: int = 0


def changes(
    a: Sample, b: Sample, s: Settings, *, tested: bool = True, intervals: bool = True
) -> dict[str, Change]:
    """Each change between the samples, with its p-value, not yet adjusted.

    Values are of the scores as they are. P-values and intervals are of the same statistics on at most
    1,024 cells of pooled scores. Where nothing is `tested`, only changes that have a direction are found.
    """
    both = a.labelled and b.labelled
    x = split(a.tally, b.tally, labelled=both, midpoint=s.midpoint)
    measures = [m for m in STATISTICS if m.signed or tested]
    measures = [m for m in measures if not (both and "no labels" in m.needs)]
    why = {m.name: _why_not(m, a, b, s.midpoint) for m in measures}
    made: dict[str, Change] = {}
    defined = sorted((m for m in measures if not why[m.name]), key=lambda m: m.held)
    for k, (held, group) in enumerate(groupby(defined, key=lambda m: m.held)):
        members = list(group)
        signed = [m for m in members if m.signed]
        exact, few = (strata(x),) * 2 if held == "score" else (x, pool(x, s.cells))
        pooled = few.with_weight(few.weight[:, :, None])  # as a single replicate
        # the same replicates for all members
        rng = np.random.default_rng([s.seed, k] if tested else s.seed)
        null = _replicates(members, partial(permuted, few, held, rng=rng), s.replicates * tested)
        resamples = min(s.replicates, _RESAMPLES) if tested else _RESAMPLES
        drawn = _replicates(signed, partial(bootstrapped, few, rng=rng), resamples * intervals)
        for m in members:
            value, centre = float(m.of(exact)), float(m.of(pooled)[0])
            e = _estimate(m, value, centre, drawn.get(m.name), s.level)
            e = _newcombe(e, a, b) if m.name == "prevalence" else e
            made[m.name] = _change(m, e, centre, null.get(m.name), s)
    return {
        m.name: made.get(m.name) or Change(m, Estimate.undefined(why[m.name], s.level))
        for m in measures
    }


def _why_not(m: Statistic, a: Sample, b: Sample, midpoint: str | float) -> str:
    """Why a statistic has no value, or nothing."""
    by_class = midpoint in ("balanced", "median") and "no labels" not in m.needs
    for sample in (a, b):
        t, of = sample.tally, f"in the {sample.name} sample"
        if not len(t.score):
            return f"no rows {of}"
        if m.needs & {"labels", "classes"} and not sample.labelled:
            return f"no labels {of}"
        if "classes" in m.needs and t.why_not_ranked:
            return f"{t.why_not_ranked} {of}"
        if "probability" in m.needs and t.kind == "score":
            return "the scores are not probabilities"
        if "unit" in m.needs and by_class and (not sample.labelled or t.why_not_ranked):
            return f'the midpoint "{midpoint}" needs both classes {of}'
        if "unit" in m.needs and (why := why_not_unit(t)):
            return why
    fixed = "moving midpoint" in m.needs and not isinstance(midpoint, str)
    return "the midpoint is fixed" if fixed else ""


def _replicates(
    members: Sequence[Statistic], draw: Callable[[int], Split], many: int
) -> dict[str, Floats]:
    """Values of the statistics on many replicates, drawn in batches; empty where there are none."""
    if not many or not members:
        return {}
    batches = []
    for part in np.array_split(np.arange(many), -(-many // _BATCH)):
        x = draw(len(part))
        # a sample of few weighted rows may get none; then there is no value, which counts as large
        batches.append([m.of(x) for m in members])
    columns = map(np.concatenate, zip(*batches, strict=True))
    return dict(zip((m.name for m in members), columns, strict=True))


def _estimate(
    m: Statistic, value: float, centre: float, drawn: Floats | None, level: float
) -> Estimate:
    """The value with the percentile interval of pooled cells, shifted to the exact value."""
    if not math.isfinite(value):
        return Estimate.undefined(m.otherwise, level)
    if drawn is None or not len(known := drawn[np.isfinite(drawn)]):
        return Estimate(value, level=level)
    tails = (1 - level) / 2, (1 + level) / 2
    low, high = (float(q) for q in np.quantile(known, tails) - centre + value)
    low, high = min(low, value), max(high, value)
    if high - low < 1e-12 * max(1.0, abs(value)):  # what rounding leaves
        low = high = value
    return Estimate(value, low, high, level, "bootstrap of cells")


def _change(m: Statistic, e: Estimate, centre: float, null: Floats | None, s: Settings) -> Change:
    """The permutation test of a statistic, by its value on pooled cells, `centre`.

    p = (1 + number of replicates with |T*| >= |T|) / (1 + replicates); a replicate without a value counts
    as large.
    """
    if null is None or not e.defined:
        return Change(m, e)
    sizes = np.where(np.isnan(null), np.inf, np.abs(null))
    strict = 1 - (1 - s.level) / s.tests  # the level after adjustment for all tests
    by_chance, needed = (float(np.quantile(sizes, q, method="higher")) for q in (s.level, strict))
    # a little less, because sums of the same numbers in another order are rounded otherwise
    p = resampling_p(sizes, abs(centre) * (1 - 1e-9) - 1e-14)
    return Change(m, e, p, p, by_chance, needed, least=p * (1 + len(sizes)) < 1.5)


def _newcombe(e: Estimate, a: Sample, b: Sample) -> Estimate:
    """The difference of two shares with Newcombe's (1998) interval."""
    if not e.defined:
        return e
    current, reference = (
        np.array(wilson(t.positives, t.negatives, *t.squares[::-1], e.level))
        for t in (b.tally, a.tally)
    )
    _, low, high, _ = mover(current, reference, 0.0, e.level)
    return Estimate(e.value, float(low), float(high), e.level, "Newcombe")


class Window(dict[str, Change]):
    """The changes of one sample against the reference, each by its name, and the verdict on them.

    `kind` is the kind of drift in a word or two, `verdict` says so in sentences, and `evidence` is the
    strongest evidence, empty where no drift was seen. The p-values of the changes are adjusted; `untested`
    says why none could be significant.
    """

    kind: Kind
    evidence: str = ""

    def __init__(
        self, sample: Sample, changes: Mapping[str, Change], labelled: bool, untested: str = ""
    ) -> None:
        super().__init__(changes)
        self.sample, self.name = sample, sample.name
        tested = [c for c in self.values() if not math.isnan(c.p)]
        self.seen = seen = [c for c in tested if c.seen]
        if not tested or untested:
            self.kind = "untested"
            why = untested or next(iter(self.values())).estimate.why
            self.claims = [claim("change", "untested", f"Nothing could be tested: {why}.")]
        elif not seen:
            self.kind = "none seen"
            self.claims = [*self._none_seen(len(tested))]
        else:
            self.kind = self._kind() if labelled else "scores"
            telling = [c for c in seen if c.statistic.name in EVIDENCE.get(self.kind, ())]
            strongest = min(telling or seen, key=lambda c: c.clearness)
            self.evidence = strongest.in_words()
            rests_on = [figure(strongest.statistic.name, strongest.estimate)]
            self.claims = [
                claim("change", self.kind, SENTENCES[self.kind]),
                *self._remark(),
                claim("change", "evidence", f"Strongest evidence: {self.evidence}", rests_on),
            ]
        self.verdict = " ".join(c.sentence for c in self.claims)

    def __missing__(self, name: str) -> Change:
        raise KeyError(f"no change is named {name}; there are {', '.join(self)}")

    def __repr__(self) -> str:
        return f"<Window {plain(self.name)}: {self.kind}>"

    def _kind(self) -> Kind:
        """The kind of drift, given that there is some.

        A prior shift leaves the scores within classes as they were, a covariate shift what a score means;
        the joint distribution cannot change without one of these, or the scores altogether, changing.
        """
        outcomes, within, scores, prior = map(
            self._significant, (OUTCOMES, WITHIN, SCORES, ("prevalence",))
        )
        if outcomes:
            return "prior" if prior and not within else "concept"
        if within:
            return "covariate" if scores else "concept"
        return "unclear" if prior == scores else "prior" if prior else "covariate"

    def _significant(self, names: Sequence[str]) -> bool:
        """Whether any of a few changes is significant, adjusted for these few alone."""
        family = [self[name] for name in names if name in self]
        adjusted = zip(holm([c.p for c in family]), family, strict=True)
        return any(p < 1 - c.estimate.level for p, c in adjusted)

    def _remark(self) -> Iterator[Claim]:
        """What follows from the kind of drift, or how large a change would have to be."""
        estimated = self.get("estimated_prevalence")
        if self.kind == "scores" and estimated is not None and estimated.estimate.defined:
            text = (
                f"If only the share of positives has changed, it has changed by about "
                f"{estimated.size} (EM)."
            )
            figures = [figure("estimated_prevalence", estimated.estimate)]
            yield claim("change", "estimated prior", text, figures)
        elif self.kind == "covariate":
            size = self["calibration"].needed
            text = (
                f"A change in the share of positives at the same score would be significant from "
                f"{number(size)} on."
            )
            yield claim("data", "unseen", text, [figure("calibration", Estimate(size))])
        elif self.kind == "concept" and not self._significant(SCORES):
            text = (
                "The distribution of the scores shows no change: the outcomes have changed, or the way "
                "they are labelled (label noise)."
            )
            yield claim("change", "outcomes", text)
        elif self.kind == "concept" and not self._significant(("auroc",)):
            text = "Ranking shows no change, so recalibration may be enough."
            yield claim("repair", "calibration", text, [figure("auroc", self["auroc"].estimate)])

    def _none_seen(self, tests: int) -> Iterator[Claim]:
        text = f"No sign of drift in {tests} tests; that does not prove that there is none."
        yield claim("change", "none seen", text)
        needed = {name: self[name].needed for name in SIZES if name in self}
        sizes = {name: size for name, size in needed.items() if 0 < size < math.inf}
        if sizes:
            words = ", ".join(f"{SIZES[name]} {number(size)}" for name, size in sizes.items())
            text = f"With this many rows, only larger changes than these would be significant: {words}."
            yield claim("data", "unseen", text, [figure(n, Estimate(x)) for n, x in sizes.items()])
