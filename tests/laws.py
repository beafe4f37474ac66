"""What holds of every measure, be it of rows, of classes or of raters."""

import math

import numpy as np
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from scorewise import Estimate

tries = settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def orders(n: int):
    """Places of `n` rows, shuffled."""
    return st.permutations(range(n)).map(lambda order: np.array(order, int))


def counts(n: int):
    """How often each of `n` rows is there."""
    return st.lists(st.integers(0, 4), min_size=n, max_size=n).map(lambda c: np.array(c, int))


def check_defined_or_explained(m, e: Estimate) -> None:
    """There is a value or a reason why not, and all that is said lies within the measure's bounds."""
    assert bool(e.why) == (not math.isfinite(e.value))
    assert e.bound >= 0
    assert e.p is None or 0 <= e.p <= 1
    assert math.isnan(e.low) == math.isnan(e.high)
    if not e.defined:
        assert math.isnan(e.low)
        return
    least, most = m.bounds
    assert least <= e.value <= most
    if not math.isnan(e.low):
        assert least <= e.low <= e.value <= e.high <= most
        assert e.method


def check_nested(narrow: Estimate, usual: Estimate, wide: Estimate) -> None:
    """Of intervals at a low, the usual and a high level, each contains the one before."""
    assert narrow.value == wide.value or not narrow.defined
    if math.isnan(usual.low):
        return
    hair = 1e-12 * max([1.0, *(abs(x) for x in (usual.low, usual.high) if math.isfinite(x))])
    assert wide.low <= usual.low + hair
    assert usual.low <= narrow.low + hair
    assert narrow.high <= usual.high + hair
    assert usual.high <= wide.high + hair
