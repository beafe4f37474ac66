"""One confidence judged on some answers, and how that depends on when an answer counts as correct."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from scorewise.answering.measures import ALL, SHOWN
from scorewise.answering.sample import Sample, thresholds
from scorewise.answering.settings import Settings
from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.estimate import Estimate
from scorewise.tallies import Tally


@dataclass(frozen=True, eq=False)
class TauCurve:
    """A measure at each threshold `tau` of quality, with pointwise intervals.

    Where it is undefined, as where all answers are correct, `value` is NaN and the estimate says why.
    `exact` says that no answer turns wrong between two of the thresholds.
    """

    measure: str
    tau: Floats
    estimates: tuple[Estimate, ...]
    exact: bool

    @property
    def value(self) -> Floats:
        """The values."""
        return np.array([e.value for e in self.estimates])

    @property
    def low(self) -> Floats:
        """The lower ends of the intervals."""
        return np.array([e.low for e in self.estimates])

    @property
    def high(self) -> Floats:
        """The upper ends of the intervals."""
        return np.array([e.high for e in self.estimates])

    def __repr__(self) -> str:
        said = [f"  {t:<6.4g} {e}" for t, e in zip(self.tau, self.estimates, strict=True)]
        return "\n".join([f"{self.measure} over tau", *said])


class Judged(Mapping[str, Estimate]):
    """Each measure of a confidence as an attribute and by its name: `j.ece`, `j["ece"]`.

    They are made when they are first asked for. Besides those listed, any measure of a tally in
    `sw.measures` is there: the tally is that of the confidence against whether the answer is correct.
    """

    def __init__(
        self,
        sample: Sample,
        settings: Settings,
        _made: dict[tuple[str, int], Estimate] | None = None,
    ) -> None:
        self.sample, self.settings = sample, settings
        self._made: dict[tuple[str, int], Estimate] = {} if _made is None else _made

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
        return Judged(self.sample, replace(self.settings, tau=tau), self._made)

    def curve(self, measure: str, taus: Sequence[float] | None = None) -> TauCurve:
        """A measure at each of these thresholds; else at each distinct quality, or at 0, 0.05 to 0.95."""
        if measure not in ALL:
            raise BadInput(unknown(measure))
        chosen = thresholds(self.sample.quality) if taus is None else tuple(taus)
        if not chosen:
            raise BadInput("taus is empty; give one threshold or more, such as 0.5")
        found = tuple(self.at(tau)[measure] for tau in chosen)
        inside = self.sample.quality[
            (self.sample.quality > min(chosen)) & (self.sample.quality < 1)
        ]
        exact = bool(np.isin(inside, chosen).all())
        return TauCurve(measure, np.array(chosen, np.float64), found, exact)

    def __getitem__(self, name: str) -> Estimate:
        if name not in ALL:
            raise KeyError(unknown(name))
        m = ALL[name]
        key = name, self.sample.correct(self.settings.tau) if m.needs_tau else -1
        if key not in self._made:
            self._made[key] = m.function(self.sample, self.settings)
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        return iter(SHOWN)

    def __len__(self) -> int:
        return len(SHOWN)

    def __getattr__(self, name: str) -> Estimate:
        if name.startswith("_") or name not in ALL:
            raise AttributeError(unknown(name))
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *ALL]

    def __repr__(self) -> str:
        return f"<Judged: {self.answers:,} answers, ECE {self['ece']}>"


def unknown(name: str) -> str:
    """What to say of a measure that is not there."""
    return f"no measure of answers is named {name}; there are {', '.join(sorted(ALL))}"
