"""One confidence judged on some answers: at any threshold of quality, and for each group."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from scorewise.answering.measures import (
    ALL,
    OF_QUALITY,
    SHOWN,
    WITHOUT_TAU,
    Sample,
    by_cluster,
    thresholds,
)
from scorewise.answering.rows import AnswerRows
from scorewise.arrays import Floats
from scorewise.checks import check
from scorewise.errors import BadInput, plain
from scorewise.estimate import Estimate
from scorewise.registry import unknown
from scorewise.show.estimates import Repeatable
from scorewise.show.fields import Weight, means, says
from scorewise.tallies import Tally

WHY = {
    "no rows": "no answers",
    "no positives": "no answer is correct",
    "no negatives": "every answer is correct",
}
WHAT = "measure of answers"
Tau: TypeAlias = Annotated[Weight, says("An answer is correct when its quality is above this.")]


class Settings(Repeatable):
    """The settings that the numbers depend on."""

    tau: Tau = 0.5
    bins: int = means("Bins of equal width that ECE has.", ge=1, default=15)

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
        lines = (f"  {t:<6.4g} {e}" for t, e in zip(self.tau, self.estimates, strict=True))
        return "\n".join([f"{self.measure} over tau", *lines])


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
        self._made = {} if _made is None else _made

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
            raise BadInput(unknown(measure, ALL, WHAT))
        chosen = thresholds(self.sample.quality) if taus is None else tuple(taus)
        if not chosen:
            raise BadInput("taus is empty; give one threshold or more, such as 0.5")
        found = tuple(self.at(tau)[measure] for tau in chosen)
        q = self.sample.quality
        exact = bool(np.isin(q[(q > min(chosen)) & (q < 1)], chosen).all())
        return TauCurve(measure, np.array(chosen, np.float64), found, exact)

    def __getitem__(self, name: str) -> Estimate:
        if name not in ALL:
            raise KeyError(unknown(name, ALL, WHAT))
        s = self.settings
        key = name, -1 if name in WITHOUT_TAU else self.sample.correct(s.tau)
        if key not in self._made:
            options = {"level": s.level, "seed": s.seed, "bins": s.bins}
            e = ALL[name].under(options, self.sample if name in OF_QUALITY else self.tally)
            e = by_cluster(e, name, self.sample, s)
            self._made[key] = replace(e, why=WHY.get(e.why, e.why))
        return self._made[key]

    def __iter__(self) -> Iterator[str]:
        return iter(SHOWN)

    def __len__(self) -> int:
        return len(SHOWN)

    def __getattr__(self, name: str) -> Estimate:
        if name.startswith("_") or name not in ALL:
            raise AttributeError(unknown(name, ALL, WHAT))
        return self[name]

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *ALL]

    def __repr__(self) -> str:
        return f"<Judged: {self.answers:,} answers, ECE {self['ece']}>"


class Part(dict[str, Judged]):
    """Some answers, judged by each confidence that any of them has: `part["stated"].ece`.

    Where there is one confidence, `part.ece` and `part["ece"]` are its measures.
    """

    def __init__(
        self, rows: AnswerRows, settings: Settings, at: NDArray[np.intp] | None = None
    ) -> None:
        self.rows, self.settings = rows, settings
        made = {name: Judged(Sample.of(rows, name, at), settings) for name in rows.confidence}
        super().__init__({name: j for name, j in made.items() if j.answers or at is None})

    def __missing__(self, name: str) -> Any:
        if name in ALL:
            return self._only(name)[name]
        raise KeyError(
            f"no confidence or measure is named {name}; confidences are {', '.join(self)}"
        )

    def __getattr__(self, name: str) -> Estimate:
        if name.startswith("_") or name not in ALL:
            raise AttributeError(unknown(name, ALL, WHAT))
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
