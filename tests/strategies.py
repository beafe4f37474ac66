"""Random rows for property tests: ties, single classes, no rows, extreme scores, weights, counts."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

from scorewise import Tally

# several lie in one cell of the grids, some at the ends of what a float can say
PROBABILITIES = (0.0, -0.0, 1.0, 0.5, 1e-300, 5e-324, 1 - 1e-16, 1e-16, 1e-15, 1 - 1e-15, 0.1, 0.3)
LOGITS = (0.0, -0.0, 1e-300, -1e-300, 800.0, -800.0, 36.0, -36.0, 1.0, 1.0000001)
SCORES = (*LOGITS, 1e308, -1e308, -5e-324, 2.0, 2.0000001, -2.0, -2.0000001)
SPECIAL = {"probability": PROBABILITIES, "logit": LOGITS, "score": SCORES}


@dataclass(frozen=True)
class Case:
    """Rows as a caller would pass them."""

    y: Any
    s: Any
    kind: str
    weight: Any = None
    count: Any = None

    @property
    def columns(self) -> dict[str, Any]:
        given = {"y": self.y, "s": self.s, "weight": self.weight, "count": self.count}
        return {name: column for name, column in given.items() if column is not None}

    @cached_property  # so that measures share their passes, as they do in a result
    def tally(self) -> Tally:
        return Tally.of(**self.columns, kind=self.kind)

    def rows(self, which: Any) -> "Case":
        """Some of the rows, or all in another order."""
        return replace(self, **{name: column[which] for name, column in self.columns.items()})

    def __len__(self) -> int:
        return len(self.y)


def _ordinary(kind: str) -> st.SearchStrategy[float]:
    if kind == "probability":
        near = st.floats(0.49999, 0.50001)
        return st.floats(0.0, 1.0) | near
    return st.floats(-8.0, 8.0) | st.floats(0.99999, 1.00001)


@st.composite
def cases(
    draw: Any, *, least: int = 0, most: int = 24, weighted: bool | None = None, kind: str = ""
) -> Case:
    """Rows with many ties; `weighted` says whether they have weights, None leaves it to chance."""
    chosen = kind or draw(st.sampled_from(("probability", "logit", "score")))
    pool = draw(
        st.lists(st.sampled_from(SPECIAL[chosen]) | _ordinary(chosen), min_size=1, max_size=8)
    )
    n = draw(st.integers(least, most))
    at = draw(st.lists(st.integers(0, len(pool) - 1), min_size=n, max_size=n))
    y = draw(st.lists(st.booleans(), min_size=n, max_size=n) | st.sampled_from([True, False]))
    y = np.full(n, y) if isinstance(y, bool) else np.array(y, bool)
    dtype = draw(st.sampled_from((np.float64, np.float64, np.float32)))
    limit = float(np.finfo(dtype).max)
    s = np.clip(np.array(pool), -limit, limit).astype(dtype)[at]
    case = Case(y, s, chosen)
    if weighted is None:
        weighted = draw(st.booleans())
    if not weighted or not n:
        return case
    amounts = st.sampled_from((1.0, 2.0, 0.1, 0.3, 7.0)) | st.floats(0.01, 100.0)
    weight = np.array(draw(st.lists(amounts | st.just(0.0), min_size=n, max_size=n)))
    weight[0] = draw(amounts)
    return replace(case, weight=weight)


@st.composite
def crowded(draw: Any) -> Case:
    """Rows of which several scores share a cell of either grid, in any order within it."""
    n = draw(st.integers(2, 16))
    base = np.array(draw(st.lists(st.sampled_from((0.3, 0.5000001, 0.7)), min_size=n, max_size=n)))
    step = np.array(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
    y = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)), bool)
    case = Case(y, base + step * 1e-7, "probability")
    if draw(st.booleans()):
        weight = draw(st.lists(st.sampled_from((0.5, 1.0, 2.0, 7.0)), min_size=n, max_size=n))
        case = replace(case, weight=np.array(weight))
    return case


@st.composite
def shards(draw: Any, case: Case, most: int = 4) -> list[Case]:
    """The rows of a case dealt out to a few parts, some of which may get none."""
    n = len(case)
    part = np.array(draw(st.lists(st.integers(0, most - 1), min_size=n, max_size=n)), int)
    if case.weight is not None:  # a part of which no row weighs anything is refused
        part[case.weight == 0] = part[0]
    return [case.rows(np.flatnonzero(part == k)) for k in range(most)]
