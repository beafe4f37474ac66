"""The runs of the KDG study: each fits a family of rivals to the same rows and judges them on others."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray
from sklearn.metrics import cohen_kappa_score

import scorewise as sw
from studies._tools import store, stored, tracked
from studies.kdg.rivals import FAMILIES, Rival, forests, networks, timed, warm_up
from studies.kdg.sets import Array, Prepared, Split, hellinger, split

RADII = (1, 2, 3, 4, 5)
TRUTH = "true posterior"  # a rival that nobody can be, on simulations
CLIP = 1e-15  # the least posterior that log loss counts with
FLOOR = 1e-3  # the least posterior of a class, where log loss is not to rest on a few rows


class Job(NamedTuple):
    """One family on one split; `folder` None means what ships with scikit-learn, or a simulation."""

    study: str
    folder: Path | None
    name: str
    seed: int
    family: str
    trees: int

    @property
    def file(self) -> str:
        size = f"-{self.trees}" if self.family == "forest" else ""
        name = self.name.replace(" ", "_")
        return f"{self.study}-{name}-{self.seed}-{self.family}{size}.parquet"


def jobs(study: str, folder: Path | None, sets: Any, seeds: int, trees: int) -> list[Job]:
    """The long ones first, so that no core is idle at the end."""
    return [
        Job(study, folder, name, seed, family, trees)
        for name in reversed(sets)
        for seed in range(seeds)
        for family in FAMILIES
    ]


def run(job: Job) -> list[dict[str, Any]]:
    """One row for each rival of the family, on simulations one for the truth besides."""
    warm_up()
    s = split(job.folder, job.name, job.seed)
    x, new, found = _fitted(s, job)
    largest = np.bincount(s.y).max() / len(s.y)
    far = np.concatenate([sw.models.at_radius(x, r, 200, random_state=job.seed) for r in RADII])
    plain = next(iter(found.values())).predict
    alone = min(timed(lambda: plain(new)) for _ in range(3))
    about = {"study": job.study, "set": job.name, "seed": job.seed}
    rows = []
    for rival, made in found.items():
        p = made.predict(new)
        seconds = min(timed(lambda made=made: made.predict(new)) for _ in range(3))
        above = made.predict(far).max(axis=1).reshape(len(RADII), -1).mean(axis=1) - largest
        confidence = {f"far_{r}": float(v) for r, v in zip(RADII, above, strict=True)}
        confidence |= {f"off_{r}": abs(confidence[f"far_{r}"]) for r in RADII}
        near = None if s.posterior is None else hellinger(p, s.posterior)
        times = {"extra_fit": made.extra, "predict": seconds / alone if alone else None}
        rows.append(
            about | {"rival": rival} | judged(p, s.truth) | confidence | {"hellinger": near} | times
        )
    if s.posterior is not None and job.family == "forest":
        rows.append(about | {"rival": TRUTH} | judged(s.posterior, s.truth) | {"hellinger": 0.0})
    return rows


def _fitted(s: Split, job: Job) -> tuple[Any, Any, dict[str, Rival]]:
    """The rows as the family takes them, and its rivals."""
    if job.family == "forest":
        return s.x, s.new, forests(s.x, s.y, trees=job.trees, seed=job.seed)
    columns = Prepared.of(s.x, s.nominal)
    return columns(s.x), columns(s.new), networks(columns(s.x), s.y, seed=job.seed)


def run_all(todo: list[Job], results: Path, processes: int | None = None) -> pl.DataFrame:
    """The rows of all jobs, those that were stored taken up; each job is stored when it is done."""
    left = [job for job in todo if stored(results / job.file) is None]
    for job, rows in tracked(run, left, processes, "judging"):
        store(results / job.file, rows)
    frames = [pl.read_parquet(results / job.file) for job in todo]
    keys = ("study", "set", "seed", "rival")
    return pl.concat(frames, how="diagonal_relaxed").sort(keys)


# how good posteriors are


def judged(p: Array, y: NDArray[np.int64]) -> dict[str, float]:
    """Measures of posteriors `p` whose true classes are the columns `y`."""
    rows = np.arange(len(y))
    said = p.argmax(axis=1)
    return {
        "error": float((said != y).mean()),
        "kappa": float(cohen_kappa_score(y, said)),
        "ece": ece(p, y),
        "ece_chance": ece_by_chance(p),
        "brier": float(((p - np.eye(p.shape[1])[y]) ** 2).sum(axis=1).mean()),
        "log_loss": float(-np.log(np.maximum(p[rows, y], CLIP)).mean()),
        "log_loss_floor": float(-np.log(held(p)[rows, y]).mean()),
        "zeros": int((p[rows, y] <= CLIP).sum()),
        "rows": len(y),
    }


def held(p: Array, floor: float = FLOOR) -> Array:
    """Posteriors held at `floor` or more, and divided by their sum.

    >>> held(np.array([[1.0, 0.0], [0.6, 0.4]]), 0.25).round(3).tolist()
    [[0.8, 0.2], [0.6, 0.4]]
    """
    at_least = np.maximum(p, floor)
    return np.asarray(at_least / at_least.sum(axis=1, keepdims=True))


def ece(p: Array, y: Any, bins: int = 15) -> float:
    """Gap between confidence and share of hits, over equal-width bins of the confidence."""
    return _gap(p.max(axis=1), p.argmax(axis=1) == y, bins)


def ece_by_chance(p: Array, bins: int = 15, draws: int = 200, seed: int = 0) -> float:
    """Mean ECE that posteriors would get on so many rows if they were true."""
    top = p.max(axis=1)
    hits = np.random.default_rng(seed).random((draws, len(p))) < top
    return float(np.mean([_gap(top, hit, bins) for hit in hits]))


def _gap(top: Array, hit: Any, bins: int) -> float:
    cell = np.minimum((top * bins).astype(int), bins - 1)
    gap = np.bincount(cell, top, bins) - np.bincount(cell, hit, bins)
    return float(np.abs(gap).sum() / len(top))
