"""What holds of every measure, be it of rows, of classes or of raters."""

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scorewise import Estimate

tries = settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MOST = 7  # measures that are held against the same draws


class Drawn:
    """What Hypothesis draws, the same for one measure after the other: drawing takes most of the time."""

    def __init__(self, data: Any) -> None:
        self._data, self._values, self._at = data, [], 0

    def again(self) -> "Drawn":
        """The same from the beginning."""
        self._at = 0
        return self

    def draw(self, strategy: Any) -> Any:
        if self._at == len(self._values):
            self._values.append(self._data.draw(strategy))
        self._at += 1
        return self._values[self._at - 1]


def law_of(measures: Mapping[str, Any]) -> Callable[[Any], Any]:
    """A test `law(m, data)` of each measure, a few of them on the same draws; a failure names which."""
    names = list(measures)
    parts = [names[at : at + MOST] for at in range(0, len(names), MOST)]

    def made(law: Any) -> Any:
        def test(names: Iterable[str], data: Any) -> None:
            drawn = Drawn(data)
            for name in names:
                try:
                    law(measures[name], drawn.again())
                except AssertionError as e:
                    e.add_note(f"of {name}")
                    raise

        test.__module__, test.__doc__ = law.__module__, law.__doc__
        test.__name__ = test.__qualname__ = law.__name__
        each = pytest.mark.parametrize("names", parts, ids=[f"{x[0]}-{x[-1]}" for x in parts])
        return each(tries(given(data=st.data())(test)))

    return made


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
