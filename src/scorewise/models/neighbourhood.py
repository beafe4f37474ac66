"""How near a row is to training rows: its density amid the nearest, and its gap to them in each feature."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, gammaln

from scorewise.arrays import Floats
from scorewise.errors import BadInput
from scorewise.models.input import as_frame, check_numbers, is_finite, is_whole

_NUMBERS = 50_000  # features of neighbours that are looked at together


def nearest(w: Any, count: int) -> tuple[NDArray[np.int64], Floats]:
    """Places and weights of the training rows with the largest weights in each row of `w`.

    Two arrays, rows by `count`; where a row has fewer, the rest have weight 0 and place 0. Of equal
    weights those of the first places count, whatever other rows are asked for: a place is written
    into the last bits of its weight, which are none that matter, so that one number tells both.
    """
    last = (1 << max(w.shape[1] - 1, 1).bit_length()) - 1
    sizes = np.diff(w.indptr)
    width = max(int(sizes.max(initial=0)), count)
    keys = np.zeros((len(sizes), width), dtype=np.int64)
    keys[np.arange(width) < sizes[:, None]] = (w.data.view(np.int64) & ~last) | (last - w.indices)
    keys.partition(width - count, axis=1)
    top = np.sort(keys[:, width - count :], axis=1)[:, ::-1]
    return np.where(top > 0, last - (top & last), 0), (top & ~last).view(float)


@dataclass(frozen=True)
class Neighbourhood:
    """Training rows, and how near other rows are to those that are nearest to them.

    Features are independent, each with a normal kernel. One that seldom leaves its usual value
    is known from few rows: its kernel has the tails of Student's t with that many degrees of freedom.
    Features that never do say nothing and are left out.
    """

    rows: Floats
    mean: Floats
    spread: Floats
    freedom: Floats
    used: NDArray[np.bool_]
    gaps: bool
    floor: float

    @classmethod
    def of(cls, rows: Any, *, floor: float = 0.05) -> Neighbourhood:
        """Of training rows (NaN where missing); variances fall to `floor` of a feature's at least."""
        rows = np.ascontiguousarray(rows, dtype=float)
        known = ~np.isnan(rows)
        count = np.maximum(known.sum(axis=0), 1)
        mean = np.where(known, rows, 0).sum(axis=0) / count
        spread = np.sqrt((np.where(known, rows - mean, 0) ** 2).sum(axis=0) / count)
        usual = np.sort(rows, axis=0)[(count - 1) // 2, np.arange(rows.shape[1])]
        freedom = (known & (rows != usual)).sum(axis=0)
        used = (freedom > 0) & (spread > 0)
        return cls(
            ((rows - mean) / np.where(used, spread, 1))[:, used],
            mean[used],
            spread[used],
            freedom[used].astype(float),
            used,
            not known.all(),
            floor,
        )

    def nearness(self, x: Any, places: NDArray[np.int64], weights: Floats) -> Floats:
        """How near each row of `x` is to its neighbours, the training rows at `places`; two columns.

        The log density, of all features together; and what the kernel of the one feature loses in
        which the nearest neighbour is farthest, in units of its spread, since amid many features one
        alone moves the density little. A missing value counts as one at the usual distance.
        """
        z = np.ascontiguousarray(
            (np.asarray(x, dtype=float)[:, self.used] - self.mean) / self.spread
        )
        found = np.empty((len(z), 2))
        for part in self._parts(len(z), places.shape[1]):
            found[part] = self._near(z[part], self.rows[places[part].T], weights[part].T)
        return found

    def _parts(self, rows: int, neighbours: int) -> Iterator[slice]:
        step = max(1, _NUMBERS // max(neighbours * len(self.mean), 1))
        return (slice(at, at + step) for at in range(0, rows, step))

    def _near(self, z: Floats, near: Floats, weights: Floats) -> Floats:
        """The same for standardised rows and neighbours (neighbours by rows by features)."""
        share, pairs = weights, "nr,nrf->rf"
        if self.gaps:
            share, pairs = weights[:, :, None] * ~np.isnan(near), "nrf,nrf->rf"
            near = np.nan_to_num(near)
        total = share.sum(axis=0).reshape(len(z), -1)
        none = total == 0  # no neighbour tells: mean and variance of all rows
        total[none] = 1.0
        centre = np.einsum(pairs, share, near) / total
        apart = near - centre
        variance = np.einsum(pairs, share, np.square(apart, out=apart)) / total
        variance = np.where(none, 1.0, np.maximum(variance, self.floor))
        density = self._log_density(z, centre, variance)
        away = np.subtract(near, z, out=apart)
        np.square(away, out=away)
        if not share.all():
            away[share == 0] = np.inf
        gap = np.where(none | np.isnan(z), 0.0, away.min(axis=0))
        return np.column_stack([density, -self._tail(gap).max(axis=1, initial=0.0)])

    def _tail(self, squared: Floats) -> Floats:
        """How much lower the log of each kernel is so far from its top, in units of its width."""
        return np.asarray((self.freedom + 1) / 2 * np.log1p(squared / self.freedom))

    def _log_density(self, z: Floats, centre: Floats, variance: Floats) -> Floats:
        tail = self._tail(np.where(np.isnan(z), 1.0, (z - centre) ** 2 / variance))
        height = gammaln((self.freedom + 1) / 2) - gammaln(self.freedom / 2)
        height = height - 0.5 * np.log(np.pi * self.freedom) - np.log(self.spread)
        return np.asarray(height.sum() - (tail + 0.5 * np.log(variance)).sum(axis=1))


def background(
    nearness: Floats,
    stand_for: Floats | None = None,
    *,
    quantile: float = 0.005,
    margin: float = 5.0,
) -> Floats:
    """Nearness below which a row counts as far from the data, for each column.

    As far below the lowest training rows (a quantile of them) as those are below the median, and
    by the margin at least: in many dimensions log densities spread widely. Each row may stand for several.
    """
    low, middle = np.quantile(
        nearness, [quantile, 0.5], axis=0, weights=stand_for, method="inverted_cdf"
    )
    return np.asarray(low - np.maximum(margin, middle - low))


def far(nearness: Floats, background: Floats) -> Floats:
    """Share of the background in a row's density: 0 amid the training data, 1 far from it."""
    return np.asarray(expit((background - nearness).max(axis=1)))


def score(nearness: Floats, background: Floats) -> Floats:
    """The log density, or what it would be for a row as far in all features as this is in one."""
    return np.asarray(background[0] + (nearness - background).min(axis=1))


# Points at a distance from data, in random directions.


def at_radius(X: Any, radius: float, n: int = 500, *, random_state: int = 0) -> Any:  # noqa: N803
    """`n` points in random directions from the centre of the rows, at `radius` times their reach.

    Columns are measured in their standard deviations, so that no unit counts more than another; the
    reach is the largest distance of a row from the mean of all, its gaps left out. Constant columns
    stay as they are. Of a frame comes a frame, in which words are those of rows drawn at random.

    >>> X = np.array([[0.0, 10.0], [2.0, 30.0], [4.0, 20.0]])
    >>> at_radius(X, 2, n=2).round(1)
    array([[ 5.9, -0.5],
           [ 7.6, 24.6]])
    """
    if not (is_finite(radius) and radius >= 0):
        raise BadInput(f"radius is {radius!r}; it must be a number from 0 up, such as 5")
    if not (is_whole(n) and n >= 1):
        raise BadInput(f"n is {n!r}; it must be a whole number from 1 up, such as 500")
    random = np.random.default_rng(random_state)
    frame = as_frame(X)
    if frame is None:
        check_numbers(X, "and an array must hold numbers; pass words in a frame")
        rows = np.asarray(X, dtype=float)
        if rows.ndim < 2 or not rows.size:
            raise BadInput(f"X has the shape {rows.shape}; it must have rows and columns")
        points = _around(rows.reshape(len(rows), -1), radius, n, random)
        return points.reshape(n, *rows.shape[1:])
    return _framed(frame, radius, n, random)


def _framed(frame: Any, radius: float, n: int, random: np.random.Generator) -> Any:
    """The points as a frame of the same columns."""
    columns = list(frame.iter_columns())
    numeric = [column.dtype.is_numeric() for column in columns]
    if not any(numeric):
        raise BadInput("X has no column of numbers; give some")
    told = [c.cast(nw.Float64).to_numpy() for c, own in zip(columns, numeric, strict=True) if own]
    points = iter(_around(np.column_stack(told).astype(float), radius, n, random).T)
    drawn = random.integers(len(frame), size=n).tolist()
    backend = frame.implementation
    made = {
        str(at): nw.new_series(str(at), next(points), nw.Float64, backend=backend)
        if own
        else nw.new_series(str(at), column[drawn].to_list(), column.dtype, backend=backend)
        for at, (column, own) in enumerate(zip(columns, numeric, strict=True))
    }
    return _named(nw.from_dict(made).to_native(), frame)


def _named(native: Any, frame: Any) -> Any:
    """A frame with the names of another, which in pandas need not be words."""
    if frame.implementation.is_pandas_like():
        native.columns = frame.to_native().columns
        return native
    made = nw.from_native(native)
    return made.rename(dict(zip(made.columns, frame.columns, strict=True))).to_native()


def _around(flat: Floats, radius: float, n: int, random: np.random.Generator) -> Floats:
    """Points around the centre of rows, of which some values may be missing."""
    if endless := int(np.isinf(flat).any(axis=1).sum()):
        raise BadInput(f"X is infinite in {endless:,} rows; leave them out")
    known = ~np.isnan(flat)
    count = np.maximum(known.sum(axis=0), 1)
    low = np.where(known, flat, np.inf).min(axis=0)
    varies = low < np.where(known, flat, -np.inf).max(axis=0)
    low = np.where(np.isinf(low), 0.0, low)  # of a column without any value
    centre = low + np.where(known, flat - low, 0).sum(axis=0) / count  # exact where it is constant
    away = np.where(known, flat - centre, 0)
    most = np.abs(away).max(axis=0)
    size = np.where(most > 0, most, 1.0)  # what is squared stays near 1
    spread = np.where(varies, np.sqrt(((away / size) ** 2).sum(axis=0) / count) * size, 0.0)
    unit = np.where(spread > 0, spread, 1.0)
    reach = np.sqrt(((away / unit) ** 2).sum(axis=1)).max()
    directions = random.normal(size=(n, flat.shape[1])) * (spread > 0)
    length = np.sqrt((directions**2).sum(axis=1, keepdims=True))
    directions /= np.where(length > 0, length, 1.0)
    return np.asarray(centre + radius * reach * directions * spread)
