"""Bounds of what simulations of few runs may find."""

from scipy.stats import binom


def held_often(held: float, runs: int, share: float = 0.95) -> bool:
    """Whether so few of all runs have a chance above 1 in 1,000, if each is held with that chance."""
    return bool(binom.cdf(round(held), runs, share) > 0.001)
