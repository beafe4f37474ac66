"""Data of the KDG study: simulations with a known posterior, real sets, and columns for networks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import polars as pl
from numpy.typing import NDArray
from scipy.special import expit, logsumexp
from sklearn import datasets
from sklearn.model_selection import train_test_split

from studies._tools import DATA

CC18 = DATA / "cc18"
Array = NDArray[np.float64]

# Two classes in the plane, five ways. Each simulation draws a class with even odds, then a point; its
# densities differ between the classes in one coordinate only, so that the posterior is a ratio of two.


@dataclass(frozen=True)
class Simulation:
    """How to draw points of given classes, and the log of what tells class 1 from class 0."""

    draw: Callable[[NDArray[np.int64], np.random.Generator], Array]
    log_odds: Callable[[Array], Array]

    def sample(self, n: int, seed: Any) -> tuple[Array, NDArray[np.int64]]:
        """`n` points and their classes."""
        rng = np.random.default_rng(seed)
        y = rng.integers(0, 2, n)
        return self.draw(y, rng), y

    def posterior(self, x: Array) -> Array:
        """Chance of each class at each point."""
        p = expit(self.log_odds(x))
        return np.column_stack([1 - p, p])


def hellinger(p: Array, q: Array) -> float:
    """Mean Hellinger distance between two posteriors, row by row: 0 when equal, 1 when apart."""
    return float(np.sqrt(0.5 * ((np.sqrt(p) - np.sqrt(q)) ** 2).sum(axis=1)).mean())


def _log_normal(x: Array, mean: Any, spread: float) -> Array:
    return -0.5 * ((x - mean) / spread) ** 2


def _xor(spread: float = 0.6) -> Simulation:
    """Four normal clouds at the corners of a square; opposite corners share a class."""

    def draw(y: NDArray[np.int64], rng: np.random.Generator) -> Array:
        first = rng.choice([-1.0, 1.0], len(y))
        corner = np.column_stack([first, first * (1 - 2 * y)])
        return corner + rng.normal(0, spread, corner.shape)

    def log_odds(x: Array) -> Array:
        def cloud(a: float, b: float) -> Array:
            return _log_normal(x[:, 0], a, spread) + _log_normal(x[:, 1], b, spread)

        same = np.logaddexp(cloud(1, 1), cloud(-1, -1))
        return np.logaddexp(cloud(1, -1), cloud(-1, 1)) - same

    return Simulation(draw, log_odds)


def _spiral(turns: float = 1.0, spread: float = 0.7) -> Simulation:
    """Two arms of a spiral; the angle is noisy."""

    def arm(radius: Array, y: Any) -> Array:
        return 2 * np.pi * turns * radius + np.pi * y

    def draw(y: NDArray[np.int64], rng: np.random.Generator) -> Array:
        radius = rng.random(len(y))
        angle = arm(radius, y) + rng.normal(0, spread, len(y))
        return np.column_stack([radius * np.cos(angle), radius * np.sin(angle)])

    def log_odds(x: Array) -> Array:
        radius, angle = np.hypot(x[:, 0], x[:, 1]), np.arctan2(x[:, 1], x[:, 0])

        def around(y: int) -> Array:  # the angle is known up to whole turns
            whole = 2 * np.pi * np.arange(-8, 9)
            apart = np.angle(np.exp(1j * (angle - arm(radius, y))))[:, None] + whole
            return np.asarray(logsumexp(_log_normal(apart, 0, spread), axis=1))

        return around(1) - around(0)

    return Simulation(draw, log_odds)


def _ellipse(spread: float = 0.35) -> Simulation:
    """A ring around another, both stretched; the radius is noisy."""
    stretch, inner, outer = np.array([3.0, 1.0]), 1.0, 2.0

    def draw(y: NDArray[np.int64], rng: np.random.Generator) -> Array:
        radius = np.abs(np.where(y == 1, outer, inner) + rng.normal(0, spread, len(y)))
        angle = rng.uniform(0, 2 * np.pi, len(y))
        return radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]) * stretch

    def log_odds(x: Array) -> Array:
        radius = np.hypot(*(x / stretch).T)

        def folded(mean: float) -> Array:
            return np.logaddexp(
                _log_normal(radius, mean, spread), _log_normal(-radius, mean, spread)
            )

        return folded(outer) - folded(inner)

    return Simulation(draw, log_odds)


def _curves(of: Callable[[Array, Any], Array], spread: float) -> Simulation:
    """A curve for each class; the height is noisy."""

    def draw(y: NDArray[np.int64], rng: np.random.Generator) -> Array:
        x = rng.uniform(-1, 1, len(y))
        return np.column_stack([x, of(x, y) + rng.normal(0, spread, len(y))])

    def log_odds(x: Array) -> Array:
        one, zero = (_log_normal(x[:, 1], of(x[:, 0], y), spread) for y in (1, 0))
        return one - zero

    return Simulation(draw, log_odds)


SIMULATIONS = {
    "Gaussian XOR": _xor(),
    "spiral": _spiral(),
    "ellipse": _ellipse(),
    "sine wave": _curves(lambda x, y: np.sin(2 * np.pi * x) * (1 - 2 * y), 0.4),
    "polynomial": _curves(lambda x, y: np.where(y == 1, x**3, x) * 2, 0.15),
}

# sets

REAL = ("wine", "breast cancer", "digits")
EIGHT = (*REAL, *SIMULATIONS)
SHIPPED, FEW = ("iris", "wine", "breast cancer"), ("wine", "Gaussian XOR", "ellipse")
SETS, ROWS = 20, 6_000  # the smallest sets of a folder; rows that are used of each at most
POINTS = 1_000  # of a simulation, to learn from and to judge on


class Table(NamedTuple):
    """Numbers, codes of categories in the columns `nominal`, NaN where missing; and codes of classes."""

    x: Array
    y: NDArray[np.int64]
    nominal: NDArray[np.bool_]


@dataclass(frozen=True)
class Split:
    """Rows to learn from, rows to judge on, and their true posterior where it is known."""

    x: Array
    y: NDArray[np.int64]
    new: Array
    truth: NDArray[np.int64]
    nominal: NDArray[np.bool_]
    posterior: Array | None = None


def smallest(folder: Path, most: int = SETS) -> list[str]:
    """The sets of a folder with the fewest rows, one parquet file each."""
    sizes = {
        file.stem: pl.scan_parquet(file).select(pl.len()).collect().item()
        for file in folder.glob("*.parquet")
    }
    if not sizes:
        raise SystemExit(f"there is no data set in {folder}; pass --data DIR, or --small")
    return sorted(sizes, key=lambda name: (sizes[name], name))[:most]


def split(folder: Path | None, name: str, seed: int) -> Split:
    """Halves of a set, classes in the same shares; of a simulation new points each time."""
    if folder is None and name in SIMULATIONS:
        made = SIMULATIONS[name]
        x, y = made.sample(POINTS, (seed, 0))
        new, truth = made.sample(POINTS, (seed, 1))
        return Split(x, y, new, truth, np.zeros(2, dtype=bool), made.posterior(new))
    t = shipped(name) if folder is None else read(folder / f"{name}.parquet")
    x, y = t.x, t.y
    if len(y) > ROWS:
        x, _, y, _ = train_test_split(x, y, train_size=ROWS, stratify=y, random_state=seed)
    x, new, y, truth = train_test_split(x, y, test_size=0.5, stratify=y, random_state=seed)
    return Split(x, y, new, truth, t.nominal)


def shipped(name: str) -> Table:
    """A set that comes with scikit-learn."""
    x, y = getattr(datasets, f"load_{name.replace(' ', '_')}")(return_X_y=True)
    return Table(x, y, np.zeros(x.shape[1], dtype=bool))


@lru_cache(maxsize=2)
def read(file: Path) -> Table:
    """A parquet file with the classes in `class` (or `y`), and features in all other columns."""
    frame = pl.read_parquet(file)
    target = "class" if "class" in frame.columns else "y"
    features = frame.drop("class", "y", strict=False)
    labels = frame[target].cast(pl.String).to_numpy()
    return Table(
        np.column_stack([_numbers(c) for c in features]),
        np.unique(labels, return_inverse=True)[1],
        np.array([not c.dtype.is_numeric() for c in features]),
    )


def _numbers(column: pl.Series) -> Any:
    """A column as numbers; words get codes in the order of the alphabet."""
    if not column.dtype.is_numeric():
        words = column.cast(pl.String)
        column = words.rank("dense") - 1
    return column.cast(pl.Float64).to_numpy()


# columns


@dataclass(frozen=True)
class Prepared:
    """Columns as networks take them, learned from the training rows alone.

    Numbers are standardised, with the mean in gaps; codes become a column for each level. A column with
    gaps in the training rows gets a second one that marks them, for codes a level of its own. A level that
    was not met is 0 in all columns. A number that does not vary is left out.
    """

    numbers: NDArray[np.int64]
    mean: Array
    spread: Array
    gappy: NDArray[np.int64]
    levels: tuple[tuple[int, Array], ...]

    @classmethod
    def of(cls, x: Array, nominal: NDArray[np.bool_]) -> Self:
        """What the training rows tell."""
        varies = np.array([len(np.unique(c[~np.isnan(c)])) > 1 for c in x.T], dtype=bool)
        numbers = np.flatnonzero(~nominal & varies)
        levels = tuple((int(j), np.unique(x[:, j])) for j in np.flatnonzero(nominal))
        inside = x[:, numbers]
        gappy = numbers[np.isnan(inside).any(axis=0)]
        return cls(numbers, np.nanmean(inside, axis=0), np.nanstd(inside, axis=0), gappy, levels)

    def __call__(self, x: Array) -> Array:
        """Rows in these columns."""
        z = (x[:, self.numbers] - self.mean) / self.spread
        parts = [np.where(np.isnan(z), 0.0, z), np.isnan(x[:, self.gappy])]
        for j, levels in self.levels:
            same = x[:, j, None] == levels
            parts.append(same | (np.isnan(x[:, j, None]) & np.isnan(levels)))
        return np.concatenate([part.astype(float) for part in parts], axis=1)
