"""Random ratings: raters who miss items, constant raters, no items, counts and weights."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

from scorewise import Ratings


@dataclass(frozen=True)
class RaterCase:
    """Items x raters of the numbers 1 to `many`, NaN where an item was not rated."""

    x: Any
    many: int
    scale: str = "nominal"
    weight: Any = None
    count: Any = None

    @cached_property  # so that measures share their passes, as they do in a result
    def ratings(self) -> Ratings:
        columns = {f"rater{k}": self.x[:, k] for k in range(self.x.shape[1])}
        return Ratings.of(
            columns, scale=self.scale, categories=list(range(1, self.many + 1)),
            weight=self.weight, count=self.count,
        )  # fmt: skip

    @property
    def both(self) -> Any:
        """The items that everybody rated."""
        return self.x[~np.isnan(self.x).any(1)]

    def rows(self, which: Any) -> "RaterCase":
        """Some of the items, or all in another order."""
        further = {k: getattr(self, k) for k in ("weight", "count")}
        taken = {k: v[which] for k, v in further.items() if v is not None}
        return replace(self, x=self.x[which], **taken)

    def __len__(self) -> int:
        return len(self.x)


def rater_case(
    seed: int, n: int, raters: int, many: int, missing: float = 0.2, scale: str = "nominal"
) -> RaterCase:
    """Seeded ratings that agree somewhat; every category is said, every item is rated."""
    rng = np.random.default_rng([seed, n, raters, many])
    truth = rng.integers(1, many + 1, (n, 1))
    x = np.where(
        rng.random((n, raters)) < 0.6, truth, rng.integers(1, many + 1, (n, raters))
    ).astype(float)
    x[rng.random(x.shape) < missing] = np.nan
    x[:many, 0] = np.arange(1, many + 1)
    x[:3, 1] = 1.0, 2.0, 1.0
    return RaterCase(x[~np.isnan(x).all(1)], many, scale)


@st.composite
def rater_cases(draw: Any, *, least: int = 0, weighted: bool | None = None) -> RaterCase:
    """Few items; `weighted` says whether they have weights, None leaves it to chance."""
    n, raters, many = draw(st.integers(least, 8)), draw(st.integers(2, 4)), draw(st.integers(2, 4))
    scale = draw(st.sampled_from(("nominal", "ordinal", "interval", "ratio")))
    one = st.integers(1, many) | st.sampled_from((1, float("nan")))
    x = draw(st.lists(st.lists(one, min_size=raters, max_size=raters), min_size=n, max_size=n))
    case = RaterCase(np.array(x, float).reshape(n, raters), many, scale)
    if weighted is None:
        weighted = draw(st.booleans())
    if not weighted or not n:
        return case
    amounts = st.sampled_from((1.0, 2.0, 0.1, 0.3, 7.0)) | st.floats(0.01, 100.0)
    return replace(case, weight=np.array(draw(st.lists(amounts, min_size=n, max_size=n))))


@st.composite
def rater_shards(draw: Any, case: RaterCase, most: int = 3) -> list[RaterCase]:
    """The items of a case dealt out to a few parts, some of which may get none."""
    part = np.array(
        draw(st.lists(st.integers(0, most - 1), min_size=len(case), max_size=len(case))), int
    )
    return [case.rows(np.flatnonzero(part == k)) for k in range(most)]
