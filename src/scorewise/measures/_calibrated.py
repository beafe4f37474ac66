"""What the measures of calibration share: when they are defined, and how they become estimates."""

from __future__ import annotations

from scorewise.estimate import Estimate
from scorewise.intervals.inversion import Inverted, Noise
from scorewise.intervals.scales import z
from scorewise.tallies import Tally
from scorewise.tallies.bins import equal_mass
from scorewise.tallies.chances import Chances, chances, why_not_probable
from scorewise.tallies.once import kept

REPLICATES = 1000
FEWER = 300  # for measures of a hundred cells, each of which takes long
METHOD = "inverted consistency test"
_CELLS = 100


def lacking(t: Tally, level: float) -> str:
    """Why there is no calibration to judge, or nothing; refuses a level that means nothing."""
    z(level)
    return why_not_probable(t)


def noise_of(c: Chances, seed: int, replicates: int = REPLICATES) -> Noise:
    """Replicates of the gaps of these cells, drawn once and kept with them."""
    return kept(c, ("noise", seed, replicates), lambda: Noise(c, replicates, seed))


def path_noise(t: Tally, seed: int) -> Noise:
    """Replicates on about a hundred cells of equal mass, for measures that need no bins."""
    c = chances(t)
    few = kept(t, "path", lambda: c.joined(equal_mass(c, _CELLS)))
    return noise_of(few, seed, FEWER)


def calibrated(
    found: Inverted,
    level: float,
    *,
    bound: float = 0.0,
    bounds: tuple[float, float] = (0.0, 1.0),
    how: str = METHOD,
    caution: str = "",
) -> Estimate:
    """The estimate, within the bounds of the measure."""
    least, most = bounds
    value = min(max(found.value, least), most)
    low = max(least, min(found.low, value) - bound)
    high = min(most, max(found.high, value) + bound)
    given = found.expected, found.p, caution
    return Estimate(value, low, high, level, how, "", bound, None, *given)
