"""One confidence judged on some answers: at any threshold of quality, and for each group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias

import numpy as np

from scorewise.answering.measures import (
    ALL_MEASURES,
    MEANS,
    OF_QUALITY,
    PAGE_MEASURES,
    Sample,
    thresholds,
)
from scorewise.answering.rows import AnswerRows
from scorewise.arrays import Floats, Ints
from scorewise.checks import check
from scorewise.computing import cached
from scorewise.errors import BadInput, plain
from scorewise.estimate import Estimate
from scorewise.inference.influence import clustered, row_influence
from scorewise.inference.means import widened_mean
from scorewise.registry import Measured, unknown
from scorewise.show.records import Repeatable, Weight, doc, field
from scorewise.tallies import Tally

WHY = {
    "no rows": "no answers",
    "no positives": "no answer is correct",
    "no negatives": "every answer is correct",
}
Tau: TypeAlias = Annotated[Weight, doc("An answer is correct when its quality is above this.")]


class Settings(Repeatable):
    """The settings that the numbers depend on."""

    tau: Tau = 0.5
    bins: int = field("Bins of equal width that ECE has.", ge=1, default=15)

    def __post_init__(self) -> None:
        check(**vars(self))


@dataclass(frozen=True, eq=False)
class TauCurve:
    """A measure at each threshold `tau` of quality, with pointwise intervals.

    Where it is undefined, as where all answers are correct, `value` is NaN and the estimate says why.
    `exact` says that no answer turns wrong between two of the thresholds.
    """

    measure: str
    tau: Floats
    value: Floats
    low: Floats
    high: Floats
    estimates: tuple[Estimate, ...]
    exact: bool

    def __repr__(self) -> str:
        lines = (f"  {t:<6.4g} {e}" for t, e in zip(self.tau, self.estimates, strict=True))
        return "\n".join([f"{self.measure} over tau", *lines])


class Judged(Measured):
    """Each measure of a confidence as an attribute and by its name: `j.ece`, `j["ece"]`.

    They are made when they are first asked for. Besides those listed, any measure of a tally in
    `sw.measures` is there: the tally is that of the confidence against whether the answer is correct.
    """

    _what = "measure of answers"

    def __init__(self, sample: Sample, settings: Settings) -> None:
        options = {n: getattr(settings, n) for n in ("level", "seed", "bins")}
        super().__init__(ALL_MEASURES, {**options, "clip": None})
        self.sample, self.settings = sample, settings
        # thresholds of which as many answers are correct share what was made
        known = ("measures", *options.values(), sample.correct(settings.tau))
        self._made = cached(sample, known, lambda: self._made)

    @property
    def answers(self) -> int:
        """How many answers have this confidence."""
        return len(self.sample)

    @property
    def tally(self) -> Tally:
        """The confidence against whether the answer is correct."""
        return self.sample.tally(self.settings.tau)

    def at(self, tau: float) -> Judged:
        """The same with another threshold of quality."""
        return Judged(self.sample, replace(self.settings, tau=tau))

    def curve(self, measure: str, taus: Sequence[float] | None = None) -> TauCurve:
        """A measure at each of these thresholds; else at each distinct quality, or at 0, 0.05 to 0.95."""
        if measure not in ALL_MEASURES:
            raise BadInput(self._unknown(measure))
        chosen = thresholds(self.sample.quality) if taus is None else tuple(taus)
        if not chosen:
            raise BadInput("taus is empty; give one threshold or more, such as 0.5")
        estimates = tuple(self.at(tau)[measure] for tau in chosen)
        at = np.array([(t, e.value, e.low, e.high) for t, e in zip(chosen, estimates, strict=True)])
        q = self.sample.quality
        exact = bool(np.isin(q[(q > min(chosen)) & (q < 1)], chosen).all())
        return TauCurve(measure, at[:, 0], at[:, 1], at[:, 2], at[:, 3], estimates, exact)

    def _make(self, name: str) -> Estimate:
        s, m = self.sample, ALL_MEASURES[name]
        e = m.under(self._options, s if name in OF_QUALITY else self.tally)
        if s.cluster is not None and len(s):
            if name in MEANS:
                e = widened_mean(e, self._values(name), s.mass, s.cluster, m.bounds)
            else:
                rows = s.rows(self.settings.tau)
                e = clustered(e, m, rows, self.tally, self._options, s.cluster)
        return replace(e, why=WHY.get(e.why, e.why))

    def _values(self, name: str) -> Floats:
        """What each answer adds to a mean."""
        right = (self.sample.quality > self.settings.tau).astype(np.float64)
        return MEANS[name](self.sample, right)

    def influence(self, name: str) -> Floats:
        """What each answer does to a measure, times its weight."""
        s = self.sample
        if name in MEANS:
            x, total = self._values(name), float(s.mass.sum())
            return np.asarray(s.mass * (x - float((s.mass * x).sum()) / total) / total)
        moved = row_influence(
            ALL_MEASURES[name], s.rows(self.settings.tau), self.tally, self._options
        )
        return np.zeros(len(s)) if moved is None else s.mass * moved

    def __iter__(self) -> Iterator[str]:
        return iter(PAGE_MEASURES)

    def __len__(self) -> int:
        return len(PAGE_MEASURES)

    def __repr__(self) -> str:
        return f"<Judged: {self.answers:,} answers, ECE {self['ece']}>"


class Part(dict[str, Judged]):
    """Some answers, judged by each confidence that any of them has: `part["stated"].ece`.

    Where there is one confidence, `part.ece` and `part["ece"]` are its measures.
    """

    def __init__(self, rows: AnswerRows, settings: Settings, at: Ints | None = None) -> None:
        self.rows, self.settings = rows, settings
        made = {name: Judged(Sample.of(rows, name, at), settings) for name in rows.confidence}
        super().__init__({name: j for name, j in made.items() if j.answers or at is None})

    def __missing__(self, name: str) -> Any:
        if name in ALL_MEASURES:
            return self._only(name)[name]
        raise KeyError(
            f"no confidence or measure is named {name}; confidences are {', '.join(self)}"
        )

    def __getattr__(self, name: str) -> Estimate:
        if name.startswith("_") or name not in ALL_MEASURES:
            raise AttributeError(unknown(name, ALL_MEASURES, Judged._what))
        try:
            return self._only(name)[name]
        except BadInput as error:
            raise AttributeError(str(error)) from None

    def curve(self, measure: str, taus: Sequence[float] | None = None) -> TauCurve:
        """A measure over the threshold of quality; see `Judged.curve`."""
        return self._only(f"curve('{measure}')").curve(measure, taus)

    def _only(self, wanted: str) -> Judged:
        first = next(iter(self), "")
        if len(self) != 1:
            raise BadInput(
                f"there are {len(self)} confidences, {', '.join(self)}; choose one, as in "
                f"['{first}'].{wanted}"
            )
        return self[first]

    def __repr__(self) -> str:
        each = (f"{plain(n)}: ECE {j['ece']} of {j.answers:,}" for n, j in self.items())
        return f"<Part: {'; '.join(each)}>"
