"""Figures in tests: drawn to the end, and closed."""

import matplotlib as mpl
import pytest

mpl.use("Agg")

from matplotlib import pyplot as plt


@pytest.fixture(autouse=True)
def closed():
    """Every figure is drawn to the end, which is when many mistakes show."""
    with mpl.rc_context():
        before = dict(mpl.rcParams)
        yield
        assert dict(mpl.rcParams) == before
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")
