"""The runs of the KDG study: each fits a family of rivals to the same rows and judges them on others."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

import scorewise as sw
from experiments.code_mark import code_mark
from experiments.judging import judged
from experiments.kdg_sets import Split, split
from experiments.pool import tracked
from experiments.preparing import Prepared
from experiments.rivals import FAMILIES, Rival, forests, networks, timed, warm_up
from experiments.simulations import hellinger

RADII = (1, 2, 3, 4, 5)
TRUTH = "true posterior"  # a rival that nobody can be, on simulations
USED = ("models", "recalibrating")  # of the library, by the rivals
MAKERS = ("judging", "kdg_runs", "kdg_sets", "preparing", "rivals", "simulations")


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
    results.mkdir(parents=True, exist_ok=True)
    left = [job for job in todo if stored(results / job.file) is None]
    for job, rows in tracked(run, left, processes, "judging"):
        store(results / job.file, rows)
    frames = [pl.read_parquet(results / job.file) for job in todo]
    keys = ("study", "set", "seed", "rival")
    return pl.concat(frames, how="diagonal_relaxed").sort(keys)


def code(makers: tuple[str, ...] = MAKERS) -> str:
    """A mark of all code that makes the numbers."""
    return code_mark(USED, makers)


def store(path: Path, rows: list[dict[str, Any]], mark: str | None = None) -> None:
    unfinished = path.with_suffix(".part")
    frame = pl.DataFrame(rows, infer_schema_length=None)
    frame.write_parquet(unfinished, metadata={"code": mark or code()})
    unfinished.replace(path)


def stored(path: Path, mark: str | None = None) -> pl.DataFrame | None:
    """What an earlier run of the same code has stored."""
    if not path.is_file() or pl.read_parquet_metadata(path).get("code") != (mark or code()):
        return None
    return pl.read_parquet(path)
