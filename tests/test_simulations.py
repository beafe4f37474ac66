"""The posteriors of the simulations against the shares of their own draws."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))
simulations = pytest.importorskip("experiments.simulations")


@pytest.mark.parametrize("name", simulations.SIMULATIONS)
def test_posteriors_are_the_shares_of_the_classes(name):
    simulation = simulations.SIMULATIONS[name]
    x, y = simulation.sample(200_000, 0)
    p = simulation.posterior(x)[:, 1]
    for cells in (p, *x.T):  # by chance, and by place
        cut = np.quantile(cells, np.linspace(0, 1, 41)[1:-1])
        cell = np.searchsorted(cut, cells)
        count = np.bincount(cell, minlength=40)
        gap = (np.bincount(cell, y, 40) - np.bincount(cell, p, 40)) / count
        error = np.sqrt(np.bincount(cell, p * (1 - p), 40)) / count
        assert (np.abs(gap) < 4.5 * error + 1e-6).all()


def test_hellinger_distances():
    p = np.array([[1.0, 0.0], [0.5, 0.5]])
    assert simulations.hellinger(p, p) == 0
    assert simulations.hellinger(p[:1], p[:1, ::-1]) == 1
    assert simulations.hellinger(p[:1], p[1:]) == pytest.approx(np.sqrt(1 - np.sqrt(0.5)))
