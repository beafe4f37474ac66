"""Random rows of several classes: ties, absent classes, no rows, certain rows, weights."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

from scorewise import ClassTally


@dataclass(frozen=True)
class Case:
    """Rows as a caller would pass them; labels are the numbers of the columns."""

    y: Any
    p: Any
    weight: Any = None
    count: Any = None

    @property
    def columns(self) -> dict[str, Any]:
        given = {"y": self.y, "p": self.p, "weight": self.weight, "count": self.count}
        return {name: column for name, column in given.items() if column is not None}

    @cached_property  # so that measures share their passes, as they do in a result
    def tally(self) -> ClassTally:
        further = {name: c for name, c in self.columns.items() if name not in ("y", "p")}
        return ClassTally.of(self.y, self.p, classes=range(self.p.shape[1]), **further)

    def rows(self, which: Any) -> "Case":
        """Some of the rows, or all in another order."""
        return replace(self, **{name: column[which] for name, column in self.columns.items()})

    def __len__(self) -> int:
        return len(self.y)


@st.composite
def cases(draw: Any, *, least: int = 0, most: int = 20, weighted: bool | None = None) -> Case:
    """Rows with ties; `weighted` says whether they have weights, None leaves it to chance."""
    k, n = draw(st.integers(2, 4)), draw(st.integers(least, most))
    parts = st.lists(st.integers(0, 8) | st.sampled_from((0, 1000)), min_size=k, max_size=k)
    pool = np.array(draw(st.lists(parts.filter(any), min_size=1, max_size=6)), float)
    pool /= pool.sum(1, keepdims=True)
    at = draw(st.lists(st.integers(0, len(pool) - 1), min_size=n, max_size=n))
    used = draw(st.lists(st.integers(0, k - 1), min_size=1, max_size=k))
    y = np.array(draw(st.lists(st.sampled_from(used), min_size=n, max_size=n)), int)
    case = Case(y, pool[at].reshape(n, k))
    if weighted is None:
        weighted = draw(st.booleans())
    if not weighted or not n:
        return case
    amounts = st.sampled_from((1.0, 2.0, 0.1, 0.3, 7.0)) | st.floats(0.01, 100.0)
    weight = np.array(draw(st.lists(amounts | st.just(0.0), min_size=n, max_size=n)))
    weight[0] = draw(amounts)
    return replace(case, weight=weight)


@st.composite
def shards(draw: Any, case: Case, most: int = 3) -> list[Case]:
    """The rows of a case dealt out to a few parts, some of which may get none."""
    n = len(case)
    part = np.array(draw(st.lists(st.integers(0, most - 1), min_size=n, max_size=n)), int)
    if case.weight is not None:  # a part of which no row weighs anything is refused
        part[case.weight == 0] = part[0]
    return [case.rows(np.flatnonzero(part == k)) for k in range(most)]


def drawn(seed: int, n: int, k: int, weighted: str = "no", digits: int = 15) -> Case:
    """Seeded rows of which every class has some, with whole, broken or no weights."""
    rng = np.random.default_rng([seed, n, k])
    y = rng.permutation(np.concatenate([np.arange(k), np.arange(k), rng.integers(0, k, n - 2 * k)]))
    z = rng.normal(0, 1, (n, k)) + 1.2 * (y[:, None] == np.arange(k))
    p = np.exp(z).round(digits) + 1e-3
    weight = {"no": None, "whole": rng.integers(1, 5, n) * 1.0, "broken": rng.uniform(0.1, 5, n)}
    return Case(y, p / p.sum(1, keepdims=True), weight[weighted])
